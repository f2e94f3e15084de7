"""Operations of the inertia matrix and of the vector b, attributed to the kernel functions that spend them, as polynomials in N.

The kernels run on counting numbers; while one of the functions of interest runs, its name stands in the ledger. The
model's own numbers count too: [K] counts the sums of masses, which are constants of a chain.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

import sharnir as sh
from sharnir.backends.counting import Count, CountingNumber, as_count, count_compiled
from sharnir.backends.run import input_sizes, linked, run_program
from sharnir.backends.traced import trace_program
from sharnir.programs import PROGRAMS

ROWS = ("row_masses", "row_r", "row_s", "row_M1", "row_M2", "row_M3", "row_sum", "row_A")
"""Kernel functions that are rows of [K]'s Table 1."""

B_ROWS = ("row_motion", "row_body_forces", "row_force_sums", "row_b")
"""Kernel functions that make b by [K]: (3)-(5), (11), (17)-(19), (21)."""

STAGES = ("joint_stage", "poses", "to_world", "row_wrench")
"""What comes before the algorithm: the joints' own motion, and all vectors in the axes of the world. [K] (1), (2), (6), (7)"""


def general_chain(n: int, seed: int = 0, beside: bool = False) -> sh.Model:
    """n revolute joints about axes in general position: no constant that folds, no special angle. `beside`: origins of bodies
    lie beside the axes, so that joints shift them: what the recursive algorithm does for joints other than [K]'s."""
    rng = np.random.default_rng(seed)
    m = sh.Model(f"chain of {n} in general position")
    carrier = "ground"
    for i in range(1, n + 1):
        m.add_body(f"body{i}", rng.uniform(1, 2), com=rng.uniform(0.1, 0.3, 3), inertia=_random_inertia(rng))
        at = sh.Pose(rng.uniform(0.1, 0.5, 3).tolist(), sh.Rotation.quaternion(*rng.normal(size=4).tolist()))
        axis = rng.normal(size=3)
        joint, end = sh.Revolute((axis / np.linalg.norm(axis)).tolist()), sh.Pose((0.1, 0.2, 0.3) if beside else (0.0, 0.0, 0.0))
        m.add_joint(f"joint{i}", joint, carrier, f"body{i}", at=at, child_at=end)
        carrier = f"body{i}"
    return m


def _random_inertia(rng: np.random.Generator) -> np.ndarray:
    """A full matrix whose principal moments can be those of a body."""
    rotation = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return rotation @ np.diag(rng.uniform(0.4, 0.5, 3)) @ rotation.T


class Ledger:
    """A tally that charges each operation to the function that runs: the part of a Counter that CountingNumber needs."""

    def __init__(self) -> None:
        self.accounts: dict[str, Counter[str]] = {"": Counter()}
        self.open = [self.accounts[""]]

    def __getitem__(self, operation: str) -> int:
        return self.open[-1][operation]

    def __setitem__(self, operation: str, times: int) -> None:
        self.open[-1][operation] = times

    def charged(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        account = self.accounts.setdefault(name, Counter())

        def run(*args: Any) -> Any:
            self.open.append(account)
            try:
                return function(*args)
            finally:
                self.open.pop()

        return run


def relink_charged(function: Callable[..., Any], ledger: Ledger, names: Collection[str]) -> Callable[..., Any]:
    """`backends.run.relink` with the functions of those names wrapped, so that each pays for its own operations."""
    return linked(function, lambda copy: ledger.charged(copy, copy.__name__) if copy.__name__ in names else copy)


@cache
def count_parts(name: str, n: int, beside: bool = False, names: tuple[str, ...] = STAGES + ROWS + B_ROWS) -> dict[str, Count]:
    """Operations of a program, "inertia/recursive" say, on a general chain, as written, by function; what is left under "" ."""
    program, model = PROGRAMS[name], general_chain(n, beside=beside)
    ledger = Ledger()

    def numbers(x: Sequence[float]) -> np.ndarray:
        values = np.asarray(x)
        out = np.array([CountingNumber(float(v), ledger) for v in values.ravel()] + [None], dtype=object)  # type: ignore[arg-type]
        return out[:-1].reshape(values.shape)

    structure = copy.copy(model.freeze())
    structure.tree = structure.tree._replace(
        **{name: numbers(getattr(structure.tree, name)) for name in ("mass", "moment", "inertia")}
    )
    rng = np.random.default_rng(1)
    inputs = {name: list(numbers(rng.uniform(0.1, 1.0, size))) for name, size in input_sizes(program, structure).items()}
    run_program(program, structure, inputs, object, function=relink_charged(program.function, ledger, names))
    return {name: as_count(tally) for name, tally in ledger.accounts.items()}


def add(*counts: Count) -> Count:
    return sum(counts, Count())


def count_rows(name: str, n: int, beside: bool = False) -> Count:
    """The algorithm itself: the scope of Table 1, all vectors in the axes it works in."""
    return add(*(count for part, count in count_parts(name, n, beside).items() if part not in STAGES))


def count_from_joints(name: str, n: int) -> Count:
    """All that follows the joint stage, conversions to the world's axes included: what algorithms have to compete in."""
    return add(*(count for part, count in count_parts(name, n).items() if part != "joint_stage"))


def compiled(name: str, model: sh.Model) -> Count:
    """From coordinates (speeds, but no wrenches) to outputs, sines included, once constants are folded and equal parts shared."""
    unloaded = {"wrench": [0.0] * (6 * len(model.bodies) + 6)}
    return count_compiled(trace_program(PROGRAMS[name], model.freeze(), unloaded))


# --- polynomials ----------------------------------------------------------------------------------------------------------
Polynomial = tuple[Fraction, ...]
"""Coefficients, the constant first."""


def evaluate(p: Sequence[Fraction | float], n: int) -> float:
    return float(sum(c * n**k for k, c in enumerate(p)))


def fit(count: Callable[[int], int], degree: int = 3, first: int = 2, further: Sequence[int] = (7, 8, 11)) -> Polynomial:
    """The polynomial through counts at degree + 1 values of N, exactly; that it holds at further N is checked."""
    xs = range(first, first + degree + 1)
    rows = [[Fraction(x) ** k for k in range(degree + 1)] + [Fraction(count(x))] for x in xs]
    for c in range(degree + 1):  # Gauss and Jordan; a Vandermonde matrix from increasing points needs no pivots
        rows[c] = [x / rows[c][c] for x in rows[c]]
        for r in range(degree + 1):
            if r != c:
                rows[r] = [x - rows[r][c] * y for x, y in zip(rows[r], rows[c], strict=True)]
    p = tuple(row[-1] for row in rows)
    for n in further:
        if evaluate(p, n) != count(n):
            raise ValueError(f"not a polynomial of degree {degree}: {count(n)} at N = {n}, {shown(p)} gives {evaluate(p, n):g}")
    return p


def shown(p: Sequence[Fraction | float]) -> str:
    """36N² − 39N + 9"""
    powers = ("", "N", "N²", "N³")
    terms = [(float(c), powers[k]) for k, c in reversed(list(enumerate(p))) if c]
    if not terms:
        return "0"
    text = " ".join(f"{'−' if c < 0 else '+'} {'' if abs(c) == 1 and x else f'{abs(c):g}'}{x}" for c, x in terms)
    return text[2:] if text[0] == "+" else "−" + text[2:]
