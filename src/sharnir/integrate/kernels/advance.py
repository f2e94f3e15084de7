"""The loop of a run: step, find events, write the requested rows; until the end, an event, or a pause.

A method is four functions: `start` (at a new state: its derivative, the first step), `step` (one accepted step),
`prepare` (what is needed to know the state within that step, in run.F) and `dense` (that state).  Everything they know is
in arrays, so the loop can be left at any point between rows and steps and taken up again with the same result to the last
bit.
"""

from typing import NamedTuple

from ...dialect.arrays import Array
from .events import RECORD, STOP, begin_events, earliest, event_values, record, scan, state_at, together
from .gaps import ahead, begin_gaps, has_gaps, meet
from .problem import EVENTS, copy, has
from .state import (
    ALARM,
    DONE,
    EVENT_CHANGE,
    EVENT_STOP,
    GOING,
    PAUSED,
    PIECE,
    SCANNED,
    STARTED,
    STEPS,
    STIFF,
    T_END,
    T_OLD,
    TAKEN_OVER,
    UNDEFINED,
    WRITTEN,
    T,
)


class Output(NamedTuple):
    """Rows to be filled: at the wanted times if there are any, else at every `every`-th step, the start and the end."""

    wanted: Array["nw"]
    every: Array[1]  # 0: start and end alone
    next: Array[1]  # place in `wanted`
    t: Array["rows"]
    x: Array["rows", "n"]
    count: Array[1]


def advance(start, step, prepare, dense, problem, run, events, output, memory):
    clock, tally = run.clock, run.tally
    if clock[STARTED] != 1.0:
        clock[T_OLD] = clock[T]
        clock[SCANNED] = clock[T]
        if clock[STARTED] != TAKEN_OVER:  # else the state is that of the last row
            tally[WRITTEN] = -1.0
        status = start(problem, run, memory)
        if status != GOING:
            return status
        if has(problem, EVENTS):
            if clock[STARTED] == TAKEN_OVER:  # what has changed its sign since it was looked at is still to be found
                event_values(problem, clock[T], run.x)
            else:
                status = begin_events(problem, run, events)
                if status != GOING:
                    return status
            begin_gaps(problem, events)
        clock[STARTED] = 1.0
    enough = tally[STEPS] + run.rule[PIECE]
    while True:
        status = deliver(dense, problem, run, events, output)
        if status != GOING:
            return status
        if clock[T] == clock[T_END]:
            return DONE
        if tally[STEPS] >= enough or tally[STIFF] > run.rule[ALARM]:
            return PAUSED
        gaps = has(problem, EVENTS) and has_gaps(events)
        if gaps and ahead(problem, run, events):
            return PAUSED
        status = step(problem, run, memory)
        if status != GOING:
            return status
        if inside_wanted(problem, run, output):
            prepare(problem, run, memory)
        if gaps and meet(dense, problem, run, events):
            return PAUSED
        for m in range(problem.report.shape[0]):
            run.total[m] += problem.report[m]
            run.peak[m] = max(run.peak[m], problem.report[m])


def inside_wanted(problem, run, output):
    """Whether a state within the last step will be needed."""
    if has(problem, EVENTS):
        return True
    at = int(output.next[0])
    return at < output.wanted.shape[0] and (output.wanted[at] - run.clock[T]) * (run.clock[T] - run.clock[T_OLD]) < 0.0


def deliver(dense, problem, run, events, output):
    """Events and rows of the last step, in the order of time."""
    if not has(problem, EVENTS):
        return write_rows(dense, problem, run, output, run.clock[T])
    while True:
        k = earliest(run, events)
        if k >= 0:
            status = apply_event(dense, problem, run, events, output, k)
            if status != GOING:
                return status
        elif run.clock[SCANNED] == run.clock[T]:
            return write_rows(dense, problem, run, output, run.clock[T])
        elif scan(dense, problem, run, events) != GOING:
            return end_undefined(dense, problem, run, events, output)


def end_undefined(dense, problem, run, events, output):
    """End the run where the functions of all events were numbers last."""
    t = run.clock[SCANNED]
    if write_rows(dense, problem, run, output, t) != GOING:
        return PAUSED
    state_at(dense, problem, run, t, events.y)
    copy(events.y, run.x)
    run.clock[T] = t
    return UNDEFINED


def apply_event(dense, problem, run, events, output, k):
    """Event k is next: rows before it, its record, its action."""
    t = events.root[k]
    if write_rows(dense, problem, run, output, t) != GOING:
        return PAUSED
    if events.count[0] + events.root.shape[0] > events.found.shape[0]:  # room for all that may fire at once
        return PAUSED
    state_at(dense, problem, run, t, events.y)
    action = events.action[k]
    record(events, k, t, events.y)
    if action == RECORD:
        return GOING
    for j in range(events.root.shape[0]):  # those at the same instant fire too
        events.last[j] = 0.0 if j == k else 1.0
        if events.pending[j] == 1.0 and together(run, events.root[j], t):
            events.last[j] = 0.0
            if events.action[j] == STOP:
                action = STOP
            record(events, j, t, events.y)
    copy(events.y, run.x)
    run.clock[T] = t
    run.clock[SCANNED] = t
    run.clock[STARTED] = 0.0  # the method restarts from here
    if output.wanted.shape[0] == 0:
        write_row(output, t, run.x)
    return EVENT_STOP if action == STOP else EVENT_CHANGE


def write_rows(dense, problem, run, output, until):
    """Rows due up to a time; PAUSED when there is no room left."""
    clock, tally = run.clock, run.tally
    room = output.t.shape[0]
    if output.wanted.shape[0] == 0:
        if until == clock[T] and tally[WRITTEN] != tally[STEPS] and step_wanted(run, output):
            if output.count[0] + 1.0 >= room:  # one row stays free for an event that ends the run
                return PAUSED
            write_row(output, clock[T], run.x)
            tally[WRITTEN] = tally[STEPS]
        return GOING
    forward = clock[T_END] - clock[T_OLD]
    at = int(output.next[0])
    while at < output.wanted.shape[0] and (output.wanted[at] - until) * forward <= 0.0:
        row = int(output.count[0])
        if row >= room:
            return PAUSED
        state_at(dense, problem, run, output.wanted[at], output.x[row])
        output.t[row] = output.wanted[at]
        output.count[0] += 1.0
        at += 1
        output.next[0] = at
    return GOING


def step_wanted(run, output):
    """Whether a row is due: at the start, the end, and every so many steps."""
    if run.tally[WRITTEN] < 0.0 or run.clock[T] == run.clock[T_END]:
        return True
    return output.every[0] > 0.0 and run.tally[STEPS] % output.every[0] == 0.0


def write_row(output, t, x):
    row = int(output.count[0])
    output.t[row] = t
    copy(x, output.x[row])
    output.count[0] += 1.0
