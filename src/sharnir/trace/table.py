"""Functions given by points: tables of one or two arguments, interpolated, on floats, arrays and symbols.

kind       between two points                                             continuous up to the
"linear"   a straight line                                                value
"cubic"    the interpolating cubic spline with not-a-knot ends            second derivative
"monotone" a cubic that never overshoots: PCHIP (Fritsch, Butland 1984)   first derivative
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from ..errors import NOT_A_NUMBER, ModelError, SharnirError, StateError, TraceError, brief, unknown
from .functions import apply, mod, numbers_expected
from .graph import Number, Symbol
from .lookup import CellNumber, Constants, Locate
from .table_file import read_grid

KINDS = {"linear": 2, "cubic": 4, "monotone": 4}
"""Kinds, and the coefficients of a polynomial in one argument."""
OUTSIDE = ("hold", "error", "repeat")
SHOWN = 12
"""Points up to which a table is printed whole."""


class Table:
    """A function by points. `axes`: the places of its points, for each argument; `values`: an array with an axis for each."""

    def __init__(self, axes: Sequence[Any], values: Any, kind: str = "cubic", outside: str = "hold", name: str = "") -> None:
        self.name = name
        self.kind, self.outside = kind, outside
        self._check_words()
        self.axes = tuple(self._numbers(x, f"the places along argument {a + 1}") for a, x in enumerate(axes))
        self.values = self._numbers(values, "the values")
        self._check_numbers()

    # --- checks -------------------------------------------------------------------------------------------------------
    @property
    def label(self) -> str:
        """The table in the words of messages."""
        spans = " by ".join(f"{x[0]:.6g} … {x[-1]:.6g}" for x in self.axes)
        return f"table {self.name!r}" if self.name else f"table of {self.values.size} points over {spans}"

    def _fault(self, what: str) -> ModelError:
        return ModelError(f"{f'table {self.name!r}' if self.name else 'table'}: {what}")

    def _check_words(self) -> None:
        if not isinstance(self.name, str):
            raise ModelError(f"table: a name is a text, got {brief(self.name)}")
        for what, word, words in (("kind", self.kind, KINDS), ("outside", self.outside, OUTSIDE)):
            if not isinstance(word, str) or word not in words:
                raise self._fault(unknown(f"{what} {brief(word)}", word, words, "words here"))

    def _numbers(self, given: Any, what: str) -> np.ndarray:
        try:
            if np.iscomplexobj(given):
                raise TypeError("complex")
            found = np.array(given, dtype=float)
        except NOT_A_NUMBER as error:
            if isinstance(error, SharnirError):
                raise
            raise self._fault(f"{what} must be numbers, rows of equal length; got {brief(given)}") from None
        if not np.isfinite(found).all():
            raise self._fault(f"{what} must be finite, number {int(np.argmin(np.isfinite(found).ravel()))} is not")
        found.flags.writeable = False
        return found

    def _check_numbers(self) -> None:
        for a, x in enumerate(self.axes):
            what = "the places of the points" + (f" along argument {a + 1}" if len(self.axes) > 1 else "")
            if x.ndim != 1 or len(x) < 2:
                raise self._fault(f"{what} must be a list of at least two numbers, got {brief(x.tolist())}")
            back = np.flatnonzero(np.diff(x) <= 0.0)
            if back.size:
                k = int(back[0])
                raise self._fault(f"{what} must ascend, but number {k + 1}, {x[k + 1]:.9g}, follows {x[k]:.9g}")
        wanted = tuple(len(x) for x in self.axes)
        if self.values.shape != wanted:
            raise self._fault(
                f"{' by '.join(map(str, wanted))} places need as many values, got {' by '.join(map(str, self.values.shape))}"
            )
        if self.kind == "monotone" and len(self.axes) > 1:
            raise self._fault("kind 'monotone' is of one argument; of two take 'linear', which does not overshoot either")
        if self.outside == "repeat":
            for a in range(len(self.axes)):
                first, last = np.take(self.values, [0, -1], axis=a).swapaxes(0, a)
                if not np.array_equal(first, last):
                    raise self._fault(
                        "outside='repeat': the last value must be the first one again, where the next period begins"
                    )

    # --- evaluation ---------------------------------------------------------------------------------------------------
    @cached_property
    def _lookups(self) -> tuple[list[Locate], list[CellNumber], list[Any]]:
        """Lookups of the cell of each argument and of where it begins; coefficients, None where all are zero."""
        d = len(self.axes)
        locate, origin = [], []
        for a, x in enumerate(self.axes):
            which = f"argument {a + 1} of {self.label}" if d > 1 else f"the argument of {self.label}"
            ends = f"{which} must stay within {x[0]:.9g} … {x[-1]:.9g}" if self.outside == "error" else ""
            locate.append(Locate(Constants(breaks(x)[:, None]), ends))
            origin.append(CellNumber(Constants(origins(x)[:, None]), 0))
        found = cells(self.axes, self.values, self.kind, self.outside)
        rows = Constants(found.reshape(math.prod(found.shape[:d]), -1))
        columns = [CellNumber(rows, c) if rows.rows[:, c].any() else None for c in range(rows.width)]
        return locate, origin, columns

    def __call__(self, *arguments: Number) -> Number:
        if len(arguments) != len(self.axes):
            raise TraceError(f"{self.label} is a function of {len(self.axes)}, called with {len(arguments)} arguments")
        if any(isinstance(x, Symbol) or hasattr(x, "apply") for x in arguments):
            if not any(getattr(x, "ndim", 0) for x in arguments):
                return self._looked_up(arguments, apply)
        elif not any(getattr(getattr(x, "dtype", None), "hasobject", False) for x in arguments):
            return self._on_floats(arguments)
        return np.vectorize(self, otypes=[object])(*arguments)

    def _on_floats(self, arguments: Sequence[Any]) -> Any:
        with numbers_expected(self.label, arguments):
            given = [np.asarray(x, dtype=float) for x in arguments]
        if self.outside == "error":
            for locate, x, given_x in zip(self._lookups[0], self.axes, given, strict=True):
                left = given_x[(given_x < x[0]) | (given_x > x[-1])]
                if left.size:
                    raise StateError(f"{locate.ends}, got {left.flat[0]:.9g}")
        with np.errstate(all="ignore"):
            found = np.asarray(self._looked_up(given, _on_arrays))
        return found if found.ndim else float(found)

    def _looked_up(self, arguments: Sequence[Any], do: Callable[[Any, Any], Any]) -> Any:
        """The polynomial of the cell that the arguments are in; `do`: a lookup on a number."""
        locate, origin, columns = self._lookups
        cell: Any = 0.0
        s = []
        for x, axis, where, begins in zip(arguments, self.axes, locate, origin, strict=True):
            if self.outside == "repeat":
                x = mod(x - float(axis[0]), float(axis[-1] - axis[0])) + float(axis[0])
            k = do(where, x)
            cell = k if where is locate[0] else cell * float(len(axis) + 1) + k
            s.append(x - do(begins, k))
        c = [0.0 if column is None else do(column, cell) for column in columns]
        n = KINDS[self.kind]
        for x in reversed(s):  # the powers of the last argument come first
            c = [_polynomial(c[k : k + n], x) for k in range(0, len(c), n)]
        return c[0]

    # --- as a value ---------------------------------------------------------------------------------------------------
    def named(self, name: str) -> Table:
        """The same table, under another name in messages and files."""
        return self if name == self.name else Table(self.axes, self.values, self.kind, self.outside, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        own, its = ((t.kind, t.outside, *(x.tobytes() for x in (*t.axes, t.values))) for t in (self, other))
        return own == its

    def __hash__(self) -> int:
        return hash((self.kind, self.outside, self.values.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.axes, self.values, self.kind, self.outside, self.name)

    def __repr__(self) -> str:
        options = f"kind={self.kind!r}, outside={self.outside!r}" + (f", name={self.name!r}" if self.name else "")
        if self.values.size > SHOWN:
            spans = " by ".join(f"{len(x)} points {x[0]:.6g} … {x[-1]:.6g}" for x in self.axes)
            return f"<table of {spans}, {options}>"
        axes = [x.tolist() for x in self.axes]
        return f"table({axes[0] if len(axes) == 1 else tuple(axes)}, {self.values.tolist()}, {options})"


def _on_arrays(lookup: Any, x: np.ndarray) -> np.ndarray:
    rows = lookup.constants.rows
    if isinstance(lookup, CellNumber):
        found: np.ndarray = rows[np.asarray(x, dtype=np.int64), lookup.column]
        return found
    return np.asarray(np.searchsorted(rows[:, 0], x, side="right"), dtype=float)


def _polynomial(c: Sequence[Number], x: Number) -> Number:
    """Lowest power first."""
    total = c[-1]
    for one in reversed(c[:-1]):
        total = total * x + one
    return total


# --- the polynomials between the points, one for each cell of the grid, and what holds outside of it ---------------------------
def cells(axes: tuple[np.ndarray, ...], values: np.ndarray, kind: str, outside: str) -> np.ndarray:
    """Coefficients (n+1, …, k, …): for each argument an axis of cells, the first and the last outside of the grid; then for each
    an axis of powers of the distance from the cell's lower end, or, outside, from that end of the grid."""
    d = len(axes)
    found = values
    for a, x in enumerate(axes):
        found = np.moveaxis(_between(x, np.moveaxis(found, a, 0), kind, outside), (0, 1), (a, d + a))
    for a, x in enumerate(axes):
        found = _with_ends(np.moveaxis(found, (a, d + a), (0, 1)), x[-1] - x[-2], outside)
        found = np.moveaxis(found, (0, 1), (a, d + a))
    return found


