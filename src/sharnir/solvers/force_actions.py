"""What every force of a model does to bodies and joints, by name."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..model.structure import Structure
from .evaluator import Evaluator
from .solver import Actions


def force_actions(evaluator: Evaluator, q: Any, v: Any, t: Any, parameters: Any) -> Actions:
    """{force: {body: (…, 6) force and moment at its origin, its axes; joint: (…, n)}}; parameters: if not the model's."""
    s = evaluator.structure
    if not s.forces:
        return {}
    rows, n, single = evaluator.arguments.states(None, parameters, q=q, v=v, t=t)
    motion = motion_of(evaluator, rows, n)
    return {name: _by_name(s, action, n, single) for name, action in s.forces.actions(motion).items()}


def motion_of(evaluator: Evaluator, rows: dict[str, np.ndarray], n: int) -> dict[str, Any]:
    """What forces and constraints read, a row for each number and a column for each of n states."""
    keys = [key for key in ("q", "v", "t", "parameter") if key in rows]
    state = {key: np.broadcast_to(rows[key], (n, rows[key].shape[-1])) for key in keys}
    found = evaluator.outputs("motion", q=state["q"], v=state["v"], t=state["t"][:, 0], parameter=state.get("parameter"))
    return {key: x.T for key, x in state.items()} | {name: x.reshape(n, prod(x.shape[1:])).T for name, x in found.items()}


def _by_name(
    s: Structure, action: tuple[dict[tuple[int, int], Any], dict[int, Any]], n: int, single: bool
) -> dict[str, np.ndarray]:
    out = dict[str, np.ndarray]()
    for (row, c), x in action[0].items():
        out.setdefault(s.bodies[row - 1].name, np.zeros((n, 6)))[:, c] = x
    for a, x in action[1].items():
        i = int(np.searchsorted(s.v_first, a, side="right")) - 1
        joint = s.placed[i - 1]
        out.setdefault(joint.name, np.zeros((n, joint.nv)))[:, a - int(s.v_first[i])] = x
    return {name: x[0] if single else x for name, x in out.items()}
