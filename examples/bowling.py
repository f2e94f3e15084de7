"""A bowling ball: it slides down the lane, friction turns it, and it rolls on at 5/7 of its speed, whatever the friction.

python examples/bowling.py [--plot results/bowling.png]
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sharnir as sh

STYLE = Path(__file__).with_name("examples.mplstyle")
RADIUS, MASS, SPEED = 0.108, 6.8, 7.5
STIFFNESS = 2e6
FRICTIONS = (0.04, 0.12, 0.2)
"""Oiled, worn and dry lanes."""
SECONDS, G = 6.0, 9.81


def build() -> sh.Model:
    m = sh.Model("bowling", gravity=(0, 0, -G))
    ball = sh.Sphere(RADIUS)
    m.add_body("ball", MASS, shape=ball)
    m.add_floating("ball")
    friction = m.add_parameter("friction", 0.1)
    m.add_force(sh.Contact("ball", ball, stiffness=STIFFNESS, damping=20.0, friction=friction), name="lane")
    return m


def simulate(model: sh.Model, friction: float) -> sh.Result:
    height = RADIUS - MASS * G / STIFFNESS  # where the lane carries it
    start = {"q0": {"ball float": (0, 0, height, 1, 0, 0, 0)}, "v0": {"ball float": (SPEED, 0, 0, 0, 0, 0)}}
    return sh.simulate(model, SECONDS, parameters={"friction": friction}, **start)


def speeds(r: sh.Result) -> tuple[np.ndarray, np.ndarray]:
    """Of the centre, and of the surface about it."""
    return np.linalg.norm(r.point_velocity("ball"), axis=1), RADIUS * np.linalg.norm(r.v[:, 3:], axis=1)


def main(plot: Path | None = None) -> dict[str, float]:
    model, numbers = build(), {}
    runs = {friction: simulate(model, friction) for friction in FRICTIONS}
    print("friction  rolls from, s  by hand, s  at, m/s  heat, J  by hand, J")
    for friction, r in runs.items():
        rolls = float(r.t[np.argmax(r.quantity("slip speed of lane") < 0.01)])
        by_hand = 2 / 7 * SPEED / (friction * G)
        heat = -float(r.energy.work["lane"][-1])
        lost = 2 / 7 * 0.5 * MASS * SPEED**2
        print(f"{friction:8.2f}  {rolls:13.2f}  {by_hand:10.2f}  {speeds(r)[0][-1]:7.4f}  {heat:7.3f}  {lost:10.3f}")
        numbers[f"time {friction}"], numbers[f"heat {friction}"] = rolls / by_hand, heat / lost
        numbers[f"speed {friction}"] = float(speeds(r)[0][-1]) / (5 / 7 * SPEED)
        numbers[f"defect {friction}"] = float(np.abs(r.energy.defect).max())
    if plot:
        draw(runs, plot)
    return numbers


def draw(runs: dict[float, sh.Result], path: Path) -> None:
    plt.style.use(STYLE)
    fig, ax = plt.subplots(figsize=(8, 4.6))
    for k, (friction, r) in enumerate(runs.items()):
        centre, surface = speeds(r)
        ax.plot(r.t, centre, color=f"C{k}", label=f"centre, μ = {friction:g}")
        ax.plot(r.t, surface, color=f"C{k}", linestyle="--", label="surface")
    ax.axhline(5 / 7 * SPEED, color="black", linewidth=0.8)
    ax.set(xlabel="t, s", ylabel="m/s", title="A bowling ball slides, then rolls at 5/7 of its speed")
    ax.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path)
    print(f"written: {path}")


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results/bowling.png"), help="where to draw the picture")
    main(parser.parse_args().plot)
