"""Starts of many motions at once: what `assemble_start` finds, where Newton's method goes straight to it.

Steps without damping lead to most starts of a study or a rollout. They are taken here for all starts together, the rows of the
constraints on the lanes of the processor. A start at which a step does not keep what it promises, or at which anything has to be
said, is searched for alone. No start depends on the others, to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import AssemblyError, SharnirError, SingularError
from ...model.model import Model
from ...model.states import check_state
from ...reporting.progress import ProgressBar
from ..motion.retraction import layout, retract
from ..rows.constraint_table import ConstraintTable
from .continuation import distance
from .fixed_coordinates import Held, undeformed
from .least_motion import RANK, STRAIGHT, times
from .loop_closure import MOTION, ROUNDING, TOLERANCE, turned_rows
from .search import FAR, OTHER_SIDE, UNWOUND, other_side, unwound_rows
from .start import ACCELERATIONS_MET, MOVED, NEARLY_CLOSED, SPEEDS_MET, Asked, closed_start, guided, is_moved, start_at
from .start import RANK as RANK_OF_SPEEDS

STEPS = 25
"""Limit on the steps of Newton's method."""
STARTS = "starts"
"""Title of the progress of what is assembled one by one: who listens to it may end it."""
UNCLEAR = 1e-15, 1e-11
"""Eigenvalues of JJᵀ between these, relative to the largest, may be zero but for rounding, or not."""


class Assembled(NamedTuple):
    """Coordinates (B, nq), speeds (B, nv), and why there are none of some starts, by their number."""

    q: np.ndarray
    v: np.ndarray
    refused: dict[int, SharnirError]


def assembled_starts(
    model: Model,
    q: np.ndarray,
    v: np.ndarray,
    t: float,
    table: ConstraintTable,
    parameters: np.ndarray,
    asked: Asked,
    every: bool = True,
) -> Assembled:
    """Starts from what was asked for, q (B, nq) and v (B, nv), all in the same way, with values of all parameters (B, P).
    Unless `every` reason is wanted, the first one is enough: each takes long to find."""
    table.compile()
    found_q, found_v, ok, refused = q.copy(), v.copy(), np.zeros(len(q), dtype=bool), dict[int, SharnirError]()
    if table.may_compile and not table.on_bodies.has_conditions:
        starts = _Starts(model, table, t, parameters)
        with np.errstate(all="ignore"):  # what is not finite is not found
            found_q, ok, refused = starts.positions(q, asked, every)
            found_v, met = starts.speeds(found_q, v, asked)
        ok &= met
    bar = ProgressBar(False, STARTS, len(q))
    for k in np.flatnonzero(~ok).tolist():
        bar.update(k)
        if not every and refused and k > min(refused):
            break
        if k not in refused:
            try:
                check_state(model, q[k], v[k], t)
                start = start_at(model, q[k], v[k], t, table.at(parameters[k]), asked)
                found_q[k], found_v[k] = start.q, start.v
            except SharnirError as error:
                refused[k] = error
    return Assembled(found_q, found_v, refused)


