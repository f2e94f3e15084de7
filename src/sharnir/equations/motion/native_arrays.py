"""Entries of arrays taken and added by native functions, without Python, also from and to arrays of pairs (double-double)."""

from __future__ import annotations

import numpy as np

from ...dialect.arithmetic import STEPPING
from ...dialect.cache import Cache
from ...dialect.double_double_code import PAIRS
from ...dialect.kernels.rows import Gathered, Scattered, gather, scatter
from ...dialect.native import Native, bind_kernel


def native_add(x: np.ndarray, places: np.ndarray, y: np.ndarray, store: Cache, pairs: bool = False) -> Native:
    """y[places] += x; `pairs`: both (…, 2), in double-double arithmetic."""
    return bind_kernel(scatter, Scattered(x, places, y), options=PAIRS if pairs else STEPPING, store=store)


def native_take(x: np.ndarray, places: np.ndarray, y: np.ndarray, store: Cache) -> Native:
    """y = x[places]."""
    return bind_kernel(gather, Gathered(x, places, y), store=store)


def native_rounded(two: np.ndarray, one: np.ndarray, store: Cache) -> Native:
    """The first parts of pairs."""
    return native_take(two.reshape(-1), 2 * np.arange(one.size), one, store)


def native_add_to_pairs(x: np.ndarray, two: np.ndarray, store: Cache) -> Native:
    """Plain numbers added to the first parts of pairs."""
    return native_add(x, 2 * np.arange(x.size), two.reshape(-1), store)
