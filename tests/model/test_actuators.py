"""Controllers, motors and hydraulics with states of their own: what they do is what can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from states import assert_close

pytestmark = pytest.mark.xdist_group("integrators")
INERTIA = 0.2


def rotor(*forces, **options):
    """A body that turns about z, without gravity."""
    m = sh.Model("rotor", gravity=(0.0, 0.0, 0.0))
    m.add_body("disc", 1.0, inertia=(INERTIA,) * 3)
    m.add_joint("turn", sh.Revolute("z", **options), "ground", "disc")
    for force in forces:
        m.add_force(force, name="drive")
    return m


def run(model, seconds, **options):
    return sh.simulate(model, seconds, rtol=1e-11, atol=1e-13, output=seconds / 20, **options)


def linear(A, b, x0, t):
    """Solution of ẋ = A x + b from x0 at times t."""
    values, V = np.linalg.eig(A)
    rest = -np.linalg.solve(A, b)
    c = np.linalg.solve(V, x0 - rest)
    return rest + (V @ (np.exp(np.outer(values, t)) * c[:, None])).T.real


# --- controllers ------------------------------------------------------------------------------------------------------------
def test_a_pid_with_a_filter_is_the_linear_system_of_its_gains():
    kp, ki, kd, T, target = 6.0, 4.0, 2.0, 0.05, 0.7
    r = run(rotor(sh.PID("turn", kp, ki, kd, target, filter=T)), 2.0)
    A = [
        [0, 1, 0, 0], [-kp / INERTIA, 0, ki / INERTIA, kd / INERTIA], [-1, 0, 0, 0], [0, -1 / T, 0, -1 / T],
    ]  # fmt: skip
    x = linear(np.array(A, dtype=float), np.array([0.0, kp * target / INERTIA, target, 0.0]), np.zeros(4), r.t)
    found = [r.coordinate("turn"), r.speed("turn"), r.state("drive.integral"), r.state("drive.derivative")]
    assert_close(np.array(found).T, x, 1e-7, scale=1.0)
    assert_close(r.quantity("error of drive"), target - x[:, 0], 1e-7, scale=1.0)
    assert np.abs(r.energy.defect).max() < 1e-8


def test_a_pid_follows_a_moving_target_by_its_rate():
    """With e = ė = 0 at the start and no load but inertia, u = 0 only if the target is at rest: here the command is kd·ṙ."""
    d = sh.Dynamics(rotor(sh.PID("turn", 5.0, 0.0, 3.0, lambda t: sh.sin(2.0 * t))), backend="python")
    assert_close(d.forward([0.0], [0.0], t=0.0) * INERTIA, [6.0], 1e-14)
    assert_close(d.forward([0.0], [2.0], t=0.0), [0.0], 1e-14, scale=1.0)


def test_windup_is_led_back_or_stopped():
    """Demand 2·0.5 + 4·z with limit 1: back-calculation rests where e = (demand − limit)/(ki·T), clamping where demand exceeds
    the limit by 1 %, and neither holds what leads back."""
    options = {"kp": 2.0, "ki": 4.0, "target": 0.5, "limit": 1.0}

    def rate(z, q=0.0, **more):
        d = sh.Dynamics(rotor(sh.PID("turn", **options, **more)), backend="python")
        return float(d.state_rates([q], [0.0], parameters={"drive.integral": z})[0])

    assert_close(rate(0.25, tracking=0.1), 0.5 - 1.0 / (4.0 * 0.1), 1e-14)
    assert_close(rate(0.05, tracking=0.1), 0.0, 1e-14, scale=1.0)
    assert_close(rate(0.25), 0.5 - 1.0 / (4.0 * 0.5), 1e-14, scale=1.0)  # tracking is kp/ki
    assert rate(0.25, anti_windup="none") == 0.5
    assert rate(0.25, anti_windup="clamping") == rate(0.0025, anti_windup="clamping") == 0.0
    assert_close(rate(0.00125, anti_windup="clamping"), 0.25, 1e-12)
    assert_close(rate(0.25, 1.5 - 0.6, anti_windup="clamping"), -0.4, 1e-14)
    with pytest.raises(sh.SharnirError, match="needs tracking"):
        sh.Dynamics(rotor(sh.PID("turn", ki=1.0, limit=1.0)))


def test_an_integral_carries_a_load_without_error():
    m = sh.Model("arm")
    m.add_body("arm", 2.0, (0.3, 0.0, 0.0), (0.05, 0.05, 0.05))
    m.add_joint("turn", sh.Revolute("y", damping=1.0), "ground", "arm")
    m.add_force(sh.PID("turn", 30.0, 40.0, 4.0, 0.4, limit=8.0), name="hold")
    r = sh.simulate(m, 12.0, rtol=1e-8, output=12.0)
    assert abs(r.coordinate("turn")[-1] - 0.4) < 1e-5
    assert_close(40.0 * r.state("hold.integral")[-1], -2.0 * 9.81 * 0.3 * np.cos(0.4), 1e-4)


def test_lags_of_first_and_second_order_answer_a_step_as_they_should():
    m = rotor()
    T, zeta = 0.3, 0.6
    sh.low_pass(m, "slow", lambda on: 2.0, T)
    second = sh.low_pass(m, "smooth", lambda on: 1.0, T, zeta)
    sh.low_pass(m, "behind", second, T, initial=0.5)
    r = run(m, 2.0)
    w = np.sqrt(1.0 - zeta**2) / T
    step = 1.0 - np.exp(-zeta * r.t / T) * (np.cos(w * r.t) + zeta / (w * T) * np.sin(w * r.t))
    assert_close(r.state("slow"), 2.0 * (1.0 - np.exp(-r.t / T)), 1e-8, scale=1.0)
    assert_close(r.state("smooth"), step, 1e-8, scale=1.0)
    assert r.state("behind")[0] == 0.5
    with pytest.raises(sh.ModelError, match="time_constant: expected a number above 0"):
        sh.low_pass(rotor(), "x", lambda on: on.t, 0.0)


# --- DC motor ---------------------------------------------------------------------------------------------------------------
def test_a_dc_motor_runs_up_as_its_two_time_constants_say_and_its_energy_is_accounted_for():
    u, R, k, L, gear = 12.0, 0.7, 0.05, 0.02, 8.0
    r = run(rotor(sh.DCMotor("turn", u, R, k, inductance=L, gear=gear)), 1.0)
    A = np.array([[0.0, gear * k / INERTIA], [-gear * k / L, -R / L]])
    x = linear(A, np.array([0.0, u / L]), np.zeros(2), r.t)
    assert_close(np.array([r.speed("turn"), r.state("drive.current")]).T, x, 1e-7, scale=10.0)
    fine = np.linspace(0.0, 1.0, 20001)
    i = linear(A, np.array([0.0, u / L]), np.zeros(2), fine)[:, 1]
    assert_close(r.energy.work["drive"][-1], np.trapezoid(u * i - R * i * i, fine), 1e-6)  # electrical power less heat
    assert np.abs(r.energy.defect).max() < 1e-7
    assert_close(r.quantity("back emf of drive"), gear * k * x[:, 0], 1e-6, scale=1.0)


def test_a_dc_motor_without_inductance_has_no_state_and_one_time_constant():
    u, R, k, e = 12.0, 0.7, 0.05, 0.06
    m = rotor(sh.DCMotor("turn", lambda t, x, v: u, R, k, back_emf=e))
    r = run(m, 50.0)
    assert not m.states
    assert_close(r.speed("turn"), u / e * (1.0 - np.exp(-k * e / (R * INERTIA) * r.t)), 1e-7)
    assert_close(r.quantity("current of drive")[0], u / R, 1e-14)


def test_a_servo_is_a_pid_whose_command_is_the_voltage():
    pid = sh.PID("turn", 20.0, 8.0, 1.0, 0.5)
    d = sh.Dynamics(rotor(sh.DCMotor("turn", pid, 0.7, 0.05, gear=8.0, limit=6.0)), backend="python")
    for q, u in ((0.3, 20.0 * 0.2 + 8.0 * 0.1 - 1.0), (0.0, 6.0)):
        wanted = 8.0 * 0.05 * (u - 0.05 * 8.0) / 0.7 / INERTIA
        assert_close(d.forward([q], [1.0], parameters={"drive.integral": 0.1}), [wanted], 1e-14)


def test_motors_of_one_kind_share_a_trace():
    m = sh.Model("many", gravity=(0, 0, 0))
    for k in range(50):
        m.add_body(f"b{k}", 1.0, inertia=(1.0, 1.0, 1.0))
        m.add_joint(f"j{k}", sh.Revolute("z"), "ground", f"b{k}")
        m.add_force(sh.DCMotor(f"j{k}", 1.0 + k, 0.5, 0.1, inductance=0.1 + k))
        m.add_force(sh.PID(f"j{k}", 1.0, 1.0 + k, 0.1, limit=4.0))
    groups = m.structure.forces.groups
    assert len(groups) == 2 and all(len(group.reads) == 50 for group in groups)


# --- hydraulics -------------------------------------------------------------------------------------------------------------
MASS, AREA, STROKE, DEAD, BETA = 1000.0, 2e-3, 0.5, 1e-4, 1.4e9


def lift(gravity=9.81, **options):
    """A mass on a vertical cylinder."""
    m = sh.Model("lift", gravity=(0.0, 0.0, -gravity))
    m.add_body("load", MASS)
    m.add_joint("z", sh.Prismatic("z"), "ground", "load", at=sh.Pose((0.0, 0.0, 1.0)))
    both = {"area_a": AREA, "area_b": AREA, "stroke": STROKE, "length": 1.0, "bulk_modulus": BETA}
    m.add_force(sh.HydraulicCylinder("ground", "load", **both | options), name="ram")
    return m


def stiff(model, seconds, z=0.25, v=0.0, rtol=1e-8):
    start = {"q0": {"z": z}, "v0": {"z": v}}
    return sh.simulate(model, seconds, **start, integrator="radau", rtol=rtol, atol=1e-12, output=seconds / 20)


def test_a_mass_on_closed_oil_oscillates_at_the_hydraulic_frequency():
    """ω² = 4βA²/(V m) in mid-stroke; the oil of each closed chamber keeps its mass, V·exp(p/β)."""
    omega = np.sqrt(4.0 * BETA * AREA**2 / ((AREA * STROKE + 2.0 * DEAD) * MASS))
    r = stiff(lift(0.0), 2.0 * np.pi / omega, v=1e-4)
    assert_close(r.coordinate("z") - 0.25, 1e-4 / omega * np.sin(omega * r.t), 1e-5, scale=1e-4 / omega)
    assert_close(r.speed("z")[-1], 1e-4, 1e-5)
    assert_close(np.abs(sh.linearize(lift(0.0), {"z": 0.25}).eigenvalues), [0.0, 0.0, omega, omega], 1e-12)
    for side, rest in (("a", 0.0), ("b", STROKE)):
        oil = DEAD + AREA * np.abs(r.coordinate("z") - rest)
        mass = np.log(oil / oil[0]) + r.state(f"ram.pressure_{side}") / BETA
        assert np.abs(mass).max() < 1e-9 * np.abs(r.state(f"ram.pressure_{side}")).max() / BETA + 1e-15
    assert np.abs(r.energy.defect).max() < 1e-6 * 0.5 * MASS * 1e-8


def test_a_load_is_carried_by_the_pressure_and_moves_as_fast_as_the_valve_lets_oil_through():
    """At constant speed p_a·A − p_b·A = m g; the edges are alike, so that p_supply − p_a = p_b, and v = C·a·u·√(2p_b/ρ)/A."""
    supply, edge = 2e7, 1e-5
    valve = sh.Valve(0.4, area=edge, supply=supply, lag=0.01, laminar=1.0)
    r = stiff(lift(friction=4e4, valve=valve, pressure_a=MASS * 9.81 / AREA), 0.6, z=0.1)
    a, b, v = (x[-1] for x in (r.state("ram.pressure_a"), r.state("ram.pressure_b"), r.speed("z")))
    assert_close((a - b) * AREA, MASS * 9.81 + 4e4 * v, 1e-4)
    flow = 0.7 * edge * 0.4 * np.sqrt(2.0 * np.array([supply - a, b]) / 850.0)
    assert_close(flow, [AREA * v, AREA * v], 1e-4)
    assert_close(r.quantity("flow a of ram")[-1], flow[0], 1e-6)
    assert_close(r.state("ram.spool"), 0.4 * (1.0 - np.exp(-r.t / 0.01)), 1e-6, scale=1.0)
    assert np.abs(r.energy.defect).max() < 1e-6 * np.abs(r.energy.work["ram"]).max()


def test_an_accumulator_is_a_spring_of_gas():
    """Oil that does not give way: the gas takes what the piston displaces, p·Vⁿ stays, ω² = n·P·A²/(V m) for small motions."""
    n, volume, precharge, p0 = 1.3, 2e-3, 3e6, MASS * 9.81 / AREA
    gas = sh.Accumulator(volume, precharge, "a", n)
    model = lift(bulk_modulus=1e15, area_b=0.0, accumulators=[gas], pressure_a=p0)
    atmosphere = 101325.0
    P0 = p0 + atmosphere
    V0 = volume * ((precharge + atmosphere) / P0) ** (1.0 / n)
    omega = np.sqrt(n * P0 * AREA**2 / (V0 * MASS))
    r = stiff(model, 2.0 * np.pi / omega, v=1e-3)
    V = V0 + AREA * (r.coordinate("z") - 0.25)
    assert_close((r.state("ram.pressure_a") + atmosphere) * V**n, np.full(len(V), P0 * V0**n), 1e-9)
    assert_close(r.coordinate("z") - 0.25, 1e-3 / omega * np.sin(omega * r.t), 1e-3, scale=1e-3 / omega)
    assert np.abs(r.energy.defect).max() < 1e-6
    assert not r.energy.work or np.abs(r.energy.work["ram"]).max() < 1e-6


def test_a_pump_fills_the_accumulator_at_the_supply_and_stops():
    line = sh.Accumulator(1e-3, 5e6, pump=1e-3, line=1e-4, exponent=1.0)
    r = stiff(lift(0.0, valve=sh.Valve(0.0, area=1e-5, supply=2e7), accumulators=[line]), 3.0, rtol=1e-6)
    p = r.state("ram.supply")
    assert 0.999 * 2e7 < p[-1] < 1.00001 * 2e7 and np.all(np.diff(p) > -1.0)
    oil = 1e-3 * (1.0 - (5e6 + 101325.0) / (p + 101325.0)).clip(0.0) + 1e-4 * p / BETA
    filling = p < 0.95 * 2e7
    assert_close(oil[filling], 1e-3 * r.t[filling], 1e-5)


def test_a_valve_opens_as_a_pid_commands_and_no_further():
    d = sh.Dynamics(lift(valve=sh.Valve(sh.PID("z", 2.0, 3.0, target=0.5), area=1e-5, supply=2e7)), backend="python")
    for q, u in ((0.3, 2.0 * 0.2 + 3.0 * 0.1), (0.1, 1.0)):
        assert_close(d.observed([q], parameters={"ram.integral": 0.1})["ram"]["opening"], [u], 1e-14)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: lift(accumulators=[sh.Accumulator(1.0, 1.0)]), "an accumulator at the supply needs a valve"),
        (lambda: lift(accumulators=[sh.Accumulator(1.0, 1.0, "a")] * 2), "at most one accumulator at each"),
        (lambda: sh.Accumulator(1.0, 1.0, "b", pump=1.0), "a pump feeds the supply, not chamber 'b'"),
        (lambda: lift(valve=7), "hydraulic-cylinder: valve: expected a sharnir.Valve, got 7"),
        (lambda: sh.Actuator(), "give one of terms=…, points=… and body=…"),
        (lambda: sh.DCMotor("x", "24 V", 1.0, 1.0), "dc-motor: voltage: expected a number or a function of t, x, v"),
    ],
)  # fmt: skip
def test_mistakes_are_named(make, says):
    with pytest.raises(sh.SharnirError) as found:
        make()
    assert says in str(found.value)


def hanging(**options) -> sh.Model:
    m = sh.Model("lift")
    m.add_body("load", 1000.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("z", sh.Prismatic("z"), "ground", "load", at=sh.Pose((0.0, 0.0, 1.0)))
    ram = sh.HydraulicCylinder("ground", "load", area_a=2e-3, area_b=1e-3, stroke=0.5, length=1.0, **options)
    m.add_force(ram, name="ram")
    return m


def test_a_piston_stops_at_the_end_of_its_stroke():
    m = hanging(pressure_a=5.4e6, pressure_b=1e6, leakage=2e-11, valve=sh.Valve(1.0, area=2e-5, supply=1.8e7))
    r = sh.simulate(m, 3.0, q0={"z": 0.1}, output=0.05)
    assert 0.5 < r.quantity("stroke of ram").max() < 0.505


def test_the_work_of_a_small_leakage_is_in_the_account():
    r = sh.simulate(hanging(pressure_a=4.905e6, leakage=1e-12), 5.0, q0={"z": 0.25}, output=1.0)
    assert r.energy.work["ram"][-1] < -1.0 and np.abs(r.energy.defect).max() < 1e-6
