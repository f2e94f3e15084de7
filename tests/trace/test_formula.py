"""Formulas: the functions Python would make of the same text, on floats and symbols; everything else is refused, soon."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharnir as sh
from sharnir.model.joints.traced import trace_drive
from sharnir.trace.formula_parser import FUNCTIONS, MAX_LENGTH
from work import counted

WORDS = {name: getattr(sh, name) for name in FUNCTIONS} | {"pi": math.pi, "e": math.e}
SAFE = ("sin", "cos", "atan", "tanh", "abs", "sinh", "floor", "sign")


def texts() -> st.SearchStrategy[str]:
    leaf = st.one_of(st.sampled_from(["x", "y", "pi", "e"]), st.floats(0.1, 9.0).map(repr))
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.builds("({} {} {})".format, inner, st.sampled_from("+-*/%"), inner),
            st.builds("{}({})".format, st.sampled_from(SAFE), inner),
            st.builds("-{}".format, inner),
            st.builds("{}**2".format, inner.map(lambda x: f"({x})")),
            st.builds("select({} {} {}, {}, {})".format, inner, st.sampled_from(["<", "<=", ">", ">="]), inner, inner, inner),
            st.builds("{}({}, {})".format, st.sampled_from(["minimum", "maximum", "atan2", "mod", "hypot"]), inner, inner),
        ),
        max_leaves=12,
    )


@given(texts(), st.floats(-2.0, 2.0), st.floats(-2.0, 2.0))
@settings(max_examples=150, deadline=None)
def test_a_formula_is_what_python_makes_of_its_text(text, x, y):
    found = sh.formula(text, "x", "y")(x, y)
    try:
        wanted = eval(text, {"__builtins__": {}}, {**WORDS, "x": x, "y": y})
    except (ZeroDivisionError, OverflowError):
        return  # Python raises where compiled code has inf or nan
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    "text", ["0.3*sin(2*t)", "t**3 - 2*t", "exp(-t)*cos(pi*t)", "select(t < 1, t, 1)", "power(t + 2, 2.5)", "3"]
)
def test_it_is_traced_and_differentiated_like_a_python_function(text):
    by_text, by_python = (trace_drive(f, "f") for f in (sh.formula(text, "t"), eval(f"lambda t: {text}", dict(WORDS))))
    for t in (0.3, 0.7, 1.9):
        assert by_text(t) == by_python(t)


def test_it_remembers_its_text():
    f = sh.formula("a*sin(b*t)", "t", where={"a": "0.1*t", "b": "2 + a"})
    assert f.text == "a*sin(b*t)" and f.variables == ("t",)
    assert f == sh.formula("a*sin(b*t)", "t", where={"a": "0.1*t", "b": "2 + a"})
    assert f != sh.formula("a*sin(b*t)", "t", where={"a": "0.2*t", "b": "2 + a"}) and f != sh.formula("sin(t)", "t")
    assert len({f, sh.formula("a*sin(b*t)", "t", where={"a": "0.1*t", "b": "2 + a"})}) == 1
    assert f(2.0) == 0.2 * math.sin((2 + 0.2) * 2.0)
    assert eval(repr(f), {"formula": sh.formula}) == f


def test_it_works_on_arrays():
    assert np.array_equal(sh.formula("x**2 + 1", "x")(np.array([1.0, 2.0])), [2.0, 5.0])


def test_a_variable_comes_before_a_constant():
    assert sh.formula("e*pi", "e")(2.0) == 2.0 * math.pi


def test_numbers_never_raise():
    assert sh.formula("1/x", "x")(0.0) == math.inf and math.isnan(sh.formula("sqrt(x)", "x")(-1.0))
    assert sh.formula("9**9**9")() == math.inf and sh.formula("1e308*1e308")() == math.inf


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected a formula"),
        ("   ", "expected a formula"),
        ("2*", "cannot be read"),
        ("0.3*sin(2*x)", "unknown name 'x'; it may use 't', 'pi', 'e'"),
        ("tt", "did you mean 't'?"),
        ("sine(t)", "did you mean 'sin'?"),
        ("sin", "sin is a function: write sin(…)"),
        ("sin(t, t)", "sin takes 1 argument, got 2"),
        ("select(t, 1, 2)", "select needs one comparison"),
        ("select(0 < t < 1, 1, 2)", "select needs one comparison"),
        ("t < 1", "a comparison is allowed only in select"),
        ("t if t else 1", "IfExp is not allowed"),
        ("[t]", "List is not allowed"),
        ("t << 2", "BinOp is not allowed"),
        ("grip(t)", "unknown function 'grip'"),
        ("t and t", "BoolOp is not allowed"),
        ("lambda: 1", "Lambda is not allowed"),
        ("(t := 1)", "NamedExpr is not allowed"),
        ("'t'", "is not a number"),
        ("True", "is not a number"),
        ("1j", "is not a number"),
        ("1e400*t + " + "9" * 400, "too large"),
        ("__import__('os')", "unknown function '__import__'"),
        ("().__class__", "belongs to a signal"),
        ("t.real", "unknown signal 't'"),
        ("q.elbow", "unknown signal 'q'; there are no signals"),
        ("sin(x=t)", "sin takes 1 argument"),
        ("sin(*t)", "Starred is not allowed"),
        ("f'{t}'", "JoinedStr is not allowed"),
        ("t # more", "comment"),
        ("t; t", "cannot be read"),
        ("t = 1", "cannot be read"),
        ("\0", "cannot be read"),
        ("-" * 3000 + "t", "formula"),
        ("(" * 1000 + "t" + ")" * 1000, "cannot be read"),
        ("sin(" * 150 + "t" + ")" * 150, "nested more than"),
        ("t" + "+t" * MAX_LENGTH, f"longer than {MAX_LENGTH} characters"),
        ("t" + "**t" * 1000, "nested more than"),
    ],
)
def test_what_is_no_formula_is_refused_at_once(text, says):
    with counted() as work, pytest.raises(sh.ModelError) as found:
        sh.formula(text, "t")
    assert says in str(found.value)
    assert work.calls < 10_000


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: sh.formula("t", "t", "t"), "'t' is given twice"),
        (lambda: sh.formula("t", "t t"), "names consist of letters"),
        (lambda: sh.formula("a", "t", where={"a": "b", "b": "t"}), "unknown name 'b'"),
        (lambda: sh.formula(None, "t"), "expected a formula or a number"),
        (
            lambda: sh.PoseFormula(turns=[("w", "t")]),
            "turns[0].axis: expected 'x', 'y', 'z', '-x', '-y', '-z' or three numbers, got 'w'",
        ),
        (lambda: sh.PoseFormula(turns=[("x", "t")], quaternion=(1, 0, 0, 0)), "not both"),
        (lambda: sh.PoseFormula(position=("t", 0.0)), "expected 3 formulas"),
        (lambda: sh.VectorFormula("t", 0.0), "expected 3 formulas"),
        (lambda: sh.VectorFormula("q", 0, 0), "q needs the name"),
        (lambda: sh.VectorFormula("q.a.b.c.d", 0, 0), "at most three words"),
        (lambda: sh.VectorFormula("q[1]", 0, 0), "belongs to a signal"),
    ],
)
def test_mistakes_are_named(make, says):
    with pytest.raises(sh.ModelError) as found:
        make()
    assert says in str(found.value)


# --- poses, constraints, signals ------------------------------------------------------------------------------------------
def test_a_pose_by_formulas_is_the_one_written_in_python():
    f = sh.PoseFormula(("cos(a)", "b*t", 0.1), [("z", "a + t"), ((0.6, 0.8, 0.0), "b")], variables=("a", "b", "t"))
    R = sh.Rotation.about("z", 0.3 + 0.5) @ sh.Rotation.about((0.6, 0.8, 0.0), 0.4)
    found = f((0.3, 0.4), 0.5)
    assert found.position == (math.cos(0.3), 0.4 * 0.5, 0.1) and found.rotation.entries == R.entries
    by_quaternion = sh.PoseFormula(quaternion=("cos(t)", "sin(t)", 0, 0))(0.3)
    assert np.allclose(by_quaternion.rotation.matrix, sh.Rotation.about("x", 0.6).matrix, atol=1e-15)


def test_signals_read_joints_bodies_and_parameters():
    m = sh.Model("signals")
    for body in "ab":
        m.add_body(body, 1.0, (0.1, 0.2, 0.3), (0.1, 0.1, 0.1))
    m.add_joint("left hinge", sh.Revolute("y"), "ground", "a")
    m.add_joint("cross", sh.Universal(), "a", "b", at=sh.Pose((1.0, 0.0, 0.0)))
    m.add_parameter("k", 3.0)
    python, text = m.copy(), m.copy()
    python.add_force(
        sh.Wrench(
            "b",
            force=lambda t, on: (t * on.q("left hinge"), on.v("cross")[1], on.parameter("k") * on.point("b")[0][2]),
            moment=lambda t, on: (on.point("b")[1][0], 0.0, on.q("cross")[0]),
        )
    )
    force = sh.VectorFormula("t*q['left hinge']", "v.cross.second", "k*position.b.z", where={"k": "parameter.k"})
    text.add_force(sh.Wrench("b", force=force, moment=sh.VectorFormula("velocity.b.x", 0, "q.cross.first")))
    state = ([0.3, 0.4, 0.5], [0.6, 0.7, 0.8], None, 0.9)
    one, two = (sh.Dynamics(x, backend="python").forward(*state) for x in (python, text))
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("path", ["q.cross", "q.cross.third", "position.b", "velocity.b.w", "parameter.k.k"])
def test_a_signal_that_is_not_one_number_is_refused(path):
    m = sh.Model("signals")
    m.add_body("b", 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("cross", sh.Universal(), "ground", "b")
    m.add_parameter("k", 1.0)
    m.add_force(sh.Wrench("b", force=sh.VectorFormula(path, 0, 0)))
    with pytest.raises(sh.SharnirError, match=r"name one of|no parameter"):
        sh.Dynamics(m, backend="python")
