"""A picture strip by strip: opaque triangles by depth, translucent ones over them from back to front, then samples to pixels.

A strip is small enough to stay in the processor's cache; threads take turns at them, each with its own samples.
"""

from typing import NamedTuple

from ....dialect.arrays import Array, IntegerArray
from .light import Surface, ground_in_sight, ray, shade
from .scan import corners_of, scan

NO_FACE = -1
NEARER = 1.000001  # surfaces closer than this ratio of depths are in one plane: the first that is drawn is seen


class Samples(NamedTuple):
    """Samples of one strip."""

    depth: Array["n"]  # 1/depth of the nearest opaque surface
    face: IntegerArray["n"]
    colour: Array["n", 4]  # red, green, blue times opacity; opacity


class Picture(NamedTuple):
    surface: Surface
    samples: Samples
    plan: IntegerArray[4]  # samples along a side of a pixel; pixel rows in a strip; first strip; from one strip to the next
    opaque: IntegerArray["no"]  # triangles strip by strip
    opaque_ends: IntegerArray["ns"]
    translucent: IntegerArray["nt"]
    translucent_ends: IntegerArray["ns"]
    background: Array[2, 4]  # at the top and at the bottom: red, green, blue, opacity
    encode: IntegerArray["levels"]  # light 0 … 1 to 0 … 255
    pixels: IntegerArray["height", "width"]  # red + 256 green + 256² blue + 256³ opacity


def draw_strips(p):
    """Strips plan[2], plan[2] + plan[3], … of the picture. Work: samples. Writes pixels."""
    s, rows = p.plan[0], p.plan[1]
    strip = p.plan[2]
    while strip < p.opaque_ends.shape[0]:
        first = strip * rows
        last = min(first + rows, p.pixels.shape[0])
        clear(p.samples, (last - first) * s * s * p.pixels.shape[1])
        draw_all(nearest, p, p.opaque, p.opaque_ends, strip, first * s, last * s)
        shade_strip(p, first, last)
        draw_all(over, p, p.translucent, p.translucent_ends, strip, first * s, last * s)
        resolve(p, first, last)
        strip += p.plan[3]
    return 0


def clear(samples, count):
    for k in range(count):
        samples.depth[k] = 0.0
        samples.face[k] = NO_FACE


def draw_all(touch, p, entries, ends, strip, first, last):
    begin = ends[strip - 1] if strip > 0 else 0
    width = p.plan[0] * p.pixels.shape[1]
    for e in range(begin, ends[strip]):
        scan(touch, p, entries[e], corners_of(p.surface.screen, p.surface.faces, entries[e]), width, first, last)


def nearest(p, f, k, x, y, w):
    if w > NEARER * p.samples.depth[k]:
        p.samples.depth[k] = w
        p.samples.face[k] = f


def over(p, f, k, x, y, w):
    """A translucent sample over what is there."""
    if w > p.samples.depth[k]:
        red, green, blue, opacity = shade(p.surface, f, x, y)
        c, rest = p.samples.colour, 1.0 - opacity
        c[k, 0] = opacity * red + rest * c[k, 0]
        c[k, 1] = opacity * green + rest * c[k, 1]
        c[k, 2] = opacity * blue + rest * c[k, 2]
        c[k, 3] = opacity + rest * c[k, 3]


def shade_strip(p, first, last):
    """Colours of opaque samples, and of the shadow on the ground. Samples of a pixel that show one triangle share its colour."""
    s, c = p.plan[0], p.samples.colour
    width = s * p.pixels.shape[1]
    for i in range(last - first):
        for j in range(p.pixels.shape[1]):
            middle_x, middle_y = s * (j + 0.5), s * (first + i + 0.5)
            ground, dark = ground_in_sight(p.surface, ray(p.surface, middle_x, middle_y))
            before = NO_FACE
            red, green, blue = 0.0, 0.0, 0.0
            for a in range(s):
                for b in range(s):
                    k = (s * i + a) * width + s * j + b
                    f = p.samples.face[k]
                    if f != before:
                        before = f
                        red, green, blue = 0.0, 0.0, 0.0
                        if f != NO_FACE:
                            red, green, blue, _ = shade(p.surface, f, s * j + b + 0.5, s * (first + i) + a + 0.5)
                    shadow = dark if ground > p.samples.depth[k] else 0.0
                    c[k, 0], c[k, 1], c[k, 2] = (1.0 - shadow) * red, (1.0 - shadow) * green, (1.0 - shadow) * blue
                    c[k, 3] = shadow if f == NO_FACE else 1.0


def resolve(p, first, last):
    """Pixels: the mean of their samples, over the background."""
    s, c = p.plan[0], p.samples.colour
    width, share = s * p.pixels.shape[1], 1.0 / (s * s)
    for i in range(last - first):
        v = (first + i + 0.5) / p.pixels.shape[0]
        for j in range(p.pixels.shape[1]):
            red, green, blue, opacity = 0.0, 0.0, 0.0, 0.0
            for a in range(s):
                for b in range(s):
                    k = (s * i + a) * width + s * j + b
                    red, green, blue, opacity = red + c[k, 0], green + c[k, 1], blue + c[k, 2], opacity + c[k, 3]
            rest = 1.0 - share * opacity
            behind = rest * ((1.0 - v) * p.background[0, 3] + v * p.background[1, 3])
            opacity = share * opacity + behind
            size = 1.0 / opacity if opacity > 0.0 else 0.0
            red = size * (share * red + behind * ((1.0 - v) * p.background[0, 0] + v * p.background[1, 0]))
            green = size * (share * green + behind * ((1.0 - v) * p.background[0, 1] + v * p.background[1, 1]))
            blue = size * (share * blue + behind * ((1.0 - v) * p.background[0, 2] + v * p.background[1, 2]))
            p.pixels[first + i, j] = encoded(p, red) + 256 * (
                encoded(p, green) + 256 * (encoded(p, blue) + 256 * int(255.0 * opacity + 0.5))
            )


def encoded(p, light):
    top = p.encode.shape[0] - 1
    return p.encode[int(min(max(light, 0.0), 1.0) * top + 0.5)]
