"""Places of the rows of constraints and of their blocks: rows as in the table, blocks constraint after constraint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .constraint_families import Family
from .one_constraint import WIDE, ConstraintRow

BODY, SPEED = 0, 1


class Links(NamedTuple):
    """Bodies and speeds that the constraints touch, constraint after constraint."""

    first: np.ndarray
    """(constraints + 1): where the links of a constraint begin."""
    kind: np.ndarray
    """(links): BODY or SPEED."""
    target: np.ndarray
    """(links): row of a body, 1 … nb; number of a speed, 0 … nv − 1."""
    at: np.ndarray
    """(links + 1): where the block of a link begins in K: rows of the constraint × 6 of a body, × 1 of a speed, row by row."""


class BodyBlocks(NamedTuple):
    """The rows of all blocks of bodies, link after link."""

    link: np.ndarray
    body: np.ndarray
    at: np.ndarray
    """The place in K where its six numbers begin."""
    row: np.ndarray
    """The row of the table."""


class KeptRows(NamedTuple):
    """Members of a family of which the same rows are kept."""

    family: Family
    which: np.ndarray
    """The members."""
    kept: list[int]
    """The rows."""
    places: dict[str, np.ndarray]
    """Places (members, numbers) of every answer."""


class RowLayout:
    """Rows in the order of the constraints, those of position first."""

    def __init__(self, families: Sequence[Family], names: list[str], labels: list[str], kept: Sequence[np.ndarray]) -> None:
        where = [(-1, -1)] * len(names)
        for f, family in enumerate(families):
            for member, constraint in enumerate(family.members):
                where[constraint] = f, member
        masks = [[tuple(np.flatnonzero(row).tolist()) for row in moves] for moves in kept]
        found = [c for c, (f, member) in enumerate(where) if masks[f][member]]
        self.names = [names[c] for c in found]
        """The constraints that have rows."""
        self.idle = {names[c]: families[f].bodies(member) for c, (f, member) in enumerate(where) if not masks[f][member]}
        """The others, and the bodies they touch."""
        rows: tuple[list[ConstraintRow], list[ConstraintRow]] = ([], [])
        local: list[list[tuple[bool, int]]] = []
        kind, target, size, n_links = list[int](), list[int](), list[int](), list[int]()
        parts: dict[tuple[int, tuple[int, ...]], list[tuple[int, int]]] = {}
        for place, c in enumerate(found):
            f, member = where[c]
            family, mask = families[f], masks[f][member]
            local.append([])
            for k in mask:
                of_speed = k >= len(family.g)
                local[-1].append((of_speed, len(rows[of_speed])))
                rows[of_speed].append(ConstraintRow(labels[c], family.names[member][k]))
            kind += [BODY if width == WIDE else SPEED for width in family.widths]
            size += [width * len(mask) for width in family.widths]
            target += family.targets[member].tolist()
            n_links.append(len(family.K))
            parts.setdefault((f, mask), []).append((place, member))
        self.n_holonomic = len(rows[0])
        self.rows = [*rows[0], *rows[1]]
        self.row_first = _starts([len(x) for x in local])
        """(constraints + 1): where the rows of a constraint begin in `row_of`."""
        self.row_of: np.ndarray = np.array([k + self.n_holonomic * of_speed for x in local for of_speed, k in x], dtype=np.int64)
        """The index in `rows` of every row, constraint after constraint."""
        self.links = Links(_starts(n_links), np.array(kind, dtype=np.int64), np.array(target, dtype=np.int64), _starts(size))
        m, n = len(self.rows), self.n_holonomic
        self.sizes = {"g": n, "rate": m, "gamma": m, "K": int(self.links.at[-1]), "speed": m - n}
        """Sizes of the answers; "speed": the rates of rows of speeds alone."""
        self.parts = [self._part(families[f], list(mask), *zip(*each, strict=True)) for (f, mask), each in parts.items()]

    def _part(self, family: Family, kept: list[int], places: Sequence[int], members: Sequence[int]) -> KeptRows:
        at = np.array(places, dtype=np.int64)
        rows = self.row_of[self.row_first[at][:, None] + np.arange(len(kept))]
        K = self.links.at[self.links.first[at]][:, None] + np.arange(len(kept) * sum(family.widths))
        n = sum(k < len(family.g) for k in kept)
        answers = {"g": rows[:, :n], "rate": rows, "gamma": rows, "K": K, "speed": rows[:, n:] - self.n_holonomic}
        return KeptRows(family, np.array(members, dtype=np.int64), kept, answers)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def row_of_K(self) -> np.ndarray:
        """The row that every number in K belongs to."""
        found = [np.zeros(0, dtype=np.int64)]
        for c in range(len(self.names)):
            mine = self.row_of[self.row_first[c] : self.row_first[c + 1]]
            for k in range(self.links.first[c], self.links.first[c + 1]):
                found.append(np.repeat(mine, WIDE if self.links.kind[k] == BODY else 1))
        return np.concatenate(found)

    @cached_property
    def angular_K(self) -> np.ndarray:
        """For every number in K, whether it belongs to an angular velocity."""
        found = [np.zeros(0, dtype=bool)]
        for k in range(len(self.links.kind)):
            size = int(self.links.at[k + 1] - self.links.at[k])
            found.append(np.arange(size) % WIDE >= 3 if self.links.kind[k] == BODY else np.zeros(size, dtype=bool))
        return np.concatenate(found)

    @cached_property
    def owner(self) -> np.ndarray:
        """(links): the constraint a link belongs to."""
        return np.repeat(np.arange(len(self.names)), np.diff(self.links.first))

    @cached_property
    def blocks(self) -> BodyBlocks:
        links = np.flatnonzero(self.links.kind == BODY)
        which, k = self.rows_of(links)
        link = links[which]
        row = self.row_of[self.row_first[self.owner[link]] + k]
        return BodyBlocks(link, self.links.target[link], self.links.at[link] + WIDE * k, row)

    def rows_of(self, links: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Every link as often as its constraint has rows: which of `links`, and which row of the constraint."""
        sizes = np.diff(self.row_first)[self.owner[links]]
        which = np.repeat(np.arange(len(links)), sizes)
        return which, np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _starts(sizes: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.array(sizes, dtype=np.int64))]).astype(np.int64)
