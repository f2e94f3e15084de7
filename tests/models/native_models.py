"""Models that can be written: every joint and force with formulas in place of functions; and what makes two models one."""

from __future__ import annotations

import math

import numpy as np

import force_models
import sharnir as sh
from joint_table import JOINTS, SHOULDER, U, W

WAVE = sh.formula("0.4*sin(1.3*t + 1) + 0.2*t*t", "t")
TURNING = sh.PoseFormula(turns=[("z", "a"), ("y", "2*a"), (U, 0.3)], where={"a": "sin(t)"})
CURVE = sh.PoseFormula(("0.4*cos(q1)", "0.7*q2 + 0.1*t*t", "q1*q2"), [("z", "q1"), ("y", "q2 + t")], variables=("q1", "q2", "t"))
CIRCLE = sh.ConstraintFormula("x*x + y*y - 1 - 0.2*sin(t)", "z - a", "rzz", where={"a": "0.2*x*t"})
FLAT = sh.Pose((1.0, 0.0, 0.0), sh.Rotation.about("x", math.pi / 2))

OPTIONS = {"limits": (-1.0, math.inf), "damping": 0.1, "friction": 2, "stiffness": 3.0, "rest": 0.2, "armature": 0.01}
WRITABLE_JOINTS = {
    name: joint
    for name, joint in JOINTS.items()
    if not any(word in name for word in ("custom", "constraint", "driven", "user's own", "polar arm"))
} | {
    "options": sh.Revolute(U, **OPTIONS, effort=50, velocity=np.float64(3.0)),
    "options of each": sh.Universal(damping=(1.0, 2.0), limits=[(-1.0, 1.0), (None, 2.0)], armature=np.array([0.1, 0.2])),
    "ball at rest": sh.Ball(stiffness=2.0, rest=(0.8, 0.6, 0.0, 0.0)),
    "custom": sh.CustomJoint(2, CURVE),
    "custom of one": sh.CustomJoint(1, sh.PoseFormula(("cos(u)", "sin(u)", 0), variables=("u", "t")), names=("angle in slot",)),
    "custom by quaternion": sh.CustomJoint(1, sh.PoseFormula(quaternion=("cos(q)", "sin(q)", 0, 0), variables=("q", "t"))),
    "half driven custom": sh.CustomJoint(2, CURVE, motion={"q2": WAVE}),
    "constraint": sh.ConstraintJoint(CIRCLE, FLAT),
    "driven revolute": sh.Revolute(U, motion=WAVE),
    "standing": sh.Revolute(U, motion=sh.formula(0.3, "t")),
    "driven, called otherwise": sh.Prismatic(U, motion=sh.formula("u*u", "u")),
    "half driven planar": sh.Planar(motion={"y": WAVE}),
    "driven ball": sh.Ball(motion=TURNING),
    "driven free": sh.Free(motion=sh.PoseFormula(("t", 0, "sin(t)"), [("x", "t")])),
    "driven free, standing": sh.Free(motion=sh.PoseFormula()),
    "half driven compound": sh.Compound(
        {"slide": sh.Prismatic(U), "ball": (sh.Ball(), SHOULDER), "arm": (sh.Universal(W, U, damping=0.3), SHOULDER)},
        motion={"ball": TURNING, "arm.first": WAVE},
    ),
    "compound in a compound": sh.Compound(
        {"a": sh.Compound({"x": sh.Revolute("x", limits=(-1.0, 1.0)), "y": sh.Revolute("y")}), "z": sh.Revolute("z")}
    ),
}

