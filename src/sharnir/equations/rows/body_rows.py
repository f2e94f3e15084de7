"""The rows of all constraints on the motion of the few bodies and speeds each touches: work in proportion to their number.

What a row has to do with other coordinates goes through these bodies. See docs/theory/loops.md, "The rows on bodies".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...backends.grouped import GroupedCode
from ...backends.run import Values, with_bodies
from ...dialect.cache import Cache
from ...dialect.native import Native
from ...errors import ModelError
from ...model.constraints.constraint_element import Constraint
from ...model.forces.groups import Group
from ...model.forces.layout import WIDTH
from ...model.forces.shape import Shape
from ...model.model import Model
from ...model.per_structure import per_structure
from ...model.structure import Structure
from ...trace import Expression, Number
from .constraint_families import BODY, Family, KeptRows, RowLayout, families
from .flat_motion import FlatMotion, GenericMotion
from .one_constraint import WIDE, ConstraintRow, label_of


# --- which rows of constraints the motion changes, and which hold, or fail, whatever it is
class Condition(NamedTuple):
    """A row that nothing but parameters changes."""

    family: Family
    member: int
    k: int
    row: ConstraintRow


def moving_rows(
    families: Sequence[Family], labels: Sequence[str], motion: GenericMotion
) -> tuple[list[np.ndarray], list[ConstraintRow], list[Condition]]:
    """For every family (members, rows) whether a row is moved by anything; the rows that nothing moves; those of them that hold
    at some values of the parameters only. A row is kept unless its rate vanishes at generic states, relative to the terms of this
    row alone: a rate of rounding errors, scaled by its own size, would count as a constraint."""
    kept = [~f.generic(motion, f.rate).vanishes.all(axis=1).T for f in families]
    residuals = [[f.values(flat, f.g) for flat in motion.flat] for f in families]
    found: list[tuple[bool, int, int, ConstraintRow]] = []
    conditions = []
    for f, moves, gaps in zip(families, kept, residuals, strict=True):
        gap = np.stack([g.T for g in gaps])  # (motions, members, rows of position)
        spread, largest_gap = (x.tolist() for x in (np.ptp(gap, axis=0), np.abs(gap).max(axis=0)))
        for member, k in np.argwhere(~moves).tolist():
            row = ConstraintRow(labels[f.members[member]], f.names[member][k])
            found.append((k >= len(f.g), f.members[member], k, row))
            if k >= len(f.g):
                continue
            if spread[member][k] < 1e-9 < largest_gap[member][k]:
                raise ModelError(f"{row} can never be met: it stays at {gap[0, member, k]:.6g} whatever the motion")
            if spread[member][k] > 1e-12 * max(1.0, largest_gap[member][k]):  # parameters differ from sample to sample
                conditions.append(Condition(f, member, k, row))
    return kept, [row for *_, row in sorted(found, key=lambda x: x[:3])], conditions


# --- the rows of all constraints
ANSWERS = ("g", "rate", "gamma", "K")
AT_ONCE = 1 << 22
"""Numbers of flat motions of many states that are held at once."""


class RowsOnBodies(NamedTuple):
    """The rows of all constraints in one state, generic scalars."""

    g: list[Number]
    """(holonomic rows)"""
    rate: list[Number]
    """(rows): Σ K·(velocity of a body) + Σ K·(speed) + ∂g/∂t                                                        (L21)"""
    gamma: list[Number]
    """(rows): d(rate)/dt = Σ K·(true acceleration of a body) + Σ K·(rate of a speed) + gamma                        (L22)"""
    K: list[Number]
    """(flat): the blocks of all links"""


class BodyRows(RowLayout):
    """Rows of all constraints as functions of the motion of the bodies and speeds they touch.

    Rows that hold whatever the motion are left out and listed in `trivial`; holonomic rows come first."""

    def __init__(self, structure: Structure, constraints: Mapping[str, Constraint]) -> None:
        self.structure, self.layout, self.motion = structure, structure.forces.layout, FlatMotion(structure)
        found = families(structure, self.layout, constraints)
        labels = [label_of(name, constraint) for name, constraint in constraints.items()]
        kept, self.trivial, self._conditions = moving_rows(found, labels, self.motion.generic()) if found else ([], [], [])
        super().__init__(found, list(constraints), labels, kept)
        self._order = list(constraints)
        self._expressions: dict[tuple[str, ...], list[Expression]] = {}
        self._codes: dict[tuple[tuple[str, ...], bool, Cache], GroupedCode] = {}

    @property
    def has_conditions(self) -> bool:
        """Whether there are rows that nothing moves but parameters."""
        return bool(self._conditions)

    def conditions(self, parameters: Sequence[float]) -> Iterator[tuple[ConstraintRow, float]]:
        """Rows that nothing moves but parameters, and their residuals at some values of these."""
        flat = self.motion.generic(parameters=parameters).flat[0] if self._conditions else np.zeros(0)
        for f, member, k, row in self._conditions:
            yield row, float(f.values(flat, [f.g[k]])[0, member])

    def moves_at_rest(self) -> bool:
        motion = self.motion.generic(at_rest=True)
        rates = (part.family.generic(motion, _outputs(part, ["rate"])).vanishes[..., part.which] for part in self.parts)
        return not all(vanish.all() for vanish in rates)

    def generic_blocks(self, motion: GenericMotion) -> np.ndarray:
        """(states, numbers of K) at generic states."""
        out = np.zeros((len(motion.flat), self.sizes["K"]))
        for part in self.parts:
            K = part.family.generic(motion, _outputs(part, ["K"])).value[..., part.which]
            out[:, part.places["K"]] = K.transpose(1, 2, 0)
        return out

    # --- on generic scalars ---------------------------------------------------------------------------------------------
    def trace(self, values: Values, dtype: type = object) -> RowsOnBodies:
        """Rows on floats or symbols. `values`: q, v, t, parameter, and r, G, velocity of the bodies, computed where they
        are not given (dtype: of what numbers)."""
        return RowsOnBodies(*self.traced(values, ANSWERS, dtype))

    def traced(self, values: Values, answers: Sequence[str], dtype: type = object) -> list[list[Number]]:
        """Some of the arrays g, rate, gamma, K alone."""
        motion = values if values.keys() >= WIDTH.keys() else with_bodies(self.structure, values, dtype)
        flat = self.layout.flat(motion)
        out: list[list[Number]] = [[0.0] * self.sizes[name] for name in answers]
        if (key := tuple(answers)) not in self._expressions:
            self._expressions[key] = [part.family.expression(_outputs(part, answers)) for part in self.parts]
        for part, expression in zip(self.parts, self._expressions[key], strict=True):
            f = part.family
            for k, member in enumerate(part.which.tolist()):
                found = iter(expression(*[flat[at] for at in f.reads[member].tolist()], *f.numbers[member].tolist()))
                for name, target in zip(answers, out, strict=True):
                    for at in part.places[name][k].tolist():
                        target[at] = next(found)
        return out

    def wrenches(self, values: Values, lam: Sequence[Number]) -> dict[str, dict[int, list[Number]]]:
        """{constraint: {row of a body: Kᵀλ, force and moment at its origin in its axes}}."""
        (K,) = self.traced(values, ["K"])
        found: dict[str, dict[int, list[Number]]] = {
            name: {body: [0.0] * WIDE for body in bodies} for name, bodies in self.idle.items()
        }
        first, kind, target, at = (x.tolist() for x in self.links)
        for c, name in enumerate(self.names):
            push = [lam[k] for k in self.row_of[self.row_first[c] : self.row_first[c + 1]].tolist()]
            found[name] = {}
            for link in range(first[c], first[c + 1]):
                if kind[link] == BODY:
                    block = K[at[link] : at[link + 1]]
                    found[name][target[link]] = [_product(push, block[k::WIDE]) for k in range(WIDE)]
        return {name: found[name] for name in self._order}

    def wrench_rows(self, K: np.ndarray, lam: np.ndarray) -> Iterator[tuple[str, dict[int, np.ndarray]]]:
        """`wrenches` from rows of K and of multipliers, {row of a body: (n, 6)}."""
        loads = K[:, self.blocks.at[:, None] + np.arange(WIDE)] * lam[:, self.blocks.row, None]
        links, first = np.unique(self.blocks.link, return_index=True)
        sums = np.add.reduceat(loads, first, axis=1) if len(first) else loads
        found = {name: {body: np.zeros((len(K), WIDE)) for body in bodies} for name, bodies in self.idle.items()}
        found |= {name: {} for name in self.names}
        for k, link in enumerate(links.tolist()):
            found[self.names[self.owner[link]]][int(self.links.target[link])] = sums[:, k]
        return ((name, found[name]) for name in self._order)

    def speed_forces(self, K: np.ndarray, lam: np.ndarray) -> Iterator[tuple[str, dict[int, np.ndarray]]]:
        """Forces of the constraints on single speeds, {speed: (n,)}, from rows of K and of multipliers."""
        first, kind, target, at = (x.tolist() for x in self.links)
        for c, name in enumerate(self.names):
            own = lam[:, self.row_of[self.row_first[c] : self.row_first[c + 1]]]
            links = [k for k in range(first[c], first[c + 1]) if kind[k] != BODY]
            yield name, {target[k]: (K[:, at[k] : at[k + 1]] * own).sum(axis=1) for k in links}

    # --- compiled -----------------------------------------------------------------------------------------------------------
    def chain(self, arrays: Mapping[str, np.ndarray], store: Cache | None = None) -> list[Native]:
        """Native functions that fill those of the arrays g, rate, gamma, K that are there from q, v, t (and parameter), one
        state; where r, G and velocity of the bodies are there too, these are not computed again."""
        answers = tuple(name for name in ANSWERS if name in arrays)
        code = self._code(answers, store)
        flat, natives = self.motion.chain(arrays, code, store)
        found = np.zeros(max(1, sum(self.sizes[name] for name in answers)))
        parts = [(found[at], arrays[name].reshape(-1)) for name, at in self._places(answers)]
        return [*natives, *code.chain(flat, {"push": found}), code.copied(parts)]

    def evaluate(
        self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray | None = None, answers: Sequence[str] = ANSWERS
    ) -> dict[str, np.ndarray]:
        """Rows of states (n, nq), (n, nv), (n,), and parameters (n or 1, …), to rows of answers, by the same code."""
        n, t = len(q), np.reshape(t, -1)
        found = np.zeros((n, sum(self.sizes[name] for name in answers)))
        step = max(1, AT_ONCE // self.motion.size)
        for first in range(0, n, step):
            some = slice(first, first + step)
            own = parameters if parameters is None or len(parameters) < n else parameters[some]
            self._code(tuple(answers), None).run(self.motion.rows(q[some], v[some], t[some], own), {"push": found[some]})
        return {name: found[:, at] for name, at in self._places(answers)}

    def at(self, flat: np.ndarray, answers: Sequence[str] = ANSWERS) -> dict[str, np.ndarray]:
        """`evaluate` on flat motions (n, …)."""
        found = np.zeros((len(flat), sum(self.sizes[name] for name in answers)))
        self._code(tuple(answers), None).run(flat, {"push": found})
        return {name: found[:, at] for name, at in self._places(answers)}

    def _places(self, answers: Sequence[str]) -> Iterator[tuple[str, slice]]:
        """Places of the answers in one flat vector of them."""
        at = 0
        for name in answers:
            yield name, slice(at, at + self.sizes[name])
            at += self.sizes[name]

    def exact_chain(self, flat: np.ndarray, arrays: Mapping[str, np.ndarray], store: Cache | None = None) -> list[Native]:
        """`chain` in double-double arithmetic, from a flat motion (size, 2) to those of the arrays g, rate, gamma, K (…, 2) that
        are there."""
        answers = tuple(name for name in ANSWERS if name in arrays)
        code = self._code(answers, store, pairs=True)
        found = np.zeros((max(1, sum(self.sizes[name] for name in answers)), 2))
        return [
            *code.chain(flat, {"push": found}),
            code.copied([(found[at], arrays[name]) for name, at in self._places(answers)]),
        ]

    def _code(self, answers: tuple[str, ...], store: Cache | None, pairs: bool = False) -> GroupedCode:
        """Machine code for some of the answers, one after another in one flat vector."""
        key = (answers, pairs, store or Cache())
        if key not in self._codes:
            begin = {name: at.start for name, at in self._places(answers)}
            groups = [_group(part, answers, begin) for part in self.parts]
            self._codes[key] = GroupedCode([group for group in groups if group.places.size], store, pairs)
        return self._codes[key]


@per_structure
def body_rows(model: Model) -> BodyRows:
    return BodyRows(model.structure, model.constraints)


def _outputs(part: KeptRows, answers: Sequence[str]) -> list[Number]:
    found = part.family.outputs(part.kept)
    return [x for name in answers for x in found[name]]


def _group(part: KeptRows, answers: Sequence[str], begin: Mapping[str, int]) -> Group:
    f = part.family
    shape = Shape(f.graph, f.reads_of, f.numbers_of, {"push": _outputs(part, answers)})
    places = np.concatenate([part.places[name] + begin[name] for name in answers], axis=1)
    no_force = np.zeros((len(part.which), 1), dtype=np.int64)
    return Group(shape, no_force, f.reads[part.which], f.numbers[part.which], np.ascontiguousarray(places))


def _product(x: Sequence[Number], y: Sequence[Number]) -> Number:
    return sum((a * b for a, b in zip(x, y, strict=True) if not (isinstance(b, float) and b == 0.0)), 0.0)
