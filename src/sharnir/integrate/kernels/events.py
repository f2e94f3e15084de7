"""Events: roots of functions g_k(t, x) along the dense output, found in the order of time.

Every accepted step is scanned in a few parts; a function that has changed its sign over a part has a root there.
Two roots of one function within one part are missed: scan more parts, or limit the step.
A function that is zero where a run starts, or that has just fired, waits until its sign is known again.
A function that is not a number ends the run where it was one last: roots beyond are unknown.
"""

from typing import NamedTuple

from ...dialect.arrays import Array
from .problem import EVENTS, copy, perform, project
from .state import BAD, EPS, GOING, SCANNED, T_OLD, UNDEFINED, T

RECORD, STOP, CHANGE = range(3)
SHORT = 1e-3  # length of the part after which a waiting function has its sign, relative to the usual one


class Events(NamedTuple):
    direction: Array["ng"]  # -1 falling, +1 rising, 0 both
    action: Array["ng"]  # RECORD, STOP or CHANGE
    looks: Array[1]  # parts of a step that are scanned
    last: Array["ng"]  # g at clock[SCANNED]; 0: waiting until its sign is known
    now: Array["ng"]
    root: Array["ng"]
    dips: Array["ng"]  # 1: a gap, of gaps.py
    gap: Array["ng"]  # g where the step was looked at last, for gaps
    slope: Array["ng"]  # how fast it changes along the step; -1: not known yet
    rate: Array["ng"]  # how fast it changes where the step begins
    rated: Array[1]  # when that was; nan: never
    back: Array[1]  # times in a row that a step was taken back
    approach: Array[1]  # time that was left before the first of them
    landing: Array[1]  # steps in a row that end just before a gap closes
    passing: Array["ng"]  # 1: it may close in this step, which is short enough
    pending: Array["ng"]  # 1: the root was found in this part and has not fired yet
    y: Array["n"]
    found: Array["nf", "n+2"]  # those that fired: time, which, state
    count: Array[1]


def state_at(dense, problem, run, t, y):
    """y = the state at a time within the last step."""
    if t == run.clock[T]:
        copy(run.x, y)
    elif run.clock[T] == run.clock[T_OLD]:  # within a moment before a start, at the far side of a gap
        for i in range(y.shape[0]):
            y[i] = run.x[i] + (t - run.clock[T]) * run.dx[i]
    else:
        dense(run, t, y)
        project(problem, t, y)


def event_values(problem, t, x):
    """problem.G at (t, x)."""
    copy(x, problem.X)
    problem.T[0] = t
    perform(problem, EVENTS)


def undefined(problem, run):
    """Whether a value in problem.G is not a number; if so, tally[BAD] is the first."""
    for k in range(problem.G.shape[0]):
        if problem.G[k] != problem.G[k]:
            run.tally[BAD] = k
            return True
    return False


def begin_events(problem, run, events):
    event_values(problem, run.clock[T], run.x)
    if undefined(problem, run):
        return UNDEFINED
    for k in range(events.last.shape[0]):
        events.pending[k] = 0.0
        if events.last[k] != 0.0:  # it has not just fired
            events.last[k] = problem.G[k]
    return GOING


def scan(dense, problem, run, events):
    """The next part of the step: its roots go to events.root. UNDEFINED where a function is no number from there on."""
    clock = run.clock
    part_length = (clock[T] - clock[T_OLD]) / events.looks[0]
    left = clock[SCANNED]
    for k in range(events.last.shape[0]):
        if events.last[k] == 0.0 and events.dips[k] == 0.0:
            part_length = SHORT * (clock[T] - clock[T_OLD]) / events.looks[0]
    right = left + part_length
    if (clock[T] - right) * part_length <= 1e-6 * part_length * part_length:
        right = clock[T]
    state_at(dense, problem, run, right, events.y)
    event_values(problem, right, events.y)
    if undefined(problem, run):
        right = last_defined(dense, problem, run, events, left, right)
        if together(run, left, right):
            return UNDEFINED
        state_at(dense, problem, run, right, events.y)
        event_values(problem, right, events.y)
    copy(problem.G, events.now)
    for k in range(events.last.shape[0]):
        before, now = events.last[k], events.now[k]
        if events.dips[k] == 0.0 and before * now <= 0.0 and before != 0.0 and events.direction[k] * before <= 0.0:
            events.root[k] = locate(dense, problem, run, events, k, left, right)
            if undefined(problem, run):  # at a time between
                return UNDEFINED
            events.pending[k] = 1.0
        events.last[k] = now
    clock[SCANNED] = right
    return GOING


def last_defined(dense, problem, run, events, left, right):
    """The last time, to rounding, at which all functions are numbers; they are at `left`, and are not at `right`."""
    for _ in range(64):
        middle = 0.5 * (left + right)
        state_at(dense, problem, run, middle, events.y)
        event_values(problem, middle, events.y)
        if undefined(problem, run):
            right = middle
        else:
            left = middle
    return left


def locate(dense, problem, run, events, k, left, right):
    """The root of g_k between left and right to rounding, on the side where the sign has changed already.

    Inverse quadratic interpolation where it is safe, else bisection.  Chandrupatla 1997
    """
    a, fa = right, events.now[k]  # a: newest, b: other end of the bracket, c: the one before
    b, fb = left, events.last[k]
    c, fc = b, fb
    part = 0.5
    for _ in range(200):
        if fa == 0.0:
            return a
        at = a + part * (b - a)
        state_at(dense, problem, run, at, events.y)
        event_values(problem, at, events.y)
        f = problem.G[k]
        if f * fa > 0.0:
            c, fc = a, fa
        else:
            c, fc = b, fb
            b, fb = a, fa
        a, fa = at, f
        width = abs(b - a)
        least = 2.0 * EPS * max(abs(a), abs(b)) + 2.0 * EPS * abs(right - left)
        if width <= least or f != f:
            break
        xi = (a - b) / (c - b) if c != b else 2.0
        phi = (fa - fb) / (fc - fb) if fc != fb else 2.0
        if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi and fc != fa:
            part = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        else:
            part = 0.5
        edge = 0.5 * least / width
        part = min(max(part, edge), 1.0 - edge)
    return a if fa * events.last[k] <= 0.0 else b


def earliest(run, events):
    """The function whose root comes first, or -1."""
    best = -1
    forward = run.clock[T] - run.clock[T_OLD]
    for k in range(events.root.shape[0]):
        if events.pending[k] == 1.0 and (best < 0 or (events.root[best] - events.root[k]) * forward > 0.0):
            best = k
    return best


def record(events, k, t, x):
    """Record that event k has fired."""
    row = int(events.count[0])
    events.found[row, 0] = t
    events.found[row, 1] = k
    for i in range(x.shape[0]):
        events.found[row, 2 + i] = x[i]
    events.count[0] += 1.0
    events.pending[k] = 0.0


def together(run, a, b):
    """Whether two times differ by rounding alone."""
    return abs(a - b) <= 16.0 * EPS * (max(abs(a), abs(b)) + abs(run.clock[T] - run.clock[T_OLD]))
