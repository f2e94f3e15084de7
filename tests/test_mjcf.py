"""MJCF through MuJoCo's compiler: mass matrix, inverse and forward dynamics and poses are MuJoCo's own, to rounding."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import sharnir as sh
from mjcf_models import COPIES, COUPLED, SLIDER, WALKER, random_tree
from mujoco_pairs import MujocoPair, load_pair, pair_of
from sharnir.io.mjcf import load_mjcf
from states import assert_close

SHIPPED = Path(mujoco.__file__).parent / "testdata" / "model.xml"
TEXTS = {"walker": WALKER, "slider": SLIDER, "copies": COPIES} | {f"tree {k}": random_tree(k) for k in range(10)}
TOLERANCE = 1e-9


def assert_same(pair: MujocoPair, seed: int = 0, forward: bool = True) -> None:
    """At two random states."""
    d = sh.Dynamics(pair.model, "composite", backend="python")
    for k in range(2):
        rng = np.random.default_rng((seed, k))
        q, v = pair.model.random_q(rng), rng.normal(size=pair.model.nv)
        a, tau = 3.0 * rng.normal(size=pair.model.nv), 3.0 * rng.normal(size=pair.model.nv)
        assert_close(d.mass_matrix(q), pair.mass_matrix(q), TOLERANCE, what="mass matrix")
        assert_close(d.inverse(q, v, a), pair.inverse(q, v, a), TOLERANCE, what="inverse dynamics")
        if forward:
            assert_close(d.forward(q, v, tau), pair.forward(q, v, tau), TOLERANCE, what="forward dynamics")


def assert_same_places(pair: MujocoPair, seed: int = 0) -> None:
    """Every body of the file, moving or merged, is where MuJoCo has it."""
    d = sh.Dynamics(pair.model, "composite", backend="python")
    q = pair.model.random_q(seed)
    turns, places = d.poses(q)
    for name, (position, rotation) in pair.bodies(q).items():
        body, at = pair.model.frames[name] if name in pair.model.frames else (name, sh.Pose())
        i = None if body == "ground" else pair.model.body_index(body)
        R, r = (np.eye(3), np.zeros(3)) if i is None else (turns[i], places[i])
        assert_close(R @ np.array(at.position) + r, position, 1e-12, scale=1.0, what=name)
        assert_close(R @ at.rotation.matrix, rotation, 1e-12, what=name)


@pytest.mark.parametrize("name", TEXTS)
def test_the_dynamics_are_those_of_mujoco(name, tmp_path):
    pair = pair_of(tmp_path, TEXTS[name])
    assert (pair.model.nq, pair.model.nv) == (pair.theirs.nq, pair.theirs.nv)
    assert_same(pair)
    assert_same_places(pair)
