"""From the text of a file to a Model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from ...errors import FormatError
from ...model.import_report import ImportReport
from ...model.model import Model
from ..xml import read_bytes
from .document import Document
from .fields import Faulty, at
from .joints import add_joint
from .problems import format_error
from .schema import ModelFields
from .simulation import check_signals

PASSIVE = ("damping", "friction", "stiffness")


def load_native(path: str | Path, *, strict: bool = False, floating: bool = False, passive: bool = True, **_: Any) -> Model:
    """A model from a .yaml file (docs/native_format.md). `passive=False` leaves out what joints resist with."""
    if floating:
        raise FormatError(f"{path}: floating=True is for formats that cannot say it; write `floating: [body]` into the file")
    data = read_bytes(Path(path))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FormatError(f"{path}:{line}: the file is not UTF-8") from None
    return loads(text, str(path), strict=strict, passive=passive)


def loads(text: str, source: str = "<text>", *, strict: bool = False, passive: bool = True) -> Model:
    """A model from the text of a .yaml file; `source` is what messages call it."""
    if not isinstance(text, str):
        raise FormatError(f"{source}: expected text, got {type(text).__name__}; sharnir.load reads files")
    document = Document(text, source)
    if document.data is None:
        raise FormatError(f"{source}:1: the file is empty; a model begins with e.g. `name: arm` and `bodies:`")
    try:
        fields = ModelFields.model_validate(document.data)
    except ValidationError as error:
        raise format_error(error, document) from None
    except RecursionError:
        raise FormatError(f"{source}:1: too deep") from None
    report = ImportReport(source, strict)
    try:
        with np.errstate(all="ignore"):
            model = _built(fields, passive)
    except Faulty as error:
        raise FormatError(document.error(error.path, _without_label(error))) from None
    for kind in ("bodies", "frames", "joints", "forces", "constraints", "visuals"):
        for k, name in enumerate(getattr(fields, kind)):
            place = (kind, k if kind == "visuals" else name)
            verdict = report.kept if kind == "visuals" else report.honoured
            verdict(
                {"bodies": "body"}.get(kind, kind[:-1]), f"{name if kind != 'visuals' else k}, line {document.place(place)[0]}"
            )
    model.import_report = report
    return model


def _built(fields: ModelFields, passive: bool) -> Model:
    base = None
    if fields.base_motion is not None:
        with at("base_motion"):
            base = fields.base_motion.build(("t",))
    with at("base_motion" if base is not None else "name"):
        model = Model(fields.name, fields.gravity, base, fields.numbering)
    for kind in ("bodies", "frames"):
        for name, entry in getattr(fields, kind).items():
            with at(kind, name):
                entry.add(model, name)
    for name, joint in fields.joints.items():
        with at("joints", name):
            add_joint(model, name, joint if passive else _without_resistance(joint))
    for k, body in enumerate(fields.floating or ()):
        with at("floating", k):
            model.add_floating(body)
    for name, coupling in fields.couplings.items():
        with at("couplings", name):
            model.couple(name, coupling.leader, coupling.ratio, coupling.offset)
    for name, value in fields.parameters.items():
        with at("parameters", name):
            model.add_parameter(name, value)
    _add_forces(model, fields)
    for name, entry in fields.constraints.items():
        with at("constraints", name):
            model.add_constraint(_constraint(model, entry), name)
    for k, visual in enumerate(fields.visuals):
        with at("visuals", k):
            visual.add(model)
    model.fixed_joints = {name: (x.parent, x.child) for name, x in fields.fixed_joints.items()}
    model.keyframes = {name: np.array(x) for name, x in fields.keyframes.items()}
    if fields.bodies:
        with at("joints"):
            _ = model.tree  # whether everything hangs together
    if fields.simulation is not None:
        with at("simulation"):
            model.simulation = fields.simulation.build(model)
    return model


def _add_forces(model: Model, fields: ModelFields) -> None:
    for name, entry in fields.forces.items():
        with at("forces", name):
            for field in sorted({"a", "b", "body"} & entry.model_fields_set):
                with at(field):
                    model._known_body(getattr(entry, field), f"force {name!r}")
            force = entry.build()
            for what in ("force", "moment"):
                function = getattr(force, what, None)
                if function is not None and hasattr(function, "formulas"):
                    with at(what):
                        check_signals(model, function.formulas.signals)
            model.add_force(force, name)


def _constraint(model: Model, entry: Any) -> Any:
    for field in sorted({"a", "b", "body", "of"} & entry.model_fields_set):
        with at(field):
            model._known_body(getattr(entry, field), "constraint")
    constraint = entry.build()
    function = getattr(constraint, "function", None)
    if function is not None:
        with at("zero"):
            check_signals(model, function.formulas.signals)
    return constraint


def _without_resistance(joint: Any) -> Any:
    left = {name: getattr(joint, name) for name in joint.model_fields_set if name not in PASSIVE}
    if "parts" in left:
        left["parts"] = {name: _without_resistance(part) for name, part in joint.parts.items()}
    return type(joint).model_construct(joint.model_fields_set - set(PASSIVE), **left)


def _without_label(error: Faulty) -> str:
    """`joint 'elbow': …` behind `joints.elbow: …` says nothing new."""
    kind = {"bodies": "body", "joints": "joint", "forces": "force", "frames": "frame"}.get(
        str(error.path[0]) if error.path else ""
    )
    return error.what.removeprefix(f"{kind} {error.path[1]!r}: ") if kind and len(error.path) > 1 else error.what
