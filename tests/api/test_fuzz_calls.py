"""Hostile arguments: every public call answers them, or refuses them with an error of ours that has words."""

from __future__ import annotations

import math
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from benchmarks.fuzz import calls
from benchmarks.fuzz.valid import model_with_slider, small_model, valid_of
from benchmarks.fuzz.watch import Seeds, watch
from benchmarks.fuzz.worker import attempt, described

import sharnir as sh

HUGE = 10**400
DIGITS = 10**5000
"""More digits than Python prints: not even `repr` works."""
ARRAY = np.zeros(3)
LEFT_OUT = {"Result.load"}
"""Calls of which the tests of another module say what they refuse."""


@pytest.mark.parametrize("first", range(0, 160, 40))
def test_hostile_arguments_are_answered_or_refused(first: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ends = {seed: attempt("calls", seed) for seed in range(first, first + 40)}
    found = [f"{seed}: {end['fault']}\n{end['trace']}" for seed, end in ends.items() if end["end"] == "fault"]
    assert not [text for text in found if not any(name in text for name in LEFT_OUT)], "\n".join(found)
    assert {"accepted", "refused"} <= {end["end"] for end in ends.values()}


def test_every_public_call_is_among_them() -> None:
    named = {name.partition(".")[0].rstrip("=") for name in calls.targets()}
    classes = {name for name in calls.PUBLIC if isinstance(x := getattr(sh, name), type) and issubclass(x, Exception)}
    numbers = {name for name in calls.PUBLIC if isinstance(getattr(sh, name), float)}
    assert set(calls.PUBLIC) - classes - numbers - named <= calls.OUTPUTS
    for name in calls.targets():
        for parameter in calls.required(name) if not name.endswith("=") else ():
            assert valid_of(name, parameter), f"{name}: no valid value is known for {parameter!r}"


def test_a_case_follows_from_its_seed() -> None:
    assert [calls.run(seed)[0] for seed in range(30)] == [calls.run(seed)[0] for seed in range(30)]


def test_crashes_hangs_and_growth_are_found_with_their_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=":")
    seeds = Seeds(["fuzz_faults:case"], 0, 6)
    found = {r.seed: r.fault for r in watch(seeds, 1, math.inf, hang=1.5, growth=200 * 2**20)}
    assert list(found) == list(range(6))
    assert (found[0], found[5]) == ("", "")
    assert found[1] == "the process died: SIGABRT"
    assert found[2] == "hangs: more than 1.5 s"
    assert found[3] == "memory grows by more than 200 MB"
    assert found[4] == "KeyError: 'not one of ours'"


def test_a_fault_is_placed_in_the_package_whatever_the_folders_are_called(tmp_path: Path) -> None:
    outside = compile("raise KeyError('a')", str(tmp_path / "sharnir" / "case.py"), "exec")
    with pytest.raises(KeyError) as found:
        exec(outside)
    assert described(found.value) == "KeyError: 'a'"
    with pytest.raises(sh.ModelError) as refused:
        sh.samples.chain(-1)
    assert described(refused.value).startswith(f"ModelError at sharnir{os.sep}samples{os.sep}")


# --- what it found --------------------------------------------------------------------------------------------------------------
def refused(*arguments: object, **options: object) -> object:
    """`model.add_body(…)` of a small model."""
    return small_model().add_body(*arguments, **options)  # type: ignore[arg-type]


