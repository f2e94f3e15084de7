"""Values of inputs as files give them: one, a list, a range, a distribution; runs as the rows of a CSV file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import FormatError, StateError, unknown
from ...io.native.document import scalar
from ...io.native.faults import at, each
from ...io.native.reading import constants, read_element
from ...model.element import Element, described, element, element_field
from ...model.values import Fault, Flag, Name, Scalar, Vector, Whole
from ...trace.table_file import read_cells


# --- distributions by name, as files give them: each is what `study` takes from scipy.stats
class Family(NamedTuple):
    numbers: tuple[str, ...]
    """Names of its numbers, in their order."""
    needs: str
    """Condition on the numbers, in words."""
    holds: Callable[..., bool]
    make: Callable[..., Any]
    """Makes the distribution from scipy.stats and the numbers."""


FAMILIES: dict[str, Family] = {
    "uniform": Family(("low", "high"), "low < high", lambda a, b: a < b, lambda s, a, b: s.uniform(a, b - a)),
    "loguniform": Family(("low", "high"), "0 < low < high", lambda a, b: 0 < a < b, lambda s, a, b: s.loguniform(a, b)),
    "normal": Family(("mean", "deviation"), "deviation > 0", lambda m, d: d > 0, lambda s, m, d: s.norm(m, d)),
    "lognormal": Family(
        ("median", "deviation of the logarithm"), "both > 0", lambda m, d: m > 0 and d > 0, lambda s, m, d: s.lognorm(d, scale=m)
    ),
    "triangular": Family(
        ("low", "mode", "high"), "low <= mode <= high and low < high", lambda a, m, b: a <= m <= b and a < b,
        lambda s, a, m, b: s.triang((m - a) / (b - a), a, b - a),
    ),
    "weibull": Family(("scale", "shape"), "both > 0", lambda c, k: c > 0 and k > 0, lambda s, c, k: s.weibull_min(k, scale=c)),
}  # fmt: skip


class Truncated:
    """A distribution restricted to values between two bounds."""

    def __init__(self, whole: Any, low: float, high: float) -> None:
        self._whole, self._low, self._high = whole, low, high
        self._below, upto = float(whole.cdf(low)), float(whole.cdf(high))
        self._share = upto - self._below
        if not self._share > 0.0:
            raise StateError(f"nothing of the distribution lies between {low:g} and {high:g}")

    def ppf(self, u: np.ndarray) -> np.ndarray:
        return np.clip(self._whole.ppf(self._below + self._share * u), self._low, self._high)


def distribution(name: str, numbers: Sequence[float]) -> Any:
    from scipy import stats  # takes longer to import than a file to read

    family = FAMILIES[name]
    if len(numbers) != len(family.numbers) or not family.holds(*numbers):
        shown = ", ".join(f"{x:g}" for x in numbers)
        raise StateError(f"expected [{', '.join(family.numbers)}] with {family.needs}, got [{shown}]")
    return family.make(stats, *numbers)


# --- values of inputs
MOST_POINTS = 10_000_000
"""Most points of a range; more are a mistake."""
WITHIN = "within"


@element()
class RangeEntry(Element):
    """Values at equal distances."""

    first: float = element_field(Scalar(), key="from", meaning="the first value")
    last: float = element_field(Scalar(), key="to", meaning="the last value")
    points: int = element_field(Whole(2, MOST_POINTS), meaning="how many values")
    log: bool = element_field(Flag(), default=False, meaning="whether ratios are equal, not distances")

    def values(self) -> list[float]:
        if self.log and not self.first * self.last > 0.0:
            raise Fault("with `log: true` both ends have one sign, and neither is zero")
        space = np.geomspace if self.log else np.linspace
        found: list[float] = space(self.first, self.last, self.points).tolist()
        return found


def read_runs(path: Path) -> tuple[list[int], list[Mapping[str, Any]]]:
    """Lines and runs of a CSV file whose first line names the inputs."""
    (top, head), *body = read_cells(path)
    for k, name in enumerate(head):
        if not name or isinstance(scalar(name), (int, float)) or name in head[:k]:
            what = f"is given twice: {name!r}" if name in head[:k] else f"expected the name of an input, got {name!r}"
            raise FormatError(f"{path}:{top}: column {k + 1} of the heading: {what}")
    if not body:
        raise FormatError(f"{path}:{top}: no runs below the heading")
    for line, cells in body:
        if len(cells) != len(head) or not all(cells):
            raise FormatError(f"{path}:{line}: expected {len(head)} values, one for every column of the heading; got {cells}")
    return [line for line, _ in body], [dict(zip(head, map(scalar, cells), strict=True)) for _, cells in body]


def one_value(value: Any, is_word: bool) -> Any:
    return Name().check(value) if is_word else Scalar().check(constants(value))


def all_values(value: Any, is_word: bool, drawn: bool) -> Any:
    """Values of one input in all runs: a value, a list, a range; or a distribution, if runs are `drawn`."""
    if isinstance(value, list):
        if not value:
            raise Fault("the list has no values")
        return list(each(enumerate(value), lambda x: one_value(x, is_word)).values())
    if not isinstance(value, Mapping) or is_word:
        return [one_value(value, is_word)]
    if named := [key for key in value if key in FAMILIES]:
        return _distribution(value, named, drawn)
    ranges = [one.key for one in described(RangeEntry)]
    for key in value:
        if key not in ranges:
            raise Fault(unknown("field", key, (*ranges, *FAMILIES, WITHIN), "fields here"), key)
    return read_element(RangeEntry, value).values()


def _distribution(value: Mapping[str, Any], named: Sequence[str], drawn: bool) -> Any:
    name = named[0]
    for key in value:
        if key not in (name, WITHIN):
            raise Fault(f"beside {name!r} only {WITHIN!r} is known: [low, high] between which values are drawn", key)
    if not drawn:
        raise Fault("this is a distribution; say how many runs are drawn from it: `runs: 1000`", name)
    with at(name):
        numbers = Vector().check(constants(value[name]))
        found = distribution(name, numbers)
    if WITHIN in value:
        with at(WITHIN):
            found = Truncated(found, *Vector(2).check(constants(value[WITHIN])))
    return found
