"""`simulate`: published motions, the same motion by every method and backend, energy accounted for."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from mechanisms import A01, GOVERNOR, GOVERNOR_SPEED, GOVERNOR_START, RODS, floating, floating_start, governor, hinged, powered
from states import assert_close

pytestmark = pytest.mark.xdist_group("integrators")
TIGHT = {"rtol": 1e-12, "atol": 1e-13}


# --- published values -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", ["dop853", "adams"])
def test_pendulum_of_iftomm(integrator):
    r = sh.simulate(sh.samples.pendulum(), 10.0, q0=[np.pi], integrator=integrator, output=list(A01), **TIGHT)
    assert_close(r.point("bar", (1.0, 0.0, 0.0))[:, :2], list(A01.values()), 1e-10)
    assert np.abs(r.energy.defect).max() < 1e-9  # IFToMM accepts 5e-5


@pytest.mark.parametrize("n", list(RODS))
def test_rod_pendulums(n):
    r = sh.simulate(sh.samples.rods(n), 1.0, output=1.0, **TIGHT)
    absolute = np.cumsum(r.q[-1]) + np.pi / 2  # of a rod along x from the downward vertical
    turned = (absolute + np.pi) % (2.0 * np.pi) - np.pi
    assert_close(turned, RODS[n], 1e-9)


def test_governor_with_hard_springs():
    r = sh.simulate(governor(), 1.0, integrator="radau", output=1.0, rtol=1e-9, atol=1e-11, **GOVERNOR_START)
    assert r.cost.steps < 500  # an explicit method needs some hundred thousand
    for joint, value in GOVERNOR.items():
        assert abs(r.coordinate(joint)[-1] - value) < 2e-9
    assert abs(r.speed("spin")[-1] - GOVERNOR_SPEED) < 2e-9


def test_planar_chain_by_two_integrators():
    start = {"q0": {"hinge1": -1.0}}
    a, b = (
        sh.simulate(sh.samples.planar_chain(), 5.0, integrator=name, output=0.5, **TIGHT, **start) for name in ("dop853", "adams")
    )
    assert_close(a.q, b.q, 1e-8)
    usual = sh.simulate(sh.samples.planar_chain(), 5.0, output=0.5, **start)
    assert_close(usual.q, a.q, 1e-4)


# --- the same motion --------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def reference():
    return sh.simulate(floating(), 0.3, output=0.1, **TIGHT, **floating_start())


@pytest.mark.parametrize("method", [m.name for m in sh.methods()])
def test_every_method_gives_the_same_motion(method, reference):
    r = sh.simulate(floating(), 0.3, method=method, output=0.1, rtol=1e-11, atol=1e-12, **floating_start())
    assert r.cost.method == method
    assert_close(r.q, reference.q, 1e-9)
    assert_close(r.v, reference.v, 1e-9)
    for joint in ("float", "shoulder"):
        length = np.linalg.norm(r.coordinate(joint)[:, -4:], axis=1)
        assert_close(length, np.ones(4), 1e-15)
    if "iterative" in method:
        assert r.cost.iterations > 0.0


@pytest.mark.parametrize("backend", ["llvm", "loops", "python"])
def test_every_backend_gives_the_same_motion(backend, reference):
    r = sh.simulate(floating(), 0.3, method="separate", backend=backend, output=0.1, rtol=1e-11, atol=1e-12, **floating_start())
    assert r.cost.backend == backend
    assert_close(r.q, reference.q, 1e-9)
    assert_close(r.a, reference.a, 1e-8)


@pytest.mark.parametrize(("integrator", "options"), [
    ("radau", {"rtol": 1e-8, "atol": 1e-10}),
    ("rk4", {"step": 1e-3}), ("midpoint", {"step": 2e-4}), ("euler", {"step": 1e-5}),
])  # fmt: skip
def test_every_integrator_gives_the_same_motion(integrator, options, reference):
    r = sh.simulate(floating(), 0.3, integrator=integrator, output=0.1, **options, **floating_start())
    order_one = 1e-4 if integrator == "euler" else 1e-6
    assert_close(r.q, reference.q, order_one)


# --- energy -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "model", [sh.samples.double_pendulum(), sh.samples.chain(4, 3), sh.samples.manipulator()], ids=lambda m: m.name
)
def test_conservative_mechanisms_keep_their_energy(model):
    rng = np.random.default_rng(3)
    r = sh.simulate(model, 2.0, q0=model.random_q(rng), v0=0.5 * rng.normal(size=model.nv), rtol=1e-10, atol=1e-12)
    assert r.causes == ()
    assert np.abs(r.energy.defect).max() < 1e-8 * r.energy.kinetic.max()


@pytest.mark.parametrize("method", ["separate", "momentum"])
def test_energy_balance_with_everything_that_feeds_or_takes_energy(method):
    m = powered()
    start = {"q0": {"hinge": 0.3}, "v0": {"wrist": 2.0, "ball": (1.0, -2.0, 0.5)}}
    r = sh.simulate(m, 2.0, tau={"wrist": 0.1}, method=method, rtol=1e-10, atol=1e-12, output=0.1, **start)
    assert {"drives", "tau"} <= set(r.causes) and len(r.causes) == 7
    exchanged = sum(np.abs(work).max() for work in r.energy.work.values())
    assert np.abs(r.energy.defect).max() < 1e-8 * exchanged
    for taking in (name for name in r.causes if "riction" in name or "rag" in name):
        assert (np.diff(r.energy.work[taking]) <= 0.0).all()


def test_energy_balance_when_nearly_all_joints_are_driven():
    m = sh.samples.all_joints(seed=4)
    r = sh.simulate(m, 0.2, q0=m.random_q(2), method="separate", output=0.05, rtol=1e-10, atol=1e-12)
    assert np.abs(r.energy.defect).max() < 1e-7 * max(np.abs(r.energy.work["drives"]).max(), np.ptp(r.energy.kinetic))


def test_energy_balance_of_a_spring_on_a_moving_base():
    m = sh.Model("shaken", base_motion=lambda t: sh.Pose((0.1 * sh.sin(3.0 * t), 0.0, 0.0)))
    m.add_body("mass", mass=1.0)
    m.add_joint("slide", sh.Prismatic("x"), "ground", "mass")
    m.add_force(sh.SpringDamper("ground", "mass", (-1.0, 0.0, 0.0), stiffness=20.0, length=1.0))
    r = sh.simulate(m, 1.0)
    assert np.abs(r.energy.defect).max() < 1e-7


def test_energy_balance_of_a_force_that_acts_only_later():
    r = sh.simulate(hinged(lambda on: on.torque("hinge", sh.select(on.t > 1.0, 2.0, 0.0))), 2.0, max_step=0.01)
    assert np.abs(r.energy.defect).max() < 1e-2


def test_the_defect_counts_from_the_start_of_the_run_whatever_rows_are_kept(tmp_path):
    m = hinged(damping=0.3)
    rough = {"q0": {"hinge": 1.0}, "rtol": 1e-3, "atol": 1e-4}
    every = sh.simulate(m, 2.0, output=0.01, **rough)
    late = sh.simulate(m, 2.0, output=[1.5, 2.0], **rough)
    assert abs(every.energy.defect[-1]) > 1e-6
    late.save(tmp_path / "late.nc")
    for r in (late, sh.Result.load(tmp_path / "late.nc")):
        assert_close(r.energy.defect, every.energy.defect[[150, 200]], 1e-9, scale=1.0)


def test_a_balance_that_was_not_kept_is_not_claimed():
    m = sh.samples.pendulum()
    m.add_force(sh.JointSpring("hinge", damping=0.3))
    for options in ({"balance": False}, {"backend": "python"}):
        r = sh.simulate(m, 0.1, **options)
        assert np.isnan(r.energy.defect).all() and "not recorded" in r.summary()


def test_implicit_midpoint_in_momenta_loses_no_energy():
    """A quarter of a million steps of a chaotic chain: the energy swings, and does not drift."""
    m = sh.samples.planar_chain(3)
    r = sh.simulate(m, 250.0, q0=[-1.0, 0.0, 0.0], method="momentum", integrator="midpoint", step=1e-3, output=None, every=500)
    assert r.cost.steps == 250_000
    error = r.energy.total - r.energy.total[0]
    assert np.abs(error).max() < 3e-5 and abs(np.polyfit(r.t, error, 1)[0]) * 250.0 < 1e-5


@pytest.mark.parametrize("backend", ["llvm", "loops"])
def test_a_force_that_takes_energy_only_later_stays_in_the_account(backend):
    """Where it is tried for being conservative it is: what a user's function chooses proves nothing there."""

    def spring(on):
        q, v = on.q("hinge"), on.v("hinge")
        on.torque("hinge", -5.0 * q - sh.select(on.t > 1.0, 3.0, 0.0) * v)
        return 2.5 * q * q

    r = sh.simulate(hinged(spring), 2.0, backend=backend, max_step=0.01)
    assert np.abs(r.energy.defect).max() < 1e-2 and np.ptp(r.energy.work["spring"]) > 0.01


