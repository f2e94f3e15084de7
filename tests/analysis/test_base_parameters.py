"""Base parameters: as many as the literature counts, and joint forces depend on nothing else."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

import sharnir as sh
from arms import INERTIAL, PUMA, arm
from states import assert_close, interpreted

COUNTS = {
    "one link": ([(0.0, 0.0, 0.0)], (0.0, -9.81, 0.0), 3),
    "two links": ([(0.0, 0.0, 0.0), (0.0, 0.5, 0.0)], (0.0, -9.81, 0.0), 6),
    "two links, horizontal": ([(0.0, 0.0, 0.0), (0.0, 0.5, 0.0)], (0.0, 0.0, -9.81), 4),
    "three parallel links": ([(0.0, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.4, 0.1)], (0.0, -9.81, 0.0), 9),
    "PUMA 560": (PUMA, (0.0, 0.0, -9.81), 36),
    "PUMA 560 on a wall": (PUMA, (0.0, -9.81, 0.0), 38),
    "elbow": ([(0.0, 0.0, 0.0), (pi / 2, 0.1, 0.0), (0.0, 0.5, 0.0)], (0.0, 0.0, -9.81), 15),
}
"""7N − 4β, less 2 where the first axis is vertical; the first β joints are parallel (Mayeda, Yoshida, Osuka 1990)."""


@pytest.mark.parametrize("case", COUNTS)
def test_the_number_of_mass_properties_is_that_of_the_literature(case):
    rows, gravity, count = COUNTS[case]
    assert len(sh.base_parameters(arm(rows, gravity=gravity), fixed=INERTIAL)) == count


def test_armatures_of_the_first_joints_merge_with_moments_of_inertia():
    """Of the PUMA 560 those of the two first; the others, and all coefficients of friction, are parameters of their own."""
    found = sh.base_parameters(arm(PUMA))
    assert len(found) == 36 + 4 + 12
    assert (
        found.expressions["link1.Izz"].endswith("joint1.armature") and found.expressions["joint3.armature"] == "joint3.armature"
    )


def test_two_links_have_the_combinations_of_textbooks():
    """Khalil and Dombre: the mass of the second link acts as a moment and an inertia of the first, at its length."""
    found = sh.base_parameters(arm([(0.0, 0.0, 0.0), (0.0, 0.5, 0.0)], gravity=(0.0, -9.81, 0.0)), fixed=INERTIAL)
    assert found.expressions == {
        "link1.mx": "link1.mx + 0.5 link2.mass",
        "link1.my": "link1.my",
        "link1.Izz": "link1.Izz + 0.25 link2.mass",
        "link2.mx": "link2.mx",
        "link2.my": "link2.my",
        "link2.Izz": "link2.Izz",
    }
    assert "link1.mass" in found.without_effect and "link2.mass" not in found.without_effect
    assert "link1.Izz = link1.Izz + 0.25 link2.mass" in str(found) and "6 base parameters of 20" in str(found)


@pytest.mark.parametrize("model", [arm(PUMA), sh.samples.tree(5, seed=3), sh.samples.all_joints(2)], ids=lambda m: m.name)
def test_joint_forces_depend_on_base_parameters_alone(model):
    base, d = sh.base_parameters(model), interpreted(model, "composite")
    rng = np.random.default_rng(8)
    Y = d.regressor(model.random_q(rng), *rng.normal(size=(2, model.nv)), 0.4)
    kept = [base.parameters.index(name) for name in base.names]
    assert base.parameters == d.regressor_names and 0 < len(base) < len(base.parameters)
    assert_close(Y[:, kept] @ base.matrix, Y, 1e-7)


def test_the_seed_does_not_matter():
    model = arm(PUMA)
    first, second = (sh.base_parameters(model, INERTIAL, seed=seed) for seed in (1, 2))
    assert first.names == second.names
    assert_close(first.matrix, second.matrix, 1e-8)


def test_a_loop_determines_fewer_combinations_than_its_tree():
    """A parallelogram: the rocker turns as the crank does, so that their moments add up."""
    found = sh.base_parameters(sh.samples.four_bar(), fixed=INERTIAL)
    assert found.expressions["crank.mx"] == "crank.mx + coupler.mass + rocker.mx" and len(found) == 6


def test_a_rolling_disc_shows_the_moments_of_its_mass():
    """Its neutral position is one where rolling is not defined; random ones are."""
    found = sh.base_parameters(sh.samples.rolling_disc(), fixed=INERTIAL)
    assert found.names == found.parameters


def test_wrong_arguments_are_refused():
    m = sh.samples.double_pendulum()
    with pytest.raises(sh.StateError, match=r"no parameter matches 'rod1.mas'; did you mean 'rod1.mass'"):
        sh.base_parameters(m, fixed=["rod1.mas"])
    with pytest.raises(sh.StateError, match="samples: expected a whole number"):
        sh.base_parameters(m, samples=0)
    with pytest.raises(sh.StateError, match="fixed: expected names"):
        sh.base_parameters(m, fixed="rod1.mass")
    with pytest.raises(sh.ModelError, match=r"needs a sharnir.Model"):
        sh.base_parameters("arm")
