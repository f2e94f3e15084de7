"""What may be asked of Dynamics, in which shapes, and how it refuses."""

from __future__ import annotations

import inspect
import math
import pickle
import re

import numpy as np
import pytest

import sharnir as sh
from sharnir import machine
from sharnir.backends import sizes
from sharnir.backends.runner import check_memory
from sharnir.forms import FORMS
from sharnir.model.pose import Rotation
from states import along, assert_close, derivative, oracle, random_state

B = 6
METHODS = sh.methods()
WITH_ACCELERATIONS = [m.name for m in METHODS if m.name != "momentum"]
ON_LLVM = [m.name for m in METHODS if m.name in WITH_ACCELERATIONS and "llvm" in m.backends]


def make_model():
    """Hinge, ball, free flyer, screw: nq = 13, nv = 11, nothing driven."""
    m = sh.Model("sample", gravity=(1.0, 2.0, -9.0))
    rng = np.random.default_rng(1)
    joints = {"hinge": sh.Revolute("z"), "socket": sh.Ball(), "flyer": sh.Free(), "screw": sh.Screw("x", pitch=0.2)}
    carrier = "ground"
    for name, joint in joints.items():
        m.add_body(f"{name} body", mass=rng.uniform(1, 2), com=rng.normal(size=3) * 0.1, inertia=(0.3, 0.4, 0.5))
        m.add_joint(name, joint, carrier, f"{name} body", at=sh.Pose((0.2, 0.1, 0.3)))
        carrier = f"{name} body"
    return m


MODEL = make_model()
NQ, NV, N = MODEL.nq, MODEL.nv, len(MODEL.bodies)
LLVM = sh.Dynamics(MODEL, "separate", backend="llvm")
PYTHON = sh.Dynamics(MODEL, "separate", backend="python")
EITHER = pytest.mark.parametrize("d", [LLVM, PYTHON], ids=["llvm", "python"])


def states(n=B, seed=0):
    rng = np.random.default_rng((seed, 3))
    q = np.array([MODEL.random_q(rng) for _ in range(n)]).reshape(n, NQ)
    return q, *(rng.normal(size=(n, NV)) for _ in range(3))


Q, V, TAU, A = states()
WRENCHES = np.random.default_rng(5).normal(size=(B, N, 6))

QUESTIONS = {
    "forward": (lambda d, q, v, tau, a: d.forward(q, v, tau), (NV,)),
    "reactions": (lambda d, q, v, tau, a: d.reactions(q, v, tau), (N, 6)),
    "solve, accelerations of bodies": (lambda d, q, v, tau, a: d.solve(q, v, tau).vdot, (N, 6)),
    "solve, reactions": (lambda d, q, v, tau, a: d.solve(q, v, tau).R, (N, 6)),
    "inverse": (lambda d, q, v, tau, a: d.inverse(q, v, a), (NV,)),
    "inverse_reactions": (lambda d, q, v, tau, a: d.inverse_reactions(q, v, a), (N, 6)),
    "mass_matrix": (lambda d, q, v, tau, a: d.mass_matrix(q), (NV, NV)),
    "bias": (lambda d, q, v, tau, a: d.bias(q, v), (NV,)),
    "momenta": (lambda d, q, v, tau, a: d.momenta(q, v), (NV,)),
    "velocities": (lambda d, q, v, tau, a: d.velocities(q, v), (NV,)),
    "momentum_rates": (lambda d, q, v, tau, a: d.momentum_rates(q, v, tau), (NV,)),
    "rates": (lambda d, q, v, tau, a: d.rates(q, v), (NQ,)),
    "rotations": (lambda d, q, v, tau, a: d.poses(q)[0], (N, 3, 3)),
    "positions": (lambda d, q, v, tau, a: d.poses(q)[1], (N, 3)),
    "body_velocities": (lambda d, q, v, tau, a: d.body_velocities(q, v), (N, 6)),
    "jacobian": (lambda d, q, v, tau, a: d.jacobian(q, "flyer body", (0.1, 0.2, 0.3)), (6, NV)),
    "velocity": (lambda d, q, v, tau, a: d.velocity(q, v, "flyer body", (0.1, 0.2, 0.3)), (6,)),
    "acceleration": (lambda d, q, v, tau, a: d.acceleration(q, v, a, "flyer body", (0.1, 0.2, 0.3), axes="local"), (6,)),
    "jacobian_rate": (lambda d, q, v, tau, a: d.jacobian_rate(q, v, "flyer body"), (6,)),
    "kinetic energy": (lambda d, q, v, tau, a: d.energy(q, v)[0], ()),
    "potential energy": (lambda d, q, v, tau, a: d.energy(q, v)[1], ()),
    "total momentum": (lambda d, q, v, tau, a: d.total_momentum(q, v)[0], (6,)),
    "centre of mass": (lambda d, q, v, tau, a: d.total_momentum(q, v)[1], (3,)),
}


