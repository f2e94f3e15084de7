"""How constraints are kept in time: every choice meets published motions, and what each promises of violations holds."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pytest

import sharnir as sh
from loop_models import STARTS, placed
from sharnir.cli.main import main
from sharnir.dynamics import Dynamics
from sharnir.equations.motion.stabilisation import CHOICES, Stabilisation
from sharnir.io.native import dumps, loads
from sharnir.simulation.systems.choose import motion_system
from sharnir.simulation.systems.motion_system import Setup
from states import assert_close

pytestmark = pytest.mark.xdist_group("integrators")

S = sh.samples
FOUR = (0.5, 1.3, 0.9, 1.1)
FOUR_START = STARTS["four-bar"][1]
EXACT = ("projection", "partitioning")
DECAYING = ("baumgarte", "ggl")
TIGHT = {"rtol": 1e-9, "atol": 1e-11}
ROLLING = {"disc float": (1, 0, 0, 0, 0, -10)}
ANDREWS = {
    "beta": 15.81077119629904, "Theta": -15.75637105984298, "gamma": 0.04082224013073101, "Phi": -0.5347301163226948,
    "delta": 0.5244099658805304, "Omega": 0.5347301163226948, "epsilon": 1.048080741042263,
}  # fmt: skip


@cache
def bar() -> sh.Model:
    """One for all tests: what its runs have in common is traced and compiled once."""
    return S.four_bar(*FOUR)


@cache
def sample(name: str) -> sh.Model:
    return getattr(S, name)()


@cache
def expected_end(name: str, duration: float) -> np.ndarray:
    """Coordinates at the end, by projection."""
    starts = {
        "four_bar": {"q0": FOUR_START, "fixed": [], "rtol": 1e-12, "atol": 1e-13},
        "slider_crank": {"q0": {"main": 0.7}, **TIGHT},
        "rolling_disc": {"q0": STARTS["rolling disc"][1], "fixed": [], "v0": ROLLING, **TIGHT},
    }
    model = bar() if name == "four_bar" else sample(name)
    return sh.simulate(model, duration, output=abs(duration), **starts[name]).q[-1]


def allowed(choice: str) -> float:
    """Of violations with TIGHT tolerances over a second or two: rounding, or the integrator's error."""
    return 1e-13 if choice in EXACT else 2e-8


@cache
def engine(cut: str) -> sh.Model:
    """A crank driven in time; where the driven joint is the one that is cut, time stands in the constraints."""
    m = sh.Model("engine", gravity=(0.0, -9.81, 0.0))
    m.add_body("crank", mass=1.0, shape=sh.Rod((0, 0, 0), (0.2, 0, 0)))
    m.add_body("rod", mass=2.0, shape=sh.Rod((0, 0, 0), (0.5, 0, 0)))
    m.add_body("piston", mass=0.5, inertia=(0.01, 0.01, 0.01))
    m.add_joint("main", sh.Revolute("z", motion=lambda t: 0.4 + 5.0 * t), "ground", "crank", cut=cut == "main")
    m.add_joint("crankpin", sh.Revolute("z"), "crank", "rod", at=sh.Pose((0.2, 0, 0)))
    m.add_joint("slide", sh.Prismatic("x"), "ground", "piston", at=sh.Pose((0.7, 0, 0)))
    m.add_joint("wristpin", sh.Revolute("z"), "rod", "piston", at=sh.Pose((0.5, 0, 0)), cut=cut == "wristpin")
    return m


