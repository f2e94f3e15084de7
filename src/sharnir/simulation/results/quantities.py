"""Quantities of a motion by name: "A", "speed of A", "piston.x", "reaction of B", "energy". The grammar is here and nowhere else.

Every plot, table and view that lets people choose what to look at asks `quantity`. A name is understood from the model alone
(`understood`), so that a wrong one is refused before a run and not after it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...equations.rows.one_constraint import FORCES
from ...errors import StateError, brief, known, suggestion
from ...model.forces import SpringDamper
from ...model.model import Model
from ...model.motion import Observed
from ...model.placed_joint import PlacedJoint, couplings
from ...model.quaternions import RPY, roll_pitch_yaw_of
from ...model.references import names_of_parts, readings
from .joint_motion import Column, all_joints, columns
from .lines import (
    WRENCH,
    Line,
    MovingPoint,
    deformation_lines,
    joint_forces,
    of_spring,
    place_named,
    place_names,
    resultant_lines,
    wrench,
)

if TYPE_CHECKING:
    from .named_motion import NamedMotion

Quantity = Callable[["NamedMotion"], list[Line]]
"""Lines of a quantity, from one motion or from many side by side."""
FORMS = (
    "A, A.x: coordinates of joint A", "angles of A: roll, pitch, yaw of a ball or free joint",
    "piston, piston.x, piston@(0.1, 0, 0).x: position of a body, of a point on it, of a frame",
    "speed of …, velocity of …, acceleration of …: of any of these", "reaction of A, reaction of A.Fx", "power of A", "tau of A",
    "force of spring, force of spring on piston, force of rope: a constraint", "power of spring", "energy of spring",
    "deformation of arm@(1, 0, 0), resultants of arm@(0.5, 0, 0), resultants of arm@(0.5, 0, 0).moment_z: of a flexible body",
    "penetration of contact: what a force observes", "a state of a force by its name", "energy", "work", "defect", "violation",
    "joint A, body A, frame A: where several have one name",
)  # fmt: skip
"""Forms of names, as an error lists them."""
MOTIONS = ("", "speed of ", "acceleration of ")


def quantity(r: NamedMotion, text: str) -> list[Line]:
    """The lines that a name stands for; a name that stands for nothing is refused with those there are."""
    return understood(r.model_with_contacts, text)(r)


def understood(model: Model, text: str) -> Quantity:
    """The quantity of a name in a model. Words ("energy") come before joints, joints before bodies, bodies before frames."""
    if not isinstance(text, str):
        raise StateError(f"what to show is a text, such as 'A' or 'speed of A'; got {brief(text)}")
    for asked in dict.fromkeys((text, " ".join(text.split()))):  # names may have spaces of any kind themselves
        if (found := _found(model, asked)) is not None:
            return found
    raise StateError(_unknown(model, text))


def _found(model: Model, text: str) -> Quantity | None:
    if text in _WHOLE:
        return _WHOLE[text]
    if (own := _moving(model, text, 0) or _angles(model, text) or _observed(model, text)) is not None:
        return own
    if text in model.states:
        return lambda r: [Line(text, model.structure.units_of_states[text], r.state_of(text))]
    for prefix, of in _OF.items():
        if text.startswith(prefix + " ") and (found := of(model, text.removeprefix(prefix + " "))) is not None:
            return found
    return None


def names_of(model: Model) -> list[str]:
    """The texts a person would choose from, most useful first: for lists in views, and for the nearest spelling."""
    every = all_joints(model)
    joints = [name for name, j in every.items() if j.type.coordinates]
    parts = [full for name in joints for full in names_of_parts(name, every[name].type.coordinates) if full != name]
    motions = [f"angles of {name}" for name in joints if any(c.unit == "1" for c in columns(model, every[name], 0))]
    motions += [f"{what} of {name}" for what in ("speed", "acceleration", "power") for name in joints]
    reactions = [f"reaction of {name}" for name in every]
    acting = model.structure.forces.names
    forces = [f"{what} of {name}" for name in acting for what in ("force", "power", "energy")]
    forces += [f"{what} of {name}" for name, found in model.structure.forces.observed_names.items() for what in found]
    links = [*model.constraints, *couplings(model.joints)]
    forces += [f"force of {name}" for name in links if name not in acting]
    places = [*place_names(model), *(f"{name}.{axis}" for name in place_names(model) for axis in "xyz")]
    return list(dict.fromkeys([*joints, *model.states, *_WHOLE, *motions, *reactions, *forces, *parts, *places]))


# --- joints -----------------------------------------------------------------------------------------------------------------
def _joint_of(model: Model, text: str) -> tuple[PlacedJoint | None, str]:
    """A joint, and what follows its name and a dot."""
    joints = all_joints(model)
    for wanted in (text, text.removeprefix("joint ")):
        for owner, part in readings(wanted, joints):
            return joints[owner], part
    return None, ""


def joint_lines(r: NamedMotion, joint: PlacedJoint, order: int) -> list[Line]:
    """All coordinates (order 0), speeds (1) or accelerations (2) of a joint."""
    return _columns(r, joint.name, columns(r.model, joint, order), order)


def _columns(r: NamedMotion, joint: str, shown: list[Column], order: int) -> list[Line]:
    values = (r.coordinate, r.speed, r.acceleration)[order](joint).reshape(*r.shape, -1)
    return [Line(MOTIONS[order] + column.name, column.unit, values[..., column.at]) for column in shown]


def angle_lines(r: NamedMotion, joint: PlacedJoint, part: str = "") -> list[Line]:
    """Roll, pitch and yaw of the quaternions of a joint: what a reader can picture."""
    first = [column for column in columns(r.model, joint, 0) if column.unit == "1"][::4]
    values = r.coordinate(joint.name).reshape(*r.shape, -1)
    turns = [(c.name.rpartition(".")[0], roll_pitch_yaw_of(values[..., c.at : c.at + 4])) for c in first]
    lines = [Line(f"{name}.{angle}", "rad", x[..., k]) for name, x in turns for k, angle in enumerate(RPY)]
    return [line for line in lines if part in ("", line.label.removeprefix(joint.name + "."))]


def _angles(model: Model, text: str) -> Quantity | None:
    """ "angles of hook", "angles of hook.roll", and "hook.roll" as curves are called."""
    joint, part = _joint_of(model, text)
    names = (
        {f"{c.name.rpartition('.')[0]}.{angle}" for c in columns(model, joint, 0) if c.unit == "1" for angle in RPY}
        if joint
        else ()
    )
    if joint is None or not names or not (part == "" or f"{joint.name}.{part}" in names):
        return None
    return partial(angle_lines, joint=joint, part=part)


def _reaction(model: Model, text: str) -> Quantity | None:
    joint, part = _joint_of(model, text)
    if joint is None or part not in ("", *WRENCH):
        return None
    return lambda r: wrench(r.reaction(joint.name), f"reaction of {joint.name}", part)


def _tau(model: Model, text: str) -> Quantity | None:
    joint, part = _joint_of(model, text)
    if joint is None or part not in ("", *joint.v_names):
        return None
    if not joint.nv:
        raise StateError(f"tau of joint {joint.name!r}: it has no speeds of its own, so no force is given to it")

    def lines(r: NamedMotion) -> list[Line]:
        tau = np.broadcast_to(r.tau[..., model.v_slice(joint.name)], (*r.shape, joint.nv))
        return joint_forces(model, joint, tau, f"tau of {joint.name}", part)

    return lines


# --- places -----------------------------------------------------------------------------------------------------------------
def _path(r: NamedMotion, place: MovingPoint, order: int, magnitude: bool = False) -> list[Line]:
    """Position, velocity or acceleration of a point: its components in the world, or the magnitude."""
    unit = ("m", "m/s", "m/s²")[order]
    vectors = (r.velocity_of if order == 1 else r.acceleration_of)(place.where)[..., :3] if order else r.place(place.where)[1]
    if magnitude and not place.axis:
        return [Line(MOTIONS[order] + place.name, unit, np.linalg.norm(vectors, axis=-1))]
    title = ("", "velocity of ", "acceleration of ")[order] + place.name
    return [Line(f"{title}.{axis}", unit, vectors[..., k]) for k, axis in enumerate("xyz") if place.axis in ("", axis)]


def _moving(model: Model, text: str, order: int, magnitude: bool = False) -> Quantity | None:
    """Coordinates of a joint, their speeds or accelerations; where it is no joint, or has none, or no such part, those of a
    point."""
    joint, part = _joint_of(model, text)
    shown = [x for x in columns(model, joint, order) if not part or x.name == f"{joint.name}.{part}"] if joint else []
    if joint and shown:
        return partial(_columns, joint=joint.name, shown=shown, order=order)
    place = place_named(model, text)
    return partial(_path, place=place, order=order, magnitude=magnitude) if place is not None else None


# --- forces -----------------------------------------------------------------------------------------------------------------
def _force(model: Model, text: str) -> Quantity | None:
    """Magnitudes on every body and forces on every joint; "spring on piston": all components on one."""
    named = sorted(model.structure.forces.names, key=len, reverse=True)
    name = next((x for x in named if text == x or text.startswith(f"{x} on ")), None)
    if name is None and (text in model.constraints or text in couplings(model.joints)):
        return partial(multiplier_lines, name=text)
    return None if name is None else partial(_actions, name=name, only=text[len(name) + 4 :])


def multiplier_lines(r: NamedMotion, name: str) -> list[Line]:
    """The forces of the rows of a constraint or a cut joint, or that of a coupling."""
    joints, constraint = {j.name: j for j in r.model.joints}, r.model_with_contacts.constraints.get(name)
    moved = [couplings(r.model.joints)[name].name] if constraint is None else constraint.joints()
    turns = {unit for x in moved for run in joints[x].type.segments(x) for unit in run.q_units}
    own = turns.pop() if len(turns) == 1 else ""  # a gear's forces are those of its joints
    if constraint is None:
        return [Line(f"force of {name}", FORCES[own], r.multiplier(name))]
    rows = r.constraint_rows(name)
    return [
        Line(f"force of {name}" + f", {row.what}" * (len(rows) > 1), FORCES.get(row.unit or own, ""), r.multipliers[..., k])
        for k, row in rows.items()
    ]


def _actions(r: NamedMotion, name: str, only: str) -> list[Line]:
    acts = r.force(name)
    if not acts:
        raise StateError(f"force {name!r} moves nothing, the drive of its joint bears it: show its power")
    if only and only not in acts:
        raise StateError(f"force {name!r} does not act on {only!r}; it acts on {known(acts)}")
    joints, bodies, lines = {j.name: j for j in r.model.joints}, {b.name for b in r.model.bodies}, list[Line]()
    for target in [only] if only else acts:
        label = f"force of {name} on {target}" if len(acts) > 1 else f"force of {name}"
        if target in bodies and acts[target].shape[-1] == 6:
            lines += [line for part in (WRENCH if only else "FM") for line in wrench(acts[target], label, part)]
        else:
            lines += joint_forces(r.model, joints[target], acts[target], label)
    return lines


def _power(model: Model, text: str) -> Quantity | None:
    """Power of a joint's actuator, or of a force; a joint comes before a force of the same name."""
    joint, part = _joint_of(model, text)
    if joint is not None and not part:
        return lambda r: [Line(f"power of {joint.name}", "W", r.power(joint.name))]
    name = text.removeprefix("force ")
    return (lambda r: [Line(f"power of {name}", "W", r.force_power(name))]) if name in model.structure.forces.names else None


