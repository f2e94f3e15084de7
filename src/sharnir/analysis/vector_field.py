"""Parts of a linear model: how small displacements and changes of speeds of a tree evolve, constraints not yet imposed; inputs
and outputs by name: joint forces, wrenches; coordinates, speeds, accelerations, points, functions.

The state near (q, v) is (ξ, δv): ξ displaces the coordinates as speeds do, δq = N(q) ξ. docs/theory/linearization.md
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from ..backends.run import evaluate, with_bodies
from ..backends.traced import new_inputs, state_inputs
from ..dynamics import Dynamics
from ..equations.motion.retraction import is_redundant
from ..errors import MethodError, StateError, brief, choices
from ..model.coordinates import entries
from ..model.model import Model
from ..model.motion import Motion
from ..model.references import is_name_in, listed_names
from ..model.structure import Structure
from ..trace import Expression, Graph, Number, call_traced, check_numbers, tangent
from .tangent_space import rate_matrix

# --- exact derivatives of functions of the motion: by displacements ξ (δq = N ξ), by speeds, and by states of forces
Gradients = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(rows, nv) by ξ, (rows, nv) by v, (rows, states) by states of forces."""


def gradients(
    d: Dynamics,
    state: tuple[np.ndarray, np.ndarray, float],
    N: np.ndarray,
    functions: Callable[[dict[str, Any]], Sequence[Number]],
) -> Gradients:
    """`functions`: of the motion as flat lists t, q, v, parameter, r, G, velocity; all in one graph."""
    s, (q, v, t) = d.structure, state
    graph = Graph()
    inputs = state_inputs(s, graph)
    outputs = functions(with_bodies(s, inputs))
    moved = [*inputs["q"], *inputs["v"], *inputs["parameter"][s.first_state :]]
    seeds = graph.inputs(len(moved))
    slopes = Expression(
        graph, [*(x for group in inputs.values() for x in group), *seeds], tangent(outputs, list(zip(moved, seeds, strict=True)))
    )
    n, nz = len(v), len(s.states)
    directions = block_diag(N, np.eye(n), np.eye(nz))
    found = slopes(*q.tolist(), *v.tolist(), *s.parameters.values(), t, *directions)
    rows = np.array([np.broadcast_to(np.asarray(x, dtype=float), 2 * n + nz) for x in found]).reshape(len(outputs), 2 * n + nz)
    return rows[:, :n], rows[:, n : 2 * n], rows[:, 2 * n :]


# --- vector field
@dataclass(frozen=True)
class VectorField:
    """ξ̇ = K ξ + δv;  δv̇ = a_q ξ + a_v δv + a_z δz + a_tau δτ;  δż = z_q ξ + z_v δv + z_z δz, at one state.

    z: states of forces."""

    N: np.ndarray
    """(nq, nv): q̇ = N v + …"""
    K: np.ndarray
    """(nv, nv): how the axes of the displacements turn along the motion; zero where q̇ = v."""
    a: np.ndarray
    a_q: np.ndarray
    a_v: np.ndarray
    a_tau: np.ndarray
    a_z: np.ndarray
    z: np.ndarray
    """(nz,): rates of states of forces."""
    z_q: np.ndarray
    z_v: np.ndarray
    z_z: np.ndarray

    @property
    def F(self) -> np.ndarray:
        """(2nv + nz, 2nv + nz): the rate of (ξ, δv, δz)."""
        n, nz = len(self.a), len(self.z)
        return np.block([[self.K, np.eye(n), np.zeros((n, nz))], [self.a_q, self.a_v, self.a_z], [self.z_q, self.z_v, self.z_z]])


def vector_field(d: Dynamics, q: np.ndarray, v: np.ndarray, tau: np.ndarray, t: float) -> VectorField:
    s = d.structure
    wrt = ("q", "v", "tau", "parameters") if s.states else ("q", "v", "tau")
    found = d.forward_derivatives(q, v, tau, t, wrt)
    assert found.dq is not None and found.dv is not None and found.dtau is not None
    N, n = rate_matrix(d, q, t), len(v)
    a_z, rates = np.zeros((n, 0)), np.zeros(0)
    z_q, z_v, z_z = np.zeros((0, n)), np.zeros((0, n)), np.zeros((0, 0))
    if s.states:
        assert found.dparameters is not None
        a_z, rates = found.dparameters[:, s.first_state :], d.state_rates(q, v, t)
        z_q, z_v, z_z = gradients(d, (q, v, t), N, s.forces.rates)
    return VectorField(N, turning(d, q, v, t), found.value, found.dq, found.dv, found.dtau, a_z, rates, z_q, z_v, z_z)


def turning(d: Dynamics, q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
    """K: the bracket of the motion with the displacements, N K = ∂(Nv + n)/∂q N − Ṅ.                              (S3)

    It belongs to joints with quaternions alone; there it is exact, by differentiation of the rates.
    """
    s, K = d.structure, np.zeros((len(v), len(v)))
    if not is_redundant(d.model):
        return K
    for i, joint in enumerate(s.placed):
        if joint.nv and joint.type.quaternions():
            here = slice(int(s.v_first[i + 1]), int(s.v_first[i + 2]))
            N, bracket = _bracket(s, i, q, v, t)
            K[here, here] = np.linalg.lstsq(N, bracket, rcond=None)[0]
    return K


def _bracket(s: Structure, i: int, q: np.ndarray, v: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """N of one joint and, column by column, ∂q̇/∂q N − Ṅ."""
    graph = Graph()
    inputs = new_inputs(graph, q=s.nq, v=s.nv, t=1)
    rates = list(evaluate(s, "rates", inputs).rate)
    flow = [*zip(inputs["q"], rates, strict=True), (inputs["t"][0], 1.0)]
    first, last = int(s.q_first[i + 1]), int(s.q_first[i + 2])
    own, flat = rates[first:last], list[Number]()
    speeds = inputs["v"][int(s.v_first[i + 1]) : int(s.v_first[i + 2])]
    for speed in speeds:
        column = tangent(own, [(speed, 1.0)])
        along = tangent(own, list(zip(inputs["q"][first:last], column, strict=True)))
        flat += [*column, *(x - y for x, y in zip(along, tangent(column, flow), strict=True))]
    values = Expression(graph, [x for group in inputs.values() for x in group], flat)(*q.tolist(), *v.tolist(), t)
    both = np.array(values, dtype=float).reshape(len(speeds), 2, last - first)
    return both[:, 0].T, both[:, 1].T


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
        found = [(full, np.eye(model.nv)[k]) for full, k in _speeds(model, name)] or [(name, _wrench(d, q, t, name))]
        names += [full for full, _ in found]
        columns += [column for _, column in found]
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
    given: Any = outputs.items() if isinstance(outputs, Mapping) else outputs
    items = [x if given is not outputs else (x, x) for x in listed_names(given, "outputs", MethodError)]
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
        joints = dict.fromkeys([*(j.name for j in model.joints if j.nv), *model.v_names])
        every = [f"{kind}.{x}" for kind in KINDS for x in joints]
        every += [f"{x}.{part}" for x in (*bodies, *model.frames) for part in ("x", "y", "z", "vx", "rx", "wx")]
        why = "is no coordinate, speed or acceleration of a joint and no motion of a body or frame"
        raise MethodError(f"outputs: {brief(what)} {why}; {choices(what, every, 'outputs')}")
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
