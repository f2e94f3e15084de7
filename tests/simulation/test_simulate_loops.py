"""Simulation on loops is simulation: the same motion, the same account of work, set up in a small part of the run."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.many_loops import scissor, scissor_acceleration
from scipy.integrate import solve_ivp

import sharnir as sh
from sharnir.backends import sizes
from sharnir.backends.graph_function import GraphFunction
from work import counted

TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def machine(moving_base: bool = False) -> sh.Model:
    """Drives, a ball joint, conservative forces and others, on bodies, joints and the ground; user's functions too."""
    base = (lambda t: sh.Pose((0.1 * sh.sin(3.0 * t), 0.0, 0.0))) if moving_base else None
    m = sh.Model("machine", base_motion=base)
    carrier = "ground"
    for k in range(5):
        m.add_body(f"link{k}", mass=1.0, com=(0.1, 0.02, 0.0), inertia=(0.01, 0.02, 0.02))
        joint = sh.Revolute("z" if k % 2 else "y", damping=0.05 * k, stiffness=0.5)
        m.add_joint(f"hinge{k}", joint, carrier, f"link{k}", at=sh.Pose((0.3, 0.0, 0.0)))
        carrier = f"link{k}"
    m.add_body("disc", mass=0.5, com=(0.05, 0.0, 0.0), inertia=(0.01, 0.01, 0.01))
    m.add_joint("driven", sh.Revolute("z", motion=lambda t: sh.sin(2.0 * t)), "link2", "disc")
    m.add_body("bob", mass=0.5, com=(0.0, 0.1, 0.0), inertia=(0.01, 0.02, 0.03))
    m.add_joint("ball", sh.Ball(), "link3", "bob")
    m.add_force(sh.SpringDamper("ground", "link3", stiffness=10.0, damping=1.0, length=0.2))
    m.add_force(sh.SpringDamper("link1", "bob", stiffness=10.0, length=0.2))
    m.add_force(sh.Drag("bob", linear=0.3), name="drag") if hasattr(sh, "Drag") else None
    m.add_force(lambda on: on.torque("hinge0", 0.2 * sh.cos(on.t)), name="push")
    return m


@pytest.mark.parametrize("moving_base", [False, True])
def test_the_account_on_loops_is_that_of_straight_lines(moving_base):
    m = machine(moving_base)
    options = {"tau": {"hinge1": 0.3}, "output": 0.05, **TIGHT}
    straight, loops = (sh.simulate(m, 0.5, backend=backend, **options) for backend in ("llvm", "loops"))
    assert loops.cost.backend == "loops" and loops.accounted
    assert set(loops.energy.work) == set(straight.energy.work)
    assert np.allclose(loops.q, straight.q, rtol=0.0, atol=1e-7)
    for cause, work in straight.energy.work.items():
        assert np.allclose(loops.energy.work[cause], work, rtol=0.0, atol=1e-7 * max(1.0, np.abs(work).max())), cause
    assert np.abs(loops.energy.defect).max() < 1e-7 * np.ptp(loops.energy.kinetic)


def test_quaternions_stay_quaternions_on_loops():
    r = sh.simulate(sh.samples.chain(40, dof=3), 0.05, backend="loops", integrator="rk4", step=1e-3)
    q = r.q.reshape(len(r.t), -1, 4)
    assert np.abs(np.linalg.norm(q, axis=-1) - 1.0).max() < 1e-15 * 4


def test_a_constraint_joint_is_put_right_on_loops_too():
    m = sh.Model("sphere")
    m.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))

    def on_sphere(p, t):
        return [p.position[0] ** 2 + p.position[1] ** 2 + p.position[2] ** 2 - 1.0]

    joint = sh.ConstraintJoint(on_sphere, start=sh.Pose((1.0, 0.0, 0.0)))
    m.add_joint("on the sphere", joint, "ground", "bob")
    for backend in ("llvm", "loops"):
        r = sh.simulate(m, 0.5, backend=backend, **TIGHT)
        assert np.abs(np.sum(r.q[:, :3] ** 2, axis=1) - 1.0).max() < 1e-8


@pytest.mark.parametrize("n", [30, 100])
def test_a_run_that_was_made_ready_before_costs_what_its_steps_cost(n):
    """A chain of 100 bodies took 0.3 s every time: a graph that is too large was traced anew for each run."""
    m, options = sh.samples.chain(n), {"integrator": "rk4", "step": 1e-3, "output": None}
    sh.simulate(m, 0.01, **options)
    with counted() as work:
        sh.simulate(m, 0.01, **options)
    assert work.assembly == 0 and work.calls < 20_000


