"""A pole balanced on a cart by a computer: a linear-quadratic regulator, sampled, late by the time it computes.

python examples/cart_pole.py [--plot results/cart_pole.png]
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import expm, solve_discrete_are

import sharnir as sh

STYLE = Path(__file__).with_name("examples.mplstyle")
PERIOD, LIMIT, SECONDS = 0.05, 40.0, 6.0
COST, DELAYS = 1e-3, (0.0, 0.02, 0.05)


def build() -> sh.Model:
    m = sh.Model("cart and pole")
    m.add_body("cart", mass=2.0)
    m.add_body("pole", mass=0.5, shape=sh.Rod((0.0, 0.0, 0.0), (0.0, 0.0, 0.8)))
    m.add_joint("rail", sh.Prismatic("x", damping=0.5), "ground", "cart")
    m.add_joint("pin", sh.Revolute("y", damping=0.01), "cart", "pole")
    return m


def over(A: np.ndarray, B: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """x after h seconds with u held: exp of [[A, B], [0, 0]] h."""
    n, m = B.shape
    E = expm(np.block([[A, B], [np.zeros((m, n + m))]]) * h)
    return E[:n, :n], E[:n, n:]


def sampled_model(linear: sh.LinearSystem, delay: float) -> tuple[np.ndarray, np.ndarray]:
    """From sample to sample, of (x, the force still held): the new command acts after `delay`."""
    F, G = over(linear.A, linear.B, delay)
    F2, G2 = over(linear.A, linear.B, PERIOD - delay)
    return np.block([[F2 @ F, F2 @ G], [np.zeros((1, 5))]]), np.vstack([G2, [[1.0]]])


def gains(linear: sh.LinearSystem) -> np.ndarray:
    """The regulator that knows nothing of a delay."""
    F, G = over(linear.A, linear.B, PERIOD)
    P = solve_discrete_are(F, G, np.diag([10.0, 10.0, 1.0, 1.0]), np.eye(1) * COST)
    return np.linalg.solve(COST + G.T @ P @ G, G.T @ P @ F)


def run(m: sh.Model, K: np.ndarray, delay: float, tilt: float) -> sh.Result:
    def regulator(s: sh.Sample) -> dict[str, float]:
        x = np.concatenate([s.q, s.v])
        return {"rail": float(np.clip(-K[0] @ x, -LIMIT, LIMIT))}

    return sh.simulate(m, SECONDS, q0={"pin": tilt}, control=sh.Sampled(regulator, PERIOD, delay=delay), output=PERIOD / 5)


def draw(runs: dict[float, sh.Result], path: Path) -> None:
    plt.style.use(STYLE)
    fig, axes = plt.subplots(3, 1, figsize=(9, 7), sharex=True)
    for delay, r in runs.items():
        axes[0].plot(r.t, np.degrees(r.coordinate("pin")), label=f"{1000 * delay:g} ms late")
        axes[1].plot(r.t, r.coordinate("rail"))
        axes[2].step(r.t, r.tau[:, 0], where="post", linewidth=1.0)
    for axis, what in zip(axes, ("pole, °", "cart, m", "force, N, over t, s"), strict=True):
        axis.set_ylabel(what)
    axes[0].set_title(f"A pole balanced {1 / PERIOD:g} times a second")
    axes[0].legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path)
    print(f"written: {path}")


def main(plot: Path | None = None) -> dict[str, float]:
    m = build()
    linear = sh.linearize(m, inputs=["rail"])
    K, numbers, runs = gains(linear), dict[str, float](), dict[float, sh.Result]()
    for delay in DELAYS:
        F, G = sampled_model(linear, delay)
        largest = np.abs(np.linalg.eigvals(F - G @ np.hstack([K, [[0.0]]]))).max()
        runs[delay] = r = run(m, K, delay, 0.2)
        late = f"{1000 * delay:g} ms"
        numbers |= {f"root {late}": float(largest), f"tilt {late}": float(np.abs(r.coordinate("pin")[-50:]).max())}
        print(f"{late} late: largest root {largest:.4f}, the pole is within {numbers[f'tilt {late}']:.1e} rad at the end")
    F, G = sampled_model(linear, DELAYS[1])
    small, z = run(m, K, DELAYS[1], 1e-5), np.array([0.0, 1e-5, 0.0, 0.0, 0.0])
    for _ in range(20):
        z = F @ z - G @ (K @ z[:4])
    numbers["map"] = float(np.abs(np.concatenate([small.q[100], small.v[100]]) - z[:4]).max() / 1e-5)
    numbers["defect"] = float(max(np.abs(r.energy.defect).max() for r in runs.values()))
    print(f"a small tilt follows the sampled linear model to {numbers['map']:.1e} of it after 20 samples")
    if plot:
        draw(runs, plot)
    return numbers


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results/cart_pole.png"), help="where to draw the picture")
    main(parser.parse_args().plot)
