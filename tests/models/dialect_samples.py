"""Functions in the dialect that use every part of it, for test_compiler.py. Each takes one group `d` and fills d.out."""

from typing import NamedTuple

from sharnir.dialect.arrays import Array, ComplexArray, IntegerArray
from sharnir.dialect.ops import cos, select, sin, sqrt

TABLE = (1.0, 0.5, 0.25, 0.125, 2.0, 3.0)
FIRST, SECOND = 0, 1


class Data(NamedTuple):
    x: Array["n"]
    at: IntegerArray["m"]
    M: Array["k", 3]
    z: ComplexArray["k"]
    out: Array["n"]


def integers(d):
    """// and % round down, as Python's do."""
    for k in range(d.at.shape[0]):
        a, b = d.at[k], d.at[d.at.shape[0] - 1 - k]
        if b != 0:
            d.out[k] = a // b + 10 * (a % b)


def early(d):
    for k in range(d.x.shape[0]):
        d.out[k] = sign_of(d.x[k], k)
    return first_negative(d)


def sign_of(x, k):
    if x > 0.5:
        return 1.0
    if x != x:
        return -5.0
    if k % 2 == 0:
        return 0.0
    return x


def first_negative(d):
    for k in range(d.x.shape[0]):
        if d.x[k] < 0.0:
            return k
    return -1


def loops(d):
    total, k = 0.0, 0
    while True:
        k += 1
        if k == 3:
            continue
        if k > d.x.shape[0]:
            break
        total += d.x[k - 1]
        for j in range(k, 0, -2):
            if j == 2:
                break
            total = total + 0.5 * j
    d.out[0] = total
    d.out[1] = k


def extremes(d):
    """min and max take a later value only where it compares so: a nan in front stays, one behind is passed over."""
    for k in range(d.x.shape[0] - 2):
        d.out[k] = min(d.x[k], d.x[k + 1], 0.25) + 2.0 * max(d.x[k], d.x[k + 2]) + max(k, 2) + abs(d.x[k]) + abs(-k)


def powers(d):
    for k in range(d.x.shape[0]):
        d.out[k] = abs(d.x[k]) ** 1.5 + (d.x[k] % 0.3) + (d.x[k] % -0.3) + sqrt(abs(d.x[k]))


def short_circuit(d):
    """What stands behind `and` and in the other arm is not looked at where it does not exist."""
    for k in range(-2, d.at.shape[0] + 2):
        if k >= 0 and k < d.at.shape[0] and (d.at[k] > 0 or d.x[d.at[k] + 7] > 0.0):
            d.out[k] = d.x[k] if d.at[k] >= 0 else d.M[0, 1]


def tuples(d):
    a = (d.x[0], d.x[1], d.x[2])
    for k in range(d.M.shape[0]):
        b = row(d.M, k) if d.at[k % d.at.shape[0]] > 0 else a
        a = cross3(a, b)
        a, c = (a[2], a[0], a[1]), a[0] + b[2]
        d.out[k] = c
        for i in range(3):
            d.M[k, i] = a[i] / (1.0 + abs(a[i]))


def row(M, k):
    return (M[k, 0], M[k, 1], M[k, 2])


