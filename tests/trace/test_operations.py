"""The alphabet of the expression graph: each operation is Python's, with its derivative, on every kind of number."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest

import sharnir as sh
from sharnir.trace import Expression, Graph, call_traced, tangent
from sharnir.trace.functions import apply
from sharnir.trace.operations import OPERATIONS
from states import derivative

# --- every operation ----------------------------------------------------------------------------------------------------------
DOMAINS = {
    "add": (-2, 2), "sub": (-2, 2), "mul": (-2, 2), "div": (0.5, 2), "neg": (-2, 2), "sqrt": (0.5, 4), "sin": (-3, 3),
    "cos": (-3, 3), "tan": (-1, 1), "asin": (-0.8, 0.8), "acos": (-0.8, 0.8), "atan": (-3, 3), "atan2": (0.3, 2),
    "exp": (-2, 2), "log": (0.5, 4), "pow": (0.5, 2), "sinh": (-2, 2), "cosh": (-2, 2), "tanh": (-2, 2),
    "abs": (0.2, 2), "hypot": (0.3, 2), "floor": (-2.9, -2.1), "mod": (0.5, 2),
    "less": (-2, 2), "less_equal": (-2, 2), "select": (0.2, 2),
}  # fmt: skip
PLAIN = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "pow": math.pow, "abs": abs, "mod": operator.mod, "less": operator.lt, "less_equal": operator.le,
    "select": lambda c, a, b: a if c else b,
}  # fmt: skip


def samples(name, n=5):
    return np.random.default_rng(len(name)).uniform(*DOMAINS[name], size=(n, OPERATIONS[name].arity))


def recorded(name):
    graph = Graph()
    x = graph.inputs(OPERATIONS[name].arity)
    return graph, x, apply(name, *x)


def test_the_table_of_operations_is_the_one_tested():
    assert set(OPERATIONS) == set(DOMAINS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_that_of_python(name):
    graph, x, y = recorded(name)
    for point in samples(name).tolist():
        expected = float(PLAIN.get(name, getattr(math, name, None))(*point))
        assert Expression(graph, x, [y])(*point)[0] == expected
        assert apply(name, *point) == expected


@pytest.mark.parametrize("name", [name for name in OPERATIONS if not name.startswith("less")])
def test_first_and_second_derivatives_of_an_operation(name):
    graph, x, y = recorded(name)
    direction = np.random.default_rng(3).normal(size=len(x))
    if name == "select":
        direction[0] = 0.0  # the condition is no number to differentiate by
    seeds = list(zip(x, direction.tolist(), strict=True))
    first = tangent([y], seeds)
    second = tangent(first, seeds)
    e, d1, d2 = (Expression(graph, x, out) for out in ([y], first, second))

    def slope(f, point):
        return derivative(lambda s: f(*(point + s * direction))[0], 0.01)

    for point in samples(name):
        assert d1(*point)[0] == pytest.approx(slope(e, point), rel=1e-8, abs=1e-8)
        assert d2(*point)[0] == pytest.approx(slope(d1, point), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("name", ["less", "less_equal"])
def test_a_comparison_has_no_slope(name):
    _, x, y = recorded(name)
    assert tangent([y], [(x[0], 1.0)]) == (0.0,)


def test_powers_of_every_kind():
    graph = Graph()
    x, y = graph.inputs(2)
    e = Expression(graph, [x, y], [x**3, x**-2, x**0, x**0.5, x**1.7, x**y, 2.0**x, sh.power(x, 2.0), x**16, x**1])
    a, b = 1.3, 0.7
    expected = [a**3, a**-2, 1.0, math.sqrt(a), a**1.7, a**b, 2.0**a, a * a, a**16, a]
    assert e(a, b) == pytest.approx(expected, rel=1e-15)
    negative = Expression(graph, [x, y], tangent([x**3 + sh.power(x, 3.0)], [(x, 1.0)]))
    assert negative(-2.0, 0.0)[0] == pytest.approx(24.0)  # a negative base stays legal


# --- numbers of the machine -----------------------------------------------------------------------------------------------------
INF, NAN = math.inf, math.nan
IEEE = [
    ("div", (1.0, 0.0), INF), ("div", (-1.0, 0.0), -INF), ("div", (1.0, -0.0), -INF), ("div", (0.0, 0.0), NAN),
    ("div", (NAN, 0.0), NAN), ("sqrt", (-1.0,), NAN), ("log", (0.0,), -INF), ("log", (-1.0,), NAN), ("asin", (2.0,), NAN),
    ("exp", (1000.0,), INF), ("exp", (-1000.0,), 0.0), ("sin", (INF,), NAN), ("pow", (-8.0, 0.5), NAN),
    ("pow", (10.0, 400.0), INF), ("cosh", (-1000.0,), INF), ("sinh", (1000.0,), INF),
    ("sinh", (-1000.0,), -INF), ("pow", (0.0, -1.0), INF),
    ("pow", (-10.0, 401.0), -INF), ("atan2", (0.0, -1.0), math.pi), ("mul", (INF, 0.0), NAN), ("less", (NAN, 1.0), 0.0),
    ("mod", (1.0, 0.0), NAN), ("mod", (INF, 2.0), NAN), ("mod", (-1.0, 3.0), 2.0), ("mod", (1.0, -3.0), -2.0),
    ("mod", (1.0, 0.1), 1.0 % 0.1), ("floor", (-INF,), -INF), ("floor", (NAN,), NAN), ("floor", (-0.5,), -1.0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "expected"), IEEE)
def test_outside_its_domain_an_operation_gives_what_the_machine_gives(name, args, expected):
    graph, x, y = recorded(name)
    for value in (Expression(graph, x, [y])(*args)[0], OPERATIONS[name].value(*args)):
        assert value == expected or (math.isnan(expected) and math.isnan(value))


# --- NumPy ----------------------------------------------------------------------------------------------------------------
UFUNCS = [
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sqrt",
    "exp",
    "log",
    "sinh",
    "cosh",
    "tanh",
    "absolute",
    "negative",
    "square",
]


@pytest.mark.parametrize("name", UFUNCS)
def test_a_numpy_function_on_a_symbol(name):
    graph = Graph()
    x = graph.input()
    ufunc = getattr(np, name)
    assert Expression(graph, [x], [ufunc(x)])(0.4)[0] == pytest.approx(ufunc(0.4), rel=1e-15)


def test_numpy_numbers_and_arrays_with_symbols():
    graph = Graph()
    x, y = graph.inputs(2)
    vector, two = np.array([1.0, 2.0, 0.0]), np.float64(2.0)
    outputs = [
        two * x,
        x * two,
        two - x,
        x / two,
        two / x,
        np.arctan2(x, y),
        np.maximum(x, y),
        np.minimum(x, two),
        np.power(x, 3),
    ]
    outputs += [*(vector * x), *(x + vector), *np.less(x, vector), np.array([x, y]) @ np.array([3.0, 4.0])]
    a, b = 0.3, 0.9
    expected = [2 * a, 2 * a, 2 - a, a / 2, 2 / a, math.atan2(a, b), b, a, a**3]
    expected += [a, 2 * a, 0.0, a + 1, a + 2, a, 1.0, 1.0, 0.0, 3 * a + 4 * b]
    assert Expression(graph, [x, y], outputs)(a, b) == pytest.approx(expected, rel=1e-15)
    with pytest.raises(
        sh.TraceError, match=r"numpy.ceil cannot be traced; write -sharnir.floor\(-x\); those that can are absolute, add"
    ):
        np.ceil(x)


def test_the_functions_work_on_arrays_of_floats():
    x = np.linspace(0.1, 0.9, 5)
    assert sh.sin(x) == pytest.approx(np.sin(x)) and sh.atan2(x, 2.0) == pytest.approx(np.arctan2(x, 2.0))


NUMPY = {
    "sin": lambda x, y: np.sin(np.array([x, y])), "list": lambda x, y: np.sqrt([x, y]),
    "atan2": lambda x, y: np.arctan2([x, y], 2.0),
    "hypot": lambda x, y: [np.hypot(x, y)], "where": lambda x, y: [np.where(x > y, x, 2.0 * y) + 0.0],
    "clip": lambda x, y: [np.clip(x, 0.5, 1)],
    "clip array": lambda x, y: np.clip(x, np.array([0.1, 0.7]), 1.0), "degrees": lambda x, y: np.deg2rad([x, y]),
    "norm": lambda x, y: [np.linalg.norm([x, y])], "atan2 of both": lambda x, y: np.arctan2(x, np.array([1.0, 2.0])),
    "own": lambda x, y: sh.atan2(x, np.array([1.0, 2.0])), "less": lambda x, y: np.array([1.0, 0.1]) > x,
    "std": lambda x, y: [np.std([x, y])],
    "pieces": lambda x, y: [np.floor(x), np.mod(y, 0.2), np.floor_divide(y, 0.2), np.sign(x)],
    "pieces of arrays": lambda x, y: [*np.mod(np.array([x, y]), 0.2), np.fabs(x), *divmod(y, 0.2)],
}  # fmt: skip


@pytest.mark.parametrize("name", NUMPY)
def test_functions_of_numpy_mean_the_same_on_symbols(name):
    graph = Graph()
    x, y = graph.inputs(2)
    found = Expression(graph, [x, y], list(NUMPY[name](x, y)))(0.3, 0.9)
    assert found == pytest.approx(list(NUMPY[name](0.3, 0.9)), rel=1e-14)


@pytest.mark.parametrize(("use", "message"), [
    (bool, "write select"), (lambda x: max(x, 0.0), "sharnir.maximum"), (lambda x: np.maximum([x, x], 0.0), "sharnir.maximum"),
    (lambda x: 0 < x < 1, "write select"), (lambda x: x == 0.0, "whether two numbers are equal"),
    (lambda x: x in (1.0, 2.0), "equal"),
    (math.cos, "use the one of sharnir"), (lambda x: math.sin(2.0 * x) + 1.0, r"use sharnir\.sin,"),
    (lambda x: math.fabs(x), r"use sharnir\.abs,"), (lambda x: math.gamma(x), "use the one of sharnir"), (float, r"float\(\)"),
    (lambda x: np.interp(x, [0.0, 1.0], [0.0, 2.0]), r"sharnir\.table\(xp, fp, kind='linear'\)"),
    (lambda x: np.interp([x, x], [0.0, 1.0], [0.0, 2.0]), r"sharnir\.table"),
    (lambda x: x % 0, "% by the constant zero"), (lambda x: x // 0.0, "constant zero"),
    (lambda x: np.zeros(2).__setitem__(0, x), "dtype object"),
    (int, "neither rounded"), (round, "neither rounded"), (math.floor, "neither rounded"), (math.trunc, "neither rounded"),
    (range, "index or a count"), (lambda x: [1, 2][x], "index or a count"),
    (lambda x: (x > 0) & (x < 1), "select"), (lambda x: ~(x > 0), "select"), (np.round, "numpy.rint cannot be traced"),
    (np.log1p, "numpy.log1p cannot be traced"), (lambda x: np.log1p([x, x]), "numpy.log1p cannot be traced"),
    (lambda x: np.sin(x, out=np.zeros(1)), "as a plain function only"), (lambda x: x / 0, "division by the constant zero"),
    (lambda x: x + Graph().input(), "two different traces"),
])  # fmt: skip
def test_what_a_symbol_cannot_do_is_said(use, message):
    with pytest.raises(sh.TraceError, match=message):
        use(Graph().input())


@pytest.mark.parametrize("use", [
    lambda x: x + "one", lambda x: x < None, lambda x: x ** "two", lambda x: x[0], list, len, lambda x: x.T,
    lambda x: np.linalg.solve(np.eye(2), [x, x]), lambda x: np.heaviside([x, x], 0.0), lambda x: f"{x:.3f}",
])  # fmt: skip
def test_what_others_say_of_a_symbol_is_explained(use):
    with pytest.raises(sh.TraceError, match=r"force 'mine' cannot be traced(?s:.)*It was given a symbol"):
        call_traced(use, [Graph().input()], "force 'mine'")
