"""A study as a flat table: a row for every run, a column for each input and output of one value per run; samples, captions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StateError, brief, no_such
from ...reporting.formats import count, plural
from ...types import FloatArray, IntArray
from ..statuses import COMPLETED, ENDED

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

RUN = "run"
"""The dimension of a design; a grid has one dimension for each varied input."""


@dataclass(frozen=True, eq=False)
class Column:
    """One input or output, run by run."""

    name: str
    role: str
    units: str
    values: FloatArray
    """Numbers, nan where there is no value, as for outputs of failed runs; for words, indices into `words`."""
    words: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """bar.mass, kg."""
        return f"{self.name}, {self.units}" if self.units not in ("", "1") else self.name

    @cached_property
    def finite(self) -> FloatArray:
        return self.values[np.isfinite(self.values)]

    @cached_property
    def varies(self) -> bool:
        return len(self.finite) > 1 and bool(self.finite.min() < self.finite.max())

    @property
    def extremes(self) -> tuple[int, int]:
        """Rows of the least and the greatest value."""
        return int(np.nanargmin(self.values)), int(np.nanargmax(self.values))

    def text(self, row: int) -> str:
        value = self.values[row]
        if not np.isfinite(value):
            return "–"
        return self.words[int(value)] if self.words else f"{value:.6g}"


@dataclass(frozen=True, eq=False)
class Table:
    """The runs of a study in the order of its dimensions, the last one fastest."""

    title: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    columns: dict[str, Column]
    status: NDArray[Any]
    ok: NDArray[np.bool_]
    left_out: tuple[str, ...] = field(default=())
    """Outputs that are more than one value per run, or no numbers: no picture of studies shows them."""

    def __len__(self) -> int:
        return prod(self.shape)

    @property
    def is_grid(self) -> bool:
        return self.dims != (RUN,)

    @property
    def inputs(self) -> list[Column]:
        return [c for c in self.columns.values() if c.role == "input"]

    @property
    def outputs(self) -> list[Column]:
        return [c for c in self.columns.values() if c.role == "output"]

    def where(self, row: int) -> str:
        """Description of the run in a row: its number, and in a grid its inputs."""
        inputs = ", ".join(f"{c.name} = {c.text(row)}" for c in self.inputs if c.varies)
        return f"run {row}" + (f" ({inputs})" if self.is_grid and inputs else "")


def inputs_of(ds: Dataset) -> tuple[str, ...]:
    return _named(ds, "input")


def outputs_of(ds: Dataset) -> tuple[str, ...]:
    """Names of the outputs that are one value per run, and one that can stand on an axis."""
    names = _named(ds, "output")
    return tuple(name for name in names if {*ds[name].dims} <= {*run_dims(ds)} and ds[name].dtype.kind in "biufUSOT")


def read_table(ds: Dataset, names: Sequence[str] | None = None, color: str | None = None) -> Table:
    """The columns named, in this order, and that which gives the colours; None: all. Other variables are not read."""
    inputs, outputs = inputs_of(ds), outputs_of(ds)
    series = tuple(name for name in _named(ds, "output") if name not in outputs)
    named = [*(names or ()), *([] if color is None else [color])]
    for name in named:
        if name in series:
            raise StateError(_no_flat_value(ds, name))
        if name not in (*inputs, *outputs):
            raise StateError(no_such("input or output", name, (*inputs, *outputs), "inputs and outputs"))
    dims = run_dims(ds)
    shape = tuple(int(ds.sizes[d]) for d in dims)
    if not prod(shape):
        raise StateError(f"the study has no runs: its dimensions are {_sizes(ds, dims)}")
    columns = {name: _column(ds, name, dims, shape) for name in ((*inputs, *outputs) if names is None else named)}
    status = by_run(ds, "status", dims, shape) if "status" in ds else None
    if status is not None:
        ok = np.isin(status.astype(str), ENDED)
    else:  # made by hand: a run without any value has failed
        known = [np.isfinite(c.values) for c in columns.values() if c.role == "output"]
        ok = np.logical_or.reduce(known) if known else np.ones(prod(shape), bool)
        status = np.where(ok, "done", "failed")
    for name, c in columns.items():
        if c.role == "output":  # what a failed run leaves behind may be any number, and would spoil every axis
            columns[name] = replace(c, values=np.where(ok, c.values, np.nan))
    title = str(ds.attrs.get("title") or "Parameter study")
    return Table(title, dims, shape, columns, status, ok, series)


def by_run(ds: Dataset, name: str, dims: tuple[str, ...], shape: tuple[int, ...]) -> NDArray[Any]:
    """The values of a variable run by run; read once, for it may be in a file."""
    own, values = ds[name].dims, ds[name].values
    there = [d for d in dims if d in own]
    values = values.transpose([own.index(d) for d in there])
    values = values.reshape([n if d in own else 1 for d, n in zip(dims, shape, strict=True)])
    return np.broadcast_to(values, shape).reshape(-1)


def _named(ds: Dataset, role: str) -> tuple[str, ...]:
    from xarray import Dataset

    if not isinstance(ds, Dataset):
        raise StateError(f"expected the xarray.Dataset that a study returns, got {brief(ds)}")
    roles = {str(name): v.attrs.get("role") for name, v in ds.variables.items()}
    if not any(own in ("input", "output") for own in roles.values()):
        raise StateError(
            "no variable of the dataset is an input or an output of a study; give the dataset as sharnir.study returns it, "
            'or mark its variables yourself: ds["mass"].attrs["role"] = "input", ds["force"].attrs["role"] = "output"'
        )
    return tuple(name for name, own in roles.items() if own == role)


def run_dims(ds: Dataset) -> tuple[str, ...]:
    """Dimensions of the runs: "run" for a design; those of a grid are named like inputs; a single run has none."""
    if RUN in ds.dims:
        return (RUN,)
    inputs = inputs_of(ds)
    order = ds["status"].dims if "status" in ds else inputs  # dims of the dataset itself are in the order of its coordinates
    return tuple(str(d) for d in dict.fromkeys((*order, *inputs)) if d in inputs and d in ds.dims)


def more_dims(ds: Dataset, name: str) -> list[str]:
    """Dimensions of a variable that is more than one value per run."""
    dims = run_dims(ds)
    return [str(d) for d in ds[name].dims if d not in dims]


def parts(ds: Dataset, name: str) -> Iterator[tuple[str, DataArray]]:
    """Every number per run of a variable: "q[hinge]" for one of several, and its values."""
    more, whole = more_dims(ds, name), ds[name].load()
    for at in product(*(range(ds.sizes[d]) for d in more)):
        labels = [str(ds[d].values[k]) if d in ds.coords else str(k) for d, k in zip(more, at, strict=True)]
        yield f"{name}[{', '.join(labels)}]" if more else name, whole.isel(dict(zip(more, at, strict=True)))


def _no_flat_value(ds: Dataset, name: str) -> str:
    more = more_dims(ds, name)
    if not more:
        return f"{name!r} has values of type {ds[name].dtype}; pictures of studies show real numbers and words"
    sizes = _sizes(ds, more)
    return f"{name!r} is not one value per run: it extends along {sizes}; reduce it first, e.g. ds[{name!r}].max({more[0]!r})"


def _sizes(ds: Dataset, dims: Sequence[str]) -> str:
    return ", ".join(f"{d!r} ({ds.sizes[d]})" for d in dims)


def _column(ds: Dataset, name: str, dims: tuple[str, ...], shape: tuple[int, ...]) -> Column:
    raw, attrs = by_run(ds, name, dims, shape), ds[name].attrs
    words: tuple[str, ...] = ()
    try:
        values = raw.astype(float) if raw.dtype.kind in "iufO" else None
    except (TypeError, ValueError):
        values = None  # words, as objects
    if values is None:  # words in the order in which they come first, and which of them each value is
        found, first, which = np.unique(raw.astype(str), return_index=True, return_inverse=True)
        order = np.argsort(first)
        values, words = np.argsort(order)[which.reshape(-1)].astype(float), tuple(map(str, found[order]))
    return Column(name, str(attrs["role"]), str(attrs.get("units") or ""), np.where(np.isfinite(values), values, np.nan), words)


def statuses(table: Table) -> dict[str, int]:
    """Numbers of runs by status, the most frequent first."""
    found, numbers = np.unique(table.status.astype(str), return_counts=True)
    order = np.argsort(-numbers, kind="stable")
    return {str(found[k]): int(numbers[k]) for k in order}


def runs(n: int) -> str:
    """1 run, 12 345 runs."""
    return f"{count(n)} {'run' if n == 1 else 'runs'}"


def caption(table: Table, drawn: IntArray | None = None, notes: Sequence[str] = ()) -> str:
    """`200 runs, 3 failed (2 not_finite, 1 refused); …`, with what else a picture has to say; `drawn`: the rows it shows."""
    ways = statuses(table)
    failed = {name: n for name, n in ways.items() if name not in ENDED}
    limited = [f"{count(n)} {name}" for name, n in ways.items() if name in ENDED and name not in COMPLETED]
    total = sum(failed.values())
    reasons = ", ".join(f"{count(n)} {name}" for name, n in failed.items())
    parts = [runs(len(table)) + (f", {'all' if total == len(table) > 1 else count(total)} failed ({reasons})" if total else "")]
    parts += [", ".join(limited)] * bool(limited)
    if drawn is not None and len(drawn) < len(table):
        shown = int((~table.ok[drawn]).sum())  # more often than in the study, and so it is said
        of_them = f", {count(shown)} of them failed" if shown else ""
        parts.append(f"a sample of {count(len(drawn))} is drawn{of_them}, with the extremes of every column")
    return "; ".join([*parts, *notes])


def left_out(table: Table) -> list[str]:
    """A sentence about outputs that are more than one value per run, if there are any."""
    if not table.left_out:
        return []
    names = ", ".join(table.left_out[:3]) + (f" and {len(table.left_out) - 3} more" if len(table.left_out) > 3 else "")
    return [f"{plural(len(table.left_out), 'output')} with more than one value per run not drawn: {names}"]


SEED = 1


def sample(table: Table, columns: Iterable[Column], most: int) -> IntArray:
    """About `most` rows at most, in order. A tenth of them is for failed runs, as long as there are so many."""
    if len(table) <= most:
        return np.arange(len(table))
    good, failed = np.flatnonzero(table.ok), np.flatnonzero(~table.ok)
    share = max(most // 10, most - len(good))
    some_failed = _some(failed, share)
    extremes = [k for c in columns if len(c.finite) for k in c.extremes]
    some = _some(good, most - len(some_failed))
    return np.unique(np.concatenate([some, some_failed, np.asarray(extremes, dtype=np.int64)]))


def thinned_grid(shape: tuple[int, ...], most: int) -> list[IntArray]:
    """Indices that are kept along each dimension, evenly spaced with both ends: at most so many nodes, or two by each."""
    sizes = list(shape)
    while np.prod(sizes, dtype=float) > most and max(sizes, default=0) > 2:
        k = sizes.index(max(sizes))
        sizes[k] = max(2, int(0.9 * sizes[k]))
    return [np.unique(np.linspace(0, n - 1, kept).round().astype(np.int64)) for n, kept in zip(shape, sizes, strict=True)]


def _some(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    if len(rows) <= most:
        return rows
    return np.random.default_rng(SEED).choice(rows, most, replace=False)
