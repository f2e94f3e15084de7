"""Kinematics of a point: pose, Jacobian, velocity and acceleration, by body or frame. Both are data: one program serves all.

Of a flexible body the answer is that for its frame at the displaced point, and what the deformation adds. With the point at y(e)
in the axes of the frame and the section there turned by C(e), J = J_frame(y) + [∂y/∂e; spin columns] on the elastic speeds; the
acceleration has Coriolis terms of the frame's spin too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import MethodError, brief, unknown
from ..model.deformation import Deformation, MovedPlaces, material
from ..model.pose import Pose, Rotation
from ..model.references import is_name_in, located
from ..model.states import check_finite
from ..trace import at_values, has_parameters
from ..types import FloatArray, Parameters, State, real_array
from .evaluator import At, Evaluator

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ORIGIN = (0.0, 0.0, 0.0)
AXES = ("world", "local")
ANSWERS = {"jacobian": "J", "point-velocity": "velocity", "point-acceleration": "acceleration"}
"""The output that answers, by program."""
HELD = 2**20
"""Numbers in the paths that are held for the next call."""

Where = str | tuple[str, Pose]
"""A body, "ground" included, a frame, or a place on a body. A body comes before a frame of the same name."""


class PointFrame(NamedTuple):
    """A frame on a body, as programs read it."""

    path: np.ndarray
    """1 for the body and all that carry it, 0 elsewhere."""
    origin: np.ndarray
    turn: np.ndarray | None
    """Rotation, frame → body; None where axes are parallel."""
    deformation: Deformation | None = None
    """The deformation of a flexible body: `origin` and `turn` are then those of the undeformed one."""


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


class Points:
    """Questions about points, of one formulation."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.model, self.structure = evaluator, evaluator.model, evaluator.structure
        self._places: dict[str, PointFrame] = {}

    def pose(self, at: At, where: Where) -> Pose | tuple[np.ndarray, np.ndarray]:
        place = self._place(where, at["parameter"])
        point = None if place.deformation is None else self._material(place.deformation, place, place.origin, at["q"])
        given = {"point": place.origin, "path": place.path} if point is None else point.given
        found = self.evaluator.outputs("pose", ("position", "G"), **at, **given)
        rotation = _own_axes(place, found["G"]).swapaxes(-1, -2) if point is None else point.axes(found["G"])
        position = found["position"]
        return Pose(position.tolist(), Rotation(rotation.ravel().tolist())) if position.ndim == 1 else (rotation, position)

    def answer(self, program: str, where: Where, point: ArrayLike, axes: str, **given: Any) -> np.ndarray:
        """Linear and angular part, each of three rows, in the axes asked for."""
        place, output = self._place(where, given["parameter"]), ANSWERS[program]
        at = place.origin if point is ORIGIN else _in_body(place, point)
        if not is_name_in(AXES, axes):
            raise MethodError(unknown(f"axes {brief(axes)}", axes, AXES, "axes"))
        if place.deformation is not None:
            points, _ = self.evaluator.arguments.row("point", at, 3)
            check_finite(points.ravel(), lambda: "xyz" * len(points), "point")
            moved = self._material(place.deformation, place, points if np.ndim(at) == 2 else points[0], given["q"])
            found = self.evaluator.outputs(program, (output, "G"), **given, **moved.given)
            x = self._deformed(program, moved, found[output], found["G"], given)
            return x if axes == "world" else _in_axes(moved.axes(found["G"]).swapaxes(-1, -2), x)
        given |= {"point": at, "path": place.path}
        if axes == "world":
            return self.evaluator.output(program, output, **given)
        found = self.evaluator.outputs(program, (output, "G"), **given)
        return _in_axes(_own_axes(place, found["G"]), found[output])

    def _material(self, d: Deformation, place: PointFrame, point: FloatArray, q: State) -> MaterialPoint:
        """`point` in the axes of the undeformed body."""
        s = self.structure
        e = self._part("q", q, s.nq, slice(int(s.q_first[d.row]), int(s.q_first[d.row + 1])))
        return MaterialPoint(material(d.shapes, point).moved(e), slice(int(s.v_first[d.row]), int(s.v_first[d.row + 1])), place)

    def _deformed(self, program: str, p: MaterialPoint, x: FloatArray, G: FloatArray, given: dict[str, Any]) -> FloatArray:
        """The answer x for the frame, with what the deformation adds."""
        back, nv = _back(G), self.structure.nv
        if program == "jacobian":
            J = x.copy()
            J[..., :3, p.speeds] += back @ p.moved.linear
            J[..., 3:, p.speeds] += back @ p.moved.angular
            return J
        rates = self._part("v", given["v"], nv, p.speeds)
        moving = _both(back, *p.moved.velocity(rates))
        if program == "point-velocity":
            return x + moving
        of_frame = {name: value for name, value in given.items() if name != "qdd"}
        spin = self.evaluator.output("point-velocity", "velocity", **of_frame, **p.given)[..., 3:]
        changing = _both(back, *p.moved.acceleration(rates, self._part("qdd", given["qdd"], nv, p.speeds)))
        carried = np.concatenate([2.0 * np.cross(spin, moving[..., :3]), np.cross(spin, moving[..., 3:])], axis=-1)
        return x + changing + carried

    def _part(self, name: str, x: State, size: int, where: slice) -> FloatArray:
        rows, many = self.evaluator.arguments.row(name, x, size)
        return rows[:, where] if many else rows[0, where]

    def _place(self, where: Where, parameters: Parameters) -> PointFrame:
        if isinstance(where, str) and where in self._places:
            return self._places[where]
        s = self.structure
        body, at = located(where, s.body_number, self.model.frames)
        path = np.zeros(s.nb + 1)
        i = body + 1
        while i > 0:
            path[i] = 1.0
            i = int(s.carrier[i])
        turned, flexible = at.rotation != Rotation.identity(), s.deformations.get(body + 1)
        if has_parameters((*at.position, *at.rotation.entries)):
            numbers = self._numbers(at, parameters)
            turn = numbers[..., 3:].reshape(*numbers.shape[:-1], 3, 3) if turned else None
            return PointFrame(path, numbers[..., :3], turn, flexible)
        place = PointFrame(path, np.array(at.position, dtype=float), at.rotation.matrix if turned else None, flexible)
        if isinstance(where, str):
            if len(self._places) * len(path) > HELD:
                self._places.clear()
            self._places[where] = place
        return place

    def _numbers(self, at: Pose, parameters: Parameters) -> np.ndarray:
        """(12,) or (B, 12): position and rotation of a frame that depends on parameters."""
        rows, many = self.evaluator.arguments.parameters(parameters)
        named = dict(zip(self.model.structure.parameters, rows.T, strict=True))
        found = at_values((*at.position, *at.rotation.entries), named)
        numbers = np.stack([np.broadcast_to(np.asarray(x, dtype=float), len(rows)) for x in found], axis=1)
        return numbers if many else numbers[0]


