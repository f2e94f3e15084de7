"""The sample mechanisms: their sizes, and the closed forms of the textbook."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sharnir as sh
from sharnir.model import joints
from states import EPS, assert_close

G = 9.81


# --- sizes ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("dof", "nq"), [(1, 1), (2, 2), (3, 4)])
def test_a_chain_has_n_bodies_one_on_another(dof, nq):
    m = sh.samples.chain(7, dof)
    assert m.parents == [-1, 0, 1, 2, 3, 4, 5]
    assert (m.nv, m.nq) == (7 * dof, 7 * nq)
    assert len({b.mass for b in m.bodies}) == 1


@pytest.mark.parametrize("branching", [1, 2, 3])
def test_a_tree_has_as_many_branches_as_asked(branching):
    m = sh.samples.tree(13, branching, seed=4)
    names = [b.name for b in m.bodies]
    carriers = {n: names[k] if k >= 0 else "ground" for n, k in zip(names, m.parents, strict=True)}
    expected = {f"body{i + 1}": f"body{(i - 1) // branching + 1}" if i else "ground" for i in range(13)}
    assert carriers == expected


@pytest.mark.parametrize("dof", [0, 1, 2, 3, 6])
def test_a_tree_keeps_to_the_freedoms_asked(dof):
    m = sh.samples.tree(6, 2.0, dof=dof, seed=1)
    assert [j.nv for j in m.joints] == [dof] * 6


def test_a_seed_makes_a_tree_and_another_seed_another():
    a, b, c = (sh.samples.tree(5, seed=s) for s in (3, 3, 4))
    assert [x.mass for x in a.bodies] == [x.mass for x in b.bodies] != [x.mass for x in c.bodies]


@pytest.mark.parametrize("n", [1, 4, 10])
def test_the_planar_chain_is_one_metre_and_ten_kilograms(n):
    m = sh.samples.planar_chain(n)
    assert len(m.bodies) == m.nq == m.nv == n
    assert sum(b.mass for b in m.bodies) == pytest.approx(10.0)
    rotation, position = sh.Dynamics(m).poses()
    assert position[-1] + rotation[-1] @ (1.0 / n, 0.0, 0.0) == pytest.approx((1.0, 0.0, 0.0))


def test_the_manipulator_has_seven_hinges_and_two_long_booms():
    m = sh.samples.manipulator()
    assert [j.type.axis for j in m.joints] == ["x", "z", "y", "y", "y", "z", "x"]  # type: ignore[attr-defined]
    assert m.nv == 7 and not np.any(m.gravity)
    lengths = [b.shape.length() for b in m.bodies]
    assert sorted(lengths)[-2:] == [7.11, 7.11]
    assert sum(b.mass for b in m.bodies) == pytest.approx(1256.0)


def test_the_four_bar_has_one_loop():
    m = sh.samples.four_bar()
    assert [b.name for b in m.bodies] == ["crank", "coupler", "rocker"]
    assert [j.name for j in m.joints] == ["A", "B", "C"] and [j.name for j in m.closing_joints] == ["D"]
    assert (m.nq, m.nv) == (3, 3)


@pytest.mark.parametrize(("spatial", "rows"), [(False, 2), (True, 3)])
@pytest.mark.parametrize("n", [4, 9, 300])
def test_the_closed_chain_closes_at_the_coordinates_zero(n, spatial, rows):
    """Half a circle of one metre: its ends are 2/π m apart, but for the corners."""
    m = sh.samples.closed_chain(n, spatial)
    end = next(j for j in (*m.joints, *m.closing_joints) if j.name == "end")
    rotation, position = sh.matrices(m, m.neutral()).poses
    last, middle = m.body_index(f"link{n - 1}"), m.body_index(f"link{n // 2}")
    assert_close(position[last] + rotation[last] @ end.child_at.position, end.at.position, 20 * n * EPS, scale=1.0)
    assert_close(end.at.position[0], 2 / math.pi, 1 / n**2)
    assert_close(position[middle][1], -1 / math.pi, 3 / n)
    assert sum(b.mass for b in m.bodies) == pytest.approx(10.0)
    if n < 300:
        assert m.mobility().freedoms == n - rows and len(m.bodies) == m.nv == n


def test_a_closed_chain_too_short_to_move_is_refused():
    for n, spatial in ((2, False), (3, True)):
        with pytest.raises(sh.ModelError, match=f"closed_chain: n must be at least {n + 1}"):
            sh.samples.closed_chain(n, spatial)


@pytest.mark.parametrize("seed", range(4))
def test_all_joints_are_all(seed):
    every = set(joints.__all__) - {"Joint"}
    m = sh.samples.all_joints(seed)
    assert {j.type.type_name for j in m.joints} == every and len(m.bodies) == 21
    plain = sh.samples.all_joints(seed, driven=False, moving_base=False)
    assert {j.type.type_name for j in plain.joints} == every and len(plain.bodies) == 14
    assert all(j.type.motion is None for j in plain.joints)
    assert not sh.matrices(plain, t=0.5).base_velocity.any() and sh.matrices(m, t=0.5).base_velocity.any()


# --- closed forms ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("angle", [0.0, 0.7, math.pi / 2, -2.0])
@pytest.mark.parametrize(("length", "mass"), [(1.0, 1.0), (0.4, 3.0)])
def test_a_pendulum_accelerates_by_g_cos_over_l(angle, length, mass):
    """θ̈ = −(g/l) cos θ + τ/(ml²), the angle counted from the horizontal; the bar pulls with m(lθ̇² + g sin θ)."""
    d = sh.Dynamics(sh.samples.pendulum(length, mass))
    speed, tau = 1.3, 0.4
    expected = -G / length * math.cos(angle) + tau / (mass * length**2)
    assert_close(d.forward([angle], [speed], [tau]), [expected], 1e-14, scale=G)
    pull = d.reactions([angle], [speed])[0, 0]
    assert_close(pull, -mass * (length * speed**2 - G * math.sin(angle)), 1e-14, scale=G)
    kinetic, potential = d.energy([angle], [speed])
    assert_close(kinetic, mass * (length * speed) ** 2 / 2, 1e-15)
    assert_close(potential, mass * G * length * math.sin(angle), 1e-15, scale=G)


@pytest.mark.parametrize("seed", range(6))
def test_the_double_pendulum_of_two_rods(seed):
    """Lagrange's equations in the angles θ₁, θ₂ = θ₁ + q₂ of two rods, m = l = 1, Δ = θ₁ − θ₂:

    4/3 θ̈₁ + ½ cos Δ θ̈₂ + ½ sin Δ θ̇₂² + 3/2 g cos θ₁ = 0;   1/3 θ̈₂ + ½ cos Δ θ̈₁ − ½ sin Δ θ̇₁² + ½ g cos θ₂ = 0
    """
    q, v = np.random.default_rng(seed).normal(size=(2, 2))
    (a, b), (da, db) = np.cumsum(q), np.cumsum(v)
    c, s = math.cos(a - b), math.sin(a - b)
    right = [-0.5 * s * db**2 - 1.5 * G * math.cos(a), 0.5 * s * da**2 - 0.5 * G * math.cos(b)]
    first, second = np.linalg.solve([[4 / 3, c / 2], [c / 2, 1 / 3]], right)
    for method in ("separate", "composite", "direct"):
        assert_close(sh.Dynamics(sh.samples.double_pendulum(), method).forward(q, v), [first, second - first], 1e-13)


def test_two_rods_released_from_the_horizontal():
    """The known answer: angular accelerations 9g/7l down and 3g/7l up."""
    a = sh.Dynamics(sh.samples.double_pendulum()).forward()
    assert_close(np.cumsum(a), [-9 / 7 * G, 3 / 7 * G], 1e-14)


def test_a_spinning_top_precesses_steadily():
    """(C s) Ω sin θ with s the whole spin, less A Ω² sin θ cos θ, balances m g l sin θ: then nutation has no acceleration."""
    m, l, A, C = 0.7, 0.2, 0.05, 0.01
    top = sh.Model("top")
    top.add_body("ring")
    top.add_body("fork")
    top.add_body("top", mass=m, com=(0, 0, l), inertia=(A - m * l * l, A - m * l * l, C))
    top.add_joint("precession", sh.Revolute("z"), "ground", "ring")
    top.add_joint("nutation", sh.Revolute("x"), "ring", "fork")
    top.add_joint("spin", sh.Revolute("z"), "fork", "top")
    theta, spin = 0.6, 120.0
    roots = np.roots([A * math.cos(theta), -C * spin, m * G * l])  # A cos θ Ω² − C s Ω + m g l = 0
    d = sh.Dynamics(top, "composite")
    for omega in roots.real:
        q = {"nutation": theta}
        v = {"precession": omega, "spin": spin - omega * math.cos(theta)}
        assert_close(d.forward(q, v), np.zeros(3), 1e-11, scale=spin * abs(omega))


def test_numbers_whose_squares_are_too_large_are_refused():
    """Found by the fuzzer."""
    with pytest.raises(sh.ModelError, match="rolling_disc: its numbers are too large"):
        sh.samples.rolling_disc(radius=1e200)
