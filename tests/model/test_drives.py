"""What loads a driven joint loads its drive: options, forces, gears, couplings, constraints. Reaction, power, account agree."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from states import assert_close

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
END = 0.4
TIMES = 0.5 * END * (NODES + 1.0)
"""Where a smooth power is known, so that its integral is."""


def law(t):
    return 0.3 + 2.0 * t + 0.3 * sh.sin(3.0 * t)


OPTIONS = {
    "bare": {},
    "loaded": {"damping": 2.0, "stiffness": 3.0, "rest": 0.2, "friction": 0.4},
    "rotor": {"damping": 1.0, "armature": 0.4},
}
LINKS = ("nothing", "gear", "coupling", "constraint", "speeds", "rod")


def camshaft(link: str, **options) -> sh.Model:
    """A driven cam, and a damped shaft that it turns backward, twice as fast; or a rocker that it moves by a rod."""
    m = sh.Model(f"cam with {link}", gravity=(0.0, -9.81, 0.0))
    m.add_body("cam", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.02, 0.02, 0.03))
    m.add_body("shaft", mass=2.0, com=(0.05, 0.0, 0.0), inertia=(0.1, 0.1, 0.2))
    m.add_joint("cam", sh.Revolute("z", motion=law, **options), "ground", "cam")
    m.add_joint("shaft", sh.Revolute("z", damping=0.5, armature=0.1), "ground", "shaft", at=sh.Pose((0.5, 0.0, 0.0)))
    if link == "gear":
        m.add_constraint(sh.Gear({"cam": 2.0, "shaft": 1.0}), "link")
    elif link == "coupling":
        m.couple("shaft", "cam", ratio=-2.0)
    elif link == "constraint":
        m.add_constraint(lambda on: on.q("shaft") + 2.0 * on.q("cam"), "link")
    elif link == "speeds":
        m.add_constraint(sh.SpeedConstraint(lambda on: on.v("shaft") + 2.0 * on.v("cam")), "link")
    elif link == "rod":
        m.add_constraint(sh.Distance("cam", "shaft", (0.1, 0.0, 0.0), (0.0, 0.3, 0.0), length=0.5), "link")
    if "friction" in options:
        m.add_force(sh.JointFriction("cam", slip=0.5), "friction")
    return m


def run(m: sh.Model, **options) -> sh.Result:
    return sh.simulate(m, END, output=TIMES, rtol=1e-11, atol=1e-12, **options)


def integral(power: np.ndarray) -> float:
    return float(0.5 * END * WEIGHTS @ power)


def check_account(r: sh.Result, scale: float = 1.0) -> None:
    """What all joints do is what the account of the drives says, and nothing is left unexplained."""
    late = sh.simulate(r.model, END, output=[END], rtol=1e-11, atol=1e-12)
    done = sum(integral(r.power(joint.name)) for joint in (*r.model.joints, *r.model.closing_joints))
    assert abs(done - late.energy.work["drives"][-1]) < 1e-8 * scale
    assert np.abs(r.energy.defect).max() < 1e-8 * scale and np.abs(late.energy.defect).max() < 1e-8 * scale


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("link", LINKS)
def test_what_a_drive_does_is_its_power_and_its_entry_in_the_account(link, option):
    r = run(camshaft(link, **OPTIONS[option]))
    check_account(r)
    assert not r.power("shaft").any()
    if option != "rotor":  # a rotor is turned by the drive, not through the joint
        own = sum((r.force_power(name) for name in r.dynamics.force_names if "cam" in name or name == "friction"), 0.0)
        assert_close(r.reaction("cam")[:, 5] * r.speed("cam"), r.power("cam") + own, 1e-9, scale=10.0)


@pytest.mark.parametrize("option", ["bare", "loaded"])
def test_gears_couplings_and_constraints_of_one_ratio_load_a_drive_alike(option):
    found = [run(camshaft(link, **OPTIONS[option])) for link in ("gear", "coupling", "constraint")]
    for r in found[1:]:
        for joint in ("cam", "shaft"):
            assert_close(r.power(joint), found[0].power(joint), 1e-8, scale=10.0)
            assert_close(r.reaction(joint), found[0].reaction(joint), 1e-8, scale=10.0)
        assert r.energy.work["drives"][-1] == pytest.approx(found[0].energy.work["drives"][-1], abs=1e-8)


def test_the_drive_of_a_damped_joint_gives_what_the_damper_takes():
    """Turned evenly about a vertical axis, it does nothing else; on loops too."""
    m = sh.Model("mixer", gravity=(0.0, 0.0, -9.81))
    m.add_body("drum", mass=1.0, com=(0.1, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    m.add_joint("A", sh.Revolute("z", motion=lambda t: 3.0 * t, damping=2.0), "ground", "drum")
    for backend in ("llvm", "loops"):
        r = sh.simulate(m, 0.5, backend=backend, output=0.1)
        assert_close(r.power("A"), np.full(6, 18.0), 1e-12)
        assert_close([r.energy.work["drives"][-1], r.energy.work["joint 'A': spring and damper"][-1]], [9.0, -9.0], 1e-9)


def parts(**rotor) -> sh.Model:
    """Driven coordinates among free ones, in a joint and in a compound, and a follower of a driven joint."""
    m = sh.Model("parts", gravity=(0.0, 0.0, -9.81))
    for name in "abcd":
        m.add_body(name, mass=1.0, com=(0.1, 0.05, 0.2), inertia=(0.1, 0.12, 0.13))
    m.add_joint("A", sh.Planar(motion={"x": law}, damping=1.5, stiffness=4.0), "ground", "a")
    lift = {"lift": sh.Prismatic("z", motion=law, damping=3.0, **rotor), "turn": sh.Revolute("x", damping=0.4)}
    m.add_joint("B", sh.Compound(lift), "a", "b")
    m.add_joint("C", sh.Revolute("y", motion=law), "b", "c", at=sh.Pose((0.2, 0.0, 0.0)))
    m.add_joint("D", sh.Revolute("x", damping=0.7, stiffness=2.0), "c", "d", at=sh.Pose((0.2, 0.0, 0.0)))
    m.couple("D", "C", ratio=-1.5, offset=0.2)
    m.add_force(lambda on: on.torque("A", (0.3 - on.q("A")[0], -0.2 * on.v("A")[1])), "pull")  # of the free y and angle
    m.add_constraint(lambda on: on.q("A")[0] - 0.1 * on.q("A.x"), "slope")
    return m


def test_options_of_driven_parts_and_of_driven_coordinates_among_free_ones_load_the_drive():
    """One number damps every coordinate, driven or not; parts of a compound have their own; so do followers of driven joints."""
    r = run(parts(armature=0.5))
    check_account(r, 10.0)
    end = sh.simulate(r.model, END, output=[END], rtol=1e-11, atol=1e-12).energy.work
    taken = {name.removesuffix(": spring and damper"): work[-1] for name, work in end.items() if name not in ("drives", "pull")}
    assert set(taken) == {"joint 'A'", "joint 'A.x'", "joint 'B'", "joint 'B.lift'", "joint 'D'"}
    rate = 2.0 + 0.9 * np.cos(3.0 * TIMES)
    for name, c in (("joint 'A.x'", 1.5), ("joint 'B.lift'", 3.0), ("joint 'D'", 0.7 * 1.5**2)):
        assert taken[name] == pytest.approx(-c * integral(rate**2), rel=1e-8)
    kinetic, potential = sh.Dynamics(parts()).energy(r.q, r.v, r.t)
    assert_close(r.energy.kinetic - kinetic, 0.25 * rate**2, 1e-10)  # what a rotor stores is kinetic
    assert_close(r.energy.potential, potential, 1e-10)
    slope = r.closing_reaction("slope", "a")  # a force through the joint's place
    assert_close(slope[:, 3:], np.zeros((len(r), 3)), 1e-9, scale=10.0)
    assert_close(np.linalg.norm(slope[:, :3], axis=1), np.hypot(1.0, 0.1) * np.abs(r.multiplier("slope")), 1e-9)


def test_options_that_cannot_act_are_refused():
    m, ball = sh.Model("ball"), sh.Ball(motion=lambda t: sh.Rotation.about("z", t), damping=1.0)
    m.add_body("a", mass=1.0, inertia=(1.0, 1.0, 1.0))
    with pytest.raises(sh.ModelError, match=r"joint 'B'.*do not act in a Ball joint that is driven as a whole; .*a Bushing"):
        m.add_joint("B", ball, "ground", "a")


# --- random mechanisms --------------------------------------------------------------------------------------------------------
def random_law(rng):
    a, b, c = rng.uniform(0.2, 1.0, 3)
    return lambda t: a * sh.sin((1.0 + b) * t) + c * t


def random_driven(seed: int) -> sh.Model:
    """A branched tree with options everywhere, of which some coordinates are driven, and others coupled or geared to these."""
    rng = np.random.default_rng(seed)
    m = sh.Model(f"driven {seed}", gravity=(0.0, -3.0, -9.0))

    def options(n=4):
        """Some of damping, stiffness, armature, and what drives: numbers for all coordinates."""
        kept = rng.permutation(["damping", "stiffness", "armature"])[: rng.integers(0, n)]
        return {str(name): float(rng.uniform(0.1, 1.0)) for name in kept}

    def pose():
        return sh.Pose(rng.uniform(-0.4, 0.4, 3).tolist(), sh.Rotation.about("xyz"[rng.integers(3)], float(rng.uniform(0, 3))))

    kinds = {
        "driven": sh.Revolute("z", motion=random_law(rng), **options()),
        "free": sh.Revolute("y", **options()),
        "other": sh.Prismatic("x", **options()),
        "pushed": [
            sh.Prismatic("z", motion=random_law(rng), **options()),
            sh.Universal(motion={"first": random_law(rng)}, **options()),
            sh.Compound({"s": sh.Prismatic("z", motion=random_law(rng), **options()), "b": sh.Ball(**options())}),
        ][seed % 3],
    }
    for name in rng.permutation(list(kinds)).tolist():
        ends = [["ground", *(b.name for b in m.bodies)][rng.integers(len(m.bodies) + 1)], f"body {name}"]
        m.add_body(ends[1], 1.0, rng.uniform(-0.2, 0.2, 3).tolist(), (0.2, 0.25, 0.3))
        m.add_joint(name, kinds[name], *(ends if rng.random() < 0.7 else ends[::-1]), at=pose(), child_at=pose())
    ratio, offset = (float(x) for x in rng.uniform(0.5, 2.0, 2))
    if seed % 2:
        m.couple("free", "driven", ratio, offset)
        m.add_constraint(sh.SpeedConstraint(lambda on: on.v("other") - ratio * on.v("driven")), "link")
    else:
        m.add_constraint(sh.Gear({"driven": ratio, "free": 1.0, "other": -0.7}), "link")
    m.add_force(sh.JointFriction("driven", coulomb=0.3, slip=0.5), "friction")
    m.add_force(sh.SpringDamper("body driven", "body pushed", stiffness=5.0, damping=0.3, length=0.3), "between")
    return m


def acting(r: sh.Result, body: str, of_joint) -> np.ndarray:
    """Force and moment of all joints, by `of_joint`, on a body about its origin, in the world."""
    total, origin = np.zeros((len(r), 6)), r.body_frame(body)[1]
    for joint in r.model.joints:
        if body in (joint.parent, joint.child):
            (force, moment), point = of_joint(joint), r.body_frame(joint.child)[1]
            moment = moment + np.cross(point - origin, force)
            total += (1.0 if body == joint.child else -1.0) * np.concatenate([force, moment], axis=1)
    return total


@pytest.mark.parametrize("seed", range(4))
def test_reactions_powers_and_account_agree_in_random_mechanisms(seed):
    m = random_driven(seed)
    r = run(m)
    check_account(r, 100.0)
    whole = sh.Dynamics(m, "composite").reactions(r.q, r.v, None, r.t)

    def transmitted(joint):
        """Whatever acts in a joint, by the equations of its body."""
        i = m.joint_index(joint.name)
        R, origin = r.body_frame(m.bodies[i].name)
        force, moment = ((R @ x[:, :, None])[:, :, 0] for x in (whole[:, i, :3], whole[:, i, 3:]))
        sign = 1.0 if m.bodies[i].name == joint.child else -1.0
        return sign * force, sign * (moment + np.cross(origin - r.body_frame(joint.child)[1], force))

    for body in m.bodies:
        R = r.body_frame(body.name)[0]
        found = acting(r, body.name, lambda joint: np.split(r.reaction(joint.name, axes="world"), 2, axis=1))
        for of in r.closing_reactions.values():
            if body.name in of:
                found += np.concatenate([(R @ x[:, :, None])[:, :, 0] for x in np.split(of[body.name], 2, axis=1)], axis=1)
        assert_close(found, acting(r, body.name, transmitted), 1e-8, scale=100.0)
