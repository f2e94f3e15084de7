"""Linear models: A, B, C, D are derivatives of the motion on its constraints; names, modes, responses, and what is refused."""

from __future__ import annotations

import math
import warnings
from functools import cache

import numpy as np
import pytest
from scipy.linalg import expm

import sharnir as sh
from loop_models import STARTS, placed
from sharnir.analysis.linear_system import spectrum
from sharnir.analysis.vector_field import turning
from states import assert_close, derivative, random_state

G = 9.81


def frozen(*args, **options) -> sh.LinearSystem:
    """Of any state: where it is neither at rest nor steady, which is said by a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sh.LinearizationWarning)
        return sh.linearize(*args, **options)


@cache
def arm() -> sh.Dynamics:
    """Two hinges and a ball joint, a tool frame on the last body."""
    m = sh.Model("arm")
    before = "ground"
    for name, joint in (("upper", sh.Revolute("y")), ("lower", sh.Revolute("x")), ("hand", sh.Ball())):
        m.add_body(name, 1.2, (0.2, 0.05, 0.0), (0.02, 0.03, 0.04))
        m.add_joint(f"{name} joint", joint, before, name, at=sh.Pose((0.4, 0.0, 0.1)))
        before = name
    m.add_frame("tool", "hand", sh.Pose((0.1, 0.2, 0.3)))
    return sh.Dynamics(m)


# --- A and B ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [*STARTS])
def test_A_is_the_derivative_of_the_motion_on_its_constraints(name):
    """Neighbouring states that satisfy the constraints are found by Newton's method; their accelerations are differentiated."""
    m, q, v = placed(name)
    d = sh.Dynamics(m)
    s = frozen(d, q, v)
    table, n = d.constrained.table, m.nv
    positions = [m.v_names.index(x[2:]) for x in s.state_names if x[0] == "q"]
    speeds = [m.v_names.index(x[2:]) for x in s.state_names if x[0] == "v"]
    others = [[k for k in range(n) if k not in some] for some in (positions, speeds)]

    def neighbour(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        near = m.integrate(q, s.basis[:n] @ x)
        for _ in range(6):
            now = table.evaluate(near, v, 0.0)
            step = np.zeros(n)
            step[others[0]] = -np.linalg.lstsq(now["J"][: len(now["g"]), others[0]], now["g"], rcond=1e-8)[0]
            near = m.integrate(near, step)
        u = v + s.basis[n:] @ x
        now = table.evaluate(near, u, 0.0)
        u[others[1]] -= np.linalg.lstsq(now["J"][:, others[1]], now["rate"], rcond=1e-8)[0]
        return near, u

    unit = np.eye(len(s.A))
    rows = len(positions) + np.arange(len(speeds))
    expected = np.array([derivative(lambda h, e=e: d.forward(*neighbour(h * e))[speeds], 4e-3) for e in unit]).T
    assert_close(s.A[rows], expected, 1e-7, scale=1.0)
    for e in unit:  # and the neighbours are where the basis says, to first order
        near = [neighbour(x * e)[1] for x in (1e-4, -1e-4)]
        assert_close((near[0] - near[1]) / 2e-4, s.basis[n:] @ e, 1e-6, scale=1.0)


def test_displacements_turn_with_the_axes_of_the_body():
    """ξ̇ = δv − ω × ξ in body axes; of a free joint also − v × (rotation) for the displacement."""
    m = sh.Model("free")
    m.add_body("body", 1.0, inertia=(0.1, 0.2, 0.3))
    m.add_floating("body")
    d, state = sh.Dynamics(m), random_state(m, 3)
    expected = -np.block([[_cross(state.v[3:]), _cross(state.v[:3])], [np.zeros((3, 3)), _cross(state.v[3:])]])
    assert_close(turning(d, state.q, state.v, 0.0), expected, 1e-14, scale=1.0)


def _cross(x: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def test_a_tumbling_body_far_from_rest_moves_as_the_linear_flow_says():
    """Two free flights from neighbouring states, compared with the product of exp(A dt) along the first of them."""
    m = sh.Model("tumbling", gravity=(0.0, 0.0, 0.0))
    m.add_body("body", 1.0, (0.1, 0.0, 0.2), (0.1, 0.2, 0.25))
    m.add_joint("ball", sh.Ball(), "ground", "body")
    d, q, v = sh.Dynamics(m), np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 2.0, -0.5])
    x = 1e-6 * np.array([1.0, -0.5, 0.3, 0.7, 0.2, -1.0])
    times = np.linspace(0.0, 0.5, 101)
    one = sh.simulate(m, 0.5, q0=q, v0=v, rtol=1e-12, atol=1e-14, output=times)
    other = sh.simulate(m, 0.5, q0=m.integrate(q, x[:3]), v0=v + x[3:], rtol=1e-12, atol=1e-14, output=times)
    for k in range(0, 100, 2):
        x = expm(frozen(d, one.q[k + 1], one.v[k + 1]).A * (times[k + 2] - times[k])) @ x  # the midpoint rule
    assert_close(m.difference(one.q[-1], other.q[-1]), x[:3], 1e-3)
    assert_close(other.v[-1] - one.v[-1], x[3:], 1e-3)


