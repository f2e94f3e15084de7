"""Elements and their values as plain data: fields in the order of files, defaults left out; tables of formulas collected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ...errors import NOT_A_NUMBER, FormatError, brief
from ...model import values as kinds
from ...model.element import Element
from ...model.flexible import Integrals
from ...model.flexible.beam import ModeCounts
from ...model.flexible.tables import IntegralsValue, modal_integrals
from ...model.formulas import PoseFormula, VectorFormula
from ...model.joints.compound import Parts
from ...model.pose import Pose, Rotation, quaternion_of
from ...model.values import Kind, of_kind
from ...trace import has_parameters, is_parametric
from ...trace.formula import Formula, Formulas, part_text
from ...trace.parameters import file_text
from ...trace.table import Table
from .entries import JOINTS, IntegralsEntry
from .reading import file_fields

NO_TEXT = "a Python function cannot be written; give it as text: "


def write_element(element: Element, label: str, beside: Mapping[str, Any] | None = None, full: bool = False) -> dict[str, Any]:
    """Type and fields; `beside`: data that is put before the options, but for None; `full`: fields that are no options even at
    their defaults."""
    out: dict[str, Any] = {"type": element.tag} if element.tag else {}
    beside = {key: data for key, data in (beside or {}).items() if data is not None}
    for one in file_fields(type(element)):
        if one.name == "":  # `where`, written with the formulas it belongs to
            continue
        if one.is_option:
            out, beside = out | beside, {}
        value = getattr(element, one.name)
        always = one.required or (full and not one.is_option)
        if value is None or (value is one.default and not always):
            continue
        data = write(one.kind, value, f"{label}: {one.key}", element)
        if isinstance(one.kind, kinds.NamedFormula):
            out |= {one.key: data, **where(value.formulas)}
        elif data is not None and (always or isinstance(value, (Element, Pose)) or not same(data, plain(one.default, ""))):
            out[one.key] = data
    return out | beside


def same(a: Any, b: Any) -> bool:
    """Equal to the last bit, and of the same kind."""
    return repr(a) == repr(b)


def plain(value: Any, label: str) -> Any:
    """Numbers, words and lists of them."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(x, label) for x in value]
    if isinstance(value, Mapping):
        return {str(key): plain(x, label) for key, x in value.items()}
    if is_parametric(value):
        return file_text(value)
    try:
        return float(value)
    except NOT_A_NUMBER:
        raise FormatError(f"{label}: {brief(value)} cannot be written; expected numbers or words") from None


# --- values by kind -------------------------------------------------------------------------------------------------------------
def write(kind: Kind, value: Any, label: str, element: Element | None) -> Any:
    """Plain data; None where nothing is to be written. `element`: the one the value is a field of."""
    return of_kind(WRITERS, kind)(kind, value, label, element)


def _rows(kind: kinds.Rows, value: Sequence[Sequence[Any]], label: str, element: Any) -> list[Any] | None:
    columns = [(key, of) for key, (of, _) in kind.columns.items()]
    return [{key: write(of, x, label, element) for (key, of), x in zip(columns, row, strict=True)} for row in value] or None


def _parts(kind: Parts, value: Mapping[str, Any], label: str, element: Any) -> dict[str, Any]:
    labels = {name: f"{label.removesuffix(': parts')}, part {name!r}" for name in value}
    return {
        name: write_joint(joint, labels[name], {"at": place(at, f"{labels[name]}: at")}) for name, (joint, at) in value.items()
    }


def refusal(label: str, kind: str, value: Any, remedy: str) -> FormatError:
    """The error for a class that no reader knows."""
    own = getattr(value, "type_name", type(value).__name__)
    return FormatError(f"{label}: a {kind + ' ' if kind else ''}class of your own ({own}) cannot be written; {remedy}")


def write_joint(joint: Any, label: str, beside: Mapping[str, Any]) -> dict[str, Any]:
    if type(joint) not in JOINTS:
        remedy = "build it as a sharnir.Compound, or as a sharnir.CustomJoint by a sharnir.PoseFormula"
        raise refusal(label, "joint", joint, remedy)
    return write_element(joint, label, beside, full=True)


