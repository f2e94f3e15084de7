"""A study as a flat table: a row for every run, a column for every input and every output that is one value per run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import StateError, brief, no_such
from ...types import FloatArray
from ..statuses import ENDED

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
        """The value in one run."""
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
    """Names of the inputs."""
    return _named(ds, "input")


def outputs_of(ds: Dataset) -> tuple[str, ...]:
    """Names of the outputs that are one value per run."""
    return tuple(name for name in _named(ds, "output") if _is_flat(ds, name))


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
    wanted = (*inputs, *outputs) if names is None else dict.fromkeys(named)
    columns = {name: _column(ds, name, dims, shape) for name in wanted}
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


def _checked(ds: Dataset) -> Dataset:
    from xarray import Dataset

    if not isinstance(ds, Dataset):
        raise StateError(f"expected the xarray.Dataset that a study returns, got {brief(ds)}")
    if not any(v.attrs.get("role") in ("input", "output") for v in ds.variables.values()):
        raise StateError(
            "no variable of the dataset is an input or an output of a study; give the dataset as sharnir.study returns it, "
            'or mark its variables yourself: ds["mass"].attrs["role"] = "input", ds["force"].attrs["role"] = "output"'
        )
    return ds


def _named(ds: Dataset, role: str) -> tuple[str, ...]:
    return tuple(str(name) for name, v in _checked(ds).variables.items() if v.attrs.get("role") == role)


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


def _is_flat(ds: Dataset, name: str) -> bool:
    """Whether a variable is one value per run, and a value that can stand on an axis."""
    return set(ds[name].dims) <= set(run_dims(ds)) and ds[name].dtype.kind in "biufUSOT"


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
    if values is None:
        values, words = _counted(raw)
    return Column(name, str(attrs["role"]), str(attrs.get("units") or ""), np.where(np.isfinite(values), values, np.nan), words)


def _counted(raw: NDArray[Any]) -> tuple[FloatArray, tuple[str, ...]]:
    """Words in the order in which they come first, and which of them each value is."""
    found, first, which = np.unique(raw.astype(str), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order))
    rank[order] = np.arange(len(order))
    return rank[which.reshape(-1)], tuple(str(word) for word in found[order])
