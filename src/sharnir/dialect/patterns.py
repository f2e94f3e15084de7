"""Values as parameters and results of a function that is not inlined: a pattern without LLVM's names, and those names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .values import ArrayValue, Complex, Flag, GroupValue, Integer, Number, is_known


def flatten(x: Any, flat: list[tuple[str, str]], lanes: int) -> Any:
    """A value as a pattern that does not depend on LLVM's names, which are appended to `flat` with their types."""
    if isinstance(x, tuple):
        return tuple(flatten(part, flat, lanes) for part in x)
    if isinstance(x, Integer):
        flat.append(("i64", x.name))
        return _Leaf("i64")
    if isinstance(x, Flag):
        flat.append((f"<{lanes} x i1>" if x.wide else "i1", x.name))
        return Flag(flat[-1][0], x.wide, x.of_numbers)
    if isinstance(x, Number):
        kind = f"<{lanes} x double>" if x.wide else "double"
        flat.append((kind, x.name))
        return _Leaf(kind)
    if isinstance(x, Complex):
        return Complex(flatten(x.re, flat, lanes), flatten(x.im, flat, lanes))
    if isinstance(x, ArrayValue):
        flat.append(("ptr", x.pointer))
        return ArrayValue("", tuple(flatten(n, flat, lanes) for n in x.shape), x.kind)
    if isinstance(x, GroupValue):
        flat.append(("ptr", x.base))
        return GroupValue(x.declared, "", 0, x.shared)
    assert is_known(x) or callable(x), x
    return (_Known(x),)


class _Known:
    """A known value as part of a key; 1, 1.0 and True are not the same here."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and type(self.value) is type(other.value) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))


class _Leaf(str):
    """The type of a parameter."""

    __slots__ = ()


def rebuild(pattern: Any, names: Any) -> Any:
    if isinstance(pattern, tuple) and len(pattern) == 1 and isinstance(pattern[0], _Known):
        return pattern[0].value
    if isinstance(pattern, tuple):
        return tuple(rebuild(part, names) for part in pattern)
    if isinstance(pattern, Complex):
        return Complex(rebuild(pattern.re, names), rebuild(pattern.im, names))
    if isinstance(pattern, ArrayValue):
        pointer = next(names)
        return ArrayValue(pointer, tuple(rebuild(n, names) for n in pattern.shape), pattern.kind)
    if isinstance(pattern, GroupValue):
        return GroupValue(pattern.declared, next(names), 0, pattern.shared)
    name = next(names)
    if isinstance(pattern, Flag):
        return Flag(name, pattern.wide, pattern.of_numbers)
    return Integer(name) if pattern == "i64" else Number(name, pattern != "double")


def leaf_types(pattern: Any, out: list[tuple[str, str]]) -> None:
    """The types of what a function returns."""
    if isinstance(pattern, tuple) and len(pattern) == 1 and isinstance(pattern[0], _Known):
        return
    if isinstance(pattern, tuple):
        for part in pattern:
            leaf_types(part, out)
    elif isinstance(pattern, Complex):
        leaf_types(pattern.re, out)
        leaf_types(pattern.im, out)
    else:
        out.append((pattern.name if isinstance(pattern, Flag) else str(pattern), ""))


def returned_type(leaves: Sequence[tuple[str, str]]) -> str:
    if not leaves:
        return "void"
    return leaves[0][0] if len(leaves) == 1 else "{ " + ", ".join(kind for kind, _ in leaves) + " }"
