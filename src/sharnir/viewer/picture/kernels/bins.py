"""Which triangles each strip of the picture sees."""

from typing import NamedTuple

from ....dialect.arrays import Array, IntegerArray
from .scan import first_sample


class Bins(NamedTuple):
    screen: Array["n", 3]
    faces: IntegerArray["nf", 3]
    chosen: IntegerArray["nc"]  # triangles, in the order in which they are drawn
    rows: IntegerArray[1]  # of samples in a strip
    start: IntegerArray["ns+1"]  # where in `entries` the triangles of each strip begin
    entries: IntegerArray["ne"]  # triangles strip by strip, in that order; none yet while they are counted


def bin_triangles(b):
    """Called twice: counts how many triangles each strip has, then enters them. Those not wholly before the camera are left out.

    Counting, start[s + 1] is the number of strip s; entering, start[s] moves from the beginning of strip s to its end.
    """
    strips, counting = b.start.shape[0] - 1, b.entries.shape[0] == 0
    for j in range(b.chosen.shape[0]):
        f = b.chosen[j]
        p, q, r = b.faces[f, 0], b.faces[f, 1], b.faces[f, 2]
        if b.screen[p, 2] > 0.0 and b.screen[q, 2] > 0.0 and b.screen[r, 2] > 0.0:
            last = strips * b.rows[0]
            top = first_sample(min(b.screen[p, 1], b.screen[q, 1], b.screen[r, 1]), 0, last)
            bottom = first_sample(max(b.screen[p, 1], b.screen[q, 1], b.screen[r, 1]), 0, last)
            if bottom > top:
                for s in range(top // b.rows[0], (bottom - 1) // b.rows[0] + 1):
                    if counting:
                        b.start[s + 1] = b.start[s + 1] + 1
                    else:
                        b.entries[b.start[s]] = f
                        b.start[s] = b.start[s] + 1
    return 0
