"""The samples of a triangle, row by row; the triangles of every strip of the picture; what the light sees.

A sample is in the middle of its square. A triangle has those samples whose rows are in [top, bottom) and that are in
[left, right) of their row, with the edges computed in one way whichever triangle they belong to: triangles that share an edge
share no sample and leave none out.
"""

from typing import NamedTuple

from ....dialect.arrays import Array, IntegerArray


def scan(touch, c, f, corners, width, first, last):
    """touch(c, f, place, x, y, w) at every sample of triangle f in rows [first, last).

    w: the third number of the corners there. Places count the samples of rows from `first` on.
    """
    x0, y0, w0, x1, y1, w1, x2, y2, w2 = upright(corners)
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if area > 0.0 or area < 0.0:
        gx = ((w1 - w0) * (y2 - y0) - (w2 - w0) * (y1 - y0)) / area
        gy = ((w2 - w0) * (x1 - x0) - (w1 - w0) * (x2 - x0)) / area
        long, upper, lower = slope(x0, y0, x2, y2), slope(x0, y0, x1, y1), slope(x1, y1, x2, y2)
        for row in range(first_sample(y0, first, last), first_sample(y2, first, last)):
            y = row + 0.5
            a = x0 + (y - y0) * long
            b = x0 + (y - y0) * upper if y < y1 else x1 + (y - y1) * lower
            w = w0 + gy * (y - y0) + gx * (0.5 - x0)
            for x in range(first_sample(min(a, b), 0, width), first_sample(max(a, b), 0, width)):
                touch(c, f, (row - first) * width + x, x + 0.5, y, w + gx * x)


def upright(corners):
    """The same corners from top to bottom."""
    x0, y0, w0, x1, y1, w1, x2, y2, w2 = corners
    if y1 < y0:
        x0, y0, w0, x1, y1, w1 = x1, y1, w1, x0, y0, w0
    if y2 < y1:
        x1, y1, w1, x2, y2, w2 = x2, y2, w2, x1, y1, w1
    if y1 < y0:
        x0, y0, w0, x1, y1, w1 = x1, y1, w1, x0, y0, w0
    return x0, y0, w0, x1, y1, w1, x2, y2, w2


def slope(x0, y0, x1, y1):
    return (x1 - x0) / (y1 - y0) if y1 > y0 else 0.0


def first_sample(x, low, high):
    """The first integer k in low … high with k + 0.5 not less than x."""
    x = x - 0.5
    if not x > low:
        return low
    if not x < high:
        return high
    k = int(x)
    return k + 1 if k < x else k


def corners_of(points, faces, f):
    a, b, d = faces[f, 0], faces[f, 1], faces[f, 2]
    return (
        points[a, 0], points[a, 1], points[a, 2], points[b, 0], points[b, 1], points[b, 2],
        points[d, 0], points[d, 1], points[d, 2],
    )  # fmt: skip


# --- which triangles each strip of the picture sees
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


# --- what the light sees: over every square of the ground the highest and the lowest surface
NOTHING = -1e30


class Cast(NamedTuple):
    cast: Array["n", 3]
    faces: IntegerArray["nf", 3]
    chosen: IntegerArray["nc"]
    highest: Array["nt", "nt"]  # heights, in texels; NOTHING where the light reaches the ground
    lowest: Array["nt", "nt"]  # of what is above the ground


def cast_shadows(c):
    n = c.highest.shape[0]
    for i in range(n):
        for j in range(n):
            c.highest[i, j], c.lowest[i, j] = NOTHING, -NOTHING
    for j in range(c.chosen.shape[0]):
        scan(shade_ground, c, c.chosen[j], corners_of(c.cast, c.faces, c.chosen[j]), n, 0, n)
    return 0


def shade_ground(c, f, place, x, y, height):
    n = c.highest.shape[0]
    i, j = place // n, place % n
    c.highest[i, j] = max(c.highest[i, j], height)
    if height > 0.0:
        c.lowest[i, j] = min(c.lowest[i, j], height)
