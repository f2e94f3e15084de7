"""`SimulationBatch`: each simulation is the motion of a rollout, whatever its companions do."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh


@pytest.fixture(scope="module")
def cart() -> sh.Model:
    m = sh.Model("cart", gravity=(0, 0, -9.81))
    m.add_parameter("pull", 0.0)
    m.add_state("wear", 0.0, rate=lambda on: on.v("rail") * on.v("rail"))
    m.add_body("cart", mass=1.0)
    m.add_body("pole", mass=0.2, com=(0, 0, 0.4), inertia=(0.01, 0.01, 0.001))
    m.add_joint("rail", sh.Prismatic("x"), "ground", "cart")
    m.add_joint("hinge", sh.Revolute("y"), "cart", "pole")
    m.add_force(lambda on: on.torque("rail", on.parameter("pull")), name="pull")
    return m


def batch_of(m, n=37, **options):
    return sh.Simulation(m, q0={"hinge": 0.1}, integrator="rk4", step=0.01).batch(n, **options)


def test_simulations_side_by_side_are_a_rollout_to_the_last_bit(cart):
    pull, tau = np.linspace(0.0, 1.0, 37), np.random.default_rng(0).normal(size=(37, 2))
    batch = batch_of(cart, parameters={"pull": pull})
    batch.tau = tau
    batch.step(15)
    batch.step()
    r = sh.rollout(
        cart, np.tile([0.0, 0.1], (37, 1)), step=0.01, steps=16, tau=np.repeat(tau[:, None], 16, 1), parameters={"pull": pull}
    )
    assert np.array_equal(batch.q, r.q[:, -1]) and np.array_equal(batch.v, r.v[:, -1]) and batch.t == pytest.approx(0.16)
    assert np.array_equal(batch.states["wear"], r.state("wear")[:, -1]) and np.array_equal(batch.parameters["pull"], pull)
    assert np.array_equal(batch.coordinate("hinge"), batch.q[:, 1]) and len(batch) == 37 and not batch.failed.any()


def test_some_begin_anew_and_the_others_do_not_notice(cart):
    batch, alone = batch_of(cart), batch_of(cart)
    batch.step(10)
    alone.step(10)
    batch.reset([2, 30])
    batch.reset(np.arange(37) == 5, q0=[[1.0, 0.2]], parameters={"pull": 3.0})
    assert np.array_equal(batch.q[[2, 30]], [[0.0, 0.1]] * 2) and batch.q[5].tolist() == [1.0, 0.2] and not batch.v[5].any()
    assert batch.parameters["pull"][4:7].tolist() == [0.0, 3.0, 0.0] and batch.states["wear"][5] == 0.0
    fresh, rest = batch_of(cart), ~np.isin(np.arange(37), [2, 5, 30])
    for one in (batch, alone, fresh):
        one.step(10)
    assert np.array_equal(batch.q[rest], alone.q[rest]) and np.array_equal(batch.q[2], fresh.q[2])
    batch.reset()
    assert batch.q[5].tolist() == [0.0, 0.1] and batch.t == pytest.approx(0.2)


def test_loops_are_closed_when_they_begin_and_stay_closed():
    m = sh.samples.four_bar()
    batch = sh.Simulation(m, integrator="rk4", step=0.005).batch(9)
    batch.reset([1, 2], q0=np.array([[0.3, 0.0, 0.0], [-0.2, 0.0, 0.0]]))
    batch.step(20)
    for q in batch.q[:3]:
        assert np.abs(m.assemble(q, nearest=True)[0] - q).max() < 1e-9
    assert np.unique(batch.q[:, 0]).size == 3


def test_a_simulation_that_fails_stays_until_it_is_reset(cart):
    m = cart.copy()
    m.add_force(lambda on: on.torque("rail", 1e-9 * sh.sqrt(1.0 - on.q("rail"))), name="cliff")
    batch = batch_of(m, 5)
    batch.reset([3], v0=[[50.0, 0.0]])
    batch.step(5)
    assert batch.failed.tolist() == [False, False, False, True, False] and np.isfinite(batch.q).all()
    batch.reset(batch.failed)
    batch.step(5)
    assert not batch.failed.any()


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda m: sh.Simulation(m).batch(3), "steps with 'rk4' or 'euler', this Simulation with 'auto'"),
        (lambda m: batch_of(m, 0), "n: expected"),
        (lambda m: batch_of(m, 3, parameters={"pul": 1.0}), "no parameter 'pul'; did you mean 'pull'"),
        (lambda m: batch_of(m, 3, parameters={"pull": [1.0, 2.0]}), r"parameter 'pull': expected a number or \(3,\), got \(2,\)"),
        (lambda m: batch_of(m, 3).reset([7]), "which: expected a mask"),
        (lambda m: batch_of(m, 3).step(0), "times: expected"),
        (lambda m: setattr(batch_of(m, 3), "tau", np.zeros(5)), r"tau: expected \(3, 2\) or \(2,\), got \(5,\)"),
        (lambda m: setattr(batch_of(m, 3), "tau", [0.0, np.nan]), "tau: 'hinge' is nan"),
        (lambda m: setattr(batch_of(m, 3), "tau", [[0, 0], [0, np.nan], [0, 0]]), "tau: of simulation 1 it is not finite"),
        (lambda m: batch_of(m, 3).reset([0], q0=np.zeros((2, 2))), "q0"),
    ],
)  # fmt: skip
def test_what_a_batch_cannot_do_is_refused_in_words(cart, ask, answer):
    with pytest.raises(sh.SharnirError, match=answer):
        ask(cart)
