"""`Model.integrate` follows constant speeds for unit time, `Model.difference` is its inverse; both as Pinocchio has them."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from test_retraction import on_sphere

import sharnir as sh
from mechanisms import floating
from pinocchio_models import random_pair
from sharnir.equations.assembly.exponential import SMALL, angle_of, shift_of, turn_of, velocity_of
from states import EPS, assert_close, derivative

MODELS = {
    "floating": floating(), "all joints": sh.samples.all_joints(1), "tree": sh.samples.tree(6, seed=2),
    "coupled": sh.samples.chain(3), "on a sphere": on_sphere(),
}  # fmt: skip
MODELS["coupled"].couple(MODELS["coupled"].joints[2].name, MODELS["coupled"].joints[0].name, 2.0, 0.1)
EACH = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def by_iteration(model):
    """Whether a joint given by constraints is among the joints."""
    return any(joint.projects_onto_constraints for joint in model.structure.types)


def same(model, a, b, tolerance):
    """Equal up to the signs of quaternions."""
    a, b = np.array(a), np.array(b)
    for k in model.structure.quaternions:
        turn = slice(k, k + 4)
        b[..., turn] *= np.sign((a[..., turn] * b[..., turn]).sum(axis=-1, keepdims=True))
    assert_close(a, b, tolerance, scale=1.0)


@EACH
def test_the_flow_of_integrate_has_the_rates_of_the_coordinates(model):
    """d/ds of q ⊕ s δ is N(q ⊕ s δ) δ at every s; a joint given by constraints only at s = 0."""
    rng = np.random.default_rng(1)
    q, delta = model.random_q(rng), 0.7 * rng.normal(size=model.nv)
    d = sh.Dynamics(model, backend="python")
    for s in (0.0,) if by_iteration(model) else (0.0, 0.6, 2.0):
        here = model.integrate(q, s * delta)
        slope = derivative(lambda x, s=s: model.integrate(q, (s + x) * delta), 0.01)
        assert_close(slope, d.rates(here, delta) - d.rates(here, 0.0 * delta), 1e-8, scale=1.0)


@EACH
@pytest.mark.parametrize("size", [1e-9, 1e-4, 0.1, 1.0])
def test_difference_undoes_integrate_and_integrate_difference(model, size):
    rng = np.random.default_rng(2)
    delta = size * rng.uniform(-0.5, 0.5, size=model.nv)
    q, tolerance = model.random_q(rng), 1e-12 if by_iteration(model) else 50 * EPS
    there = model.integrate(q, delta)
    assert_close(model.difference(q, there), delta, tolerance / size, scale=size)
    same(model, model.integrate(q, model.difference(q, there)), there, tolerance)
    other = model.random_q(rng)  # joints given by constraints stay
    same(model, model.integrate(q, model.difference(q, other)), other, 2 * tolerance)


@EACH
def test_rows_of_a_batch_are_its_states(model):
    rng = np.random.default_rng(3)
    Q, D = np.array([model.random_q(rng) for _ in range(4)]), 0.1 * rng.normal(size=(4, model.nv))
    there = model.integrate(Q, D)
    assert there.shape == Q.shape
    for q, delta, row in zip(Q, D, there, strict=True):
        assert_close(model.integrate(q, delta), row, 4 * EPS, scale=1.0)
    assert_close(model.difference(Q, there), [model.difference(q, x) for q, x in zip(Q, there, strict=True)], 4 * EPS, scale=1.0)
    assert_close(model.integrate(Q[0], D)[3], model.integrate(Q[0], D[3]), 4 * EPS, scale=1.0)
    assert_close(model.integrate(Q, D[0])[3], model.integrate(Q[3], D[0]), 4 * EPS, scale=1.0)
    assert model.integrate(Q[:0], D[:0]).shape == (0, model.nq)


@pytest.mark.parametrize("seed", range(3))
def test_they_are_pinocchios(seed):
    pair, rng = random_pair(seed), np.random.default_rng(seed)
    m = pair.model
    q0, q1, delta = m.random_q(rng), m.random_q(rng), rng.normal(size=m.nv)
    pq, _ = sh.to_pinocchio(m, pair.pin, q0, delta)
    there = sh.from_pinocchio(m, pair.pin, pin.integrate(pair.pin, pq, sh.to_pinocchio(m, pair.pin, q0, delta)[1]))
    same(m, m.integrate(q0, delta), there, 100 * EPS)
    theirs = pin.difference(pair.pin, pq, sh.to_pinocchio(m, pair.pin, q1))
    assert_close(m.difference(q0, q1), sh.from_pinocchio(m, pair.pin, pq, theirs)[1], 1e-9)


def test_a_turn_takes_the_shorter_way_and_ends_where_it_should():
    m = sh.Model("ball")
    m.add_body("b", mass=1.0, inertia=(1, 1, 1))
    m.add_joint("ball", sh.Ball(), "ground", "b")
    start = np.array([1.0, 0.0, 0.0, 0.0])
    quarter = m.integrate(start, (0.0, 0.0, math.pi / 2))
    assert_close(quarter, [math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)], 2 * EPS)
    assert_close(m.difference(start, -quarter), [0.0, 0.0, math.pi / 2], 4 * EPS)
    assert_close(m.difference(start, m.integrate(start, (0.0, 0.0, 1.5 * math.pi))), [0.0, 0.0, -math.pi / 2], 8 * EPS)
    assert_close(m.difference(start, m.integrate(start, (math.pi, 0.0, 0.0))), [math.pi, 0.0, 0.0], 4 * EPS)
    assert_close(m.integrate(3.0 * start, (0.0, 0.0, math.pi / 2)), quarter, 2 * EPS)


@pytest.mark.parametrize("angle", [0.0, 0.3 * SMALL, 0.99999 * SMALL, 1.00001 * SMALL, 0.1, 3.0])
def test_exponential_and_logarithm_are_inverse_at_every_angle(angle):
    rng = np.random.default_rng(4)
    axis, u = rng.normal(size=3), rng.normal(size=(1, 3))
    omega = angle * axis[None] / np.linalg.norm(axis)
    assert_close(angle_of(turn_of(omega)), omega, 8 * EPS)
    assert_close(velocity_of(omega, shift_of(omega, u)), u, 20 * EPS)
    half = shift_of(0.5 * omega, 0.5 * u)
    turned = pin.exp3(0.5 * omega[0]) @ half[0]
    assert_close(shift_of(omega, u)[0], half[0] + turned, 8 * EPS)  # a motion is two halves of it


def test_bad_arguments_are_named():
    m = sh.samples.all_joints(1)
    q, v = m.random_q(0), np.zeros(m.nv)
    cases = (
        (lambda: m.integrate(q[1:], v), r"q: expected \(\d+,\) or \(B, \d+\), got"),
        (lambda: m.integrate(q, v[1:]), r"dv: expected \(\d+,\) or \(B, \d+\), got"),
        (lambda: m.difference(q, "no"), r"q1: expected numbers"),
        (lambda: m.difference(np.full(m.nq, math.nan), q), r"q0: .* is nan"),
        (lambda: m.integrate(np.zeros(m.nq), v), r"the quaternion of joint .* is zero"),
        (lambda: m.integrate(np.tile(q, (2, 1)), np.zeros((3, m.nv))), r"batches of different sizes \(q: 2, dv: 3\)"),
        (lambda: m.integrate(q, v, "now"), "t: expected a number"),
    )
    for ask, message in cases:
        with pytest.raises(sh.StateError, match=message):
            ask()
    far = on_sphere()
    with pytest.raises(sh.StateError, match=r"difference: no motion .* of 'on the sphere'.*is left"):
        far.difference(far.neutral(), [0.0, 0.0, 5.0, 1.0, 0.0, 0.0, 0.0])
