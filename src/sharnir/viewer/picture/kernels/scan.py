"""The samples of a triangle, row by row, and what of it is linear in the picture.

A sample is in the middle of its square. A triangle has those samples whose rows are in [top, bottom) and that are in
[left, right) of their row, with the edges computed in one way whichever triangle they belong to: triangles that share an edge
share no sample and leave none out.
"""


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
