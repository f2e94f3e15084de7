"""A quadruped (Unitree A1 of example-robot-data) that is dropped on its four feet and held by its motors: many at once.

The bodies, motors (torque = kp·(target − q) − kd·v) and spheres of the feet are the same for both programs; the contacts are not.
Ours are springs and dampers with smooth friction, compiled with the equations, in explicit RK4 steps that must resolve them.
MuJoCo's are constraints, which an iterative solver satisfies in every step, so that its steps may be longer; it runs with its
defaults (semi-implicit Euler, steps of 2 ms). What is compared is the time per simulated second of one robot, each with steps in
which its motion is right: the height of the base at the end is printed for both, and ours is compared with a run of tight
tolerances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
"""Robots of our rollout on lanes, and of MuJoCo's: every one takes the same time."""
STEP, THEIR_STEP = 5e-4, 2e-3
SLIP = 0.1
"""m/s: friction in steps of 0.5 ms. The feet of a standing robot creep by much less."""
APART, SAMPLES = 1e-4, 10
"""Metres by which the base may be off, and times at which that is looked at."""


def build() -> tuple[sh.Model, sh.Ground, dict[str, float]]:
    m = sh.load(robots()["a1/a1"], floating=True, passive=False, acting="motion")
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
    rng = np.random.default_rng(0)
    q = np.tile(model.coordinates(start), (MANY, 1))
    q[:, 7:] += 0.02 * rng.normal(size=(MANY, model.nq - 7))

    def ours(threads: int = 1, samples: int = 1) -> sh.Rollout:
        return sh.rollout(model, q, step=STEP, duration=SECONDS, every=round(SECONDS / STEP / samples), threads=threads)

    theirs, step = peers(model, peer, q[:THEIRS], list(targets.values()))
    yield f"{NAME}: {ground}".replace("\n ", ";")
    right = sh.simulate(model, SECONDS, q0=q[0], output=SECONDS / SAMPLES, rtol=1e-9, atol=1e-9).q[:, :3]
    path = ours(samples=SAMPLES).q[0, :, :3]
    apart = float(np.abs(path - right[-len(path) :]).max())
    if not apart < APART:
        raise AssertionError(f"{NAME}: RK4 in steps of {1e3 * STEP:g} ms is {apart:.1e} m from a run of tight tolerances")
    yield f"{NAME}: RK4 in steps of {1e3 * STEP:g} ms is within {apart:.0e} m of a run of tight tolerances"
    yield (
        f"{NAME}: in the end the base is at {right[-1, 2]:.4f} m by our contacts (springs, dampers), at {theirs()[0, 2]:.4f} m "
        "by MuJoCo's (constraints, solver defaults): other models of contact, not the same motion"
    )
    calls: dict[str, Callable[[], object]] = {"RK4": ours, "RK4, two threads": partial(ours, 2)}
    calls |= {"mujoco.rollout": theirs, "mj_step": step}
    seconds = race(calls, rounds=5 if quick else 15)
    each = {key: x / SECONDS / (MANY if "RK4" in key else THEIRS) for key, x in seconds.items()}
    steps = f"steps of {1e3 * STEP:g} and {1e3 * THEIR_STEP:g} ms"
    for key, other in (("RK4", "mj_step"), ("RK4", "mujoco.rollout"), ("RK4, two threads", "mj_step")):
        details = {"ours": 1e6 * each[key], other: 1e6 * each[other]}
        what = f"a simulated second: {key}, {MANY} on lanes, over {other}; {steps}"
        yield Measure("contact", NAME, what, each[other] / each[key], "×", details=details)
    mine, other_step = each["RK4"] * STEP, each["mj_step"] * THEIR_STEP
    details = {"ours": 1e6 * mine, "mj_step": 1e6 * other_step}
    yield Measure("contact", NAME, "one step: RK4, four evaluations, over mj_step", other_step / mine, "×", details=details)


def peers(model: sh.Model, peer: Any, q: np.ndarray, targets: list[float]) -> tuple[Callable[[], np.ndarray], Callable[[], None]]:
    """mujoco.rollout, which returns the last states, and mj_step with all steps in one call."""
    steps = round(SECONDS / THEIR_STEP)
    qpos = np.array([sh.to_mujoco(model, peer.model, row, np.zeros(model.nv))[0] for row in q])
    states = np.concatenate([np.zeros((len(q), 1)), qpos, np.zeros((len(q), model.nv))], axis=1)
    controls = np.tile(targets, (len(q), steps, 1))

    def rollout() -> np.ndarray:
        found, _ = mujoco_rollout.rollout(peer.model, [peer.data], states, controls)
        return np.asarray(found[:, -1, 1:])

    def step() -> None:
        for row in qpos:
            mujoco.mj_resetData(peer.model, peer.data)
            peer.data.qpos[:], peer.data.ctrl[:] = row, targets
            mujoco.mj_step(peer.model, peer.data, nstep=steps)

    return rollout, step
