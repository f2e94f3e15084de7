"""Masses that differ much: the oracle stays right, errors are expected before they come, and auto avoids them."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import replace
from decimal import localcontext
from pathlib import Path

import numpy as np
import pytest
from benchmarks import conditioning
from benchmarks.conditioning import mechanism, patterns, ring, rings, state, trees
from benchmarks.many_loops import error as error_of
from benchmarks.many_loops import ladder, mail, mast, right_of, scissor, scissor_acceleration
from benchmarks.precise import Precise, accelerations

import sharnir as sh
from loop_models import STARTS
from sharnir.choice.choose import TOLERATED
from sharnir.equations.motion.share import expected_errors
from sharnir.errors import AccuracyWarning
from sharnir.forms import FORMS
from sharnir.forms.closed import CLOSED_FORMS
from sharnir.forms.constraint_rows import constraint_rows
from sharnir.forms.linear import eliminate, solve
from states import assert_close, error, forest, interpreted, oracle, random_state

DOCS = Path(__file__).parents[2] / "docs"


# --- the references -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("k", [0, 6, 11])
def test_sixty_digits_give_what_floats_give_on_ordinary_models(k):
    model = forest(k)
    s = random_state(model, k)
    _, expected = oracle(model, replace(s, wrenches=0.0 * s.wrenches))
    assert_close(accelerations(model, s.q, s.v, s.tau, s.t), expected.qdd, 1e-10)


def test_precise_numbers_have_their_digits():
    with localcontext() as c:
        c.prec = 60
        third, x = Precise(1.0) / 3.0, Precise(0.7)
        one = x.apply("sin", x) * x.apply("sin", x) + x.apply("cos", x) * x.apply("cos", x)
        root = x.apply("sqrt", Precise(2.0))
        assert abs(third * 3.0 - 1.0) < 1e-58 and abs(one - 1.0) < 1e-58 and abs(root * root - 2.0) < 1e-58


def test_a_system_with_numbers_of_all_sizes_is_solved_to_rounding():
    """Graded matrices whose condition is far above 1e16: every unknown is right to its own last digits."""
    rng = np.random.default_rng(0)
    n = 12
    sizes = 10.0 ** rng.uniform(-15, 15, n)
    matrix = rng.normal(size=(n, n)) * sizes[:, None]
    matrix[0] = matrix[1] * (1.0 + 1e-15 * rng.normal(size=n))  # nearly dependent: LU alone has no digit left
    rows, columns = np.nonzero(matrix)
    right = matrix @ rng.normal(size=n)
    exact = eliminate(rows, columns, matrix[rows, columns], right)
    found = solve(matrix, right)
    assert_close(found, exact, 1e-14)
    residual = [sum((Precise(a) * x for a, x in zip(row, found, strict=True)), Precise(0.0)) for row in matrix.tolist()]
    scale = np.abs(matrix) @ np.abs(found)
    assert max(abs(float(r - b)) / s for r, b, s in zip(residual, right.tolist(), scale, strict=True)) < 1e-15


def test_a_system_without_a_unique_solution_is_refused():
    with pytest.raises(sh.SingularError, match="no unique solution"):
        solve(np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([1.0, 1.0]))


# --- the oracle ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ratio", [1e-15, 1e-10, 1e5, 1e10, 1e15])
@pytest.mark.parametrize("pattern", ["heavy tip", "heavy root", "alternating"])
def test_the_oracle_is_right_at_any_ratio_of_masses(pattern, ratio):
    for n, balls in ((2, False), (5, False), (6, True)):
        model = mechanism(range(-1, n - 1), patterns(n, ratio)[pattern], n, balls)
        q, v, tau = state(model)
        expected = accelerations(model, q, v, tau)
        for sparse in (False, True):
            found = FORMS["extended"](sh.matrices(model, q, v, sparse=sparse), tau)
            assert_close(found.qdd, expected, 1e-12, what=f"{n} bodies, sparse={sparse}")


def test_the_ratio_of_the_issue():
    """1e-12 : 1e12 in one chain."""
    model = mechanism(range(-1, 4), [1.0, 1e-12, 1e12, 1e-12, 1.0], 2)
    q, v, tau = state(model)
    assert_close(sh.Dynamics(model, "extended").forward(q, v, tau), accelerations(model, q, v, tau), 1e-12)


@pytest.mark.parametrize("ratio", [1e4, 1e9])
def test_exact_forms_agree_on_rings(ratio):
    for model in rings(ratio):
        q, v, tau = state(model)
        m = sh.matrices(model, q, v)
        rows = constraint_rows(m)
        found = {name: form(m, tau, rows) for name, form in CLOSED_FORMS.items()}
        J, gamma = rows
        qdd, lam = found["extended"]
        assert np.abs(J @ qdd + gamma).max() < 1e-12 * np.abs(J * qdd).max()
        assert_close(found["maggi"][0], qdd, 1e-15 * ratio + 1e-11)
        assert_close(found["lagrange1"][0], qdd, 1e-14 * ratio + 1e-11)
        assert_close(found["maggi"][1], lam, 1e-13 * ratio + 1e-11)


# --- expected errors ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ratio", [1e9])
def test_errors_are_expected(ratio):
    for model in [*list(trees(ratio, quick=True))[::3], *rings(ratio)]:
        for name, (off, expected) in conditioning.errors(model).items():
            assert off <= TOLERATED or expected > TOLERATED, (name, off, expected, [b.mass for b in model.bodies])


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_with_random_masses(seed):
    """Masses from 1e-6 to 1e6: no method is further from the oracle than it was expected to be, nor on other backends."""
    rng = np.random.default_rng(seed)
    n = 4 + 2 * seed
    model = mechanism([int(rng.integers(-1, i)) if i else -1 for i in range(n)], (10.0 ** rng.uniform(-6, 6, n)).tolist(), seed)
    q, v, tau = state(model, seed)
    right = FORMS["extended"](sh.matrices(model, q, v), tau).qdd
    assert_close(right, accelerations(model, q, v, tau), 1e-12)
    for name, (off, expected) in conditioning.errors(model, seed).items():
        assert off < 20.0 * expected + 1e-13, name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        d = sh.Dynamics(model, "separate", "llvm")
    assert error(d.forward(q, v, tau), right) < 20.0 * d.formulation.expected_error + 1e-13


@pytest.mark.parametrize("name", [*STARTS, "manipulator", "all_joints", "stewart"])
def test_no_sample_is_warned_of(name):
    model = STARTS[name][0]() if name in STARTS else getattr(sh.samples, name)()
    assert max(expected_errors(model).values()) < 1e-9


def test_small_parts_on_ordinary_robots_are_no_reason_to_warn():
    """A hand with fingers of a gram and 1e-9 kg m² on an arm of 100 kg: a ratio of 1e5."""
    model = mechanism(range(-1, 5), [100.0, 50.0, 10.0, 1.0, 0.01, 0.001], 4)
    assert max(expected_errors(model).values()) < 1e-9
    sh.Dynamics(model, "lagrange1")  # warnings are errors here


# --- what is done about it ----------------------------------------------------------------------------------------------------
def heavy_tip(ratio: float, balls: bool = False) -> sh.Model:
    return mechanism([-1, 0], [1.0, ratio], 1, balls)


def test_a_warning_names_the_error_and_better_methods():
    text = r"model 'links'.*'lagrange1'.*error of \de-0\d; methods that keep more digits: 'separate', 'composite'.*'extended'"
    with pytest.warns(AccuracyWarning, match=text):
        sh.Dynamics(heavy_tip(1e10), "lagrange1", "python")
    with pytest.warns(AccuracyWarning, match="'lagrange1'"):
        sh.simulate(heavy_tip(1e10), 0.01, method="lagrange1", backend="python")
    assert issubclass(AccuracyWarning, RuntimeWarning) and AccuracyWarning is sh.AccuracyWarning


def test_auto_leaves_out_what_loses_digits():
    model = heavy_tip(1e10)
    d = sh.Dynamics(model)  # no warning: those are errors here
    assert d.method != "lagrange1" and "lose digits: 'lagrange1'" in d.why
    q, v, tau = state(model)
    assert_close(d.forward(q, v, tau), accelerations(model, q, v, tau), 1e-12)


def test_auto_warns_where_every_compiled_method_loses_and_takes_the_least_bad():
    with pytest.warns(AccuracyWarning, match="more digits: 'extended'"):
        d = sh.Dynamics(heavy_tip(1e10, balls=True), backend="python")
    assert d.method == "separate" and "'composite'" in d.why


@pytest.mark.parametrize("model", [heavy_tip(1e13, balls=True), ring([1.0, 1e14, 1.0])], ids=["tree", "ring"])
def test_auto_takes_the_extended_system_where_nothing_else_is_right(model):
    d = sh.Dynamics(model)
    assert d.method == "extended" and "lose nearly all digits" in d.why
    q, v, tau = state(model)
    assert np.isfinite(d.forward(q, v, tau)).all()


def test_compare_shows_what_was_lost_and_why():
    found = sh.compare(heavy_tip(1e10), methods=["separate", "lagrange1"], backends="python", states=2, batch=2, rounds=1)
    rows = {row.method: row for row in found.rows}
    assert rows["separate"].disagreement < 1e-14 and not rows["separate"].notes
    assert rows["lagrange1"].disagreement > 1e-8 and any("more digits" in note for note in rows["lagrange1"].notes)


# --- many loops -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("method", "n"), [
    ("separate", 10), ("separate", 20), ("separate", 30), ("composite", 10), ("composite", 20),
    ("recursive", 20), ("lagrange1", 10), ("lagrange1", 20), ("maggi", 20), ("extended", 20),
])  # fmt: skip
def test_a_scissor_of_many_crosses_accelerates_as_one_body(method, n):
    """Its modes fall as n⁻⁴: one freedom, whose acceleration is known by hand. e swamps none of them."""
    m, q, v = scissor(n)
    backend = "auto" if method in ("lagrange1", "maggi", "extended") else "python"
    exact = scissor_acceleration(n, math.pi / 2)
    assert_close(np.abs(sh.Dynamics(m, method, backend).forward(q, v)), np.full(m.nv, exact), 1e-10)


@pytest.mark.parametrize(("method", "n"), [("separate", 60), ("maggi", 60)])
def test_an_uneven_scissor_loses_less_than_a_warning_speaks_of(method, n):
    """As docs/theory/conditioning.md says: warnings are errors here."""
    m, q, v = scissor(n, uneven=100.0)
    exact = scissor_acceleration(n, math.pi / 2, uneven=100.0)
    assert_close(np.abs(sh.Dynamics(m, method).forward(q, v)), np.full(m.nv, exact), 0.1 * TOLERATED)


def test_sixty_digits_of_a_scissor():
    m, q, v = scissor(4, angle=1.1)
    assert_close(accelerations(m, q, v, np.zeros(m.nv))[m.v_names.index("V0")], scissor_acceleration(4, 1.1), 1e-13)


@pytest.mark.parametrize(
    "start", [ladder(5), mast(2), mail(3), scissor(8, inertia=1e-6)], ids=["ladder", "mast", "mail", "points"]
)
@pytest.mark.parametrize("method", ["separate", "composite"])
def test_many_loops_agree_with_the_extended_system(start, method):
    m, q, v = start
    assert_close(sh.Dynamics(m, method, "python").forward(q, v), right_of(start), 1e-10)


def test_multipliers_of_a_soft_mechanism():
    m, q, v = scissor(12)
    expected = sh.Dynamics(m, "extended").multipliers(q, v)
    for method in ("separate", "composite"):
        assert_close(sh.Dynamics(m, method, "python").multipliers(q, v), expected, 1e-9)


@pytest.mark.parametrize("n", [10, 20])
def test_errors_of_soft_loops_are_expected(n):
    start = scissor(n)
    expected, right = expected_errors(start[0]), right_of(start)
    for method in ("separate", "composite"):
        assert error_of(start, method, right, "python") < 20.0 * expected[method] + 1e-13


@pytest.mark.parametrize("ratio", [1e5, 1e6])
def test_masses_that_differ_in_a_loop_cost_their_ratio_and_no_more(ratio):
    for model in rings(ratio):
        off = conditioning.errors(model)
        assert max(off[name][0] for name in ("separate", "composite", "recursive", "lagrange1")) < 1e-15 * ratio


# --- joints that move no mass -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ratio", [1e-15, 1e15])
def test_a_gram_beside_a_ship_is_mass(ratio):
    """Five hinges with all the mass at one end: joints between light links move light links, and are not refused for that."""
    model = mechanism(range(-1, 4), [1.0, 1.0, 1.0, 1.0, ratio], 5)
    q, v, tau = state(model)
    assert_close(sh.Dynamics(model, "extended").forward(q, v, tau), accelerations(model, q, v, tau), 1e-12)


def test_no_mass_beside_a_ship_is_none():
    model = mechanism([-1, 0, 1], [1.0, 1e15, 0.0], 5)
    with pytest.raises(sh.SingularError, match="joint 'joint2' moves no mass"):
        interpreted(model).forward()
    with pytest.raises(sh.SingularError, match="joint 'joint2' moves no mass"):
        FORMS["separate"](sh.matrices(model), np.zeros(3))


# --- the page -----------------------------------------------------------------------------------------------------------------
def test_the_table_of_the_theory_is_that_of_the_results():
    page, written = ((DOCS / name).read_text(encoding="utf-8") for name in ("theory/conditioning.md", "results/conditioning.md"))
    trees_of = written[: written.index("## Rings")]
    cells = {row[0].strip("` "): [x.strip() for x in row[1:]] for row in map(_cells, page.splitlines()) if len(row) == 5}
    there = {row[0]: row[1:] for row in map(_cells, trees_of.splitlines()) if len(row) == 7 and row[0] != "---"}
    columns = [there["method"].index(ratio) for ratio in cells.pop("ratio of masses")]
    compared = {name: [there[name][k] for k in columns] for name in cells if name in there}
    assert len(compared) == 4
    assert all(cells[name] == numbers for name, numbers in compared.items())


def _cells(line: str) -> list[str]:
    return [x.strip() for x in re.split(r"\|", line)[1:-1]]
