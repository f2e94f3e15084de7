"""Problems with known answers for the tests of the integrators, compiled once."""

from __future__ import annotations

from functools import cache

import numpy as np

import sharnir as sh
from sharnir.integrate import System, from_traced

OWN = ("dop853", "dopri5", "adams", "radau", "rk4", "euler", "midpoint")
ADAPTIVE = ("dop853", "dopri5", "adams", "radau")
FIXED = ("rk4", "euler", "midpoint")

# Hairer, Norsett, Wanner I, II (0.1): one period of the Arenstorf orbit comes back to where it began
ARENSTORF = np.array([0.994, 0.0, 0.0, -2.00158510637908252240537862224])
ARENSTORF_PERIOD = 17.0652165601579625588917206249


def oscillator(t, x):
    return [x[1], -x[0]]


def exact(t, x0=(1.0, 0.0)):
    c, s = np.cos(t), np.sin(t)
    return np.stack([x0[0] * c + x0[1] * s, x0[1] * c - x0[0] * s], axis=-1)


def pendulum(t, x):
    return [x[1], -sh.sin(x[0])]


def kepler(t, x):
    r3 = (x[0] ** 2 + x[1] ** 2) ** 1.5
    return [x[2], x[3], -x[0] / r3, -x[1] / r3]


def kepler_energy(x):
    return 0.5 * (x[..., 2] ** 2 + x[..., 3] ** 2) - 1.0 / np.hypot(x[..., 0], x[..., 1])


def arenstorf(t, x):
    mu = 0.012277471
    d1 = ((x[0] + mu) ** 2 + x[1] ** 2) ** 1.5
    d2 = ((x[0] - (1 - mu)) ** 2 + x[1] ** 2) ** 1.5
    ax = x[0] + 2 * x[3] - (1 - mu) * (x[0] + mu) / d1 - mu * (x[0] - (1 - mu)) / d2
    ay = x[1] - 2 * x[2] - (1 - mu) * x[1] / d1 - mu * x[1] / d2
    return [x[2], x[3], ax, ay]


def van_der_pol(t, x, p):
    return [x[1], p[0] * (1 - x[0] ** 2) * x[1] - x[0]]


def robertson(t, x):
    a, b, c = 0.04 * x[0], 1e4 * x[1] * x[2], 3e7 * x[1] ** 2
    return [b - a, a - b - c, c]


@cache
def system(name: str, jacobian: bool = True) -> System:
    functions = {"oscillator": (oscillator, 2), "pendulum": (pendulum, 2), "kepler": (kepler, 4)}
    functions |= {"arenstorf": (arenstorf, 4), "robertson": (robertson, 3)}
    f, n = functions[name]
    return from_traced(f, n, jacobian=jacobian)