def test_redundant_constraints_change_nothing():
    """A four-bar in space and with a second identical closing joint, Bricard's mechanism by any of its hinges."""
    start = {"A": 1.2, "B": -1.0, "C": 1.5}
    one, two = (sh.samples.four_bar(0.5, 1.3, 0.9, 1.1) for _ in range(2))
    two.add_constraint(sh.Distance("coupler", "ground", at_a=(1.3, 0.0, 0.0), at_b=(1.1, 0.0, 0.0), length=0.9), "rocker again")
    for m in (one, two):
        m.add_force(sh.JointSpring("A", stiffness=40.0, rest=1.3))
    d = [sh.Dynamics(m) for m in (one, two)]
    q, v, a = _still(one, start)
    hold = d[0].inverse(q, v, a)
    systems = [sh.linearize(x, q, tau=hold) for x in d]
    assert two.mobility(q).redundant
    assert_close(systems[1].A, systems[0].A, 1e-9)
    m = sh.samples.bricard()
    d0 = sh.Dynamics(m)
    hold = d0.inverse(m.neutral(), np.zeros(5), np.zeros(5))
    found = [sh.linearize(d0, tau=hold, independent=[f"hinge{k}"]).eigenvalues for k in (1, 3, 5)]
    assert_close(np.abs(found), np.abs(found[0]) * np.ones((3, 1)), 1e-8)


def _still(m: sh.Model, start: dict) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, _ = m.assemble(start, fixed=["A"])
    return q, np.zeros(m.nv), np.zeros(m.nv)


def test_independent_coordinates_do_not_change_the_eigenvalues():
    m = sh.samples.slider_crank()
    start = {"main": 0.7, "crankpin": -1.0}
    q, _ = m.assemble(start, nearest=True)
    d = sh.Dynamics(m)
    hold = d.inverse(q, np.zeros(3), np.zeros(3))
    found = {name: sh.linearize(d, q, tau=hold, independent=[name]) for name in ("main", "crankpin", "slide")}
    for name, s in found.items():
        assert s.state_names == [f"q.{name}", f"v.{name}"]
        assert_close(np.sort_complex(s.eigenvalues), np.sort_complex(found["main"].eigenvalues), 1e-10)


def test_hinges_and_slides_are_independent_where_they_can_be():
    s = frozen(sh.Dynamics(sh.samples.stewart(), backend="python"))
    assert s.state_names == [f"{kind}.leg{k}" for kind in "qv" for k in range(6)]


@pytest.mark.parametrize("options", [{"backend": "python"}, {"backend": "loops"}, {"method": "composite"}], ids=str)
def test_every_method_and_backend_gives_the_same(options):
    for model, q in (
        (sh.samples.double_pendulum(), [0.4, 0.3]),
        (sh.samples.four_bar(0.5, 1.3, 0.9, 1.1), {"A": STARTS["four-bar"][1]["A"]}),
    ):
        assert_close(frozen(sh.Dynamics(model, **options), q).A, frozen(model, q).A, 1e-11)