M, D = small_model, lambda: sh.Dynamics(small_model(), "composite", "python")
FOUND = [
    # arguments of analyses
    (lambda: sh.linearize("x", parameters={}), "linearize needs a sharnir.Model"),
    (lambda: sh.equilibrium(sh.samples.pendulum(), starts=int), "starts: expected a whole number of at least 1"),
    # numbers that no float can hold
    (lambda: refused("a", HUGE), "body 'a': mass must be a number of kilograms, got 10000"),
    (lambda: refused("a", DIGITS), "body 'a': mass must be a number of kilograms, got <int>"),
    (lambda: refused("a", 1.0, (HUGE, 0, 0)), "body 'a': com: expected three numbers"),
    (lambda: refused("a", 1.0, None, [HUGE] * 3), "inertia"),
    (lambda: refused("a", shape=sh.Rod((0, 0, 0), (1e200, 0, 0)), mass=1.0), "is too large"),
    (lambda: M().add_parameter("a", HUGE), "parameter 'a': expected a number"),
    (lambda: model_with_slider().couple("hinge", "slide", HUGE),
    "coupling of 'hinge' to 'slide': ratio and offset must be numbers"),
    (lambda: M().coordinates({"hinge": HUGE}), "q of joint 'hinge': expected numbers"),
    (lambda: M().coordinates([HUGE]), "q: expected numbers"),
    (lambda: sh.Model(gravity=(0, 0, HUGE)), "gravity: expected three numbers"),
    (lambda: sh.Pose((HUGE, 0, 0)), "position: expected three numbers"),
    (lambda: sh.Rotation.quaternion(HUGE, 0, 0, 0), "quaternion: expected numbers"),
    (lambda: sh.Rotation.about("x", "a"), "angle: expected numbers"),
    (lambda: sh.Rotation(5), "rotation: expected"),
    (lambda: sh.Rotation.align_z(5), "direction: expected three numbers"),
    (lambda: D().forward([HUGE] * 5), "q: expected numbers"),
    (lambda: D().forward(t=HUGE), "t: expected numbers"),
    (lambda: D().forward(wrenches=[[HUGE] * 6] * 2), "wrenches: expected numbers"),
    (lambda: D().force_actions(parameters=[HUGE]), "parameters: expected numbers"),
    (lambda: D().force_actions(parameters=[1.0, 2.0]), r"parameters: expected .*\(1,\) or \(B, 1\), got \(2,\)"),
    (lambda: sh.simulate(M(), HUGE), "duration: expected a number of seconds"),
    (lambda: sh.simulate(M(), 1.0, rtol=DIGITS), "rtol: expected a number, got <int>"),
    (lambda: sh.simulate(M(), 1.0, output=HUGE), "output: expected a number, got 1000"),
    (lambda: sh.simulate(M(), 1.0, every=HUGE), "every: expected a whole number of at most 9223372036854775807"),
    (lambda: sh.rollout(M(), M().neutral(), step=0.1, steps=HUGE), "steps: expected a whole number of at most"),
    (lambda: sh.rollout(M(), M().neutral(), step=0.1, steps=2, every=HUGE), "every: expected a whole number of at most"),
    (lambda: sh.sin(HUGE) and sh.atan2(1.0), "atan2 has 2 arguments, got 1"),
    (lambda: sh.sin({}), "sin: expected numbers, arrays or symbols"),
    (lambda: sh.maximum([], {}), "maximum: expected two numbers"),
    (lambda: sh.samples.chain(HUGE), "chain: n must be at most 10000000"),
    (lambda: sh.samples.stewart(base="x"), "stewart: base: expected a number, got 'x'"),
    (lambda: sh.samples.tree(3, seed={}), "tree: seed must be a whole number"),
    (lambda: M().random_q([1e308]), "expected a seed"),
    (lambda: sh.samples.chain(np.timedelta64(1, "s")), "chain: n must be a whole number"),
    (lambda: sh.simulate(M(), 1.0, every=np.timedelta64(1, "s")), "every: expected a whole number"),
    # things of another kind
    (lambda: sh.dumps(5), "dumps needs a sharnir.Model, got 5"),
    (lambda: sh.matrices(5), "matrices needs a sharnir.Model, got 5"),
    (lambda: refused("a", shape=5), "body 'a': expected a shape such as .*, got 5"),
    (lambda: sh.Dynamics(M(), {}), "unknown method {}"),
    (lambda: D().count([]), r"nothing to count for \[\]"),
    (lambda: sh.formula("t", "t", where=ARRAY), "formula: where names parts"),
    (lambda: sh.Revolute(friction=np.ndarray), "friction: expected a number"),
    (lambda: sh.load(5), "path: expected the name of a file, got 5"),
    (lambda: sh.load("a\0.yaml"), "has no null characters"),
    (lambda: M().save("\ud800.yaml"), "path: expected the name of a file"),
    (lambda: sh.compare(M(), budget={}), "budget: expected a number of seconds"),
    (lambda: setattr(M(), "numbering", ARRAY), "unknown numbering"),
    # arrays and lists as names and flags
    *[(call, r"no (body|joint|frame|force|body or frame) (\[\]|array)") for call in (
        lambda: M().body_index([]), lambda: M().joint_index([]), lambda: M().q_slice(ARRAY), lambda: M().split([]),
        lambda: M().add_frame("f", ARRAY, sh.Pose()), lambda: M().couple([], "ball"), lambda: M().assemble(fixed=[[]]),
        lambda: M().add_floating(ARRAY), lambda: M().add_joint("a", sh.Weld(), [], "bob"), lambda: D().jacobian(None, []),
    )],
    (lambda: M().assemble(fixed=5), "fixed: expected names, a list; got 5"),
    (lambda: D().inverse(None, None, None, actuated=5), "actuated: expected names, a list; got 5"),
    # arrays of no dimension: their type says that there is something to go through
    (lambda: M().assemble(fixed=np.array(1.0)), r"fixed: expected names, a list; got array\(1\.\)"),
    (lambda: sh.simulate(M(), 1.0, events=np.array(1.0)), r"events: expected .*, got array\(1\.\)"),
    (lambda: refused(ARRAY, 1.0), "a body needs a name, got array"),
    (lambda: M().add_force(sh.Drag("bob"), ARRAY), "a force needs a name, got array"),
    (lambda: M().add_constraint(sh.Distance("bob", "bar"), ARRAY), "a constraint needs a name, got array"),
    (lambda: refused("a", 1.0, check_inertia=ARRAY), "check_inertia: expected True or False"),
    (lambda: M().add_joint("a", sh.Weld(), "ground", "bob", cut=ARRAY), "cut: expected True or False"),
    (lambda: sh.loads(sh.dumps(M()), strict=ARRAY), "strict: expected True or False"),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(FOUND)))
