"""Actions of the forces of a model on bodies and joints, by name; what they observe, the rates of their states."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..model.structure import Structure
from .arguments import At, Rows, unbatch
from .evaluator import Evaluator
from .solver import Actions


def force_actions(evaluator: Evaluator, at: At) -> Actions:
    """{force: {body: (…, 6) force and moment at its origin, its axes; joint: (…, n)}}."""
    s = evaluator.structure
    if not s.forces:
        return {}
    rows, n, single = evaluator.arguments.states(at)
    motion = motion_of(evaluator, rows, n)
    return {name: _by_name(s, action, n, single) for name, action in s.forces.actions(motion).items()}


def observed(evaluator: Evaluator, at: At) -> dict[str, dict[str, np.ndarray]]:
    """{force: {name: (…, parts)}}: numbers that forces observe."""
    rows, n, single = evaluator.arguments.states(at)
    motion = motion_of(evaluator, rows, n)
    out = dict[str, dict[str, np.ndarray]]()
    for force, found in evaluator.structure.forces.observed(motion).items():
        for name, (_, parts) in found.items():
            values = np.stack([np.broadcast_to(np.asarray(x, dtype=float), n) for x in parts], axis=-1)
            out.setdefault(force, {})[name] = unbatch(values, single, None)
    return out


def state_rates(evaluator: Evaluator, at: At) -> np.ndarray:
    """(…, number of states)."""
    s = evaluator.structure
    rows, n, single = evaluator.arguments.states(at)
    found = s.forces.rates(motion_of(evaluator, rows, n)) if s.states else []
    out = np.array([np.broadcast_to(np.asarray(x, dtype=float), n) for x in found]).reshape(len(found), n).T
    return unbatch(out, single, None)


def motion_of(evaluator: Evaluator, rows: Rows, n: int) -> dict[str, Any]:
    """The inputs of forces and constraints, a row for each number and a column for each of n states."""
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
    return {name: unbatch(x, single, None) for name, x in out.items()}
