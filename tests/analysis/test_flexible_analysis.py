"""Statics, vibrations and buckling of flexible bodies against textbooks."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from sharnir.analysis.linear_system import spectrum

E, G, RHO, L = 7e10, 2.6e10, 2700.0, 1.0
SECTION = sh.Rectangle(0.02, 0.01)
EI = E * SECTION.Iy
"""Of bending along z."""


def beam(modes: dict[str, int], ends: str = "polynomial", **options: object) -> sh.FlexibleBeam:
    return sh.FlexibleBeam(length=L, E=E, G=G, density=RHO, section=SECTION, modes=modes, ends=ends, **options)


def cantilever(modes: dict[str, int], gravity: float = 0.0, ends: str = "polynomial") -> sh.Model:
    m = sh.Model("cantilever", gravity=(0.0, 0.0, -gravity))
    m.add_body("beam", flexible=beam(modes, ends))
    m.add_joint("clamp", sh.Weld(), "ground", "beam")
    return m


def place(m: sh.Model, q: np.ndarray, x: float) -> np.ndarray:
    """Of a station of the beam, in the world."""
    return np.array(sh.Dynamics(m).pose(q, ("beam", sh.Pose((x, 0.0, 0.0)))).position)


def test_a_cantilever_sags_as_the_formulas_say():
    """wL⁴/8EI under its weight, FL³/3EI and ML²/2EI under a force and a moment at its tip, TL/GI_t by a torque."""
    m = cantilever({"bend_z": 3, "twist": 1}, gravity=9.81)
    at_rest = place(m, sh.equilibrium(m).q, L)
    assert at_rest[2] == pytest.approx(-RHO * SECTION.area * 9.81 * L**4 / (8 * EI), rel=1e-9)
    m = cantilever({"bend_z": 3, "twist": 1})
    m.add_force(sh.Wrench("beam", force=(0.0, 0.0, 0.3), moment=(0.02, -0.05, 0.0), at=(L, 0.0, 0.0), axes="body"))
    q = sh.equilibrium(m).q
    tip = place(m, q, L)
    assert tip[2] == pytest.approx(0.3 * L**3 / (3 * EI) + 0.05 * L**2 / (2 * EI), rel=1e-3)  # the load turns with the tip
    assert q[m.q_slice("beam elastic")][-1] == pytest.approx(0.02 * L / (G * SECTION.It), rel=1e-4)


def test_a_beam_on_two_supports_closes_a_loop_and_sags():
    """FL³/48EI under a force at midspan; half of it is borne by either support."""
    m = sh.Model(gravity=(0.0, 0.0, 0.0))
    m.add_body("beam", flexible=beam({"bend_z": 6}, "pinned"))
    m.add_joint("pin", sh.Revolute("y"), "ground", "beam")
    m.add_body("roller", mass=0.01, inertia=(1e-6, 1e-6, 1e-6))
    m.add_joint("rail", sh.Prismatic("x"), "ground", "roller", at=sh.Pose((L, 0.0, 0.0)))
    m.add_joint("support", sh.Revolute("y"), "beam", "roller", at=sh.Pose((L, 0.0, 0.0)))
    m.add_force(sh.Wrench("beam", force=(0.0, 0.0, -1.0), at=(L / 2, 0.0, 0.0)))
    rest = sh.equilibrium(m)
    d = sh.Dynamics(m)
    assert place(m, rest.q, L / 2)[2] == pytest.approx(-(L**3) / (48 * EI), rel=2e-3)
    carried = dict(zip([j.name for j in m.joints], d.reactions(rest.q), strict=True))["pin"]
    assert np.linalg.norm(carried[:3]) == pytest.approx(0.5, rel=1e-6)


def held_at_both_ends(modes: dict[str, int], ends: str = "pinned") -> sh.Model:
    m = sh.Model("bridge", gravity=(0.0, 0.0, -0.1))
    m.add_body("beam", flexible=beam(modes, ends))
    m.add_joint("left", sh.Revolute("y"), "ground", "beam")
    m.add_joint("right", sh.Revolute("y"), "ground", "beam", at=sh.Pose((L, 0.0, 0.0)), child_at=sh.Pose((L, 0.0, 0.0)), cut=True)
    return m


@pytest.mark.parametrize("ends", ["pinned", "polynomial"])
def test_a_beam_held_at_both_ends_that_cannot_stretch_is_said_to_be_locked(ends):
    m = held_at_both_ends({"bend_z": 2}, ends)
    words = "body 'beam' cannot deform: .* joint 'right': position along x does not allow.*'stretch': 1"
    with pytest.warns(sh.FlexibilityWarning, match=words) as heard:
        sh.simulate(m, 1e-5, backend="python", progress=False)
    assert heard[0].filename == __file__
    with pytest.warns(sh.FlexibilityWarning, match=words):
        sh.equilibrium(m)
    with pytest.raises(sh.SingularError, match=words):
        sh.linearize(m)


@pytest.mark.parametrize(("ends", "low", "high"), [("polynomial", 0.9998, 1.0002), ("clamped-free", 1.15, 1.25)])
def test_a_beam_clamped_at_both_ends_needs_shapes_that_fit(ends, low, high):
    """βL = 4.7300; as docs/flexible.md says."""
    m = sh.Model("clamped", gravity=(0.0, 0.0, 0.0))
    m.add_body("beam", flexible=beam({"bend_z": 5, "stretch": 1}, ends))
    m.add_joint("left", sh.Weld(), "ground", "beam")
    m.add_joint("right", sh.Weld(), "ground", "beam", at=sh.Pose((L, 0.0, 0.0)), child_at=sh.Pose((L, 0.0, 0.0)), cut=True)
    exact = 4.730041**2 / (2.0 * np.pi * L**2) * np.sqrt(EI / (RHO * SECTION.area))
    assert low < min(mode.frequency for mode in sh.linearize(m).modes) / exact < high


def test_a_beam_with_too_few_shapes_for_its_weight_is_said_to_have_them(recwarn):
    """Clamped and propped, its bending moment is a parabola: x² and x³ have 5/9 of the elastic energy, one shape more has all."""

    def propped(count: int) -> sh.Model:
        m = cantilever({"bend_z": count, "stretch": 1}, 9.81)
        m.add_joint("prop", sh.Revolute("y"), "ground", "beam", at=sh.Pose((L, 0, 0)), child_at=sh.Pose((L, 0, 0)), cut=True)
        return m

    run = {"step": 1e-7, "integrator": "euler", "backend": "python"}
    with pytest.warns(sh.FlexibilityWarning, match="has too few shapes for its loads: .* 44% is missing .* Give it more modes"):
        sh.simulate(propped(2), 1e-7, **run)
    sh.simulate(propped(3), 1e-7, **run)
    assert not recwarn.list


@pytest.mark.parametrize("many", [False, True])
def test_too_few_shapes_are_said_where_a_drive_loads_a_beam_after_the_start(many, recwarn):
    """Spun up from rest: nothing is loaded at the start, and one shape gives two thirds of the deflection of two."""

    def spun(count: int) -> float:
        m = sh.Model("driven", gravity=(0.0, 0.0, 0.0))
        m.add_body("beam", flexible=beam({"bend_y": count}))
        m.add_joint("hinge", sh.Revolute("z", motion=lambda t: 1e-2 * t**3), "ground", "beam")
        if many:
            return float(np.abs(sh.rollout(m, np.zeros((2, m.nq)), step=1e-4, duration=0.2, every=100).q).max())
        return float(np.abs(sh.simulate(m, 0.2).q[:, 0]).max())

    with pytest.warns(sh.FlexibilityWarning, match="too few shapes for its loads: .* at t = 0[.].* is missing"):
        few = spun(1)
    recwarn.clear()
    assert few < 0.75 * spun(2) and not recwarn.list


@pytest.mark.parametrize("columns", [1, 2])
def test_columns_that_shorten_together_are_not_locked(columns, recwarn):
    """Their rows change to different sides: those of equal deformations are met."""
    m = sh.Model("press", gravity=(0.0, -0.1, 0.0))
    m.add_body("head", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("slide", sh.Prismatic("x"), "ground", "head", at=sh.Pose((L, 0.0, 0.0)))
    for k in range(columns):
        m.add_body(f"beam{k}", flexible=beam({"bend_y": 1}, "pinned"))
        m.add_joint(f"foot{k}", sh.Revolute("z"), "ground", f"beam{k}", at=sh.Pose((0.0, 0.0, 0.1 * k)))
        ends = {"at": sh.Pose((L, 0.0, 0.0)), "child_at": sh.Pose((0.0, 0.0, 0.1 * k))}
        m.add_joint(f"top{k}", sh.Revolute("z"), f"beam{k}", "head", **ends, cut=True)
    sh.simulate(m, 1e-4, backend="python", progress=False)
    assert not recwarn.list


def test_a_beam_held_at_both_ends_that_can_stretch_sags(recwarn):
    """5wL⁴/384EI under a small weight; the first frequency is that of a pinned beam."""
    m = held_at_both_ends({"bend_z": 3, "stretch": 1})
    rest = sh.equilibrium(m)
    assert place(m, rest.q, L / 2)[2] == pytest.approx(-5 * RHO * SECTION.area * 0.1 * L**4 / (384 * EI), rel=1e-3)
    slowest = min(mode.frequency for mode in sh.linearize(m, rest.q).modes)
    assert slowest == pytest.approx(np.pi / (2 * L**2) * np.sqrt(EI / (RHO * SECTION.area)), rel=1e-3)
    assert not recwarn.list


def test_a_free_beam_in_flight_vibrates_as_a_free_one():
    """(4.730, 7.853, 10.996)² √(EI/ρA)/L²: Euler–Bernoulli, free at both ends."""
    m = sh.Model(gravity=(0.0, 0.0, 0.0))
    m.add_body("beam", flexible=beam({"bend_z": 7}))
    m.add_floating("beam")
    found = sh.linearize(m).frequencies
    unit = np.sqrt(EI / (RHO * SECTION.area)) / L**2 / (2 * np.pi)
    expected = np.array([4.730041, 7.853205, 10.995608]) ** 2 * unit
    assert np.sort(found[found > 1.0])[:3] == pytest.approx(expected, rel=1e-3)


def test_columns_buckle_at_eulers_loads():
    """π²EI/4L² and its ninefold clamped at the foot; π²EI/L² between pins, a closed loop."""
    m = cantilever({"bend_y": 3, "bend_z": 4, "stretch": 1})
    P = m.add_parameter("P", 10.0)
    m.add_force(sh.Wrench("beam", force=(-P, 0.0, 0.0), at=(L, 0.0, 0.0)))
    found = sh.buckling(m, "P", count=3)
    euler = np.pi**2 * EI / (4 * L**2)
    assert found.values == pytest.approx([euler, 4 * euler, 9 * euler], rel=6e-3)
    assert found.values[0] == pytest.approx(euler, rel=1e-4)
    assert np.abs(found.shapes).max(axis=1) == pytest.approx(1.0) and "bend_z1" in repr(found)
    with pytest.raises(sh.StateError, match="no parameter 'F'"):
        sh.buckling(m, "F")
    with pytest.raises(sh.StateError, match="is zero and gives no scale"):
        sh.buckling(m, "P", parameters={"P": 0.0})


def test_without_stiffening_nothing_buckles():
    m = sh.Model(gravity=(0.0, 0.0, 0.0))
    m.add_body("beam", flexible=beam({"bend_z": 2}, stiffening=False))
    m.add_joint("clamp", sh.Weld(), "ground", "beam")
    P = m.add_parameter("P", 10.0)
    m.add_force(sh.Wrench("beam", force=(-P, 0.0, 0.0), at=(L, 0.0, 0.0)))
    assert not len(sh.buckling(m, "P").values)


def test_rollouts_of_many_states_are_single_runs():
    """Rollouts of many states agree with single runs of the same steps."""
    m = cantilever({"bend_z": 2}, gravity=9.81)
    q0 = np.zeros((3, m.nq))
    q0[1, 0], q0[2, 1] = 1e-3, 1e-4
    many = sh.rollout(m, q0, np.zeros((3, m.nv)), duration=0.01, step=1e-4)
    for k in range(3):
        one = sh.simulate(m, 0.01, q0=q0[k], step=1e-4, integrator="rk4", output=0.01)
        assert many.q[k, -1] == pytest.approx(one.q[-1], rel=1e-10, abs=1e-15)


def test_what_needs_rigid_bodies_says_so():
    m = cantilever({"bend_z": 1})
    with pytest.raises(sh.ModelError, match="'beam elastic' is flexible"):
        m.split("beam elastic")
    with pytest.raises(sh.MethodError, match="for rigid bodies, not for flexible ones"):
        sh.Dynamics(m).regressor(m.neutral(), np.zeros(1), np.zeros(1))
    m = m.copy()
    m.add_force(sh.Wrench("beam", force=(0.0, 0.0, 500.0), at=(L, 0.0, 0.0)))
    with pytest.warns(sh.FlexibilityWarning, match="body 'beam' was turned by"):
        sh.equilibrium(m)
    held = cantilever({"bend_z": 1})
    held.add_force(sh.Contact("beam", sh.Sphere(0.1), stiffness=1e4))
    with pytest.raises(sh.ModelError, match="a Contact needs a rigid one; attach it to a node"):
        sh.Dynamics(held)


def test_a_disc_on_a_bent_axle_rolls_where_it_is():
    m = sh.Model(gravity=(0.0, 0.0, 0.0))
    m.add_body("axle", flexible=beam({"bend_z": 1}))
    m.add_floating("axle")
    m.add_constraint(sh.Rolling("axle", 0.2, axis="y", centre=(0.5, 0.0, 0.0)))
    q, _ = m.assemble({"axle elastic": 0.05}, fixed=["axle elastic"])
    assert np.array(sh.Dynamics(m).pose(q, ("axle", sh.Pose((0.5, 0.0, 0.0)))).position)[2] == pytest.approx(0.2, abs=1e-12)


def test_resultants_of_shapes_that_are_not_there_are_no_numbers():
    found = beam({"bend_z": 2}).resultants([1e-3, 0.0], [0.0, 0.5])
    assert np.isnan(found["axial"]).all() and np.isnan(found["torque"]).all() and np.isnan(found["moment_z"]).all()
    assert np.isfinite(found["moment_y"]).all() and np.isfinite(found["shear_z"]).all()


def test_a_slow_motion_beside_fast_vibrations_is_not_taken_for_zero():
    """Eigenvalues −1e10 and −81 of the stiffness, of coordinates as unlike as an angle and the amplitude of a mode."""
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [np.array([[-1e10, 0.0], [1e14, -81.0]]), np.zeros((2, 2))]])
    found = spectrum(A, 2)
    assert found.zeros == 0 and np.abs(found.values).min() == pytest.approx(9.0, rel=1e-6)
