"""The equations of six mechanisms as formulas: writes docs/equations.md, checked against `Dynamics` in random states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import sharnir as sh
from sharnir.derivation.equations_of_motion import EquationsOfMotion

PAGE = Path("docs/equations.md")
NONE = (0.0, 0.0, 0.0)
AGREE = 1e-12
"""How near formulas and `Dynamics` are to each other, relative to the largest entry."""


def _model(name: str, **values: float) -> tuple[sh.Model, dict[str, sh.trace.Symbol]]:
    m = sh.Model(name)
    return m, {letter: m.add_parameter(letter, value) for letter, value in values.items()}


def pendulum() -> sh.Model:
    """The angle is counted from the position at rest."""
    m, p = _model("pendulum", m=1.0, l=0.5, J=0.02, g=9.81)
    m.gravity = (0.0, 0.0, -p["g"])
    m.add_body("bob", p["m"], (0.0, 0.0, -p["l"]), (p["J"], p["J"], 0.01))
    m.add_joint("theta", sh.Revolute("y"), "ground", "bob")
    return m


def cart_pole() -> sh.Model:
    """The pole stands on a cart that slides along x."""
    m, p = _model("cart-pole", M=1.0, m=0.3, l=0.5, J=0.02, g=9.81)
    m.gravity = (0.0, 0.0, -p["g"])
    m.add_body("cart", p["M"], inertia=(0.1, 0.1, 0.1))
    m.add_body("pole", p["m"], (0.0, 0.0, p["l"]), (p["J"], p["J"], 0.001))
    m.add_joint("x", sh.Prismatic("x"), "ground", "cart")
    m.add_joint("theta", sh.Revolute("y"), "cart", "pole")
    return m


def double_pendulum() -> sh.Model:
    """Two points on massless rods; θ₂ is the angle between the rods."""
    m, p = _model("double pendulum", m1=1.0, m2=0.7, l1=0.5, l2=0.4, g=9.81)
    m.gravity = (0.0, -p["g"], 0.0)
    m.add_body("first", p["m1"], (p["l1"], 0.0, 0.0), NONE)
    m.add_body("second", p["m2"], (p["l2"], 0.0, 0.0), NONE)
    m.add_joint("theta1", sh.Revolute("z"), "ground", "first")
    m.add_joint("theta2", sh.Revolute("z"), "first", "second", at=sh.Pose((p["l1"], 0.0, 0.0)))
    return m


def slider_crank() -> sh.Model:
    """A crank of length r and inertia J, a massless rod of length l, a piston of mass m; the angle φ of the rod is absolute."""
    m, p = _model("slider-crank", J=0.01, m=0.5, r=0.2, l=0.5)
    m.gravity = NONE
    m.add_body("crank", 0.0, inertia=(0.0, 0.0, p["J"]), check_inertia=False)
    m.add_body("piston", p["m"])
    m.add_body("rod", 0.0)
    m.add_joint("theta", sh.Revolute("z"), "ground", "crank")
    m.add_joint("x", sh.Prismatic("x"), "ground", "piston")
    m.add_joint("phi", sh.Revolute("z"), "piston", "rod")

    def apart(on: sh.Motion) -> list[sh.trace.Number]:
        crank, rod = (on.pose(body, sh.Pose((x, 0.0, 0.0))).position for body, x in (("crank", p["r"]), ("rod", -p["l"])))
        return [crank[0] - rod[0], crank[1] - rod[1]]

    m.add_constraint(apart, "pin")
    return m


def top() -> sh.Model:
    """The heavy symmetric top: precession ψ, nutation θ, spin φ (Euler angles z, x, z)."""
    m, p = _model("top", m=1.0, l=0.3, A=0.2, C=0.05, g=9.81)
    m.gravity = (0.0, 0.0, -p["g"])
    m.add_body("outer", 0.0)
    m.add_body("inner", 0.0)
    m.add_body("top", p["m"], (0.0, 0.0, p["l"]), (p["A"], p["A"], p["C"]))
    m.add_joint("psi", sh.Revolute("z"), "ground", "outer")
    m.add_joint("theta", sh.Revolute("x"), "outer", "inner")
    m.add_joint("phi", sh.Revolute("z"), "inner", "top")
    return m


def bicycle() -> sh.Model:
    """The single-track model seen from above: the rear axle at (x, y), heading ψ, steering δ; the wheels do not slip sideways."""
    m, p = _model("bicycle", m=90.0, J=10.0, a=0.5, l=1.0, I=0.1)
    m.gravity = NONE
    for carrier, joint, kind, body in (
        ("ground", "x", sh.Prismatic("x"), "along"), ("along", "y", sh.Prismatic("y"), "across"),
        ("across", "psi", sh.Revolute("z"), "frame"),
    ):  # fmt: skip
        m.add_body(body, *((p["m"], (p["a"], 0.0, 0.0), (0.0, 0.0, p["J"])) if body == "frame" else (0.0,)), check_inertia=False)
        m.add_joint(joint, kind, carrier, body)
    m.add_body("fork", 0.0, inertia=(0.0, 0.0, p["I"]), check_inertia=False)
    m.add_joint("delta", sh.Revolute("z"), "frame", "fork", at=sh.Pose((p["l"], 0.0, 0.0)))

    def sideways(on: sh.Motion) -> list[sh.trace.Number]:
        psi, turned = on.q("psi"), on.q("psi") + on.q("delta")
        rear = on.v("y") * sh.cos(psi) - on.v("x") * sh.sin(psi)
        front = on.v("y") * sh.cos(turned) - on.v("x") * sh.sin(turned) + p["l"] * on.v("psi") * sh.cos(on.q("delta"))
        return [rear, front]

    m.add_constraint(sh.SpeedConstraint(sideways), "wheels")
    return m


MODELS: list[Callable[[], sh.Model]] = [pendulum, cart_pole, double_pendulum, slider_crank, top, bicycle]

HEAD = """# Equations of motion as formulas
`sh.derive(model)` turns the graphs that every other answer is computed from into formulas, and simplifies them until they
read as in a textbook. It needs SymPy: `pip install "sharnir[derive]"`.

