"""Linear models whose small motions textbooks give: pendulums, springs, a four-bar, tops, rotors, a rolling disc."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import eigh

import sharnir as sh
from states import assert_close

G = 9.81
UP = (0.0, 0.0, -G)


def nonzero(s: sh.LinearSystem) -> np.ndarray:
    return s.eigenvalues[s.spectrum.zeros :]


def angular(s: sh.LinearSystem) -> np.ndarray:
    """Angular frequencies of the modes that oscillate."""
    return np.array([mode.eigenvalue.imag for mode in s.modes if mode.eigenvalue.imag])


# --- oscillations ---------------------------------------------------------------------------------------------------------------
def test_the_double_pendulum_of_two_rods():
    """M = (4/3 ½; ½ 1/3), K = g diag(3/2, ½) in the angles of the rods, m = l = 1, hanging."""
    s = sh.linearize(sh.samples.double_pendulum(), [-math.pi / 2.0, 0.0])
    squares, shapes = eigh(np.diag([1.5 * G, 0.5 * G]), [[4 / 3, 1 / 2], [1 / 2, 1 / 3]])
    assert s.steadiness == "equilibrium" and not s.growing
    assert_close(angular(s), np.sqrt(squares), 1e-13)
    assert_close(s.frequencies, np.sqrt(squares) / (2.0 * math.pi), 1e-13)
    assert np.abs(s.damping_ratios).max() < 1e-14
    for mode, shape in zip(s.modes, shapes.T, strict=True):
        relative = np.array([shape[0], shape[1] - shape[0]])
        assert_close(mode.tangent, relative / relative[np.abs(relative).argmax()], 1e-13, scale=1.0)


def test_the_double_pendulum_upright_falls_as_fast_as_it_would_swing():
    hanging, upright = (sh.linearize(sh.samples.double_pendulum(), [a, 0.0]) for a in (-math.pi / 2.0, math.pi / 2.0))
    assert_close(np.sort(nonzero(upright).real)[2:], angular(hanging), 1e-12)
    assert len(upright.growing) == 2


def chain(n: int, stiffness: float, damping: float, mass: float, held: bool = True) -> sh.Model:
    m = sh.Model("chain of springs", gravity=(0.0, 0.0, 0.0))
    before = "ground"
    for k in range(n):
        m.add_body(f"mass{k}", mass)
        spring = {"stiffness": stiffness, "damping": damping} if k or held else {}
        m.add_joint(f"slide{k}", sh.Prismatic("x", **spring), before, f"mass{k}")
        before = f"mass{k}"
    return m


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a_chain_of_masses_on_springs_fixed_at_one_end(n):
    """ω_k = 2√(k/m) sin((2k − 1)π/(4n + 2)); dampers in proportion: ζ_k = ω_k c/(2k)."""
    stiffness, mass, damping = 250.0, 0.4, 0.3
    s = sh.linearize(chain(n, stiffness, damping, mass))
    k = np.arange(1, n + 1)
    expected = 2.0 * math.sqrt(stiffness / mass) * np.sin((2 * k - 1) * math.pi / (4 * n + 2))
    assert_close(2.0 * math.pi * s.natural_frequencies, expected, 1e-13)
    assert_close(s.damping_ratios, expected * damping / (2.0 * stiffness), 1e-12)
    assert {mode.kind for mode in s.modes} == {"damped oscillation"}


def test_a_free_chain_drifts():
    """ω_k = 2√(k/m) sin(kπ/2n), k = 0 … n − 1: the eigenvalue zero twice, with one vector."""
    n, stiffness, mass = 6, 90.0, 1.5
    s = sh.linearize(chain(n, stiffness, 0.0, mass, held=False))
    assert s.spectrum.zeros == 2 and [mode.kind for mode in s.modes].count("zero") == 1
    assert (s.eigenvalues[:2] == 0.0).all() and math.isnan(s.damping_ratios[0])
    assert s.modes[0].shares[0].name == "slide0" and s.modes[0].shares[1].amplitude < 1e-12
    assert_close(angular(s), 2.0 * math.sqrt(stiffness / mass) * np.sin(np.arange(1, n) * math.pi / (2 * n)), 1e-12)


def test_stiff_and_soft_springs_together_are_told_from_zero():
    m = chain(3, 1e7, 0.0, 1.0, held=False)
    m.add_force(sh.JointSpring("slide0", stiffness=1e-2))
    s = sh.linearize(m)
    assert s.spectrum.zeros == 0
    assert angular(s)[0] == pytest.approx(math.sqrt(1e-2 / 3.0), rel=1e-6)


def test_a_parallel_four_bar_held_upright_by_a_spring():
    """All links of length and mass 1, cranks at θ: T = 5/6 θ̇², V = 2g sin θ + ½k(θ − π/2)²: ω² = (k − 2g)/(5/3)."""
    for stiffness in (15.0, 100.0):
        m = sh.samples.four_bar()
        m.add_force(sh.JointSpring("A", stiffness=stiffness, rest=math.pi / 2.0))
        s = sh.linearize(m, {"A": math.pi / 2.0, "B": -math.pi / 2.0, "C": math.pi / 2.0})
        square = (stiffness - 2.0 * G) / (5.0 / 3.0)
        assert s.steadiness == "equilibrium" and len(s.A) == 2
        assert_close(nonzero(s) ** 2, np.full(2, square * -1.0), 1e-12)
        assert len(s.growing) == (1 if square < 0.0 else 0)
        assert_close(np.abs(s.modes[0].tangent), np.ones(3), 1e-12)  # crank, coupler against the crank, rocker


# --- steady rotation ------------------------------------------------------------------------------------------------------------
MASS, HEIGHT, AXIAL, ACROSS = 0.5, 0.06, 4e-4, 3e-4
ABOUT_FOOT = ACROSS + MASS * HEIGHT**2


def top(foot: sh.Joint) -> sh.Model:
    m = sh.Model("top", gravity=UP)
    m.add_body("top", MASS, (0.0, 0.0, HEIGHT), (ACROSS, ACROSS, AXIAL))
    m.add_joint("foot", foot, "ground", "top")
    return m


def sleeping(spin: float) -> np.ndarray:
    """ν of z̈ − i(Cω/A)ż − (mgl/A)z = 0, z = exp(iνt): slow precession and fast nutation."""
    return np.roots([ABOUT_FOOT, -AXIAL * spin, MASS * G * HEIGHT])


def test_a_sleeping_top_precesses_and_nutates():
    gimbals = sh.Compound({"x": sh.Revolute("x"), "y": sh.Revolute("y"), "spin": sh.Revolute("z")})
    m = top(gimbals)
    for spin in (130.0, 250.0):
        s = sh.linearize(m, v={"foot": (0.0, 0.0, spin)})
        assert s.steadiness == "steady motion" and s.spectrum.zeros == 2
        assert_close(angular(s), np.sort(sleeping(spin).real), 1e-10)
    s = sh.linearize(m, v={"foot": (0.0, 0.0, 90.0)})  # too slow: C²ω² < 4Amgl
    assert len(s.growing) == 1
    nu = sleeping(90.0)
    assert_close(s.growing[0].eigenvalue, np.abs(nu.imag[0]) + 1j * nu.real[0], 1e-10)


def test_on_a_ball_joint_the_same_top_is_seen_from_its_own_axes():
    """Displacements are in the axes of the top, which turn: frequencies are shifted by the spin."""
    spin = 130.0
    s = sh.linearize(top(sh.Ball()), v={"foot": (0.0, 0.0, spin)})
    assert s.steadiness == "steady motion" and s.spectrum.zeros == 2
    assert_close(angular(s), np.sort(np.abs(sleeping(spin).real - spin)), 1e-10)


def test_nutation_about_steady_precession():
    """ω² = Ω² sin²θ + (Cω₃ − 2AΩ cos θ)²/A² by the effective potential of Euler's angles."""
    tilt, spin = 0.5, 120.0
    euler = sh.Compound({"precession": sh.Revolute("z"), "tilt": sh.Revolute("x"), "spin": sh.Revolute("z")})
    a, b, c = ABOUT_FOOT * math.cos(tilt), AXIAL * spin, MASS * G * HEIGHT
    for sign in (-1.0, 1.0):
        rate = (b + sign * math.sqrt(b * b - 4.0 * a * c)) / (2.0 * a)
        s = sh.linearize(top(euler), [0.4, tilt, 0.2], [rate, 0.0, spin - rate * math.cos(tilt)])
        assert s.steadiness == "steady motion" and s.spectrum.zeros == 4
        square = (rate * math.sin(tilt)) ** 2 + ((b - 2.0 * ABOUT_FOOT * rate * math.cos(tilt)) / ABOUT_FOOT) ** 2
        assert_close(angular(s), [math.sqrt(square)], 1e-9)


