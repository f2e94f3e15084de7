"""Native functions bound to arrays: the one place where addresses are put together.

A native function is `void f(int64 *list)`. `Native` is one with its list and everything the list points to; call it, or
hand its two addresses to compiled code that will. `Loop` makes them from functions of the dialect.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from .arithmetic import STEPPING, Options
from .cache import Cache
from .compiler import compile_module
from .jit import CALLBACK, Compiled, compile_cached
from .source import texts, with_bound
from .storage import flat


class Native:
    """A native function and its list of arguments. Whatever calls it must hold a reference to it."""

    __slots__ = ("_alive", "_call", "_descriptor", "address", "arrays", "call_with_gil", "place")

    def __init__(self, code: Any, descriptor: Sequence[int], alive: Any) -> None:
        self._descriptor = np.array(descriptor, dtype=np.int64)
        self._call = code.call
        self._alive = (code, alive)
        self.arrays = alive
        """The groups of arrays it is bound to."""
        self.address: int = code.address
        """Address of the function."""
        self.place: int = self._descriptor.ctypes.data
        """Address of its list."""
        self.call_with_gil: Callable[[], None] = partial(getattr(code, "call_with_gil", code.call), self.place)
        """The call without releasing the GIL, for what takes microseconds. Does not keep this object alive."""

    def __call__(self) -> None:
        self._call(self.place)

    def keep_alive(self, x: Any) -> None:
        """Keep an object alive as long as this one."""
        self._alive = (self._alive, x)

    @property
    def descriptor(self) -> list[int]:
        return self._descriptor.tolist()

    @property
    def status(self) -> int:
        """The integer that a function of the dialect returned."""
        return int(self._descriptor[0])


class _Callback:
    """A Python function as native code."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.call = CALLBACK(lambda _: function())
        self.address = ctypes.cast(self.call, ctypes.c_void_p).value or 0


def from_python(function: Callable[[], Any]) -> Native:
    """A Python function of no arguments as a native one. It must not raise."""
    return Native(_Callback(function), [0], ())


def calls(natives: Sequence[Native]) -> np.ndarray:
    """(n, 2): address of each function and of its list, for compiled code that calls them one after the other."""
    return np.array([(f.address, f.place) for f in natives], dtype=np.int64).reshape(-1, 2)


def address(x: np.ndarray) -> int:
    """The address of an array, whose numbers must stand one after the other."""
    if not x.flags.c_contiguous:
        raise ValueError(f"an array of shape {x.shape} is not contiguous")
    return x.ctypes.data


class Loop:
    """A function of the dialect as machine code, made or found in the cache when first needed."""

    def __init__(self, entry: Any, groups: Sequence[Any], options: Options, shared: int = 0, store: Cache | None = None) -> None:
        self.entry, self.groups, self.options, self.shared = entry, tuple(groups), options, shared
        self._store = store or Cache()

    @cached_property
    def compiled(self) -> Compiled:
        key = (self.entry, self.groups, self.options, self.shared, str(self._store.folder))
        if key not in _loaded:
            declared = [str([(x.shape, str(x.dtype)) for x in flat(group)]) for group in self.groups]
            names = [function.__qualname__ for function in with_bound(self.entry)]
            depends_on = (*texts(self.entry), *names, repr(self.options), str(self.shared), *declared)
            text = partial(compile_module, self.entry, self.groups, self.options, self.shared)
            _loaded[key] = compile_cached(depends_on, text, self._store, vectorize=self.options.vectorize)
        return _loaded[key]

    def bind(self, *groups: Any) -> Native:
        """The function bound to these arrays. An axis for the lanes comes last and is no part of the shape."""
        descriptor = [0]
        for declared, group in zip(self.groups, groups, strict=True):
            for kind, x in zip(flat(declared), flat(group), strict=True):
                descriptor += [address(x), *x.shape[: len(kind.shape)]]
        return Native(self.compiled, descriptor, groups)

    def bind_like(self, other: Native) -> Native:
        """The function bound to the arrays of another one, a loop over the same groups."""
        return Native(self.compiled, other.descriptor, other.arrays)


def bind_kernel(
    entry: Callable[..., int],
    *groups: Any,
    options: Options = STEPPING,
    shared: int = 0,
    store: Cache | None = None,
    compiled: bool = True,
) -> Native:
    """A function of the dialect bound to groups of arrays, as machine code by default for one state, or interpreted. The types of
    the groups are those of its arguments. `options`: lanes, double-double; the first `shared` groups have no lanes."""
    if not compiled:
        return _Interpreted(entry, *groups)
    return Loop(entry, [type(group) for group in groups], options, shared, store).bind(*groups)


class _Interpreted(Native):
    """A function of the dialect in plain Python. Called from Python it may raise; called from machine code it must not."""

    __slots__ = ("_returned", "_run")

    def __init__(self, entry: Callable[..., int], *groups: Any) -> None:
        returned = np.zeros(1, dtype=np.int64)

        def run() -> None:
            with np.errstate(all="ignore"):  # nan and inf are values, not warnings
                returned[0] = entry(*groups) or 0

        super().__init__(_Callback(run), [0], groups)
        self._run, self._returned = run, returned

    def __call__(self) -> None:
        self._run()

    @property
    def status(self) -> int:
        return int(self._returned[0])


_loaded: dict[Any, Compiled] = {}
