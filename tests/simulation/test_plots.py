"""Plots: every name means the number it says in the unit it has, no label is ever missing, and a page fetches nothing."""

from __future__ import annotations

import json
import re

import matplotlib as mpl
import numpy as np
import pytest

import sharnir as sh
from joint_table import JOINTS, alone
from sharnir.simulation.results.charts import DASHES, FEW, MANY, MARKED, TITLES, charts, panels
from sharnir.simulation.results.plots import thinned
from sharnir.simulation.results.quantities import names_of, quantity, understood
from states import assert_close

mpl.use("Agg")
pytestmark = pytest.mark.xdist_group("integrators")
HOSTILE = '<b onmouseover="alert(1)">&amp; $x_1$</b>'


def engine() -> sh.Model:
    """A slider-crank whose guide has the name of its piston, a spring, a frame, a driven fan, a coupled wheel, a motor."""
    m = sh.Model("engine", gravity=(0.0, -9.81, 0.0))
    m.add_body("crank", mass=1.0, shape=sh.Rod((0.0, 0.0, 0.0), (0.2, 0.0, 0.0)))
    m.add_body("rod", mass=2.0, shape=sh.Rod((0.0, 0.0, 0.0), (0.5, 0.0, 0.0)))
    for body in ("piston", "fan", "wheel"):
        m.add_body(body, mass=0.5, shape=sh.Box((0.1, 0.1, 0.1)))
    m.add_joint("A", sh.Revolute("z"), "ground", "crank")
    m.add_joint("B", sh.Revolute("z"), "crank", "rod", at=sh.Pose((0.2, 0.0, 0.0)))
    m.add_joint("piston", sh.Prismatic("x"), "ground", "piston", at=sh.Pose((0.7, 0.0, 0.0)))
    m.add_joint("pin", sh.Revolute("z"), "rod", "piston", at=sh.Pose((0.5, 0.0, 0.0)), cut=True)
    m.add_joint("fan", sh.Revolute("x", motion=lambda t: 3.0 * t * t), "ground", "fan")
    m.add_joint("wheel", sh.Revolute("z"), "ground", "wheel", at=sh.Pose((0.0, 1.0, 0.0)))
    m.add_joint("foot", sh.Weld(), "ground", m.add_body("foot", mass=1.0, inertia=(1, 1, 1)).name)
    m.couple("wheel", "A", 2.0, 0.1)
    m.add_frame("tip", "rod", sh.Pose((0.5, 0.0, 0.0)))
    m.add_force(sh.SpringDamper("piston", "crank", stiffness=50.0, length=0.5), name="spring")
    m.add_force(sh.Motor("A", kp=1.0, target=2.0), name="motor")
    return m


@pytest.fixture(scope="module")
def run() -> sh.Result:
    turned = sh.Event(lambda on: on.q("A") - 0.6, name="turned")
    return sh.simulate(engine(), 0.4, q0={"A": 0.5}, tau={"A": 0.2}, output=0.02, events=[turned], rtol=1e-10, atol=1e-12)


