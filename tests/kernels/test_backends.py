"""Interpreted = straight-line code = loops = the dense matrices: one state or many, in any order, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from runs import STRAIGHT, batch, expected, kept, make, recorded, row, run, used
from sharnir.backends.loops import LANES_FROM
from sharnir.dialect.jit import host_lanes
from sharnir.programs import PROGRAMS as EVERY_PROGRAM
from sharnir.trace import Graph
from states import EPS, assert_close

SMALL = sh.samples.tree(5, branching=1.5, seed=2)
EVERYTHING = sh.samples.all_joints(1)
"""The one model of the tests of loops: a program is compiled once for all models."""
HEAVY = ["solve/separate", "inverse", "energy", "momentum-rates", "inertia/composite"]
"""On every joint as straight-line code; `forward/separate` is what `solve/separate` does for its accelerations."""
SIZES = [1, 2, 3, 4, 5, 7, 9, 64, 1000]
loops_group = pytest.mark.xdist_group("loops")

FOLDED = ("direct", "stepanenko", "recursive", "kosynka")
PROGRAMS = {
    name: program
    for name, program in EVERY_PROGRAM.items()
    if not (name.startswith(("coupled/solve/", "coupled/inertia/")) and name.endswith(FOLDED))
}
"""Those left out consist of the parts of `coupled/forward/…` and `coupled/solve/composite`; interpreted they are tested."""
DENSE = [name for name in STRAIGHT if name in PROGRAMS]
COMPILED = [name for name in DENSE if not (name.startswith(("solve/", "inertia/")) and name.endswith(FOLDED))]
"""Those left out consist of the parts of `forward/…` and `solve/composite`: their lanes are the dense matrices, and code for one
state would be compiled for what that of the parts proves."""
ON_LLVM_DENSE = [pytest.param(name, SMALL, "llvm", id=f"llvm-{name}") for name in DENSE]
ON_LLVM = [param for param in ON_LLVM_DENSE if param.values[0] in COMPILED]
together = pytest.mark.xdist_group("everything")  # on one worker: each program is compiled once
ON_LLVM_EVERYTHING = [pytest.param(name, EVERYTHING, "llvm", id=f"llvm-everything-{name}", marks=together) for name in HEAVY]
ON_LOOPS = [pytest.param(name, EVERYTHING, "loops", id=f"loops-{name}", marks=loops_group) for name in PROGRAMS]
ON_LOOPS_STRAIGHT = [pytest.param(name, EVERYTHING, "loops", id=f"loops-{name}", marks=loops_group) for name in COMPILED]
STATELESS = [*ON_LLVM, *ON_LOOPS_STRAIGHT]
"""Programs that remember nothing from call to call."""


def assert_same_bits(found, wanted, rows=slice(None)):
    for key, x in used(found).items():
        assert x[rows].tobytes() == used(wanted)[key][rows].tobytes(), key


def assert_rounding(found, wanted, tolerance=1e-12):
    for key, x in used(found).items():
        assert_close(x, used(wanted)[key], tolerance, what=key)


# --- the same numbers -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "model", "backend"), [*ON_LLVM_DENSE, *ON_LLVM_EVERYTHING, *ON_LOOPS])
def test_a_program_is_the_dense_matrices_and_the_interpreted_kernels(name, model, backend):
    values = batch(model, 9, seed=3)
    found = used(run(kept(name, model, backend), values))
    for b in (0, 8):
        for key, x in expected(name, model, row(values, b)).items():
            assert_close(found[key][b], x, 1e-10, what=f"{key} of state {b}")
    three = {key: x[:3] for key, x in values.items()}
    iterates = PROGRAMS[name].loops_only  # its last digits depend on what it remembers
    for key, x in used(run(kept(name, model, "python"), three)).items():
        assert_close(found[key][:3], x, 1e-11 if iterates else 1e-12, what=key)


@pytest.mark.parametrize(("name", "model", "backend"), [*ON_LLVM, *ON_LLVM_EVERYTHING[:2], *ON_LOOPS_STRAIGHT])
def test_one_lane_and_many_lanes_agree_to_rounding(name, model, backend):
    n = max(host_lanes(), LANES_FROM)
    values = batch(model, n, seed=4)
    together = run(kept(name, model, backend), values)
    for b in range(n):
        one = run(kept(name, model, backend), row(values, b))
        assert_rounding(one, {key: x[b : b + 1] for key, x in together.items()})


@pytest.mark.parametrize(("name", "model", "backend"), STATELESS)
def test_the_same_question_has_the_same_bits_whoever_is_asked(name, model, backend):
    values = batch(model, 9, seed=5)
    old, fresh = kept(name, model, backend), make(name, model, backend)
    run(old, batch(model, 9, seed=6))
    first = run(old, values)
    assert_same_bits(run(old, values), first)
    assert_same_bits(run(fresh, values), first)


# --- many states --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", ["forward/separate", "poses", "inertia/composite"])
@pytest.mark.parametrize("backend", ["llvm", pytest.param("loops", marks=loops_group)])
def test_a_batch_is_its_states_one_by_one(name, backend, n):
    model = EVERYTHING if backend == "loops" else SMALL
    values, runner = batch(model, n, seed=n), kept(name, model, backend)
    together = run(runner, values)
    ones = [run(runner, row(values, b)) for b in range(n)]
    tolerance = 1e-12
    if "forward" in name:  # accelerations have the condition of the inertia matrix
        tolerance = max(tolerance, EPS * np.linalg.cond(run(kept("inertia/composite", model, backend), values)["M"]).max())
    assert_rounding(together, {key: np.concatenate([x[key] for x in ones]) for key in together}, tolerance)


@pytest.mark.parametrize(("name", "model", "backend"), STATELESS)
@pytest.mark.parametrize("n", [5, 9])
def test_the_place_of_a_state_in_its_batch_is_of_no_account(name, model, backend, n):
    values = batch(model, n, seed=7)
    order = np.random.default_rng(n).permutation(n)
    straight = run(kept(name, model, backend), values)
    shuffled = run(kept(name, model, backend), {key: np.ascontiguousarray(x[order]) for key, x in values.items()})
    assert_same_bits(shuffled, {key: x[order] for key, x in straight.items()})


@pytest.mark.parametrize(("name", "model", "backend"), STATELESS)
def test_one_row_for_all_states_is_that_row_repeated(name, model, backend):
    values, runner = batch(model, 6, seed=8), kept(name, model, backend)
    for shared in runner.inputs:
        once = {key: x[:1] if key == shared else x for key, x in values.items()}
        repeated = {key: np.repeat(x[:1], 6, axis=0) if key == shared else x for key, x in values.items()}
        assert_same_bits(run(runner, once, 6), run(runner, repeated, 6))


@pytest.mark.parametrize(("name", "model", "backend"), STATELESS)
@pytest.mark.parametrize("n", [3, 130])
def test_two_threads_give_the_bits_of_one(name, model, backend, n):
    values, runner = batch(model, n, seed=9), kept(name, model, backend)
    assert_same_bits(run(runner, values, threads=2), run(runner, values))


def test_only_the_outputs_that_are_asked_for_are_written():
    values = batch(SMALL, 5)
    everything = run(kept("solve/separate", SMALL, "llvm"), values)
    for backend in ("python", "llvm"):
        only = run(make("solve/separate", SMALL, backend, only=("R",)), values)
        assert set(only) == {"R"}
        assert_close(only["R"][:, 1:], everything["R"][:, 1:], 1e-12)


@pytest.mark.parametrize("model", [SMALL, EVERYTHING, sh.samples.chain(1), sh.samples.pendulum(), sh.samples.manipulator()])
def test_the_arrays_of_every_model_have_one_layout(model):
    """Loops are compiled once for all models: their arrays must be what the code takes them for."""
    s = model.freeze()
    for group in (s.tree, s.joints):
        for name, x in zip(group._fields, group, strict=True):
            assert x.flags.c_contiguous, name
            assert x.dtype in (np.int64, np.float64), name


# --- numbers that are none ----------------------------------------------------------------------------------------------------
def cases_of_nan(params):
    for param in params:
        for key in ("q", "v", "tau", "qdd", "p", "wrench"):
            if key in PROGRAMS[param.values[0]].inputs.__annotations__:
                yield pytest.param(*param.values, key, id=f"{param.id}-{key}", marks=param.marks)


@pytest.mark.parametrize(("name", "model", "backend", "key"), list(cases_of_nan(STATELESS)))
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_stays_in_its_lane(name, model, backend, key, bad):
    values, runner = batch(model, 9, seed=10), kept(name, model, backend)
    clean = run(runner, values)
    other = {k: x.copy() for k, x in values.items()}
    other[key][2] = batch(model, 1, seed=77)[key][0]
    moved = used(run(runner, other))
    spoilt = {k: x.copy() for k, x in values.items()}
    spoilt[key][2] = bad
    found = run(runner, spoilt)
    rest = [0, 1, 3, 4, 5, 6, 7, 8]
    for k, x in used(found).items():
        wanted = used(clean)[k]
        assert x[rest].tobytes() == wanted[rest].tobytes(), k
        depends = moved[k][2] != wanted[2]
        assert not np.isfinite(x[2][depends]).any(), k
        if np.isnan(bad):
            assert np.isnan(x[2][depends]).all(), k


@loops_group
@pytest.mark.parametrize("name", [name for name in PROGRAMS if PROGRAMS[name].loops_only])
def test_an_iterative_method_recovers_after_a_state_that_is_no_number(name):
    values = batch(EVERYTHING, 5, seed=11)
    runner, fresh = make(name, EVERYTHING, "loops"), make(name, EVERYTHING, "loops")
    spoilt = {key: x.copy() for key, x in values.items()}
    spoilt["q"][2] = np.nan
    found, clean = run(runner, spoilt)["qdd"], run(fresh, values)["qdd"]
    assert np.isnan(found[2]).all()
    assert_close(np.delete(found, 2, axis=0), np.delete(clean, 2, axis=0), 1e-10)


@pytest.mark.parametrize(("name", "model", "backend"), [*ON_LLVM, *ON_LOOPS_STRAIGHT])
def test_a_huge_angle_does_not_change_the_bits_of_its_neighbours(name, model, backend):
    """Beyond some size angles are reduced by the C library: in the lanes that need it alone."""
    values, runner = batch(model, 9, seed=13), kept(name, model, backend)
    clean = run(runner, values)
    values["q"][4] *= 1e7
    assert_same_bits(run(runner, values), clean, rows=[0, 1, 2, 3, 5, 6, 7, 8])


@pytest.mark.parametrize("size", [1e4, 1e6, 1e12])
@pytest.mark.parametrize("backend", ["python", "llvm", pytest.param("loops", marks=loops_group)])
def test_huge_angles_are_angles(backend, size):
    model = sh.samples.chain(4)
    values = batch(model, 9, seed=12)
    values["q"][3] = np.random.default_rng(0).uniform(-size, size, 4)
    found = run(kept("forward/separate", model, backend), values)
    for b in (2, 3):
        for key, x in expected("forward/separate", model, row(values, b)).items():
            assert_close(found[key][b], x, 1e-10)


@pytest.mark.parametrize("lanes", [1, host_lanes()])
def test_straight_line_code_for_no_states_reads_and_writes_nothing(lanes):
    graph = Graph()
    x, y = graph.inputs(2)
    code = recorded(graph, [x, y], [x * y + 1.0])
    memory = np.zeros((3 * lanes, 2))
    names = [*code.inputs, *code.outputs]
    code.bind(dict.fromkeys(names, memory[lanes:lanes]), 0, lanes)()
    assert not memory.any()