def _between(x: np.ndarray, y: np.ndarray, kind: str, outside: str) -> np.ndarray:
    """(n-1, k, …) from values (n, …), lowest power first."""
    if kind == "linear":
        steps = np.diff(x).reshape(-1, *[1] * (y.ndim - 1))
        return np.stack([y[:-1], np.diff(y, axis=0) / steps], axis=1)
    from scipy.interpolate import CubicSpline, PchipInterpolator  # imported here: most models need no SciPy

    made: Any
    if kind == "monotone":
        made = PchipInterpolator(x, y)
    else:
        made = CubicSpline(x, y, bc_type="periodic" if outside == "repeat" else "not-a-knot")
    return np.moveaxis(made.c[::-1], 0, 1)


def _with_ends(inside: np.ndarray, last: float, outside: str) -> np.ndarray:
    """Two cells more: constant where values are held, not a number where the range must not be left. `last`: the last step."""
    ends = np.zeros((2, *inside.shape[1:]))
    if outside == "error":
        ends[:] = np.nan
    else:
        ends[0, 0] = inside[0, 0]
        ends[1, 0] = sum(inside[-1, k] * last**k for k in range(inside.shape[1]))
    return np.concatenate([ends[:1], inside, ends[1:]])


def origins(x: np.ndarray) -> np.ndarray:
    """(n+1,): where the polynomials of the cells are measured from."""
    return np.concatenate([x[:1], x])


