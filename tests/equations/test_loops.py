"""Closed loops: every method gives the same accelerations, whichever joint is cut or body split; published motions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sharnir as sh
from loop_models import STARTS, beside_itself, placed, unbalanced
from states import assert_close, error, interpreted, random_axis, random_mass, random_pose

S = sh.samples
KERNELS = ("composite", "separate", "direct", "recursive", "kosynka", "stepanenko")
FORMS = ("extended", "maggi", "lagrange1")
TIGHT = {"rtol": 1e-11, "atol": 1e-13}


# --- one state ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", STARTS)
def test_every_method_gives_the_accelerations_of_every_other(name):
    m, q, v = placed(name)
    tau = 0.1 * np.random.default_rng(1).normal(size=m.nv)
    reference = interpreted(m, "composite").forward(q, v, tau)
    scale = max(1.0, np.abs(reference).max())
    now = interpreted(m, "composite").constrained.table.evaluate(q, v, 0.0)
    assert_close(now["J"] @ reference, -now["gamma"], 1e-8, scale=scale, what="rows")
    pushes = now["J"].T @ interpreted(m, "composite").multipliers(q, v, tau)
    for method in (*KERNELS, *FORMS):
        d = sh.Dynamics(m, method) if method in FORMS else interpreted(m, method)
        loose = 1e-6 if method == "lagrange1" else 1e-8  # it divides by inertias of thin bodies
        assert_close(d.forward(q, v, tau), reference, loose, scale=scale, what=method)
        assert_close(now["J"].T @ d.multipliers(q, v, tau), pushes, loose, scale=1.0, what=method)


def test_gauss_least_constraint():
    """Of all accelerations that keep the constraints, the true ones are nearest to the free ones in the metric of the masses."""
    rng = np.random.default_rng(2)
    for name in STARTS:
        m, q, v = placed(name)
        d = interpreted(m, "composite")
        M, h, now = d.mass_matrix(q), d.bias(q, v), d.constrained.table.evaluate(q, v, 0.0)
        free = np.linalg.solve(M, -h)
        a = d.forward(q, v)
        null = np.eye(m.nv) - np.linalg.pinv(now["J"], rcond=1e-9) @ now["J"]
        size = np.abs(M @ (a - free)).max() + 1e-3
        assert np.abs(null @ M @ (a - free)).max() < 1e-8 * size * max(1.0, np.abs(null).max())
        other = a + null @ rng.normal(size=m.nv)
        assert (a - free) @ M @ (a - free) <= (other - free) @ M @ (other - free) + 1e-9 * size


def test_batches_and_compiled_code_give_what_single_states_give():
    m, q, v = placed("four-bar")
    states = [placed("four-bar", seed) for seed in range(5)]
    q, v = (np.array([s[k] for s in states]) for k in (1, 2))
    one = interpreted(m, "composite")
    expected = np.array([one.forward(*pair) for pair in zip(q, v, strict=True)])
    for method in ("composite", "separate"):
        d = sh.Dynamics(m, method)
        assert_close(d.forward(q, v), expected, 1e-10)
        out = np.empty_like(expected)
        assert d.forward(q, v, out=out) is out and error(out, expected) < 1e-10
        assert d.multipliers(q, v).shape == (5, 2) and d.reactions(q, v).shape == (5, 3, 6)
        wrenches = np.random.default_rng(0).normal(size=(3, 6))
        assert_close(d.forward(q[0], v[0], wrenches=wrenches), one.forward(q[0], v[0], wrenches=wrenches), 1e-10)


def test_inverse_dynamics_is_the_least_of_the_forces_that_do_it():
    for name in ("four-bar", "Bricard", "Andrews"):
        m, q, v = placed(name)
        d = interpreted(m, "composite")
        a = d.forward(q, v, np.random.default_rng(3).normal(size=m.nv) * 0.01)
        tau = d.inverse(q, v, a)
        assert_close(d.forward(q, v, tau), a, 1e-8)
        J = d.constrained.table.evaluate(q, v, 0.0)["J"]
        assert np.abs(J @ tau).max() < 1e-9 * max(1.0, np.abs(tau).max())  # nothing that the constraints would bear


def test_with_no_forces_among_rows_that_depend_on_each_other_accelerations_are_unique():
    """The same loop closed three times over: more rows, the same motion."""
    m, q, v = placed("four-bar")
    expected = interpreted(m, "composite").forward(q, v)
    more = STARTS["four-bar"][0]()
    at, child_at = sh.Pose((1.3, 0, 0)), sh.Pose((0.9, 0, 0))
    more.add_joint("again", sh.Ball(), "coupler", "rocker", at=at, child_at=child_at, cut=True)
    more.add_joint("and again", sh.Cylindrical("z"), "rocker", "coupler", at=child_at, child_at=at, cut=True)
    for method in ("composite", "separate", "extended", "maggi"):
        d = sh.Dynamics(more, method, "python" if method in KERNELS else "auto")
        assert_close(d.forward(q, v), expected, 1e-8, what=method)
    assert unbalanced(more, interpreted(more, "composite"), q, v, np.zeros(3)) < 1e-9


# --- a tree with joints added that its motion allows ----------------------------------------------------------------------------
CONTAINING = {
    "Revolute": [lambda j: sh.Revolute(j.axis), lambda j: sh.Cylindrical(j.axis), lambda j: sh.Ball()],
    "Prismatic": [lambda j: sh.Prismatic(j.axis), lambda j: sh.Translation(), lambda j: sh.Cylindrical(j.axis)],
    "Universal": [lambda j: sh.Universal(j.first, j.second), lambda j: sh.Ball()],
    "Planar": [lambda j: sh.Planar()], "Ball": [lambda j: sh.Ball()], "Free": [lambda j: sh.Free()],
}  # fmt: skip


def random_graph(seed):
    """A random tree, and the same with up to four joints added that contain the relative motion of the one beside them."""
    rng = np.random.default_rng((seed, 17))
    kinds = [sh.Revolute(random_axis(rng)), sh.Prismatic(random_axis(rng)), sh.Universal("x", "y"), sh.Planar(), sh.Ball()]
    tree = sh.Model("tree", gravity=rng.normal(size=3).tolist())
    n = int(rng.integers(2, 5))
    for i in range(n):
        tree.add_body(f"b{i}", **random_mass(rng))
        carrier = "ground" if i == 0 else f"b{rng.integers(i)}"
        ends = (carrier, f"b{i}") if rng.random() < 0.7 else (f"b{i}", carrier)
        tree.add_joint(f"j{i}", kinds[rng.integers(len(kinds))], *ends, at=random_pose(rng), child_at=random_pose(rng))
    graph = tree.copy()
    for k in range(int(rng.integers(1, 5))):
        j = tree.parts.joints[rng.integers(n)]
        choices = CONTAINING[j.type.type_name]
        beside = choices[rng.integers(len(choices))](j.type)
        graph.add_joint(f"c{k}", beside, j.parent, j.child, at=j.at, child_at=j.child_at, cut=True)
    return tree, graph


@pytest.mark.parametrize("seed", range(12))
def test_joints_that_allow_the_motion_of_the_tree_change_nothing(seed):
    tree, graph = random_graph(seed)
    assert graph.closing_joints and graph.nv == tree.nv
    rng = np.random.default_rng(seed)
    q, v, tau = tree.random_q(rng), rng.normal(size=tree.nv), rng.normal(size=tree.nv)
    expected = interpreted(tree).forward(q, v, tau)
    assert graph.mobility(q).freedoms == tree.nv
    for method in ("composite", "separate"):
        assert_close(interpreted(graph, method).forward(q, v, tau), expected, 1e-8, scale=1.0, what=method)


def test_the_motion_of_such_a_graph_is_that_of_the_tree():
    tree, graph = random_graph(3)
    q = tree.random_q(1)
    a, b = (sh.simulate(m, 0.5, q0=q, method="composite", **TIGHT) for m in (tree, graph))
    assert_close(b.q, a.q, 1e-8)


# --- cutting and splitting ------------------------------------------------------------------------------------------------------
def four_bar_cut_at(joint):
    m = S.four_bar(0.5, 1.3, 0.9, 1.1)
    for k, placed_joint in enumerate(m.parts.joints):
        if placed_joint.name == joint:
            object.__setattr__(m.parts.joints[k], "cut", True)
    return m


def test_it_makes_no_difference_which_joint_is_cut_or_split():
    """The motion of the coupler's middle over two seconds, by any cut and by any split."""
    start = {"A": 1.2, "B": -1.0, "C": 1.5}
    whole = S.four_bar(0.5, 1.3, 0.9, 1.1)
    q, _ = whole.assemble(start, nearest=True)
    reference = sh.simulate(whole, 2.0, q0=q, output=0.1, **TIGHT)
    path = reference.point("coupler", (0.65, 0, 0))
    angles = {
        b: float(np.arctan2(R[1, 0], R[0, 0])) for b, R in zip(("crank", "coupler", "rocker"), bodies(whole, q), strict=True)
    }
    absolute = {"A": angles["crank"], "B": angles["coupler"] - angles["crank"], "C": angles["rocker"]}
    absolute["D"] = angles["rocker"] - angles["coupler"]
    for joint in "BC":
        m = four_bar_cut_at(joint)
        r = sh.simulate(m, 2.0, q0={j: absolute[j] for j in "ABCD" if j != joint}, output=0.1, **TIGHT)
        assert np.abs(r.point("coupler", (0.65, 0, 0)) - path).max() < 1e-9
    split = S.four_bar(0.5, 1.3, 0.9, 1.1)
    split.split("D")
    assert split.nv == 4 and split.mobility(absolute_q(split, absolute)).freedoms == 1
    r = sh.simulate(split, 2.0, q0=absolute, output=0.1, **TIGHT)
    assert np.abs(r.point("coupler", (0.65, 0, 0)) - path).max() < 1e-9
    assert_close(np.sum([b.mass for b in split.bodies]), 3.0, 1e-15)


