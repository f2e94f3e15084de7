"""Loops closed by splitting bodies: the published motions again, and every form gives what cutting gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sharnir as sh
from loop_models import STARTS
from states import assert_close, interpreted

S = sh.samples
KERNELS = ("composite", "separate", "direct", "recursive", "kosynka", "stepanenko")
FORMS = ("extended", "maggi", "lagrange1")
TIGHT = {"rtol": 1e-11, "atol": 1e-13, "progress": False}

PROBLEMS = {
    "four-bar": (STARTS["four-bar"][0], STARTS["four-bar"][1]),
    "two four-bars": (lambda: S.n_four_bar(2, thin=False), S.n_four_bar_start(2, angle=1.1)["q0"]),
    "five four-bars": (lambda: S.n_four_bar(5, thin=False), S.n_four_bar_start(5, angle=1.1)["q0"]),
    "Andrews": (S.andrews, S.andrews_start),
    "Bricard": (S.bricard, None),
    "slider-crank": (S.slider_crank, {"main": 0.7, "crankpin": -1.0}),
}


def split(model: sh.Model) -> sh.Model:
    """The same mechanism with a body split where a joint would be cut."""
    out = model.copy()
    for joint in model.closing_joints:
        out.split(joint.name)
    return out


def angle_of(model, joint, q):
    """The turn of a revolute joint that has no coordinate, from the poses of its bodies."""
    R, _ = interpreted(model).poses(q)
    there = {"ground": np.eye(3)} | {b.name: R[k] for k, b in enumerate(model.bodies)}
    axis = "xyz".index(joint.type.axis)
    E = there[joint.parent].T @ there[joint.child]
    one, two = (axis + 1) % 3, (axis + 2) % 3
    return math.atan2(E[two, one], E[one, one])


def both(name: str, v0: np.ndarray | None = None):
    """The mechanism cut and split, in the same state."""
    make, start = PROBLEMS[name]
    cut = make()
    halved = split(cut)
    q, v = cut.assemble(start, v0 if v0 is None else v0(cut.nv), nearest=True)
    position = {j.name: q[cut.q_slice(j.name)] for j in cut.joints}
    speed = {j.name: v[cut.v_slice(j.name)] for j in cut.joints}
    position |= {j.name: angle_of(cut, j, q) for j in cut.closing_joints}
    q2, v2 = halved.assemble(position, speed, fixed=list(speed))
    return cut, q, v, halved, q2, v2


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_form_of_a_split_mechanism_gives_what_cutting_gives(name):
    cut, q, v, halved, q2, v2 = both(name, lambda n: np.random.default_rng(4).normal(size=n))
    assert halved.nv == cut.nv + len(cut.closing_joints)
    assert halved.mobility(q2).freedoms == cut.mobility(q).freedoms
    assert_close(sum(b.mass for b in halved.bodies), sum(b.mass for b in cut.bodies), 1e-14)
    reference = interpreted(cut, "composite")
    bodies = [halved.body_index(b.name) for b in cut.bodies]
    assert_close(interpreted(halved).body_velocities(q2, v2)[bodies], reference.body_velocities(q, v), 1e-9, scale=1.0)
    tau = 0.01 * np.random.default_rng(5).normal(size=cut.nv)
    pushed = {j.name: tau[cut.v_slice(j.name)] for j in cut.joints}
    expected = reference.solve(q, v, tau).vdot
    for method in (*KERNELS, *FORMS):
        d = sh.Dynamics(halved, method) if method in FORMS else interpreted(halved, method)
        loose = 1e-6 if method == "lagrange1" else 1e-8
        found = d.solve(q2, v2, halved.speeds(pushed)).vdot[bodies]
        assert_close(found, expected, loose, scale=max(1.0, np.abs(expected).max()), what=method)


@pytest.mark.parametrize("method", ["composite", "separate"])
def test_two_split_four_bars_pass_their_singular_positions(method):
    """IFToMM A02, to the published digits."""
    start = S.n_four_bar_start(2)
    more = {f"right{k}": math.pi / 2 for k in range(2)}, {f"right{k}": -1.0 for k in range(2)}
    r = sh.simulate(
        split(S.n_four_bar(2)), 4.0, q0=start["q0"] | more[0], v0=start["v0"] | more[1], method=method, output=4.0,
        rtol=1e-10, atol=1e-12, progress=False,
    )  # fmt: skip
    assert_close(r.point("rod0", (1, 0, 0))[-1], [0.1176161024, 0.9930591385, 0.0], 1e-7)
    at, v = r.coordinate("foot0")[-1], r.speed("foot0")[-1]
    assert_close([-math.sin(at) * v, math.cos(at) * v], [1.0690392650, -0.1266150492], 1e-7)


def test_six_split_four_bars_move_as_one_pendulum():
    n = 6
    inertia, weight = (n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n)
    exact = solve_ivp(
        lambda t, x: [x[1], weight / inertia * math.sin(x[0])], (0, 4), [0.0, 1.0], "DOP853", rtol=1e-12, atol=1e-13
    )
    start = S.n_four_bar_start(n)
    more = {f"right{k}": math.pi / 2 for k in range(n)}, {f"right{k}": -1.0 for k in range(n)}
    r = sh.simulate(
        split(S.n_four_bar(n)), 4.0, q0=start["q0"] | more[0], v0=start["v0"] | more[1], rtol=1e-9, atol=1e-11, output=4.0,
        progress=False,
    )  # fmt: skip
    for k in (0, n):
        tip = r.point(f"rod{k}", (1, 0, 0))[-1] - [k, 0, 0]
        assert_close(tip, [math.sin(exact.y[0, -1]), math.cos(exact.y[0, -1]), 0.0], 1e-6)
    assert r.violation.max() < 1e-12


def test_andrews_squeezing_mechanism_with_three_bodies_split():
    """The test set's own digits at 0.03 s."""
    end = {
        "beta": 15.81077119629904, "Theta": -15.75637105984298, "gamma": 0.04082224013073101, "Phi": -0.5347301163226948,
        "delta": 0.5244099658805304, "Omega": 0.5347301163226948, "epsilon": 1.048080741042263,
    }  # fmt: skip
    _, _, _, m, q, _ = both("Andrews")
    r = sh.simulate(m, 0.03, q0=q, tau={"beta": 0.033}, method="composite", output=0.03, **TIGHT)
    for joint, x in end.items():
        assert abs(r.coordinate(joint)[-1] - x) < 1e-8
    assert abs(r.energy.defect).max() < 1e-9


