"""The result of `equilibrium`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..dynamics import Dynamics
from ..model.model import Model
from ..reporting.formats import plural
from .force_units import unit_of_force

CHANGING = 1e-9
"""Rates of states above this are not zero."""
SHOWN = 12
"""Coordinates that a summary lists."""


@dataclass(frozen=True, repr=False)
class Equilibrium:
    """A position at which all forces balance. `dynamics.forward(q, v, tau, t)` is zero there."""

    dynamics: Dynamics
    q: np.ndarray
    v: np.ndarray
    """The speeds of a steady motion; zero at rest."""
    t: float
    tau: np.ndarray
    """(nv,): joint forces, those that were given and those that hold or drive the held joints."""
    held: tuple[str, ...]
    """Speeds whose joints were held or driven, so that their part of `tau` is an output."""
    multipliers: np.ndarray
    """λ of every constraint row, empty for a tree."""
    residual: float
    """The largest force that stays unbalanced, N or N m."""
    stability: str
    """"stable", "unstable" or "undecided"."""
    reason: str
    steady: bool
    """Whether forces stay balanced as held joints and drives move on; false where it holds at this instant only."""
    iterations: int
    starts: int

    @property
    def model(self) -> Model:
        return self.dynamics.model

    @property
    def state_rates(self) -> dict[str, float]:
        """States of forces are held; this is how fast each would change here: not zero where the rest does not last."""
        return dict(zip(self.model.states, self.dynamics.state_rates(self.q, self.v, self.t).tolist(), strict=True))

    def reactions(self) -> dict[str, np.ndarray]:
        """{joint: (6,) force and moment on the body it carries, at its origin, in its axes}; drives and locks included."""
        R = self.dynamics.reactions(self.q, self.v, self.tau, self.t)
        return {joint.name: R[i] for i, joint in enumerate(self.model.joints)}

    def summary(self) -> str:
        """The equilibrium in a few lines of text."""
        m, kind = self.model, "steady motion" if self.v.any() else "equilibrium"
        lines = [f"{m.name}: {self.stability} {kind}; {self.reason}"]
        if not self.steady:
            lines.append(f"  balanced at t = {self.t:g} only: the forces change as drives and held joints move on")
        moving = {name: x for name, x in self.state_rates.items() if abs(x) > CHANGING} if m.states else {}
        for name, x in moving.items():
            lines.append(f"  it does not last: state {name!r}, held at {m.states[name]:g}, changes here at a rate of {x:.3g}")
        lines.append(f"  unbalanced  {self.residual:.2g} N, N m after {plural(self.iterations, 'iteration')}")
        names, v_names = m.q_names, m.v_names
        width = max(10, *map(len, names[:SHOWN]), *map(len, self.held)) if names else 10
        lines += [f"  {name:<{width}} {x: .9g}" for name, x in zip(names[:SHOWN], self.q.round(15) + 0.0, strict=False)]
        lines += [f"  and {len(names) - SHOWN} more coordinates"] * (len(names) > SHOWN)
        for name in self.held[:SHOWN]:
            k = v_names.index(name)
            what = f"driven at {self.v[k]:g} by" if self.v[k] else "held by"
            lines.append(f"  {name:<{width}} {what} {self.tau[k]:.6g} {unit_of_force(m, k)}".rstrip())
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Equilibrium of {self.model.name!r}: {self.stability}, {self.reason}>"
