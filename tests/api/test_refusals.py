"""Functions that cannot be traced, joints that cannot move, methods that do not apply: refused with the culprit's name."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import sharnir as sh

HERE = Path(__file__).name


def add(joint, name="cam"):
    m = sh.Model("traced")
    m.add_body("a", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint(name, joint, "ground", "a")
    return m


# --- user's functions ---------------------------------------------------------------------------------------------------------
def test_a_function_of_math_on_a_symbol_names_the_joint_and_the_line():
    def swing(t):
        return math.sin(2 * t)

    line = swing.__code__.co_firstlineno + 1
    with pytest.raises(sh.TraceError) as caught:
        add(sh.Revolute("z", motion=swing))
    message = str(caught.value)
    assert "joint 'cam': motion of 'angle' cannot be traced" in message
    assert f"{HERE}:{line}: return math.sin(2 * t)" in message
    assert "use sharnir.sin" in message


def test_a_branch_on_a_symbol_names_the_joint_and_the_line():
    def profile(q, t):
        if q[0] > 0:
            return sh.Pose((q[0], 0, 0))
        return sh.Pose((2 * q[0], 0, 0))

    line = profile.__code__.co_firstlineno + 1
    with pytest.raises(sh.TraceError, match="joint 'cam': the pose cannot be traced") as caught:
        add(sh.CustomJoint(1, profile))
    assert f"{HERE}:{line}: if q[0] > 0:" in str(caught.value)
    assert "write select(condition, a, b) instead of if" in str(caught.value)


def test_select_instead_of_a_branch_is_traced():
    m = add(sh.CustomJoint(1, lambda q, t: sh.Pose((sh.select(q[0] > 0, q[0], 2 * q[0]), 0, 0))))
    assert sh.Dynamics(m).poses([1.0])[1][0, 0] == 1.0
    assert sh.Dynamics(m).poses([-1.0])[1][0, 0] == -2.0


@pytest.mark.parametrize(
    ("joint", "error", "message"),
    [
        (lambda: sh.Revolute(motion=lambda t: "late"), sh.TraceError, "joint 'cam': motion of 'angle' must return numbers"),
        (lambda: sh.Revolute(motion=lambda t: [][0]), sh.TraceError, "joint 'cam': .* cannot be traced.*\n.*IndexError"),
        (lambda: sh.Ball(motion=lambda t: math.cos(t)), sh.TraceError, "joint 'cam': the pose cannot be traced"),
        (lambda: sh.CustomJoint(1, lambda q, t: q[0]), sh.ModelError, "joint 'cam': the pose function must return a"),
        (lambda: sh.CustomJoint(1, lambda q, t: sh.Pose((q[0], 0, 0), [[1, q[0], 0], [0, 1, 0], [0, 0, 1]])), sh.ModelError,
         "joint 'cam': the pose function returns a matrix that is not a rotation; build it with sharnir.Rotation"),
        (lambda: sh.CustomJoint(2, lambda q, t: sh.Pose((q[0], 0, 0))), sh.ModelError,
         "joint 'cam': its 2 coordinates move the body in only 1 independent ways; leave out the idle ones"),
        (lambda: sh.CustomJoint(2, lambda q, t: sh.Pose((q[0] + q[1], 0, 0))), sh.ModelError, "joint 'cam': its 2 coordinates"),
        (lambda: sh.CustomJoint(7, lambda q, t: sh.Pose()), sh.ModelError, "dof: expected a whole number from 0 to 6, got 7"),
        (lambda: sh.CustomJoint(2, lambda q, t: sh.Pose(), names=("a", "a")), sh.ModelError, "names must be 2 different words"),
        (lambda: sh.Screw("z", pitch=math.inf), sh.ModelError, "screw joint: pitch: expected a finite number, got inf"),
    ],
)  # fmt: skip
def test_a_function_that_is_no_motion(joint, error, message):
    with pytest.raises(error, match=message):
        add(joint())


def test_a_force_that_reads_its_own_model_while_it_is_traced():
    m = sh.samples.pendulum()
    m.add_force(lambda on: on.push(m.bodies[0].name, (1.0, 0.0, 0.0)))
    with pytest.raises(sh.SharnirError, match="force 'UserForce 1' cannot be traced") as caught:
        sh.simulate(m, 0.1)
    text = str(caught.value)
    assert "model 'pendulum' is read by a function of its own" in text and text.count("cannot be traced") == 1


def test_a_base_motion_that_cannot_be_traced():
    with pytest.raises(sh.TraceError, match="base_motion: the pose cannot be traced"):
        sh.Model("shaken", base_motion=lambda t: sh.Pose((math.sin(t), 0, 0)))


def test_a_value_kept_from_another_trace():
    kept = []

    def pose(q, t):
        kept.append(q[0])
        return sh.Pose((kept[0], 0, 0))

    add(sh.CustomJoint(1, pose))
    with pytest.raises(sh.TraceError, match="symbols of two different traces were mixed"):
        add(sh.CustomJoint(1, pose))


@pytest.mark.parametrize(
    ("constraints", "start", "message"),
    [
        (lambda pose, t: pose.position[0], sh.Pose((0.5, 0, 0)), r"the start pose breaks its constraints by 0.5; give a `start`"),
        (
            lambda pose, t: (pose.position[0], 2 * pose.position[0]),
            None,
            "only 1 of its 2 constraints are independent at the start",
        ),
        (lambda pose, t: (), None, "between 1 and 6 constraints make a joint, got 0"),
        (lambda pose, t: [pose.position[0]] * 7, None, "between 1 and 6 constraints make a joint, got 7"),
    ],
)
def test_constraints_that_make_no_joint(constraints, start, message):
    with pytest.raises(sh.ModelError, match=message):
        add(sh.ConstraintJoint(constraints, start=start))


def test_a_constraint_joint_is_driven_by_its_constraints():
    with pytest.raises(sh.ModelError, match="put the drive into the constraints"):
        sh.ConstraintJoint(lambda pose, t: pose.position, motion=sh.sin)
    with pytest.raises(sh.TraceError, match="constraint joint: the constraints cannot be traced"):
        sh.ConstraintJoint(lambda pose, t: math.sin(pose.position[0]))


# --- methods ------------------------------------------------------------------------------------------------------------------
def test_an_unknown_method_or_backend_lists_the_known_ones():
    m = add(sh.Revolute())
    with pytest.raises(sh.MethodError, match=r"unknown method 'newton'; the methods are 'auto', .*'separate'"):
        sh.Dynamics(m, "newton")
    with pytest.raises(sh.MethodError, match=r"unknown backend 'cobol'; the backends are 'auto', .*'python'"):
        sh.Dynamics(m, backend="cobol")
    with pytest.raises(sh.MethodError, match=r"Dynamics needs a sharnir.Model"):
        sh.Dynamics("pendulum")


@pytest.mark.parametrize("method", ["momentum", "direct-iterative-multipliers"])
def test_a_method_without_a_place_for_loops_names_those_that_have_one(method):
    with pytest.raises(sh.MethodError, match=f"method '{method}' does not handle closed loops .*'separate'.*'composite'"):
        sh.Dynamics(sh.samples.four_bar(), method)


@pytest.mark.parametrize("joint", [sh.Revolute("x"), sh.Ball(), sh.Universal("y", "x")])
def test_a_joint_that_moves_no_mass_is_named(joint):
    """A point mass on its own axis feels no turn about it."""
    m = sh.Model("pencil")
    m.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_body("tip", mass=1.0, com=(0.5, 0.0, 0.0))
    m.add_joint("shoulder", sh.Revolute("z"), "ground", "arm")
    m.add_joint("wrist", joint, "arm", "tip")
    with pytest.raises(
        sh.SingularError, match=r"joint 'wrist' moves no mass when it turns about the axis x of body 'tip'.*inertia.* weld"
    ):
        sh.Dynamics(m, "separate").forward()


def test_a_massless_body_is_carried_but_not_moved():
    m = sh.Model("ghost")
    m.add_body("ghost")
    m.add_body("stone", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("first", sh.Revolute("z"), "ground", "ghost")
    m.add_joint("second", sh.Revolute("x"), "ghost", "stone")
    assert sh.Dynamics(m, "separate").forward().shape == (2,)
    with pytest.raises(
        sh.MethodError, match=r"L of \(3.10\) divide by .* body 'ghost' has no mass; take the form 'lagrange1-full'"
    ):
        _ = sh.matrices(m).L


def test_samples_that_cannot_be():
    for make, message in (
        (lambda: sh.samples.chain(0), "chain: n must be a whole number, at least 1; got 0"),
        (lambda: sh.samples.chain(3, dof=4), "chain: dof must be 1, 2 or 3, got 4"),
        (lambda: sh.samples.tree(3, branching=0.5), "tree: branching must be at least 1, got 0.5"),
        (lambda: sh.samples.tree(3, dof=5), "tree: no joint has 5 degrees of freedom"),
        (lambda: sh.samples.planar_chain(2.5), "planar_chain: n must be a whole number, at least 1; got 2.5"),
    ):
        with pytest.raises(sh.ModelError, match=message):
            make()


# --- arrays -------------------------------------------------------------------------------------------------------------------
HOLES = np.ma.masked_greater([0.1, 9.0], 1.0)


@pytest.mark.parametrize("call", [
    lambda m: sh.Dynamics(m).forward(HOLES), lambda m: sh.Dynamics(m).inverse([0, 0], [0, 0], HOLES),
    lambda m: sh.Dynamics(m).mass_matrix(np.ma.array([HOLES] * 3)), lambda m: sh.Dynamics(m).forward({"joint1": HOLES[1:]}),
    lambda m: sh.Dynamics(m).forward([0, 0], wrenches={"body1": np.ma.masked_all(6)}), lambda m: m.coordinates(HOLES),
    lambda m: sh.simulate(m, 1.0, q0=HOLES), lambda m: sh.simulate(m, 1.0, v0={"joint1": HOLES[1:]}),
    lambda m: sh.simulate(m, 1.0, output=HOLES), lambda m: sh.simulate(m, 1.0, tau=HOLES),
    lambda m: sh.simulate(m, 1.0, atol=np.ma.masked_all(4)), lambda m: sh.rollout(m, HOLES[None], step=0.1, steps=2),
    lambda m: sh.rollout(m, [[0, 0]], step=0.1, steps=2, tau=lambda t, q, v: HOLES), lambda m: m.assemble(HOLES),
    lambda m: sh.matrices(m, HOLES), lambda m: m.add_body("x", mass=1.0, inertia=np.ma.masked_greater(np.eye(3), 0.5)),
])  # fmt: skip
def test_masked_numbers_are_refused(call):
    with pytest.raises(sh.SharnirError, match=r"a masked array with \d of \d numbers masked; fill|inertia must be numbers"):
        call(sh.samples.chain(2))


def test_a_masked_array_without_masked_numbers_is_one_of_numbers():
    assert sh.Dynamics(sh.samples.chain(2)).forward(np.ma.array([0.1, 0.2])).shape == (2,)


# --- forces -------------------------------------------------------------------------------------------------------------------
def test_a_force_that_returns_a_number_and_pushes_nothing_is_refused():
    m = sh.samples.pendulum()
    m.add_force(lambda on: -2.0 * on.v("hinge"), name="damper")
    with pytest.raises(
        sh.ModelError, match=r"force 'damper' returns a number and pushes nothing: .* push with on.torque\(joint, …\)"
    ):
        sh.Dynamics(m)
