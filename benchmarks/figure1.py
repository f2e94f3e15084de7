"""Figure 1 of [I], and beyond it: `python -m benchmarks figure1 [--quick] [--out docs/results]`.

Time per step of integration against the number of bodies, for chains as in the paper, for trees, and against the size of
the step. Writes three pictures, a table behind each (CSV), and figure1.md, which says what they show.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import sharnir as sh
from sharnir.errors import SimulationError
from sharnir.reporting.progress import ProgressBar

from . import figure1_draw as draw
from . import figure1_report as report
from . import harness
from .figure1_models import CHAINS, TREES, Subject, start
from .figure1_plan import ITERATIVE, LINEAR, METHODS, STRAIGHT, Measured, Plan, Record, write_csv
from .figure1_steps import LEAD_IN, Steps, race

Advance = Callable[[str], None]


def growing(subject: Subject, plan: Plan, measured: Measured, advance: Advance) -> None:
    """One family of mechanisms, from the smallest to the largest, all methods in turn."""
    share = dict.fromkeys(METHODS, 0.0)  # of the time a method may take, as used at the last size
    last = 0
    for n in plan.sizes:
        for method in [m for m in share if m not in LINEAR and last and (n / last) ** 3 * share[m] > 1.0]:
            measured.stopped.append(
                f"{subject.title}: {method} ends at N = {last}. At {n} a sample of {shortest_sample(method, plan)} steps "
                f"may take more than {plan.sample:g} s, or the first factorisation more than {plan.factorisation:g} s"
            )
            del share[method]
        advance(f"{subject.title}, N = {n}")
        model = subject.build(n)
        q, v = start(model)
        contenders = [Steps(model, method, plan.loops, q, v, plan.step, plan.compiled) for method in share]
        contenders += straight_line(subject, model, n, plan, measured, (q, v))
        for c, (seconds, steps) in zip(contenders, race(contenders, plan.seconds, plan.rounds, plan.least), strict=True):
            measured.records.append(record(subject, model, n, c, seconds, steps))
            if c.backend == plan.loops:
                share[c.method] = max(shortest_sample(c.method, plan) * seconds / plan.sample, c.lead_in / plan.factorisation)
        last = n


def shortest_sample(method: str, plan: Plan) -> int:
    """Steps of it, those before the clock starts included."""
    return LEAD_IN + plan.least if method in ITERATIVE else 2


def straight_line(subject: Subject, model: sh.Model, n: int, plan: Plan, measured: Measured, motion: tuple) -> list[Steps]:
    """The methods that `auto` would run as straight-line code at this size."""
    found = []
    for method in STRAIGHT if n in plan.straight else ():
        key = (*_key(subject), method)
        if key in measured.beyond:
            continue
        steps = Steps(model, method, "auto", *motion, plan.step, plan.compiled)
        if steps.backend == "llvm":
            found.append(steps)
        else:
            measured.beyond[key] = n
    return found


def record(subject: Subject, model: sh.Model, n: int, c: Steps, seconds: float, steps: int) -> Record:
    iterations = c.iterations(steps) if c.iterates else (0.0, 0.0)
    number = METHODS[c.method][0]
    return Record(
        *_key(subject), n, model.nv, number, c.method, c.backend, c.step, 1e6 * seconds, *iterations, steps
    )  # fmt: skip


def _key(subject: Subject) -> tuple[str, int]:
    return subject.shape, subject.axes


def step_sizes(subject: Subject, sizes: tuple[int, ...], plan: Plan, measured: Measured, advance: Advance) -> None:
    """The iterative methods at every size of the step, beside two that do not depend on it."""
    for n in sizes:
        advance(f"steps of the {subject.title}, N = {n}")
        model = subject.build(n)
        q, v = start(model)
        contenders = [Steps(model, method, plan.loops, q, v, plan.step, plan.compiled) for method in ("composite", "separate")]
        for method in ITERATIVE:
            for step in plan.steps:
                try:
                    steps = Steps(model, method, plan.loops, q, v, step, plan.compiled)
                    steps.run(plan.along)
                    contenders.append(steps)
                except SimulationError:
                    measured.stopped.append(f"{subject.title}, N = {n}: rk4 loses the motion at a step of {step:g} s")
        for c, (seconds, steps) in zip(
            contenders, race(contenders, 2.0 * plan.seconds, plan.rounds, plan.along, plan.along), strict=True
        ):
            measured.records.append(record(subject, model, n, c, seconds, steps))


def measure(plan: Plan) -> tuple[Measured, Measured, Measured]:
    """Chains, trees, steps."""
    chains, trees, steps = Measured(), Measured(), Measured()
    by_axes = {subject.axes: subject for subject in CHAINS}
    total = len(plan.sizes) * len(CHAINS + TREES) + sum(map(len, plan.stepped.values()))
    done = count()
    with ProgressBar(None, "Figure 1", total) as bar:

        def advance(what: str) -> None:
            bar.update(next(done), what)

        for subject in CHAINS:
            growing(subject, plan, chains, advance)
        for subject in TREES:
            growing(subject, plan, trees, advance)
        for axes, sizes in plan.stepped.items():
            step_sizes(by_axes[axes], tuple(sizes), plan, steps, advance)
    return chains, trees, steps


def main(quick: bool = False, plan: Plan | None = None) -> None:
    plan = plan or (Plan.short() if quick else Plan())
    out = harness.SETTINGS.out or Path("results" if quick else harness.DOCS)  # no short run among the published results
    load = os.getloadavg()[0]
    chains, trees, steps = measure(plan)
    out.mkdir(parents=True, exist_ok=True)
    for name, found in (("chains", chains), ("trees", trees), ("step_size", steps)):
        write_csv(out / f"figure1_{name}.csv", found.records)
    draw.chains(out / "figure1_chains.png", chains, plan)
    draw.trees(out / "figure1_trees.png", trees, plan)
    draw.step_size(out / "figure1_step_size.png", steps, plan)
    text = report.text(chains, trees, steps, plan, (load, os.getloadavg()[0]))
    (out / "figure1.md").write_text(text, encoding="utf-8")
    print(f"Figure 1: written to {out}")
