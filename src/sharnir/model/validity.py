"""Checks that flexible bodies stay within the validity of their shapes, those of small deformations."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import FlexibilityWarning, warn
from ..types import FloatArray
from .deformation import material

if TYPE_CHECKING:
    from .model import Model
    from .structure import Structure

LARGEST_TURN = 0.3
"""rad. Beyond it the terms of third order, which shapes leave out, are some 5 % of the displacement."""
LARGEST_STRETCH = 0.1
"""Share of the length of a beam, along its axis."""
LARGEST_SHIFT = 0.2
"""Share of the size of a body given at nodes, which may have no rotations: a cantilever whose end turns by 0.3 moves so far."""
WHY = "shapes are those of small deformations"
REMEDY = "Make the body stiffer, lower the load, or divide it into several flexible bodies"
STATIONS = 9
MOST_NODES = 64


class Beyond(NamedTuple):
    """A flexible body that was deformed further than its shapes are valid for."""

    body: str
    what: str
    """Words for the largest turn, or for the largest displacement where that is worse."""
    when: str
    excess: float
    """The deformation divided by the largest valid one."""

    def __str__(self) -> str:
        return f"body {self.body!r} {self.what} {self.when}"


def beyond_validity(model: Model, q: FloatArray, t: FloatArray) -> list[Beyond]:
    """Bodies deformed beyond their shapes in states q (…, nq) at times t, which broadcast: an entry for each."""
    found, s = [], model.structure
    for i, d in s.deformations.items():
        e = q[..., s.q_slice(d.row)]
        rows = e.reshape(-1, d.n)
        good = np.isfinite(rows).all(axis=1)
        times = np.broadcast_to(t, e.shape[:-1]).ravel()[good]
        if good.any():
            with np.errstate(over="ignore"):  # of a run that diverged
                excess, what, row = max(_extremes(s, i, rows[good]), key=itemgetter(0))
            if excess > 1.0:
                found.append(Beyond(s.bodies[i - 1].name, what, f"at t = {times[row]:.6g} s", excess))
    return found


def warn_of_deformation(found: list[Beyond]) -> None:
    """Warn of bodies deformed beyond their shapes in a complete run, or in a position that was found."""
    if found:
        bodies = ", ".join(map(str, found))
        warn(f"{bodies}; {WHY}: results are rough there. {REMEDY}", FlexibilityWarning)


def likely_cause(found: list[Beyond]) -> str:
    """Sentences for the message of a failed run: bodies deformed beyond their shapes. Empty if there are none."""
    return f". The likely cause: {', '.join(map(str, found))}; {WHY}. {REMEDY}" if found else ""


def _extremes(s: Structure, i: int, e: FloatArray) -> Iterator[tuple[float, str, int]]:
    """Largest deformations over all states, at places all over a body: excess, words, state."""
    from .flexible import FlexibleBeam  # imported here: most models are rigid

    body: Any = s.bodies[i - 1].flexible
    points, size = _sampled(body)
    m = material(s.deformations[i].shapes, points)
    if isinstance(body, FlexibleBeam):
        moved, limit, words = m.phi[:, :1], LARGEST_STRETCH, "stretched by {:.2g} of its length"
    else:
        moved, limit, words = m.phi, LARGEST_SHIFT, "deformed by {:.2g} of its size"
    for k in range(len(points)):
        turn, shift = (np.linalg.norm(e @ columns.T, axis=1) for columns in (m.psi[k], moved[k] / size))
        row, other = int(np.argmax(turn)), int(np.argmax(shift))
        yield turn[row] / LARGEST_TURN, f"was turned by {turn[row]:.2g} rad by its deformation", row
        yield shift[other] / limit, "was " + words.format(shift[other]), other


def _sampled(body: Any) -> tuple[FloatArray, float]:
    """Places, and the size of the body."""
    from .flexible import FlexibleBeam, ModalBody

    if isinstance(body, FlexibleBeam):
        x = np.linspace(0.0, body.length, STATIONS)
        return np.stack([x, np.zeros_like(x), np.zeros_like(x)], axis=1), body.length
    assert isinstance(body, ModalBody)
    nodes = np.array(list(body.nodes.values()), dtype=float)
    size = float(np.linalg.norm(np.ptp(nodes, axis=0))) or 1.0
    return nodes[:: -(-len(nodes) // MOST_NODES)], size