NORM = np.linalg.norm
NAMES = {
    "A": (lambda r: {"A": r.coordinate("A")}, "rad"),
    "fan": (lambda r: {"fan": 3.0 * r.t**2}, "rad"),
    "wheel": (lambda r: {"wheel": 2.0 * r.coordinate("A") + 0.1}, "rad"),
    "pin": (lambda r: {"pin": -r.coordinate("A") - r.coordinate("B")}, "rad"),
    "piston": (lambda r: {"piston": r.point("piston")[:, 0] - 0.7}, "m"),
    "joint  piston": (lambda r: {"piston": r.point("piston")[:, 0] - 0.7}, "m"),
    "piston.x": (lambda r: {"piston.x": r.point("piston")[:, 0]}, "m"),
    "body piston": (lambda r: {f"piston.{a}": r.point("piston")[:, k] for k, a in enumerate("xyz")}, "m"),
    "crank@(0.2, 0, 0).y": (lambda r: {"crank@(0.2, 0, 0).y": r.point("crank", (0.2, 0, 0))[:, 1]}, "m"),
    "foot.y": (lambda r: {"foot.y": np.zeros(len(r))}, "m"),
    "tip": (lambda r: {f"tip.{a}": r.point("piston")[:, k] for k, a in enumerate("xyz")}, "m"),
    "frame tip.x": (lambda r: {"tip.x": r.frame("tip")[:, 0]}, "m"),
    "speed of A": (lambda r: {"speed of A": r.speed("A")}, "rad/s"),
    "speed of fan": (lambda r: {"speed of fan": 6.0 * r.t}, "rad/s"),
    "speed of piston": (lambda r: {"speed of piston": r.speed("piston")}, "m/s"),
    "speed of body piston": (lambda r: {"speed of piston": np.abs(r.speed("piston"))}, "m/s"),
    "velocity of body piston.x": (lambda r: {"velocity of piston.x": r.speed("piston")}, "m/s"),
    "acceleration of fan": (lambda r: {"acceleration of fan": np.full(len(r), 6.0)}, "rad/s²"),
    "acceleration of tip.x": (lambda r: {"acceleration of tip.x": r.acceleration("piston")}, "m/s²"),
    "reaction of pin.F": (lambda r: {"reaction of pin, |F|": NORM(r.reaction("pin")[:, :3], axis=1)}, "N"),
    "reaction of foot.Fy": (lambda r: {"reaction of foot, Fy": np.full(len(r), 9.81)}, "N"),
    "reaction of A.Mz": (lambda r: {"reaction of A, Mz": r.reaction("A")[:, 5]}, "N m"),
    "tau of A": (lambda r: {"tau of A": np.full(len(r), 0.2)}, "N m"),
    "power of A": (lambda r: {"power of A": 0.2 * r.speed("A")}, "W"),
    "power of spring": (lambda r: {"power of spring": r.force_power("spring")}, "W"),
    "force of motor": (lambda r: {"force of motor": 2.0 - r.coordinate("A")}, "N m"),
    "length of spring": (lambda r: {"length of spring": r.point("piston")[:, 0]}, "m"),
    "tension of spring": (lambda r: {"tension of spring": 50.0 * (r.point("piston")[:, 0] - 0.5)}, "N"),
    "energy of spring": (lambda r: {"energy of spring": 25.0 * (r.point("piston")[:, 0] - 0.5) ** 2}, "J"),
    "energy": (lambda r: {
        "total": r.energy.total - r.energy.potential[0], "kinetic": r.energy.kinetic,
        "potential": r.energy.potential - r.energy.potential[0]}, "J"),
    "work": (lambda r: r.energy.work, "J"),
    "defect": (lambda r: {"defect": r.energy.defect}, "J"),
    "violation": (lambda r: {"largest violation": r.violation}, ""),
}  # fmt: skip
"""name: what it should be, and its unit."""


@pytest.mark.parametrize("name", NAMES)
def test_a_name_stands_for_the_number_it_says(run, name):
    expected, unit = NAMES[name]
    lines = {line.label: line for line in quantity(run, name)}
    assert lines.keys() == expected(run).keys() and {line.unit for line in lines.values()} <= {unit}
    for label, values in expected(run).items():
        assert_close(lines[label].values, values, 1e-9)


def test_a_reaction_is_force_and_moment_in_two_panels(run):
    force, moment = panels(run, ["reaction of B"])
    assert (force.title, force.unit, moment.title, moment.unit) == ("force", "N", "moment", "N m")
    assert next(iter(force.lines)) == "reaction of B, |F|" and len(force.lines) == len(moment.lines) == 4
    pulled = {line.label for line in quantity(run, "force of spring")}
    assert pulled == {f"force of spring on {body}, |{x}|" for body in ("piston", "crank") for x in "FM"}
    assert len(quantity(run, "force of spring on piston")) == 8


def test_every_name_that_is_offered_is_understood(run):
    offered = names_of(run.model)
    assert {"A", "fan", "pin", "speed of wheel", "reaction of pin", "power of spring", "tip.x", "violation"} <= set(offered)
    for name in offered:
        understood(run.model, name)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("speed of pistn", "did you mean 'speed of piston'"), ("C", "'A', 'B', 'piston'"), ("A.x", "nothing is called 'A.x'"),
        ("joint foot", "show its reaction"), ("tau of fan", "no speeds of its own"), ("", "Forms: A, A.x"),
        ("crank@(1, 2)", "three numbers"), ("force of spring on rod", "acts on 'piston', 'crank'"), (3, "a text"),
        ("speed of", "nothing is called"), ("reaction of A.Fq", "nothing is called"),
        ("force of gale", "forces 'spring', 'motor'"),
    ],
)  # fmt: skip
def test_what_stands_for_nothing_is_refused_with_what_does(run, name, says):
    with pytest.raises(sh.StateError, match=re.escape(says)):
        quantity(run, name)


