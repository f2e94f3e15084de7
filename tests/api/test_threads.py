"""Threads: objects that threads share give each what it would get alone, or refuse."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import sharnir as sh
from parametric_models import numbers_of
from sharnir.backends import runner
from sharnir.backends.run import run_program as really
from states import assert_close, random_state

FOUR, START = (0.5, 1.3, 0.9, 1.1), {"A": 1.3, "B": -1.0, "C": 1.5}
QUESTIONS = ("forward", "bias")


def parametric():
    m = sh.samples.chain(3).copy()
    m.make_parameter("link2.mass")
    return m


def in_threads(calls):
    """What each call returns, or raises, on a thread of its own, all begun together."""
    begin = threading.Barrier(len(calls), timeout=60.0)

    def one(call):
        begin.wait()
        try:
            return call()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(one, call) for call in calls]]


@pytest.mark.parametrize("backend", ["python", "loops", "llvm", "sparse"])
def test_threads_that_share_a_dynamics_get_what_each_would_alone(backend):
    """The first calls too, in which programs are made."""
    states = [random_state(parametric(), k) for k in range(4)]

    def ask(d, name, s):
        more = () if name == "bias" else (s.tau,)
        return numbers_of(getattr(d, name)(s.q, s.v, *more, s.t, parameters={"link2.mass": 3.0}))

    how = ("extended", "auto") if backend == "sparse" else ("composite", backend)
    alone, d = sh.Dynamics(parametric(), *how), sh.Dynamics(parametric(), *how)
    expected = [{name: ask(alone, name, s) for name in QUESTIONS} for s in states]
    found = in_threads([partial(lambda s: {name: ask(d, name, s) for name in QUESTIONS}, s) for s in states])
    for one, wanted in zip(found, expected, strict=True):
        for name in QUESTIONS:
            assert_close(one[name], wanted[name], 1e-12, what=name)


def test_interpreted_calls_at_once_have_work_arrays_of_their_own(monkeypatch):
    """Two calls are within the kernel at the same time: neither may write where the other reads."""
    m = sh.samples.chain(3)
    d, both, used = sh.Dynamics(m, "composite", "python"), threading.Barrier(2, timeout=60.0), []

    def run_program(*args, work, **options):
        used.append(work)
        both.wait()
        return really(*args, work=work, **options)

    monkeypatch.setattr(runner, "run_program", run_program)
    q = np.full(3, 0.3)
    found = in_threads([lambda: d.forward(q), lambda: d.forward(2 * q)])
    assert used[0] is not used[1]
    monkeypatch.undo()
    for k in range(2):
        assert_close(found[k], d.forward((k + 1) * q), 1e-13)


def test_threads_that_ask_one_model_or_one_result_get_what_each_would_alone():
    def asked(m):
        q, v = m.assemble(START, fixed=["A"])
        return [q, v, [m.mobility(q).freedoms], numbers_of(sh.Dynamics(m).forward(q, v)), m.integrate(q, v)]

    def read(r):
        return [r.energy.total, r.reactions, r.poses[0], r.violation]

    shared = sh.samples.four_bar(*FOUR)
    for found in in_threads([lambda: asked(shared)] * 4):
        for x, y in zip(found, asked(sh.samples.four_bar(*FOUR)), strict=True):
            assert_close(np.asarray(x), np.asarray(y), 1e-11)
    r, other = (sh.simulate(shared, 0.1, fixed=["A"], q0=START) for _ in range(2))
    for found in in_threads([lambda: read(r)] * 4):
        for x, y in zip(found, read(other), strict=True):
            assert_close(np.asarray(x), np.asarray(y), 1e-11)


def test_a_simulation_is_stepped_by_one_thread_at_a_time():
    """A second call is refused while the first is at work, and the first is not disturbed."""
    refused = []

    def ask(state):
        for call in (lambda: sim.step(0.1), sim.reset):
            found = in_threads([call])[0]
            refused.append(str(found))

    m = sh.samples.pendulum()
    sim = sh.Simulation(m, [0.5], events=sh.Event(lambda on: on.t - 0.05, ask))
    end = sim.step(0.1)
    assert len(refused) == 2 and all("is at work already" in text and "a Simulation of its own" in text for text in refused)
    assert_close(end.q, sh.Simulation(m, [0.5]).step(0.1).q, 1e-8)
    sim.reset()
