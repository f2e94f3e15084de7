"""Functions of the user's formulas: tables are the splines they promise, on every kind of number, backend and in files."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator, RectBivariateSpline, RegularGridInterpolator

import sharnir as sh
from sharnir.backends.graph_function import GraphFunction
from sharnir.backends.traced import TracedProgram
from sharnir.dialect.jit import host_lanes
from sharnir.trace import Expression, Graph, tangent

EPS = np.finfo(float).eps
RNG = np.random.default_rng(18)
X = np.array([-1.0, -0.4, 0.1, 0.9, 1.0, 2.3, 3.0])
Y = np.sin(2.0 * X) + X
U = np.array([0.0, 0.7, 1.0, 2.0, 2.5])
Z = np.cos(X)[:, None] * (1.0 + U**2)
SCIPY = {
    "cubic": CubicSpline(X, Y),
    "monotone": PchipInterpolator(X, Y),
    "linear": lambda x, k=0: np.interp(x, X, Y) if k == 0 else (np.diff(Y) / np.diff(X))[np.searchsorted(X, x) - 1] * (k == 1),
}
INSIDE = RNG.uniform(X[0], X[-1], 60)
TABLES = {kind: sh.table(X, Y, kind=kind) for kind in SCIPY}
SURFACE, FACETS = sh.table((X, U), Z), sh.table((X, U), Z, kind="linear", outside="error")
WAVE = sh.table(np.linspace(0.0, 2.0, 9), [*np.cos(np.pi * np.linspace(0.0, 2.0, 9))[:-1], 1.0], outside="repeat")


def derivatives(f, *points, by=0):
    """A function on symbols, and its first two derivatives."""
    graph = Graph()
    x = graph.inputs(len(points))
    y = [f(*x)]
    first = tangent(y, [(x[by], 1.0)])
    e = Expression(graph, x, [*y, *first, *tangent(first, [(x[by], 1.0)])])
    return np.array([e(*row) for row in zip(*(p.tolist() for p in points), strict=True)]).T


# --- tables ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", SCIPY)
def test_a_table_and_its_derivatives_are_those_of_scipy(kind):
    f = TABLES[kind]
    assert f(INSIDE) == pytest.approx(SCIPY[kind](INSIDE), rel=0, abs=20 * EPS)
    found = derivatives(f, INSIDE)
    for k in range(3):
        wanted = SCIPY[kind](INSIDE, k)
        assert found[k] == pytest.approx(wanted, rel=0, abs=100 * EPS * (1.0 + np.abs(wanted).max()))
    assert [f(x) for x in X.tolist()] == pytest.approx(Y, rel=0, abs=4 * EPS)
    assert isinstance(f(0.5), float) and f(np.zeros((2, 3))).shape == (2, 3)


def test_a_table_of_two_arguments_is_that_of_scipy():
    u = RNG.uniform(U[0], U[-1], len(INSIDE))
    smooth = RectBivariateSpline(X, U, Z, kx=3, ky=3, s=0)
    assert SURFACE(INSIDE, u) == pytest.approx(smooth.ev(INSIDE, u), rel=0, abs=1e-13)
    assert FACETS(INSIDE, u) == pytest.approx(RegularGridInterpolator((X, U), Z)(np.stack([INSIDE, u], 1)), rel=0, abs=40 * EPS)
    for by in range(2):
        _, first, second = derivatives(SURFACE, INSIDE, u, by=by)
        orders = [{"dx": k * (by == 0), "dy": k * (by == 1)} for k in (1, 2)]
        for found, order in zip((first, second), orders, strict=True):
            assert found == pytest.approx(smooth.ev(INSIDE, u, **order), rel=1e-11, abs=1e-11)


def test_a_cubic_table_of_a_cubic_is_that_cubic():
    def p(x, u):
        return 1.0 - 2.0 * x + x**3 * u + 0.3 * u**3 * x**2

    f = sh.table((X, U), p(X[:, None], U))
    u = RNG.uniform(U[0], U[-1], len(INSIDE))
    assert f(INSIDE, u) == pytest.approx(p(INSIDE, u), rel=1e-12, abs=1e-12)


def test_outside_a_value_is_held_or_repeats_or_is_an_error():
    held, slope, _ = derivatives(TABLES["cubic"], np.array([-5.0, X[0] - 1e-9, X[-1] + 1e-9, 1e9]))
    assert held == pytest.approx([Y[0], Y[0], Y[-1], Y[-1]], rel=4 * EPS) and not slope.any()
    corner = SURFACE(np.array([-9.0, 9.0, -9.0]), np.array([-9.0, 9.0, 1.3]))
    assert corner == pytest.approx([Z[0, 0], Z[-1, -1], SURFACE(-1.0, 1.3)], rel=1e-14)
    x = RNG.uniform(0.0, 2.0, 9)
    assert WAVE(x + 6.0) == pytest.approx(WAVE(x), abs=1e-13) and WAVE(x - 4.0) == pytest.approx(WAVE(x), abs=1e-13)
    seam = derivatives(WAVE, np.array([-1e-13, 1e-13]))  # of the second derivative too
    assert seam[:, 0] == pytest.approx(seam[:, 1], abs=1e-10)
    assert FACETS(X[-1], U[-1]) == pytest.approx(Z[-1, -1]) and FACETS(X[0], U[0]) == Z[0, 0]
    with pytest.raises(
        sh.StateError, match=r"argument 2 of table of 35 points over -1 … 3 by 0 … 2\.5 must stay within 0 … 2\.5"
    ):
        FACETS(0.0, np.array([0.5, 2.6]))
    assert math.isnan(derivatives(FACETS, np.array([0.0]), np.array([2.6]))[0, 0])
    assert math.isnan(TABLES["cubic"](math.nan)) and math.isnan(derivatives(TABLES["cubic"], np.array([math.nan]))[0, 0])


def test_a_long_table_is_a_short_graph():
    x = np.linspace(0.0, 1.0, 10_001) ** 1.2
    f = sh.table(x, np.sin(9.0 * x))
    graph = Graph()
    s = graph.input()
    tangent([f(s)], [(s, 1.0)])
    assert len(graph.nodes) < 30
    assert np.abs(derivatives(f, INSIDE % 1.0)[1] - 9.0 * np.cos(9.0 * (INSIDE % 1.0))).max() < 1e-8


def test_tables_are_values():
    for f in (*TABLES.values(), SURFACE, WAVE):
        again = pickle.loads(pickle.dumps(f))
        assert again == f and hash(again) == hash(f) and again is not f and again(0.3, *[0.4] * (f is SURFACE)) is not None
    assert TABLES["cubic"] != TABLES["linear"] and TABLES["cubic"] != 1.0 and SURFACE != FACETS
    assert eval(repr(TABLES["linear"]), {"table": sh.table}) == TABLES["linear"]
    assert repr(SURFACE) == "<table of 7 points -1 … 3 by 5 points 0 … 2.5, kind='cubic', outside='hold'>"
    named = sh.table([0, 1], [0, 1], name="grip")
    assert named == sh.table([0, 1], [0, 1]) and "name='grip'" in repr(named)


# --- other functions ------------------------------------------------------------------------------------------------------
PIECES = {
    "mod": (lambda x: sh.mod(x, 0.7), lambda x: np.mod(x, 0.7), lambda x: 1.0 + 0.0 * x),
    "rest of": (lambda x: 2.0 % (x + 3.3), lambda x: np.mod(2.0, x + 3.3), lambda x: -np.floor(2.0 / (x + 3.3))),
    "quotient": (lambda x: x // 0.3 + divmod(x, 0.7)[0], lambda x: x // 0.3 + x // 0.7, np.zeros_like),
    "floor": (sh.floor, np.floor, np.zeros_like),
    "sign": (sh.sign, np.sign, np.zeros_like),
    "abs": (lambda x: sh.abs(x) + abs(x), lambda x: 2.0 * np.abs(x), lambda x: 2.0 * np.sign(x)),
    "hypot": (lambda x: sh.hypot(x, 0.5), lambda x: np.hypot(x, 0.5), lambda x: x / np.hypot(x, 0.5)),
    "step": (
        lambda x: sh.step(x, 0.0, 1.0, 2.0, -3.0),
        lambda x: 1.0 - 4.0 * (s := np.clip(x / 2.0, 0.0, 1.0)) ** 2 * (3.0 - 2.0 * s),
        lambda x: -12.0 * (s := np.clip(x / 2.0, 0.0, 1.0)) * (1.0 - s),
    ),
    "sawtooth": (lambda x: sh.sawtooth(x, 0.8), lambda x: (x / 0.8) % 1.0, lambda x: 1.25 + 0.0 * x),
    "triangle": (
        lambda x: sh.triangle(x, 0.8), lambda x: 1 - np.abs(1 - 2 * ((x / 0.8) % 1)), lambda x: 2.5 * np.sign(0.4 - x % 0.8)
    ),
    "pulse": (lambda x: sh.pulse(x, 0.8, 0.25), lambda x: 1.0 * (x % 0.8 < 0.2), np.zeros_like),
}  # fmt: skip


@pytest.mark.parametrize("name", PIECES)
def test_a_function_of_pieces_is_its_formula_on_numbers_arrays_and_symbols(name):
    f, plain, slope = PIECES[name]
    wanted = pytest.approx(plain(INSIDE), rel=0, abs=40 * EPS)
    assert f(INSIDE) == wanted and [f(x) for x in INSIDE.tolist()] == wanted
    value, first, _ = derivatives(f, INSIDE)
    assert value == wanted and first == pytest.approx(slope(INSIDE), rel=0, abs=1e-14)


def test_the_length_of_nothing_has_no_slope():
    assert derivatives(lambda x: sh.hypot(x, 0.0), np.array([0.0])).tolist() == [[0.0], [0.0], [0.0]]
    assert math.isnan(sh.sign(math.nan)) and sh.sign(0.0) == 0.0


def test_compiled_functions_are_the_interpreted_ones_in_one_lane_in_all_and_in_double_double():
    graph = Graph()
    x, u = graph.inputs(2)
    outputs = [f(x) for f, _, _ in PIECES.values()] + [f(x) for f in (*TABLES.values(), WAVE)] + [SURFACE(x, u), FACETS(x, u)]
    outputs += tangent(outputs[-6:], [(x, 1.0), (u, 0.5)])
    given = np.stack([np.append(INSIDE, [-9.0, math.nan, 7.0]), np.linspace(-0.5, 3.0, 63)], axis=1)
    e = Expression(graph, [x, u], outputs)
    wanted = np.array([e(*row) for row in given.tolist()])
    traced = TracedProgram(graph, {"x": [x, u]}, {"y": outputs})
    runner, found = GraphFunction(traced), np.zeros_like(wanted)
    for lanes in (1, host_lanes()):
        runner.bind({"x": given, "y": found}, len(given), lanes)()
        assert np.allclose(found, wanted, rtol=1e-13, atol=1e-13, equal_nan=True)
    pairs = {"x": np.zeros((2, 2)), "y": np.zeros((len(outputs), 2))}
    native = GraphFunction(traced).bind(pairs, pairs=True)
    for row, values in zip(given[:8], wanted, strict=False):
        pairs["x"][:, 0] = row
        native()
        assert np.allclose(pairs["y"].sum(axis=1), values, rtol=1e-13, atol=1e-13, equal_nan=True)


# --- models ---------------------------------------------------------------------------------------------------------------
def arm() -> sh.Model:
    m = sh.Model("arm")
    for body in "ab":
        m.add_body(body, 1.0, (0.1, 0.0, -0.3), (0.1, 0.1, 0.1))
    m.add_joint("hinge", sh.Revolute("y"), "ground", "a")
    m.add_joint("slide", sh.Prismatic("x"), "a", "b")
    return m


@pytest.fixture(scope="module")
def with_tables() -> sh.Model:
    m = arm()
    m.add_force(sh.JointSpring("hinge", law=SURFACE), name="spring")
    m.add_force(sh.Motor("slide", torque=lambda t, x, v: TABLES["monotone"](x) + sh.step(t, 0, 0, 1, 2) - v % 0.7), name="motor")
    return m


def test_a_force_by_a_table_is_the_same_on_every_backend_alone_and_in_batches(with_tables):
    q, v = RNG.uniform(0.1, 0.9, (9, 2)), RNG.uniform(0.1, 0.6, (9, 2))
    plain = arm()
    wanted = []
    for (a, x), (w, s) in zip(q.tolist(), v.tolist(), strict=True):
        tau = [SURFACE(a, w), TABLES["monotone"](x) + sh.step(0.4, 0, 0, 1, 2) - s % 0.7]
        wanted.append(sh.Dynamics(plain, backend="python").forward([a, x], [w, s], tau, 0.4))
    for backend in ("python", "llvm", "loops"):
        d = sh.Dynamics(with_tables, backend=backend)
        assert d.forward(q, v, None, 0.4) == pytest.approx(np.array(wanted), rel=1e-12)
        assert d.forward(q[0], v[0], None, 0.4) == pytest.approx(wanted[0], rel=1e-12)


def test_derivatives_of_dynamics_have_the_slope_of_the_table(with_tables):
    d = sh.Dynamics(with_tables, backend="python")
    q, v = np.array([0.4, 0.5]), np.array([0.3, 0.2])
    found = d.forward_derivatives(q, v, np.zeros(2))
    for k, dx in enumerate(np.eye(2) * 1e-5):
        by_q = (d.forward(q + dx, v, np.zeros(2)) - d.forward(q - dx, v, np.zeros(2))) / 2e-5
        by_v = (d.forward(q, v + dx, np.zeros(2)) - d.forward(q, v - dx, np.zeros(2))) / 2e-5
        assert found.dq[:, k] == pytest.approx(by_q, rel=1e-7, abs=1e-7)
        assert found.dv[:, k] == pytest.approx(by_v, rel=1e-7, abs=1e-7)


def test_the_energy_account_of_a_table_closes():
    m = arm()
    m.add_force(sh.JointSpring("hinge", law=lambda x, v: -SURFACE(x, 0.5 + v * v)), name="spring")
    r = sh.simulate(m, 0.2, q0={"hinge": 0.4}, v0={"hinge": 0.5}, backend="llvm", rtol=1e-10, atol=1e-10)
    assert np.abs(r.energy.defect).max() < 1e-7 * np.abs(r.energy.work["spring"]).max()


def test_where_a_range_is_left_the_error_names_table_and_argument():
    m = sh.Model("cam")
    m.add_body("a", 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("hinge", sh.Revolute("z"), "ground", "a")
    lift = sh.table([0.0, 1.0, 2.0], [1.0, 1.0, 3.0], outside="error", name="lift")
    m.add_force(sh.Motor("hinge", torque=lambda t, x, v: lift(x)))
    with pytest.raises(sh.StateError, match=r"the argument of table 'lift' must stay within 0 … 2, got 2\.5"):
        sh.Dynamics(m, backend="python").forward([2.5], [0.0])
    with pytest.raises(
        sh.SimulationError, match=r"the argument of table 'lift' must stay within 0 … 2, got 2\.\d+, just after t = "
    ):
        sh.simulate(m, 5.0, q0=[1.5], backend="python", integrator="rk4", step=0.05)


# --- files ----------------------------------------------------------------------------------------------------------------
FILE = """
sharnir: 1
name: gripper
tables:
  grip: {x: [0, 0.5, 2], y: [0, pi/4, 3], kind: linear}
  load: {x: [-9, 9], y: [0, 1, 2], z: [[0, 1, 2], [1, 2, 5]], outside: error}
