"""A space manipulator of seven axes is moved by motors with PD controllers and limited torque.

python examples/manipulator_pd.py [--plot results/manipulator_pd.png]
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sharnir as sh

STYLE = Path(__file__).with_name("examples.mplstyle")
TARGET = {"joint1": 0.6, "joint2": -0.4, "joint3": 0.9, "joint4": -1.4, "joint5": 0.5, "joint6": 0.7, "joint7": -0.3}
STIFFNESS = (4000.0, 4000.0, 4000.0, 1200.0, 300.0, 300.0, 30.0)
"""kp of each axis, N m/rad; kd makes each about critically damped with what it carries."""
DAMPING = (18000.0, 18000.0, 18000.0, 4500.0, 400.0, 400.0, 20.0)
LIMIT, SLOW, SECONDS = 1000.0, 20.0, 60.0


def ramp(goal: float):
    """From 0 to the goal in `SLOW` seconds, at rest at both ends; and its speed."""

    def place(t):
        x = sh.minimum(t / SLOW, 1.0)
        return goal * x * x * (3.0 - 2.0 * x)

    def speed(t):
        x = sh.minimum(t / SLOW, 1.0)
        return goal * 6.0 * x * (1.0 - x) / SLOW

    return place, speed


def build() -> sh.Model:
    arm = sh.samples.manipulator()
    for (joint, goal), kp, kd in zip(TARGET.items(), STIFFNESS, DAMPING, strict=True):
        place, speed = ramp(goal)
        arm.add_force(sh.Motor(joint, kp=kp, kd=kd, target=place, target_speed=speed, limit=LIMIT), name=f"motor of {joint}")
    return arm


def torques(r: sh.Result) -> np.ndarray:
    """(T, 7): what the motors gave: with no gravity and no other force, the inverse dynamics without motors."""
    bare = sh.Dynamics(sh.samples.manipulator())
    return bare.inverse(r.q, r.v, r.a, r.t)


def draw(r: sh.Result, tau: np.ndarray, path: Path) -> None:
    plt.style.use(STYLE)
    fig, (angles, efforts, tip) = plt.subplots(3, 1, figsize=(9, 8))
    for joint, goal in TARGET.items():
        (line,) = angles.plot(r.t, r.coordinate(joint), linewidth=1.4, label=joint)
        angles.axhline(goal, color=line.get_color(), linewidth=0.7, linestyle=":")
    angles.set(ylabel="angle, rad", title="Seven axes follow their targets (dotted: where to)")
    angles.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    efforts.plot(r.t, tau / 1e3, linewidth=1.2)
    efforts.axhline(LIMIT / 1e3, color="gray", linestyle=":")
    efforts.axhline(-LIMIT / 1e3, color="gray", linestyle=":")
    efforts.set(ylabel="torque, kN m", title=f"Motors, limit {LIMIT / 1e3:g} kN m")
    for axis, x in zip("xyz", r.point("link7", (0.5, 0.0, 0.0)).T, strict=True):
        tip.plot(r.t, x, label=axis)
    tip.set(xlabel="t, s", ylabel="m", title="Place of the hand")
    tip.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path)
    print(f"written: {path}")


def main(plot: Path | None = None) -> dict[str, float]:
    r = sh.simulate(build(), SECONDS, rtol=1e-9, output=0.05)
    print(r.summary())
    tau = torques(r)
    miss = max(abs(r.coordinate(joint)[-1] - goal) for joint, goal in TARGET.items())
    work = sum(work[-1] for work in r.energy.work.values())
    peak = float(np.abs(tau).max())
    print(f"\nlargest torque {peak:.0f} N m; after {SECONDS:g} s the worst axis is {miss:.1e} rad from its target")
    if plot:
        draw(r, tau, plot)
    return {"miss": float(miss), "peak": peak, "work": float(work), "defect": float(np.abs(r.energy.defect).max())}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results/manipulator_pd.png"), help="where to draw the picture")
    main(parser.parse_args().plot)
