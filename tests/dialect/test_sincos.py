"""The operations LLVM is given are those of the table, sine and cosine to two units in the last place."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from runs import evaluate, recorded
from sharnir.dialect.sincos import LIMIT
from sharnir.trace import Graph
from sharnir.trace.functions import apply
from sharnir.trace.operations import OPERATIONS

LANES = [1, 9]
"""Rows at a time: one, and enough for vectors of every width."""


# --- sine and cosine to any number of digits, on integers -----------------------------------------------------------------------
@cache
def half_pi(bits: int) -> int:
    """π/2 · 2^bits, by Machin's formula."""
    one = 1 << (bits + 32)

    def arctan(n: int) -> int:
        total = term = one // n
        k = 1
        while term:
            term //= -(n * n)
            k += 2
            total += term // k
        return total

    return (8 * arctan(5) - 2 * arctan(239)) >> 32


def exact(x: float) -> tuple[Fraction, Fraction]:
    """Sine and cosine of a double, to some hundred digits more than it has."""
    bits = 500 if abs(x) > 1e-30 else 2500
    p, q = x.as_integer_ratio()
    X, H = (p << bits) // q, half_pi(bits)
    k = (2 * X + H) // (2 * H)
    r = X - k * H
    z = (r * r) >> bits
    sine, cosine, term, n = 0, 0, 1 << bits, 0
    while term:
        cosine += term
        odd = (term * r >> bits) // (n + 1)
        sine += odd
        term = -(term * z >> bits) // ((n + 1) * (n + 2))
        n += 2
    sine, cosine = ((sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine))[k % 4]
    return Fraction(sine, 1 << bits), Fraction(cosine, 1 << bits)


def test_the_reference_is_sine_and_cosine():
    for x in (0.5, -2.0, 1e5, 1e-20, 22.0):
        assert [float(y) for y in exact(x)] == pytest.approx([math.sin(x), math.cos(x)], rel=3e-16)
    sine, cosine = exact(12345.678)
    assert abs(sine * sine + cosine * cosine - 1) < Fraction(1, 1 << 400)


def ulps(found: float, wanted: Fraction) -> float:
    """The error in units of the last place of the true value."""
    return float(abs(Fraction(found) - wanted) / Fraction(math.ulp(float(wanted))))


@cache
def sines():
    graph = Graph()
    x = graph.input()
    return recorded(graph, [x], [apply("sin", x), apply("cos", x)])


def worst(x: np.ndarray, rows: int) -> float:
    found = evaluate_in(sines(), x[:, None], rows)
    return max(ulps(y, w) for a, ys in zip(x.tolist(), found.tolist(), strict=True) for y, w in zip(ys, exact(a), strict=True))


def evaluate_in(runner, x, rows):
    """All rows at once, or one by one."""
    return evaluate(runner, x) if rows > 1 else np.concatenate([evaluate(runner, a[None]) for a in x])


def near_multiples() -> np.ndarray:
    """Doubles next to k·π/2: every small k, random ones, and those where the double is closest to the multiple."""
    H, bits = half_pi(500), 500
    last = int(LIMIT / (math.pi / 2)) - 1

    def distance(k: int) -> Fraction:
        p, q = float(Fraction(k * H, 1 << bits)).as_integer_ratio()
        return abs(Fraction(p, q) - Fraction(k * H, 1 << bits)) / k

    closest = sorted(range(1, last), key=distance)[:100]
    some = np.random.default_rng(1).integers(1, last, 200).tolist()
    out = []
    for k in [*range(1, 100), *some, *closest]:
        x = float(Fraction(k * H, 1 << bits))
        out += [x, -x, math.nextafter(x, 0.0), math.nextafter(x, math.inf), math.nextafter(-x, 0.0)]
    return np.array(out)


