"""How `simulate` is called: times, states by name, ways to go wrong, ways to end early."""

from __future__ import annotations

import os
import signal
import threading
import tracemalloc
from functools import cache

import numpy as np
import pytest

import sharnir as sh
from mechanisms import floating, hinged
from sharnir import machine
from states import assert_close
from work import counted

pytestmark = pytest.mark.xdist_group("integrators")
PENDULUM = sh.samples.pendulum()


# --- times ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("output", "times"), [
    (0.25, [0.0, 0.25, 0.5, 0.75, 1.0]), (0.4, [0.0, 0.4, 0.8, 1.0]), (2.0, [0.0, 1.0]), ([0.3, 0.5], [0.3, 0.5]),
    (1.0 / 3.0, [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]), (np.float32(0.5), [0.0, 0.5, 1.0]),
])  # fmt: skip
def test_output_is_an_interval_or_times_and_ends_at_the_end(output, times):
    for t0 in (0.0, 5.0):
        wanted = np.asarray(output) + t0 if np.ndim(output) else output
        r = sh.simulate(PENDULUM, 1.0, t0=t0, output=wanted)
        assert_close(r.t, np.array(times) + t0, 1e-15)
        assert r.t[-1] == times[-1] + t0


def test_output_of_every_step_and_of_every_so_many():
    all_steps = sh.simulate(PENDULUM, 2.0, output=None)
    assert len(all_steps) == all_steps.cost.steps + 1
    some = sh.simulate(PENDULUM, 2.0, output=None, every=5)
    assert some.t[1] == all_steps.t[5] and some.t[-1] == 2.0
    assert sh.simulate(PENDULUM, 2.0, output=None, every=0).t.tolist() == [0.0, 2.0]


def test_time_runs_backward_to_where_it_came_from():
    m = sh.samples.double_pendulum()
    there = sh.simulate(m, 1.0, v0={"hinge1": 1.0}, rtol=1e-11, atol=1e-12)
    back = sh.simulate(m, -1.0, t0=1.0, rtol=1e-11, atol=1e-12, **there.state())
    assert back.t[0] == 1.0 and back.t[-1] == 0.0
    assert_close(back.q[::-1], there.q, 1e-8)


def test_drives_read_the_time_that_starts_at_t0():
    m = sh.Model("driven")
    m.add_body("b", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    m.add_joint("turn", sh.Revolute("z", motion=lambda t: 0.5 * t * t), "ground", "b")
    r = sh.simulate(m, 1.0, t0=2.0)
    assert_close(r.point("b", (1.0, 0.0, 0.0))[-1], [np.cos(4.5), np.sin(4.5), 0.0], 1e-14)


def test_states_by_name_are_states_by_number():
    m = floating()
    named = sh.simulate(m, 0.1, q0={"elbow": 0.4, "shoulder": (0.8, 0.6, 0.0, 0.0)}, v0={"elbow": 1.0}, tau={"elbow": 0.2})
    q, v, tau = (
        m.coordinates({"elbow": 0.4, "shoulder": (0.8, 0.6, 0.0, 0.0)}),
        m.speeds({"elbow": 1.0}),
        m.speeds({"elbow": 0.2}),
    )
    assert np.array_equal(named.q, sh.simulate(m, 0.1, q0=q, v0=v, tau=tau).q)


# --- refusals ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("options", "says"), [
    ({"duration": 0.0}, "duration"), ({"duration": "1"}, "duration"), ({"duration": np.nan}, "duration"),
    ({"output": 0.0}, "interval"), ({"output": -1.0}, "interval"), ({"output": "often"}, "output"), ({"output": []}, "empty"),
    ({"output": [0.0, 2.0]}, "exceed the run"), ({"output": [0.5, 0.2]}, "strictly"), ({"output": 1e-12}, "longer"),
    ({"every": -1}, "every"), ({"every": 1.5}, "every"), ({"integrator": "rk5"}, "'auto'"), ({"integrator": "rk4"}, "step"),
    ({"integrator": "rk4", "step": 1e-17}, "is lost in rounding at t = .*, and time would stand still"),
    ({"max_steps": 0}, "max_steps"), ({"max_steps": 1.5}, "max_steps"), ({"max_seconds": -1.0}, "max_seconds"),
    ({"integrator": "midpoint", "step": -0.1}, "step"), ({"integrator": "rk4", "step": "a"}, "step"), ({"step": 0.1}, "rtol"),
    ({"rtol": -1.0}, "rtol and atol"), ({"rtol": "a"}, "rtol"), ({"atol": [1.0, 2.0, 3.0]}, "atol"), ({"atol": "a"}, "atol"),
    ({"max_step": 0.0}, "max_step"), ({"max_step": None}, "max_step"), ({"method": "best"}, "'separate'"),
    ({"backend": "fortran"}, "'llvm'"), ({"q0": [1.0, 2.0]}, "q:"), ({"q0": {"knee": 1.0}}, "'hinge'"), ({"q0": [np.nan]}, "nan"),
    ({"v0": {"hinge": "fast"}}, "'hinge'"),
    ({"tau": [1.0, 2.0]}, "tau"), ({"tau": np.zeros((9, 2))}, "constant"), ({"tau": max}, "cannot be traced"),
    ({"tau": [[1], []]}, "tau"), ({"t0": np.inf}, "finite"), ({"limits": "obey"}, "'stop'"),
    ({"on_failure": "cry"}, "'return'"), ({"events": [len]}, "sharnir.Event"), ({"events": 5}, "sharnir.Event"),
    ({"save": "/no/such/folder/x.nc"}, "no folder"), ({"save": "/"}, "folder"),
], ids=str)  # fmt: skip
def test_bad_arguments_are_named(options, says):
    with pytest.raises(sh.SharnirError, match=says):
        sh.simulate(PENDULUM, **{"duration": 1.0, **options})


