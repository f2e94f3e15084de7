"""What joints that are cut forbid, and other constraints: rows, their Jacobian and γ, their forces."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sharnir as sh
from loop_models import STARTS, beside_itself, placed, table_of, unbalanced
from states import assert_close, derivative, interpreted, random_axis

AXIS = random_axis(np.random.default_rng(4))


def swing(t):
    return 0.4 * sh.sin(1.3 * t) + 0.2


def pose_in_time(t):
    return sh.Pose((swing(t), 0.1 * t, 0.3), sh.Rotation.about("z", swing(t)) @ sh.Rotation.about("x", 0.5 * t))


def on_a_cone(pose, t):
    x, y, z = pose.position
    return (x * x + y * y - (1.0 + 0.1 * t) ** 2, z - 0.2 * x)


CUT = {
    "Weld": (lambda: sh.Weld(), 6),
    "Revolute": (lambda: sh.Revolute(AXIS), 5),
    "Prismatic": (lambda: sh.Prismatic(AXIS), 5),
    "Cylindrical": (lambda: sh.Cylindrical(AXIS), 4),
    "Universal": (lambda: sh.Universal("x", "y"), 4),
    "Universal, askew": (lambda: sh.Universal(AXIS, random_axis(np.random.default_rng(5))), 4),
    "Ball": (lambda: sh.Ball(), 3),
    "Planar": (lambda: sh.Planar(), 3),
    "Translation": (lambda: sh.Translation(), 3),
    "Free": (lambda: sh.Free(), 0),
    "ConstraintJoint": (lambda: sh.ConstraintJoint(on_a_cone, start=sh.Pose((1.0, 0.0, 0.2))), 2),
    "driven Revolute": (lambda: sh.Revolute(AXIS, motion=swing), 6),
    "driven Prismatic": (lambda: sh.Prismatic(AXIS, motion=swing), 6),
    "driven Ball": (lambda: sh.Ball(motion=lambda t: pose_in_time(t).rotation), 6),
    "driven Free": (lambda: sh.Free(motion=pose_in_time), 6),
}


@pytest.mark.parametrize("backwards", [False, True], ids=["", "named the other way round"])
@pytest.mark.parametrize("kind", CUT)
def test_a_cut_joint_allows_the_motions_of_the_same_joint_in_the_tree(kind, backwards):
    """Its rows vanish on them, their rates too, and γ is what the accelerations of the tree do not change."""
    make, rows = CUT[kind]
    driven = kind.startswith("driven")
    if driven and backwards:
        pytest.skip("a drive names its direction")
    joint = make()
    swapped = sh.Universal(joint.second, joint.first) if kind.startswith("Universal") and backwards else None  # type: ignore[attr-defined]
    m = beside_itself(joint, backwards=backwards, closing=swapped)
    if kind == "ConstraintJoint" and backwards:
        pytest.skip("its function is of the child in the parent")
    table = table_of(m)
    assert len(table) + len(table.trivial) == rows
    t = 0.3 if driven else 0.0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        q, v = m.random_q(rng), rng.normal(size=m.nv)
        now = table.evaluate(q, v, t)
        assert np.abs(now["g"]).max(initial=0.0) < 1e-13
        assert np.abs(now["rate"]).max(initial=0.0) < 1e-12
        assert np.abs(now["gamma"]).max(initial=0.0) < 1e-10
        assert np.abs(now["J"]).max(initial=0.0) < 1e-12


@pytest.mark.parametrize("kind", [k for k in CUT if k != "Free"])
def test_the_rows_of_a_cut_joint_are_independent(kind):
    """With a free body in the tree, 6 less the freedoms of the joint remain to be forbidden."""
    make, rows = CUT[kind]
    joint = make()
    m = beside_itself(sh.Free(), closing=joint)
    table = table_of(m)
    tree = beside_itself(joint)
    t = 0.3 if kind.startswith("driven") else 0.0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        q, _ = m.assemble(m.coordinates({"base": m_q(rng), "tree": relative(tree, rng, t)}), None, t)
        J = table.evaluate(q, np.zeros(m.nv), t)["J"]
        singular = np.linalg.svd(J, compute_uv=False)
        assert len(singular) == rows and singular[-1] > 1e-3


def m_q(rng):
    return (*rng.uniform(-1, 1, 3), *quaternion(rng))


def quaternion(rng):
    x = rng.normal(size=4)
    return x / np.linalg.norm(x)


def relative(tree, rng, t):
    """A relative pose that a joint allows, as the coordinates of a free one."""
    q = tree.random_q(rng)
    R, r = interpreted(tree).poses(q, t)
    placed_joint = next(j for j in tree.joints if j.name == "tree")
    here = sh.Pose(r[0].tolist(), sh.Rotation(R[0].tolist())) @ placed_joint.at
    there = sh.Pose(r[1].tolist(), sh.Rotation(R[1].tolist())) @ placed_joint.child_at
    pose = here.inverse() @ there
    return (*pose.position, *to_quaternion(np.array(pose.rotation.entries).reshape(3, 3)))


def to_quaternion(R):
    """The eigenvector of the largest eigenvalue of Bar-Itzhack's matrix."""
    xx, yy, zz = np.diag(R)
    K = np.array([
        [xx + yy + zz, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
        [R[2, 1] - R[1, 2], xx - yy - zz, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
        [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], yy - xx - zz, R[1, 2] + R[2, 1]],
        [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], zz - xx - yy],
    ])  # fmt: skip
    return np.linalg.eigh(K)[1][:, -1]


