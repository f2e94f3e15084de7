"""Forces and constraints in groups: those of one shape share a graph; arrays hold their differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ...errors import ModelError
from ...trace import Graph, Number, Symbol, call_traced, has_parameters, is_parametric, is_zero
from ...types import integers
from ..motion import Motion, Observed, OneCoordinate
from .force_element import Force, Numbers, parts_of
from .layout import WIDTH, Layout
from .shape import Shape, TracedForce, rebuilt

if TYPE_CHECKING:
    from ..constraints import Constraint
    from ..structure import Structure

# --- one kind: of one class, with fields that differ in numbers and names only; one trace serves all
NO_STATES: Mapping[str, str] = {}
Alike: TypeAlias = "Force | Constraint"
"""A force or a constraint of which there may be thousands."""


class Signature(NamedTuple):
    """The kind of a force or a constraint, equal for all that share a trace, and their differences."""

    kind: tuple[Any, ...]
    rows: list[int]
    """The row of every body it names, then the first coordinate and the first speed of every joint, then its first state."""
    numbers: Numbers
    n_bodies: int
    n_states: int = 0

    def flat(self) -> Iterator[float]:
        """The numbers that differ: neither zeros nor formulas of parameters."""
        for x in self.numbers.values():
            if not _is_zero(x):
                yield from (y for y in _as_sequence(x) if not is_parametric(y))


def signature(one: Alike, on: Motion, states: Mapping[str, str] = NO_STATES) -> Signature | None:
    """The kind of one; None: traced by itself. Of `on` only bodies and joints are read. `states`: its own, by local name."""
    bodies, joints = one.bodies(), one.joints()
    if not one.alike or len(set(bodies)) < len(bodies) or len(set(joints)) < len(joints):
        return None
    rows = [on._body(body) for body in bodies]
    if not on.structure.deformations.keys().isdisjoint(rows):
        return None  # how a place of a flexible body moves is its own
    joints_seen: list[Any] = [row == 0 for row in rows]
    for joint in joints:
        found = _joint_signature(on._joint(joint), on)
        if found is None:
            return None
        joints_seen.append(found[0])
        rows += found[1]
    numbers = one.numbers(on)
    forms = tuple([(field, _form(x)) for field, x in numbers.items()])
    named = {x: k for k, x in enumerate((*bodies, *joints))}
    fields = [
        (field, ("named", named[x]) if isinstance(x, str) and x in named else x)
        for field, x in vars(one).items()
        if field not in numbers and field != "name"
    ]
    kind = (type(one), forms, tuple(fields), tuple(joints_seen))
    try:
        hash(kind)
    except TypeError:
        return None
    first = on.structure.state_number[next(iter(states.values()))] if states else 0
    return Signature(kind, [*rows, first], numbers, len(bodies), len(states))


def _joint_signature(placed: Any, on: Motion) -> tuple[tuple[Any, ...], list[int]] | None:
    """A joint as a force sees it apart from its place in the model, and that place; None where its formulas are its own."""
    whole, part = (placed.joint, (placed.k, placed.a)) if isinstance(placed, OneCoordinate) else (placed, None)
    if whole.follows or any(m.given is not None for m in whole.motions) or not whole.nv:
        return None
    s = on.structure
    i = s.joint_number[whole.name] + 1
    kinds = tuple([m.kind for m in whole.motions if m.nq])
    return (kinds, whole.q_names, whole.v_names, part), [int(s.q_first[i]), int(s.v_first[i])]


def _as_sequence(x: Any) -> Sequence[float]:
    return x if hasattr(x, "__len__") else (x,)


def _is_zero(x: Any) -> bool:
    return x is None or is_zero(x)


def _form(x: Any) -> Any:
    """How many numbers, and whether they are all zero: zeros are not traced. Numbers that depend on parameters are traced as they
    are, so that only those of the same formula are alike."""
    if x is None:
        return None
    formulas = tuple([y if is_parametric(y) else None for y in _as_sequence(x)]) if has_parameters(x) else ()
    return len(x) if hasattr(x, "__len__") else 0, not is_zero(x), formulas


class Kind:
    """The shape of a kind, and the places its functions read and act on, given the rows of the bodies and joints they name."""

    def __init__(
        self,
        structure: Structure,
        layout: Layout,
        like: Signature,
        shape: Shape,
        reads: Sequence[tuple[str, int]],
        places: Sequence[tuple[int, str, int]],
        observed: Mapping[str, Observed] | None = None,
    ) -> None:
        """`reads` and `places` of the one that was traced: part of the motion and index in it; of places also where that part
        begins among whatever is acted on."""
        self.shape, self.observed = shape, observed or {}
        self.rows: list[list[int]] = []
        self.numbers: list[float] = []
        self.members: list[int] = []
        n = like.n_bodies
        body = {row: k for k, row in enumerate(like.rows[:n])}
        joint = {"q": like.rows[n:-1:2], "v": like.rows[n + 1 : -1 : 2]}
        last, state = len(like.rows) - 1, like.rows[-1]
        at_state = {"state": 0, "parameter": structure.first_state}
        ends = {part: [int(first[np.searchsorted(first, x, "right")]) for x in joint[part]]
                for part, first in (("q", structure.q_first), ("v", structure.v_first))}  # fmt: skip

        def term(part: str, index: int) -> tuple[int, int, int]:
            """(k, factor, offset): the place of a number in its part is factor · rows[k] + offset; k = −1: the same for all."""
            if part in ("q", "v"):
                for k, (first, end) in enumerate(zip(joint[part], ends[part], strict=True)):
                    if first <= index < end:
                        return n + 2 * k + (part == "v"), 1, index - first
            if part in at_state and 0 <= index - at_state[part] - state < like.n_states:
                return last, 1, index - state
            if part in WIDTH and index // WIDTH[part] in body:
                return body[index // WIDTH[part]], WIDTH[part], index % WIDTH[part]
            return -1, 0, index

        self._reads = [(layout.at[part], *term(part, index)) for part, index in reads]
        self._places = [(at, *term(part, index)) for at, part, index in places]

    def add(self, number: int, like: Signature) -> None:
        self.members.append(number)
        self.rows.append(like.rows)
        self.numbers += like.flat()

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Reads, numbers and places of all of this kind."""
        rows = np.array([[*x, 0] for x in self.rows], dtype=np.int64)  # the zero is for what is the same for all
        numbers = np.array(self.numbers, dtype=float).reshape(len(rows), len(self.shape.numbers))
        return _at(rows, self._reads), numbers, _at(rows, self._places)


