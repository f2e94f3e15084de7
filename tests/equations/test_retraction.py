"""Retraction, normalization and projection: one text each, the same numbers interpreted, as straight-line code and as loops."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from loop_models import placed
from mechanisms import floating
from sharnir.backends import sizes
from sharnir.backends.differentiated import displacement
from sharnir.dialect.cache import Cache
from sharnir.dialect.jit import host_lanes
from sharnir.equations.motion.retraction import native_displacement, native_retract, normalize, normalized_rows, retract
from sharnir.trace import Expression, Graph
from states import EPS, assert_close

TREES = {"floating": floating, "chain of balls": lambda: sh.samples.chain(4, dof=3), "random": lambda: sh.samples.tree(8, seed=2)}


def on_sphere() -> sh.Model:
    m = sh.Model("sphere")
    m.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    joint = sh.ConstraintJoint(lambda p, t: [sum((x * x for x in p.position), -1.0)], start=sh.Pose((1.0, 0.0, 0.0)))
    m.add_joint("on the sphere", joint, "ground", "bob")
    return m


@pytest.mark.parametrize("make", TREES.values(), ids=TREES)
def test_a_small_retraction_moves_as_the_rates_say_and_stays_normalized(make):
    model, rng = make(), np.random.default_rng(3)
    q, delta, h = model.random_q(rng), rng.normal(size=model.nv), 1e-6
    d = sh.Dynamics(model, backend="python")
    there, back = (retract(model, q, s * h * delta, 0.3) for s in (1.0, -1.0))
    assert_close((there - back) / (2.0 * h), d.rates(q, delta, 0.3) - d.rates(q, 0.0 * delta, 0.3), 1e-8)
    assert_close(normalize(model, there.tolist(), 0.3), there, 4 * EPS)


@pytest.mark.parametrize("make", TREES.values(), ids=TREES)
def test_native_displacements_are_the_interpreted_ones(make):
    model, rng = make(), np.random.default_rng(4)
    q, delta, dq = model.random_q(rng), rng.normal(size=model.nv), np.zeros(model.nq)
    native_displacement(model.structure, {"q": q, "t": np.array([0.2])}, delta, dq, Cache())()
    assert_close(dq, displacement(model.structure, q.tolist(), delta.tolist(), [0.2], float), 10 * EPS)


def gap(model, q, t):
    """How far quaternions are from unit length, and constraint joints from their constraints."""
    lengths = [abs(np.linalg.norm(q[at : at + 4]) - 1.0) for at in model.structure.quaternions]
    own = [
        abs(x)
        for joint in model.joints
        if isinstance(joint.type, sh.ConstraintJoint)
        for x in np.atleast_1d(joint.type._values(*q[model.q_slice(joint.name)], t))
    ]
    return max([*lengths, *own], default=0.0)


@pytest.mark.parametrize("make", [*TREES.values(), on_sphere, sh.samples.all_joints], ids=[*TREES, "sphere", "all joints"])
def test_every_execution_retracts_to_the_same_position_on_the_constraints_of_the_joints(make):
    model = make()
    graph = Graph()
    q, delta, t = (np.array(graph.inputs(n), dtype=object) for n in (model.nq, model.nv, 1))
    traced = Expression(graph, [*q, *delta, *t], list(retract(model, q, delta, t[0])))
    at = {"q": np.zeros(model.nq), "t": np.array([0.3])}
    native = native_retract(model, at, small := np.zeros(model.nv), Cache())
    for seed in range(6):
        rng = np.random.default_rng(seed)
        start = retract(model, model.random_q(rng), 0.3 * rng.normal(size=model.nv), 0.3)
        small[:] = 10.0 ** -(2 + seed) * rng.uniform(-1.0, 1.0, model.nv)
        there = retract(model, start, small, 0.3)
        at["q"][:] = start
        native()
        scale = max(1.0, np.abs(there).max())
        assert_close(traced(*start, *small, 0.3), there, 20 * EPS, scale=scale)
        assert_close(at["q"], there, 20 * EPS, scale=scale)
        assert gap(model, there, 0.3) < 20 * EPS and gap(model, at["q"], 0.3) < 20 * EPS


@pytest.mark.parametrize("make", [floating, on_sphere])
@pytest.mark.parametrize("n", [1, 9])
def test_rows_of_states_are_normalized_as_one_state_is(make, n):
    model, rng = make(), np.random.default_rng(5)
    q = np.array([model.random_q(rng) for _ in range(n)]) + 1e-3 * rng.normal(size=(n, model.nq))
    t = rng.uniform(size=n)
    rows = normalized_rows(model, q, t)
    for row, x, at in zip(rows, q, t, strict=True):
        assert_close(row, normalize(model, x.tolist(), float(at)), 10 * EPS)


def tied_to_a_sphere() -> tuple[sh.Model, np.ndarray, np.ndarray]:
    """A body on a sphere and a rod from it to a lever; assembled."""
    m = on_sphere()
    m.add_body("lever", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("hinge", sh.Revolute("z"), "ground", "lever", at=sh.Pose((2.0, 0.0, 0.0)))
    m.add_constraint(sh.Distance("bob", "lever", at_b=(0.5, 0.0, 0.0), length=1.2))
    far = {"hinge": 0.5, "on the sphere": (1.2, 0.3, 0.1, 1.0, 0.0, 0.0, 0.0)}
    return m, *m.assemble(far, {"hinge": 0.3}, fixed=[])


@pytest.mark.parametrize("name", ["four-bar", "rolling disc", "car axis", "sphere"])
def test_every_execution_projects_to_the_same_state(name, monkeypatch):
    model, q, v = tied_to_a_sphere() if name == "sphere" else placed(name, seed=2, t=0.3)
    rng, t, n = np.random.default_rng(6), np.array([0.3]), host_lanes()
    q = normalized_rows(model, q + 1e-3 * rng.normal(size=(n, model.nq)), t)
    v = v + 1e-2 * rng.normal(size=(n, model.nv))
    equations = sh.Dynamics(model, "composite").constrained
    expected = [np.concatenate(equations.projector.projected(*state, 0.3)) for state in zip(q, v, strict=True)]

    def run(equations, q, v, n, lanes):
        X = np.concatenate([q.ravel(), v.ravel()])
        at = {"q": X[: q.size], "v": X[q.size :], "t": t, "tau": np.zeros(model.nv), "parameter": np.zeros(0)}
        for native in equations.projector.natives(at, n, lanes):
            native()
        return X[: q.size].reshape(q.shape), X[q.size :].reshape(v.shape)

    together = np.hstack(run(equations, q, v, n, n))
    alone = np.concatenate(run(equations, q[0], v[0], 1, 1))
    monkeypatch.setattr(sizes, "EQUATIONS", 10)
    fresh = sh.Dynamics(model.copy(), "composite").constrained
    loops = np.concatenate(run(fresh, q[0], v[0], 1, 1))
    assert equations.is_small and not fresh.is_small
    assert_close(together, expected, 1e-12)
    assert_close(alone, expected[0], 1e-12)
    assert_close(loops, expected[0], 1e-12)
    rows = [equations.table.evaluate(x[: model.nq], x[model.nq :], 0.3) for x in expected]
    assert max(np.abs(row["g"]).max() for row in rows) < 1e-9 and max(np.abs(row["rate"]).max() for row in rows) < 1e-12


@pytest.mark.parametrize("stabilisation", ["projection", "partitioning", "ggl"])
def test_a_constraint_joint_in_a_closed_system_stays_on_its_constraints(stabilisation):
    """From a start that is far from them, interpreted and compiled alike."""
    m, q, v = tied_to_a_sphere()
    assert gap(m, q, 0.0) < 4 * EPS and np.abs(sh.Dynamics(m).constrained.table.evaluate(q, v, 0.0)["g"]).max() < 4 * EPS
    steps = {"integrator": "rk4", "step": 0.02}
    far = {"hinge": 0.5, "on the sphere": (1.2, 0.3, 0.1, 1.0, 0.0, 0.0, 0.0)}
    runs = [
        sh.simulate(m, 0.1, q0=far, fixed=[], v0={"hinge": 0.3}, backend=backend, stabilisation=stabilisation, **steps)
        for backend in ("python", "llvm")
    ]
    for r in runs:
        assert_close(r.q[0], q, 1e-12, scale=1.0)
        assert max(gap(m, row, 0.0) for row in r.q) < 8 * EPS
    assert_close(runs[0].q[-1], runs[1].q[-1], 1e-10, scale=1.0)


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
@pytest.mark.parametrize("make", [on_sphere, lambda: tied_to_a_sphere()[0]], ids=["alone", "tied"])
def test_rollouts_with_large_steps_stay_on_the_constraints_of_the_joints(make, integrator):
    """In lanes and in the rest of a batch."""
    m, n = make(), host_lanes() + 1
    v0 = np.random.default_rng(7).normal(size=(n, m.nv))
    q0 = np.tile(m.assemble({"hinge": 0.5} if "hinge" in m.q_names else None, nearest=True)[0], (n, 1))
    r = sh.rollout(m, q0, v0, fixed=[], duration=0.2, step=0.02, integrator=integrator)
    assert max(gap(m, row, 0.0) for rows in r.q for row in rows) < 1e-12


def test_motions_of_a_constraint_joint_start_on_its_constraints_wherever_these_have_moved():
    m = sh.Model("growing circle")
    m.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    circle = sh.ConstraintFormula("x*x + y*y - r*r", "z", where={"r": "1.0 + 2.0*t"})
    m.add_joint("j", sh.ConstraintJoint(circle, start=sh.Pose((1.0, 0.0, 0.0))), "ground", "bob")
    one = sh.simulate(m, 0.02, q0=m.neutral(), t0=1.0, integrator="rk4", step=0.01, output=None)
    many = sh.rollout(m, m.neutral()[None], t0=1.0, duration=0.02, step=0.01)
    assert abs(np.hypot(*one.q[0, :2]) - 3.0) <= 4 * EPS
    assert_close(many.q[0], one.q, 8 * EPS)
