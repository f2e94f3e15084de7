"""Steps of an explicit method that its stability limits, not its accuracy, are counted.

The last stage and the new state belong to the same time and are near each other; how much faster than they themselves their
derivatives differ is an estimate of the largest eigenvalue that matters:  h |λ| ≈ h |f(y) - f(Y)| / |y - Y|.
Hairer, Wanner II, IV.2, and their code DOP853.
"""

from ...dialect.ops import select, sqrt
from .control import weight_of
from .state import CALM, STIFF, T_OLD, T

NEVER = 1e300  # rule[ALARM] of a run that nobody watches
BOUND = 6.1  # h |λ| where dop853 becomes unstable
RELIEF = 6.0  # steps within the bound, one after the other, after which those beyond it are forgotten


def count_stiff_steps(run, s, stages):
    """tally[STIFF] after an accepted step."""
    h = run.clock[T] - run.clock[T_OLD]
    run.tally[STIFF], run.tally[CALM] = stiff_and_calm(run, s.A, s.B, s.K, run.x, stages, h)


def stiff_and_calm(run, A, B, K, x, stages, h):
    """The counts after a step of h to x.  Weighted as errors are: numbers that no tolerance watches do not count."""
    apart, turned = 0.0, 0.0
    last = stages - 1
    before = A[last]
    for i in range(x.shape[0]):
        d = B[last] * K[last, i]
        for j in range(last):
            d += (B[j] - before[j]) * K[j, i]
        w = weight_of(run, i, x[i])
        d = h * d / w
        f = h * (K[stages, i] - K[last, i]) / w
        apart += d * d
        turned += f * f
    beyond = sqrt(turned) > BOUND * sqrt(apart)
    calm = select(beyond, 0.0, run.tally[CALM] + 1.0)
    stiff = select(beyond, run.tally[STIFF] + 1.0, select(calm >= RELIEF, 0.0, run.tally[STIFF]))
    return stiff, calm