def _stored(model: Model, text: str) -> Quantity | None:
    names = model.structure.forces.names
    if text not in names:
        return None
    return lambda r: [Line(f"energy of {text}", "J", r.force_energies[..., names.index(text)], "energy")]


def _spring(model: Model, text: str, what: str, unit: str) -> Quantity | None:
    spring = model.forces.get(text)
    if not isinstance(spring, SpringDamper):
        return None
    return lambda r: [Line(f"{what} of {text}", unit, of_spring(r, text, spring, what))]


def _observed(model: Model, text: str) -> Quantity | None:
    """ "penetration of foot", of all its parts together or each; "penetration of foot.3", of one."""
    for force, names in model.structure.forces.observed_names.items():
        for name, (what, parts) in names.items():
            each = {f"{name} of {force}.{k + 1}": k for k in range(parts)}
            if text in (f"{name} of {force}", *each):
                return partial(_observed_lines, force=force, name=name, what=what, part=each.get(text))
    return None


def _observed_lines(r: NamedMotion, force: str, name: str, what: Observed, part: int | None) -> list[Line]:
    values, title = r.observed[force][name], f"{name} of {force}"
    if part is None and (values.shape[-1] == 1 or what.over_parts):
        return [Line(title, what.unit, values.max(axis=-1) if what.over_parts == "max" else values.sum(axis=-1))]
    shown = range(values.shape[-1]) if part is None else [part]
    return [Line(f"{title}.{k + 1}", what.unit, values[..., k]) for k in shown]


