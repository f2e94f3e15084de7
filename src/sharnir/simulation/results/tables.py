"""A motion as a table, a row per state: CSV, and a data frame of pandas."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from ...errors import StateError
from ...model.couplings import couplings
from ...reporting.atomic_write import atomic_write, check_writable
from .joint_motion import ACCELERATION, COORDINATE, SPEED, Values, columns, dependent_values
from .quantities import multiplier_lines
from .result import Result
from .storage import PathLike

if TYPE_CHECKING:
    from pandas import DataFrame

    from .named_motion import NamedMotion

LETTERS = {COORDINATE: "q", SPEED: "v", ACCELERATION: "a"}


def table(r: NamedMotion) -> dict[str, Values]:
    """Coordinates, speeds, accelerations, each with those of driven joints, followers and cut joints; states of forces; forces of
    constraints; energies and work."""
    found: dict[str, Values] = {}
    for order, letter in LETTERS.items():
        names = r.model.q_names if order == COORDINATE else r.model.v_names
        values = r.q if order == COORDINATE else r.v if order == SPEED else r.a
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


def _sensitivities(r: NamedMotion) -> dict[str, np.ndarray]:
    if not isinstance(r, Result):
        return {}
    states = [*(f"q {n}" for n in r.model.q_names), *(f"v {n}" for n in r.model.v_names)]
    return {
        f"d({state})/d({name})": r.sensitivities[:, j, k]
        for j, name in enumerate(r.sensitivity_names)
        for k, state in enumerate(states)
    }


def to_dataframe(r: NamedMotion) -> DataFrame:
    import pandas as pd

    found = table(r)
    if len(r.shape) == 1:
        index: pd.Index = pd.Index(r.t, name="t")
    else:
        index = pd.MultiIndex.from_product([range(r.shape[0]), r.t], names=["trajectory", "t"])
    frame = pd.DataFrame({name: x.values.ravel() for name, x in found.items()}, index=index)
    frame.attrs["units"] = {"t": "s"} | {name: x.unit for name, x in found.items() if x.unit}
    return frame


def to_csv(r: NamedMotion, path: PathLike) -> None:
    path = check_writable(path)
    found = {"t": np.broadcast_to(r.t, r.shape)} | {name: x.values for name, x in table(r).items()} | _sensitivities(r)
    rows = np.stack([x.ravel() for x in found.values()], axis=1)
    try:
        with atomic_write(path) as part, part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if len(r.shape) == 1:
                writer.writerow(found)
                writer.writerows([[repr(float(x)) for x in row] for row in rows])
            else:
                writer.writerow(["trajectory", *found])
                writer.writerows([[k // r.shape[1], *(repr(float(x)) for x in row)] for k, row in enumerate(rows)])
    except OSError as error:
        raise StateError(f"cannot write {path}: {error}") from error
