"""Assembly: the nearest state on the constraints, or a word about what cannot be closed."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from loop_models import STARTS, placed, table_of
from sharnir.simulation.run.runs import Runs
from states import assert_close

S = sh.samples


@pytest.mark.parametrize("name", STARTS)
def test_from_states_nearby(name):
    """Random offsets of every coordinate: the mechanism closes again, not far away, and speeds keep it closed."""
    m, q, _ = placed(name)
    table = table_of(m)
    rng = np.random.default_rng(3)
    for _ in range(3):
        start = q + 0.05 * rng.normal(size=m.nq)
        v0 = rng.normal(size=m.nv)
        found, v = m.assemble(start, v0)
        now = table.evaluate(found, v, 0.0)
        assert np.abs(now["g"]).max(initial=0.0) < 1e-10
        assert np.abs(now["rate"]).max(initial=0.0) < 1e-8
        assert np.abs(found - start).max() < 1.0
        J = now["J"]
        lift = np.eye(m.nv) - np.linalg.pinv(J, rcond=1e-10) @ J
        assert_close(lift @ (v - v0), np.zeros(m.nv), 1e-8, scale=1.0)  # speeds changed no more than they must


def test_a_closed_state_stays_as_it_is():
    for name in STARTS:
        m, q, v = placed(name)
        again = m.assemble(q, v)
        assert_close(again[0], q, 1e-12, scale=1.0)
        assert_close(again[1], v, 1e-8, scale=1.0)


def test_fixed_joints_keep_their_coordinates_and_speeds():
    m = S.four_bar(0.5, 1.3, 0.9, 1.1)
    q, v = m.assemble({"A": 1.3, "B": -1.0, "C": 1.5}, {"A": 2.0}, fixed=["A"])
    assert q[m.q_slice("A")] == 1.3 and v[m.v_slice("A")] == 2.0
    now = table_of(m).evaluate(q, v, 0.0)
    assert np.abs(now["g"]).max() < 1e-11 and np.abs(now["rate"]).max() < 1e-11
    with pytest.raises(sh.ModelError, match="no joint 'Z' to hold fixed; the joints are 'A', 'B', 'C'"):
        m.assemble(fixed=["Z"])


def test_a_simulation_keeps_what_was_named():
    """Joints the user gives stay where they are, the others give way."""
    r = sh.simulate(S.four_bar(0.5, 1.3, 0.9, 1.1), 0.01, q0={"A": 1.3}, v0={"A": 2.0}, backend="python", output=0.01)
    assert_close([r.coordinate("A")[0], r.speed("A")[0]], [1.3, 2.0], 1e-14)
    assert r.violation.max() < 1e-10


def test_far_away_it_still_finds_a_way():
    """From a random position of a Stewart platform's legs, and of a crank that starts the wrong way round."""
    m = S.slider_crank()
    for start in ({"main": 2.0}, {"main": 4.5, "crankpin": 1.0}, {"crankpin": 2.5}):
        q, _ = m.assemble(start, nearest=True)
        assert np.abs(table_of(m).evaluate(q, np.zeros(m.nv), 0.0)["g"]).max() < 1e-10


def test_speeds_follow_a_constraint_that_moves():
    """The axle of the car axis turns at 1 rad/s at t = 0: a mass above its middle must move."""
    m = S.car_axis()
    q, v = m.assemble({"l": (0.0, 0.5), "r": (1.0, 0.5)}, {"l": (-0.5, 0.0), "r": (-0.5, 0.0)})
    assert_close(v, [-0.5, 0, -0.5, 0], 1e-12)
    assert_close(m.assemble(q)[1][0], -0.5, 1e-12)


def test_what_cannot_be_closed_is_named_with_the_gap():
    with pytest.raises(
        sh.AssemblyError, match=r"cannot be assembled: joint 'D': position along . stays violated by .* m; check lengths"
    ):
        S.four_bar(1.0, 1.0, 1.0, 5.0).assemble()
    with pytest.raises(sh.AssemblyError, match="leave more joints free"):
        S.slider_crank(0.5, 0.2).assemble({"main": 1.5}, fixed=["main"])
    m = S.pendulum()
    m.add_constraint(sh.Distance("ground", "bar", at_a=(3.0, 0, 0), at_b=(1.0, 0, 0), length=0.5), "string")
    with pytest.raises(sh.AssemblyError, match=r"constraint 'string': distance stays violated by 1.5 m;") as caught:
        m.assemble({"hinge": 0.3}, nearest=True)
    assert isinstance(caught.value, sh.ModelError)


def shaft_driven_twice(first, second):
    m = sh.Model("shaft")
    m.add_body("shaft", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_joint("one", sh.Revolute("z", motion=first), "ground", "shaft")
    m.add_joint("two", sh.Revolute("z", motion=second), "ground", "shaft", cut=True)
    return m


def test_two_drives_of_one_shaft_must_agree():
    """Nothing can give way: what they disagree in, position, speed or acceleration, is named with the joint."""
    agreed = shaft_driven_twice(lambda t: 2.0 * t, lambda t: 2.0 * t)
    q, v = agreed.assemble()
    d = sh.Dynamics(agreed, "composite", backend="python")
    assert agreed.nv == agreed.mobility(q).freedoms == 0 and d.forward(q, v).shape == d.multipliers(q, v).shape == (0,)
    assert_close(d.reactions(q, v)[0, :3], [0, 0, 9.81], 1e-12)
    for second, error, message in (
        (lambda t: 2.0 * t + 0.1, sh.ModelError, "joint 'two': rotation about z can never be met: it stays at"),
        (lambda t: 3.0 * t, sh.AssemblyError, "'two': rotation about z stays violated by 1 rad/s; check that drives agree"),
        (
            lambda t: 2.0 * t + t * t,
            sh.AssemblyError,
            "no accelerations meet the constraints: joint 'two': rotation about z stays violated by 2 rad/s²;",
        ),
    ):
        with pytest.raises(error, match=message):
            shaft_driven_twice(lambda t: 2.0 * t, second).assemble()
        with pytest.raises(error, match=message):
            sh.simulate(shaft_driven_twice(lambda t: 2.0 * t, second), 0.1, backend="python")


def test_an_assembly_does_not_depend_on_those_before_it():
    """To the last bit: neither on how many there were, nor on a study of the same model, whose rows are compiled."""
    m, start = S.four_bar(0.5, 1.3, 0.9, 1.1), {"A": 1.3, "B": -1.0, "C": 1.5}
    first = m.assemble(start, nearest=True)[0].tobytes()
    assert {m.assemble(start, nearest=True)[0].tobytes() for _ in range(15)} == {first}
    Runs(m, many=True)
    assert m.assemble(start, nearest=True)[0].tobytes() == first
