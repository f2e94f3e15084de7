"""Controllers: sampled ones hold what they command, laws of joint forces are compiled with the equations, `Simulation` steps."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from sharnir.integrate.methods import INTEGRATORS
from sharnir.simulation.control.controllers import APPLY, CALL, schedule
from sharnir.simulation.control.joint_laws import with_law
from sharnir.simulation.control.sampled import Sampled

BACKENDS = ("llvm", "loops", "python")
OWN = [name for name, one in INTEGRATORS.items() if one.entry is not None]
MASS = 2.0


@pytest.fixture(scope="module")
def slider() -> sh.Model:
    """A mass on a rail: a double integrator."""
    m = sh.Model("slider", gravity=(0.0, 0.0, 0.0))
    m.add_body("block", mass=MASS)
    m.add_joint("rail", sh.Prismatic("x"), "ground", "block")
    return m


@pytest.fixture(scope="module")
def arm() -> sh.Model:
    """Three axes in space, with friction and a spring of its own, and gravity."""
    m = sh.Model("arm")
    carrier = "ground"
    for k, axis in enumerate("zyx"):
        m.add_body(f"link{k}", mass=2.0 - 0.5 * k, com=(0.2, 0.02, 0.01), inertia=(0.02, 0.05, 0.04))
        at = sh.Pose((0.4 if k else 0.0, 0.0, 0.05))
        m.add_joint(f"j{k}", sh.Revolute(axis, damping=0.3), carrier, f"link{k}", at=at)
        carrier = f"link{k}"
    m.add_parameter("k", 5.0)
    m.add_force(lambda on: on.torque("j1", -on.parameter("k") * on.q("j1")), name="spring")
    return m


def hand(gains, period, delay, count, x):
    """A mass under PD with period and delay, interval by interval: its states at the samples."""
    kp, kd = gains
    u, rows = 0.0, [np.array(x)]
    for _ in range(count):
        x = rows[-1]
        command = -kp * x[0] - kd * x[1]
        for h, force in ((delay, u), (period - delay, command)):
            x = np.array([x[0] + h * x[1] + 0.5 * h * h * force / MASS, x[1] + h * force / MASS])
        u = command
        rows.append(x)
    return np.array(rows)


# --- sampled ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", BACKENDS)
def test_pd_with_delay_moves_a_mass_as_the_exact_map_of_its_samples(slider, backend):
    control = sh.Sampled(lambda s: {"rail": -30.0 * s.coordinate("rail") - 5.0 * s.speed("rail")}, 0.05, delay=0.02)
    r = sh.simulate(slider, 1.0, q0=[0.5], control=control, output=0.05, backend=backend)
    expected = hand((30.0, 5.0), 0.05, 0.02, 20, (0.5, 0.0))
    assert np.abs(np.stack([r.q[:, 0], r.v[:, 0]], axis=1) - expected).max() < 1e-13
    given = r.control["control"]
    assert np.array_equal(given.t, 0.05 * np.arange(20)) and np.abs(given.applied - given.t - 0.02).max() < 1e-15
    assert np.abs(given.tau[:, 0] + 30.0 * expected[:-1, 0] + 5.0 * expected[:-1, 1]).max() < 1e-11
    assert np.array_equal(r.tau[1:, 0], given.tau[[*range(20)], 0])  # at a sample the command before it is still held
    if backend != "python":
        assert np.abs(r.energy.defect).max() < 1e-13


def test_a_damper_late_by_one_sample_is_stable_up_to_m_over_T_where_the_speed_repeats_every_six_samples(slider):
    """v(k+1) = v(k) − kT/m v(k−1): z² − z + kT/m = 0, on the unit circle at kT = m, at ±60°."""
    T = 0.01
    control = sh.Sampled(lambda t, q, v: -(MASS / T) * v, T, delay=T)
    r = sh.simulate(slider, 600 * T, v0=[1.0], control=control, output=T)
    cycle = np.array([1.0, 1.0, 0.0, -1.0, -1.0, 0.0])
    assert np.abs(r.v[:, 0] - np.resize(cycle, 601)).max() < 1e-9
    for gain, grows in ((0.99, False), (1.01, True)):
        late = sh.Sampled(lambda t, q, v, gain=gain: -gain * (MASS / T) * v, T, delay=T)
        end = sh.simulate(slider, 1200 * T, v0=[1.0], control=late, output=T).v[-6:]
        assert (np.abs(end).max() > 100.0) == grows and (np.abs(end).max() < 0.01) != grows


@pytest.mark.parametrize("integrator", OWN)
def test_every_integrator_ends_a_step_at_every_sample(slider, integrator):
    options = {} if INTEGRATORS[integrator].adaptive else {"step": 0.02}
    force = sh.Sampled(lambda s: [s.number + 1.0], 0.05)
    options["backend"] = "python"
    r = sh.simulate(slider, 0.2, control=force, integrator=integrator, output=None, **options)
    v = sum(0.05 * (k + 1.0) / MASS for k in range(4))
    assert abs(r.v[-1, 0] - v) < 1e-12
    assert (np.diff(r.t) > 0.0).all() and np.isin(force.period * np.arange(1, 4), r.t).all()
    few = sh.simulate(slider, 0.2, control=force, integrator=integrator, output=None, every=1000, **options)
    assert len(few) == 2 and few.cost.steps == r.cost.steps == len(r) - 1


def test_sample_times_are_multiples_that_do_not_drift_and_instants_that_differ_by_rounding_are_one():
    def nothing(s):
        return s.tau

    s = schedule([Sampled(nothing, 0.001), Sampled(nothing, 0.003, delay=0.006)], 0.0, 100.0)
    assert len(s.times) == 100_000 and np.array_equal(s.times[::3], 0.001 * np.arange(0, 100_000, 3))
    assert s.at(6) == [[APPLY, 1, 0], [CALL, 0, 6], [CALL, 1, 2]]
    odd = schedule([Sampled(nothing, 0.1, delay=0.25, offset=0.05)], 2.0, 2.5)
    assert np.abs(odd.times - [2.05, 2.15, 2.25, 2.3, 2.35, 2.4, 2.45]).max() < 1e-12


def test_controllers_of_several_rates_add_up_and_all_see_what_was_held_before(slider):
    seen = []

    def slow(s):
        seen.append((s.t, float(s.tau[0])))
        return [1.0]

    def fast(s):
        return sh.Command({"rail": 0.5 * s.number})

    r = sh.simulate(slider, 0.1, tau=[0.25], control=[sh.Sampled(slow, 0.04), sh.Sampled(fast, 0.02)], output=0.02)
    assert r.tau[:-1, 0].tolist() == [1.25, 1.75, 2.25, 2.75, 3.25] and list(r.control) == ["slow", "fast"]
    assert seen == [(0.0, 0.25), (0.04, 1.75), (0.08, 2.75)]
    assert np.abs(r.v[-1, 0] - 0.02 * 11.25 / MASS) < 1e-14


def test_commands_of_parameters_are_in_the_result_its_energies_and_its_file(arm, tmp_path):
    m = arm.copy()
    m.add_parameter("u", 0.0)
    m.add_force(lambda on: on.torque("j0", on.parameter("u")), name="motor")

    def voltage(s):
        return sh.Command(parameters={"u": s.parameters["u"] + 1.0 - s.coordinate("j0")})

    r = sh.simulate(m, 0.3, control=sh.Sampled(voltage, 0.1, delay=0.05), output=0.025, save=tmp_path / "r.nc")
    u = r.parameters[:, list(m.parameters).index("u")]
    assert u[:3].tolist() == [0.0, 0.0, 1.0] and len(set(u.tolist())) == 4
    assert np.abs(r.energy.defect).max() < 1e-8 and r.energy.work["motor"][-1] > 0.0
    again = sh.Result.load(tmp_path / "r.nc", m).control["voltage"]
    for name in ("t", "applied", "tau"):
        assert np.array_equal(getattr(again, name), getattr(r.control["voltage"], name), equal_nan=True)
    assert np.array_equal(again.parameters["u"], r.control["voltage"].parameters["u"])


def test_events_between_and_at_samples_fire_once_and_may_change_the_state(slider):
    bounce = sh.Event(lambda on: on.q("rail"), action=lambda s: s.v.__imul__(-1.0) and None, direction="falling", name="wall")
    at = sh.Event(lambda on: on.t - 0.2, name="clock")
    pushed = sh.Sampled(lambda s: [-8.0], 0.1)  # acceleration −4 from rest at 0.02: at the wall every 0.2 s, beginning at 0.1
    r = sh.simulate(slider, 1.0, q0=[0.02], control=pushed, events=[bounce, at])
    walls = [e.t for e in r.events if e.name == "wall"]
    assert np.abs(np.array(walls) - [0.1, 0.3, 0.5, 0.7, 0.9]).max() < 1e-7
    assert [round(e.t, 12) for e in r.events if e.name == "clock"] == [0.2]
    assert r.q.min() > -1e-9 and np.abs(r.energy.defect).max() < 1e-7


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (lambda s: 1.0 / (s.number - 2), "at t = 0.2 controller 'control' .sample 2. raised ZeroDivisionError"),
        (lambda s: np.zeros(3), r"controller 'control' .sample 0.: tau: expected \(1,\), one number each for 'rail', got \(3,\)"),
        (lambda s: {"rial": 1.0}, "no joint 'rial'"),
        (lambda s: None, "returned nothing"),
        (lambda s: [np.nan], "'rail' is nan"),
        (lambda s: sh.Command(parameters={"mass": 1.0}), "no parameter 'mass'"),
        (lambda s: s.state("integral"), "no state 'integral'"),
    ],
)
def test_errors_of_a_controller_end_the_run_with_its_name_its_sample_and_the_motion_so_far(slider, returned, says):
    with pytest.raises(sh.SimulationError, match=says) as found:
        sh.simulate(slider, 1.0, v0=[1.0], control=sh.Sampled(returned, 0.1), backend="python", integrator="rk4", step=0.1)
    assert found.value.result.t[-1] == found.value.time and len(found.value.result.control["control"].t) <= 2


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda m: sh.Sampled(lambda a, b: a, 0.1), "takes one argument, a sharnir.Sample, or three"),
        (lambda m: sh.Sampled(max, 0.0), "period must be positive"),
        (lambda m: sh.Sampled(max, 0.1, delay=-1.0), "delay must be zero or positive"),
        (lambda m: sh.simulate(m, 1.0, control=max), "expected sharnir.Sampled"),
        (lambda m: sh.simulate(m, 1.0, tau=lambda t, q, v: q), r"control=sharnir.Sampled\(f, period\)"),
        (lambda m: sh.simulate(m, -1.0, control=sh.Sampled(len, 0.1)), "backward"),
        (lambda m: sh.simulate(m, 1.0, control=sh.Sampled(len, 0.1), sensitivities=["q0.rail"]), "no derivatives"),
        (lambda m: sh.simulate(m, 1.0, tau=lambda on: None), "returned nothing"),
        (lambda m: sh.simulate(m, 1.0, tau=lambda on: [1.0, 2.0]), "returned 2 joint forces, the model has 1 speeds"),
        (lambda m: sh.simulate(m, 1.0, tau=lambda on: on.inverse([1.0, 2.0])), "expected 1 numbers"),
        (lambda m: sh.rollout(m, [[0.0]], duration=1.0, step=0.1, control=sh.Sampled(len, 0.15)), "not a whole number of steps"),
        (lambda m: sh.Simulation(m, backend="python").step(0.0), "dt: expected a positive number"),
    ],
)
def test_what_cannot_be_is_refused_before_it_runs(slider, make, says):
    with pytest.raises(sh.SharnirError, match=says):
        make(slider)


# --- laws ---------------------------------------------------------------------------------------------------------------------
def path(t):
    """Angles of the arm, their rates and accelerations."""
    q = [0.4 * sh.sin(1.3 * t), 0.3 * sh.sin(2.0 * t), 0.2 * sh.cos(t)]
    v = [0.52 * sh.cos(1.3 * t), 0.6 * sh.cos(2.0 * t), -0.2 * sh.sin(t)]
    return q, v, [-1.69 * q[0], -4.0 * q[1], -q[2]]


def computed_torque(on):
    now = [*zip(*path(on.t), ("j0", "j1", "j2"), strict=True)]
    return on.inverse([a + 100.0 * (q - on.q(j)) + 20.0 * (v - on.v(j)) for q, v, a, j in now])


@pytest.mark.parametrize("backend", BACKENDS)
def test_computed_torque_follows_its_path_to_the_tolerance(arm, backend):
    q0, v0, _ = path(0.0)
    tolerance = {"rtol": 1e-9, "atol": 1e-11} if backend != "python" else {"integrator": "rk4", "step": 0.02}
    options = {"q0": q0, "v0": v0, "tau": computed_torque, "backend": backend, "parameters": {"k": 7.0}}
    r = sh.simulate(arm, 1.0, output=0.02, **options, **tolerance)
    q, _, a = (np.array(x).T for x in path(r.t))
    assert np.abs(r.q - q).max() < (1e-9 if backend != "python" else 1e-6)
    assert r.model is arm and np.abs(r.a - a).max() < (1e-7 if backend != "python" else 1e-4)
    needed = r.dynamics.inverse(r.q, r.v, r.a, r.t, parameters={"k": np.full(len(r), 7.0)})
    assert np.abs(r.tau - needed).max() < 1e-11 * np.abs(r.tau).max()
    if backend != "python":
        assert np.abs(r.energy.defect).max() < 1e-7 and "tau" in r.energy.work


def test_mass_matrix_and_bias_of_a_law_are_those_of_the_model(arm):
    def law(on):
        M, h = on.mass_matrix(), on.bias()
        return [sum(x * y for x, y in zip(row, (1.0, 2.0, 3.0), strict=True)) + b for row, b in zip(M, h, strict=True)]

    r = sh.simulate(arm, 0.2, q0=[0.1, 0.2, 0.3], tau=law)
    assert np.abs(r.a - [1.0, 2.0, 3.0]).max() < 1e-12
    other = sh.simulate(arm, 0.2, q0=[0.1, 0.2, 0.3], tau=lambda on: on.inverse({"j0": 1.0, "j1": 2.0, "j2": 3.0}))
    assert np.abs(r.q - other.q).max() < 1e-12


def test_the_same_law_is_compiled_once_and_one_of_other_numbers_is_another(arm):
    gain = 3.0

    def law(on):
        return {"j0": -gain * on.v("j0")}

    first = with_law(arm, law)
    assert with_law(arm, law) is first and with_law(arm, lambda on: {"j0": -3.0 * on.v("j0")}) is first
    gain = 4.0
    assert with_law(arm, law) is not first


def test_a_sampled_law_comes_to_the_traced_one_in_proportion_to_its_period(arm):
    def traced(on):
        return {"j1": -20.0 * on.q("j1") - 4.0 * on.v("j1"), "j0": sh.sin(3.0 * on.t)}

    def sampled(s):
        return {"j1": -20.0 * s.coordinate("j1") - 4.0 * s.speed("j1"), "j0": np.sin(3.0 * s.t)}

    start = {"q0": [0.3, 0.5, -0.2]}
    exact = sh.simulate(arm, 1.0, tau=traced, **start).q[-1]
    errors = [
        np.abs(sh.simulate(arm, 1.0, control=sh.Sampled(sampled, T), output=[1.0], **start).q[-1] - exact).max()
        for T in (0.01, 0.005, 0.0025)
    ]
    assert np.abs(np.array(errors[:-1]) / errors[1:] - 2.0).max() < 0.1


@pytest.mark.parametrize("backend", ["llvm", "loops"])
def test_the_account_closes_with_a_law_a_controller_and_a_constraint(backend):
    m = sh.samples.four_bar() if backend == "llvm" else sh.samples.double_pendulum()
    first = m.joints[0].name
    law = {"tau": lambda on: {first: -0.3 * on.v(first)}, "control": sh.Sampled(lambda s: {first: 2.0 * np.cos(s.t)}, 0.05)}
    r = sh.simulate(m, 1.0, q0={first: 0.8}, backend=backend, output=0.03, **law)
    assert r.energy.accounted and np.abs(r.energy.defect).max() < 1e-7
    assert abs(r.energy.work["tau"][-1]) > 1e-2 and r.violation.max() < 1e-12
    shown = r.tau[:, 0] + 0.3 * r.v[:, 0]
    assert np.abs(shown - 2.0 * np.cos(0.05 * np.floor(r.t / 0.05 + 1e-9)))[:-1].max() < 1e-12


def test_rollouts_under_control_are_the_same_motions(arm):
    starts = np.random.default_rng(1).uniform(-0.5, 0.5, (3, 3))
    control = [
        sh.Sampled(lambda s: {"j0": -5.0 * s.coordinate("j0") - s.speed("j0")}, 0.03, delay=0.02),
        sh.Sampled(lambda t, q, v: -0.1 * v, 0.02, offset=0.01),
    ]
    for options in ({"control": control}, {"tau": lambda on: on.bias()}):
        many = sh.rollout(arm, starts, duration=0.2, step=0.01, every=2, **options)
        one = sh.simulate(arm, 0.2, q0=starts[1], integrator="rk4", step=0.01, output=0.02, **options)
        assert np.abs(many[1].q - one.q).max() < 1e-14 and np.abs(many[1].tau - one.tau)[:-1].max() < 1e-12
        assert many.model is arm


# --- step by step -------------------------------------------------------------------------------------------------------------
def test_a_controller_may_return_the_same_array_every_time(slider):
    buffer = np.zeros(1)

    def reused(s):
        buffer[:] = np.asarray(s.coordinate("rail")).mean() * -30.0 + s.number
        return buffer

    def own(s):
        return reused(s).copy()

    for delay in (0.0, 0.05, 0.1):
        runs = [sh.Sampled(f, 0.05, delay=delay, name="c") for f in (reused, own)]
        a, b = (sh.simulate(slider, 0.3, q0={"rail": 0.1}, control=c, output=0.05, backend="python") for c in runs)
        assert (a.q == b.q).all()
        assert (a.control["c"].tau == b.control["c"].tau).all()
        assert np.unique(a.control["c"].tau).size > 3
        options = {"steps": 30, "step": 0.01, "backend": "python"}
        a, b = (sh.rollout(slider, np.full((2, 1), 0.1), control=c, **options) for c in runs)
        assert (a.q == b.q).all()
        assert (a.tau == b.tau).all()


def test_steps_are_the_motion_of_one_run_and_reset_repeats_it_to_the_last_bit(arm):
    start = {"q0": [0.3, 0.5, -0.2], "v0": {"j2": 1.0}}
    sim = sh.Simulation(arm, **start, tau=[0.1, 0.0, 0.2], integrator="rk4", step=0.01)
    for _ in range(20):
        sim.step(0.05)
    first, whole = sim.result(), sh.simulate(arm, 1.0, **start, tau=[0.1, 0.0, 0.2], integrator="rk4", step=0.01, output=0.05)
    assert np.array_equal(first.t, whole.t) and np.abs(first.q - whole.q).max() < 1e-13
    assert first.cost.steps == whole.cost.steps == 100 and np.abs(first.energy.defect).max() < 1e-4
    sim.tau = {"j0": 7.0}
    sim.step(0.1)
    state = sim.reset()
    assert state.t == 0.0 and state.coordinate("j1") == 0.5 and sim.tau.tolist() == [0.1, 0.0, 0.2]
    for _ in range(20):
        sim.step(0.05)
    again = sim.result()
    assert (
        np.array_equal(again.q, first.q) and np.array_equal(again.v, first.v) and np.array_equal(again.work_done, first.work_done)
    )


def test_joint_forces_and_parameters_set_between_steps_are_those_of_a_sampled_controller(arm):
    def law(q, v):
        return -2.0 * q - 0.3 * v

    sim = sh.Simulation(arm, [0.3, 0.5, -0.2], parameters={"k": 6.0})
    for _ in range(10):
        sim.tau = law(sim.state.q, sim.state.v)
        sim.step(0.05)
    controlled = sh.Sampled(lambda t, q, v: law(q, v), 0.05)
    r = sh.simulate(arm, 0.5, q0=[0.3, 0.5, -0.2], control=controlled, output=0.05, parameters={"k": 6.0})
    found = sim.result()
    assert np.abs(found.q - r.q).max() < 1e-8 and np.abs(found.tau - r.tau)[:-1].max() < 1e-6
    assert np.abs(found.energy.defect).max() < 1e-8
    sim.parameters = {"k": 9.0}
    assert sim.parameters == {"k": 9.0} and sim.step(0.05).t == pytest.approx(0.55)
    with pytest.raises(sh.StateError, match="no parameter 'kk'"):
        sim.parameters = {"kk": 1.0}
    assert sim.reset(parameters={"k": 1.0}).t == 0.0 and sim.parameters == {"k": 1.0}


def test_an_event_stops_a_step_the_next_goes_on_and_a_failure_carries_the_motion(slider):
    sim = sh.Simulation(slider, v0=[1.0], events=sh.Event(lambda on: on.q("rail") - 0.25, action="stop", name="gate"))
    assert sim.step(0.2).t == 0.2 and sim.status == "done"
    assert abs(sim.step(0.2).t - 0.25) < 1e-12 and sim.status == "stopped"
    assert abs(sim.step(0.2).t - 0.45) < 1e-12 and [e.name for e in sim.result().events] == ["gate"]
    sim.tau[0] = np.nan
    with pytest.raises(sh.StateError, match="tau: 'rail' is nan"):
        sim.step(0.1)
    broken = slider.copy()
    broken.add_force(lambda on: on.torque("rail", sh.sqrt(0.15 - on.q("rail"))), name="root")
    sim = sh.Simulation(broken, v0=[1.0])
    sim.step(0.1)
    with pytest.raises(sh.SimulationError, match="not finite") as found:
        sim.step(0.1)
    assert found.value.result.t[-1] == sim.t > 0.1
    with pytest.raises(sh.StateError, match="record=False"):
        sh.Simulation(slider, record=False, backend="python", integrator="rk4", step=0.1).result()


def test_samples_and_simulations_know_the_states_of_forces(slider):
    m = slider.copy()
    m.add_state("integral", 0.1, rate=lambda on: 1.0 - on.q("rail"))
    m.add_force(lambda on: on.torque("rail", 3.0 * on.state("integral")), name="integrator")

    def pd(s):
        return {"rail": 30.0 * (1.0 - s.coordinate("rail")) - 10.0 * s.speed("rail") - s.state("integral")}

    r = sh.simulate(m, 0.5, control=sh.Sampled(pd, 0.05), output=0.05)
    sim = sh.Simulation(m)
    for _ in range(10):
        s = sim.state
        sim.tau = [30.0 * (1.0 - s.q[0]) - 10.0 * s.v[0] - s.states["integral"]]
        sim.step(0.05)
    assert abs(sim.state.states["integral"] - r.state("integral")[-1]) < 1e-10 and np.abs(sim.result().q - r.q).max() < 1e-9
    many = sh.rollout(m, [[0.0]], duration=0.5, step=0.01, control=sh.Sampled(pd, 0.05))
    assert np.abs(many.q[0, -1] - r.q[-1]).max() < 1e-7 and np.abs(r.energy.defect).max() < 1e-8
    assert sim.reset(states={"integral": 0.3}).states == {"integral": 0.3}


def test_what_is_set_on_a_simulation_acts_or_is_refused(slider):
    m = slider.copy()
    m.add_parameter("F", 1.0)
    m.add_state("integral", 0.1, rate=lambda on: 0.0 * on.t)
    m.add_force(lambda on: on.torque("rail", on.parameter("F") + on.state("integral")), name="push")
    sim = sh.Simulation(m, backend="python", integrator="rk4", step=0.1)
    sim.states, sim.parameters = {"integral": 0.5}, {"F": 2.0}
    assert abs(sim.step(1.0).speed("rail") - 2.5 / MASS) < 1e-14 and sim.states == {"integral": 0.5} == sim.state.states
    for key, name in (("parameters", "F"), ("states", "integral")):
        with pytest.raises(sh.StateError, match=rf"sim.{key} is read only: set sim.{key} = {{'{name}': 2.0}}"):
            getattr(sim, key)[name] = 2.0
    with pytest.raises(sh.StateError, match="no state 'integrl'; did you mean 'integral'"):
        sim.states = {"integrl": 0.3}
    with pytest.raises(AttributeError, match=r"sim\.taux cannot be set; did you mean 'tau'\?"):
        sim.taux = [1.0]
    with pytest.raises(AttributeError, match=r"sim\.q cannot be set.*reset"):
        sim.q = [1.0]
    assert sim.reset().states == {"integral": 0.1} and sim.parameters == {"F": 1.0}
