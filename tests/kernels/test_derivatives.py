"""Derivatives of forward and inverse dynamics are Pinocchio's, and what differences of high order say, on every backend."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from benchmarks.robots import load
from benchmarks.urdf import DERIVATIVES, derivative_errors, read_pair, robot_files
from test_coupled import gripper

import sharnir as sh
from pinocchio_models import KINDS, random_pair
from sharnir.backends.differentiated import derivatives_by_graph, derivatives_by_kernels, graph_joints
from sharnir.backends.runner import PythonRunner
from sharnir.programs import DERIVATIVES as PROGRAMS
from sharnir.samples.random_parts import random_compound, random_drive, random_drive_pose, random_pose
from sharnir.trace import Expression
from states import assert_close, derivative, random_state

loops_group = pytest.mark.xdist_group("loops")
BACKENDS = ["python", "llvm", pytest.param("loops", marks=loops_group)]
FIELDS = {"forward": ("dq", "dv", "dtau"), "inverse": ("dq", "dv", "da")}


# --- models -------------------------------------------------------------------------------------------------------------------
def body(m: sh.Model, name: str, seed: int) -> str:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.5, 1.0, 3)
    m.add_body(name, mass=float(x[0]), com=(0.1 * x).tolist(), inertia=(0.1 * x + 0.2).tolist())
    return name


def chain_of(*joints: sh.Joint, name: str = "chain", backwards: bool = False, **options) -> sh.Model:
    """Joints one after the other, between random places; named the other way round where asked for."""
    m, rng, carrier = sh.Model(name, **options), np.random.default_rng(5), "ground"
    for i, joint in enumerate(joints):
        new = body(m, f"body{i}", i)
        ends = (new, carrier) if backwards else (carrier, new)
        m.add_joint(f"joint{i}", joint, *ends, at=random_pose(rng), child_at=random_pose(rng))
        carrier = new
    return m


def every_motion(backwards: bool = False) -> sh.Model:
    """Every joint the kernels of derivatives handle, in one chain on a base that moves."""
    rng = np.random.default_rng(3)
    joints = [
        sh.Universal((1, 0, 0), (0.6, 0.8, 0)), sh.Ball(), sh.Revolute("y", motion=random_drive(rng), armature=0.1), sh.Free(),
        sh.Screw("z", pitch=0.2, armature=0.3), sh.Weld(), sh.Planar(), sh.Free(motion=random_drive_pose(rng)),
        sh.Cylindrical("x"), random_compound(rng),
    ]  # fmt: skip
    return chain_of(*joints, name="every motion", backwards=backwards, base_motion=random_drive_pose(rng))


def user_force(on: sh.Motion) -> None:
    """Stiff, of odd form: of a coordinate, a pose, a velocity and time."""
    x, _ = on.point("body2", (0.1, 0.0, 0.2))
    _, u = on.point("body1")
    on.push("body2", (-300.0 * x[0] ** 3, sh.sin(x[1]) * u[2], -40.0 * x[2] + on.t), at=(0.1, 0.0, 0.2))
    on.torque("joint0", -on.v("joint0") * on.q("joint0") ** 2)


def with_forces() -> sh.Model:
    """Springs and dampers of joints with one coordinate and a quaternion, between bodies and to the ground, a user's force."""
    m = chain_of(
        sh.Revolute("y", damping=0.3, stiffness=2.0), sh.Ball(damping=0.2), sh.Prismatic("x", stiffness=5.0), name="forces"
    )
    body(m, "floating", 7)
    m.add_joint("free", sh.Free(), "ground", "floating")
    ends = {"at_a": (0.1, 0.2, 0.3), "at_b": (0.0, 0.2, 0.1), "length": 0.4}
    m.add_force(sh.SpringDamper("body2", "floating", stiffness=300.0, damping=2.0, **ends), "spring")
    m.add_force(sh.SpringDamper("floating", "ground", stiffness=30.0, damping=1.0, **ends), "mooring")
    m.add_force(user_force, "user")
    return m


