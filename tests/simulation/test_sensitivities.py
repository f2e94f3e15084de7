"""Sensitivities of a motion are its derivatives: by parameters, by its start, through events, on closed loops."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from parametric_models import LINKAGE_START, linkage
from states import assert_close

TIGHT = {"rtol": 1e-11, "atol": 1e-13, "output": 0.25}
RUN = {"rtol": 1e-9, "atol": 1e-11, "output": 0.25}
DEFAULTS = {"L": 0.5, "k": 3.0}


def swing() -> sh.Model:
    """A bar with a spring and a ball joint at its end; length, masses and forces depend on parameters."""
    m = sh.Model("swing")
    L, k = (m.add_parameter(name, value) for name, value in DEFAULTS.items())
    m.add_body("bar", mass=1.0, shape=sh.Rod((0, 0, 0), (L, 0, 0), radius=0.01))
    m.add_body("bob", mass=2 * L, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.03))
    m.add_joint("hinge", sh.Revolute("y", damping=0.1, stiffness=k), "ground", "bar")
    m.add_joint("ball", sh.Ball(), "bar", "bob", at=sh.Pose((L, 0, 0)))
    m.add_force(lambda on: on.torque("hinge", -k * on.v("hinge") ** 3), "brake")
    return m


def derivative_of(f, h: float) -> np.ndarray:
    """f'(0) by central differences of fourth order."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def rows(r) -> np.ndarray:
    return np.concatenate([r.q, r.v], axis=1)


def start(name: str, h: float) -> dict:
    """q0, v0 and parameters with one of them changed by h."""
    q, v, p = np.array([0.3, 1.0, 0.0, 0.0, 0.0]), np.array([0.1, 0.2, 0.3, 0.4]), dict(DEFAULTS)
    if name in p:
        p[name] += h
    elif name == "q0.hinge":
        q[0] += h
    elif name == "q0.ball.wy":  # a turn about y of the moved axes
        q[1:] = [np.cos(h / 2), 0.0, np.sin(h / 2), 0.0]
    else:
        v[1] += h
    return {"q0": q, "v0": v, "parameters": p}


@pytest.mark.parametrize("name", ["L", "k", "q0.hinge", "q0.ball.wy", "v0.ball.wx"])
def test_a_sensitivity_is_the_derivative_of_the_motion(name):
    m = swing()
    r = sh.simulate(m, 0.5, sensitivities=[name], **start(name, 0.0), **RUN)
    expected = derivative_of(lambda h: rows(sh.simulate(m, 0.5, **start(name, h), **TIGHT)), 1e-3)
    assert_close(rows(r.sensitivity(name)), expected, 1e-7)
    assert_close(r.q, sh.simulate(m, 0.5, **start(name, 0.0), **RUN).q, 1e-7)


@pytest.mark.parametrize("name", ["L", "k", "q0.hinge"])
def test_sensitivities_pass_events_that_change_state_and_parameters(name):
    def bounce(state):
        state.v[0] *= -0.8
        state.parameters["k"] = 1.1 * state.parameters["k"] + state.q[0] ** 2

    m = swing()
    event = sh.Event(lambda on: on.q("hinge") - 0.6 + 0.1 * on.parameter("L"), bounce)
    r = sh.simulate(m, 0.5, sensitivities=["k", name] if name != "k" else ["k"], events=event, **start(name, 0.0), **RUN)
    assert len(r.events) >= 2
    expected = derivative_of(lambda h: rows(sh.simulate(m, 0.5, events=event, **start(name, h), **TIGHT)), 1e-4)
    assert_close(rows(r.sensitivity(name)), expected, 1e-6)


@pytest.mark.parametrize("name", ["L", "k"])
@pytest.mark.parametrize("stabilisation", ["projection", "baumgarte"])
def test_sensitivities_of_a_closed_mechanism_start_on_its_constraints(name, stabilisation):
    """The start that is assembled depends on the parameters too."""
    m = linkage()
    q, _ = m.assemble(LINKAGE_START, nearest=True)
    how = {"q0": q, "fixed": [], "stabilisation": stabilisation}
    r = sh.simulate(m, 0.25, sensitivities=[name], **how, **RUN)
    value = m.parameters[name]

    def motion(h):
        return rows(sh.simulate(m, 0.25, parameters={name: value + h}, **how, **TIGHT))

    assert_close(rows(r.sensitivity(name)), derivative_of(motion, 1e-3), 1e-6)