def _integrals(kind: IntegralsValue, value: Integrals, label: str, element: Any) -> dict[str, Any]:
    """Integrals of the modes; the matrix only where it does not follow from them."""
    linear, first, product = (x.tolist() for x in (value.linear, value.first, value.product))
    follows = modal_integrals((element.mass, element.centre, element.inertia), linear, first, product).mass_matrix
    matrix = None if same(follows.tolist(), value.mass_matrix.tolist()) else value.mass_matrix.tolist()
    return write_element(IntegralsEntry(linear, first, product, matrix), label)


def _one_of(kind: kinds.OneOf, value: Any, label: str, element: Any) -> dict[str, Any]:
    if type(value) not in kind.classes:
        there = ", ".join(f"sharnir.{cls.__name__}" for cls in kind.classes)
        raise refusal(label, "", value, f"there are {there}")
    return write_element(value, label)


def _word(kind: kinds.ChoiceOrFunction, value: Any, label: str, element: Any) -> str:
    if callable(value):
        raise FormatError(f"{label}: a Python function cannot be written; pass the event to simulate(events=…)")
    return value


# --- places ---------------------------------------------------------------------------------------------------------------------
def place(pose: Pose, label: str) -> Any:
    """A position alone, or position and rotation; None for the identity."""
    position, turn = plain(pose.position, label), _rotation(pose.rotation, label)
    at_origin = same(position, [0.0, 0.0, 0.0])
    if not turn:
        return None if at_origin else position
    return turn if at_origin else {"position": position, **turn}


def _rotation(rotation: Rotation, label: str) -> dict[str, Any]:
    """The shortest form that gives the same direction cosines to the last bit."""
    entries = plain(rotation.entries, label)
    if same(entries, plain(Rotation.identity().entries, label)):
        return {}
    if has_parameters(tuple(rotation.entries)):
        return {"matrix": [entries[0:3], entries[3:6], entries[6:9]]}
    for axis, (s, c) in {"x": (7, 4), "y": (2, 0), "z": (3, 0)}.items():
        angle = math.atan2(entries[s], entries[c])
        for candidate in (angle, round(angle, 9), angle % (2 * math.pi)):
            if same(list(Rotation.about(axis, candidate).entries), entries):
                return {"axis": axis, "angle": candidate}
    yaw, pitch = math.atan2(entries[3], entries[0]), math.asin(max(-1.0, min(1.0, -entries[6])))
    rpy = [math.atan2(entries[7], entries[8]), pitch, yaw]
    for name, make, numbers in (("quaternion", Rotation.quaternion, quaternion_of(rotation)), ("rpy", Rotation.rpy, rpy)):
        for candidates in (list(numbers), [round(v, 9) for v in numbers]):
            if same(list(make(*candidates).entries), entries):
                return {name: candidates}
    return {"matrix": [entries[0:3], entries[3:6], entries[6:9]]}


# --- formulas -------------------------------------------------------------------------------------------------------------------
def _function_or_element(kind: kinds.FunctionOrElement, value: Any, label: str, element: Any) -> Any:
    if isinstance(value, Element):
        return write_element(value, label)
    return write(kinds.Function(kind.variables), value, label, element)


def _vector(kind: kinds.VectorFunction, value: Any, label: str, element: Any) -> Any:
    if not callable(value):
        return plain(value, label)
    if not isinstance(value, VectorFormula):
        raise FormatError(f"{label}: {NO_TEXT}sharnir.VectorFormula('sin(t)', 0, '2*q.elbow')")
    f = value.formulas
    parts = where(f)
    return {"vector": list(f.items), **parts} if parts else list(f.items)


def _drive(kind: kinds.DriveFunction, value: Any, label: str, element: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: write(kind, one, f"{label} of {name!r}", None) for name, one in value.items()}
    if isinstance(value, PoseFormula) or hasattr(element, "drive_returns"):
        return pose_formula(value, ("t",), label)
    return formula(value, ("t",), label)


def _named_formula(kind: kinds.NamedFormula, value: Any, label: str, element: Any) -> Any:
    if not isinstance(value, kind.make):  # type: ignore[arg-type]
        raise FormatError(f"{label}: {NO_TEXT}{kind.example}")
    return list(value.formulas.items) if kind.several else value.formulas.items[0]


