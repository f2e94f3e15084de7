"""A model as a system of differential equations: native functions on buffers, ready for `integrate`.

The state is x = (q, v, w): coordinates, speeds (or momenta), and the work done so far by whatever feeds or takes energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backends.compiled_programs import LIMIT, is_large
from ..backends.grouped import GroupedCode
from ..backends.grouped_forces import flat_motion
from ..backends.link import relink
from ..backends.llvm.runner import GraphRunner
from ..backends.run import run_program
from ..backends.traced import TracedProgram
from ..dialect.jit import host_lanes
from ..dialect.native import Native
from ..dynamics import Dynamics
from ..equations.normalization import native_normalize, normalize, quaternion_offsets
from ..equations.stabilisation import PROJECTION, Stabilisation
from ..equations.stabilised import Interpreted
from ..errors import SingularError, StateError
from ..integrate.system import Buffers, System, buffers, from_python
from ..model.events import Event
from ..model.forces.layout import Layout
from ..programs import PROGRAMS
from ..trace import Graph
from .account import Account
from .dependents import Dependents
from .events import Watched
from .keeping import Kept, closed_loops
from .prepared import Equations, equations


class Mechanics:
    """The equations of one Dynamics with given joint forces: `system` for the integrator, and what x means."""

    def __init__(
        self,
        d: Dynamics,
        tau: np.ndarray,
        events: Sequence[Event] = (),
        balance: bool = True,
        jacobian: bool = False,
        stabilisation: Stabilisation | None = None,
    ) -> None:
        self.d, self.structure, self.events = d, d.structure, list(events)
        s = self.structure
        self.nq, self.nv = s.nq, s.nv
        self.tau = np.array(tau, dtype=float)
        self.parameters = np.array(list(s.parameters.values()), dtype=float)
        self.momenta = d.formulation.method.in_momenta
        self.stabilisation = stabilisation or Stabilisation()
        self.decay = np.array(self.stabilisation.decay, dtype=float)
        self.dependents: Dependents | None = None
        self._onto: System | None = None
        self.causes: tuple[str, ...] = ()
        self.backend = "python"
        functions = [(f"event {e.name or k + 1!r}", e.when) for k, e in enumerate(self.events)]
        self._watched = Watched(s, functions) if functions else None
        straight = self._traced(balance)
        quiet = not (s.drives or s.given or s.forces or self.tau.any())
        loops = d.formulation.method.program and d.formulation.programs.asked != "python" and not d.constrained
        self.accounted = bool(quiet or (balance and (straight is not None or loops)))
        """Whether the work of everything that feeds or takes energy is kept account of."""
        if straight:
            self.system = self._native(straight, jacobian)
        elif d.constrained and d.constrained.backend != "python" and not d.constrained.form:
            self.backend = "loops"
            self.system = closed_loops(self, d.constrained)
        elif loops:
            self.system = self._loops(balance)
        else:
            self.system = self._python()

    @property
    def n(self) -> int:
        return self.nq + self.nv + len(self.causes)

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates, speeds (momenta) and work from states (…, n)."""
        return x[..., : self.nq], x[..., self.nq : self.nq + self.nv], x[..., self.nq + self.nv :]

    def settled(self, t: float, x: np.ndarray) -> np.ndarray:
        """A state given from without, on the constraints; where the run's own steps see to that, it is left to them."""
        if self.dependents:
            return self.dependents.begin(t, x)
        closed = self.d.constrained
        if not closed or self.stabilisation.name == PROJECTION:
            return x
        if closed.backend == "python" or closed.form:
            return np.concatenate(closed.project(x[: self.nq], x[self.nq :], t))
        if self._onto is None:
            b = self.system.buffers
            self._onto = System(b, (), projection=Kept(self, closed, b).onto())
        return self._onto.projected(t, x)

    # --- compiled -----------------------------------------------------------------------------------------------------------
    def _traced(self, balance: bool) -> Equations | None:
        method = self.d.formulation.method
        straight = method.program is not None and not method.iterates
        if self.d.constrained and self.d.constrained.form:
            return None
        if not (straight or self.momenta) or self.d.formulation.programs.asked in ("python", "loops"):
            return None
        if self.d.constrained and not self.d.constrained.is_small:
            return None
        auto = self.d.formulation.programs.asked == "auto"
        if auto and not self.d.constrained and is_large(self.structure):
            return None
        return equations(self.d, balance, bool(self.tau.any()), LIMIT if auto else None, self.stabilisation.name)

    def _native(self, equations: Equations, jacobian: bool) -> System:
        self.backend = "llvm"
        self.causes = equations.derivative.causes
        b = buffers(self.n, events=len(self.events), jacobian=jacobian)
        call = equations.code.bind(self.inputs(b) | self._derivative(b))
        kept = Kept(self, self.d.constrained, b) if self.d.constrained else None
        by_differences = kept is not None and bool(kept.before)  # what comes before an evaluation is no part of the graph
        return System(
            b,
            [*kept.before, call] if kept else [call],
            projection=kept.after if kept else self.normalize(b),
            events=self.watches(b),
            jacobian=[self._jacobian(equations, b)] if jacobian and not by_differences else (),
            split=self.nq,
        )

    def watches(self, b: Buffers) -> list[Native]:
        if self._watched is None:
            return []
        return self._watch_by_loops(self._watched, b) if self.backend == "loops" else [self._watch(b)]

    def _watch_by_loops(self, watched: Watched, b: Buffers) -> list[Native]:
        """The functions of all events, into G: of the flat motion, so that the code does not grow with the model."""
        compiled = self.d.formulation.programs
        code = GroupedCode([watched.group()], compiled.store)
        bodies = compiled.runner("motion", backend="loops") if watched.looks_at_bodies else None
        flat, natives = flat_motion(Layout(self.structure), self.inputs(b), bodies, code)
        return [*natives, *code.chain(flat, {"push": b.G})]

    def inputs(self, b: Buffers) -> dict[str, np.ndarray]:
        """What compiled code reads, by name."""
        return {
            "q": b.X[: self.nq], "v": b.X[self.nq : self.nq + self.nv], "t": b.T,
            "tau": self.tau, "parameter": self.parameters, "decay": self.decay,
        }  # fmt: skip

    def _derivative(self, b: Buffers) -> dict[str, np.ndarray]:
        """What it writes: parts of DX."""
        nq, nv = self.nq, self.nv
        return {"rate": b.DX[:nq], "qdd": b.DX[nq : nq + nv], "power": b.DX[nq + nv :]}

    def normalize(self, b: Buffers) -> list[Native]:
        """Quaternions of length one, joints on their own constraints, in place; nothing where there are none."""
        return native_normalize(self.d.model, b.X[: self.nq], b.T, self.d.formulation.programs.store)

    def _watch(self, b: Buffers) -> Native:
        """The functions of all events, into G."""
        assert self._watched is not None
        graph = Graph()
        s = self.structure
        sizes = {"q": self.nq, "v": self.nv, "parameter": len(self.parameters), "t": 1}
        inputs = {name: tuple(graph.inputs(size)) for name, size in sizes.items()}
        motion: dict[str, Any] = dict(inputs)
        if self.momenta:
            speeds = PROGRAMS["speeds"]
            motion["v"] = run_program(speeds, s, inputs | {"p": inputs["v"]}, relink(speeds.function), dtype=object).v
        if self._watched.looks_at_bodies:
            program = PROGRAMS["motion"]
            state = {name: motion[name] for name in ("q", "v", "t")}
            found = run_program(program, s, state, relink(program.function), dtype=object)
            motion.update({name: x.ravel() for name, x in found._asdict().items()})
        return self.function(TracedProgram(graph, inputs, {"g": tuple(self._watched(motion))}), b, {}, b.G)

    def function(self, traced: TracedProgram, b: Buffers, more: dict[str, np.ndarray], target: np.ndarray) -> Native:
        """A graph of one output on the state in the buffers, with arrays more or instead of those."""
        (output,) = traced.outputs
        return GraphRunner(traced, store=self.d.formulation.programs.store).bind(self.inputs(b) | more | {output: target})

    def _jacobian(self, equations: Equations, b: Buffers) -> Native:
        """Derivatives along all directions at once, as a batch over the lanes of the processor: row j of J by x_j."""
        lanes = host_lanes() if self.n >= host_lanes() else 1
        arrays = self.inputs(b) | {"dx": np.eye(self.n, self.nq + self.nv), "d": b.J}
        return equations.along.bind(arrays, self.n, lanes)

    # --- loops ----------------------------------------------------------------------------------------------------------
    def _loops(self, balance: bool) -> System:
        """Models too large for straight-line code, and methods that iterate: native functions one after the other."""
        self.backend = "loops"
        s, compiled, nq = self.structure, self.d.formulation.programs, self.nq
        method = self.d.formulation.method.program
        forward = compiled.runner(f"forward/{method}", wrenches=True, backend="loops")
        iterates = "report" in forward.outputs
        account = Account(self, bool(self.tau.any())) if balance else None
        self.causes = account.causes if account else ()
        b = buffers(self.n, events=len(self.events), report=2 if iterates else 0)
        at = self.inputs(b) | self._derivative(b) | {"report": b.report, "wrench": np.zeros(6 * (s.nb + 1))}
        rates = compiled.runner("rates", backend="loops").chain(at)
        return System(
            b,
            [*forward.chain(at), *rates, *(account.chain(at, at["power"]) if self.causes and account else [])],
            rates=rates,
            projection=self.normalize(b),
            events=self.watches(b),
            split=nq,
        )

    # --- by calls from Python -------------------------------------------------------------------------------------------
    def _python(self) -> System:
        """Methods that are sparse solves, and the interpreter: one call of Dynamics for every evaluation."""
        d, nq = self.d, self.nq
        self.backend = d.backend

        closed, name = d.constrained, self.stabilisation.name
        aid = Interpreted(closed, name, self.decay.tolist()) if closed and self.decay.size else None
        if closed and name == "partitioning":
            self.dependents = Dependents(closed, np.zeros(self.n), np.zeros(1), self.parameters)
            self.dependents.use_python()

        def derivative(t: float, x: np.ndarray) -> np.ndarray:
            if self.dependents:
                x = self.dependents.recovered(t, x)
            q, v = x[:nq], x[nq:]
            try:
                if self.momenta:
                    speeds = d.velocities(q, v, t)
                    return np.concatenate([d.rates(q, speeds, t), d.momentum_rates(q, v, self.tau, t)])
                more = aid(q, v, t, self.parameters) if aid else (0.0, 0.0)
                return np.concatenate([d.rates(q, v + more[0], t), d.forward(q, v, self.tau, t) + more[1]])
            except (SingularError, StateError):  # what is not finite the integrator deals with: a smaller step, or the end
                return np.full(self.n, np.nan)

        def projected(t: float, x: np.ndarray) -> np.ndarray:
            if closed and name == "projection":
                return np.concatenate(closed.project(x[:nq], x[nq:], t))
            x = np.concatenate([normalize(d.model, x[:nq].tolist(), t), x[nq:]])
            return self.dependents.recovered(t, x, reconsidered=True) if self.dependents else x

        def watch(t: float, x: np.ndarray) -> list[float]:
            q, v = x[:nq], x[nq:]
            v = d.velocities(q, v, t) if self.momenta else v
            motion: dict[str, Any] = {"q": q.tolist(), "v": v.tolist(), "t": [t], "parameter": self.parameters.tolist()}
            assert self._watched is not None
            if self._watched.looks_at_bodies:
                found = run_program(PROGRAMS["motion"], self.structure, motion)
                motion.update({name: part.ravel().tolist() for name, part in found._asdict().items()})
            return [float(g) for g in self._watched(motion)]

        places = quaternion_offsets(d.model)
        return from_python(
            derivative,
            self.n,
            events=watch if self._watched else None,
            n_events=len(self.events),
            projection=projected if places or self.dependents or (closed and name == "projection") else None,
            split=nq,
        )
