"""The native format: what is written is read back bit by bit, and mistakes are told by file, line and field."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from benchmarks.urdf import robot_files
from hypothesis import given, settings
from hypothesis import strategies as st

import sharnir as sh
from force_models import GIVEN, mechanism
from joint_table import JOINTS, alone
from mjcf_models import COPIES, COUPLED, SLIDER, WALKER
from mujoco_pairs import write
from native_models import FORCES, WRITABLE_JOINTS, assert_same, assert_same_numbers, on_base
from sharnir.equations.rows.constraint_table import ConstraintTable
from sharnir.io.native import document
from sharnir.model.constraints.constraint_element import ConstraintElement
from sharnir.model.element import element, element_field
from sharnir.model.values import Name

ROBOTS = robot_files()
DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = re.search(r"```yaml\n(.*?)```", (DOCS / "native_format.md").read_text(encoding="utf-8"), re.S)[1]


def again(model: sh.Model) -> sh.Model:
    text = sh.dumps(model)
    found = sh.loads(text)
    assert sh.dumps(found) == text
    return found


# --- round trips ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", WRITABLE_JOINTS)
def test_a_joint_comes_back_to_the_last_bit(name):
    pose = sh.Pose((0.1, -0.0, 1e-17), sh.Rotation.quaternion(0.1, 0.2, 0.3, 0.4))
    model = alone(WRITABLE_JOINTS[name], at=pose, child_at=sh.Pose((1 / 3, 0.0, 0.0)))
    found = again(model)
    assert_same(model, found)
    one, two = model.parts.joints[0].type, found.parts.joints[0].type
    for option in ("limits", "damping", "friction", "stiffness", "rest", "armature", "effort", "velocity"):
        a, b = getattr(one, option), getattr(two, option)
        assert (a is None) == (b is None)
        assert a is None or np.array_equal(np.array(a, dtype=float), np.array(b, dtype=float), equal_nan=True)


@pytest.mark.parametrize("name", FORCES)
def test_a_force_comes_back_to_the_last_bit(name):
    model = on_base()
    model.add_parameter("k", 0.1)
    model.add_force(FORCES[name], name)
    assert_same(model, again(model))


@pytest.mark.parametrize(
    "model",
    [
        sh.samples.pendulum(), sh.samples.double_pendulum(), sh.samples.planar_chain(5), sh.samples.chain(3, 2),
        sh.samples.tree(9), sh.samples.manipulator(), sh.samples.four_bar(), sh.samples.all_joints(0), sh.samples.all_joints(3),
    ],
    ids=lambda m: m.name,
)  # fmt: skip
def test_sample_models_come_back_to_the_last_bit(model):
    assert_same(model, again(model))


numbers = st.floats(-1e3, 1e3) | st.sampled_from([0.0, -0.0, 1e-308, 5e-324, 1 / 3, 1e300])


@given(st.tuples(numbers, numbers, numbers), st.tuples(*[st.floats(-1.0, 1.0)] * 4), st.sampled_from("xyz"), st.floats(-7.0, 7.0))
@settings(max_examples=60, deadline=None)
def test_any_pose_comes_back_to_the_last_bit(position, quaternion, axis, angle):
    m = sh.Model("poses")
    m.add_body("a", 1.0)
    m.add_joint("a", sh.Revolute(), "ground", "a")
    if math.hypot(*quaternion) > 1e-3:
        m.add_frame("by quaternion", "a", sh.Pose(position, quaternion))
    m.add_frame("by axis", "a", sh.Pose(position, sh.Rotation.about(axis, angle)))
    m.add_frame("by rpy", "a", sh.Pose(position, sh.Rotation.rpy(angle, *quaternion[:2])))
    assert repr(m.frames) == repr(again(m).frames)


@given(st.text(min_size=1, max_size=12).filter(str.isprintable), numbers)
@settings(max_examples=60, deadline=None)
def test_any_name_comes_back(name, value):
    m = sh.Model(name)
    m.add_body(f"b{name}", abs(value))
    m.add_joint(name, sh.Revolute(), "ground", f"b{name}")
    m.add_parameter(name, value)
    found = again(m)
    assert (found.name, found.parts.joints[0].name, repr(found.parameters)) == (name, name, repr(m.parameters))


@pytest.mark.parametrize(
    "name", ["yes", "null", "1", "1e3", "-", "~", "a: b", "x #y", "[", "y", "", "é", "0x1F", "1:30", "on", "-x"]
)
def test_names_that_look_like_something_else(name):
    m = sh.Model(name)
    m.add_body(name or "nameless", 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_floating(name or "nameless")
    assert_same(m, again(m))


def test_long_names_and_many_numbers():
    m = sh.Model("long")
    m.add_body("b" * 200, 1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("j" * 200, sh.Revolute(damping=1 / 3), "ground", "b" * 200)
    m.keyframes["k"] = np.linspace(0.0, 1.0, 60) / 3
    found = again(m)
    assert found.keyframes["k"].tobytes() == m.keyframes["k"].tobytes()
    assert_same(m, found)


def test_everything_else_comes_back():
    from sharnir.model.visual import Visual

    m = on_base("everything")
    m.add_body("wheel", shape=sh.Cylinder(0.3, 0.1, sh.Pose((0.0, 0.1, 0.0), sh.Rotation.about("x", 0.4)), 0.1), density=2700.0)
    m.add_body("odd", 1.0, inertia=(1.0, 1.0, 9.0), check_inertia=False)
    m.add_frame("hub", "a", sh.Pose((0.1, 0.2, 0.3), sh.Rotation.rpy(0.1, 0.2, 0.3)))
    m.add_joint("axle", sh.Revolute("y"), "a", "wheel", at="hub")
    m.add_joint("follower", sh.Revolute("z"), "wheel", "odd")
    m.couple("follower", "hinge", 2.0, 0.1)
    m.add_joint("rope", sh.Ball(), "odd", "d", at=sh.Pose((0.0, 0.0, 1.0)), cut=True)
    m.visuals.append(Visual("wheel", "mesh", m.frames["hub"][1], (), "package://x/y.stl", Path("/x/y.stl"), (1.0, 2.0, 3.0)))
    m.visuals.append(Visual("ground", "box", sizes=(1.0, 2.0, 3.0), colour=(1.0, 0.5, 0.0, 1.0), role="collision", name="floor"))
    m.fixed_joints["glue"] = ("a", "hub")
    stop = sh.Event(sh.SignalFormula("position.a.z + h", {"h": 2.0}), "stop", "falling", "floor")
    m.simulation = sh.SimulationSettings(
        duration=2.0, q0={"hinge": 0.1, "ball": (0.8, 0.6, 0.0, 0.0)}, v0={"slider": 1.0}, tau={"hinge": 3.0},
        integrator="radau", method="composite", rtol=1e-9, atol=(1e-9,) * 13, max_step=math.inf, output="steps", every=3,
        limits="stop", balance=False, events=(stop,),
    )  # fmt: skip
    found = again(m)
    assert_same(m, found)
    assert found.simulation == m.simulation
    assert found.parts.joints[4].at is found.frames["hub"][1]
    assert found.simulation.arguments(duration=3.0)["duration"] == 3.0 and found.simulation.arguments()["output"] is None


def test_files_are_written_and_loaded(tmp_path):
    m = sh.samples.all_joints(2)
    m.save(tmp_path / "all.yaml")
    found = sh.load(tmp_path / "all.yaml", strict=True)
    assert_same(m, found)
    assert found.import_report.complete and len(found.import_report) == len(m.bodies) + len(m.joints)


@pytest.mark.parametrize("name", list(ROBOTS)[::8])
def test_robots_come_back_to_the_last_bit(name):
    model = sh.load(ROBOTS[name], floating=True)
    assert_same_numbers(model, again(model))


@pytest.mark.parametrize("text", [WALKER, SLIDER, COPIES, COUPLED])
def test_what_mujoco_says_comes_back_to_the_last_bit(text, tmp_path):
    model = sh.load(write(tmp_path, text))
    found = again(model)
    assert_same_numbers(model, found)
    assert {k: q.tobytes() for k, q in model.keyframes.items()} == {k: q.tobytes() for k, q in found.keyframes.items()}


def test_passive_and_floating(tmp_path):
    (tmp_path / "m.yml").write_text(sh.dumps(mechanism_in_words()), encoding="utf-8")
    assert sh.load(tmp_path / "m.yml", passive=False).parts.joints[0].type.damping == 0.0
    assert sh.load(tmp_path / "m.yml").parts.joints[0].type.damping == 0.3
    with pytest.raises(sh.FormatError, match="write `floating"):
        sh.load(tmp_path / "m.yml", floating=True)
    m = sh.loads("bodies: {a: {mass: 1}}\nfloating: [a]\n")
    assert [j.name for j in m.joints] == ["a float"]


def mechanism_in_words() -> sh.Model:
    return on_base("words")


@element("drum")
class Drum(sh.Revolute):
    """Decorated, with a word for files that no reader knows."""


@element("plane")
class Plane(ConstraintElement):
    body: str = element_field(Name("body"))

    def positions(self, on):
        return [("height", on.point(self.body)[0][2])]


def on_a_plane() -> sh.Model:
    m = alone(sh.Free())
    m.add_constraint(Plane(m.bodies[0].name), "it")
    return m


# --- what cannot be said -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: alone(JOINTS["driven revolute"]), "joint 'joint': motion: a Python function cannot be written"),
        (lambda: alone(JOINTS["half driven planar"]), "joint 'joint': motion of 'y': a Python function"),
        (lambda: alone(JOINTS["driven ball"]), "sharnir.PoseFormula"),
        (lambda: alone(JOINTS["custom"]), "joint 'joint': pose: a Python function cannot be written; give it as text: sharnir."),
        (lambda: alone(JOINTS["constraint"]), "sharnir.ConstraintFormula"),
        (lambda: alone(JOINTS["polar arm"]), "a joint class of your own (PolarArm)"),
        (lambda: alone(Drum()), "joint 'joint': a joint class of your own (Drum) cannot be written"),
        (lambda: alone(sh.Compound({"a": Drum()})), "part 'a': a joint class of your own (Drum) cannot be written"),
        (on_a_plane, "constraint 'it': a constraint class of your own (Plane) cannot be written; give it as text"),
        (lambda: alone(JOINTS["compound of the user's own"]), "joint 'joint', part 'own': pose"),
        (lambda: mechanism(), "base_motion: a Python function"),
        *((lambda name=name: with_force(GIVEN[name]), says) for name, says in [
            ("motor", "force 'it': torque: a Python function cannot be written; give it as text: sharnir.formula('…', 't', 'x'"),
            ("wrench in time", "force 'it': force: a Python function cannot be written; give it as text: sharnir.VectorFormula"),
            ("law", "force 'it': law: a Python function cannot be written; give it as text: sharnir.formula('…', 'length'"),
        ]),
        (lambda: with_force(lambda on: None), "force 'it': a Python function cannot be written; build it as a sharnir.Motor"),
    ],
)  # fmt: skip
def test_python_functions_are_refused_by_name_with_the_remedy(make, says):
    with pytest.raises(sh.FormatError) as found:
        sh.dumps(make())
    assert says in str(found.value)


def with_force(force) -> sh.Model:
    m = on_base()
    m.add_force(force, "it")
    return m


# --- the documents -------------------------------------------------------------------------------------------------------------
def test_the_example_of_the_documents_loads_and_runs():
    m = sh.loads(EXAMPLE)
    assert (m.nv, len(m.forces), m.simulation.duration) == (6, 5, 0.5)
    assert_same(m, again(m))
    result = sh.simulate(m, **m.simulation.arguments(duration=0.02, backend="python"))
    assert result.t[-1] == 0.02 and np.isfinite(result.q).all()


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: 1e-3", {"a": 1e-3}), ("a: [on, y, no, 0o7, 1_0]", {"a": ["on", "y", "no", "0o7", "1_0"]}),
        ("a: [012, 1., .5, -.inf, ~, True]", {"a": [12, 1.0, 0.5, -math.inf, None, True]}),
        ("1: 2", {"1": 2}), ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}), ("a: '1'", {"a": "1"}),
    ],
)  # fmt: skip
def test_yaml_means_what_version_1_2_says(text, data):
    from sharnir.io.native.document import Document

    assert Document(text, "f").data == data


def test_constraints_come_back():
    m = sh.Model("tied")
    for body in "abc":
        m.add_body(body, 1.0, (0.1, 0.2, 0.3), (0.3, 0.4, 0.5))
    m.add_joint("ja", sh.Revolute("z"), "ground", "a")
    m.add_joint("jb", sh.Revolute("x"), "a", "b", at=sh.Pose((1.0, 0.0, 0.0)))
    m.add_floating("c")
    surface = [sh.formula(text, "x", "y", "z", "t") for text in ("x*x + y*y + z - 3*t", "x - 1", "y")]
    m.add_constraint(sh.Distance("b", "c", (0.1, 0.0, 0.0), (0.0, 0.2, 0.0), 1.5))
    m.add_constraint(sh.Gear({"ja": 1.0, "jb": -2.0}, 0.1))
    m.add_constraint(sh.PointOnSurface("c", surface[0]), name="bowl")
    m.add_constraint(sh.PointOnCurve("c", *surface[1:], of="a"))
    m.add_constraint(sh.Rolling("c", 0.3, axis="x", normal=(0.0, 0.6, 0.8)))
    m.add_constraint(sh.SignalFormula("q.ja - 0.1*sin(t)"), name="led")
    m.add_constraint(sh.SpeedConstraint(sh.SignalFormula("v.ja - 2*v.jb")))
    back = sh.loads(sh.dumps(m))
    assert sh.dumps(back) == sh.dumps(m) and list(back.constraints) == list(m.constraints)
    q, v = m.random_q(1), np.linspace(0.1, 0.8, m.nv)
    ours, theirs = (ConstraintTable(x).evaluate(q, v, 0.3) for x in (m, back))
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{type: distance, a: a, b: nobody}", "constraints.tie.b: "),
        ("{type: gears, ratios: {ja: 1}}", "did you mean 'gear'?"),
        ("{type: gear, ratios: {ja: 1}}", "at least two joints"),
        ("{type: position, zero: q.nothing}", "nothing"),
    ],
)
def test_mistakes_in_constraints_are_told_by_line_and_field(text, says):
    head = "bodies:\n  a: {mass: 1}\njoints:\n  ja: {type: revolute, axis: z, parent: ground, child: a}\n"
    with pytest.raises(sh.FormatError) as found:
        sh.loads(f"{head}constraints:\n  tie: {text}\n")
    assert says in str(found.value) and str(found.value).startswith("<text>:6: constraints.tie")


def test_a_large_model_is_read_as_it_was_written(monkeypatch):
    """Only what aliases stand for is bounded: what is written out is as long as the text."""
    monkeypatch.setattr(document, "MAX_NODES", 20)
    text = sh.dumps(sh.samples.chain(20))
    assert sh.dumps(sh.loads(text)) == text
