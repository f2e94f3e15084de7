"""Quantities of a motion by name: "A", "speed of A", "piston.x", "reaction of B", "energy". The grammar is here and nowhere else.

Every plot, table and view that lets people choose what to look at asks `quantity`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import StateError, brief, known, suggestion
from ..model.joints.units import force_unit, rate_unit
from ..model.placed_joint import PlacedJoint
from ..types import FloatArray
from .places import Place, place_named, place_names

if TYPE_CHECKING:
    from .result import Result

WRENCH = ("F", "Fx", "Fy", "Fz", "M", "Mx", "My", "Mz")
"""A force and a moment: their magnitudes and components."""
FORMS = (
    "A, A.x: coordinates of joint A", "piston, piston.x, piston@(0.1, 0, 0).x: position of a body, of a point on it, of a frame",
    "speed of …, velocity of …, acceleration of …: of any of these", "reaction of A, reaction of A.Fx", "power of A", "tau of A",
    "force of spring, force of spring on piston", "power of spring", "energy of spring", "energy", "work", "defect", "violation",
    "joint A, body A, frame A: where several have one name",
)  # fmt: skip
"""What can be asked for, as an error lists it."""


@dataclass(frozen=True, eq=False)
class Line:
    """One number over time."""

    label: str
    unit: str
    """SI; "1" of a pure number, "" where only the user knows."""
    values: FloatArray
    """(T,)."""
    topic: str = ""
    """What it may share a panel with beside what has its unit: energies do not go with works, nor violations with lengths."""


def quantity(r: Result, text: str) -> list[Line]:
    """The lines that a name stands for; a name that stands for nothing is refused with those there are."""
    if not isinstance(text, str):
        raise StateError(f"what to show is a text, such as 'A' or 'speed of A'; got {brief(text)}")
    asked = " ".join(text.split())
    if asked in _WHOLE:
        return _WHOLE[asked](r)
    own = _coordinates(r, asked, order=0)
    if own is not None:
        return own
    for prefix, of in _OF.items():
        if asked.startswith(prefix + " ") and (found := of(r, asked.removeprefix(prefix + " "))) is not None:
            return found
    if (place := place_named(r.model, asked)) is not None:
        return _path(r, place, order=0)
    raise StateError(_unknown(r, asked))


def names_of(r: Result) -> list[str]:
    """The texts a person would choose from, most useful first: for lists in views and for the nearest spelling."""
    m = r.model
    joints = [j.name for j in _joints(r) if j.type.coordinates]
    parts = [f"{j.name}.{c}" for j in _joints(r) if len(j.type.coordinates) > 1 for c in j.type.coordinates]
    motions = [f"{what} of {name}" for what in ("speed", "acceleration", "power") for name in joints]
    reactions = [f"reaction of {j.name}" for j in _joints(r)]
    forces = [f"{what} of {name}" for name in r.dynamics.force_names for what in ("force", "power", "energy")]
    places = [*place_names(m), *(f"{name}.{axis}" for name in place_names(m) for axis in "xyz")]
    return list(dict.fromkeys([*joints, *_WHOLE, *motions, *reactions, *forces, *parts, *places]))


# --- joints -----------------------------------------------------------------------------------------------------------------
def _joints(r: Result) -> list[PlacedJoint]:
    return [*r.model.joints, *r.model.closing_joints]


def _joint_of(r: Result, text: str) -> tuple[PlacedJoint, str] | None:
    """A joint, and what follows its name and a dot. Names may contain dots themselves: the whole text comes first."""
    name = text.removeprefix("joint ")
    joints = {j.name: j for j in _joints(r)}
    for wanted in (text, name):
        if wanted in joints:
            return joints[wanted], ""
    ends = [k for k, letter in enumerate(name) if letter == "." and name[:k] in joints]
    return (joints[name[: ends[-1]]], name[ends[-1] + 1 :]) if ends else None


def _coordinates(r: Result, text: str, order: int) -> list[Line] | None:
    """Coordinates of a joint, their speeds or accelerations; None where it is no joint, or has no such part."""
    found = _joint_of(r, text)
    if found is None:
        return None
    joint, part = found
    units = joint.type.speed_units() if order else joint.type.units()
    if part and part not in units:
        return None
    if not units:
        raise StateError(f"joint {joint.name!r} has no coordinates: it is a {joint.type.label}; its reaction can be shown")
    values = (r.coordinate, r.speed, r.acceleration)[order](joint.name)
    columns = values.reshape(len(r.t), -1).T
    lines = []
    for (name, unit), column in zip(units.items(), columns, strict=True):
        full = f"{joint.name}.{name}" if len(units) > 1 else joint.name
        if part in ("", name):
            lines.append(Line(_titled(full, order), rate_unit(unit) if order == 2 else unit, column))
    return lines


def _titled(name: str, order: int) -> str:
    return ("", "speed of ", "acceleration of ")[order] + name


def _reaction(r: Result, text: str) -> list[Line] | None:
    found = _joint_of(r, text)
    if found is None or found[1] not in ("", *WRENCH):
        return None
    joint, part = found
    return _wrench(r.reaction(joint.name), f"reaction of {joint.name}", part)


def _tau(r: Result, text: str) -> list[Line] | None:
    found = _joint_of(r, text)
    if found is None or found[1] not in ("", *found[0].v_names):
        return None
    joint, part = found
    if not joint.nv:
        raise StateError(f"tau of joint {joint.name!r}: it has no speeds of its own, so no force is given to it")
    tau = np.broadcast_to(r.tau[..., r.model.v_slice(joint.name)], (len(r.t), joint.nv))
    return _joint_forces(joint, tau, f"tau of {joint.name}", part)


def _joint_forces(joint: PlacedJoint, values: FloatArray, label: str, part: str = "") -> list[Line]:
    """(T, n) forces on the speeds of a joint."""
    units = joint.type.speed_units()
    full = [label if joint.nv == 1 else f"{label}.{name}" for name in joint.v_names]
    lines = zip(joint.v_names, full, values.T, strict=True)
    return [Line(name, force_unit(units[own]), x) for own, name, x in lines if part in ("", own)]


# --- places -----------------------------------------------------------------------------------------------------------------
def _path(r: Result, place: Place, order: int, magnitude: bool = False) -> list[Line]:
    """Position, velocity or acceleration of a point: its components in the world, or the magnitude."""
    vectors, unit = place.motion(r, order), ("m", "m/s", "m/s²")[order]
    if magnitude and not place.axis:
        return [Line(_titled(place.name, order), unit, np.linalg.norm(vectors, axis=1))]
    title = ("", "velocity of ", "acceleration of ")[order] + place.name
    return [Line(f"{title}.{axis}", unit, vectors[:, k]) for k, axis in enumerate("xyz") if place.axis in ("", axis)]


def _moving(order: int, magnitude: bool) -> Callable[[Result, str], list[Line] | None]:
    def of(r: Result, text: str) -> list[Line] | None:
        lines = _coordinates(r, text, order)
        if lines is None and (place := place_named(r.model, text)) is not None:
            lines = _path(r, place, order, magnitude)
        return lines

    return of


# --- forces -----------------------------------------------------------------------------------------------------------------
def _force(r: Result, text: str) -> list[Line] | None:
    """Magnitudes on every body and forces on every joint; "spring on piston": all components on one."""
    names = r.dynamics.force_names
    name = next((x for x in sorted(names, key=len, reverse=True) if text == x or text.startswith(f"{x} on ")), None)
    if name is None:
        return None
    only = text[len(name) + 4 :]
    acts = r.force(name)
    if only and only not in acts:
        raise StateError(f"force {name!r} does not act on {only!r}; it acts on {known(acts)}")
    joints, bodies = {j.name: j for j in r.model.joints}, {b.name for b in r.model.bodies}
    lines: list[Line] = []
    for target, values in acts.items():
        label = f"force of {name} on {target}" if len(acts) > 1 else f"force of {name}"
        if only not in ("", target):
            continue
        if target in bodies and values.shape[-1] == 6:
            lines += [line for part in (WRENCH if only else "FM") for line in _wrench(values, label, part)]
        else:
            lines += _joint_forces(joints[target], values, label)
    return lines


def _wrench(values: FloatArray, label: str, part: str) -> list[Line]:
    """(T, 6) force and moment: all magnitudes and components, or the one named."""
    force, moment = values[:, :3], values[:, 3:]
    columns = [np.linalg.norm(force, axis=1), *force.T, np.linalg.norm(moment, axis=1), *moment.T]
    shown = {name: f"|{name}|" if len(name) == 1 else name for name in WRENCH}
    return [
        Line(f"{label}, {shown[name]}", "N" if name[0] == "F" else "N m", x)
        for name, x in zip(WRENCH, columns, strict=True)
        if part in ("", name)
    ]


def _power(r: Result, text: str) -> list[Line] | None:
    """Of a joint's drive and reactions, or of a force; a joint comes before a force of the same name."""
    found = _joint_of(r, text)
    if found is not None and not found[1]:
        return [Line(f"power of {found[0].name}", "W", r.power(found[0].name))]
    name = text.removeprefix("force ")
    return [Line(f"power of {name}", "W", r.force_power(name))] if name in r.dynamics.force_names else None