# --- shapes -------------------------------------------------------------------------------------------------------------------
def test_every_public_question_is_asked_here():
    asked = {"forward", "reactions", "solve", "inverse", "inverse_reactions", "mass_matrix", "bias", "momenta", "velocities",
             "momentum_rates", "rates", "poses", "body_velocities", "jacobian", "velocity", "acceleration", "jacobian_rate",
             "energy", "total_momentum"}  # fmt: skip
    public = {name for name, _ in inspect.getmembers(sh.Dynamics, inspect.isfunction) if not name.startswith("_")}
    elsewhere = {
        "iterations",
        "count",
        "force_energies",
        "force_powers",
        "force_actions",
    }  # test_iterative, test_counts, test_forces
    elsewhere |= {"pose"}  # test_frames
    elsewhere |= {"state_rates", "observed"}  # test_states
    elsewhere |= {"multipliers", "closing_reactions", "inverse_closing_reactions"}  # test_loops, test_driven_loops
    elsewhere |= {"regressor"}  # test_regressor
    elsewhere |= {"forward_derivatives", "inverse_derivatives"}  # test_derivatives
    elsewhere |= {"reaction_derivatives", "energy_derivatives"}  # test_reaction_derivatives
    assert public == asked | elsewhere


@EITHER
@pytest.mark.parametrize("question", QUESTIONS)
def test_one_state_in_one_answer_out_and_a_batch_is_its_states(d, question):
    ask, shape = QUESTIONS[question]
    together = ask(d, Q, V, TAU, A)
    assert together.shape == (B, *shape) and together.dtype == float
    for b in range(B):
        one = ask(d, Q[b], V[b], TAU[b], A[b])
        assert np.shape(one) == shape
        assert_close(one, together[b], 1e-12)
    first = ask(d, Q[:1], V[:1], TAU[:1], A[:1])
    assert first.shape == (1, *shape)
    assert_close(first[0], together[0], 1e-12)


@EITHER
@pytest.mark.parametrize("question", QUESTIONS)
def test_an_empty_batch_has_an_empty_answer(d, question):
    ask, shape = QUESTIONS[question]
    assert ask(d, Q[:0], V[:0], TAU[:0], A[:0]).shape == (0, *shape)


@pytest.mark.parametrize("method", ["extended", "maggi", "direct-iterative", "lagrange1"])
def test_an_empty_batch_has_an_empty_answer_by_every_kind_of_method(method):
    d = sh.Dynamics(MODEL, method, backend="auto" if method in ("extended", "maggi") else "python")
    assert d.forward(Q[:0], V[:0], TAU[:0]).shape == (0, NV)


@EITHER
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_is_the_callers_to_keep(d, question):
    ask, _ = QUESTIONS[question]
    for states_ in ((Q, V, TAU, A), (Q[0], V[0], TAU[0], A[0])):
        first = np.array(ask(d, *states_))
        kept = ask(d, *states_)
        ask(d, *(x[::-1].copy() if x.ndim == 2 else 1.1 * x for x in states_))
        assert np.array_equal(kept, first)


KINDS_OF_ARRAYS = {
    "lists": lambda x: x.tolist(),
    "tuples": lambda x: tuple(map(tuple, x.tolist())) if x.ndim == 2 else tuple(x.tolist()),
    "Fortran order": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "reversed twice": lambda x: np.ascontiguousarray(x[..., ::-1])[..., ::-1],
    "not writable": lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
    "objects": lambda x: x.astype(object),
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "long": lambda x: x.astype(np.longdouble),
    "subclass": lambda x: x.view(np.recarray) if x.dtype.names else x.view(type("Own", (np.ndarray,), {})),
}


@EITHER
@pytest.mark.parametrize("kind", KINDS_OF_ARRAYS)
@pytest.mark.parametrize("many", [True, False], ids=["batch", "one"])
def test_arrays_of_every_kind_are_the_same_numbers(d, kind, many):
    given = [x if many else x[0] for x in (Q, V, TAU, A)]
    changed = [KINDS_OF_ARRAYS[kind](x) for x in given]
    for question in ("forward", "inverse", "mass_matrix", "rotations"):
        ask, _ = QUESTIONS[question]
        assert_close(ask(d, *changed), ask(d, *given), 1e-13, what=question)


