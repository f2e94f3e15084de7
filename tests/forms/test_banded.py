"""The matrix L of the multipliers [I] (3.10): how wide its band is, and that elimination from the leaves fills nothing in."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from benchmarks.figure1_models import binary_tree, star

import sharnir as sh
from sharnir.forms.banded import half_bandwidth, joints_that_meet
from states import FOREST, forest, matrices, random_state

MODELS = {"chain": sh.samples.chain, "binary tree": binary_tree, "star": star}


def neighbours(carriers):
    out = defaultdict(set)
    for i, j in joints_that_meet(carriers):
        out[i].add(j)
        out[j].add(i)
    return out


def fill(carriers, order):
    """Blocks that elimination in this order brings in where L has none."""
    graph, brought, left = neighbours(carriers), 0, set(order)
    for i in order:
        left.remove(i)
        rest = sorted(graph[i] & left)
        for n, j in enumerate(rest):
            for k in rest[:n]:
                brought += k not in graph[j]
                graph[j].add(k)
                graph[k].add(j)
    return brought


def farthest(carriers):
    """The most steps from joint to neighbouring joint between any two."""
    graph, n = neighbours(carriers), len(carriers)
    distance = np.full((n, n), n)
    distance[np.diag_indices(n)] = 0
    for i in range(n):
        distance[i, list(graph[i])] = 1
    for k in range(n):
        distance = np.minimum(distance, distance[:, k, None] + distance[None, k])
    return distance.max()


@pytest.mark.parametrize("k", range(0, FOREST, 9))
def test_the_band_of_the_structure_is_the_band_of_the_numbers(k):
    model = forest(k)
    m = matrices(model, random_state(model, k))
    sizes = [Z.shape[1] for Z in m.Z_blocks]
    first = np.concatenate([[0], np.cumsum(sizes)])
    width = half_bandwidth(m.k, sizes)
    assert not np.tril(m.L, -width - 1).any()
    pairs = [(i, j) for i, j in joints_that_meet(m.k) if sizes[i] and sizes[j]]
    if pairs:
        i, j = max(pairs, key=lambda pair: first[pair[1] + 1] - first[pair[0]])
        assert first[j + 1] - 1 - first[i] == width or max(sizes) - 1 == width
        assert np.abs(m.L[first[j] : first[j + 1], first[i] : first[i + 1]]).max() > 1e-6 * np.abs(m.L).max()


@pytest.mark.parametrize(("freedoms", "width"), [(1, 9), (2, 7), (3, 5)])
def test_the_band_of_a_chain_does_not_grow(freedoms, width):
    for n in (2, 10, 80):
        model = sh.samples.chain(n, freedoms)
        assert half_bandwidth(model.parents, [6 - freedoms] * n) == width


@pytest.mark.parametrize(("numbering", "widths"), [("depth-first", (39, 69, 129, 249)), ("leaves-last", (29, 64, 114, 219))])
def test_the_band_of_a_binary_tree_grows_with_its_bodies(numbering, widths):
    found = []
    for n in (10, 20, 40, 80):
        model = binary_tree(n, 1)
        model.numbering = numbering
        found.append(half_bandwidth(model.parents, [5] * n))
    assert tuple(found) == widths


def test_no_numbering_keeps_the_band_of_a_binary_tree():
    """Numbers of neighbours differ by the band at most, first and last by N - 1: a band of (N - 1) / steps blocks or more."""
    least = [-((1 - n) // int(farthest(binary_tree(n, 1).parents))) for n in (15, 63, 255)]
    assert least == [3, 7, 20]


@pytest.mark.parametrize("shape", MODELS)
def test_elimination_from_the_leaves_fills_nothing_in(shape):
    for n in (1, 2, 10, 40):
        carriers = MODELS[shape](n, 1).parents
        assert fill(carriers, range(n - 1, -1, -1)) == 0
    if shape == "binary tree":
        assert fill(carriers, range(n)) > n  # from the root outward


@pytest.mark.parametrize("k", range(0, FOREST, 13))
def test_elimination_from_the_leaves_fills_nothing_in_of_a_random_tree(k):
    carriers = forest(k).parents
    assert fill(carriers, range(len(carriers) - 1, -1, -1)) == 0


def test_factors_from_the_leaves_have_the_blocks_of_L_and_factors_of_the_band_have_more():
    model = binary_tree(40, 1)
    m = matrices(model, random_state(model))
    size = 5 * np.arange(len(m.k) + 1)

    def blocks(x):
        return {(i, j) for i in range(len(m.k)) for j in range(i + 1) if x[size[i] : size[i + 1], size[j] : size[j + 1]].any()}

    back = np.arange(len(m.L))[::-1]
    inward = np.linalg.cholesky(m.L[np.ix_(back, back)])[np.ix_(back, back)].T
    assert blocks(inward) == blocks(m.L)
    outward = np.linalg.cholesky(m.L)
    assert blocks(outward) > blocks(m.L)
