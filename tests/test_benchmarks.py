"""The benchmarks measure what they say: counts add up to the papers' totals, peers solve the same problem."""

import csv
import json

import numpy as np
import pytest
from benchmarks import chains, dae, figure1, figure1_models, figure1_plan, figure1_report, growth, harness, peak, report
from benchmarks.counts import B_ROWS, STAGES, count_from_joints, count_parts, count_rows, evaluate, fit, shown
from benchmarks.harness import race
from benchmarks.kane_printed import ALGORITHMS, TABLE_1, TOTALS
from benchmarks.limited import limited

import sharnir as sh
from loop_models import placed
from sharnir.machine import processor


@pytest.mark.parametrize(
    ("name", "multiplications", "additions"), [("recursive", 1071, 1443), ("kosynka", 1458, 5856), ("stepanenko", 1596, 1302)]
)
def test_printed_totals_are_those_of_the_paper_for_six_joints(name, multiplications, additions):
    assert tuple(evaluate(p, 6) for p in TOTALS[name]) == (multiplications, additions)


def test_printed_rows_add_up_to_the_printed_multiplications_and_not_to_the_additions():
    for n in range(1, 10):
        assert sum(evaluate(row.multiplications, n) for row in TABLE_1) == evaluate(TOTALS["recursive"][0], n)
        assert sum(evaluate(row.additions, n) for row in TABLE_1) - evaluate(TOTALS["recursive"][1], n) == 19 * n


def test_every_operation_of_the_recursive_algorithm_is_on_the_account_of_a_row():
    parts = count_parts("inertia/recursive", 4)
    assert parts[""].total == 0
    used = {name for name, count in parts.items() if count.total and name not in STAGES}
    assert used == {row.kernel for row in TABLE_1}


def test_every_operation_of_b_is_on_the_account_of_a_step():
    parts = count_parts("bias/recursive", 4)
    assert parts[""].total == 0
    assert {name for name, count in parts.items() if count.total and name not in STAGES} == set(B_ROWS)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_counts_are_polynomials_of_the_degree_the_papers_give(algorithm):
    name = f"inertia/{algorithm}"
    p = fit(lambda n: count_rows(name, n).total)
    assert bool(p[3]) == (algorithm in ("kosynka", "direct"))
    more = count_from_joints(name, 5).total - count_rows(name, 5).total
    assert (more > 0) == (algorithm in ("recursive", "kosynka"))  # the two that work in the axes of the world


def test_golden_counts_of_the_recursive_rows():
    formulas = {
        row.kernel: fit(lambda n, k=row.kernel: count_parts("inertia/recursive", n)[k].multiplications) for row in TABLE_1
    }
    assert shown(formulas["row_M2"]) == shown(formulas["row_M3"]) == "4.5N² − 4.5N"
    entry = [count_parts("inertia/recursive", n)["row_A"] for n in (3, 4)]
    assert [(x.multiplications, x.additions) for x in entry] == [(12 * pairs, 8 * pairs) for pairs in (6, 10)]  # bare RᵀMR


def test_golden_counts_of_A_and_b():
    """A is cheaper than Stepanenko's at six joints, as [K] says, while nothing is turned into the world; b is linear."""
    A, b = (fit(lambda n, name=name: count_rows(name, n).total) for name in ("inertia/recursive", "bias/recursive"))
    assert (shown(A), shown(b)) == ("59.5N² + 0.5N − 6", "164N − 21")
    assert evaluate(A, 6) == 2139 < count_rows("inertia/stepanenko", 6).total == 2463
    assert count_from_joints("inertia/recursive", 6).total > count_from_joints("inertia/stepanenko", 6).total


def test_joints_that_shift_the_origins_of_bodies_cost_more():
    more, fewer = (count_rows("inertia/recursive", 6, beside) for beside in (True, False))
    assert (more.total, fewer.total) == (3084, 2139)


