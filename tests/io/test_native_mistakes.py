"""Mistakes in a native file: each is told with file, line, field and what was expected."""

from __future__ import annotations

import pytest

import sharnir as sh

GOOD = """\
sharnir: 1
name: arm
bodies:
  upper: {mass: 1.0, com: [0.1, 0, 0], inertia: [1, 1, 1]}
  fore:
    shape: {type: box, size: [0.1, 0.1, 0.4]}
    density: 1000
frames:
  tip: {body: fore, at: [0, 0, 0.4]}
joints:
  shoulder: {type: revolute, axis: z, parent: ground, child: upper}
  elbow:
    type: revolute
    axis: y
    parent: upper
    child: fore
    at: {position: [0, 0, 1], rpy: [0, pi/2, 0]}
    motion: 0.3*sin(2*t)
forces:
  push: {type: wrench, body: fore, force: [sin(t), 0, 2*q.shoulder]}
  spring: {type: spring-damper, a: upper, b: ground, law: 3*length + rate}
simulation: {duration: 1.0, q0: {shoulder: 0.1}}
"""
AT = "at: {position: [0, 0, 1], rpy: [0, pi/2, 0]}"
SHOULDER = "type: revolute, axis: z"

MISTAKES = [
    ("axis: y", "axis: w", "14: joints.elbow.axis: expected 'x', 'y', 'z', '-x', '-y', '-z' or three numbers, got 'w'"),
    ("axis: y", "axis: [0, 1]", "14: joints.elbow.axis: expected three numbers such as [0.0, 0.0, 0.0], got [0, 1]"),
    ("axis: y", "axis: [0, a, 1]", "14: joints.elbow.axis[1]: expected a number, got 'a'"),
    ("axis: y", "axis: [0, 1, 1]", "14: joints.elbow.axis: the axis (0.0, 1.0, 1.0) has length 1.41421, not 1"),
    (
        "axis: y",
        "axs: y",
        "14: joints.elbow.axs: unknown field; did you mean 'axis'? The fields here are 'type', 'axis', 'parent'",
    ),
    ("axis: y", "axis:", "14: joints.elbow.axis: a value is missing; give one or leave the field out"),
    ("axis: y", "axis: y\n    axis: z", "15: 'axis' is given twice, first in line 14"),
    (
        "child: fore",
        "child: foree",
        "16: joints.elbow.child: no body 'foree'; did you mean 'fore'? The bodies are 'ground', 'upper', 'fore'",
    ),
    ("child: fore", "child: 7", "16: joints.elbow.child: expected text, got 7; put what looks like a number"),
    ("    parent: upper\n", "", "12: joints.elbow.parent: this field is missing: the name of a body, or ground"),
    (
        "    type: revolute\n",
        "    type: revolut\n",
        "13: joints.elbow.type: unknown type 'revolut'; did you mean 'revolute'? The ty",
    ),
    ("    type: revolute\n", "    type: 3\n", "13: joints.elbow.type: unknown type 3; the types are 'weld', 'revolute'"),
    ("    type: revolute\n", "", "12: joints.elbow.type: this field is missing; the types are 'weld', 'revolute'"),
    (SHOULDER, "type: screw, axis: z", "11: joints.shoulder.pitch: this field is missing"),
    ("mass: 1.0", "mass: heavy", "4: bodies.upper.mass: expected a number, got 'heavy'"),
    ("mass: 1.0", "mass: true", "4: bodies.upper.mass: expected a number, got true"),
    ("mass: 1.0", "mass: .nan", "4: bodies.upper.mass: expected a finite number, got nan"),
    ("mass: 1.0", "mass: -1", "4: bodies.upper: mass must be zero or positive, got -1 kg"),
    ("inertia: [1, 1, 1]", "inertia: [1, 1]", "4: bodies.upper.inertia: expected 3 numbers or 6 numbers or 3×3 numbers, got"),
    ("inertia: [1, 1, 1]", "inertia: [1, 1, 5]", "4: bodies.upper: its inertia breaks the triangle inequality"),
    ("  upper: {mass: 1.0", "  upper: 7 #", "4: bodies.upper: expected fields ('mass', 'com', 'inertia'"),
    ("    density: 1000\n", "", "5: bodies.fore: give a shape either its mass or its density"),
    ("type: box", "type: bx", "6: bodies.fore.shape.type: unknown type 'bx'; did you mean 'box'?"),
    ("size: [0.1, 0.1, 0.4]", "size: [0.1, 0.1, -1]", "6: bodies.fore.shape.size[2]: expected a number above 0, got -1"),
    ("0.3*sin(2*t)", "0.3*sin(2*x)", "18: joints.elbow.motion: formula '0.3*sin(2*x)': unknown name 'x'; it may use 't'"),
    ("0.3*sin(2*t)", "{angel: 3*t}", "12: joints.elbow: no coordinate 'angel' to drive; it has 'angle'"),
    ("0.3*sin(2*t)", "[1, 2]", "18: joints.elbow.motion: expected a formula of t, formulas by coordinate"),
    ("0.3*sin(2*t)", "{formula: a, where: {a: 2*b}}", "18: joints.elbow.motion: formula '2*b': unknown name 'b'"),
    ("0.3*sin(2*t)", "{formula: a, wher: 3}", "18: joints.elbow.motion.wher: unknown field; did you mean 'where'?"),
    ("rpy: [0, pi/2, 0]", "rpy: [0, pip/2, 0]", "17: joints.elbow.at.rpy[1]: expected a number, got 'pip/2'"),
    ("rpy: [0, pi/2, 0]", "rpy: [0, 0, 0], axis: x", "17: joints.elbow.at: give the rotation once, not by 'rpy', 'axis'"),
    ("rpy: [0, pi/2, 0]", "axis: x", "17: joints.elbow.at: axis and angle go together"),
    (
        "rpy: [0, pi/2, 0]",
        "matrix: [[1, 0, 0], [0, 2, 0], [0, 0, 1]]",
        "17: joints.elbow.at.matrix: rotation: the matrix is not ortho",
    ),
    (AT, "at: tipp", "17: joints.elbow.at: no frame 'tipp'; did you mean 'tip'? The frames are 'tip'"),
    (AT, "at: tip", "17: joints.elbow.at: the frame 'tip' is on body 'fore', not on 'upper'"),
    (
        AT,
        "at: 3",
        "17: joints.elbow.at: expected a pose {position: …, rpy: …}, a position [x, y, z] or the name of a frame, got 3",
    ),
    (AT, "at: {quaternion: [0, 0, 0, 0]}", "17: joints.elbow.at.quaternion: rotation: a quaternion of length zero"),
    ("q.shoulder]", "q.shouldr]", "20: forces.push.force: signal 'q.shouldr': no 'shouldr'; there are 'elbow', 'shoulder'"),
    ("q.shoulder]", "r.shoulder]", "20: forces.push.force: formula '2*r.shoulder': unknown signal 'r'"),
    ("sin(t), 0,", "atan2(t, 1), 0,", "20: forces.push.force: expected 3 formulas or numbers, got ['atan2(t', '1)', 0"),
    ("body: fore, force", "body: for, force", "20: forces.push.body: no body 'for'"),
    ("type: wrench", "type: wrnch", "20: forces.push.type: unknown type 'wrnch'; did you mean 'wrench'?"),
    ("3*length", "3*lenght", "21: forces.spring.law: formula '3*lenght + rate': unknown name 'lenght'; did you mean 'length'?"),
    ("a: upper, b: ground", "a: upper, b: upper", "21: forces.spring: spring-damper: both ends are on 'upper'"),
    ("q0: {shoulder: 0.1}", "q0: {shoulder: [1, 2]}", "22: simulation.q0.shoulder: expected 1 number, got 2"),
    ("q0: {shoulder: 0.1}", "q0: {elbo: 1}", "22: simulation.q0.elbo: no joint 'elbo'; did you mean 'elbow'? The joints"),
    (
        "q0: {shoulder: 0.1}",
        "output: never",
        "22: simulation.output: expected an interval, a list of times or 'steps', got 'never'",
    ),
    ("q0: {shoulder: 0.1}", "events: [{when: q.x}]", "22: simulation.events[0].when: signal 'q.x': no 'x'"),
    (
        "simulation:",
        'states: {sum: {initial: 0, rate: "q.shouldr"}}\nsimulation:',
        "22: states.sum.rate: signal 'q.shouldr': no 'shouldr'; there are 'elbow', 'shoulder'",
    ),
    (
        "simulation:",
        'states: {sum: {initial: 0, rate: "state.foo"}}\nsimulation:',
        "22: states.sum.rate: signal 'state.foo': no 'foo'; there are",
    ),
    ("q0: {shoulder: 0.1}", "integrator: autto", "22: simulation.integrator: unknown integrator 'autto'; did you mean 'auto'?"),
    ("q0: {shoulder: 0.1}", "method: seperate", "22: simulation.method: unknown method 'seperate'; did you mean 'separate'?"),
    ("duration: 1.0", "duration: 0", "22: simulation.duration: expected a number other than 0, got 0"),
    ("forces:", "force:", "19: force: unknown field; did you mean 'forces'?"),
    ("joints:", "bodies:", "10: 'bodies' is given twice, first in line 3"),
    ("sharnir: 1", "sharnir: 2", "1: sharnir: expected 1, the version of the format that this sharnir reads, got 2"),
    ("parent: ground, child: upper", "parent: ground, child: ground", "11: joints.shoulder: joint 'shoulder' joins the body"),
    ("parent: ground, child: upper", "parent: fore, child: upper", "12: joints.elbow: 'upper' and 'fore' are joined already"),
    ("frames:", "frames: [", "10: malformed YAML"),
    (
        SHOULDER,
        "type: custom, dof: 1, pose: {turns: [{axis: z, angle: 2*q3}]}",
        "11: joints.shoulder.pose.turns[0]: formula '2*q3'",
    ),
    (SHOULDER, "type: custom, dof: 1, pose: {position: [1, 2, q+]}", "11: joints.shoulder.pose.position[2]: formula 'q+'"),
    (SHOULDER, "type: custom, dof: 9, pose: {}", "11: joints.shoulder.dof: expected a whole number from 0 to 6, got 9"),
    (SHOULDER, "type: constraint, constraints: [x, rxw]", "11: joints.shoulder.constraints[1]: formula 'rxw': unknown name"),
    (SHOULDER, "type: constraint, constraints: [rxx - 2]", "11: joints.shoulder: constraint joint: the start pose breaks"),
    (SHOULDER, "type: compound, parts: {a: {type: ball, axis: k}}", "11: joints.shoulder.parts.a.axis: unknown field"),
    (SHOULDER, "type: compound, parts: {a: {type: revolute, axis: k}}", "11: joints.shoulder.parts.a.axis: expected 'x'"),
    (SHOULDER, "type: compound, parts: {}", "11: joints.shoulder.parts: expected {part: joint}"),
]


