"""Subjects of a view: a model, a result, several results (a rollout, for example), or files of either."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ...errors import StateError, brief
from ...io.load import READABLE, load
from ...model.model import Model
from ...reporting.atomic_write import file_path
from ...simulation.results.result import Result

Subject = Model | Result
RESULT = ".nc"
MOST = 16
"""Results that are drawn together: twice as many as there are colours."""


def subjects_of(what: Any, **options: Any) -> list[Subject]:
    """Models and results to be viewed. `options`: those of `load`."""
    if isinstance(what, (Model, Result)):
        found: list[Subject] = [what]
    elif isinstance(what, (str, os.PathLike)):
        found = [from_file(what, **options)]
    elif isinstance(what, Iterable):
        found = [one for x in what for one in subjects_of(x, **options)]
    else:
        raise StateError(f"a view shows a model, a result, a list of results or the name of a file; got {brief(what)}")
    models = [x for x in found if isinstance(x, Model)]
    if not found:
        raise StateError("nothing to see: the list is empty")
    if len(found) > MOST:
        raise StateError(f"{len(found)} results cannot be told apart; choose at most {MOST}: view([rollout[0], rollout[7]])")
    if models and len(found) > 1:
        raise StateError("several results can be seen together; a model is seen by itself: simulate it first")
    return found


def from_file(path: str | os.PathLike[str], **options: Any) -> Subject:
    """A saved result (.nc), or a model."""
    file = file_path(path)
    if file.suffix.lower() == RESULT:
        return Result.load(file)
    if file.suffix.lower() == ".csv":
        raise StateError(f"{file}: a table has no model to draw; save the result as .nc, or view a model: {READABLE}")
    return load(file, **options)


def names_of(found: Iterable[Subject]) -> list[str]:
    """A name for each, no two alike."""
    out: list[str] = []
    for x in found:
        base = x.model.name if isinstance(x, Result) else x.name
        same = sum(name == base or name.startswith(f"{base} (") for name in out)
        out.append(f"{base} ({same + 1})" if same else base)
    return out
