"""Gaps: event functions that are positive where two things are apart, and may close and open again within one step.

A step that reaches into a contact is of no use: its stages see forces that the tolerances know nothing of, and its dense output
is not that of the free motion before. So a step ends just before a gap closes, as far as that can be foreseen from how fast and
how much faster it closes; where it was foreseen wrongly the step is taken back. A short one then passes into the contact, and
the length of the steps follows from the forces there. Out of a contact likewise: what it stores is gone within a moment, and the
account of work does not steer the step.
"""

from ...dialect.ops import sqrt
from .events import event_values, state_at
from .problem import EVENTS, copy, perform, project
from .state import EPS, LARGEST, REJECTED, STARTED, STEPS, T_END, T_OLD, TAKEN_OVER, H, T, smallest_step

FINEST = 1e-4  # shortest part of a step that is looked at, relative to the step
BEFORE = 1e-3  # how far before a meeting a step ends, relative to its length
STRETCHED = 1.01  # by so much a step may be stretched to the end of a run
MOST = 20.0  # a step that was taken back so often counts
LANDINGS = 8.0  # such steps at most
CLOSE = 1e-7  # what is left then, of the time before the first of them
AT_ONCE = 1e-5  # a meeting this early in a step, relative to it, is at its beginning


def begin_gaps(problem, events):
    """problem.G is that of the present state."""
    for k in range(events.gap.shape[0]):
        events.gap[k] = problem.G[k]
        events.slope[k] = -1.0


def ahead(problem, run, events):
    """Before a step: whether it was shortened, so as to end before a gap closes, and the method starts anew with it."""
    clock = run.clock
    sign = 1.0 if clock[H] > 0.0 else -1.0
    until = foreseen(problem, run, events)
    for k in range(events.gap.shape[0]):
        if events.passing[k] == 1.0:
            return False
    left = abs(clock[T_END] - clock[T])
    length = left if STRETCHED * abs(clock[H]) >= left else abs(clock[H])  # a step to the end may be a little longer (`reach`)
    if until > 10.0 * length:
        events.landing[0] = 0.0
    if until >= length * (1.0 - 0.5 * BEFORE):
        return False
    at_once = until <= 1e3 * smallest_step(run)
    if STRETCHED * until >= left and not at_once:  # it must not be stretched
        clock[H] = sign * 0.97 * until
    elif not at_once and (events.landing[0] == 0.0 or (until > CLOSE * events.approach[0] and events.landing[0] < LANDINGS)):
        if events.landing[0] == 0.0:
            events.approach[0] = until
        clock[H] = sign * until * (1.0 - BEFORE)
        events.landing[0] += 1.0
    elif at_once or until <= CLOSE * events.approach[0]:
        hop(problem, run, events, sign * until)
    else:
        pass_into(run, events, until, clock[H])
    clock[STARTED] = TAKEN_OVER
    return True


def hop(problem, run, events, until):
    """Go straight on to the other side: so little time that nothing else has changed, and no step need pass over the jump."""
    clock = run.clock
    on = until * (1.0 + 1e-6)
    t = clock[T] + on + (4.0 * EPS * abs(clock[T]) if on > 0.0 else -4.0 * EPS * abs(clock[T]))
    for i in range(run.x.shape[0]):
        run.x[i] = run.x[i] + (t - clock[T]) * run.dx[i]
    longer = max(10.0 * abs(t - clock[T]), AT_ONCE * abs(clock[H]), 100.0 * smallest_step(run))
    clock[H] = longer if on > 0.0 else -longer
    clock[T] = t
    project(problem, t, run.x)
    pass_once(events)


def foreseen(problem, run, events):
    """When the first gap closes or opens, from now, at its present rate and the change of that since the last step."""
    clock = run.clock
    small = 1e-6 * clock[H]
    look_on(problem, run, small)
    farther = 1e4  # enough to tell the rates from rounding, and not so far that a gap has closed
    for k in range(events.gap.shape[0]):
        change = abs(problem.G[k] - events.gap[k])
        if events.dips[k] == 1.0 and farther * change > 0.1 * abs(events.gap[k]):
            farther = max(0.1 * abs(events.gap[k]) / change, 1.0)
    small = small * farther
    look_on(problem, run, small)
    since = clock[T] - events.rated[0]
    first = LARGEST
    for k in range(events.gap.shape[0]):
        if events.dips[k] == 0.0:
            continue
        rate = (problem.G[k] - events.gap[k]) / abs(small)
        change = 0.0
        if abs(since) > 0.0:
            change = (rate - events.rate[k]) / abs(since)
        events.rate[k] = rate
        side = 1.0 if events.gap[k] > 0.0 else -1.0
        first = min(first, closes(side * events.gap[k], side * rate, side * change))
    events.rated[0] = clock[T]
    return first


