"""Rows of constraints on the motion of the bodies they touch are the rows in the coordinates of the tree."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from loop_models import STARTS
from parametric_models import linkage
from sharnir.equations.body_rows import body_rows_of
from sharnir.equations.constraint_table import table_of
from sharnir.equations.row_layout import BODY
from states import assert_close, random_mass, random_pose
from test_constraints import CUT

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
    "everything": everything,
    "everything on a moving base": lambda: everything(shaken),
    "parametric linkage": linkage,
    **{name: make for name, (make, _) in STARTS.items()},
}


@pytest.mark.parametrize("name", MODELS)
def test_rows_on_bodies_are_the_rows_of_the_tree(name):
    """Σ K·(Jacobian of a body) = J, and Σ K·(acceleration) + γ is the same acceleration of the row; g and rate likewise."""
    m = MODELS[name]()
    table, rows, s = table_of(m), body_rows_of(m), m.structure
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
        for native in rows.chain(arrays):
            native()
        for what, x in interpreted.items():
            assert_close(np.array(x, dtype=float), found[what][0], 1e3 * EPS, scale=larger)
            assert_close(arrays[what], found[what][0], 1e3 * EPS, scale=larger)


@pytest.mark.parametrize("name", MODELS)
def test_the_sparse_jacobian_is_the_dense_one(name):
    """And has no entries for the axes that move all bodies of an internal constraint alike."""
    m = MODELS[name]()
    table = table_of(m)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        q, v, t = m.random_q(rng), rng.normal(size=m.nv), 0.3
        found, expected = table.evaluate_sparse(q, v, t), table.evaluate(q, v, t)
        for what in ("g", "rate", "gamma"):
            assert_close(found[what], expected[what], 1e4 * EPS, scale=1.0 + np.abs(expected["J"]).max() ** 2)
        assert_close(found["J"].toarray(), expected["J"], 1e3 * EPS, scale=1.0 + np.abs(expected["J"]).max())
