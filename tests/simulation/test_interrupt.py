"""Ctrl-C, as a terminal sends it: heard in the middle of the work, and what was computed is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import sharnir as sh
from sharnir.dialect.jit import in_background
from sharnir.equations.assembly.many_starts import assembled_starts
from sharnir.equations.assembly.start import Asked
from sharnir.equations.rows.constraint_table import table_of
from sharnir.reporting.progress import progress_listener
from sharnir.simulation.run.adaptive_lanes import AdaptiveLanes
from sharnir.simulation.run.options import RunOptions
from sharnir.simulation.run.runs import Runs
from sharnir.studies.compute import execution

BEGIN = """
import numpy as np, os, sharnir as sh
from pathlib import Path
m = sh.samples.chain(3)
begun = lambda: print('begun', flush=True)

def tell_later():
    from sharnir.reporting.progress import ProgressBar
    said = []
    def told(self, reached, *more):
        if reached > 0.5 and not said:
            said.append(begun())
    ProgressBar.update = ProgressBar.reached = told
"""
RUNS = {
    "one row": "sh.simulate(m, 0.1)\ntell_later()\nr = sh.simulate(m, 1e9, output=1e9)\nassert len(r) == 2 and 0 < r.t[-1] < 1e9",
    "rows at given times": (
        "sh.simulate(m, 0.1)\ntell_later()\nr = sh.simulate(m, 1e9, output=[1e9])\nassert len(r) == 1 and 0 < r.t[-1] < 1e9"
    ),
    "python": (
        "sh.simulate(m, 0.01, backend='python')\ntell_later()\n"
        "r = sh.simulate(m, 1e9, output=1e9, backend='python')\nassert len(r) == 2 and 0 < r.t[-1] < 1e9"
    ),
    "rollout": (
        "start = np.zeros((1000, 3)) + 0.1\nsh.rollout(m, start, step=1e-3, steps=2)\ntell_later()\n"
        "r = sh.rollout(m, start, step=1e-3, duration=1e3, every=200, threads=2)\nassert 1 < len(r.t) < 5000 and r.ok.all()"
    ),
}


def heard(code: str) -> str:
    """What a process prints last that is interrupted as soon as it says that it has begun."""
    environment = {**os.environ, "PYTHONPATH": str(Path(sh.__file__).parents[1])}
    with subprocess.Popen([sys.executable, "-c", BEGIN + code], env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        patience = threading.Timer(300.0, process.kill)
        patience.start()
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        line = process.stdout.readline().strip()
        patience.cancel()
        return line


@pytest.mark.parametrize("name", RUNS)
def test_a_long_run_hears_it(name):
    assert heard(f"{RUNS[name]}\nprint(r.status, flush=True)") == "interrupted"


@pytest.mark.parametrize("backend", ["llvm", "loops"])
def test_a_batch_is_computed_in_calls_between_which_it_is_heard(backend, monkeypatch):
    d = sh.Dynamics(sh.samples.chain(3), "composite", backend)
    q = np.random.default_rng(0).normal(size=(5003, 3))
    whole = d.forward(q)
    calls = []
    monkeypatch.setattr("sharnir.backends.graph_function.OPERATIONS_OF_A_CALL", 1)
    monkeypatch.setattr("sharnir.backends.loops.BODIES_OF_A_CALL", 3 * 1024)
    for module in ("graph_function", "loops"):
        monkeypatch.setattr(f"sharnir.backends.{module}.share", lambda work, parts, _: calls.extend(map(work, parts)))
    d = sh.Dynamics(sh.samples.chain(3), "composite", backend)
    assert (d.forward(q) == whole).all() and len(calls) == 5


def test_llvm_at_work_hears_it(tmp_path):
    """LLVM itself does not: it is left alone on a thread of its own."""
    code = f"""
from sharnir.dialect.cache import Cache
from sharnir.dialect.jit import compile_text
from sharnir.dialect import jit
import threading
lines = ["%x0 = load double, ptr %p", "%x1 = fadd double %x0, 1.5"]
lines += [f"%x{{k}} = f{{'add' if k % 3 else 'mul'}} double %x{{k - 1}}, %x{{k * 7919 % (k - 1)}}" for k in range(2, 60_000)]
text = "define void @f(ptr %p) {{\\n" + "\\n".join(lines) + "\\nstore double %x59999, ptr %p\\nret void\\n}}"
working, object_code = threading.Event(), jit.object_code

def said(*given):
    working.set()
    return object_code(*given)

def tell():
    working.wait()
    begun()

jit.object_code = said
threading.Thread(target=tell).start()
try:
    compile_text(text, Cache(Path({str(tmp_path)!r})))
    print("compiled", flush=True)
except KeyboardInterrupt:
    print("heard", flush=True)
os._exit(0)
"""
    assert heard(code) == "heard"


def test_a_process_ends_while_llvm_is_at_work():
    """With its own exit code: nobody waits for what nobody wants any more."""
    code = """
import _thread, sys, threading
from sharnir.dialect.jit import in_background

