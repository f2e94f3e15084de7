"""Every robot of example-robot-data with coupled joints: separate bodies give what composite bodies give."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from benchmarks.urdf import robot_files

import sharnir as sh
from states import EPS, State, assert_close, random_state

ROBOTS = robot_files()
COUPLED = [
    "baxter/baxter", "panda/panda", "panda/panda_collision", "pr2/pr2", "romeo/romeo", "talos_data/talos_full_v2",
    "talos_data/talos_full_v2_box", "tiago_pro/tiago_pro",
]  # fmt: skip
SINGULAR = ["romeo/romeo"]
"""Fingers without mass: composite bodies have no answer either, and name the joint."""
MOVING = [name for name in COUPLED if name not in SINGULAR]
BASES = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])


@cache
def robot(name: str, floating: bool) -> sh.Model:
    return sh.load(ROBOTS[name], floating=floating)


def both(model: sh.Model, backend: str) -> tuple[sh.Dynamics, sh.Dynamics]:
    return sh.Dynamics(model, "separate", backend), sh.Dynamics(model, "composite", backend)


def rounding(model: sh.Model, s: State) -> float:
    """Of accelerations: as the condition of the inertia matrix, scaled to a unit diagonal, magnifies it."""
    M = sh.Dynamics(model, "composite", backend="python").mass_matrix(s.q)
    scale = 1.0 / np.sqrt(np.diag(M))
    return 100.0 * EPS * max(100.0, float(np.linalg.cond(scale[:, None] * M * scale)))


def test_the_coupled_robots_are_all_there():
    """Other files say <mimic> of joints that do not move."""
    said = [name for name, path in ROBOTS.items() if "<mimic" in path.read_text(encoding="utf-8")]
    assert [name for name in said if any(j.follows for j in robot(name, False).joints)] == COUPLED


@BASES
@pytest.mark.parametrize("name", MOVING)
def test_accelerations_and_reactions_by_separate_bodies_are_those_by_composite_ones(name, floating):
    m = robot(name, floating)
    s = random_state(m)
    separate, composite = both(m, "python")
    tolerance = rounding(m, s)
    given = {"q": s.q, "v": s.v, "tau": s.tau, "wrenches": s.wrenches}
    assert_close(separate.forward(**given), composite.forward(**given), tolerance, what="forward")
    assert_close(separate.reactions(**given), composite.reactions(**given), tolerance, what="reactions")
    found, wanted = separate.solve(**given), composite.solve(**given)
    for what in ("qdd", "vdot", "R"):
        assert_close(getattr(found, what), getattr(wanted, what), tolerance, what=what)
    assert_close(separate.inverse(s.q, s.v, separate.forward(**given), wrenches=s.wrenches), s.tau, tolerance, scale=1e3)


@BASES
@pytest.mark.parametrize("name", MOVING)
def test_a_batch_by_separate_bodies_is_that_by_composite_ones(name, floating):
    """As loops, which are compiled once for all robots; 9 states: two vector registers and one over."""
    m = robot(name, floating)
    states = [random_state(m, seed) for seed in range(9)]
    q, v, tau = (np.array([getattr(s, x) for s in states]) for x in ("q", "v", "tau"))
    separate, composite = both(m, "loops")
    found, wanted = separate.forward(q, v, tau), composite.forward(q, v, tau)
    for k, s in enumerate(states):
        assert_close(found[k], wanted[k], rounding(m, s), what=f"state {k}")
        assert_close(separate.forward(s.q, s.v, s.tau), found[k], 1e3 * EPS, what="one state")


@pytest.mark.parametrize("name", ["panda/panda", "pr2/pr2"])
def test_straight_line_code_of_separate_bodies_is_what_is_interpreted(name):
    m = robot(name, False)
    s = random_state(m)
    compiled, plain = (sh.Dynamics(m, "separate", backend) for backend in ("llvm", "python"))
    tolerance = rounding(m, s)
    assert_close(compiled.forward(s.q, s.v, s.tau), plain.forward(s.q, s.v, s.tau), tolerance)
    many = compiled.forward(np.tile(s.q, (9, 1)), np.tile(s.v, (9, 1)), np.tile(s.tau, (9, 1)))
    assert_close(many, np.tile(plain.forward(s.q, s.v, s.tau), (9, 1)), tolerance)


@pytest.mark.parametrize("name", SINGULAR)
def test_fingers_without_mass_are_named_by_both(name):
    for d in both(robot(name, False), "python"):
        with pytest.raises(sh.SingularError, match=r"moves? no mass"):
            d.forward()
