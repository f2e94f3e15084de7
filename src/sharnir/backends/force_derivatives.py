"""Derivatives of the generalised forces Q of a model's own force elements, on generic scalars.

A force is a function of what it reads of the motion, traced once for every shape of force; its graph is differentiated by what
it reads. What it reads moves with the columns of A in the world (program "columns"), and what it pushes is felt along them:

    ∂Q/∂q = Jᵀ (∂push/∂read) (∂read/∂q),      ∂Q/∂v likewise                                (docs/theory/derivatives.md)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..dialect.cache import Cache
from ..kernels.algebra import cosines_quaternion, quaternion_rate
from ..kernels.joint_stage import BALL, FREE
from ..model.forces.groups import Group
from ..model.forces.shape import Shape
from ..model.structure import Structure
from ..trace import Symbol, tangent
from .grouped import GroupedCode

COLUMNS = ("r", "G", "velocity", "point", "s", "ds")
"""Outputs of the program "columns"."""


class _Slopes(NamedTuple):
    """∂push/∂read of a group of forces: the entries that are not zero."""

    group: Group
    pushes: list[int]
    reads: list[int]


class ForceSlopes:
    """Derivatives of the generalised forces of a model: ∂Q/∂q in the tangent and ∂Q/∂v."""

    def __init__(self, structure: Structure, store: Cache | None = None) -> None:
        """`store`: of the machine code by which slopes are computed, for many states and many forces; none: interpreted."""
        self.structure, self.layout, self.store = structure, structure.forces.layout, store
        self.kinematic = structure.forces.kinematic
        self.slopes = [_slopes(group) for group in structure.forces.groups]
        self.size = sum(len(slopes.pushes) * len(slopes.group.reads) for slopes in self.slopes)

    def slopes_of(self, flat: np.ndarray) -> np.ndarray:
        """(n, size) generic scalars from flat motions (n, …), force by force."""
        if self.store is not None:
            found = np.zeros((len(flat), self.size))
            self._code.run(flat, {"push": found})
            return found
        out: np.ndarray = np.empty((len(flat), self.size), dtype=flat.dtype)
        for n, motion in enumerate(flat.tolist()):
            values: list[Any] = []
            for group, _, _ in self.slopes:
                push = group.shape.expression("push")
                for reads, numbers in zip(group.reads.tolist(), group.numbers.tolist(), strict=True):
                    values += push(*[motion[place] for place in reads], *numbers)
            out[n] = values
        return out

    @cached_property
    def _code(self) -> GroupedCode:
        places, at = [], 0
        for group, _, _ in self.slopes:
            n, k = len(group.force), len(group.shape.outputs["push"])
            places.append(np.arange(at, at + n * k).reshape(n, k))
            at += n * k
        groups = [replace(s.group, places=place) for s, place in zip(self.slopes, places, strict=True)]
        return GroupedCode([group for group in groups if group.places.size], self.store)

    def __call__(self, motion: Mapping[str, np.ndarray], columns: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """(n, nv, nv) each. `motion`: rows (n, …) of t, q, v, parameter; `columns`: the outputs of that program, rows too."""
        n, nv, layout = len(motion["q"]), self.structure.nv, self.layout
        kind = motion["q"].dtype
        parts = {**motion, **columns} if self.kinematic else dict(motion)
        flat = np.concatenate([parts[name].reshape(n, -1) for name in layout.sizes if name in parts], axis=1)
        by_q: np.ndarray = np.full((n, flat.shape[1], nv), 0.0, dtype=kind)
        by_v: np.ndarray = np.full((n, flat.shape[1], nv), 0.0, dtype=kind)
        J: np.ndarray = np.full((n, layout.pushes, nv), 0.0, dtype=kind)
        by_q[:, self._part("q")] = tangent_of_coordinates(self.structure, motion["q"])
        by_v[:, self._part("v")] = J[:, layout.load_at : layout.rate_at] = np.eye(nv)
        if self.kinematic:
            moved = {name: x.astype(kind) for name, x in self._bodies(columns).items()}
            for name in ("r", "G"):
                by_q[:, self._part(name)] = moved[name]
            by_q[:, self._part("velocity")] = moved["rate"]
            by_v[:, self._part("velocity")] = J[:, : layout.load_at] = moved["velocity"]
        values = self.slopes_of(flat)
        found: list[np.ndarray] = [np.full((n, nv, nv), 0.0, dtype=kind) for _ in range(2)]
        at = 0
        for group, pushes, reads in self.slopes:
            k, m = len(group.reads), len(pushes)
            D: np.ndarray = np.full((n, k, group.places.shape[1], group.reads.shape[1]), 0.0, dtype=kind)
            D[:, :, pushes, reads] = values[:, at : at + k * m].reshape(n, k, m)
            at += k * m
            felt = np.swapaxes(J[:, group.places], -1, -2)
            for out, by in zip(found, (by_q, by_v), strict=True):
                out += (felt @ (D @ by[:, group.reads])).sum(axis=1)
        return found[0], found[1]

    def _part(self, name: str) -> slice:
        return slice(self.layout.at[name], self.layout.at[name] + self.layout.sizes[name])

    def _bodies(self, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """How poses and velocities of all bodies change with q and v: (n, numbers, nv)."""
        s, n = self.structure, len(columns["r"])
        carries = carried_by(s)[:, :, None]
        G = columns["G"].reshape(n, s.nb + 1, 1, 3, 3)
        d = columns["point"].reshape(n, s.nb + 1, 1, 3)

        def at_origin(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Columns (n, bodies, axes, 3) as velocities of origins and of bodies, world axes, zero where a body stays."""
            x = x.reshape(n, 1, s.na, 6)
            w = x[..., 3:] * carries
            return x[..., :3] * carries + _cross(d, w), w

        def in_body(x: np.ndarray) -> np.ndarray:
            return (G @ x[..., None])[..., 0]

        def per_speed(x: np.ndarray) -> np.ndarray:
            """(n, bodies, axes, k) -> (n, bodies·k, nv)."""
            out: np.ndarray = np.full((*x.shape[:2], s.nv, x.shape[3]), 0.0, dtype=x.dtype)
            for a, speed in enumerate(s.tree.speed.tolist()):
                out[:, :, speed] = out[:, :, speed] + x[:, :, a]
            return np.swapaxes(out, -1, -2).reshape(n, -1, s.nv)

        u, w = at_origin(columns["s"])
        du, dw = at_origin(columns["ds"])
        turned = _cross(w[..., None, :], G)
        return {
            "r": per_speed(u),
            "G": per_speed(turned.reshape(*turned.shape[:3], 9)),
            "velocity": per_speed(np.concatenate([in_body(u), in_body(w)], axis=-1)),
            "rate": per_speed(np.concatenate([in_body(du), in_body(dw)], axis=-1)),
        }


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """np.cross for generic scalars."""
    return np.stack([a[..., k - 2] * b[..., k - 1] - a[..., k - 1] * b[..., k - 2] for k in range(3)], axis=-1)


