"""Adaptive runs on the lanes of the processor: the steps and numbers of single runs, whoever shares the lanes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

import sharnir as sh
from sharnir.dialect.jit import host_lanes
from sharnir.errors import MethodError, StateError
from sharnir.integrate import side_by_side
from sharnir.simulation.run.adaptive_lanes import AdaptiveLanes, can_batch
from sharnir.simulation.run.options import CompiledOptions, RunOptions
from sharnir.simulation.run.runs import Runs

TIMES = np.linspace(0.0, 1.0, 21)


def crank() -> sh.Model:
    """A closed loop with damping, and a spring whose stiffness and rest are parameters."""
    m = sh.samples.slider_crank()
    k, rest = m.add_parameter("k", 3.0), m.add_parameter("rest", 0.2)
    m.add_force(lambda on: on.torque("main", -k * (on.q("main") - rest) - 0.1 * on.v("main")), "spring")
    return m


def spinning() -> sh.Model:
    """A tree with quaternions, on a base that is driven in time."""
    m = sh.Model("spinning")
    for name in ("base", "top", "bob"):
        m.add_body(name, mass=1.0, com=(0.1, 0.0, 0.2), inertia=(0.1, 0.2, 0.15))
    k = m.add_parameter("k", 1.0)
    m.add_joint("drive", sh.Revolute("x", motion=lambda t: 0.3 * sh.sin(k * t)), "ground", "base")
    m.add_joint("ball", sh.Ball(), "base", "top", at=sh.Pose((0.0, 0.0, 0.3)))
    m.add_joint("hinge", sh.Revolute("y"), "top", "bob", at=sh.Pose((0.0, 0.0, 0.3)))
    return m


def controlled() -> sh.Model:
    """A pendulum with a controller that has a state."""
    m = sh.samples.pendulum()
    joint, k = m.joints[0].name, m.add_parameter("k", 15.0)
    m.add_state("integral", 0.1, rate=lambda on: on.q(joint) - 0.3)
    m.add_force(lambda on: on.torque(joint, -20.0 * on.q(joint) - 2.0 * on.v(joint) - k * on.state("integral")), "pid")
    return m


def defined_up_to() -> sh.Model:
    """A pendulum whose friction is not defined beyond an angle, a parameter."""
    m = sh.samples.pendulum()
    joint, most = m.joints[0].name, m.add_parameter("most", 10.0)
    m.add_force(lambda on: on.torque(joint, -sh.sqrt(most - on.q(joint)) * 0.1 * on.v(joint)), "friction")
    return m


def damped() -> sh.Model:
    m = sh.samples.double_pendulum()
    joint, c = m.joints[0].name, m.add_parameter("c", 0.1)
    m.add_force(lambda on: on.torque(joint, -c * on.v(joint)), "damper")
    return m


MODELS = {"crank": crank, "spinning": spinning, "controlled": controlled}


@cache
def made(name: str, integrator: str = "auto") -> tuple[Runs, AdaptiveLanes]:
    runs = Runs({**MODELS, "defined": defined_up_to, "damped": damped}[name](), CompiledOptions(integrator=integrator), many=True)
    return runs, AdaptiveLanes(runs)


def starts(runs: Runs, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Assembled starts, and values of parameters and states."""
    rng, m = np.random.default_rng(seed), runs.model
    own = np.array(list(m.parameters.values()) + list(m.states.values()))
    parameters = own * rng.uniform(0.7, 1.3, size=(n, len(own)))
    found = [runs.start((None, rng.normal(size=m.nv), []), 0.0, p) for p in parameters]
    return np.array([x.q for x in found]), np.array([x.v for x in found]), parameters


def alone(runs: Runs, q: np.ndarray, v: np.ndarray, p: np.ndarray, duration: float = 1.0, **options) -> tuple[np.ndarray, int]:
    m = runs.model
    values, states = dict(zip(m.parameters, p, strict=False)), dict(zip(m.states, p[len(m.parameters) :], strict=True))
    r = runs.run(RunOptions(duration=duration, q0=q, v0=v, parameters=values, states=states, **{"output": TIMES, **options}))
    return np.concatenate([r.q, r.v, *([r.state_values] if m.states else [])], axis=1), r.cost.steps


def together(lanes: AdaptiveLanes, q, v, duration, times, tau=None, parameters=None, accelerations=False, **options):
    """`AdaptiveLanes.run`."""
    given = RunOptions(duration=duration, **options)
    return lanes.run(q, v, times, given, tau=tau, parameters=parameters, accelerations=accelerations)


