"""Double-double arithmetic: thirty digits of every operation, interpreted and compiled, bit for bit the same."""

from __future__ import annotations

import math
import random
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from test_operations import DOMAINS
from test_sincos import exact as sine_and_cosine

import sharnir as sh
from dialect_samples import Roots, find_roots
from sharnir import samples as S
from sharnir.backends.graph_function import GraphFunction
from sharnir.dialect.double_double_code import OPERATIONS as PAIRWISE
from sharnir.dialect.double_double_code import PAIRS
from sharnir.dialect.kernels import double_double as dd
from sharnir.dialect.native import Loop
from sharnir.dialect.storage import allocate
from sharnir.equations.kernels.solution import ConstrainedState, solve_weighted, weights
from sharnir.equations.motion.derivative import trace_derivative
from sharnir.kernels.constrained import EXACT
from sharnir.trace import Graph
from sharnir.trace.functions import apply
from sharnir.trace.operations import OPERATIONS

DIGITS = 1e-30
Pair = tuple[float, float]


def pair(x: Fraction) -> Pair:
    return float(x), float(x - Fraction(float(x)))


def number(x: Pair) -> Fraction:
    return Fraction(x[0]) + Fraction(x[1])


def samples(name: str, n: int = 20) -> list[list[Pair]]:
    """Pairs in the domain of an operation with something in both parts."""
    rng, (low, high) = random.Random(name), DOMAINS[name]
    return [
        [
            pair(Fraction(rng.uniform(low, high)) * (1 + Fraction(rng.uniform(-1, 1)) / 2**53))
            for _ in range(OPERATIONS[name].arity)
        ]
        for _ in range(n)
    ]


def interpreted(name: str, args: list[Pair]) -> Pair:
    if name == "select":
        return args[1] if args[0][0] else args[2]
    operation = PAIRWISE[name]
    starts = [
        math.log(abs(args[0][0])) if (name, s) == ("pow", "log") else getattr(math, s)(*(a[0] for a in args))
        for s in operation.starts
    ]
    found = operation.function(*args, *starts)
    return (float(found), 0.0) if isinstance(found, bool) else found


def compiled(name: str, rows: list[list[Pair]]) -> list[Pair]:
    graph = Graph()
    x = graph.inputs(OPERATIONS[name].arity)
    arrays = {"x": np.zeros((len(x), 2)), "y": np.zeros((1, 2))}
    native = GraphFunction.of({"x": x}, {"y": (apply(name, *x),)}).bind(arrays, pairs=True)
    out = []
    for row in rows:
        arrays["x"][:] = row
        native()
        out.append((float(arrays["y"][0, 0]), float(arrays["y"][0, 1])))
    return out


@pytest.mark.parametrize("name", OPERATIONS)
def test_compiled_code_has_the_bits_of_the_interpreter(name):
    rows = samples(name)
    assert compiled(name, rows) == [interpreted(name, row) for row in rows]


def by_decimals(name: str, args: list[Fraction]) -> Fraction:
    """To fifty digits."""
    with localcontext() as context:
        context.prec = 60
        x = [Decimal(a.numerator) / Decimal(a.denominator) for a in args]
        e = x[0].exp() if name in ("sinh", "cosh", "tanh") else Decimal(0)
        found = {
            "add": lambda: x[0] + x[1], "sub": lambda: x[0] - x[1], "mul": lambda: x[0] * x[1], "div": lambda: x[0] / x[1],
            "neg": lambda: -x[0], "abs": lambda: abs(x[0]), "sqrt": lambda: x[0].sqrt(), "exp": lambda: x[0].exp(),
            "log": lambda: x[0].ln(), "pow": lambda: (x[1] * x[0].ln()).exp(), "sinh": lambda: (e - 1 / e) / 2,
            "cosh": lambda: (e + 1 / e) / 2, "tanh": lambda: (e - 1 / e) / (e + 1 / e),
        }  # fmt: skip
        return Fraction(found[name]())


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "neg", "abs", "sqrt", "exp", "log", "pow", "sinh", "cosh", "tanh"])
def test_an_operation_has_thirty_digits(name):
    for row in samples(name):
        args = [number(x) for x in row]
        wanted, size = by_decimals(name, args), max(1, *map(abs, args)) if name in ("add", "sub") else 0
        assert abs(number(interpreted(name, row)) - wanted) <= DIGITS * max(abs(wanted), size)


