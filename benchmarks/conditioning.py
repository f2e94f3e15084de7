"""What every method loses where masses differ much: its accelerations against sixty digits, and the errors that were expected.

The models are chains, trees and rings whose masses differ by a given ratio, and mechanisms of many loops.
docs/theory/conditioning.md says why digits are lost.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np

import sharnir as sh
from sharnir.choice.choose import TOLERATED
from sharnir.errors import AccuracyWarning
from sharnir.programs.methods import METHODS
from sharnir.reporting.table import Table

from . import many_loops
from .harness import results
from .precise import accelerations

RATIOS = (1.0, 1e3, 1e6, 1e9, 1e12, 1e15)
ON_TREES = [method for method in METHODS.values() if not method.in_momenta]
ON_RINGS = [method for method in METHODS.values() if method.constrains]


def mechanism(carriers: Sequence[int], masses: Sequence[float], seed: int, balls: bool = False) -> sh.Model:
    """Links of 0.3 m on the links before them (−1: on the ground), with hinges about random body axes, or ball joints."""
    rng = np.random.default_rng(seed)
    m = sh.Model("links")
    for i, (k, mass) in enumerate(zip(carriers, masses, strict=True)):
        inertia = [mass * x for x in (0.002, 0.008, 0.0085)]
        m.add_body(f"link{i}", mass=mass, com=(0.15, 0.02, 0.01), inertia=inertia)
        joint: sh.Joint = sh.Ball() if balls else sh.Revolute("xyz"[rng.integers(3)])
        carrier, at = ("ground", sh.Pose()) if k < 0 else (f"link{k}", sh.Pose((0.3, 0.0, 0.0)))
        m.add_joint(f"joint{i}", joint, carrier, f"link{i}", at=at)
    return m


def ring(masses: Sequence[float]) -> sh.Model:
    """Links of 1 m in a plane, hinged to one another, first and last to the ground; axes of the last hinge at an angle."""
    m, before = sh.Model("ring"), "ground"
    for i, mass in enumerate(masses):
        m.add_body(f"link{i}", mass=mass, com=(0.5, 0.05, 0.0), inertia=[mass * x for x in (0.01, 0.08, 0.085)])
        m.add_joint(f"joint{i}", sh.Revolute("z"), before, f"link{i}", at=sh.Pose((1.0, 0.0, 0.0)) if i else sh.Pose())
        before = f"link{i}"
    turn = sh.Rotation.about("z", 0.7)
    m.add_joint("last", sh.Revolute("z"), before, "ground", sh.Pose((1.0, 0.0, 0.0), turn), sh.Pose((1.3, 0.2, 0.0), turn))
    return m


def patterns(n: int, ratio: float, seed: int = 1) -> dict[str, list[float]]:
    """Masses of n bodies that differ by a ratio."""
    random = (ratio ** np.random.default_rng(seed).uniform(0.0, 1.0, n)).tolist()
    return {
        "heavy tip": [1.0] * (n - 1) + [ratio],
        "heavy root": [ratio] + [1.0] * (n - 1),
        "alternating": [ratio if i % 2 else 1.0 for i in range(n)],
        "random": random,
    }


def trees(ratio: float, quick: bool) -> Iterator[sh.Model]:
    """Chains of 2, 5 and 10 links, and a bush, with masses in every pattern."""
    for n in (2, 5) if quick else (2, 5, 10):
        for masses in patterns(n, ratio).values():
            for balls in (False, True):
                yield mechanism(range(-1, n - 1), masses, n, balls)
    yield mechanism([(i - 1) // 2 for i in range(7)], patterns(7, ratio)["random"], 7)


def rings(ratio: float) -> Iterator[sh.Model]:
    for n in (3, 5):
        for masses in patterns(n, ratio).values():
            yield ring(masses)


def state(model: sh.Model, seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random coordinates and speeds that meet the constraints, no joint forces."""
    rng = np.random.default_rng(seed)
    q, v = model.random_q(rng), rng.normal(size=model.nv)
    if model.constraints:
        q, v = model.assemble(q, v)
    return q, v, np.zeros(model.nv)


