"""Multipliers eliminated with the bodies they act on: the extended system, on closed mechanisms of any size."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from loop_models import placed
from sharnir.backends.runner import run_by_name
from sharnir.equations.motion.constrained import ConstrainedEquations
from sharnir.equations.motion.share import closed_structure
from sharnir.equations.motion.sparse import SparseEquations
from sharnir.programs.methods import METHODS
from states import assert_close


def on_an_arm(n: int = 3, gear: bool = True, couple: bool = True) -> sh.Model:
    """Parallelograms one after another on an arm that swings: loops that leave at bodies; a rod that ties the last one to the
    ground, a gear between joints of different loops, and a pair of coupled wheels, one of them in the gear."""
    m, rng = sh.Model("parallelograms on an arm", gravity=(0.0, -9.81, 0.0)), np.random.default_rng(3)

    def body(name: str) -> str:
        m.add_body(name, float(rng.uniform(0.5, 2.0)), rng.uniform(-0.2, 0.5, 3).tolist(), rng.uniform(0.3, 0.4, 3).tolist())
        return name

    m.add_joint("shoulder", sh.Ball(), "ground", body("arm"))
    last = "arm"
    for k in range(n):
        left, right, top = (body(f"{name} {k}") for name in ("left", "right", "top"))
        m.add_joint(f"a {k}", sh.Revolute("z"), last, left, at=sh.Pose((0.2, 0.1, 0.3)))
        m.add_joint(f"b {k}", sh.Revolute("z"), last, right, at=sh.Pose((1.2, 0.1, 0.3)))
        m.add_joint(f"c {k}", sh.Revolute("z"), left, top, at=sh.Pose((0.0, 1.0, 0.0)))
        closing = sh.Revolute("z") if k % 2 else sh.Ball()
        m.add_joint(f"d {k}", closing, top, right, at=sh.Pose((1.0, 0.0, 0.0)), child_at=sh.Pose((0.0, 1.0, 0.0)), cut=True)
        last = top
    for k in range(2 if couple else 0):
        m.add_joint(f"wheel {k}", sh.Revolute("x"), "top 0" if k else "arm", body(f"disc {k}"), at=sh.Pose((0.0, 0.2, 0.1 * k)))
    if couple:
        m.couple("wheel 1", "wheel 0", -1.5, 0.2)
    m.add_constraint(sh.Distance(f"top {n - 1}", "ground", (0.5, 0.0, 0.0), (3.0, 1.0, 1.0), 3.0), name="rod")
    if gear:
        first = "wheel 0" if couple else "a 1"
        m.add_constraint(sh.Gear({"a 0": 1.0, first: 2.0}, 0.1), name="teeth")
    return m


def check_elimination(m: sh.Model, q: np.ndarray, v: np.ndarray, t: float = 0.0, tolerance: float = 1e-9) -> None:
    rng = np.random.default_rng(1)
    tau, w = rng.normal(size=m.nv), rng.normal(size=(len(m.bodies), 6))
    oracle = sh.Dynamics(m, "extended")
    wanted = oracle.forward(q, v, tau, t, w)
    scale = max(1.0, np.abs(wanted).max())
    for backend in ("python", "llvm"):
        d = sh.Dynamics(m, "separate", backend)
        assert_close(d.forward(q, v, tau, t, w), wanted, tolerance, scale=scale, what=backend)
    assert_close(d.reactions(q, v, tau, t, w), oracle.reactions(q, v, tau, t, w), 1e3 * tolerance)
    loops = SparseEquations(m)
    wrench = np.concatenate([np.zeros(6), w.ravel()])
    rows = {"q": q, "v": v, "tau": tau, "t": np.array([t]), "wrench": wrench}
    for n in (1, 9):
        given = {name: np.repeat(x[None], n, axis=0) if name == "q" else x[None] for name, x in rows.items()}
        qdd = run_by_name(loops.runner(wrenches=True), n, given)["qdd"]
        assert_close(qdd, np.repeat(wanted[None], n, axis=0), tolerance, scale=scale, what=f"loops, {n} states")


@pytest.mark.parametrize("name", ["four-bar", "Bricard", "planetary gear", "rolling disc", "car axis"])
def test_elimination_is_the_extended_system_on_published_mechanisms(name):
    m, q, v = placed(name)
    check_elimination(m, q, v)


@pytest.mark.parametrize("options", [{}, {"gear": False}, {"couple": False}], ids=["all", "no gear", "nothing coupled"])
def test_elimination_is_the_extended_system_where_loops_leave_at_bodies(options):
    m = on_an_arm(2, **options)
    q, v = m.assemble({"a 0": 0.2}, np.random.default_rng(0).normal(size=m.nv))
    check_elimination(m, q, v, tolerance=1e-8)
    shared = SparseEquations(m).structure.shared
    assert shared.multiplier[: shared.left[1]].any()  # some leave at bodies, or the test is of nothing


def coupled_on_an_arm(with_base: bool) -> sh.Model:
    """Two wheels on an arm: coupled with each other, and the arm tied to the ground; or each coupled with a wheel on the ground,
    and a rod between the two, whose multiplier has no other speeds than those to act on."""
    m, rng = sh.Model("wheels on an arm"), np.random.default_rng(4)
    m.add_body("arm", 1.0, (0.3, 0.1, 0.2), (0.3, 0.4, 0.5))
    m.add_joint("shoulder", sh.Ball(), "ground", "arm")
    for k in range(4 if with_base else 2):
        m.add_body(f"disc {k}", float(rng.uniform(0.5, 2.0)), rng.uniform(-0.2, 0.5, 3).tolist(), (0.3, 0.3, 0.4))
        m.add_joint(f"wheel {k}", sh.Revolute("z"), "ground" if k > 1 else "arm", f"disc {k}", at=sh.Pose((0.5 * k, 0.2, 0.0)))
    if with_base:
        m.couple("wheel 0", "wheel 2", 1.3, 0.1)
        m.couple("wheel 1", "wheel 3", -0.7, 0.2)
        m.add_constraint(sh.Distance("disc 0", "disc 1", (0.1, 0.5, 0.2), (0.2, 0.3, -0.1), 0.8), name="rod")
    else:
        m.couple("wheel 1", "wheel 0", -1.5, 0.2)
        m.add_constraint(sh.Distance("disc 0", "ground", (0.1, 0.5, 0.2), (1.0, 1.0, 0.5), 1.0), name="rod")
    return m


@pytest.mark.parametrize("with_base", [False, True], ids=["speed at a body, multiplier on the base", "speeds on the base"])
def test_elimination_is_the_extended_system_where_coupled_joints_move_on_an_arm(with_base):
    m = coupled_on_an_arm(with_base)
    q, v = m.assemble(None, np.random.default_rng(0).normal(size=m.nv))
    check_elimination(m, q, v, tolerance=1e-11)


@pytest.mark.parametrize(
    "model",
    [on_an_arm(2), on_an_arm(1, gear=False), sh.samples.flexible_four_bar(), coupled_on_an_arm(True), sh.samples.stewart()],
    ids=["arm", "arm without gear", "flexible", "coupled", "stewart"],
)
def test_residuals_vanish_at_the_solution(model):
    """Sweeps by residuals, made for soft loops, change nothing elsewhere: coupled and elastic coordinates, gears, loads."""
    closed_structure(model).sizes["nsr"] = 2
    rng = np.random.default_rng(4)
    q, v = model.assemble(None, 0.3 * rng.normal(size=model.nv))
    tau, wrenches = rng.normal(size=model.nv), rng.normal(size=(len(model.bodies), 6))
    wanted = sh.Dynamics(model, "extended").forward(q, v, tau, wrenches=wrenches)
    for method in ("separate", "composite"):
        assert_close(sh.Dynamics(model, method, "python").forward(q, v, tau, wrenches=wrenches), wanted, 1e-10, what=method)


def test_projection_by_loops_is_that_by_straight_lines():
    m = on_an_arm(2)
    q, v = m.assemble({"a 0": 0.2}, np.random.default_rng(0).normal(size=m.nv))
    rng = np.random.default_rng(2)
    found = []
    start = m.integrate(q, 1e-4 * rng.normal(size=m.nv)), v + 1e-4 * rng.normal(size=m.nv)
    for projection in ("loops", "composite", "separate"):
        at = {"q": start[0].copy(), "v": start[1].copy(), "t": np.zeros(1), "parameter": np.zeros(0)}
        if projection == "loops":
            natives = SparseEquations(m).projection(at)
        else:
            natives = ConstrainedEquations(m, METHODS[projection]).projector.natives(at)
        for native in natives:
            native()
        found.append(np.concatenate([at["q"], at["v"]]))
        left = sh.Dynamics(m, "composite", "python").constrained.table.evaluate(at["q"], at["v"], 0.0)
        assert np.abs(left["g"]).max() < 1e-13 and np.abs(left["rate"]).max() < 1e-7
    assert_close(found[0], found[1], 1e-7)
    assert_close(found[0], found[2], 1e-12)


def test_large_rows_of_four_bars_move_as_the_pendulum_they_are():
    """All rods parallel: I θ̈ = G sin θ, from the vertical; whatever their number, and in lanes."""
    n = 300
    m, start = sh.samples.n_four_bar(n), sh.samples.n_four_bar_start(n, 1.0)
    q, v = m.assemble(**start)
    d = sh.Dynamics(m)
    assert d.constrained.is_sparse and d.method == "separate"
    a = d.forward(q, v)
    wanted = -9.81 * ((n + 1) / 2 + n) * np.cos(1.0) / ((n + 1) / 3 + n)
    rods = [m.v_slice(j.name).start for j in m.joints if np.isclose(q[m.q_slice(j.name)], 1.0).all()]
    assert len(rods) == n + 1 and np.abs(a[rods] - wanted).max() < 1e-9
    assert_close(d.forward(np.repeat(q[None], 5, axis=0), v), np.repeat(a[None], 5, axis=0), 1e-12)


def test_the_order_of_elimination_fills_in_proportion_to_the_loops():
    sizes = [SparseEquations(sh.samples.n_four_bar(n)).structure.sizes for n in (20, 40, 80)]
    for name in ("nsb", "nsd", "nse"):
        first, second, third = (x[name] for x in sizes)
        assert third - second == 2 * (second - first)


def test_what_needs_all_rows_in_one_matrix_is_refused_for_large_models():
    m, start = sh.samples.n_four_bar(150), sh.samples.n_four_bar_start(150, 1.0)
    with pytest.raises(sh.MethodError, match=r"'partitioning' needs all constraints in one matrix.*choose 'projection'"):
        sh.simulate(m, 0.01, **start, stabilisation="partitioning")
    for stabilisation in ("projection", "baumgarte"):
        r = sh.simulate(m, 0.05, **start, stabilisation=stabilisation)
        assert r.cost.backend == "loops" and r.accounted
        assert r.violation.max() < 1e-8 and np.abs(r.energy.defect).max() < 1e-6 * np.abs(r.energy.potential).max()
