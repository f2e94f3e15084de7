"""`per_structure`: a function evaluated once for each structure, its results kept as long as the structure exists."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from .structure import Structure

P = ParamSpec("P")
T = TypeVar("T")


class HasStructure(Protocol):
    """A model, a structure, or an object that belongs to one."""

    @property
    def structure(self) -> Structure: ...


Owner = TypeVar("Owner", bound=HasStructure)


def per_structure(make: Callable[Concatenate[Owner, P], T]) -> Callable[Concatenate[Owner, P], T]:
    """The function `make`, evaluated once for each structure and each set of further arguments, which must be hashable.

    A function that returns an empty dictionary gives every structure a cache with keys of its own.
    """

    @wraps(make)
    def kept(owner: Owner, /, *args: P.args, **named: P.kwargs) -> T:
        results = owner.structure.results
        key = (make, args, *named.items())
        if key not in results:
            results[key] = make(owner, *args, **named)
        return cast(T, results[key])

    return kept