def work():
    _thread.interrupt_main()
    threading.Event().wait()  # for ever, as LLVM does not hear it

try:
    in_background(work, long=True)
except KeyboardInterrupt:
    sys.exit(3)
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(sh.__file__).parents[1])}
    assert subprocess.run([sys.executable, "-c", code], env=environment, timeout=60.0).returncode == 3


class Ended(KeyboardInterrupt):
    """What a listener raises to end the work."""


def ended(share, text):
    raise Ended


def test_a_thread_that_waits_for_llvm_is_ended_by_who_listens():
    """Threads of a study do not hear Ctrl-C."""
    enough = threading.Event()

    def wait():
        with progress_listener(ended), pytest.raises(Ended):
            in_background(lambda: bytes(enough.wait(60.0)), long=True)
        return not enough.is_set()

    try:
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(wait).result(60.0)
    finally:
        enough.set()


LONG = {"linearize": "linearize.vector_field", "spectrum": "linear_system.spectrum", "equilibrium": "equilibrium._searched"}


@pytest.mark.parametrize("asked", LONG)
def test_a_long_call_is_ended_by_who_listens(asked, monkeypatch):
    """What computes in LAPACK or a loop does not hear Ctrl-C; it ends after the call it is in."""
    m, enough, ended_there = sh.samples.chain(4), threading.Event(), threading.Event()
    for module in ("linearize", "linear_system", "equilibrium"):
        monkeypatch.setattr(f"sharnir.analysis.{module}.LARGE", 3)
    with pytest.warns(sh.LinearizationWarning):  # who called is told, whatever thread it was computed on
        found = sh.linearize(m)

    def wait(*_):
        try:
            for _ in range(6000):
                if enough.wait(0.01):
                    break
        except KeyboardInterrupt:
            ended_there.set()
            raise

    monkeypatch.setattr(f"sharnir.analysis.{LONG[asked]}", wait)
    call = {"linearize": lambda: sh.linearize(m), "spectrum": lambda: found.eigenvalues, "equilibrium": lambda: sh.equilibrium(m)}
    try:
        with progress_listener(ended), pytest.raises(Ended):
            call[asked]()
        assert ended_there.wait(60.0)
    finally:
        enough.set()


def test_one_state_with_large_results_is_computed_in_the_background(monkeypatch):
    d = sh.Dynamics(sh.samples.chain(3), "composite", "loops")
    expected, alone = d.forward_derivatives(np.ones(3)).dq, []

    def recorded(work, long):
        alone.append(long)
        return in_background(work, long)

    for module, numbers in (("fast_path", 30), ("loops", 8)):
        monkeypatch.setattr(f"sharnir.backends.{module}.BODIES_OF_A_CALL", numbers)
        monkeypatch.setattr(f"sharnir.backends.{module}.in_background", recorded)
    d = sh.Dynamics(sh.samples.chain(3), "composite", "loops")
    for q in (np.ones(3), np.ones((1, 3))):
        assert (d.forward_derivatives(q).dq == expected).all() and alone and all(alone)
        alone.clear()
    d.forward(np.ones(3))
    assert not any(alone)


def test_runs_side_by_side_and_starts_one_by_one_are_ended_by_who_listens(monkeypatch):
    runs = Runs(sh.samples.chain(2), many=True)
    q = np.random.default_rng(0).normal(size=(20, 2))
    monkeypatch.setattr("sharnir.integrate.side_by_side.FIRST", 1)
    with progress_listener(ended), pytest.raises(Ended):
        AdaptiveLanes(runs).run(q, 0.0 * q, [1.0], RunOptions(duration=1.0))
    m = sh.samples.four_bar(0.5, 1.3, 0.9, 1.1)
    with progress_listener(ended), pytest.raises(Ended):  # the first start is far from closed
        assembled_starts(m, np.zeros((3, m.nq)), np.zeros((3, m.nv)), 0.0, table_of(m), np.zeros((3, 0)), Asked(fixed=[]))


def test_ctrl_c_in_the_first_run_of_a_study_is_nothing_else(monkeypatch):
    monkeypatch.setattr(Runs, "run", lambda *_, **__: SimpleNamespace(status="interrupted"))
    with pytest.raises(KeyboardInterrupt) as caught:
        sh.study(sh.samples.chain(2), {"rtol": [1e-6, 1e-8]}, {"duration": 0.1})
    assert caught.type is KeyboardInterrupt


def test_bundles_that_are_done_when_it_comes_are_kept(monkeypatch):
    """The first wait ends with both done, and Ctrl-C."""
    futures = [Future(), Future(), Future()]

    def wait(waiting, **_):
        for k, future in enumerate(futures[:2]):
            future.set_result(f"bundle {k}")
        raise KeyboardInterrupt

    monkeypatch.setattr(execution, "wait", wait)
    rest = iter(futures)
    found = execution.in_window(((k, {}) for k in range(3)), 3, lambda rows: next(rest))
    assert [next(found), next(found)] == [(0, "bundle 0"), (1, "bundle 1")]
    with pytest.raises(KeyboardInterrupt):
        next(found)
