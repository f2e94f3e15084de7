"""Solid shapes: mass, centre and inertia are those of the textbook, and of the parts put together."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sharnir as sh
from states import EPS, random_mass, random_pose


def body(**options):
    return sh.Model().add_body("b", **options)


R, L, A, B, C, M = 0.3, 1.2, 0.5, 0.7, 1.1, 2.5
TEXTBOOK = {
    "box": (sh.Box((A, B, C)), A * B * C, (M * (B**2 + C**2) / 12, M * (A**2 + C**2) / 12, M * (A**2 + B**2) / 12)),
    "cylinder": (sh.Cylinder(R, L), math.pi * R**2 * L, (M * (3 * R**2 + L**2) / 12,) * 2 + (M * R**2 / 2,)),
    "tube": (
        sh.Cylinder(R, L, hole=0.1),
        math.pi * (R**2 - 0.01) * L,
        (M * (3 * (R**2 + 0.01) + L**2) / 12,) * 2 + (M * (R**2 + 0.01) / 2,),
    ),
    "sphere": (sh.Sphere(R), 4 / 3 * math.pi * R**3, (2 / 5 * M * R**2,) * 3),
    "capsule of almost no bar": (sh.Capsule(R, 1e-18), 4 / 3 * math.pi * R**3, (2 / 5 * M * R**2,) * 3),
    "torus": (sh.Torus(L, R), 2 * math.pi**2 * L * R**2, (M * (4 * L**2 + 5 * R**2) / 8,) * 2 + (M * (4 * L**2 + 3 * R**2) / 4,)),
    "thin rod": (sh.Rod((0, 0, -L / 2), (0, 0, L / 2)), 0.0, (M * L**2 / 12, M * L**2 / 12, 0.0)),
    "round rod": (
        sh.Rod((0, 0, -L / 2), (0, 0, L / 2), radius=R),
        math.pi * R**2 * L,
        (M * (3 * R**2 + L**2) / 12,) * 2 + (M * R**2 / 2,),
    ),
}


@pytest.mark.parametrize("name", TEXTBOOK)
def test_moments_of_the_textbook(name):
    shape, volume, moments = TEXTBOOK[name]
    b = body(mass=M, shape=shape)
    assert b.mass == M and b.com == (0.0, 0.0, 0.0) and b.shape is shape
    assert b.inertia == pytest.approx((*moments, 0, 0, 0), abs=4 * EPS)
    assert shape.volume() == pytest.approx(volume)
    if volume:
        dense = body(density=1000.0, shape=shape)
        assert dense.mass == pytest.approx(1000.0 * volume)
        assert dense.inertia == pytest.approx([x * dense.mass / M for x in b.inertia], abs=1e-12)


@pytest.mark.parametrize(
    "make", [lambda at: sh.Box((A, B, C), at), lambda at: sh.Cylinder(R, L, at), lambda at: sh.Sphere(R, at)]
)
def test_a_placed_shape_carries_its_inertia_along(make):
    at = random_pose(np.random.default_rng(2))
    straight, placed = body(mass=M, shape=make(sh.Pose())), body(mass=M, shape=make(at))
    turn = at.rotation.matrix
    assert placed.com == at.position
    assert np.abs(placed.inertia_matrix() - turn @ straight.inertia_matrix() @ turn.T).max() <= 16 * EPS


def test_a_slanting_rod_is_thin_along_itself():
    start, end = np.array([0.1, 0.2, 0.3]), np.array([0.7, -0.4, 1.0])
    b = body(mass=M, shape=sh.Rod(start, end))
    along = end - start
    expected = M / 12 * (along @ along * np.eye(3) - np.outer(along, along))
    assert b.com == pytest.approx((start + end) / 2)
    assert np.abs(b.inertia_matrix() - expected).max() <= 16 * EPS


@pytest.mark.parametrize("axis", range(3))
def test_two_halves_of_a_box_are_the_box(axis):
    """J_O is additive: the parallel-axis theorem."""
    size = np.array([A, B, C])
    half, shift = size.copy(), np.zeros(3)
    half[axis] /= 2
    shift[axis] = half[axis] / 2
    pieces = [body(density=3.0, shape=sh.Box(half, sh.Pose(s * shift))) for s in (-1, 1)]
    whole = body(density=3.0, shape=sh.Box(size))
    assert sum(p.mass for p in pieces) == pytest.approx(whole.mass)
    assert np.abs(sum(p.inertia_at_origin() for p in pieces) - whole.inertia_at_origin()).max() <= 8 * EPS


def test_three_ways_to_write_an_inertia():
    given = random_mass(np.random.default_rng(1))
    J = given["inertia"]
    six = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    assert body(**given).inertia == pytest.approx(six)
    assert np.array_equal(body(**given).inertia_matrix(), body(**(given | {"inertia": six})).inertia_matrix())
    assert body(mass=1, inertia=(1, 2, 3 - 1e-9)).inertia == (1, 2, 3 - 1e-9, 0, 0, 0)
    assert body(mass=1, inertia=(1, 1, 2)).inertia[2] == 2.0  # a flat plate is the limit of the triangle inequality


def test_a_capsule_is_a_bar_and_two_half_balls():
    """A half ball has its centre of mass 3/8 R from its flat side."""
    bar, ball = body(density=2.0, shape=sh.Cylinder(R, L)), body(density=2.0, shape=sh.Sphere(R))
    capsule = body(density=2.0, shape=sh.Capsule(R, L))
    half, d = ball.mass / 2, 3 / 8 * R
    across = ball.inertia[0] / 2 - half * d**2 + half * (L / 2 + d) ** 2
    assert capsule.mass == pytest.approx(bar.mass + ball.mass)
    assert capsule.inertia[:3] == pytest.approx([x + 2 * across for x in bar.inertia[:2]] + [bar.inertia[2] + ball.inertia[2]])
