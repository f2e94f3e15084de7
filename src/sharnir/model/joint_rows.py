"""The joints of a tree as rows of elementary motions, written for all joints at once.

Large models have many joints of few types: Python works once on every distinct list of motions and every distinct placement,
the rest is done with arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..kernels import algebra
from ..kernels.joint_stage import GIVEN, Joints
from ..types import FloatArray, IntArray, starts
from .joints.joint_type import ElementaryMotion
from .parametric import array_of, constant_entries
from .pose import Pose

T = TypeVar("T")

NOTHING = 0
"""The row of the table that is no motion of a list but a placement; the placement of a row that has none: the identity."""


class JointRows(NamedTuple):
    joints: Joints
    q_first: IntArray
    """First index of the coordinates of joint i in q."""
    v_first: IntArray
    led: IntArray
    """Rows that are moved by the coordinate of another joint: `q_at` and `v_at` are filled in later."""
    users: list[tuple[int, ElementaryMotion]]
    """Rows that the user's functions move, and those motions: `data_at` is filled in later."""


def joint_rows(
    motions: Sequence[list[ElementaryMotion]], at: Sequence[Pose], child_at: Sequence[Pose], backwards: Sequence[bool]
) -> JointRows:
    """Rows of the motions of every joint and its places in the two bodies. Constant placements that follow each other become
    one; those that are the identity vanish."""
    lists, list_of = distinct(motions)
    table = _table(lists)
    outside, at_of = distinct(at)
    in_child, child_at_of = distinct(child_at)
    inner = [m.placement for sequence in lists for m in sequence if m.placement is not None]
    placements = np.concatenate([_poses([Pose(), *inner, *outside]), _inverse(_poses(in_child))])
    at_of += 1 + len(inner)
    child_at_of += 1 + len(inner) + len(outside)

    # every joint: its place in the parent, its motions, the inverse of its place in the child
    lengths = np.array([len(sequence) for sequence in lists])
    moves = ~_is_identity(placements)
    before, after = moves[at_of], moves[child_at_of]
    size = lengths[list_of] + before + after
    stop = np.cumsum(size)
    begin = stop - size
    owner = np.repeat(np.arange(len(motions)), size)
    row = np.repeat((1 + np.cumsum(lengths) - lengths)[list_of] - begin - before, size)  # in the table
    row += np.arange(len(row))
    row[begin[before]] = row[stop[after] - 1] = NOTHING
    place = table["place"][row]
    place[begin[before]], place[stop[after] - 1] = at_of[before], child_at_of[after]
    row, owner, place, placements = _merged(row, owner, place, placements)
    rho, G = _as_kernels_read(placements)
    start = starts(np.bincount(owner, minlength=len(motions)))
    kind, nq, nv, axes = (table[name][row] for name in ("kind", "nq", "nv", "axes"))
    q_first, v_first = starts(nq), starts(nv)
    joints = Joints(
        start=start, first=starts(axes)[start], reversed=np.array(backwards, dtype=np.int64), kind=kind,
        q_at=np.where((nq > 0) | (kind == GIVEN), q_first[:-1], -1), v_at=v_first[:-1].copy(),
        data_at=np.full(len(row), -1), axes=axes, coordinates=nq,
        rho=rho[place], G=G[place], turn=table["turn"][row], slide=table["slide"][row],
        elastic_at=np.zeros(0, dtype=np.int64), coordinate=np.zeros(1, dtype=np.int64),  # filled in later
    )  # fmt: skip
    all_motions = [m for sequence in lists for m in sequence]
    users = [(k, all_motions[row[k] - 1]) for k in np.flatnonzero(table["user"][row]).tolist()]
    return JointRows(joints, q_first[start], v_first[start], np.flatnonzero(table["led"][row]), users)


def distinct(objects: Sequence[T]) -> tuple[list[T], IntArray]:
    """The different objects in the order of their first occurrence, and the index among them of each."""
    ids = np.fromiter(map(id, objects), dtype=np.int64, count=len(objects))
    _, first, which = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return [objects[k] for k in first[order].tolist()], np.argsort(order)[which]


