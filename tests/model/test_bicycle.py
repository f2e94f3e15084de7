"""The Whipple bicycle on rolling wheels against Meijaard, Papadopoulos, Ruina, Schwab, Proc. R. Soc. A 463 (2007) 1955–1982."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

import sharnir as sh
from states import assert_close

G = 9.81
M = [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]]
C1 = [[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]]
K0 = [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]]
K2 = [[0.0, 76.59734589573222], [0.0, 2.65431523794604]]
"""As printed, §4: M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = f, q = (lean, steer)."""

EIGENVALUES = {
    0: (-3.13164324790656, 3.13164324790656, -5.53094371765393, 5.53094371765393),
    1: (-3.13423125066578, 3.52696170990070 + 0.80774027519930j, -7.11008014637442),
    2: (-3.07158645641514, 2.68234517512745 + 1.68066296590675j, -8.67387984831735),
    3: (-2.63366137253667, 1.70675605663975 + 2.31582447384325j, -10.35101467245920),
    4: (-1.42944427361326, 0.41325331521125 + 3.07910818603206j, -12.15861426576447),
    5: (-0.32286642900409, -0.77534188219585 + 4.46486771378823j, -14.07838969279822),
    6: (-0.00406690076970, -1.52644486584142 + 5.87673060598709j, -16.08537123098026),
    7: (0.10268170574766, -2.13875644258362 + 7.19525913329805j, -18.15788466125262),
    8: (0.14327879765713, -2.69348683581097 + 8.46037971396931j, -20.27940894394569),
    9: (0.15790184030917, -3.21675402252485 + 9.69377351531791j, -22.43788559040858),
    10: (0.16105338653172, -3.72016840437287 + 10.90681139476287j, -24.62459635017404),
}
"""Table 2: capsize, weave (one of the pair), castering; speeds in m/s."""
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837


@cache
def dynamics() -> sh.Dynamics:
    return sh.Dynamics(sh.samples.bicycle())


def system(speed: float, **options) -> sh.LinearSystem:
    return sh.linearize(dynamics(), v=sh.samples.bicycle_start(speed)["v0"], **options)


def canonical(speed: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, v C₁ and g K₀ + v² K₂: lean and steer, their rates, a moment about the ground line and the torque of the steering."""
    s = system(speed, inputs=["frame.mx", "steer"])
    q = [s.index("state", name) for name in ("q.frame.lean", "q.steer")]
    v = [s.index("state", name) for name in ("v.frame.lean", "v.steer")]
    rest = [k for k in range(len(s.A)) if k not in (*q, *v)]
    assert np.abs(s.A[np.ix_(v, rest)]).max() < 1e-9  # neither place nor heading nor forward speed matter
    mass = np.linalg.inv(s.B[v])
    return mass, -mass @ s.A[np.ix_(v, v)], -mass @ s.A[np.ix_(v, q)]


def from_the_formulas() -> tuple[np.ndarray, ...]:
    """M, C₁, K₀, K₂ by Appendix A of the paper; z points down there."""
    w, c, tilt, rR, rF = 1.02, 0.08, math.pi / 10.0, 0.3, 0.35
    mR, IRxx, IRyy, mF, IFxx, IFyy = 2.0, 0.0603, 0.12, 3.0, 0.1405, 0.28
    mB, xB, zB, IBxx, IBxz, IBzz = 85.0, 0.3, -0.9, 9.2, 2.4, 2.8
    mH, xH, zH, IHxx, IHxz, IHzz = 4.0, 0.9, -0.7, 0.05892, -0.00756, 0.00708
    s, k = math.sin(tilt), math.cos(tilt)
    mT = mR + mB + mH + mF
    xT, zT = (xB * mB + xH * mH + w * mF) / mT, (-rR * mR + zB * mB + zH * mH - rF * mF) / mT
    ITxx = IRxx + IBxx + IHxx + IFxx + mR * rR**2 + mB * zB**2 + mH * zH**2 + mF * rF**2
    ITxz = IBxz + IHxz - mB * xB * zB - mH * xH * zH + mF * w * rF
    ITzz = IRxx + IBzz + IHzz + IFxx + mB * xB**2 + mH * xH**2 + mF * w**2
    mA = mH + mF
    xA, zA = (xH * mH + w * mF) / mA, (zH * mH - rF * mF) / mA
    IAxx = IHxx + IFxx + mH * (zH - zA) ** 2 + mF * (rF + zA) ** 2
    IAxz = IHxz - mH * (xH - xA) * (zH - zA) + mF * (w - xA) * (rF + zA)
    IAzz = IHzz + IFxx + mH * (xH - xA) ** 2 + mF * (w - xA) ** 2
    u = (xA - w - c) * k - zA * s
    about = mA * u**2 + IAxx * s**2 + 2.0 * IAxz * s * k + IAzz * k**2
    about_x = -mA * u * zA + IAxx * s + IAxz * k
    about_z = mA * u * xA + IAxz * s + IAzz * k
    mu = c / w * k
    SR, SF = IRyy / rR, IFyy / rF
    ST, SA = SR + SF, mA * u + mu * mT * xT
    mixed, gyro = about_x + mu * ITxz, mu * ST + SF * k
    return (
        np.array([[ITxx, mixed], [mixed, about + 2.0 * mu * about_z + mu**2 * ITzz]]),
        np.array([[0.0, gyro + ITxz / w * k - mu * mT * zT], [-gyro, about_z / w * k + mu * (SA + ITzz / w * k)]]),
        np.array([[mT * zT, -SA], [-SA, -SA * s]]),
        np.array([[0.0, (ST - mT * zT) / w * k], [0.0, (SA + SF * s) / w * k]]),
    )


