"""Values that no caller should pass: of the wrong type, shape, size or sign, and names that no file can hold."""

from __future__ import annotations

import decimal
import fractions
import math
import pathlib
from collections.abc import Callable
from copy import deepcopy
from types import MappingProxyType
from typing import Any

import numpy as np

import sharnir as sh


def _fails(*arguments: Any) -> Any:
    raise sh.StateError("a function of the user's that fails")  # its own error comes through, so it must be one of ours


def _circular() -> list[Any]:
    out: list[Any] = []
    out.append(out)
    return out


def _read_only() -> np.ndarray:
    out = np.zeros(1)
    out.flags.writeable = False
    return out


NUMBERS: list[Any] = [
    10**5000,
    0, -1, 1, 2, 7, 0.0, -0.0, 0.5, -1.0, 1e-320, 1e-30, 1e30, 1e308, -1e308, math.nan, math.inf, -math.inf, 10**400, -(10**400),
    2**31, 2**63, 2**64, True, False, 1j, decimal.Decimal("NaN"), decimal.Decimal("1e999"), fractions.Fraction(1, 3),
    fractions.Fraction(10**400, 3), np.float16(1.0), np.float32("nan"), np.int8(-1), np.uint64(2**64 - 1), np.bool_(True),
    np.longdouble("1e4000"), np.complex128(1.0), np.datetime64("2026-01-01"), np.timedelta64(1, "s"), np.array(1.0),
    np.array(10**400),
]  # fmt: skip
WORDS: list[Any] = [
    "", " ", "x", "-z", "t", "1", "nan", "ground", "no such name", "a.b", "a\nb", "\0", "a\0b", "\x7f", "\x1b[31m",
    "n" * 300, "n" * 100_000,
    "\ud800", "\u202e", "\ufeff", "\u0301", "../x", "/dev/null", "/", "a/b", "~", "<&>\"'", "{}", "%s", "# x", "- x", "null",
    "auto", "python",
    "q1 + t", "1/0", "__import__('os')", "9**9**9", "(" * 500, b"bytes", bytearray(b"x"), pathlib.Path("x"),
    pathlib.Path("/no/such/x.yaml"),
]  # fmt: skip
ARRAYS: list[Any] = [
    [], (), [[]], [0.0], [1.0, 2.0], [0, 0, 0], [1, 0, 0], [0.0] * 4, [0.0] * 6, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0,
    0.0, 1.0]],
    [math.nan] * 3, [math.inf, 0.0, 0.0], [10**400] * 3, [1e308] * 3, ["a", "b"], ["x", "x"], [None], [[1.0], [1.0, 2.0]],
    ["1", "2", "3"],
    [1j, 0, 0], [object()], range(3), {1.0, 2.0}, frozenset(), np.zeros(0), np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((2, 1)),
    np.zeros((2, 2, 2)), np.zeros(1000), np.ones(3), np.ones((3, 3)), np.array(["a", "b"]), np.array([None]), np.array([1j]),
    np.array([10**400], dtype=object), np.array([True]), np.zeros(3, dtype="f2"), np.zeros(3, dtype=">f8"), np.arange(6.0)[::2],
    np.zeros(2, dtype=[("a", float)]), np.array(["2026-01-01"], dtype="M8[D]"), np.full(3, np.nan), np.eye(4),
    np.ma.masked_array([1.0, 2.0, 3.0], [True, False, False]),
    np.zeros((10**6, 0)), np.array("text"), [np.zeros(3)] * 3, _circular(), _read_only(), memoryview(b"abc"),
]  # fmt: skip
MAPPINGS: list[Any] = [
    {}, {"": 1.0}, {"no such name": 1.0}, {1: 2}, {None: None}, {"x": None}, {"x": "y"}, {"x": {"x": {}}}, {(1, 2): 0.0},
    {"\ud800": 1.0},
    {"x": math.nan}, {"x": 10**400}, {"x": []}, {"angle": len}, MappingProxyType({"x": 1.0}), {"hinge": "text"},
    {"hinge": [1.0, 2.0]},
]  # fmt: skip
OBJECTS: list[Any] = [
    None, ..., NotImplemented, object(), object, type, int, print, math.sin, _fails, slice(None), Exception("x"), sh.ModelError,
    np.random.default_rng(0), lambda: None, lambda x: x, lambda *x: None, lambda *x: "text", lambda *x: math.nan,
    lambda *x: 10**400,
    lambda *x: [0.0, 0.0], lambda *x: x, lambda *x: {}, sh.sin, sh.Pose(), sh.Pose((1e300, 0.0, 0.0)),
    sh.Rotation.identity(), sh.Revolute("z"),
    sh.Ball(), sh.Weld(), sh.Box((1.0, 1.0, 1.0)), sh.SpringDamper("a", "b"), sh.Distance("a", "b"),
    sh.Event(lambda on: on.t), sh.formula("t", "t"),
    sh.SimulationSettings(), sh.samples, sh.Model, sh.Revolute, np, np.ndarray,
]  # fmt: skip
FRESH: list[Callable[[], Any]] = [
    lambda: sh.samples.pendulum(), lambda: sh.Model("empty"), lambda: iter([1.0]), lambda: (x for x in "ab"),
    lambda: np.zeros(1), lambda: [1.0],
]  # fmt: skip
"""What a call may use up or change is made anew."""
POOLS = (NUMBERS, WORDS, ARRAYS, MAPPINGS, OBJECTS, FRESH)


def hostile(rng: np.random.Generator) -> Any:
    """One of them; now and then several in a list, or under a name."""
    kind = int(rng.integers(len(POOLS) + 1))
    if kind == len(POOLS):
        one, two = hostile(rng), hostile(rng)
        return {"hinge": one} if rng.random() < 0.5 else [one, two]
    pool = POOLS[kind]
    value = pool[int(rng.integers(len(pool)))]
    if pool is FRESH:
        return value()
    changeable = isinstance(value, (list, dict, set, bytearray)) or (isinstance(value, np.ndarray) and value.flags.writeable)
    return deepcopy(value) if changeable else value  # a case must not change what the next one gets
