"""Motions of closed mechanisms: constraints exactly kept, energy accounted for, many at once, failures in words."""

from __future__ import annotations

import math
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

import sharnir as sh
from loop_models import STARTS, placed
from states import assert_close

S = sh.samples
FOUR = (0.5, 1.3, 0.9, 1.1)


@pytest.mark.parametrize(("integrator", "step"), [("rk4", 1e-3), ("midpoint", 1e-3)])
def test_constraints_are_kept_to_rounding_in_long_runs(integrator, step):
    """Every step goes back onto the constraints: 20 000 of them leave nothing. (`python -m benchmarks loops`: a million.)"""
    m = S.four_bar(*FOUR)
    start = {"q0": STARTS["four-bar"][1], "fixed": ["A"]}
    r = sh.simulate(m, 20_000 * step, **start, integrator=integrator, step=step, output=None, every=50)
    assert len(r) == 401 and r.violation.max() < 1e-13
    rates = [
        np.abs(r.dynamics.constrained.table.evaluate(q, v, 0.0)["rate"]).max() for q, v in zip(r.q[::20], r.v[::20], strict=True)
    ]
    assert max(rates) < 1e-11


@pytest.mark.parametrize("integrator", ["dop853", "radau"])
def test_every_integrator_keeps_constraints_and_energy(integrator):
    r = sh.simulate(S.four_bar(*FOUR), 2.0, q0=STARTS["four-bar"][1], fixed=["A"], integrator=integrator, rtol=1e-9, atol=1e-11)
    assert r.violation.max() < 1e-12  # between the steps too, where the output is
    assert abs(r.energy.defect).max() < 1e-6


def test_the_summary_says_how_well_constraints_were_kept():
    r = sh.simulate(S.slider_crank(), 0.2, q0={"main": 0.7}, output=0.1)
    assert "constraints 2 rows, violation at most" in r.summary()
    assert r.violation.shape == (3,)
    tree = sh.simulate(S.pendulum(), 0.1, output=0.1)
    assert not tree.violation.any() and "constraints" not in tree.summary()


def test_a_driven_crank_works_against_the_piston():
    """The power of the drive is what the energy changes by: a joint of the tree, and one that is cut."""
    for cut in ("wristpin", "main"):
        m = sh.Model("engine", gravity=(0.0, -9.81, 0.0))
        m.add_body("crank", mass=1.0, shape=sh.Rod((0, 0, 0), (0.2, 0, 0)))
        m.add_body("rod", mass=2.0, shape=sh.Rod((0, 0, 0), (0.5, 0, 0)))
        m.add_body("piston", mass=0.5, inertia=(0.01, 0.01, 0.01))
        turn = sh.Revolute("z", motion=lambda t: 0.4 + 5.0 * t)
        m.add_joint("main", turn, "ground", "crank", cut=cut == "main")
        m.add_joint("crankpin", sh.Revolute("z"), "crank", "rod", at=sh.Pose((0.2, 0, 0)))
        m.add_joint("slide", sh.Prismatic("x"), "ground", "piston", at=sh.Pose((0.7, 0, 0)))
        m.add_joint("wristpin", sh.Revolute("z"), "rod", "piston", at=sh.Pose((0.5, 0, 0)), cut=cut == "wristpin")
        start = {"crankpin": -0.56} if cut == "wristpin" else {"wristpin": 0.16, "crankpin": 0.56}
        r = sh.simulate(m, 1.0, q0=start, fixed=[], rtol=1e-10, atol=1e-12, output=0.05)
        angle = 0.4 + 5.0 * r.t
        expected = 0.2 * np.cos(angle) + np.sqrt(0.25 - (0.2 * np.sin(angle)) ** 2)
        assert np.abs(r.coordinate("slide") + 0.7 - expected).max() < 1e-9
        assert abs(r.energy.defect).max() < 1e-7 and np.ptp(r.energy.work["drives"]) > 1.0


