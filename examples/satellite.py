"""A satellite turns itself by moving its arm: no outer force, momentum zero throughout, and yet another attitude.

python examples/satellite.py [--plot results/satellite.png]
"""

import math
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sharnir as sh

STYLE = Path(__file__).with_name("examples.mplstyle")
SWING, PERIOD, TURNS = 1.1, 10.0, 4
"""The two joints of the arm swing a quarter of a period apart: together they draw a circle."""


def smooth(t):
    """1 in the middle of the manoeuvre, 0 with all speeds at its ends."""
    x = sh.sin(math.pi * t / (PERIOD * TURNS))
    return x * x


def build() -> sh.Model:
    m = sh.Model("satellite", gravity=(0.0, 0.0, 0.0))
    m.add_body("hull", mass=200.0, shape=sh.Box((1.0, 1.0, 1.2)))
    m.add_body("shoulder", mass=5.0, shape=sh.Sphere(0.1))
    m.add_body("arm", mass=30.0, shape=sh.Rod((0.0, 0.0, 0.0), (0.0, 0.0, 2.0), radius=0.05))
    m.add_joint("orbit", sh.Free(), "ground", "hull")
    roll = sh.Revolute("x", motion=lambda t: SWING * smooth(t) * sh.cos(2.0 * math.pi / PERIOD * t))
    pitch = sh.Revolute("y", motion=lambda t: SWING * smooth(t) * sh.sin(2.0 * math.pi / PERIOD * t))
    m.add_joint("roll", roll, "hull", "shoulder", at=sh.Pose((0.0, 0.0, 0.6)))
    m.add_joint("pitch", pitch, "shoulder", "arm")
    return m


def at_rest(m: sh.Model) -> np.ndarray:
    """Speeds of the hull with which the whole has no momentum: the arm may move already when the run begins."""
    return sh.Dynamics(m).velocities(m.neutral(), np.zeros(m.nv))


def rotation_vector(r: sh.Result) -> np.ndarray:
    """(T, 3): attitude of the hull as axis times angle, degrees."""
    w, *xyz = r.coordinate("orbit")[:, 3:].T
    v = np.stack(xyz, axis=1) * np.sign(w)[:, None]
    size = np.linalg.norm(v, axis=1, keepdims=True)
    return np.degrees(2.0 * np.arctan2(size, np.abs(w)[:, None])) * v / np.maximum(size, 1e-300)


def draw(r: sh.Result, attitude: np.ndarray, momentum: np.ndarray, path: Path) -> None:
    plt.style.use(STYLE)
    fig, (turn, hand, kept) = plt.subplots(3, 1, figsize=(9, 8))
    for k, name in enumerate("xyz"):
        turn.plot(r.t, attitude[:, k], label=f"about {name}")
        hand.plot(r.t, r.point("arm", (0.0, 0.0, 2.0))[:, k], label=name)
    turn.set(ylabel="degrees", title="Attitude of the hull")
    hand.set(ylabel="m", title="Tip of the arm in space")
    for axis in (turn, hand):
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    kept.semilogy(r.t, np.abs(momentum).max(axis=1) + 1e-18, color="#777777")
    kept.set(xlabel="t, s", ylabel="kg m/s, kg m²/s", title="Largest component of momentum: none was there, none comes")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path)
    print(f"written: {path}")


def main(plot: Path | None = None) -> dict[str, float]:
    m = build()
    r = sh.simulate(m, PERIOD * TURNS, v0=at_rest(m), rtol=1e-10, atol=1e-12, output=0.05)
    momentum, centre = sh.Dynamics(m).total_momentum(r.q, r.v, r.t)
    attitude = rotation_vector(r)
    drift = float(np.abs(momentum).max())
    moved = float(np.abs(centre - centre[0]).max())
    fed = float(r.energy.work["drives"][-1])
    print(f"the arm draws {TURNS} circles and is back where it was; the hull has turned by")
    print("  " + ", ".join(f"{x:.3f}° about {n}" for x, n in zip(attitude[-1], "xyz", strict=True)))
    print(f"momentum stays below {drift:.1e}, the centre of mass within {moved:.1e} m; the drives gave {fed:.1e} J in all")
    if plot:
        draw(r, attitude, momentum, plot)
    turned = float(np.linalg.norm(attitude[-1]))
    return {"turned": turned, "momentum": drift, "centre": moved, "fed": fed, "z": float(attitude[-1, 2])}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results/satellite.png"), help="where to draw the picture")
    main(parser.parse_args().plot)
