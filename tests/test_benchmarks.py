"""The benchmarks measure what they say: counts add up to the papers' totals, peers solve the same problem."""

import json

import numpy as np
import pytest
from benchmarks import chains, peak, report
from benchmarks.counts import count_from_joints, count_parts, count_rows, evaluate, fit, product_RMR, shown
from benchmarks.kane_printed import ALGORITHMS, TABLE_1, TOTALS
from benchmarks.tables import markdown, plain
from benchmarks.timing import race

import sharnir as sh


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
    parts = count_parts("recursive", 4)
    assert parts[""].total == 0
    assert set(parts) - {"", "joint_stage", "poses", "to_world"} == {row.kernel for row in TABLE_1}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_counts_are_polynomials_of_the_degree_the_papers_give(algorithm):
    p = fit(lambda n: count_rows(algorithm, n).total)
    assert bool(p[3]) == (algorithm in ("kosynka", "direct"))
    more = count_from_joints(algorithm, 5).total - count_rows(algorithm, 5).total
    assert (more > 0) == (algorithm in ("recursive", "kosynka"))  # the two that work in the axes of the world


def test_golden_counts_of_the_recursive_rows():
    formulas = {row.kernel: fit(lambda n, k=row.kernel: count_parts("recursive", n)[k].multiplications) for row in TABLE_1}
    assert shown(formulas["row_M2"]) == shown(formulas["row_M3"]) == "4.5N² − 4.5N"
    assert (product_RMR().multiplications, product_RMR().additions) == (12, 8)


def test_fit_refuses_what_is_no_polynomial():
    with pytest.raises(ValueError, match="not a polynomial"):
        fit(lambda n: 2**n)


def test_a_repeated_chain_is_the_chain_that_is_built():
    chains.same_arrays(9)


def test_the_peak_kernel_does_its_work():
    assert peak.peak_gflops(turns=1000) > 0.1


def test_contenders_take_turns():
    order = []
    seconds = race({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, rounds=2, seconds=0.0)
    assert order == ["a", "b"] * 4
    assert set(seconds) == {"a", "b"}


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


def test_tables_are_aligned():
    table = [["a", "b"], ["long cell", "c"]]
    assert plain(table).splitlines()[2] == "long cell  c"
    assert markdown(table).splitlines()[1] == "|---|---|"


@pytest.mark.parametrize("name", ["ur5", "anymal_c"])
def test_a_robot_is_the_same_in_pinocchio_and_in_mujoco(name):
    from benchmarks.peers import Case, mujoco_call

    case = Case.make(name, 32)
    case.check(4)
    mujoco_call(case)  # compares accelerations


def test_long_chains_agree_with_themselves():
    model = sh.samples.chain(600)
    state = chains.state(600)
    a = sh.Dynamics(model, "separate", backend="python").forward(*state)
    b = sh.Dynamics(chains.long_chain(600), "separate", backend="python").forward(*state)
    assert np.array_equal(a, b)