bodies:
  a: {mass: grip(1.0), inertia: [1, 1, 1]}
  b: {mass: 1, inertia: [1, 1, 1]}
joints:
  j: {type: revolute, axis: z, parent: ground, child: a}
  k: {type: custom, dof: 1, parent: a, child: b, pose: {position: [q, grip(q), 0]}}
forces:
  m: {type: motor, joint: j, torque: "2*grip(t) + load(x, 0.3 + mod(v, 1))"}
  w: {type: wrench, body: a, force: ["grip(q.j)", 0, "step(t, 0, 0, 1, 1) + t % 2 + t // 2 + pulse(t, 1, 0.5)"]}
"""


def test_tables_of_a_file_are_read_and_written():
    m = sh.loads(FILE)
    grip = sh.table([0, 0.5, 2], [0, math.pi / 4, 3], kind="linear")
    load = sh.table(([-9, 9], [0, 1, 2]), [[0, 1, 2], [1, 2, 5]], outside="error")
    text = "2*grip(t) + load(x, 0.3 + mod(v, 1))"
    torque = vars(m.forces["m"])["torque"]
    assert torque == sh.formula(text, "t", "x", "v", where={"grip": grip, "load": load})
    assert torque(0.25, 1.0, 0.2) == 2 * grip(0.25) + load(1.0, 0.5) and m.bodies[0].mass == grip(1.0)
    again = sh.loads(sh.dumps(m))
    assert sh.dumps(again) == sh.dumps(m) and again.forces == m.forces and sh.dumps(m).count("grip:") == 1
    state = ([0.3, 0.4], [0.1, 0.2], None, 0.7)
    assert np.array_equal(*(sh.Dynamics(x, backend="python").forward(*state) for x in (m, again)))


def test_a_table_in_place_of_a_function_is_written():
    m = sh.Model("driven")
    m.add_body("a", 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("j", sh.Revolute("z", motion=sh.table([0, 1, 2], [0, 1, 4])), "ground", "a")
    assert "motion: table1(t)" in sh.dumps(m) and sh.loads(sh.dumps(m)).joints[0].type.motion(1.5) == pytest.approx(2.25)
    other = {"table1": sh.table([0, 1], [2, 3])}
    m.add_force(sh.Wrench("a", force=sh.VectorFormula("table1(t)", 0, 0, where=other)))
    with pytest.raises(sh.FormatError, match="two different tables are called 'table1'"):
        sh.dumps(m)


@pytest.mark.parametrize(("old", "new", "says"), [
    ("[0, 0.5, 2]", "[0, 2, 2]", ":5: tables.grip: table 'grip': the places of the points must ascend, but number 2, 2,"),
    ("grip: {x", "my grip: {x", "which consists of letters, digits and _"),
    ("grip(t)", "grip(t, t)", "grip takes 1 argument, got 2"),
    ("grip(t)", "grap(t)", "did you mean 'grip'?"), ("2*grip(t)", "2*grip", "grip is a table: write grip(…)"),
    ("[0, 1, 2], [1", "[0, 1], [1", ":6: tables.load: table 'load': the values must be numbers, rows of equal length"),
    ("outside: error", "outside: fail", "expected 'hold', 'error' or 'repeat', got 'fail'"),
    ("{x: [0, 0.5, 2], ", "{", "tables.grip.x: this field is missing"),
])  # fmt: skip
def test_mistakes_in_tables_of_a_file_are_named(old, new, says):
    with pytest.raises(sh.FormatError) as found:
        sh.loads(FILE.replace(old, new, 1))
    assert says in str(found.value)


CSV = "# measured\nangle; torque; load\n0; 1.0; 5\n0.5; 1.5; 6\n\n1; 4; 7\n"
GRID = "x,u,z\n" + "".join(f"{x},{u},{z}\n" for x, row in zip(X, Z, strict=True) for u, z in zip(U, row, strict=True))


def test_a_table_from_a_file_of_columns(tmp_path):
    path = tmp_path / "curve.csv"
    path.write_text(CSV)
    assert sh.table(path) == sh.table([0, 0.5, 1], [1, 1.5, 4]) == sh.table(str(path), columns=("angle", "torque"))
    assert sh.table(path, columns=(0, "load"), kind="linear") == sh.table([0, 0.5, 1], [5, 6, 7], kind="linear")
    path.write_text("0 1\n1 2\n")
    assert sh.table(path) == sh.table([0, 1], [1, 2])
    for text in ("0,1,\n1,2,\n", "x,y,\n0,1,\n1,2,\n", "x,y\n0,1,,\n1,2\n"):  # some programs end every line with a comma
        path.write_text(text)
        assert sh.table(path) == sh.table([0, 1], [1, 2])
    path.write_text(GRID)
    assert sh.table(path, columns=("x", "u", "z")) == SURFACE


@pytest.mark.parametrize(("text", "options", "says"), [
    (CSV.replace("1.5", "1,5"), {}, "curve.csv:4: column 'torque': expected a finite number, got '1,5'; a decimal comma"),
    (CSV.replace("0.5; 1.5; 6", "0.5"), {}, "curve.csv:4: column 'torque' is missing"),
    (CSV.replace("0.5;", "-1;"), {}, "curve.csv:4: column 'angle' must ascend, but -1 follows 0"),
    (CSV, {"columns": ("angle", "torqe")}, "curve.csv:2: unknown column 'torqe'; did you mean 'torque'?"),
    (CSV, {"columns": (0, 9)}, "there is no column 9: the file has 3"), (CSV, {"columns": "xy"}, "two or three names"),
    ("0.0, 0.O\n1,2\n2,3\n", {}, "curve.csv:1: column 'column 1': expected a finite number, got '0.O'; a line of names has no"),
    ("0.0,\n1,2\n2,3\n", {}, "curve.csv:1: there is no column 1: the file has 1"),
    ("", {}, "has no rows"), ("1,2\n", {}, "at least two rows"), (None, {}, "cannot be read"),
    (GRID.replace("-0.4,0.7,", "-0.4,0.71,"), {"columns": (0, 1, 2)}, "must be a full grid of 7 by 6"),
    (GRID + "3.0,2.5,1\n", {"columns": (0, 1, 2)}, "curve.csv:37: the point (3.0, 2.5) is given twice"),
])  # fmt: skip
def test_mistakes_in_a_file_of_columns_are_named(tmp_path, text, options, says):
    path = tmp_path / "curve.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(sh.FormatError) as found:
        sh.table(path, **options)
    assert says in str(found.value)


@pytest.mark.parametrize(("make", "says"), [
    (lambda: sh.table([0, 1, 1], [1, 2, 3]), "must ascend, but number 2, 1, follows 1"),
    (lambda: sh.table([0, 1], [1, 2, 3], name="grip"), "table 'grip': 2 places need as many values, got 3"),
    (lambda: sh.table([0], [1]), "at least two numbers"), (lambda: sh.table([0, math.nan], [1, 2]), "must be finite, number 1"),
    (lambda: sh.table([0, "a"], [1, 2]), "must be numbers"), (lambda: sh.table([0, 1]), "give the values too"),
    (lambda: sh.table([0, 1], [1, 2], kind="quintic"), "unknown kind 'quintic'"),
    (lambda: sh.table([0, 1], [1, 2], outside="extrapolate"), "unknown outside 'extrapolate'"),
    (lambda: sh.table([0, 1], [1, 2], outside="repeat"), "the last value must be the first one again"),
    (lambda: sh.table((X, U), Z, kind="monotone"), "of one argument"), (lambda: sh.table((X, U), Z.T), "7 by 5 places"),
    (lambda: SURFACE(1.0), "is a function of 2, called with 1"), (lambda: SURFACE(1.0, "a"), "expected numbers, arrays or"),
    (lambda: sh.step(0.0, 1.0, 0.0, 1.0, 2.0), "x0 must be less than x1"), (lambda: sh.pulse(1.0, 0.0, 0.5), "must be positive"),
    (lambda: sh.table([0, 1], [0, 1], columns=(0, 1)), "columns are those of a file"),
])  # fmt: skip
def test_mistakes_are_named(make, says):
    with pytest.raises(sh.SharnirError) as found:
        make()
    assert says in str(found.value)