@EITHER
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int8, np.uint16, bool])
def test_numbers_of_other_types_are_taken_at_their_value(d, dtype):
    given = [np.abs(np.round(3 * x)).astype(dtype) for x in (Q + 2.0, V, TAU, A)]
    floats = [x.astype(float) for x in given]
    for question in ("forward", "inverse", "mass_matrix"):
        ask, _ = QUESTIONS[question]
        assert np.array_equal(ask(d, *given), ask(d, *floats)) and np.array_equal(given[0].astype(float), floats[0])
        assert np.array_equal(ask(d, *(x[0] for x in given)), ask(d, *(x[0] for x in floats)))


@EITHER
def test_names_stand_for_the_rest_at_rest(d):
    q = MODEL.neutral()
    q[MODEL.q_slice("hinge")] = 0.4
    q[MODEL.q_slice("socket")] = (0.8, 0.6, 0.0, 0.0)
    v = np.zeros(NV)
    v[MODEL.v_slice("socket")] = (1.0, 2.0, 3.0)
    tau = np.zeros(NV)
    tau[MODEL.v_slice("screw")] = 0.7
    named = {"q": {"hinge": 0.4, "socket": (0.8, 0.6, 0.0, 0.0)}, "v": {"socket": (1.0, 2.0, 3.0)}, "tau": {"screw": 0.7}}
    assert_close(d.forward(**named), d.forward(q, v, tau), 1e-14)
    assert_close(d.inverse(named["q"], named["v"], {"screw": 1.0}), d.inverse(q, v, tau / 0.7), 1e-14)
    assert_close(d.forward(Q, named["v"], named["tau"]), d.forward(Q, np.tile(v, (B, 1)), np.tile(tau, (B, 1))), 1e-14)
    wrench = np.zeros((N, 6))
    wrench[1] = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert_close(d.forward(q, v, wrenches={"socket body": wrench[1]}), d.forward(q, v, wrenches=wrench), 1e-14)


@EITHER
def test_nothing_given_is_the_neutral_position_at_rest(d):
    neutral, zero = MODEL.neutral(), np.zeros(NV)
    for ask in (
        lambda q, v: d.forward(q, v), lambda q, v: d.mass_matrix(q), lambda q, v: d.bias(q, v),
        lambda q, v: d.inverse(q, v, zero), lambda q, v: d.poses(q)[1], lambda q, v: d.rates(q, v),
        lambda q, v: d.reactions(q, v), lambda q, v: d.energy(q, v)[1],
        lambda q, v: d.jacobian(q, "screw body"), lambda q, v: d.momenta(q, v), lambda q, v: d.inverse(q, v, None),
    ):  # fmt: skip
        assert_close(ask(None, None), ask(neutral, zero), 1e-14)
    assert_close(d.forward(Q, None, TAU), d.forward(Q, np.zeros((B, NV)), TAU), 1e-13)
    assert_close(d.mass_matrix(), d.mass_matrix(neutral), 1e-14)


@EITHER
def test_one_row_serves_a_whole_batch(d):
    assert_close(d.forward(Q, V[0], TAU), d.forward(Q, np.tile(V[0], (B, 1)), TAU), 1e-13)
    assert_close(d.forward(Q[0], V, TAU[0], 0.5), d.forward(np.tile(Q[0], (B, 1)), V, np.tile(TAU[0], (B, 1)), 0.5), 1e-13)
    assert_close(d.forward(Q[0], V[0], TAU[0], np.arange(3.0)), np.tile(d.forward(Q[0], V[0], TAU[0]), (3, 1)), 1e-13)
    per_state = d.forward(Q, V, TAU, wrenches=WRENCHES)
    assert_close(per_state[2], d.forward(Q[2], V[2], TAU[2], wrenches=WRENCHES[2]), 1e-12)
    shared = d.forward(Q, V, TAU, wrenches=WRENCHES[2])
    assert_close(shared[2], per_state[2], 1e-12)
    points = np.random.default_rng(0).normal(size=(B, 3))
    assert_close(d.jacobian(Q, "flyer body", points)[4], d.jacobian(Q[4], "flyer body", points[4]), 1e-12)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_nothing(threads):
    d = sh.Dynamics(MODEL, "separate", backend="llvm", threads=threads)
    q, v, tau, a = states(300)
    assert np.array_equal(d.forward(q, v, tau), LLVM.forward(q, v, tau))
    assert np.array_equal(d.inverse(q, v, a), LLVM.inverse(q, v, a))