def small_with_forces() -> sh.Model:
    """For what is asked in many ways: each is a graph of its own."""
    m = chain_of(sh.Revolute("y", stiffness=2.0), sh.Ball(damping=0.3), name="small")
    m.add_force(sh.SpringDamper("body1", "ground", at_a=(0.1, 0.2, 0.3), stiffness=30.0, damping=2.0, length=0.4), "spring")
    return m


def coupled_with_forces() -> sh.Model:
    m = gripper(damping=0.1, armature=0.2)
    m.add_force(sh.SpringDamper("E", "C", at_a=(0.1, 0.2, 0.3), stiffness=30.0, damping=2.0, length=0.4), "spring")
    return m


def custom() -> sh.Model:
    """Joints that are differentiated as graphs: given by a pose, by constraints, partly driven; with a force."""
    rng = np.random.default_rng(8)
    curve = sh.CustomJoint(
        2, pose=lambda q, t: sh.Pose((q[0], sh.cos(q[0] * q[1]), 0.2 * t), sh.Rotation.about("z", q[1] + q[0] * t))
    )
    driven = sh.Universal((1, 0, 0), (0.6, 0.8, 0), motion={"first": random_drive(rng)})
    m = chain_of(sh.Revolute("x", damping=0.2), curve, driven, sh.Ball(), name="custom")
    m.add_force(sh.SpringDamper("body3", "ground", stiffness=20.0, damping=1.0, length=0.4), "spring")
    return m


MODELS: dict[str, Callable[[], sh.Model]] = {
    "every motion": every_motion,
    "backwards": lambda: every_motion(backwards=True),
    "forces": with_forces,
    "coupled": coupled_with_forces,
    "tree": lambda: sh.samples.tree(5, branching=2.0, seed=2),
}
"""Those the kernels handle."""
OTHERS = {"custom": custom, "small": small_with_forces}


@cache
def model(name: str) -> sh.Model:
    return (MODELS | OTHERS)[name]()


@cache
def dynamics(name: str, backend: str) -> sh.Dynamics:
    """Made once: compilation is what takes time."""
    return sh.Dynamics(model(name), "composite", backend=backend)


# --- differences --------------------------------------------------------------------------------------------------------------
def moved(d: sh.Dynamics, q: np.ndarray, dv: np.ndarray, t: float) -> np.ndarray:
    """q after unit time at constant speeds dv: q̇ = N(q) dv, by Runge and Kutta. Without what explicit time adds to rates."""

    def rates(q: np.ndarray) -> np.ndarray:
        return d.rates(q, dv, t) - d.rates(q, 0.0 * dv, t)

    steps = 2
    for _ in range(steps):
        a = rates(q)
        b = rates(q + a / (2 * steps))
        c = rates(q + b / (2 * steps))
        e = rates(q + c / steps)
        q = q + (a + 2 * b + 2 * c + e) / (6 * steps)
    return q


@cache
def by_differences(name: str, question: str) -> dict[str, np.ndarray]:
    """The value at a random state, interpreted, and its derivatives: displaced along every direction, as a batch of loops."""
    m, d = model(name), dynamics(name, "loops")
    s = random_state(m, 4)
    ask, interpreted = (x.forward if question == "forward" else x.inverse for x in (d, dynamics(name, "python")))
    unit = np.eye(m.nv)
    calls = {
        "dq": lambda x: ask(moved(d, np.tile(s.q, (m.nv, 1)), x * unit, s.t), s.v, s.tau, s.t),
        "dv": lambda x: ask(s.q, s.v + x * unit, s.tau, s.t),
        FIELDS[question][2]: lambda x: ask(s.q, s.v, s.tau + x * unit, s.t),
    }
    return {"value": interpreted(s.q, s.v, s.tau, s.t), **{key: derivative(f, 0.01).T for key, f in calls.items()}}


def ask(d: sh.Dynamics, question: str, *arguments, **options):
    return (d.forward_derivatives if question == "forward" else d.inverse_derivatives)(*arguments, **options)