def absolute_q(model, values):
    return model.assemble(values, nearest=True)[0]


def bodies(model, q):
    R = interpreted(model).poses(q)[0]
    return [R[model.body_index(b)] for b in ("crank", "coupler", "rocker")]


def test_a_body_is_not_split_from_the_ground_side():
    m = S.four_bar()
    with pytest.raises(sh.ModelError, match="no joint 'X'"):
        m.split("X")
    m.add_joint("E", sh.Ball(), "rocker", "ground", at=sh.Pose((0.5, 0, 0)), cut=True)
    with pytest.raises(sh.ModelError, match="its child is the ground; name the joint the other way round"):
        m.split("E")


# --- published motions ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", KERNELS)
def test_two_four_bars_pass_their_singular_positions(method):
    """IFToMM A02: after 4 s the rods have been level, where the rows lose rank, four times."""
    r = sh.simulate(S.n_four_bar(2), 4.0, **S.n_four_bar_start(2), method=method, output=4.0, rtol=1e-10, atol=1e-12)
    assert_close(r.point("rod0", (1, 0, 0))[-1], [0.1176161024, 0.9930591385, 0.0], 1e-6)
    at, v = r.coordinate("foot0")[-1], r.speed("foot0")[-1]
    assert_close([-math.sin(at) * v, math.cos(at) * v], [1.0690392650, -0.1266150492], 1e-6)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-7, 1e-8, 1e-9, 1e-11, 1e-12])