@pytest.mark.parametrize("joint", [
    sh.Screw("z", pitch=0.1), sh.CustomJoint(1, lambda q, t: sh.Pose((q[0], q[0] * q[0], 0.0))),
    sh.Cylindrical("z", motion={"distance": swing}), sh.Compound({"a": sh.Revolute("z"), "b": sh.Revolute("x")}),
], ids=lambda j: j.type_name)  # fmt: skip
def test_a_joint_that_cannot_be_cut_stays_in_the_tree_or_names_the_remedy(joint):
    m = sh.Model("loop")
    for name in ("a", "b"):
        m.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("odd", joint, "ground", "b")
    m.add_joint("base", sh.Free(), "ground", "a")
    m.add_joint("link", sh.Ball(), "a", "b")
    assert [j.name for j in m.copy().closing_joints] == ["link"]  # of all but the odd one and the float
    m = beside_itself(sh.Free(), closing=joint)
    with pytest.raises(sh.ModelError, match=r"joint 'cut' closes a loop, .* cannot be cut.*model.split\('cut'\)"):
        sh.Dynamics(m)
    other = beside_itself(sh.Free(), closing=joint)
    other.split("cut")
    assert [j.name for j in other.closing_joints] == ["cut tie"]
    assert np.isfinite(interpreted(other).forward(*other.assemble())).all()


@pytest.mark.parametrize(("change", "what"), [
    (lambda m: m.add_force(sh.Motor("cut", torque=1.0), "engine"), "force 'engine'"),
    (lambda m: m.add_constraint(sh.Gear({"cut": 1.0, "tree": 2.0}), "teeth"), "constraint 'teeth'"),
])  # fmt: skip
def test_a_cut_joint_whose_coordinate_is_needed_is_refused(change, what):
    m = beside_itself(sh.Revolute("z"))
    change(m)
    with pytest.raises(sh.ModelError, match=rf"joint 'cut' closes a loop .* but {what} needs its coordinate.*model.split"):
        sh.Dynamics(m)


def test_damping_keeps_a_joint_in_the_tree():
    m, damped = sh.samples.four_bar(), sh.Revolute("z", damping=0.1)
    m.parts.joints[-1] = replace(m.parts.joints[-1], type=damped, motions=damped.built("D"))
    assert [j.name for j in m.closing_joints] == ["B"]
    marked = beside_itself(sh.Revolute("z"), closing=sh.Revolute("z", damping=0.1))
    with pytest.raises(sh.ModelError, match="its own damping, stiffness or armature needs its coordinate"):
        sh.Dynamics(marked)