def _slopes(group: Group) -> _Slopes:
    shape = group.shape
    columns = [tangent(shape.outputs["push"], [(x, 1.0)]) for x in shape.reads]
    entries = [(p, r, x) for r, column in enumerate(columns) for p, x in enumerate(column) if isinstance(x, Symbol) or x]
    sloped = Shape(shape.graph, shape.reads, shape.numbers, {"push": [x for _, _, x in entries]})
    return _Slopes(replace(group, shape=sloped, places=group.places), [p for p, _, _ in entries], [r for _, r, _ in entries])


def carried_by(structure: Structure) -> np.ndarray:
    """(bodies, axes), the base first: 1 where an axis moves a body."""
    out = np.zeros((structure.nb + 1, structure.na))
    for i in range(1, structure.nb + 1):
        out[i] = out[structure.carrier[i]]
        out[i, structure.first[i] : structure.first[i + 1]] = 1.0
    return out


def tangent_of_coordinates(structure: Structure, q: np.ndarray) -> np.ndarray:
    """N(q) of q̇ = N(q)v, (n, nq, nv), for coordinates of elementary motions."""
    j, n = structure.joints, len(q)
    out: np.ndarray = np.full((n, structure.nq, structure.nv), 0.0, dtype=q.dtype)
    for m in np.flatnonzero(j.coordinates > 0).tolist():
        kind, at, of = int(j.kind[m]), int(j.q_at[m]), int(j.v_at[m])
        if kind < BALL:
            out[:, at, of] = 1.0
            continue
        if kind == FREE:
            w, x, y, z = (q[:, at + 3 + k] for k in range(4))
            G = cosines_quaternion(w, x, y, z)  # from the axes before to those that the quaternion turns to
            for k in range(3):
                for c in range(3):
                    out[:, at + k, of + c] = G[k + 3 * c]
            at, of = at + 3, of + 3
        for c in range(3):
            rate = quaternion_rate(*(q[:, at + k] for k in range(4)), [float(k == c) for k in range(3)])
            for k in range(4):
                out[:, at + k, of + c] = rate[k]
    return out