# --- units ------------------------------------------------------------------------------------------------------------------
POSE, TWIST = ["m"] * 3 + ["1"] * 4, ["m/s"] * 3 + ["rad/s"] * 3
UNITS = {
    "prismatic": "m", "cylindrical": "m rad", "universal": "rad rad", "planar": "m m rad", "translation": "m m m", "weld": "",
    "polar arm": "rad m rad", "compound": "rad m m rad", "ball": "1 1 1 1", "custom": "? ?",
    "compound with a ball": "m 1 1 1 1 rad", "compound of the user's own": "? ? rad", "half driven planar": "m m rad",
    "half driven universal": "rad rad",
    "half driven custom": "? ?", "half driven compound": "m 1 1 1 1 rad rad", "driven ball": "1 1 1 1",
} | dict.fromkeys(("free", "constraint", "driven free"), " ".join(POSE))  # fmt: skip
"""Of the coordinates of each type of joint; of all others: rad."""


@pytest.mark.parametrize("name", JOINTS)
def test_coordinates_of_every_joint_have_their_units(name):
    m = alone(JOINTS[name])
    units = UNITS.get(name, "rad").split()
    start = {"q0": m.neutral(), "v0": np.zeros(m.nv)}
    r = sh.simulate(m, 0.01, backend="python", integrator="rk4", step=0.005, **start)
    if not units:
        with pytest.raises(sh.StateError, match="no coordinates: it is a weld joint"):
            quantity(r, "joint")
        return
    lines = quantity(r, "joint joint")
    assert [line.unit or "?" for line in lines] == units
    assert len({line.label for line in lines}) == len(units) and all(line.values.shape == r.t.shape for line in lines)
    speeds = quantity(r, "speed of joint")
    rates = [f"{unit}/s" if unit != "?" else "?" for unit in units if unit != "1"]
    if "1" not in units:
        assert [line.unit or "?" for line in speeds] == rates
    elif name != "constraint":  # a quaternion has three speeds
        assert sorted(line.unit for line in speeds) == sorted([*rates, "rad/s", "rad/s", "rad/s"])
    assert [line.unit.removesuffix("²") for line in quantity(r, "acceleration of joint")] == [line.unit for line in speeds]
    assert all(line.topic or line.unit in TITLES for line in (*lines, *speeds))


# --- panels -----------------------------------------------------------------------------------------------------------------
def test_without_names_everything_is_there_one_panel_for_each_unit(run):
    found = {(p.title, p.unit): set(p.lines) for p in panels(run)}
    assert found["angle", "rad"] == {"A", "B", "fan", "wheel"} and found["position", "m"] == {"piston"}
    assert found["velocity", "m/s"] == {"speed of piston"} and len(found["energy, potential from its start", "J"]) == 3
    assert found["work since the start", "J"] == set(run.causes) and len(found) == 6


@pytest.fixture(scope="module")
def swung() -> sh.Result:
    """A ball joint that turns over its pitch, and a free body at rest."""
    m = sh.Model("swung", gravity=(0.0, 0.0, 0.0))
    for name, joint in (("hook", sh.Ball()), ("float", sh.Free())):
        m.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0))
        m.add_joint(name, joint, "ground", name)
    return sh.simulate(m, 2.0, v0={"hook": (0.0, 2.0, 0.0)}, output=0.01)


def test_by_default_orientations_are_angles_not_quaternions(swung):
    found = {p.title: p.lines for p in panels(swung)}
    turns = [f"{name}.{angle}" for name in ("hook", "float") for angle in ("roll", "pitch", "yaw")]
    assert "quaternion" not in found and list(found["angle"]) == turns
    offered = names_of(swung.model)
    for name in ("angles of hook", "hook.pitch", "angles of hook.pitch"):
        assert quantity(swung, name)[-1].label in turns and quantity(swung, name)[0].unit == "rad"
    assert {"angles of hook", "angles of float"} <= set(offered) and understood(swung.model, "angles of hook.pitch") is not None
    for wrong in ("hook.pich", "angles of hook.qx"):
        with pytest.raises(sh.StateError, match="nothing is called"):
            quantity(swung, wrong)


def test_angles_are_those_of_the_rotation_and_do_not_jump(swung):
    roll, pitch, yaw = (line.values for line in quantity(swung, "angles of hook"))
    assert pitch.max() > 3.0, "past a right angle"
    for angles, q in zip(zip(roll, pitch, yaw, strict=True), swung.coordinate("hook"), strict=True):
        assert_close(np.array(sh.Rotation.rpy(*map(float, angles)).matrix), np.array(sh.Rotation.quaternion(*q).matrix), 1e-12)
    assert max(np.abs(np.diff(x)).max() for x in (roll, yaw)) < 1.0 and np.abs(np.diff(pitch)).max() < 0.1


