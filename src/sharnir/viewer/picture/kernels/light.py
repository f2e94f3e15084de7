"""The colour of a surface: light from above and below, one lamp with its shadow, a little gloss. Colours are amounts of light."""

from typing import NamedTuple

from ....dialect.arrays import Array, IntegerArray
from ....dialect.ops import sqrt
from .place import View
from .scan import corners_of


class Surface(NamedTuple):
    view: View
    screen: Array["n", 3]
    turned: Array["n", 3]
    colours: Array["n", 4]  # red, green, blue, opacity
    faces: IntegerArray["nf", 3]
    lamps: Array[5, 3]  # direction to the lamp; colours of the lamp, of light from above, from below; up
    gloss: Array[2]  # of the surfaces; light that remains in the shadow of the lamp
    ground: Array[3]  # height along `up`; how dark shadows on it are, 0: it is not drawn; texels in a metre
    highest: Array["nt", "nt"]  # of the surfaces that the lamp sees, in texels above the ground
    shadow: Array["ng", "ng"]  # on the ground, 0 to 1; over the same square


def shade(c, f, px, py):
    """Red, green, blue and opacity of triangle f at a point of the picture."""
    x0, y0, w0, x1, y1, w1, x2, y2, w2 = corners_of(c.screen, c.faces, f)
    a = w0 * ((x1 - px) * (y2 - py) - (x2 - px) * (y1 - py))
    b = w1 * ((x2 - px) * (y0 - py) - (x0 - px) * (y2 - py))
    d = w2 * ((x0 - px) * (y1 - py) - (x1 - px) * (y0 - py))
    s = 1.0 / (a + b + d)
    a, b, d = s * a, s * b, s * d
    i, j, k = c.faces[f, 0], c.faces[f, 1], c.faces[f, 2]
    red = a * c.colours[i, 0] + b * c.colours[j, 0] + d * c.colours[k, 0]
    green = a * c.colours[i, 1] + b * c.colours[j, 1] + d * c.colours[k, 1]
    blue = a * c.colours[i, 2] + b * c.colours[j, 2] + d * c.colours[k, 2]
    opacity = a * c.colours[i, 3] + b * c.colours[j, 3] + d * c.colours[k, 3]
    x = a * c.turned[i, 0] + b * c.turned[j, 0] + d * c.turned[k, 0]
    y = a * c.turned[i, 1] + b * c.turned[j, 1] + d * c.turned[k, 1]
    z = a * c.turned[i, 2] + b * c.turned[j, 2] + d * c.turned[k, 2]
    size = x * x + y * y + z * z
    if size > 0.0:
        size = 1.0 / sqrt(size)
        depth = a / w0 + b / w1 + d / w2
        lr, lg, lb, shine = lit(c, (size * x, size * y, size * z), ray(c, px, py), depth)
        red, green, blue = red * lr + shine, green * lg + shine, blue * lb + shine
    return red, green, blue, opacity


def ray(c, px, py):
    """The vector from the camera to a point of the picture, at depth 1."""
    v = c.view.camera
    x, y = (px - v[13]) / v[12], (v[14] - py) / v[12]
    return x * v[3] + y * v[6] - v[9], x * v[4] + y * v[7] - v[10], x * v[5] + y * v[8] - v[11]