def test_only_models_are_simulated():
    with pytest.raises(sh.ModelError, match="Model"):
        sh.simulate("pendulum", 1.0)


# --- failures ---------------------------------------------------------------------------------------------------------------
def root(on):
    """A force that is no number beyond −1."""
    on.torque("hinge", sh.sqrt(1.0 + on.q("hinge")))


def explosion(on):
    on.torque("hinge", on.v("hinge") * on.v("hinge"))


@pytest.mark.parametrize(
    "options", [{}, {"backend": "python"}, {"method": "extended"}, {"integrator": "rk4", "step": 0.01}], ids=str
)
def test_a_number_that_is_none_is_reported_with_time_and_joint(options):
    with pytest.raises(sh.SimulationError, match=r"acceleration of 'hinge' is not finite just after t = 0.48") as error:
        sh.simulate(hinged(root), 2.0, **options)
    r = error.value.result
    assert 0.47 < error.value.time < 0.49 and r.status == "not_finite" and r.t[-1] == error.value.time
    assert np.isfinite(r.q).all() and np.isfinite(r.energy.total).all() and "not_finite" in r.summary()


def test_a_motion_that_explodes_stops_where_the_step_vanishes():
    with pytest.raises(sh.SimulationError, match="fastest there is the acceleration of 'hinge'") as error:
        sh.simulate(hinged(explosion), 2.0, v0=[3.0])
    kept = sh.simulate(hinged(explosion), 2.0, v0=[3.0], on_failure="return")
    assert kept.status == "step_too_small" and np.array_equal(kept.q, error.value.result.q)
    assert "radau" in kept.message and 0.69 < kept.t[-1] < 0.71


def test_a_state_without_accelerations_fails_at_once_and_can_still_be_written(tmp_path):
    r = sh.simulate(hinged(lambda on: on.torque("hinge", sh.sqrt(on.q("hinge") - 1.0))), 1.0, on_failure="return")
    assert len(r) == 1 and r.status == "not_finite" and np.isnan(r.a).all()
    r.to_csv(tmp_path / "a.csv")
    r.save(tmp_path / "a.nc")


def test_limits_of_joints_are_ignored_or_stop_or_are_an_error():
    m = hinged(limits=(-1.0, 1.0))
    assert sh.simulate(m, 1.0).status == "done"
    stopped = sh.simulate(m, 1.0, limits="stop")
    assert stopped.status == "stopped" and abs(stopped.coordinate("hinge")[-1] + 1.0) < 1e-8
    with pytest.raises(sh.SimulationError, match=r"lower limit -1 of joint 'hinge' at t = 0.459") as error:
        sh.simulate(m, 1.0, limits="error")
    assert error.value.result.status == "limit"
    with pytest.raises(sh.StateError, match="beyond the upper limit"):
        sh.simulate(m, 1.0, q0=[1.5], limits="stop")
    assert sh.simulate(m, 1.0, q0=[-1.0], limits="stop").t[-1] < 1e-3  # on the limit, and leaving it at once
    assert sh.simulate(m, 0.1, q0=[1.0], limits="stop").status == "done"


def test_ctrl_c_keeps_what_was_computed(monkeypatch):
    timer = threading.Timer(0.0, os.kill, (os.getpid(), signal.SIGINT))
    begun = cache(timer.start)  # by a report: nothing is left to compile then, and some rows are there
    reached = "sharnir.reporting.progress.ProgressBar.reached"
    monkeypatch.setattr(reached, lambda self, t, steps: begun() if steps > 20_000 else None)
    r = sh.simulate(PENDULUM, 1e7, output=None, every=10000)
    timer.join()
    assert r.status == "interrupted" and 0.0 < r.t[-1] < 1e7 and len(r) > 1
    assert "interrupted" in r.summary()