def _at(rows: np.ndarray, terms: Sequence[tuple[int, int, int, int]]) -> np.ndarray:
    start, which, times, plus = np.array(terms, dtype=np.int64).reshape(-1, 4).T
    return np.ascontiguousarray(rows[:, which] * times + plus + start)


def symbols_for(graph: Graph, numbers: Numbers) -> tuple[list[Symbol], dict[str, Any]]:
    """The numbers as symbols, and by field; zeros and formulas of parameters stay unchanged."""
    made: list[Symbol] = []

    def symbol(x: Any) -> Any:
        if _is_zero(x):
            return x
        found = tuple([y if is_parametric(y) else graph.input() for y in _as_sequence(x)])
        made.extend(y for y in found if not is_parametric(y))
        return found if hasattr(x, "__len__") else found[0]

    fields = {field: symbol(x) for field, x in numbers.items()}
    return made, fields


# --- groups of one shape, of one kind or not
@dataclass(frozen=True)
class Group:
    """Forces of one shape (or parts of forces), a row of each array for each."""

    shape: Shape
    force: np.ndarray
    """(n, outputs): indices of the forces that the outputs of the shape belong to, mostly one."""
    reads: np.ndarray
    """(n, reads): places in the flat motion."""
    numbers: np.ndarray
    """(n, numbers)"""
    places: np.ndarray
    """(n, pushes): places in the flat vector of pushes."""
    observed: Mapping[str, Observed] = field(default_factory=dict)
    """Observed numbers by name, in the order of the output of that name."""

    def places_of(self, answer: str) -> np.ndarray:
        """Destinations of an output: places of pushes, the index of the force for others."""
        return self.places if answer == "push" else self.force


