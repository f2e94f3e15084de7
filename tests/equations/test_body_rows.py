"""Rows of constraints on the motion of the bodies they touch are the rows in the coordinates of the tree."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from test_constraints import CUT

import sharnir as sh
from loop_models import STARTS, S
from parametric_models import linkage
from sharnir.backends.run import with_bodies
from sharnir.equations.rows.body_rows import body_rows
from sharnir.equations.rows.constraint_families import BODY
from sharnir.equations.rows.constraint_table import ConstraintTable, table_of
from states import assert_close, random_axis, random_mass, random_pose

EPS = np.finfo(float).eps


def shaken(t):
    return sh.Pose((0.3 * sh.sin(2.0 * t), 0.1 * t * t, 0.2), sh.Rotation.about("z", 0.7 * t) @ sh.Rotation.about("x", 0.4 * t))


def bowl(x, y, z, t):
    return x * x + y * y - z * (1.0 + t)


def everything(base=None):
    """Every closing joint and every constraint, between bodies and with the ground, whose base may move."""
    rng = np.random.default_rng(8)
    m = sh.Model("everything", base_motion=base)
    for name in ("a", "b", "c", "disc"):
        m.add_body(name, **random_mass(rng))
    m.add_joint("fa", sh.Free(), "ground", "a", at=random_pose(rng))
    m.add_joint("ab", sh.Revolute("y"), "a", "b", at=random_pose(rng), child_at=random_pose(rng))
    m.add_joint("bc", sh.Ball(), "b", "c", at=random_pose(rng))
    m.add_joint("roll", sh.Free(), "a", "disc")
    m.add_body("led", **random_mass(rng))
    m.add_body("custom", **random_mass(rng))
    m.add_joint("led", sh.Prismatic("x"), "c", "led")
    m.couple("led", "ab", ratio=0.4, offset=0.1)
    custom = sh.CustomJoint(2, lambda q, t: sh.Pose((q[0], q[1] * q[0], t), sh.Rotation.about("x", q[1])))
    m.add_joint("custom", custom, "b", "custom")
    m.add_body("driven", **random_mass(rng))
    m.add_joint("driven", sh.Revolute("z", motion=lambda t: 0.3 * sh.sin(t)), "custom", "driven")
    ends = [("ground", "c"), ("a", "c"), ("b", "ground"), ("custom", "led")]
    for k, (kind, (make, _)) in enumerate(CUT.items()):
        parent, child = ends[k % len(ends)]
        m.add_joint(f"cut {kind}", make(), parent, child, at=random_pose(rng), child_at=random_pose(rng), cut=True)
    m.add_constraint(sh.Distance("ground", "c", (0.1, 0.2, 0.0), (0.0, 0.1, 0.3), 0.7), "rod")
    m.add_constraint(sh.Gear({"ab": 2.0, "led": -1.0, "driven": 0.5}, 0.3), "gear")
    m.add_constraint(sh.Rolling("disc", 0.3, axis="x"), "rolling")
    m.add_constraint(sh.PointOnSurface("c", bowl, (0.1, 0.0, 0.2), of="a"), "bowl")
    m.add_constraint(sh.PointOnCurve("b", bowl, lambda x, y, z, t: sh.sin(x) - y * t), "curve")
    m.add_constraint(lambda on: (on.q("bc")[1] * on.q("custom")[0] - on.t * on.q("fa")[5], on.pose("led").position[0]), "mine")
    m.add_constraint(sh.SpeedConstraint(lambda on: on.v("led") - on.t * on.point("c", (0, 0, 1))[1][2] + on.v("fa")[4]), "speeds")
    return m


MODELS = {
    "everything on a moving base": lambda: everything(shaken),
    "parametric linkage": linkage,
    **{name: make for name, (make, _) in STARTS.items()},
}


@cache
def made(name):
    return MODELS[name]()


@pytest.mark.parametrize("name", MODELS)
def test_rows_on_bodies_are_the_rows_of_the_tree(name):
    """Σ K·(Jacobian of a body) = J, and Σ K·(acceleration) + γ is the same acceleration of the row; g and rate likewise."""
    m = made(name)
    table, rows, s = table_of(m), body_rows(m), m.structure
    assert len(rows) == len(table.rows) and rows.n_holonomic == table.n_holonomic
    for seed in range(2):
        rng = np.random.default_rng(seed)
        q, v, a, t = m.random_q(rng), rng.normal(size=m.nv), rng.normal(size=m.nv), 0.3
        found, expected = rows.evaluate(q[None], v[None], np.array([t])), table.evaluate(q, v, t)
        at = sh.matrices(m, q, v, t)
        B = np.asarray(at.B).reshape(s.nb, 6, s.nv)
        acceleration = np.asarray(at.psi).reshape(s.nb, 6) + B @ a
        J, moved = np.zeros_like(expected["J"]), found["gamma"][0].copy()
        for c in range(len(rows.names)):
            own = rows.row_of[rows.row_first[c] : rows.row_first[c + 1]]
            for link in range(rows.links.first[c], rows.links.first[c + 1]):
                K = found["K"][0, rows.links.at[link] : rows.links.at[link + 1]].reshape(len(own), -1)
                k = rows.links.target[link]
                body = rows.links.kind[link] == BODY
                J[own] += K @ (B[k - 1] if body else np.eye(s.nv)[[k]])
                moved[own] += K @ (acceleration[k - 1] if body else a[[k]])
        scale = 1.0 + np.abs(expected["J"]).max()
        assert_close(J, expected["J"], 1e3 * EPS, scale=scale)
        larger = scale * (1.0 + np.abs(expected["gamma"]).max())
        assert_close(moved, expected["J"] @ a + expected["gamma"], 1e4 * EPS, scale=larger)
        for what in ("g", "rate"):
            assert_close(found[what][0], expected[what], 1e3 * EPS, scale=scale)
        values = {"q": q.tolist(), "v": v.tolist(), "t": [t], "parameter": list(m.parameters.values())}
        interpreted = rows.trace(values, float)._asdict()
        arrays = {"q": q, "v": v, "t": np.array([t]), **{what: np.full(rows.sizes[what], np.nan) for what in interpreted}}
        if seed:  # what somebody else has computed
            motion = with_bodies(s, values, float)
            arrays |= {what: np.array(motion[what]) for what in ("r", "G", "velocity")}
        for native in rows.chain(arrays):
            native()
        for what, x in interpreted.items():
            assert_close(np.array(x, dtype=float), found[what][0], 1e3 * EPS, scale=larger)
            assert_close(arrays[what], found[what][0], 1e3 * EPS, scale=larger)


@pytest.mark.parametrize("name", MODELS)
def test_the_sparse_jacobian_is_the_dense_one(name):
    """And has no entries for the axes that move all bodies of an internal constraint alike."""
    m = made(name)
    table = table_of(m)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        q, v, t = m.random_q(rng), rng.normal(size=m.nv), 0.3
        found, expected = table.sparse.evaluate(q, v, t), table.evaluate(q, v, t)
        for what in ("g", "rate", "gamma"):
            assert_close(found[what], expected[what], 1e4 * EPS, scale=1.0 + np.abs(expected["J"]).max() ** 2)
        assert_close(found["J"].toarray(), expected["J"], 1e3 * EPS, scale=1.0 + np.abs(expected["J"]).max())


@pytest.mark.parametrize("name", ["everything on a moving base", "parametric linkage", "rolling disc", "Bricard"])
def test_tables_of_large_models_say_what_those_of_small_ones_say(name):
    """Values, violations, wrenches and mobility, on bodies and as one graph; with other parameters too."""
    m = made(name)
    small, large = (ConstraintTable(m) for _ in range(2))
    large.__dict__["is_large"] = True
    rng = np.random.default_rng(5)
    n, other = 3, np.array(list(m.parameters.values())) * 1.1
    q, v, t = np.array([m.random_q(rng) for _ in range(n)]), rng.normal(size=(n, m.nv)), rng.uniform(0.1, 0.9, n)
    given = np.tile(other, (n, 1))
    a, b = (table.evaluate(q[0], v[0], t[0], other) for table in (small, large))
    for what, x in a.items():
        assert_close(b[what], x, 1e4 * EPS, scale=1.0 + np.abs(a["J"]).max() ** 2, what=what)
    assert_close(large.violation(q, v, t, given), small.violation(q, v, t, given), 1e3 * EPS, scale=1.0 + np.abs(q).max() ** 2)
    lam = rng.normal(size=(n, len(small)))
    found = large.wrench_rows(q, v, t, given, lam)
    for k in range(n):
        state = {"q": q[k].tolist(), "v": v[k].tolist(), "t": [t[k]], "parameter": other.tolist()}
        expected = small.wrenches(with_bodies(m.structure, state, float), lam[k].tolist())
        assert found.keys() == expected.keys()
        for constraint, bodies in expected.items():
            assert found[constraint].keys() == bodies.keys()
            for body, wrench in bodies.items():
                assert_close(found[constraint][body][k], wrench, 1e3 * EPS, scale=1.0 + np.abs(wrench).max())
    assert small.is_rheonomic == large.is_rheonomic == name.startswith("everything")


def test_constraints_of_one_shape_are_traced_once():
    """Whatever their places and lengths; the user's own are joined where their graphs are equal but for constants."""
    m = S.n_four_bar(12)
    for k in range(5):
        m.add_constraint(sh.Distance(f"rod{k}", f"bar{k + 2}", (0.1 * k, 0.2, 0.0), (1.0, 0.0, 0.1), 1.0 + k), f"rope{k}")
        m.add_constraint(lambda on, k=k: on.q(f"foot{k}") * (2.0 + k) - on.q(f"left{k}"), f"mine{k}")
    rows = body_rows(m)
    assert sorted(len(part.which) for part in rows.parts) == [5, 5, 12]
    assert len(rows) == 2 * 12 + 5 + 5


