"""Random graphs for hypothesis: trees of any joints with loops that change nothing, and chains closed by any joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import sharnir as sh
from sharnir.samples.random_parts import random_compound, random_constraint, random_custom, random_driven, random_joints
from states import random_mass, random_pose


def kinds(rng: np.random.Generator) -> list[sh.Joint]:
    """Every joint there is, driven ones and those of the user's own included."""
    own = [random_custom(rng), random_compound(rng), random_constraint()]
    return [*random_joints(rng), *own, *random_driven(rng)]


N_KINDS = len(kinds(np.random.default_rng(0)))
MOVING = [k for k, joint in enumerate(kinds(np.random.default_rng(0))) if joint.v_names()]
CUTTABLE = [k for k, joint in enumerate(kinds(np.random.default_rng(0))) if joint.can_be_cut and joint.motion is None]


@dataclass(frozen=True)
class Added:
    """A joint added at joint `at` of the tree: "beside" it, or a "twin" of its body hung by the same joint and welded on."""

    how: str
    at: int
    wider: int
    backwards: bool


@dataclass(frozen=True)
class Graph:
    """What hypothesis draws: joints by number, carriers (−1: the ground), which are named from child to parent, what is added."""

    seed: int
    joints: tuple[int, ...]
    carriers: tuple[int, ...]
    reversed: tuple[bool, ...]
    added: tuple[Added, ...]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(2, 4))
    joints = [draw(st.sampled_from(MOVING)), *(draw(st.integers(0, N_KINDS - 1)) for _ in range(n - 1))]
    carriers = [draw(st.integers(max(-1, i - 3), i - 1)) for i in range(n)]
    flags = [draw(st.booleans()) for _ in range(n)]
    one = st.builds(Added, st.sampled_from(["beside", "twin"]), st.integers(0, n - 1), st.integers(0, 2), st.booleans())
    added = draw(st.lists(one, min_size=1, max_size=3))
    return Graph(draw(st.integers(0, 10_000)), tuple(joints), tuple(carriers), tuple(flags), tuple(added))


def wider(joint: sh.Joint, choice: int) -> list[sh.Joint]:
    """Joints that allow at least what this one allows, in the same frames; none where they cannot be cut."""
    out = [joint] if joint.can_be_cut and joint.motion is None else []
    if isinstance(joint, (sh.Revolute, sh.Prismatic)):
        out += [sh.Cylindrical(joint.axis), sh.Ball() if isinstance(joint, sh.Revolute) else sh.Translation()]
    if isinstance(joint, sh.Screw):
        out.append(sh.Cylindrical(joint.axis))
    if isinstance(joint, sh.Universal) or (isinstance(joint, sh.Ball) and joint.motion is not None):
        out.append(sh.Ball())
    if isinstance(joint, sh.Weld):
        out += [sh.Revolute("y"), sh.Planar()]
    return out[choice % len(out) :][:1] if out else []


def built(graph: Graph) -> tuple[sh.Model, sh.Model, dict[str, str]]:
    """The tree alone, the tree with what is added, and which joints of it are twins of which."""
    rng = np.random.default_rng((graph.seed, 31))
    gravity, masses = rng.normal(size=3).tolist(), [random_mass(rng) for _ in graph.joints]
    places = [(random_pose(rng), random_pose(rng)) for _ in graph.joints]
    joints = [kinds(rng)[k] for k in graph.joints]
    parts = [1 + sum(x.how == "twin" and x.at == i for x in graph.added) for i in range(len(joints))]
    tree, whole = sh.Model("tree", gravity), sh.Model("graph", gravity)
    for m, shared in ((tree, False), (whole, True)):
        for i, mass in enumerate(masses):
            m.add_body(f"b{i}", **_part(mass, parts[i] if shared else 1))
        for i, joint in enumerate(joints):
            m.add_joint(f"j{i}", joint, *_ends(graph, i, f"b{i}"), *_sides(graph, i, places))
    twins = {}
    for k, x in enumerate(graph.added):
        i = x.at
        if x.how == "twin":
            whole.add_body(f"twin{k}", **_part(masses[i], parts[i]))
            whole.add_joint(f"t{k}", joints[i], *_ends(graph, i, f"twin{k}"), *_sides(graph, i, places))
            whole.add_joint(f"w{k}", sh.Weld(), f"b{i}", f"twin{k}", cut=True)
            twins[f"t{k}"] = f"j{i}"
            continue
        for joint in wider(joints[i], x.wider):
            ends, sides = _ends(graph, i, f"b{i}"), _sides(graph, i, places)
            turned = x.backwards and not isinstance(joint, (sh.ConstraintJoint, sh.Universal))
            order = (1, 0) if turned else (0, 1)
            whole.add_joint(f"c{k}", joint, *(ends[o] for o in order), *(sides[o] for o in order), cut=True)
    return tree, whole, twins


