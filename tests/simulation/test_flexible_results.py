"""Results of flexible bodies: points are the material, resultants balance what hangs beyond, and what is too much is said."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import sharnir as sh
from flexible_models import random_modal
from sharnir.model.deformation import cayley, material, place_of

RNG = np.random.default_rng


def arm(E: float = 7e10, held_at: float = 0.3, damping: float = 0.0) -> sh.Model:
    """A beam on a hub, held inside its length; a tool and a node at its tip."""
    m = sh.Model("arm", gravity=(0.0, 0.0, -9.81))
    m.add_body("hub", 1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("pivot", sh.Revolute("z"), "ground", "hub")
    modes = {"bend_y": 2, "bend_z": 2, "twist": 1, "stretch": 1}
    beam = sh.FlexibleBeam(
        length=1.0, E=E, G=E / 2.6, density=2700.0, section=sh.Rectangle(0.03, 0.02), modes=modes, damping=damping
    )
    m.add_body("arm", flexible=beam)
    m.add_joint("shoulder", sh.Revolute("y"), "hub", "arm", at=sh.Pose((0.1, 0, 0)), child_at=sh.Pose((held_at, 0, 0)))
    m.add_body("tool", 0.3, inertia=(0.001, 0.002, 0.003))
    m.add_joint("wrist", sh.Weld(), "arm", "tool", at=sh.Pose((1.0, 0, 0)))
    m.add_frame("mid", "arm", sh.Pose((0.6, 0.01, 0.005), sh.Rotation.about("z", 0.4)))
    return m


def panel() -> tuple[sh.Model, list[tuple[float, ...]]]:
    body = random_modal(RNG(5))
    nodes = [tuple(x) for x in body.nodes.values()]
    m = sh.Model("panel")
    m.add_body("panel", flexible=body)
    m.add_joint("float", sh.Free(), "ground", "panel", child_at=sh.Pose(nodes[1]))
    return m, nodes


@pytest.mark.parametrize("of_nodes", [False, True])
def test_places_on_arrays_are_those_on_numbers(of_nodes: bool) -> None:
    m, nodes = panel() if of_nodes else (arm(), [(0.7, 0.01, -0.02), (0.3, 0.0, 0.0), (1.0, 0.0, 0.0)])
    (d,) = m.structure.deformations.values()
    e, rates = 0.1 * RNG(1).normal(size=(2, 2, d.n))
    found = material(d.shapes, np.array(nodes)).moved(e[:, None])
    u, w = found.velocity(rates[:, None])
    for k, point in enumerate(nodes):
        for row in range(2):
            place = place_of(d.shapes, point, e[row].tolist())
            assert found.position[row, k] == pytest.approx(np.array(place.position, dtype=float), abs=1e-15)
            assert found.rotation[row, k] == pytest.approx(np.array(cayley(place.turn).matrix), abs=1e-15)
            for mine, other in zip((u, w), place.velocity(rates[row].tolist()), strict=True):
                assert mine[row, k] == pytest.approx(np.array(other, dtype=float), abs=1e-14)


@pytest.mark.parametrize("of_nodes", [False, True])
def test_velocity_and_acceleration_of_a_material_point_are_derivatives(of_nodes: bool) -> None:
    m, nodes = panel() if of_nodes else (arm(), [])
    d, rng, h = sh.Dynamics(m), RNG(2), 1e-6
    q, v, a = m.random_q(rng), rng.normal(size=m.nv), rng.normal(size=m.nv)
    body = "panel" if of_nodes else "arm"
    turned = sh.Rotation.about("y", 0.3)
    places = [sh.Pose(x, turned) for x in nodes] or [sh.Pose((0.7, 0.01, 0.0), turned), sh.Pose((0.0, 0.0, 0.0))]
    q[m.q_slice(f"{body} elastic")] *= 10.0

    def moved(s: float) -> tuple[np.ndarray, np.ndarray]:
        return m.integrate(q, s * v + 0.5 * s * s * a), v + s * a  # right to second order where axes commute

    for at in places:
        vel, J = d.velocity(q, v, (body, at)), d.jacobian(q, (body, at))
        assert J @ v == pytest.approx(vel, abs=1e-12)
        poses = [d.pose(m.integrate(q, s * v), (body, at)) for s in (-h, h)]
        shift = (np.array(poses[1].position) - np.array(poses[0].position)) / (2 * h)
        spin = (poses[1].rotation.matrix - poses[0].rotation.matrix) / (2 * h) @ d.pose(q, (body, at)).rotation.matrix.T
        assert np.r_[shift, spin[2, 1], spin[0, 2], spin[1, 0]] == pytest.approx(vel, abs=1e-7)
        acc = d.acceleration(q, v, a, (body, at))
        before, after = (d.velocity(*moved(s), (body, at)) for s in (-h, h))
        assert (after - before) / (2 * h) == pytest.approx(acc, abs=1e-7 * np.abs(acc).max())
        assert d.jacobian_rate(q, v, (body, at)) + J @ a == pytest.approx(acc, abs=1e-11)
        local = d.pose(q, (body, at)).rotation.matrix.T
        assert d.jacobian(q, (body, at), axes="local")[:3] == pytest.approx(local @ J[:3], abs=1e-13)


def test_a_material_point_moves_with_the_node_there() -> None:
    m = arm()
    m.add_node("tip", "arm", (1.0, 0.0, 0.0))
    d, rng = sh.Dynamics(m), RNG(3)
    q, v, a = np.stack([m.random_q(rng) for _ in range(3)]), rng.normal(size=(3, m.nv)), rng.normal(size=(3, m.nv))
    end = ("arm", sh.Pose((1.0, 0.0, 0.0)))
    for mine, other in zip(d.pose(q, end), d.pose(q, "tip"), strict=True):
        assert mine == pytest.approx(other, abs=1e-14)
    for axes in ("world", "local"):
        assert d.jacobian(q, "arm", (1.0, 0.0, 0.0), axes=axes) == pytest.approx(d.jacobian(q, "tip", axes=axes), abs=1e-13)
        mine, other = (d.acceleration(q, v, a, where, axes=axes) for where in (end, "tip"))
        assert mine == pytest.approx(other, abs=1e-12)
    r = sh.simulate(m, 0.02, rtol=1e-6, v0={"pivot": 2.0})
    for what in ("point", "point_velocity", "point_acceleration"):
        assert getattr(r, what)("arm", (1.0, 0, 0)) == pytest.approx(getattr(r, what)("tip"), abs=1e-9)
    found = r.deformation("arm", (1.0, 0.0, 0.0))
    i = m.body_index("arm")
    R, x = r.poses
    assert np.abs(found).max() > 1e-7
    assert x[:, i] + (R[:, i] @ (found + np.array([1.0, 0, 0]))[..., None])[..., 0] == pytest.approx(r.point("tip"), abs=1e-14)
    assert r.frame("mid") == pytest.approx(r.point("arm", (0.6, 0.01, 0.005)), abs=1e-15)


def test_resultants_balance_what_hangs_beyond() -> None:
    """At rest under its weight: a section carries the tool and the rest of the beam."""
    m, x = clamped(), 0.4
    beam = m.bodies[0].flexible
    r = sh.simulate(m, 1e-3, q0=sh.equilibrium(m).q, output=1e-3)
    beyond = beam.mass * (1 - x) * 9.81
    moment = 0.5 * 9.81 * (1 - x) + beyond * (1 - x) / 2
    found = r.resultants("arm", x)
    assert found["moment_y"] == pytest.approx(np.full(2, moment), rel=2e-2)  # a force along −z turns about +y
    assert r.resultants("arm", [0.0, x])["moment_y"].shape == (2, 2)


def clamped(gravity: float = 9.81) -> sh.Model:
    m = sh.Model("clamped", gravity=(0.0, 0.0, -gravity))
    beam = sh.FlexibleBeam(length=1.0, E=7e10, G=2.6e10, density=2700.0, section=sh.Circle(0.01), modes={"bend_z": 6})
    m.add_body("arm", flexible=beam)
    m.add_joint("clamp", sh.Weld(), "ground", "arm")
    m.add_body("tool", 0.5, inertia=(1e-6, 1e-6, 1e-6))
    m.add_joint("wrist", sh.Weld(), "arm", "tool", at=sh.Pose((1.0, 0, 0)))
    return m


def test_quantities_units_and_files(tmp_path: Path) -> None:
    m = arm()
    r = sh.simulate(m, 0.02, rtol=1e-6)
    assert r.quantity("deformation of arm@(1, 0, 0).z") == pytest.approx(r.deformation("arm", (1, 0, 0))[:, 2])
    assert r.quantity("resultants of mid.shear_z") == pytest.approx(r.resultants("arm", 0.6)["shear_z"])
    units = r.to_dataframe().attrs["units"]
    assert (units["q arm elastic.bend_y1"], units["v arm elastic.twist1"]) == ("m", "rad/s")
    r.save(tmp_path / "run.nc")
    again = sh.Result.load(tmp_path / "run.nc", m)
    assert np.array_equal(again.deformation("arm", (1, 0, 0)), r.deformation("arm", (1, 0, 0)))
    many = sh.rollout(m, np.stack([r.q[0], r.q[-1]]), duration=1e-4, step=1e-5)
    assert many.deformation("arm", (1, 0, 0))[1] == pytest.approx(many[1].deformation("arm", (1, 0, 0)))
    assert many.resultants("arm", [0.2, 0.5])["axial"].shape == (2, 11, 2)
    with pytest.raises(sh.StateError, match="body 'hub' is rigid; the flexible bodies are 'arm'"):
        r.deformation("hub", (0, 0, 0))
    with pytest.raises(sh.ModelError, match="not on the beam"):
        r.point("arm", (1.5, 0, 0))


def test_an_arm_reaches_with_its_material_point() -> None:
    m = arm()
    bent = m.coordinates({"arm elastic.bend_z1": 0.05, "shoulder": 0.3})
    goal = sh.Dynamics(m).pose(bent, "mid").position
    away = m.coordinates({"arm elastic.bend_z1": 0.05, "shoulder": 0.2})
    found = sh.inverse_kinematics(m, {"mid": goal}, start=away)
    assert np.array(sh.Dynamics(m).pose(found.q, "mid").position) == pytest.approx(np.array(goal), abs=1e-8)
    elastic = m.q_slice("arm elastic")
    assert np.array_equal(found.q[elastic], away[elastic])  # joints reach, bodies are not bent


def test_deformations_beyond_the_shapes_are_said() -> None:
    m = arm(E=2e8, held_at=0.0)
    with pytest.warns(sh.FlexibilityWarning, match="body 'arm' was turned by .* rad by its deformation at t = "):
        r = sh.simulate(m, 0.4, q0={"arm elastic.bend_z1": 0.3}, rtol=1e-4)
    assert "deformation body 'arm' was turned by" in r.summary()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "deformation" not in sh.simulate(arm(), 0.01, rtol=1e-4).summary()


def test_a_failed_run_names_the_deformation_as_the_likely_cause() -> None:
    """A load that grows with the third power of the deformation, until nothing is finite."""
    m = clamped()
    m.add_force(lambda on: on.torque("arm elastic.bend_z1", 1e14 * on.q("arm elastic.bend_z1") ** 3))
    with pytest.raises(sh.SimulationError, match=r"The likely cause: body 'arm' was (turned|deformed) by") as caught:
        sh.simulate(m, 0.01, v0={"arm elastic.bend_z1": 100.0}, integrator="rk4", step=1e-5)
    assert "JointFriction" not in str(caught.value)


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
def test_a_step_too_long_for_the_fastest_vibration_is_said_and_one_below_is_stable(integrator: str) -> None:
    m = clamped()
    with pytest.warns(sh.FlexibilityWarning, match="the fastest vibration, of body 'arm', has") as caught:
        long = sh.simulate(m, 0.5, step=1e-3, integrator=integrator, on_failure="return")
    assert long.status == "not_finite" and "too long" in long.message
    stable = float(str(caught[0].message).split("below about ")[1].split(" s")[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        short = sh.simulate(m, 2000 * 0.9 * stable, step=0.9 * stable, integrator=integrator)
    assert np.abs(short.q).max() < 0.1
    with pytest.warns(sh.FlexibilityWarning, match="fastest vibration"):
        sh.rollout(m, np.zeros((2, m.nq)), duration=0.01, step=1e-3, integrator=integrator)
