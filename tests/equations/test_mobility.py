"""How many freedoms a mechanism really has, Grübler's count beside them, and sentences about rows that say nothing new."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.many_loops import scissor

import sharnir as sh
from loop_models import STARTS, placed
from states import assert_close, interpreted

S = sh.samples


@pytest.mark.parametrize(("name", "freedoms", "count"), [
    ("four-bar", 1, -2), ("three four-bars", 1, -8), ("slider-crank", 1, -2), ("Andrews", 1, -8), ("Bricard", 1, 0),
    ("governor with rods", 2, 2), ("planetary gear", 2, 0), ("rolling disc", 3, 3), ("car axis", 2, 2),
])  # fmt: skip
def test_true_freedoms_and_gruebler(name, freedoms, count):
    m, q, _ = placed(name)
    found = m.mobility(q)
    assert (found.freedoms, found.gruebler) == (freedoms, count)
    assert (
        len(found.rows) + sum("of the tree" in line and "at this position" not in line for line in found.redundant) >= found.rank
    )
    assert found.freedoms - found.gruebler == len(found.redundant)  # every redundant row is one the count takes twice


def test_a_stewart_platform_has_six_freedoms():
    m = S.stewart()
    assert (m.mobility().freedoms, m.mobility().gruebler) == (6, 6)


def test_a_tree_has_the_freedoms_of_its_joints():
    m = S.governor()
    assert m.mobility().freedoms == m.mobility().gruebler == m.nv and not m.mobility().redundant


def test_sentences_name_what_is_redundant_and_by_what():
    found = S.bricard().mobility()
    assert str(found).startswith("1 degree of freedom (5 coordinates, 5 constraints, 1 of them redundant); Grübler's count: 0")
    (line,) = found.redundant
    assert line.startswith("joint 'hinge6': rotation about y is already fixed by joint 'hinge6': ")
    planar = S.four_bar(0.5, 1.3, 0.9, 1.1)
    lines = planar.mobility(planar.assemble(STARTS["four-bar"][1], nearest=True)[0]).redundant
    assert lines[0] == "joint 'D': position along z is already fixed by the joints of the tree" and len(lines) == 3


def test_the_same_tie_twice():
    m = S.slider_crank()
    m.add_constraint(sh.Distance("crank", "piston", at_a=(0.2, 0, 0), length=0.5), "rod again")
    found = m.mobility(m.assemble({"main": 0.7, "crankpin": -1.0}, nearest=True)[0])
    assert found.freedoms == 1
    both = {"constraint 'rod again': distance", "joint 'wristpin': position along x"}
    assert set(found.redundant[-1].split(" is already fixed by ")) == both


def test_a_singular_position_has_more_freedoms():
    m = S.n_four_bar(4)
    upright, level = (m.coordinates(S.n_four_bar_start(4, angle)["q0"]) for angle in (1.3, 0.0))
    assert m.mobility(upright).freedoms == 1
    assert m.mobility(level).freedoms == 5
    assert any("at this position" in line for line in m.mobility(level).redundant)


@pytest.mark.parametrize(("n", "away"), [(3, 0.3), (12, 0.3), (100, 0.03)])
def test_without_a_position_a_special_one_is_not_taken(n, away):
    """In the neutral position all bars of a scissor lie on one another and nothing is fixed but the first. From there many loops
    close only at small angles."""
    m, q, _ = scissor(n)
    found = m.mobility()
    assert (found.freedoms, found.redundant[-1]) == (m.mobility(q).freedoms, m.mobility(q).redundant[-1])
    assert found.freedoms == 1 and f"in the closed position with joint 'V0' moved by {away}" in str(found)
    assert m.mobility(np.zeros(m.nq)).freedoms == n  # what was asked for is judged as it is
    assert S.bricard().mobility().position == "the neutral position"


# --- no freedom left ------------------------------------------------------------------------------------------------------------
def driven_four_bar(*drives):
    m = sh.Model("driven", gravity=(0.0, -9.81, 0.0))
    for name in ("crank", "coupler", "rocker"):
        m.add_body(name, mass=1.0, shape=sh.Rod((0, 0, 0), (1, 0, 0)))
    first = sh.Revolute("z", motion=drives[0])
    last = sh.Revolute("z", motion=drives[1]) if len(drives) > 1 else sh.Revolute("z")
    m.add_joint("A", first, "ground", "crank")
    m.add_joint("B", sh.Revolute("z"), "crank", "coupler", at=sh.Pose((1, 0, 0)))
    m.add_joint("C", last, "ground", "rocker", at=sh.Pose((1, 0, 0)))
    m.add_joint("D", sh.Revolute("z"), "coupler", "rocker", at=sh.Pose((1, 0, 0)), child_at=sh.Pose((1, 0, 0)), cut=True)
    return m


def test_a_mechanism_with_no_freedom_left_moves_as_it_is_driven():
    """The parallel crank at constant speed: all bodies' accelerations are known, and the drive's moment is m g cos φ·2."""
    m = driven_four_bar(lambda t: 1.0 + 2.0 * t)
    q, v = m.assemble({"B": -1.0, "C": 1.0}, nearest=True)
    assert m.mobility(q).freedoms == 0
    for method in ("composite", "separate", "maggi", "extended"):
        d = interpreted(m, method) if method in ("composite", "separate") else sh.Dynamics(m, method)
        assert_close(d.forward(q, v), np.zeros(2), 1e-8, scale=9.81)
        R = d.reactions(q, v)
        assert_close(R[0, 5], 9.81 * np.cos(1.0) * 2.0, 1e-8)


def test_a_truss_stands_still():
    """Two bars to one point: no freedom, no acceleration, and forces in the bars that bear the load."""
    m = sh.Model("truss", gravity=(0.0, 0.0, -10.0))
    m.add_body("node", mass=2.0)
    m.add_joint("place", sh.Translation(motion={"y": lambda t: 0.0 * t}), "ground", "node")
    for name, x in (("left", -0.3), ("right", 0.3)):
        m.add_constraint(sh.Distance("ground", "node", at_a=(x, 0, 0), length=0.5), name)
    q = m.coordinates({"place": (0.0, 0.4)})
    assert m.mobility(q).freedoms == 0
    d = interpreted(m, "composite")
    assert_close(d.forward(q), np.zeros(2), 1e-8, scale=10.0)
    assert_close(d.multipliers(q), [12.5, 12.5], 1e-9)  # 20 N over two bars at 4/5


def test_drives_that_contradict_each_other_are_named():
    swing = lambda t: 1.0 + sh.sin(t)  # noqa: E731
    agreeing = driven_four_bar(swing, swing)
    q, v = agreeing.assemble({"B": -1.0}, nearest=True)
    assert agreeing.mobility(q).freedoms == 0
    assert_close(v, [-1.0], 1e-12)
    for other, what in (
        (lambda t: 1.2 + sh.sin(t), None),  # another position: the coupler gives way
        (lambda t: 1.0 + 1.1 * sh.sin(t), "stays violated by .* m/s;"),
        (lambda t: 1.0 + sh.sin(t) + t * t, "no accelerations meet the constraints: .* stays violated by .* m/s²;"),
    ):
        m = driven_four_bar(swing, other)
        if what is None:
            with pytest.raises(sh.AssemblyError, match=r"joint 'D': position along . stays violated by"):
                m.assemble({"B": -1.0}, nearest=True)
            continue
        with pytest.raises(sh.AssemblyError, match=what):
            m.assemble({"B": -1.0}, nearest=True)
        with pytest.raises(sh.AssemblyError, match=r"joint 'D': position along"):
            sh.simulate(m, 0.1, q0={"B": -1.0}, backend="python")
