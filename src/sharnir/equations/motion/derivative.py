"""The rate of change of the state as one graph: q̇, v̇, rates of states of forces, and the power of each cause that adds or
removes energy; compiled."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ...backends import sizes
from ...backends.graph_function import GraphFunction
from ...backends.run import Values, evaluate, read_by_forces
from ...backends.traced import state_inputs
from ...dialect.cache import Cache
from ...model.per_structure import per_structure
from ...model.structure import Structure
from ...programs.methods import SMALLEST, Method
from ...trace import Graph, Number, Symbol, tangent
from .account import not_conservative
from .constrained import ConstrainedEquations
from .stabilisation import DECAYING


class Derivative:
    """The derivative of the state as machine code, for one state or lanes of states.

    `code`: inputs q, v (momenta where the method has them), tau, [decay], parameter (states of forces are the last), t; outputs
    rate, qdd, more (rates of states, then powers, one per cause), and with constraints pivots: the inverse of each pivot of
    S = J M⁻¹Jᵀ, large near singular positions. `causes` add or remove energy: "drives", forces by name without the conservative
    ones, "tau".
    """

    def __init__(self, code: GraphFunction, causes: tuple[str, ...]) -> None:
        self.code, self.causes = code, causes

    @cached_property
    def along(self) -> GraphFunction:
        """The change of the derivative along a direction (dq, dv, dz) of the state: a row of the Jacobian for each of a batch.

        Inputs those of the derivative, and dx before the time; output d, the changes of rate, qdd and more in one row.
        """
        return self._along(parameters=False)

    @cached_property
    def along_with_parameters(self) -> GraphFunction:
        """`along` with an input dp too, and dx as long as d: the work done changes nothing. Entries of dp for states do not
        count."""
        return self._along(parameters=True)

    def _along(self, parameters: bool) -> GraphFunction:
        traced = self.code.traced
        traced.graph.limit = None  # it was one of the derivative itself
        outputs = [x for name in ("rate", "qdd", "more") for x in traced.outputs[name]]
        own = len(traced.inputs["parameter"]) - (len(traced.outputs["more"]) - len(self.causes))
        state = (*traced.inputs["q"], *traced.inputs["v"], *traced.inputs["parameter"][own:])
        dx = tuple(traced.graph.inputs(len(outputs) if parameters else len(state)))
        dp = tuple(traced.graph.inputs(len(traced.inputs["parameter"]))) if parameters else ()
        seeds = [*zip(state, dx, strict=False), *zip(traced.inputs["parameter"][:own], dp, strict=False)]
        flat = tangent(outputs, seeds)
        inputs = {name: group for name, group in traced.inputs.items() if name != "t"}
        more = {"dx": dx, **({"dp": dp} if parameters else {})}
        return GraphFunction.of({**inputs, **more, "t": traced.inputs["t"]}, {"d": flat}, self.code.store)


def compiled_derivative(
    structure: Structure,
    method: Method,
    store: Cache,
    constrained: ConstrainedEquations | None = None,
    *,
    balance: bool = True,
    tau_works: bool = True,
    limit: int | None = None,
    stabilisation: str = "",
) -> Derivative | None:
    """`trace_derivative`, made once and cached with the model; None where the graph has more nodes than `limit`."""
    if not constrained or stabilisation not in DECAYING:
        stabilisation = ""  # the others do not change the equations
    known, key = _derivatives(structure, store), (method.name, balance, tau_works, limit, stabilisation)
    if key not in known:
        asked = structure, method, balance, tau_works, limit, constrained, stabilisation
        known[key] = sizes.fits(lambda: trace_derivative(*asked, store=store))
        if known[key] is None and method is SMALLEST:
            sizes.mark_large(structure)
    return known[key]


@per_structure
def _derivatives(structure: Structure, store: Cache) -> dict[tuple[object, ...], Derivative | None]:
    """`compiled_derivative` by its other arguments."""
    return {}


def trace_derivative(
    structure: Structure,
    method: Method,
    balance: bool = True,
    tau_works: bool = True,
    limit: int | None = None,
    constrained: ConstrainedEquations | None = None,
    stabilisation: str = "",
    exact: bool = False,
    store: Cache | None = None,
) -> Derivative:
    """The derivative and the powers as one graph, so that common parts are computed once.

    balance: with the powers; tau_works: that of the joint forces τ among them; exact: for double-double arithmetic, with an input
    `counted`, 0 for each constraint that is left out, else 1, and no pivots.
    """
    more = {"decay": DECAYING[stabilisation]} if stabilisation else {}
    if exact and constrained:
        more["counted"] = len(constrained.table)
    inputs = state_inputs(structure, Graph(limit), tau=structure.nv, **more)
    values: dict[str, Any] = dict(inputs) | {"wrench": [0.0] * (6 * structure.nb + 6)}
    solved = None
    if method.in_momenta:
        values["p"] = inputs["v"]
        values["v"] = evaluate(structure, "speeds", values).v
        speed_rate = evaluate(structure, "momentum-rates", values).dp
        values["qdd"] = None
    elif constrained:
        solved = constrained.accelerations(inputs, stabilisation=stabilisation, exact=exact)
        speed_rate = values["qdd"] = solved.qdd
    else:
        speed_rate = values["qdd"] = evaluate(structure, f"forward/{method.program}", values).qdd
    rate = evaluate(structure, "rates", values).rate
    powers: dict[str, Number] = {}
    if balance:
        powers = _powers(structure, values)
        if constrained and ("drives" in powers or constrained.table.is_rheonomic):
            powers["drives"] = _power_of_drives(structure, values, inputs, rate)
        if tau_works:
            powers["tau"] = powers.get("tau", 0.0) + _joint_power(values)  # a law of joint forces is a force of that name
        powers = {name: x for name, x in powers.items() if isinstance(x, Symbol) or x != 0.0}
    q_rate = solved.qrate if solved else rate  # a stabilisation may change it; powers are those of the speeds
    rates = structure.forces.rates(read_by_forces(structure, values)) if structure.states else ()
    outputs = {"rate": tuple(q_rate), "qdd": tuple(speed_rate), "more": (*rates, *powers.values())}
    if solved and not exact:
        outputs["pivots"] = tuple(solved.L.diagonal())
    return Derivative(GraphFunction.of(inputs, outputs, store), tuple(powers))


def _joint_power(values: Values) -> Number:
    return sum((x * y for x, y in zip(values["tau"], values["v"], strict=True)), 0.0)


def _power_of_drives(structure: Structure, values: dict[str, Any], inputs: dict[str, tuple[Symbol, ...]], rate: Any) -> Number:
    """Power of the drives with closed loops, whose closing joints do work too: the change of energy less all other power."""
    energy = evaluate(structure, "energy", values).energy
    flow = [*zip(inputs["q"], rate, strict=True), *zip(inputs["v"], values["qdd"], strict=True), (inputs["t"][0], 1.0)]
    if structure.states:
        rates = structure.forces.rates(read_by_forces(structure, values))
        flow += zip(inputs["parameter"][structure.first_state :], rates, strict=True)
    change = tangent((energy[0] + energy[1],), flow)[0]
    forces = sum(values["force powers"], 0.0) if structure.forces else 0.0
    return change - forces - _joint_power(values)


def _powers(structure: Structure, values: dict[str, Any]) -> dict[str, Number]:
    """Power of the drives, and of every force less the rate of change of the energy it stores."""
    found: dict[str, Number] = {}
    if structure.drives or structure.given:
        if values["qdd"] is None:
            values["qdd"] = evaluate(structure, "forward/separate", values).qdd
        R = evaluate(structure, "kinetostatics", values).R.ravel()
        found["drives"] = evaluate(structure, "drive-power", values | {"R": R}).power[0]
    forces = structure.forces
    if forces:
        motion = read_by_forces(structure, values)
        values["force powers"] = forces.report(motion)[1]
        excess = forces.excess(motion)
        found |= {forces.names[k]: excess[k] for k in not_conservative(structure).tolist()}
        if "drives" in found and forces.on_prescribed:  # the drives bear these
            found["drives"] = found["drives"] - forces.prescribed_power(motion)
    return found
