"""The joints of a tree as rows of elementary motions, written for all joints at once.

Large models have few kinds of joints and many joints: what is done in Python is done once for every list of motions and
every placement that is a different object, the rest with arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..kernels import algebra
from ..kernels.joint_stage import GIVEN, Joints
from .joints.base import Motion
from .pose import Pose

NOWHERE = -1


class JointRows(NamedTuple):
    joints: Joints
    q_first: np.ndarray
    """Where the coordinates of joint i begin in q."""
    v_first: np.ndarray
    led: np.ndarray
    """Rows that are moved by the coordinate of another joint: `q_at` and `v_at` are still to be said."""
    users: list[tuple[int, Motion]]
    """Rows that the user's functions move, and those motions: `data_at` is still to be said."""


def joint_rows(motions: Sequence[list[Motion]], at: Sequence[Pose], child_at: Sequence[Pose], backwards: Any) -> JointRows:
    """From the motions of every joint and its places in the two bodies. Constant placements that follow each other become
    one; those that are the identity vanish."""
    lists, list_of = distinct(motions)
    places, place_of = distinct([*at, *child_at])
    table = _table(lists, 2 * len(places))
    inner = [m.placement for sequence in lists for m in sequence if m.placement is not None]
    outer = _poses(places)
    placements = np.concatenate([outer, _inverse(outer), _poses(inner), _poses([Pose()])])  # the last where there is none

    # every joint: its place in the parent, its motions, the inverse of its place in the child
    lengths = np.array([len(sequence) for sequence in lists])
    first_of_list = np.cumsum(lengths) - lengths
    count = lengths[list_of] + 2
    stop = np.cumsum(count)
    owner = np.repeat(np.arange(len(motions)), count)
    row = np.arange(stop[-1]) + np.repeat(first_of_list[list_of] - (stop - count) - 1, count)  # in the table
    row[stop - count], row[stop - 1] = NOWHERE, NOWHERE
    place = table["place"][row]
    place[stop - count], place[stop - 1] = place_of[: len(at)], place_of[len(at) :] + len(places)
    there = (place == NOWHERE) | ~_is_identity(placements)[place]
    row, owner, rho, G = _merged(row[there], owner[there], place[there], placements)
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(motions)))])

    def first(x: np.ndarray) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(x)])

    kind, nq, nv, axes, user = (table[name][row] for name in ("kind", "nq", "nv", "axes", "user"))
    q_first, v_first = first(nq), first(nv)
    joints = Joints(
        start=start, first=first(axes)[start], reversed=np.array(backwards, dtype=np.int64), kind=kind,
        q_at=np.where((nq > 0) | (kind == GIVEN), q_first[:-1], -1), v_at=v_first[:-1].copy(),
        data_at=np.full(len(row), -1), axes=axes, coordinates=nq,
        rho=rho, G=G, turn=table["turn"][row], slide=table["slide"][row],
    )  # fmt: skip
    moved = [m for sequence in lists for m in sequence]
    users = [(k, moved[row[k]]) for k in np.flatnonzero(user).tolist()]
    return JointRows(joints, q_first[start], v_first[start], np.flatnonzero(table["led"][row]), users)


def distinct(objects: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
    """Those that are different objects, in the order they come first, and for every place which of them stands there."""
    ids = np.fromiter(map(id, objects), dtype=np.int64, count=len(objects))
    _, places, which = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(places)
    return [objects[k] for k in places[order].tolist()], np.argsort(order)[which]


def _table(lists: Sequence[list[Motion]], place: int) -> dict[str, np.ndarray]:
    """All motions of all lists, a column for every quantity, their placements numbered from `place` on; a last row for what
    is no motion of a list: a placement."""
    rows: list[tuple[Any, ...]] = []
    for sequence in lists:
        for m in sequence:
            user = m.drive is not None or m.given is not None
            rows.append((m.kind, m.nq, m.nv, 1 if m.leader else m.nv, user, m.leader, m.placement is not None, m.turn, m.slide))
    rows.append((0, 0, 0, 0, False, False, False, 0.0, 0.0))
    columns = dict(zip(("kind", "nq", "nv", "axes", "user", "led", "place", "turn", "slide"), zip(*rows, strict=True), strict=True))
    table = {name: np.array(x, dtype=float if name in ("turn", "slide") else np.int64) for name, x in columns.items()}
    placed = table["place"]
    table["place"] = np.where(placed > 0, place + np.cumsum(placed) - 1, NOWHERE)
    return table


# --- many placements at once: position and rotation, row by row, (n, 12) ------------------------------------------------------
def _poses(poses: Sequence[Pose]) -> np.ndarray:
    return np.array([(*p.position, *p.rotation.entries) for p in poses], dtype=float).reshape(-1, 12)


def _is_identity(x: np.ndarray) -> np.ndarray:
    return (x == (*algebra.ZERO3, *algebra.IDENTITY)).all(axis=1)


def _inverse(x: np.ndarray) -> np.ndarray:
    back = algebra.transpose(x.T[3:])
    return np.stack([*algebra.neg(algebra.mv(back, x.T[:3])), *back], axis=1)


def _product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    a, b = x.T, y.T
    both = np.stack([*algebra.add(a[:3], algebra.mv(a[3:], b[:3])), *algebra.mm(a[3:], b[3:])], axis=1)
    return np.where(_is_identity(x)[:, None], y, both)


def _merged(
    row: np.ndarray, owner: np.ndarray, place: np.ndarray, placements: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows and owners with every run of placements of one joint as one row, and the origin and the cosines of that row."""
    fixed = place != NOWHERE
    goes_on = np.zeros(len(row), dtype=bool)
    goes_on[1:] = fixed[1:] & fixed[:-1] & (owner[1:] == owner[:-1])
    heads = np.flatnonzero(~goes_on)
    more = np.flatnonzero(goes_on)
    long, of_long = np.unique(np.searchsorted(heads, more) - 1, return_inverse=True)  # runs of several
    product, step = placements[place[heads[long]]], more - heads[long][of_long]
    for k in range(1, int(step.max(initial=0)) + 1):  # from the carrier outward, as one would multiply by hand
        now = step == k
        product[of_long[now]] = _product(product[of_long[now]], placements[place[more[now]]])
    place = place[heads]
    place[long] = len(placements) + np.arange(len(long))
    rho, G = _as_kernels_read(np.concatenate([placements, product]))
    left = np.ones(len(heads), dtype=bool)
    left[long] = ~_is_identity(product)
    heads, place = heads[left], place[left]
    place[place == NOWHERE] = len(placements) - 1
    return np.where(fixed[heads], NOWHERE, row[heads]), owner[heads], rho[place], G[place]


def _as_kernels_read(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Origins (n, 3) and direction cosines (n, 9). A cosine that is 0 or ±1 but for rounding is made exact: cos(π/2) should
    cost nothing when compiled."""
    G = np.stack(algebra.transpose(x.T[3:]), axis=1)
    nearest = np.rint(G) + 0.0  # no negative zeros
    return x[:, :3], np.where(np.abs(G - nearest) < 1e-15, nearest, G)
