"""Derivatives of kinetic and of potential energy, of gravity and of what the model's forces store."""

from __future__ import annotations

from typing import Any

from ..backends.traced import TracedProgram
from ..equations.rows.evaluation import evaluate, state_inputs, with_bodies
from ..trace import Graph
from .arguments import unbatch
from .derivatives import Derivatives, check_wrt, field_of
from .evaluator import Evaluator
from .jacobian_code import JacobianCode


class EnergyDerivatives:
    """Of one model."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.structure = evaluator, evaluator.structure
        self.code = JacobianCode(evaluator, "derivatives of energy", self._trace, ("energy",))

    def _trace(self, graph: Graph) -> TracedProgram:
        s = self.structure
        values: dict[str, Any] = state_inputs(s, graph)
        given = {name: x for name, x in values.items() if x or name != "parameter"}
        kinetic, potential = evaluate(s, "energy", values).energy
        if s.forces:
            stored = s.forces.report(with_bodies(s, values) if s.forces.kinematic else values)[0]
            kinetic = sum((x for x, turns in zip(stored, s.forces.kinetic, strict=True) if turns), kinetic)
            potential = sum((x for x, turns in zip(stored, s.forces.kinetic, strict=True) if not turns), potential)
        return TracedProgram(graph, given, {"energy": (kinetic, potential)})

    def __call__(self, q: Any, v: Any, t: Any, wrt: Any, parameters: Any) -> Derivatives:
        wrt = check_wrt(wrt, ("q", "v"), self.evaluator)
        rows, n, single = self.evaluator.arguments.states(None, parameters, q=q, v=v, t=t)
        found = self.code.run(rows, n, wrt)
        changes = {field_of(name): unbatch(found[f"energy/{name}"], single, None) for name in wrt}
        return Derivatives(unbatch(found["energy"], single, None), **changes)
