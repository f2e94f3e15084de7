"""A motion as a data set, as a table, and in files: NetCDF, which `loading.py` reads back bit for bit, or CSV."""

from __future__ import annotations

import csv
import os
import secrets
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import SharnirError, StateError
from ...model.model import Model
from ...model.placed_joint import couplings
from ...model.settings import SimulationSettings
from ...reporting.atomic_write import atomic_write, check_suffix, check_writable, file_path, target_of
from .joint_motion import ACCELERATION, COORDINATE, SPEED, Values, columns, dependent_values
from .netcdf import Variables, Writer
from .quantities import multiplier_lines
from .records import RECORDS, columns_of, declared
from .result import Result

if TYPE_CHECKING:
    from pandas import DataFrame
    from xarray import Dataset

    from .named_motion import NamedMotion

PathLike = str | os.PathLike[str]
VERSION = 2
"""Version of the files: 1 was written as HDF5."""

SUFFIXES = (".nc", ".csv")
"""Suffixes of files with the numbers of a run."""

ARRAYS = declared(Result)
"""Arrays over the times of a result, by their attributes there."""

DIMENSIONS = {
    "time": ("time",),
    **{one.name: ("time", *one.dimensions) for one in ARRAYS.values()},
    **{one.name: (kind, *one.dimensions) for kind in RECORDS for one in columns_of(kind).values()},
    "command_time": ("command",),
    "command_applied": ("command",),
    "command_tau": ("command", "speed"),
    "command_parameters": ("command", "parameter"),
}
"""Dimensions of the arrays that define a result and are read back; everything else in a file follows from them. Joint forces are
among them where they change from step to step; constant ones are an attribute."""

UNITS = {"time": "s", **{one.name: one.units for one in ARRAYS.values()}}

ORDERS = {COORDINATE: ("q", "coordinate"), SPEED: ("v", "speed"), ACCELERATION: ("a", "speed")}
"""Letters of coordinates, speeds, accelerations in files, and what they count."""

START = {"asked_q": "coordinate", "asked_v": "speed", "q": "coordinate", "v": "speed"}
"""Arrays of `Result.start`, attributes start_… of a file, and what they count."""

RUNNING = "running"
"""The status in a file of a run that has not ended: it goes on, or was killed."""


def check_result_file(path: PathLike, size: int = 0) -> Path:
    """Refuse a file of another suffix too."""
    path = check_writable(path, size)
    check_suffix(path, SUFFIXES)
    return path


def partial_file(path: PathLike) -> Path:
    target = target_of(path)
    return target.with_name(f"{target.stem}.partial-{secrets.token_hex(4)}.nc")


