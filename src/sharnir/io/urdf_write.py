"""A tree of bodies as URDF. What the format cannot express is refused by name.

Links that were merged when the model was read are written as links without mass; their masses stay with the carrier.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np

from ..errors import NOT_A_NUMBER, FormatError, known
from ..model.body import GROUND, Body
from ..model.joints import Free, Planar, Prismatic, Revolute, Weld
from ..model.model import Model, PlacedJoint
from ..model.pose import Pose, Rotation, roll_pitch_yaw, unit_axis
from ..model.visual import Visual
from .urdf import PRIMITIVES
from .xml import attribute, numbers

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
UNLIMITED = 1e9
"""URDF needs numbers where there is no limit."""
KINDS = {Revolute: "revolute", Prismatic: "prismatic", Weld: "fixed", Free: "floating", Planar: "planar"}


def urdf_text(model: Model, folder: Path) -> str:
    """The file to be written into `folder`."""
    _refuse(model)
    return _Writer(model, folder).text()


def _refuse(model: Model) -> None:
    label = f"model {model.name!r}"
    if model.parts.bodies and model.closing_joints:
        raise FormatError(f"joint {model.closing_joints[0].name!r} closes a loop; URDF has trees only. Save as .yaml")
    if model.base_motion is not None:
        raise FormatError(f"{label}: its base moves; URDF cannot express that. Save as .yaml")
    if (gravity := tuple(model.gravity)) != STANDARD_GRAVITY:
        raise FormatError(f"{label}: URDF has no gravity, readers assume {STANDARD_GRAVITY}, not {gravity}")
    if model.parameters:
        raise FormatError(
            f"{label}: URDF has no parameters ({known(model.parameters)}). Save as .yaml, or with numbers in their "
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
    def __init__(self, model: Model, folder: Path) -> None:
        self.model, self.folder = model, folder
        self.tree = list(zip(model.joints, model.bodies, model.parents, strict=True)) if model.parts.bodies else []
        """Empty where everything is fixed to the ground."""
        self.places = {**{body.name: (body.name, Pose()) for _, body, _ in self.tree}, **model.frames}
        """Body of every link, and the pose of the link in it."""
        self.links, self.joint_names = set(self.places), {joint.name for joint, _, _ in self.tree}
        # the frame on the ground that no fixed joint carries is the root of the file the model came from
        carried = {child for _, child in model.fixed_joints.values()}
        roots = [name for name, (body, at) in model.frames.items() if body == GROUND and at.is_identity and name not in carried]
        self.root = roots[0] if roots else self._new("world", self.links)
        self.places[self.root] = (GROUND, Pose())
        self.fixed = {child: (name, parent) for name, (parent, child) in model.fixed_joints.items() if child in model.frames}
        self.visuals: dict[str, list[Visual]] = {}
        for visual in model.visuals:
            owner = visual.link if self._body_of(visual.link) == visual.body else self._link_of(visual.body)
            self.visuals.setdefault(owner, []).append(visual)

    def text(self) -> str:
        lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<robot name={attribute(self.model.name)}>"]
        lines += self._link(self.root, None)
        for joint, body, carrier in self.tree:
            lines += self._link(body.name, body)
            lines += self._joint(joint, body.name, self.tree[carrier][1].name if carrier >= 0 else self.root)
        for name, (body_name, at) in self.model.frames.items():
            if name != self.root:
                lines += self._link(name, None) + self._frame_joint(name, body_name, at)
        return "\n".join([*lines, "</robot>", ""])

    def _new(self, name: str, taken: set[str]) -> str:
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    def _body_of(self, link: str) -> str | None:
        return self.places[link][0] if link in self.places else None

    def _link_of(self, body: str) -> str:
        """The link whose frame is that of a body."""
        return self.root if body == GROUND else body

    # --- elements -------------------------------------------------------------------------------------------------------
    def _link(self, name: str, body: Body | None) -> list[str]:
        inside: list[str] = []
        if body is not None and (body.mass or any(body.inertia)):
            names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
            moments = " ".join(f'{n}="{x!r}"' for n, x in zip(names, map(float, body.inertia), strict=True))
            mass = [f'<mass value="{body.mass!r}"/>', f"<inertia {moments}/>"]
            inside += ["<inertial>", *_origin(Pose(body.com)), *mass, "</inertial>"]
        for visual in self.visuals.get(name, []):
            inside += self._visual(visual, self.places[name][1])
        if not inside:
            return [f"  <link name={attribute(name)}/>"]
        return [f"  <link name={attribute(name)}>", *(f"    {line}" for line in inside), "  </link>"]

    def _joint(self, joint: PlacedJoint, body: str, carrier: str) -> list[str]:
        """A moving joint on the link `carrier`; where the body's frame is not the joint's, with a link without mass between."""
        backwards = joint.child != body
        before, after = (joint.child_at, joint.at) if backwards else (joint.at, joint.child_at)
        kind, before, after, inside = _joint_lines(joint, before, after, backwards)
        if kind == "fixed":
            before, after = before @ after.inverse(), Pose()
        if after.is_identity:
            return self._joint_element(joint.name, kind, carrier, body, before, inside)
        between = self._new(f"{body} joint", self.links)
        name = self._new(f"{body} mount", self.joint_names)
        return [
            *self._link(between, None),
            *self._joint_element(joint.name, kind, carrier, between, before, inside),
            *self._joint_element(name, "fixed", between, body, after.inverse(), []),
        ]

    def _frame_joint(self, frame: str, body: str, at: Pose) -> list[str]:
        """The fixed joint that the file had, or a new one from the body."""
        name, parent = self.fixed.get(frame, ("", ""))
        if name in self.joint_names or not name or self._body_of(parent) != body:
            name, parent = self._new(f"{frame} fixed", self.joint_names), self._link_of(body)
        self.joint_names.add(name)
        return self._joint_element(name, "fixed", parent, frame, self.places[parent][1].inverse() @ at, [])

    def _joint_element(self, name: str, kind: str, parent: str, child: str, at: Pose, inside: list[str]) -> list[str]:
        ends = [f"<parent link={attribute(parent)}/>", f"<child link={attribute(child)}/>"]
        lines = [*_origin(at), *ends, *inside]
        return [f'  <joint name={attribute(name)} type="{kind}">', *(f"    {line}" for line in lines), "  </joint>"]

    def _visual(self, visual: Visual, link_at: Pose) -> list[str]:
        if visual.kind == "mesh":
            uri = visual.uri  # as the file gave it; a relative name is made relative to the new folder
            if "://" not in uri and visual.path is not None:
                uri = Path(os.path.relpath(visual.path, self.folder.resolve())).as_posix()
            shape = f'<mesh filename={attribute(uri)} scale="{numbers(visual.scale)}"/>'
        elif visual.kind == "box":
            shape = f'<box size="{numbers(visual.sizes)}"/>'
        elif visual.kind in PRIMITIVES:
            named_sizes = zip(PRIMITIVES[visual.kind], visual.sizes, strict=False)  # a bore is left out
            pairs = " ".join(f'{n}="{float(x)!r}"' for n, x in named_sizes)
            shape = f"<{visual.kind} {pairs}/>"
        else:
            return []  # a shape that URDF does not have; the motion does not depend on it
        lines = [*_origin(link_at.inverse() @ visual.at), f"<geometry>{shape}</geometry>"]
        if visual.colour is not None:
            rgba = numbers(visual.colour)
            lines.append(f'<material name="rgba {rgba}"><color rgba="{rgba}"/></material>')
        named = f" name={attribute(visual.name)}" if visual.name else ""
        roles = {"both": ("visual", "collision"), "hidden": ()}.get(visual.role, (visual.role,))
        return [x for role in roles for x in (f"<{role}{named}>", *(f"  {line}" for line in lines), f"</{role}>")]


def _origin(at: Pose) -> list[str]:
    if at.is_identity:
        return []
    return [f'<origin xyz="{numbers(at.position)}" rpy="{numbers(roll_pitch_yaw(at.rotation))}"/>']


# --- joints; those that URDF cannot express are refused
def _joint_lines(joint: PlacedJoint, before: Pose, after: Pose, backwards: bool) -> tuple[str, Pose, Pose, list[str]]:
    """Type, frame in the carrier, frame in the body, and the elements inside. `backwards`: the file has the other end
    as parent, which reverses the axis."""
    kind = _kind(joint, backwards)
    inside: list[str] = []
    if kind in ("revolute", "prismatic"):
        sign = -1.0 if backwards else 1.0
        inside.append(_axis(tuple(sign * x for x in unit_axis(joint.type.axis, joint.name))))  # type: ignore[attr-defined]
    if kind == "planar":
        normal, before, after = _planar(before, after)
        inside.append(_axis(normal))
    inside += _limit(joint, kind)
    damping, friction = (_one_number(joint, what) for what in ("damping", "friction"))
    if damping or friction:
        inside.append(f'<dynamics damping="{damping!r}" friction="{friction!r}"/>')
    if joint.follows:
        c = joint.follows
        inside.append(f'<mimic joint={attribute(c.leader)} multiplier="{c.ratio!r}" offset="{c.offset!r}"/>')
    return "continuous" if kind == "revolute" and joint.type.limits is None else kind, before, after, inside


def _kind(joint: PlacedJoint, backwards: bool) -> str:
    label, kind = f"joint {joint.name!r}", KINDS.get(type(joint.type))
    if kind is None:
        raise FormatError(
            f"{label}: URDF has no {joint.type.type_name} joint, only revolute, prismatic, fixed, floating and planar ones. "
            "Save as .yaml, or build it from those"
        )
    if joint.type.motion is not None:
        raise FormatError(f"{label}: URDF cannot express a given motion. Save as .yaml")
    if backwards and kind in ("floating", "planar"):
        raise FormatError(f"{label}: its child carries its parent; a {kind} joint of URDF cannot be reversed. Swap its ends")
    for what in ("stiffness", "armature"):
        if np.any(getattr(joint.type, what, 0.0)):
            raise FormatError(f"{label}: URDF has no {what}. Save as .yaml, or a copy without it")
    if kind in ("planar", "floating") and joint.type.limits is not None:
        raise FormatError(f"{label}: URDF has no limits for a {kind} joint. Save as .yaml, or a copy without them")
    return kind


def _axis(axis: tuple[float, ...]) -> str:
    return f'<axis xyz="{numbers(x + 0.0 for x in axis)}"/>'


def _planar(before: Pose, after: Pose) -> tuple[tuple[float, ...], Pose, Pose]:
    """Our planes are normal to z. A joint that was read from URDF has the same rotation at both ends: that is its axis."""
    entries = after.rotation.entries
    normal = (entries[2], entries[5], entries[8])
    if after.position == (0.0, 0.0, 0.0) and tuple(Rotation.align_z(normal).entries) == tuple(entries):
        return normal, before @ after.inverse(), Pose()
    return (0.0, 0.0, 1.0), before, after


def _limit(joint: PlacedJoint, kind: str) -> list[str]:
    j, bounds = joint.type, ""
    if kind == "prismatic" or (kind == "revolute" and j.limits is not None):
        try:
            low, high = (_finite(float(x)) for x in ((-UNLIMITED, UNLIMITED) if j.limits is None else j.limits))
        except NOT_A_NUMBER:
            raise FormatError(f"joint {joint.name!r}: limits are a pair (low, high), got {j.limits!r}") from None
        bounds = f'lower="{low!r}" upper="{high!r}" '
    if not bounds and j.effort is None and j.velocity is None:
        return []
    effort, velocity = (UNLIMITED if x is None else _finite(float(x)) for x in (j.effort, j.velocity))  # type: ignore[arg-type]
    return [f'<limit {bounds}effort="{effort!r}" velocity="{velocity!r}"/>']


def _finite(x: float) -> float:
    return math.copysign(UNLIMITED, x) if math.isinf(x) else x


def _one_number(joint: PlacedJoint, what: str) -> float:
    values = set(np.ravel(getattr(joint.type, what)).astype(float).tolist())
    if len(values) > 1:
        raise FormatError(f"joint {joint.name!r}: URDF has one number for {what}, the joint has {sorted(values)}")
    return values.pop() if values else 0.0
