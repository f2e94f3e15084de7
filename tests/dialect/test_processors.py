"""Code for other processors: `SHARNIR_CPU` names a level, which is obeyed, kept apart in the cache, or refused."""

from __future__ import annotations

import llvmlite.binding as llvm
import numpy as np
import pytest

import sharnir as sh
from sharnir.dialect import jit
from states import assert_close

LANES = {"x86-64-v2": 2, "x86-64-v3": 4, "x86-64-v4": 8}


@pytest.fixture
def choose(monkeypatch):
    """Choose a level as a new process would."""
    kept = (jit.processor, jit.host_lanes, jit.host, jit._pass_builder)

    def choose(level: str) -> None:
        monkeypatch.setenv("SHARNIR_CPU", level)
        for function in kept:
            function.cache_clear()

    yield choose
    monkeypatch.undo()
    for function in kept:
        function.cache_clear()


def lacking(level: str) -> bool:
    """Whether this processor has not all that a level needs."""
    here = llvm.get_host_cpu_features()
    return not all(here.get(name) for name in jit.LEVELS[level].split())


def test_every_level_has_its_lanes_its_code_and_the_same_answers(choose, tmp_path, monkeypatch):
    monkeypatch.setenv("SHARNIR_CACHE", str(tmp_path))
    model, q = sh.samples.tree(5, 2.0, dof=1, seed=1), np.random.default_rng(0).normal(size=(17, 5))
    expected = sh.Dynamics(model, "separate", "python").forward(q)
    files = 0
    for level, lanes in LANES.items():
        choose(level)
        if lacking(level):
            continue
        assert jit.host_lanes() == lanes and jit.host().split("|")[2] == level
        assert_close(sh.Dynamics(model.copy(), "separate", "llvm").forward(q), expected, 1e-12)
        before, files = files, len([*(tmp_path / "llvm").iterdir()])
        assert files > before, "its code is not that of another level"


def test_an_unknown_level_is_refused_with_those_there_are(choose):
    choose("znver9")
    with pytest.raises(sh.SharnirError, match=r"SHARNIR_CPU must be one of x86-64-v2, x86-64-v3, x86-64-v4, .* got 'znver9'"):
        sh.Dynamics(sh.samples.chain(2), "composite", "llvm").forward()


def test_a_level_that_the_processor_lacks_is_refused_with_what_is_missing(choose, monkeypatch):
    here = llvm.get_host_cpu_features()
    here.update({name: True for level in jit.LEVELS.values() for name in level.split()}, avx512f=False, avx512vl=False)
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: here)
    choose("x86-64-v4")
    with pytest.raises(sh.SharnirError, match=r"SHARNIR_CPU=x86-64-v4: this processor lacks avx512f, avx512vl; name a lower"):
        sh.Dynamics(sh.samples.chain(2), "composite", "llvm").forward()
    choose("x86-64-v3")
    assert jit.host_lanes() == 4
