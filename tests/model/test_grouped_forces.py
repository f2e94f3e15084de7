"""Forces in groups of one shape do what each of them does by itself, and cost no more code when there are thousands."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from sharnir.backends.grouped_forces import GroupedForces
from sharnir.backends.loops import grouped_forces
from sharnir.backends.run import run_program
from sharnir.dialect.cache import Cache
from sharnir.equations.motion.account import not_conservative
from sharnir.model.motion import Motion
from sharnir.programs import PROGRAMS
from sharnir.trace import Expression, Graph, tangent
from states import assert_close
from work import counted

LAW, TURNED = (lambda x, rate: 3.0 * x * x * x + rate), sh.formula("2*x - 0.5*v", "x", "v")


def some_forces(rng, bodies, joints, axes):
    """Every type of force, between bodies and in joints drawn at random."""

    def point():
        return tuple(rng.normal(size=3) * rng.integers(0, 2, size=3))

    def pose():
        return sh.Pose(rng.normal(size=3).tolist(), sh.Rotation.quaternion(*rng.normal(size=4).tolist()))

    def two():
        return rng.choice(["ground", *bodies], 2, replace=False).tolist()

    one, joint, axis = rng.choice(bodies), rng.choice(joints), rng.choice(axes)
    k, c, d = rng.uniform(0.5, 2.0, 3).tolist()
    yield sh.SpringDamper(*two(), point(), point(), stiffness=k, damping=c * rng.integers(0, 2), length=0.3)
    yield sh.SpringDamper(*two(), point(), point(), law=LAW)
    yield sh.JointSpring(joint, stiffness=k, damping=c * rng.integers(0, 2))
    yield sh.JointSpring(axis, damping=c)
    yield sh.JointSpring(axis, law=TURNED)
    yield sh.Bushing(*two(), pose(), pose(), stiffness=np.diag(rng.uniform(1.0, 2.0, 6)) + 0.1 * rng.integers(0, 2), damping=c)
    yield sh.JointStop(axis, low=-0.2 * k, high=0.3 * c, stiffness=50.0, damping=d, onset=0.4)
    yield sh.JointFriction(joint, coulomb=k, static=k + c * rng.integers(0, 2), viscous=0.1)
    yield sh.Drag(one, linear=k, quadratic=c, angular=d, at=point(), wind=point())
    yield sh.Motor(axis, kp=k, kd=c, target=lambda t: sh.sin(t), limit=d if rng.integers(0, 2) else None)
    yield sh.Motor(axis, torque=k, target_speed=c, kd=d, limit=d, soft=True)
    yield sh.Wrench(one, point(), moment=lambda t: (t, 0.0, c), at=point(), axes="body")
    yield sh.Wrench(one, lambda t, on: on.pose(one).position, point(), at=point())


def crowd(seed=0, n=24, rounds=5):
    """A random tree with joints that are driven, that follow, that have formulas of their own; and many forces."""
    rng = np.random.default_rng(seed)
    m = sh.samples.all_joints(seed)
    m.add_parameter("gain", 1.5)
    for k in range(n):
        m.add_body(f"more{k}", 1.0 + 0.1 * k, (0.1, 0.2, 0.0), (0.3, 0.4, 0.5))
        kind = [sh.Revolute("z", damping=0.1 * k), sh.Ball(stiffness=0.2), sh.Prismatic("x", stiffness=1.0 + k, rest=0.2)][k % 3]
        m.add_joint(f"to more{k}", kind, "ground" if k < 3 else f"more{k - 3}", f"more{k}", at=sh.Pose((0.1, 0.0, 0.3)))
    m.add_body("led", 1.0, (0.1, 0.0, 0.0), (0.1, 0.1, 0.1))
    m.add_joint("following", sh.Revolute("y", damping=0.2, stiffness=3.0), "more0", "led")
    m.couple("following", "to more0", ratio=-2.0, offset=0.3)
    bodies = [f"more{k}" for k in range(n)]
    axes = [f"to more{k}" for k in range(n) if k % 3 != 1]
    for _ in range(rounds):
        for force in some_forces(rng, bodies, [f"to more{k}" for k in range(n)], axes):
            m.add_force(force)
    for joint in [joint for joint in m.parts.joints if joint.name.startswith("joint") and joint.nv]:
        if not {"qw", "x"} <= set(joint.q_names):
            m.add_force(sh.JointSpring(joint.name, stiffness=1.5, damping=0.3))
        m.add_force(lambda on, name=joint.name: on.push("ground") or 0.5 * sum(x * x for x in np.atleast_1d(on.q(name))))
    m.add_force(sh.PointGravity(mu=50.0, centre=(0.0, 1.0, -9.0)))
    for body, k in zip(bodies[:6], rng.uniform(size=6).tolist(), strict=True):
        m.add_force(lambda on, body=body, k=k: on.push(body, (0.0, k * on.parameter("gain"), on.v("to more0"))))
    return m


def motion_of(model, states=3, seed=1):
    """Some states as floats, one each: t, q, v, parameter, r, G, velocity."""
    rng, s = np.random.default_rng(seed), model.structure
    for _ in range(states):
        state = {"q": model.random_q(rng), "v": rng.normal(size=model.nv), "t": rng.uniform(size=1)}
        found = run_program(PROGRAMS["motion"], s, state)
        yield {**state, "parameter": np.array(list(s.parameters.values())), **{k: x.ravel() for k, x in found._asdict().items()}}


def one_by_one(model, motion):
    """Wrenches, joint forces, energies and powers by tracing each force with its own numbers."""
    s = model.structure
    wrench, load, energy, power = np.zeros((s.nb + 1, 6)), np.zeros(s.nv), [], []
    for force in s.forces.forces.values():
        graph = Graph()
        on = Motion(s, graph)
        stored = force.act(on)
        outputs = [0.0 if stored is None else stored, on.power, *on.wrenches.values(), *on.torques.values()]
        values = iter(Expression(graph, list(on.inputs.values()), outputs)(*(float(motion[k][i]) for k, i in on.inputs)))
        energy.append(next(values))
        power.append(next(values))
        for place in on.wrenches:
            wrench[place] += next(values)
        for a in on.torques:
            load[a] += next(values)
    return wrench, load, np.array(energy), np.array(power)


@pytest.fixture(scope="module")
def model():
    return crowd()


@pytest.fixture(scope="module")
def forces(model) -> GroupedForces:
    return grouped_forces(model.structure, Cache())


def rows(motions, parts=("t", "q", "v")):
    return {part: np.array([motion[part] for motion in motions]) for part in parts}


def test_groups_do_what_forces_do_one_by_one(model, forces):
    motions = list(motion_of(model, 5))
    assert len(model.structure.forces.groups) < 0.6 * len(model.structure.forces)
    loads, (energy, power) = forces.loads(rows(motions)), forces.per_force(rows(motions), "energy", "power")
    one = forces.loads(rows(motions[:1]))
    assert_close(one["wrench"][0], loads["wrench"][0], 1e-12)
    for k, motion in enumerate(motions):
        wanted = one_by_one(model, motion)
        for x, y in zip((loads["wrench"][k].reshape(-1, 6), loads["load"][k], energy[k], power[k]), wanted, strict=True):
            assert_close(x, y, 1e-12)


def test_interpreted_and_compiled_groups_agree(model, forces):
    table, motions = model.structure.forces, list(motion_of(model))
    loads, (energy, power) = forces.loads(rows(motions)), forces.per_force(rows(motions), "energy", "power")
    excess, ground = forces.per_force(rows(motions), "excess", "prescribed")
    for k, motion in enumerate(motions):
        plain = {part: x.tolist() for part, x in motion.items()}
        wrench, load = table.dense(motion, model.structure.nb + 1, model.nv)
        assert_close(loads["wrench"][k].reshape(-1, 6), wrench, 1e-12)
        assert_close(loads["load"][k], load, 1e-12)
        assert_close(energy[k], table.report(plain)[0], 1e-12)
        assert_close(power[k], table.report(plain)[1], 1e-12)
        assert_close(excess[k], table.excess(plain), 1e-12)
        assert_close(ground[k].sum(), table.prescribed_power(plain), 1e-11)


def test_poses_given_or_worked_out_are_the_same(model, forces):
    motions = list(motion_of(model))
    known = rows(motions, ("t", "q", "v", "parameter", "r", "G", "velocity"))
    assert_close(forces.loads(known)["wrench"], forces.loads(rows(motions))["wrench"], 1e-12)
    more = forces.loads({**known, "parameter": known["parameter"] + 1.0})["wrench"]
    assert abs(more - forces.loads(known)["wrench"]).max() > 0.1


def test_excess_is_power_and_rate_of_the_energy_along_the_motion(model, forces):
    s, motions = model.structure, list(motion_of(model))
    graph = Graph()
    inputs = {name: graph.inputs(size) for name, size in (("q", s.nq), ("v", s.nv), ("t", 1))}
    found = {name: run_program(PROGRAMS[name], s, inputs, object) for name in ("motion", "rates")}
    energy, power = s.forces.report({**inputs, **{part: x.ravel() for part, x in found["motion"]._asdict().items()}})
    back = tangent(energy, [*zip(inputs["q"], found["rates"].rate, strict=True), (inputs["t"][0], 1.0)])
    wanted = Expression(graph, [*inputs["q"], *inputs["v"], *inputs["t"]], [p + b for p, b in zip(power, back, strict=True)])
    excess, powers = forces.per_force(rows(motions), "excess")[0], forces.per_force(rows(motions), "power")[0]
    for k, motion in enumerate(motions):
        values = wanted(*(float(x) for part in ("q", "v", "t") for x in motion[part]))
        assert_close(excess[k], values, 1e-10, scale=np.abs(powers[k]).max())


def test_conservative_forces_neither_add_nor_take(model):
    counts = not_conservative(model.structure)
    found = {name: k not in counts for k, name in enumerate(model.structure.forces.names)}
    for name, force in model.structure.forces.forces.items():
        law, damped = getattr(force, "law", None), np.any(getattr(force, "damping", 0.0))
        if isinstance(force, sh.PointGravity):
            assert found[name], name
        elif isinstance(force, (sh.SpringDamper, sh.JointSpring)) and law is None:
            assert found[name] != damped, name
        elif isinstance(force, (sh.Drag, sh.Motor, sh.Bushing)):
            assert not found[name], name


# --- many ---------------------------------------------------------------------------------------------------------------------
def long_chain(n):
    rng = np.random.default_rng(0)
    m = sh.Model("chain")
    for k in range(n):
        m.add_body(f"b{k}", 1.0, (0.1, 0.0, 0.05), (0.1, 0.1, 0.1))
        joint = sh.Revolute("yz"[k % 2], damping=rng.uniform(0.1, 0.2))
        m.add_joint(f"j{k}", joint, f"b{k - 1}" if k else "ground", f"b{k}", at=sh.Pose((0.2, 0.0, 0.0)))
        ends = rng.normal(size=(2, 3)).tolist()
        m.add_force(sh.SpringDamper("ground", f"b{k}", *ends, stiffness=rng.uniform(1, 3), damping=0.1, length=0.3))
    return m


def test_setting_up_thousands_of_forces_grows_with_their_number_and_compiles_nothing():
    def set_up(n):
        m = long_chain(n)
        d, q, v = sh.Dynamics(m, "separate", "loops"), np.full(n, 0.01), np.full(n, 0.1)
        d.forward(q, v)
        energy, power = d.force_energies(q, v), d.force_powers(q, v)
        assert energy.shape == power.shape == (2 * n,) and len(m.structure.forces.groups) == 2

    set_up(20)
    with counted() as few:
        set_up(200)
    with counted() as many:
        set_up(2000)
    assert few.assembly == many.assembly == 0, "forces of one shape share their code, however many there are"
    assert many.calls <= 10.5 * few.calls


def test_backend_auto_reports_forces_of_any_number():
    m = long_chain(400)  # too many for a graph, few enough to try
    d, plain = sh.Dynamics(m, "separate"), sh.Dynamics(m, "separate", "python")
    q, v = np.full((2, 400), 0.01), np.full((2, 400), 0.1)
    assert d.formulation.programs.backend_of("forces") == "loops"
    assert_close(d.force_powers(q, v), plain.force_powers(q, v), 1e-11)


def test_a_model_without_forces_reports_none_on_loops():
    assert sh.Dynamics(sh.samples.chain(3), "separate", "loops").force_energies([0.0] * 3).shape == (0,)


def test_a_force_class_of_the_users_own_is_not_taken_for_its_parent():
    class Stronger(sh.SpringDamper):
        factor = 1.0

        def formula(self, on, n):
            return super().formula(on, {**n, "stiffness": self.factor * n["stiffness"]})

    m = sh.Model("two")
    for k, factor in enumerate((1.0, 3.0)):
        m.add_body(f"b{k}", 1.0, (0.1, 0.0, 0.0), (0.1, 0.1, 0.1))
        m.add_joint(f"j{k}", sh.Prismatic("x"), "ground", f"b{k}")
        force = Stronger("ground", f"b{k}", stiffness=2.0)
        force.factor = factor
        m.add_force(force)
    assert_close(sh.Dynamics(m, backend="python").force_energies([0.1, 0.1]), [0.01, 0.03], 1e-12)
