"""What runs of one model share is made once, belongs to that model alone, and goes with it."""

import gc
import weakref

import numpy as np
import pytest

import sharnir as sh
from sharnir.equations.motion.derivative import compiled_derivative

RUN = {"integrator": "rk4", "step": 1e-3, "output": None, "every": 100}


def falling(mass: float = 2.0) -> sh.Model:
    model = sh.Model("bar")
    model.add_body("bar", mass=mass, com=[0.3, 0, 0], inertia=[0.01, 0.02, 0.03])
    model.add_joint("pin", sh.Revolute("z"), "ground", "bar")
    model.add_force(lambda on: on.torque("pin", -0.5 * on.v("pin")), name="brake")
    return model


def test_a_second_run_repeats_the_first_bit_for_bit():
    model = falling()
    first, second = (sh.simulate(model, 0.2, q0=[0.4], **RUN) for _ in range(2))
    assert np.array_equal(first.q, second.q)
    assert (first.cost.method, first.cost.why) == (second.cost.method, second.cost.why)


@pytest.mark.parametrize(
    "change", [{"balance": False}, {"tau": [0.7]}, {"method": "separate"}, {"integrator": "radau", "step": None}]
)
def test_a_run_after_another_equals_that_of_a_fresh_model(change):
    used = falling()
    sh.simulate(used, 0.1, q0=[0.4], **RUN)
    again, fresh = (sh.simulate(model, 0.2, q0=[0.4], **(RUN | change)) for model in (used, falling()))
    assert np.array_equal(again.q, fresh.q)
    assert again.causes == fresh.causes


def test_equations_are_traced_once():
    model = falling()
    formulations = [sh.Dynamics(model).formulation for _ in range(2)]
    codes = [compiled_derivative(f.structure, f.method, f.programs.store) for f in formulations]
    assert codes[0] is codes[1]
    assert codes[0].code.code(1) is codes[1].code.code(1)


def test_a_changed_copy_has_equations_of_its_own():
    model = falling()
    sh.simulate(model, 0.1, q0=[0.4], **RUN)
    other = model.copy()
    other.add_force(lambda on: on.torque("pin", 1.0), name="push")
    a, b = (sh.simulate(m, 0.1, q0=[0.4], **RUN) for m in (model, other))
    assert abs(a.q[-1, 0] - b.q[-1, 0]) > 1e-3


def test_a_model_that_is_gone_is_forgotten():
    model = falling()
    sh.simulate(model, 0.1, q0=[0.4], **RUN)
    sh.rollout(model, np.zeros((9, 1)), dt=1e-3, steps=5)
    structure = weakref.ref(model.structure)
    del model
    gc.collect()
    assert structure() is None


def test_a_joint_that_moves_no_mass_is_refused_every_time():
    model = sh.Model("nothing")
    model.add_body("ghost", mass=0.0, com=[0, 0, 0], inertia=[0, 0, 0])
    model.add_joint("pin", sh.Revolute("z"), "ground", "ghost")
    for _ in range(2):
        with pytest.raises(sh.SharnirError):
            sh.simulate(model, 0.1, method="composite", **RUN)
