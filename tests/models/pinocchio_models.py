"""The same random tree in sharnir and in Pinocchio, and the way from the states of one to those of the other.

Pinocchio knows joint frames only: its joint j is the moved frame of our joint, `child_at` away from our body. Our bodies
are frames there, so positions, velocities and forces come out at the same points in the same axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

import sharnir as sh
from states import random_axis, random_mass, random_pose

KINDS = (
    "revolute", "prismatic", "screw", "cylindrical", "universal", "skew universal",
    "ball", "planar", "translation", "free", "compound", "weld",
)  # fmt: skip


@dataclass
class Pair:
    """A model of ours, its copy in Pinocchio, and what leads from one to the other."""

    model: sh.Model
    pin: pin.Model
    joint_of: dict[str, int] = field(default_factory=dict)
    """Pinocchio's joint that moves a body of ours."""
    placement: dict[str, pin.SE3] = field(default_factory=dict)
    """A body of ours in the frame of that joint."""
    frame_of: dict[str, int] = field(default_factory=dict)

    def q(self, q: np.ndarray) -> np.ndarray:
        """Our coordinates as Pinocchio's."""
        return sh.to_pinocchio(self.model, self.pin, q)

    def v(self, v: np.ndarray) -> np.ndarray:
        """Our speeds, accelerations or joint forces as Pinocchio's."""
        out = np.zeros(v.shape)
        out[self.order] = v
        return out

    def ours(self, v: np.ndarray) -> np.ndarray:
        """Pinocchio's speeds, accelerations or joint forces as ours."""
        return v[self.order]

    @property
    def order(self) -> np.ndarray:
        """Where each of our speeds stands in Pinocchio's v."""
        _, v = sh.to_pinocchio(self.model, self.pin, self.model.neutral(), np.arange(self.model.nv))
        return np.argsort(v)

    def forces(self, wrenches: np.ndarray) -> list[pin.Force]:
        """Our wrenches on bodies as Pinocchio's forces on joints."""
        out = [pin.Force.Zero() for _ in range(self.pin.njoints)]
        for body, wrench in zip(self.model.bodies, wrenches, strict=True):
            out[self.joint_of[body.name]] += self.placement[body.name].act(pin.Force(wrench[:3], wrench[3:]))
        return out


def se3(pose: sh.Pose) -> pin.SE3:
    return pin.SE3(pose.rotation.matrix, np.array(pose.position))


def random_joint(kind: str, rng: np.random.Generator) -> tuple[sh.Joint, pin.JointModel | None]:
    """One joint in both languages."""
    u, w = random_axis(rng), random_axis(rng)
    n = np.cross(u, w)
    n /= np.linalg.norm(n)
    a, b = np.array(u), np.array(w)
    pitch = rng.uniform(-0.4, 0.4)
    revolute, prismatic = pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned
    return {
        "revolute": lambda: (sh.Revolute(u), revolute(a)),
        "prismatic": lambda: (sh.Prismatic(u), prismatic(a)),
        "screw": lambda: (sh.Screw(u, pitch=pitch), pin.JointModelHelicalUnaligned(a, pitch)),
        "cylindrical": lambda: (sh.Cylindrical(u), chain(prismatic(a), revolute(a))),
        "universal": lambda: (sh.Universal(u, tuple(n)), pin.JointModelUniversal(a, n)),
        "skew universal": lambda: (sh.Universal(u, w), chain(revolute(a), revolute(b))),
        "ball": lambda: (sh.Ball(), pin.JointModelSpherical()),
        "planar": lambda: (sh.Planar(), chain(pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ())),
        "translation": lambda: (sh.Translation(), pin.JointModelTranslation()),
        "free": lambda: (sh.Free(), pin.JointModelFreeFlyer()),
        "compound": lambda: compound(u, w, random_pose(rng)),
        "weld": lambda: (sh.Weld(), None),
    }[kind]()


def chain(*joints: pin.JointModel, places: Mapping[int, sh.Pose] | None = None) -> pin.JointModelComposite:
    """Several joints in one, so that q̇ = v as in ours."""
    out = pin.JointModelComposite()
    for k, joint in enumerate(joints):
        out.addJoint(joint, se3((places or {}).get(k, sh.Pose())))
    return out


def compound(u: tuple[float, ...], w: tuple[float, ...], where: sh.Pose) -> tuple[sh.Joint, pin.JointModel]:
    """A ball between a shift and a turn, apart from each other."""
    ours = sh.Compound({"shift": sh.Prismatic(u), "ball": (sh.Ball(), where), "turn": (sh.Revolute(w), where)})
    parts = pin.JointModelPrismaticUnaligned(np.array(u)), pin.JointModelSpherical(), pin.JointModelRevoluteUnaligned(np.array(w))
    return ours, chain(*parts, places={1: where, 2: where})


def random_pair(seed: int, kinds: tuple[str, ...] = KINDS, extra: int = 4) -> Pair:
    """A random tree with each of the given joints at least once and `extra` more, built in both.

    Pinocchio wants depth-first order: each body hangs on one of those that carry the body before it. Ours is built
    in any order.
    """
    rng = np.random.default_rng((seed, 11))
    chosen = [*kinds, *rng.choice(kinds, extra)]
    chosen = [chosen[i] for i in rng.permutation(len(chosen))]
    gravity = rng.normal(size=3) * 5.0
    pair = Pair(sh.Model(f"pair {seed}", gravity), pin.Model())
    pair.pin.gravity.linear[:] = gravity
    pair.joint_of["ground"], pair.placement["ground"] = 0, pin.SE3.Identity()
    path, later = ["ground"], []
    for i, kind in enumerate(chosen):
        path = path[: len(path) - int(rng.choice([0, 0, 1, 2, 5]))] or ["ground"]
        if kind == "weld" and len(path) == 1:  # a body at rest takes part in neither
            kind = "revolute"
        ours, theirs = random_joint(kind, rng)
        body, carrier, at, child_at, mass = f"body{i}", path[-1], random_pose(rng), random_pose(rng), random_mass(rng)
        add_theirs(pair, body, carrier, theirs, at, child_at, mass)
        later.append((body, carrier, ours, at, child_at, mass))
        path.append(body)
    for i in rng.permutation(len(later)):
        pair.model.add_body(later[i][0], **later[i][-1])
    for i in rng.permutation(len(later)):
        body, carrier, ours, at, child_at, _ = later[i]
        pair.model.add_joint(f"joint of {body}", ours, carrier, body, at=at, child_at=child_at)
    return pair


def add_theirs(pair, body, carrier, joint, at, child_at, mass) -> None:
    """One body with its joint; a welded body becomes part of its carrier."""
    parent, to_joint, back = pair.joint_of[carrier], pair.placement[carrier] * se3(at), se3(child_at.inverse())
    if joint is None:
        pair.joint_of[body], pair.placement[body] = parent, to_joint * back
    else:
        pair.joint_of[body] = pair.pin.addJoint(parent, joint, to_joint, f"joint of {body}")
        pair.placement[body] = back
    inertia = pin.Inertia(mass["mass"], mass["com"], mass["inertia"])
    pair.pin.appendBodyToJoint(pair.joint_of[body], inertia, pair.placement[body])
    frame = pin.Frame(body, pair.joint_of[body], 0, pair.placement[body], pin.FrameType.OP_FRAME)
    pair.frame_of[body] = pair.pin.addFrame(frame, False)