@pytest.mark.parametrize("method", ["composite", "separate"])
def test_bricards_mechanism_with_a_rod_split(method):
    m = split(S.bricard())
    assert m.nv == 6 and m.mobility().freedoms == 1
    r = sh.simulate(m, 2.5, method=method, output=0.5, **TIGHT)
    point = r.point("rod3")
    assert_close(point[2], [0.274481319, -0.886707939, -0.462330003], 2e-9)
    assert_close(point[-1], [-0.999983185, -1.000000000, -0.000016815], 4e-9)


def test_a_slider_crank_with_its_piston_split():
    cut, q, v, halved, q2, v2 = both("slider-crank", lambda n: np.full(n, 4.0))
    a = sh.simulate(cut, 1.0, q0=q, v0=v, output=0.1, **TIGHT)
    b = sh.simulate(halved, 1.0, q0=q2, v0=v2, output=0.1, **TIGHT)
    for joint in ("main", "crankpin", "slide"):
        assert np.abs(b.coordinate(joint) - a.coordinate(joint)).max() < 1e-9
    assert np.ptp(a.coordinate("slide")) > 0.1


@pytest.mark.parametrize("form", FORMS)
def test_the_forms_move_a_split_mechanism_as_they_do_a_cut_one(form):
    a = sh.simulate(S.bricard(), 0.05, method="composite", output=0.05, rtol=1e-6, progress=False)
    b = sh.simulate(split(S.bricard()), 0.05, method=form, output=0.05, rtol=1e-6, progress=False)
    for joint in ("hinge1", "hinge5"):
        assert_close(b.coordinate(joint), a.coordinate(joint), 1e-8)