def breaks(x: np.ndarray) -> np.ndarray:
    """(n,): where cells begin; the last point is part of the last one."""
    return np.concatenate([x[:-1], [np.nextafter(x[-1], np.inf)]])


def table(
    x: Any,
    y: Any = None,
    *,
    kind: str = "cubic",
    outside: str = "hold",
    columns: Sequence[str | int] | None = None,
    name: str = "",
) -> Table:
    """A function by points: `table(x, y)`, y at ascending x; `table((x, y), z)` of two arguments, z[i][j] at x[i], y[j];
    `table("curve.csv")` from a file.

    kind     "cubic"     the C² spline through the points with not-a-knot ends; between steep points it overshoots
             "monotone"  C¹ cubics that stay between neighbouring values (PCHIP); of one argument
             "linear"    straight lines
    outside  "hold"      the value at the end, with no slope
             "error"     nan, and an error that names the table and the argument
             "repeat"    the points are one period
    columns  of a file: two names or numbers (from 0) of its columns, three for a table of two arguments whose rows are the
             points of a grid in any order; the first two where left out
    name     what messages and files call it

    The result is called with floats, arrays or symbols, so that forces, drives and custom joints may use it; it is
    differentiated exactly. It can be pickled, compared, and named in formulas: formula("2*grip(x)", "x", where={"grip": t}).
    """
    if isinstance(x, (str, PathLike)):
        if y is not None:
            raise ModelError("table: a file has all columns; give their names by columns=('x', 'y')")
        axes, values = read_grid(x, columns)
        return Table(axes, values, kind, outside, name)
    if columns is not None:
        raise ModelError("table: columns are those of a file; give x and y themselves, or the path of a file")
    if y is None:
        raise ModelError("table: give the values too: table(x, y), table((x, y), z) or table('curve.csv')")
    if isinstance(x, (tuple, list)) and len(x) == 2 and all(np.iterable(part) and not isinstance(part, str) for part in x):
        return Table(x, y, kind, outside, name)
    return Table((x,), y, kind, outside, name)