# --- inputs and outputs -----------------------------------------------------------------------------------------------------
def test_forces_on_bodies_and_in_joints_do_what_forward_says():
    d = arm()
    state = random_state(d.model, 2)
    names = ["lower joint", "hand joint.wy", "hand.fz", "lower.mx"]
    s = frozen(d, state.q, state.v, tau=state.tau, inputs=names)
    assert s.input_names == names and s.B.shape == (10, 4)

    def pushed(h: float, k: int) -> np.ndarray:
        tau, wrenches = state.tau.copy(), {"hand": np.zeros(6), "lower": np.zeros(6)}
        tau[1] += h * (k == 0)
        tau[3] += h * (k == 1)
        wrenches["hand"][2], wrenches["lower"][3] = h * (k == 2), h * (k == 3)
        return d.forward(state.q, state.v, tau, wrenches=wrenches)

    for k in range(4):
        assert_close(s.B[5:, k], pushed(1.0, k) - pushed(0.0, k), 1e-10)
    assert not s.B[:5].any()
    assert frozen(d, inputs=["hand joint"]).input_names == ["hand joint.wx", "hand joint.wy", "hand joint.wz"]


def test_outputs_are_derivatives_of_what_they_name():
    d = arm()
    m, state = d.model, random_state(d.model, 4)
    names = ["q.upper joint", "v.hand joint.wz", "a.lower joint", "tool.x", "tool.vy", "hand.wz", "hand.rz"]
    outputs = {**{x: x for x in names}, "height": lambda on: on.point("hand", (0.1, 0.2, 0.3))[0][2] * on.v("lower joint")}
    s = frozen(d, state.q, state.v, tau=state.tau, outputs=outputs, inputs=["upper joint"])
    assert s.output_names == [*names, "height"]
    at = np.array([0.1, 0.2, 0.3])

    def seen(h: float, x: np.ndarray, u: float = 0.0) -> np.ndarray:
        q, v = m.integrate(state.q, h * x[:5]), state.v + h * x[5:]
        R, r = (y[2] for y in d.poses(q))
        velocity = d.body_velocities(q, v)[2]
        point, speed = r + R @ at, R @ (velocity[:3] + np.cross(velocity[3:], at))
        a = d.forward(q, v, state.tau + h * u * np.eye(5)[0])
        turned = (R @ d.poses(state.q)[0][2].T)[1, 0]
        return np.array([q[0], v[4], a[1], point[0], speed[1], (R @ velocity[3:])[2], turned, point[2] * v[1]])

    for k, e in enumerate(np.eye(10)):
        assert_close(s.C[:, k], derivative(lambda h, e=e: seen(h, e), 4e-3), 1e-7, scale=1.0)
    assert_close(s.D[:, 0], derivative(lambda h: seen(h, np.zeros(10), 1.0), 4e-3), 1e-9)


def test_the_outputs_are_the_states_unless_named():
    s = sh.linearize(sh.samples.double_pendulum(), [-math.pi / 2.0, 0.0])
    assert s.output_names == s.state_names == ["q.hinge1", "q.hinge2", "v.hinge1", "v.hinge2"]
    assert (np.eye(4) == s.C).all() and not s.D.any() and s.input_names == ["hinge1", "hinge2"]
    assert repr(s) == "<LinearSystem of 'double pendulum': 4 states, 2 inputs, 4 outputs; equilibrium>"


# --- responses --------------------------------------------------------------------------------------------------------------
def damped() -> sh.LinearSystem:
    m = sh.samples.double_pendulum()
    m.add_force(sh.JointSpring("hinge1", damping=0.4))
    m.add_force(sh.JointSpring("hinge2", damping=0.2))
    return sh.linearize(m, [-math.pi / 2.0, 0.0], inputs=["hinge1"], outputs=["q.hinge2", "a.hinge1"])


