"""Processes: what a parent has compiled and started serves its children, forked or spawned."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

USED_THEN_FORKED = """
import os, signal
import numpy as np
import sharnir as sh

m = sh.samples.{model}
d = sh.Dynamics(m, "separate", threads=2)
q = np.random.default_rng(0).normal(size=({states}, m.nq)).squeeze()
expected = d.forward(q, q, q)
child = os.fork()
if child == 0:
    signal.alarm(300)
    os._exit(0 if np.array_equal(d.forward(q, q, q), expected) else 3)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert np.array_equal(d.forward(q, q, q), expected)
raise SystemExit(code)
"""

COMPILING_THEN_FORKED = """
import os, signal, threading, time
import sharnir as sh

def compiles(g):
    m = sh.samples.chain(4)
    m.gravity = (0.0, 0.0, g)
    sh.Dynamics(m, "separate", "llvm").forward()

def forever():
    while not done.is_set():
        compiles(-9.0 - 1e-6 * time.monotonic())

compiles(-9.0)
done = threading.Event()
thread = threading.Thread(target=forever)
thread.start()
codes = []
for k in range(8):
    time.sleep(0.02)
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        compiles(-8.0 - 0.01 * k)
        os._exit(0)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    if codes[-1]:
        break
done.set()
thread.join()
raise SystemExit(max(map(abs, codes)))
"""

HOLDING_THEN_FORKED = """
import os, signal, threading
import sharnir as sh
from sharnir.dynamics import Dynamics

d = sh.Dynamics(sh.samples.chain(2), "separate")
lock = vars(Dynamics)["_fast_forward"].lock
held, done = threading.Event(), threading.Event()

def hold():
    with lock:
        held.set()
        done.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(300)
    d.forward()
    os._exit(0)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
done.set()
thread.join()
raise SystemExit(abs(code))
"""

POOL = """
import multiprocessing
import numpy as np
import sharnir as sh

m = sh.samples.chain(4)
d = sh.Dynamics(m, "separate", threads=2)
q = np.random.default_rng(0).normal(size=(4096, m.nq))

def answer(k):
    return d.forward(q, q, q)[k]

if __name__ == "__main__":
    expected = d.forward(q, q, q)
    with multiprocessing.get_context("{way}").Pool(2) as pool:
        found = pool.map_async(answer, range(4)).get(600)
    assert np.array_equal(found, expected[:4])
"""


def run(tmp_path, text: str, **environment: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=1000, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize(("model", "states"), [("chain(4)", 4096), ("tree(600, dof=1)", 1)])
def test_a_forked_child_uses_threads_of_its_own(tmp_path, model, states):
    run(tmp_path, USED_THEN_FORKED.format(model=model, states=states))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_while_another_thread_compiles_can_compile(tmp_path):
    run(tmp_path, COMPILING_THEN_FORKED, SHARNIR_CACHE_MB="0")


@pytest.mark.skipif(not hasattr(os, "fork") or sys.version_info >= (3, 12), reason="no fork, or no locks of cached properties")
def test_a_child_forked_while_another_thread_computes_a_property_can_compute_it(tmp_path):
    run(tmp_path, HOLDING_THEN_FORKED)


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_a_pool_of_processes_gives_the_numbers_of_its_parent(tmp_path, way):
    run(tmp_path, POOL.replace("{way}", way))


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads the memory of a process from /proc")
def test_a_model_that_is_gone_leaves_no_memory_behind():
    """A compiled module left 46 kB, 0.08 MB a model."""
    from benchmarks.soak import grown

    from sharnir.dialect.jit import object_code

    assert grown(lambda i: object_code(f"define void @f{i}(ptr %x) {{\n ret void\n}}\n"), 300, "modules") < 3.0
