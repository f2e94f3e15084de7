"""Impacts of a run: its contacts, and a model with a constraint for each, switched by a parameter; what happens where gaps close,
where contacts would pull, and where something else has changed the state; values over time from a history of jumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...equations.motion.impact import Contact, SlipRows, complementary, impact, response
from ...equations.motion.retraction import retract
from ...equations.rows.one_constraint import label_of
from ...errors import MethodError, ModelError, StateError, known
from ...integrate.trajectory import Event as Root
from ...model.events import Event
from ...model.impacts import APART, NEAR, PRESSED, Impact, JointEnds, Touching, near, pressed
from ...model.model import Model
from ...model.motion import Motion
from ...model.per_structure import per_structure
from ...programs.methods import METHODS
from ...trace import Number
from ..results.records import ImpactRecord

if TYPE_CHECKING:
    from ..systems.motion_system import MotionSystem

TOUCH = 1e-8
"""m or rad: bodies this near touch, and no gap falls further below zero than this before it is noticed."""

ZERO = 1e-10
"""Acceleration of a gap, relative to what it is made of, that presses no bodies together."""

HARDLY = 1e-3
"""Approach, relative to the rest speed, that is no impact to be told of: rounding, where something else has happened."""

Beside = tuple[float, float]
ALONE: Beside = (np.nan, np.nan)
"""Times of the rows before and after some rows: none."""

KEPT = 4
"""Copies of a model that are kept with it."""


def divided(events: Event | Impact | Sequence[Event | Impact]) -> tuple[list[Any], list[Impact]]:
    """Events, not yet checked, and impacts, every one with a name of its own."""
    found = list(events) if np.iterable(events) else [events]
    given = [x for x in found if isinstance(x, Impact)]
    impacts = [one if one.name else one.replaced(name=f"impact {k + 1}") for k, one in enumerate(given)]
    names = [one.name for one in impacts]
    if twice := [name for name in names if names.count(name) > 1]:
        raise StateError(f"two impacts are called {twice[0]!r}: give them names, Impact(…, name=…)")
    return [x for x in found if not isinstance(x, Impact)], impacts


def check_impacts(impacts: Sequence[Impact], method: str, stabilisation: str | None, sensitivities: Sequence[str]) -> None:
    """Refuse what impacts cannot be computed with."""
    if not impacts:
        return
    if method in METHODS and not METHODS[method].constrains:
        able = known(name for name, other in METHODS.items() if other.constrains)
        raise MethodError(
            f"{impacts[0].label}: contacts at rest are constraints, which method {method!r} does not handle; choose {able}"
        )
    if stabilisation == "partitioning":
        raise MethodError(f"{impacts[0].label}: 'partitioning' cannot follow contacts that come and go; take 'projection'")
    if len(sensitivities):
        raise MethodError(f"{impacts[0].label}: sensitivities are not carried through impacts")


def with_contacts(model: Model, impacts: Sequence[Impact]) -> Model:
    """A copy with a switched constraint for each impact; the same one for the same impacts, so that it is compiled once."""
    kept, key = _models_with_contacts(model), tuple(impacts)
    if key not in kept:
        out = model.copy()
        out.parts.unstopped |= {one.gap.joint for one in impacts if isinstance(one.gap, JointEnds)}
        for one in impacts:
            switch = switch_of(one)
            try:
                out.add_parameter(switch, APART)
                out.add_constraint(Touching(one, switch), one.name)
            except ModelError as error:
                raise ModelError(f"{one.label}: {error}; give it another name") from None
        kept[key] = out
        if len(kept) > KEPT:
            del kept[next(iter(kept))]
    return kept[key]


@per_structure
def _models_with_contacts(model: Model) -> dict[tuple[Impact, ...], Model]:
    """Copies of a model with contacts, by the impacts."""
    return {}


def switch_of(impact: Impact) -> str:
    return f"{impact.name}.contact"


def known_contacts(model: Model, names: Sequence[str]) -> tuple[Impact, ...] | None:
    """The impacts of these names that a copy of the model has been made for; None where there are none, or others too."""
    found = [impacts for impacts in _models_with_contacts(model) if [one.name for one in impacts] == list(names)]
    return found[0] if len(found) == 1 else None


@dataclass(frozen=True)
class Contacts:
    """Places of the contacts of a run among the rows of the constraints and among the parameters."""

    impacts: tuple[Impact, ...]
    rows: np.ndarray
    switches: np.ndarray

    @classmethod
    def of(cls, model: Model, impacts: Sequence[Impact], rows: Sequence[object]) -> Contacts:
        owners = [getattr(row, "owner", "") for row in rows]
        labels = [label_of(one.name, model.constraints[one.name]) for one in impacts]
        for one, label in zip(impacts, labels, strict=True):
            if label not in owners:
                raise StateError(f"{one.label}: nothing that moves changes its gap")
        names = list(model.structure.parameters)
        return cls(
            tuple(impacts),
            np.array([owners.index(label) for label in labels], dtype=np.int64),
            np.array([names.index(switch_of(one)) for one in impacts], dtype=np.int64),
        )

    def __len__(self) -> int:
        return len(self.impacts)

    def events(self) -> list[Event]:
        """Events where gaps close to zero; where gaps of bodies that are near, zero but for rounding, fall a little below, slower
        than can be seen; and where such bodies part."""
        return [
            Event(_gap(one, what), direction=way)
            for what, way in (("closes", "falling"), ("falls", "falling"), ("opens", "rising"))
            for one in self.impacts
        ]

    def pushing(self, m: MotionSystem, t: float, x: np.ndarray) -> np.ndarray:
        """Functions of events that fall through zero where a contact would have to pull: the multipliers of those that are
        closed; 1 of the others."""
        closed, out = m.parameters[self.switches] == PRESSED, np.ones(len(self))
        if closed.any():
            q, v, _, p = m.seen(t, x)
            out[closed] = m.d.multipliers(q, v, m.tau, t, parameters=p)[self.rows[closed]]
        return out


def _gap(impact: Impact, what: str) -> Callable[[Motion], Number]:
    """The function of the event that a gap closes, falls a little below zero, or opens."""

    def gap(on: Motion) -> Number:
        contact = on.parameter(switch_of(impact))
        if what == "opens":
            beside = near(contact)
            return beside * (impact.gap(on) - TOUCH) - (1.0 - beside)
        held = pressed(contact)
        return (1.0 - held) * (impact.gap(on) + (TOUCH * near(contact) if what == "closes" else TOUCH)) + held

    return gap


# --- impacts of one run -----------------------------------------------------------------------------------------------------
class Impacts:
    """The contacts of one run, what they have done so far, and the energy that took."""

    def __init__(self, motion: MotionSystem, contacts: Contacts) -> None:
        self.m, self.c = motion, contacts
        assert motion.constrained is not None
        self.table = motion.constrained.table
        self._others = np.setdiff1d(np.arange(len(self.table)), contacts.rows)
        self._slips = [SlipRows(motion.structure, one.slipping, one.label) if one.friction else None for one in contacts.impacts]
        self.records: list[ImpactRecord] = []
        self.causes = tuple(f"impact {one.name}" for one in contacts.impacts)
        self.booked: list[tuple[float, np.ndarray]] = [(-np.inf, np.zeros(len(contacts)))]
        """Energy added so far by every contact, from each time on."""

    def roots(self, recorded: Callable[[float], None]) -> list[Root]:
        """Roots in the order of the functions: gaps, gaps a little below zero, gaps that open, multipliers. `recorded`: called
        after every change."""

        def settled(t: float, x: np.ndarray, opened: int | None = None) -> np.ndarray:
            after = self.settle(t, x, opened)
            recorded(t)
            return after

        def parted(t: float, x: np.ndarray, k: int) -> None:
            self.m.parameters[self.c.switches[k]] = APART
            recorded(t)

        names = [one.name for one in self.c.impacts]
        gaps = [Root(-1, "change", settled, name) for name in names]
        released = [Root(-1, "change", partial(settled, opened=k), f"{name} released") for k, name in enumerate(names)]
        apart = [Root(1, "change", partial(parted, k=k)) for k in range(len(names))]
        return [*gaps, *(replace(root, waits=False) for root in gaps), *apart, *released]

    def shows(self, number: int) -> bool:
        """Whether an event of the run is recorded in the result; all are but those of bodies that part after they have met."""
        n = len(self.c)
        return not len(self.m.setup.events) - n <= number < len(self.m.setup.events)

    def begin(self, t: float, x: np.ndarray) -> np.ndarray:
        """The start of a run: gaps must be open, or closed to rounding."""
        g = self._rows(t, x)["g"][self.c.rows]
        for one, gap in zip(self.c.impacts, g, strict=True):
            if not gap >= -TOUCH:
                raise StateError(
                    f"{one.label}: the motion starts with a gap of {gap:g}, below zero; start where bodies are apart"
                )
        x = self.settle(t, x)
        del self.booked[1:]  # the account begins after that
        return x

    # --- one instant ------------------------------------------------------------------------------------------------------------
    def settle(self, t: float, x: np.ndarray, opened: int | None = None) -> np.ndarray:
        """The state after the impacts of this instant; contacts that stay are closed, the others open. `opened`: one that would
        have to pull."""
        m, c, x = self.m, self.c, x.copy()
        m.parameters[c.switches] = APART
        x = m.consistent(t, x)
        q, v = (part.copy() for part in m.split(x)[:2])
        now = self._rows(t, x)
        touching = np.flatnonzero(now["g"][c.rows] <= TOUCH).tolist()
        if not touching:
            return x
        before = m.energy(t, x)
        M = m.d.mass_matrix(q, t=t, parameters=m.seen(t, x)[3])
        P = response(M, now["J"][self._others])
        rate = m.rate_of(t, x)
        contacts = [self._contact(k, t, x, now, rate) for k in touching]
        after = impact(P, M, v, contacts)
        deep = [k for k in touching if now["g"][c.rows[k]] < -1e-3 * TOUCH]
        if deep:
            J = now["J"][c.rows[deep]]
            q = retract(m.d.model, q, -P @ J.T @ _least(J @ P @ J.T, now["g"][c.rows[deep]]), t)
        slow = [k for k, one in zip(touching, contacts, strict=True) if one.rate(after) <= one.rest_speed]
        rest = x[m.nq + m.nv :]
        closed = self._pressed(t, np.concatenate([q, after, rest]), P, [k for k in slow if k != opened])
        if closed:
            J = now["J"][c.rows[closed]]
            rates = np.array([one.rate(after) for k, one in zip(touching, contacts, strict=True) if k in closed])
            after = after - P @ J.T @ _least(J @ P @ J.T, rates)
        m.parameters[c.switches[slow]] = NEAR
        m.parameters[c.switches[closed]] = PRESSED
        x = m.consistent(t, np.concatenate([q, after, rest]))
        self._book(t, touching, contacts, closed, m.energy(t, x) - before)
        return x

    def _contact(self, k: int, t: float, x: np.ndarray, now: dict[str, np.ndarray], rate: np.ndarray) -> Contact:
        q, v, _, parameters = self.m.seen(t, x)
        one, row, nq = self.c.impacts[k], self.c.rows[k], self.m.nq
        J, rest = now["J"][row], one.rest_speed
        depth = max(0.0, -float(now["g"][row]))
        if depth > 0.5 * TOUCH:  # nobody saw it bounce: it did so slower than this
            inward = abs(float(J @ rate[nq : nq + self.m.nv] + now["gamma"][row]))
            rest = max(rest, 2.0 * np.sqrt(2.0 * inward * depth))
        out = Contact(one.label, J, float(now["rate"][row] - J @ v), one.restitution, rest, one.friction)
        if (slip := self._slips[k]) is not None:
            value, out.Jt = slip.at(q, v, parameters, t)
            out.slip_drift = value - out.Jt @ v
        return out

    def _pressed(self, t: float, x: np.ndarray, P: np.ndarray, slow: list[int]) -> list[int]:
        """Which of the contacts that are at rest are pressed together: accelerations and forces that are complementary.  (I7)"""
        if not slow:
            return []
        rows, nq = self.c.rows[slow], self.m.nq
        now, qdd = self._rows(t, x), self.m.rate_of(t, x)[nq : nq + self.m.nv]
        J, gamma = now["J"][rows], now["gamma"][rows]
        b = J @ qdd + gamma
        b[np.abs(b) <= ZERO * (np.abs(J) @ np.abs(qdd) + np.abs(gamma))] = 0.0
        force = complementary(J @ P @ J.T, b)
        return [k for k, x in zip(slow, force, strict=True) if x > 0.0]

    def _book(self, t: float, touching: list[int], contacts: list[Contact], closed: list[int], gained: float) -> None:
        work = self.booked[-1][1].copy()
        for k, one in zip(touching, contacts, strict=True):
            work[k] += one.taken
            if one.impulse > 0.0 and one.approach > HARDLY * one.rest_speed:
                name, along = self.c.impacts[k].name, float(np.linalg.norm(one.along))
                self.records.append(ImpactRecord(name, t, one.approach, one.impulse, one.lost, along, k in closed))
        left = gained - sum(one.taken for one in contacts)  # prescribed motions, and what the end of a slow rebound takes
        work[closed[0] if closed else touching[0]] += left
        self.booked.append((t, work))

    # --- the equations at a state -----------------------------------------------------------------------------------------------
    def _rows(self, t: float, x: np.ndarray) -> dict[str, np.ndarray]:
        """Residuals and Jacobian of all constraints, with every contact closed."""
        q, v, _, parameters = self.m.seen(t, x)
        parameters = parameters.copy()
        parameters[self.c.switches] = PRESSED
        return self.table.evaluate(q, v, t, parameters)


def held_at(history: Sequence[tuple[float, np.ndarray]], t: np.ndarray, beside: Beside, jumped: bool) -> np.ndarray:
    """(T, n): the values that hold at times t by a history of jumps. Two rows of one time, as they occur where every step is a
    row, are the states before and after a jump; `jumped`: whether a single row is the state after it. `beside`: the times
    of the rows before and after these."""
    same = np.diff(np.concatenate([beside[:1], t, beside[1:]])) == 0.0
    starts, after = np.array([start for start, _ in history]), ~same[1:] if jumped else same[:-1]
    at = np.where(after, np.searchsorted(starts, t, side="right"), np.searchsorted(starts, t, side="left")) - 1
    return np.array([values for _, values in history])[at]


def _least(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(A, b, rcond=1e-10)[0]
