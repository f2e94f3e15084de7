"""Chaos: two double pendulums a billionth of a radian apart, and ten thousand of them at once.

python examples/double_pendulum.py [--plot results/double_pendulum.png]
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sharnir as sh

STYLE = Path(__file__).with_name("examples.mplstyle")
HIGH = {"hinge1": 1.0, "hinge2": -0.4}
"""Both rods well above the horizontal: zero is along x, π/2 is up."""
TINY = 1e-9
SIDE, DT, SECONDS = 100, 0.005, 5.0


def neighbours(m: sh.Model) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    """Times, distance between two neighbours, and how it grows: rate, height of distance ~ exp(rate·t + height)."""
    tight: dict = {"rtol": 1e-12, "atol": 1e-13}
    a, b = (sh.simulate(m, 12.0, q0={**HIGH, "hinge2": HIGH["hinge2"] + x}, **tight) for x in (0.0, TINY))
    distance = np.linalg.norm(a.q - b.q, axis=1)
    growing = slice(0, int(np.argmax(distance > 0.1)))  # until it is as large as the motion itself
    rate, height = np.polyfit(a.t[growing], np.log(distance[growing]), 1)
    return a.t, distance, (float(rate), float(height))


def first_turns(m: sh.Model) -> tuple[np.ndarray, np.ndarray, sh.Rollout]:
    """On a grid of starts: when the second rod first goes over the top of the first (nan: never)."""
    angle = np.linspace(-np.pi, np.pi, SIDE, endpoint=False) + np.pi / SIDE
    first, second = np.meshgrid(angle, angle, indexing="ij")
    q0 = np.column_stack([first.ravel() - np.pi / 2, (second - first).ravel()])  # angles from the vertical, absolute
    r = sh.rollout(m, q0, dt=DT, steps=int(SECONDS / DT), every=4, threads=2)
    over = np.abs(np.cumsum(r.q, axis=2)[..., 1] + np.pi / 2) > np.pi
    when = np.where(over.any(axis=1), r.t[np.argmax(over, axis=1)], np.nan)
    return angle, when.reshape(SIDE, SIDE), r


def draw(
    t: np.ndarray, distance: np.ndarray, growth: tuple[float, float], angle: np.ndarray, when: np.ndarray, path: Path
) -> None:
    plt.style.use(STYLE)
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6))
    left.semilogy(t, distance, color="C0", linewidth=1.2)
    left.semilogy(t, np.exp(np.polyval(growth, t)), color="C1", linestyle="--", linewidth=1.0, label=f"exp({growth[0]:.2f} t)")
    left.set(xlabel="t, s", ylabel="distance, rad", title="Two neighbours, 1e-9 rad apart", ylim=(1e-10, 1e2))
    left.legend()
    right.grid(False)
    edges = np.degrees([angle[0], angle[-1]] * 2)
    image = right.imshow(when.T, origin="lower", extent=edges, cmap="magma_r", interpolation="nearest")
    right.set(xlabel="first rod, degrees from below", ylabel="second rod", title=f"When the second rod goes over, {SIDE}² starts")
    fig.colorbar(image, ax=right, label="s", shrink=0.85)
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path)
    print(f"written: {path}")


def main(plot: Path | None = None) -> dict[str, float]:
    m = sh.samples.double_pendulum()
    t, distance, growth = neighbours(m)
    rate = growth[0]
    print(
        f"two neighbours {TINY:g} rad apart: the distance grows like exp({rate:.2f} t), tenfold every {np.log(10) / rate:.2f} s"
    )
    angle, when, r = first_turns(m)
    share = float(np.isfinite(when).mean())
    steps = len(r.q) * int(SECONDS / DT)
    each = r.wall / steps * 1e9
    print(f"{len(r.q)} pendulums for {SECONDS:g} s: {steps / 1e6:.0f} million steps in {r.wall:.2f} s ({each:.0f} ns each)")
    print(f"in {100 * share:.1f} % of them the second rod goes over the top")
    symmetric = float(np.mean(np.isfinite(when) == np.isfinite(when[::-1, ::-1])))
    if plot:
        draw(t, distance, growth, angle, when, plot)
    return {"rate": rate, "share": share, "symmetric": symmetric, "failed": float((~r.ok).sum())}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results/double_pendulum.png"), help="where to draw the picture")
    main(parser.parse_args().plot)
