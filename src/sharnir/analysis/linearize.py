"""`linearize`: a mechanism near a position, an equilibrium or a steady motion as a linear system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.linalg import block_diag

from ..dialect.jit import in_background
from ..dynamics import Dynamics
from ..equations.assembly.start import as_guess, assemble_start
from ..errors import LinearizationWarning, SingularError, suggesting, warn
from ..model.model import Model
from ..model.states import check_model, check_state, check_tau
from ..types import State
from .arguments import with_values
from .flexibility import locked_deformation
from .linear_system import LARGE, LinearSystem
from .tangent_space import TangentSpace, independent_speeds, tangent_space, whole_space
from .vector_field import Outputs, VectorField, input_matrix, output_matrices, vector_field

STEADY = 1e-6
"""Accelerations, and changes of A, below this are none, relative to what a displacement of one causes."""
TURN = 0.3
"""Motion of the fastest coordinate after which A is computed again, rad or m."""

EQUILIBRIUM, STEADY_MOTION, FROZEN = "equilibrium", "steady motion", "frozen"


@suggesting
def linearize(
    model: Model | Dynamics,
    q: State = None,
    v: State = None,
    t: float = 0.0,
    *,
    tau: State = None,
    inputs: Sequence[str] | None = None,
    outputs: Outputs | None = None,
    independent: Sequence[str] | None = None,
    parameters: Mapping[str, float] | None = None,
    states: Mapping[str, float] | None = None,
    nearest: bool = False,
) -> LinearSystem:
    """ẋ = A x + B u, y = C x + D u for small deviations from the motion through (q, v) at time t under constant joint forces.

    model        a model, or a `Dynamics` of it (nothing is compiled anew)
    q, v         arrays or {joint: value}; closed mechanisms are assembled, as by `simulate`; `nearest`: these are guesses
    tau          joint forces of the motion itself; u is what is added to them
    inputs       joint forces "joint", "joint.part", or forces on bodies at their origins in their axes, "body.fx" … "body.mz";
                 default: all joint forces
    outputs      "q.joint", "v.joint", "a.joint" (or one part of it): coordinates, speeds, accelerations; "body.x" (y, z),
                 "body.vx", "body.rx", "body.wx": position, velocity, small rotation, angular velocity of a body or frame in
                 the world; or {name: one of these, or a function of `sharnir.Motion`}; default: x itself
    parameters   {name: value} of the model; the rest as the model has them
    states       {name: value} of states of forces; the rest as they start in the model
    independent  the coordinates x consists of, where there are constraints; default: those that determine the others best

    x is "q.…", displacements of the independent coordinates (of quaternions: rotations about the axes of the speeds), then "v.…",
    changes of the independent speeds, then states of forces by their names. Rolling and other constraints of speeds leave fewer
    speeds than coordinates.
    A is that of the instant t. It holds for good at an equilibrium and in steady motion; anywhere else there is a
    LinearizationWarning, and `steadiness` is "frozen".
    """
    if parameters is not None or states is not None:
        own = model.model if isinstance(model, Dynamics) else check_model(model, "linearize")
        model = with_values(own, parameters, states)
    d = model if isinstance(model, Dynamics) else Dynamics(model)
    forces = check_tau(d.model, tau)
    chosen = None if independent is None else independent_speeds(d.model, independent)

    def linearized() -> LinearSystem:
        start = _state(d, q, v, t, nearest)
        field, space = _at(d, *start, forces, chosen)
        A = _reduced(field, space)

        def later(q: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
            field, there = _at(d, q, start[1], t, forces, space)
            return field.a, _reduced(field, there)

        return _system(d, start, forces, field, space, A, (inputs, outputs), _classified(d, start, field, A, later))

    system = in_background(linearized, d.model.nv > LARGE, "linearizing")
    if system.steadiness == FROZEN:
        advice = "the joint forces that hold it (tau), or the position where it is at rest (sharnir.equilibrium finds it)"
        what = f"A is that of the instant t = {system.t:g} and does not describe what follows: {system.why}"
        warn(f"{what}. For an equilibrium give {advice}", LinearizationWarning)
    return system


Motion = tuple[np.ndarray, np.ndarray, float]
"""q, v, t."""


def _state(d: Dynamics, q: State, v: State, t: float, nearest: bool) -> Motion:
    positions, speeds, t = check_state(d.model, q, v, t)
    if d.constrained is not None:
        q, v, fixed = as_guess(d.model, q, v, None, nearest)
        start = assemble_start(d.model, q, v, t, d.constrained.table, fixed=fixed)
        positions, speeds = start.q, start.v
    return positions, speeds, t


def _at(
    d: Dynamics, q: np.ndarray, v: np.ndarray, t: float, tau: np.ndarray, chosen: np.ndarray | TangentSpace | None
) -> tuple[VectorField, TangentSpace]:
    field = vector_field(d, q, v, tau, t)
    if d.constrained is None:
        return field, whole_space(len(v))
    try:
        return field, tangent_space(d.model, d.constrained.table, (q, v, t), field.N, chosen)
    except SingularError as error:
        if locked := locked_deformation(d, q, t):
            raise SingularError(f"{locked}. It has no linearisation: {error}") from None
        raise


def _with_states(space: TangentSpace, nz: int) -> tuple[np.ndarray, np.ndarray]:
    """W and the chosen rows of (ξ, δv, δz): states of forces are free."""
    at = len(space.W) + np.arange(nz)
    return block_diag(space.W, np.eye(nz)), np.concatenate([space.chosen, at])


def _reduced(field: VectorField, space: TangentSpace) -> np.ndarray:
    W, chosen = _with_states(space, len(field.z))
    return (field.F @ W)[chosen]


def _system(
    d: Dynamics, start: Motion, tau: np.ndarray, field: VectorField, space: TangentSpace, A: np.ndarray,
    ports: tuple[Sequence[str] | None, Outputs | None], steady: tuple[str, str],
) -> LinearSystem:  # fmt: skip
    (q, v, t), (inputs, outputs) = start, ports
    n, names = len(v), d.model.v_names
    states = [*(f"q.{names[k]}" for k in space.positions), *(f"v.{names[k]}" for k in space.speeds), *d.model.states]
    W, chosen = _with_states(space, len(field.z))
    input_names, T = input_matrix(d, q, t, inputs)
    forced = field.a_tau @ T
    B = np.vstack([np.zeros_like(forced), forced, np.zeros((len(field.z), forced.shape[1]))])[chosen]
    if outputs is None:
        output_names, C, D = states, np.eye(len(states)), np.zeros((len(states), len(input_names)))
    else:
        y = output_matrices(d, start, field.N, outputs)
        C = np.hstack([y.q, y.v, y.z]) @ W + y.a @ field.F[n : 2 * n] @ W
        output_names, D = y.names, y.a @ forced
    return LinearSystem(A, B, C, D, states, input_names, output_names, d, q, v, t, tau, W[: 2 * n], *steady, space.least)


Later = Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray]]


def _classified(d: Dynamics, state: Motion, field: VectorField, A: np.ndarray, later: Later) -> tuple[str, str]:
    """The steadiness, and the reason where it is frozen. `later(q, t)`: accelerations and A there, at the same speeds."""
    q, v, t = state
    names = d.model.v_names
    size = max(1.0, float(np.abs(field.a_q).max(initial=0.0)), float(np.abs(field.a_v @ v).max(initial=0.0)))
    if np.abs(field.a).max(initial=0.0) > STEADY * size:
        worst = int(np.abs(field.a).argmax())
        return FROZEN, f"{names[worst]!r} accelerates there by {field.a[worst]:.3g}"
    size_z = max(1.0, *(float(np.abs(x).max(initial=0.0)) for x in (field.z_q, field.z_v, field.z_z)))
    if np.abs(field.z).max(initial=0.0) > STEADY * size_z:
        worst = int(np.abs(field.z).argmax())
        return FROZEN, f"state {list(d.model.states)[worst]!r} changes there at a rate of {field.z[worst]:.3g}"
    for span in (TURN, 2.7 * TURN):
        span /= max(1.0, float(np.abs(v).max(initial=0.0)))
        try:
            a, B = later(d.model.integrate(q, span * v, t + span), t + span)
        except SingularError as error:
            return FROZEN, f"{span:.2g} s later: {error}"
        if np.abs(a).max(initial=0.0) > STEADY * size or np.abs(B - A).max(initial=0.0) > STEADY * np.abs(A).max(initial=1.0):
            return FROZEN, f"the equations change along the motion: {span:.2g} s later they are others"
    return (STEADY_MOTION if v.any() else EQUILIBRIUM), ""