def test_responses_are_those_of_python_control():
    import control  # takes seconds: only where it is needed

    s = damped()
    other = s.to_control()
    assert isinstance(other, control.StateSpace) and other.output_labels == ["q_hinge2", "a_hinge1"]
    omega, times = np.array([0.1, 2.7, 30.0]), np.linspace(0.0, 3.0, 7)
    assert_close(s.frequency_response(omega), np.moveaxis(np.asarray(other(1j * omega)), -1, 0), 1e-12)
    assert_close(s.step_response(times), np.moveaxis(control.step_response(other, times).outputs, -1, 0), 1e-6)
    assert_close(s.frequency_response(2.7), s.frequency_response(omega)[1], 0.0)
    natural, ratio, _ = control.damp(other, doprint=False)
    assert_close(np.sort(natural)[::2], 2.0 * math.pi * s.natural_frequencies, 1e-10)
    assert_close(np.sort(ratio)[::2], np.sort(s.damping_ratios), 1e-9)


def test_an_undamped_resonance_is_infinite():
    m = sh.Model("mass on a spring", gravity=(0.0, 0.0, 0.0))
    m.add_body("mass", 1.0)
    m.add_joint("slide", sh.Prismatic("x", stiffness=4.0), "ground", "mass")
    s = sh.linearize(m, outputs=["q.slide"])
    assert np.isinf(s.frequency_response(2.0)).all()
    assert_close(s.frequency_response([0.0, 1.0])[:, 0, 0], [1 / 4, 1 / 3], 1e-14)
    times = np.linspace(0.0, 2.0, 5)
    assert_close(s.step_response(times)[:, 0, 0], (1.0 - np.cos(2.0 * times)) / 4.0, 1e-13)


# --- modes ------------------------------------------------------------------------------------------------------------------
def test_a_mode_is_a_motion_of_the_bodies():
    m = sh.samples.four_bar(0.5, 1.3, 0.9, 1.1)
    m.add_force(sh.JointSpring("A", stiffness=90.0, rest=1.2))
    q, v, a = _still(m, STARTS["four-bar"][1])
    d = sh.Dynamics(m)
    (mode,) = sh.linearize(d, q, tau=d.inverse(q, v, a)).modes
    assert mode.kind == "oscillation" and mode.shares[0].amplitude == 1.0
    moved = mode.motion(0.3, np.linspace(0.0, 2.0 * math.pi, 5))
    assert moved.shape == (5, 3)
    for x in moved:  # assembled: the loop stays closed
        assert np.abs(d.constrained.table.evaluate(x, v, 0.0)["g"]).max() < 1e-10
    assert_close(moved[1], q, 1e-9)
    assert_close(moved[4], moved[0], 1e-9)
    here, there = d.poses(q)[1], mode.poses(1e-5)[1]
    assert_close((there - here)[1] / 1e-5, mode.body("coupler")[:3].real, 1e-4)
    assert_close(mode.motion(1e-6) - q, 1e-6 * mode.tangent.real, 1e-5)


def test_zeros_are_told_from_small_numbers_and_split_off():
    """A nilpotent block of order three, a small eigenvalue and a pair, in any orthogonal axes."""
    A = np.zeros((6, 6))
    A[0, 1] = A[1, 2] = A[0, 4] = A[2, 5] = 1.0
    A[3, 3], A[4, 5], A[5, 4] = 1e-6, 2.0, -2.0
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]
    found = spectrum(Q @ A @ Q.T, 0)
    assert found.zeros == 3 and found.null.shape == (6, 1)
    assert_close(found.values, [0.0, 0.0, 0.0, 1e-6, 2j, -2j], 1e-13, scale=1.0)
    assert_close(Q @ A @ Q.T @ found.vectors, found.vectors * found.values[3:], 1e-12, scale=1.0)  # a vector is 120 long


# --- what is shown ----------------------------------------------------------------------------------------------------------
def test_the_summary_names_what_moves():
    text = damped().summary().splitlines()
    assert text[0] == "double pendulum: equilibrium; 4 states, 0 of 4 eigenvalues zero, no mode grows"
    assert text[1].split() == ["mode", "eigenvalue,", "1/s", "frequency,", "Hz", "damping", "ratio", "kind", "moves"]
    assert len(text) == 4 and "hinge1 1, hinge2" in text[2] and "damped oscillation" in text[3]


