"""Mistakes that beginners make, in Python, in files and on the command line: each is answered by its cause and the remedy."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import sharnir as sh

HERE = Path(__file__).name
POINT = {"mass": 1.0, "com": (0.5, 0.0, 0.0)}
SOLID = {**POINT, "inertia": (0.1, 0.2, 0.25)}


def one(joint, **body):
    """One body on a joint "J"."""
    m = sh.Model("m")
    m.add_body("a", **(body or SOLID))
    m.add_joint("J", joint, "ground", "a")
    return m


def pendulum(**more):
    m = sh.samples.pendulum()
    for add, x in more.items():
        getattr(m, add)(x)
    return m


def angles():
    return one(sh.Compound({name: sh.Revolute(name) for name in "xyz"}))


def wheel(**options):
    m = sh.Model("wheel")
    m.add_body("w", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.add_floating("w")
    m.add_constraint(sh.Rolling("w", radius=0.3, **options))
    return sh.simulate(m, 0.01, q0={"w float": (0, 0, 0.3, 1, 0, 0, 0)})


def run(**options):
    return sh.simulate(sh.samples.pendulum(), 0.1, **options)


def add(*arguments):
    m = sh.Model("m")
    m.add_body("a", **SOLID)
    m.add_joint(*[m.parts.bodies[0] if x is add else x for x in arguments])


POSE = f"joint 'J': the pose cannot be traced at .*{HERE}:.*lambda q, t.*"
LINES = ("J", sh.Revolute(), "ground", "a")
MISTAKES = {
    # keywords
    "tolerance": (lambda: run(tolerance=1e-6), TypeError, "simulate: unknown argument 'tolerance'; did you mean 'rtol'?"),
    "dt": (lambda: run(dt=1e-3), TypeError, "'dt'; did you mean 'step'?"),
    "solver": (lambda: run(solver="rk4"), TypeError, "'solver'; did you mean 'integrator'?"),
    "x0": (lambda: run(x0=[0.1]), TypeError, "'x0'; did you mean 'q0'?"),
    "misspelt": (lambda: run(paramters={}), TypeError, "'paramters'; did you mean 'parameters'?"),
    "by place": (lambda: sh.simulate(pendulum(), 1.0, [0.1]), TypeError, "more arguments without a name than 2 .*q0=…"),
    "rollout": (lambda: sh.rollout(pendulum(), [[0.0]], torque=1), TypeError,
        "rollout: unknown argument 'torque'; did you mean 'tau'"),
    "Dynamics": (lambda: sh.Dynamics(pendulum(), solver="x"), TypeError,
        "Dynamics: unknown argument 'solver'; did you mean 'method'"),
    "Simulation": (lambda: sh.Simulation(pendulum(), dt=0.1), TypeError,
        "Simulation: unknown argument 'dt'; did you mean 'step'"),
    "study": (lambda: sh.study(pendulum(), {}, n_jobs=2), TypeError, "study: unknown argument 'n_jobs'; did you mean 'workers'"),
    "compare": (lambda: sh.compare(pendulum(), method="x"), TypeError,
        "compare: unknown argument 'method'; did you mean 'methods'"),
    "animate": (lambda: sh.animate(None, filename="x"), TypeError, "animate: unknown argument 'filename'; did you mean 'path'"),
    "linearize": (lambda: sh.linearize(pendulum(), q0=[0.0]), TypeError, "linearize: unknown argument 'q0'; did you mean 'q'"),
    "equilibrium": (lambda: sh.equilibrium(pendulum(), torques=0), TypeError, "unknown argument 'torques'; did you mean 'tau'"),
    "add_body": (lambda: sh.Model("m").add_body("a", weight=1), TypeError,
        "Model.add_body: unknown .*'weight'; did you mean 'mass'"),
    "add_joint": (lambda: pendulum().add_joint(*LINES, origin=1), TypeError, "Model.add_joint: .*'origin'; did you mean 'at'"),
    "Model": (lambda: sh.Model("m", g=9.8), TypeError, "Model: unknown argument 'g'; did you mean 'gravity'"),
    "Pose": (lambda: sh.Pose(rpy=(0, 0, 1)), TypeError, "Pose: unknown argument 'rpy'; did you mean 'rotation'"),
    "samples": (lambda: sh.samples.pendulum(l=2), TypeError, "pendulum: unknown argument 'l'; did you mean 'length'"),
    "element": (lambda: sh.Revolute(range=(0, 1)), TypeError, "Revolute: unknown field 'range'; did you mean 'limits'"),
    "plot": (lambda: run().plot("hinge", file="x.png"), TypeError, "Result.plot: unknown argument 'file'; did you mean 'path'"),
    # joints and masses
    "point mass on a ball": (lambda: run_of(sh.Ball()), sh.SingularError,
        "turns about the axis x of body 'a'.*inertia=….*Universal"),
    "point mass afloat": (lambda: run_of(sh.Free()), sh.SingularError, "moves no mass when it turns .*sharnir.Translation"),
    "mass on a hinge": (lambda: run_of(sh.Revolute("x")), sh.SingularError,
        "about the axis x of body 'a': all that it carries lies on that"),
    "no mass at all": (lambda: run_of(sh.Revolute("x"), mass=0.0), sh.SingularError,
        "hangs on it .*give that body mass or inertia"),
    "gimbal lock": (lambda: sh.simulate(angles(), 0.1, q0=[0.3, math.pi / 2, 0.2]), sh.SingularError,
                    r"joint 'J': .*axes of 'x', 'z' coincide \(gimbal lock\).*sharnir\.Ball"),
    # functions
    "q for q[0]": (lambda: one(sh.CustomJoint(1, lambda q, t: sh.Pose((sh.sin(q), 0, 0)))), sh.TraceError,
        POSE + r"write q\[0\]"),
    "2*q": (lambda: one(sh.CustomJoint(1, lambda q, t: sh.Pose((2 * q, 0, 0)))), sh.TraceError, POSE + r"write q\[0\], not q"),
    "-q": (lambda: one(sh.CustomJoint(1, lambda q, t: sh.Pose((-q, 0, 0)))), sh.TraceError, POSE + r"write q\[0\], not q"),
    "Constraint": (lambda: sh.Constraint(lambda on: 1.0), sh.ModelError,
        r"sharnir.Constraint\(…\) takes no .*add_constraint\(function\)"),
    "Force": (lambda: sh.Force(lambda on: 1.0), sh.ModelError,
        r"sharnir.Force\(…\) takes no arguments.*model.add_force\(function\)"),
    "flat disc": (wheel, sh.SingularError,
        "'Rolling 1': touching is not finite .*axis of the disc is along the normal .*upright"),
    # states
    "too many numbers": (lambda: run(q0=[1, 2]), sh.StateError, r"q: expected \(1,\), one number each for 'hinge', got \(2,\)"),
    "of a long model": (lambda: sh.Dynamics(sh.samples.chain(99)).forward([1]), sh.StateError,
        r"'joint1'.*'joint8' and 91 more, got"),
    "q0 with a unit": (lambda: run(q0={"hinge": "2 deg"}), sh.StateError, "q of joint 'hinge': expected numbers, got '2 deg'"),
    # what goes where
    "a class": (lambda: add("J", sh.Revolute, "ground", "a"), sh.ModelError, r"got the class itself: write Revolute\(…\)"),
    "a class of forces": (lambda: pendulum(add_force=sh.SpringDamper), sh.ModelError,
        r"got the class itself: write SpringDamper\("),
    "joint last": (lambda: add("J", "ground", "a", sh.Revolute()), sh.ModelError, "the arguments are name, joint, parent, child"),
    "a body": (lambda: add("J", sh.Revolute(), "ground", add), sh.ModelError, "by their names: write 'a', not the body itself"),
    "world": (lambda: add("J", sh.Revolute(), "world", "a"), sh.ModelError, "no body 'world'; did you mean 'ground'"),
    "a file": (lambda: sh.simulate("arm.yaml", 1.0), sh.ModelError,
        r"needs a sharnir.Model, got 'arm.yaml'; sharnir.load\('arm.yaml'\)"),
    "Dynamics of": (lambda: sh.simulate(sh.Dynamics(pendulum()), 1.0), sh.ModelError, "its model is the attribute `model`"),
    "a text": (lambda: sh.load("bodies: {}"), sh.FormatError, "sharnir.loads reads a text"),
    "RK45": (lambda: run(integrator="RK45"), sh.MethodError, "unknown integrator 'RK45'; did you mean 'dopri5'"),
    "Hinge": (lambda: vars(sh)["__getattr__"]("Hinge"), AttributeError, "no attribute 'Hinge'; did you mean 'Revolute'"),
    "revolute": (lambda: vars(sh)["__getattr__"]("revolute"), AttributeError, "no attribute 'revolute'; did you mean 'Revolute'"),
    "three angles": (lambda: sh.Pose((0, 0, 0), (1, 2, 3)), sh.ModelError, r"of three angles: sharnir.Rotation.rpy\("),
    "edges": (lambda: sh.Box(1, 2, 3), TypeError, r"Box: more fields without a name than 2 .*several numbers"),
    "decimal comma": (lambda: sh.Screw("z", pitch="0,5"), sh.ModelError,
        "expected a number, got '0,5'; write 0.5, not 0,5: the decimal"),
}  # fmt: skip


def run_of(joint, **body):
    return sh.simulate(one(joint, **{**POINT, **body}), 0.01)


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_in_python(case):
    call, error, message = MISTAKES[case]
    with pytest.raises(error, match=re.compile(message, re.DOTALL)):
        call()


def test_an_error_inside_a_call_is_not_one_of_its_keywords():
    """A TypeError of a user's function comes out as it is, and so does one of Python's about what is missing."""
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'duration'"):
        sh.simulate(sh.samples.pendulum())
    with pytest.raises(sh.TraceError, match="TypeError: mine"):
        pendulum_pushed_by(TypeError("mine"))


def pendulum_pushed_by(error):
    def push(on):
        raise error

    return sh.simulate(pendulum(add_force=push), 0.1)


def test_axes_that_coincide_are_told_apart_by_their_rotors():
    m = one(sh.Compound({name: sh.Revolute(name, armature=0.1) for name in "xyz"}))
    r = sh.simulate(m, 0.1, q0=[0.3, math.pi / 2, 0.2], tau={"J": (0.1, 0.0, 0.0)})
    assert r.status == "done" and 0.0 < abs(r.v[-1, 0]) < 1.0


# --- files --------------------------------------------------------------------------------------------------------------------
FILE = """
parameters: {k: 4}
bodies:
  arm: {mass: 2 kg, com: [30 mm, 0, 0], inertia: [1, 1, 1]}
  rod: {mass: 500 g, inertia: [1, 1, 1]}
