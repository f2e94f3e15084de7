"""Rollouts: each trajectory is what `simulate` gives with the same steps, whatever happens to the others."""

from __future__ import annotations

from itertools import chain, repeat
from signal import SIGINT, raise_signal

import numpy as np
import pytest

import sharnir as sh
from mechanisms import floating, hinged, powered
from states import EPS, assert_close

pytestmark = pytest.mark.xdist_group("integrators")
DT, STEPS = 0.01, 20


def starts(model: sh.Model, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng((n, seed))
    return np.array([model.random_q(rng) for _ in range(n)]), rng.normal(size=(n, model.nv))


def alone(model: sh.Model, q, v, integrator="rk4", **options) -> sh.Result:
    return sh.simulate(model, DT * STEPS, q0=q, v0=v, integrator=integrator, step=DT, output=None, **options)


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
@pytest.mark.parametrize("make", [floating, powered, sh.samples.double_pendulum], ids=lambda f: f.__name__)
def test_every_trajectory_is_that_of_simulate(make, integrator):
    model = make()
    q, v = starts(model, 3)
    many = sh.rollout(model, q, v, dt=DT, steps=STEPS, integrator=integrator)
    assert many.q.shape == (3, STEPS + 1, model.nq) and many.ok.all()
    for k in range(3):
        one = alone(model, q[k], v[k], integrator)
        assert_close(many.q[k], one.q, 1e4 * EPS)
        assert_close(many.v[k], one.v, 1e4 * EPS)
    assert_close(many.t, one.t, 10 * EPS)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 70])
def test_a_trajectory_has_the_same_bits_in_a_batch_of_any_size(n):
    model = floating()
    q, v = starts(model, 70)
    all_of_them = sh.rollout(model, q, v, dt=DT, steps=STEPS)
    some = sh.rollout(model, q[:n], v[:n], dt=DT, steps=STEPS)
    assert np.array_equal(some.q, all_of_them.q[:n]) and np.array_equal(some.v, all_of_them.v[:n])


def test_threads_give_the_same_bits():
    model = floating()
    q, v = starts(model, 70)
    one, two, many = (sh.rollout(model, q, v, dt=DT, steps=STEPS, threads=n) for n in (1, 2, 7))
    assert np.array_equal(one.q, two.q) and np.array_equal(one.v, two.v) and np.array_equal(one.q, many.q)


def test_quaternions_stay_of_length_one():
    model = floating()
    q, v = starts(model, 5)
    r = sh.rollout(model, q, 3.0 * v, dt=DT, steps=100)
    for joint in ("float", "shoulder"):
        assert_close(np.linalg.norm(r.coordinate(joint)[..., -4:], axis=-1), np.ones((5, 101)), 4 * EPS)


def test_every_so_many_steps_are_kept():
    model = sh.samples.double_pendulum()
    q, v = starts(model, 3)
    fine, coarse = (sh.rollout(model, q, v, dt=DT, steps=23, every=n, t0=2.0) for n in (1, 5))
    assert np.array_equal(coarse.q, fine.q[:, ::5]) and np.array_equal(coarse.t, fine.t[::5]) and fine.t[0] == 2.0
    none = sh.rollout(model, q, v, dt=DT, steps=0)
    assert none.q.shape == (3, 1, 2) and np.array_equal(none.q[:, 0], q)


# --- forces -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [3, 20])
def test_all_forms_of_control_that_say_the_same_do_the_same(n):
    model = sh.samples.double_pendulum()
    q, v = starts(model, n)
    tau = np.array([0.3, -0.2])
    forms = [
        tau,
        np.tile(tau, (STEPS, 1)),
        np.tile(tau, (n, STEPS, 1)),
        lambda t, q, v: tau,
        lambda t, q, v: np.tile(tau, (n, 1)),
    ]
    runs = [sh.rollout(model, q, v, dt=DT, steps=STEPS, control=form) for form in forms]
    assert_close(runs[0].q[1], alone(model, q[1], v[1], tau=tau).q, 1e4 * EPS)
    for other in runs[1:]:
        assert np.array_equal(other.q, runs[0].q)


def test_control_in_time_is_held_over_each_step():
    model = sh.samples.pendulum()
    q, v = starts(model, 3)
    forces = np.random.default_rng(1).normal(size=(3, STEPS, 1))
    r = sh.rollout(model, q, v, dt=DT, steps=STEPS, control=forces)
    for k in range(3):
        state = {"q0": q[k], "v0": v[k]}
        for i in range(STEPS):
            options = {"integrator": "rk4", "step": DT, "output": None, "tau": forces[k, i]}
            state = dict(sh.simulate(model, DT, t0=i * DT, **options, **state).state())
        assert_close(r.q[k, -1], state["q0"], 1e4 * EPS)


