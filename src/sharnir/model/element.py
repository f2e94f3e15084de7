"""Elements of a model described once: every field with its kind, unit, meaning and default.

The constructor and its checks, equality, `repr`, the native format (reader, writer, schema) and the tables of the documents
follow from the description.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from functools import cache, wraps
from typing import Any, ClassVar, TypeVar, dataclass_transform

from ..errors import ModelError, SharnirError, known, suggesting
from ..trace.parameters import same
from .values import Fault, Kind, Name, Scalar

T = TypeVar("T")


@dataclass(frozen=True)
class Described:
    """The description of a field."""

    kind: Kind
    unit: str
    meaning: str
    key: str
    """Its key in files, "" for a field that files do not have."""
    last: bool
    """Whether it comes after the other fields in files: its formulas depend on them."""
    name: str
    default: Any
    """MISSING where there must be a value."""
    kw_only: bool

    @property
    def required(self) -> bool:
        return self.default is MISSING

    @property
    def is_option(self) -> bool:
        """Whether it is one of the options that all elements of a family have in common."""
        return self.kw_only and not self.required


def element_field(
    kind: Kind,
    *,
    default: Any = MISSING,
    unit: str = "",
    meaning: str = "",
    key: str | None = None,
    last: bool = False,
    kw_only: Any = MISSING,
) -> Any:
    """A field of an element. `key`: its key in files where it is not the name, "" where files do not have it."""
    described = {"described": (kind, unit, meaning, key, last)}
    return field(default=default, kw_only=kw_only, metadata=described)


def number(**options: Any) -> Any:
    """A field that is a finite number."""
    return element_field(Scalar(), **options)


def positive(**options: Any) -> Any:
    """A field that is a number above zero."""
    return element_field(Scalar(above=0.0), **options)


def not_negative(**options: Any) -> Any:
    """A field that is a number of at least zero."""
    return element_field(Scalar(at_least=0.0), **options)


def described(cls: Any) -> tuple[Described, ...]:
    """The fields of an element in the order of the constructor: its own, then the options of its family."""
    return _described(cls)


@cache
def _described(cls: Any) -> tuple[Described, ...]:
    found = []
    for f in fields(cls):
        if "described" in f.metadata and not isinstance(getattr(cls, f.name, None), property):
            kind, unit, meaning, key, last = f.metadata["described"]
            found.append(Described(kind, unit, meaning, f.name if key is None else key, last, f.name, f.default, bool(f.kw_only)))
    return tuple(sorted(found, key=lambda one: one.is_option))


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(element_field, number, positive, not_negative))
def element(tag: str = "") -> Callable[[type[T]], type[T]]:
    """Decorator of a subclass of `Element`; `tag` is its `type` in files."""

    def decorate(cls: type[T]) -> type[T]:
        made: Any = dataclass(frozen=True, eq=False, repr=False, init="__init__" not in vars(cls))(cls)
        made.tag, made.is_described = tag, True
        made.__init__ = suggesting(made.__init__, "field")
        made.__setattr__, made.__delattr__ = _with_remedy(made.__setattr__), _with_remedy(made.__delattr__)
        return cls

    return decorate


class Element:
    """Immutable; equal to another of its class with equal fields; its `repr` can be pasted."""

    tag: ClassVar[str] = ""
    is_described: ClassVar[bool] = False
    """Whether this very class was decorated: a class of the user's own below it may have more than its fields."""
    _error: ClassVar[type[SharnirError]] = ModelError

    @property
    def label(self) -> str:
        """Its name in error messages."""
        return self.tag or type(self).__name__

    def __post_init__(self) -> None:
        """Check every field that is not left at its default. Subclasses add checks of several fields together."""
        cls: Any = type(self)
        values = self.__dict__
        for name, check, default in _checks(cls):
            value = values[name]
            if value is not default:
                try:
                    values[name] = check(value)
                except Fault as fault:
                    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault.path)
                    raise self._error(f"{self.label}: {name}{path}: {fault.what}") from None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.is_described = False  # until it is decorated itself

    def fields(self) -> dict[str, Any]:
        """The values of its fields by name."""
        return {one.name: getattr(self, one.name) for one in described(type(self))}

    def replaced(self: T, **changes: Any) -> T:
        """The same element with other values of some fields."""
        return type(self)(**self.fields() | changes)  # type: ignore[attr-defined]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or not self.is_described:
            return self is other
        return all(same(getattr(self, one.name), getattr(other, one.name)) for one in described(type(self)))

    def __hash__(self) -> int:
        if not self.is_described:
            return object.__hash__(self)
        return hash((type(self), *(_hashable(getattr(self, one.name)) for one in described(type(self)))))

    def __repr__(self) -> str:
        shown = []
        for one in described(type(self)):
            value = getattr(self, one.name)
            if one.required and not one.kw_only:
                shown.append(_shown(value))
            elif one.required or not _same(value, one.default):
                shown.append(f"{one.name}={_shown(value)}")
        return f"{type(self).__name__}({', '.join(shown)})"


@cache
def _checks(cls: Any) -> tuple[tuple[str, Callable[[Any], Any], Any], ...]:
    """Name, check and default of every field."""
    return tuple((one.name, one.kind.check, one.default) for one in described(cls))


class BaseClass:
    """A class for users to derive from, which takes no arguments itself."""

    remedy: ClassVar[str]
    """Words on what a subclass defines, and what to do without one."""

    def __init__(self, *args: Any, **fields: Any) -> None:
        if args or fields:
            raise ModelError(f"sharnir.{type(self).__name__}(…) takes no arguments: a subclass defines {self.remedy}")


class Referring(Element):
    """An element that refers to bodies and joints: to those that its fields name."""

    def bodies(self) -> Sequence[str]:
        return self._named("body")

    def joints(self) -> Sequence[str]:
        return self._named("joint")

    def _named(self, of: str) -> tuple[str, ...]:
        cls: Any = type(self)
        return tuple([getattr(self, name) for name in _naming_fields(cls, of)])


@cache
def _naming_fields(cls: Any, of: str) -> tuple[str, ...]:
    return tuple(one.name for one in described(cls) if isinstance(one.kind, Name) and one.kind.of == of)


def _with_remedy(change: Callable[..., None]) -> Callable[..., None]:
    """`__setattr__` or `__delattr__` of a frozen dataclass whose error names the remedy."""

    @wraps(change)
    def refused(self: Any, name: str, *value: Any) -> None:
        try:
            change(self, name, *value)
        except FrozenInstanceError:
            names = [one.name for one in described(type(self))]
            remedy = "make another one" if name in names else f"its fields are {known(names, 99)}"
            if name in names and self.is_described:  # the constructor of a class of the user's own may take other arguments
                remedy += f": .replaced({name}=…)"
            raise FrozenInstanceError(f"{self.label}: {name!r} cannot be changed: elements are immutable; {remedy}") from None

    return refused


def _same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and repr(value) == repr(default))  # −0.0 is not 0.0


def _hashable(value: Any) -> Any:
    return frozenset((name, _hashable(x)) for name, x in value.items()) if isinstance(value, Mapping) else value


def _shown(value: Any) -> str:
    """Code that evaluates to the value; `<function name>` where there is none."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {_shown(x)}" for name, x in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_shown, value))}{',' * (len(value) == 1)})"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return f"float('{value}')"
    shown = repr(value)
    return (
        f"<function {getattr(value, '__name__', type(value).__name__)}>" if callable(value) and shown.startswith("<") else shown
    )
