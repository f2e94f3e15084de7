"""Which forces add or remove energy: those whose power and rate of stored energy do not cancel identically."""

from __future__ import annotations

import numpy as np

from ...model.forces.groups import Group
from ...model.per_structure import per_structure
from ...model.structure import Structure
from ...trace import Symbol
from ...trace.generic import stacked
from ..rows.flat_motion import GenericMotion, parameters_near

SCALES = (1.0, 1.0, 1e3)
"""Sizes of generic motions: beside the small numbers a high power is seen in the large ones, and the reverse."""
DECIDED = tuple(np.geomspace(0.1, 10.0, 32).tolist())
"""Sizes at which a force of the library takes the branches that belong to them: one may hold on its own side alone."""


@per_structure
def not_conservative(structure: Structure) -> np.ndarray:
    """Indices of these forces."""
    forces = list(structure.forces.forces.values())
    counts = np.zeros(len(forces), dtype=bool)
    for group in structure.forces.groups:
        excess = group.shape.outputs["excess"][0]
        if not isinstance(excess, Symbol) and excess == 0.0:
            continue  # it neither does work nor stores energy
        number = group.force[:, 0]
        lost = ~_cancels(structure, group, SCALES)
        if any(not forces[k].has_function for k in number[lost].tolist()):
            lost &= ~_cancels(structure, group, DECIDED, decides=True) | [forces[k].has_function for k in number.tolist()]
        counts[number[lost]] = True
    return np.flatnonzero(counts)


def _cancels(structure: Structure, group: Group, scales: tuple[float, ...], decides: bool = False) -> np.ndarray:
    """For every force of a group, whether its excess vanishes at generic motions, and is not only a sum of nothing."""
    n = len(group.force)
    zero, acts = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
    for k, scale in enumerate(scales):  # one by one: there may be many forces
        motion = _anywhere(structure, np.random.default_rng(k), scale)
        with np.errstate(all="ignore"):
            excess = stacked(group.shape.expression("excess")(*motion.at(group.reads, decides), *group.numbers.T), (1, n))
        zero &= excess.vanishes[0, 0]
        acts |= excess.size[0, 0] > 0.0
    return zero & acts


def _anywhere(structure: Structure, rng: np.random.Generator, scale: float) -> GenericMotion:
    """One flat motion in which bodies are and move anywhere, not as joints let them: a force knows what it reads, no tree."""
    s, layout = structure, structure.forces.layout
    values = {name: scale * rng.uniform(-1.0, 1.0, size) for name, size in layout.sizes.items()}
    values["t"], values["parameter"] = scale * rng.uniform(0.5, 1.5, 1), parameters_near(s, rng, 1)[0]
    for at in s.quaternions.tolist():
        values["q"][at : at + 4] /= np.linalg.norm(values["q"][at : at + 4])
    G = np.linalg.qr(rng.normal(size=(s.nb + 1, 3, 3)))[0]
    values["G"] = (G * np.linalg.det(G)[:, None, None]).ravel()
    flat = np.concatenate(list(values.values()))[None]
    sizes = np.abs(flat)
    sizes[:, layout.at["G"] :][:, : layout.sizes["G"]] = 1.0
    return GenericMotion(flat, sizes)