def test_rounding_of_what_stands_still_is_not_magnified(swung):
    (panel,) = panels(swung, ["float.x"])
    assert panel.flat == (-1e-3, 1e-3)
    panel.lines["float.x"] = 1e-15 * np.sin(swung.t)
    assert panel.flat[1] > 1e-4
    panel.lines["float.x"] = 1e-9 * np.sin(swung.t)
    assert panel.flat is None


def test_of_too_many_lines_those_that_move_most_are_shown_and_the_others_counted():
    r = sh.simulate(sh.samples.chain(40), 0.1, output=0.05, backend="python", integrator="rk4", step=0.05)
    few, *_ = panels(r)
    sizes = {line.label: float(np.ptp(line.values)) for j in r.model.joints for line in quantity(r, j.name)}
    assert len(few.lines) == FEW and few.heading == f"angle (the {FEW} of 40 that move most)"
    assert set(few.lines) == set(sorted(sizes, key=sizes.get)[-FEW:])
    (many,) = panels(r, [j.name for j in r.model.joints])
    assert len(many.lines) == MANY and many.left_out == 40 - MANY
    (chart,) = charts(r, [j.name for j in r.model.joints]).charts
    assert len({(curve.colour, curve.dash) for curve in chart.curves}) == MANY  # all can be told apart


# --- pictures ---------------------------------------------------------------------------------------------------------------
def legends(figure) -> list[list[str]]:
    return [[text.get_text() for text in axis.get_legend().get_texts()] for axis in figure.axes]


def test_a_picture_has_units_legends_and_events(run, tmp_path):
    figure = run.plot("A", "piston.x", "reaction of B.F", path=tmp_path / "some.png")
    assert [axis.get_ylabel() for axis in figure.axes] == ["angle, rad", "position, m", "force, N"]
    assert legends(figure) == [["A"], ["piston.x"], ["reaction of B, |F|"]] and figure.axes[-1].get_xlabel() == "t, s"
    assert [text.get_text() for text in figure.axes[0].texts] == ["turned"]
    for axis in figure.axes:
        assert any(list(line.get_xdata()) == [run.events[0].t] * 2 for line in axis.lines)
    everything = run.plot(path=tmp_path / "all.svg")
    assert all(legends(everything)) and len(everything.axes) == 6


def test_labels_of_any_spelling_are_in_the_legend(tmp_path):
    m = sh.Model(HOSTILE)
    for name in ("_hidden", "$a_1$", HOSTILE, "long " * 30):
        m.add_body(name, mass=1.0, inertia=(1, 1, 1))
        m.add_joint(name, sh.Revolute("x"), "ground", name)
    r = sh.simulate(m, 0.1, backend="python", integrator="rk4", step=0.1)
    shown = legends(r.plot(path=tmp_path / "a.png"))[0]
    assert len(shown) == 4 and shown[0].strip() == "_hidden" and shown[1] == "$a_1$" and len(shown[3]) <= 44
    r.plot(path=tmp_path / "a.html")
    assert HOSTILE not in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_several_results_are_drawn_on_the_same_axes(run, tmp_path):
    other = sh.simulate(run.model, 0.2, q0={"A": 0.3}, output=0.05)
    figure = sh.plot({"far": run, "near": other}, "A", "energy", path=tmp_path / "two.png")
    angle, energy = legends(figure)
    assert angle == ["A, far", "A, near"] and len(energy) == 6
    first, second = charts({"far": run, "near": other}, ["A"]).charts[0].curves
    assert first.colour != second.colour and len(first.x) != len(second.x)
    same, dashed = (charts([run, other], ["energy"]).charts[0].curves[k] for k in (0, 3))
    assert same.colour == dashed.colour and (same.dash, dashed.dash) == DASHES[:2] and dashed.label == "total, result 2"
    for wrong in ([], [3], {"a": None}, "run", 7):
        with pytest.raises(sh.StateError, match="results"):
            sh.plot(wrong, "A")


def test_a_curve_under_another_is_wider(run):
    a, b = charts(run, ["piston.x", "tip.x"]).charts[0].curves
    assert np.allclose(a.y, b.y) and a.width > b.width


def test_labels_of_axes_are_no_longer_than_the_axes(run, tmp_path):
    figure = run.plot(path=tmp_path / "all.png")
    figure.canvas.draw()
    whole = figure.bbox
    for axis in figure.axes:
        label, legend = axis.yaxis.label.get_window_extent(), axis.get_legend().get_window_extent()
        assert label.height <= axis.get_window_extent().height + 1.0 and label.x0 >= whole.x0
        assert legend.x1 <= whole.x1 + 1.0


