"""Every URDF of example-robot-data read by us and by Pinocchio: the same robot, the same answers.

`python -m benchmarks urdf` writes docs/results/urdf_robots.md; tests/test_urdf_robots.py asserts what it shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pinocchio as pin

import sharnir as sh

from . import tables

TOLERANCE = 1e-9
NOT_LOADED = ("ur3.urdf",)
"""An empty <robot>: Pinocchio refuses it, and so do we."""


def robot_files() -> dict[str, Path]:
    """The URDFs by their short names."""
    places = sorted(Path(str(f.locate())) for f in files("example-robot-data") or [] if str(f).endswith(".urdf"))
    return {f"{p.parents[1].name.removesuffix('_description')}/{p.stem}": p for p in places if p.name not in NOT_LOADED}


@dataclass(frozen=True)
class Pair:
    """A robot read by both, and the way from our coordinates to Pinocchio's."""

    ours: sh.Model
    pin: pin.Model
    has_mimic: bool

    @cached_property
    def joints(self) -> list[tuple[sh.model.model.PlacedJoint, int]]:
        """Our joints that have coordinates, and the indices of theirs."""
        return [
            (j, self.pin.getJointId("root_joint" if j.name.endswith(" float") else j.name)) for j in self.ours.joints if j.nv
        ]

    @cached_property
    def order(self) -> np.ndarray:
        """Where each of our speeds stands in Pinocchio's v."""
        parts = [np.arange(j.nv) + self.pin.idx_vs[k] for j, k in self.joints]
        return np.concatenate(parts).astype(int) if parts else np.zeros(0, dtype=int)

    def q(self, q: np.ndarray) -> np.ndarray:
        """Our coordinates as Pinocchio's: quaternions are (x y z w) there, endless turns cosine and sine."""
        out = np.zeros(self.pin.nq)
        for joint, k in self.joints:
            part = q[self.ours.q_slice(joint.name)]
            if self.pin.nqs[k] == 7:
                part = part[[0, 1, 2, 4, 5, 6, 3]]
            elif self.pin.nqs[k] == 2:
                part = np.array([np.cos(part[0]), np.sin(part[0])])
            out[self.pin.idx_qs[k] : self.pin.idx_qs[k] + self.pin.nqs[k]] = part
        return out

    def v(self, v: np.ndarray) -> np.ndarray:
        out = np.zeros(self.pin.nv)
        out[self.order] = v
        return out


def read_pair(path: Path, floating: bool) -> Pair:
    """Without passive forces, which Pinocchio leaves out; with mimic joints where both can follow them."""
    ours = sh.load(path, floating=floating, passive=False)
    mimic = any(e.what == "mimic" for e in ours.import_report.honoured)
    root = [pin.JointModelFreeFlyer()] if floating else []
    return Pair(ours, pin.buildModelFromUrdf(str(path), *root, mimic=mimic), mimic)


def worst_errors(pair: Pair, seed: int = 0) -> dict[str, float]:
    """The largest difference of each answer at a random state, relative to its largest entry; nan where neither has one."""
    m, p, data = pair.ours, pair.pin, pair.pin.createData()
    rng = np.random.default_rng(seed)
    q = m.random_q(rng) if m.nq else np.zeros(0)
    v, a, tau = rng.normal(size=(3, m.nv))
    theirs = pair.q(q), pair.v(v), pair.v(a)
    return {
        "poses": _pose_error(pair, data, q),
        **_dynamics_errors(pair, data, (q, v, a, tau), theirs),
    } if m.nv else {"poses": _pose_error(pair, data, q)}  # fmt: skip


def _dynamics_errors(pair: Pair, data: pin.Data, ours: tuple[np.ndarray, ...], theirs: tuple[np.ndarray, ...]) -> dict[str, float]:
    m, p, order = pair.ours, pair.pin, pair.order
    (q, v, a, tau), (pq, pv, pa) = ours, theirs
    M = pin.crba(p, data, pq)
    M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(order, order)]
    inverse, gravity, bias = (pin.rnea(p, data, pq, x, y)[order].copy() for x, y in ((pv, pa), (0 * pv, 0 * pa), (pv, 0 * pa)))
    try:
        d = sh.Dynamics(m, "separate", backend="python")
    except sh.SingularError:  # joints that move no mass: forces follow from motion, motion does not from forces
        x, rest = sh.matrices(m, q, v), sh.matrices(m, q)
        found = {"inertia": x.M_r, "gravity": -rest.Q, "inverse": x.M_r @ a - x.Q}
        forward = float("nan")
    else:
        found = {"inertia": d.mass_matrix(q), "gravity": d.bias(q), "inverse": d.inverse(q, v, a)}
        wanted = np.linalg.solve(M, tau - bias) if pair.has_mimic else pin.aba(p, data, pq, pv, pair.v(tau))[order]
        forward = error(d.forward(q, v, tau), wanted)  # aba knows no mimic joints
    theirs_too = {"inertia": M, "gravity": gravity, "inverse": inverse}
    return {**{name: error(x, theirs_too[name]) for name, x in found.items()}, "forward": forward}


def _pose_error(pair: Pair, data: pin.Data, q: np.ndarray) -> float:
    """Of all links, merged or not."""
    m = pair.ours
    pin.framesForwardKinematics(pair.pin, data, pair.q(q))
    bodies = {"ground": pin.SE3.Identity()}
    if m.nv:
        rotation, position = sh.matrices(m, q).poses
        bodies |= {b.name: pin.SE3(rotation[i], position[i]) for i, b in enumerate(m.bodies)}
    worst, count = 0.0, 0
    for frame, there in zip(pair.pin.frames, data.oMf, strict=True):
        if frame.type != pin.FrameType.BODY:
            continue
        body, at = m.frames.get(frame.name, (frame.name, sh.Pose()))
        here = bodies[body] * pin.SE3(at.rotation.matrix, np.array(at.position))
        worst = max(worst, error(here.homogeneous, there.homogeneous))
        count += 1
    assert count == len(m.frames) + len([b for b in bodies if b not in m.frames and b != "ground"])
    return worst


def error(actual: object, expected: object) -> float:
    x, y = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    size = np.abs(y).max() if y.size else 0.0
    return float(np.abs(x - y).max() / (size or 1.0)) if y.size else 0.0
