"""A model as a system of differential equations: native functions on buffers, ready for `integrate`.

The state is x = (q, v, w): coordinates, speeds (or momenta), and the work done so far by whatever feeds or takes energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backends.compiled_forces import CompiledForces
from ..backends.link import relink
from ..backends.llvm.emit import emit
from ..backends.llvm.jit import compile_text, host_lanes
from ..backends.llvm.runner import LLVMRunner
from ..backends.run import run_program
from ..backends.shelf import LIMIT
from ..backends.traced import TracedProgram
from ..backends.user_functions import USER_FUNCTIONS
from ..closed.put_right import put_right, quaternion_places
from ..closed.stabilisation import PROJECTION, Stabilisation
from ..closed.stabilised import Interpreted
from ..dynamics import Dynamics
from ..errors import SingularError, StateError
from ..integrate.system import Buffers, Call, System, buffers, from_python
from ..programs import PROGRAMS
from ..trace import Graph, GraphTooLarge
from .dependents import Dependents
from .events import Event, Watched
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
        self.momenta = d.method == "momentum"
        self.stabilisation = stabilisation or Stabilisation()
        self.decay = np.array(self.stabilisation.decay, dtype=float)
        self.dependents: Dependents | None = None
        self._onto: System | None = None
        self.causes: tuple[str, ...] = ()
        self.backend = "python"
        self.keep: list[Any] = []
        functions = [(f"event {e.name or k + 1!r}", e.when) for k, e in enumerate(self.events)]
        self._watched = Watched(s, functions) if functions else None
        straight = self._traced(balance)
        quiet = not (s.drives or s.given or s.forces or self.tau.any())
        self.accounted = quiet or (straight is not None and balance)
        """Whether the work of everything that feeds or takes energy is kept account of."""
        if straight:
            self.system = self._native(straight, jacobian)
        elif d.closed and d.closed.backend != "python" and not d.closed.form:
            self.backend = "numba"
            self.system = closed_loops(self, d.closed)
        elif d._method.program and d._shelf.asked != "python" and not d.closed:
            self.system = self._loops()
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
        closed = self.d.closed
        if not closed or self.stabilisation.name == PROJECTION:
            return x
        if closed.backend == "python" or closed.form:
            return np.concatenate(closed.project(x[: self.nq], x[self.nq :], t))
        if self._onto is None:
            b = self.system.buffers
            self._onto = System(b, (), projection=Kept(self, closed, b).onto(), keep=self.keep)
        return self._onto.projected(t, x)

    # --- compiled -----------------------------------------------------------------------------------------------------------
    def _traced(self, balance: bool) -> Equations | None:
        method = self.d._method
        straight = method.program is not None and "iterative" not in method.name
        if self.d.closed and self.d.closed.form:
            return None
        if not (straight or self.momenta) or self.d._shelf.asked in ("python", "numba"):
            return None
        if self.d.closed and not self.d.closed.is_small:
            return None
        limit = LIMIT if self.d._shelf.asked == "auto" else None
        try:
            return equations(self.d, balance, bool(self.tau.any()), limit, self.stabilisation.name)
        except GraphTooLarge:
            return None

    def _native(self, equations: Equations, jacobian: bool) -> System:
        self.backend = "llvm"
        self.causes = equations.derivative.causes
        b = buffers(self.n, events=len(self.events), jacobian=jacobian)
        call = self._call(equations, b, {"rate": 0, "qdd": self.nq, "power": self.nq + self.nv})
        kept = Kept(self, self.d.closed, b) if self.d.closed else None
        by_differences = kept is not None and bool(kept.before)  # what comes before an evaluation is no part of the graph
        return System(
            b,
            [*kept.before, call] if kept else [call],
            projection=kept.after if kept else self.put_right(b),
            events=self.watches(b),
            jacobian=[self._jacobian(equations, b)] if jacobian and not by_differences else (),
            split=self.nq,
            keep=self.keep,
        )

    def watches(self, b: Buffers) -> list[Call]:
        return [self._watch(b)] if self._watched else []

    def inputs(self, b: Buffers) -> dict[str, int]:
        """Where compiled code finds what it reads."""
        x = b.X.ctypes.data
        return {
            "q": x, "v": x + 8 * self.nq, "t": b.T.ctypes.data,
            "tau": self.tau.ctypes.data, "parameter": self.parameters.ctypes.data, "decay": self.decay.ctypes.data,
        }  # fmt: skip

    def _call(self, equations: Equations, b: Buffers, into: dict[str, int]) -> Call:
        """One state: outputs go into DX at the given places."""
        traced, compiled = equations.traced, equations.code(1)
        check, at = np.zeros(1), self.inputs(b)
        numbers = [1]
        for name in traced.inputs:
            numbers += [at[name], 0]
        numbers += [b.DX.ctypes.data + 8 * into[name] for name in traced.outputs]
        arguments = np.array([*numbers, check.ctypes.data], dtype=np.int64)
        self.keep += [compiled, check, arguments]
        return compiled.address, arguments

    def put_right(self, b: Buffers) -> list[Call]:
        """Quaternions of length one, joints on their own constraints, in place; nothing where there are none."""
        if not quaternion_places(self.d.model):
            return []
        graph = Graph()
        q, t = tuple(graph.inputs(self.nq)), tuple(graph.inputs(1))
        right = tuple(put_right(self.d.model, q, t[0]))
        return [self.function(TracedProgram(graph, {"q": q, "t": t}, {"q": right}), b, b.X)]

    def _watch(self, b: Buffers) -> Call:
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
        return self.function(TracedProgram(graph, inputs, {"g": tuple(self._watched(motion))}), b, b.G)

    def function(self, traced: TracedProgram, b: Buffers, target: np.ndarray, at: dict[str, int] | None = None) -> Call:
        compiled = compile_text(emit(traced, 1), self.d._shelf.store)
        check, at = np.zeros(1), at or self.inputs(b)
        numbers = [1, *(k for name in traced.inputs for k in (at[name], 0)), target.ctypes.data, check.ctypes.data]
        arguments = np.array(numbers, dtype=np.int64)
        self.keep += [compiled, check, arguments]
        return compiled.address, arguments

    def _jacobian(self, equations: Equations, b: Buffers) -> Call:
        """Derivatives along all directions at once, as a batch over the lanes of the processor: row j of J by x_j."""
        lanes = host_lanes() if self.n >= host_lanes() else 1
        along, compiled = equations.along, equations.jacobian_code(lanes)
        directions, check, at = np.eye(self.n, self.nq + self.nv), np.zeros(self.n), self.inputs(b)
        numbers = [self.n]
        for name in along.inputs:
            numbers += [directions.ctypes.data, self.nq + self.nv] if name == "dx" else [at[name], 0]
        arguments = np.array([*numbers, b.J.ctypes.data, check.ctypes.data], dtype=np.int64)
        self.keep += [compiled, directions, check, arguments]
        return compiled.address, arguments

    # --- loops ----------------------------------------------------------------------------------------------------------
    def _loops(self) -> System:
        """Models too large for straight-line code, and methods that iterate: native functions one after the other."""
        self.backend = "numba"
        s, shelf, nq = self.structure, self.d._shelf, self.nq
        method = self.d._method.program
        forward = shelf.runner(f"forward/{method}", wrenches=True, backend="numba")
        iterates = "report" in forward.outputs
        b = buffers(self.n, events=len(self.events), report=2 if iterates else 0)
        at = {
            "q": b.X[:nq], "v": b.X[nq:], "t": b.T, "rate": b.DX[:nq], "qdd": b.DX[nq:], "report": b.report,
            "drive": np.zeros(3 * len(s.drives)), "given": np.zeros(s.sizes["ng"]), "load": np.zeros(s.sizes["nf"]),
            "tau": self.tau, "wrench": np.zeros(6 * (s.nb + 1)),
            "r": np.zeros(3 * (s.nb + 1)), "G": np.zeros(9 * (s.nb + 1)), "velocity": np.zeros(6 * (s.nb + 1)),
        }  # fmt: skip
        calls: list[Call] = []
        if s.drives or s.given:
            calls.append(self._straight(LLVMRunner(USER_FUNCTIONS, s, store=shelf.store), at))
        if s.forces:
            if s.forces.kinematic:
                calls.append(self._looped(shelf.runner("motion", backend="numba"), at))
            forces = CompiledForces(s, self.tau, shelf.store)
            at["tau"] = np.zeros(s.nv)
            calls.append(self._straight(forces, at))
        calls.append(self._looped(forward, at))
        rates = self._looped(shelf.runner("rates", backend="numba"), at)
        self.keep.append(at)
        return System(
            b,
            [*calls, rates],
            rates=[rates],
            projection=self.put_right(b),
            events=self.watches(b),
            split=nq,
            keep=self.keep,
        )

    def _looped(self, runner: Any, at: dict[str, np.ndarray]) -> Call:
        address, arguments, alive = runner.native(at, at)
        self.keep += [arguments, alive]
        return address, arguments

    def _straight(self, runner: LLVMRunner, at: dict[str, np.ndarray]) -> Call:
        check = np.zeros(1)
        arguments = runner.arguments(0, 1, [at[k][None] for k in runner.inputs], [at[k][None] for k in runner.outputs], check)
        self.keep += [runner, runner.single, check, arguments]
        return runner.single.address, arguments

    # --- by calls from Python -------------------------------------------------------------------------------------------
    def _python(self) -> System:
        """Methods that are sparse solves, and the interpreter: one call of Dynamics for every evaluation."""
        d, nq = self.d, self.nq
        self.backend = d.backend

        closed, name = d.closed, self.stabilisation.name
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
            x = np.concatenate([put_right(d.model, x[:nq].tolist(), t), x[nq:]])
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

        places = quaternion_places(d.model)
        return from_python(
            derivative,
            self.n,
            events=watch if self._watched else None,
            n_events=len(self.events),
            projection=projected if places or self.dependents or (closed and name == "projection") else None,
            split=nq,
        )
