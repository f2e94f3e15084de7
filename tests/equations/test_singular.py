"""Through singular positions: with tighter tolerances runs converge to the exact motion, whatever their constraints are like."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sharnir as sh
from sharnir import Ball, Model, Pose, Revolute, Rotation
from sharnir import samples as S
from sharnir.simulation.systems.choose import motion_system
from sharnir.simulation.systems.motion_system import Setup
from sharnir.trace.functions import sin

ROUND = (0.01, 1.0 / 12.0, 1.0 / 12.0)
TURNED = Rotation.rpy(0.4, -0.7, 1.1)


@cache
def pendulum(inertia: float, weight: float, duration: float, angle: float = 0.0, speed: float = 1.0) -> float:
    """The angle from the vertical of rods that stay parallel: θ'' = (G/I) sin θ."""
    run = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}
    found = solve_ivp(lambda t, x: [x[1], weight / inertia * math.sin(x[0])], (0.0, duration), [angle, speed], **run)
    return float(found.y[0, -1])


def of_four_bars(n: int, duration: float, angle: float = 0.0, speed: float = 1.0) -> float:
    return pendulum((n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n), duration, angle, speed)


def error(r: sh.Result, rods: int, wanted: float) -> float:
    return max(abs(math.pi / 2 - r.coordinate(f"foot{k}")[-1] - wanted) for k in range(rods))


def run(model: Model, duration: float, start: dict, tolerance: float, **options: object) -> sh.Result:
    return sh.simulate(model, duration, **start, rtol=tolerance, atol=tolerance / 100, output=abs(duration), **options)


def rods(n: int, turned: bool, coupler: bool, joint: type = Revolute) -> Model:
    """n + 1 rods on the ground, in any plane; neighbours tied by bars, or all of them by one long coupler."""
    axis = ("z",) if joint is Revolute else ()
    turn = TURNED if turned else Rotation.identity()
    R = np.array(turn.matrix).reshape(3, 3)
    m = Model("rods", gravity=tuple(R @ [0.0, -9.81, 0.0]))
    for k in range(n + 1):
        m.add_body(f"rod{k}", 1.0, (0.5, 0.0, 0.0), ROUND)
        m.add_joint(f"foot{k}", Revolute("z"), "ground", f"rod{k}", at=Pose(tuple(R @ [float(k), 0.0, 0.0]), turn))
    tip = Pose((1.0, 0.0, 0.0))
    if coupler:
        m.add_body("coupler", 1.0, (0.5 * n, 0.0, 0.0), (0.01, n * n / 12, n * n / 12))
        m.add_joint("left0", Revolute("z"), "rod0", "coupler", at=tip)
        for k in range(1, n + 1):
            m.add_joint(f"pin{k}", Revolute("z"), "coupler", f"rod{k}", at=Pose((float(k), 0.0, 0.0)), child_at=tip)
        return m
    for k in range(n):
        m.add_body(f"bar{k}", 1.0, (0.5, 0.0, 0.0), ROUND)
        m.add_joint(f"left{k}", joint(*axis), f"rod{k}", f"bar{k}", at=tip)
        m.add_joint(f"right{k}", joint(*axis), f"bar{k}", f"rod{k + 1}", at=tip, child_at=tip)
    return m


# --- convergence ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [2, 3, 6])
def test_the_error_falls_with_the_tolerance_to_a_billionth(n):
    """Without the passage it grows again below 1e-9: to 2e-5 for six four-bars."""
    m, wanted, bounds = S.n_four_bar(n), of_four_bars(n, 10.0), {1e-9: 1e-6, 1e-11: 1e-8, 1e-12: 1e-9}
    for tolerance, bound in bounds.items():
        r = run(m, 10.0, S.n_four_bar_start(n), tolerance)
        assert error(r, n + 1, wanted) < bound and r.cost.steps < 300
        assert np.abs(r.energy.defect).max() < 10.0 * bound and r.violation.max() < 1e-14
    assert r.cost.passages >= 10 and 0 < r.cost.exact_evaluations < 0.05 * r.cost.evaluations
    assert "in double-double arithmetic" in r.summary()


@pytest.mark.parametrize(("n", "choice"), [(3, "partitioning"), (4, "partitioning"), (3, "ggl"), (3, "baumgarte")])
def test_every_stabilisation_that_claims_to_pass_does(n, choice):
    r = run(S.n_four_bar(n), 10.0, S.n_four_bar_start(n), 1e-12, stabilisation=choice)
    assert error(r, n + 1, of_four_bars(n, 10.0)) < 2e-9
    assert r.cost.steps < 300 and np.abs(r.energy.defect).max() < 1e-8


def test_without_stabilisation_a_run_says_that_it_does_not_pass():
    r = sh.simulate(S.n_four_bar(2), 1.5, **S.n_four_bar_start(2), stabilisation="none")
    assert r.cost.passages == 1 and r.cost.exact_evaluations == 0
    assert "; at t = 0.7" in r.message and "it came to a singular position, where joint 'right" in r.message
    assert "stabilisation 'none' does not pass it, use 'projection'" in r.summary()


def test_a_model_too_large_for_it_says_so(monkeypatch):
    monkeypatch.setattr("sharnir.backends.sizes.DENSE_OPERATIONS", 10)
    r = sh.simulate(S.n_four_bar(2), 1.5, **S.n_four_bar_start(2))
    assert r.cost.exact_evaluations == 0
    assert (
        "where joint 'right" in r.message and "the model is too large to pass it exactly, rely on four digits beyond" in r.message
    )


@pytest.mark.parametrize(
    ("integrator", "option", "bound"),
    [
        ("dopri5", {"rtol": 1e-10, "atol": 1e-12}, 1e-7), ("adams", {"rtol": 1e-11, "atol": 1e-13}, 1e-7),
        ("radau", {"rtol": 1e-9, "atol": 1e-11}, 1e-8), ("rk4", {"step": 2e-3}, 1e-9), ("euler", {"step": 1e-3}, 1e-5),
        ("midpoint", {"step": 1e-3}, 1e-5),
    ],
)  # fmt: skip
def test_every_integrator_passes(integrator, option, bound):
    r = sh.simulate(S.n_four_bar(2), 4.0, **S.n_four_bar_start(2), integrator=integrator, output=4.0, **option)
    assert error(r, 3, of_four_bars(2, 4.0)) < bound


def test_loops_pass_as_straight_line_code_does():
    by_graph, by_loops = (run(S.n_four_bar(2), 4.0, S.n_four_bar_start(2), 1e-12, backend=b) for b in ("auto", "loops"))
    assert by_loops.cost.backend == "loops" and by_loops.cost.exact_evaluations > 0
    assert error(by_loops, 3, of_four_bars(2, 4.0)) < 1e-10
    assert np.abs(by_loops.q - by_graph.q).max() < 1e-10


@pytest.mark.parametrize("way", [{"backend": "python"}, {"method": "maggi"}])
def test_the_interpreter_and_matrix_forms_pass(way):
    r = run(S.n_four_bar(2), 0.85, S.n_four_bar_start(2), 1e-10, **way)
    assert error(r, 3, of_four_bars(2, 0.85)) < 1e-9 and r.cost.exact_evaluations > 0


def test_the_motions_of_a_rollout_pass_one_by_one():
    """States near a singular position at different times, side by side."""
    m = S.n_four_bar(2)
    starts = [S.n_four_bar_start(2, math.pi / 2 - angle) for angle in (0.0, 0.2, 0.4, 0.6, 0.8)]
    q = np.array([m.coordinates(s["q0"]) for s in starts])
    v = np.array([m.speeds(s["v0"]) for s in starts])
    r = sh.rollout(m, q, v, duration=2.0, step=1e-3)
    for row, angle in zip(r.q[:, -1], (0.0, 0.2, 0.4, 0.6, 0.8), strict=True):
        wanted = of_four_bars(2, 2.0, angle)
        assert abs(math.pi / 2 - row[m.q_slice("foot0")][0] - wanted) < 1e-9


# --- any mechanism --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("turned", [False, True])
def test_constraints_that_are_always_redundant_do_not_count(turned):
    """Three rods and one coupler: four rows of which three are independent, everywhere but in the level position."""
    m = rods(2, turned, coupler=True)
    start = {"q0": {**{f"foot{k}": math.pi / 2 for k in range(3)}, "left0": -math.pi / 2}}
    start["v0"] = {**{f"foot{k}": -1.0 for k in range(3)}, "left0": 1.0}
    r = run(m, 10.0, start, 1e-12)
    assert error(r, 3, pendulum(2.0, 9.81 * 2.5, 10.0)) < 1e-9 and r.cost.exact_evaluations > 0


@pytest.mark.parametrize("method", ["composite", "separate"])
def test_what_only_bending_moves_is_judged_by_itself(method):
    """Two shapes across the plane of a slider-crank, which three rows hold: one of these follows from the others."""
    m = Model("flexible slider-crank")
    m.add_body("crank", 0.36, (0.075, 0.0, 0.0), (1e-3, 1e-3, 1e-3))
    m.add_body("rod", flexible=sh.FlexibleBeam(0.3, 2e11, 8e10, 7870.0, sh.Rectangle(0.008, 0.008), 5))
    m.add_body("block", 0.0755)
    m.add_joint("main", Revolute("z"), "ground", "crank")
    m.add_joint("pin", Revolute("z"), "crank", "rod", at=Pose((0.15, 0.0, 0.0)))
    m.add_joint("slide", sh.Prismatic("x"), "ground", "block", at=Pose((0.45, 0.0, 0.0)))
    m.add_joint("wrist", Revolute("z"), "rod", "block", at=Pose((0.3, 0.0, 0.0)), cut=True)
    r = sh.simulate(m, 2e-3, v0={"main": 20.0}, method=method, rtol=1e-5)
    assert len(r.constraint_rows("wrist")) == 5 and r.cost.passages == r.cost.exact_evaluations == 0


def test_what_is_usual_is_found_at_a_time_of_the_run():
    """A parallelogram on a cart that moves as log t: at t = 0 it is nowhere."""
    m, tip = Model("on a cart"), Pose((1.0, 0.0, 0.0))
    m.add_body("cart", 1.0)
    m.add_joint("cart", sh.Prismatic("x", motion=lambda t: 0.1 * sh.log(t)), "ground", "cart")
    for name in "abc":
        m.add_body(name, 1.0, (0.5, 0.0, 0.0), ROUND)
    m.add_joint("A", Revolute("z"), "cart", "a")
    m.add_joint("B", Revolute("z"), "a", "b", at=tip)
    m.add_joint("C", Revolute("z"), "cart", "c", at=tip)
    m.add_joint("D", Revolute("z"), "b", "c", at=tip, child_at=tip, cut=True)
    start = {"q0": {"A": 0.05, "B": -0.05, "C": 0.05}, "v0": {"A": -1.0}}
    r = sh.simulate(m, 0.1, **start, t0=1.0, integrator="rk4", step=0.003, method="composite")
    assert r.cost.passages == 1 and r.cost.nearest < 1e-3


def test_quaternions_pass_in_any_plane():
    m = rods(2, True, coupler=False, joint=Ball)
    half = math.pi / 4
    start = {"q0": {f"foot{k}": math.pi / 2 for k in range(3)}, "v0": {f"foot{k}": -1.0 for k in range(3)}}
    start["q0"] |= {f"left{k}": [math.cos(half), 0.0, 0.0, -math.sin(half)] for k in range(2)}
    start["v0"] |= {f"left{k}": [0.0, 0.0, 1.0] for k in range(2)}
    r = run(m, 10.0, start, 1e-12)
    assert error(r, 3, of_four_bars(2, 10.0)) < 2e-9 and r.cost.exact_evaluations > 0


def test_a_driven_parallelogram_stays_one():
    """No freedom but at the dead centres, four times passed; the work of the drive is accounted for."""
    m = Model("driven", gravity=S.loops.DOWN)
    for name in ("crank", "coupler", "rocker"):
        m.add_body(name, 1.0, (0.5, 0.0, 0.0), ROUND)
    m.add_joint("A", Revolute("z", motion=lambda t: 1.0 + 2.0 * t + 0.3 * sin(3.0 * t)), "ground", "crank")
    one = Pose((1.0, 0.0, 0.0))
    m.add_joint("B", Revolute("z"), "crank", "coupler", at=one)
    m.add_joint("C", Revolute("z"), "ground", "rocker", at=one)
    m.add_joint("D", Revolute("z"), "coupler", "rocker", at=one, child_at=one)
    r = run(m, 6.0, {"q0": {"B": -1.0, "C": 1.0}, "v0": {"B": -2.9, "C": 2.9}}, 1e-11)
    wanted = 13.0 + 0.3 * math.sin(18.0)
    assert abs(r.coordinate("C")[-1] - wanted) < 1e-14 * wanted and abs(r.coordinate("B")[-1] + wanted) < 1e-14 * wanted
    assert r.cost.passages >= 4 and np.abs(r.energy.defect).max() < 1e-8


def test_a_slider_crank_of_equal_lengths_keeps_its_branch_and_its_energy():
    """With the slider at the main bearing crank and rod could turn as one; they go on as an isosceles triangle."""
    m, angle, speed = S.slider_crank(0.3, 0.3), 0.8, 6.0
    start = {"q0": {"main": angle, "crankpin": -2.0 * angle, "slide": 0.6 * math.cos(angle) - 0.6}}
    start["v0"] = {"main": speed, "crankpin": -2.0 * speed, "slide": -0.6 * speed * math.sin(angle)}
    ends = {tolerance: run(m, 5.0, start, tolerance) for tolerance in (1e-9, 1e-12)}
    for tolerance, r in ends.items():
        assert abs(r.coordinate("crankpin")[-1] + 2.0 * r.coordinate("main")[-1]) < 1e-12
        assert r.cost.passages == 12 and np.abs(r.energy.defect).max() < 100.0 * tolerance
    assert np.abs(ends[1e-9].q[-1] - ends[1e-12].q[-1]).max() < 1e-7


def test_a_motion_through_singular_positions_leads_back():
    m = S.n_four_bar(2)
    there = run(m, 3.0, S.n_four_bar_start(2), 1e-12)
    back = run(m, -3.0, {"q0": there.q[-1], "v0": there.v[-1]}, 1e-12)
    assert back.cost.passages == there.cost.passages > 0
    assert np.abs(back.q[-1] - there.q[0]).max() < 1e-9


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5])
def test_a_motion_may_start_in_a_singular_position(angle):
    """Where its speeds lead along one of the branches."""
    r = run(S.n_four_bar(3), 3.0, S.n_four_bar_start(3, angle, -5.0), 1e-11)
    assert error(r, 4, of_four_bars(3, 3.0, math.pi / 2 - angle, 5.0)) < 1e-9


# --- what it costs --------------------------------------------------------------------------------------------------------------
def prepared(model: Model, start: dict) -> bool:
    """Whether a run made what is needed near singular positions."""
    motion = motion_system(Setup(sh.Dynamics(model), np.zeros(model.nv)))
    assert motion.passage is not None
    q, v = model.assemble(start, nearest=True)
    sh.integrate.run(motion.system, np.concatenate([q, v, np.zeros(len(motion.causes))]), 0.0, 1.0, times=[1.0])
    return motion.passage.seconds > 0.0


def test_far_from_singular_positions_nothing_is_prepared():
    assert not prepared(S.four_bar(0.5, 1.3, 0.9, 1.1), {"A": 1.2, "B": -1.0, "C": 1.5})
    assert not prepared(S.slider_crank(), {})
    assert prepared(S.four_bar(), {"A": 1.0, "B": -1.0, "C": 1.0})
