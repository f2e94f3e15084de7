"""Questions about closed models in every shape: a batch is its states, compiled code gives what the kernels give."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from loop_models import STARTS, placed
from states import assert_close, interpreted

B = 11
"""Not a multiple of any number of lanes."""

QUESTIONS = {
    "forward": lambda d, q, v, x, t, w: d.forward(q, v, x, t, w),
    "multipliers": lambda d, q, v, x, t, w: d.multipliers(q, v, x, t, w),
    "reactions": lambda d, q, v, x, t, w: d.reactions(q, v, x, t, w),
    "accelerations of bodies": lambda d, q, v, x, t, w: d.solve(q, v, x, t, w).vdot,
    "inverse": lambda d, q, v, x, t, w: d.inverse(q, v, x, t, w),
    "inverse_reactions": lambda d, q, v, x, t, w: d.inverse_reactions(q, v, x, t, w),
}


def batch(name, n=B):
    """States of one model on its constraints, joint forces, wrenches, and accelerations that keep the constraints."""
    states = [placed(name, seed) for seed in range(n)]
    m = states[0][0]
    q, v = (np.array([s[k] for s in states]) for k in (1, 2))
    rng = np.random.default_rng(3)
    tau, w = 0.1 * rng.normal(size=(n, m.nv)), rng.normal(size=(n, len(m.bodies), 6))
    d = interpreted(m, "composite")
    a = np.array([d.forward(*x) for x in zip(q, v, tau, strict=True)])
    return m, q, v, tau, a, w


@pytest.fixture(scope="module", params=["four-bar", "Bricard", "Andrews", "planetary gear", "rolling disc", "car axis"])
def case(request):
    m, *rest = batch(request.param)
    return sh.Dynamics(m, "composite", threads=1), interpreted(m, "composite"), *rest


def asked(question, tau, a):
    return a if question.startswith("inverse") else tau


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_batch_gives_what_each_state_gives_interpreted(case, question):
    d, one, q, v, tau, a, w = case
    ask, x = QUESTIONS[question], asked(question, tau, a)
    for wrenches in (None, w):
        expected = np.array([ask(one, q[b], v[b], x[b], 0.0, None if wrenches is None else w[b]) for b in range(B)])
        many = ask(d, q, v, x, 0.0, wrenches)
        size = max(1.0, np.abs(expected).max())
        # forces are as sure as the rows are independent; accelerations to rounding times the stiffness of the mechanism
        assert_close(many, expected, 1e-9, scale=size, what=f"{question}, batch")
        for b in (0, B - 1):
            single = ask(d, q[b], v[b], x[b], 0.0, None if wrenches is None else w[b])
            assert_close(single, many[b], 1e-11, scale=size, what=f"{question}, one state")


@pytest.mark.parametrize("question", QUESTIONS)
def test_shapes_mix_and_an_empty_batch_is_empty(case, question):
    d, _, q, v, tau, a, w = case
    ask, x = QUESTIONS[question], asked(question, tau, a)
    still = np.zeros_like(v[0])
    given = (q[0], still, still, 0.0, w) if "inverse" in question else (q[0], v, tau[0], 0.0, w[0])
    mixed = ask(d, *given)
    for b in range(B):
        row = (q[0], still, still, 0.0, w[b]) if "inverse" in question else (q[0], v[b], tau[0], 0.0, w[0])
        assert_close(ask(d, *row), mixed[b], 1e-11, scale=max(1.0, np.abs(mixed).max()))
    times = ask(d, q[0], v[0], x[0], np.zeros(3), None)
    assert times.shape[0] == 3 and np.array_equal(times[0], times[2])
    assert ask(d, q[:0], v[:0], x[:0], 0.0, None).shape == (0, *mixed.shape[1:])
    assert ask(d, q[:1], v[:1], x[:1], 0.0, w[:1]).shape == (1, *mixed.shape[1:])


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_not_a_number_stays_in_its_lane(case, question):
    d, _, q, v, tau, a, _ = case
    ask, x = QUESTIONS[question], asked(question, tau, a)
    expected = ask(d, q, v, x, 0.0, None)
    broken = x.copy()
    broken[4, 0] = np.nan
    found = ask(d, q, v, broken, 0.0, None)
    others = np.arange(B) != 4
    assert not np.isfinite(found[4]).all()
    assert_close(found[others], expected[others], 1e-12, scale=max(1.0, np.abs(expected).max()))
    with pytest.raises(sh.StateError, match=r"(tau|a): .* is nan"):
        ask(d, q[4], v[4], broken[4], 0.0, None)


def test_answers_go_where_they_are_wanted():
    m, q, v, tau, a, _ = batch("four-bar")
    for threads in (1, 2):
        d = sh.Dynamics(m, "composite", threads=threads)
        expected, least = d.forward(q, v, tau), d.inverse(q, v, a)
        out = np.empty_like(expected)
        assert d.forward(q, v, tau, out=out) is out and np.array_equal(out, expected)
        assert d.inverse(q, v, a, out=out) is out and np.array_equal(out, least)
        shared = tau.copy()
        assert_close(d.forward(q, v, shared, out=shared), expected, 1e-13)  # over its own input
        one = np.empty(m.nv)
        assert d.forward(q[0], v[0], tau[0], out=one) is one
        assert_close(one, expected[0], 1e-12)
        with pytest.raises(sh.StateError, match="out: expected a C-contiguous float64 array"):
            d.inverse(q, v, a, out=np.empty((2, 2)))


def test_threads_change_nothing():
    m, q, v, tau, a, w = batch("four-bar")
    many = [np.tile(x, (40, *[1] * (x.ndim - 1))) for x in (q, v, tau, a, w)]
    one, two = sh.Dynamics(m, "composite"), sh.Dynamics(m, "composite", threads=2)
    for question, ask in QUESTIONS.items():
        x = many[3] if "inverse" in question else many[2]
        given = (many[0], many[1], x, 0.0, many[4] if "inverse" not in question else None)
        assert np.array_equal(ask(one, *given), ask(two, *given)), question


@pytest.mark.parametrize("method", ["separate", "extended", "maggi"])
def test_other_methods_answer_in_batches_too(method):
    m, q, v, tau, a, w = batch("four-bar", 3)
    reference, d = sh.Dynamics(m, "composite"), sh.Dynamics(m, method)
    for question, ask in QUESTIONS.items():
        given = (q, v, a if "inverse" in question else tau, 0.0, w if "inverse" not in question else None)
        assert_close(ask(d, *given), ask(reference, *given), 1e-8, scale=10.0, what=question)


def test_a_model_too_large_for_straight_lines_answers_state_by_state():
    m = sh.samples.n_four_bar(24, thin=False)
    start = sh.samples.n_four_bar_start(24, angle=1.1)
    q, v = m.assemble(start["q0"], start["v0"])
    d = sh.Dynamics(m, "composite")
    assert not d.constrained.is_small
    q, v = np.tile(q, (2, 1)), np.array([v, 0.5 * v])
    a = d.forward(q, v)
    rate = 9.81 * (25 / 2 + 24) / (25 / 3 + 24)  # the exact pendulum, whatever the speed
    assert_close(a[:, m.v_slice("foot0")][:, 0], np.full(2, -rate * np.cos(1.1)), 1e-8)
    assert d.multipliers(q, v).shape == (2, 48) and d.reactions(q, v).shape == (2, 49, 6)
    assert np.abs(d.inverse(q, v, a)).max() < 1e-6  # nothing pushes


def test_parameters_are_the_numbers_of_the_model():
    def pushed(k):
        m = STARTS["four-bar"][0]()
        m.add_parameter("k", k)
        m.add_force(lambda on: on.torque("A", on.parameter("k")), "push")
        return m

    _, q, v, tau, _, _ = batch("four-bar")
    base = sh.Dynamics(STARTS["four-bar"][0](), "composite")
    A = base.model.v_slice("A")
    for k in (0.7, -2.0):
        more = tau.copy()
        more[:, A] += k
        assert_close(sh.Dynamics(pushed(k), "composite").forward(q, v, tau), base.forward(q, v, more), 1e-11)


def test_closing_reactions_of_a_batch_are_those_of_its_states():
    m, q, v, tau, _, w = batch("four-bar", 4)
    d = sh.Dynamics(m, "composite")
    many = d.closing_reactions(q, v, tau, wrenches=w)
    for b in range(4):
        one = d.closing_reactions(q[b], v[b], tau[b], wrenches=w[b])
        assert list(one) == list(many) == ["D"]
        for body, wrench in one["D"].items():
            assert_close(many["D"][body][b], wrench, 1e-11)


@pytest.mark.parametrize("method", ["extended", "maggi"])
def test_counting_a_matrix_form_of_a_closed_model_is_refused_without_advice_that_fails(method):
    d = sh.Dynamics(sh.samples.four_bar(), method)
    for compiled in (False, True):
        with pytest.raises(sh.MethodError, match=f"nothing to count for 'forward' by '{method}'; try 'inverse'"):
            d.count("forward", compiled)
