"""Every URDF of example-robot-data read by us and by Pinocchio: the same robot, the same answers.

`python -m benchmarks urdf` writes docs/results/urdf_robots.md; tests/io/test_urdf_robots.py asserts what it shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pinocchio as pin

import sharnir as sh
from sharnir.reporting.table import Table

from . import harness
from .harness import relative_error as error

TOLERANCE = 1e-9
DERIVATIVES = 1e-8
"""Tolerance of the columns with ∂: inertia matrices have condition numbers up to 3·10⁹ (iCub's fingers)."""
NOT_LOADED = ("ur3.urdf",)
"""An empty <robot>: Pinocchio refuses it, and so do we."""


def robot_files() -> dict[str, Path]:
    """The URDFs by their short names."""
    places = [path for path in harness.robot_files() if path.name not in NOT_LOADED]
    return {f"{path.parents[1].name.removesuffix('_description')}/{path.stem}": path for path in places}


@dataclass(frozen=True)
class Pair:
    """A robot read by both, and the way from our coordinates to Pinocchio's."""

    ours: sh.Model
    pin: pin.Model

    @property
    def is_coupled(self) -> bool:
        return any(j.follows for j in self.ours.joints)

    @cached_property
    def G(self) -> np.ndarray:
        """Pinocchio's speeds per unit of ours: another order, and followers where it lets them be free."""
        return sh.to_pinocchio(self.ours, self.pin, self.ours.neutral(), np.eye(self.ours.nv))[1].T

    def q(self, q: np.ndarray) -> np.ndarray:
        """Our coordinates as Pinocchio's."""
        return sh.to_pinocchio(self.ours, self.pin, q)


def read_pair(path: Path, floating: bool, mimic: bool = False) -> Pair:
    """Without passive forces, which Pinocchio leaves out. Its own mimic joints fail where a follower comes before its
    leader, and `aba` knows none; so it lets followers be free, and G ties them."""
    ours = sh.load(path, floating=floating, passive=False, acting="motion")
    root = [pin.JointModelFreeFlyer()] if floating else []
    return Pair(ours, pin.buildModelFromUrdf(str(path), *root, mimic=mimic))


def worst_errors(pair: Pair, seed: int = 0) -> dict[str, float]:
    """The largest difference of each answer at a random state, relative to its largest entry; nan where neither has one."""
    m, data = pair.ours, pair.pin.createData()
    if not pair.pin.nv:  # all is fixed to the ground
        return {"poses": _pose_error(pair, data, np.zeros(0))}
    rng = np.random.default_rng(seed)
    q = m.random_q(rng)
    v, a, tau = rng.normal(size=(3, m.nv))
    return {"poses": _pose_error(pair, data, q), **_dynamics_errors(pair, data, q, v, a, tau)}


def _dynamics_errors(
    pair: Pair, data: pin.Data, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray
) -> dict[str, float]:
    m, p, G, pq = pair.ours, pair.pin, pair.G, pair.q(q)
    M = pin.crba(p, data, pq)
    M = G.T @ (np.triu(M) + np.triu(M, 1).T) @ G
    inverse, gravity, bias = (G.T @ pin.rnea(p, data, pq, G @ x, G @ y) for x, y in ((v, a), (0 * v, 0 * a), (v, 0 * a)))
    d = sh.Dynamics(m, "composite" if pair.is_coupled else "separate", backend="python")
    found = {"inertia": d.mass_matrix(q), "gravity": d.bias(q), "inverse": d.inverse(q, v, a)}
    try:
        qdd = d.forward(q, v, tau)
    except sh.SingularError:  # joints that move no mass: forces follow from motion, motion does not from forces
        forward = float("nan")
        derivatives = {}
    else:
        wanted = np.linalg.solve(M, tau - bias) if pair.is_coupled else G.T @ pin.aba(p, data, pq, G @ v, G @ tau)
        forward = error(qdd, wanted)
        mimic = any("Mimic" in joint.shortname() for joint in p.joints)  # which it does not differentiate
        derivatives = {} if mimic else derivative_errors(pair, data, q, v, a, tau)
    theirs = {"inertia": M, "gravity": gravity, "inverse": inverse}
    return {**{name: error(x, theirs[name]) for name, x in found.items()}, "forward": forward, **derivatives}


def derivative_errors(
    pair: Pair, data: pin.Data, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray, backend: str = "loops"
) -> dict[str, float]:
    """The worst of ∂/∂q, ∂/∂v and ∂/∂a or ∂/∂τ, each relative to its largest entry, or to a millionth of the largest of all where
    that is more: a motion without gravity along its axes leaves nothing but rounding in ∂/∂q."""
    p, G, pq = pair.pin, pair.G, pair.q(q)
    d = sh.Dynamics(pair.ours, "composite", backend=backend)

    def by_rnea(accelerations: np.ndarray) -> list[np.ndarray]:
        pin.computeRNEADerivatives(p, data, pq, G @ v, G @ accelerations)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        return [G.T @ x @ G for x in (data.dtau_dq, data.dtau_dv, M)]

    def by_aba() -> list[np.ndarray]:
        if pair.is_coupled:  # its `aba` lets followers be free
            dq, dv, M = by_rnea(d.forward(q, v, tau))
            return [*(-np.linalg.solve(M, x) for x in (dq, dv)), np.linalg.inv(M)]
        pin.computeABADerivatives(p, data, pq, G @ v, G @ tau)
        return [G.T @ x @ G for x in (data.ddq_dq, data.ddq_dv, np.triu(data.Minv) + np.triu(data.Minv, 1).T)]

    inverse, forward = d.inverse_derivatives(q, v, a), d.forward_derivatives(q, v, tau)
    ours = {"∂inverse": (inverse.dq, inverse.dv, inverse.da), "∂forward": (forward.dq, forward.dv, forward.dtau)}
    theirs = {"∂inverse": by_rnea(a), "∂forward": by_aba()}

    def worst(name: str) -> float:
        least = 1e-6 * max(np.abs(y).max() for y in theirs[name])
        pairs = zip(ours[name], theirs[name], strict=True)
        return max(float(np.abs(x - y).max() / max(np.abs(y).max(), least)) for x, y in pairs)

    return {name: worst(name) for name in ours}


def _pose_error(pair: Pair, data: pin.Data, q: np.ndarray) -> float:
    """Of all links, merged or not."""
    m = pair.ours
    pin.framesForwardKinematics(pair.pin, data, pair.q(q))
    bodies = {"ground": pin.SE3.Identity()}
    if pair.pin.nv:
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
    assert count == len(m.frames) + len(bodies) - 1, "a link of one is missing in the other"
    return worst


def measure(path: Path, floating: bool) -> tuple[Pair, dict[str, float]]:
    """Worst of three random states."""
    pair = read_pair(path, floating)
    found = [worst_errors(pair, seed) for seed in range(3)]
    return pair, {name: max(f[name] for f in found) for name in found[0]}


def main(quick: bool = False) -> None:
    """docs/results/urdf_robots.md: every robot with its worst errors."""
    rows = [["robot", "base", "bodies", "freedoms", "coupled", "frames", "poses", "inertia", "gravity", "inverse", "forward"]]
    rows[0] += ["∂inverse", "∂forward"]
    worst: dict[str, float] = {}
    for name, path in robot_files().items():
        for floating in (False, True):
            pair, errors = measure(path, floating)
            m, moves = pair.ours, bool(pair.pin.nv)
            sizes = [len(m.bodies), m.nv, sum(bool(j.follows) for j in m.joints)] if moves else [0, 0, 0]
            shown = [_shown(errors.get(column)) for column in rows[0][6:]]
            rows.append([name, "floating" if floating else "fixed", *map(str, sizes), str(len(m.frames)), *shown])
            for column, e in errors.items():
                worst[column] = max(worst.get(column, 0.0), 0.0 if np.isnan(e) else e)
    (harness.results() / "urdf_robots.md").write_text(
        "# Every URDF of example-robot-data against Pinocchio\n"
        "Written by `python -m benchmarks urdf`, asserted by `tests/io/test_urdf_robots.py`. Largest difference over three\n"
        "random states, relative to the largest entry. `frames`: links merged over fixed joints. `—`: nothing moves, or some\n"
        "joint moves no mass and forward dynamics has no answer in either program (Pinocchio's is nan, ours a SingularError).\n"
        "Coupled joints: Pinocchio's free model, tied by x = ratio · leader + offset. ∂: derivatives, on loops, against\n"
        "`computeRNEADerivatives` and `computeABADerivatives`.\n\n"
        f"Worst of all: {', '.join(f'{column} {e:.1e}' for column, e in worst.items())}.\n\n"
        + Table.of_text(rows).markdown()
        + "\n",
        encoding="utf-8",
    )
    print(f"{len(rows) - 1} comparisons; worst: {worst}")


def _shown(e: float | None) -> str:
    return "—" if e is None or np.isnan(e) else f"{e:.0e}"