def test_hinges_about_different_axes_share_a_graph():
    """Their traces differ in constants only."""
    rng = np.random.default_rng(2)
    m = sh.Model("spatial loops")
    for k in range(9):
        for name, carrier in ((f"a{k}", "ground"), (f"b{k}", f"a{k}")):
            m.add_body(name, **random_mass(rng))
            m.add_joint(f"to {name}", sh.Ball(), carrier, name, at=random_pose(rng))
        m.add_joint(f"cut{k}", sh.Revolute(random_axis(rng)), "ground", f"b{k}", random_pose(rng), random_pose(rng), cut=True)
    assert len(body_rows(m).parts) <= 2  # one for each way to find two directions across an axis
    q, v = m.random_q(rng), rng.normal(size=m.nv)
    found, expected = table_of(m).sparse.evaluate(q, v, 0.0), ConstraintTable(m)
    one = expected.trace({"q": q.tolist(), "v": v.tolist(), "t": [0.0], "parameter": []})
    assert_close(found["J"].toarray(), np.array(one.J), 1e3 * EPS, scale=10.0)
    assert_close(found["gamma"], np.array(one.gamma), 1e4 * EPS, scale=100.0)


def test_constraints_of_the_same_formula_of_parameters_are_traced_once():
    """Four-bars in a row whose lengths and hinge angles depend on a parameter; with other numbers in its place it is the same."""

    def row_of(n, L=None):
        m = sh.Model("row of four-bars")
        L = m.add_parameter("L", 0.9) if L is None else L
        tip = sh.Pose((L, 0.0, 0.0), sh.Rotation.about("z", 0.3 * L))
        for k in range(n + 1):
            m.add_body(f"rod{k}", 1.0, (0.5, 0.0, 0.0), (0.1, 0.1, 0.1))
            m.add_joint(f"foot{k}", sh.Revolute("z"), "ground", f"rod{k}", at=sh.Pose((float(k), 0.0, 0.0)))
        for k in range(n):
            m.add_body(f"bar{k}", 1.0, (0.5, 0.0, 0.0), (0.1, 0.1, 0.1))
            m.add_joint(f"left{k}", sh.Revolute("z"), f"rod{k}", f"bar{k}", at=tip)
            m.add_joint(f"right{k}", sh.Revolute("z"), f"bar{k}", f"rod{k + 1}", at=tip, child_at=tip)
        return m

    m, other = row_of(6), row_of(6, 0.7)
    assert len(body_rows(m).parts) == 1
    q, v = m.random_q(0), np.ones(m.nv)
    found, expected = table_of(m).sparse.evaluate(q, v, 0.0, [0.7]), table_of(other).evaluate(q, v, 0.0)
    for what in ("g", "rate", "gamma"):
        assert_close(found[what], expected[what], 1e4 * EPS, scale=10.0, what=what)
    assert_close(found["J"].toarray(), expected["J"], 1e3 * EPS, scale=10.0)


