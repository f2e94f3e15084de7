"""Values of a file, read: from plain data to what the fields of elements take. All mistakes are found, each with its path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING
from functools import cache, singledispatch
from math import isfinite
from typing import Any, NamedTuple

from numpy.linalg import LinAlgError

from ...errors import ModelError, SharnirError, known
from ...model import values as kinds
from ...model.element import Described, Element, described, unknown
from ...model.formulas import PoseFormula, VectorFormula
from ...model.joints.compound import Parts
from ...model.pose import Pose
from ...model.values import Fault, Kind, expected, shown
from ...trace.formula import Formula, constant
from .entries import JOINTS, VERSION, LongFormula, LongVector, PartPlacement, Place, PoseEntry, Record, Tagged, Version

REFUSALS = (SharnirError, ArithmeticError, LinAlgError, RecursionError)
"""What building raises on numbers that no mechanism has."""


class Faults(Exception):
    """Everything that is wrong with a value."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(fault.what for fault in faults))
        self.faults = list(faults)


@contextmanager
def at(*path: str | int) -> Iterator[None]:
    """What goes wrong inside belongs to this part of the file."""
    try:
        yield
    except Faults as error:
        raise Faults([Fault(fault.what, *path, *fault.path) for fault in error.faults]) from None
    except Fault as fault:
        raise Faults([Fault(fault.what, *path, *fault.path)]) from None
    except REFUSALS as error:
        raise Faults([Fault(str(error), *path)]) from None


def each(parts: Iterable[tuple[Any, Any]], read_one: Callable[[Any], Any]) -> dict[Any, Any]:
    """Parts of a value by their keys, read one by one; the faults of all of them are reported."""
    out, faults = dict[Any, Any](), list[Fault]()
    for key, part in parts:
        try:
            with at(key):
                out[key] = read_one(part)
        except Faults as error:
            faults += error.faults
    if faults:
        raise Faults(faults)
    return out


def items(value: Any, read_one: Callable[[Any], Any]) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise expected("a list", value)
    return tuple(each(enumerate(value), read_one).values())


# --- entries ------------------------------------------------------------------------------------------------------------------
class Entry(NamedTuple):
    """The entry a value belongs to: its data, and the fields read so far."""

    data: Mapping[str, Any]
    found: dict[str, Any]


def file_fields(cls: Any, beside: Any = None) -> tuple[Described, ...]:
    """The fields of an entry in the order of files: its own, those of the entry beside it, options."""
    return _file_fields(cls, beside)


@cache
def _file_fields(cls: Any, beside: Any) -> tuple[Described, ...]:
    own: list[Described] = []
    for one in sorted(described(cls), key=lambda one: one.last):
        own += [one] if one.key else []
        if isinstance(one.kind, kinds.NamedFormula):
            own.append(Described(kinds.Where(), "", "named parts of the formulas", "where", False, "", None, False))
    options = [one for one in own if one.is_option]
    return (*(one for one in own if not one.is_option), *(described(beside) if beside else ()), *options)


def read_fields(fields: Sequence[Described], data: Any, first: Sequence[str] = ()) -> dict[str, Any]:
    """Values by field; `first`: keys that are read elsewhere."""
    by_key = {one.key: one for one in fields}
    keys = [*first, *by_key]
    if not isinstance(data, dict):
        raise Fault(f"expected fields ({known(keys, 99)}), got {shown(data)}")
    entry = Entry(data, {})

    def read_one(key: str) -> None:
        if key not in keys:
            raise Fault(unknown("field", key, keys, "fields here"))
        if key in data and data[key] is None:
            raise Fault("a value is missing; give one or leave the field out")
        one = by_key.get(key)
        if one is None:
            return
        if key in data:
            entry.found[one.name] = read(one.kind, data[key], entry)
        elif one.required:
            raise Fault("this field is missing" + (f": {one.meaning}" if one.meaning else ""))
        else:
            entry.found[one.name] = one.default

    each(((key, key) for key in dict.fromkeys([*keys, *data])), read_one)
    entry.found.pop("", None)  # `where` is part of the formulas beside it
    return entry.found


def read_element(cls: type[Element], data: Any) -> Any:
    return cls(**read_fields(file_fields(cls), data))


def read_tagged(kind: Tagged, data: Any) -> Any:
    """An element by its type; with the entry beside it, if any."""
    classes = {cls.tag: cls for cls in kind.classes}
    if not isinstance(data, dict):
        raise Fault(f"expected fields beginning with type: {known(classes, 99)}; got {shown(data)}")
    if "type" not in data:
        raise Fault(f"this field is missing; the types are {known(classes, 99)}", "type")
    tag = data["type"]
    if not isinstance(tag, str) or tag not in classes:
        raise Fault(unknown(f"type {shown(tag)}", str(tag), classes, "types"), "type")
    found = read_fields(file_fields(classes[tag], kind.beside), data, ["type"])
    beside = {} if kind.beside is None else {one.name: found.pop(one.name) for one in described(kind.beside)}
    made = classes[tag](**found)
    return made if kind.beside is None else (made, kind.beside(**beside))


# --- values by kind -------------------------------------------------------------------------------------------------------------
@singledispatch
def read(kind: Kind, value: Any, entry: Entry) -> Any:
    """The value of a field of `entry`."""
    return kind.check(constants(value) if isinstance(kind, NUMERIC) else value)


NUMERIC = (
    kinds.Scalar, kinds.Vector, kinds.ScalarOrVector, kinds.Limits, kinds.Matrix, kinds.State, kinds.Times,
)  # fmt: skip


