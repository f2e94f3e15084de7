"""Values of a file, read: from plain data to what the fields of elements take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING
from functools import cache
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ...errors import ModelError, known, unknown
from ...model import joints
from ...model import values as kinds
from ...model.element import Described, Element, described
from ...model.flexible.tables import ROW, IntegralsValue, TableValue, modal_integrals
from ...model.formulas import PoseFormula, VectorFormula
from ...model.joints.compound import Parts
from ...model.pose import Pose
from ...model.units import in_si
from ...model.values import Fault, Kind, expected, of_kind, shown
from ...trace import at_values
from ...trace.formula import Formula, constant, parameter_hint
from . import entries
from .faults import at, each, items


# --- entries ------------------------------------------------------------------------------------------------------------------
class ReadEntry(NamedTuple):
    """The entry a value belongs to: its data, and the fields read so far."""

    data: Mapping[str, Any]
    found: dict[str, Any]


def _file_fields(cls: Any, beside: Any = None) -> tuple[Described, ...]:
    """The fields of an entry in the order of files: its own, those of the entry beside it, options."""
    own: list[Described] = []
    for one in sorted(described(cls), key=lambda one: one.last):
        own += [one] if one.key else []
        if isinstance(one.kind, kinds.NamedFormula):
            own.append(Described(kinds.Where(), "", "named parts of the formulas", "where", False, "", None, False))
    options = [one for one in own if one.is_option]
    return (*(one for one in own if not one.is_option), *(described(beside) if beside else ()), *options)


file_fields: Callable[..., tuple[Described, ...]] = cache(_file_fields)


ONE_UNIT = {joints.Revolute: 0, joints.Universal: 0, joints.Screw: 0, joints.Prismatic: 1, joints.Translation: 1}
"""Joints all of whose coordinates have one unit: which one of `rad, m` and the like."""


def plain_numbers(value: Any, units: Sequence[str]) -> Any:
    """A value in which numbers with a unit, such as 30 mm, are plain ones where the field has just one unit."""
    if isinstance(value, (list, dict)):
        keys = value if isinstance(value, dict) else range(len(value))
        found = {key: plain_numbers(value[key], units) for key in keys}
        return found if isinstance(value, dict) else list(found.values())
    number = in_si(value) if isinstance(value, str) else None
    if number and units[0] and number[1] not in units:
        raise Fault(f"expected a number of {' or '.join(units)}, got {shown(value)}")
    return number[0] if number and [number[1]] == units else value


def read_fields(fields: Sequence[Described], data: Any, first: Sequence[str] = (), unit: int | None = None) -> dict[str, Any]:
    """Values by field; `first`: keys that are read elsewhere; `unit`: as of `ONE_UNIT`."""
    by_key = {one.key: one for one in fields}
    keys = [*first, *by_key]
    if not isinstance(data, dict):
        raise Fault(f"expected fields ({known(keys, 99)}), got {shown(data)}")
    entry = ReadEntry(data, {one.name: one.default for one in fields if not one.required and one.key not in data})

    def plain(one: Described, value: Any) -> Any:
        units = one.unit.split(", ")
        own = units if unit is None or not one.is_option or len(units) < 2 else [units[unit]]
        return plain_numbers(value, own) if isinstance(one.kind, NUMBERS) else value

    def read_one(key: str) -> None:
        one = by_key.get(key)
        if key not in data:
            raise Fault("this field is missing" + (f": {one.meaning}" if one and one.meaning else ""))
        if data[key] is None:
            comma = ": in {…} and […] a comma separates values, the decimal separator is a point" if key.isdigit() else ""
            raise Fault(f"a value is missing; give one or leave the field out{comma}")
        if one is not None:
            entry.found[one.name] = read(one.kind, plain(one, data[key]), entry)
        elif key not in first:
            raise Fault(unknown("field", key, keys, "fields here"))

    present = [one.key for one in fields if one.required or one.key in data]
    each(((key, key) for key in dict.fromkeys([*present, *data])), read_one)
    entry.found.pop("", None)  # `where` is part of the formulas beside it
    return entry.found


def read_element(cls: type[Element], data: Any) -> Any:
    return cls(**read_fields(file_fields(cls), data))


def read_tagged(kind: entries.Tagged, data: Any) -> Any:
    """An element by its type; with the entry beside it, if any."""
    classes = {cls.tag: cls for cls in kind.classes}
    if not isinstance(data, dict):
        raise Fault(f"expected fields beginning with type: {known(classes, 99)}; got {shown(data)}")
    if "type" not in data:
        raise Fault(f"this field is missing; the types are {known(classes, 99)}", "type")
    tag = data["type"]
    if not isinstance(tag, str) or tag not in classes:
        raise Fault(unknown(f"type {shown(tag)}", str(tag), classes, "types"), "type")
    found = read_fields(file_fields(classes[tag], kind.beside), data, ["type"], ONE_UNIT.get(classes[tag]))
    beside = {} if kind.beside is None else {one.name: found.pop(one.name) for one in described(kind.beside)}
    made = classes[tag](**found)
    return made if kind.beside is None else (made, kind.beside(**beside))


# --- values by kind -------------------------------------------------------------------------------------------------------------
def read(kind: Kind, value: Any, entry: ReadEntry) -> Any:
    """The value of a field of `entry`."""
    return of_kind(READERS, kind)(kind, value, entry)


def constants(value: Any) -> Any:
    """A value with constants such as pi/2 evaluated; what is not a finite constant stays."""
    if isinstance(value, list):
        return [constants(x) for x in value]
    if isinstance(value, dict):
        return {key: constants(x) for key, x in value.items()}
    if isinstance(value, str):
        try:
            result = constant(value)
        except (ModelError, ValueError, OverflowError) as error:
            if (found := in_si(value)) is not None:
                x, unit = found
                more = ", or degrees times deg, such as 90*deg" * (unit == "rad")
                raise Fault(f"{shown(value)} is {x:.6g} {unit}: here the unit is not known, write {x:.6g}{more}") from None
            if hint := parameter_hint(value):
                raise Fault(f"{error}{hint}") from None
            return value
        return result if isfinite(at_values(result)) else value
    return value


def _version(kind: entries.Version, value: Any, entry: ReadEntry) -> int:
    if value != entries.VERSION or isinstance(value, bool):
        raise expected(f"{entries.VERSION}, the version of the format that this sharnir reads", value)
    return entries.VERSION


def _by_name(kind: kinds.ByName, value: Any, entry: ReadEntry) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Fault(f"expected entries by name, got {shown(value)}")
    each(((name, name) for name in value), kinds.Name().check)
    return each(value.items(), lambda one: read(kind.of, one, entry))


def _rows(kind: kinds.Rows, value: Any, entry: ReadEntry) -> tuple[Any, ...]:
    columns = [
        Described(of, "", "", key, False, key, MISSING if default is None else default, False)
        for key, (of, default) in kind.columns.items()
    ]
    return items(value, lambda row: tuple(read_fields(columns, row).values()))


def _parts(kind: Parts, value: Any, entry: ReadEntry) -> Any:
    parts = _by_name(kinds.ByName(entries.Tagged(entries.JOINTS, entries.PartPlacement)), value, entry)
    return kind.check({name: (joint, place.at) for name, (joint, place) in parts.items()})


# --- flexible bodies ------------------------------------------------------------------------------------------------------------
def _flexible(kind: entries.FlexibleValue, value: Any, entry: ReadEntry) -> Any:
    in_archive = isinstance(value, dict) and value.get("type") == entries.ModalArchive.tag and "file" in value
    return read_tagged(entries.Tagged((entries.ModalArchive,) if in_archive else entries.FLEXIBLE), value)


def _integrals(kind: IntegralsValue, value: Any, entry: ReadEntry) -> Any:
    given = read_element(entries.IntegralsEntry, value)
    m = len(given.linear)
    sizes = {"linear": (m, 3), "first": (m, 3, 3), "product": (m, m, 3, 3), "mass_matrix": (m, m)}

    def check_size(name: str) -> None:
        value, shape = getattr(given, name), sizes[name]
        if value is not None and (found := np.shape(value)) != shape:
            raise Fault(f"expected {'×'.join(map(str, shape))} numbers, got {'×'.join(map(str, found))}")

    each(((name, name) for name in sizes), check_size)
    try:
        rigid = [entry.found[name] for name in ("mass", "centre", "inertia")]
    except KeyError:  # they are wrong themselves
        return None
    return modal_integrals(rigid, given.linear, given.first, given.product, given.mass_matrix)


def _nested(value: Any, levels: int) -> tuple[Any, ...]:
    if levels == 1:
        return ROW.check(value)
    found = items(value, lambda x: _nested(x, levels - 1))
    if len({np.shape(x) for x in found}) != 1:
        raise Fault("expected lists of equal lengths")
    return found


# --- places ---------------------------------------------------------------------------------------------------------------------
def _place(kind: entries.PlaceValue, value: Any, entry: ReadEntry) -> Pose | str:
    if isinstance(value, str):
        return kinds.Name().check(value)
    return read_pose(value, "a pose {position: …, rpy: …}, a position [x, y, z] or the name of a frame")


def read_pose(value: Any, what: str) -> Pose:
    if isinstance(value, list):
        return Pose(kinds.Vector(3).check(constants(value)))
    if not isinstance(value, dict):
        raise expected(what, value)
    entry = read_element(entries.PoseEntry, value)
    return Pose(entry.position, entry.rotation())


# --- formulas -------------------------------------------------------------------------------------------------------------------
def _function(kind: kinds.Function, value: Any, entry: ReadEntry) -> Any:
    if isinstance(value, dict):
        return read_element(entries.LongFormula, value).build(kind.variables)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise expected("a formula such as 0.3*sin(2*t), a number, or {formula: …, where: {…}}", value)
    item = kinds.Item().check(value)
    return item if kind.or_number and isinstance(item, float) else Formula(item, kind.variables)


def _function_or_element(kind: kinds.FunctionOrElement, value: Any, entry: ReadEntry) -> Any:
    is_element = isinstance(value, dict) and "formula" not in value
    return read_tagged(entries.Tagged(kind.classes), value) if is_element else _function(kind, value, entry)


def _vector(kind: kinds.VectorFunction, value: Any, entry: ReadEntry) -> Any:
    if isinstance(value, dict):
        return read_element(entries.LongVector, value).build()
    if not isinstance(value, list):
        raise expected("three formulas or numbers, or {vector: …, where: {…}}", value)
    found = kinds.Items(3).check(value)
    return VectorFormula(*found) if any(isinstance(x, str) for x in found) else found


def _pose_function(kind: kinds.PoseFunction, value: Any, entry: ReadEntry) -> Any:
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


def _drive(kind: kinds.DriveFunction, value: Any, entry: ReadEntry) -> Any:
    def read_one(one: Any) -> Any:
        is_pose = isinstance(one, dict) and "formula" not in one
        return read_pose_formula(one, ("t",)) if is_pose else _function(kinds.Function(("t",)), one, entry)

    if not isinstance(value, (str, int, float, dict)) or isinstance(value, bool):
        raise expected("a formula of t, formulas by coordinate {y: …}, or a pose by formulas {turns: …}", value)
    whole = {"formula", "turns", "quaternion"}
    if not isinstance(value, dict) or not whole.isdisjoint(value) or isinstance(value.get("position"), list):
        return read_one(value)
    each(((name, name) for name in value), kinds.Name().check)
    return each(value.items(), read_one)


def _named_formula(kind: kinds.NamedFormula, value: Any, entry: ReadEntry) -> Any:
    where = kinds.Where().check(entry.data["where"]) if isinstance(entry.data.get("where"), dict) else None
    if not kind.several:
        return kind.make(kinds.Item().check(value), where=where)
    found = kinds.Items().check(value)
    each(enumerate(found), lambda item: kind.make(item, where=where))
    return kind.make(*found, where=where)


NUMBERS = (
    kinds.Scalar, kinds.Vector, kinds.ScalarOrVector, kinds.Limits, kinds.Matrix, kinds.Places, kinds.State, kinds.Times,
    TableValue,
)  # fmt: skip
"""Kinds of numbers, which may be constants such as pi/2."""
READERS: dict[type[Kind], Callable[[Any, Any, ReadEntry], Any]] = {
    Kind: lambda kind, value, entry: kind.check(value),
    **dict.fromkeys(NUMBERS, lambda kind, value, entry: kind.check(constants(value))),
    **dict.fromkeys(
        (kinds.AxisValue, kinds.ColourValue),
        lambda kind, value, entry: kind.check(constants(value) if isinstance(value, list) else value),
    ),
    kinds.PoseValue: lambda kind, value, entry: read_pose(value, "a pose {position: …, rpy: …} or a position [x, y, z]"),
    kinds.Function: _function,
    kinds.FunctionOrElement: _function_or_element,
    kinds.VectorFunction: _vector,
    kinds.PoseFunction: _pose_function,
    kinds.DriveFunction: _drive,
    kinds.NamedFormula: _named_formula,
    kinds.ByName: _by_name,
    kinds.Rows: _rows,
    kinds.Elements: lambda kind, value, entry: items(value, lambda one: read_element(kind.of, one)),
    kinds.OneOf: lambda kind, value, entry: read_tagged(entries.Tagged(kind.classes), value),
    Parts: _parts,
    entries.PlaceValue: _place,
    entries.Block: lambda kind, value, entry: _nested(constants(value), kind.levels),
    entries.FlexibleValue: _flexible,
    IntegralsValue: _integrals,
    entries.Grid: lambda kind, value, entry: items(value, lambda row: kinds.Vector().check(constants(row))),
    entries.Record: lambda kind, value, entry: read_element(kind.of, value),
    entries.Tagged: lambda kind, value, entry: read_tagged(kind, value),
    entries.Version: _version,
}
