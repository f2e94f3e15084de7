"""Results in files: NetCDF, and CSV. Numbers come back bit for bit.

NetCDF is written and read through h5netcdf: xarray, which reads the files too, takes half a second to be imported.
"""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SharnirError, StateError
from ..model.model import Model
from ..reporting.whole_file import file_path, target_of, whole_file

if TYPE_CHECKING:
    from xarray import Dataset

    from .result import Result

PathLike = str | os.PathLike[str]
VERSION = 1

STATUS_BEFORE = {"lost": "constraints_violated"}
"""Names of statuses in files of earlier versions."""


def check_writable(path: PathLike, size: int = 0) -> Path:
    """Refuse, before a run, a path that cannot be written: folder, permission, room for `size` bytes."""
    target_of(path := file_path(path))
    folder = path.absolute().parent
    if not folder.is_dir():
        raise StateError(f"cannot write {path}: there is no folder {folder}; make it first")
    target = path if path.exists() else folder
    if not os.access(target, os.W_OK):
        raise StateError(f"cannot write {path}: no permission to write {target}")
    free = shutil.disk_usage(folder).free
    if free < size + 65536:
        raise StateError(f"cannot write {path}: the result needs about {size / 1e6:.1f} MB, {free / 1e6:.1f} MB are free there")
    return path


def write(r: Result, path: PathLike) -> None:
    """By its suffix: .csv a table, anything else NetCDF."""
    if file_path(path).suffix.lower() == ".csv":
        to_csv(r, path)
    else:
        save(r, path)


Variables = dict[str, tuple[Sequence[str], Any, dict[str, str]]]
"""By name: dimensions, values (numbers, or a list of words), attributes."""


def to_xarray(r: Result) -> Dataset:
    import xarray as xr

    return xr.Dataset(*_contents(r))


def _contents(r: Result) -> tuple[Variables, Variables, dict[str, Any]]:
    """Data, coordinates and attributes."""
    m, e = r.model, r.energy
    R, position = r.poses
    data: Variables = {
        "q": (("time", "coordinate"), r.q, {"long_name": "generalised coordinates"}),
        "v": (("time", "speed"), r.v, {"long_name": "generalised speeds"}),
        "a": (("time", "speed"), r.a, {"long_name": "rates of the speeds"}),
        "position": (("time", "body", "axis"), position, {"units": "m", "long_name": "origins of bodies in the world"}),
        "rotation": (("time", "body", "axis", "body_axis"), R, {"long_name": "rotation, body to world"}),
        "kinetic": (("time",), e.kinetic, {"units": "J"}),
        "potential": (("time",), e.potential, {"units": "J"}),
    }
    if r.causes:
        data["work"] = (("time", "cause"), r.work_done, {"units": "J", "long_name": "energy added since the start"})
    if r.parameters.size:
        data["parameters"] = (("time", "parameter"), r.parameters, {})
    words = {"coordinate": m.q_names, "speed": m.v_names, "body": [b.name for b in m.bodies]}
    words |= {"axis": ["x", "y", "z"], "body_axis": ["x", "y", "z"]}
    if r.causes:
        words["cause"] = list(r.causes)
    if r.parameters.size:
        words["parameter"] = list(m.parameters)
    coordinates: Variables = {"time": (("time",), r.t, {"units": "s"})}
    coordinates |= {name: ((name,), names, {}) for name, names in words.items()}
    attributes = {"model": m.name, "status": r.status, "message": r.message, "tau": r.tau, "sharnir_result": VERSION}
    attributes["accounted"] = int(r.accounted)
    attributes |= {f"cost_{key}": value for key, value in asdict(r.cost).items()}
    return data, coordinates, attributes


def save(r: Result, path: PathLike) -> None:
    path = check_writable(path, 8 * (r.q.size + 2 * r.v.size + 12 * len(r.model.bodies) * len(r)))
    data, coordinates, attributes = _contents(r)
    attributes["event_names"] = "\n".join(event.name for event in r.events)
    if r.events:
        n = len(r.events)
        data["event_time"] = (("event",), np.array([event.t for event in r.events]), {})
        data["event_q"] = (("event", "coordinate"), np.array([event.q for event in r.events]).reshape(n, -1), {})
        data["event_v"] = (("event", "speed"), np.array([event.v for event in r.events]).reshape(n, -1), {})
    text = _model_text(r.model)
    if text:
        attributes["model_yaml"] = text
    try:
        with whole_file(path) as part:
            _write_netcdf(part, {**data, **coordinates}, attributes)
    except OSError as error:
        raise StateError(f"cannot write {path}: {error}") from error


