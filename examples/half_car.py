"""Half a car over a bump: body, two axles on springs and dampers, tyres that roll, and its natural frequencies by hand.

python examples/half_car.py [--plot results/half_car.png]
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import numpy as np

import sharnir as sh

MASS, INERTIA, HEIGHT = 650.0, 1200.0, 0.55
"""Of the body: kg, kg m² about its pitch axis, m above the road."""
AXLES = {"front": (1.2, 18e3, 1.5e3), "rear": (-1.4, 20e3, 1.6e3)}
"""Place ahead of the centre of mass, m; spring, N/m; damper, N s/m."""
WHEEL, RADIUS, TYRE, G = 45.0, 0.31, 2e5, 9.81
"""Mass of a wheel, kg, its radius, m, the stiffness of its tyre, N/m."""
SPEED, BUMP, LENGTH, START = 15.0, 0.05, 0.8, 6.0
"""m/s; height, length and place of the bump, m."""


def road(x, y):
    """Flat but for one wave of a cosine."""
    s = (x - START) / LENGTH
    return sh.select(s * (1.0 - s) > 0.0, 0.5 * BUMP * (1.0 - sh.cos(2.0 * np.pi * s)), 0.0)


def loads() -> dict[str, float]:
    """Static load of each spring."""
    (front, *_), (rear, *_) = AXLES.values()
    return {"front": MASS * G * -rear / (front - rear), "rear": MASS * G * front / (front - rear)}


def centre(name: str) -> float:
    """Height of a wheel's centre above the road."""
    return RADIUS - (loads()[name] + WHEEL * G) / TYRE


def build(height=road) -> sh.Model:
    """At its neutral position the springs bear the body, and the tyres the wheels."""
    m = sh.Model("half car", gravity=(0.0, 0.0, -G))
    m.add_body("body", MASS, inertia=(300.0, INERTIA, 1200.0))
    parts = {"x": sh.Prismatic("x"), "z": sh.Prismatic("z"), "pitch": sh.Revolute("y")}
    m.add_joint("body", sh.Compound(parts), "ground", "body", at=sh.Pose((0.0, 0.0, HEIGHT)))
    for name, (ahead, spring, damper) in AXLES.items():
        load = loads()[name]
        hub = centre(name) - HEIGHT
        m.add_body(f"{name} wheel", WHEEL, inertia=(0.8, 1.4, 0.8))
        travel = sh.Prismatic("z", stiffness=spring, damping=damper, rest=-load / spring)
        axle = sh.Compound({"travel": travel, "spin": sh.Revolute("y")})
        m.add_joint(name, axle, "body", f"{name} wheel", at=sh.Pose((ahead, 0.0, hub)))
        m.add_force(sh.MagicFormulaTyre(f"{name} wheel", RADIUS, road=height, stiffness=TYRE), f"{name} tyre")
    return m


def rolling() -> dict[str, tuple[float, ...]]:
    """Speeds of straight running: each wheel spins at its effective radius."""
    return {"body": (SPEED, 0.0, 0.0)} | {name: (0.0, 3.0 * SPEED / (2.0 * RADIUS + centre(name))) for name in AXLES}


def by_hand() -> np.ndarray:
    """Natural frequencies of bounce, pitch and wheel hop, Hz: body and wheels as four masses, roots of det(λ²M + λC + K)."""
    rows = {"front": 2, "rear": 3}
    M, C, K = np.diag([MASS, INERTIA, WHEEL, WHEEL]), np.zeros((4, 4)), np.zeros((4, 4))
    for name, (ahead, spring, damper) in AXLES.items():
        stretch = np.zeros(4)
        stretch[[0, 1, rows[name]]] = 1.0, -ahead, -1.0
        K += spring * np.outer(stretch, stretch)
        C += damper * np.outer(stretch, stretch)
        K[rows[name], rows[name]] += TYRE
        K[1, 1] -= loads()[name] * (HEIGHT - centre(name))  # the body stands on its axles, a pendulum upside down
    A = np.block([[np.zeros((4, 4)), np.eye(4)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    roots = np.linalg.eigvals(A)
    return np.sort(np.abs(roots[roots.imag > 0.0])) / (2.0 * np.pi)


def main(plot: Path | None = None) -> dict[str, float]:
    modes = [x for x in sh.linearize(build(0.0), v=rolling()).modes if x.frequency > 0.0]
    found, hand = np.sort([x.natural_frequency for x in modes]), by_hand()
    print("bounce, pitch, hop: " + ", ".join(f"{x:.4f}" for x in found) + " Hz; by hand " + ", ".join(f"{x:.4f}" for x in hand))
    r = sh.simulate(build(), 2.0, v0=rolling(), output=0.005)
    lift, load = 1e3 * r.coordinate("body")[:, 1], {name: r.quantity(f"vertical force of {name} tyre") for name in AXLES}
    print(f"the bump lifts the body by {lift.max():.1f} mm; the front tyre bears at most {load['front'].max() / 1e3:.2f} kN")
    if plot:
        plot.parent.mkdir(parents=True, exist_ok=True)
        r.plot("vertical force of front tyre", "vertical force of rear tyre", path=plot)
    worst = np.abs(found / hand - 1.0).max() if len(found) == len(hand) else np.inf
    least = min(x.min() for x in load.values())
    return {"worst": float(worst), "lift": lift.max(), "least": least, "defect": float(np.abs(r.energy.defect).max())}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results/half_car.png"), help="where to draw the picture")
    main(parser.parse_args().plot)