def grouped(structure: Structure, layout: Layout, forces: Mapping[str, Force]) -> list[Group]:
    """Forces of the library by kind, each kind traced once; those of the user traced one by one, then grouped by equal graphs."""
    on = Motion(structure, Graph())
    states = structure.states_of
    kinds: dict[Any, Kind] = {}
    alone: dict[Any, list[tuple[int, list[int], list[float], list[int]]]] = {}
    for number, (name, whole) in enumerate(forces.items()):
        for part, force in enumerate(parts_of(structure, whole)):
            own = states.get((name, part), {})
            _check_places(structure, force, name, type(whole).__name__)
            like = call_traced(signature, [force, on, own], f"{force.noun} {name!r}")
            if like is not None:
                if like.kind not in kinds:
                    kinds[like.kind] = _kind(structure, layout, force, name, like, own)
                kinds[like.kind].add(number, like)
                continue
            traced = TracedForce(structure, Graph(), force.act, name, own, force.noun)
            (graph, sizes), constants = traced.without_numbers()
            form = (graph, sizes, tuple(traced.observed.items()))
            reads = [layout.at[part] + index for part, index in traced.reads]
            places = [at + index for at, _, index in traced.places(layout)]
            alone.setdefault(form, []).append((number, reads, constants, places))
    groups = [Group(kind.shape, integers(kind.members)[:, None], *kind.arrays(), kind.observed) for kind in kinds.values()]
    for form, found in alone.items():
        of, read, constants_of, pushed = zip(*found, strict=True)
        shape, observed = rebuilt(*form[:2]), dict(form[2])
        groups.append(Group(shape, integers(of)[:, None], integers(read), np.array(constants_of), integers(pushed), observed))
    return groups


def _check_places(structure: Structure, force: Force, name: str, kind: str) -> None:
    """Refuse a force that takes a flexible body for a rigid one."""
    for body in force.bodies() if structure.deformations and not force.at_places else ():
        row = structure.body_number.get(body, -1) + 1
        if row in structure.deformations:
            raise ModelError(
                f"{force.noun} {name!r}: body {body!r} is flexible, and a {kind} needs a rigid one; attach it to "
                f"a node: model.add_node('node', {body!r}, at=(x, y, z))"
            )


def _kind(structure: Structure, layout: Layout, force: Force, name: str, like: Signature, states: Mapping[str, str]) -> Kind:
    graph = Graph()
    symbols, numbers = symbols_for(graph, like.numbers)
    traced = TracedForce(structure, graph, lambda on: force.formula(on, numbers), name, states)
    shape = Shape(graph, list(traced.reads.values()), symbols, traced.outputs)
    return Kind(structure, layout, like, shape, list(traced.reads), traced.places(layout), traced.observed)


def joined(groups: Sequence[Group]) -> Group:
    """Groups of a few forces as one force that acts as all of them: every shape costs a call."""
    graph = Graph()
    reads: dict[int, Symbol] = {}
    numbers: list[Symbol] = []
    outputs: dict[str, list[Number]] = {name: [] for name in groups[0].shape.outputs}
    for group in groups:
        for places in group.reads.tolist():
            reads |= {place: graph.input() for place in places if place not in reads}
            own = graph.inputs(len(group.shape.numbers))
            numbers += own
            values = iter(group.shape.expression(*outputs)(*(reads[place] for place in places), *own))
            for name, symbols in group.shape.outputs.items():
                outputs[name] += [next(values) for _ in symbols]
    arrays = [np.concatenate([getattr(group, name).ravel() for group in groups])[None] for name in ("force", "numbers", "places")]
    shape = Shape(graph, list(reads.values()), numbers, outputs)
    return Group(shape, arrays[0], np.array([list(reads)], dtype=np.int64), arrays[1], arrays[2])
