"""The model of [B] integrated as it stands: the extended system of a closed mechanism as a DAE, by IDA of SUNDIALS.

y = (q, v, V̇, R, λ, μ), and q̈ is the derivative of v: nothing is eliminated, no acceleration is solved for beforehand. What
stands in the rows of the constraints decides the index. Compared with projection, which integrates q, v alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time

import numpy as np

import sharnir as sh
from sharnir.forms.closed import independent_rows
from sharnir.machine import machine
from sharnir.reporting.formats import duration
from sharnir.reporting.table import Table

from .harness import results
from .stabilisation import START

ROWS = {
    "index 1": "J v̇ + γ = 0",
    "index 2": "the rates of the constraints, 0",
    "index 2, GGL": "g = 0 by multipliers μ of positions, and the rates 0",
}
"""Index of the system, and its rows of constraints."""
IGNORED = 1e6
"""Absolute tolerance of V̇, R, λ and μ, which have no history and are kept out of the control of the step."""


class Model:
    """The residuals of one mechanism with scleronomic or rheonomic constraints, whose rank is that of the start."""

    def __init__(self, model: sh.Model, q: np.ndarray, v: np.ndarray, index: str) -> None:
        self.model, self.index, self.evaluations = model, index, 0
        self.table = sh.Dynamics(model, "composite").constrained.table  # type: ignore[union-attr]
        self.used = independent_rows(self.table.evaluate(q, v, 0.0)["J"])
        if any(k >= self.table.n_holonomic for k in self.used):
            raise ValueError("rows of speeds have no g: take index 1 or 2 of another benchmark")
        n6, m = 6 * len(model.bodies), len(self.used)
        self.sizes = {"q": model.nq, "v": model.nv, "vdot": n6, "R": n6, "lam": m, "mu": m if "GGL" in index else 0}
        self.parts, at = dict[str, slice](), 0
        for name, size in self.sizes.items():
            self.parts[name], at = slice(at, at + size), at + size
        self.n = at

    def residual(self, t: float, y: np.ndarray, yp: np.ndarray, out: np.ndarray) -> None:
        """Row by row [B] (1): q̇ = Nv, M V̇ − SᵀR = F, −S V̇ + A q̈ = −w*, AᵀR + D q̈ − Jᵀλ = τ, and the rows of the constraints."""
        self.evaluations += 1
        q, v, vdot, R, lam, mu = (y[part] for part in self.parts.values())
        m = sh.matrices(self.model, q, v, t)
        now = self.table.evaluate(q, v, t)
        J, qdd = now["J"][self.used], yp[self.parts["v"]]
        N = m.q_rate if not len(mu) else sh.matrices(self.model, q, v + J.T @ mu, t).q_rate
        last = J @ qdd + now["gamma"][self.used] if self.index == "index 1" else now["rate"][self.used]
        rows = [yp[self.parts["q"]] - N, m.A.T @ R + m.D @ qdd - J.T @ lam - m.load, m.M @ vdot - m.S.T @ R - m.F]
        out[:] = np.concatenate([*rows, -m.S @ vdot + m.A @ qdd + m.w_star, last, now["g"][self.used][: len(mu)]])

    def start(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Consistent values of everything, from the solution of the extended system."""
        d = sh.Dynamics(self.model, "extended")
        found, now = d.solve(q, v), self.table.evaluate(q, v, 0.0)
        y, yp = np.zeros(self.n), np.zeros(self.n)
        J = now["J"]
        lam = np.linalg.lstsq(J[self.used].T, J.T @ d.multipliers(q, v), rcond=None)[0]
        m = sh.matrices(self.model, q, v)
        R = np.linalg.solve(m.S.T, m.M @ found.vdot.ravel() - m.F)  # without the wrenches of λ, which act in coordinates here
        for name, x in {"q": q, "v": v, "vdot": found.vdot.ravel(), "R": R, "lam": lam}.items():
            y[self.parts[name]] = x
        yp[self.parts["q"]], yp[self.parts["v"]] = m.q_rate, found.qdd
        return y, yp

    def integrate(self, q: np.ndarray, v: np.ndarray, end: float, tolerance: float) -> np.ndarray:
        """q, v at the end, by IDA."""
        from sksundae.ida import IDA

        differential = self.sizes["q"] + self.sizes["v"]
        atol = np.where(np.arange(self.n) < differential, tolerance, IGNORED)
        algebraic = list(range(differential, self.n))
        options = {"rtol": tolerance, "atol": atol, "algebraic_idx": algebraic, "max_num_steps": 100_000}
        found = IDA(self.residual, **options).solve(np.array([0.0, end]), *self.start(q, v))
        if not found.success:
            raise RuntimeError(found.message)
        return np.asarray(found.y[-1][:differential])


