"""Closed systems of many loops and long loops: work that grows with their size, the exact motion at any size."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from benchmarks.iftomm_models import parallel_rate

import sharnir as sh
from sharnir.equations.motion.sparse import SparseEquations
from states import assert_close
from work import lines

S = sh.samples


def four_bars(n: int, angle: float = 1.1) -> tuple[sh.Dynamics, np.ndarray, np.ndarray, np.ndarray]:
    """n four-bars, their state with all rods parallel, and the accelerations of that motion."""
    m, start = S.n_four_bar(n), S.n_four_bar_start(n, angle=angle)
    exact = -parallel_rate(n) * np.cos(angle)
    a = m.speeds({name: exact if name.startswith("foot") else -exact for name in start["q0"]})
    return sh.Dynamics(m), np.array(m.coordinates(start["q0"])), np.array(m.speeds(start["v0"])), np.array(a)


@pytest.mark.parametrize(
    "make", [S.n_four_bar, S.closed_chain, lambda n: S.closed_chain(n, spatial=True)], ids=["loops", "one loop", "in space"]
)
def test_operations_grow_in_proportion_to_the_size(make):
    """Of compiled code: six more loops, or links, cost what the six before them do; if work grew with the square, 5/3 of it."""
    counts = [sh.Dynamics(make(n)).count("forward", compiled=True).total for n in (6, 12, 18)]
    first, second = (b - a for a, b in pairwise(counts))
    assert second <= 1.15 * first


@pytest.mark.parametrize("n", [40, 300])
def test_many_four_bars_move_as_parallel_rods(n):
    d, q, v, a = four_bars(n)
    assert_close(d.forward(q, v), a, 1e-9)
    assert_close(d.forward(np.array([q, q]), np.array([v, 0.0 * v])), np.array([a, a]), 1e-9)  # whatever the speed


def test_the_ground_bears_the_weight_and_the_motion_of_many_four_bars():
    """Σ F = Σ m (a − g): rods turn about their feet, bars move as their tips do."""
    n, angle, speed = 30, 1.1, -1.0
    d, q, v, a = four_bars(n, angle)
    R, (rotation, _) = d.reactions(q, v), d.poses(q)
    number = {b.name: k for k, b in enumerate(d.model.bodies)}
    force = sum(rotation[k] @ R[k, :3] for j in d.model.joints if j.parent == "ground" for k in [number[j.child]])
    for j in d.model.closing_joints:
        if "ground" in (j.parent, j.child):
            ((body, wrench),) = d.closing_reactions(q, v)[j.name].items()
            force = force + rotation[number[body]] @ wrench[:3]
    turn = a[d.model.v_slice("foot0")][0]
    tip = turn * np.array([-np.sin(angle), np.cos(angle), 0.0]) - speed**2 * np.array([np.cos(angle), np.sin(angle), 0.0])
    assert_close(force, ((n + 1) / 2 + n) * tip + [0.0, 9.81 * (2 * n + 1), 0.0], 1e-8)


def test_work_of_one_call_grows_with_the_size_and_not_with_its_square():
    """Five times the loops are five times the work, Python's and that of the elimination, which goes by the width of its rows."""

    def work(n: int) -> tuple[int, int]:
        d, q, v, _ = four_bars(n)
        d.forward(q, v)
        tree = SparseEquations(d.model).structure.tree
        return lines(lambda: d.forward(q, v)), int(np.sum(np.diff(tree.unknown) * tree.width**2))

    (few, narrow), (many, wide) = work(80), work(400)
    assert many <= few + 40  # long calls run beside the thread that hears Ctrl-C
    assert wide <= 1.05 * 5.0 * narrow


@pytest.mark.parametrize("spatial", [False, True], ids=["plane", "space"])
def test_accelerations_of_a_closed_chain_are_those_of_the_extended_system(spatial):
    m = S.closed_chain(60, spatial)
    v = m.assemble(v0=np.random.default_rng(0).normal(size=m.nv))[1]
    q = m.neutral()
    wanted = sh.Dynamics(m, "extended").forward(q, v)
    assert_close(sh.Dynamics(m).forward(q, v), wanted, 1e-7)


@pytest.mark.parametrize("spatial", [False, True], ids=["plane", "space"])
def test_a_long_closed_chain_falls_and_keeps_its_energy(spatial):
    m = S.closed_chain(200, spatial)
    r = sh.simulate(m, 0.05, output=0.05)
    assert r.violation.max() < 1e-10
    assert np.ptp(r.energy.potential) > 1e-3
    assert np.abs(r.energy.defect).max() < 1e-5 * np.ptp(r.energy.potential)