@pytest.mark.parametrize(("options", "says"), [
    ({"t0": 1e18}, r"duration: 1 s is lost in the rounding of the time: near t0 = 1e\+18 .* at least 1.3e\+02 s "),
    ({"t0": 1.0, "duration": 1e-16}, "duration: 1e-16 s"), ({"t0": -1e14}, "output: 0.01 s"),
    ({"t0": 1e10, "integrator": "rk4", "step": 1e-6}, "step: 1e-06 s"), ({"t0": 1e10, "max_step": 1e-6}, "max_step: 1e-06"),
], ids=str)  # fmt: skip
def test_spans_below_the_resolution_of_the_time_are_refused(options, says):
    with pytest.raises(sh.StateError, match=f"{says}.*start at a smaller t0"):
        sh.simulate(PENDULUM, **{"duration": 1.0} | options)


def test_a_rollout_refuses_them_too():
    with pytest.raises(sh.StateError, match=r"dt: 0\.01 s is lost"):
        sh.rollout(PENDULUM, np.zeros((4, 1)), dt=0.01, steps=3, t0=1e18)


# --- long runs --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", ["midpoint", "rk4"])
def test_a_million_steps_in_little_memory_without_python(integrator):
    options = {"integrator": integrator, "step": 1e-3, "output": None, "every": 1000}
    sh.simulate(PENDULUM, 1.0, **options)
    tracemalloc.start()
    with counted() as work:
        r = sh.simulate(PENDULUM, 1000.0, q0=[0.3], **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert r.cost.steps == 1_000_000 and len(r) == 1001
    assert work.calls < 100_000 and peak < 8e6
    drift = np.abs(r.energy.defect).max()
    assert drift < (1e-5 if integrator == "midpoint" else 1e-4)


def test_only_quaternions_are_kept_at_length_one():
    """A coordinate may be called qw and be none."""
    m = sh.Model("named")
    m.add_body("b", mass=1.0)
    m.add_joint("slide", sh.CustomJoint(1, lambda q, t: sh.Pose((q[0], 0.0, 0.0)), names=("qw",)), "ground", "b")
    r = sh.simulate(m, 1.0, q0={"slide": 3.0}, v0={"slide": 0.5})
    assert_close(r.coordinate("slide")[-1], 3.5, 1e-12)


def test_more_rows_than_memory_holds_are_refused_before_the_run(monkeypatch):
    monkeypatch.setattr(machine, "memory", lambda: 2**30)
    with pytest.raises(sh.StateError, match=r"an interval of 1e-07 s makes 9.9e\+07 times that need .* GiB, of 1 GiB"):
        sh.simulate(sh.samples.chain(20), 9.9, output=1e-7)


# --- models without coordinates ---------------------------------------------------------------------------------------------
def welded(loop: bool) -> sh.Model:
    m = sh.Model("welded")
    for name, parent in (("a", "ground"), ("b", "a")):
        m.add_body(name, 1.0, inertia=(0.1, 0.1, 0.1))
        m.add_joint(f"{name} weld", sh.Weld(), parent, name)
    if loop:
        m.add_joint("closing", sh.Weld(), "ground", "b", cut=True)
    return m


@pytest.mark.parametrize("loop", [False, True], ids=["tree", "loop"])
def test_a_model_without_coordinates_stands_still(loop):
    """By every integrator: there is no Jacobian, no state of a batch, no row to be written."""
    for name in ("auto", "radau", "rk4"):
        for backend in ("llvm", "loops"):
            step = {"step": 0.01} if name == "rk4" else {}
            r = sh.simulate(welded(loop), 0.02, integrator=name, backend=backend, **step)
            assert r.status == "done" and r.q.shape == (len(r), 0) and r.t[-1] == 0.02
    sim = sh.Simulation(welded(loop), integrator="radau")
    assert sim.step(0.1).t == 0.1
    with pytest.raises(sh.MethodError, match="'cvode-bdf' needs a state, and this one is empty"):
        sh.simulate(welded(loop), 0.02, integrator="cvode-bdf")


def test_matrices_beyond_memory_are_refused_with_the_way_out(monkeypatch):
    m = sh.samples.chain(3)
    monkeypatch.setattr(machine, "memory", lambda: 1000)
    with pytest.raises(sh.MethodError, match=r"'radau' would need .* GiB, .* matrices of 6 rows.* choose .*'dop853' or 'rk4'"):
        sh.simulate(m, 0.1, integrator="radau", output=[0.1], balance=False)
