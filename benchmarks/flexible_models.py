"""Published numbers of flexible mechanisms, and the models that they belong to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss

import sharnir as sh
from sharnir.model.flexible.integrals import Integrals

# --- a rotating beam: Wright, Smith, Thresher and Wang, J. Applied Mechanics 49 (1982) 197-202; Hodges and Rutkowski, AIAA J. 19
# (1981) 1459-1466. Frequencies out of the plane of rotation, over the square root of EI/(ρAL⁴), by speed in the same measure
FLAPPING = {
    0.0: (3.5160, 22.0345),
    3.0: (4.7973, 23.3203),
    6.0: (7.3604, 26.8091),
    12.0: (13.1702, 37.6031),
}
SLENDER = 1e-7
"""I/(AL²): so thin that the rotary inertia, which the tables leave out, does not count."""


def rotating(modes: int = 6) -> sh.Model:
    """A clamped beam of unit length, mass and EI that turns about z at the constant parameter "speed"."""
    section = sh.OwnSection(area=1.0, Iy=SLENDER, Iz=SLENDER, It=2.0 * SLENDER)
    shapes = {"bend_y": modes, "bend_z": modes}
    beam = sh.FlexibleBeam(length=1.0, E=1.0 / SLENDER, G=1.0, density=1.0, section=section, modes=shapes, ends="polynomial")
    m = sh.Model("rotating beam", gravity=(0.0, 0.0, 0.0))
    m.add_body("beam", flexible=beam)
    speed = m.add_parameter("speed", 0.0)
    m.add_joint("hub", sh.Revolute("z", motion=lambda t: speed * t), "ground", "beam")
    return m


def flapping(m: sh.Model, speed: float) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies, rad/s, of the modes out of the plane of rotation and in it."""
    s, modes = sh.linearize(m, parameters={"speed": speed}), m.nv // 2
    out: list[float] = []
    plane: list[float] = []
    for mode, frequency in zip(s.modes, s.frequencies, strict=True):
        across = np.abs(mode.tangent[:modes]).max() < np.abs(mode.tangent[modes:]).max()
        (out if across else plane).append(2.0 * np.pi * float(frequency))
    return np.array(out), np.array(plane)


# --- the slider-crank of the IVP test set (Simeon 1996; release 2.4, problem "crank"): φ₂, x₃, q₁ … q₄ at t = 0.1 s -------------
CRANK = np.array([-0.331173498825626, 0.169737332842786, 1.893192899613509e-4, 2.375751249879174e-5, -5.323896770569702e-6,
                  -8.363313279112129e-6])  # fmt: skip


def published_rod() -> sh.ModalBody:
    """The connecting rod as the test set discretizes it: two sines across, two parabolas along; displacements from the line
    between the pins, linear in the coordinates. Its mass matrix has 15 times the longitudinal masses of the rod: the
    program of the test set left out a division, and its published solution with it."""
    L, m, E, edge = 0.3, 0.151104, 2e11, 0.008
    places, weights = leggauss(40)
    s = 0.5 * (places + 1.0)
    x, phi = np.zeros((40, 3)), np.zeros((40, 4, 3))
    x[:, 0] = L * s
    for k, (axis, shape) in enumerate(zip((1, 1, 0, 0), _shapes(s), strict=True)):
        phi[:, k, axis] = shape
    whole = Integrals.of_points(0.5 * m * weights, x, phi)
    product = np.array(whole.product)
    product[2:, 2:, 0, 0] *= 15.0
    whole = replace(whole, product=product, mass_matrix=np.einsum("klii->kl", product), points=None)
    bending = np.pi**4 / 24.0 * (edge / L) ** 2
    K = np.diag([bending, 16.0 * bending, 16.0 / 3.0, 7.0 / 3.0])
    K[2, 3] = K[3, 2] = -8.0 / 3.0
    about = 0.0045339259 - m * (L / 2) ** 2
    return sh.ModalBody(
        mass=m, centre=(L / 2, 0.0, 0.0), inertia=(0.0, about, about, 0.0, 0.0, 0.0), K=E * edge**2 / L * K,
        nodes={"crank pin": (0.0, 0.0, 0.0), "wrist pin": (L, 0.0, 0.0)},
        # the frame is the line between the pins: the node at the crank pin has no rotations
        modes={"crank pin": np.zeros((3, 4)), "wrist pin": [[0, 0, 0, 1], [0] * 4, [0] * 4, [0] * 4, [0] * 4,
                                                            [-np.pi / L, 2.0 * np.pi / L, 0, 0]]},
        modal_mass=whole.mass_matrix, integrals=whole,
    )  # fmt: skip


