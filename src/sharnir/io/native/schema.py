"""Documents that follow from the descriptions of elements: the JSON schema of the format, for editors (`sharnir schema`), and the
tables of all fields for docs/native_format.md."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import Any

from ...model import values as kinds
from ...model.element import Described, Element
from ...model.events import Event
from ...model.flexible.beam import FAMILIES, MOST_MODES, ModeCounts
from ...model.flexible.sections import SECTIONS as CROSS_SECTIONS
from ...model.flexible.tables import IntegralsValue, TableValue
from ...model.forces import Accumulator, Muscle, Valve
from ...model.formulas import PoseFormula
from ...model.impacts import Impact
from ...model.joints import Joint
from ...model.joints.compound import Parts
from ...model.pose import Pose
from ...model.settings import SimulationSettings
from ...model.values import of_kind
from ...model.visual import Visual
from . import entries
from .entries import JOINTS, VERSION, IntegralsEntry, JointPlacement, ModelEntry, PartPlacement, Tagged
from .reading import file_fields

Schema = dict[str, Any]


def array(items: Schema, count: int | None = None) -> Schema:
    return {"type": "array", "items": items, **({} if count is None else {"minItems": count, "maxItems": count})}


def by_name(of: Schema) -> Schema:
    return {"type": "object", "additionalProperties": of}


def either(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


TEXT, NAME = {"type": "string"}, {"type": "string", "minLength": 1}
NUMBER, FORMULA, POSE = ref("number"), ref("formula"), ref("PoseEntry")
LIMIT = either(NUMBER, {"type": "null"})
COUNT = {"type": "integer", "minimum": 0, "maximum": MOST_MODES}
CLOSED = {"additionalProperties": False}
ONE_MOTION = (FORMULA, ref("LongFormula"), ref("PoseFormula"))
SHARED: dict[str, Schema] = {
    "number": either(
        {"type": "number"}, {"type": "string", "description": "a constant such as pi/2 or 90*deg, or with a unit: 30 mm"}
    ),
    "formula": either({"type": "string", "description": "a formula such as 0.3*sin(2*t)"}, {"type": "number"}),
}
SCHEMAS: dict[type[kinds.Kind], Callable[[Any], Schema]] = {
    kinds.Scalar: lambda kind: NUMBER,
    kinds.Vector: lambda kind: array(NUMBER, kind.count),
    kinds.ColourValue: lambda kind: either(array(NUMBER), NAME),
    kinds.ScalarOrVector: lambda kind: either(NUMBER, array(NUMBER)),
    kinds.Limits: lambda kind: array(either(LIMIT, array(LIMIT, 2))),
    kinds.Matrix: lambda kind: either(*map(_of_shape, kind.shapes)),
    kinds.Whole: lambda kind: _whole(minimum=kind.at_least, maximum=kind.at_most),
    kinds.Flag: lambda kind: {"type": "boolean"},
    kinds.Text: lambda kind: TEXT,
    kinds.FilePath: lambda kind: TEXT,
    kinds.Name: lambda kind: NAME,
    kinds.Names: lambda kind: array(TEXT),
    kinds.Choice: lambda kind: {"enum": list(kind.words)},
    kinds.AxisValue: lambda kind: either({"enum": list(kinds.AXES)}, array(NUMBER, 3)),
    kinds.PoseValue: lambda kind: either(POSE, array(NUMBER, 3)),
    kinds.Function: lambda kind: either(FORMULA, ref("LongFormula")),
    kinds.FunctionOrElement: lambda kind: either(FORMULA, ref("LongFormula"), schema(Tagged(kind.classes))),
    kinds.VectorFunction: lambda kind: either(array(FORMULA, 3), ref("LongVector")),
    kinds.PoseFunction: lambda kind: ref("PoseFormula"),
    kinds.DriveFunction: lambda kind: either(*ONE_MOTION, {**by_name(either(*ONE_MOTION)), "not": {"required": ["formula"]}}),
    kinds.NamedFormula: lambda kind: array(FORMULA) if kind.several else FORMULA,
    kinds.ByName: lambda kind: by_name(schema(kind.of)),
    kinds.Places: lambda kind: array(array(NUMBER, 3)),
    kinds.OneOf: lambda kind: schema(Tagged(kind.classes)),
    kinds.Rows: lambda kind: array(_row(kind)),
    kinds.Elements: lambda kind: array(ref(kind.of.__name__)),
    kinds.State: lambda kind: either(by_name(either(NUMBER, array(NUMBER))), array(NUMBER)),
    kinds.Times: lambda kind: either(NUMBER, array(NUMBER), {"enum": [kind.word]}),
    ModeCounts: lambda kind: either(COUNT, {"type": "object", "properties": dict.fromkeys(FAMILIES, COUNT), **CLOSED}),
    TableValue: lambda kind: either(*[array(NUMBER)] * kind.or_diagonal, array(array(NUMBER))),
    IntegralsValue: lambda kind: ref("IntegralsEntry"),
    Parts: lambda kind: by_name(schema(Tagged(JOINTS, PartPlacement))),
    kinds.Item: lambda kind: FORMULA,
    kinds.Items: lambda kind: array(FORMULA, kind.count),
    kinds.Where: lambda kind: by_name(FORMULA),
    entries.PlaceValue: lambda kind: either(NAME, POSE, array(NUMBER, 3)),
    entries.Grid: lambda kind: array(array(NUMBER)),
    entries.Block: lambda kind: _levels(kind.levels),
    entries.Record: lambda kind: ref(kind.of.__name__),
    Tagged: lambda kind: {"oneOf": [ref(_name(cls, kind.beside)) for cls in kind.classes]},
    entries.Version: lambda kind: {"const": VERSION},
}


def schema(kind: kinds.Kind) -> Schema:
    return of_kind(SCHEMAS, kind)(kind)


def _of_shape(shape: tuple[int, ...]) -> Schema:
    return NUMBER if not shape else array(_of_shape(shape[1:]), shape[0])


def _levels(count: int) -> Schema:
    return array(_levels(count - 1)) if count else NUMBER


def _row(kind: kinds.Rows) -> Schema:
    required = [key for key, (_, default) in kind.columns.items() if default is None]
    properties = {key: schema(of) for key, (of, _) in kind.columns.items()}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _whole(**bounds: int | None) -> Schema:
    return {"type": "integer", **{name: x for name, x in bounds.items() if x is not None}}


# --- entries --------------------------------------------------------------------------------------------------------------------
def _entry(cls: type[Element], beside: type[Element] | None = None) -> Schema:
    fields = file_fields(cls, beside)
    tag = {"type": {"const": cls.tag}} if cls.tag else {}
    return {
        "type": "object",
        "description": _summary(cls),
        "properties": {**tag, **{one.key: ref(f"option {one.key}") if one.is_option else _field(one) for one in fields}},
        "required": [*tag, *(one.key for one in fields if one.required)],
        "additionalProperties": False,
    }


def _summary(cls: type[Element]) -> str:
    return " ".join(cleandoc(cls.__doc__ or "").split("\n\n")[0].split())


def _field(one: Described) -> Schema:
    description = ", ".join(filter(None, (one.meaning, one.unit)))
    return {**schema(one.kind), **({"description": description} if description else {})}


def _name(cls: type[Element], beside: type[Element] | None) -> str:
    return f"Part{cls.__name__}" if beside is PartPlacement else cls.__name__


def json_schema() -> Schema:
    """The format for editors (docs/native_format.md)."""
    definitions = dict(SHARED)
    for cls in (entries.PoseEntry, entries.LongFormula, entries.LongVector, PoseFormula, IntegralsEntry):
        definitions[cls.__name__] = _entry(cls)
    for beside in (JointPlacement, PartPlacement):
        definitions |= {_name(cls, beside): _entry(cls, beside) for cls in JOINTS}
    definitions |= {f"option {one.key}": _field(one) for cls in JOINTS for one in file_fields(cls) if one.is_option}
    _define(ModelEntry, definitions)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "sharnir model"}
    return {**head, **definitions.pop("ModelEntry"), "$defs": definitions}


def _define(cls: type[Element], definitions: dict[str, Schema]) -> None:
    """The entry and all that its fields refer to."""
    if cls.__name__ in definitions:
        return
    definitions[cls.__name__] = _entry(cls)
    for one in file_fields(cls):
        kind: Any = one.kind.of if isinstance(one.kind, kinds.ByName) else one.kind
        for below in getattr(kind, "classes", [kind.of] if isinstance(kind, (entries.Record, kinds.Elements)) else []):
            _define(below, definitions)


def schema_text() -> str:
    """The JSON schema as text, each definition on its own line."""
    whole = json_schema()
    definitions = whole.pop("$defs")
    lines = [f"  {_compact(name)}: {_compact(x)}" for name, x in definitions.items()]
    head = [f" {_compact(key)}: {_compact(x)}" for key, x in whole.items()]
    return "{\n" + ",\n".join(head) + ',\n "$defs": {\n' + ",\n".join(lines) + "\n }\n}\n"


def _compact(x: Any) -> str:
    return json.dumps(x, ensure_ascii=False)


# --- the tables of the documents ------------------------------------------------------------------------------------------------
BEGIN, END = "<!-- fields: begin -->\n", "<!-- fields: end -->\n"
SECTIONS: dict[str, Sequence[type[Element]]] = {
    "Bodies, shapes, frames": (entries.BodyEntry, *entries.SHAPES, entries.FrameEntry),
    "Flexible bodies and their sections": (*entries.FLEXIBLE, entries.IntegralsEntry, entries.ModalArchive, *CROSS_SECTIONS),
    "Joints": (entries.JointPlacement, *entries.JOINTS, entries.CouplingEntry),
    "Options of joints": (Joint,),
    "Forces and states": (*entries.FORCES, Valve, Accumulator, Muscle, entries.StateEntry),
    "What contacts touch beside shapes": entries.SURFACES,
    "Constraints": entries.CONSTRAINTS,
    "Poses": (entries.PoseEntry, PoseFormula),
    "Tables": (entries.TableEntry,),
    "Simulation, events, visuals": (SimulationSettings, Event, Impact, Visual),
}
NAMES = {
    entries.BodyEntry: "a body", entries.FrameEntry: "a frame", entries.JointPlacement: "every joint", Joint: "options",
    entries.CouplingEntry: "a coupling", entries.PoseEntry: "a pose", PoseFormula: "a pose by formulas",
    SimulationSettings: "`simulation`", Event: "an event", Impact: "an impact", Visual: "a visual", Accumulator: "an accumulator",
    entries.StateEntry: "a state", entries.TableEntry: "a table", entries.IntegralsEntry: "integrals",
    entries.ModalArchive: "`modal` in an archive",
}  # fmt: skip


def tables() -> str:
    """A table for every section: type, field, default, unit, meaning."""
    lines: list[str] = []
    for title, classes in SECTIONS.items():
        lines += ["", f"### {title}", "| type | field | default | unit | meaning |", "|---|---|---|---|---|"]
        for cls in classes:
            lines.append(f"| **{NAMES.get(cls, f'`{cls.tag}`')}** | | | | {_cell(_summary(cls))} |")
            for one in file_fields(cls):
                if cls is Joint or not one.is_option:
                    lines.append(f"| | `{one.key}` | {_default(one)} | {one.unit} | {_cell(one.meaning)} |")
    return "\n".join(lines) + "\n"


def _default(one: Described) -> str:
    value = one.default
    if one.required:
        return "required"
    if value is None or isinstance(value, Pose) or value in ((), ""):
        return ""
    if isinstance(value, Element):
        return f"`type: {value.tag}`"
    plain = list(value) if isinstance(value, tuple) else value
    return f"`{str(plain).lower() if isinstance(plain, bool) else plain}`"


def _cell(text: str) -> str:
    return text.replace("|v|", "‖v‖").replace("|", "\\|").rstrip(".")


def updated(text: str) -> str:
    """A document with the tables between its marks made anew."""
    head, rest = text.split(BEGIN)
    return head + BEGIN + tables() + END + rest.split(END)[1]


if __name__ == "__main__":  # python -m sharnir.io.native.schema docs/native_format.md
    page = Path(sys.argv[1])
    page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")