CASES = [
    *((name, "python") for name in MODELS),
    *((name, "llvm") for name in ("forces", "coupled", "tree")),
    *(pytest.param(name, "loops", marks=loops_group) for name in MODELS),
]
"""The long chains not as straight-line code, which would take long to compile."""


@pytest.mark.parametrize("question", FIELDS)
@pytest.mark.parametrize(("name", "backend"), CASES)
def test_derivatives_are_those_of_differences(name, backend, question):
    m, wanted = model(name), by_differences(name, question)
    assert not graph_joints(m.structure)
    s = random_state(m, 4)
    D = ask(dynamics(name, backend), question, s.q, s.v, s.tau, s.t)
    for key, x in wanted.items():
        assert_close(getattr(D, key), x, 1e-12 if key == "value" else 1e-8, what=key)


@pytest.mark.parametrize("question", FIELDS)
@pytest.mark.parametrize("backend", ["python", "llvm"])
def test_custom_constrained_and_partly_driven_joints_are_differentiated_as_graphs(backend, question):
    m, wanted = model("custom"), by_differences("custom", question)
    assert graph_joints(m.structure) == ["joint1", "joint2"]
    s = random_state(m, 4)
    D = ask(dynamics("custom", backend), question, s.q, s.v, s.tau, s.t)
    for key, x in wanted.items():
        assert_close(getattr(D, key), x, 1e-12 if key == "value" else 1e-8, what=key)


@pytest.mark.parametrize("question", FIELDS)
@pytest.mark.parametrize("name", ["tree", "forces", "coupled"])
def test_kernels_and_differentiated_graphs_agree_to_rounding(name, question):
    m = model(name)
    s = random_state(m, 9)
    values = [*s.q, *s.v, *s.tau, s.t]
    found = []
    for make in (derivatives_by_kernels, derivatives_by_graph):
        traced = make(m.structure, question, None, False)
        symbols = [x for group in traced.inputs.values() for x in group]
        found.append({key: Expression(traced.graph, symbols, y)(*values) for key, y in traced.outputs.items()})
    for key, x in found[0].items():
        assert_close(x, found[1][key], 1e-10, what=key)


def test_random_trees_with_every_joint_are_those_of_differences():
    """One model of the forest: every joint type, driven ones and a moving base, by one random direction."""
    m = sh.samples.all_joints(seed=2)
    s, d = random_state(m, 1), sh.Dynamics(sh.samples.all_joints(seed=2), "composite", backend="python")
    e = np.random.default_rng(2).normal(size=m.nv)
    D = d.inverse_derivatives(s.q, s.v, s.tau, s.t)
    wanted = {
        "dq": derivative(lambda x: d.inverse(moved(d, s.q, x * e, s.t), s.v, s.tau, s.t), 0.01),
        "dv": derivative(lambda x: d.inverse(s.q, s.v + x * e, s.tau, s.t), 0.01),
    }
    for key, x in wanted.items():
        assert_close(getattr(D, key) @ e, x, 1e-8, what=key)
    assert_close(D.da, d.mass_matrix(s.q, s.t), 1e-12)


# --- Pinocchio ----------------------------------------------------------------------------------------------------------------
SHARED = tuple(kind for kind in KINDS if kind not in ("cylindrical", "universal", "skew universal", "planar", "compound"))
"""Without joints whose columns depend on their own coordinates: Pinocchio takes columns as constant in the moved axes."""


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_are_pinocchios(seed):
    pair = random_pair(seed, SHARED)
    s, d, data = random_state(pair.model, seed), sh.Dynamics(pair.model, "composite", backend="python"), pair.pin.createData()
    at = np.ix_(pair.order, pair.order)
    q, v, tau = pair.q(s.q), pair.v(s.v), pair.v(s.tau)
    pin.computeABADerivatives(pair.pin, data, q, v, tau)
    D = d.forward_derivatives(s.q, s.v, s.tau)
    for mine, theirs in ((D.dq, data.ddq_dq), (D.dv, data.ddq_dv), (D.dtau, np.triu(data.Minv) + np.triu(data.Minv, 1).T)):
        assert_close(mine, theirs[at], 1e-8)
    pin.computeRNEADerivatives(pair.pin, data, q, v, tau)
    E = d.inverse_derivatives(s.q, s.v, s.tau)
    for mine, theirs in ((E.dq, data.dtau_dq), (E.dv, data.dtau_dv), (E.da, np.triu(data.M) + np.triu(data.M, 1).T)):
        assert_close(mine, theirs[at], 1e-8)