FORCES = force_models.CONSERVATIVE | force_models.DISSIPATIVE | {
    "diagonal bushing": sh.Bushing("a", "b", stiffness=(1, 2, 3, 4, 5, 6), damping=0.1),
    "motor": sh.Motor("hinge", sh.formula("sin(t) - v + x", "t", "x", "v"), 9.0, 2.0, sh.formula("0.2*t", "t"), 0.1, 4.0, True),
    "wrench": sh.Wrench("b", force=(1, 2, 3), moment=sh.VectorFormula("sin(t)", 0, 1), at=(0.1, 0.0, -0.0), axes="body"),
    "wrench of state": sh.Wrench("b", sh.VectorFormula("q.hinge", "a", "v.ball.wx", where={"a": "position.c.x"})),
    "law": sh.SpringDamper("a", "b", law=sh.formula("3*length**3 + rate", "length", "rate")),
    "law, called otherwise": sh.SpringDamper("a", "b", law=sh.formula("3*s + r", "s", "r"), name="mine"),
    "joint law": sh.JointSpring("hinge", law=sh.formula("-3*sin(x) - v", "x", "v")),
    "magic formula": sh.MagicFormulaTyre("c", 0.3, (0.0, 0.6, 0.8), friction=0.7, longitudinal=(1, 2, 3, 4, 5, 6, 7, 8, 9)),
    "brush": sh.BrushTyre("c", 4.0, road=sh.formula("0.1*sin(x) - y", "x", "y"), of="b", rolling_radius=3.9, load=50),
    "earth": sh.PointGravity(),
    "tendon of joints": sh.Tendon("cable", 10.0, 1.0, 0.1, 0.2, [("hinge", 0, 0, 2.0), ("ball", 1, 2, -1)]),
    "contact": sh.Contact("a", sh.Points([(0.1, 0.2, 0.3)]), sh.Plane(force_models.HALF), "b", model="kelvin-voigt", spin=1),
    "tendon of points": sh.Tendon("rope", 10.0, 0.0, -1e-3, 0.2, (), [("a", (0.1, 0.2, 0.3)), ("ground", (0.0, 1.0, 0.0))]),
    "pid": sh.PID("hinge", 1.0, 2.0, 3.0, sh.formula("sin(t)", "t"), 0.1, 4.0, "clamping"),
    "servo": sh.DCMotor("hinge", sh.PID("slider", kp=2.0, ki=1.0, target=0.3), 0.8, 0.3, inductance=0.2, back_emf=0.31),
    "dc motor": sh.DCMotor("hinge", sh.formula("sin(t) - v", "t", "x", "v"), 0.8, 0.3, gear=-2.0, limit=24.0),
    "cylinder": sh.HydraulicCylinder(
        "a", "c", (0.1, 0.2, 0.3), area_a=2.0, area_b=1.5, stroke=3.0, pressure_a=0.2,
        valve=sh.Valve(sh.formula("cos(t)", "t"), area=1.0, supply=3.0, lag=0.3),
        accumulators=[sh.Accumulator(0.8, 0.3, pump=2.0, pressure=1.0), sh.Accumulator(0.4, 0.2, "a", exponent=1.0)],
    ),
    "servo cylinder": sh.HydraulicCylinder(
        "a", "c", area_a=2.0, area_b=0.0, stroke=3.0, valve=sh.Valve(sh.PID("hinge", 1.0, 2.0), area=1.0, supply=3.0)
    ),
    "actuator": sh.Actuator("drive", 0.7, (1.0, 0.2, 0.1), dynamics="filter", activation=0.3, terms=[("hinge", 0, 0, 1.0)]),
    "muscle": sh.Actuator(
        "biceps", sh.formula("t", "t"), muscle=sh.Muscle((-4.0, 4.0), 3.0), points=[("a", (1, 0, 0)), ("b", (0, 1, 0))]
    ),
    "thruster": sh.Actuator("jet", 0.7, force_range=(0.0, math.inf), body="c", at=force_models.HALF, wrench=(1, 2, 3, 4, 5, 6)),
}  # fmt: skip


def on_base(name: str = "base") -> sh.Model:
    """The mechanism of force_models, in words."""
    base = sh.PoseFormula(("0.1*sin(t)", 0.0, "0.2*t"), [("x", "0.3*t")])
    m = sh.Model(name, (0.0, 1.0, -9.81), base, "leaves-last")
    for k, body in enumerate("abcd"):
        m.add_body(body, 1.0 + 0.2 * k, (0.1, 0.2, 0.3 * k), (0.3, 0.4, 0.5, 0.01, 0.02, 0.03))
    m.add_joint("hinge", sh.Revolute("y", damping=0.3), "ground", "a")
    m.add_joint("slider", sh.Prismatic("x", friction=1.0, limits=(-1.0, 1.0)), "a", "b", at=force_models.HALF)
    m.add_joint("ball", sh.Ball(armature=0.2), "a", "c", at=sh.Pose((0.0, 0.5, 0.0)), child_at=force_models.HALF)
    m.add_joint("driven", sh.Revolute("z", motion=sh.formula("sin(2.0*t)", "t")), "c", "d", at=force_models.HALF)
    return m


def bits(model: sh.Model) -> list[object]:
    """Every number of the frozen model, and its names."""
    s = model.structure
    names = [model.name, model.q_names, model.v_names, s.body_number, s.joint_number, list(model.forces), model.parameters]
    arrays = [*s.joints, *s.tree, s.carrier, s.gravity, *([b.mass, *b.com, *b.inertia] for b in s.bodies)]
    shapes, loops = [b.shape for b in s.bodies], [(j.name, j.parent, j.child, j.at, j.child_at) for j in model.closing_joints]
    rest = [repr(x) for x in (model.frames, model.visuals, model.fixed_joints, loops, shapes)]
    return [*names, *(np.asarray(x).tobytes() for x in arrays), *rest]


def assert_same_numbers(one: sh.Model, two: sh.Model) -> None:
    for a, b in zip(bits(one), bits(two), strict=True):
        assert a == b


def assert_same(one: sh.Model, two: sh.Model) -> None:
    """The same numbers to the last bit, and the same motion."""
    assert_same_numbers(one, two)
    if one.closing_joints:
        return
    q, v = one.random_q(1), np.linspace(-1.0, 1.0, one.nv)
    accelerations = [sh.Dynamics(m, backend="python").forward(q, v, None, 0.4).tobytes() for m in (one, two)]
    assert accelerations[0] == accelerations[1]