@pytest.mark.parametrize(("old", "new", "says"), MISTAKES)
def test_a_mistake_is_told_with_its_line_and_field(old, new, says):
    assert old in GOOD
    with pytest.raises(sh.FormatError) as found:
        sh.loads(GOOD.replace(old, new, 1), "arm.yaml")
    assert f"arm.yaml:{says}" in str(found.value)


def test_a_formula_cut_at_its_comma_is_recognised():
    with pytest.raises(sh.FormatError, match="put a formula that contains a comma in quotes"):
        sh.loads(GOOD.replace("sin(t), 0,", "atan2(t, 1), 0,"))


def test_all_mistakes_are_told_in_the_order_of_the_file():
    text = GOOD.replace("axis: y", "axis: w").replace("mass: 1.0", "mass: x").replace("duration: 1.0", "duration: long")
    with pytest.raises(sh.FormatError) as found:
        sh.loads(text, "arm.yaml")
    lines = str(found.value).split("\n")
    assert [line.split(": ")[0] for line in lines] == ["arm.yaml:4", "arm.yaml:14", "arm.yaml:22"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "f:1: the file is empty"),
        ("[1]", "f:1: expected fields"),
        ("bodies: [1]", "f:1: bodies: expected entries by name, got [1]"),
        ("visuals: {a: 1}", "f:1: visuals: expected a list, got a mapping"),
        ("bodies: {a: {mass: 1}}", "f:1: not connected to 'ground': 'a'"),
        ("joints: {j: 3}", "f:1: joints.j: expected fields beginning with type: 'weld'"),
        ("couplings: {a: {leader: b}}", "f:1: couplings.a: coupling of 'a' to 'b': no joint 'a'"),
        ("floating: [a]", "f:1: floating[0]: joint 'a float': no body 'a'"),
        ("base_motion: {position: [0, 0, q]}", "f:1: base_motion.position[2]: formula 'q': unknown name"),
        ("visuals: [{body: a, kind: box}]", "f:1: visuals[0].body: no body 'a'"),
        ("keyframes: {a: [x]}", "f:1: keyframes.a[0]: expected a number, got 'x'"),
        ("gravity: [0, 0]", "f:1: gravity: expected three numbers"),
        ("numbering: random", "f:1: numbering: expected 'depth-first' or 'leaves-last', got 'random'"),
        (3, "f: expected text, got int"),
    ],
)
def test_other_mistakes(text, says):
    with pytest.raises(sh.FormatError) as found:
        sh.loads(text, "f")
    assert says in str(found.value)


def test_files_that_are_no_text(tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"name: a\nbodies: \xff\xfe\n")
    with pytest.raises(sh.FormatError, match=r"a\.yaml:2: the file is not UTF-8"):
        sh.load(tmp_path / "a.yaml")
    with pytest.raises(sh.FormatError, match="there is no such file"):
        sh.load(tmp_path / "b.yaml")


def test_a_force_of_a_file_reads_a_state_that_comes_after_it():
    text = GOOD.replace("2*q.shoulder", "2*state.sum").replace(
        "simulation:", 'states: {sum: {initial: 0.5, rate: "t"}}\nsimulation:'
    )
    assert sh.loads(text).states == {"sum": 0.5}
