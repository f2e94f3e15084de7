"""Quaternions among coordinates, brought back to length one after a step of an integrator."""

from typing import NamedTuple

from ..dialect.arrays import Array, IntegerArray
from ..dialect.ops import sqrt


class Quaternions(NamedTuple):
    q: Array["n"]
    at: IntegerArray["m"]       # where they begin


def normalize_quaternions(s):
    for k in range(s.at.shape[0]):
        a = s.at[k]
        w, x, y, z = s.q[a], s.q[a+1], s.q[a+2], s.q[a+3]
        scale = 1.0 / sqrt(w*w + x*x + y*y + z*z)
        s.q[a] = w * scale
        s.q[a+1] = x * scale
        s.q[a+2] = y * scale
        s.q[a+3] = z * scale