def between_quadrants() -> np.ndarray:
    """Odd multiples of π/4, where the reduced angle is largest."""
    k = np.concatenate([np.arange(-99, 100, 2), 2 * np.random.default_rng(2).integers(0, 60_000, 200) + 1])
    x = k * (math.pi / 4)
    return np.concatenate([x, np.nextafter(x, 0.0), np.nextafter(x, np.inf)])


ANGLES = {
    "of a turn": lambda rng: rng.uniform(-math.pi, math.pi, 2000),
    "of many turns": lambda rng: rng.uniform(-LIMIT, LIMIT, 2000),
    "of every size": lambda rng: rng.choice([-1, 1], 2000) * 10.0 ** rng.uniform(-20, 5, 2000),
    "next to multiples of a quarter turn": lambda rng: near_multiples(),
    "between them": lambda rng: between_quadrants(),
    "tiny": lambda rng: np.array([5e-324, 1e-310, 2.3e-308, 1e-300, 1e-160, 1e-100, -1e-30, 1e-17, 1e-9, -1e-8, 1e-5]),
    "at the limit": lambda rng: np.array([LIMIT, -LIMIT, math.nextafter(LIMIT, 0.0), math.nextafter(LIMIT, math.inf)]),
}


@pytest.mark.parametrize("rows", LANES)
@pytest.mark.parametrize("which", ANGLES)
def test_sine_and_cosine_of_angles(which, rows):
    assert worst(ANGLES[which](np.random.default_rng(0)), rows) < 2.0


@pytest.mark.parametrize("rows", LANES)
def test_beyond_the_limit_sine_and_cosine_are_those_of_the_c_library(rows):
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.choice([-1, 1], 500) * 10.0 ** rng.uniform(5.01, 300, 500), [1e22, 2.0**1023, -1.7e308]])
    found = evaluate_in(sines(), x[:, None], rows)
    for a, (s, c) in zip(x.tolist(), found.tolist(), strict=True):
        assert abs(s - math.sin(a)) <= math.ulp(math.sin(a)) and abs(c - math.cos(a)) <= math.ulp(math.cos(a))


@pytest.mark.parametrize("rows", LANES)
def test_sine_and_cosine_of_what_is_no_angle(rows):
    x = np.array([math.nan, math.inf, -math.inf, 0.5, 1e9, 0.5, math.nan, 3.0, 0.5])[:, None]
    found = evaluate_in(sines(), x, rows)
    bad = ~np.isfinite(x[:, 0])
    assert np.isnan(found[bad]).all()
    wanted = np.column_stack([np.sin(x[~bad, 0]), np.cos(x[~bad, 0])])
    assert found[~bad] == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize("rows", LANES)
def test_the_sine_of_zero_is_zero_and_odd(rows):
    found = evaluate_in(sines(), np.array([[0.0], [-0.0]] * 5), rows)
    assert (found[:, 0] == 0.0).all() and (found[:, 1] == 1.0).all()
    assert not np.signbit(found[::2, 0]).any()
    x = np.random.default_rng(5).uniform(0, 100, 50)[:, None]
    plus, minus = evaluate_in(sines(), x, rows), evaluate_in(sines(), -x, rows)
    assert np.array_equal(plus[:, 0], -minus[:, 0]) and np.array_equal(plus[:, 1], minus[:, 1])


@pytest.mark.parametrize("rows", LANES)
def test_sines_of_anything_are_sines(rows):
    """Of an input, of one times a constant, of an expression, of another sine; alone or shared."""
    graph = Graph()
    x, y = graph.inputs(2)
    outputs = [apply("sin", x), apply("cos", 2.0 * x), apply("sin", x * y + 1.0), apply("cos", apply("sin", y)), apply("cos", x)]
    q = np.random.default_rng(4).normal(size=(9, 2))
    a, b = q.T
    wanted = np.column_stack([np.sin(a), np.cos(2 * a), np.sin(a * b + 1), np.cos(np.sin(b)), np.cos(a)])
    assert evaluate_in(recorded(graph, [x, y], outputs), q, rows) == pytest.approx(wanted, rel=1e-14)