def _shapes(s: np.ndarray) -> tuple[np.ndarray, ...]:
    return np.sin(np.pi * s), np.sin(2.0 * np.pi * s), 4.0 * s * (1.0 - s), s * (2.0 * s - 1.0)


def published_crank() -> tuple[sh.Model, dict[str, Any]]:
    """The mechanism of the test set and its start."""
    m = sh.Model("slider crank", gravity=(0.0, 0.0, 0.0))
    about = 0.002727 - 0.36 * 0.075**2
    m.add_body("crank", 0.36, (0.075, 0.0, 0.0), (0.0, about, about))
    m.add_body("rod", flexible=published_rod())
    m.add_body("block", 0.075552)
    m.add_joint("main", sh.Revolute("z", motion=lambda t: 150.0 * t), "ground", "crank")
    m.add_joint("crankpin", sh.Revolute("z"), "crank", "rod", at=sh.Pose((0.15, 0.0, 0.0)))
    m.add_joint("slide", sh.Prismatic("x"), "ground", "block", at=sh.Pose((0.45, 0.0, 0.0)))
    m.add_joint("wristpin", sh.Revolute("z"), "rod", "block", at=sh.Pose((0.3, 0.0, 0.0)), cut=True)
    q0 = {"slide": 0.169327969e-4, "rod elastic.mode3": 0.103339863e-4, "rod elastic.mode4": 0.169327969e-4}
    v0 = {"crankpin": -224.9957670, "slide": -0.268938672e-5}
    rates = (0.444896105, 0.463434311e-2, -0.178591076e-5, -0.268938672e-5)
    v0 |= {f"rod elastic.mode{k}": rate for k, rate in enumerate(rates, 1)}
    return m, {"q0": q0, "v0": v0}


def crank_end(rtol: float = 1e-10) -> np.ndarray:
    """What `CRANK` lists, of our simulation."""
    m, start = published_crank()
    how = {"method": "composite", "integrator": "dop853", "rtol": rtol, "atol": 1e-3 * rtol}
    r = sh.simulate(m, 0.1, output=[0.0, 0.1], balance=False, **how, **start)
    return np.array([r.coordinate("crankpin")[-1] + 15.0, r.coordinate("slide")[-1] + 0.45, *r.coordinate("rod elastic")[-1]])


# --- a spin-up: Kane, Ryan and Banerjee (1987), data of Simo and Vu-Quoc (1986) ------------------------------------------------
STRETCH = 1.2 * 6.0**2 * 10.0**3 / (3.0 * 2.8e7)
"""How much longer the beam is at its final speed: ρA Ω² L³/(3EA), 5.14e-4 m as Simo and Vu-Quoc print it."""


def spin_up(bending: int = 3, stretching: int = 2, stiffening: bool = True, duration: float = 20.0, rtol: float = 1e-8) -> Any:
    """Times, and displacements of the tip along and across the beam's undeformed axis."""
    m = sh.samples.rotating_beam(bending=bending, stretching=stretching, stiffening=stiffening)
    r = sh.simulate(m, duration, output=0.02, rtol=rtol, atol=1e-2 * rtol, balance=False)
    turned = r.rotation("beam")
    there = np.einsum("tji,tj->ti", turned, r.point("tip"))
    return r.t, there[:, 0] - 10.0, there[:, 1]