# --- the whole mechanism ----------------------------------------------------------------------------------------------------
def _energy(r: NamedMotion) -> list[Line]:
    e = r.energy
    # the zero of potential energy is arbitrary: counted from the start, changes can be seen
    parts = {"total": e.total - e.potential[..., :1], "kinetic": e.kinetic, "potential": e.potential - e.potential[..., :1]}
    return [Line(name, "J", values, "energy, potential from its start") for name, values in parts.items()]


_WHOLE: dict[str, Quantity] = {
    "energy": _energy,
    "work": lambda r: [Line(name, "J", values, "work since the start") for name, values in r.energy.work.items()],
    "defect": lambda r: [Line("defect", "J", r.energy.defect, "defect of the energy balance")],
    "violation": lambda r: [Line("largest violation", "", r.violation, "violation, m or rad")],
}
_OF: dict[str, Callable[[Model, str], Quantity | None]] = {
    "angles of": _angles,
    "speed of": partial(_moving, order=1, magnitude=True),
    "velocity of": partial(_moving, order=1),
    "acceleration of": partial(_moving, order=2),
    "reaction of": _reaction,
    "power of": _power,
    "force of": _force,
    "deformation of": deformation_lines,
    "resultants of": resultant_lines,
    "length of": partial(_spring, what="length", unit="m"),
    "tension of": partial(_spring, what="tension", unit="N"),
    "energy of": _stored,
    "tau of": _tau,
    "torque of": _tau,
}


# --- refusals ---------------------------------------------------------------------------------------------------------------
def _unknown(model: Model, text: str) -> str:
    joint, part = _joint_of(model, " ".join(text.split()).rpartition(" of ")[2])
    if joint is not None and not part and not joint.type.coordinates:
        return f"joint {joint.name!r} has no coordinates: it is a {joint.type.label}; show its reaction instead"
    there = [f"joints {known(all_joints(model))}", f"bodies {known([b.name for b in model.bodies])}"]
    there += [f"frames {known(model.frames)}"] * bool(model.frames)
    there += [f"forces {known(model.structure.forces.names)}"] * bool(model.structure.forces.names)
    there += [f"states {known(model.states)}"] * bool(model.states)
    hint = suggestion(text, names_of(model))
    return f"nothing is called {brief(text)}; {hint}There are {'; '.join(there)}. Forms: {'; '.join(FORMS)}"
