"""A heavy symmetric top on a ball joint: steady precession against the formula, and what a push does to it.

python examples/spinning_top.py [--plot results/spinning_top.png]
"""

import math
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sharnir as sh

STYLE = Path(__file__).with_name("examples.mplstyle")
MASS, HEIGHT, G = 0.5, 0.06, 9.81
AXIAL, ACROSS = 4e-4, 3e-4
"""Moments of inertia: about the axis, and across it through the centre of mass."""
TILT, SPIN = 0.5, 120.0
"""Angle of the axis from the vertical, rad; angular velocity about the axis, rad/s."""


def build() -> sh.Model:
    m = sh.Model("top", gravity=(0.0, 0.0, -G))
    m.add_body("top", mass=MASS, com=(0.0, 0.0, HEIGHT), inertia=(ACROSS, ACROSS, AXIAL))
    m.add_joint("foot", sh.Ball(), "ground", "top")
    return m


def precession() -> tuple[float, float]:
    """The slow and the fast rate Ω of steady precession: I cosθ Ω² − C ω₃ Ω + m g l = 0, I about the foot."""
    a, b, c = (ACROSS + MASS * HEIGHT**2) * math.cos(TILT), AXIAL * SPIN, MASS * G * HEIGHT
    root = math.sqrt(b * b - 4.0 * a * c)
    return (b - root) / (2.0 * a), (b + root) / (2.0 * a)


def start(rate: float) -> dict:
    """Tilted about y, precessing at `rate`, spinning at `SPIN`: speeds are in the axes of the top."""
    tilted = (math.cos(TILT / 2.0), 0.0, math.sin(TILT / 2.0), 0.0)
    return {"q0": {"foot": tilted}, "v0": {"foot": (-rate * math.sin(TILT), 0.0, SPIN)}}


def axis(r: sh.Result) -> tuple[np.ndarray, np.ndarray]:
    """Angle of the axis from the vertical, and how far round it has gone."""
    e = r.point("top", (0.0, 0.0, 1.0))
    return np.arccos(np.clip(e[:, 2], -1.0, 1.0)), np.unwrap(np.arctan2(e[:, 1], e[:, 0]))


def draw(runs: dict[str, sh.Result], path: Path) -> None:
    plt.style.use(STYLE)
    fig, (round_, tilt) = plt.subplots(1, 2, figsize=(10, 4.8))
    for (name, r), colour in zip(runs.items(), ("C0", "C1"), strict=True):
        e = r.point("top", (0.0, 0.0, 1.0))
        round_.plot(e[:, 0], e[:, 1], color=colour, linewidth=1.0, label=name)
        tilt.plot(r.t, np.degrees(axis(r)[0]), color=colour, linewidth=1.2, label=name)
    round_.set(aspect="equal", xlabel="x", ylabel="y", title="The tip of the axis, seen from above")
    tilt.set(xlabel="t, s", ylabel="degrees", title="Angle of the axis from the vertical")
    tilt.legend(loc="upper right")
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path)
    print(f"written: {path}")


def main(plot: Path | None = None) -> dict[str, float]:
    m = build()
    slow, fast = precession()
    numbers = {}
    runs: dict[str, sh.Result] = {}
    for name, rate in (("slow", slow), ("fast", fast)):
        r = sh.simulate(m, 1.5, rtol=1e-11, atol=1e-12, output=0.002, **start(rate))
        tilt, turned = axis(r)
        measured = (turned[-1] - turned[0]) / r.t[-1]
        numbers[name] = float(measured / rate - 1.0)
        numbers[f"{name} nutation"] = float(np.ptp(tilt))
        print(
            f"{name} precession: formula {rate:9.5f} rad/s, measured {measured:9.5f}; the tilt varies by {np.ptp(tilt):.1e} rad"
        )
        runs.setdefault("steady precession", r)
    runs["let go at rest"] = free = sh.simulate(m, 1.5, rtol=1e-10, atol=1e-12, output=0.002, **start(0.0))
    swing = np.degrees(np.ptp(axis(free)[0]))
    print(f"let go with its axis at rest it nods by {swing:.2f}°; energy kept to {np.abs(free.energy.defect).max():.1e} J")
    if plot:
        draw(runs, plot)
    return {**numbers, "swing": float(swing), "defect": float(np.abs(free.energy.defect).max())}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results/spinning_top.png"), help="where to draw the picture")
    main(parser.parse_args().plot)
