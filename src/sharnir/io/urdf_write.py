"""A tree of bodies as URDF. What the format cannot express is refused by name.

Links that were merged when the model was read are written as links without mass; their masses stay with the carrier.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import FormatError, known
from ..model.body import GROUND, Body
from ..model.model import Model, PlacedJoint
from ..model.pose import Pose, roll_pitch_yaw
from ..model.visual import Visual
from .urdf_links import PRIMITIVES
from .urdf_write_joints import joint_lines
from .xml import attribute, numbers

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


def urdf_text(model: Model, folder: Path) -> str:
    """The file to be written into `folder`."""
    _refuse(model)
    return _Writer(model, folder).text()


def _refuse(model: Model) -> None:
    if model.parts.bodies and model.closing_joints:
        raise FormatError(f"joint {model.closing_joints[0].name!r} closes a loop; URDF has trees only. Save as .yaml")
    if model.base_motion is not None:
        raise FormatError(f"model {model.name!r}: its base moves; URDF cannot express that. Save as .yaml")
    if tuple(model.gravity) != STANDARD_GRAVITY:
        raise FormatError(
            f"model {model.name!r}: URDF has no gravity, readers assume {STANDARD_GRAVITY}, not {tuple(model.gravity)}"
        )
    if model.parameters:
        raise FormatError(
            f"model {model.name!r}: URDF has no parameters ({known(model.parameters)}). Save as .yaml, or with numbers in their "
            "place: model.without_parameters().save(…)"
        )
    for body in model.parts.bodies:
        if body.flexible is not None:
            raise FormatError(
                f"body {body.name!r} is flexible; URDF has rigid bodies only. Save as .yaml, or a model with a rigid body in its "
                "place"
            )
    for name in model.forces:
        raise FormatError(f"force {name!r}: URDF has no forces. Save as .yaml, or a copy of the model without it")
    for name in model.frames:
        if name in model.parts.body_names:
            raise FormatError(f"frame {name!r} and a body have the same name; both would be links of URDF, whose names differ")
    for visual in model.visuals:
        if visual.body not in model.parts.body_names | {GROUND}:
            raise FormatError(f"a visual {visual.kind} is on body {visual.body!r}, which is not in the model")


class _Writer:
    """The elements of one file."""

    def __init__(self, model: Model, folder: Path) -> None:
        self.model, self.folder = model, folder
        self.frames = model.frames
        self.tree = list(zip(model.joints, model.bodies, model.parents, strict=True)) if model.parts.bodies else []
        """Empty where everything is fixed to the ground."""
        bodies = [body.name for _, body, _ in self.tree]
        self.links = {*self.frames, *bodies}
        self.joint_names = {joint.name for joint, _, _ in self.tree}
        self.root = self._root()
        self.links.add(self.root)
        self.link_of = {GROUND: self.root, **{b: b for b in bodies}}
        """The link whose frame is that of a body."""
        self.fixed = {child: (name, parent) for name, (parent, child) in model.fixed_joints.items() if child in self.frames}
        self.visuals: dict[str, list[Visual]] = {}
        for visual in model.visuals:
            owner = visual.link if self._body_of(visual.link) == visual.body else self.link_of[visual.body]
            self.visuals.setdefault(owner, []).append(visual)

    def text(self) -> str:
        lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<robot name={attribute(self.model.name)}>"]
        lines += self._link(self.root, None)
        for joint, body, carrier in self.tree:
            lines += self._link(body.name, body)
            lines += self._joint(joint, body.name, self.tree[carrier][1].name if carrier >= 0 else GROUND)
        for name, (body_name, at) in self.frames.items():
            if name != self.root:
                lines += self._link(name, None) + self._frame_joint(name, body_name, at)
        return "\n".join([*lines, "</robot>", ""])

    def _root(self) -> str:
        """The frame on the ground that no fixed joint carries: the root of the file the model came from; or a new one."""
        carried = {child for _, child in self.model.fixed_joints.values()}
        for name, (body, at) in self.frames.items():
            if body == GROUND and at.is_identity and name not in carried:
                return name
        return self._new("world", self.links)

    def _new(self, name: str, taken: set[str]) -> str:
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    def _body_of(self, link: str) -> str | None:
        if link in self.frames:
            return self.frames[link][0]
        return next((body for body, name in self.link_of.items() if name == link), None)

    def _pose_of(self, link: str) -> Pose:
        return self.frames[link][1] if link in self.frames else Pose()

    # --- elements -------------------------------------------------------------------------------------------------------
    def _link(self, name: str, body: Body | None) -> list[str]:
        inside: list[str] = []
        if body is not None and (body.mass or any(body.inertia)):
            names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
            moments = " ".join(f'{n}="{x!r}"' for n, x in zip(names, map(float, body.inertia), strict=True))
            inside += [
                "<inertial>",
                *origin(Pose(body.com)),
                f'<mass value="{body.mass!r}"/>',
                f"<inertia {moments}/>",
                "</inertial>",
            ]
        for visual in self.visuals.get(name, []):
            inside += self._visual(visual, self._pose_of(name))
        if not inside:
            return [f"  <link name={attribute(name)}/>"]
        return [f"  <link name={attribute(name)}>", *(f"    {line}" for line in inside), "  </link>"]

    def _joint(self, joint: PlacedJoint, body: str, carrier: str) -> list[str]:
        """A moving joint; where the body's frame is not the joint's, with a link without mass between."""
        backwards = joint.child != body
        before, after = (joint.child_at, joint.at) if backwards else (joint.at, joint.child_at)
        kind, before, after, inside = joint_lines(joint, before, after, backwards)
        if kind == "fixed":
            before, after = before @ after.inverse(), Pose()
        if after.is_identity:
            return self._joint_element(joint.name, kind, self.link_of[carrier], body, before, inside)
        between = self._new(f"{body} joint", self.links)
        name = self._new(f"{body} mount", self.joint_names)
        return [
            *self._link(between, None),
            *self._joint_element(joint.name, kind, self.link_of[carrier], between, before, inside),
            *self._joint_element(name, "fixed", between, body, after.inverse(), []),
        ]

    def _frame_joint(self, frame: str, body: str, at: Pose) -> list[str]:
        """The fixed joint that the file had, or a new one from the body."""
        name, parent = self.fixed.get(frame, ("", ""))
        if name in self.joint_names or not name or self._body_of(parent) != body:
            name, parent = self._new(f"{frame} fixed", self.joint_names), self.link_of[body]
        self.joint_names.add(name)
        return self._joint_element(name, "fixed", parent, frame, self._pose_of(parent).inverse() @ at, [])

    def _joint_element(self, name: str, kind: str, parent: str, child: str, at: Pose, inside: list[str]) -> list[str]:
        ends = [f"<parent link={attribute(parent)}/>", f"<child link={attribute(child)}/>"]
        lines = [*origin(at), *ends, *inside]
        return [f'  <joint name={attribute(name)} type="{kind}">', *(f"    {line}" for line in lines), "  </joint>"]

    def _visual(self, visual: Visual, link_at: Pose) -> list[str]:
        if visual.kind == "mesh":
            shape = f'<mesh filename={attribute(self._uri(visual))} scale="{numbers(visual.scale)}"/>'
        elif visual.kind == "box":
            shape = f'<box size="{numbers(visual.sizes)}"/>'
        elif visual.kind in PRIMITIVES:
            named_sizes = zip(PRIMITIVES[visual.kind], visual.sizes, strict=False)  # a bore is left out
            pairs = " ".join(f'{n}="{float(x)!r}"' for n, x in named_sizes)
            shape = f"<{visual.kind} {pairs}/>"
        else:
            return []  # a shape that URDF does not have; the motion does not depend on it
        lines = [*origin(link_at.inverse() @ visual.at), f"<geometry>{shape}</geometry>"]
        if visual.colour is not None:
            rgba = numbers(visual.colour)
            lines.append(f'<material name="rgba {rgba}"><color rgba="{rgba}"/></material>')
        named = f" name={attribute(visual.name)}" if visual.name else ""
        roles = {"both": ("visual", "collision"), "hidden": ()}.get(visual.role, (visual.role,))
        return [x for role in roles for x in (f"<{role}{named}>", *(f"  {line}" for line in lines), f"</{role}>")]

    def _uri(self, visual: Visual) -> str:
        """The name of a mesh as the file gave it; a relative name is made relative to the new folder."""
        if "://" in visual.uri or visual.path is None:
            return visual.uri
        return Path(os.path.relpath(visual.path, self.folder.resolve())).as_posix()


def origin(at: Pose) -> list[str]:
    if at.is_identity:
        return []
    return [f'<origin xyz="{numbers(at.position)}" rpy="{numbers(roll_pitch_yaw(at.rotation))}"/>']
