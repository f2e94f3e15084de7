"""The rows of constraints in the coordinates of the tree, J sparse: what they do to bodies, felt along the axes that move these.

A body moves with the axes between it and the base (L23). Axes that move all bodies of a constraint alike do not change it where
it is internal, that is where its forces on them balance: these are left out, exactly and not up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...model.forces.layout import WIDTH
from ...model.structure import Structure
from .body_rows import BodyRows
from .constraint_families import BODY
from .one_constraint import WIDE

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WIDTHS = {**WIDTH, "drift": WIDE, "A": WIDE}
"""Numbers per body or per axis in the outputs of the program "axes"."""

BALANCED = 1e-9
"""Sum of the forces of a row, relative to the sum of their sizes: internal."""


class _Entries(NamedTuple):
    """Products that add up to the entries of J."""

    block: np.ndarray
    """(products): which row of a block of a body, times …"""
    axis: np.ndarray
    """… which axis."""
    K: np.ndarray
    """(entries of speeds): where they stand in K."""
    place: np.ndarray
    """(products, then entries of speeds): the entry of J they are added to."""
    indices: np.ndarray
    indptr: np.ndarray


class SparseRows:
    """g, rate, gamma and J of all rows of one model."""

    def __init__(self, structure: Structure, rows: BodyRows) -> None:
        self.structure, self.rows = structure, rows

    def evaluate(self, q: np.ndarray, v: np.ndarray, t: float, parameters: Sequence[float] | np.ndarray = ()) -> dict[str, Any]:
        """The rows in one state; J a `scipy.sparse.csr_array` whose pattern is the same in all states."""
        own = np.array(parameters, dtype=float)[None] if len(parameters) else None
        flat, axes = self.rows.motion.found(q[None], v[None], np.array([t]), own, "axes")
        g, rate, gamma, K = (x[0] for x in self.rows.at(flat).values())
        b, at = self.rows.blocks, {name: x[0].reshape(-1, WIDTHS[name]) for name, x in axes.items()}
        blocks = K[b.at[:, None] + np.arange(WIDE)]
        drift = np.bincount(b.row, (blocks * at["drift"][b.body]).sum(axis=1), len(self.rows))
        return {"g": g, "rate": rate, "J": self._jacobian(K, blocks, at), "gamma": gamma + drift}

    def _jacobian(self, K: np.ndarray, blocks: np.ndarray, at: dict[str, np.ndarray]) -> csr_array:
        from scipy.sparse import csr_array  # imported here: small models need no SciPy

        e, r, G = self._entries, at["r"], at["G"].reshape(-1, 3, 3)
        body, owner = self.rows.blocks.body, self.structure.tree.owner
        force, moment = in_world(blocks, G[body])
        linear, angular = in_world(at["A"], G[owner])
        force, moment, arm = force[e.block], moment[e.block], r[body[e.block]] - r[owner[e.axis]]  # from the axis to the body
        values = (force * linear[e.axis]).sum(axis=1) + ((moment + np.cross(arm, force)) * angular[e.axis]).sum(axis=1)
        data = np.bincount(e.place, np.concatenate([values, K[e.K]]), len(e.indices))
        return csr_array((data, e.indices, e.indptr), shape=(len(self.rows), self.structure.nv))

    # --- the pattern ----------------------------------------------------------------------------------------------------------
    @cached_property
    def _entries(self) -> _Entries:
        rows, nv, blocks = self.rows, self.structure.nv, self.rows.blocks
        link, axis = self._paths()
        pair, k = rows.rows_of(link)
        block = np.searchsorted(blocks.link, link[pair]) + k
        speeds = np.flatnonzero(rows.links.kind != BODY)
        which, j = rows.rows_of(speeds)
        own = speeds[which]
        row = np.concatenate([blocks.row[block], rows.row_of[rows.row_first[rows.owner[own]] + j]])
        column = np.concatenate([self.structure.tree.speed[axis[pair]], rows.links.target[own]])
        entries, place = np.unique(row * nv + column, return_inverse=True)
        indptr = np.searchsorted(entries, np.arange(len(rows) + 1) * nv)
        return _Entries(block, axis[pair], rows.links.at[own] + j, place.reshape(-1), entries % nv, indptr)

    def _paths(self) -> tuple[np.ndarray, np.ndarray]:
        """(link, axis): the axes that move the body of a link; of internal constraints without those that move all its bodies."""
        above, last = self.structure.tree.above, self._last_axes()
        levels = [0] * len(above) + [-1]  # how many axes move each; −1 at the end, for the base
        for a, up in enumerate(above.tolist()):
            levels[a] = levels[up] + 1
        depth = np.array(levels, dtype=np.int64)
        internal = self._internal()
        links = np.flatnonzero(self.rows.links.kind == BODY)
        count = np.bincount(self.rows.owner[links], minlength=len(internal))
        begin = np.cumsum(count) - count
        found: list[tuple[np.ndarray, np.ndarray]] = [(np.zeros(0, dtype=np.int64),) * 2]
        for n in np.unique(count[count > 0]).tolist():  # constraints of n bodies all together
            some = np.flatnonzero(count == n)
            own = links[begin[some][:, None] + np.arange(n)]
            now = last[self.rows.links.target[own]]
            while len(some):  # of the axes reached, the deepest ones step towards the base
                here = depth[now]
                steps = (here == here.max(axis=1)[:, None]) & (now >= 0)
                found.append((own[steps], now[steps]))
                now[steps] = above[now[steps]]
                going = (now >= 0).any(axis=1) & ~(internal[some] & (now == now[:, :1]).all(axis=1))
                some, own, now = some[going], own[going], now[going]
        link, axis = (np.concatenate(x) for x in zip(*found, strict=True))
        return link, axis

    def _last_axes(self) -> np.ndarray:
        """For every body the nearest axis that moves it, −1 where none does."""
        first, carrier = self.structure.first, self.structure.carrier
        out = np.where(np.diff(first) > 0, first[1:] - 1, -1)
        for i in np.flatnonzero(np.diff(first) == 0).tolist():
            out[i] = out[carrier[i]] if i else -1
        return out

    def _internal(self) -> np.ndarray:
        """For every constraint whether its forces on bodies balance, whatever the multipliers: at generic states."""
        rows, blocks, n = self.rows, self.rows.blocks, len(self.rows)
        balanced = np.ones(n, dtype=bool)
        motion = rows.motion.generic()
        for flat, K in zip(motion.flat, rows.generic_blocks(motion), strict=True):
            r, G = (flat[rows.layout.at[part] :][: rows.layout.sizes[part]] for part in ("r", "G"))
            force, moment = in_world(K[blocks.at[:, None] + np.arange(WIDE)], G.reshape(-1, 3, 3)[blocks.body])
            arm = np.cross(r.reshape(-1, 3)[blocks.body], force)
            left = np.stack([np.bincount(blocks.row, x, n) for x in (*force.T, *(moment + arm).T)])
            size = np.stack([np.bincount(blocks.row, np.abs(x), n) for x in (*force.T, *(np.abs(moment) + np.abs(arm)).T)])
            balanced &= np.abs(left).max(axis=0) <= BALANCED * size.max(axis=0)
        of = np.repeat(np.arange(len(rows.names)), np.diff(rows.row_first))
        unbalanced = np.bincount(of, ~balanced[rows.row_of], len(rows.names)) > 0
        bodies = np.bincount(rows.owner[rows.links.kind == BODY], minlength=len(rows.names))
        return (bodies > 1) & ~unbalanced


def in_world(K: np.ndarray, G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, 6) in body axes as forces and moments at the origins of the bodies, in the axes of the world."""
    return np.einsum("nij,ni->nj", G, K[:, :3]), np.einsum("nij,ni->nj", G, K[:, 3:])
