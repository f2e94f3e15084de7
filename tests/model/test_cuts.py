"""Which joint of a loop is cut: what the user says, few constraints, then short loops that share little, then the middle."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharnir as sh
from sharnir.model.loop_cuts import edges_to_cut
from sharnir.model.topology import Edge, path, spanning_tree
from states import assert_close


@st.composite
def ranked_graphs(draw):
    """A connected graph on nodes 0 … n, 0 the base, and a rank for every edge."""
    n = draw(st.integers(1, 12))
    pairs = [(draw(st.integers(0, i - 1)), i) for i in range(1, n + 1)]
    extra = draw(st.lists(st.tuples(st.integers(0, n), st.integers(0, n)).filter(lambda e: e[0] != e[1]), max_size=8))
    pairs = draw(st.permutations(pairs + extra))
    return n + 1, np.array(pairs).T, draw(st.lists(st.integers(0, 2), min_size=len(pairs), max_size=len(pairs)))


def kruskal(nodes, ends, ranks):
    """Edges left out where they are taken by rank, then in their order."""
    group, left_out = list(range(nodes)), []
    for k in np.argsort(ranks, kind="stable").tolist():
        a, b = (group[x] for x in ends[:, k])
        if a == b:
            left_out.append(k)
        group = [a if g == b else g for g in group]
    return sorted(left_out)


def tree_of(nodes, ends, cut):
    names = ["ground", *(f"b{i}" for i in range(1, nodes))]
    edges = [Edge(f"j{k}", names[a], names[b], cut=k in cut) for k, (a, b) in enumerate(ends.T.tolist())]
    return spanning_tree(names[1:], "ground", edges), edges


def cost(nodes, ends, cut):
    """Σ p² over the edges of the tree, p loops through each, and the sum of depths, from their definitions."""
    tree, edges = tree_of(nodes, ends, cut)
    number = {f"b{k + 1}": i for i, k in enumerate(tree.bodies)} | {"ground": -1}
    passing = [0] * len(tree.carriers)
    for k in cut:
        a, b = (set(path(tree.carriers, number[end])) for end in (edges[k].parent, edges[k].child))
        for i in a ^ b:
            passing[i] += 1
    return sum(p * p for p in passing), sum(len(path(tree.carriers, i)) for i in range(len(tree.carriers)))


@given(ranked_graphs())
def test_no_tree_leaves_out_edges_of_higher_rank_and_the_order_of_joints_gives_no_shorter_loops(graph):
    nodes, ends, ranks = graph
    cut, by_order = edges_to_cut(nodes, 0, ends, ranks), kruskal(nodes, ends, ranks)
    assert sorted(ranks[k] for k in cut) == sorted(ranks[k] for k in by_order)
    assert cost(nodes, ends, cut) <= cost(nodes, ends, by_order)


@given(st.integers(3, 30), st.integers(0, 29))
def test_a_chain_closed_on_the_base_is_cut_in_its_middle(n, first):
    """Wherever its joints begin in the list; of the two in the middle the later."""
    ends = np.array([((k + first) % n, (k + first + 1) % n) for k in range(n)]).T
    (cut,) = edges_to_cut(n, 0, ends, [0] * n)
    assert cost(n, ends, [cut]) == min(cost(n, ends, [k]) for k in range(n))
    assert cut == max(k for k in range(n) if cost(n, ends, [k]) == cost(n, ends, [cut]))


def ladder(n):
    """Two chains on the base, nodes 1 … n and n + 1 … 2n, and rungs between them."""
    chains = [(k - 1 if k % n != 1 else 0, k) for k in range(1, 2 * n + 1)] if n > 1 else [(0, 1), (0, 2)]
    return 2 * n + 1, np.array([*chains, *((k, k + n) for k in range(1, n + 1))]).T


@pytest.mark.parametrize("n", [10, 40, 160])
def test_loops_of_a_ladder_stay_short_however_long_it_is(n):
    """A tree of shortest paths would have loops down to the base, and Σ p² ~ n³."""
    nodes, ends = ladder(n)
    assert cost(nodes, ends, edges_to_cut(nodes, 0, ends, [0] * ends.shape[1]))[0] < 12 * n


def test_four_bars_side_by_side_are_cut_each_for_itself():
    assert [j.name for j in sh.samples.n_four_bar(7).closing_joints] == [f"right{k}" for k in range(7)]
    m = sh.samples.n_four_bar(7)
    assert max(len(path(m.parents, i)) for i in range(len(m.bodies))) == 2


# --- what joints are ------------------------------------------------------------------------------------------------------------
def slider_crank(order: str = "ABCS", **cuts: bool) -> sh.Model:
    """Crank, rod and a slider that is a point of mass; joints added in that order."""
    m = sh.Model("slider-crank", gravity=(0.0, -9.81, 0.0))
    m.add_body("crank", mass=1.0, shape=sh.Rod((0.0, 0.0, 0.0), (0.1, 0.0, 0.0)))
    m.add_body("rod", mass=1.0, shape=sh.Rod((0.0, 0.0, 0.0), (0.3, 0.0, 0.0)))
    m.add_body("slider", mass=0.5)
    joints = {
        "A": (sh.Revolute("z"), "ground", "crank", 0.0), "B": (sh.Revolute("z"), "crank", "rod", 0.1),
        "C": (sh.Revolute("z"), "rod", "slider", 0.3), "S": (sh.Prismatic("x"), "ground", "slider", 0.4),
    }  # fmt: skip
    for name in order:
        joint, parent, child, x = joints[name]
        m.add_joint(name, joint, parent, child, at=sh.Pose((x, 0.0, 0.0)), cut=cuts.get(name))
    return m


def test_no_cut_leaves_a_hinge_through_a_point_mass():
    for order in itertools.permutations("ABCS"):
        (cut,) = (j.name for j in slider_crank("".join(order)).closing_joints)
        assert cut in "BC"
    kept = slider_crank(B=False, C=False)  # A or S is left: on C alone the slider would move nothing
    assert [j.name for j in kept.closing_joints] == ["A"]
    r = [sh.simulate(m, 0.3, q0={"A": 0.3}, v0={"A": 1.0}, output=0.1) for m in (slider_crank(), slider_crank(C=True))]
    assert_close(r[0].q, r[1].q, 1e-12)


def test_a_coupler_without_mass_is_not_left_at_the_end_of_a_branch():
    m, plain = sh.Model("light coupler"), sh.samples.four_bar(0.5, 1.3, 0.9, 1.1)
    for b in plain.bodies:
        m.add_body(b.name, *((0.0,) if b.name == "coupler" else (b.mass, b.com, b.inertia)))
    for j in (*plain.joints, *plain.closing_joints):
        m.add_joint(j.name, j.type, j.parent, j.child, j.at, j.child_at)
    assert [j.name for j in m.closing_joints] == ["C"]
    assert "every joint moves some mass" in str(m.mobility())
    assert np.isfinite(sh.Dynamics(m).forward(*m.assemble({"A": 1.0}, {"A": 1.0}))).all()


def platform() -> sh.Model:
    """A body that floats, on a leg that stands on the ground."""
    m = sh.Model("platform")
    for name in ("top", "leg", "foot"):
        m.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_floating("top")
    m.add_joint("hip", sh.Ball(), "top", "leg", at=sh.Pose((0.3, 0.0, 0.0)))
    m.add_joint("ankle", sh.Ball(), "leg", "foot", at=sh.Pose((0.0, 0.0, -1.0)))
    m.add_joint("pin", sh.Revolute("z"), "ground", "foot", at=sh.Pose((0.3, 0.0, -1.0)))
    return m


def test_a_float_is_cut_only_where_nothing_else_can_be():
    m = platform()
    assert [j.name for j in m.closing_joints] == ["ankle"]
    top = (math.sqrt(1.0 - 0.9**2), 0.0, -0.1, 1.0, 0.0, 0.0, 0.0)
    q, _ = m.assemble({"top float": top}, fixed=["top float"])
    assert tuple(q[m.q_slice("top float")]) == top
    alone = sh.Model("nothing else")
    alone.add_body("a", mass=1.0, inertia=(0.1, 0.1, 0.1))
    alone.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1))
    alone.add_floating("a")
    alone.add_joint("screw", sh.Screw("z", pitch=0.1), "ground", "b")
    alone.add_joint("arm", sh.Revolute("x", damping=0.1), "a", "b")
    assert [j.name for j in alone.closing_joints] == ["a float"]
    with pytest.raises(sh.ModelError, match=r"no joint 'a float' to hold fixed; it closes a loop and is cut.*cut=False"):
        alone.assemble(fixed=["a float"])


def test_true_cuts_a_joint_and_false_keeps_it(tmp_path):
    assert [j.name for j in slider_crank(A=True).closing_joints] == ["A"]
    kept = slider_crank(C=False)
    assert [j.name for j in kept.closing_joints] == ["B"]
    kept.save(tmp_path / "kept.yaml")
    again = sh.load(tmp_path / "kept.yaml")
    assert [j.name for j in again.closing_joints] == ["B"] and again.joints[again.joint_index("C")].cut is False
    with pytest.raises(sh.ModelError, match=r"closes a loop in which no other joint can be cut.*cut=False cannot be met"):
        sh.Dynamics(slider_crank(A=False, B=False, C=False, S=False))


def test_mobility_says_which_joint_is_cut_why_and_how_to_change_it():
    found = platform().mobility()
    (reason,) = found.cuts
    assert reason.startswith("joint 'ankle' is cut, of the 4 joints of its loop: of 2 joints that leave as few constraints; so ")
    assert str(found).endswith("(cut=True at another joint of a loop, or cut=False at this one, chooses otherwise)")
    assert slider_crank(A=True).cut_reasons == ["joint 'A' is cut, of the 4 joints of its loop: marked cut=True"]
    ball = sh.samples.chain(2)
    assert ball.cut_reasons == [] and not ball.mobility().cuts


@pytest.mark.parametrize("ask", [
    lambda m: m.assemble({"ankle": (1.0, 0.0, 0.0, 0.0)}), lambda m: m.assemble(fixed=["ankle"]),
    lambda m: m.speeds({"ankle.wx": 1.0}),
    lambda m: sh.inverse_kinematics(m, {"top": sh.Pose()}, fixed=["ankle"]), lambda m: sh.equilibrium(m, fixed=["ankle.wx"]),
    lambda m: sh.simulate(m, 0.01, sensitivities=["q0.ankle.wx"]),
])  # fmt: skip
def test_whoever_asks_for_a_cut_joint_is_told_so(ask):
    with pytest.raises(sh.SharnirError, match=r"closes a loop and is cut.*closing_reactions.*cut=False.*cut=True"):
        ask(platform())


def test_results_have_the_reactions_of_a_cut_joint():
    r = sh.simulate(platform(), 0.001)
    child = next(joint.child for joint in r.model.closing_joints if joint.name == "ankle")
    assert np.array_equal(r.closing_reaction("ankle", child)[-1], r.dynamics.closing_reactions(r.q, r.v)["ankle"][child][-1])
    assert set(r.dynamics.closing_reactions(r.q[-1], r.v[-1])["ankle"]) == {"leg", "foot"}