def test_no_straight_line_code_grows_with_a_large_model(monkeypatch):
    """Thousands of ball joints with dampers: nothing is traced that has more nodes than one force."""
    lengths = []
    emit = GraphFunction.code

    def watched(runner, lanes, **options):
        lengths.append(len(runner.traced.graph.nodes))
        return emit(runner, lanes, **options)

    monkeypatch.setattr(GraphFunction, "code", watched)
    m = sh.Model("long")
    carrier, joint = "ground", sh.Ball(damping=0.1)
    for k in range(sizes.BODIES + 1):
        m.add_body(f"b{k}", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.01, 0.02, 0.02))
        m.add_joint(f"j{k}", joint, carrier, f"b{k}", at=sh.Pose((0.2, 0.0, 0.0)))
        carrier = f"b{k}"
    r = sh.simulate(m, 2e-3, integrator="rk4", step=1e-3, output=None)
    assert r.cost.backend == "loops" and r.accounted
    assert lengths and max(lengths) < 2_000


FAST = [(method, backend) for method in ("momentum", "separate", "composite") for backend in ("llvm", "loops")]


@pytest.mark.parametrize(("method", "backend"), [*FAST, ("direct-iterative", "loops")])
def test_every_method_takes_the_fast_path(method, backend, monkeypatch):
    """Plain arrays of one state never go through the careful conversion of arguments."""
    m = sh.samples.chain(4)
    d = sh.Dynamics(m, method, backend)
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 4))
    questions = {
        "inverse": lambda: d.inverse(q, v, a),
        "bias": lambda: d.bias(q, v),
        "momenta": lambda: d.momenta(q, v),
        "velocities": lambda: d.velocities(q, v),
        "momentum_rates": lambda: d.momentum_rates(q, v),
        "energy": lambda: d.energy(q, v),
        "poses": lambda: d.poses(q),
        "rates": lambda: d.rates(q, v),
        "mass_matrix": lambda: d.mass_matrix(q),
        "inverse_reactions": lambda: d.inverse_reactions(q, v, a),
    }
    if method != "momentum":
        questions["forward"] = lambda: d.forward(q, v)
    wanted = {name: ask() for name, ask in questions.items()}
    monkeypatch.setattr(d._evaluator.arguments, "row", lambda *_: pytest.fail("the general path was taken"))
    for name, ask in questions.items():
        for x, y in zip(_several(ask()), _several(wanted[name]), strict=True):
            assert np.allclose(x, y, rtol=1e-12, atol=1e-13), name


def _several(x):
    return x if isinstance(x, tuple) else (x,)


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
@pytest.mark.parametrize("with_forces", [False, True], ids=["lanes", "forces and drives"])
def test_a_rollout_of_a_model_too_large_for_straight_lines_is_the_same_rollout(monkeypatch, integrator, with_forces):
    m = machine() if with_forces else sh.samples.tree(6, branching=1.5, seed=3)
    rng = np.random.default_rng(1)
    q = np.array([m.random_q(rng) for _ in range(7)])
    v, tau = rng.normal(size=(2, 7, m.nv))
    options = {"dt": 1e-3, "steps": 20, "integrator": integrator, "method": "separate"}
    straight = sh.rollout(m, q, v, control=np.repeat(tau[:, None], 20, axis=1), **options)
    monkeypatch.setattr(sizes, "BODIES", 0)
    loops = sh.rollout(m.copy(), q, v, control=np.repeat(tau[:, None], 20, axis=1), **options)
    assert np.allclose(loops.q, straight.q, rtol=0.0, atol=1e-11)
    assert np.allclose(loops.v, straight.v, rtol=0.0, atol=1e-9)


def test_a_rollout_of_a_longer_chain_compiles_nothing_more():
    def run(n: int) -> None:
        assert sh.rollout(sh.samples.chain(n), np.full((5, n), 0.01), dt=1e-3, steps=2).ok.all()

    run(400)
    with counted() as work:
        run(800)
    assert work.assembly == 0 and work.calls < 200 * 800


def test_events_that_look_at_bodies_do_not_grow_with_the_model():
    """A chain of 800 bodies compiled for 20 s to watch its tip."""

    def run(n: int) -> None:
        tip = sh.Event(lambda on: on.point(f"link{n}", (0.1, 0.0, 0.0))[0][2] + 1e-5, name="below")
        r = sh.simulate(sh.samples.chain(n), 0.01, integrator="rk4", step=1e-3, output=None, events=[tip])
        assert [e.name for e in r.events] == ["below"]

    run(600)
    with counted() as work:
        run(800)
    assert work.assembly == 0 and work.calls < 200 * 800