@pytest.mark.parametrize(("name", "backend"), [("ur/ur5_robot", "auto"), ("panda/panda", "auto"), ("panda/panda", "python")])
def test_robots_are_pinocchios_on_other_backends(name, backend):
    """Every robot on loops: tests/io/test_urdf_robots.py."""
    pair = read_pair(robot_files()[name], floating=False)
    rng = np.random.default_rng(1)
    q, (v, a, tau) = pair.ours.random_q(rng), rng.normal(size=(3, pair.ours.nv))
    assert max(derivative_errors(pair, pair.pin.createData(), q, v, a, tau, backend).values()) <= DERIVATIVES


# --- the call -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["tree", "small"])
def test_a_batch_is_its_states_one_by_one(name, backend):
    m = model(name)
    d, rng, n = dynamics(name, backend), np.random.default_rng(1), 11
    q, v, tau = np.array([m.random_q(rng) for _ in range(n)]), rng.normal(size=(n, m.nv)), rng.normal(size=m.nv)
    for question, fields in FIELDS.items():
        D = ask(d, question, q, v, tau, 0.3)
        assert [getattr(D, key).shape for key in ("value", *fields)] == [(n, m.nv), *[(n, m.nv, m.nv)] * 3]
        for b in (0, n - 1):
            one = ask(d, question, q[b], v[b], tau, 0.3)
            for key in ("value", *fields):
                assert_close(getattr(D, key)[b], getattr(one, key), 1e-11, what=key)
        none = ask(d, question, q[:0], v[:0], tau)
        assert none.value.shape == (0, m.nv) and none.dq.shape == (0, m.nv, m.nv)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_was_not_asked_for_is_none(backend):
    m = model("small")
    s, d = random_state(m, 4), dynamics("small", backend)
    full = d.forward_derivatives(s.q, s.v, s.tau, s.t)
    for wrt in (("v",), "tau", ["tau", "q"], ()):
        D = d.forward_derivatives(s.q, s.v, s.tau, s.t, wrt=wrt)
        names = (wrt,) if isinstance(wrt, str) else wrt
        for name in ("q", "v", "tau"):
            part = getattr(D, f"d{name}")
            if name in names:
                assert_close(part, getattr(full, f"d{name}"), 1e-12)
            else:
                assert part is None
        assert D.da is None and D.dparameters is None
        assert_close(D.value, full.value, 1e-12)


def test_states_by_name_and_left_out():
    m = model("tree")
    d = sh.Dynamics(m, "composite", backend="python")
    zero = np.zeros(m.nv)
    D, E = d.forward_derivatives(), d.forward_derivatives(m.neutral(), zero, zero)
    assert np.array_equal(D.dq, E.dq)
    assert_close(D.value, d.forward(), 1e-12)


def test_dtau_is_the_inverse_of_the_mass_matrix_and_derivatives_of_both_questions_are_one():
    """∂a/∂x = −M⁻¹ ∂τ/∂x at the accelerations that τ causes."""
    m = model("every motion")
    s, d = random_state(m, 4), sh.Dynamics(m, "composite", backend="python")
    D = d.forward_derivatives(s.q, s.v, s.tau, s.t)
    E = d.inverse_derivatives(s.q, s.v, D.value, s.t)
    assert_close(D.dtau @ E.da, np.eye(m.nv), 1e-9)
    for key in ("dq", "dv"):
        assert_close(getattr(D, key), -np.linalg.solve(E.da, getattr(E, key)), 1e-8)


