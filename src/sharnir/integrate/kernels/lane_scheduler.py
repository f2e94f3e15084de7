"""Many runs through the lanes of lanes.py: a lane whose run has ended takes the next one, so that none idles before the last.

Arrays of lanes are those of lanes.py, seen here as rows of lanes. Rows of the result are found by the dense output, and wait
until there is one for every lane before they are projected and their rates are found: rows of any runs and times, together.
"""

from typing import NamedTuple

from ...dialect.arrays import Array, IntegerArray
from ...dialect.memory import invoke
from .lanes import BETWEEN, FAILURES, PACE_STEPS, PACE_T, PREPARE, SHORTENED, START, STARTING, STATUS, STEP, TAKEN
from .state import DONE, ERROR_OLD, GOING, LEFT, PAUSED, REJECTED, STEPS, T_END, T_OLD, H, T

# count: which run is next, lanes at work, those with a new run, rows that wait, steps of all lanes until a pause
NEXT, ACTIVE, NEW, WAITING, PIECE = range(5)


class Queue(NamedTuple):
    starts: Array["runs", "n"]
    inputs: Array["runs", "m"]  # numbers of each run that the functions read
    span: Array[2]  # times of start and end of all runs
    wanted: Array["nw"]  # times of rows
    rows: Array["runs", "nw", "n + nr"]  # the state, then rates
    ended: Array["runs", 3]  # status, steps, rejected steps
    x: Array["n", "lanes"]
    dx: Array["nr", "lanes"]  # rates that go with the rows, at x
    between: Array["n", "lanes"]
    at: Array[1, "lanes"]
    clock: Array[8, "lanes"]
    tally: Array[14, "lanes"]
    mark: Array[7, "lanes"]
    near: Array[1, "lanes"]  # above 1 where a run is to be left
    own: Array["m", "lanes"]  # the inputs of each lane's run
    run: IntegerArray["lanes"]  # which that is; -1: none
    place: IntegerArray["lanes"]  # of its next row in `wanted`
    due: IntegerArray["lanes"]  # rows within its last step
    row_x: Array["n", "lanes"]  # rows that wait
    row_dx: Array["nr", "lanes"]
    row_t: Array[1, "lanes"]
    row_own: Array["m", "lanes"]
    row_of: IntegerArray["lanes", 2]  # run, and place in `wanted`
    calls: IntegerArray["nc", 2]  # the first works on all lanes, the others project the rows and find their rates
    task: IntegerArray[1]
    count: IntegerArray[5]


def run_queue(q):
    """Carry out all runs; PAUSED after count[PIECE] steps of all lanes, to be called again."""
    count = q.count
    lanes = q.run.shape[0]
    if count[NEXT] == 0:
        for lane in range(lanes):
            take(q, lane)
    left = count[PIECE]
    while count[ACTIVE] > 0:
        if left == 0:
            return PAUSED
        left -= 1
        if count[NEW] > 0:
            count[NEW] = 0
            work(q, START)
            for lane in range(lanes):
                if q.run[lane] >= 0:
                    write_here(q, lane)
        for lane in range(lanes):
            q.near[0, lane] = 0.0  # other tasks evaluate lanes that have no part in them
        work(q, STEP)
        leave_near(q)
        write_within(q)
        for lane in range(lanes):
            if q.run[lane] >= 0:
                write_here(q, lane)
                if q.clock[T, lane] == q.clock[T_END, lane] or q.mark[STATUS, lane] != GOING:
                    end(q, lane)
                    take(q, lane)
    write_waiting(q)
    return DONE


def leave_near(q):
    for lane in range(q.run.shape[0]):
        if q.near[0, lane] > 1.0 and q.mark[STATUS, lane] == GOING:
            q.mark[STATUS, lane] = LEFT


def work(q, task):
    q.task[0] = task
    invoke(q.calls[0, 0], q.calls[0, 1])


