"""Closed mechanisms the tests share: states on their constraints, a joint beside itself, residues of the equations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import sharnir as sh
from sharnir.equations.rows.constraint_table import ConstraintTable
from states import random_mass, random_pose

S = sh.samples

STARTS: dict[str, tuple[Callable[[], sh.Model], dict | None]] = {
    "four-bar": (lambda: S.four_bar(0.5, 1.3, 0.9, 1.1), {"A": 1.2, "B": -1.0, "C": 1.5}),
    "three four-bars": (lambda: S.n_four_bar(3, thin=False), S.n_four_bar_start(3, angle=1.1)["q0"]),
    "slider-crank": (S.slider_crank, {"main": 0.7, "crankpin": -1.0}),
    "Andrews": (S.andrews, S.andrews_start),
    "Bricard": (S.bricard, None),
    "governor with rods": (lambda: S.governor(closed=True), {"slide": 0.5}),
    "planetary gear": (S.planetary_gear, None),
    "rolling disc": (S.rolling_disc, {"disc float": (0.0, 0.0, 0.1, np.cos(0.6), np.sin(0.6), 0.0, 0.0)}),
    "car axis": (S.car_axis, {"l": (0.0, 0.5), "r": (1.0, 0.5)}),
}


def placed(name: str, seed: int = 0, t: float = 0.0) -> tuple[sh.Model, np.ndarray, np.ndarray]:
    """A model of STARTS and a state of motion that meets its constraints."""
    make, start = STARTS[name]
    model = make()
    q, v = model.assemble(start, np.random.default_rng((seed, 11)).normal(size=model.nv), t, nearest=True)
    return model, q, v


def table_of(model: sh.Model) -> ConstraintTable:
    return ConstraintTable(model)


def beside_itself(joint: sh.Joint, seed: int = 0, closing: sh.Joint | None = None, backwards: bool = False) -> sh.Model:
    """A body that hangs on the ground by two joints at the same places: one of the tree, and one that closes a loop."""
    rng = np.random.default_rng((seed, 5))
    m = sh.Model("beside itself")
    m.add_body("carrier", **random_mass(rng))
    m.add_body("body", **random_mass(rng))
    m.add_joint("base", sh.Free(), "ground", "carrier", at=random_pose(rng))
    at, child_at = random_pose(rng), random_pose(rng)
    m.add_joint("tree", joint, "carrier", "body", at=at, child_at=child_at)
    ends = ("body", "carrier", child_at, at) if backwards else ("carrier", "body", at, child_at)
    m.add_joint("cut", closing or joint, ends[0], ends[1], at=ends[2], child_at=ends[3], cut=True)
    return m


def unbalanced(model: sh.Model, d: sh.Dynamics, q: np.ndarray, v: np.ndarray, tau: np.ndarray, t: float = 0.0) -> float:
    """The largest residue of M v̇ − SᵀR − F − closing forces, relative to the largest reaction."""
    found, m = d.solve(q, v, tau, t), sh.matrices(model, q, v, t)
    closing = np.zeros((len(model.bodies), 6))
    for bodies in d.closing_reactions(q, v, tau, t).values():
        for body, wrench in bodies.items():
            closing[model.body_index(body)] += wrench
    left = m.M @ found.vdot.ravel() - m.S.T @ found.R.ravel() - m.F - closing.ravel()
    return float(np.abs(left).max() / max(np.abs(found.R).max(), 1.0))
