"""A study on its way to another process: the model with its functions, and the version that both ends must have."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import local
from typing import Any

from ... import __version__
from ...errors import StateError
from ..design.designs import Columns
from .worker import Bundle, Task, Worker

MARK = b"sharnir study\0"
_mine = local()
"""This thread's worker, made for the last task it computed."""


def packed(task: Task) -> bytes:
    """The task as bytes. The error names what cannot be sent."""
    model = task.model.copy()
    model.visuals.clear()  # not needed to compute
    task = replace(task, model=model)
    dumps = _dumps()
    try:
        return MARK + __version__.encode() + b"\0" + dumps(task)
    except Exception as error:
        for what, part in _parts(task):
            try:
                dumps(part)
            except Exception as own:
                raise StateError(
                    f"{what} cannot be sent to another process: {own}. Functions must not hold open files, locks or generators"
                    f"{_advice()}; or run the study on threads"
                ) from error
        raise StateError(f"the study cannot be sent to another process: {error}{_advice()}") from error


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


def _dumps() -> Callable[[Any], bytes]:
    """The function that pickles: functions of the user's script, lambdas too, need cloudpickle; importable ones do not."""
    try:
        from cloudpickle import dumps
    except ImportError:
        return pickle.dumps
    found: Callable[[Any], bytes] = dumps
    return found


def _advice() -> str:
    missing = _dumps() is pickle.dumps
    return "; for lambdas and functions of a script install cloudpickle: pip install sharnir[cluster]" if missing else ""
