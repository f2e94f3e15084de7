"""Formulas are the equations of `Dynamics`, in every form they are handed on in, and read as in textbooks."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from benchmarks import equations as mechanisms

import joint_table
import parametric_models
import sharnir as sh
from sharnir.derivation.equations_of_motion import EquationsOfMotion
from sharnir.derivation.exact import exact, root
from sharnir.derivation.names import written
from sharnir.samples import random_parts

BUILD = {build.__name__: build for build in mechanisms.MODELS}


@cache
def derived(name: str) -> tuple[sh.Model, EquationsOfMotion]:
    model = BUILD[name]()
    return model, sh.derive(model)


# --- numbers ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", BUILD)
def test_mechanisms_of_textbooks_agree_with_dynamics(name):
    model, equations = derived(name)
    assert equations.simplified
    assert mechanisms.off(model, equations) < 1e-12


def jointed(joint: sh.Joint, seed: int) -> sh.Model:
    rng = np.random.default_rng(seed)
    m = sh.Model("one joint")
    random_parts.random_body(m, "a", rng)
    m.add_joint("A", joint, "ground", "a", at=random_parts.random_pose(rng), child_at=random_parts.random_pose(rng))
    if not m.nv:
        random_parts.random_body(m, "b", rng)
        m.add_joint("B", sh.Revolute("y", damping=0.1, stiffness=0.3), "a", "b")
    return m


def joints() -> dict[str, sh.Joint]:
    rng = np.random.default_rng(3)
    every = [*random_parts.random_joints(rng), random_parts.random_custom(rng), random_parts.random_compound(rng)]
    every += [random_parts.random_constraint(), *random_parts.random_driven(rng)]
    return {f"{k} {type(joint).__name__}{' driven' if joint.motion else ''}": joint for k, joint in enumerate(every)}


JOINTS = joints()


@pytest.mark.parametrize("name", JOINTS)
def test_every_joint_type_agrees_with_dynamics(name):
    model = jointed(JOINTS[name], 5)
    assert mechanisms.off(model, sh.derive(model), states=2) < 1e-12


def test_forces_of_the_user_parameters_couplings_and_loops_agree_with_dynamics():
    linkage = parametric_models.linkage()
    equations = sh.derive(linkage)
    assert equations.simplified and equations.form == "lagrange1" and "J" in equations.parts
    assert mechanisms.off(linkage, equations, states=2) < 1e-12
    arm = parametric_models.arm()  # too long to simplify
    equations = sh.derive(arm)
    assert not equations.simplified and equations.definitions and "too long to simplify" in equations.notes[0]
    assert mechanisms.off(arm, equations, states=2) < 1e-12


FORCES = {
    "spring": lambda: sh.SpringDamper(
        "ground", "bob", at_a=(0.3, 0.1, 0.0), at_b=(0, 0, -0.5), stiffness=3.0, length=0.2, damping=0.1
    ),
    "friction": lambda: sh.JointFriction("theta", coulomb=0.3, slip=0.05),
    "stop": lambda: sh.JointStop("theta", low=-0.1, high=0.1, stiffness=10.0, damping=1.0),
    "drag": lambda: sh.Drag("bob", at=(0, 0, -0.5), quadratic=0.2),
    "user": lambda: lambda on: on.torque("theta", sh.select(on.t < 1.0, sh.sin(3.0 * on.t), abs(on.v("theta")))),
}


@pytest.mark.parametrize("name", FORCES)
def test_forces_are_in_the_formulas(name):
    model = BUILD["pendulum"]()
    model.add_force(FORCES[name]())
    equations = sh.derive(model)
    assert equations.simplified and equations.parts["forces"][0] != 0
    assert mechanisms.off(model, equations) < 1e-12
    assert "<math" in equations.html() and "Q" in equations.latex("forces")


def test_python_code_solves_a_closed_system():
    model = sh.samples.slider_crank()
    space: dict = {}
    exec(sh.derive(model).python(), space)
    q, _ = model.assemble({"main": 0.7})
    d, v = sh.Dynamics(model), np.array([0.3, -0.1, 0.2])
    a, lam = space["forward"](q, v, [1.0, 0.0, -2.0])
    assert np.allclose(a, d.forward(q, v, [1.0, 0.0, -2.0]), rtol=1e-9)
    assert np.allclose(lam, d.multipliers(q, v, [1.0, 0.0, -2.0]), rtol=1e-9)


def test_python_code_has_parameters_by_name_and_their_values_by_default():
    model, equations = derived("pendulum")
    space: dict = {}
    exec(equations.python(), space)
    d, state = sh.Dynamics(model), ([0.4], [1.5], [0.2])
    assert np.allclose(space["forward"](*state)[0], d.forward(*state), rtol=1e-12)
    assert np.allclose(space["forward"](*state, l=0.7)[0], d.forward(*state, parameters={"l": 0.7}), rtol=1e-12)


@pytest.mark.parametrize("name", BUILD)
def test_kinetic_energy_is_half_v_m_v_and_gravity_the_slope_of_the_potential(name):
    x = derived(name)[1].sympy()
    v = sp.Matrix(x["v"])
    assert sp.expand(sp.expand_trig(x["kinetic"] - (v.T * x["M"] * v)[0] / 2)).simplify() == 0
    for q, g in zip(x["q"], x["gravity"], strict=True):
        assert sp.expand(sp.expand_trig(sp.diff(x["potential"], q) - g)).simplify() == 0


def test_hamilton_has_the_momenta_of_dynamics_and_their_rates():
    model, _ = derived("double_pendulum")
    equations = sh.derive(model, "hamilton")
    x = equations.sympy()
    values = dict(zip([*x["q"], *x["v"]], (0.3, -0.7, 1.1, 0.4), strict=True)) | {
        symbol: model.parameters[name] for name, symbol in x["parameters"].items()
    }
    p, dp = (np.array(x[name].subs(values), dtype=float).ravel() for name in ("momentum", "momentum rates"))
    d = sh.Dynamics(model)
    assert np.allclose(p, d.mass_matrix([0.3, -0.7]) @ [1.1, 0.4], rtol=1e-12)
    # d(Mv)/dt = (dM/dt) v + M v̇, by Lagrange's equations
    h, a = 1e-6, d.forward([0.3, -0.7], [1.1, 0.4])
    slope = [d.mass_matrix(np.array([0.3, -0.7]) + s * np.array([1.1, 0.4])) for s in (h, -h)]
    assert np.allclose(dp, (slope[0] - slope[1]) / (2 * h) @ [1.1, 0.4] + d.mass_matrix([0.3, -0.7]) @ a, rtol=1e-7)
    assert r"\dot{p}_{1}" in equations.latex() and "p_{2}" in equations.latex("momentum")


# --- textbooks --------------------------------------------------------------------------------------------------------------
def test_a_pendulum_and_a_cart_pole_read_as_in_textbooks():
    assert derived("pendulum")[1].latex("equations").splitlines()[1] == (
        r"\left(J + l^{2} m\right)\ddot{\theta} + g l m \sin {\theta} &= \tau"
    )
    assert derived("cart_pole")[1].latex("equations").splitlines()[1:3] == [
        r"\left(M + m\right)\ddot{x} + l m \cos {\theta} \ddot{\theta} - l m \dot{\theta}^{2} \sin {\theta} &= \tau_{1} \\",
        r"l m \cos {\theta} \ddot{x} + \left(J + l^{2} m\right)\ddot{\theta} - g l m \sin {\theta} &= \tau_{2}",
    ]


def test_a_double_pendulum_has_angle_sums_and_a_top_squares():
    x = derived("double_pendulum")[1].sympy()
    m1, m2, l1, l2, g = (x["parameters"][name] for name in ("m1", "m2", "l1", "l2", "g"))
    first, second = x["q"]
    assert x["gravity"][1] == g * l2 * m2 * sp.cos(first + second)
    assert x["M"][0] == l1**2 * (m1 + m2) + 2 * l1 * l2 * m2 * sp.cos(second) + l2**2 * m2
    x = derived("top")[1].sympy()
    A, C, m, l = (x["parameters"][name] for name in "ACml")
    theta = x["q"][1]
    assert x["M"][0, 0] == C * sp.cos(theta) ** 2 + (A + l**2 * m) * sp.sin(theta) ** 2


def test_the_page_of_equations_is_what_the_code_gives():
    assert (Path(mechanisms.__file__).parents[1] / mechanisms.PAGE).read_text(encoding="utf-8") == mechanisms.text()


def test_formulas_are_the_same_again():
    assert sh.derive(BUILD["top"]()).latex() == derived("top")[1].latex()


@pytest.mark.parametrize(
    ("x", "meant"),
    [(0.08333333333333333, "1/12"), (9.81, "981/100"), (0.1 + 0.2, "3/10"), (1 / 7, "1/7"), (2.194e-6, "1097/500000000")],
)
def test_floats_are_the_numbers_they_were_meant_to_be(x, meant):
    assert str(exact(x)) == meant


def test_roots_are_found_and_other_numbers_stay():
    assert root(np.sqrt(0.5)) == (sp.Rational(1, 2), 2) and root(-np.sqrt(3) / 2) == (-sp.Rational(1, 2), 3)
    x = random.Random(1).random()
    assert exact(x) == x and root(x) is None and exact(np.inf) == np.inf


@pytest.mark.parametrize(
    ("name", "latex", "identifier"),
    [
        ("theta1", r"\theta_{1}", "theta_1"),
        ("m_c", "m_{c}", "m_c"),
        ("joint 1.x", r"x_{\mathrm{joint\ 1}}", "x_joint_1"),
        ("pole.com.z", r"c_{z,\mathrm{pole}}", "c_z_pole"),
        ("gravity.z", "g_{z}", "g_z"),
        ("knee.wx", r"\omega_{x,\mathrm{knee}}", "omega_x_knee"),
        ("lambda", r"\lambda", "lambda_"),
        ("1st", r"\mathrm{1st}", "x_1st"),
    ],
)
def test_names_are_readable(name, latex, identifier):
    found = written(name)
    assert (found.latex, found.identifier) == (latex, identifier)


def test_names_that_would_be_equal_are_told_apart():
    m = sh.Model("names")
    x = m.add_parameter("x", 2.0)
    for name, carrier, body in (("x", "ground", "a"), ("q", "a", "b"), ("theta1", "b", "c"), ("theta_1", "c", "d")):
        m.add_body(body, mass=x)
        m.add_joint(name, sh.Prismatic("x"), carrier, body)
    equations = sh.derive(m)
    symbols = [symbol for group in ("q", "v", "a", "tau", "parameters", "t") for symbol in equations.symbols[group]]
    assert len({symbol.name for symbol in symbols}) == len(symbols)
    assert mechanisms.off(m, equations) < 1e-12


# --- choices and refusals ---------------------------------------------------------------------------------------------------
def test_parameters_choose_the_letters():
    model = BUILD["cart_pole"]()
    equations = sh.derive(model, parameters=["l"])
    assert set(equations.parameters) == {"l"}
    assert equations.parts["M"].free_symbols == {*equations.symbols["q"][1:], *equations.symbols["parameters"]}
    path = sh.derive(sh.samples.pendulum(), parameters=["bar.mass"])
    assert path.parameters == {"bar.mass": 1.0} and "m_{\\mathrm{bar}}" in path.latex("M")
    assert "bar.mass" not in sh.samples.pendulum().parameters
    with pytest.raises(sh.ModelError, match=r"did you mean 'bar\.mass'"):
        sh.derive(sh.samples.pendulum(), parameters=["bar.mas"])
    with pytest.raises(sh.ModelError, match="'all', or a list"):
        sh.derive(model, parameters="l")


def test_tables_are_functions_with_names():
    m = sh.samples.pendulum()
    curve = sh.table([0.0, 1.0, 2.0], [0.0, 1.0, 0.0], kind="linear")
    m.add_force(lambda on: on.torque("hinge", curve(on.q("hinge"))))
    equations = sh.derive(m)
    assert "table_" in str(equations.parts["forces"])
    with pytest.raises(sh.ModelError, match="read a table"):
        equations.python()


@pytest.mark.parametrize(
    ("model", "options", "error", "words"),
    [
        (sh.samples.pendulum, {"form": "lagrange3"}, sh.MethodError, "did you mean 'lagrange"),
        (sh.samples.slider_crank, {"form": "lagrange2"}, sh.MethodError, "take form='lagrange1'"),
        (sh.samples.all_joints, {}, sh.ModelError, "more than 20000 operations"),
        (sh.samples.flexible_pendulum, {}, sh.ModelError, "is flexible"),
        (lambda: "model", {}, sh.ModelError, "expected a sharnir.Model"),
    ],
)
def test_what_has_no_formulas_is_refused_in_words(model, options, error, words):
    with pytest.raises(error, match=words):
        sh.derive(model(), **options)


def test_a_part_that_is_not_there_is_refused():
    with pytest.raises(sh.MethodError, match="did you mean 'kinetic'"):
        derived("top")[1].latex("kinetik")
    assert not derived("top")[1].latex("constraints")


# --- seen -------------------------------------------------------------------------------------------------------------------
def test_a_notebook_and_the_repr_show_it():
    equations = derived("top")[1]
    assert equations._repr_latex_().startswith("$$\n\\begin{aligned}") and "3 speeds" in repr(equations)


@pytest.mark.browser
def test_the_page_draws_mathematics_without_a_request(open_page, tmp_path):
    page = open_page(derived("bicycle")[1].html(tmp_path / "bicycle.html"))
    heights = page.evaluate("[...document.querySelectorAll('math')].map((x) => x.getBoundingClientRect().height)")
    assert len(heights) > 8 and min(heights) > 10
    assert page.evaluate("document.querySelectorAll('mfrac').length") > 2  # fractions are drawn as such, not as text
    text = page.inner_text("body")
    assert "none" not in text and "𝜓" in text and "&" not in text


def test_the_command_prints_and_writes(command, tmp_path):
    file, page = tmp_path / "pendulum.yaml", tmp_path / "page.html"
    BUILD["pendulum"]().save(file)
    code, out, err = command("derive", file)
    assert not code and not err and out == derived("pendulum")[1].latex() + "\n"
    code, out, err = command("derive", file, "--python", "--letter", "l", "--html", str(page))
    assert not code and "def forward" in out and "l=0.5" in out and "<math" in page.read_text(encoding="utf-8")
    code, out, err = command("derive", file, "--form", "newton")
    assert code == 2 and "--form" in err


def test_joint_types_are_all_there():
    ours = {type(joint) for joint in joint_table.JOINTS.values() if type(joint).__module__.startswith("sharnir")}
    assert {type(joint) for joint in JOINTS.values()} >= ours
