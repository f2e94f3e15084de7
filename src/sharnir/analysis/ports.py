"""Inputs and outputs of a linear model by name: joint forces, wrenches; coordinates, speeds, accelerations, points, functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dynamics import Dynamics
from ..errors import MethodError, StateError, brief, choices
from ..model.coordinates import entries
from ..model.model import Model
from ..model.motion import Motion
from ..model.references import is_name_in, listed_names
from ..trace import Expression, Graph, Number, call_traced, check_numbers
from .vector_field import Gradients, gradients

WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
"""Force and moment on a body at its origin, in its axes, as in `Dynamics`."""
AXES = "xyz"
KINDS = ("q", "v", "a")
"""Coordinates, speeds, accelerations: "q.elbow", "v.elbow", "a.elbow"."""

Function = Callable[[Motion], Any]
Outputs = Sequence[str] | Mapping[str, str | Function]
State = tuple[np.ndarray, np.ndarray, float]


@dataclass(frozen=True)
class OutputMatrices:
    """y = q ξ + v δv + a δv̇ + z δz, a row for each name; z: states of forces."""

    names: list[str]
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    z: np.ndarray


# --- inputs -----------------------------------------------------------------------------------------------------------------
def input_matrix(d: Dynamics, q: np.ndarray, t: float, inputs: Sequence[str] | None) -> tuple[list[str], np.ndarray]:
    """Names, and the joint forces (nv, inputs) that a unit of each input amounts to."""
    model = d.model
    if inputs is None:
        return model.v_names, np.eye(model.nv)
    names, columns = list[str](), list[np.ndarray]()
    for name in listed_names(inputs, "inputs", MethodError):
        for full, k in _speeds(model, name):
            names.append(full)
            columns.append(np.eye(model.nv)[k])
        if not _speeds(model, name):
            names.append(name)
            columns.append(_wrench(d, q, t, name))
    return names, np.array(columns).reshape(len(names), model.nv).T


def _wrench(d: Dynamics, q: np.ndarray, t: float, name: Any) -> np.ndarray:
    body, _, part = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    bodies = [b.name for b in d.model.bodies]
    if not is_name_in(bodies, body) or part not in WRENCH:
        every = [*dict.fromkeys([*(j.name for j in d.model.joints if j.nv), *d.model.v_names])]
        every += [f"{b}.{part}" for b in bodies for part in WRENCH]
        where = d.model.structure.where_is(name, every, "inputs")
        raise MethodError(f"inputs: no joint with freedoms, and no force on a body, {brief(name)}; {where}")
    k = WRENCH.index(part)
    axis = d.poses(q, t)[0][d.model.body_index(body)][:, k % 3]
    J = d.jacobian(q, body, t=t)
    return axis @ J[3 * (k // 3) : 3 * (k // 3) + 3]


def _speeds(model: Model, name: Any) -> list[tuple[str, int]]:
    """Names and indices of the speeds of a joint, or of one of them; none where it is neither."""
    names, where = model.v_names, entries(model.structure, name, "v")
    return [] if where is None else [(names[k], k) for k in range(where.start, where.stop)]


# --- outputs ----------------------------------------------------------------------------------------------------------------
def output_matrices(d: Dynamics, state: State, N: np.ndarray, outputs: Outputs) -> OutputMatrices:
    model = d.model
    n, one = model.nv, np.eye(model.nv)
    items: list[tuple[Any, Any]]
    items = (
        list(outputs.items()) if isinstance(outputs, Mapping) else [(x, x) for x in listed_names(outputs, "outputs", MethodError)]
    )
    found, functions = list[tuple[str, dict[str, np.ndarray]]](), dict[int, Function]()
    for label, what in items:
        kind, _, joint = what.partition(".") if isinstance(what, str) else ("", "", "")
        speeds = _speeds(model, joint) if kind in KINDS else []
        for full, k in speeds:
            found.append((label if len(speeds) == 1 else f"{kind}.{full}", {kind: one[k]}))
        if not speeds:
            place = _place(d, state, what)
            if callable(place):
                functions[len(found)] = place
                place = np.zeros(n)
            found.append((str(label), {"q": place}))
    names = [name for name, _ in found]
    out = {kind: np.array([x.get(kind, np.zeros(n)) for _, x in found]).reshape(len(found), n) for kind in KINDS}
    z = np.zeros((len(found), len(model.states)))
    if functions:
        rows = [*functions]
        out["q"][rows], out["v"][rows], z[rows] = _gradients(d, state, N, [names[k] for k in rows], [*functions.values()])
    return OutputMatrices(names, **out, z=z)


def _place(d: Dynamics, state: State, what: Any) -> Function | np.ndarray:
    """A function of the motion, or a row that multiplies ξ."""
    if callable(what):
        return what
    model = d.model
    if is_name_in(model.states, what):
        return lambda on: on.state(what)
    name, _, part = what.rpartition(".") if isinstance(what, str) else ("", "", "")
    bodies = [b.name for b in model.bodies]
    frame = model.frames.get(name)
    body, at = (name, (0.0, 0.0, 0.0)) if is_name_in(bodies, name) else (frame[0], frame[1].position) if frame else ("", ())
    axis = AXES.find(part[-1:]) if part[:-1] in ("", "v", "r", "w") and len(part) in (1, 2) else -1
    if not body or axis < 0:
        every = [
            f"{kind}.{x}" for kind in KINDS for x in dict.fromkeys([*(j.name for j in model.joints if j.nv), *model.v_names])
        ]
        every += [f"{x}.{part}" for x in (*bodies, *model.frames) for part in ("x", "y", "z", "vx", "rx", "wx")]
        raise MethodError(
            f"outputs: {brief(what)} is no coordinate, speed or acceleration of a joint and no motion of a body or frame; "
            f"{choices(what, every, 'outputs')}"
        )
    if part[:-1] == "r":
        q, _, t = state
        return d.jacobian(q, body, at, t)[3 + axis]
    if part[:-1] == "w":
        return lambda on: on.spin(body, at)[axis]
    return lambda on: on.point(body, at)[1 if part[:-1] else 0][axis]


def _gradients(d: Dynamics, state: State, N: np.ndarray, names: Sequence[str], functions: Sequence[Function]) -> Gradients:
    """Derivatives of functions of the motion by ξ, v and states of forces, exact: all functions in one graph."""
    own = Graph()
    motion, values = Motion(d.structure, own), list[Number]()
    for name, function in zip(names, functions, strict=True):
        label = f"output {name!r}"
        values += check_numbers([call_traced(function, [motion], label)], own, label)
        if motion.pushed:
            raise StateError(f"{label}: the function of an output must not apply forces; use add_force for that")
    expression = Expression(own, list(motion.inputs.values()), values)
    places = list(motion.inputs)
    return gradients(d, state, N, lambda on: expression(*(on[kind][index] for kind, index in places)))