def test_a_cut_joint_has_no_coordinate_to_ask_for():
    with pytest.raises(sh.ModelError, match=r"no joint 'D' in the tree; it closes a loop and is cut.*model.split\('D'\)"):
        sh.samples.four_bar().coordinates({"D": 1.0})


# --- derivatives ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", STARTS)
def test_jacobian_and_gamma_are_the_derivatives_of_the_rows(name):
    """d g/dt = J v + …, and d(rate)/dt = J v̇ + γ along any motion, by differences to ten digits."""
    m, q, v = placed(name, t=0.2)
    table, t, a = table_of(m), 0.2, np.random.default_rng(1).normal(size=m.nv)
    d = interpreted(m, "composite")
    now = table.evaluate(q, v, t)

    def moved(x):
        """Along the motion with accelerations a: q by the midpoint rule is exact enough where coordinates are rates."""
        return q + x * d.rates(q, v, t), t + x

    first = derivative(lambda x: table.evaluate(moved(x)[0], v, moved(x)[1])["g"])
    assert_close(first, now["rate"][: len(first)], 1e-9, scale=1.0)
    second = derivative(lambda x: table.evaluate(moved(x)[0], v + x * a, moved(x)[1])["rate"])
    assert_close(second, now["J"] @ a + now["gamma"], 1e-9, scale=max(1.0, np.abs(now["gamma"]).max()))
    columns = np.array([derivative(lambda x, e=e: table.evaluate(q, v + x * e, t)["rate"]) for e in np.eye(m.nv)]).T
    assert_close(columns, now["J"], 1e-10, scale=1.0)


# --- forces ---------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", STARTS)
def test_reactions_and_closing_forces_balance_every_body(name):
    m, q, v = placed(name)
    tau = np.random.default_rng(2).normal(size=m.nv)
    d = interpreted(m, "composite")
    assert unbalanced(m, d, q, v, tau) < 1e-9
    if name not in ("planetary gear", "car axis"):  # where constraints speak of coordinates, joints feel them as motors
        x = sh.matrices(m, q, v, 0.0)
        R = d.reactions(q, v, tau)
        assert_close(x.A.T @ R.ravel(), tau, 1e-8, scale=max(1.0, np.abs(R).max()))


@pytest.mark.parametrize("name", [n for n in STARTS if n != "car axis"])
def test_constraint_forces_do_no_work(name):
    """λᵀJ v = 0 where nothing moves in time: their power is that of no motion."""
    m, q, v = placed(name)
    d = interpreted(m, "composite")
    lam = d.multipliers(q, v)
    J = d.constrained.table.evaluate(q, v, 0.0)["J"]
    assert abs(lam @ J @ v) < 1e-9 * max(1.0, np.abs(lam).max())


def test_the_multiplier_of_a_rod_is_the_force_in_it():
    """A mass hung from the ground by a rod without mass bears its weight, and v²/l more when it swings."""
    m = sh.Model("swing", gravity=(0, 0, -10))
    m.add_body("mass", mass=2.0)
    m.add_joint("place", sh.Translation(), "ground", "mass")
    m.add_constraint(sh.Distance("ground", "mass", length=0.5), "rod")
    d = interpreted(m, "composite")
    assert_close(d.multipliers([0, 0, -0.5], [3.0, 0, 0]), [-(2.0 * 10 + 2.0 * 9.0 / 0.5)], 1e-9)
    force = d.closing_reactions([0, 0, -0.5], [3.0, 0, 0])["rod"]["mass"]
    assert_close(force, [0, 0, 20 + 36, 0, 0, 0], 1e-9)


def test_forces_of_equal_rods_side_by_side_are_shared():
    """What is not determined comes out least: each of two rods at the same place bears half."""
    m = sh.Model("two rods", gravity=(0, 0, -10))
    m.add_body("mass", mass=2.0)
    m.add_joint("place", sh.Translation(), "ground", "mass")
    for name in ("one", "two"):
        m.add_constraint(sh.Distance("ground", "mass", length=0.5, name="rod"), name)
    d = interpreted(m, "composite")
    assert_close(d.multipliers([0, 0, -0.5]), [-10.0, -10.0], 1e-8)
    found = d.closing_reactions([0, 0, -0.5])
    assert_close(found["one"]["mass"], found["two"]["mass"], 1e-8)


