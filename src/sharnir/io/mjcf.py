"""MJCF, the format of MuJoCo, read through MuJoCo's own compiler; equalities between its joints."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import FormatError, known
from ..model.import_report import ImportReport
from ..model.joints import Ball, Compound, Free, Weld
from ..model.model import Model
from ..model.pose import Pose
from ..types import FloatArray
from .mjcf_contacts import add_contacts
from .mjcf_forces import add_actuators, add_tendons
from .mjcf_import import MjcfImport, ModelCoordinate, Names, add_bodies, add_visuals, compile_source, pose_of, report_rest
from .mjcf_joints import FREE, HINGE, SLIDE, WIDTH_Q, WIDTH_V, JointPart, JointReader, joint_names
from .mjcf_process import COMPILER, CompiledModel
from .mjcf_source import read_source
from .paths import LoadOptions
from .rigid_groups import Carrier
from .xml import Element, located


# --- equalities of a compiled MJCF model: couplings of joints, and joints that close loops; exact here, soft in MuJoCo
@dataclass
class Couplings:
    """Equalities between joints of the file, by number."""

    follows: dict[int, tuple[int, float, float]] = field(default_factory=dict)
    """follower -> leader, ratio, offset."""
    held: dict[int, float] = field(default_factory=dict)
    """Joint -> the value that an equality holds it at."""

    def leads(self, j: int, of: int) -> bool:
        """Whether joint `of` follows j, directly or through others."""
        while of in self.follows:
            of = self.follows[of][0]
            if of == j:
                return True
        return False


def _active(compiled: CompiledModel, report: ImportReport, kinds: tuple[str, ...]) -> list[tuple[int, str, str]]:
    """(number, kind, label) of the active equalities of the given kinds."""
    off = compiled.is_disabled("equality") or compiled.is_disabled("constraint")
    out = []
    for e in range(compiled.count("equality")):
        kind, label = compiled.word("mjtEq", compiled.eq_type[e]), compiled.label("equality", e)
        if kind in kinds and (off or not compiled.eq_active0[e]):
            report.ignored(f"{kind} equality", label, "it is switched off in the file")
        elif kind in kinds:
            out.append((e, kind, label))
    return out


def read_couplings(compiled: CompiledModel, report: ImportReport) -> Couplings:
    """Joint equalities: y − y₀ = a₀ + a₁(x − x₀) + … with a₂ = a₃ = a₄ = 0."""
    found = Couplings()
    for e, _, label in _active(compiled, report, ("joint",)):
        y, x = int(compiled.eq_obj1id[e]), int(compiled.eq_obj2id[e])
        a = [float(c) for c in compiled.eq_data[e, :5]]
        if any(compiled.jnt_type[j] not in (SLIDE, HINGE) for j in (x, y) if j >= 0):
            report.ignored("joint equality", label, "only hinges and slides can be coupled")
            continue
        if x >= 0 and any(a[2:]):
            report.ignored("joint equality", label, "its polynomial is not linear")
            continue
        y0 = float(compiled.qpos0[compiled.jnt_qposadr[y]])
        if y in found.follows or y in found.held or (x >= 0 and (x == y or found.leads(y, x))):
            report.ignored("joint equality", label, "its first joint is bound by another equality already")
        elif x < 0 or a[1] == 0.0:
            found.held[y] = y0 + a[0]
            report.honoured("joint equality", label, "the joint is locked, exactly")
        else:
            found.follows[y] = (x, a[1], y0 + a[0] - a[1] * float(compiled.qpos0[compiled.jnt_qposadr[x]]))
            report.honoured("joint equality", label, "a coupling: the follower has no coordinate of its own")
    return found


def add_loops(on: MjcfImport, names: Names) -> None:
    """Connect and weld equalities as cut joints; all other kinds are reported as ignored."""
    compiled, report = on.compiled, on.report
    for e, kind, label in _active(compiled, report, ("connect", "weld")):
        first, second = _ends(on, e, kind)
        if first.body == second.body:
            report.ignored(f"{kind} equality", label, f"both ends are on {first.body!r}")
            continue
        name = names.unique(compiled.name_of("equality", e) or f"{kind} {first.body} {second.body}", "equality")
        joint = Weld() if kind == "weld" else Ball()
        on.model.add_joint(name, joint, first.body, second.body, at=first.at, child_at=second.at, cut=True)
        report.honoured(f"{kind} equality", label, f"the joint {name!r} closes a loop, exactly where MuJoCo's is soft")
    for _, kind, label in _active(compiled, report, ("tendon", "flex", "flexvert", "flexstrain", "distance", "unknown")):
        report.ignored(f"{kind} equality", label, "no constraint here is of this kind", warning=True)


def _ends(on: MjcfImport, e: int, kind: str) -> tuple[Carrier, Carrier]:
    """The two frames (for connect: points) that an equality makes coincide."""
    compiled = on.compiled
    one, two, data = int(compiled.eq_obj1id[e]), int(compiled.eq_obj2id[e]), compiled.eq_data[e]
    if compiled.word("mjtObj", compiled.given("eq_objtype", e, -1)) == "site":
        return on.site(one), on.site(two)
    here, there = on.carriers[one], on.carriers[two]
    if kind == "connect":
        points = Pose(data[0:3].tolist()), Pose(data[3:6].tolist())
    else:
        points = pose_of(data[3:6], data[6:10]), Pose(data[0:3].tolist())
    return Carrier(here.body, here.at @ points[0]), Carrier(there.body, there.at @ points[1])


# --- the reader
KEYFRAME = "coordinates are in model.keyframes; controls and activations of the first are where they begin; speeds are not read"


def load_mjcf(path: Path, options: LoadOptions, root: Element) -> Model:
    """A model from an MJCF file; `root` is the file's root element. `model.import_report` says what became of each part of it.

    Coordinates are MuJoCo's qpos in the same order, speeds its qvel, except the velocity of a free body, which is in the
    body's axes here. `model.keyframes` has the keyframes of the file, and "qpos0", its initial position. Controls of actuators
    are parameters of the model, by their names.
    """
    COMPILER.start()
    report = ImportReport(path, options.strict)
    source = read_source(path, root, options.package_paths, report)
    compiled = compile_source(source, report, options.floating)
    with located(source.error):
        gravity = (0.0, 0.0, 0.0) if compiled.is_disabled("gravity") else compiled.opt_gravity.tolist()
        model = Model(path.stem if compiled.facts["name"] in ("", "MuJoCo Model") else compiled.facts["name"], gravity)
        model.import_report = report
        on = MjcfImport(model, compiled, source, report, options.passive, options.acts)
        builder = _Builder(on, _floating_body(compiled, path) if options.floating else -1)
        add_tendons(on)
        add_actuators(on, options.actuators)
        add_visuals(on)
        if options.acts:
            add_contacts(on)
        report_rest(on)
        model.keyframes = builder.keyframes()
    return model


def _floating_body(compiled: CompiledModel, path: Path) -> int:
    """The body that floating=True frees; −1 where one floats already."""
    if FREE in compiled.jnt_type:
        return -1
    tops = [i for i in range(1, compiled.count("body")) if compiled.body_parentid[i] == 0]
    names = known(compiled.name_or_number("body", i) for i in tops)
    if len(tops) != 1:
        raise FormatError(f"{path}: floating=True needs a single body in the world; this one has {names}")
    if compiled.body_jntnum[tops[0]]:
        raise FormatError(f"{path}: floating=True: the body {names} has joints to the world already")
    return tops[0]


class _Builder:
    """Bodies, joints and equalities of a compiled model, added to ours."""

    def __init__(self, on: MjcfImport, floated: int) -> None:
        self.on, self.model, self.compiled, self.report, self.floated = on, on.model, on.compiled, on.report, floated
        self.placed: dict[str, list[int]] = {}
        """Joint of the model -> joints of the file; none for the one that floating=True added."""
        moving = [i == floated or self.compiled.body_jntnum[i] > 0 for i in range(self.compiled.count("body"))]
        if not any(moving):
            raise FormatError(f"{on.source.path}: nothing moves: no body has a joint; floating=True makes a single body float")
        self.couplings = read_couplings(self.compiled, self.report)
        on.carriers = add_bodies(on, moving.__getitem__)
        reader, names = JointReader(on, self.couplings.held), Names()
        for i in range(1, len(moving)):
            if moving[i]:
                with on.located("body", i):
                    self._joints(i, reader, names)
        name_of = {j: name for name, ids in self.placed.items() for j in ids}
        for follower, (leader, ratio, offset) in self.couplings.follows.items():
            self.model.couple(name_of[follower], name_of[leader], ratio, offset)
        add_loops(on, names)
        for name, ids in self.placed.items():
            q = v = 0
            for j in ids:
                if j not in self.couplings.held:
                    kind = int(self.compiled.jnt_type[j])
                    on.coordinates[j] = ModelCoordinate(name, q, v)
                    q, v = q + WIDTH_Q[kind], v + WIDTH_V[kind]

    def _joints(self, i: int, reader: JointReader, names: Names) -> None:
        """Join a body to its carrier by its joints: by a compound one, or where some are coupled, which parts of a compound
        cannot be, by separate ones with massless bodies between."""
        compiled, child = self.compiled, self.on.carriers[i].body
        above = self.on.carriers[int(compiled.body_parentid[i])]
        ids = range(compiled.body_jntadr[i], compiled.body_jntadr[i] + compiled.body_jntnum[i])
        if i == self.floated:
            parts, child_at, at = [JointPart(f"{child} float", Free(), Pose())], Pose(), Pose()
            self.report.honoured("free joint", f"body {child!r}", "added by floating=True")
        else:
            given = [compiled.name_of("joint", j) for j in ids]
            parts, child_at = reader.chain(ids, joint_names(given, compiled.jnt_type[ids.start : ids.stop].tolist(), child))
            at = above.at @ pose_of(compiled.body_pos[i], compiled.body_quat[i])
            if compiled.jnt_type[ids[0]] == FREE:
                at = Pose()  # its coordinates say where it is in the world
        coupled = {*self.couplings.follows, *(leader for leader, _, _ in self.couplings.follows.values())}
        if len(parts) > 1 and coupled.isdisjoint(ids):
            name, compound = names.unique(child, "joint"), Compound({p.name: (p.joint, p.where) for p in parts})
            self.model.add_joint(name, compound, above.body, child, at=at, child_at=child_at)
            self.placed[name] = list(ids)
            return
        parent = above.body
        for k, part in enumerate(parts):
            name, last = names.unique(part.name, "joint"), k == len(parts) - 1
            moved = child if last else self.model.add_body(f"{child}/{part.name}").name
            here = at @ part.where if k == 0 else part.where
            self.model.add_joint(name, part.joint, parent, moved, at=here, child_at=child_at if last else None)
            self.placed[name], parent = list(ids[k : k + 1]), moved

    def keyframes(self) -> dict[str, FloatArray]:
        """Positions of the file in our coordinates."""
        c = self.compiled
        out = {"qpos0": self._coordinates(c.qpos0)}
        for k in range(c.count("key")):
            label = c.name_or_number("key", k)
            out[label] = self._coordinates(c.key_qpos[k])
            self.report.kept("keyframe", f"key {label!r}", KEYFRAME)
        return out

    def _coordinates(self, qpos: FloatArray) -> FloatArray:
        c, q = self.compiled, list[float]()
        bound = {*self.couplings.follows, *self.couplings.held}
        for joint in self.model.joints:
            ids = self.placed[joint.name]
            if not ids:
                q += [*c.body_pos[self.floated].tolist(), *c.body_quat[self.floated].tolist()]
            for j in ids:
                at = int(c.jnt_qposadr[j])
                q += [] if j in bound else [float(x) for x in qpos[at : at + WIDTH_Q[int(c.jnt_type[j])]]]
        return np.array(q)
