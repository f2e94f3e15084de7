"""The rate of change of the state as one graph: q̇, v̇ and, where energy is fed or lost, the power of each cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..backends.link import relink
from ..backends.run import run_program
from ..backends.traced import TracedProgram
from ..model.structure import Structure
from ..programs import program_for
from ..programs.methods import Method
from ..trace import Expression, Graph, Number, Symbol, chooses, tangent


@dataclass(frozen=True)
class TracedDerivative:
    """Inputs q, v (momenta where the method has them), tau, parameter, t; outputs rate, qdd, power (one per cause)."""

    traced: TracedProgram
    causes: tuple[str, ...]
    """What feeds or takes energy: "drives", and forces by name; conservative ones are left out."""
    momenta: bool


def trace_derivative(
    structure: Structure,
    method: Method,
    balance: bool = True,
    tau_works: bool = True,
    limit: int | None = None,
    closed: Any = None,
) -> TracedDerivative:
    """Everything on the symbols of one graph, so that what the parts have in common is worked out once.

    balance: with the powers; tau_works: that of the joint forces τ among them; closed: the equations with constraints,
    where the model has any.
    """
    graph = Graph(limit)
    sizes = {"q": structure.nq, "v": structure.nv, "tau": structure.nv, "parameter": len(structure.parameters)}
    sizes |= closed.more_inputs if closed else {}
    sizes["t"] = 1
    inputs = {name: tuple(graph.inputs(size)) for name, size in sizes.items()}
    values: dict[str, Any] = dict(inputs) | {"wrench": [0.0] * (6 * structure.nb + 6)}
    momenta = method.in_momenta
    if momenta:
        values["p"] = inputs["v"]
        values["v"] = _run("speeds", structure, values).v
        speed_rate = _run("momentum-rates", structure, values).dp
        values["qdd"] = None
    elif closed:
        solved = closed.accelerations(dict(inputs))
        speed_rate = values["qdd"] = solved.qdd
    else:
        speed_rate = values["qdd"] = _run(f"forward/{method.program}", structure, values).qdd
    rate = _run("rates", structure, values).rate
    causes: tuple[str, ...] = ()
    powers: tuple[Number, ...] = ()
    if balance:
        found = _powers(structure, values, inputs)
        if closed and ("drives" in found or closed.table.moves_by_itself):  # reactions of closing joints, left of the energy
            energy = _run("energy", structure, values).energy
            flow = [*zip(inputs["q"], rate, strict=True), *zip(inputs["v"], speed_rate, strict=True), (inputs["t"][0], 1.0)]
            change = tangent((energy[0] + energy[1],), flow)[0]
            others = sum(values["force powers"], 0.0) if structure.forces else 0.0
            pushed = sum((x * y for x, y in zip(inputs["tau"], values["v"], strict=True)), 0.0)
            found["drives"] = change - others - pushed
        if tau_works:
            found["tau"] = sum((x * y for x, y in zip(inputs["tau"], values["v"], strict=True)), 0.0)
        kept = {name: x for name, x in found.items() if isinstance(x, Symbol)}
        causes, powers = tuple(kept), tuple(kept.values())
    moving = solved.qrate if closed else rate  # which a stabilisation may change; powers are those of the speeds
    outputs = {"rate": tuple(moving), "qdd": tuple(speed_rate), "power": powers}
    return TracedDerivative(TracedProgram(graph, inputs, outputs), causes, momenta)


def _run(name: str, structure: Structure, values: dict[str, Any]) -> Any:
    program = program_for(structure, name)
    return run_program(program, structure, values, relink(program.function), dtype=object)


def _powers(structure: Structure, values: dict[str, Any], inputs: dict[str, tuple[Symbol, ...]]) -> dict[str, Number]:
    """Power of the drives, and of every force beyond what its stored energy gives back."""
    found: dict[str, Number] = {}
    if structure.drives or structure.given:
        if values["qdd"] is None:
            values["qdd"] = _run("forward/separate", structure, values).qdd
        R = _run("kinetostatics", structure, values).R.ravel()
        found["drives"] = _run("drive-power", structure, values | {"R": R}).power[0]
    forces = structure.forces
    if forces:
        motion = dict(values)
        if forces.kinematic:
            motion |= {key: x.ravel() for key, x in _run("motion", structure, values)._asdict().items()}
        values["force powers"] = forces.report(motion)[1]
        for name, power, excess in zip(forces.names, values["force powers"], forces.excess(motion), strict=True):
            may_choose = forces.forces[name].has_function
            conservative = isinstance(excess, Symbol) and _always_small(inputs, excess, power, may_choose)
            found[name] = 0.0 if conservative else excess
        if "drives" in found and forces.on_ground:  # what holds the moving base against them
            found["drives"] = found["drives"] - forces.ground_power(motion)
    return found


def _always_small(inputs: dict[str, tuple[Symbol, ...]], excess: Number, power: Number, may_choose: bool) -> bool:
    """Whether power and rate of the energy cancel but for rounding: the force is conservative. Tried at a few places, which
    proves nothing where a function of the user's chooses by what it sees."""
    symbols = [x for group in inputs.values() for x in group]
    graph = symbols[0].graph
    if may_choose and chooses(graph, [excess]):
        return False
    expression = Expression(graph, symbols, [excess, power])
    rng = np.random.default_rng(5)
    for _ in range(3):
        x = expression(*rng.uniform(0.1, 0.9, len(symbols)).tolist())
        size = abs(x[1]) + abs(x[0] - x[1])
        if not 0.0 < size < np.inf or abs(x[0]) > 1e-9 * size:  # a force that does nothing there proves nothing
            return False
    return True


def jacobian_along(derivative: TracedDerivative) -> TracedProgram:
    """How the whole derivative changes along a direction (dq, dv) of the state: a row of the Jacobian for each of a batch.

    Inputs those of the derivative, and dx before the time; output d, rates of rate, qdd and power in one row.
    """
    traced = derivative.traced
    state = (*traced.inputs["q"], *traced.inputs["v"])
    dx = tuple(traced.graph.inputs(len(state)))
    flat = tangent([x for group in traced.outputs.values() for x in group], list(zip(state, dx, strict=True)))
    inputs = {name: group for name, group in traced.inputs.items() if name != "t"}
    return TracedProgram(traced.graph, {**inputs, "dx": dx, "t": traced.inputs["t"]}, {"d": flat})
