"""The whole file as one type, and its JSON schema for editors: `sharnir schema`."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from functools import cache
from inspect import cleandoc, getsource
from itertools import pairwise
from typing import Annotated, Any

from pydantic import Field

from ...model.topology import NUMBERINGS
from . import checks
from .bodies import BodyFields, FixedJointFields, FrameFields, VisualFields
from .checks import NUMBER, expected, leaf
from .constraints import ConstraintField
from .fields import Fields, Many, Name, Names, Number, Text, Vector
from .forces import ForceField
from .formulas import PoseByFormulas
from .joints import JointField
from .simulation import SimulationFields

VERSION = 1


def version(value: Any) -> int:
    if value != VERSION or isinstance(value, bool):
        raise expected(f"{VERSION}, the version of the format that this sharnir reads", value)
    return VERSION


class CouplingFields(Fields):
    """x = ratio · (coordinate of the leader) + offset; both joints of one coordinate."""

    leader: Name
    ratio: Number = 1.0
    offset: Number = 0.0


class ModelFields(Fields):
    """A mechanism. SI units: metres, kilograms, seconds, newtons, radians."""

    sharnir: Annotated[int, *leaf(version, {"const": VERSION})] = VERSION
    """Version of the format."""
    name: Text = "model"
    gravity: Vector = (0.0, 0.0, -9.81)
    """Acceleration of free fall in the world, m/s²."""
    numbering: Annotated[str, *leaf(checks.one_of(*NUMBERINGS), {"enum": list(NUMBERINGS)})] = "depth-first"
    """How bodies are numbered."""
    base_motion: PoseByFormulas | None = None
    """Pose of the ground in the world, formulas of t."""
    parameters: dict[Name, Annotated[float, *leaf(checks.endless_number, NUMBER)]] = Field(default_factory=dict)
    """Numbers that formulas read as parameter.name."""
    bodies: dict[Name, BodyFields] = Field(default_factory=dict)
    """Bodies by name; the base is called ground."""
    frames: dict[Name, FrameFields] = Field(default_factory=dict)
    """Named places on bodies."""
    joints: dict[Name, JointField] = Field(default_factory=dict)
    """Joints by name, in any order and direction; joints that close loops too."""
    floating: Names = ()
    """Bodies that float: short for a free joint to the ground, named body + ' float'."""
    couplings: dict[Name, CouplingFields] = Field(default_factory=dict)
    """Joints that follow others, by the name of the follower."""
    forces: dict[Name, ForceField] = Field(default_factory=dict)
    """Forces by name."""
    constraints: dict[Name, ConstraintField] = Field(default_factory=dict)
    """What ties the motion down beyond joints, by name."""
    visuals: list[VisualFields] = Field(default_factory=list)
    """What to draw."""
    fixed_joints: dict[Name, FixedJointFields] = Field(default_factory=dict)
    """Fixed joints of an imported file whose links were merged."""
    keyframes: dict[Name, Many] = Field(default_factory=dict)
    """Positions by name: all coordinates in order."""
    simulation: SimulationFields | None = None
    """How to simulate it."""


def json_schema() -> dict[str, Any]:
    """The format for editors (docs/native_format.md)."""
    schema = ModelFields.model_json_schema()
    _describe(schema, ModelFields)
    for cls in _inside(Fields):
        if cls.__name__ in schema["$defs"]:
            _describe(schema["$defs"][cls.__name__], cls)
    schema = _for_editors(schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "sharnir model"}


def _inside(cls: type[Fields]) -> Iterator[type[Fields]]:
    for below in cls.__subclasses__():
        yield below
        yield from _inside(below)


def _describe(entry: dict[str, Any], cls: type[Fields]) -> None:
    """What stands below each field, as its description."""
    said: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if issubclass(base, Fields):
            said |= _docstrings(base.__module__).get(base.__name__, {})
    fields = entry["properties"]
    for name in fields:
        if name in said:
            fields[name] = dict(sorted({**fields[name], "description": said[name]}.items()))


@cache
def _docstrings(module: str) -> dict[str, dict[str, str]]:
    """{class: {field: what stands below it}}, read here: pydantic would read the sources whenever they are imported."""
    out: dict[str, dict[str, str]] = {}
    for cls in ast.parse(getsource(sys.modules[module])).body:
        if isinstance(cls, ast.ClassDef):
            for pair in pairwise(cls.body):
                match pair:
                    case ast.AnnAssign(target=ast.Name(id=field)), ast.Expr(value=ast.Constant(value=str(text))):
                        out.setdefault(cls.name, {})[field] = cleandoc(text)
    return out


def _for_editors(schema: Any) -> Any:
    """A field that may be left out must not be null (`x | None` is how Python says it), and a value that fits two
    alternatives is no mistake, unless `type` tells them apart."""
    if isinstance(schema, list):
        return [_for_editors(x) for x in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: _for_editors(x) for key, x in schema.items() if key != "title"}
    if "oneOf" in out and "discriminator" not in out:
        out["anyOf"] = out.pop("oneOf")
    if out.get("default", 0) is None:
        del out["default"]
        choices = [x for x in out.pop("anyOf", []) if x != {"type": "null"}]
        out = {**out, **choices[0]} if len(choices) == 1 else {**out, "anyOf": choices} if choices else out
    return out


def schema_text() -> str:
    """Each definition on its own lines."""
    schema = json_schema()
    definitions = schema.pop("$defs")
    lines = [f"  {_compact(name)}: {_compact(x)}" for name, x in definitions.items()]
    head = [f" {_compact(key)}: {_compact(x)}" for key, x in schema.items()]
    return "{\n" + ",\n".join(head) + ',\n "$defs": {\n' + ",\n".join(lines) + "\n }\n}\n"


def _compact(x: Any) -> str:
    return json.dumps(x, ensure_ascii=False)
