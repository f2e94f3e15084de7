"""The graph of a mechanism [I] §1, [B] §1–2: spanning tree, proper numbering, incidence, structure with closed loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sharnir as sh
from sharnir.model.topology import Edge, children, path, spanning_tree
from states import assert_close, forest


@st.composite
def graphs(draw):
    """A connected graph on the ground and n bodies, edges in any order and direction, some closing loops."""
    n = draw(st.integers(1, 15))
    names = ["ground", *(f"b{i}" for i in range(n))]
    pairs = [(draw(st.integers(0, i - 1)), i) for i in range(1, n + 1)]
    extra = draw(st.lists(st.tuples(st.integers(0, n), st.integers(0, n)).filter(lambda e: e[0] != e[1]), max_size=5))
    pairs = draw(st.permutations([e if draw(st.booleans()) else e[::-1] for e in pairs + extra]))
    bodies = draw(st.permutations(names[1:]))
    return bodies, [Edge(f"j{k}", names[a], names[b]) for k, (a, b) in enumerate(pairs)]


def height(carriers):
    """How far each body is from the farthest leaf it carries."""
    out = [0] * len(carriers)
    for i in range(len(carriers) - 1, -1, -1):
        if carriers[i] >= 0:
            out[carriers[i]] = max(out[carriers[i]], out[i] + 1)
    return out


@given(graphs(), st.sampled_from(["depth-first", "leaves-last"]))
def test_a_spanning_tree_is_properly_numbered(graph, numbering):
    bodies, edges = graph
    tree = spanning_tree(bodies, "ground", edges, numbering)
    n = len(bodies)
    assert len(tree.joints) == n and sorted(tree.bodies) == list(range(n))
    assert len(tree.closing) == len(edges) - n
    assert sorted([*tree.joints, *tree.closing]) == list(range(len(edges)))
    names = [bodies[k] for k in tree.bodies]
    for i, (k, joint, turned) in enumerate(zip(tree.carriers, tree.joints, tree.reversed, strict=True)):
        assert k < i
        ends = (names[i], names[k] if k >= 0 else "ground")
        assert (edges[joint].parent, edges[joint].child) == (ends if turned else ends[::-1])


@given(graphs())
def test_depth_first_keeps_subtrees_together(graph):
    tree = spanning_tree(*graph[:1], "ground", graph[1])
    for i in range(len(tree.carriers)):
        below = [j for j in range(len(tree.carriers)) if i in path(tree.carriers, j)]
        assert below == list(range(i, i + len(below)))


@given(graphs())
def test_leaves_last_gives_the_largest_free_numbers_to_the_leaves(graph):
    """Cut the leaves off again and again: each layer has larger numbers than all that is left."""
    carriers = spanning_tree(graph[0], "ground", graph[1], "leaves-last").carriers
    left = set(range(len(carriers)))
    while left:
        leaves = {i for i in left if not any(carriers[j] == i for j in left)}
        assert leaves == set(range(len(left) - len(leaves), len(left)))
        left -= leaves
    assert height(carriers) == sorted(height(carriers), reverse=True)


@given(graphs())
def test_paths_and_children_are_two_views_of_the_carriers(graph):
    carriers = spanning_tree(graph[0], "ground", graph[1]).carriers
    for i, k in enumerate(carriers):
        assert path(carriers, i) == [*(path(carriers, k) if k >= 0 else []), i]
        assert i in children(carriers, k)
    assert sum(len(children(carriers, i)) for i in range(-1, len(carriers))) == len(carriers)


def test_a_marked_joint_is_the_one_that_is_cut():
    edges = [Edge("A", "ground", "a", cut=True), Edge("B", "a", "b"), Edge("C", "b", "ground")]
    tree = spanning_tree(["a", "b"], "ground", edges)
    assert tree.closing == (0,)
    assert [edges[k].name for k in tree.joints] == ["C", "B"] and tree.reversed == (True, True)
    unmarked = spanning_tree(["a", "b"], "ground", [Edge(e.name, e.parent, e.child) for e in edges])
    assert unmarked.closing == (1,)  # the middle of the loop, unless another is marked


# --- matrices of the graph ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("k", range(6))
def test_incidence_of_a_tree(k):
    """Every column leaves one body and enters another; without the base row the matrix is invertible, [B] §1."""
    model = forest(k)
    m = sh.matrices(model)
    incidence = m.incidence
    assert incidence.shape == (m.N + 1, m.N)
    assert not incidence.sum(axis=0).any() and np.all(np.abs(incidence).sum(axis=0) == 2)
    assert round(abs(np.linalg.det(incidence[1:]))) == 1
    assert np.array_equal(m.S_graph, m.S)
    pattern = np.abs(m.S).reshape(m.N, 6, m.N, 6).sum(axis=(1, 3)) > 0
    assert np.array_equal(pattern, incidence[1:].T != 0)


def four_bar(cut: str) -> sh.Model:
    """A parallelogram with the joint of that name marked to be cut."""
    sample = sh.samples.four_bar(crank=0.5, coupler=2.0, rocker=0.5, base=2.0)
    m = sh.Model("four-bar")
    for b in sample.bodies:
        m.add_body(b.name, mass=b.mass, com=b.com, inertia=b.inertia)
    for j in (*sample.joints, *sample.closing_joints):
        m.add_joint(j.name, j.type, j.parent, j.child, j.at, j.child_at, cut=j.name == cut)
    return m


ANGLE, SPEED = 0.8, 1.7
MOTION = {"A": (ANGLE, SPEED), "B": (-ANGLE, -SPEED), "C": (ANGLE, SPEED), "D": (ANGLE, SPEED)}


@pytest.mark.parametrize("cut", "ABCD")
def test_structure_of_a_four_bar_gives_relative_velocities_of_joint_ends(cut):
    """S_graph v: for every joint, the velocity of its body past its carrier, whichever joint is cut. [B] §2"""
    model = four_bar(cut)
    assert [j.name for j in model.closing_joints] == [cut]
    names = [j.name for j in model.joints]
    m = sh.matrices(model, {n: MOTION[n][0] for n in names}, {n: MOTION[n][1] for n in names})
    assert m.S_graph.shape == (24, 18) and m.incidence.shape == (4, 4)
    assert np.linalg.matrix_rank(m.incidence) == 3  # one loop
    relative = (m.S_graph @ m.v).reshape(-1, 6)
    R, r = m.poses
    v = m.v.reshape(-1, 6)
    velocity, omega = np.einsum("bij,bj->bi", R, v[:, :3]), np.einsum("bij,bj->bi", R, v[:, 3:])
    for row, joint in zip(relative, (*model.joints, *model.closing_joints), strict=True):
        a, b = (None if n == "ground" else model.body_index(n) for n in (joint.parent, joint.child))
        column = m.incidence[:, [*names, cut].index(joint.name)]
        body, carrier = (int(np.flatnonzero(column == s)[0]) - 1 for s in (1, -1))
        assert {a, b} == {None if x < 0 else x for x in (body, carrier)}
        if body < 0:  # a closing joint named towards the ground
            body, carrier = carrier, body
        carried, turning = np.zeros(3), np.zeros(3)
        if carrier >= 0:
            carried = velocity[carrier] + np.cross(omega[carrier], r[body] - r[carrier])
            turning = omega[carrier]
        expected = np.concatenate([R[body].T @ (velocity[body] - carried), R[body].T @ (omega[body] - turning)])
        assert_close(row, expected, 1e-14, scale=1.0, what=joint.name)
        sign = 1.0 if (joint.child == model.bodies[body].name) else -1.0
        assert abs(row[5] - sign * MOTION[joint.name][1]) <= 1e-14  # a hinge: its own speed about z


def test_the_four_bar_is_closed_where_its_joint_ends_meet():
    model = sh.samples.four_bar()
    m = sh.matrices(model, {"A": ANGLE, "B": -ANGLE, "C": ANGLE})
    R, r = m.poses
    ends = [r[model.body_index(b)] + R[model.body_index(b)] @ (1.0, 0.0, 0.0) for b in ("coupler", "rocker")]
    assert_close(ends[0], ends[1], 1e-15)
    assert_close(ends[0], (1 + math.cos(ANGLE), math.sin(ANGLE), 0.0), 1e-15)
