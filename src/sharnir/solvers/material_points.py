"""Points of flexible bodies: the answer for the frame of the body at the displaced point, and what the deformation adds.

A point at y(e) in the axes of the frame, with the section there turned by C(e):
J = J_frame(y) + [∂y/∂e; spin columns] on the elastic speeds; the acceleration has Coriolis terms of the frame's spin too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..model.deformation import Deformation, MovedPlaces, material
from ..types import FloatArray, State
from .evaluator import Evaluator

if TYPE_CHECKING:
    from .points import PointFrame


class MaterialPoint(NamedTuple):
    """A point of a flexible body at the states that were given."""

    moved: MovedPlaces
    speeds: slice
    """Speeds of the elastic coordinates."""
    place: PointFrame

    @property
    def given(self) -> dict[str, Any]:
        """Inputs of programs about the frame of the body."""
        return {"point": self.moved.position, "path": self.place.path}

    def axes(self, G: FloatArray) -> FloatArray:
        """(…, 3, 3): those of the section or node → world, from the cosines of the frame."""
        turned: FloatArray = _back(G) @ self.moved.rotation
        return turned if self.place.turn is None else turned @ self.place.turn


def material_point(evaluator: Evaluator, d: Deformation, place: PointFrame, point: FloatArray, q: State) -> MaterialPoint:
    """`point` in the axes of the undeformed body."""
    s = evaluator.structure
    rows, many = evaluator.arguments.row("q", q, s.nq)
    e = rows[:, s.q_first[d.row] : s.q_first[d.row + 1]]
    moved = material(d.shapes, point).moved(e if many else e[0])
    return MaterialPoint(moved, slice(int(s.v_first[d.row]), int(s.v_first[d.row + 1])), place)


def jacobian(evaluator: Evaluator, p: MaterialPoint, **given: Any) -> tuple[FloatArray, FloatArray]:
    """J (…, 6, nv) in the world, and G."""
    found = evaluator.outputs("jacobian", ("J", "G"), **given, **p.given)
    J, back = found["J"].copy(), _back(found["G"])
    J[..., :3, p.speeds] += back @ p.moved.linear
    J[..., 3:, p.speeds] += back @ p.moved.angular
    return J, found["G"]


def velocity(evaluator: Evaluator, p: MaterialPoint, **given: Any) -> tuple[FloatArray, FloatArray]:
    """(…, 6) in the world, and G."""
    found = evaluator.outputs("point-velocity", ("velocity", "G"), **given, **p.given)
    own = p.moved.velocity(_part(evaluator, "v", given["v"], p.speeds))
    return found["velocity"] + _both(_back(found["G"]), *own), found["G"]


def acceleration(evaluator: Evaluator, p: MaterialPoint, **given: Any) -> tuple[FloatArray, FloatArray]:
    """(…, 6) in the world, and G."""
    found = evaluator.outputs("point-acceleration", ("acceleration", "G"), **given, **p.given)
    of_frame = {name: x for name, x in given.items() if name != "qdd"}
    spin = evaluator.output("point-velocity", "velocity", **of_frame, **p.given)[..., 3:]
    back, rates = _back(found["G"]), _part(evaluator, "v", given["v"], p.speeds)
    moving = _both(back, *p.moved.velocity(rates))
    changing = _both(back, *p.moved.acceleration(rates, _part(evaluator, "qdd", given["qdd"], p.speeds)))
    carried = np.concatenate([2.0 * np.cross(spin, moving[..., :3]), np.cross(spin, moving[..., 3:])], axis=-1)
    return found["acceleration"] + changing + carried, found["G"]


QUESTIONS = {"jacobian": jacobian, "point-velocity": velocity, "point-acceleration": acceleration}


def _part(evaluator: Evaluator, name: str, x: State, where: slice) -> FloatArray:
    rows, many = evaluator.arguments.row(name, x, evaluator.structure.nv)
    return rows[:, where] if many else rows[0, where]


def _back(G: FloatArray) -> FloatArray:
    """(…, 3, 3): frame → world."""
    return G.reshape(*G.shape[:-1], 3, 3).swapaxes(-1, -2)


def _both(R: FloatArray, u: FloatArray, w: FloatArray) -> FloatArray:
    """(…, 6): two vectors turned."""
    return np.concatenate([(R @ x[..., None])[..., 0] for x in (u, w)], axis=-1)
