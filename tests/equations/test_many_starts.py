"""Starts of many closed motions at once: those of `assemble_start`, and no start depends on the others."""

from __future__ import annotations

import re

import numpy as np
import pytest

import sharnir as sh
from sharnir.equations.assembly import start
from sharnir.equations.assembly.many_starts import assembled_starts
from sharnir.equations.assembly.start import Asked, assemble_start
from sharnir.equations.rows.constraint_table import table_of
from states import assert_close

MODELS = {
    "four_bar": lambda: sh.samples.four_bar(0.5, 1.0, 1.0, 1.2),
    "andrews": sh.samples.andrews,
    "bricard": sh.samples.bricard,  # redundant rows
    "stewart": sh.samples.stewart,  # quaternions
    "car_axis": sh.samples.car_axis,  # driven in time
    "bicycle": sh.samples.bicycle,  # nonholonomic
    "quarter_car": sh.samples.quarter_car,  # parameters
    "flexible_slider_crank": sh.samples.flexible_slider_crank,
}


@pytest.fixture
def alone(monkeypatch) -> list[np.ndarray]:
    """Positions that were searched for one by one."""
    seen = []
    search = start.closed_start
    monkeypatch.setattr(
        "sharnir.equations.assembly.many_starts.closed_start", lambda *given: seen.append(given[2]) or search(*given)
    )
    return seen


def values(m: sh.Model, n: int) -> np.ndarray:
    return np.tile(np.array(list(m.structure.parameters.values())), (n, 1))


def check(
    m: sh.Model, q: np.ndarray, v: np.ndarray, asked: Asked, parameters: np.ndarray | None = None, tolerance: float = 1e-11
) -> np.ndarray:
    """Which were found; all that `assemble_start` finds, and as it finds them."""
    table, p = table_of(m), values(m, len(q)) if parameters is None else parameters

    def given(x: np.ndarray, k: int, names: list[str], named) -> object:
        return x[k] if named is None else {name: x[k, names.index(name)] for name in named}

    found_q, found_v, refused = assembled_starts(m, q, v, 0.1, table, p, asked)
    for k in range(len(q)):
        asked_for = given(q, k, m.q_names, asked.coordinates), given(v, k, m.v_names, asked.speeds)
        if k in refused:
            with pytest.raises(type(refused[k]), match=re.escape(str(refused[k]))):
                assemble_start(m, *asked_for, 0.1, table, p[k], asked.fixed)
        else:
            one = assemble_start(m, *asked_for, 0.1, table, p[k], asked.fixed)
            assert_close(found_q[k], one.q, tolerance)
            assert_close(found_v[k], one.v, 10.0 * tolerance * (1.0 + np.abs(one.v).max()))
    return np.array([k not in refused for k in range(len(q))])


@pytest.mark.parametrize("name", MODELS)
def test_guesses_lead_where_each_of_them_leads_alone(name, alone):
    m, rng, n = MODELS[name](), np.random.default_rng(0), 12
    closed = m.assemble(t=0.1)[0]
    q = np.array([m.integrate(closed, 0.1 * rng.normal(size=m.nv)) for _ in range(n)])
    tolerance = 1e-6 if name == "bricard" else 1e-11  # off its closed positions rounding decides which rows are redundant
    assert check(m, q, rng.normal(size=(n, m.nv)), Asked(fixed=[]), tolerance=tolerance).all()
    assert len(alone) < (3 if name not in ("bricard", "flexible_slider_crank") else n)


def test_what_is_named_is_held_and_both_branches_are_tried(alone):
    m, n = sh.samples.four_bar(1.0, 0.6, 1.0, 1.2), 12
    q, v = np.zeros((n, m.nq)), np.zeros((n, m.nv))
    q[:, 0], v[:, 0] = np.linspace(-3.0, 3.0, n), np.linspace(-1.0, 1.0, n)
    found = check(m, q, v, Asked(["A"], ["A"]))
    assert 3 < found.sum() < n  # the others are out of reach
    assert len(alone) < n // 4 + (~found).sum()
    there = assembled_starts(m, q, v, 0.1, table_of(m), values(m, n), Asked(["A"], ["A"]))
    assert (there[0][found, 0] == q[found, 0]).all() and (there[1][found, 0] == v[found, 0]).all()


def test_whole_positions_stay_or_are_refused():
    m = MODELS["andrews"]()
    closed = m.assemble(t=0.1)[0]
    q = np.array([closed, np.round(closed, 8), closed + 0.01, np.full(m.nq, np.nan)])
    v = np.zeros((4, m.nv))
    refused = assembled_starts(m, q, v, 0.1, table_of(m), values(m, 4), Asked()).refused
    assert [*refused] == [2, 3]
    assert "does not close the loops" in str(refused[2]) and "is nan" in str(refused[3])
    v[1:] = 1.0
    refused = assembled_starts(m, q[:2], v[:2], 0.1, table_of(m), values(m, 2), Asked()).refused
    assert [*refused] == [1] and "v0 does not meet the constraints" in str(refused[1])