class _Starts:
    def __init__(self, model: Model, table: ConstraintTable, t: float, parameters: np.ndarray) -> None:
        self.model, self.table, self.t, self.parameters = model, table, t, parameters
        self._size = table.scale.of_rows

    def _rows(self, q: np.ndarray, v: np.ndarray | None, at: np.ndarray) -> dict[str, np.ndarray]:
        """Rows of the starts numbered `at`."""
        speeds = np.zeros((len(q), self.model.nv)) if v is None else v
        return self.table.evaluate(q, speeds, np.full(len(q), self.t), self.parameters[at])

    # --- positions ------------------------------------------------------------------------------------------------------------
    def positions(self, given: np.ndarray, asked: Asked, every: bool) -> tuple[np.ndarray, np.ndarray, dict[int, SharnirError]]:
        """Together where Newton's method leads there, else one by one, each only once; which were found, and why others not."""
        differ = np.concatenate([given, self.parameters[:, self.table.reads]], axis=1)
        _, first, which = np.unique(differ, axis=0, return_index=True, return_inverse=True)
        which, held, is_fixed, refused = which.ravel(), asked.held(self.model), asked.fixed is not None, dict[int, SharnirError]()
        starts = given[first]
        if asked.fixed and asked.coordinates:
            starts = np.array([guided(self.model, self.table.at(self.parameters[k]), given[k], self.t, asked) for k in first])
        q, ok = starts.copy(), np.zeros(len(first), dtype=bool)
        if not (held.rows or held.whole or layout(self.model.structure).constrained):
            some = _Starts(self.model, self.table, self.t, self.parameters[first])
            nearly = not is_fixed and bool(held.coordinates)
            q, ok = some.straight(starts, undeformed(self.model, held) or held, nearly)
        defined = np.isfinite(retract(self.model, starts, np.zeros((1, self.model.nv)), self.t)).all(axis=1)
        bar = ProgressBar(False, STARTS, len(given))
        for k in sorted(np.flatnonzero(~ok & defined).tolist(), key=lambda k: int(first[k])):
            bar.update(int(first[k]))
            try:
                q[k], ok[k] = (
                    closed_start(self.model, self.table.at(self.parameters[first[k]]), starts[k], self.t, held, is_fixed),
                    True,
                )
            except (AssemblyError, SingularError) as error:
                refused |= dict.fromkeys(np.flatnonzero(which == k).tolist(), error)
                if not every:
                    break
        q, ok = q[which], ok[which]
        return q, ok & ~is_moved(self.model, given, q) if asked.whole_q else ok, refused

    def straight(self, asked: np.ndarray, held: Held, nearly: bool) -> tuple[np.ndarray, np.ndarray]:
        """Positions by Newton's method, where it leads to what search.py would find. `nearly`: positions that close but
        for rounding stay where they are."""
        free, every = ~held.speeds, np.arange(len(asked))
        guess = retract(self.model, asked, np.zeros((1, self.model.nv)), self.t)
        q, ok = self._closed(guess, free, every)
        search = ok.copy()
        if nearly:
            now = self._rows(asked, None, every)
            size = self._size(asked, now["J"][:, : self.table.n_holonomic] * free)
            search &= ~(_gap(now["g"] / size) <= NEARLY_CLOSED)
        self._unwind(q, ok, guess, held, np.flatnonzero(search))
        far = np.flatnonzero(search & ok & (distance(self.model, guess, q) >= FAR))
        for share in OTHER_SIDE if len(far) else ():
            start = other_side(self.model, q[far], guess[far], asked[far], held, share)
            other, there = guess.copy(), np.zeros(len(q), dtype=bool)
            other[far], there[far] = self._closed(retract(self.model, start, np.zeros((1, self.model.nv)), self.t), free, far)
            self._unwind(other, there, guess, held, np.flatnonzero(there))
            ok[far] &= there[far]  # else there may be none on that side, or it takes damping to find it
            nearer = there & (distance(self.model, guess, other) < distance(self.model, guess, q))
            q[nearer] = other[nearer]
        return q, ok

    def _unwind(self, q: np.ndarray, ok: np.ndarray, guess: np.ndarray, held: Held, at: np.ndarray) -> None:
        """Angles within half a turn of the guess, in place: as `unwound` of search.py."""
        out = unwound_rows(self.model, q[at], guess[at], held)
        turned = (out != q[at]).any(axis=1)
        if turned.any():
            at, out = at[turned], out[turned]
            found, closed = self._closed(out, ~held.speeds, at, 3)
            ok[at] &= closed
            near = closed & (distance(self.model, out, found) < UNWOUND)
            q[at[near]] = found[near]

    def _closed(self, q: np.ndarray, free: np.ndarray, at: np.ndarray, steps: int = STEPS) -> tuple[np.ndarray, np.ndarray]:
        """Where Newton's method leads from q, and whether it is closed there; of starts numbered `at`."""
        out, closed, going, q = q.copy(), np.zeros(len(q), dtype=bool), np.arange(len(q)), q.copy()
        g, J = self._residuals(q, free, at)
        for _ in range(steps):
            gap, cost = _gap(g / self._size(q, J)), (g * g).sum(axis=1)
            step, is_clear = _least_motion(J, g)
            longest = np.maximum(_gap(step), 1e-300)
            step *= np.minimum(1.0, MOTION * np.maximum(1.0, _gap(g)) / longest)[:, None]
            expected = cost - ((g + times(J, step)) ** 2).sum(axis=1)
            trial = retract(self.model, q, step, self.t)
            g1, J1 = self._residuals(trial, free, at[going])
            cost1 = (g1 * g1).sum(axis=1)
            promising = is_clear & (expected > 0.0) & (cost - cost1 > STRAIGHT * expected)
            settled = gap <= TOLERANCE
            ended = (gap <= ROUNDING) | ~promising | (settled & ~(cost1 < 0.9 * cost))  # down to rounding
            better = ended & settled & (gap > ROUNDING) & (cost1 < cost)
            q[better] = trial[better]
            out[going[ended]], closed[going[ended]] = q[ended], settled[ended]
            on = ~ended
            going, q, g, J = going[on], trial[on], g1[on], J1[on]
            if not len(going):
                break
        out[going], closed[going] = q, _gap(g / self._size(q, J)) <= TOLERANCE
        return out, closed & ~turned_rows(self.model, out, self.t, self.parameters[at])

    def _residuals(self, q: np.ndarray, free: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """g and J, zeros in J where a number is not finite: no step leads on from there."""
        now = self._rows(q, None, at)
        g, J = now["g"], now["J"][:, : self.table.n_holonomic] * free
        bad = ~(np.isfinite(g).all(axis=1) & np.isfinite(J).all(axis=(1, 2)))
        g[bad], J[bad] = np.inf, 0.0
        return g, J

    # --- speeds ---------------------------------------------------------------------------------------------------------------
    def speeds(self, q: np.ndarray, given: np.ndarray, asked: Asked) -> tuple[np.ndarray, np.ndarray]:
        """The nearest that meet the constraints, elastic ones held where they can be; and where they do."""
        held = asked.held_speeds(self.model)
        if held.rows:  # positions of free joints
            return given.copy(), np.zeros(len(q), dtype=bool)
        stiff = undeformed(self.model, held)
        v, ok = self._speeds(q, given, stiff or held)
        if stiff is not None:
            others, met = self._speeds(q, given, held)
            v, ok = np.where(ok[:, None], v, others), ok | met
        return v, ok & (_gap((v - given) / self.table.scale.of_speeds(q, v)) <= MOVED) if asked.whole_v else ok

    def _speeds(self, q: np.ndarray, asked: np.ndarray, held: Held) -> tuple[np.ndarray, np.ndarray]:
        """Speeds with which accelerations can meet the constraints too; and where there are such."""
        every = np.arange(len(q))
        now = self._rows(q, asked, every)
        v = asked + np.where(held.speeds, 0.0, _least_change(now["J"] * ~held.speeds, now["rate"]))
        v = np.where(now["rate"].any(axis=1, keepdims=True), v, asked)
        now = self._rows(q, v, every)
        J, gamma = now["J"], now["gamma"]
        left = times(J, _least_change(J, gamma)) + gamma
        ok = _gap(now["rate"] / self.table.scale.of_rates(q, v, J)) <= SPEEDS_MET
        return v, ok & (_gap(left / self.table.scale.of_accelerations(q, gamma, J)) <= ACCELERATIONS_MET)


def _gap(g: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(g).max(axis=1, initial=0.0))


def _least_motion(J: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """−Jᵀ(JJᵀ)⁺ g, and whether it is clear which rows depend on others: else rounding decides where this leads."""
    T = np.swapaxes(J, 1, 2)
    w, U = np.linalg.eigh(J @ T)
    share = w / np.maximum(w.max(axis=1, keepdims=True, initial=0.0), 1e-300)
    counts = share > RANK
    inverse = np.where(counts, 1.0 / np.where(counts, w, 1.0), 0.0)
    x = inverse * times(np.swapaxes(U, 1, 2), np.where(np.isfinite(g), g, 0.0))
    return -times(T, times(U, x)), ~((share > UNCLEAR[0]) & (share < UNCLEAR[1])).any(axis=1)


def _least_change(J: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The least x with J x = −wanted, as nearly as that can be; nan where a number is not finite."""
    good = np.isfinite(J).all(axis=(1, 2)) & np.isfinite(wanted).all(axis=1)
    out = np.full((len(J), J.shape[2]), np.nan)
    out[good] = -times(np.linalg.pinv(J[good], rcond=RANK_OF_SPEEDS), wanted[good])
    return out
