"""The planar chain of [Y]: ten hinged rods let go from a slant, by every method of forming the equations.

python examples/planar_chain.py [--plot results/planar_chain.png]
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sharnir as sh

STYLE = Path(__file__).with_name("examples.mplstyle")
START = {"q0": {"hinge1": -1.0}}
ODE113 = {"integrator": "adams", "rtol": 1e-3, "atol": 1e-6}
"""The default tolerances of MATLAB's ode113, which [Y] used."""
TIGHT = {"integrator": "adams", "rtol": 1e-12, "atol": 1e-13}


def compare(chain: sh.Model, seconds: float, exact: sh.Result) -> dict[str, float]:
    """Every method at the tolerances of [Y]: how far from the exact motion, and at what cost."""
    print(f"  {'method':<30} {'error, rad':>10}  {'steps':>5}  {'evaluations':>11}  {'ms':>7}   on")
    errors = {}
    for method in sh.methods():
        r = sh.simulate(chain, seconds, method=method.name, **ODE113, **START)
        errors[method.name] = float(np.abs(r.q - exact.q).max())
        c, ms = r.cost, 1e3 * r.cost.wall
        print(f"  {method.name:<30} {errors[method.name]:10.1e}  {c.steps:5d}  {c.evaluations:11d}  {ms:7.1f}   {c.backend}")
    return errors


def draw(r: sh.Result, path: Path) -> None:
    """The chain every 50 ms of the first two seconds, and the path of its end."""
    plt.style.use(STYLE)
    fig, (shapes, energy) = plt.subplots(1, 2, figsize=(10, 4.6))
    joints = np.stack([r.point(f"rod{i}") for i in range(1, 11)] + [r.point("rod10", (0.1, 0, 0))], axis=1)[:201]
    for k in range(0, len(joints), 5):
        shapes.plot(*joints[k, :, :2].T, color="C0", alpha=0.15 + 0.85 * (k / len(joints)) ** 2, linewidth=1.2)
    shapes.plot(*joints[:, -1, :2].T, color="C1", linewidth=1.0, label="path of the end, 2 s")
    shapes.plot(0, 0, "o", color="black", markersize=4)
    shapes.set(aspect="equal", xlabel="x, m", ylabel="y, m", title="Ten rods of 0.1 m let go from a slant")
    shapes.legend(frameon=False, fontsize=8)
    energy.semilogy(r.t[1:], np.abs(r.energy.defect[1:]) + 1e-16, color="gray", linewidth=1.0)
    energy.set(xlabel="t, s", ylabel="J", title=f"Change of the total energy, rtol {TIGHT['rtol']:g}")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path)
    print(f"\nwritten: {path}")


def main(plot: Path | None = None) -> dict[str, float]:
    chain = sh.samples.planar_chain(10)
    exact = sh.simulate(chain, 10.0, **TIGHT, **START)
    drift = float(np.abs(exact.energy.defect).max())
    end = exact.point("rod10", (0.1, 0.0, 0.0))
    print(f"10 s at rtol 1e-12: {exact.cost.steps} steps in {1e3 * exact.cost.wall:.0f} ms, energy kept to {drift:.1e} J")
    print(f"after 1 s the end is at ({end[100, 0]:.9f}, {end[100, 1]:.9f}) m\n")
    errors = compare(chain, 0.25, sh.simulate(chain, 0.25, **TIGHT, **START))
    if plot:
        draw(exact, plot)
    return {"drift": drift, "x": float(end[100, 0]), "y": float(end[100, 1]), "worst": max(errors.values())}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results/planar_chain.png"), help="where to draw the picture")
    main(parser.parse_args().plot)
