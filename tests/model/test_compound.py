"""A compound joint is a chain of joints with massless bodies between, and names, drives and options of its parts."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from joint_table import SHOULDER, U, W, wave
from states import assert_close, random_mass

PARTS = {
    "slide": sh.Prismatic(U, damping=0.1, limits=(-1, 2)),
    "ball": (sh.Ball(damping=0.3), SHOULDER),
    "hinge": (sh.Revolute(W, stiffness=4.0, rest=0.2), sh.Pose((0.1, 0.0, 0.2))),
}


def one_body(joint: sh.Joint) -> sh.Model:
    m = sh.Model("one body")
    m.add_body("body", **random_mass(np.random.default_rng(1)))
    m.add_joint("arm", joint, "ground", "body")
    return m


def test_a_compound_is_a_chain_with_massless_bodies_between():
    m = sh.Model("chain")
    carrier = "ground"
    bare = {name: part[0] if isinstance(part, tuple) else part for name, part in PARTS.items()}
    for name, joint in bare.items():
        joint = type(joint)(joint.axis) if hasattr(joint, "axis") else type(joint)()
        mass = random_mass(np.random.default_rng(1)) if name == "hinge" else {}
        m.add_body(name, **mass)
        where = PARTS[name][1] if isinstance(PARTS[name], tuple) else None
        m.add_joint(f"to {name}", joint, carrier, name, at=where)
        carrier = name
    plain = {"slide": sh.Prismatic(U), "ball": (sh.Ball(), SHOULDER), "hinge": (sh.Revolute(W), PARTS["hinge"][1])}
    one, chain = (sh.Dynamics(x, "composite", backend="python") for x in (one_body(sh.Compound(plain)), m))
    rng = np.random.default_rng(2)
    q, v, tau = one.model.random_q(rng), rng.normal(size=5), rng.normal(size=5)
    assert_close(one.forward(q, v, tau), chain.forward(q, v, tau), 1e-11)
    assert_close(one.mass_matrix(q), chain.mass_matrix(q), 1e-12)


def test_coordinates_are_named_by_their_parts():
    m = one_body(sh.Compound(PARTS))
    assert m.q_names == ["arm.slide", "arm.ball.qw", "arm.ball.qx", "arm.ball.qy", "arm.ball.qz", "arm.hinge"]
    assert m.v_names == ["arm.slide", "arm.ball.wx", "arm.ball.wy", "arm.ball.wz", "arm.hinge"]
    assert m.neutral().tolist() == [0, 1, 0, 0, 0, 0]


def test_a_quaternion_in_the_middle_is_one_and_is_checked():
    m = one_body(sh.Compound(PARTS))
    assert_close(np.linalg.norm(m.random_q(3)[1:5]), 1.0, 1e-15)
    with pytest.raises(sh.StateError, match="the quaternion of joint 'arm' is zero"):
        sh.matrices(m, [0.1, 0, 0, 0, 0, 0.3])


def test_options_are_those_of_the_parts():
    joint = sh.Compound(PARTS)
    assert joint.damping == (0.1, 0.3, 0.3, 0.3, 0.0)
    assert joint.stiffness == (0.0, 0.0, 0.0, 0.0, 4.0) and joint.rest[-1] == 0.2
    assert joint.limits[0] == (-1, 2) and joint.limits[-1] == (-np.inf, np.inf) and len(joint.limits) == 6
    assert sh.Compound({"a": sh.Ball()}).limits is None


def test_a_part_is_driven_by_itself_or_by_the_compound():
    f = wave(1)[0]
    own = sh.Compound({**PARTS, "hinge": sh.Revolute(W, motion=f)})
    told = sh.Compound({**PARTS, "hinge": sh.Revolute(W)}, motion={"hinge": f})
    assert own.q_names() == told.q_names() and "hinge" not in told.q_names() and len(told.damping) == 4
    a, b = (sh.matrices(one_body(x), None, [0.1, 0.2, 0.3, 0.4], 0.5) for x in (own, told))
    assert_close(a.psi_r, b.psi_r, 1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sh.Compound({}), "at least one part"),
        (lambda: sh.Compound({"a": "x"}), "part 'a' must be a joint"),
        (lambda: sh.Compound({"": sh.Ball()}), "a part needs a name"),
        (lambda: sh.Compound({"a": sh.Free(), "b": sh.Revolute("x")}), "7 speeds"),
        (lambda: sh.Compound({"a": sh.Ball()}, damping=0.1), "give damping to the part"),
        (lambda: sh.Compound({"a": sh.Ball()}, limits=(0, 1)), "give limits to the part"),
        (lambda: sh.Compound({"a": sh.Ball(), "a.qw": sh.Revolute("x")}), "the same name"),
        (lambda: sh.Compound({"a": sh.Revolute("x")}, motion=wave(1)[0]), "mapping from the names"),
        (lambda: sh.Compound({"a": sh.Revolute("x")}, motion={"b": wave(1)[0]}), "no coordinate 'b'"),
        (lambda: sh.Compound({"a": sh.Revolute("x")}, motion={"a": 1.0}), "must be a function of t"),
        (lambda: one_body(sh.Compound({"a": sh.Universal("x", "x")})), "joint 'arm', part 'a'"),
    ],
)
def test_what_no_compound_can_be_is_refused(make, message):
    with pytest.raises(sh.ModelError, match=message):
        make()
