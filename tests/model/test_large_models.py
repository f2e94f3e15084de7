"""Large models: built and frozen in a time that grows with their size, with the same arrays as joint by joint, body by body."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sharnir as sh
from sharnir.kernels.joint_stage import GIVEN
from sharnir.model.body import principal_moments
from sharnir.model.joints.joint_type import ElementaryMotion, fixed
from sharnir.model.states import check_state
from sharnir.model.structure import axes_above
from states import EPS
from work import lines


# --- the same, slowly ---------------------------------------------------------------------------------------------------------
def merged(motions):
    out = []
    for m in motions:
        if m.placement is not None and out and out[-1].placement is not None:
            out[-1:] = fixed(out[-1].placement @ m.placement)
        else:
            out.append(m)
    return out


def snapped(x):
    return float(round(x)) if abs(x - round(x)) < 1e-15 else x


def rows_one_by_one(s, base):
    """The rows of every joint's motions, as one would write them down."""
    sequences = [base, *([*fixed(j.at), *s.motions_of(j), *fixed(j.child_at.inverse())] for j in s.placed)]
    start, first, q_first, v_first, rows = [0], [0], [0], [0], []
    nq = nv = na = drives = given = 0
    leaders = []
    for i, motions in enumerate(map(merged, sequences)):
        for m in motions:
            data = drives if m.drive is not None else given if m.given is not None else -1
            drives += m.drive is not None
            given += len(m.given.outputs) if m.given is not None else 0
            pose = m.placement or sh.Pose()
            axes = 1 if m.leader else m.nv
            if m.leader:
                leaders.append((len(rows), s.joint_number[s.placed[i - 1].follows.leader] + 1))
            cosines = [snapped(x) for x in pose.rotation.T.entries]
            at = nq if m.nq or m.kind == GIVEN else -1
            rows.append([m.kind, at, nv, data, axes, m.nq, pose.position, cosines, m.turn, m.slide])
            nq, nv, na = nq + m.nq, nv + m.nv, na + axes
        for total, x in zip((start, first, q_first, v_first), (len(rows), na, nq, nv), strict=True):
            total.append(x)
    for row, leader in leaders:
        rows[row][1:3] = q_first[leader], v_first[leader]
    return start, first, q_first, v_first, list(zip(*rows, strict=True))


def tree_one_by_one(s):
    """above, speed, rotor and the mass properties, axis by axis and body by body."""
    above, speed, rotor, last = [], [], [], [-1] * (s.nb + 1)
    for i, joint in enumerate(s.placed, start=1):
        n = int(s.first[i + 1] - s.first[i])
        leader = i if joint.follows is None else s.joint_number[joint.follows.leader] + 1
        last[i] = last[s.carrier[i]]
        for k in range(n):
            above.append(last[i])
            last[i] = int(s.first[i]) + k
            speed.append(int(s.v_first[leader]) + k)
        ratio = joint.follows.ratio if joint.follows else 1.0
        rotor += [x * ratio**2 for x in joint.type.per_speed("armature", n, "")]
    inertia = [b.inertia_at_origin()[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]] for b in s.bodies]
    t = s.tree
    lent = [t.lent[t.lent_at[k] : t.lent_at[k] + n] for k, n in zip(t.alike[1:], np.diff(t.lent_of)[1:], strict=True)]
    assert [len(x) for x in lent] == [6 - np.linalg.matrix_rank(b.mass_matrix()) for b in s.bodies]
    mobility = [np.linalg.inv(b.mass_matrix() + x.T @ x) for b, x in zip(s.bodies, lent, strict=True)]
    return above, speed, rotor, inertia, mobility


POSES = [
    None,
    sh.Pose(),
    sh.Pose((0.1, 0.0, 0.0)),
    sh.Pose((-0.1, 0.0, 0.0)),
    sh.Pose((0.0, 0.0, 0.0), sh.Rotation.about("x", math.pi / 2)),
    sh.Pose((0.0, 0.0, 0.0), sh.Rotation.about("x", -math.pi / 2)),
    sh.Pose((0.2, -0.3, 0.4), sh.Rotation.rpy(0.1, 0.2, 0.3)),
]
"""Some are the identity, some undo each other."""


