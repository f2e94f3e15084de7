"""What makes two studies the same: a store goes on only with the study it was begun for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from types import CodeType
from typing import Any

import numpy as np

from .. import __version__
from ..errors import SharnirError, StateError
from ..io.native import dumps
from ..model.model import Model
from .design import Design
from .worker import Task


def identity(task: Task, design: Design, seed: int) -> dict[str, Any]:
    """Plain values, each named as a reader knows it."""
    last = max(0, design.count - 1)
    ends = [design.rows(0, 1), design.rows(last // 2, last // 2 + 1), design.rows(last, last + 1)]
    axes = {name: x.tolist() for name, x in design.axes.items()} if design.axes is not None else None
    return {
        "version": __version__,
        "model": task.model.name,
        "model_digest": _model(task.model),
        "inputs": list(design.names),
        "axes": axes,
        "values_digest": fingerprint([{name: x.tolist() for name, x in rows.items()} for rows in ends]),
        "run": {name: fingerprint(x) for name, x in task.run.items()},
        "outputs": fingerprint(task.outputs),
        "seed": seed,
    }


DIFFERS = {
    "version": "it was begun with sharnir {0}, this is {1}",
    "model": "it is of model {0!r}, not {1!r}",
    "model_digest": "the model has changed since",
    "inputs": "its inputs are {0}, not {1}",
    "axes": "the values of its inputs are others",
    "values_digest": "the values of its inputs are others",
    "run": "the arguments of its runs are others",
    "outputs": "its outputs are others",
    "seed": "its seed is {0}, not {1}",
}


def check_same(path: object, stored: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Refuse to mix two studies in one store."""
    for name, text in DIFFERS.items():
        if stored.get(name) != asked[name]:
            why = text.format(stored.get(name), asked[name])
            raise StateError(f"store {path} holds another study: {why}. Give another name, or remove the store to begin anew")


def _model(model: Model) -> str:
    try:
        return _digest(dumps(model))
    except SharnirError:  # it has functions that no file can hold
        parts = [*model.bodies, *model.joints, *model.forces.values(), *model.constraints.values(), dict(model.parameters)]
        return fingerprint(parts)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def fingerprint(x: Any) -> str:
    """Equal for what computes the same: functions by their code and what they hold, arrays by their numbers."""
    return _digest(_text(x, 0))


def _text(x: Any, depth: int) -> str:
    if x is None or isinstance(x, (bool, int, float, complex, str, bytes)):
        return repr(x)
    if depth > 20:
        return type(x).__qualname__
    if isinstance(x, np.ndarray):
        return f"array{x.shape}{x.dtype}{sha256(np.ascontiguousarray(x).tobytes()).hexdigest()}"
    if isinstance(x, np.generic):
        return repr(x.item())
    if isinstance(x, Mapping):
        return "{" + ",".join(f"{_text(k, depth + 1)}:{_text(v, depth + 1)}" for k, v in x.items()) + "}"
    if isinstance(x, (Sequence, set, frozenset)):
        parts = [_text(one, depth + 1) for one in x]
        return "[" + ",".join(sorted(parts) if isinstance(x, (set, frozenset)) else parts) + "]"
    if isinstance(x, CodeType):
        return f"code({x.co_code.hex()},{x.co_names},{_text(x.co_consts, depth + 1)})"
    if hasattr(x, "__code__"):
        held = [cell.cell_contents for cell in getattr(x, "__closure__", None) or () if _filled(cell)]
        return f"{x.__qualname__}({_text(x.__code__, depth + 1)},{_text(x.__defaults__, depth + 1)},{_text(held, depth + 1)})"
    own = getattr(x, "__dict__", None)
    kept = {name: value for name, value in own.items() if not name.startswith("_")} if own else repr(x).partition(" at 0x")[0]
    return f"{type(x).__qualname__}({_text(kept, depth + 1)})"


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
