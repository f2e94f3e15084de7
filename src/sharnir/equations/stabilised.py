"""The equations with constraints whose violations die out: Baumgarte's, and those of Gear, Gupta and Leimkuhler.

Both are ordinary differential equations and become one graph, as the plain ones do; how fast violations die out is an input
of it. On the constraints they are the plain equations.  docs/theory/loops.md (L11)-(L16)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backends.link import relink
from ..backends.run import run_program
from ..backends.traced import TracedProgram
from ..kernels.constrained import correction
from ..programs import program_for
from ..trace import Expression, Graph, tangent
from . import solution
from .constrained import ConstrainedEquations

NUMBERS = {"baumgarte": 2, "ggl": 1}
"""Of `decay` among the inputs: 2α and β²; κ."""


class StabilisedEquations:
    """`ConstrainedEquations` in the place of which they stand when a derivative is traced."""

    def __init__(self, equations: ConstrainedEquations, name: str) -> None:
        self.equations, self.name, self.table = equations, name, equations.table
        self.more_inputs = {"decay": NUMBERS[name]}

    def accelerations(self, values: dict[str, Any]) -> Any:
        """`Closed` with qdd, and the rates of the coordinates in qrate, on symbols."""
        decay = values["decay"]
        c = self.equations.state({name: x for name, x in values.items() if name != "decay"}, object)
        if self.name == "baumgarte":
            solution.damp(c, decay)  # (L12)
            solution.solve(c)
        else:
            solution.drift(c, decay)  # (L14)
            moving = self._rates(values, [x + d for x, d in zip(values["v"], c.delta, strict=True)])
            along = [x - y for x, y in zip(moving, c.qrate, strict=True)]
            change = tangent(list(c.rate), list(zip(values["q"], along, strict=True)))
            for k in range(len(c.rate)):
                c.gamma[k] = c.gamma[k] + change[k] + decay[0] * c.rate[k]  # (L16)
            c.qrate[:] = moving
            solution.solve_weighted(c)
        return c

    def _rates(self, values: dict[str, Any], v: list[Any]) -> Any:
        s, program = self.equations.structure, program_for(self.equations.structure, "rates")
        state = {"q": values["q"], "v": v, "t": values["t"]}
        return run_program(program, s, state, relink(program.function), dtype=object).rate


def rates_change(equations: ConstrainedEquations) -> TracedProgram:
    """How the rates of the constraints change along `dq`, speeds and time held: for loops and for the interpreter."""
    graph = Graph()
    inputs = {name: x for name, x in equations.inputs(graph).items() if name not in ("tau", "t")}
    inputs |= {"dq": tuple(graph.inputs(equations.structure.nq)), "t": tuple(graph.inputs(1))}
    rate = equations.table.trace(inputs).rate
    return TracedProgram(graph, inputs, {"change": tangent(rate, list(zip(inputs["q"], inputs["dq"], strict=True)))})


class Interpreted:
    """The same for methods and backends that go state by state: what is to be added to speeds and accelerations."""

    def __init__(self, equations: ConstrainedEquations, name: str, decay: Sequence[float]) -> None:
        self.equations, self.name, self.decay = equations, name, decay
        if name == "ggl":
            traced = rates_change(equations)
            symbols = [x for group in traced.inputs.values() for x in group]
            self._change = Expression(traced.graph, symbols, traced.outputs["change"])

    def __call__(self, q: np.ndarray, v: np.ndarray, t: float, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n, m = len(v), len(self.equations.table)
        values: dict[str, Any] = {"q": q.tolist(), "v": v.tolist(), "parameter": parameters.tolist(), "t": [t]}
        c = self.equations.state(values, float)
        speeds, change = np.zeros(n), np.zeros(m)
        if self.name == "baumgarte":
            c.gamma[:] = 0.0
            solution.damp(c, self.decay)
            change[:] = c.gamma
            solution.weights(c)
        else:
            solution.drift(c, self.decay)
            speeds[:] = c.delta
            still = self._rates(values, np.zeros(n))
            along = self._rates(values, speeds) - still
            flat = [*values["q"], *values["v"], *values["parameter"], *along.tolist(), t]
            change[:] = self.decay[0] * c.rate + np.array(self._change(*flat), dtype=float)
        correction(c.J, c.W, change, c.S, c.L, c.z, c.d, c.e, c.lam, c.delta)
        return speeds, np.array(c.delta)

    def _rates(self, values: dict[str, Any], v: np.ndarray) -> np.ndarray:
        state = {"q": values["q"], "v": v.tolist(), "t": values["t"]}
        return run_program(program_for(self.equations.structure, "rates"), self.equations.structure, state).rate