# --- numbers ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "integrator"), [*((name, "auto") for name in MODELS), ("crank", "dopri5")])
def test_lanes_take_the_steps_of_single_runs(name, integrator):
    """More runs than lanes, each with its own start and parameters."""
    runs, lanes = made(name, integrator)
    q, v, p = starts(runs, 2 * host_lanes() + 3)
    tau = 0.1 * np.random.default_rng(1).normal(size=runs.model.nv)
    rows, steps, ok = together(lanes, q, v, 1.0, TIMES, tau=tau, parameters=p)
    assert ok.all()
    for k in range(len(q)):
        x, count = alone(runs, q[k], v[k], p[k], tau=tau)
        assert steps[k] == count
        np.testing.assert_allclose(rows[k], x, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", MODELS)
def test_accelerations_follow_every_row(name):
    """As `forward` finds them there: first rows, last rows, those within steps."""
    runs, lanes = made(name)
    m, (q, v, p) = runs.model, starts(runs, 2 * host_lanes() + 3)
    tau, n = 0.1 * np.random.default_rng(1).normal(size=m.nv), m.nq + m.nv
    plain, _, _ = together(lanes, q, v, 1.0, TIMES, tau=tau, parameters=p)
    rows, _, ok = together(lanes, q, v, 1.0, TIMES, tau=tau, parameters=p, accelerations=True)
    assert ok.all()
    assert (rows[..., : plain.shape[-1]] == plain).all()
    for k in range(len(q)):
        x = rows[k]
        there = np.concatenate([np.tile(p[k, : len(m.parameters)], (len(x), 1)), x[:, n : n + len(m.states)]], axis=1)
        a = runs.d.forward(x[:, : m.nq], x[:, m.nq : n], tau, TIMES, parameters=there)
        np.testing.assert_allclose(x[:, n + len(m.states) :], a, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_errors_shrink_with_the_tolerances(name):
    runs, lanes = made(name)
    q, v, p = starts(runs, 5)
    exact = np.array([alone(runs, *start, rtol=1e-12, atol=1e-13)[0] for start in zip(q, v, p, strict=True)])
    errors = []
    for rtol in (1e-4, 1e-7, 1e-10):
        rows, _, ok = together(lanes, q, v, 1.0, TIMES, parameters=p, rtol=rtol, atol=0.01 * rtol)
        assert ok.all()
        errors.append(np.abs(rows - exact).max())
    assert errors[0] < 1e-2
    assert errors[1] < 1e-2 * errors[0]
    assert errors[2] < 1e-2 * errors[1]


def test_backward_in_time_it_comes_back():
    runs, lanes = made("spinning")
    q, v, p = starts(runs, 4)
    rows, _, _ = together(lanes, q, v, 1.0, TIMES, parameters=p, rtol=1e-10, atol=1e-12)
    n = runs.model.nq
    back, _, ok = together(
        lanes, rows[:, -1, :n], rows[:, -1, n:], -1.0, TIMES[::-1], parameters=p, t0=1.0, rtol=1e-10, atol=1e-12
    )
    assert ok.all()
    np.testing.assert_allclose(back[:, ::-1], rows, atol=1e-8)


def test_steps_are_no_longer_than_the_longest():
    runs, lanes = made("crank")
    q, v, p = starts(runs, 3)
    _, steps, _ = together(lanes, q, v, 1.0, [1.0], parameters=p, max_step=1e-3)
    assert (steps >= 1000).all()


# --- companions ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MODELS)
def test_a_run_does_not_depend_on_its_companions(name):
    """Permuted, alone, by threes: to the last bit."""
    runs, lanes = made(name)
    q, v, p = starts(runs, 3 * host_lanes() + 1)
    rows, steps, _ = together(lanes, q, v, 1.0, TIMES, parameters=p)
    for order in (np.random.default_rng(3).permutation(len(q)), np.arange(3), np.array([6])):
        again, count, _ = together(lanes, q[order], v[order], 1.0, TIMES, parameters=p[order])
        assert (again == rows[order]).all()
        assert (count == steps[order]).all()


def test_a_run_without_joint_forces_takes_its_own_steps_beside_one_with_them():
    """The work of joint forces is a number of the state, over which errors are averaged."""
    runs, lanes = made("damped")
    q, v, p = starts(runs, 4)
    tau = np.zeros((4, runs.model.nv))
    tau[2:] = 1.0
    rows, steps, _ = together(lanes, q, v, 1.0, TIMES, tau=tau, parameters=p)
    for k in range(4):
        x, count = alone(runs, q[k], v[k], p[k], tau=tau[k])
        assert steps[k] == count
        np.testing.assert_allclose(rows[k], x, rtol=1e-10, atol=1e-10)


def test_a_run_that_comes_near_a_singular_position_is_left_and_the_others_are_not():
    m = sh.samples.n_four_bar(1, thin=False)
    runs = Runs(m, many=True)
    lanes = AdaptiveLanes(runs)
    start = sh.samples.n_four_bar_start(1, angle=1.1)["q0"]
    q, v = (np.array(x) for x in zip(*(m.assemble(start, np.full(m.nv, w)) for w in (-4.0, 1.0, 4.0)), strict=True))
    rows, _, ok = together(lanes, q, v, 0.5, [0.1, 0.5])
    for k in range(3):
        r = runs.run(RunOptions(duration=0.5, q0=q[k], v0=v[k], output=[0.1, 0.5]))
        assert (r.cost.passages > 0) == (k == 0) == (not ok[k])
        if ok[k]:
            np.testing.assert_allclose(rows[k], np.concatenate([r.q, r.v], axis=1), atol=1e-9)


def test_rows_that_always_depend_on_others_do_not_count():
    """A gear whose planets hold it thrice."""
    m = sh.samples.planetary_gear()
    runs = Runs(m, many=True)
    start = runs.start((None, {m.v_names[0]: 1.0}, None), 0.0, runs.values(None, None))
    _, _, ok = together(AdaptiveLanes(runs), start.q[None], start.v[None], 0.2, [0.2])
    assert ok.all()


def test_pauses_change_nothing(monkeypatch):
    runs, lanes = made("crank")
    q, v, p = starts(runs, host_lanes() + 2)
    rows, _, _ = together(lanes, q, v, 1.0, TIMES, parameters=p)
    monkeypatch.setattr(side_by_side, "FIRST", 1)
    monkeypatch.setattr(side_by_side, "next_piece", lambda steps, seconds: 1.0)
    assert (together(lanes, q, v, 1.0, TIMES, parameters=p)[0] == rows).all()


def test_each_thread_has_lanes_of_its_own():
    runs, lanes = made("crank")
    q, v, p = starts(runs, 4 * host_lanes())
    rows, _, _ = together(lanes, q, v, 1.0, TIMES, parameters=p)
    several = [AdaptiveLanes(runs) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda one: together(one, q, v, 1.0, TIMES, parameters=p)[0], several))
    assert all((x == rows).all() for x in found)


# --- runs that are left -------------------------------------------------------------------------------------------------------
def test_a_run_that_is_not_defined_any_more_is_left_and_the_others_go_on():
    runs, lanes = made("defined")
    n = host_lanes() + 5
    q, v, p = np.zeros((n, 1)), np.full((n, 1), 2.0), np.full((n, 1), 10.0)
    p[2], p[n - 1] = 0.1, 0.15
    rows, _, ok = together(lanes, q, v, 1.0, TIMES, parameters=p)
    assert (ok == (p[:, 0] == 10.0)).all()
    assert np.isnan(rows[~ok]).all()
    assert (rows[ok] == rows[0]).all()
    np.testing.assert_allclose(rows[0], alone(runs, q[0], v[0], p[0])[0], atol=1e-10)


def test_what_may_be_stiff_is_left_by_auto_alone():
    q, v, p = np.full((3, 2), 0.3), np.zeros((3, 2)), np.array([[0.1], [3e4], [0.2]])
    _, lanes = made("damped")
    assert together(lanes, q, v, 0.3, [0.3], parameters=p)[2].tolist() == [True, False, True]
    runs, lanes = made("damped", "dop853")
    rows, _, ok = together(lanes, q, v, 0.3, [0.3], parameters=p)
    assert ok.all()
    np.testing.assert_allclose(rows[1], alone(runs, q[1], v[1], p[1], 0.3, output=[0.3])[0], atol=1e-8)


# --- what can be batched --------------------------------------------------------------------------------------------------------
def test_what_happens_between_steps_does_not_go_side_by_side():
    m = sh.samples.pendulum()
    stop = sh.Event(lambda on: on.q(m.joints[0].name) - 1.0)
    for options in ({"events": [stop]}, {"limits": "stop"}, {"integrator": "radau"}, {"backend": "loops"}):
        assert not can_batch(Runs(m, CompiledOptions(**options)))
    assert not can_batch(Runs(sh.samples.slider_crank(), CompiledOptions(stabilisation="partitioning")))
    assert not can_batch(Runs(m, CompiledOptions(method="momentum")))
    with pytest.raises(MethodError, match="side by side"):
        AdaptiveLanes(Runs(m, CompiledOptions(integrator="radau")))


def test_arguments_are_checked():
    runs, lanes = made("crank")
    q, v, p = starts(runs, 2)
    assert together(lanes, q[:0], v[:0], 1.0, TIMES)[0].shape == (0, len(TIMES), 6)
    assert (together(lanes, q, v, 1.0, TIMES)[0] == together(lanes, q, v, 1.0, TIMES, parameters=[3.0, 0.2])[0]).all()
    for mistake in ({"q": q[:, :2]}, {"v": v[:1].repeat(3, axis=0)}, {"parameters": p[:, :1]}, {"tau": np.zeros(7)}):
        with pytest.raises(StateError, match=f"^{next(iter(mistake))}: expected"):
            together(lanes, **{"q": q, "v": v, "duration": 1.0, "times": TIMES, "parameters": p, **mistake})
    with pytest.raises(StateError, match="finite"):
        together(lanes, q * np.nan, v, 1.0, TIMES)
    with pytest.raises(StateError, match="times"):
        together(lanes, q, v, 1.0, [0.0, 2.0])
    with pytest.raises(MethodError, match="rtol"):
        together(lanes, q, v, 1.0, TIMES, rtol=-1.0)
