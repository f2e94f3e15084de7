"""Expression graphs: a function recorded on symbols is the function, its tangent is its derivative, nothing is kept twice."""

from __future__ import annotations

import math
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharnir as sh
from sharnir.trace import Expression, Graph, Symbol, needed, tangent
from sharnir.trace.operations import OPERATIONS
from states import derivative

INPUTS = 3


# --- random expressions -----------------------------------------------------------------------------------------------------
RING = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "neg": operator.neg}
SMOOTH = RING | {
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "atan": math.atan,
    "over": lambda a, b: a / (1.5 + math.sin(b)),
    "root": lambda a: math.sqrt(1.0 + a * a),
    "least": lambda a, b: a if a < b else b,
}
ARITY = {"neg": 1, "sin": 1, "cos": 1, "tanh": 1, "atan": 1, "root": 1}
ON_SYMBOLS = SMOOTH | {
    "sin": sh.sin,
    "cos": sh.cos,
    "tanh": sh.tanh,
    "atan": sh.atan,
    "over": lambda a, b: a / (1.5 + sh.sin(b)),
    "root": lambda a: sh.sqrt(1.0 + a * a),
    "least": sh.minimum,
}


def expressions(table, constants):
    """Nested tuples: ("x", i), ("c", value) or (name, part, …)."""
    leaves = st.tuples(st.just("x"), st.integers(0, INPUTS - 1)) | st.tuples(st.just("c"), constants)
    names = st.sampled_from(sorted(table))
    return st.recursive(
        leaves, lambda part: names.flatmap(lambda name: st.tuples(st.just(name), *[part] * ARITY.get(name, 2))), max_leaves=24
    )


def evaluate(tree, x, table):
    kind, *rest = tree
    if kind == "x":
        return x[rest[0]]
    return rest[0] if kind == "c" else table[kind](*(evaluate(part, x, table) for part in rest))


def traced(tree):
    graph = Graph()
    x = graph.inputs(INPUTS)
    return Expression(graph, x, [evaluate(tree, x, ON_SYMBOLS)])


WHOLE = st.integers(-4, 4).map(float)
REAL = st.floats(-2.0, 2.0).map(lambda x: round(x, 3))


@given(expressions(RING, WHOLE), st.tuples(WHOLE, WHOLE, WHOLE))
def test_an_expression_in_whole_numbers_is_exact(tree, x):
    expected = evaluate(tree, x, RING)
    if abs(expected) < 2**53:
        assert traced(tree)(*x)[0] == expected


@given(expressions(SMOOTH, REAL), st.tuples(REAL, REAL, REAL))
def test_an_expression_on_floats_is_plain_python_on_floats(tree, x):
    expected = evaluate(tree, x, SMOOTH)
    assert abs(traced(tree)(*x)[0] - expected) <= 1e-11 * scale(tree, x) ** 2


def scale(tree, x):
    """The largest value of any node."""
    e = traced(tree)
    return max([1.0, *map(abs, Expression(e.graph, e.inputs, [Symbol(e.graph, i) for i in e.program])(*x))])


@given(expressions(SMOOTH, REAL))
def test_an_expression_on_symbols_of_another_graph_is_the_same_graph(tree):
    first = traced(tree)
    graph = Graph()
    x = graph.inputs(INPUTS)
    second = Expression(graph, x, first(*x))
    assert structure(second) == structure(first)
    assert len(second.program) == len(first.program)


def structure(e):
    """The graph from its output down, free of numbering."""

    def key(index):
        name, *args = e.graph.nodes[index]
        if name in ("input", "const"):
            return name, args[0]
        parts = [key(a) for a in args]
        return (name, *(sorted(parts, key=repr) if OPERATIONS[name].commutative else parts))

    return [key(y.index) if isinstance(y, Symbol) else y for y in e.outputs]


@given(expressions(set(SMOOTH) - {"least"}, REAL), st.tuples(REAL, REAL, REAL), st.tuples(REAL, REAL, REAL))
def test_the_tangent_is_the_directional_derivative(tree, x, direction):
    e = traced(tree)
    rate = Expression(e.graph, e.inputs, tangent(e.outputs, list(zip(e.inputs, direction, strict=True))))(*x)[0]
    expected = derivative(lambda s: e(*(a + s * d for a, d in zip(x, direction, strict=True)))[0], 1e-3)
    assert abs(rate - expected) <= 1e-7 * max(scale(tree, x), abs(rate)) ** 2


# --- what the graph leaves out ------------------------------------------------------------------------------------------------
def size(*outputs):
    """Operations that the outputs need."""
    symbols = [y for y in outputs if isinstance(y, Symbol)]
    graph = symbols[0].graph
    return sum(graph.nodes[i][0] not in ("input", "const") for i in needed(graph, symbols))


def test_constants_fold_and_zeros_and_ones_disappear():
    x, y = Graph().inputs(2)
    for same in (x + 0, 0 + x, x - 0, x * 1, 1 * x, x / 1, +x, 0.0 - (-x), x**1, -1.0 * (-x)):
        assert isinstance(same, Symbol) and same.index == x.index
    for nothing in (x * 0, 0.0 * x, x - x, 0.0 / x):
        assert isinstance(nothing, float) and nothing == 0.0
    assert x / x == 1.0 and x**0 == 1.0
    assert size(2.0 * (3.0 * x)) == 1 and (2.0 * (3.0 * x)).index == (6.0 * x).index
    assert size(-(2.0 * x)) == 1 and (-(2.0 * x)).index == (-2.0 * x).index
    assert size(x * -1.0) == 1 and (x * -1).index == (-x).index
    assert (x + (-y)).index == (x - y).index and ((-y) + x).index == (x - y).index
    assert isinstance(sh.sin(0.5), float) and isinstance(sh.select(True, 1.0, 2.0), float)


def test_equal_parts_are_recorded_once():
    x, y = Graph().inputs(2)
    assert (x + y).index == (y + x).index and (x * y).index == (y * x).index
    assert size(x + y, y + x, sh.sin(x + y), sh.sin(y + x)) == 2
    assert size(x - y, y - x) == 2  # the second is the first with the other sign
    assert size(sh.sin(x), sh.sin(-x)) == 2 and sh.cos(-x).index == sh.cos(x).index
    assert (x - y).index != (y - x).index and (x / y).index != (y / x).index
    assert size((-x) * y, x * (-y), x * y) == 2
    assert sh.select(x < y, x, x).index == x.index


def test_only_what_the_outputs_need_is_run():
    graph = Graph()
    x, y = graph.inputs(2)
    sh.exp(x * y)
    e = Expression(graph, [x, y], [x + y, 2.0])
    assert [graph.nodes[i][0] for i in e.program] == ["input", "input", "add"]
    assert e(1.0, 2.0) == (3.0, 2.0)
    with pytest.raises(TypeError, match="expression of 2 inputs called with 1"):
        e(1.0)


def test_tangents_of_constants_are_zero_and_cost_nothing():
    graph = Graph()
    x, y = graph.inputs(2)
    before = len(graph.nodes)
    assert tangent([1.0, y, sh.sin(y)], [(x, 1.0)]) == (0.0, 0.0, 0.0)
    assert len(graph.nodes) == before + 1  # sin(y) itself