def test_pictures_are_drawn_into_files(tmp_path):
    s = damped()
    figure = s.bode(path=tmp_path / "bode.png")
    assert [axes.get_ylabel() for axes in figure.axes] == ["amplitude, dB", "phase, degrees"]
    x, y = figure.axes[0].lines[0].get_data()
    k = int(np.argmax(y))
    assert x[k] == pytest.approx(s.frequencies[0], rel=0.05)
    s.bode(inputs=["hinge1"], outputs=["q.hinge2"], omega=[1.0, 2.0], path=tmp_path / "one.svg")
    s.plot_modes(tmp_path / "modes.png")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bode.png", "modes.png", "one.svg"]
    with pytest.raises(sh.MethodError, match=r"did you mean 'q\.hinge2'"):
        s.bode(outputs=["q.hinge3"])
    with pytest.raises(sh.StateError, match="positive angular frequencies"):
        s.bode(omega=[0.0, 1.0])


# --- what is refused --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("options", "message"), [
    ({"inputs": ["hinge3"]}, "inputs: no joint with freedoms, and no force on a body, 'hinge3'; did you mean 'hinge2'"),
    ({"inputs": "hinge1"}, "inputs: expected names, a list"),
    ({"outputs": ["q.hinge3"]}, "did you mean 'q.hinge2'"),
    ({"outputs": ["hinge1"]}, "outputs: 'hinge1' is no coordinate"),
    ({"outputs": [3]}, "outputs: 3 is no coordinate"),
    ({"q": [1.0]}, r"q: expected \(2,\), one number each for .*, got \(1,\)"),
    ({"tau": [np.nan, 0.0]}, "tau: 'hinge1' is nan"),
    ({"t": "now"}, "t: expected a number"),
    ({"independent": ["hing1"]}, "independent: no coordinate 'hing1'; did you mean 'hinge1'"),
])  # fmt: skip
def test_mistakes_are_named(options, message):
    with pytest.raises(sh.SharnirError, match=message):
        sh.linearize(sh.samples.double_pendulum(), **options)


def test_functions_that_push_are_refused():
    with pytest.raises(sh.StateError, match="output 'push': the function of an output must not apply forces"):
        sh.linearize(sh.samples.double_pendulum(), outputs={"push": lambda on: on.torque("hinge1", 1.0) or 0.0})


def test_more_names_than_freedoms_are_refused():
    with pytest.raises(sh.MethodError, match="as many names as the mechanism has freedoms here, 1; got 2"):
        sh.linearize(sh.samples.four_bar(), {"A": 1.0, "B": -1.0, "C": 1.0}, independent=["A", "B"])


@pytest.mark.parametrize(("make", "start"), [(sh.samples.four_bar, None), (lambda: sh.samples.n_four_bar(2, thin=False), None)])
def test_a_singular_position_is_refused(make, start):
    with pytest.raises(sh.SingularError, match=r"singular position: . degrees of freedom here, fewer beside it, where joint"):
        sh.linearize(make(), start)


def test_a_position_next_to_a_singular_one_is_refused():
    with pytest.raises(sh.SingularError, match=r"too near to a singular one .* joint 'D': position along"):
        sh.linearize(sh.samples.four_bar(), {"A": 3e-8, "B": -3e-8, "C": 3e-8})
    s = frozen(sh.samples.four_bar(), {"A": 1e-3, "B": -1e-3, "C": 1e-3})
    assert 1e-4 < s.conditioning < 1e-2


def test_a_state_that_does_not_last_is_said_to_be_frozen():
    with pytest.warns(sh.LinearizationWarning, match=r"instant t = 2 .* 'hinge2' accelerates there by 16.8"):
        s = sh.linearize(sh.samples.double_pendulum(), t=2.0)
    assert s.steadiness == "frozen" and "hinge2" in s.why and "A is that of the instant only" in s.summary()
    d = s.dynamics
    held = sh.linearize(d, tau=d.inverse(np.zeros(2), np.zeros(2), np.zeros(2)))
    assert held.steadiness == "equilibrium"
