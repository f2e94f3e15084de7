"""Damage to a result in a file: its bytes, its variables, its attributes."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sharnir.simulation.results.netcdf import Reader, Variables, Writer

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
    """Another value of an attribute, or none."""
    variables, attributes = _contents(path)
    name = str(rng.choice(list(attributes)))
    if rng.random() < 0.3:
        del attributes[name]
        return _written(path, variables, attributes, f"attribute {name} deleted")
    attributes[name] = value = hostile(rng)
    return _written(path, variables, attributes, f"attribute {name} = {type(value).__name__}")


def _variable(path: Path, rng: np.random.Generator) -> str:
    """A variable deleted, of another shape or type, or with other numbers or attributes."""
    variables, attributes = _contents(path)
    name = str(rng.choice(list(variables)))
    dimensions, values, about = variables[name]
    kind = int(rng.integers(6))
    if kind == 0:
        del variables[name]
    elif kind == 1 and isinstance(values, np.ndarray) and values.size:
        values = values.copy()
        values.ravel()[int(rng.integers(values.size))] = float(rng.choice([np.nan, np.inf, 1e308, -1.0, 1e-320]))
        variables[name] = dimensions, values, about
    elif kind == 2:
        word = str(rng.choice(["units", "scale_factor", "_FillValue", "long_name"]))
        variables[name] = dimensions, values, {**about, word: str(rng.choice(["m", "days since 1970-01-01", ""]))}
    else:
        makes: list[Any] = [np.zeros(3), np.zeros((2, 2, 2)), np.array(1), np.arange(6), ["x", "y"], np.zeros((1, 5))]
        new = makes[int(rng.integers(len(makes)))]
        variables[name] = tuple(f"d{k}_{n}" for k, n in enumerate(np.shape(new))), new, about
    return _written(path, variables, attributes, f"variable {name}, damage {kind}")


def _contents(path: Path) -> tuple[Variables, dict[str, Any]]:
    with path.open("rb") as file:
        reader = Reader(file)
        variables: Variables = {}
        for name, array in reader.arrays.items():
            is_text = array.dtype.kind == "S"
            values = reader.words(name) if is_text else reader.read(name)[name]
            variables[name] = array.dimensions[:1] if is_text else array.dimensions, values, dict(array.attributes)
        return variables, dict(reader.attributes)


def _written(path: Path, variables: Variables, attributes: dict[str, Any], what: str) -> str:
    """What the format cannot hold leaves the file as it is."""
    data = io.BytesIO()
    try:
        Writer(data, variables, attributes)
    except Exception as error:  # the writer is not meant for such values
        return f"{what}: not written ({type(error).__name__})"
    path.write_bytes(data.getvalue())
    return what


DAMAGE: tuple[Callable[[Path, np.random.Generator], str], ...] = (_garble, _cut, _attribute, _attribute, _variable, _variable)


def mutate(path: Path, rng: np.random.Generator) -> str:
    return DAMAGE[int(rng.integers(len(DAMAGE)))](path, rng)
