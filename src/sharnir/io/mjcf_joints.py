"""Joints of a compiled MJCF model: the joints of a body, one after another, become one joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..model.import_report import ImportReport
from ..model.joints import Ball, Free, Joint, Prismatic, Revolute
from ..model.pose import Pose, Rotation
from ..trace.formula import formula
from .mjcf_import import MjcfImport, Names
from .mjcf_process import CompiledModel
from .paths import NOT_ACTING

FREE, BALL, SLIDE, HINGE = range(4)
"""mjtJoint."""
TYPES: tuple[tuple[str, type[Joint]], ...] = (("free", Free), ("ball", Ball), ("slide", Prismatic), ("hinge", Revolute))
WIDTH_Q, WIDTH_V = (7, 4, 1, 1), (6, 3, 1, 1)


ROUGH = "smooth below 0.001 rad/s or m/s: the joint creeps; solreffriction and solimpfriction are not read"
ELASTIC = "an elastic stop that scales with the inertia; solreflimit, solimplimit and margin are not read"


class JointPart(NamedTuple):
    """One joint of the file, and its pose in the frame that the joint before it moves."""

    name: str
    joint: Joint
    where: Pose


class JointReader:
    """Reads joints of a compiled model; `held` are coordinates that an equality holds at a value."""

    def __init__(self, on: MjcfImport, held: Mapping[int, float]) -> None:
        self.on, self.compiled, self.held, self.report = on, on.compiled, held, on.report
        self.springs = on.passive and not on.compiled.is_disabled("spring")
        self.dampers = on.passive and not on.compiled.is_disabled("damper")
        self.rotors = _rotors(on.compiled, on.report)

    def chain(self, ids: range, names: list[str]) -> tuple[list[JointPart], Pose]:
        """The parts of a body's joints, and the pose of the last moved frame in the body."""
        c, parts = self.compiled, list[JointPart]()
        anchor, behind = np.zeros(3), Pose()  # behind: from the last moved frame to the anchor, at the initial position
        for j, name in zip(ids, names, strict=True):
            kind, axis = int(c.jnt_type[j]), c.jnt_axis[j]
            if kind in (BALL, HINGE):  # a slide has no anchor
                behind = behind @ Pose((c.jnt_pos[j] - anchor).tolist())
                anchor = c.jnt_pos[j]
            with self.on.located("joint", j):
                parts.append(JointPart(name, self.joint(j, name), behind))
            start = 0.0 if kind in (BALL, FREE) else float(c.qpos0[c.jnt_qposadr[j]])  # `ref`: the coordinate there
            if kind == HINGE and start:
                behind = Pose(rotation=Rotation.about(axis.tolist(), -start))
            else:
                behind = Pose((-start * axis).tolist()) if kind == SLIDE else Pose()
        return parts, (behind @ Pose((-anchor).tolist())).inverse()

    def joint(self, j: int, name: str) -> Joint:
        kind = int(self.compiled.jnt_type[j])
        options = self.options(j, kind, f"joint {name!r}")
        word, made = TYPES[kind]
        self.report.honoured(f"{word} joint", f"joint {name!r}")
        return made(**options, **({"axis": self.compiled.jnt_axis[j].tolist()} if kind in (HINGE, SLIDE) else {}))

    def options(self, j: int, kind: int, where: str) -> dict[str, Any]:
        c, report = self.compiled, self.report
        at, q = int(c.jnt_dofadr[j]), int(c.jnt_qposadr[j])
        options: dict[str, Any] = {}

        def take(name: str, value: float, what: str, wanted: bool = True) -> None:
            if value and wanted:
                options[name] = value
                report.honoured(what, where)
            elif value:
                report.ignored(what, where, "passive=False, or the file disables it")

        rotor, drag = self.rotors.get(j, (0.0, 0.0))
        take("damping", float(c.dof_damping[at]) + drag, "damping", self.dampers)
        if kind == FREE and c.jnt_stiffness[j] and self.springs:
            report.ignored("stiffness of a free joint", where, "add a sharnir.Bushing")
        else:
            take("stiffness", float(c.jnt_stiffness[j]), "stiffness", self.springs)
        if "stiffness" in options:
            options["rest"] = c.qpos_spring[q : q + WIDTH_Q[kind]].tolist()
        take("armature", float(c.dof_armature[at]) + rotor, "armature")
        if kind == FREE and "armature" in options:
            note = "its linear part acts on velocities in the axes of the body, MuJoCo's in those of the world"
            report.approximated("armature of a free joint", where, note)
        if c.dof_frictionloss[at] and not self.on.passive:
            report.ignored("frictionloss", where, "passive=False leaves passive forces out")
        elif c.dof_frictionloss[at] and self._acts("frictionloss", "frictionloss", where, ROUGH):
            options["friction"] = float(c.dof_frictionloss[at])
        if c.jnt_limited[j] and kind not in (SLIDE, HINGE):
            report.ignored("range of a ball joint", where, "no stop limits the angle of a ball joint", warning=self.on.acts)
        elif c.jnt_limited[j] and self._acts("range", "limit", where, ELASTIC):
            options["limits"] = tuple(c.jnt_range[j].tolist())
        if kind in (SLIDE, HINGE) and c.jnt_actfrclimited[j]:
            options["effort"] = float(np.abs(c.jnt_actfrcrange[j]).max())
            report.kept("actuatorfrcrange", where, "for controllers, as the effort of the joint")
        for field in ("jnt_stiffnesspoly", "dof_dampingpoly", "jnt_springyield"):
            row = j if field.startswith("jnt") else at
            if np.any(c.given(field, row)):
                report.ignored(f"nonlinear {field[4:]}", where, "only the linear part acts")
        if j in self.held:
            options["motion"] = formula(self.held[j], "t")
        return options

    def _acts(self, what: str, switch: str, where: str, how: str) -> bool:
        """Whether the joint gets an option that acts or is stored, which the report says."""
        if not self.on.acts:
            self.report.kept(what, where, NOT_ACTING)
        elif self.compiled.is_disabled(switch) or self.compiled.is_disabled("constraint"):
            self.report.ignored(what, where, "the file switches it off")
            return False
        else:
            self.report.approximated(what, where, how)
        return True


def _rotors(compiled: CompiledModel, report: ImportReport) -> dict[int, tuple[float, float]]:
    """Joint -> inertia and damping of the rotors of its actuators, reflected to the joint."""
    found: dict[int, tuple[float, float]] = {}
    for k in range(len(getattr(compiled, "actuator_armature", ()))):  # since MuJoCo 4
        armature, damping = float(compiled.actuator_armature[k]), float(compiled.actuator_damping[k])
        j, where = int(compiled.actuator_trnid[k, 0]), compiled.label("actuator", k)
        if not (armature or damping):
            continue
        if compiled.actuator_trntype[k] not in (0, 1) or compiled.jnt_type[j] not in (SLIDE, HINGE):  # mjTRN_JOINT, …INPARENT
            report.ignored("armature or damping of an actuator", where, "it drives neither a hinge nor a slide")
            continue
        gear = float(compiled.actuator_gear[k, 0])
        before = found.get(j, (0.0, 0.0))
        found[j] = before[0] + armature * gear**2, before[1] + damping * gear**2
        report.honoured("armature or damping of an actuator", where, "added to its joint")
    return found


def joint_names(given: Sequence[str], kinds: Sequence[int], body: str) -> list[str]:
    """Names of the joints of one body; made from the body's name where the file has none."""
    names = Names()
    plain = f"{body} float" if list(kinds) == [FREE] else f"{body} joint"
    return [names.unique(name or plain, "joint") for name in given]