def test_the_formulas_of_the_paper_give_its_numbers():
    for found, printed in zip(from_the_formulas(), (M, C1, K0, K2), strict=True):
        assert_close(found, np.array(printed), 2e-14, scale=80.0)


def test_the_model_has_the_canonical_matrices_of_the_paper():
    mass, damping, stiffness = canonical(0.0)
    assert_close(mass, np.array(M), 1e-13, scale=80.0)
    assert_close(damping, np.zeros((2, 2)), 1e-13, scale=80.0)
    assert_close(stiffness / G, np.array(K0), 1e-13, scale=80.0)
    for speed in (1.0, 7.5):
        mass, damping, stiffness = canonical(speed)
        assert_close(mass, np.array(M), 1e-13, scale=80.0)
        assert_close(damping / speed, np.array(C1), 1e-13, scale=80.0)
        assert_close((stiffness - G * np.array(K0)) / speed**2, np.array(K2), 1e-13, scale=80.0)


@pytest.mark.parametrize("speed", EIGENVALUES)
def test_eigenvalues_are_those_printed(speed):
    s = system(float(speed))
    assert s.steadiness == ("steady motion" if speed else "equilibrium")
    assert len(s.eigenvalues) == 10 and s.spectrum.zeros == 6  # place, heading, two wheels, forward speed
    for printed in EIGENVALUES[speed]:
        nearest = s.eigenvalues[np.abs(s.eigenvalues - printed).argmin()]
        assert abs(nearest - printed) < 1e-12 * max(1.0, abs(printed))


def test_it_is_stable_between_the_weave_and_the_capsize_speed():
    def growth(speed: float) -> float:
        return float(system(speed).eigenvalues[6:].real.max())

    assert brentq(growth, 4.2, 4.4, xtol=1e-11) == pytest.approx(WEAVE, abs=1e-9)
    assert brentq(growth, 5.9, 6.2, xtol=1e-11) == pytest.approx(CAPSIZE, abs=1e-9)
    assert not system(5.0).growing and system(4.0).growing and system(7.0).growing


def test_small_motions_are_those_of_the_linear_system():
    """One second after a push of the lean rate, simulated in full, and by exp(A)."""
    push, start = 1e-5, sh.samples.bicycle_start(4.6)["v0"]
    s = system(4.6)
    x0 = np.zeros(10)
    x0[s.index("state", "v.frame.lean")] = push
    x = expm(s.A) @ x0
    start["frame"] = (4.6, 0.0, 0.0, 0.0, push, 0.0)
    run = sh.simulate(dynamics().model, 1.0, v0=start, rtol=1e-11, atol=1e-14)
    lean, steer = (x[s.index("state", f"q.{name}")] for name in ("frame.lean", "steer"))
    assert run.q[-1, run.model.q_names.index("frame.lean")] == pytest.approx(lean, rel=1e-4)
    assert run.coordinate("steer")[-1] == pytest.approx(steer, rel=1e-4)


def test_the_tangent_space_of_the_rolling_wheels_is_invariant():
    """Seven coordinates, three speeds; what the linear motion does to them satisfies the constraints again."""
    from sharnir.analysis.vector_field import vector_field

    s = system(5.0)
    F = vector_field(s.dynamics, s.q, s.v, s.tau, s.t).F
    assert_close(F @ s.basis, s.basis @ s.A, 1e-10, scale=np.abs(F @ s.basis).max())
    assert [name for name in s.state_names if name[0] == "v"] == ["v.frame.lean", "v.steer", "v.rear hub"]


def test_other_independent_coordinates_give_the_same_eigenvalues():
    one = system(5.0)
    other = system(5.0, independent=["frame.lean", "front hub", "frame.yaw"])
    whole = system(5.0, independent=["frame.x", "frame.y", "frame.yaw", "frame.lean", "steer", "front hub", "rear hub"])
    assert other.state_names[-3:] == ["v.frame.yaw", "v.frame.lean", "v.front hub"] and len(whole.state_names) == 10
    for s in (other, whole):
        assert_close(s.eigenvalues, one.eigenvalues, 1e-9, scale=10.0)
    with pytest.raises(sh.MethodError, match=r"'frame\.pitch', 'front hub', 'rear hub' do not determine the motion here"):
        system(5.0, independent=["frame.x", "frame.y", "frame.yaw", "frame.pitch", "frame.lean", "front hub", "rear hub"])