def test_a_python_controller_sees_time_and_states_of_all():
    model = sh.samples.double_pendulum()
    q, v = starts(model, 5)
    seen = []

    def control(t, q, v):
        seen.append((t, q.copy(), v.copy()))
        return -2.0 * q - 0.5 * v

    r = sh.rollout(model, q, v, dt=DT, steps=STEPS, control=control, threads=2)
    assert len(seen) == STEPS
    for k, (t, now, speeds) in enumerate(seen):
        assert abs(t - k * DT) < 1e-12 and np.array_equal(now, r.q[:, k]) and np.array_equal(speeds, r.v[:, k])


def test_a_traced_law_is_a_force_of_the_model():
    def law(on):
        on.torque("hinge", -3.0 * on.q("hinge") - 0.4 * on.v("hinge") + sh.sin(on.t))

    model = hinged()
    q, v = starts(model, 3)
    r = sh.rollout(model, q, v, dt=DT, steps=STEPS, feedback=law)
    assert_close(r.q[2], alone(hinged(law), q[2], v[2]).q, 1e4 * EPS)
    assert not model.forces  # the user's model is left as it was


# --- names, executions ------------------------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("error")
def test_options_have_the_names_of_simulate_and_those_of_before():
    model = sh.samples.double_pendulum()
    q, v = starts(model, 3)
    tau = np.random.default_rng(4).normal(size=(STEPS, 2))
    before = sh.rollout(model, q, v, dt=DT, steps=STEPS, control=tau)
    ways = [{"step": DT, "duration": DT * STEPS}, {"step": DT, "steps": STEPS}, {"dt": DT, "duration": 0.2, "steps": STEPS}]
    for names in ways:
        now = sh.rollout(model, q, v, tau=tau, **names)
        assert np.array_equal(now.q, before.q) and np.array_equal(now.t, before.t)
    named, row = (sh.rollout(model, q, v, dt=DT, steps=2, tau=x) for x in ({"hinge2": 0.3}, [0.0, 0.3]))
    assert np.array_equal(named.q, row.q)
    assert np.array_equal(before.speed("hinge2"), before.v[..., 1]) and before.coordinate("hinge1").shape == (3, STEPS + 1)


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
@pytest.mark.parametrize("make", [floating, lambda: sh.samples.four_bar(0.5, 1.3, 0.9, 1.1)], ids=["tree", "loop"])
def test_every_backend_gives_the_same_trajectories(make, integrator):
    model = make()
    if model.constraints:
        q = np.array([model.assemble({"A": a, "B": -1.0, "C": 1.5}, nearest=True)[0] for a in (1.1, 1.2)])
        v, backends = None, ("python",)
    else:
        (q, v), backends = starts(model, 2), ("loops", "python")
    run = {"step": DT, "duration": 3 * DT, "integrator": integrator, "method": "composite"}
    expected = sh.rollout(model, q, v, backend="llvm", **run)
    for backend in backends:
        found = sh.rollout(model, q, v, backend=backend, **run)
        assert_close(found.q, expected.q, 1e4 * EPS)
        assert_close(found.v, expected.v, 1e5 * EPS)


# --- failures ---------------------------------------------------------------------------------------------------------------
def wall(on):
    """No number beyond −1."""
    on.torque("hinge", 1e-9 * sh.sqrt(1.0 + on.q("hinge")))


@pytest.mark.parametrize("n", [2, 9, 70])
def test_one_that_fails_does_not_touch_the_others(n):
    model = hinged(wall)
    q = np.linspace(0.5, 0.6, n)[:, None]
    safe = sh.rollout(model, q, None, dt=DT, steps=STEPS)
    q[1] = -0.99  # falls off the numbers soon
    r = sh.rollout(model, q, None, dt=DT, steps=STEPS)
    others = np.arange(n) != 1
    assert r.ok.tolist() == others.tolist() and "1 failed" in repr(r)
    assert np.array_equal(r.q[others], safe.q[others]) and np.array_equal(r.v[others], safe.v[others])
    assert np.isfinite(r.q).all() and 0.0 < r.failed[1] < 0.1
    after = r.t > r.failed[1]
    assert np.ptp(r.q[1, after]) == 0.0


# --- refusals ---------------------------------------------------------------------------------------------------------------
def three_forces(t, q, v):
    return np.zeros(3)


def words(t, q, v):
    return "push"


def push_knee(on):
    on.torque("knee", 1.0)


def shown(value):
    """A name that is the same in every process."""
    return str({key: getattr(x, "__name__", x) for key, x in value.items()}) if isinstance(value, dict) else str(value)