@pytest.mark.parametrize("damping", [0.0, 0.8])
@pytest.mark.parametrize("speed", [4.0, 25.0])
def test_a_rotor_on_a_driven_flexible_shaft(speed, damping):
    """In rotating axes m(z̈ + 2iΩż − Ω²z) + cż + kz = 0, z = x + iy: unstable beyond the critical speed where c > 0."""
    mass, stiffness = 2.0, 450.0  # critical at 15 rad/s
    m = sh.Model("rotor", gravity=UP)
    m.add_body("shaft", 1.0, inertia=(0.01, 0.01, 0.01))
    m.add_body("disc", mass)
    m.add_joint("drive", sh.Revolute("z", motion=lambda t: speed * t), "ground", "shaft")
    bending = sh.Compound({axis: sh.Prismatic(axis, stiffness=stiffness, damping=damping) for axis in "xy"})
    m.add_joint("bending", bending, "shaft", "disc")
    s = sh.linearize(m, t=0.3)
    roots = np.roots([mass, damping + 2j * mass * speed, stiffness - mass * speed**2])
    expected = np.concatenate([roots, roots.conj()])
    assert s.steadiness == "equilibrium"
    for x in expected:
        assert np.abs(s.eigenvalues - x).min() < 1e-11 * abs(x)
    assert bool(s.growing) == (damping > 0.0 and speed > 15.0)