def test_sine_and_cosine_have_thirty_digits():
    """Of angles that are doubles, small ones, and many turns: against integers of any length."""
    for x in (0.0, 1e-9, 0.7, -2.3, 3.141592653589793, 31.0, -1000.5, 99999.0):
        for found, wanted in zip((dd.sine((x, 0.0)), dd.cosine((x, 0.0))), sine_and_cosine(x), strict=True):
            assert abs(number(found) - wanted) <= DIGITS * max(abs(wanted), Fraction(1, 10**6))


@pytest.mark.parametrize(("there", "back"), [("asin", "sin"), ("acos", "cos"), ("atan", "tan")])
def test_an_inverse_function_leads_back(there, back):
    for (x,) in samples(there):
        again = interpreted(back, [interpreted(there, [x])])
        assert abs(number(again) - number(x)) <= 20 * DIGITS * max(1, abs(number(x)))


def test_the_angle_of_a_point_turns_it_onto_the_axis():
    for y, x in samples("atan2"):
        for p, q in ((y, x), (y, dd.neg(x)), (dd.neg(y), dd.neg(x)), (dd.neg(y), x)):
            turn = interpreted("atan2", [p, q])
            across = dd.sub(dd.mul(p, dd.cosine(turn)), dd.mul(q, dd.sine(turn)))
            along = dd.add(dd.mul(p, dd.sine(turn)), dd.mul(q, dd.cosine(turn)))
            assert abs(across[0]) < 10 * DIGITS and along[0] > 0.0


def test_what_doubles_lose_is_kept():
    """(1 + x)² − 1 − 2x = x² for x = 1e-12: nothing is left of it in doubles."""
    graph = Graph()
    x = graph.inputs(1)
    y = (1.0 + x[0]) * (1.0 + x[0]) - 1.0 - 2.0 * x[0]
    arrays = {"x": np.array([[1e-12, 0.0]]), "y": np.zeros((1, 2))}
    GraphFunction.of({"x": x}, {"y": (y,)}).bind(arrays, pairs=True)()
    assert abs(arrays["y"][0, 0] - 1e-24) < 1e-30


# --- loops ----------------------------------------------------------------------------------------------------------------------
def solve(c):
    weights(c)
    solve_weighted(c)


def test_loops_solve_equations_as_straight_line_code_does():
    """Accelerations of a closed mechanism next to a singular position, by a loop over arrays of pairs; there doubles are lost."""
    n = 3
    e = sh.Dynamics(S.n_four_bar(n)).formulation.constrained
    start = S.n_four_bar_start(n, 1e-7, -5.0)
    q, v = e.model.coordinates(start["q0"]), e.model.speeds(start["v0"])
    given = {"q": q, "v": v, "tau": np.zeros(e.model.nv), "parameter": np.zeros(0), "t": np.zeros(1), "counted": np.ones(2 * n)}
    arrays = {name: np.stack([x, 0.0 * x], axis=-1) for name, x in given.items()}
    derivative = trace_derivative(e.structure, e.method, constrained=e, exact=True, balance=False).code
    outputs = {"rate": np.zeros((e.model.nq, 2)), "qdd": np.zeros((e.model.nv, 2)), "more": np.zeros((0, 2))}
    derivative.bind(arrays | outputs, pairs=True)()
    c = allocate(ConstrainedState, e.sizes, lanes=2)
    e.function(solved=False).bind(arrays | c._asdict(), pairs=True)()
    c.share[:] = EXACT, 0.0
    Loop(solve, (ConstrainedState,), PAIRS).bind(c)()
    difference = (c.qdd[:, 0] - outputs["qdd"][:, 0]) + (c.qdd[:, 1] - outputs["qdd"][:, 1])
    size = np.abs(outputs["qdd"]).max()
    assert np.abs(difference).max() < 1e-16 * size  # 1e-30/x², x = 1e-7 the distance from the crossing
    level = 9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    assert abs(c.qdd[0, 0] + level * math.cos(1e-7)) < 1e-12


def test_a_loop_branches_on_pairs():
    """The square root by Newton's method until nothing changes, in 32 digits."""
    r = Roots(np.array([[2.0, 0.0], [1e10, 1e-9], [0.3, -1e-18]]), np.zeros((3, 2)), np.zeros(3, dtype=np.int64))
    loop = Loop(find_roots, (Roots,), PAIRS).bind(r)
    loop()
    assert loop.status == 3 and (r.steps > 3).all()
    for x, y in zip(r.x, r.y, strict=True):
        assert abs(number(tuple(y)) ** 2 / number(tuple(x)) - 1) < 1e-30
