"""The tree of a model as text draws it: bodies under those that carry them, joints, what closes loops, couplings, frames."""

from __future__ import annotations

from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reporting.formats import plural
from .body import GROUND, Body
from .joints.elastic import Elastic
from .substitution import numeric

if TYPE_CHECKING:
    from rich.tree import Tree

    from .model import Model
    from .placed_joint import PlacedJoint

MOST = 100
"""Bodies in the text of a tree; of a larger model the first ones."""
MOST_FREQUENCIES = 4
"""Natural frequencies of a flexible body that are shown, from the lowest."""


def tree_of(model: Model, most: int | None = None) -> Tree:
    """The tree, or its first bodies, to be printed by rich."""
    from rich.text import Text
    from rich.tree import Tree

    model = numeric(model)
    tree = Tree(Text.assemble((model.name, "bold"), f": {GROUND}"))
    branches = {GROUND: tree}
    bodies, closing = model.bodies, {joint.name: joint for joint in model.closing_joints}
    for joint, body, carrier in islice(zip(model.joints, bodies, model.parents, strict=True), most):
        if isinstance(joint.type, Elastic):  # shown at the body it belongs to, which carries what hangs there
            branches[body.name] = branches[joint.parent]
            continue
        weight = f" {body.mass:.4g} kg" if body.mass or any(body.inertia) else (" no mass", "yellow")
        above = branches[GROUND if carrier < 0 else bodies[carrier].name]
        branches[body.name] = above.add(Text.assemble((body.name, "bold"), weight, (f"  {joint.words}", "dim")))
        if body.flexible is not None:
            branches[body.name].add(Text(_flexible_words(model, body), "cyan"))
    leaves = [(j.child, f"closes a loop with {j.parent}  {j.words}") for j in closing.values()]
    for name, constraint in model.constraints.items():
        if name not in closing:
            between = ", ".join([*constraint.bodies(), *constraint.joints()])
            leaves.append((GROUND, f"constraint {name}: {type(constraint).__name__}" + f" of {between}" * bool(between)))
    by_body: dict[str, list[str]] = {}
    for name, (body_name, _) in model.frames.items():
        by_body.setdefault(body_name, []).append(name)
    leaves += [(body_name, f"frames: {', '.join(names)}") for body_name, names in by_body.items()]
    if most is not None and len(bodies) > most:
        leaves.append((GROUND, f"and {plural(len(bodies) - most, 'more body', 'more bodies')}"))
    for body_name, words in leaves:
        if body_name in branches:
            branches[body_name].add(Text(words, "cyan"))
    return tree


def drawn_tree(model: Model) -> str:
    """The tree as text."""
    from rich.console import Console

    console = Console(file=StringIO(), width=1000, force_terminal=False, force_jupyter=False)
    with console.capture() as captured:
        console.print(tree_of(model, MOST))
    return captured.get().rstrip()


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
