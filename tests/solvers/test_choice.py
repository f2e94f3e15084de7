"""method="auto": counted, predicted, chosen; one calibration, one choice."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import sharnir as sh
from sharnir.backends.compiled_programs import CompiledPrograms
from sharnir.backends.counting import count_compiled
from sharnir.backends.traced import trace_program
from sharnir.choice import calibrate as calibrating
from sharnir.choice import calibration
from sharnir.choice.calibrate import fit, habit, relative_error
from sharnir.choice.calibration import GRAPH, LOOPS, SHIPPED_CALIBRATION, current, forget, of_graph, of_loops, store
from sharnir.choice.choose import FASTEST, applies, choose_method
from sharnir.dialect.cache import Cache, digest
from sharnir.dialect.jit import host
from sharnir.programs import PROGRAMS
from sharnir.programs.methods import METHODS

MODELS = {
    "one body": lambda: sh.samples.chain(1),
    "arm": lambda: sh.samples.chain(6),
    "balls": lambda: sh.samples.chain(5, dof=3),
    "plane": lambda: sh.samples.planar_chain(9),
    "tree": lambda: sh.samples.tree(12, 3, 1, 4),
    "star": lambda: sh.samples.tree(9, 9, 2, 1),
}


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SHARNIR_CACHE", str(tmp_path / "cache"))
    calibration._current.cache_clear()
    yield tmp_path / "cache"
    calibration._current.cache_clear()


def traced(model: sh.Model, method: str):
    s = model.freeze()
    return trace_program(PROGRAMS[f"forward/{method}"], s, CompiledPrograms(s, "auto").no_wrench, ("qdd",))


# --- work -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MODELS)
def test_the_work_of_a_graph_is_what_counting_finds(name):
    model = MODELS[name]()
    for method in (m for m in FASTEST if applies(m, model.freeze())):
        t = traced(model, method)
        count, found = count_compiled(t), dict(zip(GRAPH, of_graph(t), strict=True))
        assert found["operations"] == count.multiplications + count.additions
        assert found["divisions"] + found["functions"] == count.divisions + count.functions
        assert found["path"] <= 4 * found["operations"] + 20 * found["divisions"] + 40 * found["functions"] + 200


def test_the_path_of_a_chain_grows_with_it_and_that_of_a_star_does_not():
    def path(model, method):
        return dict(zip(GRAPH, of_graph(traced(model, method)), strict=True))["path"]

    chain = [path(sh.samples.planar_chain(n), "separate") for n in (4, 8, 16)]
    assert chain[2] - chain[1] == pytest.approx(2 * (chain[1] - chain[0]), rel=0.1)
    star = [path(sh.samples.tree(n, n, 1, 0), "separate") for n in (4, 8, 16)]
    assert max(star) < 2 * min(star)


def test_the_work_of_loops_follows_from_the_tree():
    chain = dict(zip(LOOPS, of_loops(sh.samples.chain(5).freeze()), strict=True))
    assert (chain["bodies"], chain["axes"], chain["pairs"], chain["triples"]) == (5, 5, 15, 55)
    assert (chain["square"], chain["cube"]) == (25, 125)
    star = sh.Model("star")
    for k in range(4):
        star.add_body(f"body {k}", mass=1.0, inertia=(1.0, 1.0, 1.0))
        star.add_joint(f"joint {k}", sh.Revolute("z"), "ground", f"body {k}")
    found = dict(zip(LOOPS, of_loops(star.freeze()), strict=True))
    assert (found["pairs"], found["triples"], found["motions"]) == (4, 4, len(star.structure.joints.kind))


# --- fitting ----------------------------------------------------------------------------------------------------------------
def test_a_fit_finds_the_seconds_that_made_the_times():
    rng = np.random.default_rng(3)
    true = np.array([5e-9, 1e-10, 3e-9, 0.0, 2e-11])
    rows = [(x, float(x @ true)) for x in rng.uniform(1, 1000, (40, 5))]
    assert fit(rows) == pytest.approx(true, rel=1e-6, abs=1e-15)
    assert relative_error(fit(rows), rows) < 1e-9
    assert relative_error(2 * true, rows) == pytest.approx(1.0)


def test_a_habit_is_the_factor_that_is_common_to_all():
    rows = [(np.array([1.0, x]), 1.3 * (2.0 + 3.0 * x)) for x in (1.0, 5.0, 40.0)]
    assert habit(np.array([2.0, 3.0]), rows) == pytest.approx(1.3)
    made = replace(SHIPPED_CALIBRATION, single=[1.0] * 6, habits={"single": {"direct": 2.0}})
    assert made.graph_seconds("direct", np.ones(6), False) == 12.0 and made.graph_seconds("separate", np.ones(6), False) == 6.0


def test_no_seconds_are_negative():
    rng = np.random.default_rng(4)
    rows = [(x, float(x @ [1e-9, -2e-10]) + 1e-6) for x in rng.uniform(1, 1000, (40, 2))]
    assert (fit(rows) >= 0.0).all()


# --- choosing ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", MODELS)
def test_a_choice_is_made_once_and_is_the_same_again(name, own_cache):
    first = sh.Dynamics(MODELS[name]())
    again = sh.Dynamics(MODELS[name]())
    assert (again.method, again.why, again.why.details) == (first.method, first.why, first.why.details)
    assert first.method in FASTEST and repr(first.method) in first.why and SHIPPED_CALIBRATION.made in first.why.details
    assert list((own_cache / "choice").iterdir())


def test_the_second_choice_traces_nothing(own_cache, monkeypatch):
    model = MODELS["arm"]()
    first = choose_method(CompiledPrograms(model.freeze(), "auto"), model)

    def fail(*_args, **_more):
        raise AssertionError("traced again")

    monkeypatch.setattr("sharnir.choice.choose.trace_program", fail)
    assert choose_method(CompiledPrograms(model.freeze(), "auto"), model) == first


def test_the_calibration_decides(own_cache):
    """Where a state has to wait for every operation in turn, the method of the shortest path is chosen; where operations count
    alone, that of the fewest."""
    model = sh.samples.planar_chain(12)
    works = {m: of_graph(traced(model, m)) for m in ("composite", "separate")}
    fewest, shortest = (min(works, key=lambda m: works[m][k]) for k in (1, 4))
    assert fewest != shortest
    for column, best in ((1, fewest), (4, shortest)):
        seconds = [0.0] * len(GRAPH)
        seconds[column] = 1e-9
        store(replace(SHIPPED_CALIBRATION, machine=f"by {column}", single=seconds, batch=seconds, habits={}))
        d = sh.Dynamics(model)
        assert d.method == best and f"by {column}" in d.why.details
    loops = {m: [1e-6] * len(LOOPS) for m in SHIPPED_CALIBRATION.loops} | {"lagrange1": [1e-9] * len(LOOPS)}
    store(replace(SHIPPED_CALIBRATION, loops=loops))
    assert sh.Dynamics(sh.samples.chain(4), backend="loops").method == "lagrange1"


def test_methods_that_do_not_apply_are_not_chosen(own_cache):
    loops = {m: [1e-6] * len(LOOPS) for m in SHIPPED_CALIBRATION.loops} | {"lagrange1": [1e-9] * len(LOOPS)}
    store(replace(SHIPPED_CALIBRATION, loops=loops))
    light = sh.Model("light")
    for k, mass in enumerate((0.0, 1.0)):
        light.add_body(f"body {k}", mass=mass, inertia=(mass, mass, mass))
        light.add_joint(
            f"joint {k}", sh.Revolute("xz"[k]), f"body {k - 1}" if k else "ground", f"body {k}", at=sh.Pose((0, 0, 1))
        )
    assert not applies("lagrange1", light.freeze())  # it answers, but in a time that no calibration knows
    assert sh.Dynamics(light, backend="loops").method != "lagrange1"


def test_closed_loops_have_their_solution_counted(own_cache):
    d = sh.Dynamics(sh.samples.four_bar())
    assert d.method in ("composite", "separate") and "constraints" in d.why and d.constrained is not None
    q, v = sh.samples.four_bar().neutral(), np.zeros(d.model.nv)
    other = sh.Dynamics(sh.samples.four_bar(), "composite" if d.method == "separate" else "separate")
    assert d.forward(q, v) == pytest.approx(other.forward(q, v), rel=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_chosen_has_little_more_to_do_than_any_other(name):
    """Not a measurement: the choice may trade some operations for a shorter path, not many."""
    model = MODELS[name]()
    counts = {m: count_compiled(traced(model, m)).total for m in FASTEST if applies(m, model.freeze())}
    assert counts[sh.Dynamics(model).method] <= 1.5 * min(counts.values()) + 10


def test_the_other_methods_are_known_and_none_is_iterative():
    assert set(FASTEST) <= set(METHODS) and not any("iterative" in name for name in FASTEST)
    assert set(SHIPPED_CALIBRATION.loops) == set(FASTEST)


# --- what is kept -----------------------------------------------------------------------------------------------------------
def test_a_calibration_is_kept_and_forgotten(own_cache):
    assert current() is SHIPPED_CALIBRATION
    store(replace(SHIPPED_CALIBRATION, machine="mine"))
    assert current().machine == "mine"
    calibration._current.cache_clear()
    assert current().machine == "mine"
    forget()
    assert current() is SHIPPED_CALIBRATION
    forget()


@pytest.mark.parametrize(
    "body", [b"", b"no json", b"[]", b"{}", json.dumps({"format": 0}).encode(), json.dumps({"format": 1, "single": []}).encode()]
)
def test_a_calibration_that_cannot_be_read_is_none(own_cache, body):
    Cache().save("calibration", digest(host()), body)
    assert current() is SHIPPED_CALIBRATION


def test_clearing_the_cache_keeps_the_calibration(own_cache):
    store(replace(SHIPPED_CALIBRATION, machine="mine"))
    sh.Dynamics(sh.samples.chain(3))
    sh.cache_clear()
    calibration._current.cache_clear()
    assert current().machine == "mine" and not list((own_cache / "choice").iterdir())


def test_calibrating_measures_fits_and_keeps(own_cache, monkeypatch, command):
    monkeypatch.setattr(calibrating, "models", lambda: iter([sh.samples.chain(n) for n in (1, 3, 5)]))
    monkeypatch.setattr(calibrating, "long_models", lambda: iter([sh.samples.chain(20)]))
    monkeypatch.setattr(calibrating, "FASTEST", ("separate", "composite"))
    code, out, err = command("calibrate", "--quiet")
    assert (code, err) == (0, "")
    made = current()
    assert made is not SHIPPED_CALIBRATION and str(made) in out and set(made.loops) == {"separate", "composite"}
    assert (
        min(made.single) >= 0.0
        and made.graph_seconds("composite", of_graph(traced(sh.samples.chain(5), "composite")), False) > 0.0
    )
    assert command("calibrate", "--shipped")[0] == 0
    assert current() is SHIPPED_CALIBRATION


def test_a_calibration_that_cannot_be_kept_or_removed_says_so(tmp_path, monkeypatch, command):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("SHARNIR_CACHE", str(tmp_path / "file" / "cache"))
    calibration._current.cache_clear()
    monkeypatch.setattr("sharnir.cli.calibrate.calibrate", lambda progress: replace(SHIPPED_CALIBRATION, machine="mine"))
    code, _, error = command("calibrate", "--quiet")
    assert code == 1 and "could not be saved" in error and "SHARNIR_CACHE" in error and "Traceback" not in error
    assert command("calibrate", "--shipped")[0] == 0  # there is none to forget
    calibration._current.cache_clear()


def test_only_the_graph_that_was_chosen_is_remembered(own_cache):
    model = MODELS["arm"]()
    compiled = CompiledPrograms(model.freeze(), "auto")
    chosen = choose_method(compiled, model)
    assert list(compiled.traced) == [(f"forward/{chosen.method}", ("qdd",))]
