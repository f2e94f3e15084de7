"""Rigid impacts at one state: the jump of all speeds by impulses at the contacts that touch, loops kept closed.

    v⁺ = v⁻ + M⁻¹(JᵀΛ + J_cᵀΛ_c),   J_c v⁺ = J_c v⁻                                                                     (I1)

The impulses Λ_c of loops and other constraints are eliminated: v⁺ = v⁻ + P JᵀΛ.  docs/theory/impacts.md
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...backends.run import with_bodies
from ...backends.traced import state_inputs
from ...errors import StateError
from ...model.motion import Motion
from ...model.structure import Structure
from ...trace import Expression, Graph, call_traced, check_numbers, tangent

RANK = 1e-10
"""Eigenvalues below this, relative to the largest, belong to rows that depend on others."""
TOGETHER = 1e-9
"""Approach speeds that differ by less, relatively, are those of one impact: a box that lands flat."""
MOST = 10_000
"""Impacts of one instant."""


def response(M: np.ndarray, J: np.ndarray) -> np.ndarray:
    """(nv, nv): P, the change of speeds by a generalised impulse while J v stays what it is.  (I2)"""
    K = np.linalg.inv(M)
    if not len(J):
        return K
    W = J @ K
    return K - W.T @ np.linalg.lstsq(W @ J.T, W, rcond=RANK)[0]


def complementary(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x ≥ 0 with A x + b ≥ 0 and x·(A x + b) = 0, A symmetric and not negative. Principal pivots by the least index (Murty 1974),
    which end for matrices that are positive: a little is added to the diagonal."""
    n = len(b)
    A = A + (RANK * np.trace(A) / max(n, 1)) * np.eye(n)
    basic = np.zeros(n, dtype=bool)
    x: np.ndarray = np.zeros(n)
    for _ in range(50 * 2 ** min(n, 10)):
        x = np.zeros(n)
        if basic.any():
            x[basic] = np.linalg.solve(A[np.ix_(basic, basic)], -b[basic])
        wrong = np.where(basic, x, A @ x + b) < -1e-13 * (np.abs(b).max(initial=0.0) + 1e-300)
        if not wrong.any():
            break
        basic[int(wrong.argmax())] ^= True
    return np.maximum(x, 0.0)


@dataclass
class Contact:
    """One contact in an impact: its data, and its impulses so far."""

    label: str
    J: np.ndarray
    """(nv,): the rate of its gap is J v + drift."""
    drift: float
    restitution: float
    rest_speed: float
    friction: float = 0.0
    Jt: np.ndarray | None = None
    """(3, nv): the slip is Jt v + slip_drift."""
    slip_drift: np.ndarray | None = None
    # what has happened
    approach: float = 0.0
    impulse: float = 0.0
    along: np.ndarray = field(default_factory=lambda: np.zeros(0))
    lost: float = 0.0
    """Energy dissipated."""
    taken: float = 0.0
    """Energy that its impulses gave to the motion: less than −lost where it moves with time."""

    def rate(self, v: np.ndarray) -> float:
        return float(self.J @ v) + self.drift

    def slip(self, v: np.ndarray) -> float:
        return 0.0 if self.Jt is None else float(np.linalg.norm(self.Jt @ v + self.slip_drift))


def impact(P: np.ndarray, M: np.ndarray, v: np.ndarray, contacts: list[Contact]) -> np.ndarray:
    """Speeds after the impacts of one instant: one after the other, the fastest approach first, until none approaches faster than
    its rest speed; what is left is taken away at once, without a bounce.  (I4), (I5)"""
    for _ in range(MOST):
        rates = np.array([c.rate(v) for c in contacts])
        excess = np.array([-r - c.rest_speed for r, c in zip(rates, contacts, strict=True)])
        if not len(contacts) or excess.max() <= 0.0:
            return _settled(P, M, v, contacts)
        fastest = float(-rates[excess > 0.0].min())
        hit = [c for c, r, e in zip(contacts, rates, excess, strict=True) if e > 0.0 and -r >= fastest * (1.0 - TOGETHER)]
        v = _newton(P, M, v, hit) if len(hit) > 1 else _coulomb(P, M, v, hit[0])
    names = ", ".join(c.label for c in contacts)
    raise StateError(
        f"impacts at one instant do not end ({names}): a body is crushed between prescribed motions, or, with a restitution of "
        "1, for ever struck anew; take a smaller restitution, or a larger rest_speed"
    )


def _newton(P: np.ndarray, M: np.ndarray, v: np.ndarray, hit: list[Contact]) -> np.ndarray:
    """Contacts that are hit at the same speed; where an impulse would pull, or slip meets friction, one after another."""
    J = np.array([c.J for c in hit])
    aim = np.array([-(1.0 + _bounce(c, v)) * c.rate(v) for c in hit])
    impulses = np.linalg.lstsq(J @ P @ J.T, aim, rcond=RANK)[0]
    after = v + P @ (J.T @ impulses)
    if (impulses < 0.0).any() or any(c.friction and max(c.slip(v), c.slip(after)) > c.rest_speed for c in hit):
        return _coulomb(P, M, v, hit[0])
    return _given(P, M, v, hit, impulses)