def formula(function: Any, variables: Sequence[str], label: str) -> Any:
    """The text of a formula, or its long form."""
    if isinstance(function, Table):  # called with the variables, in their order
        _collect({(name := _name_of(function)): function}, label)
        return f"{name}({', '.join(variables)})"
    if not isinstance(function, Formula):
        raise FormatError(f"{label}: {NO_TEXT}sharnir.formula('…', {', '.join(map(repr, variables))})")
    f = function.formulas
    more = ({} if f.variables == tuple(variables) else {"of": list(f.variables)}) | where(f)
    return {"formula": f.items[0], **more} if more else f.items[0]


def pose_formula(function: Any, variables: Sequence[str], label: str) -> dict[str, Any]:
    if not isinstance(function, PoseFormula):
        raise FormatError(
            f"{label}: {NO_TEXT}sharnir.PoseFormula(position=(…), turns=[('z', '…')], variables={tuple(variables)})"
        )
    out = write_element(function, label)
    usual = tuple(function.variables) == tuple(variables)
    return {"position": [0.0, 0.0, 0.0], **out} if not out else {k: x for k, x in out.items() if not (usual and k == "of")}


def where(formulas: Formulas) -> dict[str, Any]:
    """Named parts of formulas; tables are parts of the file."""
    _collect({name: x for name, x in formulas.where.items() if isinstance(x, Table)}, "a formula")
    parts = {name: part_text(x) for name, x in formulas.where.items() if not isinstance(x, Table)}
    return {"where": parts} if parts else {}


# --- tables, collected while the formulas that call them are written ---------------------------------------------------------
_tables: ContextVar[dict[str, Table]] = ContextVar("tables of a file")


def write_table(table: Table) -> dict[str, Any]:
    numbers = [x.tolist() for x in (*table.axes, table.values)]
    data = dict(zip("xyz", numbers, strict=False))
    return data | {key: word for key, word in (("kind", table.kind), ("outside", table.outside)) if word not in ("cubic", "hold")}


@contextmanager
def collecting() -> Iterator[dict[str, Table]]:
    """The tables of formulas that are written inside."""
    tables: dict[str, Table] = {}
    token = _tables.set(tables)
    try:
        yield tables
    finally:
        _tables.reset(token)


def _collect(tables: Mapping[str, Table], label: str) -> None:
    """Tables of a formula become those of the file."""
    there = _tables.get({})
    for name, table in tables.items():
        if there.setdefault(name, table) != table:
            raise FormatError(f"{label}: two different tables are called {name!r}; the tables of a file need a name each")


def _name_of(table: Table) -> str:
    """The name by which a file knows a table that is a function itself."""
    if table.name.isidentifier():
        return table.name
    there = _tables.get({})
    same = (name for name, other in there.items() if other == table)
    return next(same, "") or next(name for k in range(1, len(there) + 2) if (name := f"table{k}") not in there)


WRITERS: dict[type[Kind], Callable[[Any, Any, str, Any], Any]] = {
    Kind: lambda kind, value, label, element: plain(value, label),
    kinds.Whole: lambda kind, value, label, element: int(value),
    kinds.FilePath: lambda kind, value, label, element: str(value),
    kinds.ChoiceOrFunction: _word,
    kinds.PoseValue: lambda kind, value, label, element: place(value, label),
    kinds.Function: lambda kind, value, label, element: (
        formula(value, kind.variables, label) if callable(value) else plain(value, label)
    ),
    kinds.FunctionOrElement: _function_or_element,
    kinds.VectorFunction: _vector,
    kinds.PoseFunction: lambda kind, value, label, element: pose_formula(value, kind.variables(vars(element)), label),
    kinds.DriveFunction: _drive,
    kinds.NamedFormula: _named_formula,
    kinds.Where: lambda kind, value, label, element: where(element.formulas).get("where"),
    kinds.Elements: lambda kind, value, label, element: [write_element(x, f"{label} {k}") for k, x in enumerate(value)],
    kinds.OneOf: _one_of,
    IntegralsValue: _integrals,
    ModeCounts: lambda kind, value, label, element: (
        {name: int(count) for name, count in value.items()} if isinstance(value, Mapping) else int(value)
    ),
    kinds.Rows: _rows,
    Parts: _parts,
}
