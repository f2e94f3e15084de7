"""Numbers as text: the same format on the screen, in pictures, pages and benchmarks."""

from __future__ import annotations

MISSING = "–"
"""Text of a table where there is no number."""
_DURATIONS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_SIZES = ((1e6, "MB"), (1e3, "kB"))


def figures(x: float) -> str:
    """Three significant figures, no exponent for large numbers."""
    return f"{x:.3g}" if abs(x) < 999.5 else f"{x:.0f}"


def duration(seconds: float | None) -> str:
    """Three figures in the unit that suits: 1.23 µs."""
    if seconds is None:
        return MISSING
    scale, unit = next(((s, u) for s, u in _DURATIONS if seconds >= 0.9995 * s), _DURATIONS[-1])
    return f"{figures(seconds / scale)} {unit}"


def memory(size: int | None) -> str:
    """1.5 kB."""
    if size is None:
        return MISSING
    return next((f"{figures(size / scale)} {unit}" for scale, unit in _SIZES if size >= scale), f"{size} B")


def count(n: int | None) -> str:
    """12 345, with a narrow no-break space."""
    return MISSING if n is None else f"{n:,}".replace(",", "\u202f")


def error(x: float | None) -> str:
    """Two figures and an exponent: 3.1e-12."""
    return MISSING if x is None else "0" if x == 0.0 else f"{x:.1e}".replace("e-0", "e-")


def plural(n: int, one: str, many: str | None = None) -> str:
    """1 body, 2 bodies."""
    return f"{n} {one if n == 1 else many or one + 's'}"
