"""A suspension is chosen: comfort against travel for 1 600 pairs of stiffness and damping, and the best one by gradients.

python examples/suspension_study.py [--plot results/suspension_study.png]
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sharnir as sh

STYLE = Path(__file__).with_name("examples.mplstyle")
STIFFNESS, DAMPING = (15e3, 40e3), (500.0, 4000.0)
"""N/m and N s/m, at the wheel; a softer spring would sag too far under a load."""
TRAVEL = 0.05
"""m that the body may move, from its lowest to its highest position, on a bump of 0.05 m."""
RUN = {"duration": 2.0}
COMFORT, RANGE = "rms of acceleration of heave", "range of heave"


def main(plot: Path | None = None) -> dict[str, float]:
    car = sh.samples.quarter_car()
    over = {"stiffness": np.linspace(*STIFFNESS, 40), "damping": np.linspace(*DAMPING, 40)}
    ds = sh.study(car, over, RUN, {"comfort": COMFORT, "travel": RANGE})
    allowed = ds["comfort"].where(ds["travel"] <= TRAVEL)
    tried = allowed.isel(allowed.argmin(...))
    print(f"of {ds['comfort'].size} pairs {int(allowed.count())} keep within {TRAVEL} m, the best of them: ", end="")
    print(f"{tried['stiffness'].item():.0f} N/m, {tried['damping'].item():.0f} N s/m, {tried.item():.4f} m/s²")

    best = sh.optimize(car, COMFORT, {"stiffness": STIFFNESS, "damping": DAMPING}, run=RUN, constraints={RANGE: (None, TRAVEL)})
    print(best.summary())
    if plot is not None:
        draw(ds, best, plot)
    return {
        "runs": float(ds["comfort"].size), "failed": float((ds["status"] != "done").sum()), "tried": tried.item(),
        "best": best.objective, "stiffness": best.values["stiffness"], "damping": best.values["damping"],
        "travel": best.constraints[RANGE], "searched": float(best.runs),
    }  # fmt: skip


def draw(ds, best: sh.Optimum, path: Path) -> None:
    plt.style.use(STYLE)
    figure, axes = plt.subplots()
    k, c = ds["stiffness"] / 1e3, ds["damping"]
    filled = axes.contourf(k, c, ds["comfort"].T, levels=20)
    figure.colorbar(filled, label="rms of the body's acceleration, m/s²")
    lines = axes.contour(k, c, 1e3 * ds["travel"].T, levels=[40, 45, 50, 55, 60], colors="white")
    axes.clabel(lines, fmt="%g mm")
    chosen = (best.values["stiffness"] / 1e3, best.values["damping"])
    axes.plot(
        *chosen, "o", color="white", markeredgecolor="black", clip_on=False, zorder=5, label=f"best within {1e3 * TRAVEL:g} mm"
    )
    axes.set(xlabel="stiffness, kN/m", ylabel="damping, N s/m", title="A quarter car on a bump: comfort, and its travel in white")
    axes.legend(loc="upper right", labelcolor="white")
    figure.savefig(path)
    plt.close(figure)


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path)
    main(parser.parse_args().plot)
