"""`Runs`: a run does not depend on those before it, whatever the execution, and is what `simulate` gives."""

from __future__ import annotations

from dataclasses import fields
from inspect import Parameter, signature

import numpy as np
import pytest

import sharnir as sh
from sharnir.simulation.run.options import CompiledOptions, MotionOptions, RunOptions, split
from sharnir.simulation.run.runs import Runs


def pendulum() -> sh.Model:
    model = sh.samples.double_pendulum()
    model.make_parameter("rod2.mass")
    return model


def ball() -> sh.Model:
    model = sh.Model("ball")
    model.add_body("ball", mass=1.0)
    model.add_joint("height", sh.Prismatic("z"), "ground", "ball")
    model.make_parameter("ball.mass")
    return model


def controlled() -> sh.Model:
    model = pendulum()
    model.add_force(sh.PID("hinge1", kp=3.0, ki=1.0, kd=0.1), name="pid")
    return model


def closed() -> sh.Model:
    model = sh.samples.slider_crank()
    model.make_parameter("rod.mass")
    return model


CASES = {
    "straight-line": (pendulum, {}),
    "loops": (pendulum, {"backend": "loops"}),
    "interpreted": (pendulum, {"backend": "python", "integrator": "dopri5"}),
    "momentum": (pendulum, {"method": "momentum"}),
    "a method that iterates": (pendulum, {"method": "inverse-iterative"}),
    "states of forces": (controlled, {}),
    "implicit": (pendulum, {"integrator": "radau"}),
    "sensitivities": (pendulum, {"sensitivities": ["rod2.mass", "q0.hinge1"]}),
    "sampled control": (pendulum, {"control": sh.Sampled(lambda sample: [-2.0 * sample.q[0], 0.0], 0.05)}),
    "event": (pendulum, {"events": sh.Event(lambda on: on.q("hinge1") + 0.3, "stop", name="low")}),
    "impact": (ball, {"events": sh.Impact(lambda on: on.q("height"), restitution=0.5, name="floor")}),
    "closed": (closed, {}),
    "partitioning": (closed, {"stabilisation": "partitioning"}),
    "decaying": (closed, {"stabilisation": "baumgarte"}),
    "closed, elimination by loops": (closed, {"backend": "loops", "method": "separate"}),
    "closed, dense by loops": (closed, {"backend": "loops", "method": "composite"}),
}


def run(runs: Runs, k: int) -> sh.Result:
    """One of two runs that differ in everything that may."""
    model = runs.user_model
    mass = next(iter(model.parameters))
    first = model.v_names[0]
    start = {"v0": {first: 1.0 + k}} | ({"q0": {first: 0.2 + 0.1 * k}} if model.name in ("ball", "double pendulum") else {})
    return runs.run(
        RunOptions(
            duration=0.1 + 0.1 * k, **start, tau={first: 0.3 * k}, parameters={mass: 1.0 + 0.5 * k}, output=0.02,
            rtol=1e-7, progress=False,
        )
    )  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_run_does_not_depend_on_those_before_it(case):
    make, options = CASES[case]
    compiled = CompiledOptions(**options)
    runs = Runs(make(), compiled, many=True)
    first, second, again, fresh = run(runs, 0), run(runs, 1), run(runs, 0), run(Runs(make(), compiled, many=True), 1)
    for a, b in ((first, again), (second, fresh)):
        for name in ("t", "q", "v", "work_done", "state_values", "sensitivities"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name
        assert [e.t for e in a.events] == [e.t for e in b.events]
        assert (a.cost.steps, a.cost.evaluations, a.status, a.message) == (b.cost.steps, b.cost.evaluations, b.status, b.message)
    assert not np.array_equal(first.q[-1], second.q[-1])


def test_runs_of_a_tree_are_those_of_simulate():
    model = pendulum()
    ours = Runs(model, many=True).run(RunOptions(duration=0.5, v0={"hinge1": 1.0}, parameters={"rod2.mass": 2.0}))
    theirs = sh.simulate(model, 0.5, v0={"hinge1": 1.0}, parameters={"rod2.mass": 2.0})
    assert np.array_equal(ours.q, theirs.q) and np.array_equal(ours.work_done, theirs.work_done)


def test_starts_are_remembered_only_where_the_constraints_are_the_same():
    model = sh.samples.slider_crank()
    model.make_parameter("crankpin.at.x")
    model.make_parameter("rod.mass")
    runs = Runs(model, many=True)
    value = model.parameters["crankpin.at.x"]
    table = runs.d.constrained.table
    assert dict(zip(model.structure.parameters, table.reads.tolist(), strict=True)) == {"crankpin.at.x": True, "rod.mass": False}
    for mass in (1.0, 2.0):
        for x in (value, 1.1 * value):
            values = {"rod.mass": mass, "crankpin.at.x": x}
            r = runs.run(RunOptions(duration=0.01, q0={"main": 0.3}, parameters=values, progress=False))
            assert r.violation.max() < 1e-9
    assert len(runs._starts) == 2


def test_a_run_through_a_singular_position_leaves_nothing_behind():
    model = sh.samples.four_bar()
    model.make_parameter(f"{model.bodies[1].name}.mass")
    name = next(iter(model.parameters))
    runs = Runs(model, many=True)
    joint = model.v_names[0]

    def passed(mass):
        return runs.run(
            RunOptions(
                duration=2.0, q0={joint: 1.5}, v0={joint: -2.0}, parameters={name: mass}, output=0.05, progress=False
            )
        )  # fmt: skip

    first, _, again = passed(1.0), passed(1.5), passed(1.0)
    assert first.cost.passages == again.cost.passages > 0
    assert np.array_equal(first.q, again.q) and first.cost.steps == again.cost.steps


def test_options_are_those_of_simulate_and_of_the_settings_in_files():
    described = {one.name: one for cls in (CompiledOptions, RunOptions) for one in fields(cls)}
    listed = dict(signature(sh.simulate).parameters)
    model = listed.pop("model")
    assert model.default is Parameter.empty
    assert {*described} == {*listed, "law"}
    assert not {one.name for one in fields(CompiledOptions)} & {one.name for one in fields(RunOptions)}
    for name, parameter in listed.items():
        assert name == "duration" or getattr(CompiledOptions if name in CompiledOptions.__dict__ else RunOptions, name) == (
            () if name == "control" else parameter.default
        )
    assert {one.name for one in fields(sh.SimulationSettings)} - {"impacts"} <= {*listed}
    for name, parameter in signature(sh.Simulation).parameters.items():
        if name in {one.name for one in fields(MotionOptions)}:
            assert parameter.default == listed[name].default, name


def test_options_are_split_into_those_that_are_compiled_and_those_of_one_run():
    law = lambda on: [0.0]  # noqa: E731
    compiled, one = split({"duration": 1.0, "tau": law, "integrator": "radau", "rtol": 1e-3}, RunOptions)
    assert compiled.law is law and compiled.integrator == "radau" and one.tau is None and one.rtol == 1e-3
    compiled, one = split({"duration": 1.0, "tau": [1.0]}, RunOptions)
    assert compiled.law is None and one.tau == [1.0]
