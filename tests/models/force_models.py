"""Forces of every kind, and a mechanism that they act on."""

from __future__ import annotations

import numpy as np

import sharnir as sh

AT, ON = (0.1, -0.2, 0.3), (0.4, 0.1, -0.2)
HALF = sh.Pose((0.1, 0.0, 0.2), sh.Rotation.about("y", 0.3))
STIFF = np.diag([5.0, 6.0, 7.0, 1.0, 2.0, 3.0]) + 0.3
HIGH = sh.Plane(sh.Pose((0.1, 0.2, 3.0), sh.Rotation.about("y", 0.3)))
HILL = sh.HeightFunction(sh.formula("2 + 0.1*sin(x)*cos(0.7*y)", "x", "y"), HALF)

CONSERVATIVE = {
    "spring": sh.SpringDamper("ground", "b", AT, ON, stiffness=30.0, length=0.4),
    "spring between bodies": sh.SpringDamper("a", "c", AT, ON, stiffness=30.0),
    "joint spring": sh.JointSpring("hinge", stiffness=5.0, rest=0.3),
    "joint spring of a slider": sh.JointSpring("slider", stiffness=5.0),
    "ball spring": sh.JointSpring("ball", stiffness=4.0, rest=(0.8, 0.6, 0.0, 0.0)),
    "uneven ball spring": sh.JointSpring("ball", stiffness=(4.0, 1.0, 2.0)),
    "bushing": sh.Bushing("a", "c", HALF, HALF, stiffness=STIFF),
    "stop met": sh.JointStop("hinge", low=2.0, stiffness=50.0, damping=0.0, onset=0.4),
    "stop begun": sh.JointStop("hinge", high=-1.0, stiffness=50.0, damping=0.0, onset=9.0),
    "stop not met": sh.JointStop("hinge", -9.0, 9.0, damping=0.0),
    "point gravity": sh.PointGravity(mu=50.0, centre=(0.0, 1.0, -6.0)),
    "closed cylinder": sh.HydraulicCylinder("a", "c", AT, ON, area_a=2.0, area_b=1.5, stroke=3.0, dead_a=0.5, bulk_modulus=20.0),
    "contact of a torus": sh.Contact("c", sh.Torus(0.3, 0.1, HALF), HIGH, stiffness=9.0),
    "contact with a hill": sh.Contact("c", sh.Sphere(0.3, HALF), HILL, "a", stiffness=9.0, exponent=1.5),
    "contact with a box": sh.Contact("c", sh.Sphere(2.0, HALF), sh.Box((1.0, 0.5, 0.7)), "a", stiffness=9.0, exponent=1.2),
}
DISSIPATIVE = {
    "damper": sh.SpringDamper("ground", "b", AT, ON, damping=3.0),
    "joint damper": sh.JointSpring("ball", damping=0.3),
    "bushing damper": sh.Bushing("a", "c", HALF, HALF, damping=STIFF),
    "friction": sh.JointFriction("slider", coulomb=2.0, static=3.0, viscous=0.1),
    "bristles": sh.BristleFriction("slider", coulomb=2.0, static=3.0, viscous=0.1, presliding=0.5),
    "drag": sh.Drag("c", linear=0.5, quadratic=0.7, angular=0.2, at=ON),
}
GIVEN = {
    "motor": sh.Motor("hinge", torque=lambda t, x, v: sh.sin(t) - v, kp=9.0, kd=2.0, target=lambda t: 0.2 * t, limit=4.0),
    "soft motor": sh.Motor("hinge", kp=9.0, target=1.0, limit=4.0, soft=True),
    "wrench in time": sh.Wrench("b", force=lambda t: (sh.sin(t), 0.0, 1.0), moment=(0.1, 0.2, 0.3), at=AT),
    "wrench of state": sh.Wrench("b", force=lambda t, on: on.pose("a").position, axes="body"),
    "law": sh.SpringDamper("a", "b", AT, ON, law=lambda x, rate: 3.0 * x * x * x + rate),
    "joint law": sh.JointSpring("hinge", law=lambda x, v: -3.0 * sh.sin(x) - v),
    "pid": sh.PID("hinge", kp=2.0, ki=3.0, kd=0.5, target=lambda t: sh.sin(t), filter=0.1, limit=9.0),
    "pid at its limit": sh.PID("slider", kp=2.0, ki=3.0, target=1.0, limit=0.1, anti_windup="clamping"),
    "dc motor": sh.DCMotor("hinge", lambda t, x, v: 2.0 * sh.cos(t) - x, 0.8, 0.3, inductance=0.2, gear=3.0, limit=9.0),
    "dc motor without inductance": sh.DCMotor("slider", 1.5, resistance=0.8, torque_constant=0.3),
    "servo": sh.DCMotor("hinge", sh.PID("slider", kp=2.0, ki=1.0, kd=0.3), 0.8, 0.3, inductance=0.2, limit=4.0),
    "cylinder": sh.HydraulicCylinder(
        "a", "c", AT, ON, area_a=2.0, area_b=1.5, stroke=3.0, dead_a=0.5, bulk_modulus=20.0, leakage=0.3, friction=0.2,
        valve=sh.Valve(lambda t: 0.5 * sh.cos(t), area=1.0, supply=3.0, lag=0.3, density=2.0, laminar=0.1),
        accumulators=[sh.Accumulator(0.8, 0.3, pump=2.0, line=0.2), sh.Accumulator(0.4, 0.2, "a", exponent=1.0)],
    ),
    "actuator": sh.Actuator(None, 0.7, (1.0, 0.2, 0.1), (0.3, -2.0, -0.4), "filter", gear=2.0, terms=[("hinge", 0, 0, 1.0)]),
    "rope drive": sh.Actuator(None, 0.7, dynamics="integrator", activation_range=(0.0, 2.0), points=[("a", AT), ("b", ON)]),
    "muscle": sh.Actuator(None, 0.7, muscle=sh.Muscle((-4.0, 4.0), 3.0, smooth=0.2), terms=[("hinge", 0, 0, 1.0)]),
    "thruster": sh.Actuator(None, 0.7, bias=(0.0, 0.0, -0.3), force_range=(-5.0, 5.0), body="c", at=HALF, wrench=(*AT, *ON)),
    "contact": sh.Contact(
        "c", sh.Capsule(0.3, 0.4, HALF), HIGH, "a", 9.0, 0.2, friction=0.5, static_friction=0.7, rolling=0.1, spin=0.2, stribeck=2
    ),
    "sticking contact": sh.Contact("c", sh.Sphere(0.3), HIGH, "a", 9.0, 0.2, friction=0.5, presliding=0.2),
    "magic formula": sh.MagicFormulaTyre("c", 4.0, centre=AT, stiffness=30.0, damping=3.0, rolling_resistance=0.02),
    "brush": sh.BrushTyre("c", 4.0, "z", of="b", road=lambda x, y: 0.1 * sh.sin(x - y), stiffness=30.0, camber_stiffness=9.0),
}  # fmt: skip
ALL = CONSERVATIVE | DISSIPATIVE | GIVEN


