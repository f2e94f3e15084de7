"""Models with constraints as native functions: their equations where one graph is too small, and how constraints are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.link import relink
from ..backends.numba_module import addresses
from ..backends.run import run_program
from ..backends.traced import TracedProgram
from ..closed import solution
from ..closed.equations import ClosedEquations, state_arguments
from ..closed.loops import native
from ..closed.solution import TURNS, Correction, Keeping
from ..closed.stabilised import rates_change
from ..integrate.system import Buffers, Call, System, buffers
from ..programs import PROGRAMS
from ..trace import Graph
from .dependents import Dependents

if TYPE_CHECKING:
    from .mechanics import Mechanics


class Kept:
    """The constraints of a run: what is done `before` every evaluation and `after` every step."""

    def __init__(self, m: Mechanics, equations: ClosedEquations, b: Buffers) -> None:
        self.m, self.equations, self.b = m, equations, b
        self.before: list[Call] = []
        self.after: list[Call] = []
        name = m.stabilisation.name
        if name == "projection":
            self.after = self.onto()
        elif name == "partitioning":
            self._partitioned()
        else:
            self.after = m.put_right(b)

    def onto(self) -> list[Call]:
        """Back onto the constraints: as straight-line code, or in loops."""
        return self._straight() if self.equations.is_small else self._looped()

    def _straight(self) -> list[Call]:
        """Positions by Newton's method, then speeds, in place."""
        m, b = self.m, self.b
        at = m.inputs(b)
        calls = []
        for k, target in enumerate((b.X, b.X[m.nq :])):
            traced, compiled = self.equations.correction(k, 1)
            check = np.zeros(1)
            numbers = [1, *(k for name in traced.inputs for k in (at[name], 0)), target.ctypes.data, check.ctypes.data]
            arguments = np.array(numbers, dtype=np.int64)
            m.keep += [compiled, check, arguments]
            calls.append((compiled.address, arguments))
        return [*[calls[0]] * TURNS, calls[1]]

    def _looped(self) -> list[Call]:
        m, b, equations = self.m, self.b, self.equations
        corrector = native(solution.correct, equations.store)
        own = equations.allocate()  # looks at the same state with arrays of its own: DX is the derivative's
        dq = np.zeros(m.nq)
        calls = [closed_state(m, equations, own, b), rates_along(m, b, own.delta, dq), *m.put_right(b)]
        correction = Correction(b.X, dq, _numbers(calls))
        group = np.array([0, *addresses(correction), *addresses(own)], dtype=np.int64)
        m.keep += [own, corrector, group, correction, calls]
        return [(corrector.address, group)]

    def _partitioned(self) -> None:
        m, b = self.m, self.b
        m.dependents = found = Dependents(self.equations, b.X, b.T, m.parameters)
        quaternions = m.put_right(b)
        found.use([found.rows_call(m.inputs(b)), rates_along(m, b, found.p.delta, found.p.dq), *quaternions])
        recover, reconsider = found.compiled()
        self.before, self.after = [recover], [*quaternions, recover, reconsider]


def closed_loops(m: Mechanics, equations: ClosedEquations) -> System:
    """Models too large for one graph: straight-line code for what the state gives, loops for the rest."""
    nq, nv = m.nq, m.nv
    b = buffers(m.n, events=len(m.events))
    c = equations.allocate()._replace(qdd=b.DX[nq : nq + nv], qrate=b.DX[:nq])
    kept = Kept(m, equations, b)
    entry = {"baumgarte": solution.solve_damped, "ggl": solution.solve_drifting}.get(m.stabilisation.name, solution.solve)
    solver = native(entry, equations.store)
    groups = [c] if entry is solution.solve else [_keeping(m, equations, c, b), c]
    listed = np.array([0, *(x for group in groups for x in addresses(group))], dtype=np.int64)
    m.keep += [groups, solver, listed]
    return System(
        b,
        [*kept.before, closed_state(m, equations, c, b), (solver.address, listed)],
        projection=kept.after,
        events=m.watches(b),
        split=nq,
        keep=m.keep,
    )


def _keeping(m: Mechanics, equations: ClosedEquations, c: Any, b: Buffers) -> Any:
    """What a stabilisation that is an equation needs beside the state."""
    dq, change = np.zeros(m.nq), np.zeros(len(c.rate))
    calls: list[Call] = []
    if m.stabilisation.name == "ggl":
        at = m.inputs(b) | {"dq": dq.ctypes.data}
        calls = [rates_along(m, b, c.delta, dq), m.function(rates_change(equations), b, change, at)]
    m.keep.append(calls)
    return Keeping(m.decay, dq, change, _numbers(calls))


def closed_state(m: Mechanics, equations: ClosedEquations, c: Any, b: Buffers) -> Call:
    traced, compiled = equations.function()
    arguments, check = state_arguments(traced, m.inputs(b), c)
    m.keep += [compiled, check, arguments]
    return compiled.address, arguments


def rates_along(m: Mechanics, b: Buffers, delta: np.ndarray, dq: np.ndarray) -> Call:
    """What a small motion does to the coordinates: rates at speeds `delta`, less what time alone does."""
    s, program = m.structure, PROGRAMS["rates"]
    graph = Graph()
    inputs = {"q": tuple(graph.inputs(m.nq)), "v": tuple(graph.inputs(m.nv)), "t": tuple(graph.inputs(1))}
    zero = inputs | {"v": tuple([0.0] * m.nv)}
    moving, still = (run_program(program, s, x, relink(program.function), dtype=object).rate for x in (inputs, zero))
    traced = TracedProgram(graph, inputs, {"dq": tuple(x - y for x, y in zip(moving, still, strict=True))})
    return m.function(traced, b, dq, m.inputs(b) | {"v": delta.ctypes.data})


def _numbers(calls: list[Call]) -> np.ndarray:
    found = [(address, arguments.ctypes.data) for address, arguments in calls]
    return np.array(found, dtype=np.int64).reshape(-1, 2)
