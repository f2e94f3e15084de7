"""What pydantic found, in the words of this format: file, line, field, what was expected."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from ...errors import FormatError, known
from . import bodies, constraints, forces, joints
from .checks import shown, unknown
from .document import Document

MAX_SHOWN = 10


def format_error(error: ValidationError, document: Document) -> FormatError:
    """All problems, one on a line, in the order of the file."""
    found = [_described(problem, document) for problem in error.errors(include_url=False)]
    found = sorted(dict.fromkeys(found))
    lines = [text for _, text in found[:MAX_SHOWN]]
    if len(found) > MAX_SHOWN:
        lines.append(f"… and {len(found) - MAX_SHOWN} more")
    return FormatError("\n".join(lines))


def _described(problem: Any, document: Document) -> tuple[int, str]:
    kind, context, value = problem["type"], problem.get("ctx", {}), problem["input"]
    path, missing, what = list(problem["loc"]), None, problem["msg"]
    if kind == "fault":
        path += context.get("path", ())
        if "path" not in context:  # a union of which no member fits
            what = f"{what}, got {shown(value)}"
    elif kind == "missing":
        missing, what = path.pop(), "this field is missing"
        what += _example(missing)
    elif kind in ("union_tag_invalid", "union_tag_not_found", "model_attributes_type"):
        types = _types(path)
        if not isinstance(value, dict):
            what = f"expected fields beginning with type: {known(types, 99)}; got {shown(value)}"
        elif kind == "union_tag_not_found":
            missing, what = "type", f"this field is missing; the types are {known(types, 99)}"
        else:
            what = unknown(f"type {shown(value['type'])}", str(context["tag"]), types, "types")
            path.append("type")
    elif kind in ("dict_type", "list_type"):
        what = f"expected {'entries by name' if kind == 'dict_type' else 'a list'}, got {shown(value)}"
    return document.place(path)[0], document.error(path, what, missing)


def _types(path: list[Any]) -> list[str]:
    """The types there are at a place."""
    if "shape" in path[2:]:
        return ["box", "cylinder", "sphere", "rod"]
    if path and path[0] == "forces":
        return [_tag(cls) for cls in (*forces.TYPES, forces.TendonFields)]
    if path and path[0] == "constraints":
        return [_tag(cls) for cls in constraints.TYPES]
    return [_tag(cls) for cls in joints.TYPES] if path and path[0] == "joints" else [_tag(c) for c in bodies.SHAPES.values()]


def _tag(cls: Any) -> str:
    """The word that stands behind `type:`."""
    return cls.model_fields["type"].annotation.__args__[0]


def _example(field: Any) -> str:
    return {
        "parent": ": the name of a body, or ground",
        "child": ": the name of a body",
        "axis": ": 'x', 'y', 'z', '-x' … or three numbers",
        "pose": ": a pose by formulas {position: …, turns: …}",
    }.get(str(field), "")
