"""Impacts of a run: what happens where gaps close, where contacts would pull, and where something else has changed the state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...equations.motion.impact import Contact, SlipRows, complementary, impact, response
from ...equations.motion.retraction import retract
from ...errors import StateError
from ...integrate.trajectory import Event as Root
from ...model.impacts import APART, NEAR, PRESSED
from ..results.records import ImpactRecord
from ..systems.motion_system import MotionSystem
from .contacts import TOUCH, Contacts

ZERO = 1e-10
"""Acceleration of a gap, relative to what it is made of, that presses no bodies together."""

HARDLY = 1e-3
"""Approach, relative to the rest speed, that is no impact to be told of: rounding, where something else has happened."""

Beside = tuple[float, float]
ALONE: Beside = (np.nan, np.nan)
"""Times of the rows before and after some rows: none."""


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

    # --- for the run ----------------------------------------------------------------------------------------------------------
    def roots(self, recorded: Callable[[float], None]) -> list[Root]:
        """In the order of the functions: gaps, gaps a little below zero, gaps that open, multipliers. `recorded`: called after
        every change."""

        def change(opened: int | None) -> Callable[[float, np.ndarray], np.ndarray]:
            def changed(t: float, x: np.ndarray) -> np.ndarray:
                after = self.settle(t, x, opened)
                recorded(t)
                return after

            return changed

        def parted(k: int) -> Callable[[float, np.ndarray], None]:
            def changed(t: float, x: np.ndarray) -> None:
                self.m.parameters[self.c.switches[k]] = APART
                recorded(t)

            return changed

        names = [one.name for one in self.c.impacts]
        gaps = [Root(-1, "change", change(None), name) for name in names]
        released = [Root(-1, "change", change(k), f"{name} released") for k, name in enumerate(names)]
        apart = [Root(1, "change", parted(k)) for k in range(len(names))]
        return [*gaps, *(replace(root, waits=False) for root in gaps), *apart, *released]

    def shows(self, number: int) -> bool:
        """Whether that event of the run is one for the result: not that bodies which have met before are apart."""
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
        M = m.d.mass_matrix(q, t=t, parameters=self._parameters(x))
        P = response(M, now["J"][self._others])
        rate = m.rate_of(t, x)
        contacts = [self._contact(k, t, x, now, rate) for k in touching]
        after = impact(P, M, v, contacts)
        deep = [k for k in touching if now["g"][c.rows[k]] < -1e-3 * TOUCH]
        if deep:
            J = now["J"][c.rows[deep]]
            q = retract(m.d.model, q, -P @ J.T @ _least(J @ P @ J.T, now["g"][c.rows[deep]]), t)
        slow = [k for k, one in zip(touching, contacts, strict=True) if one.rate(after) <= one.rest_speed]
        closed = self._pressed(t, _put(m, x, q, after), P, [k for k in slow if k != opened])
        if closed:
            J = now["J"][c.rows[closed]]
            rates = np.array([one.rate(after) for k, one in zip(touching, contacts, strict=True) if k in closed])
            after = after - P @ J.T @ _least(J @ P @ J.T, rates)
        m.parameters[c.switches[slow]] = NEAR
        m.parameters[c.switches[closed]] = PRESSED
        x = m.consistent(t, _put(m, x, q, after))
        self._book(t, touching, contacts, closed, m.energy(t, x) - before)
        return x

    def _contact(self, k: int, t: float, x: np.ndarray, now: dict[str, np.ndarray], rate: np.ndarray) -> Contact:
        q, v = self.m.split(x)[:2]
        one, row, nq = self.c.impacts[k], self.c.rows[k], self.m.nq
        J, rest = now["J"][row], one.rest_speed
        depth = max(0.0, -float(now["g"][row]))
        if depth > 0.5 * TOUCH:  # nobody saw it bounce: it did so slower than this
            inward = abs(float(J @ rate[nq : nq + self.m.nv] + now["gamma"][row]))
            rest = max(rest, 2.0 * np.sqrt(2.0 * inward * depth))
        out = Contact(one.label, J, float(now["rate"][row] - J @ v), one.restitution, rest, one.friction)
        if (slip := self._slips[k]) is not None:
            value, out.Jt = slip.at(q, v, self._parameters(x), t)
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
    def _parameters(self, x: np.ndarray) -> np.ndarray:
        """With the states of forces, which are parameters of everything but the integrator."""
        return self.m.with_states(self.m.parameters, self.m.split(x)[2])

    def _rows(self, t: float, x: np.ndarray) -> dict[str, np.ndarray]:
        """Residuals and Jacobian of all constraints, with every contact closed."""
        (q, v), parameters = self.m.split(x)[:2], self._parameters(x).copy()
        parameters[self.c.switches] = PRESSED
        return self.table.evaluate(q, v, t, parameters)


def over(history: Sequence[tuple[float, np.ndarray]], t: np.ndarray, beside: Beside, jumped: bool) -> np.ndarray:
    """(T, n): what holds at times t by a history of jumps. Two rows of one time, as there are where every step is a row, are the
    states before and after a jump; `jumped`: whether a single row is the state after it. `beside`: the times of the rows before
    and after these."""
    same = np.diff(np.concatenate([beside[:1], t, beside[1:]])) == 0.0
    starts, after = np.array([start for start, _ in history]), ~same[1:] if jumped else same[:-1]
    at = np.where(after, np.searchsorted(starts, t, side="right"), np.searchsorted(starts, t, side="left")) - 1
    return np.array([values for _, values in history])[at]


def _put(m: MotionSystem, x: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """x with other coordinates and speeds."""
    out = x.copy()
    out[: m.nq], out[m.nq : m.nq + m.nv] = q, v
    return out


def _least(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(A, b, rcond=1e-10)[0]
