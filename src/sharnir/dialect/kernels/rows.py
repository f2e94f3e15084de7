"""Small operations on arrays between native functions, without Python: copy, add, gather, scatter, check for finite numbers."""

from typing import NamedTuple

from ..arrays import Array, IntegerArray
from ..memory import numbers_at


class Looked(NamedTuple):
    rows: IntegerArray["nr", 2]  # address and how many numbers
    check: Array[1]


def look_at(c):
    """check: 0 where all numbers are finite, else nan."""
    a, b, d, e = 0.0, 0.0, 0.0, 0.0  # four sums that do not wait for each other
    for k in range(c.rows.shape[0]):
        x = numbers_at(c.rows[k, 0], c.rows[k, 1])
        fours = x.shape[0] // 4
        for i in range(fours):
            a = a + 0.0 * x[4 * i]
            b = b + 0.0 * x[4 * i + 1]
            d = d + 0.0 * x[4 * i + 2]
            e = e + 0.0 * x[4 * i + 3]
        for i in range(4 * fours, x.shape[0]):
            a = a + 0.0 * x[i]
    c.check[0] = a + b + d + e


class Copied(NamedTuple):
    rows: IntegerArray["nr", 3]  # address of an array and of its copy, how many numbers


def copy_rows(c):
    for k in range(c.rows.shape[0]):
        x, y = numbers_at(c.rows[k, 0], c.rows[k, 2]), numbers_at(c.rows[k, 1], c.rows[k, 2])
        for i in range(x.shape[0]):
            y[i] = x[i]


class Gathered(NamedTuple):
    source: Array["n"]
    place: IntegerArray["m"]
    target: Array["m"]


def gather(g):
    """target[k] = source[place[k]]"""
    for k in range(g.place.shape[0]):
        g.target[k] = g.source[g.place[k]]


class Scattered(NamedTuple):
    source: Array["m"]
    place: IntegerArray["m"]
    target: Array["n"]


def scatter(s):
    """target[place[k]] += source[k], in order: several may add to one place."""
    for k in range(s.place.shape[0]):
        s.target[s.place[k]] = s.target[s.place[k]] + s.source[k]
