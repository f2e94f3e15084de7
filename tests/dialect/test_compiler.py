"""Compiled = interpreted, for every part of the dialect: to the last bit where arithmetic is exact, to rounding in lanes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dialect_samples as samples
import sharnir as sh
from sharnir.dialect.arithmetic import STEPPING, Options
from sharnir.dialect.compiler import compile_module
from sharnir.dialect.native import Loop
from sharnir.dialect.storage import flat
from sharnir.integrate.kernels.advance import Output
from sharnir.integrate.kernels.events import Events
from sharnir.integrate.kernels.problem import Problem
from sharnir.integrate.kernels.state import Run
from sharnir.integrate.methods import INTEGRATORS


def data(seed: int) -> samples.Data:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0, 9)
    if seed % 2:
        x[[2, 5]] = np.nan, np.inf
    z = rng.normal(size=5) + 1j * rng.normal(size=5)
    at = np.array([3, -7, 0, 2, -1, 5, -3], dtype=np.int64)
    return samples.Data(x, at, rng.normal(size=(5, 3)), z, np.full(9, 7.5))


@pytest.mark.parametrize("inline", [0, 60, 20_000])
@pytest.mark.parametrize("function", samples.EXACT, ids=lambda f: f.__name__)
def test_exact_code_gives_the_bits_of_the_interpreter(function, inline):
    """Functions kept as functions, some of them, none of them: the same."""
    loop = Loop(function, (samples.Data,), Options(exact=True, branches=True, inline=inline))
    for seed in range(4):
        wanted, found = data(seed), data(seed)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            status = function(wanted)
        bound = loop.bind(found)
        bound()
        assert bound.status == (status or 0)
        for name, x, y in zip(wanted._fields, wanted, found, strict=True):
            close = np.isclose(x, y, rtol=4e-16, atol=0.0, equal_nan=True) if function is samples.powers else x == y
            assert np.all(close | (np.isnan(x) & np.isnan(y))), (name, x, y)


def wide(n: int, lanes: int) -> tuple[samples.Shared, samples.Wide, np.ndarray]:
    rng = np.random.default_rng(n)
    shared = samples.Shared(rng.normal(size=n), rng.integers(0, n, n))
    x = rng.uniform(-1.0, 1.0, (n, lanes))
    return (
        shared,
        samples.Wide(x.copy() if lanes > 1 else x[:, 0].copy(), np.zeros(1, dtype=np.int64), np.full((n, lanes), np.nan)),
        x,
    )


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_lanes_are_the_interpreter_lane_by_lane_and_do_not_see_each_other(lanes):
    groups = (samples.Shared, samples.Wide)
    loop = Loop(samples.laned, groups, Options(lanes), shared=1)
    shared, together, x = wide(6, lanes)
    loop.bind(shared, together)()
    for lane in range(lanes):
        one = samples.Wide(x[:, lane].copy(), together.at, np.full(6, np.nan))
        samples.laned(shared, one)
        assert np.allclose(together.out[:, lane], one.out, rtol=1e-13, atol=1e-15)
    before = together.out.copy()
    together.x[:, 1] = np.nan
    loop.bind(shared, together)()
    others = [k for k in range(lanes) if k != 1]
    assert np.array_equal(together.out[:, others], before[:, others])
    assert np.isnan(together.out[3:, 1]).all()


def test_two_functions_of_one_name_are_two():
    """The first version compiled all kernels as one module, where names had to differ."""
    from sharnir.equations.kernels import projection, solution
    from sharnir.integrate.kernels import problem

    assert projection.project is not problem.project
    groups = (solution.ConstrainedState, projection.Projected)
    assert "define" in compile_module(projection.project_by_calls, groups, STEPPING)


@pytest.mark.parametrize("name", [name for name, method in INTEGRATORS.items() if method.entry and not method.switches])
def test_an_integrator_is_little_assembly(name):
    """LLVM takes half a second for 200 000 characters on an idle machine."""
    method = INTEGRATORS[name]
    text = compile_module(method.entry, (Problem, Run, Events, Output, method.memory), STEPPING)
    assert len(text) < 350_000


def test_arrays_are_kept_alive_by_what_is_bound_to_them():
    import gc
    import weakref

    group = data(0)
    alive = weakref.ref(group.out)
    bound = Loop(samples.tables, (samples.Data,), STEPPING).bind(group)
    del group
    gc.collect()
    assert alive() is not None
    bound()
    del bound
    gc.collect()
    assert alive() is None


def test_an_array_that_is_not_contiguous_is_refused():
    group = data(0)._replace(out=np.zeros((9, 2))[:, 0])
    with pytest.raises(ValueError, match="not contiguous"):
        Loop(samples.tables, (samples.Data,), STEPPING).bind(group)


def test_groups_are_laid_out_flat():
    assert [x.size for x in flat(data(0))] == [9, 7, 15, 5, 9]


def test_the_backend_of_the_first_version_is_accepted_and_said_to_be_renamed_once():
    from sharnir.solvers.formulation import warn_renamed

    warn_renamed.cache_clear()
    model = sh.samples.chain(2)
    with pytest.warns(FutureWarning, match="'numba' is called 'loops' now"):
        d = sh.Dynamics(model, "separate", "numba")
    assert d.backend == "loops"
    assert sh.simulate(model, 0.01, backend="numba").cost.backend == "loops"  # warnings are errors here: none is given