def test_lengths_over_lengths_have_one_scale_and_the_names_that_were_asked(run, tmp_path):
    (axis,) = run.plot("tip.y", over="tip.x", path=tmp_path / "path.png").axes
    assert (axis.get_xlabel(), axis.get_ylabel(), axis.get_aspect()) == ("tip.x, m", "tip.y, m", 1.0)
    (other,) = run.plot("speed of A", over="A", path=tmp_path / "phase.png").axes
    assert (other.get_ylabel(), other.get_aspect()) == ("speed of A, rad/s", "auto")
    layout = run.plot("tip.y", "piston.y", over="tip.x", interactive=True).layout
    assert layout.yaxis.scaleanchor == "x" and layout.annotations[0].text == "<b>tip.y, piston.y</b>, m"
    x = run.plot("tip.y", over="tip.x", interactive=True)
    assert x.layout.xaxis.range[0] < min(x.data[0].x) and max(x.data[0].x) < x.layout.xaxis.range[1]


def test_over_another_quantity_than_time(run, tmp_path):
    figure = run.plot("speed of A", over="A", path=tmp_path / "phase.pdf")
    assert figure.axes[0].get_xlabel() == "A, rad"
    assert np.array_equal(figure.axes[0].lines[0].get_xdata(), run.coordinate("A"))
    with pytest.raises(sh.StateError, match="several numbers"):
        run.plot("A", over="energy", path=tmp_path / "a.png")


def test_many_events_are_counted_where_they_are_not_marked(tmp_path):
    ticks = sh.Event(lambda on: sh.sin(200.0 * on.t), name="tick")
    r = sh.simulate(sh.samples.pendulum(), 1.0, events=[ticks], max_step=0.005, output=0.1)
    found = charts(r)
    assert len(r.events) > MARKED == len(found.events) and found.unmarked == len(r.events) - MARKED and len(found.named) == 1


def test_files_that_no_plot_can_be_written_to_are_refused(run, tmp_path):
    with pytest.raises(sh.StateError, match=r"\.png, \.svg, \.pdf or \.html"):
        run.plot(path=tmp_path / "a.nc")
    with pytest.raises(sh.StateError, match="no folder"):
        run.plot(path=tmp_path / "no" / "a.html")


# --- pages ------------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def page(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("plots") / "run.html"
    run.plot("A", "piston.x", "acceleration of tip", "energy", path=path)
    return path


def test_a_page_fetches_nothing(page):
    text = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in text and not re.search(r'(src|href)="(?!data:)', text.split("<script>")[0])
    found = json.loads(re.search(r'<script type="application/json" id="charts">(.*?)</script>', text, re.DOTALL)[1])["motion"]
    assert [trace["name"] for trace in found["data"]][:2] == ["A", "piston.x"] and len(found["data"]) == 8
    assert {"yaxis", "yaxis2", "yaxis3", "yaxis4", "legend", "legend4"} <= set(found["layout"])
    assert len(found["layout"]["shapes"]) == 1 and found["layout"]["annotations"][0]["text"] == "turned"


def test_an_interactive_figure_shows_the_numbers_of_the_picture(run):
    figure = run.plot("A", "speed of A", interactive=True)
    assert [trace.name for trace in figure.data] == ["A", "speed of A"] and figure.layout.hovermode == "x unified"
    assert np.array_equal(figure.data[0].y, run.coordinate("A"))


def test_thinning_keeps_every_peak():
    x = np.linspace(0.0, 1.0, 100_000)
    y = np.sin(20.0 * x)
    y[[777, 55_555]] = 9.0, -7.0
    tx, ty = thinned(x, y, 5000)
    assert len(tx) <= 5002 and ty.max() == 9.0 and ty.min() == -7.0 and (np.diff(tx) > 0.0).all()
    assert tx[0] == 0.0 and tx[-1] == 1.0


# --- the command ------------------------------------------------------------------------------------------------------------
def test_the_command_draws_what_it_is_told_to(command, tmp_path):
    file = tmp_path / "pendulum.yaml"
    sh.samples.pendulum().save(file)
    joint = sh.samples.pendulum().joints[0].name
    arguments = ("run", file, "--duration", 0.1, "-q")
    code, _, err = command(*arguments, "--plot", tmp_path / "a.html", "--quantity", f"speed of {joint}", "--quantity", "energy")
    assert (code, err) == (0, "") and f"speed of {joint}" in (tmp_path / "a.html").read_text(encoding="utf-8")
    code, _, err = command(*arguments, "--plot", tmp_path / "b.png", "--quantity", "speed of nothing")
    assert code == 2 and "--quantity: nothing is called" in err and not (tmp_path / "b.png").exists()
    code, _, err = command(*arguments, "--quantity", joint)
    assert code == 2 and "add --plot FILE" in err
