"""Mechanisms with flexible bodies against published numbers, closed forms, and the same beam as rigid segments."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import flexible as pages
from benchmarks import flexible_models as models
from scipy.linalg import eigh

import sharnir as sh


# --- rigid segments and the beam -----------------------------------------------------------------------------------------------
def segmented_frequencies(n: int, hinged: bool = False) -> np.ndarray:
    """In springs and masses: without weight the springs between segments are the whole stiffness."""
    m = sh.samples.segmented_beam(n, hinged)
    K = np.zeros(n)
    for name, force in m.forces.items():
        K[int(name.removeprefix("spring")) - 1] = force.stiffness  # type: ignore[attr-defined]
    squares = eigh(np.diag(K), sh.Dynamics(m, "composite").mass_matrix(np.zeros(n)), eigvals_only=True)
    return np.sqrt(np.maximum(squares, 0.0)) / 10.0


def test_rigid_segments_become_the_clamped_beam_with_the_square_of_their_length():
    coarse, fine = (abs(segmented_frequencies(n)[:3] / pages.CANTILEVER - 1.0) for n in (8, 16))
    assert np.all(fine < 1.1e-2)
    np.testing.assert_allclose(np.log2(coarse / fine), 2.0, atol=0.1)


def test_rigid_segments_become_the_hinged_beam():
    """tan βL = tanh βL: βL = 3.9266, after a free rotation."""
    found = segmented_frequencies(16, hinged=True)
    assert found[0] < 1e-6
    np.testing.assert_allclose(found[1], 3.92660231**2, rtol=5e-3)


def test_three_modes_move_as_sixteen_segments_do():
    """Let go under its weight: twice the static deflection qL⁴/8EI."""
    flexible, rigid = (pages.drop(m) for m in (pages.beam(3), sh.samples.segmented_beam(16)))
    assert np.abs(flexible - rigid).max() < 0.03 * flexible.max()
    np.testing.assert_allclose(flexible.max(), 2.0 * 9.81 / 800.0, rtol=0.03)


# --- rotation ------------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def rotating() -> sh.Model:
    return models.rotating(5)


@pytest.mark.parametrize("speed", models.FLAPPING)
def test_a_rotating_beam_has_the_published_frequencies(rotating, speed):
    """Wright, Smith, Thresher and Wang (1982), Hodges and Rutkowski (1981); in the plane ω² is smaller by Ω²."""
    out, plane = models.flapping(rotating, speed)
    first, second = models.FLAPPING[speed]
    assert out[0] == pytest.approx(first, rel=2e-4) and out[1] == pytest.approx(second, rel=1e-3)
    np.testing.assert_allclose(plane[:2] ** 2, out[:2] ** 2 - speed**2, rtol=1e-5)


def test_a_beam_brought_to_speed_lags_as_published_and_stretches():
    """Kane, Ryan and Banerjee (1987), data of Simo and Vu-Quoc (1986): the tip lags by 0.57 m at most, before 7 s; the final
    stretch is ρAΩ²L³/3EA = 5.14e-4 m, of which one mode has 96/π⁴."""
    t, along, across = models.spin_up(2, 1, duration=18.0, rtol=1e-6)
    k = int(np.argmin(across))
    assert -0.58 < across[k] < -0.57 and 6.6 < t[k] < 7.0
    np.testing.assert_allclose(along[t > 16.0].mean(), models.STRETCH * 96.0 / np.pi**4, rtol=2e-3)
    assert np.abs(across[t > 16.0]).max() < 0.01


def test_without_stiffening_the_beam_is_lost_beyond_its_first_frequency():
    """At 9 s it turns at 3.9 rad/s, its first natural frequency is 3.8."""
    on = models.spin_up(2, 1, True, duration=9.0, rtol=1e-6)[2]
    with pytest.warns(sh.FlexibilityWarning, match="turned by 1 rad"):
        off = models.spin_up(2, 1, False, duration=9.0, rtol=1e-6)[2]
    half = len(on) // 2
    assert np.abs(off - on)[: half // 2].max() < 0.01  # slow yet
    assert off[-1] < -5.0 and -0.5 < on[-1] < -0.4


# --- published mechanisms ------------------------------------------------------------------------------------------------------
def test_the_slider_crank_of_the_test_set_ends_where_published():
    """IVP test set (Bari and CWI), problem "crank": φ₂, x₃ and the four elastic coordinates after two and a half turns."""
    found = models.crank_end(1e-8)
    np.testing.assert_allclose(found[:2], models.CRANK[:2], rtol=1e-8)
    np.testing.assert_allclose(found[2:], models.CRANK[2:], rtol=1e-5)


def test_the_beam_of_the_slider_crank_bends_as_the_published_rod_does():
    """But for a tenth: bending shortens the beam, which is not in the published rod, and it is pushed and pulled along."""
    m = sh.samples.flexible_slider_crank(2, 2)
    r = sh.simulate(m, 0.02, output=0.001, rtol=1e-6, atol=1e-9, **sh.samples.flexible_slider_crank_start())
    rod, start = models.published_crank()
    other = sh.simulate(rod, 0.02, output=0.001, rtol=1e-6, atol=1e-9, **start).coordinate("rod elastic")[:, 0]
    bent = r.coordinate("rod elastic")[:, 0]
    assert np.abs(bent - other).max() < 0.12 * np.abs(other).max() and np.abs(other).max() > 1e-3
    pin, block = r.point("rod"), r.point("block")
    assert np.abs(np.linalg.norm(pin[:, :2], axis=1) - 0.15).max() < 1e-9
    assert np.abs(np.linalg.norm(block - pin, axis=1) - 0.3).max() < 5e-5 and np.abs(block[:, 1]).max() < 1e-9


def test_more_shapes_bring_a_mechanism_no_nearer_to_singular_positions():
    """The rod of a slider-crank in the middle of its motion: slopes of the eighth mode say nothing of how its loop closes."""
    m = sh.samples.flexible_slider_crank(bending=8, stretching=1)
    r = sh.simulate(
        m, 1e-5, v0={"crankpin": -150.0}, fixed=[], method="composite", integrator="euler", step=1e-5, backend="python"
    )
    assert r.cost.passages == r.cost.exact_evaluations == 0


def test_a_misaligned_four_bar_moves_because_it_bends():
    """Bauchau and others (2016): with rigid bars a hinge five degrees out of true locks the mechanism."""
    m = sh.samples.flexible_four_bar(modes=1)
    how = {"method": "separate", "integrator": "dopri5", "rtol": 1e-4, "atol": 1e-7, "balance": False}
    with pytest.warns(sh.FlexibilityWarning, match="too few shapes"):  # three modes of each bar: a quarter less out of the plane
        r = sh.simulate(m, 0.7, output=[0.0, 0.7], **how)
    left, right = r.point("left")[-1], r.point("right")[-1]
    angle = 0.6 * (0.5 * 0.7**2 + (np.cos(1.4 * np.pi) - 1.0) / (4.0 * np.pi**2))  # of the drive
    np.testing.assert_allclose(left, [0.12 * np.sin(angle), 0.12 * np.cos(angle), 0.0], atol=5e-5)
    np.testing.assert_allclose(np.linalg.norm(right - left), 0.24, rtol=1e-5)
    assert right[2] < -10.0 * abs(left[2]) and right[2] < -5e-4  # pushed out of the plane


def test_a_flexible_pendulum_keeps_its_energy():
    r = sh.simulate(sh.samples.flexible_pendulum(), 0.5, rtol=1e-8, atol=1e-10)
    total = r.energy.kinetic + r.energy.potential
    assert np.abs(total - total[0]).max() < 1e-6 * r.energy.kinetic.max()


def test_a_negative_duration_is_refused():
    with pytest.raises(sh.ModelError, match="rotating_beam: duration must not be negative"):
        sh.samples.rotating_beam(duration=-1.0)
    with pytest.raises(sh.ModelError, match="segmented_beam: length, bending_stiffness and mass must be positive"):
        sh.samples.segmented_beam(4, length=0.0)
