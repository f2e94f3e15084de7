"""The quarter car against the model of two masses that textbooks put in its place, and its motion over the bump."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from sharnir.samples import vehicles as V
from states import EPS, assert_close

CORNERS = [{"mass": M, "stiffness": k, "damping": c} for M in (250.0, 450.0) for k in (15e3, 40e3) for c in (500.0, 3000.0)]


@pytest.fixture(scope="module")
def car():
    return sh.samples.quarter_car()


def two_masses(mass: float, stiffness: float, damping: float) -> np.ndarray:
    """Eigenvalues of M z̈ + C ż + K z = 0, z the heights of body and wheel.

    A wishbone moves as a rod between body and wheel. The upper one is the shorter: as the wheel rises by d against the body it
    tilts by κ d²/2. Its centre, 0.1 m outward of the lower ball, rises by 0.1 κ d²/2 more, where the tyre lifts all that stands
    on the wheel; the upper ball, 0.04 m inward, rises by 0.04 κ d²/2 less. Both make the suspension softer.
    """
    M, K = np.diag([mass, V.WHEEL_MASS]), np.diag([0.0, V.TYRE_STIFFNESS])
    for m, length in ((V.LOWER_MASS, V.LOWER), (V.UPPER_MASS, V.UPPER)):
        about = (3.0 * 0.02**2 + length**2) / 12.0 / length**2
        M += m * (0.25 * np.ones((2, 2)) + about * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    between = np.array([[1.0, -1.0], [-1.0, 1.0]])
    curvature = (1.0 / V.UPPER - 1.0 / V.LOWER) / 0.3
    standing = mass + V.LOWER_MASS + V.UPPER_MASS
    K += (stiffness - curvature * V.G * (0.1 * standing + 0.04 * V.UPPER_MASS / 2)) * between
    C = damping * between + np.diag([0.0, V.TYRE_DAMPING])
    below = np.linalg.solve(M, np.hstack([-K, -C]))
    return np.sort_complex(np.linalg.eigvals(np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), below])))


def test_it_has_one_loop_and_two_freedoms(car):
    assert [j.name for j in car.closing_joints] == ["upper ball"]
    assert car.mobility().freedoms == 2 and car.nv == 4
    assert car.parameters == {"mass": 350.0, "stiffness": 25e3, "damping": 1500.0, "bump": 0.05}


@pytest.mark.parametrize("values", [{}, *CORNERS])
def test_it_starts_at_rest_whatever_its_parameters(car, values):
    d = sh.Dynamics(car, backend="python")
    assert_close(d.forward(parameters=values), np.zeros(4), 1e3 * EPS, scale=1e3)


@pytest.mark.parametrize("values", [{"mass": 350.0, "stiffness": 25e3, "damping": 1500.0}, *CORNERS[::3]])
def test_small_oscillations_are_those_of_two_masses(car, values):
    s = sh.linearize(car, parameters={**values, "bump": 0.0})
    expected = two_masses(**values)
    assert s.steadiness == "equilibrium"
    assert_close(np.sort_complex(s.eigenvalues), expected, 1e-9)
    body, wheel = s.natural_frequencies
    k, kt = values["stiffness"], V.TYRE_STIFFNESS
    assert body == pytest.approx(np.sqrt(k * kt / (k + kt) / values["mass"]) / (2 * np.pi), rel=0.05)
    assert wheel == pytest.approx(np.sqrt((k + kt) / 40.0) / (2 * np.pi), rel=0.05)


def test_it_passes_the_bump_and_settles(car):
    r, exact = sh.simulate(car, 4.0), sh.simulate(car, 4.0, rtol=1e-12, atol=1e-13)
    height, wheel = r.coordinate("heave"), r.point("upright")[:, 2] - V.RADIUS
    assert 0.04 < height.max() < 0.05 < wheel.max() < 0.06 and abs(height[-1]) < 1e-4
    assert_close(r.q, exact.q, 1e-7, scale=0.05)
    assert np.abs(r.energy.defect).max() < 1e-6 * sum(np.abs(w).max() for w in r.energy.work.values())
    assert r.cost.steps < 250 and not r.integrator_switches and r.violation.max() < 1e-12


@pytest.mark.parametrize("values", CORNERS)
def test_the_tyre_stays_on_the_road(car, values):
    """Newton for the whole car: the load of the tyre is its weight and the momentum it gains."""
    r = sh.simulate(car, 1.0, parameters=values)
    masses = {"body": values["mass"], "lower wishbone": V.LOWER_MASS, "upper wishbone": V.UPPER_MASS, "upright": V.WHEEL_MASS}
    coms = {"lower wishbone": (0.0, V.LOWER / 2, 0.0), "upper wishbone": (0.0, V.UPPER / 2, 0.0)}
    load = sum(m * (r.point_acceleration(b, coms.get(b, (0.0, 0.0, 0.0)))[:, 2] + V.G) for b, m in masses.items())
    assert load.min() > 100.0
    assert_close(np.linalg.norm(r.force("tyre")["upright"][:, :3], axis=1), load, 1e-12)


def test_parameters_are_the_arguments(car):
    values = {"mass": 300.0, "stiffness": 2e4, "damping": 1000.0, "bump": 0.03}
    given, built = sh.simulate(car, 0.3, parameters=values), sh.simulate(sh.samples.quarter_car(**values), 0.3)
    assert_close(given.q, built.q, 1e-12, scale=0.05)
    assert np.abs(given.q - sh.simulate(car, 0.3).q).max() > 1e-3


def test_a_file_has_the_same_motion(car):
    text = sh.dumps(car)
    read = sh.loads(text)
    assert sh.dumps(read) == text
    assert np.array_equal(sh.simulate(read, 0.3).q, sh.simulate(car, 0.3).q)


def test_a_suspension_without_spring_is_refused():
    with pytest.raises(sh.ModelError, match="length: expected a finite number"):
        sh.samples.quarter_car(stiffness=0.0)