def tied() -> sh.Model:
    """A rod and a free disc tied together: no coordinate stays a good independent one for long."""
    m = sh.Model("tied", gravity=(0, -9.81, 0))
    m.add_body("rod", mass=1.0, shape=sh.Rod((0, 0, 0), (2.0, 0, 0)))
    m.add_body("disc", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("pin", sh.Revolute("z"), "ground", "rod")
    m.add_joint("plane", sh.Planar(), "ground", "disc")
    m.add_constraint(sh.Distance("rod", "disc", at_a=(2.0, 0, 0), length=0.5), "string")
    return m


# --- published motions ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("choice", CHOICES)
def test_the_four_bar_swings_as_published_whatever_keeps_it_closed(choice):
    r = sh.simulate(bar(), 5.0, q0=FOUR_START, fixed=[], stabilisation=choice, **TIGHT)
    assert_close(r.q[-1], expected_end("four_bar", 5.0), 2e-7)
    assert r.violation.max() < allowed(choice) and r.cost.stabilisation == choice


@pytest.mark.parametrize("choice", CHOICES)
def test_andrews_squeezer_ends_where_the_test_set_says(choice):
    r = sh.simulate(sample("andrews"), 0.03, q0=S.andrews_start, tau={"beta": 0.033}, stabilisation=choice, output=1e-3, **TIGHT)
    assert max(abs(r.coordinate(joint)[-1] - x) for joint, x in ANDREWS.items()) < 2e-8
    assert r.violation.max() < min(allowed(choice), 1e-10)
    assert abs(r.energy.defect).max() < 1e-8


@pytest.mark.parametrize("choice", CHOICES)
def test_bricards_dependent_rows_hinder_no_choice(choice):
    r = sh.simulate(sample("bricard"), 2.5, stabilisation=choice, output=0.5, **TIGHT)
    assert_close(r.point("rod3")[2], np.array([0.274481319, -0.886707939, -0.462330003]), 5e-9)
    assert_close(r.point("rod3")[5], np.array([-0.999983185, -1.0, -0.000016815]), 5e-9)
    assert r.violation.max() < allowed(choice)


@pytest.mark.parametrize("choice", CHOICES)
def test_a_slider_crank_agrees_with_its_geometry_and_its_energy(choice):
    r = sh.simulate(sample("slider_crank"), 1.0, q0={"main": 0.7}, stabilisation=choice, **TIGHT)
    angle = r.coordinate("main")
    place = 0.2 * np.cos(angle) + np.sqrt(0.25 - (0.2 * np.sin(angle)) ** 2)
    slide = r.coordinate("slide") - r.coordinate("slide")[0]
    assert np.abs(slide - (place - place[0])).max() < allowed(choice)
    assert abs(r.energy.defect).max() < 1e-7
    assert_close(r.q[-1], expected_end("slider_crank", 1.0), 1e-8)


@pytest.mark.parametrize("choice", CHOICES)
def test_a_disc_rolls_without_slipping_and_keeps_its_energy(choice):
    """Rows of speeds beside one of position, and a quaternion."""
    r = sh.simulate(
        sample("rolling_disc"), 1.0, q0=STARTS["rolling disc"][1], fixed=[], v0=ROLLING, stabilisation=choice, **TIGHT
    )
    assert abs(r.energy.defect).max() < 1e-7 and r.violation.max() < allowed(choice)
    assert_close(np.linalg.norm(r.q[:, 3:], axis=1), np.ones(len(r)), 1e-14)
    assert_close(r.q[-1], expected_end("rolling_disc", 1.0), 2e-8)


@pytest.mark.parametrize("cut", ["wristpin", "main"])
@pytest.mark.parametrize("choice", CHOICES)
def test_a_driven_loop_follows_its_drive(choice, cut):
    start = {"crankpin": -0.56} if cut == "wristpin" else {"wristpin": 0.16, "crankpin": 0.56}
    r = sh.simulate(engine(cut), 1.0, q0=start, fixed=[], stabilisation=choice, output=0.05, **TIGHT)
    angle = 0.4 + 5.0 * r.t
    expected = 0.2 * np.cos(angle) + np.sqrt(0.25 - (0.2 * np.sin(angle)) ** 2)
    assert np.abs(r.coordinate("slide") + 0.7 - expected).max() < 5 * allowed(choice)
    assert abs(r.energy.defect).max() < 1e-6 and np.ptp(r.energy.work["drives"]) > 1.0


# --- what each promises of violations ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("choice", CHOICES)
def test_violations_over_ten_thousand_steps(choice):
    """Exact ones stay at rounding, decaying ones at a level, and with none they grow with the square of time."""
    run = {"integrator": "rk4", "step": 1e-3, "output": None, "every": 20}
    r = sh.simulate(bar(), 10.0, q0=FOUR_START, fixed=[], stabilisation=choice, **run)
    quarters = [part.max() for part in np.array_split(r.violation[1:], 4)]
    if choice in EXACT:
        assert max(quarters) < 1e-13
    elif choice in DECAYING:
        assert max(quarters) < 2e-9 and quarters[3] < 1.5 * quarters[0]
    else:
        assert 5e-8 < quarters[3] < 1e-5
        assert 8.0 < quarters[3] / quarters[0] < 32.0  # 16: four times as long


@pytest.mark.parametrize("name", ["four-bar", "rolling disc", "car axis", "governor with rods"])
def test_off_the_constraints_baumgarte_and_ggl_do_what_their_formulas_say(name):
    """Along the flow: g̈ + 2α ġ + β² g = 0; or ġ = −κ g and the rates by themselves decay as fast."""
    model, q, v = placed(name, seed=3, t=0.3)
    rng = np.random.default_rng(8)
    q, v, t = q + 1e-3 * rng.normal(size=model.nq), v + 1e-2 * rng.normal(size=model.nv), 0.3
    d = Dynamics(model, "composite", "auto")
    table, nq, mh = d.constrained.table, model.nq, d.constrained.table.n_holonomic

    def seen(how: Stabilisation, what: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """The rows here, and how fast one group of them changes along the flow, by central differences."""
        motion = motion_system(Setup(d, np.zeros(model.nv), balance=False, stabilisation=how))
        x, h = np.concatenate([q, v]), 1e-5
        dx = motion.system.derivative(t, x)
        ends = [table.evaluate((x + s * h * dx)[:nq], (x + s * h * dx)[nq:], t + s * h)[what] for s in (1, -1)]
        return table.evaluate(q, v, t), (ends[0] - ends[1]) / (2.0 * h)

    for what in ("g", "rate"):
        now, change = seen(Stabilisation("ggl", 7.0), what)
        assert_close(change, -7.0 * now[what], 1e-7)
    now, change = seen(Stabilisation("baumgarte", 7.0, 11.0), "rate")
    wanted = -14.0 * now["rate"]
    wanted[:mh] -= 121.0 * now["g"]
    assert_close(change, wanted, 1e-7)


def test_ggl_with_radau_is_the_system_of_index_two():
    """The last stage of Radau is the end of the step: with a decay much faster than the steps g and its rate vanish there,
    but for what Newton's method leaves, a hundredth of the tolerance."""
    m = bar()
    run = {"q0": FOUR_START, "fixed": [], "integrator": "radau", "output": None, "rtol": 1e-6, "atol": 1e-8}
    r = sh.simulate(m, 0.5, stabilisation="ggl", decay=2e4, **run)
    rates = [np.abs(r.dynamics.constrained.table.evaluate(q, v, 0.0)["rate"]).max() for q, v in zip(r.q, r.v, strict=True)]
    assert r.violation.max() < 1e-8 and max(rates) < 1e-6
    p = sh.simulate(m, 0.5, stabilisation="partitioning", **run)
    assert p.violation.max() < 1e-13 and p.cost.jacobians < p.cost.steps
    assert_close(p.q[-1], r.q[-1], 1e-5)


# --- partitioning -----------------------------------------------------------------------------------------------------------
def test_a_partition_that_grows_bad_is_changed_on_the_way():
    start = {"pin": -0.5, "plane": (1.8, -1.2, 0.0)}
    r, p = (
        sh.simulate(tied(), 5.0, q0=start, fixed=[], stabilisation=choice, **TIGHT) for choice in ("partitioning", "projection")
    )
    assert r.cost.partitions > 3 and "partitions" in r.summary()
    assert r.violation.max() < 1e-13
    assert_close(r.q[-1], p.q[-1], 1e-6)


def test_dependent_coordinates_follow_from_the_independent_ones_alone():
    """Whatever stands in their place before: that is what makes it a partition."""
    model, q, v = placed("Andrews", seed=1)
    d = Dynamics(model, "composite", "auto")
    motion = motion_system(Setup(d, np.zeros(model.nv), balance=False, stabilisation=Stabilisation("partitioning")))
    x = motion.consistent(0.0, np.concatenate([q, v]))
    dependent = np.tile(motion.partitioning.dependent, 2)
    assert dependent.sum() == 12 and motion.partitioning.count == 1
    spoilt = x + np.where(dependent, 0.01 * np.random.default_rng(2).normal(size=len(x)), 0.0)
    assert_close(motion.system.projected(0.0, spoilt), x, 1e-12)
    assert np.array_equal(motion.system.projected(0.0, spoilt)[~dependent], x[~dependent])
    assert_close(motion.system.derivative(0.0, spoilt), motion.system.derivative(0.0, x), 1e-9)


def test_singular_positions_are_passed_by_partitioning_too():
    r = sh.simulate(S.n_four_bar(2), 4.0, **S.n_four_bar_start(2), stabilisation="partitioning", rtol=1e-10, atol=1e-12)
    assert_close(r.point("rod0", (1, 0, 0))[-1, :2], np.array([0.1176161024, 0.9930591385]), 1e-7)


# --- ways to run --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("choice", CHOICES)
def test_interpreter_loops_forms_and_one_graph_agree(choice, monkeypatch):
    run = {"integrator": "rk4", "step": 0.01, "output": None, "stabilisation": choice}
    run |= {"decay": 15.0} if choice in DECAYING else {}
    start = {"q0": STARTS["governor with rods"][1], "v0": {"shaft": 3.0}}
    expected = sh.simulate(S.governor(closed=True), 0.03, **start, method="composite", **run)
    assert expected.cost.backend == "llvm"
    ways = [{"method": "maggi"}, {"method": "separate"}, {"method": "composite", "backend": "python"}]
    found = [sh.simulate(S.governor(closed=True), 0.03, **start, **way, **run) for way in ways]
    monkeypatch.setattr("sharnir.backends.sizes.EQUATIONS", 10)
    found.append(sh.simulate(S.governor(closed=True), 0.03, **start, method="composite", **run))
    form = sh.Dynamics(S.governor(closed=True), "maggi").backend
    assert [r.cost.backend for r in found] == [form, "llvm", "python", "loops"]
    for r in found:
        assert_close(r.q, expected.q, 1e-12)
        assert_close(r.v, expected.v, 1e-10)


def test_nothing_said_is_projection_to_the_last_bit():
    said, silent = (sh.simulate(bar(), 1.0, q0=FOUR_START, fixed=[], stabilisation=x) for x in ("projection", None))
    assert np.array_equal(said.q, silent.q) and np.array_equal(said.v, silent.v) and silent.cost.stabilisation == "projection"


@pytest.mark.parametrize("choice", CHOICES)
def test_a_run_backward_returns(choice):
    """What dies out forward would grow backward: its sign goes with the time."""
    there = sh.simulate(bar(), 1.0, q0=FOUR_START, fixed=[], **TIGHT)
    back = sh.simulate(bar(), -1.0, t0=1.0, **there.state(), stabilisation=choice, **TIGHT)
    assert_close(back.q[-1], there.q[0], 1e-8)
    assert back.violation.max() < allowed(choice)


@pytest.mark.parametrize("choice", CHOICES)
def test_an_event_that_breaks_a_loop_is_put_right(choice):
    def push(moment):
        moment.v[0] += 0.3
        moment.q[0] += 0.01

    kick = sh.Event(lambda on: on.t - 0.5, action=push, name="kick")
    r = sh.simulate(bar(), 1.0, q0=FOUR_START, fixed=[], events=[kick], stabilisation=choice)
    assert [e.name for e in r.events] == ["kick"] and r.violation[-1] < 1e-7


@pytest.mark.parametrize("choice", ["projection", "baumgarte", "ggl", "none"])
def test_a_rollout_is_many_simulations(choice):
    m = bar()
    states = [placed("four-bar", seed) for seed in range(3)]
    q0, v0 = (np.array([s[k] for s in states]) for k in (1, 2))
    run = {"method": "composite", "stabilisation": choice}
    many = sh.rollout(m, q0, v0, dt=1e-3, steps=100, every=50, **run)
    alone = sh.rollout(m, q0[2:], v0[2:], dt=1e-3, steps=100, every=50, **run)
    one = sh.simulate(m, 0.1, q0=q0[2], v0=v0[2], integrator="rk4", step=1e-3, output=0.05, **run)
    assert np.array_equal(many.q[2], alone.q[0])
    assert_close(many.q[2], one.q, 1e-12)


# --- what is said and refused ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"stabilisation": "glue"}, sh.MethodError, "'partitioning', 'baumgarte', 'ggl', 'none'; got 'glue'"),
        ({"stabilisation": 3}, sh.MethodError, "got 3"),
        ({"decay": 3.0}, sh.MethodError, "decay belongs to stabilisation 'baumgarte' or 'ggl'; 'projection'"),
        ({"stabilisation": "none", "decay": 3.0}, sh.MethodError, "'none' has no such coefficient"),
        ({"stabilisation": "baumgarte", "decay": -3.0}, sh.StateError, "expected positive numbers, 1/s; got -3.0"),
        ({"stabilisation": "baumgarte", "decay": ()}, sh.StateError, "expected positive numbers"),
        ({"stabilisation": "baumgarte", "decay": "fast"}, sh.StateError, "got 'fast'"),
        ({"stabilisation": "baumgarte", "decay": (1.0, 2.0, 3.0)}, sh.StateError, "expected one number, or α and β, got 3"),
        ({"stabilisation": "ggl", "decay": (1.0, 2.0)}, sh.StateError, "expected one number, got 2"),
        (
            {"stabilisation": "ggl", "decay": 1e4, "integrator": "rk4", "step": 1e-3},
            sh.MethodError,
            "too fast for 'rk4' with steps of 0.001 s; at most 2.5e",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, error, words):
    with pytest.raises(error, match=words.replace("(", r"\(")):
        sh.simulate(bar(), 1.0, q0=FOUR_START, fixed=[], **arguments)


def test_a_tree_has_nothing_to_keep_and_a_rollout_no_partition():
    with pytest.raises(sh.MethodError, match="has no closed loops and no constraints to stabilise; leave it out"):
        sh.simulate(S.pendulum(), 1.0, stabilisation="ggl")
    with pytest.raises(sh.MethodError, match="simulate them one by one"):
        sh.rollout(bar(), np.zeros((1, 3)), dt=1e-3, steps=1, stabilisation="partitioning")


def test_results_and_summaries_say_how_constraints_were_kept(tmp_path):
    m = bar()
    r = sh.simulate(m, 0.1, q0=FOUR_START, fixed=[], stabilisation="baumgarte", decay=(20.0, 30.0), save=tmp_path / "a.nc")
    assert "baumgarte with α = 20/s, β = 30/s" in r.summary()
    again = sh.Result.load(tmp_path / "a.nc")
    assert again.cost == r.cost and (again.cost.stabilisation, again.cost.alpha, again.cost.beta) == ("baumgarte", 20.0, 30.0)
    assert r.to_xarray().attrs["cost_stabilisation"] == "baumgarte"
    none = sh.simulate(m, 0.1, q0=FOUR_START, fixed=[], stabilisation="none")
    assert "accelerations alone" in none.summary()
    assert sh.simulate(S.pendulum(), 0.1).cost.stabilisation == ""


def test_files_and_the_command_line_choose(tmp_path, monkeypatch, capsys):
    m = S.four_bar(*FOUR)
    m.simulation = sh.SimulationSettings(duration=0.1, q0=FOUR_START, fixed=[], stabilisation="baumgarte", decay=(20.0, 30.0))
    assert loads(dumps(m)).simulation == m.simulation
    m.save(tmp_path / "bar.yaml")
    for options, words in (([], "α = 20/s, β = 30/s"), (["--stabilisation", "ggl", "--decay", "9"], "ggl with κ = 9/s")):
        monkeypatch.setattr(sys, "argv", ["sharnir", "run", str(tmp_path / "bar.yaml"), *options])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code and words in capsys.readouterr().out
    text = (tmp_path / "bar.yaml").read_text(encoding="utf-8")
    for said, instead in (("baumgarte", "glue"), ("20.0", "-20.0")):
        with pytest.raises(sh.ModelError, match=r"stabilisation|decay"):
            loads(text.replace(said, instead))
