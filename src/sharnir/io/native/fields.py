"""Types of fields, the base of every entry of a file, and poses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from numpy.linalg import LinAlgError
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator
from typing_extensions import TypeAliasType

from ...errors import ModelError, SharnirError, known
from ...model.pose import Pose, Rotation
from . import checks
from .checks import NUMBER, array, either, fault, leaf, shown, unknown

STRING = {"type": "string"}
END = either(NUMBER, {"type": "null"})
AXIS = either({"enum": list(checks.AXES)}, array(NUMBER, 3))

# named, so that the schema for editors says each of them once
Number = TypeAliasType("Number", Annotated[float, *leaf(checks.number, NUMBER)])
EndlessNumber = TypeAliasType("EndlessNumber", Annotated[float, *leaf(checks.endless_number, NUMBER)])
Vector = TypeAliasType("Vector", Annotated[tuple[float, ...], *leaf(checks.numbers(3), array(NUMBER, 3))])
Four = TypeAliasType("Four", Annotated[tuple[float, ...], *leaf(checks.numbers(4), array(NUMBER, 4))])
Many = TypeAliasType("Many", Annotated[tuple[float, ...], *leaf(checks.numbers(), array(NUMBER))])
OneOrMany = TypeAliasType("OneOrMany", Annotated[Any, *leaf(checks.number_or_numbers, either(NUMBER, array(NUMBER)))])
Limits = TypeAliasType("Limits", Annotated[Any, *leaf(checks.limits, array(either(END, array(END, 2))))])
Axis = TypeAliasType("Axis", Annotated[Any, *leaf(checks.axis, AXIS)])
Whole = Annotated[int, *leaf(checks.whole_number, {"type": "integer"})]
Flag = Annotated[bool, *leaf(checks.boolean, {"type": "boolean"})]
Text = Annotated[str, *leaf(checks.text, STRING)]
Name = Annotated[str, *leaf(checks.name, {"type": "string", "minLength": 1})]
Names = Annotated[tuple[str, ...], *leaf(checks.names, array(STRING))]


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
    except (SharnirError, ArithmeticError, LinAlgError, RecursionError) as error:  # numbers no mechanism has
        raise Faulty(path, str(error)) from None


class Fields(BaseModel):
    """An entry of a file: fields by name, no others."""

    # validators are built when a file is read: whoever writes one needs names and defaults alone
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            raise fault(f"expected fields ({known(_field_names(cls), 99)}), got {shown(data)}")
        fields = _field_names(cls)
        for key in data:
            if key not in fields:
                raise fault(unknown("field", key, fields, "fields here"), key)
            if data[key] is None:
                raise fault("a value is missing; give one or leave the field out", key)
        return data


def _field_names(cls: type[BaseModel]) -> list[str]:
    """`type` and what belongs to it alone come first, as they do in files."""
    names = list(cls.model_fields)
    return names[names.index("type") :] + names[: names.index("type")] if "type" in names else names


class PoseFields(Fields):
    """Where a frame is: a position in metres and a rotation in one way of four."""

    position: Vector = (0.0, 0.0, 0.0)
    """Origin, m."""
    quaternion: Four | None = None
    """w x y z, of any length but zero."""
    rpy: Vector | None = None
    """Roll about x, then pitch about y, then yaw about z, fixed axes, rad."""
    axis: Axis | None = None
    """Turn by `angle` about this axis."""
    angle: Number | None = None
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


Place = TypeAliasType(
    "Place",
    Annotated[
        Annotated[PoseFields, Tag("pose")] | Annotated[Vector, Tag("position")],
        _or_word(_kind_of_place, "a pose {position: …, rpy: …} or a position [x, y, z]"),
        Field(description="a pose, or a position alone"),
    ],
)
NamedPlace = TypeAliasType(
    "NamedPlace",
    Annotated[
        Annotated[Name, Tag("frame")] | Annotated[Vector, Tag("position")] | Annotated[PoseFields, Tag("pose")],
        _or_word(_kind_of_named_place, "a pose {position: …, rpy: …}, a position [x, y, z] or the name of a frame"),
        Field(description="a pose, a position alone, or the name of a frame"),
    ],
)


def place_of(value: Any) -> Any:
    """A Pose, or the name of a frame."""
    if isinstance(value, PoseFields):
        return value.build()
    return Pose(value) if isinstance(value, tuple) else value