def test_fit_refuses_what_is_no_polynomial():
    with pytest.raises(ValueError, match="not a polynomial"):
        fit(lambda n: 2**n)


def test_the_peak_kernel_does_its_work():
    assert peak.peak_gflops(iterations=1000) > 0.1


def test_contenders_are_sampled_in_turn_and_less_often_in_a_short_run(monkeypatch):
    def samples():
        order = []
        seconds = race({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, rounds=12, sample=0.0)
        assert set(seconds) == {"a", "b"} and order[:4] == ["a", "a", "b", "b"]  # warming up
        assert order[4:] == ["a", "b"] * (len(order[4:]) // 2)
        return len(order[4:]) // 2

    assert samples() == 12
    monkeypatch.setattr(harness.SETTINGS, "quick", True)
    assert samples() == 4


def test_what_was_measured_before_a_failure_or_a_time_limit_is_kept(tmp_path):
    text = "(x if x != 'bad' else 1 / 0 for x in ['a note', report.Measure('a', 'b', 'c', 2.0, ' s', 1.0, True), 'bad'])"
    note, measured, end = limited("report", text, 600.0, tmp_path)
    assert note == "a note" and isinstance(measured, report.Measure) and measured.met is False
    assert end == f"{text} failed: ZeroDivisionError: division by zero"
    text = "map(__import__('time').sleep, [60])"
    assert list(limited("report", text, 0.2, tmp_path)) == [f"{text}: stopped after 0.2 s"]


def test_targets_are_judged_and_saved(tmp_path):
    good = report.Measure("robots", "arm", "batch", 30.0, "×", 25.0)
    bad = report.Measure("chains", "arm", "time", 300.0, " ns", 250.0, at_most=True)
    assert (good.met, bad.met, report.Measure("x", "y", "z", 1.0, "").met) == (True, False, None)
    assert "≥ 25×" in report.table([good]) and "MISSED" in report.table([bad])
    report.save(tmp_path / "bench.json", [good, bad], ["a note"])
    report.draw(tmp_path / "bench.png", [good, bad])
    content = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert [m["met"] for m in content["measures"]] == [True, False]
    assert content["machine"]["processor"]
    assert (tmp_path / "bench.png").stat().st_size > 1000


@pytest.mark.parametrize("name", ["ur5", "anymal_c"])
def test_a_robot_is_the_same_in_pinocchio_and_in_mujoco(name):
    from benchmarks.peers import Case, mujoco_call

    case = Case.make(name, 32)
    case.check(4)
    mujoco_call(case)  # compares accelerations


def test_studies_are_the_same_in_exudyn():
    pytest.importorskip("exudyn")
    from benchmarks import studies

    studies.check_same_motions()
    assert studies.exudyn_quarter_car_rate(8, 1) > 0.0


def test_the_loop_alone_is_the_call_without_python():
    model = sh.samples.chain(60)
    call = chains.alone(model)
    call()
    assert np.allclose(call.arrays[4].qdd, chains.forward(model, "separate")(), rtol=1e-12)  # type: ignore[attr-defined]


# --- Figure 1 -------------------------------------------------------------------------------------------------------------------
def powers(scale, power, sizes=(1, 2, 5, 10, 20, 50, 100)):
    return {n: scale * n**power for n in sizes}


def test_exponents_are_found_and_short_curves_have_none():
    assert growth.exponent(powers(3.0, 2.5)) == pytest.approx(2.5)
    mixed = {n: 1000.0 + n**3 for n in (1, 10, 100, 1000, 10_000)}
    assert growth.exponent(mixed, *growth.last_decade(mixed)) is None  # two sizes only
    assert growth.exponent(mixed, 100) == pytest.approx(3.0, abs=1e-3)
    assert growth.exponent({1: 1.0, 2: 2.0}) is None


def test_crossings_are_where_the_curves_meet():
    (met,) = growth.crossings(powers(1.0, 3), powers(64.0, 1.0))  # n³ = 64 n at 8
    assert met.at == pytest.approx(8.0) and met.lower == 1  # beyond, the second is the lower one
    (back,) = growth.crossings(powers(64.0, 1.0), powers(1.0, 3))
    assert back.at == pytest.approx(8.0) and back.lower == 0
    assert growth.crossings(powers(1.0, 1.0), powers(2.0, 1.0)) == []
    assert growth.crossings(powers(1.0, 1.0, (1, 2)), powers(2.0, 1.0, (5, 9))) == []  # no size in common


def test_noise_within_the_margin_is_no_crossing():
    flat = dict.fromkeys((1, 2, 3, 4, 5, 6), 1.0)
    noisy = {1: 0.5, 2: 0.99, 3: 1.01, 4: 0.98, 5: 1.02, 6: 2.0}
    assert len(growth.crossings(noisy, flat)) == 3
    (met,) = growth.crossings(noisy, flat, margin=1.05)
    assert 2 < met.at < 3 and met.lower == 1


def test_the_lowest_curve_reigns_until_it_is_clearly_beaten():
    curves = {"a": {1: 1.0, 2: 2.0, 3: 3.0, 4: 9.0}, "b": {1: 2.0, 2: 1.95, 3: 2.0, 4: 2.0}, "c": {4: 1.97}}
    assert growth.reigns(curves) == [("a", 1, 2), ("b", 3, 4)]  # at 2 "b" leads by less than the margin, at 4 "c" does
    assert growth.ratio_range(curves["a"], curves["b"], [1, 3]) == (0.5, 1.5)


def steps_at(seconds, step):
    return figure1_plan.Record("chain", 1, 7, 7, 4, "inverse-iterative", "loops", step, seconds)


def test_the_step_that_breaks_even_with_factorising():
    composite = figure1_plan.Record("chain", 1, 7, 7, 1, "composite", "loops", 1e-3, 10.0)
    rising = [steps_at(5.0, 1e-4), steps_at(20.0, 1e-2)]
    assert figure1_plan.Measured([composite, *rising]).break_even(1, 7, "inverse-iterative") == pytest.approx(1e-3)
    assert figure1_plan.Measured([composite, steps_at(5.0, 1e-4)]).break_even(1, 7, "inverse-iterative") == np.inf
    assert figure1_plan.Measured([composite, steps_at(11.0, 1e-4)]).break_even(1, 7, "inverse-iterative") == 0.0


def test_trees_of_figure_1_have_the_shape_they_are_named_by():
    tree, star = figure1_models.binary_tree(7, 1), figure1_models.star(5, 3)
    carriers = [{j.child: j.parent for j in m.joints} for m in (tree, star)]
    assert [carriers[0][f"link{i}"] for i in range(2, 8)] == ["link1", "link1", "link2", "link2", "link3", "link3"]
    assert [carriers[1][f"link{i}"] for i in range(1, 6)] == ["ground", "link1", "link1", "link1", "link1"]
    q, v = figure1_models.start(star)
    assert np.allclose(np.linalg.norm(q.reshape(5, 4), axis=1), 1.0) and np.ptp(v) > 0.5


def test_figure_1_by_one_command(tmp_path, monkeypatch):
    """Interpreted and tiny: files come out whole; nobody asserts a time."""
    plan = figure1_plan.Plan(
        (1, 2), (), 1e-3, (1e-4, 1e-3), {1: (2,), 3: (2,)}, 0.0, sample=60.0, least=1, along=1, rounds=1, loops="python"
    )
    monkeypatch.setattr(harness.SETTINGS, "out", tmp_path)
    figure1.main(plan=plan)
    for name, methods in (("chains", 5), ("trees", 5), ("step_size", 4)):
        assert (tmp_path / f"figure1_{name}.png").stat().st_size > 10_000
        with (tmp_path / f"figure1_{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert list(rows[0]) == figure1_plan.COLUMNS
        assert len({row["method"] for row in rows}) == methods
        assert all(float(row["us_per_step"]) > 0.0 for row in rows)
    text = (tmp_path / "figure1.md").read_text(encoding="utf-8")
    assert processor() in text and "Load average" in text
    for title in ("## Chains", "## Trees", "## Growth", "## Size of the step", "## Beside the paper"):
        assert title in text
    assert "nan" not in text and "inf " not in text


RULES = {"composite": (0.1, 3), "separate": (10.0, 1), "lagrange1": (40.0, 1)}
RULES |= dict.fromkeys(figure1_plan.ITERATIVE, (1.0, 2))
"""Curves made by rule: 1 costs N³/10, 2 costs 10 N, 3 costs 40 N over the axes, the iterative ones N²; on trees 1 is linear."""


def by_rule(subject, n, method, step=1e-3, slower=1.0):
    scale, power = RULES[method] if subject.shape == "chain" or method != "composite" else (5.0, 1)
    number = figure1_plan.METHODS[method][0]
    cost = slower * scale * n**power / (subject.axes if method == "lagrange1" else 1.0)
    return figure1_plan.Record(subject.shape, subject.axes, n, n * subject.axes, number, method, "loops", step, cost, 3.0)


def words_by_rule(sizes, slower=lambda method, axes, n: 1.0):
    plan = figure1_plan.Plan(sizes, stepped={1: (10,)}, steps=(1e-4, 1e-3))
    chained, branched = (
        figure1_plan.Measured(
            [by_rule(s, n, m, slower=slower(m, s.axes, n)) for s in subjects for n in plan.sizes for m in RULES]
        )
        for subjects in (figure1_models.CHAINS, figure1_models.TREES)
    )
    chain = figure1_models.CHAINS[0]
    steps = [by_rule(chain, 10, "composite")]
    steps += [by_rule(chain, 10, m, h, x) for m in figure1_plan.ITERATIVE for h, x in ((1e-4, 0.5), (1e-3, 2.0))]
    return figure1_report.text(chained, branched, figure1_plan.Measured(steps), plan, (0.0, 1.0))


def verdict(text, claim):
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {claim}"))
    return line.split("|")[-2].strip()


def test_the_words_of_figure_1_follow_from_the_numbers():
    text = words_by_rule((1, 2, 5, 10, 20, 50, 100, 200, 500, 1000))
    assert "Fastest in loops: `composite` 1–10, `separate` 20–1000" in text  # at 10 both cost 100
    assert "`lagrange1` overtakes `composite` at N ≈ 20; `inverse-iterative` overtakes `composite` at N ≈ 10" in text
    assert "| chain, one-axis joints | **3.00** (100–1000), 3.00 | **1.00** (100–1000), 1.00 |" in text
    assert "one-axis joints: `inverse-iterative` is faster than factorising below a step of 0.0003 s at N = 10" in text
    assert "goes 20 → 14 → 12 as joints get 1, 2, 3 axes | agrees |" in text
    assert "3.00 on the chain, 1.00 on the binary tree | agrees |" in text
    for claim in ("methods 2 and 3 cost", "method 1 costs", "the iterative methods 4", "method 2, of", "method 3, of"):
        assert verdict(text, claim) == "agrees"


LAWS = ("methods 2 and 3 cost", "method 1 costs", "the iterative methods 4", "for a binary tree")


def test_a_short_run_judges_no_law_of_growth():
    """Fixed costs bend the curves of a hundred bodies: O(N³) of method 1 is there, and cannot be told from less."""

    def flat(method, axes, n):
        return 1.0 + 3000.0 / n**2 if method == "composite" else 1.0

    short, long = words_by_rule((1, 2, 5, 10, 20, 50, 100), flat), words_by_rule((1, 10, 100, 200, 500, 1000), flat)
    assert [verdict(short, claim) for claim in LAWS] == ["—"] * 4
    assert short.count("curves end at 100 freedoms, too few for a law of growth") == 4
    assert verdict(long, "method 1 costs") == verdict(long, "methods 2 and 3 cost") == "agrees" and "too few" not in long
    assert verdict(words_by_rule((1, 100, 300, 1000), lambda method, axes, n: n), "methods 2 and 3 cost") == "differs"


@pytest.mark.parametrize(
    ("slower", "places", "held"),
    [
        ({1: 10.0}, "more than 50 → 14 → 12", "agrees"),  # beyond the sizes that were measured is later than within them
        ({1: 10.0, 2: 20.0}, "more than 50 → more than 50 → 12", "—"),  # of two beyond nothing is known
        ({1: 10.0, 2: 20.0, 3: 30.0}, "more than 50 → more than 50 → more than 50", "—"),
        ({3: 100.0}, "20 → 14 → more than 50", "differs"),
        ({2: 4.0}, "20 → 28 → 12", "differs"),
    ],
)
def test_a_place_beyond_the_sizes_measured_is_a_bound(slower, places, held):
    text = words_by_rule((1, 2, 5, 10, 20, 50), lambda method, axes, n: slower.get(axes, 1.0) if method == "lagrange1" else 1.0)
    assert f"goes {places} as joints" in text
    assert verdict(text, "which method is best") == held
    assert verdict(text, "method 3, of") == ("—" if "more" in places else "agrees")


def test_a_method_that_grows_too_slow_is_stopped_and_named():
    plan = figure1_plan.Plan((2, 3, 4), (2,), seconds=0.0, sample=1e-9, least=1, rounds=1, loops="python")
    measured = figure1_plan.Measured()
    figure1.growing(figure1_models.CHAINS[0], plan, measured, lambda _: None)
    assert {r.method for r in measured.records if r.bodies > 2} == {"separate", "lagrange1"}
    assert len(measured.stopped) == 3
    assert "composite ends at N = 2. At 3 a sample of 2 steps may take more than" in measured.stopped[0]
    assert {r.method for r in measured.records if r.backend == "llvm"} == {"composite", "separate", "lagrange1"}
    natural = measured.natural("chain", 1, "separate", "python")
    assert set(natural) == {2, 3, 4} and natural[2] == measured.curve("chain", 1, "separate", "llvm")[2]


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "Andrews"])
@pytest.mark.parametrize("index", dae.ROWS)
def test_the_extended_system_as_a_dae_is_met_by_its_solution(name, index):
    """[B] (1) with its constraints: derivatives and reactions of the extended system leave nothing of it."""
    m, q, v = placed(name)
    model = dae.Model(m, q, v, index)
    y, yp = model.start(q, v)
    left = np.full(model.n, np.nan)
    model.residual(0.0, y, yp, left)
    assert np.abs(left).max() < 1e-9 * max(1.0, np.abs(y).max(), np.abs(yp).max())


def test_a_dae_converges_and_its_index_says_what_becomes_of_the_constraints():
    pytest.importorskip("sksundae")
    m, q, v = dae.four_bar()
    exact = sh.simulate(m, 0.05, q0=q, v0=v, rtol=1e-12, atol=1e-13, output=0.05)
    wanted = np.concatenate([exact.q[-1], exact.v[-1]])
    gaps = {}
    for index in dae.ROWS:
        model, errors = dae.Model(m, q, v, index), []
        for tolerance in (1e-3, 1e-5):
            x = model.integrate(q, v, 0.05, tolerance)
            errors.append(np.abs(x - wanted).max())
            gaps[index] = np.abs(model.table.evaluate(x[: m.nq], x[m.nq :], 0.05)["g"]).max()
        assert errors[1] < 0.3 * errors[0] and errors[1] < 1e-3
    assert gaps["index 2, GGL"] < 1e-10 < gaps["index 1"]  # at 1e-5; positions drift where only their second derivative is kept
