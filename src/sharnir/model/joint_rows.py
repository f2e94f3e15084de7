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
    placements, place_of = distinct([*at, *child_at])
    place_of, child_place_of = place_of[: len(at)], place_of[len(at) :] + len(placements)  # those in the child are inverted
    table = _table(lists, 2 * len(placements))
    inner = [m.placement for sequence in lists for m in sequence if m.placement is not None]
    position, cosines = _poses([*placements, *inner])
    position, cosines = (
        np.concatenate([x[: len(placements)], y, x[len(placements) :]])
        for x, y in zip((position, cosines), _inverses(position[: len(placements)], cosines[: len(placements)]), strict=True)
    )

    # every joint: its place in the parent, its motions, the inverse of its place in the child
    lengths = np.array([len(sequence) for sequence in lists])
    first_of_list = np.cumsum(lengths) - lengths
    count = lengths[list_of] + 2
    stop = np.cumsum(count)
    owner = np.repeat(np.arange(len(motions)), count)
    row = np.arange(stop[-1]) + np.repeat(first_of_list[list_of] - (stop - count) - 1, count)  # in the table
    row[stop - count], row[stop - 1] = NOWHERE, NOWHERE
    place = table["place"][row]
    place[stop - count], place[stop - 1] = place_of, child_place_of
    there = (place == NOWHERE) | ~_is_identity(position, cosines)[place]
    owner, row, place = owner[there], row[there], place[there]

    row, owner, rho, R = _merged(row, owner, place, position, cosines)
    G = R.reshape(-1, 3, 3).swapaxes(1, 2).reshape(-1, 9)
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(motions)))])

    def first(x: np.ndarray) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(x)])

    kind, nq, nv, axes, user = (table[name][row] for name in ("kind", "nq", "nv", "axes", "user"))
    q_first, v_first = first(nq), first(nv)
    joints = Joints(
        start=start, first=first(axes)[start], reversed=np.array(backwards, dtype=np.int64), kind=kind,
        q_at=np.where((nq > 0) | (kind == GIVEN), q_first[:-1], -1), v_at=v_first[:-1].copy(),
        data_at=np.full(len(row), -1), axes=axes, coordinates=nq,
        rho=rho, G=_snapped(G), turn=table["turn"][row], slide=table["slide"][row],
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


# --- many placements at once: positions (n, 3), rotations row by row (n, 9) ---------------------------------------------------
def _poses(poses: Sequence[Pose]) -> tuple[np.ndarray, np.ndarray]:
    position = np.array([p.position for p in poses], dtype=float).reshape(-1, 3)
    return position, np.array([p.rotation.entries for p in poses], dtype=float).reshape(-1, 9)


def _is_identity(position: np.ndarray, R: np.ndarray) -> np.ndarray:
    return ~position.any(axis=1) & (R == algebra.IDENTITY).all(axis=1)


def _inverses(position: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    back = algebra.transpose(R.T)
    return np.stack(algebra.neg(algebra.mv(back, position.T)), axis=1), np.stack(back, axis=1)


def _merged(
    row: np.ndarray, owner: np.ndarray, place: np.ndarray, position: np.ndarray, R: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows and owners with every run of placements of one joint as one row, and what that row's placement is."""
    fixed = place != NOWHERE
    goes_on = np.zeros(len(row), dtype=bool)
    goes_on[1:] = fixed[1:] & fixed[:-1] & (owner[1:] == owner[:-1])
    heads = np.flatnonzero(~goes_on)
    run = np.cumsum(~goes_on) - 1
    rho = np.zeros((len(heads), 3))
    G = np.tile(algebra.IDENTITY, (len(heads), 1))
    of_fixed = fixed[heads]
    rho[of_fixed], G[of_fixed] = position[place[heads[of_fixed]]], R[place[heads[of_fixed]]]
    more = np.flatnonzero(goes_on)
    step = more - heads[run[more]]
    for k in range(1, int(step.max(initial=0)) + 1):  # from the carrier outward, as one would multiply by hand
        next_rows = more[step == k]
        into, there = run[next_rows], place[next_rows]
        a, b = G[into].T, R[there].T
        fresh = _is_identity(rho[into], G[into])[:, None]
        moved = np.stack(algebra.add(rho[into].T, algebra.mv(a, position[there].T)), axis=1)
        turned = np.stack(algebra.mm(a, b), axis=1)
        rho[into], G[into] = np.where(fresh, position[there], moved), np.where(fresh, R[there], turned)
    left = ~of_fixed
    left[of_fixed] = ~_is_identity(rho[of_fixed], G[of_fixed])
    heads = heads[left]
    return np.where(fixed[heads], NOWHERE, row[heads]), owner[heads], rho[left], G[left]


def _snapped(x: np.ndarray) -> np.ndarray:
    """A cosine that is 0 or ±1 but for rounding is made exact: cos(π/2) should cost nothing when compiled."""
    nearest = np.rint(x) + 0.0  # no negative zeros
    return np.where(np.abs(x - nearest) < 1e-15, nearest, x)