def test_a_drive_that_tears_the_mechanism_apart_is_named():
    """A slider-crank whose crank is longer than its rod cannot go round."""
    m = sh.Model("too long", gravity=(0, 0, 0))
    m.add_body("crank", mass=1.0, shape=sh.Rod((0, 0, 0), (0.5, 0, 0)))
    m.add_body("piston", mass=0.5, inertia=(0.01, 0.01, 0.01))
    m.add_joint("main", sh.Revolute("z", motion=lambda t: 2.0 * t), "ground", "crank")
    m.add_joint("slide", sh.Prismatic("x"), "ground", "piston", at=sh.Pose((0.8, 0, 0)))
    m.add_constraint(sh.Distance("crank", "piston", at_a=(0.5, 0, 0), length=0.3), "rod")
    with pytest.raises(sh.SimulationError) as caught:
        sh.simulate(m, 1.0, integrator="rk4", step=1e-3)
    assert "too long" in str(caught.value) and caught.value.result is not None
    late = caught.value.result.t[-1]
    assert late > 0.3  # asin(0.3/0.5)/2 = 0.32 s is when it is stretched


def test_events_stop_a_closed_mechanism_where_they_should():
    m = S.four_bar(*FOUR)
    turn = sh.Event(lambda on: on.q("A") - 0.5, name="level", direction="falling", action="stop")
    r = sh.simulate(m, 5.0, q0=STARTS["four-bar"][1], fixed=["A"], events=[turn])
    (there,) = r.events
    assert r.status == "stopped" and abs(there.q[m.q_slice("A")][0] - 0.5) < 1e-9
    assert np.abs(r.dynamics.constrained.table.evaluate(there.q, there.v, there.t)["g"]).max() < 1e-12


def test_rolling_keeps_energy_and_touches():
    start = {"q0": STARTS["rolling disc"][1], "v0": {"disc float": (1, 0, 0, 0, 0, -10)}, "fixed": []}
    r = sh.simulate(S.rolling_disc(), 2.0, **start, rtol=1e-10)
    assert abs(r.energy.defect).max() < 1e-7
    assert r.violation.max() < 1e-12


def test_a_stewart_platform_stands_on_balanced_legs():
    """Each leg bears its share: with the forces of inverse dynamics at rest the platform stays where it is."""
    m = S.stewart()
    q, v = m.assemble()
    d = sh.Dynamics(m, "composite", backend="python")
    legs = np.concatenate([np.r_[m.v_slice(f"leg{k}")] for k in range(6)])
    weight = d.inverse(q, v, np.zeros(m.nv))
    J = d.constrained.table.evaluate(q, v, 0.0)["J"]
    null = np.linalg.svd(J)[2][len(J) :].T  # motions of the platform
    forces = np.zeros(m.nv)
    forces[legs] = np.linalg.solve(null[legs].T, null.T @ weight)
    assert_close(d.forward(q, v, forces), np.zeros(m.nv), 1e-7, scale=9.81)
    assert_close(forces[legs], np.full(6, forces[legs].mean()), 1e-9)  # it stands straight


# --- many at once ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", ["rk4", "euler"])
def test_a_rollout_is_many_simulations(integrator):
    m = S.four_bar(*FOUR)
    states = [placed("four-bar", seed) for seed in range(5)]
    q0, v0 = (np.array([s[k] for s in states]) for k in (1, 2))
    many = sh.rollout(m, q0, v0, dt=1e-3, steps=200, every=100, integrator=integrator, method="composite")
    for k in range(5):
        one = sh.simulate(m, 0.2, q0=q0[k], v0=v0[k], integrator=integrator, step=1e-3, output=0.1, method="composite")
        assert_close(many.q[k], one.q, 1e-10)
        assert_close(many.v[k], one.v, 1e-9)
    assert many.ok.all()


def test_a_rollout_assembles_its_states_and_follows_drives():
    """The car axis, whose constraint moves in time: the projection is made at the end of a step, not at its start."""
    m = S.car_axis()
    q0 = np.tile([0.0, 0.5, 1.0, 0.5], (3, 1)) + 0.01 * np.random.default_rng(0).normal(size=(3, 4))
    for integrator in ("rk4", "euler"):
        steps = {"dt": 1e-4, "steps": 300, "every": 100, "integrator": integrator}
        many = sh.rollout(m, q0, np.tile([-0.5, 0, -0.5, 0], (3, 1)), fixed=[], **steps)
        x, t = many.q, many.t[None, :]
        yb = 0.1 * np.sin(10 * t)
        assert np.abs(x[..., 0] * np.sqrt(1 - yb**2) + x[..., 1] * yb).max() < 1e-13
        assert np.abs(np.hypot(x[..., 2] - x[..., 0], x[..., 3] - x[..., 1]) - 1).max() < 1e-13