# --- runs ---------------------------------------------------------------------------------------------------------------------
def take(q, lane):
    """The next run, where there is one; else the lane stands still at a start, which costs no more than a usual state."""
    run = q.count[NEXT]
    some = run < q.starts.shape[0]
    q.run[lane] = run if some else -1
    run = run if some else 0
    if some:
        q.count[NEXT] += 1
        q.count[ACTIVE] += 1
        q.count[NEW] += 1
    q.place[lane] = 0
    for i in range(q.x.shape[0]):
        q.x[i, lane] = q.starts[run, i]
    for i in range(q.own.shape[0]):
        q.own[i, lane] = q.inputs[run, i]
    for k in range(q.tally.shape[0]):
        q.tally[k, lane] = 0.0
    q.clock[T, lane] = q.span[0]
    q.clock[T_OLD, lane] = q.span[0]
    q.clock[T_END, lane] = q.span[1] if some else q.span[0]
    q.clock[H, lane] = 0.0
    q.clock[ERROR_OLD, lane] = 1e-4
    q.mark[STATUS, lane] = GOING
    q.mark[STARTING, lane] = 1.0
    q.mark[SHORTENED, lane] = 0.0
    q.mark[FAILURES, lane] = 0.0
    q.mark[PACE_STEPS, lane] = 0.0
    q.mark[PACE_T, lane] = q.span[0]


def end(q, lane):
    run = q.run[lane]
    q.ended[run, 0] = DONE if q.mark[STATUS, lane] == GOING else q.mark[STATUS, lane]
    q.ended[run, 1] = q.tally[STEPS, lane]
    q.ended[run, 2] = q.tally[REJECTED, lane]
    q.count[ACTIVE] -= 1


# --- rows ---------------------------------------------------------------------------------------------------------------------
def count_within(q, lane):
    """Rows of a lane within the step it has just taken."""
    if q.run[lane] < 0 or q.mark[TAKEN, lane] == 0.0:
        return 0
    first, t, forward = q.place[lane], q.clock[T, lane], q.span[1] - q.span[0]
    k = first
    while k < q.wanted.shape[0] and (q.wanted[k] - t) * forward < 0.0:
        k += 1
    return k - first


def write_within(q):
    """Rows within the last steps, the next of every lane that has one at a time."""
    lanes = q.run.shape[0]
    most = 0
    for lane in range(lanes):
        q.due[lane] = count_within(q, lane)
        most = max(most, q.due[lane])
    if most > 0:
        work(q, PREPARE)
    for k in range(most):
        for lane in range(lanes):
            if k < q.due[lane]:
                q.at[0, lane] = q.wanted[q.place[lane]]
        work(q, BETWEEN)
        for lane in range(lanes):
            if k < q.due[lane]:
                write_between(q, lane)


def write_here(q, lane):
    """The row where the lane stands, which is projected already."""
    if q.place[lane] < q.wanted.shape[0] and q.wanted[q.place[lane]] == q.clock[T, lane]:
        target = q.rows[q.run[lane], q.place[lane]]
        put(target, q.x, q.dx, lane)
        q.place[lane] += 1


def put(target, x, dx, lane):
    n = x.shape[0]
    for i in range(n):
        target[i] = x[i, lane]
    for i in range(dx.shape[0]):
        target[n + i] = dx[i, lane]


def write_between(q, lane):
    """The next row of a lane, to wait for others."""
    row = q.count[WAITING]
    for i in range(q.between.shape[0]):
        q.row_x[i, row] = q.between[i, lane]
    for i in range(q.row_own.shape[0]):
        q.row_own[i, row] = q.own[i, lane]
    q.row_t[0, row] = q.wanted[q.place[lane]]
    q.row_of[row, 0] = q.run[lane]
    q.row_of[row, 1] = q.place[lane]
    q.place[lane] += 1
    q.count[WAITING] += 1
    if q.count[WAITING] == q.run.shape[0]:
        write_waiting(q)


def write_waiting(q):
    for c in range(1, q.calls.shape[0]):
        invoke(q.calls[c, 0], q.calls[c, 1])
    for row in range(q.count[WAITING]):
        put(q.rows[q.row_of[row, 0], q.row_of[row, 1]], q.row_x, q.row_dx, row)
    q.count[WAITING] = 0
