"""Exact derivatives of a closed system: of accelerations, of joint forces of least norm, of multipliers.

At fixed a and λ the residuals of the equations are differentiated in one graph; the changes of a and λ then solve the same
linear equations as a and λ do, with another right-hand side for every column. See docs/theory/derivatives_closed.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends import sizes
from ..backends.differentiated import differentiated, evaluated
from ..backends.fast_path import FastPath, fast_path
from ..backends.graph_function import GraphFunction
from ..backends.run import evaluate, relink
from ..backends.traced import TracedProgram, state_inputs, traced_program
from ..equations.assembly.least_motion import times
from ..equations.kernels.solution import ConstrainedState
from ..equations.motion.constrained import ConstrainedEquations
from ..errors import SingularError
from ..kernels.cholesky import substitute
from ..kernels.constrained import FLOOR, REFINED, constraint_forces, least_pivot, pushed
from ..trace import Graph, Number
from .actuation import least_changes, multipliers_of, null_rows, without_rows
from .derivatives import Derivatives, JacobianCode, Wrt, check_wrt, field_of
from .evaluator import At, Rows, unbatch

if TYPE_CHECKING:
    from .constrained import ConstrainedSolver


# --- accelerations of a closed system and their derivatives as one graph, for small models: nothing runs between its parts
def forward_graph(equations: ConstrainedEquations, residuals: TracedProgram, wrt: Sequence[str]) -> TracedProgram:
    """`equations` by an inertia matrix:

    q, v, tau, parameter, t → qdd, lam, `independent` (the least pivot of S) and, as "dq" …, derivatives of qdd.

    `residuals`: r and s with their Jacobians at fixed a and λ. More than `sizes.COLUMNS` nodes raise GraphTooLarge.
    """
    graph = Graph(sizes.COLUMNS)
    inputs: dict[str, Any] = equations.inputs(graph)
    c = equations.accelerations(inputs)
    found = evaluated(residuals, {**inputs, "qdd": c.qdd, "lam": c.lam})
    n, m = equations.sizes["n"], equations.sizes["m"]
    M, Z = c.M, _responses(c, m, n)
    outputs: dict[str, Any] = {"qdd": tuple(c.qdd), "lam": tuple(c.lam), "independent": (relink(least_pivot)(c.S, c.L),)}
    for name in wrt:
        if name == "tau":
            right, gamma = np.eye(n).astype(object), np.full((m, n), 0.0, dtype=object)
        else:
            columns = found[f"r/{name}"].size // max(n, 1)
            right, gamma = -1.0 * found[f"r/{name}"].reshape(n, columns), found[f"s/{name}"].reshape(m, columns)
        for column in right.T:
            relink(substitute)(M, column, n)
        outputs[f"d{name}"] = tuple((right - Z.T @ (gamma + c.J @ right) if m else right).ravel())
    return traced_program(inputs, outputs)


def _responses(c: ConstrainedState, m: int, n: int) -> np.ndarray:
    """Row k: the accelerations by the constraint forces that a unit on the right of row k causes."""
    Z = np.full((m, n), 0.0, dtype=object)
    for k in range(m):
        unit, work, lam = (np.full(m, 0.0, dtype=object) for _ in range(3))
        unit[k] = 1.0
        relink(constraint_forces)(c.S, c.L, unit, work, lam)
        relink(pushed)(c.W, lam, 1.0, Z[k])
    return Z


# --- derivatives by parts, or as that graph
CONSTANT_RANK = 1e-7
"""Rows that depend on one another stay so in a direction if they change by less than this, relative to the change of all rows."""


TURNING = {"q", "parameter"}
"""The inputs that constraint rows change with."""
NEAR_DEPENDENCE = 1e-2
"""Pivot of S below which ε of (L7) shows in the derivatives."""


class ConstrainedDerivatives:
    """Derivatives of the results of one solver."""

    def __init__(self, solver: ConstrainedSolver) -> None:
        self.solver, self.evaluator = solver, solver.evaluator
        self.equations, self.code, self.structure = solver.equations, solver.code, solver.evaluator.structure
        self._graphs: dict[tuple[str, ...], FastPath] = {}

    # --- graphs -------------------------------------------------------------------------------------------------------------
    @cached_property
    def residuals(self) -> JacobianCode:
        """q, v, qdd, lam, t → r = inverse(q, v, qdd) − Jᵀlam and s = J qdd + γ, with M and J."""
        n, m = self.structure.nv, len(self.equations.table)
        return JacobianCode(self.evaluator, "derivatives", self._residuals, ("r", "s"), {"M": (n, n), "J": (m, n)})

    def _residuals(self, graph: Graph) -> TracedProgram:
        s = self.structure
        values = state_inputs(s, graph, qdd=s.nv, lam=len(self.equations.table))
        given = {**values, "wrench": [0.0] * (6 * (s.nb + 1))}
        rows = self.equations.table.trace(values)
        tree = evaluate(s, "inverse", given).tau
        carried = _products(zip(*rows.J, strict=True), values["lam"], s.nv)
        moved = _products(rows.J, values["qdd"], len(rows.J))
        outputs = {
            "r": tuple(x - y for x, y in zip(tree, carried, strict=True)),  # (DC1)
            "s": tuple(x + y for x, y in zip(moved, rows.gamma, strict=True)),  # (DC2)
            "M": tuple(evaluate(s, "inertia/composite", given).M.ravel()),
            "J": rows.groups["J"],
        }
        return traced_program(values, outputs)

    @cached_property
    def rows(self) -> JacobianCode:
        """q, v, lam, y, t → Jᵀlam and J y."""
        return JacobianCode(self.evaluator, "derivatives", self._rows, ("carried", "moved"))

    def _rows(self, graph: Graph) -> TracedProgram:
        values = state_inputs(self.structure, graph, lam=len(self.equations.table), y=self.structure.nv)
        J = self.equations.table.trace(values).J
        outputs = {
            "carried": _products(zip(*J, strict=True), values["lam"], self.structure.nv),
            "moved": _products(J, values["y"], len(J)),
        }
        return traced_program(values, outputs)

    # --- motion from forces -------------------------------------------------------------------------------------------------
    def forward(self, at: At, wrt: Wrt) -> Derivatives:
        if wrt.__class__ is not tuple or wrt not in self._graphs:
            wrt = check_wrt(wrt, ("q", "v", "tau"), self.evaluator)
        if wrt not in self._graphs:
            self._graphs[wrt] = fast_path(self._one_graph(wrt), self.evaluator.threads)
        more = self.evaluator.fast_parameters(at["parameter"])
        done = self._graphs[wrt](None, at["q"], at["v"], at["tau"], *more, at["t"])
        if done is not None and not (done[2] < NEAR_DEPENDENCE).any():
            return Derivatives(done[0], **{field_of(name): x for name, x in zip(wrt, done[3:], strict=True)})
        return self._by_parts(at, wrt)

    def _one_graph(self, wrt: tuple[str, ...]) -> GraphFunction | None:
        """None where it would be too large, or is not compiled."""
        if self.equations.backend != "llvm" or not self.equations.is_small:
            return None
        names = [name for name in wrt if name != "tau"]

        def trace() -> TracedProgram:
            residuals = differentiated(self.structure, self._residuals(Graph(sizes.COLUMNS)), names, ("r", "s"))
            return forward_graph(self.equations.with_inertia, residuals, wrt)

        traced = sizes.fits(trace)
        if traced is None:
            return None
        nv = self.structure.nv
        shapes = {name: (nv, len(x) // max(nv, 1)) if name[0] == "d" else (len(x),) for name, x in traced.outputs.items()}
        return GraphFunction(traced, self.equations.store, shapes)

    def _by_parts(self, at: At, wrt: tuple[str, ...]) -> Derivatives:
        rows, n, single = self.evaluator.arguments.states(at)
        qdd, lam = self._solution(rows, n)
        self.solver.check_finite(qdd, rows, single)
        changes = self.changes(rows, n, qdd, lam, wrt, refined=True)
        found = {field_of(name): unbatch(da, single, None) for name, (da, _) in changes.items()}
        return Derivatives(unbatch(qdd, single, None), **found)

    def _solution(self, rows: Rows, n: int) -> tuple[np.ndarray, np.ndarray]:
        """a and λ as the equations with constraints have them (L7), whatever form the solver solves them by."""
        if self.equations.backend == "llvm" and self.equations.is_small:
            found = self.evaluator.run(self.code.solution("qdd", "lam", "independent"), rows, n)
            return found["qdd"], found["lam"]
        qdd, lam, _ = self.solver.state_by_state(rows, n)
        return qdd, lam

    def changes(
        self, rows: Rows, n: int, qdd: np.ndarray, lam: np.ndarray, wrt: Sequence[str], refined: bool = False
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Derivatives by name: of a (n, nv, columns) and λ (n, m, columns). `refined`: of a and λ as (L7) has them."""
        found = self.residuals.run({**rows, "qdd": qdd, "lam": lam}, n, [name for name in wrt if name != "tau"])
        x = self.equations.responses(found["M"], found["J"])
        near = (x.independent < NEAR_DEPENDENCE) & np.isfinite(qdd).all(axis=1) & np.isfinite(lam).all(axis=1)
        some = {name: y[near] if len(y) == n else y for name, y in rows.items()}
        out = {}
        for name in wrt:
            free = x.K.copy() if name == "tau" else -(x.K @ found[f"r/{name}"])
            dlam = x.G.swapaxes(1, 2) @ -(x.J @ free + (0.0 if name == "tau" else found[f"s/{name}"]))
            out[name] = free + x.W.swapaxes(1, 2) @ dlam, dlam  # (DC5)
        if refined and near.any():
            for name, (da, dlam) in self._refined(some, qdd[near], lam[near], wrt).items():
                out[name][0][near], out[name][1][near] = da, dlam
        return out

    def _refined(
        self, rows: Rows, qdd: np.ndarray, lam: np.ndarray, wrt: Sequence[str]
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        n, nv, m = len(qdd), self.structure.nv, len(self.equations.table)

        def residuals(a: np.ndarray, lam: np.ndarray) -> dict[str, np.ndarray]:
            found = self.residuals.run({**rows, "qdd": a, "lam": lam}, n, [name for name in wrt if name != "tau"])
            dr = [-np.broadcast_to(np.eye(nv), (n, nv, nv)) if name == "tau" else found[f"r/{name}"] for name in wrt]
            ds = [np.zeros((n, m, nv)) if name == "tau" else found[f"s/{name}"] for name in wrt]
            ends[:] = np.cumsum([x.shape[2] for x in dr])[:-1].tolist()
            return {**found, "dr": np.concatenate(dr, 2), "ds": np.concatenate(ds, 2)}

        ends: list[int] = []
        da, dlam = refined_changes(residuals, qdd, lam, self.equations.share)
        return dict(zip(wrt, zip(np.split(da, ends, 2), np.split(dlam, ends, 2), strict=True), strict=True))

    def least_changes(
        self, rows: Rows, n: int, qdd: np.ndarray, lam: np.ndarray, wrt: Sequence[str]
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """`changes` at λ of least norm, of λ of least norm."""
        found = self.changes(rows, n, qdd, lam, wrt)
        J = self.solver.constraint_values(rows, n)[0]
        null = null_rows(J)
        if not null.any():
            return found
        turns = {}
        for name in [name for name in wrt if name in TURNING]:  # dependent rows that turn take λ with them
            self._check_constant_rank(rows, n, J, null, "multipliers of least norm", name)
            y = multipliers_of(J.swapaxes(1, 2), lam)
            moved = self.rows.run({**rows, "lam": np.zeros((1, lam.shape[1])), "y": y}, n, (name,))[f"moved/{name}"]
            turns[name] = moved - without_rows(null, moved)
        return {name: (da, without_rows(null, dlam) + turns.get(name, 0.0)) for name, (da, dlam) in found.items()}  # (DC9)

    # --- forces from motion -------------------------------------------------------------------------------------------------
    def inverse(self, at: At, wrt: Wrt) -> Derivatives:
        wrt = check_wrt(wrt, ("q", "v", "a"), self.evaluator)
        tau = self.solver.inverse(at)
        rows, n, single = self.evaluator.arguments.states(at)
        least = tau.reshape(n, self.structure.nv)
        J = self.solver.constraint_values(rows, n)[0]
        lam = multipliers_of(J, self.solver.tree_forces(rows, n).reshape(least.shape) - least)
        found = self.residuals.run({**rows, "lam": lam}, n, [name for name in wrt if name != "a"])
        changes = {}
        for name in wrt:
            moved = None
            if name in TURNING:
                self._check_constant_rank(rows, n, J, null_rows(J), "joint forces of least norm", name)
                moved = self.rows.run({**rows, "lam": lam, "y": least}, n, (name,))[f"moved/{name}"]
            changes[field_of(name)] = least_changes(J, found["M" if name == "a" else f"r/{name}"], moved)  # (DC7)
        return Derivatives(tau, **{name: unbatch(x, single, None) for name, x in changes.items()})

    def _check_constant_rank(self, rows: Rows, n: int, J: np.ndarray, null: np.ndarray, what: str, wrt: str) -> None:
        """Refuse rows that depend on one another here but not in the positions around. (DC8)"""
        y = np.zeros((1, self.structure.nv))
        for k in range(null.shape[1]):
            u = np.ascontiguousarray(null[:, k])
            if not u.any():
                continue
            found = self.rows.run({**rows, "lam": u, "y": y}, n, (wrt,))[f"carried/{wrt}"]
            left, size = np.abs(least_changes(J, found)).max(axis=(1, 2)), np.abs(found).max(axis=(1, 2))
            if (left > CONSTANT_RANK * (size + np.abs(J).max(axis=(1, 2), initial=0.0))).any():
                row = self.equations.table.rows[int(np.abs(u[left.argmax()]).argmax())]
                raise SingularError(
                    f"{what} have no derivative with respect to {wrt} here: constraint rows ({row} among them) depend on one "
                    f'another in this position but not in all around it; leave "{wrt}" out of wrt, or remove redundant '
                    "constraints (model.mobility names them)"
                )


def _products(rows: Any, x: Sequence[Number], size: int) -> tuple[Number, ...]:
    """Every row times x; `size` zeros where there are no rows."""
    out = tuple(sum((a * b for a, b in zip(row, x, strict=True)), 0.0) for row in rows)
    return out or (0.0,) * size


# --- where constraint rows nearly depend on one another
# There the solution is the one of (L7), in which ε stands beside S, not that of the equations with constraints. Its six sweeps
# are differentiated one by one: each is a state of a and λ with residuals of its own.  docs/theory/derivatives_closed.md (DC6)
Residuals = Callable[[np.ndarray, np.ndarray], Mapping[str, np.ndarray]]
"""From a (k, n) and λ (k, m): "r" and "s", and the changes "dr" (k, n, c), "ds" (k, m, c) along all directions; M and J."""


def refined_changes(residuals: Residuals, qdd: np.ndarray, lam: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives of a (k, n, c) and λ (k, m, c) as (L7) has them. `lam` may be any that goes with `qdd`: other methods divide
    the load between dependent rows in other ways, and r is differentiated at the λ of the sweeps."""
    here = residuals(qdd, lam)
    M, J = here["M"], here["J"]
    W = np.linalg.solve(M, J.swapaxes(1, 2)).swapaxes(1, 2)
    S = J @ W.swapaxes(1, 2)
    E = share * _diagonal(S)
    A = S + E[:, :, None] * np.eye(E.shape[1])
    d = times(S, lam) - here["s"]
    free = qdd - times(W.swapaxes(1, 2), lam)
    dE = share * _changes_of_diagonal(residuals, W)

    total, step, dlam = np.zeros_like(d), _solve(A, d), np.zeros_like(here["ds"])
    for _ in range(1 + REFINED):
        total = total + step
        here = residuals(free + times(W.swapaxes(1, 2), total), total)
        defect = W @ here["dr"] - here["ds"]  # changes of d − Sλ at fixed λ
        dlam = dlam + np.linalg.solve(A, defect - S @ dlam - dE * step[:, :, None])
        step = _solve(A, E * step)
    return np.linalg.solve(M, J.swapaxes(1, 2) @ dlam - here["dr"]), dlam


def _changes_of_diagonal(residuals: Residuals, W: np.ndarray) -> np.ndarray:
    """(k, m, c): of what ε multiplies, from those of S: dS_kk is the change of row k along the motion of a unit λ_k."""
    m = W.shape[1]
    nothing = residuals(np.zeros_like(W[:, 0]), np.zeros(W.shape[:2]))
    dS = np.empty_like(nothing["ds"])
    for k in range(m):
        unit = np.zeros(W.shape[:2])
        unit[:, k] = 1.0
        found = residuals(np.ascontiguousarray(W[:, k]), unit)
        dS[:, k] = found["ds"][:, k] - nothing["ds"][:, k] - np.einsum("bn,bnc->bc", W[:, k], found["dr"] - nothing["dr"])
    return dS + FLOOR / m * dS.sum(axis=1, keepdims=True)


def _diagonal(S: np.ndarray) -> np.ndarray:
    """The diagonal of S as `constraint_matrix` adds to it."""
    d = np.diagonal(S, axis1=1, axis2=2)
    return d + FLOOR / d.shape[1] * d.sum(axis=1, keepdims=True)


def _solve(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.linalg.solve(A, x[:, :, None])[:, :, 0]
