"""One state of one large model on two threads over one: subtrees of trees, columns of inertia matrices.

Measured ratios are of the least times of interleaved samples: both threads need a processor of their own for as long as a
sample takes, so run this on an idle machine. Beside them stands what two idle processors would give: the processor time of every
task alone, each taken by whichever thread is free first. That hardly depends on other work, but leaves out handing over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import thread_time

import numpy as np

import sharnir as sh
from sharnir.backends import threaded
from sharnir.backends.thread_team import Team
from sharnir.model.joints import Revolute
from sharnir.programs.sharing import SHARING

from .harness import SETTINGS, check_same, race
from .report import Measure

THREADS = 2
TREES = (100, 300, 1_000, 10_000, 100_000, 1_000_000)
CHAINS = (50, 100, 200, 500, 1_000, 2_000)
QUICK = 1_000
"""The largest with --quick."""
LEGS = 8
MATRICES = ("composite", "stepanenko", "recursive")


def bush(n: int) -> sh.Model:
    """n equal links, each of which carries two others."""
    return links(n, lambda i: i // 2, f"bush of {n}")


def spider(n: int) -> sh.Model:
    """n equal links in legs on a common body."""
    return links(n, lambda i: max(i - LEGS, 1) if i > 1 else 0, f"spider of {n}, {LEGS} legs")


def links(n: int, carrier: Callable[[int], int], name: str) -> sh.Model:
    m, joint = sh.Model(name), Revolute()
    beyond = sh.Pose((0.3, 0.0, 0.0), sh.Rotation.about("x", np.pi / 2))
    for i in range(1, n + 1):
        m.add_body(f"link{i}", mass=1.0, com=(0.15, 0.01, 0.0), inertia=(0.001, 0.008, 0.0085))
        k = carrier(i)
        m.add_joint(f"joint{i}", joint, f"link{k}" if k else "ground", f"link{i}", at=beyond)
    return m


def measure(quick: bool = False) -> Iterator[Measure | str]:
    own = threaded.pays
    threaded.pays = lambda *given: True  # what is gained or lost by models too small to be shared, too
    try:
        yield "shared from so many bodies on: " + ", ".join(f"{name} {sharing.least}" for name, sharing in SHARING.items())
        yield from trees(quick)
        yield from matrices(quick)
    finally:
        threaded.pays = own


def trees(quick: bool) -> Iterator[Measure]:
    for n in (n for n in TREES if not quick or n <= QUICK):
        for make in (bush, spider):
            model = make(n)
            q, v, tau = np.random.default_rng(0).uniform(-0.1, 0.1, (3, n))
            dynamics = {k: sh.Dynamics(model, "separate", "loops", threads=k) for k in (1, THREADS)}
            calls = {k: partial(d.forward, q, v, tau) for k, d in dynamics.items()}
            by_tasks = expected(dynamics[1], "forward/separate", {"q": q, "v": v, "tau": tau})
            yield from compared(model.name, "forward, separate", calls, by_tasks, 1.5 if n >= 10_000 else None)


def matrices(quick: bool) -> Iterator[Measure]:
    for n in (n for n in CHAINS if not quick or n <= QUICK):
        model = sh.samples.chain(n)
        q = np.random.default_rng(0).uniform(-1.0, 1.0, n)
        for method in MATRICES:
            dynamics = {k: sh.Dynamics(model, method, "loops", threads=k) for k in (1, THREADS)}
            calls = {k: partial(d.mass_matrix, q) for k, d in dynamics.items()}
            by_tasks = expected(dynamics[1], f"inertia/{method}", {"q": q})
            yield from compared(f"chain of {n}", f"inertia matrix, {method}", calls, by_tasks, None)


def compared(
    subject: str, what: str, calls: dict[int, Callable[[], np.ndarray]], by_tasks: float, target: float | None
) -> Iterator[Measure]:
    check_same(f"{subject}, {what}", calls[THREADS](), calls[1](), 1e-12)
    one, two = (1e6 * seconds for seconds in race({f"{k} threads": call for k, call in calls.items()}).values())
    yield Measure("parallel", subject, what, one / two, "×", target, details={"one": one, "two": two})
    yield Measure("parallel", subject, f"{what}, by tasks", by_tasks, "×")


def expected(d: sh.Dynamics, program: str, state: dict[str, np.ndarray]) -> float:
    """One thread over two, by the processor time of the tasks."""
    runner = d.formulation.programs.runner(program, backend="loops")
    arrays = state | {"t": np.zeros(1)} | {name: np.zeros(shape) for name, shape in runner.outputs.items()}
    (alone,), (team,) = runner.chain(arrays), runner.chain(arrays, THREADS)
    assert isinstance(team, Team)
    tasks = [native for step in team.steps for native in step]
    least = np.full(1 + len(tasks), np.inf)
    for _ in range(5 if SETTINGS.quick else 20):
        least = np.minimum(least, [processor_time(native) for native in (alone, *tasks)])
    seconds, total = iter(least[1:].tolist()), 0.0
    for step in team.steps:
        busy = [0.0] * THREADS
        for _ in step:
            busy[busy.index(min(busy))] += next(seconds)
        total += max(busy)
    return float(least[0] / total)


def processor_time(native: Callable[[], None]) -> float:
    begun = thread_time()
    native()
    return thread_time() - begun