def constants(value: Any) -> Any:
    """A value with constants such as pi/2 evaluated; what is not a finite constant stays."""
    if isinstance(value, list):
        return [constants(x) for x in value]
    if isinstance(value, dict):
        return {key: constants(x) for key, x in value.items()}
    if isinstance(value, str):
        try:
            found = constant(value)
        except (ModelError, ValueError, OverflowError):
            return value
        return found if isfinite(found) else value
    return value


@read.register
def _(kind: kinds.AxisValue, value: Any, entry: Entry) -> Any:
    return kind.check(constants(value) if isinstance(value, list) else value)


@read.register
def _(kind: Version, value: Any, entry: Entry) -> int:
    if value != VERSION or isinstance(value, bool):
        raise expected(f"{VERSION}, the version of the format that this sharnir reads", value)
    return VERSION


@read.register
def _(kind: Record, value: Any, entry: Entry) -> Any:
    return read_element(kind.of, value)


@read.register
def _(kind: Tagged, value: Any, entry: Entry) -> Any:
    return read_tagged(kind, value)


@read.register
def _(kind: kinds.ByName, value: Any, entry: Entry) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Fault(f"expected entries by name, got {shown(value)}")
    each(((name, name) for name in value), kinds.Name().check)
    return each(value.items(), lambda one: read(kind.of, one, entry))


@read.register
def _(kind: kinds.Elements, value: Any, entry: Entry) -> tuple[Any, ...]:
    return items(value, lambda one: read_element(kind.of, one))


@read.register
def _(kind: kinds.Rows, value: Any, entry: Entry) -> tuple[Any, ...]:
    columns = [
        Described(of, "", "", key, False, key, MISSING if default is None else default, False)
        for key, (of, default) in kind.columns.items()
    ]
    return items(value, lambda row: tuple(read_fields(columns, row).values()))


@read.register
def _(kind: Parts, value: Any, entry: Entry) -> Any:
    parts = read(kinds.ByName(Tagged(JOINTS, PartPlacement)), value, entry)
    return kind.check({name: (joint, place.at) for name, (joint, place) in parts.items()})


# --- places ---------------------------------------------------------------------------------------------------------------------
@read.register
def _(kind: kinds.PoseValue, value: Any, entry: Entry) -> Pose:
    return read_pose(value, "a pose {position: …, rpy: …} or a position [x, y, z]")


@read.register
def _(kind: Place, value: Any, entry: Entry) -> Pose | str:
    if isinstance(value, str):
        return kinds.Name().check(value)
    return read_pose(value, "a pose {position: …, rpy: …}, a position [x, y, z] or the name of a frame")


def read_pose(value: Any, what: str) -> Pose:
    if isinstance(value, list):
        return Pose(kinds.Vector(3).check(constants(value)))
    if not isinstance(value, dict):
        raise expected(what, value)
    entry = read_element(PoseEntry, value)
    with at(*entry.rotation_by()):
        rotation = entry.rotation()
    return Pose(entry.position, rotation)


# --- formulas -------------------------------------------------------------------------------------------------------------------
@read.register
def _(kind: kinds.Function, value: Any, entry: Entry) -> Any:
    if isinstance(value, dict):
        return read_element(LongFormula, value).build(kind.variables)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise expected("a formula such as 0.3*sin(2*t), a number, or {formula: …, where: {…}}", value)
    item = kinds.Item().check(value)
    return item if kind.or_number and isinstance(item, float) else Formula(item, kind.variables)


@read.register
def _(kind: kinds.VectorFunction, value: Any, entry: Entry) -> Any:
    if isinstance(value, dict):
        return read_element(LongVector, value).build()
    if not isinstance(value, list):
        raise expected("three formulas or numbers, or {vector: …, where: {…}}", value)
    found = kinds.Items(3).check(value)
    return VectorFormula(*found) if any(isinstance(x, str) for x in found) else found


@read.register
def _(kind: kinds.PoseFunction, value: Any, entry: Entry) -> Any:
    try:
        variables = kind.variables(entry.found)
    except KeyError:  # a field that the names depend on is wrong itself
        return None
    return read_pose_formula(value, variables)


def read_pose_formula(value: Any, variables: Sequence[str]) -> PoseFormula:
    found = read_fields(file_fields(PoseFormula), value)
    if "of" not in value:
        found["variables"] = variables
    try:
        return PoseFormula(**found)
    except ModelError:  # the formula at fault is found by trying them one by one
        rest = {name: found[name] for name in ("variables", "where")}
        for k, text in enumerate(found["position"]):
            with at("position", k):
                Formula(text, **rest)
        for k, turn in enumerate(found["turns"]):
            with at("turns", k):
                PoseFormula(turns=[turn], **rest)
        raise


@read.register
def _(kind: kinds.DriveFunction, value: Any, entry: Entry) -> Any:
    if not isinstance(value, dict) or "formula" in value:
        if not isinstance(value, (str, int, float, dict)) or isinstance(value, bool):
            raise expected("a formula of t, formulas by coordinate {y: …}, or a pose by formulas {turns: …}", value)
        return read(kinds.Function(("t",)), value, entry)
    if "turns" in value or "quaternion" in value or isinstance(value.get("position"), list):
        return read_pose_formula(value, ("t",))

    def read_one(one: Any) -> Any:
        is_pose = isinstance(one, dict) and "formula" not in one
        return read_pose_formula(one, ("t",)) if is_pose else read(kinds.Function(("t",)), one, entry)

    each(((name, name) for name in value), kinds.Name().check)
    return each(value.items(), read_one)


@read.register
def _(kind: kinds.NamedFormula, value: Any, entry: Entry) -> Any:
    where = kinds.Where().check(entry.data["where"]) if isinstance(entry.data.get("where"), dict) else None
    if not kind.several:
        return kind.make(kinds.Item().check(value), where=where)
    found = kinds.Items().check(value)
    each(enumerate(found), lambda item: kind.make(item, where=where))
    return kind.make(*found, where=where)