def test_a_summary_names_units_and_leaves_the_reasons_of_a_method_to_why():
    m = sh.Model("units")
    m.add_body("a", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("slide", sh.Planar(), "ground", "a")
    m.add_body("b", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    m.add_joint("ball", sh.Ball(), "a", "b")
    m.add_body("c", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    m.add_joint("cut", sh.Revolute("y", motion=sh.sin), "b", "c")
    m.add_body("d", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    m.add_joint("screw", sh.Screw("z", pitch=0.1), "c", "d")
    r = sh.simulate(m, 0.01)
    lines = r.summary().splitlines()
    assert lines[1] == f"  method      {r.cost.method} on {r.cost.backend}"
    shown = [(line.split()[0], line.split()[2:]) for line in lines[-len(r.model.q_names) :]]
    units = {"slide.x": ["m"], "slide.y": ["m"], "slide.angle": ["rad"], "screw": ["rad"]}
    assert shown == [(name, units.get(name, [])) for name in r.model.q_names]
    assert " ns" in r.cost.why and r.cost.why == sh.Dynamics(m).why.details


def test_the_model_of_a_result_with_impacts_is_the_user_s(tmp_path):
    m = sh.Model("ball")
    m.add_body("a", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("J", sh.Prismatic("z"), "ground", "a")
    r = sh.simulate(m, 1.0, q0=[1.0], events=sh.Impact(lambda on: on.q("J"), restitution=0.5, name="floor"))
    assert len(r.impacts) > 1 and r.model is m and r.start.model is m and not m.constraints and not m.parameters
    assert r.summary().startswith("ball: 1 body, 1 degree of freedom; done") and "constraints" not in r.summary()
    assert "'ball'" in repr(r) and r.model_with_contacts is not m
    assert sh.simulate(r.model, 0.1, **r.state()).model is m
