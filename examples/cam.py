"""A face cam as a joint of one's own: a rotor rides on a wavy track, and lifts off where it turns too fast.

python examples/cam.py [--plot results/cam.png]
"""

import math
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sharnir as sh

STYLE = Path(__file__).with_name("examples.mplstyle")
LIFT, WAVES = 0.02, 3
"""Height of the track from valley to crest, m; crests in a turn."""
MASS, INERTIA, G = 2.0, 0.01, 9.81


def height(angle):
    return 0.5 * LIFT * (1.0 - sh.cos(WAVES * angle))


def build() -> sh.Model:
    """The pose says it all: axes of motion, velocities and accelerations follow from it by differentiation."""

    def on_track(q, t):
        return sh.Pose((0.0, 0.0, height(q[0])), sh.Rotation.about("z", q[0]))

    m = sh.Model("cam", gravity=(0.0, 0.0, -G))
    m.add_body("rotor", mass=MASS, inertia=(INERTIA, INERTIA, INERTIA))
    m.add_joint("track", sh.CustomJoint(1, on_track, names=("angle",)), "ground", "rotor")
    return m


def speed_by_energy(angle: np.ndarray, start: float) -> np.ndarray:
    """½(J + m h′²)ω² + m g h stays what it was in the valley."""
    slope = 0.5 * LIFT * WAVES * np.sin(WAVES * angle)
    rise = 0.5 * LIFT * (1.0 - np.cos(WAVES * angle))
    return np.sqrt((INERTIA * start**2 - 2.0 * MASS * G * rise) / (INERTIA + MASS * slope**2))


def contact(m: sh.Model, speed: float) -> tuple[sh.Result, np.ndarray]:
    """One turn and more at a speed, and the vertical force of the track on the rotor."""
    r = sh.simulate(m, 2.5 * 2.0 * math.pi / speed, v0={"track": speed}, rtol=1e-10, atol=1e-12, output=0.001)
    R = r.reaction("track")
    axis = r.poses[0][:, m.body_index("rotor")]
    return r, np.einsum("ti,ti->t", axis[:, 2, :], R[:, :3])


def lift_off(m: sh.Model) -> float:
    """The speed in the valleys from which on the track would have to hold the rotor down: by bisection."""
    slow, fast = 8.0, 40.0
    while fast - slow > 1e-6:
        middle = 0.5 * (slow + fast)
        slow, fast = (middle, fast) if contact(m, middle)[1].min() > 0.0 else (slow, middle)
    return 0.5 * (slow + fast)


def draw(runs: dict[float, tuple[sh.Result, np.ndarray]], path: Path) -> None:
    plt.style.use(STYLE)
    fig, (speed, force) = plt.subplots(2, 1, figsize=(9, 6), sharex=True)
    for (start, (r, f)), colour in zip(runs.items(), ("C0", "C1"), strict=True):
        turns = r.coordinate("track") / (2.0 * math.pi)
        speed.plot(turns, r.speed("track"), color=colour, label=f"{start:.1f} rad/s in the valleys")
        force.plot(turns, f, color=colour)
    force.axhline(0.0, color="gray", linestyle=":")
    force.axhline(MASS * G, color="gray", linestyle="--", linewidth=0.8, label="weight")
    speed.set(ylabel="rad/s", title="Speed of the rotor")
    speed.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    force.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    force.set(xlabel="turns", ylabel="N", title="Vertical force of the track; below zero it would have to hold the rotor down")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path)
    print(f"written: {path}")


def main(plot: Path | None = None) -> dict[str, float]:
    m = build()
    r, _ = contact(m, 12.0)
    error = float(np.abs(r.speed("track") - speed_by_energy(r.coordinate("track"), 12.0)).max())
    print(f"at 12 rad/s the speed is that of the energy integral to {error:.1e} rad/s")
    limit = lift_off(m)
    # on a crest: z'' = h″ω² = −g, and ω there follows from ω in the valley
    crest = 2.0 * G / (LIFT * WAVES**2)
    formula = math.sqrt(crest + 2.0 * MASS * G * LIFT / INERTIA)
    print(f"the rotor lifts off from {limit:.5f} rad/s on; the formula for a crest says {formula:.5f}")
    if plot:
        draw({12.0: (r, contact(m, 12.0)[1]), 1.15 * limit: contact(m, 1.15 * limit)}, plot)
    return {"error": error, "limit": limit, "formula": formula}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results/cam.png"), help="where to draw the picture")
    main(parser.parse_args().plot)