# --- constraints that are no joints ---------------------------------------------------------------------------------------------
def test_a_bead_on_a_circle_is_a_pendulum():
    """On a curve (a sphere cut by a plane), on a surface in a plane joint, by a rod: all the same motion."""

    def bead(tie):
        m = sh.Model("bead", gravity=(0, -9.81, 0))
        m.add_body("bead", mass=0.7)
        m.add_joint("place", sh.Translation(), "ground", "bead")
        m.add_constraint(tie, "wire")
        return m

    def sphere(x, y, z, t):
        return 0.5 * (x * x + y * y + z * z - 1.0)

    q, v = [math.cos(0.4), math.sin(0.4), 0.0], 1.5 * np.array([-math.sin(0.4), math.cos(0.4), 0.0])
    angle = -9.81 * math.cos(0.4)
    expected = angle * np.array([-math.sin(0.4), math.cos(0.4), 0]) - 1.5**2 * np.array([math.cos(0.4), math.sin(0.4), 0])
    ties = [
        sh.PointOnCurve("bead", sphere, lambda x, y, z, t: z),
        sh.PointOnSurface("bead", sphere),
        sh.Distance("ground", "bead"),
    ]
    for tie in ties:
        assert_close(interpreted(bead(tie), "composite").forward(q, v), expected, 1e-9)


def test_a_point_on_a_surface_of_a_moving_body():
    """Seen from the body that bears the surface: a point on a plane of a turning table moves with it."""
    m = sh.Model("table", gravity=(0, 0, 0))
    m.add_body("table", mass=1.0, inertia=(1, 1, 1))
    m.add_body("bead", mass=1.0)
    m.add_joint("turn", sh.Revolute("z", motion=lambda t: 2.0 * t), "ground", "table")
    m.add_joint("place", sh.Translation(), "ground", "bead")
    m.add_constraint(sh.PointOnCurve("bead", lambda x, y, z, t: y, lambda x, y, z, t: z, of="table"), "slot")
    q, v = m.assemble({"place": (1.0, 0, 0)}, {"place": (0.5, 0, 0)}, nearest=True)
    assert_close(v, [0.5, 2.0, 0.0], 1e-12)
    a = interpreted(m, "composite").forward(q, v)
    assert_close(a, [0.0, 2 * 2.0 * 0.5, 0.0], 1e-9)  # ẍ = ω²x − ω²x in the slot's axis, Coriolis across


def test_gears_move_as_their_teeth_say():
    """Willis: ω_s r_s + ω_r r_r = ω_c (r_s + r_r); the torque on a fixed ring is that of sun and carrier together."""
    m, sun, ring = sh.samples.planetary_gear(0.1, 0.05), 0.1, 0.2
    q, v = m.assemble(None, {"sun": 3.0, "ring": 0.5}, fixed=["sun", "ring"])
    speeds = dict(zip(m.v_names, v, strict=True))
    assert_close(speeds["carrier"], (3.0 * sun + 0.5 * ring) / (sun + ring), 1e-12)
    assert_close(speeds["planet1"], -(3.0 - speeds["carrier"]) * 2.0, 1e-12)
    a = interpreted(m, "composite").forward(q, v, m.speeds({"sun": 1.0}))
    assert_close(a @ m.speeds({"sun": sun, "ring": ring, "carrier": -(sun + ring)}), 0.0, 1e-12, scale=1.0)


def test_a_gear_ties_joints_of_one_coordinate():
    m = beside_itself(sh.Ball(), closing=sh.Free())
    m.add_constraint(sh.Gear({"tree": 1.0, "base": 1.0}), "teeth")
    with pytest.raises(sh.ModelError, match="constraint 'teeth': gear: joint 'tree' has 4 coordinates"):
        sh.Dynamics(m)


