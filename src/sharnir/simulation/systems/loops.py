"""The equations of motion as loops: large models, methods that iterate, large systems of constraints."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from ...backends.graph_function import GraphFunction
from ...backends.loops import LoopRunner
from ...backends.thread_team import in_one_team
from ...backends.traced import state_inputs
from ...dialect.native import Native, bind_kernel, calls
from ...equations.kernels import solution
from ...equations.kernels.solution import ConstrainedState, StabilisationTerms
from ...equations.motion.account import Account, native_state_rates
from ...equations.motion.retraction import native_displacement
from ...trace import Graph
from .motion_system import CompiledSystem, Setup


class Loops(CompiledSystem):
    """Common base of the loops: event functions of the flat motion, whose code does not grow with the model."""

    backend = "loops"

    def events(self) -> list[Native]:
        assert self.event_functions is not None
        return self.event_functions.grouped(self.at, self.buffers.G[: len(self.setup.events)], self.d.formulation.programs)


class ProgramLoops(Loops):
    """Trees: programs as loops, one after the other."""

    records_work = True

    def __init__(self, setup: Setup) -> None:
        f = setup.d.formulation
        self.forward = f.programs.runner(f"forward/{f.method.program}", backend="loops")
        self.coordinate_rates = f.programs.runner("rates", backend="loops")
        self.account = Account(f.model, f.programs, setup.tau_works) if setup.balance else None
        report = 2 if "report" in self.forward.outputs else 0
        super().__init__(setup, self.account.causes if self.account else (), report)

    def derivative(self) -> list[Native]:
        account = self.account.chain(self.at) if self.account else []
        return in_one_team([*self._chains(self.forward), *self._rates, *self._state_rates(), *account])

    def _state_rates(self) -> list[Native]:
        if not self.nz:
            return []
        n, programs = self.setup.n, self.d.formulation.programs
        rows = {name: self.at[name].reshape(n, -1) for name in ("q", "v", "more", "parameter")}
        each = [{"t": self.at["t"]} | {name: x[k] for name, x in rows.items()} for k in range(n)]
        return [native for at in each for native in native_state_rates(programs, at)]

    def rates(self) -> list[Native]:
        return self._rates

    @cached_property
    def _rates(self) -> list[Native]:
        return self._chains(self.coordinate_rates)

    def _chains(self, runner: LoopRunner) -> list[Native]:
        """One state; lanes of states; or, where drives and forces are computed beforehand, one state after the other."""
        s, n = self.structure, self.setup.n
        if n == 1:
            return runner.chain(self.at, self.d.threads)
        rows = {name: self.at[name].reshape(n, -1) for name in ("q", "v", "tau", "rate", "qdd")}
        if not (s.drives or s.given or s.forces or s.parameters):
            all_rows = rows | {"t": self.at["t"].reshape(1, 1)}
            inputs, outputs = [all_rows[name] for name in runner.inputs], [rows[name] for name in runner.outputs]
            return [runner.prepared(n, inputs, outputs, True)]
        each = np.broadcast_to(self.parameters, (n, len(s.parameters)))
        return [
            native
            for k in range(n)
            for native in runner.chain({name: x[k] for name, x in rows.items()} | {"t": self.at["t"], "parameter": each[k]})
        ]


class EliminationLoops(Loops):
    """Constraints of models of any size: rows by groups, multipliers eliminated with the bodies."""

    def __init__(self, setup: Setup) -> None:
        f = setup.d.formulation
        assert f.constrained is not None and f.constrained.sparse is not None
        self.sparse = f.constrained.sparse
        self.records_work = not (f.structure.drives or f.structure.given or f.constrained.table.is_rheonomic)
        account = setup.balance and self.records_work
        self.account = Account(f.model, f.programs, setup.tau_works) if account else None
        super().__init__(setup, self.account.causes if self.account else ())

    def derivative(self) -> list[Native]:
        self._arrays = self.sparse.allocate(self.at)
        return self._chains(self._arrays, self.decay if self.decay.size else None)

    def _chains(self, at: dict[str, np.ndarray], decay: np.ndarray | None = None) -> list[Native]:
        account = self.account.chain(at) if self.account else []
        rates = native_state_rates(self.d.formulation.programs, at)
        return [*self.sparse.chain(at, decay), *self._rates(at), *rates, *account]

    def derivative_of_one(self, at: Mapping[str, np.ndarray]) -> list[Native]:
        return self._chains(self.sparse.allocate(at))

    def pivots(self) -> np.ndarray | None:
        return self._arrays["inverse"]

    def rates(self) -> list[Native]:
        return self._rates(self.at)

    def _rates(self, at: Mapping[str, np.ndarray]) -> list[Native]:
        return self.d.formulation.programs.runner("rates", backend="loops").chain(at)


class ConstrainedLoops(Loops):
    """Constraints of models too large for one graph: straight-line code for the equations at a state, a loop to solve them."""

    def derivative(self) -> list[Native]:
        equations, at = self.equations, self.at
        c = self._state = equations.allocate()._replace(qdd=at["qdd"], qrate=at["rate"])
        self._memory = equations.memory(self.d.formulation.programs.tolerance)
        if not self.decay.size:
            return self._plain(at, c)
        at_state = equations.function(solved=False).bind(at | c._asdict())
        dq, change = np.zeros(self.nq), np.zeros(len(c.rate))
        natives = []
        if self.stabilisation.name == "ggl":
            inputs = state_inputs(self.structure, Graph(), dq=self.nq)
            outputs = {"change": equations.table.rate_along(inputs, inputs["dq"])}
            along = GraphFunction.of(inputs, outputs, self.store).bind(at | {"dq": dq, "change": change})
            natives = [native_displacement(self.structure, at, c.delta, dq, self.store), along]
        entry = {"baumgarte": solution.solve_baumgarte, "ggl": solution.solve_ggl}[self.stabilisation.name]
        terms = StabilisationTerms(self.decay, dq, change, calls(natives))
        solver = bind_kernel(entry, c, terms, store=self.store)
        solver.keep_alive(natives)
        return [at_state, equations.weighing(c, self._memory), solver, *native_state_rates(self.d.formulation.programs, at)]

    def _plain(self, at: Mapping[str, np.ndarray], c: ConstrainedState) -> list[Native]:
        at_state = self.equations.function(solved=False).bind({**at, **c._asdict()})
        rates = native_state_rates(self.d.formulation.programs, at)
        solver = bind_kernel(solution.solve_weighted, c, store=self.store)
        return [at_state, self.equations.weighing(c, self._memory), solver, *rates]

    def derivative_of_one(self, at: Mapping[str, np.ndarray]) -> list[Native]:
        return self._plain(at, self.equations.allocate()._replace(qdd=at["qdd"], qrate=at["rate"]))

    def pivots(self) -> np.ndarray | None:
        return self._state.L