def _part(mass: dict, parts: int) -> dict:
    return {"mass": mass["mass"] / parts, "com": mass["com"], "inertia": mass["inertia"] / parts}


def _ends(graph: Graph, i: int, body: str) -> tuple[str, str]:
    carrier = "ground" if graph.carriers[i] < 0 else f"b{graph.carriers[i]}"
    return (body, carrier) if graph.reversed[i] else (carrier, body)


def _sides(graph: Graph, i: int, places: list) -> tuple[sh.Pose, sh.Pose]:
    return places[i][::-1] if graph.reversed[i] else places[i]


# --- loops that constrain -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Loop:
    """A chain of joints by number from the ground, closed onto the ground by another, with one more joint to try as the cut."""

    seed: int
    joints: tuple[int, ...]
    closing: int
    other: int


@st.composite
def loops(draw: st.DrawFn) -> Loop:
    cut = draw(st.sampled_from([k for k in CUTTABLE if k != CUTTABLE[-1]]))
    joints = [draw(st.sampled_from(MOVING)) for _ in range(draw(st.integers(2, 4)))]
    other = draw(st.integers(0, len(joints)))
    joints.insert(other, draw(st.sampled_from(CUTTABLE)))
    return Loop(draw(st.integers(0, 10_000)), tuple(joints), cut, other)


def closed_chain(loop: Loop, cut_other: bool) -> tuple[sh.Model, dict[str, np.ndarray]]:
    """The chain with its loop closed at a random position, cut at the closing joint or at the other; and that position."""
    rng = np.random.default_rng((loop.seed, 37))
    gravity, masses = rng.normal(size=3).tolist(), [random_mass(rng) for _ in loop.joints]
    places = [(random_pose(rng), random_pose(rng)) for _ in loop.joints]
    joints, closing = [kinds(rng)[k] for k in loop.joints], kinds(rng)[loop.closing]
    chain = sh.Model("chain", gravity)
    _links(chain, masses, joints, places, -1)
    q = chain.random_q(rng)
    R, r = sh.Dynamics(chain, "separate", backend="python").poses(q)
    end = sh.Pose(r[-1].tolist(), sh.Rotation(R[-1].tolist()))
    here = closing.start if isinstance(closing, sh.ConstraintJoint) else sh.Pose()
    at = random_pose(rng)
    m = sh.Model("loop", gravity)
    _links(m, masses, joints, places, loop.other if cut_other else -1)
    last = f"b{len(joints) - 1}"
    m.add_joint("end", closing, "ground", last, at, end.inverse() @ at @ here, cut=not cut_other)
    start = {j.name: q[chain.q_slice(j.name)] for j in chain.joints}
    start["end"] = np.array(closing.neutral())
    return m, {j.name: start[j.name] for j in m.joints}


def _links(m: sh.Model, masses: list, joints: list, places: list, cut: int) -> None:
    for i, mass in enumerate(masses):
        m.add_body(f"b{i}", **mass)
        carrier = "ground" if i == 0 else f"b{i - 1}"
        m.add_joint(f"j{i}", joints[i], carrier, f"b{i}", *places[i], cut=i == cut)
