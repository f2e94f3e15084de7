"""The joints and the bodies of a tree as rows of arrays, written for all of them at once; some numbers depend on parameters.

Large models have many joints of few types: Python works once on every distinct list of motions, every distinct placement and
every distinct body, the rest is done with arrays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, count
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, TraceError
from ..kernels import algebra
from ..kernels.joint_stage import BALL, FIXED, GIVEN, TURN, Joints
from ..trace import Expression, Number, ParameterGraph, Symbol, at_values
from ..types import FloatArray, IntArray, starts
from .body import Body
from .joints.joint_type import ElementaryMotion
from .pose import Pose

# --- arrays some of whose numbers depend on parameters: floats at given values, and which entries are formulas
G = TypeVar("G", bound=tuple[Any, ...])


class ParametricEntry(NamedTuple):
    """A number of an array that is a formula of parameters."""

    group: int
    field: str
    place: int
    """Index in the flat array."""
    formula: Symbol


def array_of(rows: Any) -> np.ndarray:
    """Floats; objects where a number depends on parameters."""
    try:
        return np.array(rows, dtype=float)
    except TraceError:
        return np.array(rows, dtype=object)


def floats(x: np.ndarray, values: Mapping[str, float]) -> np.ndarray:
    """The array with parameters at these values."""
    if x.dtype != object:
        return x
    return np.array([at_values(one, values) for one in x.ravel().tolist()], dtype=float).reshape(x.shape)


def constant_entries(x: np.ndarray) -> np.ndarray:
    """Whether each number is a float."""
    if x.dtype != object:
        return np.ones(x.shape, dtype=bool)
    return np.array([not isinstance(one, Symbol) for one in x.ravel().tolist()], dtype=bool).reshape(x.shape)


def separated(number: int, group: G, values: Mapping[str, float]) -> tuple[G, list[ParametricEntry]]:
    """A group of arrays as floats at these values, and its entries that are formulas."""
    entries, arrays = [], {}
    for field, x in group._asdict().items():  # type: ignore[attr-defined]
        if x.dtype == object:
            flat = x.ravel().tolist()
            entries += [ParametricEntry(number, field, k, one) for k, one in enumerate(flat) if isinstance(one, Symbol)]
            arrays[field] = floats(x, values)
    return group._replace(**arrays), entries  # type: ignore[attr-defined]


class ParametricData:
    """All entries of the arrays of a structure that are formulas of parameters."""

    def __init__(self, entries: Sequence[ParametricEntry], graph: ParameterGraph) -> None:
        self.entries = tuple(entries)
        for entry in entries:
            if entry.formula.graph is not graph:
                raise ModelError(f"{entry.formula!r} belongs to another model: add its parameters to this one with add_parameter")
        self.expression = Expression(graph, (), [entry.formula for entry in entries])

    def filled(self, groups: Sequence[Any], parameters: Mapping[str, Number]) -> list[Any]:
        """Copies of groups of arrays, of floats or of generic scalars, with these entries."""
        changed = {(entry.group, entry.field) for entry in self.entries}
        out = [
            group._replace(**{field: getattr(group, field).copy() for k, field in changed if k == number})
            for number, group in enumerate(groups)
        ]
        for entry, value in zip(self.entries, self.expression(parameters=parameters), strict=True):
            getattr(out[entry.group], entry.field).reshape(-1)[entry.place] = value
        return out


# --- joints as rows of elementary motions
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


def hinges(j: Joints) -> IntArray:
    """1 for every joint that only turns its body about its origin, at rates that nothing but its speeds gives (a hinge, a ball,
    a weld), else 0: v^r = (0; A q̇) and ψ^r = 0 in every state, by the rows of the joint."""
    n = len(j.reversed)
    owner = np.repeat(np.arange(n), np.diff(j.start))
    moves = j.kind != FIXED
    passed = np.cumsum(moves)
    passed -= np.concatenate([[0], passed])[j.start[:-1]][owner]
    beyond = np.where(j.reversed[owner] == 1, passed == 0, passed > 0)
    at_origin = constant_entries(j.rho)
    at_origin[at_origin] = j.rho[at_origin] == 0.0
    turns = np.isin(j.kind, (TURN, BALL)) & (j.data_at < 0)
    fits = np.where(moves, turns, ~beyond | at_origin.all(axis=1))
    moved, unfit = (np.bincount(owner[x], minlength=n) for x in (moves, ~fits))
    return ((moved == 0) | ((moved == 1) & (unfit == 0))).astype(np.int64)


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


# --- masses, inertias and inverse mass matrices of all bodies
def mass_properties(bodies: Sequence[Body], parameters: Mapping[str, float]) -> tuple[tuple[np.ndarray, ...], Lent]:
    """For the base and every body its mass, moment h = m r_c (nb+1, 3), inertia about its origin xx yy zz xy xz yz (nb+1, 6) and
    index among the distinct bodies (nb+1,); the inverse mass matrices of these (kinds, 6, 6), with what they are lent.
    `parameters`: their values, at which it is decided who is lent what."""
    base = (0.0, (0.0,) * 3, (0.0,) * 6)
    kinds: dict[tuple[Any, ...], int] = defaultdict(count(1).__next__)  # numbered in order of occurrence: many bodies, few kinds
    each = map(kinds.__getitem__, map(attrgetter("mass", "com", "inertia"), bodies))
    kind_of = np.fromiter(chain([0], each), dtype=np.int64, count=len(bodies) + 1)
    numbers = array_of([(mass, *com, *inertia) for mass, com, inertia in (base, *kinds)])
    mass, com, about_com = numbers[:, 0], numbers[:, 1:4], numbers[:, 4:]
    h = mass[:, None] * com
    inertia = np.stack(_about_origin(mass, com.T, about_com.T), axis=1)
    lent = lent_inertias(floats(numbers, parameters))
    with np.errstate(over="ignore", invalid="ignore"):  # of bodies lighter than any number: lagrange1 alone reads it, and says so
        mobility = _mobilities(mass, com, about_com, lent)
    return (mass[kind_of], h[kind_of], inertia[kind_of], kind_of, mobility), lent


class Lent(NamedTuple):
    """Inertia that the distinct bodies are lent where their mass matrix is singular: l of the terms l lᵀ, body axes."""

    first: IntArray
    l: FloatArray
    number: IntArray
    mass: FloatArray
    """Lent to each: mass, and inertia xx yy zz xy xz yz."""
    inertia: FloatArray


def lent_inertias(numbers: FloatArray) -> Lent:
    """A mass at the origin where there is none, inertia about every axis about which there is none; both of the size of those
    that the body has, or else its fellows: other sizes would be as right, but cost digits."""
    mass, com, J = numbers[:, 0], numbers[:, 1:4], numbers[:, [4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(-1, 3, 3)
    moments, axes = np.linalg.eigh(J)
    largest = moments[:, 2] + mass * (com * com).sum(axis=1)
    usual_mass, usual_inertia = (float(np.median(x[x > 0.0])) if (x > 0.0).any() else 1.0 for x in (mass, largest))
    bare, thin = mass == 0.0, moments <= 1e-14 * moments[:, 2:]
    bare[0] = thin[0] = False  # the base
    size = np.sqrt(np.where(largest > 0.0, largest, usual_inertia))
    rows, counts = list[FloatArray](), bare * 3 + thin.sum(axis=1)
    for k in np.flatnonzero(counts).tolist():
        rows += [np.sqrt(usual_mass) * np.eye(6)[c] for c in range(3 * bare[k])]
        rows += [size[k] * np.concatenate([np.zeros(3), axes[k][:, c]]) for c in np.flatnonzero(thin[k])]
    K = size[:, None, None] ** 2 * np.einsum("kic,kc,kjc->kij", axes, thin, axes)
    six = np.stack([K[:, 0, 0], K[:, 1, 1], K[:, 2, 2], K[:, 0, 1], K[:, 0, 2], K[:, 1, 2]], axis=1)
    return Lent(np.cumsum(counts) - counts, np.array(rows).reshape(-1, 6), counts, bare * usual_mass, six)


def _about_origin(m: Any, c: Any, J: Any) -> tuple[Any, ...]:
    """J_O = J_c + m(c²E − ccᵀ), xx yy zz xy xz yz, of generic scalars or of columns of them."""
    x, y, z = c
    xx, yy, zz, xy, xz, yz = J
    return (
        xx + m * (y * y + z * z), yy + m * (x * x + z * z), zz + m * (x * x + y * y),
        xy - m * (x * y), xz - m * (x * z), yz - m * (y * z),
    )  # fmt: skip


def _mobilities(mass: Any, com: Any, inertia: Any, lent: Lent) -> np.ndarray:
    """Inverse mass matrices, with what bodies are lent; nan for the base.

    M⁻¹ = [E/m − c̃J⁻¹c̃  c̃J⁻¹; −J⁻¹c̃  J⁻¹], with J about the centre of mass: the acceleration of the origin by a wrench there.
    """
    out = np.full((len(mass), 6, 6), np.nan, dtype=mass.dtype)
    (x, y, z), K = np.where(lent.mass > 0.0, 0.0, com.T)[:, 1:], inertia[1:].T
    lends = lent.number > 0
    if lends.any():
        mass, K = np.where(lends, mass + lent.mass, mass), np.where(lends[1:], K + lent.inertia[1:].T, K)
    K = np.moveaxis(_inverse_symmetric(K), -1, 0)
    c = np.zeros((len(mass) - 1, 3, 3), dtype=mass.dtype)
    c[:, 0, 1], c[:, 0, 2], c[:, 1, 0], c[:, 1, 2], c[:, 2, 0], c[:, 2, 1] = -z, y, z, -x, -y, x
    cK = c @ K
    out[1:, :3, :3] = -(cK @ c) + np.eye(3) / mass[1:, None, None]
    out[1:, :3, 3:], out[1:, 3:, :3], out[1:, 3:, 3:] = cK, -(K @ c), K
    return out


def _inverse_symmetric(J: Any) -> np.ndarray:
    """The inverse of a symmetric 3×3 matrix given by xx yy zz xy xz yz, by its cofactors."""
    size = 1.0 if J.dtype == object else np.abs(J).max(axis=0)  # so that products neither overflow nor vanish
    xx, yy, zz, xy, xz, yz = J / size
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    d, e, f = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    scale = 1.0 / (xx * a + xy * b + xz * c) / size
    return np.array([[a, b, c], [b, d, e], [c, e, f]]) * scale
