"""Operations, counted: what the papers' tables are made of, written down so that no change goes unseen.

After a change of a kernel that is meant, `python tests/kernels/test_counts.py` prints the tables anew.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import sharnir as sh
from sharnir.backends.counting import Count, CountingNumber, count_as_written, count_compiled
from sharnir.backends.run import input_sizes, run_program
from sharnir.backends.traced import trace_program
from sharnir.programs import PROGRAMS
from sharnir.trace import Expression, Symbol, needed
from sharnir.trace.functions import apply
from sharnir.trace.operations import OPERATIONS

MODELS = {"chain": lambda: sh.samples.chain(7), "manipulator": sh.samples.manipulator}
STRAIGHT = [name for name, program in PROGRAMS.items() if not program.loops_only]

# (multiplications, additions, divisions, functions): as written, once compiled
GOLDEN = {
    ("chain", "separate", "forward"): ((3030, 2576, 7, 14), (948, 729, 6, 12)),
    ("chain", "composite", "forward"): ((2568, 2188, 7, 14), (706, 563, 6, 12)),
    ("chain", "composite", "inertia"): ((1393, 1100, 0, 14), (212, 185, 0, 12)),
    ("chain", "direct", "forward"): ((2994, 2528, 7, 14), (1115, 904, 7, 12)),
    ("chain", "direct", "inertia"): ((1819, 1440, 0, 14), (612, 519, 0, 12)),
    ("chain", "recursive", "forward"): ((2380, 3443, 7, 14), (1377, 1656, 7, 14)),
    ("chain", "recursive", "inertia"): ((1609, 2643, 0, 14), (846, 1150, 0, 14)),
    ("chain", "kosynka", "forward"): ((3834, 3632, 7, 14), (1629, 1294, 7, 14)),
    ("chain", "kosynka", "inertia"): ((2659, 2544, 0, 14), (1126, 908, 0, 14)),
    ("chain", "stepanenko", "forward"): ((3162, 2668, 7, 14), (988, 788, 6, 12)),
    ("chain", "stepanenko", "inertia"): ((1987, 1580, 0, 14), (494, 410, 0, 12)),
    ("chain", "lagrange1", "forward"): ((10634, 9129, 86, 28), (2885, 2251, 60, 12)),
    ("chain", "separate", "inverse"): ((1216, 1037, 0, 14), (391, 297, 0, 12)),
    ("chain", "separate", "bias"): ((1188, 1037, 0, 14), (377, 281, 0, 12)),
    ("chain", "separate", "bias/recursive"): ((1456, 1223, 0, 14), (714, 580, 0, 14)),
    ("chain", "separate", "energy"): ((814, 608, 0, 14), (203, 128, 0, 12)),
    ("chain", "separate", "poses"): ((370, 234, 0, 14), (79, 42, 0, 14)),
    ("chain", "separate", "momentum-rates"): ((1450, 1243, 0, 14), (286, 235, 0, 12)),
    ("manipulator", "separate", "forward"): ((3647, 3027, 7, 14), (814, 600, 6, 12)),
    ("manipulator", "composite", "forward"): ((3197, 2638, 7, 14), (575, 436, 6, 12)),
    ("manipulator", "composite", "inertia"): ((1978, 1544, 0, 14), (162, 129, 0, 12)),
    ("manipulator", "direct", "forward"): ((3623, 2978, 7, 14), (851, 637, 7, 12)),
    ("manipulator", "direct", "inertia"): ((2404, 1884, 0, 14), (416, 323, 0, 12)),
    ("manipulator", "recursive", "forward"): ((2986, 3896, 7, 14), (1320, 1564, 7, 14)),
    ("manipulator", "recursive", "inertia"): ((2215, 3096, 0, 14), (790, 1077, 0, 14)),
    ("manipulator", "kosynka", "forward"): ((4484, 4091, 7, 14), (1383, 1060, 7, 14)),
    ("manipulator", "kosynka", "inertia"): ((3265, 2997, 0, 14), (948, 745, 0, 14)),
    ("manipulator", "stepanenko", "forward"): ((3791, 3118, 7, 14), (777, 572, 6, 12)),
    ("manipulator", "stepanenko", "inertia"): ((2572, 2024, 0, 14), (364, 265, 0, 12)),
    ("manipulator", "lagrange1", "forward"): ((11303, 9599, 86, 28), (2226, 1650, 57, 12)),
    ("manipulator", "separate", "inverse"): ((1825, 1487, 0, 14), (322, 222, 0, 12)),
    ("manipulator", "separate", "bias"): ((1817, 1487, 0, 14), (309, 210, 0, 12)),
    ("manipulator", "separate", "bias/recursive"): ((2062, 1676, 0, 14), (636, 505, 0, 14)),
    ("manipulator", "separate", "energy"): ((1432, 1065, 0, 14), (133, 74, 0, 12)),
    ("manipulator", "separate", "poses"): ((976, 687, 0, 14), (77, 41, 0, 14)),
    ("manipulator", "separate", "momentum-rates"): ((2278, 1880, 0, 14), (167, 124, 0, 12)),
}


def count(model: sh.Model, method: str, what: str, compiled: bool) -> tuple[int, int, int, int]:
    c = sh.Dynamics(model, method, backend="python").count(what, compiled=compiled)
    return c.multiplications, c.additions, c.divisions, c.functions


def total(n: int, method: str, what: str, compiled: bool) -> int:
    return sum(count(sh.samples.chain(n), method, what, compiled))


def values_for(name: str, model: sh.Model, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    values: dict[str, Any] = {key: rng.uniform(0.1, 1.0, n) for key, n in input_sizes(PROGRAMS[name], model.freeze()).items()}
    return values | {"q": model.random_q(rng)}


# --- golden numbers -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("model", "method", "what"), GOLDEN)
def test_the_operations_are_those_written_down(model, method, what):
    written, compiled = GOLDEN[model, method, what]
    assert count(MODELS[model](), method, what, False) == written
    assert count(MODELS[model](), method, what, True) == compiled


@pytest.mark.parametrize(("model", "method", "what"), GOLDEN)
def test_compiled_code_does_less_than_is_written(model, method, what):
    written, compiled = GOLDEN[model, method, what]
    assert all(c <= w for c, w in zip(compiled, written, strict=True)) and sum(compiled) < 0.55 * sum(written)


@pytest.mark.parametrize("name", STRAIGHT)
def test_no_program_is_longer_once_compiled(name):
    model = sh.samples.tree(5, seed=2)
    compiled = count_compiled(trace_program(PROGRAMS[name], model.freeze()))
    written, _ = count_as_written(PROGRAMS[name], model.freeze(), values_for(name, model))
    assert compiled.total <= written.total


# --- laws of growth -------------------------------------------------------------------------------------------------------------
LAWS = {
    ("separate", "forward"): 1, ("lagrange1", "forward"): 1, ("separate", "inverse"): 1, ("separate", "energy"): 1,
    ("composite", "inertia"): 2, ("stepanenko", "inertia"): 2, ("recursive", "inertia"): 2, ("recursive", "bias/recursive"): 1,
    ("direct", "inertia"): 3, ("kosynka", "inertia"): 3, ("composite", "forward"): 3, ("direct", "forward"): 3,
}  # fmt: skip
START = 6
"""Links of a chain from which on each new one is like the last: ends are simpler once compiled."""


def differences(numbers: list[int], order: int) -> list[int]:
    for _ in range(order):
        numbers = [b - a for a, b in pairwise(numbers)]
    return numbers


@pytest.mark.parametrize("compiled", [False, True], ids=["written", "compiled"])
@pytest.mark.parametrize(("method", "what"), LAWS)
def test_the_cost_of_a_chain_is_a_polynomial_of_its_length(method, what, compiled):
    """Of the degree the method is known for, to the last operation."""
    degree = LAWS[method, what]
    costs = [total(n, method, what, compiled) for n in range(START, START + degree + 3)]
    assert differences(costs, degree + 1) == [0] * 2
    assert differences(costs, degree)[0] > 0


def test_the_cost_of_a_star_is_that_of_its_bodies():
    """Bodies on the ground do not see each other: an inertia matrix of blocks, by every method."""
    one, two, three = (star(n) for n in (1, 2, 3))
    for method in ("separate", "composite", "recursive"):
        a, b, c = (sum(count(m, method, "forward", True)) for m in (one, two, three))
        assert c - b == b - a


def star(n: int) -> sh.Model:
    m = sh.Model("star")
    for i in range(n):
        m.add_body(f"body{i}", mass=1.0 + i, com=(0.1, 0.2, 0.3), inertia=(0.5 + i, 0.6, 0.7 + i))
        m.add_joint(f"joint{i}", sh.Universal("x", "y"), "ground", f"body{i}", at=sh.Pose((1.0 + i, 2.0, 3.0)))
    return m


def test_wrenches_cost_only_where_they_are_given():
    """Asked without wrenches, compiled code does not even add their zeros; given, they cost an addition each and no more."""
    model = sh.samples.chain(4)
    without = sh.Dynamics(model, "separate").count(compiled=True)
    extra = count_compiled(trace_program(PROGRAMS["forward/separate"], model.freeze())) - without
    assert 0 < extra.additions <= 6 * 4 + 4 and extra.divisions == extra.functions == 0


# --- counting -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", PROGRAMS)
def test_counting_numbers_give_the_numbers_they_count_on(name):
    model = sh.samples.all_joints(2) if "multipliers" not in name else sh.samples.tree(4, seed=1)
    values, s = values_for(name, model), model.freeze()
    found, out = count_as_written(PROGRAMS[name], s, values)
    plain = run_program(PROGRAMS[name], s, values)
    assert found.total > 0
    for a, b in zip(out, plain, strict=True):
        numbers = np.array([getattr(x, "value", x) for x in a.ravel()], dtype=float).reshape(b.shape)
        assert np.array_equal(numbers, b, equal_nan=True)


@pytest.mark.parametrize("name", ["forward/separate", "forward/composite", "inverse", "forward/lagrange1"])
def test_the_compiled_count_is_the_number_of_nodes_and_they_give_the_numbers(name):
    model = sh.samples.tree(4, seed=3)
    s = model.freeze()
    traced = trace_program(PROGRAMS[name], s)
    outputs = [x for group in traced.outputs.values() for x in group]
    kinds = Counter(traced.graph.nodes[k][0] for k in needed(traced.graph, [x for x in outputs if isinstance(x, Symbol)]))
    free = ("input", "const", "neg", "less", "less_equal", "select", "abs")
    assert count_compiled(traced).total == sum(n for kind, n in kinds.items() if kind not in free)
    values = values_for(name, model)
    inputs = [x for group in traced.inputs.values() for x in group]
    found = Expression(traced.graph, inputs, outputs)(*(x for key in traced.inputs for x in values[key]))
    wanted = np.concatenate([x.ravel() for x in run_program(PROGRAMS[name], s, values)])
    assert np.allclose(found, wanted, rtol=1e-10, atol=1e-10 * np.abs(wanted).max())


def test_the_count_does_not_depend_on_the_state():
    model = sh.samples.all_joints(4)
    for name in ("forward/separate", "forward/recursive", "inverse"):
        counts = {count_as_written(PROGRAMS[name], model.freeze(), values_for(name, model, seed))[0] for seed in range(3)}
        assert len(counts) == 1


@pytest.mark.parametrize("n", [1, 4])
def test_every_division_and_every_root_of_the_written_algorithm_counts(n):
    """One division for each axis in separate bodies, two roots for each in Householder's basis, whatever the model's data."""
    model = sh.samples.chain(n)
    assert sh.Dynamics(model, "separate").count().divisions == n
    assert sh.Dynamics(model, "separate").count().functions == 2 * n
    assert sh.Dynamics(model, "lagrange1").count().functions == 2 * n + 2 * n


def test_operations_are_put_into_their_columns():
    tally: Counter[str] = Counter()
    x, y = CountingNumber(2.0, tally), CountingNumber(3.0, tally)
    results = [x + y, 1.0 + x, x - y, 1.0 - x, x * y, 2.0 * x, x / y, 1.0 / x, -x, abs(x)]
    assert [r.value for r in results] == [5.0, 3.0, -1.0, -1.0, 6.0, 4.0, 2.0 / 3.0, 0.5, -2.0, 2.0]
    assert x < y and x <= 2.0 and y > x and x == 2.0 and not x == y  # noqa: SIM201 (it is __eq__ that is tried)
    assert tally == {"add": 2, "sub": 2, "mul": 2, "div": 2, "neg": 1, "abs": 1}
    assert Count(2, 4, 2, 0).total == 8 and Count(3, 3, 3, 3) - Count(1, 2, 0, 3) == Count(2, 1, 3, 0)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_counts_as_one(name):
    tally: Counter[str] = Counter()
    args = [CountingNumber(x, tally) for x in (0.3, 0.5, 0.7)[: OPERATIONS[name].arity]]
    y = apply(name, *args)
    wanted = OPERATIONS[name].value(*(x.value for x in args))
    assert getattr(y, "value", y) == wanted
    if name not in ("select", "less", "less_equal"):  # a choice is made, not counted
        assert tally == {name: 1}


def test_what_cannot_be_counted_is_said():
    model = sh.samples.chain(2)
    with pytest.raises(sh.MethodError, match="nothing to count for 'lunch' by 'separate'; try 'forward', 'inverse'"):
        sh.Dynamics(model, "separate").count("lunch")
    with pytest.raises(sh.MethodError, match="nothing to count for 'forward' by 'extended'"):
        sh.Dynamics(model, "extended").count()
    with pytest.raises(sh.MethodError, match="never compiled to straight-line code"):
        sh.Dynamics(model, "inverse-iterative", backend="python").count(compiled=True)
    assert sh.Dynamics(model, "inverse-iterative", backend="python").count().total > 0
    assert sh.Dynamics(model, "separate").count("solve/composite").total > 0


if __name__ == "__main__":
    for model in MODELS:
        for method in ("separate", "composite", "direct", "recursive", "kosynka", "stepanenko", "lagrange1"):
            for what in ("forward", *(["inertia"] if method not in ("separate", "lagrange1") else [])):
                found = tuple(count(MODELS[model](), method, what, compiled) for compiled in (False, True))
                print(f"    {(model, method, what)}: {found},".replace("'", '"'))
        for what in ("inverse", "bias", "bias/recursive", "energy", "poses", "momentum-rates"):
            found = tuple(count(MODELS[model](), "separate", what, compiled) for compiled in (False, True))
            print(f"    {(model, 'separate', what)}: {found},".replace("'", '"'))
