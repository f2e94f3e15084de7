"""Conclusions of a comparison in sentences: the same ones on the screen, in the picture and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.mobility import degrees_of_freedom
from ..reporting.formats import duration, error, plural

if TYPE_CHECKING:
    from .comparison import Comparison
    from .row import Spread

TIE = 1.05
"""Ratio below which two times count as equal: another run may put either first."""
MAX_TIES = 4
"""Contenders named as equally fast."""


def mechanism(c: Comparison) -> str:
    """9 bodies, 8 degrees of freedom, 1 coupled coordinate."""
    m = c.model
    parts = [plural(m["bodies"], "body", "bodies"), degrees_of_freedom(m["freedoms"])]
    if m["loops"] or m["constraints"]:
        parts[1] += " of the tree"
    further = max(0, m["constraints"] - m["loops"])
    for n, name in ((m["loops"], "closed loop"), (further, "further constraint"), (m["couplings"], "coupled coordinate")):
        parts += [plural(n, name)] if n else []
    parts += [plural(m["forces"], "force")] if m["forces"] else []
    return ", ".join(parts)


def conclusions(c: Comparison) -> list[str]:
    out = []
    best, batch = c.best, c.best_batch
    if best:
        out.append(f"Fastest for single states: {best.label}, {duration(best.time('single'))}{_ties(c, 'single')}.")
    if batch:
        size = plural(batch.batch_size, "state")
        out.append(f"Fastest in batches of {size}: {batch.label}, {duration(batch.time('batch'))} per state{_ties(c, 'batch')}.")
    out += _automatic_choice(c)
    answered = [row for row in c.rows if row.ok]
    if answered:
        out.append(
            f"{plural(len(answered), 'contender')} answered in {plural(c.settings['states'], 'random state')}; the largest "
            f"relative disagreement with the oracle ({c.oracle}) is {error(c.disagreement)}."
        )
    if c.status != "done":
        missing = sum(row.status == "not tried" for row in c.rows)
        out.append(f"This comparison is incomplete ({c.status}): {plural(missing, 'contender')} not tried.")
    return out


def _ties(c: Comparison, kind: str) -> str:
    best = c.fastest(kind)
    near = [r.label for r in c.rows if r is not best and (x := c.times_best(r, kind)) is not None and x <= TIE]
    others = " and others" if len(near) > MAX_TIES else ""
    return f" ({', '.join(near[:MAX_TIES])}{others} within {TIE - 1:.0%})" if near else ""


def _automatic_choice(c: Comparison) -> list[str]:
    if c.chosen and c.best:
        parts = [
            f"{_relative_time(c, kind, ratio)} {words}"
            for kind, words in (("single", "for single states"), ("batch", "in batches"))
            if (ratio := c.behind(kind)) is not None
        ]
        return [f"method='auto' chooses {c.chosen.label} ({c.auto['why']}): {', '.join(parts)}."]
    if c.auto.get("method"):
        return [f"method='auto' chooses {c.auto['method']} · {c.auto['backend']} ({c.auto['why']}), which was not timed here."]
    return []


def _relative_time(c: Comparison, kind: str, ratio: float) -> str:
    """Time of `auto`'s choice relative to the fastest, and whether this run can tell them apart."""
    if ratio < 1.005:
        return "the fastest"
    spread: Spread | None = getattr(c.fastest(kind), kind, None)
    time = c.chosen.time(kind) if c.chosen else None
    doubtful = spread is not None and time is not None and time <= spread.three_quarters
    return f"{ratio:.2f} times the fastest" + (" (within its spread)" if doubtful else "")


def footnotes(c: Comparison) -> list[str]:
    rows = [row for row in c.rows if row.ok]
    out = ["CPU time, one thread: the minimum over all samples; spread: where the middle half of the samples lies above it."]
    if any(row.auto for row in rows):
        out.append("*  the choice of method='auto'.")
    if any(row.gives != "q̈" for row in rows):
        out.append("(ṗ)  gives no accelerations: its time is that of velocities and momentum rates; never called best.")
    if any(row.iterates for row in rows):
        step = c.settings["step"]
        out.append(
            f"Iterative methods start from their last solution: all are timed along one motion in steps of {duration(step)}."
        )
    if any(row.backend == "loops" and row.compile_single is None for row in rows):
        out.append(
            "cached: compiled loops are the same for all models and come from the cache; cold=True (--cold) recompiles them."
        )
    smaller = [row.batch_size for row in rows if row.batch_size < c.settings["batch"]]
    if smaller:
        out.append(f"Slow methods ran smaller batches, down to {plural(min(smaller), 'state')}.")
    return out


def without_answer(c: Comparison) -> dict[str, list[tuple[str, str]]]:
    """{status: [(contenders, reason)]}, contenders with the same reason together."""
    same: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in c.rows:
        if not row.ok:
            reason = row.reason.replace(f"method {row.method!r} ", "", 1)
            same.setdefault((row.status, reason), {}).setdefault(row.method, []).append(row.backend)
    out: dict[str, list[tuple[str, str]]] = {}
    for (status, reason), found in same.items():
        by_backends: dict[str, list[str]] = {}
        for method, backends in found.items():
            by_backends.setdefault(", ".join(backends), []).append(method)
        names = "; ".join(f"{', '.join(methods)} · {backends}" for backends, methods in by_backends.items())
        out.setdefault(status, []).append((names, reason))
    return out
