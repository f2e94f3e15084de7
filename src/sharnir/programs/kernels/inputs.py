"""The inputs of programs. Computed beforehand: `drive` and `given`, the values of the user's own functions; `load`,
the joint forces of the model's own force elements (where there is `tau` they are in it, as their wrenches are in `wrench`).
"""

from typing import NamedTuple

from ...dialect.arrays import Array


class Position(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]
    q: Array["nq"]


class State(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]
    q: Array["nq"]
    v: Array["nv"]


class Forced(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]
    q: Array["nq"]
    v: Array["nv"]
    tau: Array["nv"]
    wrench: Array["nb1", 6]


class Moved(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]
    q: Array["nq"]
    v: Array["nv"]
    qdd: Array["nv"]
    wrench: Array["nb1", 6]
    load: Array["nf"]


class Reactions(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]
    q: Array["nq"]
    R: Array["nb1", 6]


class Momenta(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]
    q: Array["nq"]
    p: Array["nv"]


class Point(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]
    q: Array["nq"]
    point: Array[3]  # in the axes of the body
    path: Array["nb1"]  # 1 for the body and all that carry it, 0 elsewhere


class PointMoved(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]
    q: Array["nq"]
    v: Array["nv"]
    point: Array[3]
    path: Array["nb1"]


class PointAccelerated(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]
    q: Array["nq"]
    v: Array["nv"]
    qdd: Array["nv"]
    point: Array[3]
    path: Array["nb1"]


class Bias(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]
    q: Array["nq"]
    v: Array["nv"]
    wrench: Array["nb1", 6]
    load: Array["nf"]


class Fitted(NamedTuple):
    drive: Array["nd", 3]
    given: Array["ng"]
    q: Array["nq"]
    v: Array["nv"]
    qdd: Array["nv"]
    ratio: Array["na"]
    dry: Array["na"]
