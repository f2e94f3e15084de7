"""Long chains: loops compiled by Numba, nanoseconds a body, from ten bodies to a million."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
import pinocchio as pin

import sharnir as sh
from sharnir.kernels.joint_stage import Joints
from sharnir.kernels.tree import Tree
from sharnir.model.structure import last_children

from .peers import same
from .report import Measure
from .robots import chain_pair
from .timing import race

METHODS = ("separate", "lagrange1")
SIZES = (10, 100, 300, 1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (10, 100, 1_000, 10_000)
WITH_PINOCCHIO = 300
"""Beyond, Pinocchio's Data, which grows as the cube of the number of bodies, takes the memory: 0.9 GB at 300, over 16 at 1000."""
BUILT = 10_000
"""Chains up to here are built as a user would; longer ones by repeating the arrays of a short one (see `long_chain`)."""


def long_chain(n: int) -> sh.Model:
    """sharnir.samples.chain(n), its arrays made by repeating those of a short chain instead of body by body.

    The model lists only four bodies; computing looks at the arrays alone.
    """
    model = sh.samples.chain(4)
    three, four = sh.samples.chain(3).freeze(), model.freeze()
    long = copy.copy(four)
    tree = Tree(*(_extended(a, b, n) for a, b in zip(three.tree, four.tree, strict=True)))
    long.tree = tree._replace(last_child=last_children(tree.carrier))
    long.joints = Joints(*(_extended(a, b, n) for a, b in zip(three.joints, four.joints, strict=True)))
    long.nb = long.na = long.nv = long.nq = n
    long.carrier, long.first, long.q_first = long.tree.carrier, long.joints.first, _extended(three.q_first, four.q_first, n)
    long.v_first = long.first
    long.sizes = {**four.sizes, "nb1": n + 1, "nq": n, "na": n, "nda": n, "nv": n, "nl": 5 * n}
    model._structure = long
    return model


def _extended(three: np.ndarray, four: np.ndarray, n: int) -> np.ndarray:
    """An array for n bodies from those for three and four: the rows of the last body again and again, indices growing."""
    each, more = len(four) - len(three), n - 4
    if each == 0:
        return four
    last, before = four[-each:], four[-2 * each : -each]
    if four.dtype.kind == "f":
        return np.concatenate([four, np.tile(last, (more,) + (1,) * (four.ndim - 1))])
    steps = np.arange(1, more + 1)[:, None]
    return np.concatenate([four, (last + steps * (last - before)).ravel()])


def forward(model: sh.Model, method: str) -> Callable[[], np.ndarray]:
    """Forward dynamics in a state in which nothing is special."""
    d = sh.Dynamics(model, method, backend="loops")
    return partial(d.forward, *state(model.structure.nv))


def state(n: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-1.0, 1.0, (3, n)) * [[1.0], [0.1], [0.1]]


def measure(quick: bool = False) -> Iterator[Measure | str]:
    same_arrays()
    found: dict[tuple[str, int], float] = {}
    for n in QUICK_SIZES if quick else SIZES:
        start = perf_counter()
        model = sh.samples.chain(n) if n <= BUILT else long_chain(n)
        model.freeze()
        if n <= BUILT:
            yield f"building a chain of {n} body by body: {perf_counter() - start:.2f} s"
        contenders: dict[str, Callable[[], Any]] = {method: forward(model, method) for method in METHODS}
        if n <= WITH_PINOCCHIO:
            contenders["aba"] = aba(n)
            same(f"chain of {n}, separate", contenders["separate"](), contenders["aba"]().copy())
        same(f"chain of {n}, lagrange1", contenders["lagrange1"](), contenders["separate"](), 1e-7)
        for name, seconds in race(contenders, rounds=6 if n > BUILT else 12).items():
            found[name, n] = 1e9 * seconds / n
            limit = 250.0 if name == "separate" and n == 100_000 else None
            yield Measure("chains", f"{n} bodies", name, found[name, n], " ns a body", limit, at_most=True)
    yield from growth(found)


def growth(found: dict[tuple[str, int], float]) -> Iterator[Measure]:
    """How much dearer a body becomes as the chain grows from a thousand: 1 is linear cost."""
    last = max(n for _, n in found)
    for method in METHODS:
        value = found[method, last] / found[method, 1_000]
        yield Measure("chains", method, f"cost of a body at {last} over that at 1000", value, "", 1.3, at_most=True)


def aba(n: int) -> Callable[[], np.ndarray]:
    pair = chain_pair(n)
    return partial(pin.aba, pair.pin, pair.pin.createData(), *state(n))


def same_arrays(n: int = 7) -> None:
    """A repeated chain is the chain that is built."""
    built, repeated = sh.samples.chain(n).freeze(), long_chain(n).freeze()
    for a, b in ((built.tree, repeated.tree), (built.joints, repeated.joints)):
        for name, x, y in zip(a._fields, a, b, strict=True):
            if not np.array_equal(x, y, equal_nan=x.dtype.kind == "f"):
                raise AssertionError(f"long_chain: the array {name!r} is not that of samples.chain")