def of_many_kinds(seed: int) -> sh.Model:
    """Welds on welds, placements that vanish, rotors, massless bodies, joints that share a type, joints that follow."""
    rng = np.random.default_rng(seed)
    kinds = [
        sh.Weld(), sh.Weld(), sh.Revolute("x"), sh.Revolute("z", armature=0.3), sh.Universal("x", "z", armature=(0.1, 0.2)),
        sh.Prismatic("-y"), sh.Ball(), sh.Free(), sh.Planar(), sh.Revolute("y", motion=sh.sin),
        sh.Compound({"a": (sh.Weld(), POSES[4]), "b": (sh.Weld(), POSES[5])}),
        sh.Compound({"a": sh.Revolute("x"), "b": (sh.Weld(), POSES[4]), "c": (sh.Revolute("x"), POSES[5]), "d": sh.Ball()}),
    ]  # fmt: skip
    m = sh.Model(f"of many kinds {seed}", numbering=("depth-first", "leaves-last")[seed % 2])
    for i in range(60):
        numbers = [(), (1.0, (0.1, 0.0, 0.0), (0.1, 0.1, 0.1)), (1.5, rng.normal(size=3), (1.0, 1.5, 0.9, 0.1, 0.05, -0.02))]
        m.add_body(f"b{i}", *numbers[rng.integers(3)])
    for i in rng.permutation(60):
        carrier = "ground" if i == 0 else f"b{rng.integers(max(0, i - 5), i)}"
        ends = (carrier, f"b{i}") if rng.random() < 0.6 else (f"b{i}", carrier)
        at, child_at = (POSES[k] for k in rng.integers(len(POSES), size=2))
        m.add_joint(f"j{i}", kinds[rng.integers(len(kinds))], *ends, at, child_at)
    single = [j.name for j in m.parts.joints if j.type in kinds[2:4]]
    for follower, leader in zip(single[::2], single[1::2], strict=False):
        m.couple(follower, leader, *rng.normal(size=2))
    return m