# --- results in arrays of the caller --------------------------------------------------------------------------------------------
@EITHER
@pytest.mark.parametrize("many", [True, False], ids=["batch", "one"])
def test_results_are_written_where_the_caller_wants_them(d, many):
    q, v, tau, a = (x if many else x[0] for x in (Q, V, TAU, A))
    head = (B,) if many else ()
    for ask, shape in (
        (lambda out: d.forward(q, v, tau, out=out), (NV,)),
        (lambda out: d.inverse(q, v, a, out=out), (NV,)),
        (lambda out: d.mass_matrix(q, out=out), (NV, NV)),
        (lambda out: d.forward(q, v, tau, wrenches=WRENCHES[0], out=out), (NV,)),
    ):
        out = np.full((*head, *shape), np.nan)
        assert ask(out) is out
        assert_close(out, ask(None), 1e-14)


@EITHER
@pytest.mark.parametrize(
    "out",
    [
        np.empty((B, NV + 1)), np.empty((B + 1, NV)), np.empty(NV), np.empty((B, NV), dtype=np.float32), np.empty((NV, B)).T,
        np.empty((B, 2 * NV))[:, ::2], [[0.0] * NV] * B, np.empty((1, B, NV)), np.empty((B, NV), dtype=complex),
    ],
    ids=["wide", "long", "flat", "float32", "Fortran", "strided", "list", "deep", "complex"],
)  # fmt: skip
def test_results_do_not_go_where_they_do_not_fit(d, out):
    with pytest.raises(sh.StateError, match=rf"out: expected a C-contiguous float64 array \({B}, {NV}\), got"):
        d.forward(Q, V, TAU, out=out)


@pytest.mark.parametrize("backend", ["llvm", "python"])
@pytest.mark.parametrize("n", [1, 5, 64, 67])
@pytest.mark.parametrize("model", [MODEL, sh.samples.chain(2)], ids=lambda m: m.name)
def test_results_may_overwrite_the_forces_they_come_from(model, n, backend):
    d = sh.Dynamics(model, "separate", backend=backend)
    rng = np.random.default_rng(n)
    q = np.array([model.random_q(rng) for _ in range(n)])
    v, tau = rng.normal(size=(2, n, model.nv))
    wanted, both = d.forward(q, v, tau), tau.copy()
    d.forward(q, v, both, out=both)
    assert_close(both, wanted, 1e-13)


# --- refusals -------------------------------------------------------------------------------------------------------------------
def shapes_refused(name, size):
    yield from ((np.zeros(size - 1), f"({size - 1},)"), (np.zeros((B, size + 1)), f"({B}, {size + 1})"))
    yield from ((np.zeros((1, B, size)), f"(1, {B}, {size})"), (1.0, "()"), (np.zeros(0), "(0,)"))


WRONG = [
    pytest.param(
        name,
        value,
        (f"{name}: expected ({size},) or (B, {size}), one number each for 'hinge', ", f" more, got {shown}"),
        id=f"{name} {shown}",
    )
    for name, size in (("q", NQ), ("v", NV), ("tau", NV))
    for value, shown in shapes_refused(name, size)
]


@EITHER
@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_wrong_shape_is_named_with_the_right_one(d, name, value, message):
    with pytest.raises(sh.StateError, match=".*".join(map(re.escape, message))):
        d.forward(**({"q": Q[0], "v": V[0], "tau": TAU[0]} | {name: value}))


NOT_NUMBERS = {
    "complex": np.zeros(NV) + 1j, "complex list": [1j] * NV, "words": ["a"] * NV, "a word": "abc", "an object": object(),
    "a ragged list": [[1.0], [1.0, 2.0]], "dates": np.zeros(NV, dtype="M8[s]"), "a function": math.sin,
    "None in a list": [None] * NV,
}  # fmt: skip


@EITHER
@pytest.mark.parametrize("case", NOT_NUMBERS)
@pytest.mark.parametrize("name", ["v", "tau"])
def test_what_is_no_number_is_refused(d, name, case):
    with pytest.raises(sh.StateError, match=rf"{name}: "):
        d.forward(**({"q": Q[0], "v": V[0], "tau": TAU[0]} | {name: NOT_NUMBERS[case]}))


