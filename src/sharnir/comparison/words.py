"""Numbers and sentences: the same ones on the screen, in the picture and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .comparison import Comparison
    from .row import Row, Spread

TIE_RATIO = 1.05
"""Times that differ by less are not told apart on a busy machine."""
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def duration(seconds: float | None) -> str:
    """Three figures and the unit that suits: 1.23 µs."""
    if seconds is None:
        return "–"
    size, unit = next(((s, u) for s, u in _UNITS if seconds >= 0.9995 * s), _UNITS[-1])
    return f"{figures(seconds / size)} {unit}"


def figures(x: float) -> str:
    return f"{x:.3g}" if abs(x) < 999.5 else f"{x:.0f}"


def spread(s: Spread | None) -> str:
    """How far the middle half of the turns lies above the quickest: +2 … 9 %."""
    if s is None or s.turns < 2:
        return "–"
    low, high = (100.0 * (x / s.least - 1.0) for x in (s.quarter, s.three_quarters))
    return f"+{low:.0f}…{high:.0f} %"


def memory(size: int | None) -> str:
    if size is None:
        return "–"
    for unit, scale in (("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{figures(size / scale)} {unit}"
    return f"{size} B"


def number(n: int | None) -> str:
    """12 345 with a thin space."""
    return "–" if n is None else f"{n:,}".replace(",", "\u202f")


def total(row: Row, kind: str) -> int | None:
    count = getattr(row, kind)
    return None if count is None else count.total


def small(x: float | None) -> str:
    return "–" if x is None else "0" if x == 0.0 else f"{x:.1e}".replace("e-0", "e-")


def plural(n: int, one: str, many: str | None = None) -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def mechanism(c: Comparison) -> str:
    """9 bodies, 8 freedoms, 1 coupling."""
    m = c.model
    parts = [plural(m["bodies"], "body", "bodies"), plural(m["freedoms"], "freedom")]
    if m["loops"] or m["constraints"]:
        parts[1] += " of the tree"
        others = m["constraints"] - m["loops"]
        parts += [plural(m["loops"], "closed loop")] if m["loops"] else []
        parts += [plural(others, "further constraint")] if others > 0 else []
    parts += [plural(m["couplings"], "coupled coordinate")] if m["couplings"] else []
    parts += [plural(m["forces"], "force")] if m["forces"] else []
    return ", ".join(parts)


def _rivals(c: Comparison, kind: str) -> str:
    """Who comes so near that another run may put them first."""
    best = c.fastest(kind)
    near = [r.label for r in c.rows if r is not best and (x := c.times_best(r, kind)) is not None and x <= TIE_RATIO]
    return f" ({', '.join(near[:4])}{' and others' if len(near) > 4 else ''} within {TIE_RATIO - 1:.0%} of it)" if near else ""


def _distance(c: Comparison, kind: str, ratio: float) -> str:
    """How far `auto` is from the quickest, and whether this run can tell."""
    if ratio < 1.005:
        return "the quickest"
    best, chosen = c.fastest(kind), c.chosen
    of_best: Spread | None = getattr(best, kind, None)
    mine = chosen.time(kind) if chosen else None
    doubtful = of_best is not None and mine is not None and mine <= of_best.three_quarters
    return f"{ratio:.2f} times the quickest" + (" (within its spread)" if doubtful else "")


def verdicts(c: Comparison) -> list[str]:
    """What came out of it, a sentence each."""
    out = []
    best, batch, chosen = c.best, c.best_batch, c.chosen
    if best:
        out.append(f"One state at a time, the quickest is {best.label}: {duration(best.time('single'))}{_rivals(c, 'single')}.")
    if batch:
        size = plural(batch.batch_size, "state")
        out.append(
            f"In batches of {size}, the quickest is {batch.label}: {duration(batch.time('batch'))} a state{_rivals(c, 'batch')}."
        )
    if chosen and best:
        parts = []
        for kind, words in (("single", "one state"), ("batch", "a batch")):
            ratio = c.behind(kind)
            if ratio is not None:
                parts.append(f"{_distance(c, kind, ratio)} for {words}")
        out.append(f"method='auto' takes {chosen.label} ({c.auto['why']}): {', '.join(parts)}.")
    elif c.auto.get("method"):
        out.append(f"method='auto' takes {c.auto['method']} · {c.auto['backend']} ({c.auto['why']}); it was not timed here.")
    answered = [row for row in c.rows if row.ok]
    if answered:
        out.append(
            f"{plural(len(answered), 'contender')} gave an answer in {plural(c.settings['states'], 'random state')}; the largest "
            f"relative disagreement with the oracle ({c.oracle}) is {small(c.disagreement)}."
        )
    if c.status != "done":
        left = sum(row.status == "not tried" for row in c.rows)
        out.append(f"This comparison is not complete ({c.status}): {plural(left, 'contender')} not tried.")
    return out