# --- every other operation ------------------------------------------------------------------------------------------------------
NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-300, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan, 710.0, -745.5]
EXACT = {"add", "sub", "mul", "div", "neg", "sqrt", "abs", "less", "less_equal", "select"}


def arguments(arity: int) -> np.ndarray:
    """Ordinary and extreme numbers, all of them with all of them."""
    rng = np.random.default_rng(arity)
    extreme = np.array(np.meshgrid(*[NUMBERS if arity < 3 else NUMBERS[::2]] * arity)).reshape(arity, -1).T
    return np.concatenate([rng.uniform(-2, 2, size=(60, arity)), rng.uniform(0, 1, size=(60, arity)), extreme])


@pytest.mark.parametrize("rows", LANES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_of_llvm_is_that_of_the_table(name, rows):
    """Bit by bit where IEEE says so (the sign of a zero aside), to a rounding where it is the C library's."""
    operation = OPERATIONS[name]
    graph = Graph()
    x = graph.inputs(operation.arity)
    runner = recorded(graph, x, [graph.record(name, *x)])
    points = arguments(operation.arity)
    for args, found in zip(points.tolist(), evaluate_in(runner, points, rows)[:, 0].tolist(), strict=True):
        wanted = operation.value(*args)
        if math.isnan(wanted):
            assert math.isnan(found), args
        elif name in EXACT or math.isinf(wanted):
            assert found == wanted, args
        else:
            assert abs(found - wanted) <= 2 * math.ulp(wanted), args


@pytest.mark.parametrize("rows", LANES)
def test_a_condition_is_a_number_too(rows):
    graph = Graph()
    x, y = graph.inputs(2)
    less, at_most = x < y, x <= y
    sum_of_both = less + at_most
    outputs = [less, at_most, 2.5 * less, sum_of_both, apply("select", less, x, y), apply("select", sum_of_both, x, y),
               apply("select", x, 1.0, -1.0), apply("select", less, at_most, 7.0), apply("sin", less)]  # fmt: skip
    q = np.array([(a, b) for a in (-1.0, 0.0, 2.0, math.nan) for b in (-1.0, 0.0, 3.0)])
    a, b = q.T
    L, E = (a < b) * 1.0, (a <= b) * 1.0
    wanted = [L, E, 2.5 * L, L + E, np.where(L, a, b), np.where(L + E, a, b), np.where(a != 0, 1.0, -1.0), np.where(L, E, 7.0)]
    wanted = np.column_stack([*wanted, np.sin(L)])
    assert np.array_equal(evaluate_in(recorded(graph, [x, y], outputs), q, rows), wanted, equal_nan=True)


@pytest.mark.parametrize("rows", LANES)
def test_outputs_that_are_constants_inputs_or_the_same_twice(rows):
    graph = Graph()
    x, y = graph.inputs(2)
    outputs = [1.5, x, y, x, x + y, x + y, -0.0, math.inf]
    q = np.random.default_rng(0).normal(size=(9, 2))
    a, b = q.T
    wanted = np.column_stack([np.full(9, 1.5), a, b, a, a + b, a + b, np.full(9, -0.0), np.full(9, math.inf)])
    assert np.array_equal(evaluate_in(recorded(graph, [x, y], outputs), q, rows), wanted)


@pytest.mark.parametrize("n_in", [1, 3, 4, 5, 8, 9])
@pytest.mark.parametrize("n_out", [1, 3, 4, 5, 8])
def test_rows_of_every_width_are_read_and_written_in_their_places(n_in, n_out):
    graph = Graph()
    x = graph.inputs(n_in)
    runner = recorded(graph, x, [x[k % n_in] * 2.0 for k in range(n_out)])
    for n in (1, 4, 5, 11, 40):
        q = np.arange(n * n_in, dtype=float).reshape(n, n_in)
        assert np.array_equal(evaluate(runner, q), 2.0 * q[:, np.arange(n_out) % n_in])
