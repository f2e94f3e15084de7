"""A constraint that is not defined in some position is named, with the position and the remedy; LAPACK never sees it."""

from __future__ import annotations

import numpy as np
import pytest

import sharnir as sh
from loop_models import STARTS
from sharnir.forms.constraint_rows import constraint_rows
from states import interpreted

TEXT = (
    r"constraint 'ground': touching is not finite at q = \[0., 0., 0., 1., .*t = 0: "
    r"the axis of the disc is along the normal .*start upright \(q0=…\)"
)
"""The disc lies flat in its neutral position: which of its points touches the ground?"""
FLAT = sh.samples.rolling_disc


@pytest.mark.parametrize(
    "ask",
    [lambda m: sh.simulate(m, 0.02), lambda m: m.assemble(), lambda m: m.mobility()],
    ids=["simulate", "assemble", "mobility"],
)
def test_a_model_asked_in_an_undefined_position(ask, capfd):
    with pytest.raises(sh.SingularError, match=TEXT):
        ask(FLAT())
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "question", ["forward", "multipliers", "closing_reactions", "reactions", "solve", "inverse", "inverse_reactions"]
)
@pytest.mark.parametrize("method", ["composite", "separate", "extended", "lagrange1", "maggi"])
def test_dynamics_asked_in_an_undefined_position(method, question, capfd):
    d = interpreted(FLAT(), method)
    arguments = (None, None, None) if question.startswith("inverse") else ()
    with pytest.raises(sh.SingularError, match=TEXT):
        getattr(d, question)(*arguments)
    assert capfd.readouterr().err == ""


def test_compiled_code_asked_in_an_undefined_position(capfd):
    d = sh.Dynamics(FLAT(), "composite", "llvm")
    for ask in (d.forward, d.closing_reactions, lambda: d.inverse(None, None, None)):
        with pytest.raises(sh.SingularError, match=TEXT):
            ask()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("method", ["composite", "extended"])
def test_in_a_batch_the_other_states_are_answered(method):
    model, start = STARTS["rolling disc"][0](), STARTS["rolling disc"][1]
    q, v = model.assemble(start, {"disc float": (1, 0, 0, 0, 0, -10)}, nearest=True)
    flat = np.array([0.0, 0, 0, 1, 0, 0, 0])
    d = interpreted(model, method)
    found = d.forward(np.array([q, flat, q]), np.array([v, v, v]))
    assert np.isnan(found[1]).all()
    np.testing.assert_array_equal(found[[0, 2]], [d.forward(q, v)] * 2)


def test_the_oracle_names_it_too():
    with pytest.raises(sh.SingularError, match="constraint 'ground' is not finite: it is not defined"):
        constraint_rows(sh.matrices(FLAT()))


def wall_that_ends() -> sh.Model:
    """A sliding body on a moving wall, y = (0.5 − t)^3.5: smooth until t = 0.5, and then not there."""
    m = sh.Model("wall that ends")
    m.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    m.add_joint("slide", sh.Translation(), "ground", "body")
    m.add_constraint(lambda on: on.point("body")[0][1] - sh.power(0.5 - on.t, 3.5), "wall")
    return m


STEPS = {"integrator": "rk4", "step": 0.02}


@pytest.mark.parametrize(
    "options", [{}, STEPS, {"stabilisation": "partitioning"}, {"method": "extended", **STEPS}, {"backend": "python", **STEPS}]
)
def test_a_run_that_comes_to_an_undefined_position_keeps_its_motion(options, capfd):
    with pytest.raises(
        sh.SimulationError, match=r"constraint 'wall' is not finite just after t = 0\.5:.*in the error's"
    ) as caught:
        sh.simulate(wall_that_ends(), 1.0, **options)
    assert abs(caught.value.time - 0.5) < 1e-9
    assert abs(caught.value.result.t[-1] - 0.5) < 1e-9 and np.isfinite(caught.value.result.q).all()
    assert capfd.readouterr().err == ""


def test_a_run_that_may_fail_returns_what_it_has():
    kept = sh.simulate(wall_that_ends(), 1.0, on_failure="return", **STEPS)
    assert kept.status == "not_finite" and "constraint 'wall'" in kept.message and len(kept) > 40
