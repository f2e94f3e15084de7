"""Damage to a result in a file: its bytes, its variables, its attributes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from .hostile import hostile


def _garble(path: Path, rng: np.random.Generator) -> str:
    data = bytearray(path.read_bytes())
    for _ in range(int(rng.integers(1, 20))):
        data[int(rng.integers(len(data)))] = int(rng.integers(256))
    path.write_bytes(data)
    return "bytes changed"


def _cut(path: Path, rng: np.random.Generator) -> str:
    data = path.read_bytes()
    path.write_bytes(data[: int(rng.integers(len(data)))])
    return "cut short"


def _attribute(path: Path, rng: np.random.Generator) -> str:
    """Another value of an attribute, or none; values that HDF5 cannot hold leave it as it is."""
    import h5py

    with h5py.File(path, "r+") as file:
        name = str(rng.choice(list(file.attrs)))
        if rng.random() < 0.3:
            del file.attrs[name]
            return f"attribute {name} deleted"
        value = hostile(rng)
        try:
            file.attrs[name] = value
        except Exception:  # h5py raises all kinds of them
            return f"attribute {name} as it was"
        return f"attribute {name} = {type(value).__name__}"


def _variable(path: Path, rng: np.random.Generator) -> str:
    """A variable deleted, of another shape or type, or with other numbers."""
    import h5py

    with h5py.File(path, "r+") as file:
        name = str(rng.choice([key for key in file if isinstance(file[key], h5py.Dataset)]))
        old = file[name][...]
        kind = int(rng.integers(6))
        if kind == 0:
            del file[name]
        elif kind == 1 and old.dtype.kind == "f" and old.size:
            flat = old.ravel().copy()
            flat[int(rng.integers(flat.size))] = float(rng.choice([np.nan, np.inf, 1e308, -1.0, 1e-320]))
            file[name][...] = flat.reshape(old.shape)
        else:
            del file[name]
            makes = [
                np.zeros(3),
                np.zeros((2, 2, 2)),
                np.zeros(0),
                np.array(1),
                np.arange(6),
                np.array([b"x", b"y"]),
                np.zeros((10**6, 0)),
            ]
            file[name] = makes[int(rng.integers(len(makes)))]
        return f"variable {name}, damage {kind}"


DAMAGE: tuple[Callable[[Path, np.random.Generator], str], ...] = (_garble, _cut, _attribute, _attribute, _variable, _variable)


def mutate(path: Path, rng: np.random.Generator) -> str:
    return DAMAGE[int(rng.integers(len(DAMAGE)))](path, rng)