def four_bar() -> tuple[sh.Model, np.ndarray, np.ndarray]:
    m = sh.samples.four_bar(0.5, 1.3, 0.9, 1.1)
    return m, *m.assemble(START, fixed=["A"])


def clocked(run: Callable[[], tuple[np.ndarray, str]]) -> tuple[np.ndarray, str, float]:
    before = process_time()
    return *run(), process_time() - before


def compare(end: float, tolerances: tuple[float, ...]) -> list[list[str]]:
    """A row for each index and tolerance, and for projection."""
    m, q0, v0 = four_bar()
    table = sh.Dynamics(m, "composite").constrained.table  # type: ignore[union-attr]
    exact = sh.simulate(m, end, q0=q0, v0=v0, rtol=1e-13, atol=1e-13, output=end)
    wanted = np.concatenate([exact.q[-1], exact.v[-1]])

    def by_ida(index: str, tolerance: float) -> tuple[np.ndarray, str]:
        model = Model(m, q0, v0, index)
        return model.integrate(q0, v0, end, tolerance), str(model.evaluations)

    def projected(integrator: str, tolerance: float) -> tuple[np.ndarray, str]:
        r = sh.simulate(m, end, q0=q0, v0=v0, integrator=integrator, rtol=tolerance, atol=tolerance, output=end)
        return np.concatenate([r.q[-1], r.v[-1]]), str(r.cost.evaluations)

    rows = [["equations", "tolerance", "evaluations", "CPU", "error", "violation of g"]]
    for tolerance in tolerances:
        tried = {f"DAE, {index}": partial(by_ida, index, tolerance) for index in ROWS}
        tried |= {f"projection, {name}": partial(projected, name, tolerance) for name in ("radau", "dop853")}
        for name, run in tried.items():
            try:
                x, count, cpu = clocked(run)
            except RuntimeError as failure:
                rows.append([name, f"{tolerance:.0e}", "", "", f"not solved: {failure}", ""])
                continue
            g = np.abs(table.evaluate(x[: m.nq], x[m.nq :], end)["g"]).max()
            rows.append([name, f"{tolerance:.0e}", count, duration(cpu), f"{np.abs(x - wanted).max():.0e}", f"{g:.0e}"])
    return rows


def main(quick: bool = False) -> None:
    end, tolerances = (0.2, (1e-4,)) if quick else (2.0, (1e-4, 1e-6, 1e-8))
    text = Table.of_text(compare(end, tolerances))
    print(text.plain(80, ruled=True))
    if not quick:
        where = machine()
        head = [
            "# The model of [B] as a DAE",
            "",
            f"Written by `python -m benchmarks dae`. {where['processor']}, one thread; Python {where['python']}, sharnir "
            f"{where['sharnir']}. A four-bar swings for {end:g} s. DAE: the extended system, v̇, R, λ being unknowns, "
            "residuals in NumPy by the matrices of the papers, its Jacobian by differences, integrated by IDA (SUNDIALS, BDF of "
            "variable order). Projection: `simulate`, compiled. Error: of coordinates and speeds at the end.",
            "",
        ]
        legend = ["", *(f"- {name}: {rows}" for name, rows in ROWS.items()), ""]
        (results() / "dae.md").write_text("\n".join([*head, text.markdown(), *legend]), encoding="utf-8")
