"""Tyres: the published curves, the brush model bristle by bristle, contact with roads, rolling, and rest."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sharnir as sh
from sharnir.model.forces.tyre import Slip
from sharnir.model.pose import quaternion_of
from states import EPS, assert_close, derivative

DEGREE = math.pi / 180.0
LOADS = (2e3, 4e3, 6e3, 8e3)
RADIUS = 0.3


def forces(tyre, load, along=0.0, across=0.0, camber=0.0, sense=1.0):
    """Longitudinal force, lateral force, aligning moment."""
    return np.array(tyre.forces(Slip(load, along, across, camber, sense), tyre.fields()))


def wheel(*tyres, mass=400.0, spin=1.2, **model):
    m = sh.Model("wheel", **model)
    m.add_body("wheel", mass, inertia=(0.7, spin, 0.7))
    m.add_floating("wheel")
    for tyre in tyres:
        m.add_force(tyre, "tyre")
    return m


def action(tyre, q, v):
    """Force at the centre of the wheel and moment about it, in the world."""
    m = wheel(tyre)
    d = sh.Dynamics(m, backend="python")
    x = d.force_actions(q, v)["tyre"]["wheel"]
    R = d.poses(q)[0][0]
    return R @ x[:3], R @ x[3:]


def placed(position, rotation):
    """q of the wheel."""
    return np.concatenate([position, quaternion_of(rotation)])


# --- the magic formula ------------------------------------------------------------------------------------------------------
def paper(a, load, x, lean=0.0, lateral=True):
    """Bakker, Nyborg and Pacejka (1987) as they write it, with φ; loads in kN, degrees, per cent."""
    C, a = a[0], (None, *a[1:], *[0.0] * 5)
    F = load / 1000.0
    D = a[1] * F**2 + a[2] * F
    BCD = a[3] * math.sin(a[4] * math.atan(a[5] * F)) if lateral else (a[3] * F**2 + a[4] * F) / math.exp(a[5] * F)
    E = (a[6] * F**2 + a[7] * F + a[8]) / (1.0 - a[13] * abs(lean))
    B = BCD / (C * D) * (1.0 - a[12] * abs(lean))
    x = x + a[9] * lean
    phi = (1.0 - E) * x + E / B * math.atan(B * x)
    return D * math.sin(C * math.atan(B * phi)) + (a[10] * F**2 + a[11] * F) * lean


@pytest.mark.parametrize("load", LOADS)
def test_pure_slip_is_the_papers_formula(load):
    t = sh.MagicFormulaTyre("wheel", RADIUS)
    for angle in (-20.0, -3.0, 0.5, 2.0, 9.0):
        for lean in (0.0, -5.0, 4.0):
            found = forces(t, load, across=math.tan(angle * DEGREE), camber=lean * DEGREE)
            assert_close(found[1], paper(t.lateral, load, angle, lean), 1e-12)
            assert_close(found[2], paper(t.aligning, load, angle, lean, lateral=False), 1e-12, scale=1.0)
        assert_close(forces(t, load, along=angle / 100.0)[0], paper(t.longitudinal, load, angle, lateral=False), 1e-12)


def test_the_published_tyre_under_four_kilonewtons_worked_out_by_hand():
    """D = a₁F² + a₂F, of the lateral force −22.1·16 + 1011·4; BCD = a₃ sin(a₄ arctan(a₅F)) per degree."""
    t = sh.MagicFormulaTyre("wheel", RADIUS)
    slope = derivative(lambda h: forces(t, 4e3, across=math.tan(h * DEGREE)), 1e-2)
    assert_close(slope[1], 1027.3, 1e-4)
    assert_close(slope[2], -26.20, 1e-3)
    assert_close(derivative(lambda h: forces(t, 4e3, along=h / 100.0)[0], 1e-2), 1288.2, 1e-4)
    slips = np.linspace(0.0, 1.0, 2001)
    assert_close(max(forces(t, 4e3, along=s)[0] for s in slips), 4235.2, 1e-6)
    assert_close(max(forces(t, 4e3, across=s)[1] for s in slips), 3690.4, 1e-6)


def test_peaks_follow_the_factor_of_friction_and_stiffness_does_not():
    dry, wet = (sh.MagicFormulaTyre("wheel", RADIUS, friction=f) for f in (1.0, 0.5))
    small = 1e-7
    assert_close(forces(wet, 4e3, small, small), forces(dry, 4e3, small, small), 1e-6)
    assert_close(max(forces(wet, 4e3, across=s)[1] for s in np.linspace(0, 1, 999)), 3690.4 / 2, 1e-4)


@pytest.mark.parametrize(("make", "turned"), [(sh.MagicFormulaTyre, 0.25), (sh.BrushTyre, 1e-12)])
def test_combined_slip_is_opposed_and_mirrored_and_takes_from_either_force(make, turned):
    t = make("wheel", RADIUS)
    rng = np.random.default_rng(1)
    for along, across in rng.normal(size=(50, 2)) * 0.3:
        x = forces(t, 4e3, along, across)
        assert x[0] * along > 0.0 and x[1] * across > 0.0
        assert np.hypot(*x[:2]) <= 4235.2
        leaning = forces(t, 4e3, along, across, 0.03)
        assert_close(forces(t, 4e3, along, -across, -0.03), leaning * (1, -1, -1), 10 * EPS, scale=1e3)
        # linear at small slip, each force for itself; the direction of slip at large slip, where the curves of one tyre differ
        small = forces(t, 4e3, 1e-7 * along, 1e-7 * across)
        assert_close(small[:2], [forces(t, 4e3, 1e-7 * along)[0], forces(t, 4e3, 0.0, 1e-7 * across)[1]], 1e-5)
        large = forces(t, 4e3, 1e3 * along, 1e3 * across)[:2]
        assert_close(large / np.hypot(*large), np.array([along, across]) / np.hypot(along, across), turned)
    assert not forces(t, 0.0, 0.1, 0.1, 0.1).any()  # in the air


# --- the brush model -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("load", [1500.0, 4000.0])
@pytest.mark.parametrize(("along", "across"), [(0.0, 0.03), (0.05, 0.0), (0.03, -0.08), (0.1, 0.3)])
def test_the_brush_model_is_the_sum_of_its_bristles(load, along, across):
    """Bristles deflect by σ times the way from the leading edge, up to friction under the parabolic pressure."""
    t = sh.BrushTyre("wheel", RADIUS, friction=0.9)
    a = t.half_length * math.sqrt(load / t.load)
    s = (np.arange(20000) + 0.5) / 10000 - 1.0
    weight = 1e-4
    x = a * s
    slip = math.hypot(along, across)
    each = np.minimum(t.tread_stiffness * slip * (a - x), 0.9 * 0.75 * load / a * (1.0 - s**2))
    force = (a * weight * each).sum() / slip
    moment = (a * weight * x * each).sum() * across / slip
    assert_close(forces(t, load, along, across), [force * along, force * across, moment], 1e-5, scale=load)


def test_the_brush_model_at_small_and_at_large_slip():
    t = sh.BrushTyre("wheel", RADIUS, friction=0.9)
    small, large = forces(t, t.load, across=1e-7), forces(t, t.load, 3.0, 4.0)
    assert_close(small[1], 2.0 * t.tread_stiffness * t.half_length**2 * 1e-7, 1e-5)
    assert_close(small[2], -small[1] * t.half_length / 3.0, 1e-4)
    assert_close(large, [0.9 * t.load * 0.6, 0.9 * t.load * 0.8, 0.0], 1e-12)
    camber = t.replaced(camber_stiffness=2000.0)
    assert_close(forces(camber, t.load, camber=1e-6)[1], 2e-3, 1e-4)


# --- contact --------------------------------------------------------------------------------------------------------------------
class Ice(sh.Tyre):
    """No force along the road."""

    def forces(self, slip, n):
        return 0.0, 0.0, 0.0


def test_the_load_acts_along_the_normal_at_the_contact_point():
    F, M = action(Ice("wheel", RADIUS, road=0.1, stiffness=1e5), placed((1, 2, 0.38), sh.Rotation.about("z", 0.7)), np.zeros(6))
    assert_close(F, [0, 0, 1e5 * 0.02], 1e-12)
    assert_close(M, np.zeros(3), 1e-12, scale=1.0)
    lean = 0.3
    q = placed((0, 0, 0.27), sh.Rotation.about("x", -lean))  # to the left
    F, M = action(Ice("wheel", RADIUS, stiffness=1e5), q, np.zeros(6))
    arm = 0.27 / math.cos(lean)
    load = 1e5 * (RADIUS - arm) / math.cos(lean)
    assert_close(F, [0, 0, load], 1e-12)
    assert_close(M, [-arm * math.sin(lean) * load, 0, 0], 1e-12, scale=1.0)
    assert not np.any(action(Ice("wheel", RADIUS), placed((0, 0, 0.31), sh.Rotation.identity()), np.ones(6)))  # in the air


def test_a_tyre_without_grip_stores_what_it_takes():
    """With camber of any size: power is what the energy of its spring loses."""
    m = wheel(Ice("wheel", 2.0, stiffness=1e3, rolling_radius=1.9))
    d = sh.Dynamics(m, backend="python")
    rng = np.random.default_rng(2)
    for _ in range(4):
        q, v = placed((*rng.normal(size=2), 0.9), sh.Rotation.rpy(*rng.normal(size=3) * (0.5, 9.0, 9.0))), rng.normal(size=6)
        rate = d.rates(q, v)
        loss = derivative(lambda h, q=q, rate=rate, v=v: d.force_energies(q + h * rate, v)[0], 1e-3)
        assert_close(float(d.force_powers(q, v)[0]), -loss, 1e-7, scale=1.0)


def test_a_wheel_on_waves_without_grip_keeps_its_energy():
    m = sh.Model("waves")
    m.add_body("wheel", 400.0)
    m.add_joint("hub", sh.Compound({"x": sh.Prismatic("x"), "z": sh.Prismatic("z")}), "ground", "wheel")
    m.add_force(Ice("wheel", RADIUS, road=lambda x, y: 0.05 * sh.sin(3.0 * x)), "tyre")
    r = sh.simulate(m, 2.0, q0={"hub": (0.0, RADIUS)}, v0={"hub": (1.5, 0.0)}, output=0.1)
    total = r.energy.kinetic + r.energy.potential
    assert np.abs(total - total[0]).max() < 1e-4 and np.ptp(r.energy.kinetic) > 100.0


def test_a_slope_is_a_plane_turned():
    """Wheel, motion and plane turned together: forces turn with them."""
    tilt = sh.Rotation.about("y", 0.3) @ sh.Rotation.about("x", -0.2)
    nx, ny, nz = tilt @ (0.0, 0.0, 1.0)
    rng = np.random.default_rng(3)
    own = sh.Rotation.rpy(0.1, 0.5, 0.4)
    v = rng.normal(size=6) * (5, 5, 5, 1, 1, 1) + np.array([0, 0, 0, 0, 20.0, 0])
    for t in (sh.BrushTyre("wheel", RADIUS, damping=100.0), sh.MagicFormulaTyre("wheel", RADIUS, rolling_resistance=0.01)):
        flat = action(t, placed((0.3, -0.2, 0.28), own), v)
        sloped = t.replaced(road=lambda x, y: -(nx * x + ny * y) / nz)
        turned = action(sloped, placed(tilt @ (0.3, -0.2, 0.28), tilt @ own), v)
        for one, two in zip(flat, turned, strict=True):
            assert_close(two, tilt @ tuple(one), 1e-11, scale=1e3)


def test_a_bump_is_touched_where_it_is_nearest():
    """A wheel of 0.3 m over a round hill of 5 m: the load is along the line through both centres."""

    def hill(x, y):
        return sh.sqrt(25.0 - x * x) - 5.0

    where = 5.285 * np.array([math.sin(0.1), 0.0, math.cos(0.1)]) - (0.0, 0.0, 5.0)
    F, _ = action(Ice("wheel", RADIUS, road=hill, stiffness=1e5), placed(where, sh.Rotation.identity()), np.zeros(6))
    assert_close(np.linalg.norm(F), 1e5 * 0.015, 1e-7)
    assert_close(F / np.linalg.norm(F), [math.sin(0.1), 0.0, math.cos(0.1)], 1e-7)


def test_a_road_that_moves_is_a_wheel_that_moves():
    """On a platform that glides away under it a wheel feels what it feels moving backward, and pushes the platform back."""
    m = wheel()
    m.add_body("platform", 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_floating("platform")
    m.add_force(sh.BrushTyre("wheel", RADIUS, of="platform", road=0.05), "tyre")
    q = np.concatenate([placed((0, 0, 0.34), sh.Rotation.identity()), (0, 0, 0, 1, 0, 0, 0)])
    moved = {"wheel": np.array([9.0, 0.4, 0.0, 0.0, 31.0, 0.0]), "platform": np.zeros(6)}
    glide = np.array([9.0, 0.4, 0.0, 0.0, 0.0, 0.0])
    d = sh.Dynamics(m, backend="python")
    seen = []
    for frame in (np.zeros(6), glide):
        v = np.zeros(12)
        for name, x in moved.items():
            v[m.v_slice(f"{name} float")] = x - frame
        seen.append(d.force_actions(q, v)["tyre"])
    for one in seen:
        assert_close(one["wheel"], seen[0]["wheel"], 1e-12)
        assert_close(one["platform"][:3], -one["wheel"][:3], 1e-12)
        assert_close(one["platform"][3:], -one["wheel"][3:] - np.cross((0, 0, 0.34), one["wheel"][:3]), 1e-12, scale=1e3)
    assert seen[0]["wheel"][1] < -100.0


# --- motion ---------------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def rolled():
    """A wheel that falls a little, sliding, skids until it rolls, and coasts."""
    t = sh.MagicFormulaTyre("wheel", RADIUS, damping=1e4, rolling_resistance=0.02)
    m = sh.Model("wheel on a sledge")
    m.add_body("wheel", 400.0, inertia=(0.7, 1.2, 0.7))
    parts = {"x": sh.Prismatic("x"), "z": sh.Prismatic("z"), "spin": sh.Revolute("y")}
    m.add_joint("hub", sh.Compound(parts), "ground", "wheel")
    m.add_force(t, "tyre")
    return sh.simulate(m, 2.0, q0={"hub": (0.0, 0.32, 0.0)}, v0={"hub": (20.0, 0.0, 0.0)}, output=0.05)


def test_a_wheel_rolls_at_its_effective_radius(rolled):
    x, _, spin = rolled.speed("hub").T
    sunk = 400.0 * 9.81 / 2e5
    effective = RADIUS - sunk / 3.0
    assert_close(rolled.coordinate("hub")[-1, 1], RADIUS - sunk, 1e-6)
    # coasting: the moment of resistance slows rim and sledge; slip is what the spin's inertia alone needs
    slowed = (x[-1] - x[-10]) / (rolled.t[-1] - rolled.t[-10])
    moment = 0.02 * 400.0 * 9.81 * (RADIUS - sunk)
    assert_close(slowed, -moment / effective / (400.0 + 1.2 / effective**2), 1e-3)
    assert_close(spin[-1] * effective, x[-1], 1e-3)
    assert np.abs(rolled.energy.defect).max() < 1e-5 * 400.0 * 200.0


def test_a_standing_wheel_stays_where_it_stands():
    """No slip is divided by a speed of zero. On a slope of 5 % a wheel that cannot spin creeps, and no faster than its slip
    stiffness and the low speed say."""
    m = sh.Model("locked wheel", gravity=(0.05 * 9.81, 0.0, -9.81))
    m.add_body("wheel", 400.0)
    m.add_joint("hub", sh.Compound({"x": sh.Prismatic("x"), "y": sh.Prismatic("y"), "z": sh.Prismatic("z")}), "ground", "wheel")
    m.add_force(sh.BrushTyre("wheel", RADIUS, damping=1.5e4, low_speed=0.1))
    r = sh.simulate(m, 1.0, q0={"hub": (0.0, 0.0, RADIUS)}, integrator="radau", output=0.1)
    load = 400.0 * 9.81
    cornering = 2.0 * 3e6 * 0.1**2 * load / 4e3
    assert_close(r.speed("hub")[-1], [0.05 * load / cornering * 0.05, 0.0, 0.0], 2e-2, scale=1e-3)
    locked = sh.linearize(m, {"hub": r.coordinate("hub")[-1]}, {"hub": r.speed("hub")[-1]}).A
    assert np.isfinite(locked).all() and np.linalg.eigvals(locked).real.max() < 1e-9


def test_a_wheel_with_a_relaxation_length_holds_on_a_slope():
    """The slip state is a spring at rest: where the one without creeps, it stands, under the force of the slope."""
    m = sh.Model("locked wheel", gravity=(0.05 * 9.81, 0.0, -9.81))
    m.add_body("wheel", 400.0)
    m.add_joint("hub", sh.Compound({"x": sh.Prismatic("x"), "z": sh.Prismatic("z")}), "ground", "wheel")
    m.add_force(sh.BrushTyre("wheel", RADIUS, damping=1.5e4, relaxation=0.5), "tyre")
    r = sh.simulate(m, 1000.0, q0={"hub": (0.0, RADIUS)}, integrator="radau", output=[10.0, 1000.0])
    x = r.coordinate("hub")[:, 0]
    assert abs(x[1] - x[0]) < 1e-7 and abs(r.speed("hub")[-1]).max() < 1e-9
    assert_close(r.quantity("longitudinal force of tyre")[-1], -0.05 * 400.0 * 9.81, 1e-6)
    assert_close(r.quantity("vertical force of tyre")[-1], 400.0 * 9.81, 1e-9)


def test_slip_follows_over_the_relaxation_length():
    """Dragged along at 8 m/s under an angle of 0.1: tan 0.1·(1 − exp(−way/σ)), as a string model of a tyre says."""
    m = sh.Model("dragged")
    m.add_body("wheel", 400.0, inertia=(1.0, 1.0, 1.0))
    parts = {"x": sh.Prismatic("x"), "y": sh.Prismatic("y"), "z": sh.Prismatic("z"), "spin": sh.Revolute("y")}
    drives = {"x": lambda t: 8.0 * t, "y": lambda t: -8.0 * math.tan(0.1) * t}
    m.add_joint("hub", sh.Compound(parts, motion=drives), "ground", "wheel")
    m.add_force(sh.MagicFormulaTyre("wheel", RADIUS, damping=1e4, relaxation=0.4), "tyre")
    r = sh.simulate(m, 0.3, q0={"hub": (RADIUS, 0.0)}, v0={"hub": (0.0, 8.0 / RADIUS)}, output=0.05)
    wanted = math.tan(0.1) * (1.0 - np.exp(-8.0 * r.t / 0.4))
    assert_close(r.state("tyre.across"), wanted, 1e-7)
    assert_close(r.quantity("slip angle of tyre"), np.full(len(r.t), 0.1), 1e-12)


@pytest.mark.parametrize("make", [sh.MagicFormulaTyre, sh.BrushTyre])
def test_forces_have_slopes_also_where_a_wheel_rolls_without_slip(make):
    """Derivatives of the accelerations by speeds are quotients of differences, with and without slip."""
    d = sh.Dynamics(wheel(make("wheel", RADIUS, damping=100.0)), backend="python")
    for q, sideways in (
        (placed((0.1, 0.2, 0.29), sh.Rotation.identity()), 0.0),
        (placed((0.1, 0.2, 0.29), sh.Rotation.rpy(0.05, 0.0, 0.1)), 0.3),
    ):
        v = np.array([9.0, sideways, 0.0, 0.0, 9.0 / (RADIUS - 0.01 / 3.0), 0.0])
        both = d.forward_derivatives(q, v)
        slopes = both.dv
        assert np.isfinite(both.dq).all()
        for k in range(6):
            found = derivative(lambda h, k=k, q=q, v=v: d.forward(q, v + h * np.eye(6)[k]), 1e-4)
            assert_close(slopes[:, k], found, 1e-3 if make is sh.BrushTyre else 1e-6, scale=100.0)