@EITHER
def test_what_must_be_given_is_asked_for(d):
    with pytest.raises(sh.StateError, match="p: "):
        d.velocities(Q[0], None)
    with pytest.raises(sh.StateError, match="point: "):
        d.jacobian(Q[0], "screw body", None)
    with pytest.raises(sh.StateError, match="t: "):
        d.forward(Q[0], V[0], TAU[0], None)
    with pytest.raises(sh.StateError, match="t: "):
        d.forward(Q, V, TAU, None)
    with pytest.raises(sh.StateError, match=r"t: expected a number or \(B,\), got \(1, 6\)"):
        d.forward(Q, V, TAU, np.zeros((1, B)))
    with pytest.raises(sh.StateError, match=r"point: expected \(3,\) or \(B, 3\), got \(2,\)"):
        d.jacobian(Q[0], "screw body", (1.0, 2.0))


@EITHER
@pytest.mark.parametrize(
    ("wrenches", "message"),
    [
        (np.zeros((N, 5)), r"wrenches: expected \(4, 6\) or \(B, 4, 6\), got \(4, 5\)"),
        (np.zeros((N + 1, 6)), r"wrenches: expected \(4, 6\) or \(B, 4, 6\), got \(5, 6\)"),
        (np.zeros((1, B, N, 6)), r"wrenches: expected"), (3.0, r"wrenches: expected"),
        ("push", r"wrenches: expected"), (np.zeros((N, 6)) + 1j, r"wrenches: expected"), ([["a"] * 6] * N, r"wrenches: expected"),
        ({"socket body": (1.0, 2.0)}, r"wrench on body 'socket body': expected \(6,\), got \(2,\)"),
        ({"socket body": ["a"] * 6}, r"wrench on body 'socket body': expected"),
    ],
)  # fmt: skip
def test_wrenches_that_are_none(d, wrenches, message):
    with pytest.raises(sh.StateError, match=message):
        d.forward(Q[0], V[0], TAU[0], wrenches=wrenches)
    with pytest.raises(sh.ModelError, match="no body 'moon'"):
        d.forward(wrenches={"moon": np.zeros(6)})


@EITHER
def test_batches_of_different_sizes_are_told_apart(d):
    with pytest.raises(sh.StateError, match=r"batches of different sizes \(q: 6, v: 5, tau: 6\)"):
        d.forward(Q, V[:5], TAU)
    with pytest.raises(sh.StateError, match=r"batches of different sizes"):
        d.forward(Q, V[:1], TAU)
    with pytest.raises(sh.StateError, match=r"batches of different sizes"):
        d.forward(Q, V, TAU, np.zeros(5))
    with pytest.raises(sh.StateError, match=r"batches of different sizes"):
        d.forward(Q, V, TAU, wrenches=WRENCHES[:4])


@EITHER
def test_an_empty_batch_is_not_one_row_for_all(d):
    with pytest.raises(sh.StateError, match=r"batches of different sizes"):
        d.forward(Q, V[:0], TAU)
    with pytest.raises(sh.StateError, match=r"batches of different sizes"):
        d.forward(Q[:0], V, TAU)


BAD = [math.nan, math.inf, -math.inf]


@EITHER
@pytest.mark.parametrize("bad", BAD)
def test_one_state_that_is_not_finite_names_its_coordinate(d, bad):
    """In a batch it comes out as nan, in its own row only."""
    for k, name in ((0, "hinge"), (NQ - 1, "screw")):
        q, many = Q[0].copy(), Q.copy()
        q[k] = many[3, k] = bad
        with pytest.raises(sh.StateError, match=rf"q: '{name}' is {bad}"):
            d.forward(q, V[0], TAU[0])
        found = d.forward(many, V, TAU)
        assert np.isnan(found[3]).any() and np.isfinite(np.delete(found, 3, axis=0)).all()
    tau = TAU[0].copy()
    tau[1] = bad
    with pytest.raises(sh.StateError, match=rf"tau: 'socket.wx' is {bad}"):
        d.forward(Q[0], V[0], tau)
    a = A[0].copy()
    a[0] = bad
    with pytest.raises(sh.StateError, match=rf"a: 'hinge' is {bad}"):
        d.inverse(Q[0], V[0], a)
    with pytest.raises(sh.StateError, match="point: 'y' is"):
        d.jacobian(Q[0], "screw body", (0.0, bad, 0.0))
    with pytest.raises(sh.StateError, match="t: expected a finite time"):
        d.forward(Q[0], V[0], TAU[0], bad)


