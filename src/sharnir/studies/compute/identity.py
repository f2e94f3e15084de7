"""The identity of a study, for its store; a study as bytes, for another process of the same version."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from threading import local
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ... import __version__
from ...errors import SharnirError, StateError
from ...io.native import dumps
from ...model.model import Model
from ..design.designs import Columns, Design
from .worker import Bundle, Task, Worker


def identity(task: Task, design: Design, seed: int) -> dict[str, Any]:
    """Plain values that identify a study, each named as a reader knows it."""
    axes = {name: x.tolist() for name, x in design.axes.items()} if design.axes is not None else None
    return {
        "version": __version__,
        "model": task.model.name,
        "model_digest": model_digest(task.model),
        "inputs": list(design.names),
        "axes": axes,
        "values_digest": fingerprint([design.count, design.axes, design.ingredients]),
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
    for name, text in DIFFERS.items():
        if stored.get(name) != asked[name]:
            why = text.format(stored.get(name), asked[name])
            raise StateError(f"store {path} holds another study: {why}. Give another name, or remove the store to begin anew")


NOT_MOTION = ("visuals", "import_report", "mesh_folders", "simulation", "keyframes")
"""Parts of a model that its motion does not depend on."""


def model_digest(model: Model) -> str:
    try:
        return _digest(dumps(model))
    except SharnirError:  # it has functions that no file can hold
        return fingerprint({name: x for name, x in model.__getstate__().items() if name not in NOT_MOTION})


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def fingerprint(x: Any) -> str:
    """Digest that is equal for objects that compute the same: functions by code and closure, arrays by their numbers."""
    return _digest(_text(x, {}))


def _text(x: Any, seen: dict[int, tuple[int, Any]]) -> str:
    """Text that a fingerprint is made of. `seen`: objects met before, numbered, by `id`: they may refer to one another."""
    if x is None or isinstance(x, (bool, int, float, complex, str, bytes)):
        return repr(x)
    if id(x) in seen:
        return f"#{seen[id(x)][0]}"
    seen[id(x)] = (len(seen), x)
    if isinstance(x, np.ndarray):
        return f"array{x.shape}{x.dtype}{sha256(np.ascontiguousarray(x).tobytes()).hexdigest()}"
    if isinstance(x, np.generic):
        return repr(x.item())
    if isinstance(x, Mapping):
        return "{" + ",".join(f"{_text(k, seen)}:{_text(v, seen)}" for k, v in x.items()) + "}"
    if isinstance(x, (Sequence, set, frozenset)):
        parts = [_text(one, seen) for one in x]
        return "[" + ",".join(sorted(parts) if isinstance(x, (set, frozenset)) else parts) + "]"
    if isinstance(x, CodeType):
        return f"code({x.co_code.hex()},{x.co_names},{_text(x.co_consts, seen)})"
    if isinstance(x, partial):
        return f"partial({_text([x.func, x.args, x.keywords], seen)})"
    if isinstance(x, MethodType):
        return f"method({_text([x.__func__, x.__self__], seen)})"
    if isinstance(x, FunctionType):
        held = [cell.cell_contents for cell in x.__closure__ or () if cell != CellType()]  # an empty one equals a new one
        read = {name: x.__globals__[name] for name in x.__code__.co_names if isinstance(x.__globals__.get(name), PLAIN)}
        return f"{x.__qualname__}({_text([x.__code__, x.__defaults__, x.__kwdefaults__, held, read], seen)})"
    if isinstance(x, ModuleType):
        return x.__name__
    own = getattr(x, "__dict__", None)
    kept = own if own is not None else repr(x).partition(" at 0x")[0]
    return f"{type(x).__qualname__}({_text(kept, seen)})"


PLAIN = (bool, int, float, complex, str, bytes, list, tuple, dict, np.ndarray, FunctionType, partial)
"""Types of globals that belong to a function's fingerprint: numbers and other functions, not modules and classes."""


MARK = b"sharnir study\0"
_mine = local()
"""This thread's worker, made for the last task it computed."""


def packed(task: Task) -> bytes:
    """The task as bytes. The error names what cannot be sent."""
    model = task.model.copy()
    model.visuals.clear()  # not needed to compute
    task = replace(task, model=model)
    dumps, advice = _dumps()
    try:
        return MARK + __version__.encode() + b"\0" + dumps(task)
    except Exception as error:
        for what, part in _parts(task):
            try:
                dumps(part)
            except Exception as own:
                raise StateError(
                    f"{what} cannot be sent to another process: {own}. Functions must not hold open files, locks or generators"
                    f"{advice}; or run the study on threads"
                ) from error
        raise StateError(f"the study cannot be sent to another process: {error}{advice}") from error


def unpacked(data: bytes) -> Task:
    version, _, rest = data.removeprefix(MARK).partition(b"\0")
    theirs = version[:40].decode(errors="replace")
    if not data.startswith(MARK) or theirs != __version__:
        raise StateError(
            f"a worker has sharnir {__version__}, the study was begun with {theirs}: results would not be the same; install one "
            "version everywhere"
        )
    task: Task = pickle.loads(rest)
    return task


def compute(data: bytes, rows: Columns) -> Bundle:
    """A bundle, computed in any process: the worker of this thread is kept for the next one."""
    if getattr(_mine, "data", None) != data:
        _mine.worker, _mine.data = Worker(unpacked(data)), data
    worker: Worker = _mine.worker
    return worker.compute(rows)


def _parts(task: Task) -> Iterator[tuple[str, Any]]:
    model = task.model
    outputs = task.outputs if isinstance(task.outputs, dict) else {}
    yield from ((f"output {name!r}", x) for name, x in outputs.items())
    yield from ((f"run[{name!r}]", x) for name, x in task.run.items())
    yield from ((f"force {name!r} of model {model.name!r}", x) for name, x in model.forces.items())
    yield from ((f"joint {j.name!r} of model {model.name!r}", j) for j in model.joints)
    yield from ((f"constraint {name!r} of model {model.name!r}", x) for name, x in model.constraints.items())
    yield f"model {model.name!r}", model


def _dumps() -> tuple[Callable[[Any], bytes], str]:
    """The function that pickles, and advice where it fails: the user's own functions, lambdas too, need cloudpickle."""
    try:
        from cloudpickle import dumps
    except ImportError:
        return pickle.dumps, "; for lambdas and functions of a script install cloudpickle: pip install sharnir[cluster]"
    return dumps, ""