def _stored(r: Result, text: str) -> list[Line] | None:
    names = r.dynamics.force_names
    return [Line(f"energy of {text}", "J", r.force_energies[:, names.index(text)], "energy")] if text in names else None


# --- the whole mechanism ----------------------------------------------------------------------------------------------------
def _energy(r: Result) -> list[Line]:
    e = r.energy
    # the zero of potential energy is arbitrary: counted from the start, changes can be seen
    parts = {"total": e.total - e.potential[:1], "kinetic": e.kinetic, "potential": e.potential - e.potential[:1]}
    return [Line(name, "J", values, "energy") for name, values in parts.items()]


def _work(r: Result) -> list[Line]:
    return [Line(name, "J", values, "work since the start") for name, values in r.energy.work.items()]


_WHOLE: dict[str, Callable[[Result], list[Line]]] = {
    "energy": _energy,
    "work": _work,
    "defect": lambda r: [Line("defect", "J", r.energy.defect, "defect of the energy balance")],
    "violation": lambda r: [Line("largest violation", "", r.violation, "violation of constraints, m or rad")],
}
_OF: dict[str, Callable[[Result, str], list[Line] | None]] = {
    "joint": lambda r, text: _coordinates(r, f"joint {text}", 0),
    "speed of": _moving(1, magnitude=True),
    "velocity of": _moving(1, magnitude=False),
    "acceleration of": _moving(2, magnitude=False),
    "reaction of": _reaction,
    "power of": _power,
    "force of": _force,
    "energy of": _stored,
    "tau of": _tau,
    "torque of": _tau,
}


# --- refusals ---------------------------------------------------------------------------------------------------------------
def _unknown(r: Result, text: str) -> str:
    joints = [j.name for j in _joints(r)]
    there = [f"joints {known(joints)}", f"bodies {known([b.name for b in r.model.bodies])}"]
    there += [f"frames {known(r.model.frames)}"] * bool(r.model.frames)
    there += [f"forces {known(r.dynamics.force_names)}"] * bool(r.dynamics.force_names)
    return f"nothing is called {brief(text)}; {suggestion(text, names_of(r))}There are {'; '.join(there)}. Forms: {'; '.join(FORMS)}"
