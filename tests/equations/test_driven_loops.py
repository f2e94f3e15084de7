"""Forces for a given motion of closed mechanisms: by the motors there are, by drives, and what the joints bear meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from loop_models import STARTS, placed
from states import assert_close, derivative, interpreted

S = sh.samples
MOTORS = {
    "four-bar": [["A"], ["B"], ["C"], ["A", "C"]],
    "three four-bars": [["foot0"], ["foot3"], ["left1", "foot2"]],
    "slider-crank": [["main"], ["slide"]],
    "Andrews": [["beta"], ["Theta"]],
    "Bricard": [["hinge1"], ["hinge5"], ["hinge2", "hinge3", "hinge4"]],
    "governor with rods": [["shaft", "slide"], ["shaft", "left hinge"]],
    "planetary gear": [["sun", "ring"], ["carrier", "planet1"]],
    "rolling disc": [["disc float"]],
    "car axis": [["l.y", "r.y"], ["l", "r"]],
}


def moving(name, seed=0):
    """A state on the constraints, and accelerations of it under some forces."""
    m, q, v = placed(name, seed)
    d = interpreted(m, "composite")
    return m, d, q, v, d.forward(q, v, 0.1 * np.random.default_rng(seed).normal(size=m.nv))


# --- motors -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", STARTS)
def test_motors_that_suffice_give_the_motion(name):
    m, d, q, v, a = moving(name)
    least = d.inverse(q, v, a)
    J = d.constrained.table.evaluate(q, v, 0.0)["J"]
    allowed = (np.eye(m.nv) - np.linalg.pinv(J, rcond=1e-9) @ J) @ np.random.default_rng(1).normal(size=(m.nv, 5))
    for motors in MOTORS[name]:
        tau = d.inverse(q, v, a, actuated=motors)
        idle = [k for k, full in enumerate(m.v_names) if full not in motors and full.split(".")[0] not in motors]
        assert not tau[idle].any()
        size = max(1.0, np.abs(tau).max())
        assert_close(d.forward(q, v, tau), a, 1e-7, scale=1.0, what=f"{motors}")
        assert np.abs(allowed.T @ (tau - least)).max() < 1e-9 * size  # the same work in every motion the constraints allow
        assert least @ least <= tau @ tau * (1.0 + 1e-12)


def test_all_joints_as_motors_are_the_default():
    m, d, q, v, a = moving("Bricard")
    assert_close(d.inverse(q, v, a, actuated=m.v_names), d.inverse(q, v, a), 1e-9)


def test_more_motors_than_freedoms_share_the_work_by_least_squares():
    _, d, q, v, a = moving("four-bar")
    both = d.inverse(q, v, a, actuated=["A", "C"])
    for one in ("A", "C"):
        alone = d.inverse(q, v, a, actuated=[one])
        assert both @ both < alone @ alone
        assert abs((alone - both) @ both) < 1e-9 * (alone @ alone)  # the least is square to what it could be exchanged for


def test_the_legs_of_a_stewart_platform():
    """Six legs, six freedoms: any motion of the platform, by compiled code and for a batch."""
    m = S.stewart()
    legs = [f"leg{k}" for k in range(6)]
    q, v = m.assemble(None, 0.3 * np.random.default_rng(2).normal(size=m.nv))
    d = interpreted(m, "composite")
    a = d.forward(q, v, m.speeds({f"leg{k}": 50.0 + k for k in range(6)}))
    tau = d.inverse(q, v, a, actuated=legs)
    assert_close([tau[m.v_slice(leg)][0] for leg in legs], 50.0 + np.arange(6), 1e-8)
    many = sh.Dynamics(m, "composite").inverse(np.tile(q, (3, 1)), np.tile(v, (3, 1)), np.tile(a, (3, 1)), actuated=legs)
    assert_close(many, np.tile(tau, (3, 1)), 1e-10)


def test_a_motion_the_motors_cannot_give_is_refused_with_the_freedom_they_miss():
    _, d, q, v, a = moving("planetary gear")
    with pytest.raises(sh.StateError, match=r"joints \('sun'\) cannot produce this motion: .* needs a force of") as caught:
        d.inverse(q, v, a, actuated=["sun"])
    assert "'ring'" in str(caught.value)
    with pytest.raises(sh.StateError, match=r"\(none\) cannot produce this motion"):
        d.inverse(q, v, a, actuated=[])
    natural = d.forward(q, v)
    assert not d.inverse(q, v, natural, actuated=[]).any()  # what moves by itself needs no motor
    both = np.array([natural, a])
    with pytest.raises(sh.StateError, match="state 1: the actuated joints"):
        d.inverse(q, v, both, actuated=["sun"])
    tree = sh.Dynamics(S.chain(3), backend="python")
    x = np.array([0.1, 0.2, 0.3])
    with pytest.raises(sh.StateError, match="cannot produce this motion"):
        tree.inverse(x, x, x, actuated=[tree.model.v_names[0]])
    free = tree.forward(x, x)
    assert np.abs(tree.inverse(x, x, free, actuated=[])).max() < 1e-9
    assert_close(tree.inverse(x, x, x, actuated=tree.model.v_names), tree.inverse(x, x, x), 1e-14)


def test_motors_are_named_by_joints_of_the_tree():
    _, d, q, v, a = moving("four-bar")
    with pytest.raises(sh.ModelError, match=r"no joint 'D' in the tree; it closes a loop and is cut"):
        d.inverse(q, v, a, actuated=["D"])
    with pytest.raises(sh.MethodError, match="expected names, a list; got 'A'"):
        d.inverse(q, v, a, actuated="A")
    m = engine()
    with pytest.raises(sh.MethodError, match="joint 'main' has no speed of its own, its motion is given"):
        interpreted(m).inverse(*m.assemble({"crankpin": -0.56}, nearest=True), np.zeros(2), actuated=["main"])


@pytest.mark.parametrize("backend", ["python", "llvm"])
def test_accelerations_that_break_a_constraint_are_refused(backend):
    m, _, q, v, a = moving("four-bar")
    d = sh.Dynamics(m, "composite", backend=backend)
    inconsistent = a + m.speeds({"A": 0.3})
    J = d.constrained.table.evaluate(q, v, 0.0)["J"]
    gap = np.abs(J @ m.speeds({"A": 0.3})).max()
    for ask in (d.inverse, d.inverse_reactions):
        message = rf"^a does not satisfy the constraints: joint 'D': position along . would be violated by {gap:.3g} m/s²"
        with pytest.raises(sh.StateError, match=message):
            ask(q, v, inconsistent)
        with pytest.raises(sh.StateError, match="state 1: a does not satisfy the constraints"):
            ask(q, v, np.array([a, inconsistent, a]), actuated=["A"])


# --- what the joints bear -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", STARTS)
def test_reactions_of_a_motion_are_those_of_the_forces_that_make_it(name):
    m, d, q, v, a = moving(name)
    motors = MOTORS[name][0]
    tau = d.inverse(q, v, a, actuated=motors)
    R = d.inverse_reactions(q, v, a, actuated=motors)
    size = max(1.0, np.abs(R).max())
    assert_close(R, d.reactions(q, v, tau), 1e-6, scale=size)
    closing, expected = d.inverse_closing_reactions(q, v, a, actuated=motors), d.closing_reactions(q, v, tau)
    x, left = sh.matrices(m, q, v, 0.0), np.zeros((len(m.bodies), 6))
    for constraint, bodies in closing.items():
        for body, wrench in bodies.items():
            assert_close(wrench, expected[constraint][body], 1e-6, scale=size)
            left[m.body_index(body)] += wrench
    vdot = x.B @ a + x.psi
    assert_close(x.M @ vdot, x.S.T @ R.ravel() + x.F + left.ravel(), 1e-9, scale=size)  # every body is in balance


def test_forces_that_are_not_determined_are_shared():
    """Two hinges on one axis bear half each, whatever the motion."""
    m = sh.Model("door", gravity=(0.0, 0.0, -10.0))
    m.add_body("door", mass=2.0, com=(0.4, 0, 0), inertia=(0.1, 0.1, 0.1))
    m.add_joint("hinge", sh.Free(), "ground", "door")
    for name in ("upper", "lower"):
        m.add_joint(name, sh.Revolute("z"), "ground", "door", cut=True)
    q, v = m.assemble(None, {"hinge": (0, 0, 0, 0, 0, 2.0)})
    d = interpreted(m, "composite")
    a = d.forward(q, v)
    found = d.inverse_closing_reactions(q, v, a, actuated=[])
    assert_close(found["upper"]["door"], found["lower"]["door"], 1e-9)
    assert_close(found["upper"]["door"][:3], [-0.5 * 2.0 * 0.4 * 4.0, 0, 0.5 * 20.0], 1e-8)
    assert np.abs(d.inverse_reactions(q, v, a, actuated=[])).max() < 1e-8  # the free joint of the tree bears nothing


# --- drives -------------------------------------------------------------------------------------------------------------------
def turning(t):
    return 0.4 + 3.0 * t + 0.5 * sh.sin(2.0 * t)


def engine(cut="wristpin"):
    """A slider-crank whose crank is driven in time: no freedom is left."""
    m = sh.Model("engine", gravity=(0.0, -9.81, 0.0))
    m.add_body("crank", mass=1.0, shape=sh.Rod((0, 0, 0), (0.2, 0, 0)))
    m.add_body("rod", mass=2.0, shape=sh.Rod((0, 0, 0), (0.5, 0, 0)))
    m.add_body("piston", mass=0.5, inertia=(0.01, 0.01, 0.01))
    m.add_joint("main", sh.Revolute("z", motion=turning), "ground", "crank", cut=cut == "main")
    m.add_joint("crankpin", sh.Revolute("z"), "crank", "rod", at=sh.Pose((0.2, 0, 0)))
    m.add_joint("slide", sh.Prismatic("x"), "ground", "piston", at=sh.Pose((0.7, 0, 0)))
    m.add_joint("wristpin", sh.Revolute("z"), "rod", "piston", at=sh.Pose((0.5, 0, 0)), cut=cut == "wristpin")
    return m


def there(m, t):
    """Where the mechanism is: assembled at the exact position."""
    angle = 0.4 + 3.0 * t + 0.5 * np.sin(2.0 * t)
    rod = -np.arcsin(0.4 * np.sin(angle))
    exact = {"crankpin": rod - angle, "wristpin": -rod, "slide": 0.2 * np.cos(angle) + 0.5 * np.cos(rod) - 0.7}
    return m.assemble({joint.name: exact[joint.name] for joint in m.joints if joint.name in exact}, None, t)


def gas(m):
    """A pressure on the piston."""
    w = np.zeros((3, 6))
    w[m.body_index("piston"), 0] = -40.0
    return w


@pytest.mark.parametrize("cut", ["wristpin", "main"])
def test_the_moment_of_a_drive_by_the_power_it_needs(cut):
    """Nothing is left to move freely: M ω = d(T + V)/dt + the power given to the gas, at every moment."""
    m, t0 = engine(cut), 0.3
    d = interpreted(m, "composite")
    kept = {}

    def state(t):
        if t not in kept:
            kept[t] = there(m, t)
        return kept[t]

    def energy(t):
        return sum(d.energy(*state(t), t))

    q, v = state(t0)
    assert m.mobility(q, t0).freedoms == 0
    rate, w = 3.0 + np.cos(2.0 * t0), gas(m)
    slide = d.body_velocities(q, v, t0)[m.body_index("piston"), 0]
    power = derivative(lambda x: energy(t0 + x)) + 40.0 * slide
    a = d.forward(q, v, t=t0, wrenches=w)
    assert_close(derivative(lambda x: state(t0 + x)[1]), a, 1e-8)  # the motion is that of the drive
    for R, closing in (
        (d.reactions(q, v, t=t0, wrenches=w), d.closing_reactions(q, v, t=t0, wrenches=w)),
        (d.inverse_reactions(q, v, a, t0, w, []), d.inverse_closing_reactions(q, v, a, t0, w, [])),
    ):
        moment = closing["main"]["crank"][5] if cut == "main" else R[m.body_index("crank"), 5]
        assert_close(moment * rate, power, 1e-8)
    if cut == "wristpin":
        assert_close(d.inverse(q, v, a, t0, w), np.zeros(m.nv), 1e-9, scale=40.0)  # there is no freedom to push in


@pytest.mark.parametrize("method", ["composite", "separate", "extended", "maggi"])
def test_cutting_the_driven_joint_or_another_makes_no_difference(method):
    """What every joint does to every body, whichever joint is in the tree, by compiled code and by the forms."""
    t, found = 0.3, []
    for cut in ("wristpin", "main"):
        m = engine(cut)
        d = sh.Dynamics(m, method)
        q, v = there(m, t)
        solved = d.solve(q, v, t=t, wrenches=gas(m))
        closing = d.closing_reactions(q, v, t=t, wrenches=gas(m))[cut]
        crank, piston = m.body_index("crank"), m.body_index("piston")
        found.append((closing["crank"] if cut == "main" else solved.R[crank], solved.vdot[crank], solved.vdot[piston]))
        if cut == "wristpin":  # Newton along the guide: the gas, and the rod
            assert_close(0.5 * solved.vdot[piston][0], -40.0 + closing["piston"][0], 1e-9, scale=40.0)
    for first, second in zip(*found, strict=True):
        assert_close(first, second, 1e-8)


def test_a_batch_of_driven_states_in_time():
    m = engine()
    d, one = sh.Dynamics(m, "composite"), interpreted(m, "composite")
    times = np.linspace(0.0, 2.0, 9)
    states = [there(m, t) for t in times]
    q, v = (np.array([s[k] for s in states]) for k in range(2))
    a = d.forward(q, v, t=times)
    R = d.inverse_reactions(q, v, a, times, actuated=[])
    for b, t in enumerate(times):
        assert_close(R[b], one.reactions(q[b], v[b], t=t), 1e-8)
    assert d.inverse_reactions(q[:0], v[:0], a[:0], times[:0]).shape == (0, 3, 6)