def test_axes_that_do_not_carry_each_other_do_not_feel_each_other():
    m = sh.samples.tree(8, branching=3.0, dof=1, seed=6)
    s = random_state(m, 0)
    E = sh.Dynamics(m, "composite", backend="python").inverse_derivatives(s.q, s.v, s.tau)
    M = np.abs(E.da) > 0.0
    assert (M == 0).any()
    assert not (np.abs(E.dq) > 0.0)[~M].any() and not (np.abs(E.dv) > 0.0)[~M].any()


def test_a_robot_far_away_loses_no_digits():
    """Everything refers to a point of the robot: a million metres away only gravity is the same."""
    m = chain_of(sh.Free(), sh.Revolute("y"), sh.Ball(), name="walker")
    s, d = random_state(m, 2), sh.Dynamics(m, "composite", backend="python")
    away = s.q.copy()
    away[:3] = (3e5, -2e5, 8e5)
    near, far = (d.forward_derivatives(q, s.v, s.tau) for q in (s.q, away))
    for key in ("dq", "dv", "dtau"):
        assert_close(getattr(far, key), getattr(near, key), 1e-8, what=key)


@loops_group
def test_a_model_too_large_for_a_graph_is_differentiated_on_loops():
    m = sh.samples.chain(120)
    s, d = random_state(m, 0), sh.Dynamics(m, "composite")
    e = np.random.default_rng(0).normal(size=m.nv)
    D = d.inverse_derivatives(s.q, s.v, s.tau)
    wanted = derivative(lambda x: d.inverse(s.q + x * e, s.v, s.tau), 1e-3)
    assert_close(D.dq @ e, wanted, 1e-8)


def test_wrong_names_shapes_and_combinations_are_refused():
    m = model("tree")
    d = sh.Dynamics(m, "composite", backend="python")
    with pytest.raises(sh.MethodError, match=r"wrt 'w'.*'q', 'v' or 'tau'|wrt 'w'.*q.*v.*tau"):
        d.forward_derivatives(wrt=("q", "w"))
    with pytest.raises(sh.MethodError, match="wrt"):
        d.inverse_derivatives(m.neutral(), np.zeros(m.nv), np.zeros(m.nv), wrt=("tau",))
    with pytest.raises(sh.MethodError, match="wrt"):
        d.forward_derivatives(wrt=3)
    with pytest.raises(sh.StateError, match="tau: expected"):
        d.forward_derivatives(m.neutral(), np.zeros(m.nv), np.zeros(m.nv + 1))
    with pytest.raises(sh.StateError, match=r"nan|finite"):
        d.forward_derivatives(m.neutral(), np.full(m.nv, np.nan))
    with pytest.raises(sh.MethodError, match="no accelerations"):
        sh.Dynamics(m, "momentum", backend="python").forward_derivatives()
    with pytest.raises(sh.MethodError, match=r"'joint1'.*'llvm'"):
        sh.Dynamics(model("custom"), "composite", backend="loops").forward_derivatives()


def test_programs_write_everything_and_read_nothing_they_have_not_written():
    """Work arrays are filled with nan, and a second run on other states leaves nothing behind."""

    def run(runner: PythonRunner, seed: int) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        out = [np.full((1, int(np.prod(shape))), np.nan) for shape in runner.outputs.values()]
        runner.run(1, [rng.normal(size=(1, size)) for size in runner.inputs.values()], out)
        return out

    for name in ("derivatives/forward", "derivatives/inverse", "columns"):
        runner = PythonRunner(PROGRAMS[name], model("tree").structure)
        first = run(runner, 1)
        run(runner, 2)
        assert all(np.isfinite(x).all() for x in first)
        assert all(np.array_equal(x, y) for x, y in zip(first, run(runner, 1), strict=True))


def test_the_graphs_of_robots_are_as_small_as_they_were():
    """Operations decide the speed: UR5 by the kernels, against 2 824 + 1 106 by differentiating the graph."""
    graph = derivatives_by_kernels(load("ur5").model.structure, "inverse", None, False).graph
    assert len(graph.nodes) <= 4500