@pytest.mark.parametrize(("options", "says"), [
    ({"q0": np.zeros(2)}, "row for each"), ({"q0": np.zeros((0, 2))}, "row for each"), ({"q0": np.zeros((3, 1))}, "q0"),
    ({"q0": np.full((3, 2), np.nan)}, "row 0"), ({"v0": np.zeros((2, 2))}, "v0"), ({"v0": np.full(2, np.inf)}, "not finite"),
    ({"dt": 0.0}, "dt"), ({"dt": "a"}, "dt"), ({"steps": -1}, "steps"), ({"steps": 1.5}, "steps"), ({"every": 0}, "every"),
    ({"t0": np.nan}, "t0"), ({"threads": 0}, "threads"), ({"threads": 1.5}, "threads"), ({"integrator": "dop853"}, "'rk4'"),
    ({"method": "extended"}, "remembers nothing"), ({"method": "inverse-iterative"}, "remembers nothing"),
    ({"method": "momentum"}, "remembers nothing"),
    ({"control": np.zeros(3)}, "control"), ({"control": np.full(2, np.nan)}, "finite"),
    ({"control": three_forces}, "control"), ({"control": words}, "control"),
    ({"feedback": push_knee}, "'hinge1'"), ({"model": "x"}, "Model"),
    ({"step": DT}, "step and dt are two names"), ({"control": np.zeros(2), "tau": np.zeros(2)}, "tau and control are two names"),
    ({"duration": 1.0}, "duration and steps contradict each other: 1 s are 100 steps of 0.01 s, not 2"),
    ({"duration": 0.015, "steps": None}, "not a whole number of steps"), ({"duration": -1.0}, "forward"),
    ({"steps": None}, "needs a duration"), ({"dt": None}, "give .* step=0.01"), ({"tau": np.zeros(3)}, "tau: expected"),
    ({"tau": three_forces}, "tau must return"), ({"rtol": 1e-6}, "rtol: an option of `simulate`.* its steps are fixed"),
    ({"output": 0.1}, "stores every `every`-th step"), ({"backend": "abacus"}, "unknown backend"),
], ids=shown)  # fmt: skip
def test_bad_arguments_are_named(options, says):
    usual = {"model": sh.samples.double_pendulum(), "q0": np.zeros((3, 2)), "dt": DT, "steps": 2}
    with pytest.raises(sh.SharnirError, match=says):
        sh.rollout(**{**usual, **options})


def test_an_option_nobody_has_is_a_type_error():
    with pytest.raises(TypeError, match="unknown argument 'speed'"):
        sh.rollout(sh.samples.pendulum(), np.zeros((1, 1)), dt=DT, steps=1, speed=3.0)


def test_quaternions_of_any_row_are_checked():
    model = floating()
    q, v = starts(model, 3)
    q[1, 3:7] = 0.0
    with pytest.raises(sh.StateError, match="quaternion"):
        sh.rollout(model, q, v, dt=DT, steps=1)


def test_more_rows_than_memory_holds_are_refused_before_the_run():
    m = sh.samples.chain(2)
    with pytest.raises(sh.StateError, match=r"3 trajectories of 1000000000000 steps need .* GiB, of .*every="):
        sh.rollout(m, np.zeros((3, 2)), dt=1e-3, steps=10**12)


# --- what ends early ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_in_a_controller_leaves_the_motions_until_then(threads):
    def control(t, q, v):
        if t > 0.5:
            raise LookupError("no such table")
        return -v

    q, v = starts(m := hinged(), 100)
    with pytest.raises(sh.SimulationError, match=r"LookupError: no such table.* `result`") as caught:
        sh.rollout(m, q, v, duration=1.0, step=DT, tau=control, every=3, threads=threads)
    r = caught.value.result
    assert isinstance(caught.value.__cause__, LookupError) and r.status == "raised" and r.ok.all()
    whole = sh.rollout(m, q, v, duration=1.0, step=DT, tau=lambda t, q, v: -v, every=3)
    assert len(r.t) == 1 + 51 // 3 and (r.q == whole.q[:, : len(r.t)]).all() and (r.t == whole.t[: len(r.t)]).all()


def test_ctrl_c_keeps_what_was_computed(monkeypatch):
    """In a long rollout of one row it is heard at the next pause; all trajectories have the same rows then."""
    heard = chain([False, False, True], repeat(False))
    monkeypatch.setattr("sharnir.reporting.progress.ProgressBar.update", lambda *_: next(heard) and raise_signal(SIGINT))
    q, v = starts(m := hinged(), 300)
    r = sh.rollout(m, q, v, duration=1e4, step=1e-3, every=10)
    assert r.status == "interrupted" and "interrupted" in repr(r) and 1 < len(r.t) < 1e5 and r.q.shape == (300, len(r.t), 1)
    assert (r.q == sh.rollout(m, q, v, steps=10 * (len(r.t) - 1), step=1e-3, every=10).q).all()


def test_open_rows_are_refused_with_a_remedy_that_rollout_takes():
    bar = sh.samples.four_bar()
    open_rows = np.full((2, bar.nq), 0.3)
    with pytest.raises(sh.AssemblyError, match=r"row 0: .*Name what must stay, fixed=\[joints\], or take all of q0 as a guess"):
        sh.rollout(bar, open_rows, duration=0.01, step=0.01)
    assert sh.rollout(bar, open_rows, duration=0.01, step=0.01, fixed=["A"]).q[0, 0, 0] == 0.3