def lit(c, n, sight, depth):
    """Light that falls on a surface with normal n, at a depth along the line of sight; light that it mirrors."""
    nx, ny, nz = n
    sx, sy, sz = sight
    if nx * sx + ny * sy + nz * sz > 0.0:  # seen from behind: both sides of a sheet are lit
        nx, ny, nz = -nx, -ny, -nz
    x, y, z = c.lamps[0, 0], c.lamps[0, 1], c.lamps[0, 2]
    key = nx * x + ny * y + nz * z
    shine = 0.0
    if key > 0.0:
        reached = c.gloss[1] + (1.0 - c.gloss[1]) * lamp_reaches(c, sight, depth, (nx, ny, nz))
        size = 1.0 / sqrt(sx * sx + sy * sy + sz * sz)
        hx, hy, hz = x - size * sx, y - size * sy, z - size * sz  # half way to the lamp
        half = (nx * hx + ny * hy + nz * hz) / sqrt(hx * hx + hy * hy + hz * hz)
        half = half * half
        half = half * half
        half = half * half
        half = half * half
        shine = c.gloss[0] * half * half * reached
        key = key * reached
    else:
        key = 0.0
    sky = 0.5 + 0.5 * (nx * c.lamps[4, 0] + ny * c.lamps[4, 1] + nz * c.lamps[4, 2])
    return (
        key * c.lamps[1, 0] + sky * c.lamps[2, 0] + (1.0 - sky) * c.lamps[3, 0],
        key * c.lamps[1, 1] + sky * c.lamps[2, 1] + (1.0 - sky) * c.lamps[3, 1],
        key * c.lamps[1, 2] + sky * c.lamps[2, 2] + (1.0 - sky) * c.lamps[3, 2],
        shine,
    )


def cast_point(c, sight, depth):
    """A point in sight as the lamp sees it: texels on the ground, and of height."""
    v, s = c.view.camera, c.view.sun
    x, y, z = v[0] + depth * sight[0] - s[3, 0], v[1] + depth * sight[1] - s[3, 1], v[2] + depth * sight[2] - s[3, 2]
    return (
        s[0, 0] * x + s[0, 1] * y + s[0, 2] * z,
        s[1, 0] * x + s[1, 1] * y + s[1, 2] * z,
        s[2, 0] * x + s[2, 1] * y + s[2, 2] * z,
    )


def lamp_reaches(c, sight, depth, n):
    """The share of 5 × 5 texels around a point that the lamp sees through, 0 to 1.

    The point is moved off its surface by two texels, so that a surface does not shade itself.
    """
    s = c.view.sun
    u, v, h = cast_point(c, sight, depth)
    u = u + 2.0 * (s[0, 0] * n[0] + s[0, 1] * n[1] + s[0, 2] * n[2]) / c.ground[2]
    v = v + 2.0 * (s[1, 0] * n[0] + s[1, 1] * n[1] + s[1, 2] * n[2]) / c.ground[2]
    h = h + 2.0 * (s[2, 0] * n[0] + s[2, 1] * n[1] + s[2, 2] * n[2]) / c.ground[2] + 2.0
    last = c.highest.shape[0] - 3
    i, j = int(max(v, 0.0)), int(max(u, 0.0))
    if i < 2 or j < 2 or i >= last or j >= last:
        return 1.0
    fu, fv = u - j, v - i
    free = 0.0
    for k in range(5):
        across = (1.0 - fv) if k == 0 else fv if k == 4 else 1.0
        for m in range(5):
            along = (1.0 - fu) if m == 0 else fu if m == 4 else 1.0
            if not c.highest[i + k - 2, j + m - 2] > h:
                free = free + across * along
    return free / 16.0


def ground_in_sight(c, sight):
    """1/depth of the ground along a line of sight, 0 where it is not seen from above or not drawn; the shadow on it there."""
    v, ux, uy, uz = c.view.camera, c.lamps[4, 0], c.lamps[4, 1], c.lamps[4, 2]
    above = v[0] * ux + v[1] * uy + v[2] * uz - c.ground[0]
    down = -(sight[0] * ux + sight[1] * uy + sight[2] * uz)
    if not (c.ground[1] > 0.0 and above > 0.0 and down > 0.0):
        return 0.0, 0.0
    x, y, _ = cast_point(c, sight, above / down)
    squares = c.shadow.shape[0] / c.highest.shape[0]
    x, y = squares * x - 0.5, squares * y - 0.5
    last = c.shadow.shape[0] - 1
    if not (x > 0.0 and y > 0.0 and x < last and y < last):
        return down / above, 0.0
    i, j = int(y), int(x)
    fx, fy = x - j, y - i
    upper = (1.0 - fx) * c.shadow[i, j] + fx * c.shadow[i, j + 1]
    lower = (1.0 - fx) * c.shadow[i + 1, j] + fx * c.shadow[i + 1, j + 1]
    return down / above, c.ground[1] * ((1.0 - fy) * upper + fy * lower)
