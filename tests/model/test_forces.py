"""Forces: each is what its formula says, does the work its energy loses, and is the same by every method and backend."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sharnir as sh
from force_models import ALL, AT, CONSERVATIVE, DISSIPATIVE, HALF, ON, mechanism, with_forces
from mechanisms import hinged
from sharnir.forms import FORMS
from states import assert_close, derivative, random_state


def flow(model, s):
    """The state a little later, moving on at the present speeds; states of forces at their rates."""
    d = sh.Dynamics(model, backend="python")
    rate, change = d.rates(*s.motion), d.state_rates(*s.motion)

    def later(h):
        states = {name: x + h * dx for (name, x), dx in zip(model.states.items(), change, strict=True)}
        return {"q": s.q + h * rate, "v": s.v, "t": s.t + h, "parameters": states or None}

    return later


# --- energy and power -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CONSERVATIVE)
def test_the_power_of_a_conservative_force_is_what_its_energy_loses(name):
    model = mechanism(CONSERVATIVE[name])
    d = sh.Dynamics(model, backend="python")
    for seed in range(3):
        s = random_state(model, seed)
        later = flow(model, s)
        loss = derivative(lambda h, later=later: d.force_energies(**later(h))[0], 1e-3)
        power = float(d.force_powers(*s.motion)[0])
        assert_close(power, -loss, 1e-7, scale=1.0)


@pytest.mark.parametrize("name", DISSIPATIVE)
def test_a_dissipative_force_takes_energy_and_stores_none_but_in_its_states(name):
    model = mechanism(DISSIPATIVE[name])
    d = sh.Dynamics(model, backend="python")
    for seed in range(4):
        s = random_state(model, seed)
        later = flow(model, s)
        stored = derivative(lambda h, later=later: d.force_energies(**later(h))[0], 1e-3) if model.states else 0.0
        assert float(d.force_powers(*s.motion)[0]) + stored < 0.0
    assert model.states or not d.force_energies(*random_state(model).motion).any()


@pytest.mark.parametrize("name", ALL)
def test_the_power_of_a_force_is_its_generalised_force_times_the_speeds(name):
    """With a base at rest and nothing driven: P = v·Q, Q the part of τ that the force spares."""
    model, bare = at_rest(ALL[name]), at_rest()
    s = random_state(model, 3)
    with_force, without = (sh.Dynamics(m, backend="python").bias(*s.motion) for m in (model, bare))
    power = float(sh.Dynamics(model, backend="python").force_powers(*s.motion)[0])
    assert_close(power, s.v @ (without - with_force), 1e-10, scale=1.0)


def at_rest(*forces):
    m = sh.Model("at rest")
    for k, name in enumerate("abc"):
        m.add_body(name, 1.0 + 0.2 * k, (0.1, 0.2, 0.3 * k), (0.3, 0.4, 0.5))
    m.add_joint("hinge", sh.Revolute("y"), "ground", "a")
    m.add_joint("slider", sh.Prismatic("x"), "a", "b", at=HALF)
    m.add_joint("ball", sh.Ball(), "a", "c", at=sh.Pose((0.0, 0.5, 0.0)))
    return with_forces(m, forces)


def test_a_force_between_two_bodies_changes_no_momentum():
    """Action and reaction: two free bodies, their momentum and angular momentum stay."""
    m = sh.Model("two", gravity=(0.0, 0.0, 0.0))
    for name in "ac":
        m.add_body(name, 2.0, (0.1, 0.2, 0.3), (0.3, 0.4, 0.5))
        m.add_floating(name)
    bare = m.copy()
    for name in ("spring between bodies", "bushing", "bushing damper", "contact", "contact with a box"):
        m.add_force(ALL[name])
    s = random_state(m)
    Q = sh.Dynamics(bare, backend="python").bias(*s.motion) - sh.Dynamics(m, backend="python").bias(*s.motion)
    R, r = sh.Dynamics(m, backend="python").poses(s.q)
    force = [R[i] @ Q[6 * i : 6 * i + 3] for i in range(2)]
    moment = [R[i] @ Q[6 * i + 3 : 6 * i + 6] + np.cross(r[i], force[i]) for i in range(2)]
    assert np.abs(force[0]).max() > 1.0
    assert_close(force[0] + force[1], np.zeros(3), 1e-12, scale=10.0)
    assert_close(moment[0] + moment[1], np.zeros(3), 1e-12, scale=10.0)


# --- formulas -----------------------------------------------------------------------------------------------------------------
def test_a_spring_is_the_wrenches_worked_out_by_hand():
    model, bare = mechanism(sh.SpringDamper("a", "b", AT, ON, 30.0, 2.0, 0.4)), mechanism()
    s = random_state(model)
    d = sh.Dynamics(bare, backend="python")
    R, r = d.poses(s.q, s.t)
    u = d.body_velocities(*s.motion)
    ends = []
    for body, at in (("a", AT), ("b", ON)):
        i = bare.body_index(body)
        ends.append((r[i] + R[i] @ at, R[i] @ (u[i, :3] + np.cross(u[i, 3:], at)), i, at, R[i]))
    line, rate = ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]
    length = np.linalg.norm(line)
    pull = (30.0 * (length - 0.4) + 2.0 * rate @ line / length) * line / length
    wrenches = s.wrenches.copy()
    for sign, (_, _, i, at, Ri) in zip((1.0, -1.0), ends, strict=True):
        wrenches[i] += np.concatenate([sign * Ri.T @ pull, np.cross(at, sign * Ri.T @ pull)])
    wanted = d.forward(s.q, s.v, s.tau, s.t, wrenches)
    assert_close(sh.Dynamics(model, backend="python").forward(s.q, s.v, s.tau, s.t, s.wrenches), wanted, 1e-12)


def test_joint_options_act_by_themselves():
    model, bare = mechanism(damping=0.7, stiffness=5.0, rest=0.2), mechanism()
    s = random_state(model)
    tau = s.tau.copy()
    tau[bare.v_slice("hinge")] += -0.7 * s.v[bare.v_slice("hinge")] - 5.0 * (s.q[bare.q_slice("hinge")] - 0.2)
    d, plain = sh.Dynamics(model, backend="python"), sh.Dynamics(bare, backend="python")
    assert_close(d.forward(s.q, s.v, s.tau, s.t), plain.forward(s.q, s.v, tau, s.t), 1e-12)
    assert d.force_names == ["joint 'hinge': spring and damper"]
    assert_close(d.force_energies(*s.motion), [2.5 * (s.q[bare.q_slice("hinge")][0] - 0.2) ** 2], 1e-12)
    kinetic, potential = d.energy(*s.motion)
    assert_close([kinetic, potential - d.force_energies(*s.motion).sum()], plain.energy(*s.motion), 1e-12)


@pytest.mark.parametrize(("depth", "force"), [(-0.1, 0.0), (0.4, 50.0 * 0.4 / 2), (1.4, 50.0 * (1.4 - 0.2))])
def test_a_stop_comes_in_smoothly(depth, force):
    m = sh.Model("slider", gravity=(0, 0, 0))
    m.add_body("a", 2.0)
    m.add_joint("x", sh.Prismatic("x", limits=(-9.0, 1.0)), "ground", "a")
    m.add_force(sh.JointStop("x", stiffness=50.0, damping=0.0, onset=0.4))
    assert_close(sh.Dynamics(m, backend="python").forward([1.0 + depth], [0.0]), [-force / 2.0], 1e-12, scale=1.0)


@pytest.mark.parametrize("integrator", ["auto", "dopri5", "radau"])
@pytest.mark.parametrize("damping", [10.0, 100.0])
def test_the_work_of_a_damped_stop_converges_with_the_tolerance(damping, integrator):
    """Its spring relaxes while it pushes nothing: no error of the motion tells of that."""
    m = hinged(sh.JointStop("hinge", low=-1.0, stiffness=1e4, damping=damping, onset=1e-3))
    for rtol in (1e-6, 1e-9):
        r = sh.simulate(m, 1.0, q0=[0.5], rtol=rtol, atol=1e-2 * rtol, integrator=integrator, output=[1.0])
        assert r.energy.work["JointStop 1"][-1] < -1.0 and np.abs(r.energy.defect).max() < 2e3 * rtol


def test_a_stop_does_not_hold_back_what_leaves_it():
    m = sh.Model("slider", gravity=(0, 0, 0))
    m.add_body("a", 2.0)
    m.add_joint("x", sh.Prismatic("x"), "ground", "a")
    m.add_force(sh.JointStop("x", high=0.0, stiffness=10.0, damping=100.0, onset=0.1))
    assert sh.Dynamics(m, backend="python").forward([0.2], [-5.0])[0] == 0.0


def test_a_saturated_motor_gives_its_limit():
    m = sh.Model("motor", gravity=(0, 0, 0))
    m.add_body("a", 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("z", sh.Revolute("z", effort=3.0), "ground", "a")
    m.add_force(sh.Motor("z", kp=100.0, target=1.0))
    d = sh.Dynamics(m, backend="python")
    assert d.forward([0.0], [0.0])[0] == 3.0 and d.forward([2.0], [0.0])[0] == -3.0
    assert_close(d.forward([0.99], [0.0]), [1.0], 1e-12)


def test_points_that_meet_pull_nowhere():
    m = sh.Model("meet", gravity=(0, 0, 0))
    m.add_body("a", 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_floating("a")
    m.add_force(sh.SpringDamper("ground", "a", stiffness=10.0, damping=1.0))
    m.add_force(sh.Drag("a", quadratic=1.0))
    assert not sh.Dynamics(m).forward().any()


def test_the_pull_of_the_earth_is_newtons():
    m = sh.Model("satellite", gravity=(0, 0, 0))
    m.add_body("a", 5.0, inertia=(1.0, 2.0, 2.5))
    m.add_floating("a")
    m.add_force(sh.PointGravity(gradient=False))
    acceleration = sh.Dynamics(m).forward({"a float": (7.0e6, 0, 0, 1, 0, 0, 0)})
    assert_close(acceleration, [-3.986004418e14 / 7.0e6**2, 0, 0, 0, 0, 0], 1e-12)


# --- one answer by every method, form and backend -------------------------------------------------------------------------
def everything(armature=0.0):
    return mechanism(*ALL.values(), lambda on: on.push("d", (0.0, 0.0, on.q("hinge") * on.t)), armature=armature, damping=0.3)


@pytest.mark.parametrize("armature", [0.0, 0.7])
def test_every_method_and_form_feels_the_same_forces(armature):
    model = everything(armature)
    s = random_state(model)
    X = sh.matrices(model, s.q, s.v, s.t, s.wrenches)
    wanted = FORMS["extended"](X, s.tau)
    for name, solve in FORMS.items():
        if armature and name in ("lagrange1", "lagrange1-banded"):  # they are those of [I]; (3.8) has rotors
            with pytest.raises(sh.MethodError, match="rotors"):
                solve(X, s.tau)
            continue
        found = solve(X, s.tau)
        assert_close(found.qdd, wanted.qdd, 1e-10, what=name)
        assert_close(found.R, wanted.R, 1e-10, what=name)
    for method in sh.methods():
        if method.name == "momentum":
            continue
        d = sh.Dynamics(model, method.name, backend="python")
        assert_close(d.forward(s.q, s.v, s.tau, s.t, s.wrenches), wanted.qdd, 1e-10, what=method.name)
        assert_close(d.reactions(s.q, s.v, s.tau, s.t, s.wrenches), wanted.R, 1e-9, what=method.name)
        assert_close(d.inverse(s.q, s.v, wanted.qdd, s.t, s.wrenches), s.tau, 1e-9, scale=100.0)
    d = sh.Dynamics(model, backend="python")
    p = d.momenta(*s.motion)
    assert_close(d.velocities(s.q, p, s.t), s.v, 1e-10)
    assert_close(d.mass_matrix(s.q, s.t) @ wanted.qdd + d.bias(*s.motion, s.wrenches), s.tau, 1e-9, scale=100.0)


@pytest.mark.parametrize("backend", ["llvm", pytest.param("loops", marks=pytest.mark.xdist_group("loops"))])
def test_compiled_forces_are_the_interpreted_ones(backend):
    model = everything(0.4)
    rng = np.random.default_rng(3)
    q, v = np.array([model.random_q(rng) for _ in range(7)]), rng.normal(size=(7, model.nv))
    d, plain = sh.Dynamics(model, "separate", backend), sh.Dynamics(model, "separate", "python")
    for question in ("forward", "force_energies", "force_powers"):
        arguments = (q, v, None, 0.7) if question == "forward" else (q, v, 0.7)
        assert_close(getattr(d, question)(*arguments), getattr(plain, question)(*arguments), 1e-11)
    assert_close(d.inverse(q, v, v, 0.7), plain.inverse(q, v, v, 0.7), 1e-11)
    assert_close(np.array(d.energy(q, v, 0.7)), np.array(plain.energy(q, v, 0.7)), 1e-11)


def test_a_rotor_adds_to_the_diagonal_and_to_the_energy():
    model, bare = mechanism(armature=0.7), mechanism()
    s = random_state(model)
    d, plain = sh.Dynamics(model, backend="python"), sh.Dynamics(bare, backend="python")
    rotor = np.full(model.nv, 0.7)
    rotor[model.v_slice("slider")] = 0.0
    for method in ("composite", "direct", "stepanenko", "recursive", "kosynka"):
        M = sh.Dynamics(model, method, backend="python").mass_matrix(s.q, s.t)
        assert_close(M, plain.mass_matrix(s.q, s.t) + np.diag(rotor), 1e-12)
    assert_close(d.energy(*s.motion)[0], plain.energy(*s.motion)[0] + 0.5 * rotor @ s.v**2, 1e-12)


def test_what_forces_do_one_by_one_is_what_they_do_together():
    model, bare = everything(), mechanism(damping=0.3)
    s = random_state(model)
    d = sh.Dynamics(model, backend="python")
    actions = d.force_actions(*s.motion)
    assert list(actions) == d.force_names
    wrenches, tau = s.wrenches.copy(), s.tau.copy()
    for name, action in actions.items():
        if name in sh.Dynamics(bare, backend="python").force_names:
            continue
        for place, x in action.items():
            if place in [b.name for b in model.bodies]:
                wrenches[model.body_index(place)] += x
            else:
                tau[model.v_slice(place)] += x
    wanted = d.forward(s.q, s.v, s.tau, s.t, s.wrenches)
    assert_close(sh.Dynamics(bare, backend="python").forward(s.q, s.v, tau, s.t, wrenches), wanted, 1e-10)
    several = d.force_actions(np.array([s.q, s.q]), np.array([s.v, 0.0 * s.v]), s.t)
    for name, action in actions.items():
        for place, x in action.items():
            assert_close(several[name][place][0], x, 1e-12, scale=1e-6, what=name)


def test_a_simulated_spring_reports_its_force():
    m = sh.Model("spring", gravity=(0.0, 0.0, 0.0))
    m.add_body("a", 1.0)
    m.add_joint("x", sh.Prismatic("x", damping=0.1), "ground", "a")
    m.add_parameter("k", 4.0)
    m.add_force(lambda on: on.push("a", (-on.parameter("k") * on.q("x"), 0.0, 0.0)), name="spring")
    double = sh.Event(lambda on: on.t - 0.5, lambda moment: moment.parameters.update(k=8.0))
    r = sh.simulate(m, 1.0, q0=[1.0], events=[double], output=0.1)
    k = np.where(r.t < 0.5, 4.0, 8.0)
    assert_close(r.force("spring")["a"][:, 0], -k * r.coordinate("x"), 1e-12)
    assert_close(r.force("joint 'x': spring and damper")["x"][:, 0], -0.1 * r.speed("x"), 1e-12)
    with pytest.raises(sh.StateError, match="no force 'nothing'; the forces are"):
        r.force("nothing")


def test_one_coordinate_of_several_is_called_by_its_name():
    def arm(*forces):
        m = sh.Model("arm")
        m.add_body("a", 1.0, (0.1, 0.2, 0.3), (0.3, 0.4, 0.5))
        parts = {"swing": sh.Revolute("x", limits=(-1.0, 0.1), friction=2.0), "lift": sh.Prismatic("z")}
        m.add_joint("hip", sh.Compound(parts), "ground", "a")
        m.acting = "motion"
        for force in forces:
            m.add_force(force)
        return sh.Dynamics(m, backend="python")

    forces = [
        sh.Motor("hip.lift", kp=3.0, target=1.0), sh.JointStop("hip.swing", stiffness=10.0, damping=0.0, onset=1e-6),
        sh.JointFriction("hip.swing", slip=1e-6), sh.JointSpring("hip.lift", damping=0.5),
    ]  # fmt: skip
    q, v = np.array([0.3, 0.2]), np.array([0.4, 0.5])
    load = arm().bias(q, v) - arm(*forces).bias(q, v)
    assert_close(load, [-10.0 * (0.2 - 0.5e-6) - 2.0, 3.0 * 0.8 - 0.5 * 0.5], 1e-12)
    with pytest.raises(sh.ModelError, match=r"no joint 'hip.nose'"):
        arm(sh.Motor("hip.nose"))


# --- words about mistakes -------------------------------------------------------------------------------------------------------
def test_what_cannot_be_traced_says_which_line_and_why():
    def heavy(on):
        if on.q("hinge") > 0.0:
            on.push("b", (0.0, 0.0, 1.0))

    with pytest.raises(sh.TraceError, match=r"force 'heavy' cannot be traced at .*test_forces.py:\d+: if on.q\(") as found:
        sh.Dynamics(mechanism(heavy))
    assert "select" in str(found.value)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: mechanism(sh.SpringDamper("a", "nobody", stiffness=1.0)), "no body 'nobody'"),
        (lambda: mechanism(sh.Motor("nothing")), "no joint 'nothing'"),
        (lambda: sh.SpringDamper("a", "a"), "both ends are on 'a'"),
        (
            lambda: sh.SpringDamper("a", "b", stiffness=-1.0),
            "spring-damper: stiffness: expected a number of at least 0, got -1.0",
        ),
        (lambda: sh.SpringDamper("a", "b", damping=math.nan), "damping"),
        (
            lambda: sh.Bushing("a", "b", stiffness=np.ones((3, 3))),
            "bushing: stiffness: expected one number or 6 numbers or 6×6 numbers",
        ),
        (lambda: sh.Bushing("a", "b", stiffness=-1.0), "must be symmetric and positive semidefinite"),
        (lambda: sh.BrushTyre("a", 1.0, of="a"), "wheel and road are both 'a'"),
        (lambda: sh.Dynamics(mechanism(sh.Tyre("a", 1.0))), "a subclass of Tyre that defines forces(slip, n)"),
        (lambda: mechanism(7), "a force is a sharnir.Force or a function"),
        (lambda: sh.Dynamics(mechanism(sh.JointStop("hinge"))), "specify low=…, high=…, or the joint's own option `limits`"),
        (lambda: sh.Dynamics(mechanism(sh.JointStop("ball", 0.0, 1.0))), "needs one coordinate"),
        (lambda: sh.Dynamics(mechanism(sh.JointFriction("hinge"))), "specify coulomb=…, or the joint's own option `friction`"),
        (lambda: sh.Dynamics(mechanism(sh.JointSpring("driven", (1.0, 2.0)))), "expected one number or 1, got 2"),
        (lambda: sh.Dynamics(mechanism(lambda on: on.torque("ball", 1.0))), "takes 3 forces, got 1"),
        (lambda: sh.Dynamics(mechanism(lambda on: "heavy")), "must return numbers"),
        (
            lambda: sh.Dynamics(mechanism(armature=-1.0)),
            "revolute joint: armature: expected a number of at least 0, got -1.0",
        ),
        (lambda: sh.Dynamics(mechanism(armature=(1.0, 2.0))), "armature: expected one number or 1"),
        (lambda: sh.Wrench("a", axes="moon"), "wrench: axes: expected 'world' or 'body', got 'moon'"),
    ],
)
def test_mistakes_are_named(make, says):
    with pytest.raises(sh.SharnirError) as found:
        make()
    assert says in str(found.value)


def test_names_of_forces_differ():
    m = mechanism()
    m.add_force(sh.Drag("a", 1.0), name="air")
    with pytest.raises(sh.ModelError, match="there is a force 'air' already"):
        m.add_force(sh.Drag("b", 1.0), name="air")
    assert list(m.forces) == ["air"]
