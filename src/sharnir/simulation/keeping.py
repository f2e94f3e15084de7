"""Models with constraints as native functions: their equations where one graph is too small, and how constraints are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.link import relink
from ..backends.run import run_program
from ..backends.traced import TracedProgram
from ..dialect.native import Native, calls
from ..equations import solution
from ..equations.constrained import ConstrainedEquations
from ..equations.solution import TURNS, Correction, Keeping
from ..equations.stabilised import rates_change
from ..integrate.system import Buffers, System, buffers
from ..programs import PROGRAMS
from ..trace import Graph
from .dependents import Dependents

if TYPE_CHECKING:
    from .mechanics import Mechanics


class Kept:
    """The constraints of a run: what is done `before` every evaluation and `after` every step."""

    def __init__(self, m: Mechanics, equations: ConstrainedEquations, b: Buffers) -> None:
        self.m, self.equations, self.b = m, equations, b
        self.before: list[Native] = []
        self.after: list[Native] = []
        name = m.stabilisation.name
        if name == "projection":
            self.after = self.onto()
        elif name == "partitioning":
            self._partitioned()
        else:
            self.after = m.normalize(b)

    def onto(self) -> list[Native]:
        """Back onto the constraints: as straight-line code, or in loops."""
        return self._straight() if self.equations.is_small else self._looped()

    def _straight(self) -> list[Native]:
        """Positions by Newton's method, then speeds, in place."""
        m, b = self.m, self.b
        position, speed = self.equations.corrections
        moved = position.bind(m.inputs(b) | {"x": b.X[: m.nq]})
        return [*[moved] * TURNS, speed.bind(m.inputs(b) | {"x": b.X[m.nq : m.nq + m.nv]})]

    def _looped(self) -> list[Native]:
        m, b, equations = self.m, self.b, self.equations
        own = equations.allocate()  # looks at the same state with arrays of its own: DX is the derivative's
        dq = np.zeros(m.nq)
        natives = [closed_state(m, equations, own, b), rates_along(m, b, own.delta, dq), *m.normalize(b)]
        corrector = equations.loop(solution.correct).bind(Correction(b.X, dq, calls(natives)), own)
        corrector.keep(natives)
        return [corrector]

    def _partitioned(self) -> None:
        m, b = self.m, self.b
        m.dependents = found = Dependents(self.equations, b.X, b.T, m.parameters)
        quaternions = m.normalize(b)
        found.use([found.rows(m.inputs(b)), rates_along(m, b, found.p.delta, found.p.dq), *quaternions])
        recover, reconsider = found.compiled()
        self.before, self.after = [recover], [*quaternions, recover, reconsider]


def closed_loops(m: Mechanics, equations: ConstrainedEquations) -> System:
    """Models too large for one graph: straight-line code for what the state gives, loops for the rest."""
    nq, nv = m.nq, m.nv
    b = buffers(m.n, events=len(m.events))
    c = equations.allocate()._replace(qdd=b.DX[nq : nq + nv], qrate=b.DX[:nq])
    kept = Kept(m, equations, b)
    entry = {"baumgarte": solution.solve_damped, "ggl": solution.solve_drifting}.get(m.stabilisation.name, solution.solve)
    groups, natives = ([c], []) if entry is solution.solve else _keeping(m, equations, c, b)
    solver = equations.loop(entry).bind(*groups)
    solver.keep(natives)
    return System(
        b,
        [*kept.before, closed_state(m, equations, c, b), solver],
        projection=kept.after,
        events=m.watches(b),
        split=nq,
    )


def _keeping(m: Mechanics, equations: ConstrainedEquations, c: Any, b: Buffers) -> tuple[list[Any], list[Native]]:
    """What a stabilisation that is an equation needs beside the state."""
    dq, change = np.zeros(m.nq), np.zeros(len(c.rate))
    natives: list[Native] = []
    if m.stabilisation.name == "ggl":
        changed = m.function(rates_change(equations), b, {"dq": dq}, change)
        natives = [rates_along(m, b, c.delta, dq), changed]
    return [Keeping(m.decay, dq, change, calls(natives)), c], natives


def closed_state(m: Mechanics, equations: ConstrainedEquations, c: Any, b: Buffers) -> Native:
    return equations.function().bind(m.inputs(b) | c._asdict())


def rates_along(m: Mechanics, b: Buffers, delta: np.ndarray, dq: np.ndarray) -> Native:
    """What a small motion does to the coordinates: rates at speeds `delta`, less what time alone does."""
    s, program = m.structure, PROGRAMS["rates"]
    graph = Graph()
    inputs = {"q": tuple(graph.inputs(m.nq)), "v": tuple(graph.inputs(m.nv)), "t": tuple(graph.inputs(1))}
    zero = inputs | {"v": tuple([0.0] * m.nv)}
    moving, still = (run_program(program, s, x, relink(program.function), dtype=object).rate for x in (inputs, zero))
    traced = TracedProgram(graph, inputs, {"dq": tuple(x - y for x, y in zip(moving, still, strict=True))})
    return m.function(traced, b, {"v": delta}, dq)
