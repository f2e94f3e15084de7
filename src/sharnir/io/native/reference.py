"""Tables of all fields for docs/native_format.md, from the descriptions of the elements."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from inspect import cleandoc
from pathlib import Path

from ...model.element import Described, Element
from ...model.events import Event
from ...model.flexible.sections import SECTIONS as CROSS_SECTIONS
from ...model.forces import Accumulator, Muscle, Valve
from ...model.formulas import PoseFormula
from ...model.impacts import Impact
from ...model.joints import Joint
from ...model.pose import Pose
from ...model.settings import SimulationSettings
from ...model.visual import Visual
from . import entries
from .reading import file_fields

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
    return "\n".join(line for title, classes in SECTIONS.items() for line in _table(title, classes)) + "\n"


def _table(title: str, classes: Sequence[type[Element]]) -> Iterator[str]:
    yield from ("", f"### {title}", "| type | field | default | unit | meaning |", "|---|---|---|---|---|")
    for cls in classes:
        what = cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        yield f"| **{NAMES.get(cls, f'`{cls.tag}`')}** | | | | {_cell(what)} |"
        for one in file_fields(cls):
            if cls is Joint or not one.is_option:
                yield f"| | `{one.key}` | {_default(one)} | {one.unit} | {_cell(one.meaning)} |"


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


if __name__ == "__main__":  # python -m sharnir.io.native.reference docs/native_format.md
    page = Path(sys.argv[1])
    page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")
