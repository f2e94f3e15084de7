"""Impacts: a ball that bounces until it rests, Newton's cradle, and a hammer that is stopped in mid-swing.

python examples/impacts.py [--plot results/impacts.png]
"""

import math
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sharnir as sh

STYLE = Path(__file__).with_name("examples.mplstyle")
G, HEIGHT, RESTITUTION = 9.81, 1.0, 0.7
BALLS, RADIUS, LENGTH = 5, 0.05, 1.0


def bouncing() -> sh.Result:
    m = sh.Model("ball", gravity=(0.0, 0.0, -G))
    m.add_body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004))
    m.add_joint("height", sh.Prismatic("z"), "ground", "ball")
    floor = sh.Impact.sphere("ball", 0.1, restitution=RESTITUTION, name="floor")
    return sh.simulate(m, 3.5, q0={"height": 0.1 + HEIGHT}, events=[floor], output=0.005)


def cradle(lifted: int) -> sh.Result:
    """Balls on pendulums that touch: momentum goes through all of them at one instant."""
    m = sh.Model("cradle", gravity=(0.0, 0.0, -G))
    tip = (0.0, 0.0, -LENGTH)
    for k in range(BALLS):
        m.add_body(f"ball{k}", mass=0.5, com=tip, inertia=(1e-4, 1e-4, 1e-4))
        m.add_joint(f"string{k}", sh.Revolute("y"), "ground", f"ball{k}", at=sh.Pose((2.0 * RADIUS * k, 0.0, 0.0)))
    hits = [
        sh.Impact.spheres(f"ball{k}", f"ball{k + 1}", RADIUS, at=tip, other_at=tip, restitution=1.0) for k in range(BALLS - 1)
    ]
    start = {f"string{k}": 0.4 for k in range(lifted)}
    return sh.simulate(m, 4.0, q0=start, events=hits, output=0.005, rtol=1e-10, atol=1e-12)


def hammer(grip: float) -> float:
    """A rod that turns about one end and is stopped by a peg: the impulse that its hinge feels depends on where the peg is."""
    m = sh.Model("hammer", gravity=(0.0, 0.0, -G))
    m.add_body("rod", mass=2.0, shape=sh.Rod((0.0, 0.0, 0.0), (0.0, 0.0, -LENGTH)))
    m.add_joint("hinge", sh.Revolute("y"), "ground", "rod")
    peg = sh.Impact.sphere("rod", at=(0.0, 0.0, -grip), normal=(-1.0, 0.0, 0.0), restitution=0.0, name="peg")
    return sh.simulate(m, 1.0, q0={"hinge": math.pi / 2}, events=[peg]).impacts[0].impulse


def draw(ball: sh.Result, swings: sh.Result, path: Path) -> None:
    plt.style.use(STYLE)
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(9, 6))
    top.plot(ball.t, ball.coordinate("height") - 0.1)
    top.set(xlabel="s", ylabel="m", title=f"{len(ball.impacts)} bounces until the ball rests")
    for k in range(BALLS):
        bottom.plot(swings.t, np.degrees(swings.coordinate(f"string{k}")), label=f"ball {k + 1}")
    bottom.set(xlabel="s", ylabel="degrees", title="Newton's cradle, two balls lifted")
    bottom.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path)
    print(f"written: {path}")


def main(plot: Path | None = None) -> dict[str, float]:
    ball = bouncing()
    rest, known = ball.impacts[-1].t, math.sqrt(2.0 * HEIGHT / G) * (1.0 + RESTITUTION) / (1.0 - RESTITUTION)
    print(f"the ball rests at t = {rest:.6f} s after {len(ball.impacts)} bounces; the geometric series says {known:.6f} s")
    swings = cradle(2)
    first, second = (swings.impacts[k].t for k in (0, BALLS - 1))
    out = (swings.t > first) & (swings.t < second)
    still = float(np.abs(swings.q[out, : BALLS - 2]).max())
    height = float(-swings.q[out, -1].min() / 0.4)
    print(f"two balls fall, two leave and rise to {height:.4f} of the angle; the others move by {still:.1e} rad")
    struck = hammer(2.0 * LENGTH / 3.0)
    # at the centre of percussion the hinge feels nothing: the peg takes all the momentum of the rod, m ω l/2
    share = struck / (2.0 * math.sqrt(3.0 * G / LENGTH) * LENGTH / 2.0)
    print(f"a peg at the centre of percussion takes {share:.6f} of the momentum of the rod")
    if plot:
        draw(ball, swings, plot)
    return {"rest": rest, "known": known, "still": still, "height": height, "share": share}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results/impacts.png"), help="where to draw the picture")
    main(parser.parse_args().plot)
