"""Identification: joint forces and base parameters recovered to rounding, possible bodies, bad data refused in words."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from arms import INERTIAL, PUMA, arm, measured
from sharnir.analysis.physical import pseudo_inertia
from states import assert_close, error, random_state

PLANAR = [(0.0, 0.0, 0.0), (0.0, 0.5, 0.0)]
VERTICAL = (0.0, -9.81, 0.0)


def rubbing(rows=PLANAR, seed=1, **options) -> sh.Model:
    """An arm with friction, rotors and random masses."""
    model = arm(rows, seed, damping=0.3, friction=0.5, armature=0.2, **options)
    for joint in [j.name for j in model.joints]:
        model.add_force(sh.JointFriction(joint))
    return model


def forces(model: sh.Model, data) -> np.ndarray:
    return sh.Dynamics(model, "composite", backend="loops").inverse(data["q"], data["v"], data["a"])


def assert_possible(found: sh.Identification) -> None:
    own = np.array(list(found.parameters.values()))[: 10 * len(found.original.bodies)].reshape(-1, 10)
    P = pseudo_inertia(own)
    assert (np.linalg.eigvalsh(P)[:, 0] > -1e-9 * np.linalg.eigvalsh(P)[:, -1]).all()
    assert (
        found.physical
        and min(x for name, x in found.parameters.items() if name.split(".")[-1] in "armature damping friction") >= 0.0
    )


# --- what is recovered ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("rows", "gravity"), [(PLANAR, VERTICAL), (PUMA, (0.0, 0.0, -9.81))], ids=["planar", "PUMA"])
def test_joint_forces_of_fresh_states_are_recovered_to_rounding(rows, gravity):
    """From a model with other masses and without friction, whose coordinates are the same."""
    true, guess = rubbing(rows, gravity=gravity), arm(rows, gravity=gravity)
    found = sh.identify(guess, measured(true, 120))
    fresh = measured(true, 20, seed=7)
    assert error(forces(guess, fresh), fresh["tau"]) > 0.1
    assert_close(forces(found.model, fresh), fresh["tau"], 1e-10)
    assert_possible(found)
    assert found.unseen == [] and found.condition < 1e3
    assert max(found.residual.values()) < 1e-10 * max(found.force.values())


def test_base_parameters_are_recovered():
    true, guess = rubbing(gravity=VERTICAL), arm(PLANAR, gravity=VERTICAL)
    found = sh.identify(guess, measured(true, 50))
    d = sh.Dynamics(true, "composite", backend="loops")
    own = dict(zip(d.regressor_names, d.regressor_parameters, strict=True))
    wanted = found.base.matrix @ np.array([own[name] for name in found.base.parameters])
    assert_close(list(found.base_values.values()), wanted, 1e-10)
    assert found.parameters["joint2.friction"] == pytest.approx(0.5)


def test_the_model_itself_is_a_fixed_point():
    """Where the data agree with the model nothing changes, not even what they leave open."""
    true = rubbing(PUMA)
    found = sh.identify(true, measured(true, 60))
    d = sh.Dynamics(true, "composite", backend="loops")
    assert_close(list(found.parameters.values()), d.regressor_parameters, 1e-10)


def test_a_motion_of_a_simulation_serves_as_data():
    true, guess = (arm(PLANAR, seed, gravity=VERTICAL, damping=0.2) for seed in (3, None))
    for m in (true, guess):
        m.add_force(sh.JointSpring("joint2", stiffness=10.0), name="spring")
    runs = [sh.simulate(true, 2.0, q0=q0, v0=[1.0, -2.0], output=0.05, backend="python") for q0 in ([0.5, 1.0], [2.0, -1.0])]
    found = sh.identify(guess, runs, fixed=["*.armature", "*.friction"])
    fresh = measured(true, 10, seed=5)
    assert found.samples == sum(len(r) for r in runs)
    assert_close(forces(found.model, fresh), fresh["tau"], 1e-8)


def test_a_motion_without_any_known_force_shows_only_ratios():
    true = arm(PLANAR, 3, gravity=VERTICAL)
    r = sh.simulate(true, 1.0, v0=[1.0, -2.0], output=0.02, backend="python")
    with pytest.raises(sh.StateError, match="only ratios of parameters show"):
        sh.identify(arm(PLANAR, gravity=VERTICAL), r)
    found = sh.identify(arm(PLANAR, gravity=VERTICAL, damping=0.0), r, fixed=[*INERTIAL, "link2.Izz"])
    scale = found.parameters["link2.Izz"] / true.bodies[1].inertia_at_origin()[2, 2]
    assert found.parameters["link2.mx"] == pytest.approx(scale * true.bodies[1].mass * true.bodies[1].com[0], rel=1e-6)


def test_forces_of_the_model_are_known():
    """A spring and a motor are in the measured motion and in the model: they are no part of what is sought."""
    pair = [arm(PLANAR, seed, gravity=VERTICAL) for seed in (3, None)]
    for m in pair:
        m.add_force(sh.JointSpring("joint1", stiffness=20.0, rest=0.3))
        m.add_force(sh.Motor("joint2", torque=lambda t, x, v: 5.0 * sh.sin(x)))
    true, guess = pair
    found, fresh = sh.identify(guess, measured(true, 40)), measured(true, 10, seed=5)
    assert_close(forces(found.model, fresh), fresh["tau"], 1e-10)


def test_coupled_joints_are_identified():
    def gripper(seed):
        m = arm([*PLANAR, (0.3, 0.4, 0.1)], seed, gravity=VERTICAL, armature=0.1 * (seed or 0), damping=0.1)
        m.couple("joint3", "joint2", -2.0, 0.1)
        return m

    true, guess = gripper(2), gripper(None)
    found, fresh = sh.identify(guess, measured(true, 60)), measured(true, 10, seed=5)
    assert_close(forces(found.model, fresh), fresh["tau"], 1e-10)


def test_a_closed_loop_is_identified_by_what_its_constraints_do_not_carry():
    true = sh.samples.four_bar()
    true.add_force(sh.JointSpring("A", stiffness=4.0))
    r = sh.simulate(true, 3.0, v0={"A": 3.0}, output=0.05)
    guess = sh.Model("four-bar", true.gravity)
    for body in true.bodies:
        guess.add_body(body.name, 1.5, (0.4, 0.02, 0.0), (0.1, 0.1, 0.1))
    for j in [*true.joints, *true.closing_joints]:
        guess.add_joint(j.name, j.type, j.parent, j.child, at=j.at, child_at=j.child_at, cut=j.cut)
    guess.add_force(sh.JointSpring("A", stiffness=4.0))
    found = sh.identify(guess, r, fixed=INERTIAL)
    d = sh.Dynamics(found.model, "composite")
    assert_close(d.forward(r.q, r.v), r.a, 1e-6)


def test_fixed_parameters_keep_the_values_of_the_model():
    true, guess = rubbing(gravity=VERTICAL), arm(PLANAR, gravity=VERTICAL)
    found = sh.identify(guess, measured(true, 50), fixed=["link1.*", "link2.mass", "joint1.friction"])
    assert found.parameters["link1.Izz"] == guess.bodies[0].inertia_at_origin()[2, 2]
    assert found.parameters["link2.mass"] == 2.0 and found.parameters["joint1.friction"] == 0.0
    assert found.model.bodies[0] == guess.bodies[0] and found.model.bodies[1].mass == pytest.approx(2.0, rel=1e-12)
    assert not any("link1" in name for name in found.base.names)


# --- noise ----------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("noise", [0.05, 0.5])
def test_with_noise_bodies_stay_possible(noise):
    true, guess = rubbing(PUMA), arm(PUMA)
    data = measured(true, 60, noise=noise)
    free, bound = (sh.identify(guess, data, physical=physical) for physical in (False, True))
    assert not free.physical
    assert_possible(bound)
    assert np.isfinite(forces(bound.model, data)).all()
    total = [np.linalg.norm(list(x.residual.values())) for x in (free, bound)]
    assert total[0] <= total[1] < 1.3 * total[0]
    with pytest.raises(sh.ModelError, match="physical=True"):
        _ = free.model


def test_possible_bodies_are_the_best_possible_ones():
    """Convex: the squares do not depend on where the search starts, and are less than those of the true parameters."""
    true, data = rubbing(gravity=VERTICAL), measured(rubbing(gravity=VERTICAL), 30, noise=0.8)
    found = [sh.identify(arm(PLANAR, seed, gravity=VERTICAL), data) for seed in (None, 4, 5)]
    sums = [sum(x**2 for x in one.residual.values()) for one in found]
    assert_close(sums, [sums[0]] * 3, 0.1 / 60)
    assert sums[0] <= sum(((forces(true, data) - data["tau"]) ** 2).mean(axis=0))


def test_deviations_are_those_of_repeated_measurements():
    true, guess = arm(PLANAR, 1, gravity=VERTICAL), arm(PLANAR, gravity=VERTICAL)
    clean, rng = measured(true, 80), np.random.default_rng(0)
    runs = [
        sh.identify(
            guess, {**clean, "tau": clean["tau"] + 0.1 * rng.normal(size=clean["tau"].shape)}, fixed=INERTIAL, physical=False
        )
        for _ in range(60)
    ]
    spread = np.std([list(r.base_values.values()) for r in runs], axis=0)
    said = np.mean([list(r.deviations.values()) for r in runs], axis=0)
    assert (np.abs(spread / said - 1.0) < 0.4).all()


def test_joints_weigh_as_their_deviations_say():
    true, guess = arm(PLANAR, 1, gravity=VERTICAL), arm(PLANAR, gravity=VERTICAL)
    data, rng = measured(true, 200), np.random.default_rng(0)
    data["tau"] = data["tau"] + np.array([2.0, 0.01]) * rng.normal(size=data["tau"].shape)
    errors = {}
    for name, deviation in {"alike": None, "given": {"joint1": 2.0, "joint2": 0.01}, "residual": "residual"}.items():
        found = sh.identify(guess, data, deviation=deviation, fixed=INERTIAL, physical=False)
        errors[name] = abs(found.parameters["link2.Izz"] - true.bodies[1].inertia_at_origin()[2, 2])
    assert errors["given"] < 0.2 * errors["alike"] and errors["residual"] < 0.2 * errors["alike"]


def test_a_prior_holds_the_values_of_the_model_as_firmly_as_it_says():
    true, guess = arm(PUMA, 1), arm(PUMA)
    data = measured(true, 40, noise=0.3)
    d = sh.Dynamics(guess, "composite", backend="loops")
    far = [
        np.linalg.norm(np.array(list(sh.identify(guess, data, prior=p).parameters.values())) - d.regressor_parameters)
        for p in (0.001, 0.1, None)
    ]
    assert far[0] < 0.3 * far[1] < 0.3 * far[2]


# --- what the data do not show --------------------------------------------------------------------------------------------------
def test_a_motion_that_leaves_parameters_unseen_says_which():
    """The first joint held: nothing of the first link shows but its weight; nothing of the speeds of the first joint."""
    true, guess = rubbing(gravity=VERTICAL), arm(PLANAR, gravity=VERTICAL)
    data = measured(true, 60)
    data["q"][:, 0], data["v"][:, 0], data["a"][:, 0] = 0.3, 0.0, 0.0
    data["tau"] = forces(true, data)
    found = sh.identify(guess, data)
    assert set(found.unseen) == {"link1.mx", "link1.my", "link1.Izz", "joint1.damping", "joint1.friction"}
    assert found.condition == np.inf and found.deviations["link1.Izz"] == np.inf
    assert "not determined by these motions: link1.mx" in found.summary() and "not seen" in found.summary()
    assert_close(forces(found.model, data), data["tau"], 1e-9)
    assert_possible(found)


def test_a_constant_pose_shows_little():
    true, guess = arm(PLANAR, 1, gravity=VERTICAL), arm(PLANAR, gravity=VERTICAL)
    data = {"q": np.tile([0.3, 0.4], (20, 1)), "v": np.zeros((20, 2)), "a": np.zeros((20, 2))}
    data["tau"] = forces(true, data)
    found = sh.identify(guess, data)
    assert len(found.unseen) == len(found.base)
    still = arm(PLANAR, 1, gravity=(0.0, 0.0, 0.0))
    with pytest.raises(sh.StateError, match="none of the parameters has any effect"):
        sh.identify(still, data)


def test_the_summary_tells_what_is_well_determined():
    true, guess = rubbing(gravity=VERTICAL), arm(PLANAR, gravity=VERTICAL)
    found = sh.identify(guess, measured(true, 60, noise=0.02))
    text = found.summary()
    assert text.startswith("60 samples, 26 free parameters in 11 combinations, condition ")
    assert {"link1.mx", "link1.Izz"} <= set(found.well_excited) and "joint2" in text and "%" in text
    assert str(found) == text


# --- bad data -------------------------------------------------------------------------------------------------------------------
GUESS = arm(PLANAR, gravity=VERTICAL)
GOOD = measured(GUESS, 40, backend="python")  # made by every worker: nothing to compile
BAD = {
    "too few": (
        {k: x[:3] for k, x in GOOD.items()},
        "3 samples of 2 joint forces are fewer equations than the 11 base parameters",
    ),
    "no accelerations": ({k: x for k, x in GOOD.items() if k != "a"}, "'a' missing.*differentiate q and smooth it"),
    "no forces": ({k: x for k, x in GOOD.items() if k != "tau"}, "'tau' missing"),
    "misspelt": ({**GOOD, "torque": 1.0}, "unknown entry 'torque'"),
    "wrong shape": ({**GOOD, "v": GOOD["v"][:, :1]}, r"v has shape \(40, 1\), expected \(T, 2\) with T = 40"),
    "unlike lengths": ({**GOOD, "tau": GOOD["tau"][:-1]}, r"tau has shape \(39, 2\)"),
    "nan": ({**GOOD, "a": np.where(np.arange(80).reshape(40, 2) == 7, np.nan, GOOD["a"])}, "a is not finite in row 3; leave"),
    "one state": ({k: x[0] for k, x in GOOD.items()}, r"q has shape \(2,\), expected \(T, 2\)"),
    "nothing": ([], "the list is empty"),
    "text": ("data", "expected a mapping with q, v, a, tau, a Result"),
    "no numbers": ({**GOOD, "q": "abc"}, "expected numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_data_are_refused_with_what_is_missing(case):
    data, says = BAD[case]
    with pytest.raises(sh.StateError, match=says):
        sh.identify(GUESS, data)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"fixed": ["*"]}, "every parameter is fixed"),
        ({"fixed": ["link1.max"]}, "did you mean 'link1.mx'"),
        ({"prior": -1.0}, "prior: expected a relative standard deviation"),
        ({"deviation": "robust"}, "or 'residual'"),
        ({"deviation": [1.0, 0.0]}, "a positive number for each"),
        ({"physical": "yes"}, "physical: expected True or False"),
    ],
)
def test_wrong_options_are_refused(options, says):
    with pytest.raises(sh.StateError, match=says):
        sh.identify(GUESS, GOOD, **options)


def test_models_that_cannot_be_identified_say_why():
    orbit = sh.Model("orbit", (0.0, 0.0, 0.0))
    orbit.add_body("sat", 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    orbit.add_floating("sat")
    orbit.add_force(sh.PointGravity())
    with pytest.raises(sh.ModelError, match="pulls with the masses that are sought"):
        sh.identify(orbit, {})
    other = sh.simulate(sh.samples.double_pendulum(), 0.1, backend="python")
    with pytest.raises(sh.StateError, match="with other coordinates"):
        sh.identify(GUESS, other)
    point = sh.samples.pendulum()
    s = [random_state(point, k) for k in range(20)]
    data = {"q": [x.q for x in s], "v": [x.v for x in s], "a": [x.v for x in s], "tau": [x.tau for x in s]}
    with pytest.raises(sh.ModelError, match="fix all of them or none"):
        sh.identify(point, data, fixed=["bar.mass"])