def test_what_the_fuzzer_found_is_refused_with_words(k: int) -> None:
    call, words = FOUND[k]
    with pytest.raises(sh.SharnirError, match=words):
        call()


# --- names ----------------------------------------------------------------------------------------------------------------------
GIVEN = {
    "model": sh.Model,
    "body": lambda name: M().add_body(name),
    "joint": lambda name: M().add_joint(name, sh.Weld(), "ground", "bob", cut=True),
    "frame": lambda name: M().add_frame(name, "bob", sh.Pose()),
    "parameter": lambda name: M().add_parameter(name, 1.0),
    "force": lambda name: M().add_force(sh.Drag("bob"), name),
    "constraint": lambda name: M().add_constraint(sh.Distance("bob", "bar"), name),
    "event": lambda name: sh.Event(sh.SignalFormula("t"), name=name),
    "own name": lambda name: sh.Drag("bob", name=name),
    "part": lambda name: sh.Compound({name: sh.Revolute()}),
    "coordinate": lambda name: sh.CustomJoint(1, sh.PoseFormula(("q", 0, 0), variables=("q", "t")), names=(name,)),
}
UNWRITABLE = {
    "a\0b": "control",
    "a\nb": "control",
    "\x85": "control",
    "\ud800": "surrogate",
    "\u2028": "separator",
    "n" * 500: "at most",
}


@pytest.mark.parametrize("name", UNWRITABLE, ids=range(len(UNWRITABLE)))
@pytest.mark.parametrize("what", GIVEN)
def test_names_that_some_file_cannot_hold_are_refused_when_they_are_given(what: str, name: str) -> None:
    with pytest.raises(sh.SharnirError, match=UNWRITABLE[name]):
        GIVEN[what](name)


@pytest.mark.parametrize("name", ["a b", "é\u202fx", "'\"<&>", "a.b", "#", "π", "n" * 200])
def test_names_that_are_given_come_back_from_every_file(name: str, tmp_path: Path) -> None:
    m = sh.Model(name)
    m.add_body(name, 1.0, (0.1, 0.0, 0.0), (0.1, 0.1, 0.1))
    m.add_joint(name, sh.Revolute("x"), "ground", name)
    for suffix in (".yaml", ".urdf"):
        m.save(tmp_path / f"m{suffix}")
        assert [j.name for j in sh.load(tmp_path / f"m{suffix}").joints] == [name]
    event = sh.Event(sh.SignalFormula("t - 0.005"), name=name)
    found = sh.simulate(m, 0.01, backend="python", integrator="euler", step=0.005, events=[event], save=tmp_path / "m.nc")
    again = sh.Result.load(tmp_path / "m.nc")
    assert again.model.q_names == [name]
    assert [e.name for e in again.events] == [e.name for e in found.events] == [name]
    found.to_csv(tmp_path / "m.csv")
    assert name.replace('"', '""') in (tmp_path / "m.csv").read_text(encoding="utf-8").partition("\n")[0]


def test_a_split_that_is_refused_changes_nothing() -> None:
    m = sh.Model("long")
    m.add_body("b" * 200, 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("j", sh.Revolute(), "ground", "b" * 200)
    before = sh.dumps(m)
    with pytest.raises(sh.ModelError, match="at most 200"):
        m.split("j")
    assert sh.dumps(m) == before


# --- batches of no state --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", ["python", "llvm"])
def test_batches_of_no_state_have_answers_of_no_state(backend: str) -> None:
    m, loop = small_model(), sh.samples.four_bar()
    d, closed = sh.Dynamics(m, "composite", backend), sh.Dynamics(loop, "composite", backend)
    none, nothing = np.zeros((0, m.nq)), np.zeros((0, loop.nq))
    assert {name: {k: x.shape for k, x in found.items()} for name, found in d.force_actions(none).items()} == {
        "joint 'hinge': spring and damper": {"hinge": (0, 1)}, "joint 'hinge': stop": {"hinge": (0, 1)},
        "spring": {"bob": (0, 6)},
    }  # fmt: skip
    zero, w = np.zeros(loop.nv), np.ones((3, 6))
    for found in (closed.closing_reactions(nothing), closed.inverse_closing_reactions(nothing, zero, zero, wrenches=w)):
        assert {body: x.shape for body, x in found["D"].items()} == {"coupler": (0, 6), "rocker": (0, 6)}
    assert closed.reactions(nothing, wrenches=w).shape == closed.inverse_reactions(nothing, zero, zero).shape == (0, 3, 6)
    assert closed.solve(nothing).vdot.shape == (0, 3, 6)


def test_package_paths_are_folders(tmp_path: Path) -> None:
    (tmp_path / "m.urdf").write_text('<robot name="r"><link name="a"/></robot>')
    for paths in (5, np.array(5)):
        with pytest.raises(sh.FormatError, match=r"package_paths: expected a folder or several, got (array.)?5"):
            sh.load(tmp_path / "m.urdf", package_paths=paths)  # type: ignore[arg-type]


def test_functions_of_empty_arrays_are_empty() -> None:
    assert sh.exp(np.zeros((3, 0))).shape == (3, 0)
    assert math.isclose(sh.sin(0.5), math.sin(0.5))
