"""A slewing crane at work: the tower turns, the boom is held, the trolley runs out, and the load swings.

python examples/crane.py [--plot results/crane.png]
"""

import math
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sharnir as sh

STYLE = Path(__file__).with_name("examples.mplstyle")
START = {"q0": {"luff": 0.4, "travel": 1.0, "hook": (math.cos(0.2), 0.0, math.sin(0.2), 0.0)}}
"""The boom is up, and the load hangs straight down."""
WAY, SECONDS = 4.0, 20.0
"""How far the trolley runs out, m; how long we watch."""


def build() -> sh.Model:
    """A crane on a turntable: a driven slewing joint, a boom, a trolley on it, a load on a ball joint, a counterweight."""
    m = sh.Model("crane", gravity=(0, 0, -9.81))
    m.add_body("tower", mass=800, shape=sh.Cylinder(0.4, 6, at=sh.Pose((0, 0, 3))))
    m.add_body("boom", mass=300, shape=sh.Rod((0, 0, 0), (9, 0, 0), radius=0.2))
    m.add_body("counterweight", mass=900, shape=sh.Box((1, 1, 0.6), at=sh.Pose((-2, 0, 0))))
    m.add_body("trolley", mass=60, shape=sh.Box((0.5, 0.4, 0.3)))
    m.add_body("load", mass=500, shape=sh.Box((1, 1, 1), at=sh.Pose((0, 0, -4))))
    m.add_joint("slew", sh.Revolute("z", motion=lambda t: 0.3 * sh.sin(0.5 * t)), "ground", "tower")
    m.add_joint("luff", sh.Revolute("-y"), "tower", "boom", at=sh.Pose((0, 0, 6)))
    m.add_joint("balance", sh.Weld(), "tower", "counterweight", at=sh.Pose((0, 0, 6)))
    m.add_joint("travel", sh.Prismatic("x"), "boom", "trolley", at=sh.Pose((2, 0, -0.3)))
    m.add_joint("hook", sh.Ball(), "trolley", "load")
    return m


def equipped() -> sh.Model:
    """The same with its motors, and some friction in the hook."""

    def run_out(t):
        x = sh.minimum(t / 8.0, 1.0)
        return START["q0"]["travel"] + WAY * x * x * (3.0 - 2.0 * x)

    m = build()
    m.add_force(sh.Motor("luff", torque=45e3, kp=3e6, kd=3e5, target=START["q0"]["luff"]), name="luffing gear")
    m.add_force(sh.Motor("travel", kp=4e4, kd=8e3, target=run_out), name="trolley winch")
    m.add_force(sh.JointSpring("hook", damping=200.0), name="hook friction")
    return m


def simulate() -> sh.Result:
    over = sh.Event(lambda on: on.t - 8.0, name="trolley stops")
    return sh.simulate(equipped(), SECONDS, output=0.02, events=[over], **START)


def swing(r: sh.Result) -> np.ndarray:
    """Angle of the load from the vertical, degrees."""
    down = r.point("load", (0.0, 0.0, -4.0)) - r.point("load")
    return np.degrees(np.arccos(np.clip(-down[:, 2] / 4.0, -1.0, 1.0)))


def draw(r: sh.Result, path: Path) -> None:
    plt.style.use(STYLE)
    fig, (plan, angle) = plt.subplots(1, 2, figsize=(10, 4.6))
    for name, at, colour in (("load", (0.0, 0.0, -4.0), "C1"), ("trolley", (0.0, 0.0, 0.0), "C0")):
        x = r.point(name, at)
        plan.plot(x[:, 0], x[:, 1], color=colour, linewidth=1.2, label=name)
        plan.plot(*x[-1, :2], "o", color=colour, markersize=5)
    plan.plot(0, 0, "s", color="black", markersize=6)
    plan.set(aspect="equal", xlabel="x, m", ylabel="y, m", title="Crane from above: trolley and load")
    plan.legend()
    angle.plot(r.t, swing(r), color="C1")
    angle.set(xlabel="t, s", ylabel="degrees", title="Swing of the load from the vertical")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path)
    print(f"written: {path}")


def main(plot: Path | None = None) -> dict[str, float]:
    return show(simulate(), plot)


def show(r: sh.Result, plot: Path | None) -> dict[str, float]:
    print(r.summary())
    hook = np.linalg.norm(r.reaction("hook")[:, :3], axis=1)
    print(f"\nthe load swings by {swing(r).max():.2f}°, the hook bears at most {hook.max() / 1e3:.3f} kN")
    if plot:
        draw(r, plot)
    return {"swing": float(swing(r).max()), "hook": float(hook.max()), "defect": float(np.abs(r.energy.defect).max())}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results/crane.png"), help="where to draw the picture")
    main(parser.parse_args().plot)
