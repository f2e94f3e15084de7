"""A model without masses has kinematics and inverse dynamics; only a motion sought from forces is refused, with the joint."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from states import assert_close, random_pose

ROBOT = """<robot name="r"><link name="base"/><link name="a"/><link name="b"/><link name="tool"/>
  <joint name="j1" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
  <joint name="j2" type="continuous"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="f" type="fixed"><parent link="b"/><child link="tool"/><origin xyz="0.2 0 0" rpy="0 0 1.5"/></joint></robot>"""


def light(mass: float = 0.0) -> sh.Model:
    """A random chain with a motor of a spring and a damper; its links weigh `mass`."""
    rng = np.random.default_rng(3)
    m = sh.Model("light")
    joints = [sh.Revolute("z", stiffness=3.0), sh.Ball(damping=0.2), sh.Prismatic("x"), sh.Free()]
    for i, joint in enumerate(joints):
        m.add_body(f"b{i}", mass=mass, inertia=(mass, mass, mass))
        m.add_joint(f"j{i}", joint, f"b{i - 1}" if i else "ground", f"b{i}", at=random_pose(rng))
    return m


def closed() -> sh.Model:
    m = sh.Model("four-bar")
    for name in "abc":
        m.add_body(name)
    m.add_joint("1", sh.Revolute("y"), "ground", "a")
    m.add_joint("2", sh.Revolute("y"), "a", "b", at=sh.Pose((1.0, 0.0, 0.0)))
    m.add_joint("3", sh.Revolute("y"), "b", "c", at=sh.Pose((2.0, 0.0, 0.0)))
    m.add_joint("4", sh.Revolute("y"), "ground", "c", at=sh.Pose((1.5, 0.0, 0.0)), child_at=sh.Pose((1.0, 0.0, 0.0)))
    return m


@pytest.mark.parametrize("backend", ["auto", "loops", "python"])
@pytest.mark.parametrize("method", ["auto", "separate"])
def test_kinematics_and_inverse_dynamics_are_those_of_a_model_with_masses_that_vanish(method, backend):
    m, heavy = light(), light(1.0)
    d, other = sh.Dynamics(m, method, backend=backend), sh.Dynamics(heavy, "separate", backend="python")
    rng = np.random.default_rng(1)
    q, (v, a) = m.random_q(rng), rng.normal(size=(2, m.nv))
    for body in ("ground", "b1", "b3"):
        assert_close(d.jacobian(q, body), other.jacobian(q, body), 1e-12, scale=1.0)
        assert_close(d.acceleration(q, v, a, body), other.acceleration(q, v, a, body), 1e-12, scale=1.0)
    assert_close(d.poses(q)[1], other.poses(q)[1], 1e-12)
    assert_close(d.rates(q, v), other.rates(q, v), 1e-12)
    springs = d.inverse(q, v, a)  # what is left: stiffness and damping
    assert_close(springs[m.v_slice("j0")], 3.0 * q[m.q_slice("j0")], 1e-12)
    assert_close(springs[m.v_slice("j1")], 0.2 * v[m.v_slice("j1")], 1e-12)
    assert not d.mass_matrix(q).any() and not d.momenta(q, v).any() and d.energy(q, v)[0] == 0.0
    assert_close(d.bias(q, v), springs, 1e-12)
    assert not d.inverse_reactions(q, v, a)[2].any() and repr(d).startswith("Dynamics('light'")


@pytest.mark.parametrize("make", [light, closed])
@pytest.mark.parametrize("method", ["auto", "composite", "extended"])
def test_a_motion_sought_from_forces_is_refused_with_the_joint(make, method):
    m = make()
    d = sh.Dynamics(m, method)
    q, v = m.neutral(), np.zeros(m.nv)
    loads = np.zeros((len(m.bodies), 6))
    asks = [
        lambda: d.forward(q, v), lambda: d.forward(np.array([q, q]), v), lambda: d.forward(q, v, wrenches=loads),
        lambda: d.reactions(q, v), lambda: d.solve(q, v), lambda: d.velocities(q, v), lambda: d.momentum_rates(q, v),
        lambda: d.multipliers(q, v), lambda: d.closing_reactions(q, v), lambda: d.count("forward", compiled=True),
        lambda: sh.simulate(m, 1.0, method=method),
    ]  # fmt: skip
    for ask in asks * 2:  # the second time as the first
        with pytest.raises(sh.SingularError, match=r"joint '(j3|4)' moves no mass.*give that body mass or inertia, or weld"):
            ask()


def test_rollout_and_compare_refuse_it_too():
    m = light()
    for ask in (lambda: sh.rollout(m, m.neutral()[None], duration=0.1, step=0.01), lambda: sh.compare(m)):
        with pytest.raises(sh.SingularError, match="joint 'j3' moves no mass"):
            ask()


def test_a_closed_loop_without_masses_has_kinematics():
    m = closed()
    q, v = m.assemble({"1": 0.7}, nearest=True)
    d = sh.Dynamics(m)
    assert_close(d.pose(q, "c") @ (1.0, 0.0, 0.0), (1.5, 0.0, 0.0), 1e-9)
    assert not d.inverse(q, v, np.zeros(m.nv)).any() and d.method == "composite" and "moves no mass" in d.why


@pytest.mark.parametrize("floating", [False, True])
def test_a_urdf_without_inertial_elements_is_a_usable_model(tmp_path, floating):
    path = tmp_path / "r.urdf"
    path.write_text(ROBOT)
    m = sh.load(path, floating=floating)
    d = sh.Dynamics(m)
    tool = d.pose({"j1": np.pi / 2}, "tool")
    assert_close(tool.position, (0.0, 1.2, 0.0), 1e-15, scale=1.0)
    J = d.jacobian({"j1": np.pi / 2}, "tool")
    assert_close(J[:, m.v_slice("j1")].ravel(), (-1.2, 0.0, 0.0, 0.0, 0.0, 1.0), 1e-14, scale=1.0)


@pytest.mark.parametrize("coupled", [False, True])
def test_an_inertia_that_no_body_has_is_called_that_and_not_a_lack_of_mass(coupled):
    m = sh.Model("unphysical")
    m.add_body("a", 1.0, (0.1, 0.0, 0.0), (0.1, 0.1, 0.1))
    m.add_body("b", 1.0, (0.1, 0.0, 0.0), (0.1, 0.1, -3.4), check_inertia=False)
    m.add_joint("A", sh.Revolute("z"), "ground", "a")
    m.add_joint("B", sh.Revolute("z"), "a", "b")
    if coupled:
        m.couple("B", "A", 0.5)
    with pytest.raises(sh.SingularError, match=r"not positive definite: the inertia of body 'b' is unphysical, .* -3.4 kg"):
        sh.Dynamics(m).forward()