MODELS = [*(sh.samples.all_joints(seed) for seed in range(6)), *(of_many_kinds(seed) for seed in range(6)), sh.samples.rods(7)]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_all_joints_at_once_are_the_joints_one_by_one(model):
    s = model.freeze()
    base = [] if model.structure.base is None else [ElementaryMotion(GIVEN, given=model.structure.base)]
    start, first, q_first, v_first, columns = rows_one_by_one(s, base)
    j = s.joints
    for found, wanted in ((j.start, start), (s.first, first), (s.q_first, q_first), (s.v_first, v_first)):
        assert found.dtype == np.int64 and found.tolist() == wanted
    found = (j.kind, j.q_at, j.v_at, j.data_at, j.axes, j.coordinates, j.rho, j.G, j.turn, j.slide)
    for x, wanted in zip(found, columns, strict=True):
        wanted = np.array(wanted, dtype=x.dtype)
        assert x.flags.c_contiguous and x.shape == wanted.shape and x.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_all_bodies_at_once_are_the_bodies_one_by_one(model):
    s = model.freeze()
    above, speed, rotor, inertia, mobility = tree_one_by_one(s)
    assert s.tree.above.tolist() == above and s.tree.speed.tolist() == speed and s.tree.rotor.tolist() == rotor
    assert s.tree.mass.tolist() == [0.0, *(b.mass for b in s.bodies)]
    assert np.array_equal(s.tree.moment[1:], [np.array(b.com) * b.mass for b in s.bodies])
    assert np.allclose(s.tree.inertia[1:], inertia, rtol=8 * EPS, atol=8 * EPS * np.abs(inertia).max())  # sums in another order
    assert np.allclose(s.tree.mobility[s.tree.alike][1:], mobility, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_states_and_names_are_those_of_the_joints(model):
    s, rng = model.freeze(), np.random.default_rng(3)
    free = [j for j in model.joints if not j.follows]
    assert np.array_equal(model.neutral(), [x for j in free for x in j.type.neutral()])
    assert np.array_equal(model.random_q(3), [x for j in free for x in j.type.random(rng)])
    for names, parts_of in ((model.q_names, lambda j: j.q_names), (model.v_names, lambda j: j.v_names)):
        each = [(j.name, parts_of(j)) for j in model.joints]
        assert names == [f"{name}.{p}" if len(parts) > 1 else name for name, parts in each for p in parts]
    assert s.quaternions.tolist() == [model.q_slice(j.name).start + k for j in free for k in j.type.quaternions()]


@pytest.mark.parametrize("seed", range(5))
def test_axes_above_pass_over_any_number_of_welds(seed):
    rng = np.random.default_rng(seed)
    n = 50
    carrier = np.array([0, *(rng.integers(max(0, i - 3), i) for i in range(1, n))])
    axes = np.array([0, *rng.choice(3, n - 1, p=(0.7, 0.2, 0.1))])
    first = np.concatenate([[0], np.cumsum(axes)])
    owner = np.repeat(np.arange(n), axes)
    wanted = []
    for i in range(n):
        for a in range(first[i], first[i + 1]):
            k = carrier[i]
            while k and not axes[k]:
                k = carrier[k]
            wanted.append(a - 1 if a > first[i] else first[k + 1] - 1 if axes[k] else -1)
    assert axes_above(carrier, first, owner).tolist() == wanted


@pytest.mark.parametrize("seed", range(20))
def test_principal_moments_are_the_eigenvalues(seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    moments = [(1.0, 2.0, 2.5), (1.0, 1.0, 2.0), (0.0, 1.0, 1.0), (1.0, 1.0, 1.0), (-1.0, 2.0, 3.0)][seed % 5]
    J = 10.0 ** rng.integers(-200, 100) * (Q @ np.diag(moments) @ Q.T)
    found = principal_moments((*np.diag(J).tolist(), J[0, 1], J[0, 2], J[1, 2]))
    assert np.allclose(found, np.linalg.eigvalsh((J + J.T) / 2), rtol=0.0, atol=1e-7 * np.abs(J).max())


# --- how it grows -------------------------------------------------------------------------------------------------------------
def assert_grows_with_the_size(action):
    """Ten times the bodies, ten times the lines; what looks through all bodies for each of them takes a hundred times."""
    assert lines(lambda: action(2000)) <= 10.5 * lines(lambda: action(200))


def welded(n):
    """Every other joint a weld, every type and place its own object, numbered from the leaves inward."""
    m = sh.Model("welded", numbering="leaves-last")
    for i in range(n):
        m.add_body(f"b{i}", 1.0 + i, (0.1, 0.0, 0.0), (0.1, 0.1, 0.1 + 1e-6 * i))
        joint = sh.Weld() if i % 2 else sh.Ball()
        m.add_joint(f"j{i}", joint, f"b{i}", f"b{i - 1}" if i else "ground", child_at=sh.Pose((0.1, 0.2, 0.3)))
    return m


def pushed(n):
    """A force on every joint, by the name of its speed; adding them must not look through all joints."""
    m = sh.samples.chain(n, dof=2)
    for i in range(1, n + 1):
        m._added(sh.Motor(f"joint{i}.first", lambda t: 0.0), f"m{i}", "force", sh.Force, sh.Force, {})


@pytest.mark.parametrize(
    "action",
    [lambda n: sh.samples.chain(n).freeze(), lambda n: welded(n).freeze(), pushed],
    ids=["chain", "welded", "forces"],
)
def test_building_and_freezing_grow_with_the_size(action):
    assert_grows_with_the_size(action)


def test_a_closed_chain_grows_with_the_size():
    def ring(n):
        m = sh.samples.chain(n, dof=3)
        m.add_joint("last", sh.Ball(), f"link{n}", "ground")
        assert len(m.tree.closing) == 1

    assert_grows_with_the_size(ring)


def test_questions_to_a_large_model_cost_little_beside_it():
    """What Dynamics and the checks of a state do in Python is little beside building the model."""
    n = 2000
    m = sh.samples.chain(n)
    m.freeze()

    def ask():
        sh.Dynamics(m)
        check_state(m, m.random_q(0), np.zeros(n), 0.0)

    asked, built = (lines(action) for action in (ask, lambda: sh.samples.chain(n).freeze()))
    assert asked < 0.1 * built


def test_equal_moments_with_the_smallest_products():
    """Found by the fuzzer: the cube of such a product vanishes."""
    assert principal_moments((1.0, 1.0, 1.0, 1e-200, 0.0, 0.0)) == [1.0, 1.0, 1.0]
