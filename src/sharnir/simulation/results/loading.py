"""`Result.load`: a file is checked as a model is, by names, shapes and types, before its numbers are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np

from ...equations.assembly.start import StartState
from ...errors import FormatError, ModelError, SharnirError, StateError, known
from ...integrate.methods import INTEGRATORS
from ...integrate.trajectory import Switch
from ...model.impacts import Impact
from ...model.model import Model
from ...model.states import check_model
from ...reporting.atomic_write import file_path
from ..control.sampled import Commands
from ..events.impacts import known_contacts
from .netcdf import Reader
from .records import RECORDS, Cost, columns_of
from .result import Result
from .storage import ARRAYS, DIMENSIONS, RUNNING, START, UNITS, VERSION, PathLike, left_behind, model_words

HDF5 = b"\x89HDF\r\n\x1a\n"
STATUS_BEFORE = {"lost": "constraints_violated"}
"""Names of statuses in files of earlier versions."""
PLURALS = {"coordinate": "coordinates", "speed": "speeds", "parameter": "parameters", "force_state": "states of forces"}
DESCRIBING = {"units", "long_name", "_FillValue"}
"""Attributes of an array that do not change its numbers, as `scale_factor` and others of NetCDF would."""


def load(path: PathLike, model: Model | None = None) -> Result:
    path = file_path(path)
    model = None if model is None else check_model(model, "Result.load")
    try:
        if not path.is_file():
            left = left_behind(path)
            raise StateError(f"no file {path}" + f"; a run that did not finish has left {known(left)}: load that" * bool(left))
        with path.open("rb") as file:
            if file.read(len(HDF5)) == HDF5:
                raise ValueError(
                    "it is an HDF5 file, which this version does not read; write it anew with xarray.open_dataset(path, "
                    'decode_times=False).to_netcdf(another, format="NETCDF3_64BIT")'
                )
            file.seek(0)
            return _Contents(Reader(file)).result(path, model)
    except (OSError, ValueError, MemoryError) as error:
        if isinstance(error, SharnirError):
            raise
        raise StateError(f"{path} cannot be read as a result: {error or 'it does not fit into memory'}") from error


def _model_from(path: Path, text: str) -> Model:
    from ...io.native.read import loads_beside

    try:
        return loads_beside(path, text)
    except ModelError as error:
        raise FormatError(f"{path}: the model in it: {error}") from error


def _control(model: Model, names: list[str], data: Mapping[str, np.ndarray]) -> dict[str, Commands]:
    """By controller, from the rows of all commands."""
    out = {}
    for name in dict.fromkeys(names):
        own = np.array([x == name for x in names])
        values = dict(zip(model.parameters, data["command_parameters"][own].T, strict=True))
        commanded = {key: x for key, x in values.items() if not np.isnan(x).all()}
        t, applied, tau = (data[f"command_{part}"][own] for part in ("time", "applied", "tau"))
        out[name] = Commands(t, applied, tau, commanded)
    return out


def _records(kind: str, names: list[str], data: Mapping[str, np.ndarray]) -> list[Any]:
    """Events or impacts, from their columns."""
    record = RECORDS[kind]
    is_bool = {f.name for f in fields(record) if f.type == "bool"}
    columns = {
        name: (x.astype(bool) if name in is_bool else x).tolist() if (x := data[one.name]).ndim == 1 else x
        for name, one in columns_of(kind).items()
    }
    return [record(name, **{key: x[k] for key, x in columns.items()}) for k, name in enumerate(names)]


class _Contents:
    """A file, part by part."""

    def __init__(self, file: Reader) -> None:
        self.file, self.attributes = file, file.attributes
        if "sharnir_result" not in self.attributes:
            raise ValueError("it is not a result of sharnir")
        if (version := self._number("sharnir_result", int)) > VERSION:
            raise ValueError(f"it was written by a later version of sharnir (format {version}, this one reads {VERSION}); update")
        self.running = self._text("status") == RUNNING
        if not (file.whole or self.running):
            raise ValueError(f"it is incomplete: it ends after {file.rows} rows")

    def result(self, path: Path, model: Model | None) -> Result:
        if model is None:
            text = self._text("model_yaml") if "model_yaml" in self.attributes else ""
            if not text:
                why = "parts of it only Python can express"
                raise StateError(f"{path} holds no model ({why}); give it: Result.load(path, model)")
            model = _model_from(path, text)
        own = model_words(model)
        for kind, plural in PLURALS.items():
            if self._words(kind) != own[kind]:
                raise StateError(f"{path} is a motion of other {plural} than those of {model.name!r}")
        there = {kind: self._words(kind) for kind in ("cause", "contact", "sensitivity", "command", "impact")}
        old = self.attributes.get("event_names", "")  # of version 1
        events = self._words("event") or (str(old).split("\n") if "event_time" in self.file.arrays else [])
        rows = self.file.shape("time") if "time" in self.file.arrays else (0,)
        sizes = {kind: len(words) for kind, words in {**own, **there, "event": events}.items()}
        data = self._numbers({**sizes, "state": model.nq + model.nv, "time": rows[0] if rows else 0})
        t, status, message = data["time"], self._text("status"), self._text("message")
        if not np.isfinite(t).all() or not ((np.diff(t) >= 0.0).all() or (np.diff(t) <= 0.0).all()):
            raise ValueError("its times are not in order")
        if self.running:
            status = "interrupted"
            reached = f"t = {t[-1]:g}" if len(t) else "its start"
            message = f"the run has not finished: these are its rows up to {reached}, without its events"
        if "tau" in self.file.arrays:
            self._check_array("tau", (len(t), model.nv))
            data |= self.file.read("tau")
        else:
            data["tau"] = self._array("tau", model.nv)
        absent = {"parameters": not model.parameters, "sensitivities": not there["sensitivity"]}  # not even empty columns
        return Result(
            model, t, cost=self._cost(), status=STATUS_BEFORE.get(status, status), message=message, causes=tuple(there["cause"]),
            **{attribute: data[one.name] for attribute, one in ARRAYS.items() if not absent.get(attribute)},
            events=_records("event", events, data), impacts=_records("impact", there["impact"], data),
            accounted=bool(self._number("accounted", int)), sensitivity_names=tuple(there["sensitivity"]),
            start=self._start(model), integrator_switches=self._switches(), control=_control(model, there["command"], data),
            start_energy=self._number("start_energy", float) if "start_energy" in self.attributes else np.nan,
            contacts=self._contacts(path, model, there["contact"]),
        )  # fmt: skip

    def _contacts(self, path: Path, model: Model, names: Sequence[str]) -> tuple[Impact, ...]:
        """The impacts of the run, from the file or, where Python alone can express them, from runs of the model."""
        if not names:
            return ()
        if text := self._text("impacts_yaml") if "impacts_yaml" in self.attributes else "":
            settings = _model_from(path, text).simulation
            return (settings.impacts if settings is not None else None) or ()
        found = known_contacts(model, names)
        if found is None:
            raise StateError(
                f"{path} has contact {names[0]!r}, which only Python can express: give a model that has been simulated with its "
                "impacts, and with no others of these names"
            )
        return found

    # --- arrays ---------------------------------------------------------------------------------------------------------------
    def _words(self, name: str) -> list[str]:
        if name not in self.file.arrays:
            return []
        if self.file.arrays[name].dimensions[:1] != (name,):
            raise ValueError(f"{name!r} has dimensions {self.file.arrays[name].dimensions}, it must begin with {name!r}")
        return self.file.words(name)

    def _numbers(self, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
        """Every array of `DIMENSIONS` but joint forces; what has no numbers need not be there."""
        shapes = {name: tuple(sizes[d] for d in dimensions) for name, dimensions in DIMENSIONS.items() if name != "tau"}
        there = [name for name, shape in shapes.items() if name == "time" or 0 not in shape or name in self.file.arrays]
        for name in there:
            self._check_array(name, shapes[name])
        return self.file.read(*there) | {name: np.zeros(shape) for name, shape in shapes.items() if name not in there}

    def _check_array(self, name: str, shape: tuple[int, ...]) -> None:
        if name not in self.file.arrays:
            raise ValueError(f"it has no {name!r}")
        a, expected = self.file.arrays[name], DIMENSIONS[name]
        found = self.file.shape(name)
        if a.dimensions != expected or found != shape or a.dtype != np.dtype(">f8"):
            says = f"{a.dtype.name} {found} over {a.dimensions}"
            raise ValueError(f"{name!r} is {says}; expected float64 {shape} over {expected}")
        if other := sorted(set(a.attributes) - DESCRIBING):
            raise ValueError(f"{name!r} has an attribute {other[0]!r}; a result holds plain numbers in SI units")
        if (units := a.attributes.get("units", "")) != UNITS.get(name, ""):
            raise ValueError(f"{name!r} is in units of {units!r}; expected {UNITS.get(name, '')!r}")

    # --- attributes -----------------------------------------------------------------------------------------------------------
    def _cost(self) -> Cost:
        values: dict[str, Any] = {}
        for f in fields(Cost):
            name = f"cost_{f.name}"
            if name in self.attributes or f.default is MISSING:  # files of earlier versions have fewer of them
                values[f.name] = self._text(name) if f.type == "str" else self._number(name, int if f.type == "int" else float)
        return Cost(**values)

    def _start(self, model: Model) -> StartState | None:
        """None in files of earlier versions."""
        if "start_held" not in self.attributes:
            return None
        held = tuple(name for name in self._text("start_held").split("\n") if name)
        sizes = {"coordinate": model.nq, "speed": model.nv}
        arrays: dict[str, Any] = {name: self._array(f"start_{name}", sizes[kind]) for name, kind in START.items()}
        return StartState(model, **arrays, held=held)

    def _switches(self) -> list[Switch]:
        """None where the file names none."""
        if "integrator_switches" not in self.attributes:
            return []
        words = [line.split(" ") for line in self._text("integrator_switches").split("\n")]
        if not all(len(line) == 3 and set(line[1:]) <= INTEGRATORS.keys() for line in words):
            raise ValueError("its attribute 'integrator_switches' must be lines of a time and the names of two integrators")
        return [Switch(float(t), before, after) for t, before, after in words]

    def _text(self, name: str) -> str:
        value = self._attribute(name)
        if not isinstance(value, str):
            raise ValueError(f"its attribute {name!r} is no text")
        return value

    def _number(self, name: str, kind: type) -> Any:
        value = self._attribute(name)
        if isinstance(value, str) or value.size != 1 or (kind is int and not float(value[0]).is_integer()):
            raise ValueError(f"its attribute {name!r} is no {'whole ' if kind is int else ''}number")
        return kind(value[0])

    def _array(self, name: str, n: int) -> np.ndarray:
        x = self._attribute(name)
        if isinstance(x, str) or x.shape != (n,):
            raise ValueError(f"its attribute {name!r} must be {n} numbers")
        return x.astype(float)

    def _attribute(self, name: str) -> Any:
        if name not in self.attributes:
            raise ValueError(f"it has no attribute {name!r}")
        return self.attributes[name]
