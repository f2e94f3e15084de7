"""Closed systems of any size in double-double arithmetic: the programs and rows of sparse.py on arrays of pairs (…, 2).

Only what the constraints depend on needs the digits: forces are computed from the first parts, in double precision.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...backends.grouped import native_copy
from ...backends.loops import exact_program, grouped_forces
from ...dialect.native import Native
from ...kernels.constrained import EXACT
from ...programs import CLOSED, PROGRAMS
from ...programs.program import Program
from ..motion.native_arrays import native_add, native_add_to_pairs, native_rounded, native_take
from ..motion.retraction import native_retract
from ..motion.sparse import SparseEquations

Arrays = Mapping[str, np.ndarray]


class ExactLoops:
    """Native functions on the state in the arrays `two` (q, v, t, tau, parameter: pairs). `parameters`: plain numbers;
    `counted`: 0 for rows that are left out."""

    def __init__(self, sparse: SparseEquations, two: Arrays, parameters: np.ndarray, counted: np.ndarray) -> None:
        self.sparse, self.two, self.parameters = sparse, two, parameters
        s, rows = sparse.structure, sparse.rows
        self.structure, self.store = s, sparse.store
        sizes = {**rows.sizes, "gap": len(rows), "delta": s.nv}
        self.rows = {name: np.zeros((sizes[name], 2)) for name in ("g", "rate", "gamma", "K", "gap", "delta")}
        self.share = np.array([[EXACT, 0.0]])
        self._masks = {name: np.zeros(0, dtype=np.int64) for name in self.rows}
        if not counted.all():
            of = {"g": np.arange(sizes["g"]), "rate": np.arange(len(rows)), "gamma": np.arange(len(rows))}
            of["K"] = rows.row_of_K
            self._masks |= {name: np.flatnonzero(counted[x] == 0.0) for name, x in of.items()}

    def _evaluated(self) -> list[Native]:
        """The rows at the state."""
        layout = self.sparse.rows.layout
        flat = np.zeros((sum(layout.sizes.values()), 2))
        parts = {name: flat[at : at + layout.sizes[name]] for name, at in layout.at.items()}
        state = [(self.two[name], parts[name]) for name in ("t", "q", "v", "parameter")]
        bodies = self._program(PROGRAMS["motion"], {**self.two, **{name: parts[name] for name in ("r", "G", "velocity")}})
        found = {name: self.rows[name] for name in ("g", "rate", "gamma", "K")}
        return [native_copy(state, self.store), *bodies, *self.sparse.rows.exact_chain(flat, found, self.store), *self._masked()]

    def _masked(self) -> list[Native]:
        """Zeros in the place of rows that are left out."""
        out = []
        for name, places in self._masks.items():
            if len(places):
                x = self.rows[name].reshape(-1)
                keep = np.setdiff1d(np.arange(x.size), np.concatenate([2 * places, 2 * places + 1]))
                kept = np.zeros(len(keep))
                out += [
                    native_take(x, keep, kept, self.store),
                    native_copy([(np.zeros(x.size), x)], self.store),
                    native_add(kept, keep, x, self.store),
                ]
        return out

    def _program(self, program: Program, arrays: Arrays) -> list[Native]:
        return exact_program(program, self.structure, arrays, self.parameters, self.store)

    def _corrected(self, name: str) -> list[Native]:
        """rows["delta"]: what makes the rows of that name vanish."""
        gap, x = self.rows["gap"], self.rows[name]
        copied = native_copy([(x, gap[: len(x)]), (np.zeros((len(gap) - len(x), 2)), gap[len(x) :])], self.store)
        arrays = {**self.two, "K": self.rows["K"], "gap": gap, "share": self.share, "delta": self.rows["delta"]}
        return [*self._evaluated(), copied, *self._program(CLOSED["closed/correction"], arrays)]

    def position(self) -> list[Native]:
        """A Newton step of the coordinates, in place."""
        moved = native_retract(self.sparse.model, self.two, self.rows["delta"], self.store, pairs=True)
        return [*self._corrected("g"), moved]

    def speed(self) -> list[Native]:
        """The correction of the speeds, in place."""
        everywhere = np.arange(self.structure.nv, dtype=np.int64)
        return [*self._corrected("rate"), native_add(self.rows["delta"], everywhere, self.two["v"], self.store, pairs=True)]

    def derivative(self, qdd: np.ndarray, rate: np.ndarray) -> list[Native]:
        """Accelerations and rates of the coordinates, pairs."""
        s = self.structure
        wrench, tau = np.zeros((6 * (s.nb + 1), 2)), np.zeros((s.nv, 2))
        arrays = {
            **self.two, "tau": tau, "wrench": wrench, "K": self.rows["K"], "gamma": self.rows["gamma"], "share": self.share,
            "qdd": qdd, "rate": rate,
        }  # fmt: skip
        forward = self._program(CLOSED["closed/forward/separate"], arrays)
        return [*self._evaluated(), *self._loads(wrench, tau), *forward, *self._program(PROGRAMS["rates"], arrays)]

    def _loads(self, wrench: np.ndarray, tau: np.ndarray) -> list[Native]:
        """Forces of the model and joint forces as pairs."""
        s, two = self.structure, self.two
        out = [native_copy([(two["tau"], tau), (np.zeros_like(wrench), wrench)], self.store)]
        if not s.forces:
            return out
        first = {name: np.zeros(len(two[name])) for name in ("t", "q", "v", "parameter")}
        out += [native_rounded(two[name], x, self.store) for name, x in first.items()]
        layout = s.forces.layout
        push = np.zeros(layout.pushes)
        out += grouped_forces(s, self.store).chain(first, {"push": push})
        for target, part in ((wrench, push[: layout.load_at]), (tau, push[layout.load_at : layout.rate_at])):
            out.append(native_add_to_pairs(part, target, self.store))
        return out