def _write_netcdf(path: Path, variables: Variables, attributes: Mapping[str, Any]) -> None:
    import h5netcdf
    from h5py import string_dtype

    with h5netcdf.File(path, "w") as file:
        for name, (dimensions, values, about) in variables.items():
            x = np.asarray(values)
            if not x.size:  # NetCDF has no empty variables of a given shape
                continue
            for dimension, size in zip(dimensions, x.shape, strict=True):
                if dimension not in file.dimensions:
                    file.dimensions[dimension] = size
            words = x.dtype.kind == "U"
            kind, filling = (string_dtype(), None) if words else (x.dtype, np.nan)
            variable = file.create_variable(name, tuple(dimensions), kind, fillvalue=filling)
            variable[...] = x.astype(object) if words else x
            variable.attrs.update(about)
        file.attrs.update(attributes)


def _read_netcdf(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    import h5netcdf

    with h5netcdf.File(path, "r", decode_vlen_strings=True) as file:
        return {name: variable[...] for name, variable in file.variables.items()}, dict(file.attrs)


def load(path: PathLike, model: Model | None = None) -> Result:
    from .result import Cost, EventRecord, Result

    path = file_path(path)
    if not path.is_file():
        raise StateError(f"no file {path}")
    try:
        data, attributes = _read_netcdf(path)
        if "sharnir_result" not in attributes:
            raise StateError(f"{path} is not a result of sharnir")
        model = model or _model_from(str(attributes.get("model_yaml", "")), path)
        # files of earlier versions have fewer of them
        known = [f.name for f in fields(Cost) if f"cost_{f.name}" in attributes or f.default is MISSING]
        cost = Cost(**{name: _plain(attributes[f"cost_{name}"]) for name in known})
        names = str(attributes.get("event_names", "")).split("\n")
        events = []
        for k, t in enumerate(data.get("event_time", ())):
            events.append(EventRecord(names[k], float(t), _row(data, "event_q", k), _row(data, "event_v", k)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StateError(f"{path} cannot be read as a result: {error}") from error
    if list(data.get("coordinate", ())) != model.q_names:
        raise StateError(f"{path} is a motion of other coordinates than those of {model.name!r}")
    T = len(data.get("time", ()))

    def values(name: str, *shape: int) -> np.ndarray:
        return np.array(data[name], dtype=float) if name in data else np.zeros(shape)

    return Result(
        model, values("time", 0), values("q", T, model.nq), values("v", T, model.nv),
        np.atleast_1d(attributes["tau"]).astype(float), cost,
        STATUS_BEFORE.get(str(attributes["status"]), str(attributes["status"])), str(attributes["message"]), events,
        tuple(str(x) for x in data.get("cause", ())),
        values("work", T, 0), values("parameters", 0, 0), bool(attributes["accounted"]),
    )  # fmt: skip


def to_csv(r: Result, path: PathLike) -> None:
    path = check_writable(path)
    e = r.energy
    head = ["t", *(f"q {n}" for n in r.model.q_names), *(f"v {n}" for n in r.model.v_names)]
    head += [*(f"a {n}" for n in r.model.v_names), "kinetic", "potential", *(f"work of {cause}" for cause in r.causes)]
    table = np.column_stack([r.t, r.q, r.v, r.a, e.kinetic, e.potential, r.work_done])
    try:
        with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(head)
            writer.writerows([[repr(float(x)) for x in row] for row in table])
    except OSError as error:
        raise StateError(f"cannot write {path}: {error}") from error


def _model_text(model: Model) -> str:
    """The model in the native format; empty where it has parts that only Python can express."""
    try:
        from ..io.native import dumps

        return dumps(model)
    except (ImportError, SharnirError):
        return ""


def _model_from(text: str, path: Path) -> Model:
    if not text:
        raise StateError(f"{path} holds no model (it has parts that only Python can express); give it: Result.load(path, model)")
    from ..io.native import loads

    return loads(text)


def _row(data: Mapping[str, np.ndarray], name: str, k: int) -> np.ndarray:
    return np.array(data[name][k], dtype=float) if name in data else np.zeros(0)


def _plain(x: Any) -> Any:
    return x.item() if hasattr(x, "item") else x