def right(model: sh.Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Of a tree by sixty digits; of a ring by the extended system, whose rows are floats but which is solved with a hundred."""
    return sh.Dynamics(model, "extended").forward(q, v, tau) if model.constraints else accelerations(model, q, v, tau)


def errors(model: sh.Model, seed: int = 3) -> dict[str, tuple[float, float]]:
    """By method: the error in one state, relative to the largest acceleration, and the error that was expected."""
    q, v, tau = state(model, seed)
    expected = right(model, q, v, tau)
    out = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        for method in ON_RINGS if model.constraints else ON_TREES:
            d = sh.Dynamics(model, method.name, "python" if "python" in method.backends else "auto")
            off = np.abs(_forward(d, q, v, tau) - expected).max() / np.abs(expected).max()
            out[method.name] = (float(min(off, 1.0)) if np.isfinite(off) else 1.0, d.formulation.expected_error)
    return out


def _forward(d: sh.Dynamics, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    try:
        return d.forward(q, v, tau)
    except sh.SingularError:  # nothing is left of a number: all digits are lost
        return np.full(len(v), np.nan)


def worst(models: Sequence[sh.Model]) -> tuple[dict[str, float], list[int]]:
    """The largest error of each method; how many errors above TOLERATED were expected, how many not, and how many were expected
    that stayed below."""
    found: dict[str, float] = {}
    hits, missed, pessimistic = 0, 0, 0
    for model in models:
        for name, (off, expected) in errors(model).items():
            found[name] = max(found.get(name, 0.0), off)
            hits += off > TOLERATED and expected > TOLERATED
            missed += off > TOLERATED and expected <= TOLERATED
            pessimistic += off <= TOLERATED and expected > TOLERATED
    return found, [hits, missed, pessimistic]


def table(models_of: dict[float, list[sh.Model]]) -> tuple[list[list[str]], list[int]]:
    columns, counts = [], np.zeros(3, dtype=int)
    for models in models_of.values():
        found, tally = worst(models)
        columns.append(found)
        counts += tally
    rows = [["method", *(f"{ratio:.0e}" if ratio > 1.0 else "1" for ratio in models_of)]]
    rows += [[name, *(f"{column[name]:.0e}" for column in columns)] for name in columns[0]]
    return rows, counts.tolist()


def main(quick: bool = False) -> None:
    ratios = RATIOS[::2] if quick else RATIOS
    parts = {
        "Chains and trees, against 60 digits": {ratio: list(trees(ratio, quick)) for ratio in ratios},
        "Rings, against the extended system": {ratio: list(rings(ratio)) for ratio in ratios},
    }
    page = [
        "# Masses that differ much",
        "",
        "Written by `python -m benchmarks conditioning`. The largest error of accelerations over several models, relative to the "
        "largest acceleration; columns: the largest ratio of two masses. [Why digits are lost](../theory/conditioning.md).",
    ]
    for title, models in parts.items():
        rows, (hits, missed, pessimistic) = table(models)
        print(f"{title}\n{Table.of_text(rows).plain(ruled=True)}\n")
        page += ["", f"## {title}", "", Table.of_text(rows).markdown(), ""]
        page += [
            f"Of the errors above {TOLERATED:g}, {hits} were expected and {missed} were not; {pessimistic} more were expected, "
            "and were smaller in the state that was tried."
        ]
        print(page[-1], end="\n\n")
    table_of_loops = Table.of_text([many_loops.HEAD, *many_loops.rows(quick)])
    print(f"{(title := 'Mechanisms of many loops, against the extended system')}\n{table_of_loops.plain(ruled=True)}\n")
    page += ["", f"## {title}", "", many_loops.NOTE, "", table_of_loops.markdown()]
    if not quick:
        (results() / "conditioning.md").write_text("\n".join(page) + "\n", encoding="utf-8")