def cross3(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def tables(d):
    for k in range(d.x.shape[0]):
        d.out[k] = TABLE[k % 6] * d.x[k] + TABLE[FIRST] + TABLE[-1]


def handed_on(d):
    """Functions are arguments; rows of arrays too."""
    apply(double, d.M[0], d)
    apply(halve, d.M[1], d)


def apply(f, x, d):
    for i in range(x.shape[0]):
        d.out[i] = f(x[i]) + d.x[i]
        x[i] = d.out[i]


def double(x):
    return 2.0 * x


def halve(x):
    return 0.5 * x


def complexes(d):
    for k in range(d.z.shape[0]):
        w = d.z[k] * complex(1.5, -0.5) - 1.0
        d.z[k] = 1.0 / w + d.z[k] / complex(d.x[k], d.x[k + 1])
        d.out[k] = d.z[k].real + 2.0 * d.z[k].imag
        if d.z[k] != 0.0:
            d.out[k] += abs(d.x[k].imag)


def branches(d):
    for k in range(d.x.shape[0]):
        if d.x[k] > 0.0:
            y, z = d.x[k], 1
        elif d.x[k] < -0.5:
            y, z = -d.x[k], 2
        else:
            y, z = 0.125, 3
        if not y > 0.3 or z == 3:
            y *= 2.0
        d.out[k] = y + z


def truths(d):
    found = False
    for k in range(d.x.shape[0]):
        found = found or d.x[k] > 0.9
        small = 0.0 < d.x[k] <= 0.5
        d.out[k] = 1.0 if small else 0.0
        if small and not found:
            d.out[k] += 4.0
    return 1 if found else 0


def loop_variables(d):
    """The variable of a loop, unrolled or not, is a name as any other once the loop is over."""
    for k in range(3):
        d.out[k] = k
    for _ in range(d.at.shape[0]):
        k = k + 1
    d.out[3] = k
    for k in range(2):
        d.out[4] = k
    if d.x[0] > 0.0:
        k = 7
    d.out[5] = k
    m = 10
    for _ in range(d.at.shape[0]):
        if d.x[1] > 0.0:
            for m in range(3):
                d.out[6] = m
        d.out[7] = m
    for k in range(0, d.at[2]):
        d.out[0] = 99.0 + k
    while k < 5:
        k = k + 1
    d.out[8] = k


def guarded(d):
    """A division behind its guard is not carried out before it."""
    a, b = d.at[0], d.at[2]
    d.out[0] = a // b if b != 0 else 77
    if b != 0 and a % b == 0:
        d.out[1] = 1.0
    for k in range(d.at.shape[0]):
        d.out[k] = d.out[k] + (d.at[0] % d.at[k] if d.at[k] != 0 and d.x[k] == d.x[k] else 0)


def same_name(d):
    """One name for an integer in one loop and for a tuple in another."""
    total = 0.0
    for a in range(d.x.shape[0]):
        total = total + a
    for k in range(d.M.shape[0]):
        a = row(d.M, k)
        a = cross3(a, (1.0, total, 2.0))
        d.out[k] = a[0] + a[2]
    d.out[6] = 0.0 % -0.3
    d.out[7] = 1.0 / (0.0 * d.out[6] + (-0.6) % -0.3)


EXACT = [
    integers, early, loops, extremes, powers, short_circuit, tuples, tables, handed_on, complexes, branches, truths,
    loop_variables, guarded, same_name,
]  # fmt: skip


class Wide(NamedTuple):
    """For lanes: `x` and `out` have one number for each lane, `shared` and `at` are the same for all."""

    x: Array["n"]
    at: IntegerArray["m"]
    out: Array["n"]


class Shared(NamedTuple):
    y: Array["n"]
    place: IntegerArray["n"]


def laned(s, d):
    total = 0.0
    for k in range(d.x.shape[0]):
        a, b = cos(s.y[k] * d.x[k]), sin(d.x[k])
        total = total + a * b / (2.0 + b * b)
        y = select(d.x[k] > 0.25, a, -b) + s.y[s.place[k]]
        if s.place[k] > 1:
            y = y - 0.0 * total + sqrt(1.0 + total * total)
        d.out[k] = y * (total + 1.0) if k > 2 else select(s.y[k] < 0.0, y, 0.5)


# --- double-double --------------------------------------------------------------------------------------------------------------
class Roots(NamedTuple):
    x: Array["n"]
    y: Array["n"]
    steps: IntegerArray["n"]


def find_roots(r):
    for i in range(r.x.shape[0]):
        r.y[i] = r.x[i]
        r.steps[i] = 0
        while True:
            last = r.y[i]
            r.y[i] = 0.5 * (last + r.x[i] / last)
            r.steps[i] += 1
            if not abs(r.y[i] - last) > 1e-28 * abs(last) or r.steps[i] == 60:
                break
    return r.x.shape[0]
