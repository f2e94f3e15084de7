"""Functions of the dialect as the text of one module for Numba: the functions as they stand, and their groups of arrays."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..kernels import ops
from ..kernels.arrays import Array
from .link import closure


def kernels_text(entries: Sequence[Any], without: Sequence[Any] = ()) -> str:
    """Constants, and every function that the entries call, each under the decorator `@kernel`. Functions named in
    `without` are left out: the module brings its own."""
    functions: dict[str, Any] = {}
    for entry in entries:
        for f in closure(entry):
            if f in without or (f.__module__ == ops.__name__ and f.__name__ != "select"):
                continue  # Numba has its own: those of math
            if functions.setdefault(f.__name__, f) is not f:
                raise AssertionError(f"two kernels are called {f.__name__!r}: rename one")
    constants: dict[str, Any] = {}
    for f in functions.values():
        for name in f.__code__.co_names:
            value = f.__globals__.get(name)
            if isinstance(value, (int, float, tuple)) and constants.setdefault(name, value) != value:
                raise AssertionError(f"two constants are called {name!r}: rename one")
    return "\n".join(
        [
            "from math import " + ", ".join(sorted(n for n in ops.__all__ if n != "select")),
            *(f"{name} = {value!r}" for name, value in sorted(constants.items())),
            *(f"\n\n@kernel\n{inspect.getsource(f)}" for f in functions.values()),
        ]
    )


def imports_text(groups: Iterable[Any]) -> str:
    """The import of each group and of the groups in it, under a name of its own."""
    classes = sorted({c for group in groups for c in _classes(group)}, key=alias)
    return "\n".join(f"from {c.__module__} import {c.__name__} as {alias(c)}" for c in classes)


def alias(group: type) -> str:
    return f"{group.__module__.rsplit('.', 1)[-1]}_{group.__name__}"


def _classes(group: Any) -> list[type]:
    """A group and the groups in it."""
    return [group, *(c for part in group.__annotations__.values() if not issubclass(part, Array) for c in _classes(part))]


def leaves(group: Any, prefix: str) -> list[str]:
    """Names of the arrays of a group, groups within it opened up."""
    out: list[str] = []
    for name, part in group.__annotations__.items():
        out += [f"{prefix}_{name}"] if issubclass(part, Array) else leaves(part, f"{prefix}_{name}")
    return out


def built(group: Any, prefix: str) -> str:
    """The text that puts a group together from its arrays."""
    parts = (
        f"{prefix}_{name}" if issubclass(part, Array) else built(part, f"{prefix}_{name}")
        for name, part in group.__annotations__.items()
    )
    return f"{alias(group)}({', '.join(parts)})"


def flat(group: Any) -> list[np.ndarray]:
    """The arrays of a group, groups within it opened up."""
    return [x for part in group for x in ([part] if isinstance(part, np.ndarray) else flat(part))]