def test_axes_that_move_both_bodies_of_a_closing_joint_are_not_in_its_rows():
    """Exactly, and not up to rounding: the pattern ends at the nearest body that carries both."""
    m = S.chain(40)
    m.add_joint("close", sh.Ball(), m.bodies[29].name, m.bodies[39].name, cut=True)
    J = table_of(m).sparse.evaluate(m.random_q(0), np.zeros(m.nv), 0.0)["J"]
    assert set(J.indices.tolist()) == set(range(30, 40))
    m = S.chain(40)
    m.add_constraint(
        lambda on: on.pose(m.bodies[29].name).position[0] - 2.0 * on.pose(m.bodies[39].name).position[0], "not internal"
    )
    J = table_of(m).sparse.evaluate(m.random_q(0), np.zeros(m.nv), 0.0)["J"]
    assert set(J.indices.tolist()) == set(range(40))


def test_the_rank_of_a_large_mechanism_is_that_of_its_dense_jacobian():
    """n four-bars, some of their hinges twice, in general and where all links are level."""
    m = S.n_four_bar(50, thin=False)
    for k in range(0, 50, 7):
        j = next(j for j in m.closing_joints if j.name == f"right{k}")
        m.add_joint(f"again{k}", j.type, j.parent, j.child, at=j.at, child_at=j.child_at, cut=True)
    assert table_of(m).is_large
    for angle in (1.1, 0.0):
        q = m.coordinates(S.n_four_bar_start(50, angle=angle)["q0"])
        J = table_of(m).evaluate(q, np.zeros(m.nv), 0.0)["J"]
        rank = np.linalg.matrix_rank(J, 1e-9)
        found = m.mobility(q)
        assert (found.rank, found.freedoms) == (rank, m.nv - rank)
        assert len(found.redundant) == len(J) - rank + len(table_of(m).trivial)
        if angle:
            assert "joint 'again7': position along x is already fixed by joint 'right7': position along x" in found.redundant
