"""The rows of all constraints on the motion of the few bodies and speeds each touches: work in proportion to their number.

What a row has to do with other coordinates goes through these bodies. See docs/theory/loops.md, "The rows on bodies".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..backends.compiled_programs import is_large
from ..backends.grouped import GroupedCode
from ..backends.grouped_forces import flat_motion
from ..backends.loops import LoopRunner
from ..dialect.cache import Cache
from ..dialect.native import Native
from ..errors import ModelError
from ..model.constraints.base import Constraint
from ..model.forces.groups import Group
from ..model.forces.layout import WIDTH
from ..model.forces.shape import Shape
from ..model.model import Model
from ..model.structure import Structure
from ..programs import PROGRAMS
from ..trace import Expression, Number
from .constraint_families import Family, families
from .evaluation import Values, with_bodies
from .one_constraint import WIDE, ConstraintRow, label_of

ROUNDING = 1e-13
"""Rates of a row that nothing moves, relative to those of rows that move."""
SAMPLES = 3
"""States, with speeds anywhere, at which rates are compared with zero."""
ANSWERS = ("g", "rate", "gamma", "K")


class Links(NamedTuple):
    """What the constraints touch, constraint after constraint."""

    first: np.ndarray
    """(constraints + 1): where the links of a constraint begin."""
    kind: np.ndarray
    """(links): BODY or SPEED."""
    target: np.ndarray
    """(links): row of a body, 1 … nb; number of a speed, 0 … nv − 1."""
    at: np.ndarray
    """(links + 1): where the block of a link begins in K: rows of the constraint × 6 of a body, × 1 of a speed, row by row."""


BODY, SPEED = 0, 1


class RowsOnBodies(NamedTuple):
    """In one state, numbers of any kind; or arrays (states, …)."""

    g: Any
    """(holonomic rows)"""
    rate: Any
    """(rows): Σ K·(velocity of a body) + Σ K·(speed) + ∂g/∂t"""
    gamma: Any
    """(rows): d(rate)/dt = Σ K·(true acceleration of a body) + Σ K·(rate of a speed) + gamma"""
    K: Any
    """(flat): the blocks of all links"""


def body_rows_of(model: Model) -> BodyRows:
    """The rows of a model, made once."""
    return body_rows(model.structure, model.constraints)


def body_rows(structure: Structure, constraints: Mapping[str, Constraint]) -> BodyRows:
    """The rows of a structure, which is made anew where constraints are added."""
    if "body rows" not in structure.cached:
        structure.cached["body rows"] = BodyRows(structure, constraints)
    return structure.cached["body rows"]


_Condition = tuple[Family, int, int, ConstraintRow]
"""A row that nothing moves but parameters: its family, the member, which of its rows."""


class _Part(NamedTuple):
    """Members of a family of which the same rows are kept."""

    family: Family
    which: np.ndarray
    kept: list[int]
    places: dict[str, np.ndarray]
    """For every answer (members, numbers): where they go."""


class BodyRows:
    """Rows that hold whatever the motion are left out and listed in `trivial`; holonomic rows come first."""

    def __init__(self, structure: Structure, constraints: Mapping[str, Constraint]) -> None:
        self.structure, self.layout = structure, structure.forces.layout
        self._families = families(structure, self.layout, constraints)
        labels = [label_of(name, constraint) for name, constraint in constraints.items()]
        kept, self.trivial, self._conditions = self._moved(labels)
        self._number(labels, list(constraints), kept)

    def __len__(self) -> int:
        return len(self.rows)

    # --- which rows there are -----------------------------------------------------------------------------------------------
    def _moved(self, labels: list[str]) -> tuple[list[np.ndarray], list[ConstraintRow], list[_Condition]]:
        """For every family (members, rows) whether a row is kept; the rows that nothing moves; and those of them that hold at
        some values of the parameters only. A row that is zero in its speeds has no rate at speeds taken anywhere."""
        rng = np.random.default_rng(11)
        states = self._sampled(rng, -1.0, 1.0)
        largest = [np.zeros((len(f.rate), len(f.members))) for f in self._families]
        gaps: list[list[np.ndarray]] = [[] for _ in self._families]
        for flat in states:
            for f, most, gap in zip(self._families, largest, gaps, strict=True):
                g, rate = np.split(f.values(flat, [*f.g, *f.rate]), [len(f.g)])
                gap.append(g)
                np.maximum(most, np.abs(rate), out=most)  # nan stays: a row that is not defined there is kept
        finite = [x[np.isfinite(x)] for x in largest]
        limit = ROUNDING * max(1.0, *(float(x.max(initial=0.0)) for x in finite), 1.0)
        kept = [~(most <= limit).T for most in largest]
        trivial: list[tuple[bool, int, int, ConstraintRow]] = []
        conditions = []
        for f, moves, gap in zip(self._families, kept, gaps, strict=True):
            for member, k in np.argwhere(~moves).tolist():
                row = ConstraintRow(labels[f.members[member]], f.names[member][k])
                trivial.append((k >= len(f.g), f.members[member], k, row))
                if k >= len(f.g):
                    continue
                values = np.array([g[k, member] for g in gap])
                if np.ptp(values) < 1e-9 < abs(values[0]):
                    raise ModelError(f"{row} can never be met: it stays at {values[0]:.6g} whatever the motion")
                if np.ptp(values) > 1e-12 * max(1.0, float(np.abs(values).max())):  # parameters differ from sample to sample
                    conditions.append((f, member, k, row))
        return kept, [row for *_, row in sorted(trivial, key=lambda x: x[:3])], conditions

    def _sampled(self, rng: np.random.Generator, low: float, high: float, at_rest: bool = False) -> np.ndarray:
        """A few flat motions: states anywhere, parameters near their values."""
        s, own = self.structure, self._own_parameters
        q, v, x, t = (rng.uniform(low, high, (SAMPLES, n)) for n in (s.nq, s.nv, len(own), 1))
        return self.flat(q, 0.0 * v if at_rest else v, t, own * (1.0 + 0.1 * x) + 0.01 * x)

    def conditions(self, parameters: Sequence[float]) -> Iterator[tuple[ConstraintRow, float]]:
        """Rows that nothing moves but parameters, and their residuals at some values of these."""
        if self._conditions:
            s, rng = self.structure, np.random.default_rng(11)
            q, v = (rng.uniform(-1.0, 1.0, (1, n)) for n in (s.nq, s.nv))
            flat = self.flat(q, v, np.zeros(1), np.array([parameters], dtype=float))[0]
            for f, member, k, row in self._conditions:
                yield row, float(f.values(flat, [f.g[k]])[0, member])

    def moves_at_rest(self) -> bool:
        """Whether rates are other than zero at rest, tested at a few states."""
        rng = np.random.default_rng(3)
        for flat in self._sampled(rng, 0.1, 0.9, at_rest=True):
            for part in self._parts:
                f = part.family
                if (np.abs(f.values(flat, [f.rate[k] for k in part.kept])[:, part.which]) > 1e-12).any():
                    return True
        return False

    def _number(self, labels: list[str], names: list[str], kept: list[np.ndarray]) -> None:
        """Rows in the order of the constraints, holonomic ones first; links and blocks in the same order."""
        where = [(-1, -1)] * len(labels)
        for f, family in enumerate(self._families):
            for member, constraint in enumerate(family.members):
                where[constraint] = f, member
        masks = [[tuple(np.flatnonzero(row).tolist()) for row in moves] for moves in kept]
        found = [c for c, (f, member) in enumerate(where) if masks[f][member]]
        self.names = [names[c] for c in found]
        """The constraints that have rows."""
        self._idle = {names[c]: self._families[f].bodies(member) for c, (f, member) in enumerate(where) if not masks[f][member]}
        """The others, and the bodies they touch."""
        self._order = names
        rows: tuple[list[ConstraintRow], list[ConstraintRow]] = ([], [])
        local: list[list[tuple[bool, int]]] = []
        kind, index, size, n_links = list[int](), list[int](), list[int](), list[int]()
        parts: dict[tuple[int, tuple[int, ...]], list[tuple[int, int]]] = {}
        for place, c in enumerate(found):
            f, member = where[c]
            family, mask = self._families[f], masks[f][member]
            local.append([])
            for k in mask:
                of_speed = k >= len(family.g)
                local[-1].append((of_speed, len(rows[of_speed])))
                rows[of_speed].append(ConstraintRow(labels[c], family.names[member][k]))
            kind += [BODY if width == WIDE else SPEED for width in family.widths]
            size += [width * len(mask) for width in family.widths]
            index += family.targets[member].tolist()
            n_links.append(len(family.K))
            parts.setdefault((f, mask), []).append((place, member))
        self.n_holonomic = len(rows[0])
        self.rows = [*rows[0], *rows[1]]
        self.row_first = _starts([len(x) for x in local])
        """(constraints + 1): where the rows of a constraint begin in `row_of`."""
        self.row_of: np.ndarray = np.array([k + self.n_holonomic * of_speed for x in local for of_speed, k in x], dtype=np.int64)
        """The index in `rows` of every row, constraint after constraint."""
        self.links = Links(_starts(n_links), np.array(kind, dtype=np.int64), np.array(index, dtype=np.int64), _starts(size))
        m, n = len(self.rows), self.n_holonomic
        self.sizes = {"g": n, "rate": m, "gamma": m, "K": int(self.links.at[-1]), "speed": m - n}
        self._parts = [self._part(f, list(mask), *zip(*each, strict=True)) for (f, mask), each in parts.items()]

    def _part(self, f: int, kept: list[int], places: Sequence[int], members: Sequence[int]) -> _Part:
        family, at = self._families[f], np.array(places, dtype=np.int64)
        rows = self.row_of[self.row_first[at][:, None] + np.arange(len(kept))]
        K = self.links.at[self.links.first[at]][:, None] + np.arange(len(kept) * sum(family.widths))
        n = sum(k < len(family.g) for k in kept)
        answers = {"g": rows[:, :n], "rate": rows, "gamma": rows, "K": K, "speed": rows[:, n:] - self.n_holonomic}
        return _Part(family, np.array(members, dtype=np.int64), kept, answers)

    # --- on numbers of any kind ---------------------------------------------------------------------------------------------
    def trace(self, values: Values, dtype: type = object) -> RowsOnBodies:
        """On floats or symbols. `values`: q, v, t, parameter, and r, G, velocity of the bodies, which are computed where they
        are not given (dtype: of what numbers)."""
        return RowsOnBodies(*self.traced(values, ANSWERS, dtype))

    def traced(self, values: Values, answers: Sequence[str], dtype: type = object) -> list[list[Number]]:
        """Some of the answers alone."""
        motion = values if values.keys() >= WIDTH.keys() else with_bodies(self.structure, values, dtype)
        flat = self.layout.flat(motion)
        out: list[list[Number]] = [[0.0] * self.sizes[name] for name in answers]
        for part, expression in self._expressions(tuple(answers)):
            f = part.family
            for k, member in enumerate(part.which.tolist()):
                found = iter(expression(*[flat[at] for at in f.reads[member]], *f.numbers[member].tolist()))
                for name, target in zip(answers, out, strict=True):
                    for at in part.places[name][k].tolist():
                        target[at] = next(found)
        return out

    def _expressions(self, answers: tuple[str, ...]) -> list[tuple[_Part, Expression]]:
        if answers not in self._made:
            outputs = [part.family.outputs(part.kept) for part in self._parts]
            self._made[answers] = [
                (part, part.family.expression([x for name in answers for x in y[name]]))
                for part, y in zip(self._parts, outputs, strict=True)
            ]
        return self._made[answers]

    @cached_property
    def _made(self) -> dict[tuple[str, ...], list[tuple[_Part, Expression]]]:
        return {}

    def wrenches(self, values: Values, lam: Sequence[Number]) -> dict[str, dict[int, list[Number]]]:
        """{constraint: {row of a body: Kᵀλ, force and moment at its origin in its axes}}."""
        (K,) = self.traced(values, ["K"])
        found: dict[str, dict[int, list[Number]]] = {
            name: {body: [0.0] * WIDE for body in bodies} for name, bodies in self._idle.items()
        }
        first, kind, target, at = (x.tolist() for x in self.links)
        for c, name in enumerate(self.names):
            push = [lam[k] for k in self.row_of[self.row_first[c] : self.row_first[c + 1]].tolist()]
            found[name] = {}
            for link in range(first[c], first[c + 1]):
                if kind[link] == BODY:
                    block = K[at[link] : at[link + 1]]
                    found[name][target[link]] = [
                        sum((x * d for x, d in zip(push, block[k::WIDE], strict=True) if not _is_zero(d)), 0.0)
                        for k in range(WIDE)
                    ]
        return {name: found[name] for name in self._order}

    # --- compiled -----------------------------------------------------------------------------------------------------------
    def chain(self, arrays: Mapping[str, np.ndarray], store: Cache | None = None) -> list[Native]:
        """Native functions that fill those of the arrays g, rate, gamma, K that are there from q, v, t (and parameter), one
        state."""
        answers = tuple(name for name in ANSWERS if name in arrays)
        code, at = self._code(answers, store)
        state = {"parameter": self._own_parameters, **arrays}
        flat, natives = flat_motion(
            self.layout, {name: state[name] for name in ("q", "v", "t", "parameter")}, self._bodies(store), code
        )
        found = np.zeros(max(1, sum(at.values())))
        parts = [(part, arrays[name].reshape(-1)) for name, part in self._split(answers, found)]
        return [*natives, *code.chain(flat, {"push": found}), code.copied(parts)]

    def evaluate(
        self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray | None = None, answers: Sequence[str] = ANSWERS
    ) -> dict[str, np.ndarray]:
        """Rows of states (n, nq), (n, nv), (n,), and parameters (n or 1, …), to rows of answers, by the same code."""
        flat = self.flat(q, v, t, parameters)
        found = np.zeros((len(flat), sum(self.sizes[name] for name in answers)))
        self._code(tuple(answers), None)[0].run(flat, {"push": found})
        return dict(self._split(answers, found))

    def flat(self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray | None = None) -> np.ndarray:
        """(n, size): everything rows read, poses and velocities of bodies too, as `Layout` has it."""
        rows = {
            "t": np.reshape(t, (-1, 1)),
            "q": q,
            "v": v,
            "parameter": parameters if parameters is not None else self._own_parameters[None],
        }
        n, sizes = len(q), self.layout.sizes
        out = np.empty((n, sum(sizes.values())))
        parts = {name: out[:, at : at + sizes[name]] for name, at in self.layout.at.items()}
        for name, x in rows.items():
            parts[name][:] = x
        if is_large(self.structure):
            bodies = self._bodies(None)
            found = {name: np.empty((n, sizes[name])) for name in bodies.outputs}
            bodies.run(n, [np.ascontiguousarray(parts[name]) for name in bodies.inputs], list(found.values()))
            for name, x in found.items():
                parts[name][:] = x
            return out
        for k in range(n):  # interpreted: nothing to compile for a few states of a small model
            motion = with_bodies(self.structure, {name: x[k].tolist() for name, x in parts.items() if name in rows}, float)
            for name in WIDTH:
                parts[name][k] = motion[name]
        return out

    def _split(self, answers: Sequence[str], flat: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
        at = 0
        for name in answers:
            yield name, flat[..., at : at + self.sizes[name]]
            at += self.sizes[name]

    def _code(self, answers: tuple[str, ...], store: Cache | None) -> tuple[GroupedCode, dict[str, int]]:
        """Machine code for some of the answers, one after another in one flat vector."""
        key = (answers, str((store or Cache()).folder))
        if key not in self._codes:
            begin = dict(zip(answers, np.cumsum([0, *(self.sizes[name] for name in answers)]).tolist(), strict=False))
            groups = [_group(part, answers, begin) for part in self._parts]
            self._codes[key] = GroupedCode([group for group in groups if group.places.size], store)
        return self._codes[key], {name: self.sizes[name] for name in answers}

    @cached_property
    def _codes(self) -> dict[Any, GroupedCode]:
        return {}

    @cached_property
    def _own_parameters(self) -> np.ndarray:
        return np.array(list(self.structure.parameters.values()), dtype=float)

    def _bodies(self, store: Cache | None) -> LoopRunner:
        key = str((store or Cache()).folder)
        if key not in self._runners:
            self._runners[key] = LoopRunner(PROGRAMS["motion"], self.structure, store=store)
        return self._runners[key]

    @cached_property
    def _runners(self) -> dict[str, LoopRunner]:
        return {}


def _group(part: _Part, answers: Sequence[str], begin: Mapping[str, int]) -> Group:
    f, outputs = part.family, part.family.outputs(part.kept)
    shape = Shape(f.graph, f.reads_of, f.numbers_of, {"push": [x for name in answers for x in outputs[name]]})
    places = np.concatenate([part.places[name] + begin[name] for name in answers], axis=1)
    no_force = np.zeros((len(part.which), 1), dtype=np.int64)
    return Group(shape, no_force, f.reads[part.which], f.numbers[part.which], np.ascontiguousarray(places))


def _is_zero(x: Number) -> bool:
    return isinstance(x, float) and x == 0.0


def _starts(sizes: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.array(sizes, dtype=np.int64))]).astype(np.int64)