def test_a_model_too_large_for_straight_lines_is_refused_by_rollout():
    m = S.n_four_bar(40)
    with pytest.raises(sh.MethodError, match=r"needs straight-line code; .* simulate its motions one by one"):
        sh.rollout(m, m.coordinates(S.n_four_bar_start(40)["q0"])[None], dt=1e-3, steps=1)


def test_constraints_that_cannot_be_met_any_more_are_named_with_time_and_gap(tmp_path):
    """The cart pulls the string to more than its length; the file says so too."""
    m = sh.Model("pulled apart", gravity=(0, 0, 0))
    m.add_body("bar", mass=1.0, shape=sh.Rod((0, 0, 0), (1.0, 0, 0)))
    m.add_body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("hinge", sh.Revolute("z"), "ground", "bar")
    m.add_joint("slide", sh.Prismatic("x", motion=lambda t: 1.0 + t), "ground", "cart")
    m.add_constraint(sh.Distance("bar", "cart", at_a=(1.0, 0, 0), length=1.0), "string")
    run = {"q0": {"hinge": 1.0}, "fixed": [], "integrator": "euler", "step": 0.01, "save": tmp_path / "run.nc"}
    says = r"'string': distance could not be met from t = 1 on, at the end it is violated by .* m\."
    with pytest.raises(sh.SimulationError, match=says) as error:
        sh.simulate(m, 1.5, **run)
    assert error.value.result.status == sh.Result.load(tmp_path / "run.nc", m).status == "constraints_violated"


def test_large_models_run_in_loops():
    """Forty loops, too many for straight-line code: the parallel motion all the same."""
    n = 40
    r = sh.simulate(S.n_four_bar(n), 0.5, **S.n_four_bar_start(n), output=0.5)
    assert r.cost.backend == "loops"
    rate = math.sqrt(9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n))
    assert np.ptp([r.coordinate(f"foot{k}")[-1] for k in range(n + 1)]) < 1e-9
    assert r.coordinate("foot0")[-1] < math.pi / 2 - math.sinh(0.4 * rate) / rate
    assert r.violation.max() < 1e-12


# --- the example ----------------------------------------------------------------------------------------------------------------
def test_the_numbers_of_the_example(capsys):
    path = Path(__file__).parents[2] / "examples" / "loops.py"
    names = runpy.run_path(str(path))
    r = names["four_bar"]()
    assert abs(r.coordinate("A")[-1] - 0.954899) < 1e-6
    names["bricard"]()
    names["singular"]()
    said = capsys.readouterr().out
    for words in (
        "cut at ['D']", "B -0.909295, C 1.199390", "1 degree of freedom (3 coordinates, 2 constraints); Grübler's count: -2",
        "(5 coordinates, 5 constraints, 1 of them redundant); Grübler's count: 0",
        "(0.274481319, -0.886707939, -0.462330003) after 1 s",
        "1 freedom, 3 when all is level", "(0.1176161, 0.9930591)",
    ):  # fmt: skip
        assert words in said


@pytest.mark.parametrize("method", ["composite", "direct", "separate"])
def test_small_closed_models_move_alike_on_loops(method):
    m = sh.samples.four_bar(0.5, 1.0, 0.8, 0.9)
    start = {"q0": {"A": 1.0, "B": -0.8, "C": 1.6}, "fixed": ["A"], "output": 0.1, "method": method}
    expected = sh.simulate(m, 0.1, **start).q
    assert np.abs(sh.simulate(m, 0.1, backend="loops", **start).q - expected).max() < 1e-13
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of the old name
        assert np.abs(sh.simulate(m, 0.1, backend="numba", **start).q - expected).max() < 1e-13