def test_positions_of_free_joints_are_held_with_their_speeds():
    m = sh.Model("box on a rod")
    m.add_body("box", 1.0, (0, 0, 0), (0.1, 0.1, 0.1))
    m.add_floating("box")
    m.add_constraint(sh.Distance("ground", "box", at_a=(0, 0, 2.0), at_b=(0.2, 0.1, 0.3), length=1.5), "rod")
    q, v = np.tile(m.coordinates(None), (3, 1)), np.random.default_rng(4).normal(size=(3, m.nv))
    assert check(m, q, v, Asked(fixed=["box float.x", "box float.y"])).all()
    q[1, 3] = 0.0
    refused = assembled_starts(m, q, v, 0.1, table_of(m), values(m, 3), Asked(fixed=[])).refused
    assert [*refused] == [1] and "quaternion" in str(refused[1])


def test_the_first_of_many_wrong_rows_is_enough_for_a_rollout(alone):
    m = sh.samples.four_bar(1.0, 0.6, 1.0, 1.2)
    q = np.zeros((50, m.nq))
    q[:, 0] = np.linspace(3.0, 2.0, 50)
    q[0] = m.assemble({"A": 0.9}, fixed=["A"])[0]
    with pytest.raises(sh.AssemblyError, match=r"row 1: .*'A' can be between"):
        sh.rollout(m, q, duration=0.1, step=0.01, fixed=["A"])
    assert len(alone) == 1


def test_a_start_that_is_absurd_is_refused():
    m = sh.samples.slider_crank()
    with pytest.raises(sh.AssemblyError, match="cannot be assembled"), np.errstate(all="ignore"):
        sh.simulate(m, 0.1, q0={"slide": 1e200})


def test_parameters_differ_from_start_to_start():
    m = sh.samples.four_bar(0.5, 1.0, 1.0, 1.2)
    m = m.copy()
    m.make_parameter("B.at.x")
    n, rng = 10, np.random.default_rng(1)
    q, v = np.zeros((n, m.nq)), np.zeros((n, m.nv))
    q[:, 0] = 0.7
    assert check(m, q, v, Asked(["A"], ["A"]), rng.uniform(0.4, 0.6, (n, 1))).all()


@pytest.mark.parametrize("name", ["andrews", "stewart", "bricard"])
def test_a_start_does_not_depend_on_the_others(name):
    """In another order, in another company, alone: to the last bit."""
    m, rng, n = MODELS[name](), np.random.default_rng(2), 21
    closed = m.assemble(t=0.1)[0]
    q = np.array([m.integrate(closed, 0.2 * rng.normal(size=m.nv)) for _ in range(n)])
    v, table, p = rng.normal(size=(n, m.nv)), table_of(m), values(m, n)
    every = assembled_starts(m, q, v, 0.1, table, p, Asked(fixed=[]))
    for order in (rng.permutation(n), np.arange(5), np.array([7])):
        again = assembled_starts(m, q[order], v[order], 0.1, table, p[order], Asked(fixed=[]))
        assert (again.q == every.q[order]).all() and (again.v == every.v[order]).all()


def test_a_study_of_starts_assembles_them_together(alone):
    m = MODELS["four_bar"]()
    before = len(alone)
    ds = sh.study(m, {"q0.A": np.linspace(0.3, 1.0, 16)}, {"duration": 0.01}, {"C": "initial of C"}, progress=False)
    assert (ds["status"] == "done").all() and len(alone) == before
    for k in (0, 9, 15):
        one = sh.simulate(m, 0.01, q0={"A": float(ds["q0.A"][k])}, progress=False)
        assert float(ds["C"][k]) == pytest.approx(one.coordinate("C")[0], abs=1e-12)


def test_starts_of_a_study_that_cannot_be_assembled_are_rows_with_their_reason(alone):
    """Which takes long to find: each is searched for once."""
    m = sh.samples.four_bar(1.0, 0.6, 1.0, 1.2)
    angles = np.linspace(-2.5, 2.5, 12)
    ds = sh.study(m, {"q0.A": angles}, {"duration": 0.01}, {"C": "final of C"}, progress=False)
    refused = ds["status"].values == "refused"
    assert 0 < refused.sum() < 12
    assert all("'A' can be between" in words for words in ds["message"].values[refused])
    tried_first = angles[[0, 6, 11]]
    searched = [float(q[0]) for q in alone]
    assert {searched.count(x) for x in angles[refused] if x not in tried_first} == {1}


def test_rows_of_many_states_are_those_of_each():
    m, rng = MODELS["quarter_car"](), np.random.default_rng(3)
    table = table_of(m)
    q, v, p = rng.normal(size=(11, m.nq)), rng.normal(size=(11, m.nv)), values(m, 11) * rng.uniform(0.9, 1.1, (11, 4))
    found = table.evaluate(q, v, np.linspace(0.0, 1.0, 11), p)
    for k in range(11):
        for name, x in table.evaluate(q[k], v[k], 0.1 * k, p[k]).items():
            assert_close(found[name][k], x, 1e-12)
