"""A simulation that runs while it is watched, in pieces of a frame, and a hand that may pull at it. No browser here.

A hand is a spring and a damper from a point of a body to a point of the world. Where it is, where it grips and how hard it pulls
are parameters of a copy of the model: moving the hand compiles nothing. Which body it grips is not: each is compiled once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...dynamics import Dynamics
from ...errors import ModelError, SimulationError
from ...model.forces import SpringDamper
from ...model.model import Model
from ...simulation.results.result import Result
from ...simulation.run.simulate import simulate
from ...trace import at_values
from ...types import FloatArray

HAND = "hand"
"""The name of the force, and of the account of its work."""
FREQUENCY = 1.0
"""Hz: at unit strength, that of the whole mechanism's mass on the spring."""
DAMPING = 0.7
"""Damping of the gripped body on the spring, in parts of the critical one."""
LEAST_SHARE = 1e-3
"""Least share of the whole mass that a gripped body counts as, so that the damper is no stiffer than necessary."""


@dataclass(frozen=True, eq=False)
class Hand:
    """A hand: the body it grips, where, and the point it pulls to."""

    body: str
    grip: FloatArray
    """(3,) in the body's axes."""
    at: FloatArray
    """(3,) in the world."""
    strength: float = 1.0
    """1 pulls the mechanism about as hard as its weight where the hand is a quarter of a metre away."""

    def spring(self, model: Model) -> tuple[float, float]:
        """N/m and N s/m. They follow the masses, so that the same motion of the hand moves a watch and a crane."""
        masses = [float(x) for x in at_values([b.mass for b in model.bodies], dict(model.parameters) or None)]
        whole = sum(masses)
        own = max(masses[model.body_index(self.body)], LEAST_SHARE * whole)
        k = self.strength * whole * (2.0 * math.pi * FREQUENCY) ** 2
        return k, 2.0 * DAMPING * math.sqrt(k * own)

    def parameters(self, model: Model) -> dict[str, float]:
        """Parameters of `pulled_model`; `model` is the one that is pulled."""
        return {name: float(x) for name, x in zip(_names(model), (*self.at, *self.grip, *self.spring(model)), strict=True)}

    def stored(self, model: Model, grip_at: FloatArray) -> float:
        """Energy in the spring with the grip at a point of the world."""
        return 0.5 * self.spring(model)[0] * float(np.sum((self.at - grip_at) ** 2))


def pulled_model(model: Model, body: str) -> Model:
    """A copy with the hand on a body. With its default parameters it applies no force."""
    if not any(body == b.name for b in model.bodies):
        raise ModelError(f"no body {body!r} to pull")
    out = model.copy()
    symbols: list[Any] = [out.add_parameter(name, 0.0) for name in _names(model)]
    out.add_force(SpringDamper("ground", body, symbols[:3], symbols[3:6], symbols[6], symbols[7]), _free(HAND, model.forces))
    return out


def _names(model: Model) -> list[str]:
    names = ("x", "y", "z", "grip_x", "grip_y", "grip_z", "stiffness", "damping")
    return [_free(f"hand_{name}", model.parameters) for name in names]


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """A name that the model has not given away."""
    while name in taken:
        name += "_"
    return name


OPTIONS = {"rtol": 1e-6, "atol": 1e-8}
"""Tolerances of the integration: finer than visible, and fast."""
FROM_SETTINGS = ("method", "backend", "integrator", "rtol", "atol", "step", "max_step", "stabilisation", "decay")
"""Options of the model's own simulation settings that are kept."""


@dataclass
class Account:
    """Energy since the start, J: total = total at the start + work of every cause + work of the hand's motion + defect."""

    begun: float = 0.0
    now: float = 0.0
    work: dict[str, float] = field(default_factory=dict)
    hand: float = 0.0
    """Done by moving the hand; what its damper removes is in `work`."""

    @property
    def defect(self) -> float:
        return self.now - self.begun - sum(self.work.values()) - self.hand


