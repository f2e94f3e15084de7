"""The dataset of a study in a file: NetCDF with everything, or a table in which every run is a row."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xarray import Dataset, open_dataset

from ..errors import StateError
from ..reporting.atomic_write import atomic_write
from ..simulation.results.netcdf import Reader, add_checksum
from .pictures.columns import RUN, by_run, inputs_of, more_dims, parts, run_dims

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
    left_out: list[str] = []
    found = dict(_columns(ds, left_out))
    with atomic_write(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(found)
        writer.writerows(zip(*(values.tolist() for values in found.values()), strict=True))
    return left_out


def _columns(ds: Dataset, left_out: list[str]) -> Iterator[tuple[str, NDArray[Any]]]:
    dims = run_dims(ds)
    shape = tuple(int(ds.sizes[d]) for d in dims)
    yield RUN, ds[RUN].values if RUN in ds.coords else np.arange(np.prod(shape, dtype=int))
    names = [*inputs_of(ds), *(str(name) for name in ds.data_vars)]
    for name in dict.fromkeys(names):
        more = more_dims(ds, name)
        if not more:
            yield name, by_run(ds, name, dims, shape)
        elif "time" in more or np.prod([ds.sizes[d] for d in more], dtype=float) > MOST_PARTS:
            left_out.append(name)
        else:
            for label, one in parts(ds, name):
                yield label, by_run(one.to_dataset(name=name), name, dims, shape)
