"""Kinematics of a point: pose, Jacobian, velocity and acceleration, by body or frame. Both are data: one program serves all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import MethodError, brief, unknown
from ..model.pose import Pose, Rotation
from ..model.references import is_name_in, located
from ..model.states import check_finite
from ..trace import at_values, has_parameters
from ..types import real_array
from .evaluator import Evaluator

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..types import State

ORIGIN = (0.0, 0.0, 0.0)
AXES = ("world", "local")
HELD = 2**20
"""Numbers in the paths that are held for the next call."""

Where = str | tuple[str, Pose]
"""A body, "ground" included, a frame, or a place on a body. A body comes before a frame of the same name."""


class Place(NamedTuple):
    """A frame on a body, as programs read it."""

    path: np.ndarray
    """1 for the body and all that carry it, 0 elsewhere."""
    origin: np.ndarray
    turn: np.ndarray | None
    """Rotation, frame → body; None where axes are parallel."""


class Points:
    """Questions about points, of one formulation."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.model = evaluator, evaluator.model
        self._places: dict[str, Place] = {}

    def pose(self, q: State, where: Where, t: ArrayLike, parameters: Any) -> Pose | tuple[np.ndarray, np.ndarray]:
        place = self._place(where, parameters)
        given = {"point": place.origin, "path": place.path, "parameter": parameters}
        found = self.evaluator.outputs("pose", ("position", "G"), q=q, t=t, **given)
        rotation = _own_axes(place, found["G"]).swapaxes(-1, -2)
        position = found["position"]
        return Pose(position.tolist(), Rotation(rotation.ravel().tolist())) if position.ndim == 1 else (rotation, position)

    def jacobian(
        self,
        q: State,
        where: Where,
        point: ArrayLike,
        t: ArrayLike,
        axes: str,
        parameters: Any,
    ) -> np.ndarray:
        return self._asked("jacobian", "J", where, point, axes, q=q, t=t, parameter=parameters)

    def velocity(
        self, q: State, v: State, where: Where, point: ArrayLike, t: ArrayLike, axes: str, parameters: Any
    ) -> np.ndarray:
        return self._asked("point-velocity", "velocity", where, point, axes, q=q, v=v, t=t, parameter=parameters)

    def acceleration(
        self, q: State, v: State, a: State, where: Where, point: ArrayLike, t: ArrayLike, axes: str, parameters: Any
    ) -> np.ndarray:
        return self._asked("point-acceleration", "acceleration", where, point, axes, q=q, v=v, qdd=a, t=t, parameter=parameters)

    def _asked(self, program: str, output: str, where: Where, point: ArrayLike, axes: str, **given: Any) -> np.ndarray:
        """Linear and angular part, each of three rows, in the axes asked for."""
        place = self._place(where, given["parameter"])
        given |= {"point": place.origin if point is ORIGIN else _in_body(place, point), "path": place.path}
        if not is_name_in(AXES, axes):
            raise MethodError(unknown(f"axes {brief(axes)}", axes, AXES, "axes"))
        if axes == "world":
            return self.evaluator.output(program, output, **given)
        found = self.evaluator.outputs(program, (output, "G"), **given)
        x, G = found[output], found["G"]
        columns = x.shape[-1] if x.ndim > G.ndim else 1  # a matrix, or one vector
        return np.matmul(_own_axes(place, G)[..., None, :, :], x.reshape(*G.shape[:-1], 2, 3, columns)).reshape(x.shape)

    def _place(self, where: Where, parameters: Any) -> Place:
        if isinstance(where, str) and where in self._places:
            return self._places[where]
        s = self.evaluator.structure
        body, at = located(where, s.body_number, self.model.frames)
        path = np.zeros(s.nb + 1)
        i = body + 1
        while i > 0:
            path[i] = 1.0
            i = int(s.carrier[i])
        turned = at.rotation != Rotation.identity()
        if has_parameters((*at.position, *at.rotation.entries)):
            numbers = self._numbers(at, parameters)
            turn = numbers[..., 3:].reshape(*numbers.shape[:-1], 3, 3) if turned else None
            return Place(path, numbers[..., :3], turn)
        place = Place(path, np.array(at.position, dtype=float), at.rotation.matrix if turned else None)
        if isinstance(where, str):
            if len(self._places) * len(path) > HELD:
                self._places.clear()
            self._places[where] = place
        return place

    def _numbers(self, at: Pose, parameters: Any) -> np.ndarray:
        """(12,) or (B, 12): position and rotation of a frame that depends on parameters."""
        rows, many = self.evaluator.arguments.parameters(parameters)
        named = dict(zip(self.model.structure.parameters, rows.T, strict=True))
        found = at_values((*at.position, *at.rotation.entries), named)
        numbers = np.stack([np.broadcast_to(np.asarray(x, dtype=float), len(rows)) for x in found], axis=1)
        return numbers if many else numbers[0]


def _in_body(place: Place, point: ArrayLike) -> Any:
    """A point, or one for each state, given in the frame, in the axes of the body; what has another shape is refused later."""
    if point is None:
        return None
    x = real_array(point, "point")
    if x.shape[-1:] != (3,) or (place.turn is None and not place.origin.any()):
        return x
    if x.ndim == 1:
        check_finite(x, lambda: "xyz", "point")
    return place.origin + (x if place.turn is None else np.matmul(place.turn, x[..., None])[..., 0])


def _own_axes(place: Place, G: np.ndarray) -> np.ndarray:
    """(…, 3, 3): cosines, world → frame."""
    G = G.reshape(*G.shape[:-1], 3, 3)
    return G if place.turn is None else np.matmul(place.turn.swapaxes(-1, -2), G)
