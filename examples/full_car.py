"""A car on four tyres: how it answers to steering, against the linear single-track model, and how far it brakes.

python examples/full_car.py [--plot results/full_car.png]
"""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import numpy as np

import sharnir as sh

MASS, HEIGHT, TRACK, G = 1300.0, 0.55, 1.5, 9.81
"""Mass of the body, kg, its height above the road, m; m between left and right wheels."""
AXLES = {"front": (1.2, 28e3, 2.4e3, 1000.0), "rear": (-1.4, 26e3, 2.2e3, 500.0)}
"""Place ahead of the centre of mass, m; of each wheel: spring, N/m, damper, N s/m, and the moment of its brake, N m."""
WHEEL, SPIN, RADIUS, TYRE = 40.0, 1.2, 0.31, 2e5
"""Mass of a wheel, kg, moment of inertia about its axis, kg m², radius, m, stiffness of its tyre, N/m."""
LOAD = {name: 0.5 * MASS * G * (1.4 if name == "front" else 1.2) / 2.6 for name in AXLES}
"""Of each spring, N."""
SPEED, STEER = 20.0, 0.003
TOTAL = MASS + 4.0 * WHEEL


def centre(axle: str) -> float:
    """Height of the centres of its wheels above the road."""
    return RADIUS - (LOAD[axle] + WHEEL * G) / TYRE


def build() -> sh.Model:
    """Body and wheels; each of these travels, steers and spins. Parameters: the angle of steering, whether the brakes are on."""
    m = sh.Model("car", gravity=(0.0, 0.0, -G))
    m.add_parameter("brake", 0.0)
    steer = m.add_parameter("steer", 0.0)
    m.add_body("body", MASS, inertia=(500.0, 1900.0, 2100.0))
    m.add_joint("body", sh.Free(), "ground", "body", at=sh.Pose((0.0, 0.0, HEIGHT)))
    for axle, (ahead, spring, damper, _) in AXLES.items():
        for side, y in (("left", TRACK / 2), ("right", -TRACK / 2)):
            name = f"{axle} {side}"
            m.add_body(f"{name} wheel", WHEEL, inertia=(0.7, SPIN, 0.7))
            parts = {"travel": sh.Prismatic("z", stiffness=spring, damping=damper, rest=-LOAD[axle] / spring)}
            turning = {"steer": lambda t: steer * (1.0 - sh.exp(-10.0 * t))} if axle == "front" else {}
            parts |= {part: sh.Revolute("z") for part in turning} | {"spin": sh.Revolute("y")}
            at = sh.Pose((ahead, y, centre(axle) - HEIGHT))
            m.add_joint(name, sh.Compound(parts, motion=turning or None), "body", f"{name} wheel", at=at)
            m.add_force(sh.MagicFormulaTyre(f"{name} wheel", RADIUS, stiffness=TYRE), f"{name} tyre")
    m.add_force(brakes)
    return m


def brakes(on: sh.Motion) -> None:
    for axle, (*_, moment) in AXLES.items():
        for wheel in (f"{axle} left.spin", f"{axle} right.spin"):
            on.torque(wheel, -on.parameter("brake") * moment * sh.tanh(on.v(wheel) / 0.1))


def drive(m: sh.Model, seconds: float, **parameters: float) -> sh.Result:
    """From straight running; until it stands."""
    spins = {f"{a} {s}": (0.0, 3.0 * SPEED / (2.0 * RADIUS + centre(a))) for a in AXLES for s in ("left", "right")}
    stands = sh.Event(lambda on: on.v("body")[0] - 0.3, "stop")
    v0 = {"body": (SPEED, 0.0, 0.0, 0.0, 0.0, 0.0), **spins}
    return sh.simulate(m, seconds, v0=v0, parameters=parameters, events=[stands], output=0.02)


def single_track() -> float:
    """Yaw rate of steady cornering per steering angle, 1/s: forces and moments linear in slip angle and camber.

    The body rolls outward by the inertia of its mass and of its spinning wheels, held by springs and tyres in series."""
    held = sum(k * TYRE / (k + TYRE) * TRACK**2 / 2.0 for _, k, _, _ in AXLES.values())
    height = (MASS * HEIGHT + sum(2.0 * WHEEL * centre(axle) for axle in AXLES)) / TOTAL
    rolls = -SPEED * (TOTAL * height + 4.0 * SPIN / RADIUS) / (held - TOTAL * G * height)  # camber per yaw rate
    A, b = np.zeros((2, 2)), np.zeros(2)  # of (sideslip, yaw rate): sum of forces, of moments about the body's centre of mass
    A[:, 1] = -TOTAL * SPEED, -2.0 * WHEEL * SPEED * sum(ahead for ahead, *_ in AXLES.values())
    for axle, (ahead, *_) in AXLES.items():
        _, Y, Z = sh.MagicFormulaTyre("wheel", RADIUS).curves(LOAD[axle] + WHEEL * G, camber=1e-6)
        slip = 2.0 * np.degrees([Y.slope, ahead * Y.slope + Z.slope])
        Fy, Mz = (2.0 * (c.slope * c.shift_x + c.shift_y) / 1e-6 for c in (Y, Z))  # per camber
        A += np.outer(slip, [-1.0, -ahead / SPEED]) + np.outer([Fy, ahead * Fy + Mz], [0.0, rolls])
        b -= slip * (axle == "front")
    return float(np.linalg.solve(A, b)[1])


def main(plot: Path | None = None) -> dict[str, float]:
    m = build()
    turned, braked = drive(m, 4.0, steer=STEER), drive(m, 8.0, brake=1.0)
    gain, hand = turned.speed("body")[-1, 5] / STEER, single_track()
    print(f"yaw rate per steering angle at {SPEED:.0f} m/s: {gain:.4f} 1/s, by the single-track model {hand:.4f} 1/s")
    force = sum(6.0 * moment / (2.0 * RADIUS + centre(axle)) for axle, (*_, moment) in AXLES.items())
    way, by_hand = braked.coordinate("body")[-1, 0], 0.5 * SPEED**2 * (TOTAL + 4.0 * SPIN / RADIUS**2) / force
    print(f"braking distance {way:.2f} m, by hand {by_hand:.2f} m")
    if plot:
        plot.parent.mkdir(parents=True, exist_ok=True)
        braked.plot("vertical force of front left tyre", "vertical force of rear left tyre", path=plot)
    return {"gain": gain / hand - 1.0, "braking": way / by_hand - 1.0, "defect": float(np.abs(braked.energy.defect).max())}


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, default=Path("results/full_car.png"), help="where to draw the picture")
    main(parser.parse_args().plot)
