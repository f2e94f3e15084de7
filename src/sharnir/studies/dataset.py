"""A study as an `xarray.Dataset`: inputs as coordinates, outputs as variables, read from its store when they are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray import Dataset, Variable
from xarray.backends import BackendArray
from xarray.core import indexing

from .compute.store import Folder, Memory, Store, fill_of

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
        shape = store.shapes.get(name)
        rest, more = (shape.sizes, shape.dims) if shape is not None else ((), ())
        units = shape.units if shape is not None else "s" if name == "t_end" else ""
        about = {"role": role, **({"units": units} if units else {})}
        if name not in there:  # no run was made
            kind = np.dtype(object if name in ("status", "message") else float)
            values: Any = np.full(grid, fill_of(name, kind), kind)
        elif isinstance(store, Memory):
            values = store.read(name, np.arange(store.layout.count)).reshape(*grid, *rest)
        else:
            assert isinstance(store, Folder)
            values = indexing.LazilyIndexedArray(
                _Lazy(store, name, grid, rest, np.dtype(float if store.dtype(name).kind == "f" else object))
            )
        return Variable((*dims, *more), values, about)

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