@EITHER
def test_large_numbers_are_numbers(d):
    v = np.zeros(NV)
    v[-1] = 1e160  # its square is not a double, but the momentum is
    assert np.isfinite(d.momenta(Q[0], v)).all()
    assert np.isfinite(d.forward(Q[0], np.zeros(NV), v)).all()


# --- methods and backends -------------------------------------------------------------------------------------------------------
def test_the_table_of_methods_lists_every_method_and_prints():
    text = str(METHODS).splitlines()
    assert [line.split()[0] for line in text] == ["method", *(m.name for m in METHODS)]
    assert repr(METHODS) == str(METHODS) and all(m.what in str(METHODS) and m.cost in str(METHODS) for m in METHODS)
    for m in METHODS:
        assert sh.Dynamics(MODEL, m.name).method == m.name
        assert m.name in FORMS or m.program or m.name == "momentum"


@pytest.mark.parametrize("method", WITH_ACCELERATIONS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_method_is_the_extended_system(method, seed):
    model = sh.samples.tree(7, branching=(1.0, 1.6, 3.0)[seed - 1], seed=seed)
    s = random_state(model, seed)
    _, wanted = oracle(model, s)
    d = sh.Dynamics(model, method, backend="python")
    assert_close(d.forward(s.q, s.v, s.tau, s.t, s.wrenches), wanted.qdd)
    assert_close(d.reactions(s.q, s.v, s.tau, s.t, s.wrenches), wanted.R)
    found = d.solve(s.q, s.v, s.tau, s.t, s.wrenches)
    for key in ("qdd", "vdot", "R"):
        assert_close(getattr(found, key), getattr(wanted, key), what=key)


@pytest.mark.parametrize("method", ON_LLVM)
def test_every_method_is_the_extended_system_on_llvm(method):
    model = sh.samples.tree(4, branching=1.5, seed=8)
    s = random_state(model, 1)
    _, wanted = oracle(model, s)
    d = sh.Dynamics(model, method, backend="llvm")
    assert d.backend == "llvm"
    assert_close(d.forward(s.q, s.v, s.tau, s.t, s.wrenches), wanted.qdd)
    assert_close(d.reactions(s.q, s.v, s.tau, s.t, s.wrenches), wanted.R)
    assert_close(d.mass_matrix(s.q), oracle(model, s)[0].M_r)


@pytest.mark.parametrize("method", ["extended", "maggi"])
def test_the_sparse_methods_take_batches_and_arrays_to_write_in(method):
    d = sh.Dynamics(MODEL, method)
    wanted = LLVM.forward(Q, V, TAU, wrenches=WRENCHES)
    out = np.empty_like(wanted)
    assert d.forward(Q, V, TAU, wrenches=WRENCHES, out=out) is out
    assert_close(out, wanted)
    assert_close(d.forward(Q, V[0], TAU, wrenches=WRENCHES[0])[3], LLVM.forward(Q[3], V[0], TAU[3], wrenches=WRENCHES[0]))
    assert d.backend == "sparse"


def test_the_form_in_momenta_says_what_it_has_instead_of_accelerations():
    d = sh.Dynamics(MODEL, "momentum")
    with pytest.raises(sh.MethodError, match="no accelerations; use velocities and momentum_rates"):
        d.forward(Q[0])
    p = d.momenta(Q, V)
    assert_close(d.velocities(Q, p), V)
    assert d.momentum_rates(Q, p, TAU).shape == (B, NV)


def test_a_method_that_does_not_run_on_a_backend_says_so():
    with pytest.raises(sh.MethodError, match="method 'inverse-iterative' runs on 'python', 'loops', not on 'llvm'"):
        sh.Dynamics(MODEL, "inverse-iterative", backend="llvm")
    for threads in (0, -1, 1.5, "two", None):
        with pytest.raises(sh.MethodError, match="threads must be a whole number, at least 1"):
            sh.Dynamics(MODEL, threads=threads)


def test_why_a_method_was_chosen():
    asked = sh.Dynamics(MODEL, "direct")
    assert asked.why == asked.why.details == "'direct' was requested" and asked.method == "direct"
    short, long = sh.Dynamics(sh.samples.chain(3)), sh.Dynamics(sh.samples.chain(300))
    assert "as straight-line code: " + repr(short.method) in short.why.details
    assert long.method == "separate" and "as loops: 'separate'" in long.why.details
    assert re.fullmatch(f"'{short.method}' is predicted to be the fastest of . methods, as straight-line code", short.why)
    assert all(isinstance(d.why, str) and len(d.why) < 100 and " ns" not in d.why for d in (short, long))
    assert pickle.loads(pickle.dumps(short)).why.details == short.why.details == pickle.loads(pickle.dumps(short.why)).details


def test_auto_takes_straight_lines_for_small_models_and_loops_for_large_ones(monkeypatch):
    small = sh.Dynamics(sh.samples.chain(2), "separate")
    assert small.backend == "llvm" and "backend='llvm'" in repr(small)
    monkeypatch.setattr(sizes, "PROGRAM", 100)
    large = sh.Dynamics(sh.samples.chain(2), "separate")
    assert large.backend == "loops"
    assert sh.Dynamics(sh.samples.chain(2), "separate", backend="llvm").backend == "llvm"  # asked for: no limit
    chosen = sh.Dynamics(sh.samples.chain(2))
    assert "as loops" in chosen.why and chosen.backend == "loops"
    monkeypatch.setattr(sizes, "PROGRAM", 40_000)
    monkeypatch.setattr(sizes, "BODIES", 1)
    assert sh.Dynamics(sh.samples.chain(2), "separate").backend == "loops"
    assert sh.Dynamics(sh.samples.chain(2), "direct-iterative").backend == "loops"


@pytest.mark.parametrize("backend", ["loops", "python"])
def test_work_arrays_beyond_memory_are_refused_with_the_way_out(backend, monkeypatch):
    monkeypatch.setattr(machine, "memory", lambda: 2**20)
    d = sh.Dynamics(sh.samples.chain(200), "direct", backend=backend)
    with pytest.raises(
        sh.MethodError, match=r"'forward/direct' would need .* GiB, of .* for 200 bodies and 200 freedoms.*'separate'"
    ):
        d.forward()
    monkeypatch.setattr(machine, "memory", lambda: 0)  # not known: tried
    check_memory(d.formulation.programs.runner("forward/direct", backend="python").program, d.structure)


def test_a_matrix_beyond_memory_is_refused_with_the_way_out(monkeypatch):
    """The answer alone may be too large, where the work arrays are not."""
    d = sh.Dynamics(sh.samples.chain(300), "composite", "loops")
    monkeypatch.setattr(machine, "memory", lambda: 8 * 300**2)
    with pytest.raises(sh.MethodError, match=r"'inertia/composite' would need .* GiB, .* 300 bodies.*ask for accelerations"):
        d.mass_matrix()


# --- a joint that moves no mass -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", [m.name for m in METHODS])
@pytest.mark.parametrize("backend", ["auto", "llvm", "loops", "python"])
def test_a_joint_that_moves_no_mass_is_named_where_a_motion_is_sought_from_forces(method, backend):
    m = sh.Model("pencil")
    m.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_body("lead", mass=0.5, com=(0.5, 0.0, 0.0))
    m.add_joint("shoulder", sh.Revolute("z"), "ground", "arm")
    m.add_joint("twist", sh.Revolute("x"), "arm", "lead")
    info = next(x for x in METHODS if x.name == method)
    if backend != "auto" and backend not in info.backends and "sparse" not in info.backends:
        wanted, message = sh.MethodError, "runs on"
    else:
        wanted, message = sh.SingularError, "joint 'twist' moves no mass"
    with pytest.raises(wanted, match=message):
        sh.Dynamics(m, method, backend=backend).forward()


# --- answers --------------------------------------------------------------------------------------------------------------------
FOREST = [sh.samples.all_joints(3), sh.samples.tree(8, seed=3)]


@pytest.mark.parametrize("model", FOREST, ids=lambda m: m.name)
def test_a_jacobian_is_the_derivative_of_a_point(model):
    s = random_state(model, 4)
    d = sh.Dynamics(model, "separate", backend="python")
    point = np.array([0.1, -0.2, 0.3])
    J = np.array([d.jacobian(s.q, body.name, point, s.t) for body in model.bodies])
    R = d.poses(s.q, s.t)[0]
    at_rest = d.rates(s.q, None, s.t)
    for a in range(model.nv):
        rates = d.rates(s.q, np.eye(model.nv)[a], s.t) - at_rest
        slope = derivative(lambda x, rates=rates: stacked(*d.poses(s.q + x * rates, s.t)), 0.01)  # (N, 3, 4)
        W = slope[:, :, :3] @ R.swapaxes(1, 2)
        assert_close(J[:, :3, a], slope[:, :, 3] + slope[:, :, :3] @ point, 1e-7, scale=1.0)
        assert_close(J[:, 3:, a], W[:, [2, 0, 1], [1, 2, 0]], 1e-7, scale=1.0)


def stacked(R, r):
    return np.concatenate([R, r[:, :, None]], axis=2)


def unit_line(model, d, s):
    """Along the motion, with the quaternions kept whatever their length: poses know only their direction."""
    return along(s, d.rates(s.q, s.v, s.t), np.zeros(model.nv))


@pytest.mark.parametrize("model", FOREST, ids=lambda m: m.name)
def test_velocities_are_the_derivatives_of_poses(model):
    s = random_state(model, 5)
    d = sh.Dynamics(model, "separate", backend="python")
    line = unit_line(model, d, s)
    R, _ = d.poses(s.q, s.t)
    velocity = d.body_velocities(s.q, s.v, s.t)
    slope = derivative(lambda x: d.poses(line(x)[0], line(x)[2])[1], 0.01)
    assert_close(np.einsum("bij,bj->bi", R, velocity[:, :3]), slope, 1e-7)


@pytest.mark.parametrize("model", FOREST, ids=lambda m: m.name)
def test_total_momentum_and_energy_are_sums_over_bodies(model):
    s = random_state(model, 6)
    d = sh.Dynamics(model, "separate", backend="python")
    R, r = d.poses(s.q, s.t)
    V = d.body_velocities(s.q, s.v, s.t)
    momentum, kinetic, first, mass = np.zeros(6), 0.0, np.zeros(3), 0.0
    for body, rotation, place, v in zip(model.bodies, R, r, V, strict=True):
        omega, com = rotation @ v[3:], rotation @ np.array(body.com)
        speed = rotation @ v[:3] + np.cross(omega, com)  # of the centre of mass
        J = rotation @ body.inertia_matrix() @ rotation.T
        momentum += np.concatenate([body.mass * speed, J @ omega + np.cross(place + com, body.mass * speed)])
        kinetic += 0.5 * body.mass * speed @ speed + 0.5 * omega @ J @ omega
        first += body.mass * (place + com)
        mass += body.mass
    found, centre = d.total_momentum(s.q, s.v, s.t)
    assert_close(found, momentum)
    assert_close(centre, first / mass)
    assert_close(d.energy(s.q, s.v, s.t), [kinetic, -np.dot(model.gravity, first)])


def test_the_power_of_forces_is_the_rate_of_energy():
    model = sh.samples.tree(6, seed=6)
    s = random_state(model, 7)
    d = sh.Dynamics(model, "separate", backend="llvm")
    a = d.forward(s.q, s.v, s.tau)
    line = along(s, d.rates(s.q, s.v), a)
    assert_close(derivative(lambda x: sum(d.energy(*line(x)[:2])), 0.005), s.tau @ s.v, 1e-6, scale=10.0)


def test_poses_turn_by_the_rotations_they_return():
    d = sh.Dynamics(sh.samples.chain(1), backend="llvm")
    R, r = d.poses([0.3])
    assert_close(R[0], Rotation.about("z", 0.3).matrix, 1e-15)
    assert_close(r[0], [0.0, 0.0, 0.0], 1e-15)


def test_a_mechanism_without_freedom_answers_every_question():
    m = sh.Model("clockwork")
    m.add_body("hand", mass=1.0, com=(0.2, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    m.add_joint("wheel", sh.Revolute("z", motion=lambda t: sh.sin(2 * t)), "ground", "hand")
    for backend in ("python", "llvm"):
        d = sh.Dynamics(m, "separate", backend=backend)
        assert d.forward(t=0.3).shape == (0,) and d.mass_matrix(t=0.3).shape == (0, 0)
        assert_close(d.reactions(t=0.3)[0], oracle(m, random_state(m))[1].R[0] * 0 + d.solve(t=0.3).R[0])
        assert d.energy(t=0.3)[0] == pytest.approx(0.5 * (0.1 + 0.04) * (2 * math.cos(0.6)) ** 2)
        assert d.forward(np.zeros((3, 0)), np.zeros((3, 0))).shape == (3, 0)


@pytest.mark.parametrize("backend", ["llvm", "loops", "python"])
def test_a_result_is_not_written_where_nothing_may_be_written(backend):
    m = sh.samples.chain(3)
    d = sh.Dynamics(m, "separate", backend)
    q = np.zeros((9, 3))
    frozen = np.frombuffer(bytes(8 * 27)).reshape(9, 3)
    for out, asked in ((frozen, q), (frozen[0], q[0])):
        with pytest.raises(sh.StateError, match="out: the array is read-only"):
            d.forward(asked, asked, asked, out=out)
    assert not frozen.any()
