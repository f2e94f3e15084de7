"""`sharnir.compare`: every method is in it, agrees or says why not; nothing that was measured is lost."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sharnir as sh
from loop_models import STARTS
from sharnir.comparison import contender as contender_module
from sharnir.comparison.states import motion, random_states

QUICK = {"states": 3, "batch": 16, "rounds": 2}
INTERPRETED = {**QUICK, "backends": ["python", "sparse", "dense"]}


@pytest.fixture(scope="module")
def arm() -> sh.Comparison:
    """A chain with solid bodies: every method has a place for it."""
    return sh.compare(sh.samples.chain(2), backends=["llvm", "python", "sparse"], **QUICK)


def coupled() -> sh.Model:
    m = sh.samples.chain(3)
    names = [joint.name for joint in m.joints]
    m.couple(names[2], names[1], ratio=-0.5)
    return m


# --- agreement --------------------------------------------------------------------------------------------------------------
def test_every_method_is_listed_and_agrees(arm):
    assert {row.method for row in arm.rows} == {method.name for method in sh.methods()}
    answered = [row for row in arm.rows if row.ok]
    assert {row.method for row in answered} == {method.name for method in sh.methods()}
    assert max(row.disagreement for row in answered) < 1e-10
    assert arm.status == "done" and arm.disagreement < 1e-10
    for row in answered:
        assert 0.0 < row.single.least <= row.single.quarter <= row.single.middle <= row.single.three_quarters
        assert row.single.turns == row.batch.turns == 2 and 1 <= row.batch_size <= 16 and row.work_bytes > 0


def test_what_is_compiled_says_how_long_it_took_and_how_large_it_is(arm):
    for row in arm.rows:
        compiled = row.ok and row.backend == "llvm"
        assert (row.compile_single is not None) == (row.code_bytes is not None) == (row.compiled is not None) == compiled
        if compiled:
            assert row.compile_single > 0.0 and row.code_bytes > 500 and 0 < row.compiled.total < row.written.total


def test_counts_are_those_of_dynamics(arm):
    d = sh.Dynamics(sh.samples.chain(2), "separate")
    assert arm.row("separate", "llvm").compiled == d.count(compiled=True)
    assert arm.row("separate", "python").written == d.count()


def test_rows_are_ranked_and_best_is_the_fastest_that_gives_accelerations(arm):
    times = [row.single.least for row in arm.rows if row.ok]
    assert times == sorted(times) and all(row.ok for row in arm.rows[: len(times)])
    assert arm.best.single.least == min(row.single.least for row in arm.rows if row.ok and row.gives == "q̈")
    assert arm.best_batch.batch.least == min(row.batch.least for row in arm.rows if row.ok and row.gives == "q̈")
    assert arm.chosen is arm.row(arm.auto["method"], arm.auto["backend"]) and arm.auto["why"]
    assert arm.behind("single") >= 1.0 and arm.behind("batch") >= 1.0 and arm.times_best(arm.best) == 1.0


def test_one_that_disagrees_is_never_best(arm):
    data = arm.as_dict()
    liar = sh.Comparison(**{key: data[key] for key in ("model", "machine", "settings", "auto")}, rows=list(arm.rows))
    first = liar.best
    right, first.disagreement = first.disagreement, 1e-3
    try:
        assert liar.best is not first
    finally:
        first.disagreement = right


def test_methods_that_iterate_are_run_as_loops_only(arm):
    row = arm.row("direct-iterative", "llvm")
    assert row.status == "not applicable" and "runs on 'python', 'loops'" in row.reason
    assert arm.row("direct-iterative", "python").iterates
    assert arm.row("momentum", "llvm").gives == "ṗ"


@pytest.mark.parametrize("name", ["four-bar", "rolling disc"])
def test_closed_models_agree_with_the_extended_system_with_rows(name):
    c = sh.compare(STARTS[name][0](), ["composite", "separate", "extended", "maggi", "momentum"], **INTERPRETED)
    assert "closed loops" in c.oracle and c.disagreement < 1e-9
    assert {row.label for row in c.rows if row.ok} >= {"composite · python", "separate · python", "maggi · dense"}
    assert "does not handle closed loops" in c.row("momentum", "python").reason


def test_closed_models_are_compiled_to_straight_lines():
    c = sh.compare(sh.samples.four_bar(), "composite", ["llvm", "loops"], **QUICK)
    assert c.row("composite", "llvm").ok and c.disagreement < 1e-10 and c.row("composite", "llvm").compiled.total > 0
    assert "same code as 'llvm'" in c.row("composite", "loops").reason


def test_coupled_coordinates_have_a_place_in_methods_that_fold_or_share():
    c = sh.compare(coupled(), **INTERPRETED)
    folded = ("composite", "direct", "recursive", "kosynka", "stepanenko", "inverse-iterative", "direct-iterative")
    able = {"extended · sparse", "maggi · sparse", *(f"{method} · python" for method in ("separate", "momentum", *folded))}
    assert {row.label for row in c.rows if row.ok} == able and c.disagreement < 1e-10
    assert "does not handle coupled coordinates" in c.row("lagrange1", "python").reason


def test_a_body_without_mass_rules_out_nothing():
    m = sh.samples.chain(2)
    m.add_body("marker", mass=0.0, inertia=(0.0, 0.0, 0.0))
    m.add_joint("weld", sh.Weld(), "ground", "marker")
    c = sh.compare(m, ["lagrange1", "separate"], **INTERPRETED)
    assert c.row("separate", "python").ok and c.row("lagrange1", "python").ok


def test_forces_drives_and_custom_joints_agree():
    last = sh.samples.chain(2).bodies[-1].name
    m = sh.samples.chain(2)
    m.add_body("disc", mass=1.0, inertia=(0.1, 0.1, 0.2))
    m.add_joint("driven", sh.Revolute("z", motion=lambda t: sh.sin(2.0 * t)), last, "disc")
    m.add_force(sh.SpringDamper("ground", "disc", at_a=(0.0, 0.0, 2.0), at_b=(0.1, 0.2, 0.0), stiffness=30.0, damping=1.0))
    c = sh.compare(m, ["separate", "composite", "lagrange1", "extended", "momentum"], ["llvm", "python", "sparse"], **QUICK)
    assert len([row for row in c.rows if row.ok]) == 9 and c.disagreement < 1e-10


def test_loops_come_from_the_cache_and_agree():
    c = sh.compare(sh.samples.chain(2), "composite", "loops", **QUICK)
    row = c.row("composite", "loops")
    assert row.ok and row.disagreement < 1e-10 and row.compile_single is None and row.code_bytes > 1000


# --- states -----------------------------------------------------------------------------------------------------------------
def test_states_meet_the_constraints_and_the_motion_has_no_jump():
    m = sh.samples.four_bar()
    states = random_states(m, 3, seed=1)
    way = motion(m, states)
    assert len(way) == 64
    steps = np.abs(np.diff(np.vstack([way.q, way.q[:1]]), axis=0)).max(axis=1)
    assert steps.max() < 0.02
    for q, v, t in zip(states.q, states.v, states.t, strict=True):
        np.testing.assert_allclose(np.concatenate(m.assemble(q, v, t)), np.concatenate([q, v]), atol=1e-9)


# --- parts, failures, interruptions -----------------------------------------------------------------------------------------
def test_one_that_fails_is_listed_with_its_error_and_the_rest_is_kept(monkeypatch):
    right = sh.Dynamics

    def broken(model, method, backend):
        if method == "direct":
            raise ZeroDivisionError("by nothing")
        return right(model, method, backend)

    monkeypatch.setattr(contender_module, "Dynamics", broken)
    c = sh.compare(sh.samples.chain(2), ["direct", "composite"], "python", **QUICK)
    assert c.row("direct", "python").status == "failed"
    assert c.row("direct", "python").reason == "ZeroDivisionError: by nothing"
    assert c.row("composite", "python").ok and "ZeroDivisionError" in str(c)


def test_ctrl_c_keeps_what_was_measured(monkeypatch):
    prepare = contender_module.Contender.prepare

    def third_time(self, context):
        if self.method.name == "direct":
            raise KeyboardInterrupt
        prepare(self, context)

    monkeypatch.setattr(contender_module.Contender, "prepare", third_time)
    c = sh.compare(sh.samples.chain(2), ["separate", "composite", "direct", "recursive"], "python", **QUICK)
    assert c.status == "interrupted" and c.best.method in ("separate", "composite") and c.best.single.turns == 1
    assert [(row.method, row.reason) for row in c.rows if not row.ok] == [("direct", "interrupted"), ("recursive", "interrupted")]
    assert "incomplete (interrupted): 2 contenders not tried" in str(c)


def test_a_budget_leaves_some_untried():
    c = sh.compare(sh.samples.chain(2), ["separate", "composite"], "python", **QUICK, budget=1e-9)
    assert c.status == "out of time" and {row.status for row in c.rows} == {"not tried"} and c.best is None
    assert "budget" in c.rows[0].reason and "not tried" in str(c)


def test_a_graph_over_the_limit_is_not_compiled():
    c = sh.compare(sh.samples.chain(3), "separate", "llvm", **QUICK, graph_limit=50)
    assert c.rows[0].status == "too large" and "more than 50 nodes" in c.rows[0].reason


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": "newton"}, "unknown method 'newton'; the methods are 'separate'"),
        ({"backends": ["llvm", "cuda"]}, "unknown backend 'cuda'; the backends are 'llvm'"),
        ({"methods": []}, "no method was named"),
        ({"states": 0}, "states: expected a whole number of at least 1, got 0"),
        ({"budget": -1.0}, "budget must be a positive number of seconds, got -1.0"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(sh.MethodError, match=message):
        sh.compare(sh.samples.chain(2), **options)


def test_a_model_without_freedoms_is_refused():
    m = sh.Model("stone")
    m.add_body("stone", mass=1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("fixed", sh.Weld(), "ground", "stone")
    with pytest.raises(sh.MethodError, match="'stone' has no degree of freedom"):
        sh.compare(m)
    with pytest.raises(sh.MethodError, match=r"needs a sharnir\.Model"):
        sh.compare("stone")


# --- output -----------------------------------------------------------------------------------------------------------------
def test_json_and_back(arm, tmp_path):
    path = arm.to_json(tmp_path / "arm.json")
    again = sh.Comparison.from_json(path)
    assert again == arm and str(again) == str(arm)
    assert json.loads(path.read_text(encoding="utf-8"))["format"] == "sharnir comparison 1"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(sh.FormatError, match="not a comparison"):
        sh.Comparison.from_json(path)
    path.write_text("nonsense", encoding="utf-8")
    with pytest.raises(sh.FormatError, match="not JSON"):
        sh.Comparison.from_json(path)


def test_text_says_who_is_best_and_what_auto_takes(arm):
    text = str(arm)
    assert f"Fastest for single states: {arm.best.label}" in text and "method='auto' chooses" in text and "disagreement" in text
    assert "not applicable" in text and "(ṗ)" in text


def test_a_narrow_terminal_gets_fewer_columns(arm):
    from rich.console import Console

    from sharnir.comparison.report import measurements

    wide, narrow = (Console(width=500).measure(measurements(arm).rich(width)).maximum for width in (200, 80))
    assert narrow <= 80 < wide


def test_picture(arm, tmp_path):
    arm.plot(tmp_path / "arm.png")
    assert (tmp_path / "arm.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(sh.StateError, match="no folder"):
        arm.plot(tmp_path / "nowhere" / "arm.png")
