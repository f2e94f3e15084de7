"""The schema for editors: it accepts what the reader accepts, and marks what the reader refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_native import DOCS, EXAMPLE
from test_native_mistakes import AT, GOOD, MISTAKES

import sharnir as sh
from joint_table import alone
from native_models import FORCES, WRITABLE_JOINTS, on_base
from sharnir.io.native.document import Document
from sharnir.io.native.schema import json_schema, schema_text

SCHEMA = json_schema()
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def fits(value, schema) -> bool:
    """The part of JSON Schema that the schema uses."""
    if "$ref" in schema and not fits(value, SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")]):
        return False
    kind = schema.get("type")
    if kind is not None and not (isinstance(value, TYPES[kind]) and (kind == "boolean") == isinstance(value, bool)):
        return False
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        return False
    if "anyOf" in schema and not any(fits(value, x) for x in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(fits(value, x) for x in schema["oneOf"]) != 1:
        return False
    if "not" in schema and fits(value, schema["not"]):
        return False
    if isinstance(value, dict):
        own, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        if not set(schema.get("required", ())) <= set(value):
            return False
        others = {} if others is True else others
        return all(fits(x, own.get(k, others)) if k in own or others is not False else False for k, x in value.items())
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return False
        return all(fits(x, schema.get("items", {})) for x in value)
    return not isinstance(value, str) or len(value) >= schema.get("minLength", 0)


def test_the_schema_in_the_documents_is_that_of_the_code():
    stored = (DOCS / "schema" / "sharnir.schema.json").read_text(encoding="utf-8")
    assert stored == schema_text(), "write it anew: sharnir schema > docs/schema/sharnir.schema.json"
    assert json.loads(stored) == json.loads(json.dumps(SCHEMA))


def test_the_command_line_prints_it(command):
    assert command("schema") == (0, schema_text(), "")


def texts() -> dict[str, str]:
    out = {"good": GOOD, "example": EXAMPLE, "all joints": sh.dumps(sh.samples.all_joints(0))}
    out |= {name: sh.dumps(alone(joint)) for name, joint in WRITABLE_JOINTS.items()}
    for name, force in FORCES.items():
        model = on_base()
        model.add_force(force, name)
        out[name] = sh.dumps(model)
    return out


@pytest.mark.parametrize(("name", "text"), texts().items())
def test_what_is_read_fits_the_schema(name, text):
    assert fits(Document(text, "f").data, SCHEMA), name


OF_FORM = [
    m for m in MISTAKES if any(word in m[2] for word in ("unknown field", "is missing", "unknown type", "expected fields"))
]


@pytest.mark.parametrize(("old", "new", "says"), OF_FORM)
def test_mistakes_of_form_are_marked(old, new, says):
    assert not fits(Document(GOOD.replace(old, new, 1), "f").data, SCHEMA), says


def test_the_shapes_of_a_place():
    for place, good in (("tip", True), ("[0, 0, 1]", True), ("{axis: z, angle: pi}", True), ("3", False), ("[1]", False)):
        assert fits(Document(GOOD.replace(AT, f"at: {place}"), "f").data, SCHEMA) == good


def test_the_documents_name_the_schema():
    assert Path(DOCS / EXAMPLE.split("$schema=")[1].split("\n")[0]).is_file()