def look_on(problem, run, small):
    """Evaluate problem.G a little ahead, straight on."""
    for i in range(run.x.shape[0]):
        problem.X[i] = run.x[i] + small * run.dx[i]
    problem.T[0] = run.clock[T] + small
    perform(problem, EVENTS)


def closes(gap, rate, change):
    """The first time at which gap + rate t + change t^2/2 is zero; none: the largest number."""
    inside = rate * rate - 2.0 * change * gap
    if inside < 0.0:
        return LARGEST
    down = sqrt(inside) - rate
    return 2.0 * gap / down if down > 0.0 else LARGEST


def pass_into(run, events, until, h):
    """Replace a step of h by one so short that it sees little of the contact."""
    shorter = max(10.0 * until, AT_ONCE * abs(h), 10.0 * smallest_step(run))
    run.clock[H] = shorter if h > 0.0 else -shorter
    pass_once(events)


def pass_once(events):
    """The next step may be where a gap closes."""
    events.landing[0] = 0.0
    for k in range(events.gap.shape[0]):
        events.passing[k] = 1.0 if events.dips[k] == 1.0 else 0.0


def has_gaps(events):
    count = 0.0
    for k in range(events.dips.shape[0]):
        count += events.dips[k]
    return count > 0.0


def meet(dense, problem, run, events):
    """After a step: whether it was taken back because a gap closes within it."""
    clock, tally = run.clock, run.tally
    h = clock[T] - clock[T_OLD]
    at = first_meeting(dense, problem, run, events)
    for k in range(events.gap.shape[0]):
        events.passing[k] = 0.0
    if at < 0.0 or events.back[0] >= MOST:
        events.back[0] = 0.0
        return False
    events.back[0] += 1.0
    until = at * h
    clock[T] = clock[T_OLD]
    copy(run.x_old, run.x)
    copy(run.dx_old, run.dx)
    tally[STEPS] -= 1.0
    tally[REJECTED] += 1.0
    clock[STARTED] = TAKEN_OVER
    if at > AT_ONCE:
        clock[H] = 0.97 * until  # not to be stretched again
        return True
    pass_into(run, events, abs(until), h)
    return True


def first_meeting(dense, problem, run, events):
    """When a gap first closes in the last step, as a share of it; -1: none does."""
    clock = run.clock
    h = clock[T] - clock[T_OLD]
    left = 0.0
    while left < 1.0:
        right = min(left + 1.0 / events.looks[0], 1.0)
        if unknown_slope(events):
            right = left + FINEST
        look(dense, problem, run, events, clock[T_OLD] + right * h)
        while may_dip(problem, events, (right - left) * abs(h)) and right - left > FINEST:
            right = 0.5 * (left + right)
            look(dense, problem, run, events, clock[T_OLD] + right * h)
        for k in range(events.gap.shape[0]):
            if events.dips[k] == 1.0 and events.passing[k] == 0.0 and events.gap[k] > 0.0 and problem.G[k] <= 0.0:
                return closing(dense, problem, run, events, left, right)
        for k in range(events.gap.shape[0]):
            rate = abs(problem.G[k] - events.gap[k]) / ((right - left) * abs(h))
            events.slope[k] = max(rate, 0.5 * events.slope[k])
            events.gap[k] = problem.G[k]
        left = right
    return -1.0


def unknown_slope(events):
    unknown = 0.0
    for k in range(events.gap.shape[0]):
        if events.dips[k] == 1.0 and events.slope[k] < 0.0:
            unknown = 1.0
    return unknown > 0.0


def look(dense, problem, run, events, t):
    state_at(dense, problem, run, t, events.y)
    event_values(problem, t, events.y)


def may_dip(problem, events, length):
    """Whether a gap that is open at both ends of a part could have closed between them, at twice the rate at which it changed."""
    for k in range(events.gap.shape[0]):
        before, now = events.gap[k], problem.G[k]
        if events.dips[k] == 1.0 and before > 0.0 and now > 0.0 and before + now < 2.0 * events.slope[k] * length:
            return True
    return False


def closing(dense, problem, run, events, left, right):
    """Between two shares of the step, the last at which all gaps that were open are so still; by bisection."""
    clock = run.clock
    h = clock[T] - clock[T_OLD]
    for _ in range(40):
        middle = 0.5 * (left + right)
        look(dense, problem, run, events, clock[T_OLD] + middle * h)
        closed = 0.0
        for k in range(events.gap.shape[0]):
            if events.dips[k] == 1.0 and events.passing[k] == 0.0 and events.gap[k] > 0.0 and problem.G[k] <= 0.0:
                closed = 1.0
        if closed > 0.0:
            right = middle
        else:
            left = middle
    return left
