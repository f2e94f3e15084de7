"""A study as an `xarray.Dataset`: read from its store when it is looked at, and written to files."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from xarray import Dataset, Variable, open_dataset
from xarray.backends import BackendArray
from xarray.core import indexing

from ..errors import StateError
from ..reporting.atomic_write import atomic_write
from ..simulation.results.netcdf import Reader, add_checksum
from .compute.outputs import Shape
from .compute.store import Folder, Memory, Store, fill_of
from .pictures.columns import RUN, by_run, inputs_of, more_dims, parts, run_dims

if TYPE_CHECKING:
    from .design.designs import Columns


class _Lazy(BackendArray):
    """An array of a store, read when it is looked at. Runs of a grid are unfolded along its axes."""

    def __init__(self, store: Store, name: str, grid: tuple[int, ...], rest: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.store, self.name, self.grid = store, name, grid
        self.shape, self.dtype = (*grid, *rest), dtype

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple[Any, ...]) -> np.ndarray:
        n = len(self.grid)
        along = [np.arange(size)[k] for size, k in zip(self.grid, key[:n], strict=True)]
        scalar = [np.ndim(x) == 0 for x in along]
        mesh = np.meshgrid(*(np.atleast_1d(x) for x in along), indexing="ij")
        runs = np.ravel_multi_index(mesh, self.grid)
        found = self.store.read(self.name, runs.ravel()).reshape(*runs.shape, *self.shape[n:])
        for axis in range(n - 1, -1, -1):
            if scalar[axis]:
                found = np.take(found, 0, axis=axis)
        kept = sum(not one for one in scalar)
        for axis, k in enumerate(key[n:]):  # what follows the runs: one axis after the other, from the last on
            if not (isinstance(k, slice) and k == slice(None)):
                at = kept + axis - sum(np.ndim(x) == 0 and not isinstance(x, slice) for x in key[n : n + axis])
                found = found[(slice(None),) * at + (k,)]
        return found


def dataset_of(
    store: Store, inputs: tuple[str, ...], outputs: tuple[str, ...], axes: Columns | None, attributes: Mapping[str, Any]
) -> Dataset:
    """The dataset of a store; `axes` of a grid, or None. Outputs that no run has given are nan."""
    grid = tuple(len(x) for x in axes.values()) if axes is not None else (store.layout.count,)
    dims = tuple(axes) if axes is not None else ("run",)
    data: dict[str, Variable] = {}
    coords: dict[str, Any] = {}
    there = set(store.names())

    def variable(name: str, role: str) -> Variable:
        shape = store.shapes.get(name, Shape(units="s" if name == "t_end" else ""))
        rest, about = shape.sizes, {"role": role, **({"units": shape.units} if shape.units else {})}
        if name not in there:  # no run was made
            kind = np.dtype(object if name in ("status", "message") else float)
            values: Any = np.full(grid, fill_of(name, kind), kind)
        elif isinstance(store, Memory):
            values = store.read(name, np.arange(store.layout.count)).reshape(*grid, *rest)
        else:
            assert isinstance(store, Folder)
            dtype = np.dtype(float if store.dtype(name).kind == "f" else object)
            values = indexing.LazilyIndexedArray(_Lazy(store, name, grid, rest, dtype))
        return Variable((*dims, *shape.dims), values, about)

    for name in inputs:
        coords[name] = Variable((name,), axes[name], {"role": "input"}) if axes is not None else variable(name, "input")
    if axes is None:
        coords["run"] = Variable(("run",), np.arange(store.layout.count))
    for name in outputs:
        data[name] = variable(name, "output")
        if name in store.shapes:
            coords |= {dim: Variable((dim,), np.array(labels)) for dim, labels in store.shapes[name].coords.items()}
    for name in ("status", "message", "t_end"):
        data[name] = variable(name, "run")
    return Dataset(data, coords, dict(attributes))


MOST_PARTS = 1000
"""Columns that one output may have in a table."""


def write_netcdf(ds: Dataset, path: Path) -> None:
    """Write NetCDF. The format wants names in UTF-8, SciPy writes Latin-1: names are recoded so that the bytes are right."""
    with atomic_write(path) as part:
        _renamed(ds, lambda name: name.encode().decode("latin-1")).to_netcdf(part, engine="scipy", format="NETCDF3_64BIT")
        with part.open("r+b") as file:
            add_checksum(file)


def read_netcdf(path: Path) -> Dataset:
    """A dataset from NetCDF: the bytes are checked at once, numbers are read when they are looked at."""
    try:
        with path.open("rb") as file:
            Reader(file, "latin-1")
        return _renamed(open_dataset(path, engine="scipy"), _from_latin)
    except (OSError, ValueError) as error:
        raise StateError(f"{path} cannot be read as a study: {error}") from error


def _renamed(ds: Dataset, name_of: Callable[[str], str]) -> Dataset:
    return ds.rename({name: name_of(str(name)) for name in {*ds.variables, *ds.dims} if not str(name).isascii()})


def _from_latin(name: str) -> str:
    try:
        return name.encode("latin-1").decode()
    except UnicodeError:  # written by an older version
        return name


def write_csv(ds: Dataset, path: Path) -> list[str]:
    """Write a table: number, inputs, outputs and status of every run; an output of several numbers has a column for each.
    Returns the outputs that do not fit into a table."""
    found, left_out = _columns(ds)
    with atomic_write(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(found)
        writer.writerows(zip(*(values.tolist() for values in found.values()), strict=True))
    return left_out


def _columns(ds: Dataset) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Columns of a table by name, and the outputs that do not fit into it."""
    dims, left_out = run_dims(ds), []
    shape = tuple(int(ds.sizes[d]) for d in dims)
    found = {RUN: ds[RUN].values if RUN in ds.coords else np.arange(np.prod(shape, dtype=int))}
    for name in dict.fromkeys([*inputs_of(ds), *(str(name) for name in ds.data_vars)]):
        more = more_dims(ds, name)
        if not more:
            found[name] = by_run(ds, name, dims, shape)
        elif "time" in more or np.prod([ds.sizes[d] for d in more], dtype=float) > MOST_PARTS:
            left_out.append(name)
        else:
            found |= {label: by_run(one.to_dataset(name=name), name, dims, shape) for label, one in parts(ds, name)}
    return found, left_out