def _in_body(place: PointFrame, point: ArrayLike) -> Any:
    """A point, or one for each state, given in the frame, in the axes of the body; what has another shape is refused later."""
    if point is None:
        return None
    x = real_array(point, "point")
    if x.shape[-1:] != (3,) or (place.turn is None and not place.origin.any()):
        return x
    if x.ndim == 1:
        check_finite(x, lambda: "xyz", "point")
    return place.origin + (x if place.turn is None else np.matmul(place.turn, x[..., None])[..., 0])


def _own_axes(place: PointFrame, G: np.ndarray) -> np.ndarray:
    """(…, 3, 3): cosines, world → frame."""
    G = G.reshape(*G.shape[:-1], 3, 3)
    return G if place.turn is None else np.matmul(place.turn.swapaxes(-1, -2), G)


def _in_axes(cosines: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Vectors (…, 6), or a matrix of them (…, 6, n), of the world in the axes that these cosines (…, 3, 3) lead to."""
    columns = x.shape[-1] if x.ndim > cosines.ndim - 1 else 1
    return np.matmul(cosines[..., None, :, :], x.reshape(*cosines.shape[:-2], 2, 3, columns)).reshape(x.shape)


def _back(G: FloatArray) -> FloatArray:
    """(…, 3, 3): frame → world."""
    return G.reshape(*G.shape[:-1], 3, 3).swapaxes(-1, -2)


def _both(R: FloatArray, u: FloatArray, w: FloatArray) -> FloatArray:
    """(…, 6): two vectors turned."""
    return np.concatenate([(R @ x[..., None])[..., 0] for x in (u, w)], axis=-1)