def _table(lists: Sequence[list[ElementaryMotion]]) -> dict[str, np.ndarray]:
    """All motions of all lists, a column for every quantity, after a row for placements; their placements
    numbered from 1 on."""
    rows: list[tuple[Any, ...]] = [(0, 0, 0, 0, False, False, False, 0.0, 0.0)]
    for sequence in lists:
        for m in sequence:
            users, axes_of = m.drive is not None or m.given is not None, m.axes if m.leader else m.nv
            rows.append((m.kind, m.nq, m.nv, axes_of, users, m.leader, m.placement is not None, m.turn, m.slide))
    kind, nq, nv, axes, user, led, placed, turn, slide = zip(*rows, strict=True)
    integers = {"kind": kind, "nq": nq, "nv": nv, "axes": axes, "place": np.where(placed, np.cumsum(placed), NOTHING)}
    return {
        **{name: np.array(x, dtype=np.int64) for name, x in integers.items()},
        **{name: np.array(x, dtype=bool) for name, x in (("user", user), ("led", led))},
        **{name: array_of(x) for name, x in (("turn", turn), ("slide", slide))},
    }


# --- many placements at once: position and rotation, row by row, (n, 12) ------------------------------------------------------
def _poses(poses: Sequence[Pose]) -> FloatArray:
    return array_of([(*p.position, *p.rotation.entries) for p in poses]).reshape(-1, 12)


def _is_identity(x: FloatArray) -> NDArray[np.bool_]:
    same: NDArray[np.bool_] = constant_entries(x)
    same[same] = x[same] == np.broadcast_to((*algebra.ZERO3, *algebra.IDENTITY), x.shape)[same]
    every: NDArray[np.bool_] = np.all(same, axis=1)
    return every


def _inverse(x: FloatArray) -> FloatArray:
    back = algebra.transpose(x.T[3:])
    return np.stack([*algebra.neg(algebra.mv(back, x.T[:3])), *back], axis=1)


def _product(x: FloatArray, y: FloatArray) -> FloatArray:
    a, b = x.T, y.T
    both = np.stack([*algebra.add(a[:3], algebra.mv(a[3:], b[:3])), *algebra.mm(a[3:], b[3:])], axis=1)
    return np.where(_is_identity(x)[:, None], y, both)


def _merged(
    row: IntArray, owner: IntArray, place: IntArray, placements: FloatArray
) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """The rows with every run of placements of one joint multiplied into one, and removed where that is the identity; the
    products are appended to the placements."""
    fixed = place != NOTHING
    left = np.ones(len(row), dtype=bool)
    left[1:] = ~(fixed[1:] & fixed[:-1] & (owner[1:] == owner[:-1]))
    more = np.flatnonzero(~left)
    if not len(more):
        return row, owner, place, placements
    heads = np.flatnonzero(left)
    runs, run = np.unique(heads[np.searchsorted(heads, more) - 1], return_inverse=True)
    product, step = placements[place[runs]], more - runs[run]
    for k in range(1, int(step.max()) + 1):  # from the carrier outward
        now = step == k
        product[run[now]] = _product(product[run[now]], placements[place[more[now]]])
    row[runs], place[runs] = NOTHING, len(placements) + np.arange(len(runs))
    left[runs] = ~_is_identity(product)
    return row[left], owner[left], place[left], np.concatenate([placements, product])


def _as_kernels_read(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Origins (n, 3) and direction cosines (n, 9). A cosine that is 0 or ±1 up to rounding is made exact, so that
    cos(π/2) folds away when compiled."""
    G = np.stack(algebra.transpose(x.T[3:]), axis=1)
    constant = constant_entries(G)
    numbers = G[constant].astype(float)
    nearest = np.rint(numbers) + 0.0  # no negative zeros
    G[constant] = np.where(np.abs(numbers - nearest) < 1e-15, nearest, numbers)
    return x[:, :3], G
