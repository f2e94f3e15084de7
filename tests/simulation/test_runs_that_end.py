"""Runs that always end: stiff ones by 'auto', chattering ones with the force's name, the rest by a limit."""

from __future__ import annotations

import re

import numpy as np
import pytest

import sharnir as sh
from browser import wait_for
from mechanisms import GOVERNOR, GOVERNOR_START, governor, hinged
from sharnir.reporting import progress as progress_module
from sharnir.reporting.progress import ProgressBar
from sharnir.simulation.systems.straight_line import StraightLine

DAMPING = 1e11


def damped():
    return hinged(lambda on: on.torque("hinge", -DAMPING * on.v("hinge")))


def rubbed():
    """A spring, and dry friction as a jump of the torque: it comes to rest where the jump holds it."""
    m = sh.Model("rubbed", gravity=[0, 0, 0])
    m.add_body("arm", shape=sh.Box((1.0, 0.1, 0.1)), density=100.0)
    m.add_joint("j", sh.Revolute("z", stiffness=10.0), "ground", "arm")
    m.add_force(lambda on: on.torque("j", -2.0 * sh.select(on.v("j") > 0, 1.0, -1.0)), name="rub")
    return m


@pytest.fixture(scope="module")
def crept():
    return sh.simulate(damped(), 10.0, events=sh.Event(lambda on: on.t - 5.0, name="half"))


def test_a_damping_of_1e11_ends_in_a_few_steps_with_the_motion_of_radau(crept):
    r, implicit = crept, sh.simulate(damped(), 10.0, integrator="radau")
    assert r.status == "done" and r.cost.steps < len(r) + 50 and [e.t for e in r.events] == [5.0]
    assert [(one.before, one.after) for one in r.integrator_switches] == [("dop853", "radau")]
    v = implicit.v[-1, 0]
    assert v != 0.0 and abs(r.v[-1, 0] / v - 1.0) < 1e-6 and abs(r.q[-1, 0] / (10.0 * v) - 1.0) < 1e-6
    assert "auto: " in r.summary() and f"dop853, radau from t = {r.integrator_switches[0].t:.6g}" in r.summary()


def test_a_file_keeps_which_method_ran_when(crept, tmp_path):
    crept.save(tmp_path / "a.nc")
    again = sh.Result.load(tmp_path / "a.nc", damped())
    assert again.integrator_switches == crept.integrator_switches and again.cost == crept.cost


def test_the_stiff_governor_by_default_has_its_published_values():
    r = sh.simulate(governor(), 1.0, output=1.0, **GOVERNOR_START)
    assert [one.after for one in r.integrator_switches] == ["radau"]
    found = [r.coordinate(name)[-1] for name in GOVERNOR]
    assert np.allclose(found, list(GOVERNOR.values()), atol=2e-8) and r.cost.jacobians > 0


def test_where_nothing_is_stiff_no_jacobian_is_compiled_and_the_bits_are_those_of_dop853(monkeypatch):
    monkeypatch.setattr(StraightLine, "jacobian", lambda self: pytest.fail("compiled"))
    model, start = sh.samples.double_pendulum(), {"v0": [1.0, 2.0]}
    a, b = (sh.simulate(model, 5.0, integrator=name, **start) for name in ("auto", "dop853"))
    assert np.array_equal(a.q, b.q) and np.array_equal(a.v, b.v) and a.cost.evaluations == b.cost.evaluations
    assert a.integrator_switches == [] and a.cost.integrator == "auto"


def test_chatter_is_named_with_its_force_joint_time_and_remedy(tmp_path):
    named = r"^'rubbed': at t = 0\.2882\d+ force 'rub' switches between -2 and 2 on 'j'"
    with pytest.raises(sh.SimulationError, match=named) as caught:
        sh.simulate(rubbed(), 5.0, q0={"j": 0.3}, save=tmp_path / "a.nc")
    r, text = caught.value.result, str(caught.value)
    assert re.search(r"v of joint 'j' crosses zero \d+ times in \S+e-\d+ s", text) and "sh.JointFriction" in text
    assert r.status == "chattering" and abs(r.q[-1, 0] - 0.1) < 1e-6 and r.cost.steps < 10_000
    assert sh.Result.load(tmp_path / "a.nc", rubbed()).message == r.message
    kept = sh.simulate(rubbed(), 5.0, q0={"j": 0.3}, integrator="radau", on_failure="return")
    assert kept.status == "chattering" and "force 'rub'" in kept.message and "no step gets past it" in kept.message


def test_limits_of_steps_and_seconds_return_the_motion_so_far_whatever_on_failure_says():
    model = hinged()
    r = sh.simulate(model, 100.0, q0=[1.0], max_steps=20)
    assert (r.status, r.cost.steps) == ("max_steps", 20) and 0.0 < r.t[-1] < 100.0
    r = sh.simulate(model, 1e9, q0=[1.0], max_seconds=0.05, output=None, every=1000)
    assert r.status == "max_seconds" and 0.0 < r.t[-1] < 1e9 and "seconds" in r.summary()


def test_at_the_command_line_a_limit_says_so_and_is_1(command, tmp_path):
    hinged().save(tmp_path / "a.yaml")
    code, out, err = command("run", tmp_path / "a.yaml", "--duration", 100, "--q0", "hinge=1", "--max-steps", 20)
    assert code == 1 and "max_steps" in out and err.startswith("sharnir: the greatest number of steps was reached at t = ")


def test_something_is_shown_from_the_first_second_while_nothing_can_say_how_far_it_is(capsys, monkeypatch):
    for name, value in (("TERM", "xterm"), ("FORCE_COLOR", "1"), ("COLUMNS", "120")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(progress_module, "DELAY", 0.02)
    with ProgressBar(True, "arm", 1.0) as bar:
        with bar.meanwhile("compiling"):
            wait_for(lambda: bar._bar)
        bar.reached(0.5, 1000)
        bar.reached(0.5 + 1e-7, 2000)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert "arm, compiling" in shown and "arm, t = 0.5 s, 1000 steps" in shown and "t = 0.5000001 s, 2000 steps" in shown
