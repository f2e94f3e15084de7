"""Every method on every kind of model: it agrees with the extended system, or refuses with the reason that docs/methods.md gives.

`PYTHONPATH=tests:tests/models python tests/solvers/test_method_table.py` writes the table into that page.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import sharnir as sh
from method_models import MODELS
from sharnir.forms import FORMS
from sharnir.forms.closed import CLOSED_FORMS
from sharnir.forms.constraint_rows import constraint_rows
from sharnir.programs.methods import METHODS, features
from states import assert_close, derivative

PAGE = Path(__file__).parents[2] / "docs" / "methods.md"
BEGIN = "<!-- coverage: PYTHONPATH=tests:tests/models python tests/solvers/test_method_table.py -->"
END = "<!-- end of coverage -->"
T = 0.2


@cache
def case(name):
    """A model, a state of it, joint forces, and the accelerations of the extended system."""
    model, q, v = MODELS[name][1]()
    tau = np.random.default_rng(5).normal(size=model.nv)
    m = sh.matrices(model, q, v, 0.0 if model.constraints else T)
    if model.constraints:
        return model, q, v, tau, CLOSED_FORMS["extended"](m, tau + m.load, constraint_rows(m))[0]
    return model, q, v, tau, FORMS["extended"](m, tau).qdd


def dynamics(model, method, **options):
    return sh.Dynamics(model, method, backend="auto" if METHODS[method].is_sparse_form else "python", **options)


def refusal(method, kind):
    return METHODS[method].refusal(features(*MODELS[kind][0]))


def answers(d, q, v, tau, t):
    """Accelerations; of the form in momenta what they mean there, the rates of momenta."""
    if d.method != "momentum":
        return d.forward(q, v, tau, t)
    p = d.momenta(q, v, t)
    assert_close(d.velocities(q, p, t), v, 1e-10)
    return d.momentum_rates(q, p, tau, t)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_the_extended_system_or_says_why_not(method, kind):
    model, q, v, tau, qdd = case(kind)
    t = 0.0 if model.constraints else T
    if found := refusal(method, kind):
        with pytest.raises(sh.MethodError) as error:
            dynamics(model, method)
        assert all(part in str(error.value) for part in found) and len(found[1].split()) > 5
        return
    d = dynamics(model, method)
    wanted = qdd
    if method == "momentum":
        plain = dynamics(model, "composite")
        rates = plain.rates(q, v, t)
        wanted = derivative(lambda s: plain.momenta(q + s * rates, v + s * qdd, t + s))
    loose = 1e-9 if method == "momentum" else 1e-10  # differences
    assert_close(answers(d, q, v, tau, t), wanted, loose, scale=1.0)
    if method != "momentum":
        both = d.forward(np.array([q, q]), np.array([v, -v]), tau, t)
        assert_close(both[0], wanted, loose, scale=1.0)
        assert_close(d.reactions(q, v, tau, t), dynamics(model, "composite").reactions(q, v, tau, t), 1e-9, scale=1.0)


def marks():
    """Reasons by number, and the cells of the table."""
    reasons, rows = dict[str, int](), []
    for method in METHODS:
        cells = []
        for kind in MODELS:
            found = refusal(method, kind)
            cells.append("yes" if found is None else f"no ({reasons.setdefault(found[1], len(reasons) + 1)})")
        rows.append((f"`{method}`", *cells))
    return reasons, rows


def page():
    reasons, rows = marks()
    lines = ["| method | " + " | ".join(MODELS) + " |", "|---|" + "---|" * len(MODELS)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, "", *(f"({k}) {reason}.  " for reason, k in reasons.items())])


def test_the_page_says_what_the_code_does():
    text = PAGE.read_text(encoding="utf-8")
    assert text.split(BEGIN)[1].split(END)[0].strip() == page().strip()


if __name__ == "__main__":
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{page()}\n{END}{rest.split(END)[1]}", encoding="utf-8")