def test_no_tolerance_makes_a_run_stumble_over_a_singular_position(tolerance):
    """Steps that end anywhere near the level position: nothing jumps, nothing leaves the branch, no step shrinks to nothing."""
    r = sh.simulate(S.n_four_bar(2), 10.0, **S.n_four_bar_start(2), rtol=tolerance, atol=tolerance / 100)
    assert np.abs(r.coordinate("foot0") + r.coordinate("left0")).max() < 1e-8
    assert r.cost.steps < 2000 and r.violation.max() < 1e-9
    assert abs(r.energy.defect).max() < 1e-4 + 200.0 * tolerance * 50.0


def test_many_four_bars_move_as_one_pendulum():
    """θ'' = (G/I) sin θ with I = (N+1)/3 + N, G = 9.81((N+1)/2 + N): N = 12, in compiled loops, through level positions."""
    n = 12
    inertia, weight = (n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n)
    exact = solve_ivp(
        lambda t, x: [x[1], weight / inertia * math.sin(x[0])], (0, 4), [0.0, 1.0], "DOP853", rtol=1e-12, atol=1e-13
    )
    r = sh.simulate(S.n_four_bar(n), 4.0, **S.n_four_bar_start(n), rtol=1e-9, atol=1e-11, output=4.0)
    for k in (0, n):
        tip = r.point(f"rod{k}", (1, 0, 0))[-1] - [k, 0, 0]
        assert_close(tip, [math.sin(exact.y[0, -1]), math.cos(exact.y[0, -1]), 0.0], 1e-6)


@pytest.mark.parametrize("method", ["composite", "separate"])
def test_andrews_squeezing_mechanism(method):
    """The test set's own digits at 0.03 s."""
    end = {
        "beta": 15.81077119629904, "Theta": -15.75637105984298, "gamma": 0.04082224013073101, "Phi": -0.5347301163226948,
        "delta": 0.5244099658805304, "Omega": 0.5347301163226948, "epsilon": 1.048080741042263,
    }  # fmt: skip
    r = sh.simulate(S.andrews(), 0.03, q0=S.andrews_start, tau={"beta": 0.033}, method=method, output=0.03, **TIGHT)
    for joint, x in end.items():
        assert abs(r.coordinate(joint)[-1] - x) < 1e-8
    assert abs(r.energy.defect).max() < 1e-9


