"""A quadruped (Unitree A1 of example-robot-data) that is dropped on its four feet and held by its motors: many at once.

The bodies, motors (torque = kp·(target − q) − kd·v) and spheres of the feet are the same for both programs; the contacts are not.
Ours are springs and dampers with smooth friction, compiled with the equations, in explicit RK4 steps that must resolve them.
MuJoCo's are constraints, which an iterative solver satisfies in every step, so that its steps may be longer; it runs with its
defaults (semi-implicit Euler, steps of 2 ms). What is compared is the time per simulated second of one robot, each with steps in
which its motion is right: the height of the base at the end is printed for both, and ours is compared with a run of tight
tolerances.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout as mujoco_rollout

import sharnir as sh

from .harness import race
from .mujoco_robots import to_mujoco
from .report import Measure
from .robots import Robot
from .urdf import robot_files as robots

NAME = "a1"
FEET = ("FR_foot", "FL_foot", "RR_foot", "RL_foot")
STAND = {"hip": 0.0, "thigh": 0.8, "calf": -1.6}
KP, KD, FRICTION = 100.0, 2.0, 0.8
HEIGHT, SECONDS = 0.3, 0.5
MANY, THEIRS = 256, 4
"""Robots of our rollout, and of MuJoCo's: every one takes the same time."""
STEP, THEIR_STEP = 5e-4, 2e-3
SLIP = 5e-2
"""m/s: friction in steps of 0.5 ms. The feet of a standing robot creep by much less."""
APART = 1e-4
"""Metres by which RK4 in these steps may differ from a run of tight tolerances."""


def build() -> tuple[sh.Model, sh.Ground, dict[str, float]]:
    m = sh.load(robots()["a1/a1"], floating=True, passive=False)
    ground = sh.add_ground(m, bodies=FEET, friction=FRICTION, slip=SLIP)
    targets = {}
    for joint in m.joints[1:]:
        targets[joint.name] = next(angle for part, angle in STAND.items() if part in joint.name)
        m.add_force(sh.Motor(joint.name, kp=KP, kd=KD, target=targets[joint.name], limit=1e6))
    return m, ground, targets


def equip(model: sh.Model, ground: sh.Ground, targets: dict[str, float], spec: Any, placed: dict[str, Any]) -> None:
    """A floor, the spheres of the feet, and the motors, in MuJoCo."""
    spec.option.timestep = THEIR_STEP
    plane = {"contype": 1, "conaffinity": 0, "friction": [FRICTION, 0.0, 0.0]}
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], **plane)
    for name in ground.contacts:
        contact: Any = model.forces[name]
        sphere = {"size": [contact.shape.radius, 0, 0], "pos": contact.shape.at.position}
        touch = {"contype": 0, "conaffinity": 1, "friction": [FRICTION, 0.0, 0.0]}
        placed[contact.body].add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, **sphere, **touch)
    for joint in targets:
        motor = spec.add_actuator(target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.gaintype, motor.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        motor.gainprm[0], motor.biasprm[:3] = KP, [0.0, -KP, -KD]


def measure(quick: bool = False) -> Iterator[Measure | str]:
    model, ground, targets = build()
    peer = to_mujoco(Robot(NAME, model, None), partial(equip, model, ground, targets))  # type: ignore[arg-type]
    start = {model.joints[0].name: (0.0, 0.0, HEIGHT, 1.0, 0.0, 0.0, 0.0), **targets}
    q0 = model.coordinates(start)
    rng = np.random.default_rng(0)
    q = np.tile(q0, (MANY, 1))
    q[:, 7:] += 0.02 * rng.normal(size=(MANY, model.nq - 7))
    v = np.zeros((MANY, model.nv))
    steps = round(SECONDS / STEP)

    def ours(threads: int = 1) -> sh.Rollout:
        return sh.rollout(model, q, v, step=STEP, duration=SECONDS, every=steps, threads=threads)

    qpos = np.array([sh.to_mujoco(model, peer.model, row, zero)[0] for row, zero in zip(q[:THEIRS], v, strict=False)])
    states = np.concatenate([np.zeros((THEIRS, 1)), qpos, np.zeros((THEIRS, model.nv))], axis=1)
    controls = np.tile(list(targets.values()), (THEIRS, round(SECONDS / THEIR_STEP), 1))

    def theirs() -> np.ndarray:
        found, _ = mujoco_rollout.rollout(peer.model, [peer.data], states, controls)
        return found[:, -1, 1:]

    def step() -> None:
        """mj_step from Python, all steps in one call."""
        for k in range(THEIRS):
            mujoco.mj_resetData(peer.model, peer.data)
            peer.data.qpos[:], peer.data.ctrl[:] = qpos[k], list(targets.values())
            mujoco.mj_step(peer.model, peer.data, nstep=round(SECONDS / THEIR_STEP))

    ends = ours().q[:THEIRS, -1]
    right = [sh.simulate(model, SECONDS, q0=row, output=SECONDS, rtol=1e-9, atol=1e-9).q[-1] for row in q[: 1 if quick else 2]]
    apart = max(float(np.abs(a[:3] - b[:3]).max()) for a, b in zip(ends, right, strict=False))
    if not apart < APART:
        raise AssertionError(f"{NAME}: RK4 in steps of {STEP:g} s differs by {apart:.1e} m from tight tolerances")
    yield f"{NAME}: {ground}".replace("\n ", ";")
    yield f"{NAME}: RK4 in steps of {1e3 * STEP:g} ms differs by {apart:.0e} m from tight tolerances after {SECONDS:g} s"
    yield (
        f"{NAME}: the base is at {ends[0, 2]:.4f} m by our contacts (springs and dampers), at {theirs()[0, 2]:.4f} m by MuJoCo's "
        "(constraints, solver defaults): other models of contact, not the same motion"
    )
    seconds = race({"one": ours, "two": partial(ours, 2), "rollout": theirs, "mj_step": step}, rounds=5 if quick else 15)
    mine = {key: seconds[key] / (MANY * SECONDS) for key in ("one", "two")}
    peers = {key: seconds[key] / (THEIRS * SECONDS) for key in ("rollout", "mj_step")}
    what = f"a simulated second, {MANY} robots on lanes, RK4 at {1e3 * STEP:g} ms"
    for label, key, peer_key in (
        (f"{what}, over mj_step at {1e3 * THEIR_STEP:g} ms", "one", "mj_step"),
        (f"{what}, over mujoco.rollout at {1e3 * THEIR_STEP:g} ms", "one", "rollout"),
        (f"{what}, two threads, over mj_step in one", "two", "mj_step"),
    ):
        details = {"ours": 1e6 * mine[key], peer_key: 1e6 * peers[peer_key]}
        yield Measure("contact", NAME, label, peers[peer_key] / mine[key], "×", details=details)
    per_step = peers["mj_step"] * THEIR_STEP / (mine["one"] * STEP)
    details = {"ours": 1e6 * mine["one"] * STEP, "mj_step": 1e6 * peers["mj_step"] * THEIR_STEP}
    yield Measure("contact", NAME, "a step of ours (four evaluations) over one of mj_step", per_step, "×", details=details)