def _bounce(c: Contact, v: np.ndarray) -> float:
    """Its restitution, 0 where it would bounce off slower than it may."""
    return c.restitution if c.restitution * abs(c.rate(v)) > c.rest_speed else 0.0


def _given(
    P: np.ndarray, M: np.ndarray, v: np.ndarray, hit: list[Contact], impulses: np.ndarray, along: np.ndarray | None = None
) -> np.ndarray:
    """Speeds after these impulses, which the contacts record."""
    jumps = [P @ (c.J * x) for c, x in zip(hit, impulses, strict=True)]
    if along is not None and hit[0].Jt is not None:
        jumps[0] = jumps[0] + P @ (hit[0].Jt.T @ along)
    after = v + np.sum(jumps, axis=0)
    mean = 0.5 * (v + after)
    for c, x, jump in zip(hit, impulses, jumps, strict=True):
        c.approach = max(c.approach, -c.rate(v))
        c.impulse += float(x)
        c.lost -= float(x) * c.rate(mean)
        c.taken += float(jump @ M @ mean)
    if along is not None:
        c = hit[0]
        assert c.Jt is not None and c.slip_drift is not None
        c.along = along if not c.along.size else c.along + along
        c.lost -= float(along @ (c.Jt @ mean + c.slip_drift))
    return after


def _coulomb(P: np.ndarray, M: np.ndarray, v: np.ndarray, c: Contact) -> np.ndarray:
    """One contact: Newton's restitution, and an impulse along the surfaces that ends the slip or is μ times that across.  (I6)"""
    aim = -(1.0 + _bounce(c, v)) * c.rate(v)
    mobility = float(c.J @ P @ c.J)
    if mobility <= 0.0:
        raise StateError(f"{c.label}: an impact that can move nothing: the gap closes by a prescribed motion")
    plain = np.array([aim / mobility])
    if not c.friction or c.Jt is None or c.slip_drift is None:
        return _given(P, M, v, [c], plain)
    rows = np.concatenate([c.J[None], c.Jt])
    wanted = np.concatenate([[aim], -(c.Jt @ v + c.slip_drift)])
    sticking = np.linalg.lstsq(rows @ P @ rows.T, wanted, rcond=RANK)[0]
    size = float(np.linalg.norm(sticking[1:]))
    if size <= c.friction * sticking[0]:
        return _given(P, M, v, [c], sticking[:1], sticking[1:])
    direction = c.friction * sticking[1:] / size
    slope = mobility + float(c.J @ P @ (c.Jt.T @ direction))
    if slope <= 0.0:  # the friction would prevent the rebound: the surfaces jam
        return _given(P, M, v, [c], plain)
    return _given(P, M, v, [c], np.array([aim / slope]), direction * (aim / slope))


def _settled(P: np.ndarray, M: np.ndarray, v: np.ndarray, contacts: list[Contact]) -> np.ndarray:
    """Speeds at which no contact approaches, by the least impulses that push."""
    if not any(c.rate(v) < 0.0 for c in contacts):
        return v
    J = np.array([c.J for c in contacts])
    impulses = complementary(J @ P @ J.T, np.array([c.rate(v) for c in contacts]))
    return _given(P, M, v, contacts, impulses)


class SlipRows:
    """The slip at a contact and its derivatives by the speeds, traced once."""

    def __init__(self, structure: Structure, slip: object, label: str) -> None:
        graph = Graph()
        motion = Motion(structure, graph)
        found = call_traced(slip, [motion], f"{label}: slip")  # type: ignore[arg-type]
        own = Expression(graph, list(motion.inputs.values()), check_numbers(list(found), graph, f"{label}: slip"))
        whole = Graph()
        inputs = state_inputs(structure, whole)
        values = with_bodies(structure, inputs)
        slipping = own(*(values[kind][index] for kind, index in motion.inputs))
        columns = [tangent(slipping, [(x, 1.0)]) for x in inputs["v"]]
        state = [x for name in ("q", "v", "parameter", "t") for x in inputs[name]]
        self._n = len(slipping)
        self._expression = Expression(whole, state, [*slipping, *(x for column in columns for x in column)])

    def at(self, q: np.ndarray, v: np.ndarray, parameters: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Slip (n,) and its derivatives (n, nv)."""
        found = np.array(self._expression(*q.tolist(), *v.tolist(), *parameters.tolist(), t), dtype=float)
        return found[: self._n], found[self._n :].reshape(-1, self._n).T
