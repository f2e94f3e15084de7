"""Dynamics: a model with one method of forming and solving its equations, and every question one asks of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .backends.counting import Count, count_as_written, count_compiled
from .backends.llvm.runner import GraphRunner
from .backends.run import input_sizes
from .backends.traced import trace_program
from .errors import MethodError, SingularError, known
from .forms import FORMS, separate
from .forms.matrices import Matrices
from .forms.solution import Solution
from .model.model import Model
from .model.states import check_finite, check_state, check_wrenches
from .programs import PROGRAMS, program_for
from .solvers.arguments import Arguments, batch_size, check_out
from .solvers.formulation import Formulation

if TYPE_CHECKING:
    from .solvers.constrained import ConstrainedSolver


class Dynamics:
    """A model compiled for one method. One state (nq,) or a batch (B, nq) goes in, the same comes out.

    method   "auto" or a name of `sharnir.methods()`; `why` says why auto chose it
    backend  "auto": straight-line code for models that compile quickly, loops beyond; "llvm", "loops", or "python", the
             kernels as they are written
    threads  for batches
    """

    def __init__(self, model: Model, method: str = "auto", backend: str = "auto", threads: int = 1) -> None:
        if not isinstance(threads, int) or threads < 1:
            raise MethodError(f"threads must be a whole number, at least 1; got {threads!r}")
        self.formulation = Formulation(model, method, backend)
        f = self.formulation
        self.model, self.structure, self.threads = f.model, f.structure, threads
        self.method, self.why = f.method.name, f.why
        self._compiled, self._method, self.constrained = f.programs, f.method, f.constrained
        self._fast: dict[tuple[str, tuple[str, ...]], tuple[Any, Any, list[str]]] = {}
        self._forward_one: Callable[..., Any] = self._first_forward
        self._forward_many: Callable[..., Any] = self._first_forwards

    @property
    def backend(self) -> str:
        """What forward dynamics runs on."""
        if self._method.program is None:
            return self._method.backends[0]
        return self._compiled.backend_of(f"forward/{self._method.program}")

    # --- motion from forces -------------------------------------------------------------------------------------------------
    def forward(
        self, q: Any = None, v: Any = None, tau: Any = None, t: Any = 0.0, wrenches: Any = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """q̈ (nv,) from joint forces τ and wrenches (N, 6) on the bodies (at their origins, body axes)."""
        if wrenches is None:
            done = self._forward_one(q, v, tau, t) if out is None else None
            if done is None:
                done = self._forward_many(out, q, v, tau, t)
            if done is not None:
                return done
        if self.constrained:
            return self._answers.forward(q, v, tau, t, wrenches, out)
        if self._method.program is None:
            return self._by_form(q, v, tau, t, wrenches, "qdd", out)
        return self._run(f"forward/{self._method.program}", "qdd", out, q=q, v=v, tau=tau, wrench=wrenches, t=t)

    def reactions(self, q: Any = None, v: Any = None, tau: Any = None, t: Any = 0.0, wrenches: Any = None) -> np.ndarray:
        """R (N, 6): force and moment of joint i on body i at its origin, body axes. AᵀR = τ; drive forces included.

        With closed loops: of the joints of the tree; those of the cut joints are given by `closing_reactions`.
        """
        if self.constrained:
            return self._answers.solve(q, v, tau, t, wrenches).R
        if self._method.program is None:
            return self._by_form(q, v, tau, t, wrenches, "R")
        if self._method.iterates:
            a = self.forward(q, v, tau, t, wrenches)
            return self.inverse_reactions(q, v, a, t, wrenches)
        return self._bodies(self._run(f"solve/{self._method.program}", "R", q=q, v=v, tau=tau, wrench=wrenches, t=t))

    def solve(self, q: Any = None, v: Any = None, tau: Any = None, t: Any = 0.0, wrenches: Any = None) -> Solution:
        """Accelerations of coordinates (qdd) and of bodies (vdot), and reactions (R)."""
        if self.constrained:
            return self._answers.solve(q, v, tau, t, wrenches)
        if self._method.program is None:
            names = ("qdd", "vdot", "R")
            return Solution(*(self._by_form(q, v, tau, t, wrenches, name) for name in names))
        program = "separate" if self._method.iterates else self._method.program
        found = self._run_all(f"solve/{program}", q=q, v=v, tau=tau, wrench=wrenches, t=t)
        return Solution(found["qdd"], self._bodies(found["vdot"]), self._bodies(found["R"]))

    def multipliers(self, q: Any = None, v: Any = None, tau: Any = None, t: Any = 0.0, wrenches: Any = None) -> np.ndarray:
        """λ of every row of the constraints (`constraint_rows` names them): M v̇ + h = τ + Jᵀλ. Least where not determined."""
        return self._answers.multipliers(q, v, tau, t, wrenches)

    def closing_reactions(
        self, q: Any = None, v: Any = None, tau: Any = None, t: Any = 0.0, wrenches: Any = None
    ) -> dict[str, dict[str, np.ndarray]]:
        """What constraints do to bodies: {constraint: {body: (…, 6) force and moment at its origin, its axes}}."""
        return self._answers.closing_reactions(q, v, tau, t, wrenches)

    @property
    def constraint_rows(self) -> list[str]:
        """What every row of the constraints forbids."""
        return [str(row) for row in self._answers.closed.table.rows]

    def iterations(self, q: Any, v: Any, tau: Any = None, t: Any = 0.0, wrenches: Any = None) -> np.ndarray:
        """Forward dynamics by an iterative method, reported: (…, 2) iterations, and 1 where it had to factorise afresh."""
        if not self._method.iterates:
            raise MethodError(
                f"method {self.method!r} does not iterate; the iterative ones are 'inverse-iterative', 'direct-iterative'"
            )
        return self._run(f"forward/{self._method.program}", "report", q=q, v=v, tau=tau, wrench=wrenches, t=t)

    # --- forces from motion -------------------------------------------------------------------------------------------------
    def inverse(
        self,
        q: Any,
        v: Any,
        a: Any,
        t: Any = 0.0,
        wrenches: Any = None,
        out: np.ndarray | None = None,
        actuated: Sequence[str] | None = None,
    ) -> np.ndarray:
        """τ (nv,) that makes the mechanism move with accelerations a.

        With closed loops many τ do; this is the least of them (in its sum of squares). `actuated` names the joints that have
        motors ("joint", or "joint.part" for one of its freedoms): τ is zero elsewhere, again the least where there are more
        motors than freedoms; a motion they cannot give, or one that breaks a constraint, is refused with what is missing.
        """
        if self.constrained:
            return self._answers.inverse(q, v, a, t, wrenches, out, actuated)
        if actuated is not None:
            self._check_actuated(q, v, a, t, wrenches, actuated)
        if wrenches is None:
            done = self._fast_path("inverse", ("tau",), out, {"q": q, "v": v, "qdd": a, "t": t})
            if done is not None:
                return done[0]
        return self._run("inverse", "tau", out, q=q, v=v, qdd=a, wrench=wrenches, t=t)

    def inverse_reactions(
        self, q: Any, v: Any, a: Any, t: Any = 0.0, wrenches: Any = None, actuated: Sequence[str] | None = None
    ) -> np.ndarray:
        """R (N, 6) of every joint of the tree, drive forces included, when the motion is given.

        With closed loops: under the joint forces of `inverse(…, actuated)`, which should be said where there are fewer motors
        than joints. Forces of constraints that are not determined are the least; `inverse_closing_reactions` gives them.
        """
        if self.constrained:
            return self._answers.inverse_reactions(q, v, a, t, wrenches, actuated)
        if actuated is not None:
            self._check_actuated(q, v, a, t, wrenches, actuated)
        return self._bodies(self._run("kinetostatics", "R", q=q, v=v, qdd=a, wrench=wrenches, t=t))

    def inverse_closing_reactions(
        self, q: Any, v: Any, a: Any, t: Any = 0.0, wrenches: Any = None, actuated: Sequence[str] | None = None
    ) -> dict[str, dict[str, np.ndarray]]:
        """`closing_reactions` of a given motion: what cut joints and other constraints do to the bodies."""
        return self._answers.inverse_closing_reactions(q, v, a, t, wrenches, actuated)

    def mass_matrix(self, q: Any = None, t: Any = 0.0, out: np.ndarray | None = None) -> np.ndarray:
        """M_r (nv, nv), by the method's own algorithm."""
        return self._run(f"inertia/{self._method.inertia}", "M", out, q=q, t=t)

    def bias(self, q: Any = None, v: Any = None, t: Any = 0.0, wrenches: Any = None) -> np.ndarray:
        """h (nv,): M_r q̈ + h = τ."""
        return self._run("bias", "h", q=q, v=v, wrench=wrenches, t=t)

    # --- momenta ------------------------------------------------------------------------------------------------------------
    def momenta(self, q: Any = None, v: Any = None, t: Any = 0.0) -> np.ndarray:
        """p (nv,) = BᵀMv: generalised momenta."""
        return self._run("momenta", "p", q=q, v=v, t=t)

    def velocities(self, q: Any, p: Any, t: Any = 0.0) -> np.ndarray:
        """v (nv,) that has the momenta p."""
        return self._run("speeds", "v", q=q, p=p, t=t)

    def momentum_rates(self, q: Any, p: Any, tau: Any = None, t: Any = 0.0, wrenches: Any = None) -> np.ndarray:
        """ṗ (nv,), without accelerations."""
        if self.constrained:
            raise MethodError("the form in momenta does not handle closed loops and constraints; use forward")
        v = self.velocities(q, p, t)
        return self._run("momentum-rates", "dp", q=q, v=v, tau=tau, wrench=wrenches, t=t)

    # --- kinematics and energy ------------------------------------------------------------------------------------------------
    def rates(self, q: Any = None, v: Any = None, t: Any = 0.0) -> np.ndarray:
        """q̇ (nq,): rates of the coordinates at speeds v."""
        return self._run("rates", "rate", q=q, v=v, t=t)

    def poses(self, q: Any = None, t: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (N, 3, 3), body → world, and position (N, 3) of every body."""
        found = self._run_all("poses", q=q, t=t)
        G = self._bodies(found["G"])
        return G.reshape(*G.shape[:-1], 3, 3).swapaxes(-1, -2), self._bodies(found["r"])

    def body_velocities(self, q: Any = None, v: Any = None, t: Any = 0.0) -> np.ndarray:
        """(N, 6): velocity of the origin and angular velocity of every body, body axes."""
        return self._bodies(self._run("velocities", "velocity", q=q, v=v, t=t))

    def jacobian(self, q: Any, body: str, point: Any = (0.0, 0.0, 0.0), t: Any = 0.0) -> np.ndarray:
        """J (6, nv): velocity of a point of a body and the body's angular velocity, in world axes, per unit of speed."""
        index = float(self.model.body_index(body) + 1)
        return self._run("jacobian", "J", integers={"body": (index,)}, q=q, point=point, t=t)

    def energy(self, q: Any = None, v: Any = None, t: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic energy, and potential energy: of gravity, and what the model's forces store."""
        both = self._run("energy", "energy", q=q, v=v, t=t)
        stored = self.force_energies(q, v, t).sum(axis=-1) if self.structure.forces else 0.0
        return both[..., 0], both[..., 1] + stored

    def force_energies(self, q: Any = None, v: Any = None, t: Any = 0.0) -> np.ndarray:
        """(number of forces): energy stored in every force of the model, in the order of `force_names`."""
        return self._run("forces", "energy", q=q, v=v, t=t)

    def force_powers(self, q: Any = None, v: Any = None, t: Any = 0.0) -> np.ndarray:
        """(number of forces): power of every force of the model, positive where it adds energy to the motion."""
        return self._run("forces", "power", q=q, v=v, t=t)

    def force_actions(
        self, q: Any = None, v: Any = None, t: Any = 0.0, parameters: Any = None
    ) -> dict[str, dict[str, np.ndarray]]:
        """What every force of the model does: {force: {body: (…, 6) force and moment at its origin, its axes; joint: (…, n)}}."""
        s = self.structure
        if not s.forces:
            return {}
        rows, n, single = self._arguments.states(q=q, v=v, t=t)
        found = self._run_all("motion", q=q, v=v, t=t)
        motion = {name: np.broadcast_to(rows[name], (n, rows[name].shape[-1])).T for name in ("q", "v", "t")}
        motion |= {name: x.reshape(n, -1).T for name, x in found.items()}
        if parameters is not None:
            motion["parameter"] = np.atleast_2d(parameters).T
        return {name: self._by_name(action, n, single) for name, action in s.forces.actions(motion).items()}

    def _by_name(self, action: tuple[dict[tuple[int, int], Any], dict[int, Any]], n: int, single: bool) -> dict[str, np.ndarray]:
        s, out = self.structure, dict[str, np.ndarray]()
        for (row, c), x in action[0].items():
            out.setdefault(s.bodies[row - 1].name, np.zeros((n, 6)))[:, c] = x
        for a, x in action[1].items():
            i = int(np.searchsorted(s.v_first, a, side="right")) - 1
            joint = s.placed[i - 1]
            out.setdefault(joint.name, np.zeros((n, joint.nv)))[:, a - int(s.v_first[i])] = x
        return {name: x[0] if single else x for name, x in out.items()}

    @property
    def force_names(self) -> list[str]:
        """Forces that joints bring along (damping, stiffness), then those that were added."""
        return self.structure.forces.names

    def total_momentum(self, q: Any = None, v: Any = None, t: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Momentum (6,), linear then angular about the world's origin, and centre of mass (3,), all in the world."""
        found = self._run_all("total", q=q, v=v, t=t)
        return found["momentum"][..., 0, :], found["centre"][..., 0, :]

    # --- cost ---------------------------------------------------------------------------------------------------------------
    def count(self, what: str = "forward", compiled: bool = False) -> Count:
        """Operations of one evaluation of "forward", "inverse", "inertia" …: as written (nothing folded), or as compiled
        for this model (constants folded, equal parts shared)."""
        name = {"forward": f"forward/{self._method.program}", "inertia": f"inertia/{self._method.inertia}"}.get(what, what)
        if name not in PROGRAMS:
            raise MethodError(
                f"nothing to count for {what!r} by {self.method!r}; try {known(['forward', 'inverse', 'inertia', 'energy'])}"
            )
        if self.constrained and what == "forward":
            return self._answers.count(compiled)
        program = program_for(self.structure, name)
        constant = self._compiled.no_wrench if "wrench" in program.inputs.__annotations__ else {}
        if compiled:
            if program.loops_only:
                raise MethodError(f"{name!r} is never compiled to straight-line code: it looks at numbers")
            return count_compiled(trace_program(program, self.structure, constant))
        rng = np.random.default_rng(0)
        values = {key: rng.uniform(0.1, 1.0, size) for key, size in input_sizes(program, self.structure).items()}
        return count_as_written(program, self.structure, {**values, "q": self.model.random_q(rng), "body": [1], **constant})[0]

    # --- inside -------------------------------------------------------------------------------------------------------------
    @cached_property
    def _arguments(self) -> Arguments:
        return Arguments(self.model)

    @cached_property
    def _answers(self) -> ConstrainedSolver:
        """Everything that constraints change."""
        if self.constrained is None:
            raise MethodError(f"model {self.model.name!r} is a tree: it has no constraints beyond its joints")
        from .solvers.constrained import ConstrainedSolver

        return ConstrainedSolver(self)

    def _check_actuated(self, q: Any, v: Any, a: Any, t: Any, wrenches: Any, actuated: Sequence[str]) -> None:
        """In a tree every joint without a motor must need none."""
        from .solvers.actuation import actuated_speeds, check_produced

        where = actuated_speeds(self.model, actuated)
        tree = self._run("inverse", "tau", q=q, v=v, qdd=a, wrench=wrenches, t=t)
        missing = np.atleast_2d(tree).copy()
        missing[:, where] = 0.0
        check_produced(self.model, missing, np.atleast_2d(tree), where, tree.ndim == 1)

    def _fast_path(self, name: str, outputs: tuple[str, ...], out: np.ndarray | None, given: Mapping[str, Any]) -> Any:
        """The fast path: plain arrays straight to the compiled code, one state or a batch; a tuple of the outputs, or None
        where that does not apply."""
        one, many, names = self._fast.get((name, outputs)) or self._make_quick(name, outputs)
        values = [given[key] for key in names]
        done = one(*values) if out is None else None
        if done is None and many is not None and self.threads == 1:
            done = many(out, *values)
        return (done,) if len(outputs) == 1 and done is not None else done

    def _first_forward(self, *values: Any) -> np.ndarray | None:
        """From the second call on, one state finds the compiled code without asking where it is."""
        self._find_forward()
        return self._forward_one(*values)

    def _first_forwards(self, out: np.ndarray | None, *values: Any) -> np.ndarray | None:
        """The same for a batch."""
        self._find_forward()
        return self._forward_many(out, *values)

    def _find_forward(self) -> None:
        name = "forward" if self.constrained else f"forward/{self._method.program}"
        self._forward_one, many, _ = self._make_quick(name, ("qdd",))
        self._forward_many = _no_fast_path if many is None or self.threads > 1 else many

    def _make_quick(self, name: str, outputs: tuple[str, ...]) -> tuple[Any, Any, list[str]]:
        from .backends.fast_path import fast_batch, fast_single

        runner: Any = None
        if self.constrained and name == "forward":
            runner = self._answers.code.forward() if self._answers.code.solves else None
        elif (name in PROGRAMS or name == "forces") and self._compiled.backend_of(name) != "python":
            runner = self._compiled.runner(name, outputs, wrenches=False)
        if runner is None:
            self._fast[name, outputs] = _no_fast_path, None, []
        else:
            many = fast_batch(runner) if isinstance(runner, GraphRunner) and len(outputs) == 1 else None
            self._fast[name, outputs] = fast_single(runner), many, list(runner.inputs)
        return self._fast[name, outputs]

    def _run(
        self,
        name: str,
        output: str,
        out: np.ndarray | None = None,
        integers: Mapping[str, Sequence[float]] | None = None,
        **given: Any,
    ) -> np.ndarray:
        return self._run_all(name, (output,), out, integers, **given)[output]

    def _run_all(
        self,
        name: str,
        outputs: tuple[str, ...] = (),
        out: np.ndarray | None = None,
        integers: Mapping[str, Sequence[float]] | None = None,
        **given: Any,
    ) -> dict[str, np.ndarray]:
        """Check, run, check: every question ends here. One state or a batch, by the shapes given."""
        with_wrenches = given.get("wrench") is not None
        if not with_wrenches:
            given.pop("wrench", None)
            if not integers:
                if not outputs:
                    outputs = tuple(program_for(self.structure, name).outputs.__annotations__)
                done = self._fast_path(name, outputs, out, given)
                if done is not None:
                    return dict(zip(outputs, done, strict=True))
        runner = self._compiled.runner(name, outputs, with_wrenches, integers)
        arrays = {key: self._arguments.row(key, given[key], size) for key, size in runner.inputs.items()}
        n, single = batch_size(arrays)
        rows = [x for x, _ in arrays.values()]
        shapes = list(runner.outputs.values())
        results = [np.empty((n, *shape)) for shape in shapes]
        if out is not None:
            check_out(out, shapes[0] if single else (n, *shapes[0]))
            if not any(np.may_share_memory(out, x) for x in rows):
                results[0] = out.reshape(n, *shapes[0])
        if n:
            flat = [y.reshape(n, prod(shape)) for y, shape in zip(results, shapes, strict=True)]
            runner.run(n, rows, flat, self.threads)
        if single:
            if not all(np.isfinite(x).all() for x in rows) or not all(np.isfinite(_used(y)).all() for y in results):
                self._diagnose(given)
            results = [y[0] for y in results]
        found = dict(zip(runner.outputs, results, strict=True))
        if out is not None:
            first = next(iter(found))
            if not np.may_share_memory(out, found[first]):
                out[...] = found[first]
            found[first] = out
        return found

    def _bodies(self, x: np.ndarray) -> np.ndarray:
        """Rows of bodies from an output that has a row for the base too."""
        return x[..., 1:, :]

    def _by_form(self, q: Any, v: Any, tau: Any, t: Any, wrenches: Any, what: str, out: np.ndarray | None = None) -> np.ndarray:
        """The methods that remain sparse solves, state by state."""
        if self._method.in_momenta:
            raise MethodError("the form in momenta has no accelerations; use velocities and momentum_rates, or another method")
        s = self.structure
        rows, n, single = self._arguments.states(wrenches, q=q, v=v, tau=tau, t=t)
        results = []
        for b in range(n):
            row = {key: x[b if len(x) > 1 else 0] for key, x in rows.items()}
            loads = row["wrench"].reshape(-1, 6)[1:] if "wrench" in row else None
            m = Matrices(self.model, row["q"], row["v"], float(row["t"][0]), loads, sparse=True)
            check_finite(row["tau"], lambda: self.model.v_names, "tau")
            results.append(getattr(FORMS[self.method](m, row["tau"]), what))
        shape = (s.nv,) if what == "qdd" else (s.nb, 6)
        found = results[0] if single else np.array(results).reshape(n, *shape)
        if out is not None:
            check_out(out, found.shape)[...] = found
            return out
        return found

    def _diagnose(self, given: Mapping[str, Any]) -> None:
        """Results are not finite: say which input is to blame, or which joint."""
        q, v, t = check_state(self.model, given.get("q"), given.get("v"), given.get("t", 0.0))
        check_wrenches(self.model, given.get("wrench"))
        for key, shown in (("tau", "tau"), ("qdd", "a"), ("p", "p")):
            if given.get(key) is not None:
                check_finite(self.model.speeds(given[key]), lambda: self.model.v_names, shown)
        if given.get("point") is not None:
            check_finite(np.asarray(given["point"], dtype=float), lambda: "xyz", "point")
        separate.check_inertia(Matrices(self.model, q, v, t, None, sparse=False))
        raise SingularError("the equations of motion have no finite solution in this state")

    def __repr__(self) -> str:
        return f"Dynamics({self.model.name!r}, method={self.method!r}, backend={self.backend!r})"


def _no_fast_path(*values: Any) -> None:
    return None


def _used(y: np.ndarray) -> np.ndarray:
    """An output of one state without the base's row, which is not always written."""
    return y[0] if y.ndim < 3 else y[0, 1:]
