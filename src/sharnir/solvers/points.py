"""Kinematics of a point: pose, Jacobian, velocity and acceleration, by body or frame. Both are data: one program serves all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import MethodError, brief, unknown
from ..model.deformation import Deformation
from ..model.pose import Pose, Rotation
from ..model.references import is_name_in, located
from ..model.states import check_finite
from ..trace import at_values, has_parameters
from ..types import Parameters, real_array
from . import material_points
from .arguments import At
from .evaluator import Evaluator

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ORIGIN = (0.0, 0.0, 0.0)
AXES = ("world", "local")
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


class Points:
    """Questions about points, of one formulation."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.model = evaluator, evaluator.model
        self._places: dict[str, PointFrame] = {}

    def pose(self, at: At, where: Where) -> Pose | tuple[np.ndarray, np.ndarray]:
        place = self._place(where, at["parameter"])
        given = {"point": place.origin, "path": place.path}
        material = None
        if place.deformation is not None:
            material = material_points.material_point(self.evaluator, place.deformation, place, place.origin, at["q"])
            given = material.given
        found = self.evaluator.outputs("pose", ("position", "G"), **at, **given)
        rotation = _own_axes(place, found["G"]).swapaxes(-1, -2) if material is None else material.axes(found["G"])
        position = found["position"]
        return Pose(position.tolist(), Rotation(rotation.ravel().tolist())) if position.ndim == 1 else (rotation, position)

    def jacobian(self, at: At, where: Where, point: ArrayLike, axes: str) -> np.ndarray:
        return self._asked("jacobian", "J", where, point, axes, **at)

    def velocity(self, at: At, where: Where, point: ArrayLike, axes: str) -> np.ndarray:
        return self._asked("point-velocity", "velocity", where, point, axes, **at)

    def acceleration(self, at: At, where: Where, point: ArrayLike, axes: str) -> np.ndarray:
        return self._asked("point-acceleration", "acceleration", where, point, axes, **at)

    def _asked(self, program: str, output: str, where: Where, point: ArrayLike, axes: str, **given: Any) -> np.ndarray:
        """Linear and angular part, each of three rows, in the axes asked for."""
        place = self._place(where, given["parameter"])
        at = place.origin if point is ORIGIN else _in_body(place, point)
        if not is_name_in(AXES, axes):
            raise MethodError(unknown(f"axes {brief(axes)}", axes, AXES, "axes"))
        if place.deformation is not None:
            return self._asked_of_material(program, place.deformation, place, at, axes, given)
        given |= {"point": at, "path": place.path}
        if axes == "world":
            return self.evaluator.output(program, output, **given)
        found = self.evaluator.outputs(program, (output, "G"), **given)
        x, G = found[output], found["G"]
        return _in_axes(_own_axes(place, G), x)

    def _asked_of_material(
        self, program: str, deformation: Deformation, place: PointFrame, at: Any, axes: str, given: dict[str, Any]
    ) -> np.ndarray:
        """The same of a point of a flexible body; local axes are those of the section or node at the point."""
        points, _ = self.evaluator.arguments.row("point", at, 3)
        check_finite(points.ravel(), lambda: "xyz" * len(points), "point")
        at = points if np.ndim(at) == 2 else points[0]
        material = material_points.material_point(self.evaluator, deformation, place, at, given["q"])
        x, G = material_points.QUESTIONS[program](self.evaluator, material, **given)
        return x if axes == "world" else _in_axes(material.axes(G).swapaxes(-1, -2), x)

    def _place(self, where: Where, parameters: Parameters) -> PointFrame:
        if isinstance(where, str) and where in self._places:
            return self._places[where]
        s = self.evaluator.structure
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