def test_a_driven_rotor_under_its_weight_is_periodic_in_time_and_said_to_be():
    m = sh.Model("horizontal shaft", gravity=(0.0, -G, 0.0))
    m.add_body("shaft", 1.0, inertia=(0.01, 0.01, 0.01))
    m.add_body("disc", 2.0)
    m.add_joint("drive", sh.Revolute("z", motion=lambda t: 4.0 * t), "ground", "shaft")
    m.add_joint("bending", sh.Prismatic("x", stiffness=450.0), "shaft", "disc")
    with pytest.warns(sh.LinearizationWarning, match=r"instant t = 0 .* the equations change along the motion"):
        s = sh.linearize(m)
    assert s.steadiness == "frozen"
    assert_close(nonzero(s) ** 2, np.full(2, -(450.0 / 2.0 - 16.0)), 1e-12)


@pytest.mark.parametrize("spin", [5.0, 6.5])
def test_an_upright_rolling_disc(spin):
    """λ² = (4/5)g/r − (12/5)ω² of a thin disc: stable where ω² > g/(3r)."""
    radius, mass = 0.1, 1.0
    light, heavy = 0.25 * mass * radius**2, 0.5 * mass * radius**2
    m = sh.Model("rolling disc")
    m.add_body("disc", mass, inertia=(light, heavy, light))
    parts = {axis: sh.Prismatic(axis) for axis in "xyz"}
    parts |= {"yaw": sh.Revolute("z"), "lean": sh.Revolute("x"), "spin": sh.Revolute("y")}
    m.add_joint("disc", sh.Compound(parts), "ground", "disc")
    m.add_constraint(sh.Rolling("disc", radius, "y"))
    s = sh.linearize(m, [0.0, 0.0, radius, 0.3, 0.0, 0.0], {"disc": _rolling(spin, radius, 0.3)})
    assert s.steadiness == "steady motion" and s.spectrum.zeros == 6
    assert_close(nonzero(s) ** 2, np.full(2, 0.8 * G / radius - 2.4 * spin**2), 1e-11)


def _rolling(spin: float, radius: float, yaw: float) -> tuple[float, ...]:
    return (spin * radius * math.cos(yaw), spin * radius * math.sin(yaw), 0.0, 0.0, 0.0, spin)