def test_a_knife_edge_slides_along_its_blade():
    """A non-holonomic constraint of the user's own: the skate on level ice goes in circles at constant speeds."""
    m = sh.Model("skate", gravity=(0, 0, 0))
    m.add_body("skate", mass=2.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("ice", sh.Planar(), "ground", "skate")

    def blade(on):
        _, _, angle = on.q("ice")
        vx, vy, _ = on.v("ice")
        return vy * sh.cos(angle) - vx * sh.sin(angle)

    m.add_constraint(sh.SpeedConstraint(blade), "blade")
    assert m.mobility().freedoms == 2
    q, v = np.array([0.3, 0.1, 0.7]), np.array([math.cos(0.7), math.sin(0.7), 2.0]) * [1.5, 1.5, 1.0]
    a = interpreted(m, "composite").forward(q, v)
    assert_close(a, 2.0 * 1.5 * np.array([-math.sin(0.7), math.cos(0.7), 0.0]), 1e-9)


@pytest.mark.parametrize(("lean", "precession"), [(0.3, 4.0), (-0.5, 7.0), (1.1, -9.0)])
def test_a_disc_rolls_steadily_in_a_circle(lean, precession):
    """Axis n, e from the touching point to the middle, whole spin w about n, Ω about the vertical. Euler's equation about the
    middle, with the force at the touching point from Newton's, leaves (3/2 w − ¼ Ω sin θ) Ω cos θ = −(g/r) sin θ.
    """
    r, g, c, s = 0.1, 9.81, math.cos(lean), math.sin(lean)
    w = (-g / r * s / (precession * c) + 0.25 * precession * s) / 1.5
    d = interpreted(sh.samples.rolling_disc(r), "composite")
    half = 0.5 * (math.pi / 2 - lean)  # the body's z is turned from the vertical by π/2 − θ about x
    q = np.array([0, 0, r * c, math.cos(half), math.sin(half), 0, 0])
    n, e, up = np.array([0.0, -c, s]), np.array([0.0, s, c]), np.array([0.0, 0.0, 1.0])
    omega = precession * c * e + w * n
    R = d.poses(q)[0][0]
    v = np.concatenate([R.T @ (r * w * np.cross(n, e)), R.T @ omega])
    assert np.abs(d.constrained.table.evaluate(q, v, 0.0)["rate"]).max() < 1e-12
    a = d.forward(q, v)
    assert_close(R @ a[3:], precession * np.cross(up, omega), 1e-8)
    linear = precession * np.cross(up, r * w * np.cross(n, e))
    assert_close(R @ a[:3] + np.cross(omega, r * w * np.cross(n, e)), linear, 1e-8)  # speeds are components in turning axes


# --- refusals -------------------------------------------------------------------------------------------------------------------
def tied(function):
    m = sh.Model("tied")
    m.add_body("a", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("hinge", sh.Revolute("z"), "ground", "a")
    m.add_constraint(function, "mine")
    return m


def test_a_constraint_that_cannot_be_traced_names_itself_and_the_line():
    def keep(on):
        return math.sin(on.q("hinge"))

    line = keep.__code__.co_firstlineno + 1
    with pytest.raises(sh.TraceError, match="constraint 'mine' cannot be traced") as caught:
        sh.Dynamics(tied(keep))
    assert f"{Path(__file__).name}:{line}: return math.sin" in str(caught.value)


@pytest.mark.parametrize(("function", "error", "message"), [
    (lambda on: on.v("hinge"), sh.ModelError, "must not depend on speeds; use SpeedConstraint"),
    (lambda on: "closed", sh.TraceError, "constraint 'mine' must return numbers, got 'closed'"),
    (lambda on: 0.3, sh.ModelError, "constraint 'mine' can never be met: it stays at 0.3 whatever the motion"),
    (lambda on: on.push("a", (1.0, 0, 0)) or on.q("hinge"), sh.StateError, "a constraint must not apply forces"),
    (lambda on: on.q("nowhere"), sh.ModelError, "no joint 'nowhere'"),
    (sh.SpeedConstraint(lambda on: on.v("hinge") * on.v("hinge")), sh.ModelError, "must be linear in them"),
])  # fmt: skip
def test_a_function_that_is_no_constraint(function, error, message):
    with pytest.raises(error, match=message):
        sh.Dynamics(tied(function))


def test_names_of_constraints_are_checked():
    m = tied(lambda on: on.q("hinge"))
    with pytest.raises(sh.ModelError, match="there is a constraint 'mine' already"):
        m.add_constraint(lambda on: on.q("hinge"), "mine")
    with pytest.raises(sh.ModelError, match="no body 'nobody'"):
        m.add_constraint(sh.Distance("ground", "nobody"))
    with pytest.raises(sh.ModelError, match="no joint 'none'"):
        m.add_constraint(sh.Gear({"hinge": 1.0, "none": 1.0}))
    with pytest.raises(sh.ModelError, match=r"a constraint is a sharnir\.Constraint or a function"):
        m.add_constraint(3.0)
    four = sh.samples.four_bar()
    four.add_constraint(lambda on: on.q("A"), "D")
    with pytest.raises(sh.ModelError, match="a joint and a constraint 'D'"):
        sh.Dynamics(four)


def test_a_constraint_class_that_returns_no_named_rows_is_told_so():
    class Level(sh.Constraint):
        def positions(self, on):
            return [on.q("hinge")]

    m = sh.samples.pendulum()
    m.add_constraint(Level(), "level")
    with pytest.raises(sh.ModelError, match=r"constraint 'level': .*must return rows \[\(name, residual\), …\]"):
        sh.Dynamics(m)


# --- forces by name -----------------------------------------------------------------------------------------------------------
def geared() -> sh.Result:
    """A pendulum that lifts another over a gear, on a rod; the loads are known at rest."""
    m = sh.Model("geared", gravity=(0.0, -10.0, 0.0))
    for name in "AB":
        m.add_body(name.lower(), mass=1.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
        m.add_joint(name, sh.Revolute("z"), "ground", name.lower(), at=sh.Pose(((0.0, 2.0)[name == "B"], 0.0, 0.0)))
    m.add_constraint(sh.Gear({"A": 2.0, "B": 1.0}), "teeth")
    m.add_body("bob", mass=3.0)
    m.add_joint("hang", sh.Prismatic("y"), "a", "bob", at=sh.Pose((0.0, -1.0, 0.0)))
    m.add_constraint(sh.Distance("a", "bob", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), length=1.0), "rope")
    return sh.simulate(m, 0.01, output=0.01)


def test_every_row_of_a_constraint_has_a_name_a_force_and_a_unit():
    """Jᵀλ with the rest: at rest the gear and the rope share the accelerations of three bodies."""
    r = geared()
    a, b = r.acceleration("A")[0], r.acceleration("B")[0]
    teeth, rope = r.multiplier("teeth"), r.multiplier("rope")
    assert_close(2.0 * teeth[0], 0.35 * a + 5.0 + 3.0 * a, 1e-9)  # the bob hangs a metre below the axis
    assert_close(teeth[0], 0.35 * b + 5.0, 1e-9)
    assert_close(rope[0], -30.0, 1e-9)  # it pulls
    assert [str(row) for row in r.constraint_rows("teeth").values()] == ["constraint 'teeth': ratio"]
    frame = r.to_dataframe()
    assert np.array_equal(frame["force of teeth"], teeth) and np.array_equal(r.quantity("force of rope"), rope)
    assert (frame.attrs["units"]["force of teeth"], frame.attrs["units"]["force of rope"]) == ("N m", "N")
    with pytest.raises(sh.StateError, match=r"no cut joint or constraint 'rop'"):
        r.multiplier("rop")


def test_what_a_gear_does_to_bodies_balances_them():
    r = geared()
    teeth, bodies = r.multiplier("teeth"), r.closing_reaction("teeth")
    assert_close(bodies["a"], np.outer(2.0 * teeth, [0, 0, 0, 0, 0, 1]), 1e-12)
    assert_close(bodies["b"], np.outer(teeth, [0, 0, 0, 0, 0, 1]), 1e-12)
    assert_close(r.reaction("B")[:, 5], np.zeros(2), 1e-9, scale=10.0)  # the hinge bears no moment about its axis