@pytest.mark.parametrize("method", ["composite", "separate"])
def test_bricards_mechanism_moves_though_the_count_says_it_cannot(method):
    r = sh.simulate(S.bricard(), 2.5, method=method, output=0.5, **TIGHT)
    point = r.point("rod3")
    assert_close(point[2], [0.274481319, -0.886707939, -0.462330003], 2e-9)
    assert_close(point[-1], [-0.999983185, -1.000000000, -0.000016815], 4e-9)
    assert r.violation.max() < 1e-13


def test_the_car_axis():
    """A constraint that depends on time, and feeds energy."""
    start = {"q0": {"l": (0, 0.5), "r": (1, 0.5)}, "v0": {"l": (-0.5, 0), "r": (-0.5, 0)}}
    r = sh.simulate(S.car_axis(), 3.0, **start, output=1.0, **TIGHT)
    expected = [0.0493455784275402809, 0.496989460230171154, 1.04174252488542152, 0.373911027265361257]
    assert_close(r.q[-1], expected, 1e-10)
    assert "drives" in r.energy.work and abs(r.energy.defect).max() < 1e-10


def test_the_governor_with_springs_and_with_rods():
    """IFToMM A05 is a tree with stiff springs; with rods in their place the slow motion is nearly the same."""
    start = {"q0": {"slide": 0.5}, "v0": {"shaft": 2 * math.pi}}
    stiff = sh.simulate(S.governor(), 1.0, **start, integrator="radau", rtol=1e-9, atol=1e-11, output=1.0)
    assert_close(stiff.coordinate("slide")[-1], 0.501420922, 1e-8)
    assert_close(math.pi / 6 - stiff.coordinate("left hinge")[-1], 0.521833302, 1e-8)
    assert_close(stiff.speed("shaft")[-1], 6.271125742, 1e-8)
    rods = sh.simulate(S.governor(closed=True), 1.0, **start, output=0.1, **TIGHT)
    assert abs(rods.coordinate("slide")[-1] - stiff.coordinate("slide")[-1]) < 2e-4
    assert abs(rods.energy.defect).max() < 1e-8 and rods.violation.max() < 1e-13


@pytest.mark.parametrize("form", FORMS)
def test_the_forms_move_a_mechanism_as_the_kernels_do(form):
    m = S.bricard()
    a = sh.simulate(m, 0.1, method="composite", output=0.1, rtol=1e-6)
    b = sh.simulate(m, 0.1, method=form, output=0.1, rtol=1e-6)
    assert_close(b.q, a.q, 1e-8)
    assert b.violation.max() < 1e-12


def test_a_joint_beside_itself_is_one_joint():
    """Two hinges on one axis: each bears half, and the motion is that of one."""
    m = beside_itself(sh.Revolute("z"))
    q, v = m.random_q(0), np.random.default_rng(0).normal(size=m.nv)
    alone = sh.Model("alone")
    for j in m.joints:
        body = next(b for b in m.bodies if b.name == j.child)
        alone.add_body(body.name, body.mass, body.com, body.inertia)
    for j in m.joints:
        alone.add_joint(j.name, j.type, j.parent, j.child, j.at, j.child_at)
    assert_close(interpreted(m).forward(q, v), interpreted(alone).forward(q, v), 1e-9)


def test_what_is_true_of_the_tree_alone_is_not_passed_off_for_the_whole():
    """Questions that a closed loop changes are answered with it, or refused with a word."""
    model = sh.samples.four_bar()
    q, v = model.assemble()
    d = sh.Dynamics(model)
    with pytest.raises(sh.MethodError, match="does not handle closed loops"):
        d.momentum_rates(q, v)
    with pytest.raises(sh.MethodError, match=r"count\(compiled=True\)"):
        d.count()
    free = model.copy()
    closing = {j.name for j in model.closing_joints}
    free.parts.joints = [j for j in free.parts.joints if j.name not in closing]
    assert d.count(compiled=True).total > sh.Dynamics(free, d.method).count(compiled=True).total


def test_speeds_from_momenta_do_not_remember_those_of_the_last_state():
    """Found by the fuzzer: user-defined joints were evaluated at the speeds that the call before had left in its output."""
    m = sh.samples.all_joints(169)
    d, expected = (sh.Dynamics(m, "momentum", backend) for backend in ("loops", "python"))
    rng = np.random.default_rng(0)
    for _ in range(3):
        q, v, tau = m.random_q(rng), rng.normal(size=m.nv), rng.normal(size=m.nv)
        p = expected.momenta(q, v)
        np.testing.assert_allclose(d.velocities(q, p), v, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(d.momentum_rates(q, p, tau), expected.momentum_rates(q, p, tau), rtol=1e-9, atol=1e-8)
