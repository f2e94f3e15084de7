"""`sharnir inspect`: a model on one screen, or as JSON."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from ..equations.rows.constraint_table import table_of
from ..errors import AssemblyError, SingularError
from ..model.body import GROUND, Body
from ..model.joints.elastic import Elastic
from ..model.mobility import counted_bodies, degrees_of_freedom
from ..model.model import Model, PlacedJoint
from ..model.substitution import numeric
from ..reporting.formats import plural
from .usage import load_model

PIPE_WIDTH = 240
"""Characters of a line where there is no terminal: long enough that none is broken."""
MOST_FREQUENCIES = 4
"""Natural frequencies of a flexible body that are shown, from the lowest."""
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
            | ({} if b.flexible is None else {"flexible": _flexible_data(model, b)})
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


def _flexible_data(model: Model, body: Body) -> dict[str, Any]:
    """Type of a flexible body, its elastic coordinates, and its natural frequencies where only the tree holds it."""
    flexible: Any = body.flexible
    data: dict[str, Any] = {"type": flexible.tag, "coordinates": [], "held_frequencies": []}
    deformation = model.structure.deformations.get(model.body_index(body.name) + 1)
    if deformation is not None:  # it has modes
        joint = next(j.name for j in elastic_joints(model) if j.parent == body.name)
        data["coordinates"] = [f"{joint}.{name}" for name in deformation.shapes.names]
        data["held_frequencies"] = (deformation.shapes.frequencies / (2 * np.pi)).tolist()
    return data


def elastic_joints(model: Model) -> list[PlacedJoint]:
    """Joints that deform flexible bodies, their parents."""
    return [j for j in model.joints if isinstance(j.type, Elastic)]


def _plain(x: Any) -> Any:
    """A number as JSON can hold it, which has no infinity."""
    return x if abs(x) < float("inf") else str(x)


# --- on the screen ----------------------------------------------------------------------------------------------------------
def show(model: Model, remark: str = "") -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
    console.print(_tree(model))
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


def _tree(model: Model) -> Tree:
    tree = Tree(f"[bold]{escape(model.name)}[/]: {GROUND}")
    branches = {GROUND: tree}
    for joint, body, carrier in zip(model.joints, model.bodies, model.parents, strict=True):
        if isinstance(joint.type, Elastic):  # shown at the body it belongs to, which carries what hangs there
            branches[body.name] = branches[joint.parent]
            continue
        above = branches[GROUND if carrier < 0 else model.bodies[carrier].name]
        weight = f" {body.mass:.4g} kg" if body.mass or any(body.inertia) else " [yellow]no mass[/]"
        branches[body.name] = above.add(f"[bold]{escape(body.name)}[/]{weight}  [dim]{escape(joint.words)}[/]")
        if body.flexible is not None:
            branches[body.name].add(f"[cyan]{escape(_flexible_words(model, body))}[/]")
    by_body: dict[str, list[str]] = {}
    for name, (body_name, _) in model.frames.items():
        by_body.setdefault(body_name, []).append(name)
    for body_name, names in by_body.items():
        branches[body_name].add(f"[cyan]frames: {escape(', '.join(names))}[/]")
    return tree


def _flexible_words(model: Model, body: Body) -> str:
    flexible: Any = body.flexible
    data = _flexible_data(model, body)
    names = [name.rpartition(".")[2] for name in data["coordinates"]]
    if not names:
        return f"{flexible.words}, rigid: it has no modes"
    hertz, more = ", ".join(f"{x:.4g}" for x in data["held_frequencies"][:MOST_FREQUENCIES]), len(names) > MOST_FREQUENCIES
    modes = f"{plural(len(names), 'mode')} ({', '.join(names)})"
    return f"flexible: {flexible.words}; {modes}; {hertz}{', …' * more} Hz where it is held at its root"


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
