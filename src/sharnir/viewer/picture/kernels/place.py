"""Vertices in the axes of their carriers → the picture, and the ground as the light sees it."""

from typing import NamedTuple

from ....dialect.arrays import Array, IntegerArray
from ....dialect.ops import sqrt

BEHIND = -1.0  # 1/depth of a vertex that is not in front of the camera


class View(NamedTuple):
    """The camera and the light of a picture. Lengths of the picture are in samples."""

    camera: Array[15]  # position; right, up, backward; focal length, centre of the picture (x, y)
    near: Array[1]  # least depth that is drawn
    sun: Array[4, 3]  # world → cast = sun[:3] (x - sun[3]): texels along u, v; texels of height above the ground


class Placed(NamedTuple):
    vertices: Array["n", 3]
    normals: Array["n", 3]  # of unit length, or zero: a surface that is not lit
    item: IntegerArray["n"]  # what carries the vertex
    pose: Array["m", 21]  # of every item: matrix of points, matrix of normals, position
    screen: Array["n", 3]  # x to the right, y down, 1/depth
    turned: Array["n", 3]  # normals in the world
    cast: Array["n", 3]  # the vertex seen along the light: where on the ground its shadow is, and its height


def place(v, p):
    """Reads vertices, normals, pose. Writes screen, turned, cast."""
    c = v.camera
    for i in range(p.vertices.shape[0]):
        k = p.item[i]
        a, b, d = p.vertices[i, 0], p.vertices[i, 1], p.vertices[i, 2]
        x = p.pose[k, 0] * a + p.pose[k, 1] * b + p.pose[k, 2] * d + p.pose[k, 18]
        y = p.pose[k, 3] * a + p.pose[k, 4] * b + p.pose[k, 5] * d + p.pose[k, 19]
        z = p.pose[k, 6] * a + p.pose[k, 7] * b + p.pose[k, 8] * d + p.pose[k, 20]
        turn(p, i, k)
        for j in range(3):
            p.cast[i, j] = v.sun[j, 0] * (x - v.sun[3, 0]) + v.sun[j, 1] * (y - v.sun[3, 1]) + v.sun[j, 2] * (z - v.sun[3, 2])
        x, y, z = x - c[0], y - c[1], z - c[2]
        depth = -(c[9] * x + c[10] * y + c[11] * z)
        if depth > v.near[0]:
            w = 1.0 / depth
            p.screen[i, 0] = c[13] + c[12] * w * (c[3] * x + c[4] * y + c[5] * z)
            p.screen[i, 1] = c[14] - c[12] * w * (c[6] * x + c[7] * y + c[8] * z)
            p.screen[i, 2] = w
        else:
            p.screen[i, 0], p.screen[i, 1], p.screen[i, 2] = 0.0, 0.0, BEHIND
    return 0


def turn(p, i, k):
    a, b, d = p.normals[i, 0], p.normals[i, 1], p.normals[i, 2]
    x = p.pose[k, 9] * a + p.pose[k, 10] * b + p.pose[k, 11] * d
    y = p.pose[k, 12] * a + p.pose[k, 13] * b + p.pose[k, 14] * d
    z = p.pose[k, 15] * a + p.pose[k, 16] * b + p.pose[k, 17] * d
    size = sqrt(x * x + y * y + z * z)
    size = 1.0 / size if size > 0.0 else 0.0
    p.turned[i, 0], p.turned[i, 1], p.turned[i, 2] = size * x, size * y, size * z
