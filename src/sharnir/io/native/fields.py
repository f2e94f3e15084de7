"""Types of fields, the base of every entry of a file, and poses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from ...errors import ModelError, SharnirError, known
from ...model.pose import Pose, Rotation
from . import checks
from .checks import NUMBER, array, either, fault, leaf, shown

STRING = {"type": "string"}
AXIS = either({"enum": list(checks.AXES)}, array(NUMBER, 3))

Number = Annotated[float, *leaf(checks.number, NUMBER)]
MaybeNumber = Annotated[float | None, *leaf(checks.number, NUMBER)]
EndlessNumber = Annotated[float | None, *leaf(checks.endless_number, NUMBER)]
Vector = Annotated[tuple[float, ...], *leaf(checks.numbers(3), array(NUMBER, 3))]
Vectors = Annotated[tuple[float, ...] | None, *leaf(checks.numbers(3), array(NUMBER, 3))]
Four = Annotated[tuple[float, ...] | None, *leaf(checks.numbers(4), array(NUMBER, 4))]
Many = Annotated[tuple[float, ...], *leaf(checks.numbers(), array(NUMBER))]
OneOrMany = Annotated[Any, *leaf(checks.number_or_numbers, either(NUMBER, array(NUMBER)))]
Limits = Annotated[Any, *leaf(checks.limits, array(either(NUMBER, {"type": "null"}, array(either(NUMBER, {"type": "null"}), 2))))]
Whole = Annotated[int, *leaf(checks.whole_number, {"type": "integer"})]
Flag = Annotated[bool, *leaf(checks.boolean, {"type": "boolean"})]
MaybeFlag = Annotated[bool | None, *leaf(checks.boolean, {"type": "boolean"})]
Text = Annotated[str, *leaf(checks.text, STRING)]
MaybeText = Annotated[str | None, *leaf(checks.text, STRING)]
Name = Annotated[str, *leaf(checks.name, {"type": "string", "minLength": 1})]
Names = Annotated[tuple[str, ...] | None, *leaf(checks.names, array(STRING))]
Axis = Annotated[Any, *leaf(checks.axis, AXIS)]
MaybeAxis = Axis


class Faulty(Exception):
    """Something is wrong at a path of the file, found while the model is built."""

    def __init__(self, path: tuple[Any, ...], what: str) -> None:
        super().__init__(what)
        self.path, self.what = path, what


@contextmanager
def at(*path: Any) -> Iterator[None]:
    """What goes wrong inside belongs to this part of the file."""
    try:
        yield
    except Faulty as inner:
        raise Faulty((*path, *inner.path), inner.what) from None
    except (SharnirError, RecursionError, OverflowError) as error:
        raise Faulty(path, str(error)) from None


class Fields(BaseModel):
    """An entry of a file: fields by name, no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            raise fault(f"expected fields ({known(_field_names(cls), 99)}), got {shown(data)}")
        fields = _field_names(cls)
        for key in data:
            if key not in fields:
                near = get_close_matches(key, fields, 1)
                hint = f", did you mean {near[0]!r}?" if near else ""
                raise fault(f"unknown field{hint}; the fields here are {known(fields, 99)}", key)
        return data


def _field_names(cls: type[BaseModel]) -> list[str]:
    return [info.alias or name for name, info in cls.model_fields.items()]


class PoseFields(Fields):
    """Where a frame is: a position in metres and a rotation in one way of four."""

    position: Vector = (0.0, 0.0, 0.0)
    """Origin, m."""
    quaternion: Four = None
    """w x y z, of any length but zero."""
    rpy: Vectors = None
    """Roll about x, then pitch about y, then yaw about z, fixed axes, rad."""
    axis: MaybeAxis = None
    """Turn by `angle` about this axis."""
    angle: MaybeNumber = None
    """rad; goes with `axis`."""
    matrix: Annotated[Any, *leaf(checks.matrix((3, 3), (9,)), array(either(NUMBER, array(NUMBER, 3))))] = None
    """Direction cosines, 3×3 or nine numbers row by row."""

    def build(self) -> Pose:
        said = [n for n in ("quaternion", "rpy", "axis", "matrix") if getattr(self, n) is not None]
        if len(said) > 1:
            raise ModelError(f"give the rotation once, not by {known(said)}")
        if (self.axis is None) != (self.angle is None):
            raise ModelError("axis and angle go together")
        rotation: Any = None
        with at(*said):
            if self.quaternion is not None:
                rotation = Rotation.quaternion(*self.quaternion)
            elif self.rpy is not None:
                rotation = Rotation.rpy(*self.rpy)
            elif self.axis is not None:
                rotation = Rotation.about(self.axis, self.angle)
            elif self.matrix is not None:
                rotation = Rotation(self.matrix)
        return Pose(self.position, rotation)


def _kind_of_place(value: Any) -> str | None:
    if isinstance(value, (dict, PoseFields)):
        return "pose"
    return "position" if isinstance(value, (list, tuple)) else None


def _kind_of_named_place(value: Any) -> str | None:
    return "frame" if isinstance(value, str) else _kind_of_place(value)


def _or_word(kind: Any, word: str) -> Discriminator:
    return Discriminator(
        kind, custom_error_type="fault", custom_error_message=f"expected {word}", custom_error_context={"got": True}
    )


Place = Annotated[
    Annotated[PoseFields, Tag("pose")] | Annotated[Vector, Tag("position")],
    _or_word(_kind_of_place, "a pose {position: …, rpy: …} or a position [x, y, z]"),
    Field(description="a pose, or a position alone"),
]
NamedPlace = Annotated[
    Annotated[Name, Tag("frame")] | Annotated[Vector, Tag("position")] | Annotated[PoseFields, Tag("pose")],
    _or_word(_kind_of_named_place, "a pose {position: …, rpy: …}, a position [x, y, z] or the name of a frame"),
    Field(description="a pose, a position alone, or the name of a frame"),
]


def place_of(value: Any) -> Any:
    """A Pose, or the name of a frame."""
    if isinstance(value, PoseFields):
        return value.build()
    return Pose(value) if isinstance(value, tuple) else value