def test_events_on_loops_are_those_of_straight_lines():
    m = machine()
    events = [
        sh.Event(lambda on: on.point("bob", (0.0, 0.1, 0.0))[0][2] - 0.1, name="tip"),
        sh.Event(lambda on: on.q("hinge0"), name="zero"),
    ]
    options = {"q0": {"hinge0": -0.05}, "v0": {"hinge0": 0.5}, "events": events, **TIGHT}
    straight, loops = (sh.simulate(m, 0.5, backend=backend, **options) for backend in ("llvm", "loops"))
    assert [e.name for e in straight.events] == [e.name for e in loops.events] and straight.events
    assert np.allclose([e.t for e in straight.events], [e.t for e in loops.events], rtol=0.0, atol=1e-8)


def test_a_model_that_runs_as_loops_answers_everything_by_loops():
    """The first `summary` and `save` of 200 bodies took 20 s: poses were compiled as straight lines for six rows."""
    for n in (150, 200):
        r = sh.simulate(sh.samples.chain(n), 0.01, integrator="rk4", step=1e-3, output=None)
        with counted() as work:
            assert str(n) in r.summary()
            assert np.isfinite(r.poses[1]).all()
    assert work.assembly == 0, "code of loops is that of the shorter chain"
    assert r.dynamics.formulation.programs.backend_of("poses") == "loops"


def with_parameters() -> sh.Model:
    m = sh.samples.tree(6, branching=1.5, seed=3)
    for name, value in (("push", 0.5), ("other", 1.0), ("third", 2.0)):
        m.add_parameter(name, value)
    return m


def test_parameters_that_an_event_changes_reach_forces_on_loops():
    m = with_parameters()
    joint = next(j.name for j in m.copy().joints if j.nv == 1)
    m.add_force(lambda on: on.torque(joint, on.parameter("push")), name="pushed")

    def stronger(moment):
        moment.parameters["push"] = 5.0

    options = {"events": [sh.Event(lambda on: on.t - 0.05, stronger, name="now")], "output": 0.05, **TIGHT}
    straight, loops = (sh.simulate(m, 0.2, backend=backend, **options) for backend in ("llvm", "loops"))
    weak = sh.simulate(m, 0.2, backend="loops", output=0.05, **TIGHT)
    assert np.allclose(loops.v, straight.v, rtol=0.0, atol=1e-7)
    assert np.abs(loops.v[-1] - weak.v[-1]).max() > 1e-3
    assert np.abs(loops.energy.defect).max() < 1e-7 * max(1.0, np.ptp(loops.energy.kinetic))


def test_a_rollout_on_loops_of_a_model_with_parameters(monkeypatch):
    m = with_parameters()
    q = np.array([m.random_q(np.random.default_rng(k)) for k in range(5)])
    straight = sh.rollout(m, q, dt=1e-3, steps=5, method="separate")
    monkeypatch.setattr(sizes, "BODIES", 0)
    assert np.allclose(sh.rollout(m.copy(), q, dt=1e-3, steps=5, method="separate").q, straight.q, rtol=0.0, atol=1e-11)


def test_energy_that_is_not_exchanged_is_no_measure_of_its_error():
    """A disc that turns at constant speed: the defect is compared with the kinetic energy."""
    m = sh.Model("disc")
    m.add_body("disc", 1.0, inertia=(1.0, 1.0, 2.0))
    m.add_joint("hinge", sh.Revolute("z"), "ground", "disc")
    assert "0 of the kinetic energy" in sh.simulate(m, 0.1, v0={"hinge": 1.0}).summary()
    assert "of the energy exchanged" in sh.simulate(sh.samples.pendulum(), 0.1).summary()


def test_a_scissor_moves_as_its_one_freedom_does():
    """(Σ 2 m l² k² + n I) θ̈ = 1 − 2 m g l Σ k cos θ, whatever the number of crosses: nothing but the tolerance is lost."""
    n = 52
    m, q, v = scissor(n)
    r = sh.simulate(m, 0.3, q0=q, v0=v, method="separate", rtol=1e-9, atol=1e-13)
    exact = solve_ivp(lambda t, x: [x[1], scissor_acceleration(n, x[0])], (0.0, 0.3), [0.5 * np.pi, 0.0], rtol=1e-12, atol=1e-15)
    moved = exact.y[0, -1] - 0.5 * np.pi
    assert np.abs(np.abs(r.q[-1]) - exact.y[0, -1]).max() < 1e-9 * moved and np.max(r.violation) < 1e-12
