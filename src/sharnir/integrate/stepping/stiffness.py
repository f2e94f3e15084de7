"""Steps of an explicit method that its stability limits, not its accuracy, are counted.

The last stage and the new state belong to the same time and are near each other; how much faster than they themselves their
derivatives differ is an estimate of the largest eigenvalue that matters:  h |λ| ≈ h |f(y) - f(Y)| / |y - Y|.
Hairer, Wanner II, IV.2, and their code DOP853.
"""

from ...dialect.ops import sqrt
from .control import weight_of
from .state import CALM, STIFF, T_OLD, T

NEVER = 1e300  # rule[ALARM] of a run that nobody watches
BOUND = 6.1  # h |λ| where dop853 becomes unstable
RELIEF = 6.0  # steps within the bound, one after the other, after which those beyond it are forgotten


def count_stiff_steps(run, s, stages):
    """tally[STIFF] after an accepted step.  Weighted as errors are: numbers that no tolerance watches do not count."""
    h = run.clock[T] - run.clock[T_OLD]
    apart, turned = 0.0, 0.0
    last = stages - 1
    for i in range(run.x.shape[0]):
        d = s.B[last] * s.K[last, i]
        for j in range(last):
            d += (s.B[j] - s.A[last, j]) * s.K[j, i]
        w = weight_of(run, i, run.x[i])
        d = h * d / w
        f = h * (s.K[stages, i] - s.K[last, i]) / w
        apart += d * d
        turned += f * f
    if sqrt(turned) > BOUND * sqrt(apart):
        run.tally[CALM] = 0.0
        run.tally[STIFF] += 1.0
    else:
        run.tally[CALM] += 1.0
        if run.tally[CALM] >= RELIEF:
            run.tally[STIFF] = 0.0