```python
import sharnir as sh

m = sh.Model("cart-pole")
M, l = m.add_parameter("M", 1.0), m.add_parameter("l", 0.5)
m.add_body("cart", mass=M)
m.add_body("pole", mass=0.3, com=(0, 0, l), inertia=(0.02, 0.02, 0.001))
m.add_joint("x", sh.Prismatic("x"), "ground", "cart")
m.add_joint("theta", sh.Revolute("y"), "cart", "pole")

equations = sh.derive(m, parameters=["M", "l", "pole.mass"])
print(equations.latex("M"))
```

| | |
|---|---|
| `latex()`, `latex("M")` | all of it, or one part; in a notebook it shows itself |
| `sympy()` | matrices and symbols of SymPy, by the names of the parts; q, v, a, tau, lambda, t, parameters |
| `python()` | a module that needs NumPy alone, with `equations(q, v, t)` and `forward(q, v, tau, t)` |
| `html("page.html")` | a page that opens offline; mathematics is MathML |
| `simplified`, `operations`, `notes` | whether formulas were simplified, how long they are, what to know beside them |

Parts are "kinetic", "potential", "equations", "constraints", "M", "coriolis", "gravity", "forces", "J", "gamma", "rates",
"momentum", "definitions" (named subexpressions).

The command line does the same: `sharnir derive FILE --latex`, `--python`, `--html page.html`.

Letters are what the model declares as parameters, or paths such as "pole.mass" in `parameters=`; other numbers are written as
numbers, as ratios where they are meant (1/12) and as decimals else. Coordinates have the names of their joints, Greek ones as
Greek letters; τ is the force of each coordinate, Q what forces, springs and dampers of the model do. A drive in time, a
force, a constraint of your own is in the formulas; a table is a function with a name.

`form="lagrange2"` has independent coordinates: M v̇ + c + g = τ + Q, with c = C(q, v) v and g = ∂V/∂q. `form="lagrange1"` has
closed loops and constraints too: Jᵀλ on the right, and J v̇ + γ = 0. `form="auto"` takes the one the model needs.
`form="hamilton"` has momenta p = M v and their rates. Speeds of ball and free joints are angular velocities in the axes of
the moved body; their quaternions have length one.

Simplification is bounded by work, not by a clock: beyond 3 000 operations, 150 000 products of terms or 800 terms formulas
consist of named subexpressions, as they are computed, and `simplified` is False. Beyond 20 000 operations, and for flexible
bodies and forces with states, `derive` refuses and says why.

What follows is written by `python -m benchmarks equations`; a test compares every formula with `Dynamics`.
"""


def off(model: sh.Model, equations: EquationsOfMotion, states: int = 5, seed: int = 0) -> float:
    """The largest difference of the Python code from `Dynamics`, relative to the largest entry: M, h, J, γ."""
    rng, d = np.random.default_rng(seed), sh.Dynamics(model)
    space: dict[str, Callable[..., tuple[np.ndarray, ...]]] = {}
    exec(equations.python(), space)
    names = [str(x) for x in equations.symbols["parameters"]]
    worst = 0.0
    for _ in range(states):
        q, v, t = model.random_q(rng), rng.normal(size=model.nv), float(rng.uniform(0.0, 2.0))
        values = {name: x * rng.uniform(0.9, 1.1) for name, x in equations.parameters.items()}
        own = space["equations"](q, v, t, **dict(zip(names, values.values(), strict=True)))
        known = [d.mass_matrix(q, t, parameters=values), d.bias(q, v, t, parameters=values)]
        if d.constrained:
            at = d.constrained.table.evaluate(q, v, t, list(model.parameter_values(values).values()))
            known += [at["J"], at["gamma"]]
        for a, b in zip(own, known, strict=False):
            worst = max(worst, float(np.abs(a - b).max(initial=0.0) / max(np.abs(b).max(initial=0.0), 1.0)))
    return worst


def text() -> str:
    """The page."""
    out = [HEAD]
    for build in MODELS:
        model = build()
        equations = sh.derive(model)
        if off(model, equations) > AGREE:
            raise AssertionError(f"formulas of {model.name} are not those of Dynamics")
        out.append(f"## {model.name.capitalize()}\n{build.__doc__}\n")
        parts = ("kinetic", "potential", "equations", "constraints")
        out += [f"$$\n{found}\n$$\n" for part in parts if (found := equations.latex(part))]
        out.append(f"{equations.operations} operations.\n")
    return "\n".join(out)


def main(quick: bool = False) -> None:
    PAGE.write_text(text(), encoding="utf-8")
    print(f"{len(MODELS)} mechanisms agree with Dynamics to {AGREE:g}; written: {PAGE}")
