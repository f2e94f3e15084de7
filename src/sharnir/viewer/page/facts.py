"""Facts beside the picture of a page: the tree of the model with its masses, the run, its account of energy, warnings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model.model import Model
from ...model.substitution import numeric
from ...reporting.formats import figures, plural
from ...simulation.results.result import Result

MOST = 400
"""Bodies in a tree; of a larger model the first ones."""
DEEPEST = 12
"""Steps by which a branch of the tree is indented at most."""


def sentence(subject: Model | Result) -> str:
    """The subject in one line: `5 bodies, 2560 kg; 0 … 20 s, done`."""
    model = numeric(subject.model if isinstance(subject, Result) else subject)
    count = len(model.bodies) - len(model.structure.deformations)
    text = f"{plural(count, 'body', 'bodies')}, {sum(float(b.mass) for b in model.bodies):.6g} kg"
    if isinstance(subject, Result):
        return f"{text}; {subject.t[0]:g} … {subject.t[-1]:g} s, {subject.status}"
    return text


def tree(model: Model) -> tuple[list[dict[str, Any]], int]:
    """Bodies in the order of the tree, each after the one that carries it; and how many are left out."""
    model = numeric(model)
    below: dict[int, list[int]] = {}
    for i, parent in enumerate(model.parents):
        below.setdefault(parent, []).append(i)
    out, waiting = list[dict[str, Any]](), [(i, 0) for i in reversed(below.get(-1, []))]
    while waiting and len(out) < MOST:
        i, depth = waiting.pop()
        body, joint = model.bodies[i], model.joints[i].words
        numbers = {"mass": f"{float(body.mass):.4g}", "com": ", ".join(figures(float(x)) for x in body.com)}
        out.append({"index": i, "body": body.name, "depth": min(depth, DEEPEST), "joint": joint, **numbers})
        waiting += [(j, depth + 1) for j in reversed(below.get(i, []))]
    return out, len(model.bodies) - len(out)


def loops(model: Model) -> list[str]:
    model = numeric(model)
    closing = {j.name: f"{j.parent} – {j.child} by {j.words}" for j in model.closing_joints}
    return [*closing.values(), *(f"{name} ({type(c).__name__})" for name, c in model.constraints.items() if name not in closing)]


def energy_account(r: Result) -> list[tuple[str, str, str, str]]:
    """Rows of the account, J: what, at the start, at the end, change."""
    e = r.energy
    rows = [(what, x[0], x[-1]) for what, x in (("kinetic", e.kinetic), ("potential", e.potential), ("total", e.total))]
    table = [(what, _joule(a), _joule(b), _joule(b - a)) for what, a, b in rows]
    if not e.accounted:
        return [*table, ("the work of drives and forces was not recorded", "", "", "")]
    for name, work in e.work.items():
        table.append((f"supplied by {name}" if work[-1] >= 0.0 else f"removed by {name}", "", "", _joule(work[-1])))
    table.append(("left unexplained, at most", "", "", f"{np.abs(e.defect).max():.2g}"))
    return table


def warnings_of(subject: Model | Result) -> list[str]:
    """Warnings about the subject: how the run ended where it did not end well, and what the import warned of."""
    out = []
    if isinstance(subject, Result) and subject.status != "done":
        out.append(f"{subject.status}: {subject.message}" if subject.message else subject.status)
    report = (subject.model if isinstance(subject, Result) else subject).import_report
    if report is not None:
        out += [": ".join(x for x in (e.what, e.where, e.why) if x) for e in report.warnings[:MOST]]
        if ignored := report.groups("ignored"):
            what = ", ".join(f"{len(places)} × {what}" for what, _, places in ignored[:6])
            out.append(f"left out of {report.source}: {what}{' …' if len(ignored) > 6 else ''}")
    return out


def _joule(x: float) -> str:
    return f"{x:.6g}" if abs(x) > 1e-12 else "0"
