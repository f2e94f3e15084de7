"""Points of a table from a file of columns: CSV, with or without a line of names; errors name file, line and column."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FormatError, brief, unknown

DELIMITERS = ",;\t"


def read_grid(path: str | PathLike[str], columns: Sequence[str | int] | None = None) -> tuple[list[np.ndarray], np.ndarray]:
    """Places along each argument, and values. Two columns: points of a curve, in their order. Three: points of a grid."""
    names, lines, rows = _read(Path(path), columns)
    if rows.shape[1] == 2:
        back = np.flatnonzero(np.diff(rows[:, 0]) <= 0.0)
        if back.size:
            k = int(back[0]) + 1
            raise FormatError(
                f"{path}:{lines[k]}: column {names[0]!r} must ascend, but {rows[k, 0]:.9g} follows {rows[k - 1, 0]:.9g}"
            )
        return [rows[:, 0]], rows[:, 1]
    axes = [np.unique(rows[:, a]) for a in range(2)]
    at = tuple(np.searchsorted(x, rows[:, a]) for a, x in enumerate(axes))
    values = np.full([len(x) for x in axes], np.nan)
    for k, place in enumerate(zip(*at, strict=True)):
        if not np.isnan(values[place]):
            raise FormatError(f"{path}:{lines[k]}: the point {tuple(rows[k, :2].tolist())} is given twice")
        values[place] = rows[k, 2]
    missing = np.argwhere(np.isnan(values))
    if len(missing):
        i, j = missing[0]
        raise FormatError(
            f"{path}:{lines[-1]}: the points must be a full grid of {len(axes[0])} by {len(axes[1])}, but there is none at "
            f"{names[0]} = {axes[0][i]:.9g}, {names[1]} = {axes[1][j]:.9g}"
        )
    return axes, values


def _read(path: Path, columns: Sequence[str | int] | None) -> tuple[list[str], list[int], np.ndarray]:
    """Names of the columns asked for, the line of each row, the numbers."""
    split = read_cells(path)
    head = split[0][1]
    named = all(_number(cell) is None for cell in head)
    names = head if named else [f"column {c}" for c in range(len(head))]
    places = _places(path, split[0][0], names if named else [], len(head), columns)
    if not named:  # a row of numbers, whichever columns are asked for: it must not be taken for one that is half a heading
        for c in range(len(head)):
            _value(path, split[0][0], head, c, names[c], "; a line of names has no numbers")
    rows = [[_value(path, k, row, c, names[c]) for c in places] for k, row in split[named:]]
    if len(rows) < 2:
        raise FormatError(
            f"{path}:{split[-1][0]}: the file of a table needs at least two rows of numbers, this one has {len(rows)}"
        )
    return [names[c] for c in places], [k for k, _ in split[named:]], np.array(rows)


def read_cells(path: Path) -> list[tuple[int, list[str]]]:
    """The cells of every line, with its number; lines that are empty or begin with # are left out."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FormatError(f"{path}: the file of a table cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise FormatError(f"{path}:1: the file of a table is not UTF-8") from None
    given = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")]
    if not given:
        raise FormatError(f"{path}:1: the file of a table has no rows")
    mark = next((c for c in DELIMITERS[::-1] if c in given[0][1]), None)  # a comma last: it may be that of a decimal
    return [(k, _cells(line, mark)) for k, line in given]


def _cells(line: str, mark: str | None) -> list[str]:
    """The cells of a line, without empty ones at its end, which some programs write."""
    cells = [cell.strip() for cell in (line.split() if mark is None else next(csv.reader([line], delimiter=mark)))]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _places(path: Path, line: int, names: list[str], count: int, columns: Any) -> list[int]:
    if columns is None:
        columns = (0, 1)
    if isinstance(columns, str) or not isinstance(columns, Sequence) or len(columns) not in (2, 3):
        raise FormatError(f"{path}: columns must be two or three names or numbers, got {brief(columns)}")
    places = []
    for one in columns:
        if isinstance(one, str):
            if one not in names:
                raise FormatError(f"{path}:{line}: {unknown(f'column {one!r}', one, names, 'columns')}")
            places.append(names.index(one))
        elif isinstance(one, int) and not isinstance(one, bool) and 0 <= one < count:
            places.append(one)
        else:
            raise FormatError(f"{path}:{line}: there is no column {brief(one)}: the file has {count}, counted from 0")
    return places


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _value(path: Path, line: int, row: list[str], c: int, name: str, hint: str = "") -> float:
    if c >= len(row):
        raise FormatError(f"{path}:{line}: column {name!r} is missing: the line has {len(row)} columns")
    found = _number(row[c])
    if found is None or not isfinite(found):
        point = "; a decimal comma is written as a point" if "," in row[c] else ""
        raise FormatError(f"{path}:{line}: column {name!r}: expected a finite number, got {row[c]!r}{point}{hint}")
    return found
