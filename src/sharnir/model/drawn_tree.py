"""The tree of a model as text draws it: bodies under those that carry them, joints, what closes loops, couplings, frames."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..reporting.formats import plural
from .body import GROUND, Body
from .joints.elastic import Elastic
from .substitution import numeric

if TYPE_CHECKING:
    from .model import Model
    from .placed_joint import PlacedJoint

MOST = 100
"""Bodies in the text of a tree; of a larger model the first ones."""
MOST_FREQUENCIES = 4
"""Natural frequencies of a flexible body that are shown, from the lowest."""


class Branch(NamedTuple):
    parts: list[tuple[str, str]]
    """Texts of the line, each with its style, as rich calls it."""
    below: list[Branch]

    def add(self, *parts: tuple[str, str]) -> Branch:
        self.below.append(Branch([*parts], []))
        return self.below[-1]


def tree_of(model: Model, most: int | None = None) -> Branch:
    """The tree, or its first bodies."""
    model = numeric(model)
    tree = Branch([(model.name, "bold"), (f": {GROUND}", "")], [])
    branches = {GROUND: tree}
    bodies, closing = model.bodies, {joint.name: joint for joint in model.closing_joints}
    for joint, body, carrier in islice(zip(model.joints, bodies, model.parents, strict=False), most):
        if isinstance(joint.type, Elastic):  # shown at the body it belongs to, which carries what hangs there
            branches[body.name] = branches[joint.parent]
            continue
        weight = (f" {body.mass:.4g} kg", "") if body.mass or any(body.inertia) else (" no mass", "yellow")
        above = branches[GROUND if carrier < 0 else bodies[carrier].name]
        branches[body.name] = above.add((body.name, "bold"), weight, (f"  {joint.words}", "dim"))
        if body.flexible is not None:
            branches[body.name].add((_flexible_words(model, body), "cyan"))
    for joint in closing.values():
        at, other = (joint.child, joint.parent) if joint.child != GROUND else (joint.parent, joint.child)
        if at in branches:
            branches[at].add((f"closes a loop with {other}  {joint.words}", "magenta"))
    for name, constraint in model.constraints.items():
        if name not in closing:
            between = ", ".join([*constraint.bodies(), *constraint.joints()])
            tree.add((f"constraint {name}: {type(constraint).__name__}" + f" of {between}" * bool(between), "magenta"))
    by_body: dict[str, list[str]] = {}
    for name, (body_name, _) in model.frames.items():
        by_body.setdefault(body_name, []).append(name)
    for body_name, names in by_body.items():
        if body_name in branches:
            branches[body_name].add((f"frames: {', '.join(names)}", "cyan"))
    if most is not None and len(bodies) > most:
        tree.add((f"and {plural(len(bodies) - most, 'more body', 'more bodies')}", "dim"))
    return tree


def drawn_tree(model: Model) -> str:
    """The tree as text without styles."""
    lines, waiting = [], [(tree_of(model, MOST), "", "")]
    while waiting:
        branch, first, rest = waiting.pop()
        lines.append(first + "".join(text for text, _ in branch.parts))
        ends = [("├── ", "│   ")] * (len(branch.below) - 1) + [("└── ", "    ")]
        waiting += [(one, rest + a, rest + b) for one, (a, b) in zip(branch.below[::-1], ends[::-1], strict=False)]
    return "\n".join(lines)


# --- flexible bodies
def elastic_joints(model: Model) -> list[PlacedJoint]:
    """Joints that deform flexible bodies, their parents."""
    return [j for j in model.joints if isinstance(j.type, Elastic)]


def flexible_data(model: Model, body: Body) -> dict[str, Any]:
    """Type of a flexible body, its elastic coordinates, and its natural frequencies where only the tree holds it."""
    flexible: Any = body.flexible
    data: dict[str, Any] = {"type": flexible.tag, "coordinates": [], "held_frequencies": []}
    deformation = model.structure.deformations.get(model.body_index(body.name) + 1)
    if deformation is not None:  # it has modes
        joint = next(j.name for j in elastic_joints(model) if j.parent == body.name)
        data["coordinates"] = [f"{joint}.{name}" for name in deformation.shapes.names]
        data["held_frequencies"] = (deformation.shapes.frequencies / (2 * np.pi)).tolist()
    return data


def _flexible_words(model: Model, body: Body) -> str:
    flexible: Any = body.flexible
    data = flexible_data(model, body)
    names = [name.rpartition(".")[2] for name in data["coordinates"]]
    if not names:
        return f"{flexible.words}, rigid: it has no modes"
    hertz, more = ", ".join(f"{x:.4g}" for x in data["held_frequencies"][:MOST_FREQUENCIES]), len(names) > MOST_FREQUENCIES
    modes = f"{plural(len(names), 'mode')} ({', '.join(names)})"
    return f"flexible: {flexible.words}; {modes}; {hertz}{', …' * more} Hz where it is held at its root"
