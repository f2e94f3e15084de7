"""A boom is raised by a hydraulic cylinder: pump, accumulator, servo valve, and a controller of its opening.

python examples/hydraulic_boom.py [--plot results/hydraulic_boom.png]
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sharnir as sh

STYLE = Path(__file__).with_name("examples.mplstyle")
MASS, LENGTH = 300.0, 3.0
FOOT, EYE = (0.4, 0.0, -0.8), (0.9, 0.0, 0.0)
"""Where the cylinder stands on the ground, and where it holds the boom."""
AREA, ROD = 3.1e-3, 1.6e-3
LOW, HIGH, SLOW, SECONDS = 0.1, 0.8, 2.0, 5.0
"""rad, rad, s, s: from where to where, in how long; and how long it is watched."""
SHORTEST = 0.85


def target(t):
    x = sh.minimum(t / SLOW, 1.0)
    return LOW + (HIGH - LOW) * x * x * (3.0 - 2.0 * x)


def arm(angle: float) -> float:
    """Lever of the cylinder about the hinge: d(length)/d(angle)."""
    turned = EYE[0] * np.array([np.cos(angle), np.sin(angle)])
    line = turned - np.array(FOOT)[[0, 2]]
    return float(line @ np.array([-turned[1], turned[0]]) / np.linalg.norm(line))


def build() -> sh.Model:
    m = sh.Model("boom")
    m.add_body("boom", MASS, shape=sh.Box((LENGTH, 0.2, 0.2), at=sh.Pose((0.5 * LENGTH, 0.0, 0.0))))
    m.add_joint("hinge", sh.Revolute((0.0, -1.0, 0.0)), "ground", "boom")
    push = 0.5 * LENGTH * MASS * 9.81 * np.cos(LOW) / arm(LOW)
    m.add_force(
        sh.HydraulicCylinder(
            "ground", "boom", FOOT, EYE, area_a=AREA, area_b=ROD, stroke=0.8, length=SHORTEST, leakage=2e-11, friction=2e4,
            pressure_a=(push + ROD * 2e6) / AREA, pressure_b=2e6,
            valve=sh.Valve(sh.PID("hinge", kp=8.0, target=target), area=2e-5, supply=1.8e7, lag=0.005),
            accumulators=[sh.Accumulator(2e-3, 9e6, pump=8e-4, pressure=1.7e7)],
        ),
        name="cylinder",
    )  # fmt: skip
    return m


def draw(r: sh.Result, path: Path) -> None:
    plt.style.use(STYLE)
    fig, (angle, pressure, flow) = plt.subplots(3, 1, figsize=(9, 8), sharex=True)
    angle.plot(r.t, r.coordinate("hinge"), label="angle")
    angle.plot(r.t, r.coordinate("hinge") + r.quantity("error of cylinder"), ":", label="target")
    angle.set(ylabel="rad", title="The boom follows its target")
    for name, label in (("supply", "supply"), ("pressure_a", "chamber a"), ("pressure_b", "chamber b")):
        pressure.plot(r.t, r.state(f"cylinder.{name}") / 1e5, label=label)
    pressure.set(ylabel="bar", title="Pressures")
    for side in "ab":
        flow.plot(r.t, r.quantity(f"flow {side} of cylinder") * 6e4, label=f"into chamber {side}")
    flow.set(xlabel="t, s", ylabel="l/min", title="Flow through the valve")
    for axes in (angle, pressure, flow):
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path)
    print(f"written: {path}")


def main(plot: Path | None = None) -> dict[str, float]:
    r = sh.simulate(build(), SECONDS, q0={"hinge": LOW}, integrator="radau", rtol=1e-7, atol=1e-9, output=0.01)
    print(r.summary())
    a, b = (r.state(f"cylinder.pressure_{side}")[-1] for side in "ab")
    held = 0.5 * LENGTH * MASS * 9.81 * np.cos(r.coordinate("hinge")[-1]) / arm(r.coordinate("hinge")[-1])
    miss, worst = (float(np.abs(x)) for x in (r.quantity("error of cylinder")[-1], np.abs(r.quantity("error of cylinder")).max()))
    print(f"\nat the end the oil pushes with {a * AREA - b * ROD:.0f} N, statics ask for {held:.0f} N")
    least = r.state("cylinder.supply").min() / 1e5
    print(f"error at the end {miss:.1e} rad, at most {worst:.1e} rad; the supply falls to {least:.0f} bar")
    if plot:
        draw(r, plot)
    defect = float(np.abs(r.energy.defect).max() / np.abs(r.energy.work["cylinder"]).max())
    return {"push": float(a * AREA - b * ROD), "held": float(held), "miss": miss, "worst": worst, "defect": defect}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results/hydraulic_boom.png"), help="where to draw the picture")
    main(parser.parse_args().plot)
