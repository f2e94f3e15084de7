"""From the text of a file to a Model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FormatError, ModelError, known, no_such, unknown
from ...integrate.methods import integrator
from ...model.element import Element, described
from ...model.flexible import ModalBody, load_modal
from ...model.import_report import ImportReport
from ...model.joints import Compound, Joint
from ...model.model import Model
from ...model.references import is_part
from ...model.references import place as place_on
from ...model.settings import SimulationSettings
from ...model.values import HERE, Fault, Name
from ...programs.methods import METHODS
from ...trace import ParameterGraph
from ...trace.formula import known_names
from ...trace.table import Table
from ...types import truth
from ..paths import LoadOptions, MeshFolders
from .document import Document, read_text
from .entries import BodyEntry, JointPlacement, ModalArchive, ModelEntry, TableEntry
from .faults import Faults, at, each
from .reading import constants, read_element

MAX_SHOWN = 10
"""Mistakes that one message lists."""
SINGULAR = {
    "bodies": "body", "frames": "frame", "joints": "joint", "forces": "force", "states": "state", "constraints": "constraint",
    "visuals": "visual",
}  # fmt: skip


def load_native(path: Path, options: LoadOptions) -> Model:
    """A model from a .yaml file (docs/native_format.md). `passive=False` leaves out damping, friction and springs of joints."""
    if options.floating:
        raise FormatError(f"{path}: floating=True is for formats that cannot express it; write `floating: [body]` into the file")
    return _loads(read_text(path), str(path), options.strict, options.passive, MeshFolders(path, options.package_paths))


def loads_beside(path: Path, text: str) -> Model:
    """A model from a text inside another file. Meshes are opened as if the text were a file in its place."""
    return _loads(text, "<text>", False, True, MeshFolders(path))


def loads(text: str, source: str = "<text>", *, strict: bool = False, passive: bool = True) -> Model:
    """A model from the text of a .yaml file; `source` is what messages call it. Files that it names are not opened."""
    return _loads(text, source, strict, truth(passive, "passive"), None)


def _loads(text: str, source: str, strict: bool, passive: bool, files: MeshFolders | None) -> Model:
    """`files`: where meshes and archives of the file are; None: it has no folder."""
    if not isinstance(text, str):
        raise FormatError(f"{source}: expected text, got {type(text).__name__}; sharnir.load reads files")
    document = Document(text, source)
    if document.data is None:
        raise FormatError(f"{source}:1: the file is empty; a model begins with e.g. `name: arm` and `bodies:`")
    if isinstance(document.data, dict) and "over" in document.data and "bodies" not in document.data:
        raise FormatError(f"{source}:1: this describes a study of a model, not a model: `sharnir study {source}` runs it")
    try:
        graph = _parameters(document.data)
        with np.errstate(all="ignore"), at(), known_names(graph.parameters, _tables(document.data)):
            entry = read_element(ModelEntry, document.data)
            model = _built(entry, passive, graph, files)
    except Faults as error:
        raise format_error(error.faults, document) from None
    model.import_report = _report(entry, document, strict)
    model.mesh_folders = [*files.roots] if files is not None else []
    for k, visual in enumerate(model.visuals):  # paths are meant from the folder of the file
        if files is not None and visual.kind == "mesh" and (visual.path or visual.uri):
            where = files.mesh(visual.uri)[0] if visual.path is None else files.folder / visual.path
            model.visuals[k] = visual.replaced(path=where)
    return model


def format_error(faults: list[Fault], document: Document) -> FormatError:
    """All mistakes, one on a line, in the order of the file. `joint 'elbow': …` behind `joints.elbow: …` adds nothing."""

    def shown(fault: Fault) -> str:
        kind = SINGULAR.get(str(fault.path[0])) if len(fault.path) > 1 else None
        return fault.what.removeprefix(f"{kind} {fault.path[1]!r}: ") if kind else fault.what

    found = sorted({(document.line(fault.path), document.error(fault.path, shown(fault))) for fault in faults})
    lines = [text for _, text in found[:MAX_SHOWN]]
    if len(found) > MAX_SHOWN:
        lines.append(f"… and {len(found) - MAX_SHOWN} more")
    return FormatError("\n".join(lines))


def _report(entry: ModelEntry, document: Document, strict: bool) -> ImportReport:
    report = ImportReport(document.source, strict)
    for section, kind in SINGULAR.items():
        given = getattr(entry, section) or ()
        for name in range(len(given)) if section == "visuals" else given:
            verdict = report.kept if section == "visuals" else report.honoured
            verdict(kind, f"{name}, line {document.line((section, name))}")
    return report


def _parameters(data: Any) -> ParameterGraph:
    """The parameters of a file, which are read first: numbers of all sections may depend on them."""
    graph = ParameterGraph()
    given = data.get("parameters") if isinstance(data, dict) else None
    for name, value in given.items() if isinstance(given, dict) else ():
        with at("parameters", name):
            found = constants(value)
        if isinstance(name, str) and isinstance(found, (int, float)) and not isinstance(found, bool):  # the rest is refused below
            graph.parameter(name, float(found))
    return graph


def _tables(data: Any) -> dict[str, Table]:
    """The tables of a file by name. Mistakes in them come first: formulas that call such a table would be mistakes too."""
    given = data.get("tables") if isinstance(data, dict) else None

    def read_one(pair: tuple[Any, Any]) -> Table:
        name, value = pair
        found: Table = read_element(TableEntry, value).build(str(name))
        if not isinstance(name, str) or not name.isidentifier():
            raise FormatError(f"formulas call a table by its name, which consists of letters, digits and _; got {name!r}")
        return found

    with at("tables"):
        return each(((name, (name, x)) for name, x in given.items()), read_one) if isinstance(given, dict) else {}


def _built(entry: ModelEntry, passive: bool, graph: ParameterGraph, files: MeshFolders | None) -> Model:
    with at("base_motion" if entry.base_motion is not None else "name"):
        model = Model(entry.name, (0.0, 0.0, 0.0), None, entry.numbering)
        model.parts.parameter_graph = graph

    def add(section: str, add_one: Callable[[Any, Any], Any]) -> None:
        given = getattr(entry, section) or {}
        pairs = given.items() if isinstance(given, dict) else enumerate(given)
        with at(section):
            each(((key, (key, x)) for key, x in pairs), lambda pair: add_one(*pair))

    def add_body(name: str, x: BodyEntry) -> None:
        options: Any = {"shape": x.shape, "density": x.density, "check_inertia": x.check_inertia}
        with at("flexible"):
            flexible = _open_archive(x.flexible, files) if isinstance(x.flexible, ModalArchive) else x.flexible
        model.add_body(name, x.mass, x.com, x.inertia, flexible=flexible, **options)

    def add_joint(name: str, placed: tuple[Joint, JointPlacement]) -> None:
        joint, place = placed
        _check_names(model, place, f"joint {name!r}")
        for end, where, body in (("at", place.at, place.parent), ("child_at", place.child_at, place.child)):
            with at(end):
                if isinstance(where, str):
                    where = place_on(where, body, model.parts.frames, f"joint {name!r}")
                model.parts.check_place(f"joint {name!r}", body, where or HERE)
        joint = joint if passive else _without_resistance(joint)
        model.add_joint(name, joint, place.parent, place.child, at=place.at, child_at=place.child_at, cut=place.cut)

    def checked(add_one: Callable[[Any, str], Any], kind: str, formulas: bool = True) -> Callable[[str, Any], None]:
        def add_checked(name: str, x: Element) -> None:
            _check_names(model, x, f"{kind} {name!r}", formulas=formulas)
            add_one(x, name)

        return add_checked

    add("parameters", model.add_parameter)
    model.gravity, model.acting = entry.gravity, entry.acting
    with at("base_motion"):
        model.base_motion = entry.base_motion
    add("bodies", add_body)
    add("frames", lambda name, x: model.add_frame(name, x.body, x.at))
    add("joints", add_joint)
    add("floating", lambda k, body: model.add_floating(body))
    add("couplings", lambda name, x: model.couple(name, x.leader, x.ratio, x.offset))
    add("forces", checked(model.add_force, "force", formulas=False))
    add("states", lambda name, x: model.add_state(name, x.initial, x.rate, x.unit))
    for section in ("forces", "states"):  # each may read the states of all
        add(section, lambda name, x: _check_names(model, x, "", bodies=False))
    add("constraints", checked(model.add_constraint, "constraint"))
    add("visuals", checked(lambda visual, k: model.visuals.append(visual), "visual"))
    model.fixed_joints = {name: (x.parent, x.child) for name, x in (entry.fixed_joints or {}).items()}
    model.keyframes = {name: np.array(x) for name, x in (entry.keyframes or {}).items()}
    if entry.bodies:
        with at(*(["joints"] if entry.joints else [])):
            _ = model.tree  # whether everything is connected
    if entry.simulation is not None:
        with at("simulation"):
            check_settings(model, entry.simulation)
        model.simulation = entry.simulation
    return model


def _open_archive(archive: ModalArchive, files: MeshFolders | None) -> ModalBody:
    """The modal body of an archive. `files`: in which folders it may be; None where there are none."""
    with at("file"):
        if files is None:
            raise ModelError("a text has no folder to look for an archive in; load a file, or write the body out in the text")
        path, why = files.mesh(archive.file)
        if path is None:
            raise ModelError(f"{archive.file!r}: {why}")
        body = load_modal(path)
    changes = {name: x for name in ("damping", "rayleigh") if (x := getattr(archive, name)) is not None}
    return body.replaced(**changes) if changes else body


def _without_resistance(joint: Joint) -> Joint:
    if isinstance(joint, Compound):
        parts = {name: (_without_resistance(part), where) for name, (part, where) in joint.parts.items()}
        return joint.replaced(parts=parts)
    return joint.replaced(damping=0.0, friction=0.0, stiffness=0.0)


# --- names that must be part of the model ---------------------------------------------------------------------------------------
def _check_names(model: Model, element: Element, label: str, bodies: bool = True, formulas: bool = True) -> None:
    """Bodies that an element names, and signals that its formulas read."""
    for one in described(type(element)):
        value = getattr(element, one.name)
        with at(one.key):
            if isinstance(value, Element):
                _check_names(model, value, label, bodies, formulas)
            if bodies and isinstance(one.kind, Name) and one.kind.of == "body" and value is not None:
                model.parts.check_body(value, label)
            if formulas and callable(value) and hasattr(value, "formulas"):
                _check_signals(model, value.formulas.signals)


def _check_signals(model: Model, signals: set[tuple[str, ...]]) -> None:
    joints, bodies = model.parts.joint_names, {"ground", *model.parts.body_names}
    there = {"q": joints, "v": joints, "position": bodies, "velocity": bodies, "parameter": set(model.parameters)}
    there["state"] = {name.partition(".")[0] for name in (*model.parts.states, *model.parts.forces)}
    for path in sorted(signals):
        if path[1] not in there[path[0]]:
            raise ModelError(f"signal {'.'.join(path)!r}: no {path[1]!r}; there are {known(sorted(there[path[0]]))}")


def check_settings(model: Model, settings: SimulationSettings) -> None:
    """Names in settings must be names of the model; raises `Faults`."""
    joints = {joint.name: joint for joint in model.parts.joints}

    def check_joint(name: str, names: str) -> None:
        """It is a joint, or one coordinate (or speed) of a joint: joint.coordinate."""
        if name not in joints and not is_part(name, joints, lambda owner: getattr(joints[owner], names)):
            raise ModelError(no_such("joint", name, joints))

    for what, names in (("q0", "q_names"), ("v0", "v_names"), ("tau", "v_names")):
        given = getattr(settings, what)
        for joint, values in given.items() if isinstance(given, dict) else ():
            with at(what, joint):
                check_joint(joint, names)
                n = len(getattr(joints[joint], names)) if joint in joints else 1
                m = len(values) if isinstance(values, tuple) else 1
                if n != m:
                    raise ModelError(f"expected {n} number{'s' * (n != 1)}, got {m}")
    for name in settings.states or ():
        with at("states", name):
            if name not in model.states:
                raise ModelError(no_such("state", name, model.states))
    if settings.integrator is not None:
        with at("integrator"):
            integrator(settings.integrator)
    if settings.method is not None and settings.method not in ("auto", *METHODS):
        with at("method"):
            raise ModelError(unknown(f"method {settings.method!r}", settings.method, ["auto", *METHODS], "methods"))
    for k, name in enumerate(settings.fixed or ()):
        with at("fixed", k):
            check_joint(name, "q_names")
    for what, kind in (("events", "event"), ("impacts", "impact")):
        for k, one in enumerate(getattr(settings, what) or ()):
            with at(what, k):
                _check_names(model, one, kind)