def left_behind(path: PathLike) -> list[str]:
    """Files of runs that were to become this one and did not finish."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        return []
    start = f"{target.stem}.partial-"
    return sorted(str(p) for p in target.parent.iterdir() if p.name.startswith(start) and p.suffix == ".nc")


def write(r: Result, path: PathLike, texts: dict[str, str] | None = None) -> None:
    """Write a result in the format of its suffix; `texts`: those of `model_texts` where they are known already."""
    if file_path(path).suffix.lower() == ".csv":
        return r.to_csv(path)
    path = check_writable(path, 8 * (r.q.size + 2 * r.v.size + 12 * len(r.model.bodies) * len(r)))
    data, attributes = motion(r)
    data |= _derived(r) | _records(r) | _commands(r)
    attributes |= model_texts(r) if texts is None else texts
    try:
        with atomic_write(path) as part, part.open("wb") as file:
            Writer(file, data, attributes)
    except (OSError, ValueError) as error:
        raise StateError(f"cannot write {path}: {error}") from error


def to_xarray(r: NamedMotion) -> Dataset:
    import xarray as xr

    data, attributes = motion(r)
    data |= _derived(r)
    words = {name: data.pop(name) for name in list(data) if name == "time" or data[name][0] == (name,)}
    return xr.Dataset(data, words, attributes)


def model_words(model: Model) -> dict[str, list[str]]:
    """Names along the dimensions of arrays that follow from the model."""
    names = {"coordinate": model.q_names, "speed": model.v_names}
    return names | {"parameter": list(model.parameters), "force_state": list(model.states)}


def motion(r: NamedMotion) -> tuple[Variables, dict[str, Any]]:
    """Variables and attributes that define a motion, without its events: declared arrays that have numbers, and the words along
    their dimensions."""
    lead, words, used = ("trajectory", "time")[-len(r.shape) :], model_words(r.model), dict[str, list[str]]()
    if isinstance(r, Result):
        words |= {"cause": list(r.causes), "contact": [x.name for x in r.contacts], "sensitivity": list(r.sensitivity_names)}
        words["state"] = [f"{kind}.{x}" for kind, along in (("q", "coordinate"), ("v", "speed")) for x in words[along]]
    data: Variables = {"time": (("time",), r.t, {"units": UNITS["time"]})}
    for attribute, one in declared(r).items():
        x = getattr(r, attribute)
        along = lead[: x.ndim - len(one.dimensions)]
        if attribute in ("q", "v") or (along and all(words[d] for d in one.dimensions)):
            about = {key: text for key, text in (("units", one.units), ("long_name", one.long_name)) if text}
            data[one.name] = ((*along, *one.dimensions), x, about)
            used |= {d: words[d] for d in one.dimensions}
    data |= {d: ((d,), known, {}) for d, known in used.items()}
    out: dict[str, Any] = {"model": r.model.name, "status": r.status, "message": r.message}
    if not isinstance(r, Result):
        return data, out
    out["sharnir_result"] = VERSION
    if r.tau.ndim == 1:
        out["tau"] = r.tau
    out["accounted"] = int(r.accounted)
    if np.isfinite(r.start_energy):
        out["start_energy"] = r.start_energy
    out |= {f"cost_{key}": value for key, value in asdict(r.cost).items()}
    if r.integrator_switches:
        out["integrator_switches"] = "\n".join(f"{one.t!r} {one.before} {one.after}" for one in r.integrator_switches)
    if r.start is not None:
        out |= {f"start_{name}": getattr(r.start, name) for name in START}
        out["start_held"] = "\n".join(r.start.held)
    return data, out


def _derived(r: NamedMotion) -> Variables:
    """Variables for other programs, which follow from the motion."""
    (R, position), e, lead = r.poses, r.energy, ("trajectory", "time")[-len(r.shape) :]
    data: Variables = {
        "a": ((*lead, "speed"), r.a, {"long_name": "rates of the speeds"}),
        "position": ((*lead, "body", "axis"), position, {"units": "m", "long_name": "origins of bodies in the world"}),
        "rotation": ((*lead, "body", "axis", "body_axis"), R, {"long_name": "rotation, body to world"}),
        "kinetic": (lead, e.kinetic, {"units": "J"}),
        "potential": (lead, e.potential, {"units": "J"}),
    }
    words = {"body": [b.name for b in r.model.bodies], "axis": ["x", "y", "z"], "body_axis": ["x", "y", "z"]}
    for order, (letter, axis) in ORDERS.items():
        if found := dependent_values(r, order):
            about = {"long_name": "of driven joints, followers and cut joints"}
            values = np.stack([x.values for x in found.values()], axis=-1)
            data[f"dependent_{letter}"] = ((*lead, f"dependent_{axis}"), values, about)
            words[f"dependent_{axis}"] = list(found)
    return data | {name: ((name,), names, {}) for name, names in words.items()}


def _records(r: Result) -> Variables:
    """Events and impacts, a row for each; the word of a row is its name."""
    data: Variables = {}
    for kind, rows in (("event", r.events), ("impact", r.impacts)):
        if rows:
            data[kind] = ((kind,), [one.name for one in rows], {})
        for attribute, column in columns_of(kind).items() if rows else ():
            data[column.name] = (DIMENSIONS[column.name], np.array([getattr(one, attribute) for one in rows], dtype=float), {})
    return data


def _commands(r: Result) -> Variables:
    """Commands of sampled controllers, a row for each sample; the word of a row is the name of its controller."""
    every, names = r.control.values(), [name for name, x in r.control.items() for _ in x.t]
    if not names:
        return {}
    parts = (("time", "t"), ("applied", "applied"), ("tau", "tau"))
    rows = {f"command_{part}": np.concatenate([getattr(x, field) for x in every]) for part, field in parts}
    if r.model.parameters:
        columns = [[x.parameters.get(name, np.full(len(x.t), np.nan)) for name in r.model.parameters] for x in every]
        rows["command_parameters"] = np.concatenate([np.stack(x, axis=1) for x in columns])
    return {"command": (("command",), names, {})} | {name: (DIMENSIONS[name], x, {}) for name, x in rows.items()}


def model_texts(r: Result) -> dict[str, str]:
    """The model in the native format, and with the impacts of the run; each empty where Python alone can express its parts."""
    models, texts = {"model_yaml": r.model}, dict[str, str]()
    if r.contacts:
        models["impacts_yaml"] = r.model.copy()
        models["impacts_yaml"].simulation = SimulationSettings(impacts=r.contacts)
    for name, model in models.items():
        try:
            from ...io.native import dumps

            texts[name] = dumps(model)
        except (ImportError, SharnirError):
            texts[name] = ""
    return texts


# --- tables: a row per state ----------------------------------------------------------------------------------------------
def table(r: NamedMotion) -> dict[str, Values]:
    """Coordinates, speeds, accelerations, each with those of driven joints, followers and cut joints; states of forces; forces of
    constraints; energies and work."""
    found: dict[str, Values] = {}
    for order, (letter, axis) in ORDERS.items():
        names, values = model_words(r.model)[axis], getattr(r, letter)
        own = (c for joint in r.model.joints for c in columns(r.model, joint, order) if c.is_own)
        found |= {f"{letter} {n}": Values(values[..., k], c.unit) for k, (n, c) in enumerate(zip(names, own, strict=True))}
        found |= {f"{letter} {name}": x for name, x in dependent_values(r, order).items()}
    if r.state_values.size:
        units = r.model.structure.units_of_states
        found |= {f"state {name}": Values(r.state_of(name), units[name]) for name in r.model.states}
    cut = {joint.name for joint in r.model.closing_joints}
    links = dict.fromkeys([*r.model_with_contacts.constraints, *couplings(r.model.joints)])
    lines = [line for name in links if name not in cut for line in multiplier_lines(r, name)]
    found |= {line.label: Values(line.values, line.unit) for line in lines}
    e = r.energy
    found |= {"kinetic": Values(e.kinetic, "J"), "potential": Values(e.potential, "J")}
    return found | {f"work of {cause}": Values(work, "J") for cause, work in e.work.items()}


def to_dataframe(r: NamedMotion) -> DataFrame:
    import pandas as pd

    found = table(r)
    index: pd.Index = pd.Index(r.t, name="t")
    if len(r.shape) > 1:
        index = pd.MultiIndex.from_product([range(r.shape[0]), r.t], names=["trajectory", "t"])
    frame = pd.DataFrame({name: x.values.ravel() for name, x in found.items()}, index=index)
    frame.attrs["units"] = {"t": "s"} | {name: x.unit for name, x in found.items() if x.unit}
    return frame


def to_csv(r: NamedMotion, path: PathLike) -> None:
    path = check_writable(path)
    found = {"t": np.broadcast_to(r.t, r.shape)} | {name: x.values for name, x in table(r).items()}
    if isinstance(r, Result):
        states = [f"{kind} {name}" for kind, names in (("q", r.model.q_names), ("v", r.model.v_names)) for name in names]
        by = [(f"d({state})/d({name})", j, k) for j, name in enumerate(r.sensitivity_names) for k, state in enumerate(states)]
        found |= {title: r.sensitivities[:, j, k] for title, j, k in by}
    rows = np.stack([x.ravel() for x in found.values()], axis=1)
    try:
        with atomic_write(path) as part, part.open("w", newline="", encoding="utf-8") as file:
            writer, many = csv.writer(file), len(r.shape) > 1
            writer.writerow([*["trajectory"] * many, *found])
            writer.writerows([[*[k // len(r.t)] * many, *map(repr, row)] for k, row in enumerate(rows.tolist())])
    except OSError as error:
        raise StateError(f"cannot write {path}: {error}") from error
