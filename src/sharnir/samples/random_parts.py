"""Random bodies, joints and drives: the parts of the random samples and of the tests."""

from __future__ import annotations

import math

import numpy as np

from ..model import joints
from ..model.formulas import ConstraintFormula, PoseFormula
from ..model.joints import Joint
from ..model.model import Model
from ..model.pose import Pose, Rotation
from ..trace.formula import Formula, formula


def _unit(rng: np.random.Generator) -> tuple[float, ...]:
    x = rng.normal(size=3)
    return tuple((x / np.linalg.norm(x)).tolist())


def random_pose(rng: np.random.Generator) -> Pose:
    return Pose(rng.uniform(-0.5, 0.5, 3).tolist(), Rotation.quaternion(*rng.normal(size=4).tolist()))


def random_body(m: Model, name: str, rng: np.random.Generator) -> None:
    points = rng.uniform(-0.3, 0.3, (5, 3))  # the inertia of five random point masses
    masses = rng.uniform(0.1, 1.0, 5)
    com = masses @ points / masses.sum()
    inertia = sum(w * (x @ x * np.eye(3) - np.outer(x, x)) for w, x in zip(masses, points - com, strict=True))
    m.add_body(name, mass=masses.sum(), com=com, inertia=inertia)


def random_joints(rng: np.random.Generator, dof: int | None = None) -> list[Joint]:
    kinds: list[Joint] = [
        joints.Weld(), joints.Revolute(_unit(rng)), joints.Revolute("x"), joints.Prismatic(_unit(rng)),
        joints.Screw(_unit(rng), pitch=rng.uniform(-0.3, 0.3)), joints.Cylindrical(_unit(rng)),
        joints.Universal(_unit(rng), _unit(rng)), joints.Ball(), joints.Planar(), joints.Translation(), joints.Free(),
    ]  # fmt: skip
    return [kind for kind in kinds if dof is None or len(kind.v_names()) == dof]


def random_custom(rng: np.random.Generator) -> Joint:
    a, b, c = rng.uniform(0.2, 0.8, 3).tolist()
    position = (f"{a}*cos(q1)", f"{b}*q2 + 0.1*t*t", f"{c}*sin(q1*q2)")
    turns = (("z", f"q1 + {b}*q2*q2"), ("y", f"{a}*sin(q2) + 0.3*sin(2.0*t)"))
    return joints.CustomJoint(2, PoseFormula(position, turns, variables=("q1", "q2", "t")))


def random_constraint() -> Joint:
    """A point of the moved body stays on a circle whose radius varies in time, and an axis stays level."""
    constraints = ConstraintFormula("x*x + y*y - radius*radius", "z - 0.2*x*t", "rzz", where={"radius": "1.0 + 0.3*sin(t)"})
    return joints.ConstraintJoint(constraints, start=Pose((1.0, 0.0, 0.0), Rotation.about("x", math.pi / 2)))


def random_compound(rng: np.random.Generator) -> Joint:
    ball, hinge = (joints.Ball(), random_pose(rng)), (joints.Revolute(_unit(rng)), random_pose(rng))
    return joints.Compound({"slide": joints.Prismatic(_unit(rng)), "ball": ball, "hinge": hinge})


def random_drive(rng: np.random.Generator) -> Formula:
    return formula(_drive_text(rng), "t")


def _drive_text(rng: np.random.Generator) -> str:
    a, b, c = rng.uniform(0.3, 1.2, 3).tolist()
    return f"{a}*sin({b}*t + {c}) + 0.2*t"


def random_drive_pose(rng: np.random.Generator, turns_only: bool = False) -> PoseFormula:
    x, y, z, a, b = (_drive_text(rng) for _ in range(5))
    return PoseFormula((0.0, 0.0, 0.0) if turns_only else (x, y, z), (("z", a), ("x", b)))


def random_driven(rng: np.random.Generator) -> list[Joint]:
    turning = random_drive_pose(rng, turns_only=True)
    curve = PoseFormula(("a", "b*a", "0.1*b"), variables=("a", "b", "t"))
    return [
        joints.Revolute(_unit(rng), motion=random_drive(rng)),
        joints.Planar(motion={"y": random_drive(rng)}),
        joints.Cylindrical(_unit(rng), motion={"distance": random_drive(rng)}),
        joints.Universal(_unit(rng), _unit(rng), motion={"first": random_drive(rng)}),
        joints.Ball(motion=turning),
        joints.Free(motion=random_drive_pose(rng)),
        joints.CustomJoint(2, curve, names=("a", "b"), motion={"b": random_drive(rng)}),
    ]
