"""`sharnir inspect`: a model on one screen, or as JSON."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from typing import Any

from rich.console import Console
from rich.markup import escape

from ..equations.rows.constraint_table import table_of
from ..errors import AssemblyError, SingularError
from ..model.drawn_tree import elastic_joints, flexible_data, tree_of
from ..model.joints.elastic import Elastic
from ..model.mobility import counted_bodies, degrees_of_freedom
from ..model.model import Model, PlacedJoint
from ..model.substitution import numeric
from ..reporting.formats import plural
from .usage import load_model

PIPE_WIDTH = 240
"""Characters of a line where there is no terminal: long enough that none is broken."""
MOST_CUTS = 12
"""Joints that close loops, shown with the reason why they are the ones that are cut."""


def command(options: Namespace) -> None:
    model = load_model(options)
    line, options.remark = options.remark, ""
    report, model = model.import_report, numeric(model)  # parameters at their values
    model.import_report = report
    if options.json:
        print(json.dumps(as_data(model), indent=2, allow_nan=False))
    else:
        show(model, line)


# --- as data ----------------------------------------------------------------------------------------------------------------
def as_data(model: Model) -> dict[str, Any]:
    """Everything `show` shows, and the positions of the frames, as plain data."""
    report = model.import_report
    return {
        "name": model.name,
        "acting": model.acting,
        "nq": model.nq,
        "nv": model.nv,
        "mass": sum((b.mass for b in model.bodies), 0.0),
        "bodies": [
            {"name": b.name, "mass": b.mass, "com": list(b.com), "inertia": list(b.inertia), "joint": j.name}
            | ({} if b.flexible is None else {"flexible": flexible_data(model, b)})
            for b, j in zip(model.bodies, model.joints, strict=True)
            if not isinstance(j.type, Elastic)
        ],
        "joints": [_joint_data(j) for j in model.joints],
        "loops": [j.name for j in model.closing_joints],
        "cuts": model.cut_reasons,
        "parameters": dict(model.parameters),
        "frames": {name: {"body": body, "position": list(at.position)} for name, (body, at) in model.frames.items()},
        "fixed_joints": {name: {"parent": p, "child": c} for name, (p, c) in model.fixed_joints.items()},
        "visuals": len(model.visuals),
        "report": None if report is None else report.as_dict(),
    }


def _joint_data(joint: PlacedJoint) -> dict[str, Any]:
    j = joint.type
    data: dict[str, Any] = {"name": joint.name, "type": j.type_name, "parent": joint.parent, "child": joint.child, "nv": joint.nv}
    for option in ("limits", "effort", "velocity", "damping", "friction"):
        value = getattr(j, option)
        if value is not None:
            data[option] = [_plain(x) for x in value] if hasattr(value, "__len__") else _plain(value)
    if joint.follows:
        data["follows"] = {"joint": joint.follows.leader, "ratio": joint.follows.ratio, "offset": joint.follows.offset}
    return data


def _plain(x: Any) -> Any:
    """A number as JSON can hold it, which has no infinity."""
    return x if abs(x) < float("inf") else str(x)


# --- on the screen ----------------------------------------------------------------------------------------------------------
def show(model: Model, remark: str = "") -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
    console.print(tree_of(model))
    console.print(_summary(model))
    if remark:
        console.print(f"[yellow]{escape(remark)}[/]")
    for reason in model.cut_reasons[:MOST_CUTS]:
        console.print(f"  {escape(reason)}")
    if len(model.cut_reasons) > MOST_CUTS:
        console.print(f"  and {len(model.cut_reasons) - MOST_CUTS} more")
    report = model.import_report
    if report is not None:
        for entry in report.warnings:
            console.print(f"[yellow]warning[/]: {escape(entry.what)}: {escape(entry.where)}: {escape(entry.why)}")
        console.print()
        console.print(escape(str(report)))


def _summary(model: Model) -> str:
    if not model.bodies:
        return "nothing moves: every link is fixed to the ground (try --floating)"
    followers = sum(1 for j in model.joints if j.follows)
    parts = [
        counted_bodies(len(model.bodies), len(elastic_joints(model))), _freedoms(model),
        f"{sum(b.mass for b in model.bodies):.6g} kg", plural(len(model.frames), "frame"),
        *([f"couplings: {followers}"] if followers else []),
        *([f"loops: {len(model.closing_joints)}"] if model.closing_joints else []),
        plural(len(model.visuals), "shape"),
        *([f"parameters: {', '.join(f'{name} = {x:g}' for name, x in model.parameters.items())}"] if model.parameters else []),
    ]  # fmt: skip
    return ", ".join(parts)


def _freedoms(model: Model) -> str:
    """Degrees of freedom; with closed loops, at the assembled position nearest to the neutral one, where there is one."""
    if not model.constraints:
        quaternions = f" ({plural(model.nq, 'coordinate')})" if model.nq != model.nv else ""
        return degrees_of_freedom(model.nv) + quaternions
    try:
        return model.mobility(model.assemble()[0]).summary
    except (AssemblyError, SingularError):
        return degrees_of_freedom(model.nv, len(table_of(model)))