def test_sensitivities_converge_with_the_tolerance():
    m, name = swing(), "L"
    exact = rows(sh.simulate(m, 0.5, sensitivities=[name], **start(name, 0.0), **TIGHT).sensitivity(name))
    errors = []
    for rtol in (1e-5, 1e-7, 1e-9):
        r = sh.simulate(m, 0.5, sensitivities=[name], rtol=rtol, atol=1e-2 * rtol, output=0.25, **start(name, 0.0))
        errors.append(np.abs(rows(r.sensitivity(name)) - exact).max())
    assert errors[2] < 0.1 * errors[1] < 0.1 * errors[0] * 10


def test_sensitivities_are_saved_and_read_by_name(tmp_path):
    m = swing()
    m.without_parameters()
    r = sh.simulate(m, 0.1, sensitivities=["L", "q0.hinge"], output=0.05)
    assert_close(r.sensitivity("L").coordinate("hinge"), r.sensitivities[:, 0, 0])
    r.save(tmp_path / "run.nc")
    again = sh.Result.load(tmp_path / "run.nc", m)
    assert again.sensitivity_names == ("L", "q0.hinge")
    assert np.array_equal(again.sensitivities, r.sensitivities)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sensitivities": ["M"]}, "no sensitivity by 'M'; the choices are 'L', 'k', 'q0.hinge'"),
        ({"sensitivities": "L"}, "expected names of parameters"),
        ({"sensitivities": [3]}, "expected names of parameters"),
        ({"sensitivities": ["q0.hing"]}, "did you mean 'q0.hinge'"),
        ({"sensitivities": ["L"], "backend": "loops"}, "need straight-line code: backend 'loops'"),
        ({"sensitivities": ["L"], "method": "momentum"}, "choose another method"),
    ],
)
def test_what_has_no_sensitivity_is_refused_in_words(options, words):
    with pytest.raises(sh.SharnirError, match=words):
        sh.simulate(swing(), 0.1, **options)
    r = sh.simulate(sh.samples.pendulum(), 0.1)
    with pytest.raises(sh.StateError, match=r"no sensitivity 'L'.*sensitivities=\[…\]"):
        r.sensitivity("L")


def four_bar() -> sh.Model:
    """With a parameter for the length of its coupler."""
    m = sh.Model("four-bar")
    L = m.add_parameter("L", 1.0)
    for name, length in (("crank", 0.5), ("coupler", L), ("rocker", 0.8)):
        m.add_body(name, mass=1.0, shape=sh.Rod((0, 0, 0), (length, 0, 0), radius=0.01))
    m.add_joint("A", sh.Revolute("y"), "ground", "crank")
    m.add_joint("B", sh.Revolute("y", damping=0.1), "crank", "coupler", at=sh.Pose((0.5, 0, 0)))
    m.add_joint("C", sh.Revolute("y"), "coupler", "rocker", at=sh.Pose((L, 0, 0)))
    m.add_joint("D", sh.Revolute("y"), "ground", "rocker", at=sh.Pose((0.9, 0, 0)), child_at=sh.Pose((0.8, 0, 0)), cut=True)
    return m


@pytest.mark.parametrize("name", ["L", "q0.A", "v0.A"])
def test_sensitivities_hold_what_the_start_holds(name):
    """Joints whose coordinates and speeds are given by name keep them while the others are assembled."""
    m, values = four_bar(), {"L": 1.0, "q0.A": -1.0, "v0.A": 0.7}

    def motion(h, **more):
        now = {**values, name: values[name] + h}
        return sh.simulate(m, 0.1, q0={"A": now["q0.A"]}, v0={"A": now["v0.A"]}, parameters={"L": now["L"]}, output=0.05, **more)

    r = motion(0.0, sensitivities=[name], rtol=1e-9, atol=1e-11)
    assert r.q[0, 0] == -1.0 and r.v[0, 0] == 0.7
    expected = derivative_of(lambda h: rows(motion(h, rtol=1e-11, atol=1e-13)), 1e-4)
    assert_close(rows(r.sensitivity(name)), expected, 1e-6)