joints:
  turn: {type: revolute, parent: ground, child: arm, at: {rpy: [90 deg, 0, 0]}, limits: [-90 deg, 90 deg], velocity: 60 rpm}
  slide: {type: prismatic, parent: arm, child: rod, limits: [-30 mm, 3 cm], damping: 2 N s/m}
forces:
  spring: {type: joint-spring, joint: turn, stiffness: parameter.k, rest: 20*deg}
simulation: {duration: 100 ms, q0: {turn: 30*deg}}
"""


def test_numbers_with_units_in_files_are_those_of_their_fields():
    m = sh.loads(FILE.replace("damping: 2 N s/m", "damping: 2"))
    assert [b.mass for b in m.bodies] == [2.0, 0.5] and m.bodies[0].com == (0.03, 0.0, 0.0)
    turn, slide = (j.type for j in m.joints)
    assert turn.limits == (-math.pi / 2, math.pi / 2) and slide.limits == (-0.03, 0.03)
    assert turn.velocity == pytest.approx(2 * math.pi, rel=1e-15) and m.simulation.duration == 0.1
    assert m.simulation.q0 == {"turn": 30 * sh.deg} and vars(m.forces["spring"])["rest"] == 20 * sh.deg
    assert np.allclose(m.joints[0].at.rotation.matrix, sh.Rotation.about("x", math.pi / 2).matrix, atol=1e-15)


IN_FILES = {
    "another unit": ("2 kg", "2 mm", "bodies.arm.mass: expected a number of kg, got '2 mm'"),
    "of a slider": ("[-90 deg", "[-90 mm", "joints.turn.limits: expected a number of rad, got '-90 mm'"),
    "no unit here": ("20*deg", "20 deg", "forces.spring.rest: '20 deg' is 0.349066 rad: .*write 0.349066, or .*90\\*deg"),
    "of settings": ("30*deg", "30 mm", "simulation.q0: '30 mm' is 0.03 m: here the unit is not known, write 0.03"),
    "a parameter": ("k: 4", "k: 4 mm", "parameters.k: .*write 0.004"),
    "decimal comma": ("2 kg", "'2,5'",
        "bodies.arm.mass: expected a number, got '2,5'; write 2.5, not 2,5: the decimal separator"),
    "in braces": ("2 kg", "2,5", "bodies.arm.5: a value is missing.*the decimal separator is a point"),
    "in a formula": ("90 deg], v", "1], motion: '0,5*sin(t)', v", "write 0.5, not 0,5: the decimal separator is a point"),
    "degrees in one": ("90 deg], v", "1], motion: 30 deg*sin(t), v", "of degrees write 30\\*deg"),
    "centre": ("com:", "centre:", "unknown field; did you mean 'com'"),
    "hinge": ("revolute", "hinge", "unknown type 'hinge'; did you mean 'revolute'"),
    "a study": (FILE, "model: arm.yaml\nover: {k: [1, 2]}\n",
        "describes a study of a model, not a model: `sharnir study <text>`"),
}  # fmt: skip


@pytest.mark.parametrize("case", IN_FILES)
def test_a_mistake_in_a_file(case):
    text = FILE.replace("damping: 2 N s/m", "damping: 2")
    before, after, message = IN_FILES[case]
    with pytest.raises(sh.FormatError, match=message):
        sh.loads(after if before is FILE else text.replace(before, after))


# --- the command line ---------------------------------------------------------------------------------------------------------
COMMANDS = {
    "parameter": ("run FILE --set kk=3", "argument --set: no parameter 'kk'; did you mean 'k'? The parameters are 'k'"),
    "no parameter": ("run FILE --set stiffness=3", "its parameters are 'k'"),
    "study of a model": (
        "study FILE",
        "this describes a model, not a study: `sharnir run FILE` simulates it once; a study names it",
    ),
    "comma": ("run FILE --duration 0,5", "expected a number, got '0,5'; write 0.5, not 0,5: the decimal separator is a point"),
    "comma of a joint": ("run FILE --q0 turn=0,5", "expected 1 number, got 2; write 0.5, not 0,5"),
    "comma of a parameter": ("run FILE --set k=0,5", "got 'k=0,5'; write 0.5, not 0,5"),
    "degrees": ("run FILE --q0 turn=90deg", "of degrees write 90*deg"),
    "tolerance": ("run FILE --tolerance 1e-3", "no option --tolerance; did you mean '--rtol'?"),
    "dt": ("run FILE --dt 1e-3", "no option --dt; did you mean '--step'?"),
    "simulate": ("simulate FILE", "no command 'simulate'; did you mean 'run'? The commands are 'inspect', 'run'"),
    "a file alone": ("FILE", "say what to do with the file: sharnir run FILE. The commands are"),
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(FILE.replace("damping: 2 N s/m", "damping: 2"), encoding="utf-8")
    return path


@pytest.mark.parametrize("case", COMMANDS)
def test_a_mistake_on_the_command_line(case, command, file):
    words, message = COMMANDS[case]
    code, _, err = command(*(str(file) if word == "FILE" else word for word in words.split()))
    assert code and message.replace("FILE", str(file)) in err, err


def test_angles_on_the_command_line_in_degrees(command, file):
    code, _, err = command("run", file, "--q0", "turn=90*deg", "-q", "-o", file.with_suffix(".nc"))
    assert (code, err) == (0, "") and sh.Result.load(file.with_suffix(".nc")).q[0, 0] == math.pi / 2
    with pytest.warns(sh.UnitWarning, match="'turn' is 90 rad, 14.3 turns: degrees"):
        sh.simulate(sh.load(file), 0.01, q0={"turn": 90}, limits="ignore")


# --- units --------------------------------------------------------------------------------------------------------------------
SUSPICIOUS = {
    "q0": (lambda: run(q0={"hinge": 90}), r"q0: 'hinge' is 90 rad, 14.3 turns: degrees\? .*write 90 \* sharnir.deg"),
    "array": (lambda: run(q0=[-180]), "q0: 'hinge' is -180 rad"),
    "rollout": (lambda: sh.rollout(pendulum(), [[0.0], [45.0]], step=0.01, steps=1), "'hinge' is 45 rad"),
    "Simulation": (lambda: sh.Simulation(pendulum(), {"hinge": 360}), "'hinge' is 360 rad"),
    "assemble": (lambda: pendulum().assemble({"hinge": 30}), "'hinge' is 30 rad"),
    "of a universal": (lambda: sh.simulate(one(sh.Universal()), 0.01, q0=[0.0, 90.0]), "'J.second' is 90 rad"),
    "limits": (lambda: one(sh.Revolute(limits=(-90, 90))), "joint 'J': limits: an angle is 90 rad, .*degrees"),
    "of a planar": (lambda: one(sh.Planar(limits=[(-90, 90), (-90, 90), (-45, 45)])), "an angle is 45 rad"),
    "rpy": (lambda: sh.Rotation.rpy(0, 0, 90), "rotation: the angle is 90 rad"),
    "millimetres": (lambda: one(sh.Revolute(), mass=1.0, com=(500, 0, 0), inertia=(0.1, 0.1, 0.1)),
                    "body 'a': its centre of mass is 500 m .*a body of about 0.32 m: millimetres.* write 0.5"),
}  # fmt: skip
SENSIBLE = {
    "a motor": lambda: run(q0={"hinge": 100 * math.pi}),
    "whole radians within two turns": lambda: run(q0={"hinge": 10}),
    "whole radians beyond": lambda: run(q0={"hinge": 101}),
    "encoder counts": lambda: run(q0={"hinge": 4000.0}),
    "a slider": lambda: sh.simulate(one(sh.Prismatic("x")), 0.01, q0=[90]),
    "limits of a slider": lambda: one(sh.Prismatic(limits=(-90, 90))),
    "limits of a winch": lambda: one(sh.Revolute(limits=(0, 40 * math.pi))),
    "no end": lambda: one(sh.Revolute(limits=(None, math.inf))),
    "a satellite": lambda: one(sh.Free(), mass=1e3, com=(7e6, 0, 0), inertia=(500, 500, 500)),
    "a hook of a crane": lambda: one(sh.Revolute(), mass=50, com=(30, 0, 20), inertia=(5, 5, 5)),
    "a ship": lambda: one(sh.Free(), mass=1e7, com=(0.1, 0, 0), inertia=(2e10, 2e10, 2e10)),
    "a point": lambda: one(sh.Revolute(), mass=1.0, com=(500, 0, 0)),
}


@pytest.mark.parametrize("case", SUSPICIOUS)
def test_a_number_that_was_meant_in_other_units(case):
    call, message = SUSPICIOUS[case]
    with pytest.warns(sh.UnitWarning, match=message) as found:
        call()
    assert len(found) == 1 and found[0].filename == __file__


@pytest.mark.parametrize("case", SENSIBLE)
def test_no_false_alarm(case):
    SENSIBLE[case]()  # any warning is an error


def test_a_run_that_goes_on_is_not_asked_about_its_units():
    with pytest.warns(sh.UnitWarning):
        r = sh.simulate(one(sh.Revolute("z")), 0.01, q0=[90])  # it stays there: gravity is along its axis
    assert r.q[-1, 0] == 90.0
    for q0 in (r.state()["q0"], r.q[-1], r.q[:1][0]):
        sh.simulate(r.model, 0.01, q0=q0)
    assert sh.simulate(r.model, 0.01, **r.state()).q[-1, 0] == 90.0


# --- warnings -----------------------------------------------------------------------------------------------------------------
def test_all_warnings_are_public_and_of_one_family():
    found = [x for name in dir(sh) if name.endswith("Warning") for x in [getattr(sh, name)]]
    assert len(found) >= 8 and all(issubclass(x, sh.SharnirWarning) for x in found)
    assert issubclass(sh.AccuracyWarning, RuntimeWarning) and issubclass(sh.RenamedWarning, FutureWarning)
    given = re.compile(r"warnings\.warn\(|stacklevel=|import warn\b")
    where = {path.name for path in Path(sh.__file__).parent.rglob("*.py") if given.search(path.read_text(encoding="utf-8"))}
    assert where == {"errors.py"}  # all others call errors.warn, which takes no other category


def test_a_warning_points_at_the_line_of_the_user():
    with pytest.warns(sh.RenamedWarning) as renamed:
        assert sh.Loads is sh.Motion  # type: ignore[attr-defined]
    with pytest.warns(sh.LinearizationWarning) as frozen:
        sh.linearize(sh.samples.pendulum(), [0.3])
    assert [x[0].filename for x in (renamed, frozen)] == [__file__] * 2