def mechanism(*forces, armature=0.0, **joint_options):
    """A branched mechanism that stands on a moving, turning base: a hinge, a slider, a ball, a driven joint."""

    def base(t):
        return sh.Pose((0.1 * sh.sin(t), 0.0, 0.2 * t), sh.Rotation.about("x", 0.3 * t))

    m = sh.Model("mechanism", base_motion=base)
    for k, name in enumerate("abcd"):
        m.add_body(name, 1.0 + 0.2 * k, (0.1, 0.2, 0.3 * k), (0.3, 0.4, 0.5, 0.01, 0.02, 0.03))
    m.add_joint("hinge", sh.Revolute("y", armature=armature, **joint_options), "ground", "a")
    m.add_joint("slider", sh.Prismatic("x", friction=1.0, limits=(-1.0, 1.0)), "a", "b", at=HALF)
    m.add_joint("ball", sh.Ball(armature=armature), "a", "c", at=sh.Pose((0.0, 0.5, 0.0)), child_at=HALF)
    m.add_joint("driven", sh.Revolute("z", motion=lambda t: sh.sin(2.0 * t)), "c", "d", at=HALF)
    m.acting = "motion"  # limits and friction are there for elements to read
    return with_forces(m, forces)


def with_forces(m, forces):
    """The model with forces whose states are anywhere."""
    for force in forces:
        m.add_force(force)
    rng = np.random.default_rng(11)
    return m.with_states({name: float(rng.uniform(0.2, 0.9)) for name in m.states})