class Session:
    """A simulation with a hand; `t`, `q`, `v`: the present state. `advance` goes on; `grip`, `move`, `release` are the hand."""

    def __init__(
        self, model: Model, q: FloatArray, v: FloatArray | None = None, t: float = 0.0, values: Mapping[str, float] | None = None
    ) -> None:
        self.model, self.values = model, dict(values or {})
        self.q, self.t = np.array(q, dtype=float), float(t)
        self.v = np.zeros(model.nv) if v is None else np.array(v, dtype=float)
        self.hand: Hand | None = None
        self.states: dict[str, float] = {}
        """States of forces at the present time; empty: as they start."""
        self.account = Account()
        self._running, self._dynamics, self._pulled = model, Dynamics(model), dict[str, Model]()
        self._fixed: list[str] | None = [] if model.constraints else None
        settings = model.simulation.arguments() if model.simulation is not None else {}
        self.states |= settings.get("states", {})
        self._options: dict[str, Any] = OPTIONS | {name: settings[name] for name in FROM_SETTINGS if name in settings}
        self.account.begun = self.account.now = self._energy()

    def poses(self) -> tuple[FloatArray, FloatArray]:
        """Rotation (N, 3, 3) and position (N, 3) of every body."""
        return self._dynamics.poses(self.q, self.t, parameters=self._parameters())

    def advance(self, dt: float) -> Result:
        """Go on by so many seconds. A SimulationError leaves the state where the motion ended."""
        try:
            begun: dict[str, Any] = {"q0": self.q, "v0": self.v, "t0": self.t, "fixed": self._fixed}
            given = {"parameters": self._named(), "states": self.states or None, **self._options}
            found = simulate(self._running, dt, output=dt, progress=False, **begun, **given)
        except SimulationError as error:
            if error.result is not None and len(error.result):
                self._take(error.result)
            raise
        self._take(found)
        return found

    # --- the hand -------------------------------------------------------------------------------------------------------------
    def grip(self, hand: Hand) -> None:
        """Pull at a body. The first time for each body its equations are compiled."""
        self.release()
        if hand.body not in self._pulled:
            self._pulled[hand.body] = pulled_model(self.model, hand.body)
        self._running = self._pulled[hand.body]
        self._dynamics = Dynamics(self._running)
        self._change(hand)

    def move(self, at: FloatArray) -> None:
        if self.hand is not None:
            self._change(replace(self.hand, at=np.asarray(at, dtype=float)))

    def release(self) -> None:
        if self.hand is not None:
            self._change(None)
            self._running, self._dynamics = self.model, Dynamics(self.model)

    def grip_point(self) -> FloatArray | None:
        """(3,) in the world."""
        return None if self.hand is None else self._grip_of(self.hand)

    def force(self) -> float:
        """Force of the hand's spring, N."""
        h = self.hand
        return 0.0 if h is None else float(h.spring(self.model)[0] * np.linalg.norm(h.at - self._grip_of(h)))

    # --- inside -------------------------------------------------------------------------------------------------------------
    def _change(self, hand: Hand | None) -> None:
        """The energy of the spring changes with the hand: that is the hand's work."""
        for sign, one in ((-1.0, self.hand), (1.0, hand)):
            if one is not None:
                self.account.hand += sign * one.stored(self.model, self._grip_of(one))
        self.hand = hand
        self.account.now = self._energy()

    def _grip_of(self, hand: Hand) -> FloatArray:
        R, r = self.poses()
        i = self.model.body_index(hand.body)
        at: FloatArray = r[i] + R[i] @ hand.grip
        return at

    def _named(self) -> dict[str, float] | None:
        return self.values | (self.hand.parameters(self.model) if self.hand is not None else {}) or None

    def _parameters(self) -> Mapping[str, float] | None:
        if not self._running.parameters and not self.states:
            return None
        return self._running.parameter_values({**(self._named() or {}), **self.states})

    def _energy(self) -> float:
        return float(sum(self._dynamics.energy(self.q, self.v, self.t, parameters=self._parameters())))

    def _take(self, found: Result) -> None:
        self.q, self.v, self.t = found.q[-1].copy(), found.v[-1].copy(), float(found.t[-1])
        self.states = found.state().get("states", {})
        for k, cause in enumerate(found.causes):
            name = "hand's damper" if cause == _free(HAND, self.model.forces) and self.hand is not None else cause
            self.account.work[name] = self.account.work.get(name, 0.0) + float(found.work_done[-1, k])
        self.account.now = self._energy()
