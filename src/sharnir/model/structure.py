"""A model prepared for computing: integers and floats in arrays, the user's functions as expressions."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..errors import choices
from ..kernels.joint_stage import GIVEN, Joints
from ..kernels.tree import Tree
from ..trace import Expression, Number
from ..types import FloatArray, IntArray, integers, starts
from .axis_inertia import carried_inertias
from .coordinates import neutral
from .deformation import Deformation, inertia_values, is_held, place_motion, values_before_inertia
from .elimination import Block, shared_unknowns, sizes_of
from .forces.force_element import declared_states
from .forces.own_forces import own_forces
from .forces.table import ForceTable
from .joints.elastic import Elastic
from .joints.joint_type import ElementaryMotion, fixed
from .pose import Pose, Rotation
from .tree_rows import (
    JointRows,
    ParametricData,
    array_of,
    constant_entries,
    distinct,
    floats,
    hinges,
    joint_rows,
    mass_properties,
    separated,
)

if TYPE_CHECKING:
    from .model import Model
    from .placed_joint import PlacedJoint


class Structure:
    """The tree as arrays, never changed. Row 0 of every array is the base; body i of the model is row i + 1."""

    def __init__(self, model: Model) -> None:
        tree = model.tree
        self.bodies = [model.parts.bodies[k] for k in tree.bodies]
        self.placed: list[PlacedJoint] = [model.parts.joints[k] for k in tree.joints]
        self.nb = len(self.bodies)
        self._cut = {model.parts.joints[k].name for k in tree.closing}
        self.carrier = np.concatenate([[0], np.array(tree.carriers, dtype=np.int64) + 1])
        self.parameters: dict[str, float] = dict(model.parameters)
        """Their values where a call gives no others; those of states at the end."""
        self.states: dict[str, float] = {}
        """States of forces, with their initial values."""
        gravity = array_of(model.gravity)
        self.gravity = floats(gravity, self.parameters)
        self.results: dict[Hashable, object] = {}
        """Results of `per_structure` functions."""
        self.runs_as_loops = False
        """Whether one of the model's graphs was too large for straight-line code."""
        self.drives: list[Expression] = []
        self.given: list[tuple[Expression, slice, slice, int]] = []
        self._n_given = 0
        self.types, self.type_of = distinct([j.type for j in self.placed])
        """The different joint types, and which of them joint i is of."""
        self.leader = np.arange(self.nb + 1)
        """The row of the joint whose coordinate moves joint i, itself where it follows none."""
        for i, joint in enumerate(self.placed, start=1):
            if joint.follows is not None:
                self.leader[i] = self.joint_number[joint.follows.leader] + 1
        self.base = model._base
        """The motion of the base, the first of `given`; None where it rests."""
        self.reversed = tree.reversed
        flexible = any(isinstance(joint, Elastic) for joint in self.types)
        self.deformations = deformations_of(self.placed, self.carrier, self.reversed) if flexible else {}
        """Deformations of flexible bodies, by the row of the body."""
        base, here = [ElementaryMotion(GIVEN, given=self.base)] if self.base is not None else [], Pose()
        motions = [j.motions if j.follows is None else self.motions_of(j) for j in self.placed]
        ends = [[here, *(j.at for j in self.placed)], [here, *(j.child_at for j in self.placed)]]
        self.held_by = self._with_deformations(motions, ends) if flexible else {}
        """The deformation that moves the place where joint i hangs, by the row of the joint."""
        rows = joint_rows([base, *motions], ends[0], ends[1], [False, *tree.reversed])
        self.q_first, self.v_first = rows.q_first, rows.v_first
        self.joints = self._joints(rows)
        self.motion_of: np.ndarray = np.repeat(np.arange(len(self.joints.kind)), self.joints.coordinates)
        """The motion every coordinate belongs to."""
        self.first: np.ndarray = self.joints.first
        self.na = int(self.first[-1])
        self.nv = int(self.v_first[-1])
        self.nq = int(self.q_first[-1])
        self.follows = bool((self.leader != np.arange(self.nb + 1)).any())
        """Whether joints follow others."""
        self.coupled = self.na > self.nv or bool(self.deformations)
        """Whether axes share speeds; the deformation of a flexible body and what hangs on it do."""
        self.tree = self._tree(gravity)
        self.tree, of_tree = separated(0, self.tree, self.parameters)
        self.joints, of_joints = separated(1, self.joints, self.parameters)
        entries = [*of_tree, *of_joints]
        self.parametric = ParametricData(entries, model.parts.parameter_graph) if entries else None
        """Entries of both that depend on parameters."""
        forces = model.forces | model.parts.states
        values, self.units_of_states, self.states_of = declared_states(self, forces)
        self.first_state = len(self.parameters)
        """Index of the first state among the parameters: a state is a parameter that has a rate."""
        self.states = {name: model.parts.state_values.get(name, x) for name, x in values.items()}
        self.state_number = {name: k for k, name in enumerate(values)}
        self.parameters |= self.states
        elastic = [d.n for d in self.deformations.values()]
        self.sizes = {
            "nb1": self.nb + 1, "nq": self.nq, "na": self.na, "nda": self.na, "nv": self.nv, "nl": self._multipliers(),
            "nz": 6 + int(np.diff(self.tree.lent_of).max(initial=0)),
            "nfl": len(elastic), "nx": sum(elastic), "nxx": sum(n * n for n in elastic), "nge": 6 + max(elastic, default=-6),
            "nr": len(self.tree.geared), "nd": len(self.drives), "ng": self._n_given,
            "ny": 10 * self.nb + 3 * self.na, "nsm": 0, "nsk": 0, "nsr": 0, **sizes_of(self.shared),
        }  # fmt: skip
        own = own_forces(self, forces, model.parts, lambda: carried_inertias(self, model.parts.parameter_graph))
        self.forces = ForceTable(self, {**own, **forces})
        self.sizes |= {"nf": self.nv if self.forces else 0, "ne": len(self.forces)}

    def _multipliers(self) -> int:
        """Size of the system of the multipliers, rotors and lent inertias among them."""
        return max(6 * self.nb - self.na + len(self.tree.geared) + int(self.tree.lent_of[-1]), 0)

    @property
    def structure(self) -> Structure:
        """The structure itself: `per_structure` functions take models and structures."""
        return self

    def with_constraints(self, blocks: Sequence[Block], rows: int, numbers: int) -> Structure:
        """The structure with `rows` rows of constraints, of `numbers` numbers in K, among the unknowns that bodies share."""
        out = copy.copy(self)
        out.results, out.runs_as_loops = {}, False
        out.shared = shared_unknowns(self.tree.carrier, self.tree.first, self.tree.speed, blocks, self.tree.deformed)
        out.tree = self.tree._replace(**out.shared._asdict())
        out.sizes = {**self.sizes, **sizes_of(out.shared), "nsm": rows, "nsk": numbers}
        return out

    def without_forces(self) -> Structure:
        """The structure without forces, springs and dampers of joints included."""
        out = copy.copy(self)
        out.results, out.forces, out.sizes = {}, copy.copy(self.forces), {**self.sizes, "nf": 0, "ne": 0}
        out.forces.forces = {}
        return out

    @cached_property
    def body_number(self) -> dict[str, int]:
        return {body.name: i for i, body in enumerate(self.bodies)}

    @cached_property
    def joint_number(self) -> dict[str, int]:
        return {joint.name: i for i, joint in enumerate(self.placed)}

    @cached_property
    def neutral(self) -> FloatArray:
        """The coordinates of the reference position."""
        return neutral(self.placed)

    @cached_property
    def elastic_speeds(self) -> IntArray:
        """Numbers of the speeds of flexible bodies' elastic coordinates."""
        rows = [self.v_slice(d.row) for d in self.deformations.values()]
        return integers([k for row in rows for k in range(row.start, row.stop)])

    @cached_property
    def quaternions(self) -> IntArray:
        """First indices of quaternions in q."""
        within = [joint.quaternions() for joint in self.types]
        first = zip(self.q_first[1:-1].tolist(), self.type_of.tolist(), strict=True)
        return np.array([at + k for at, kind in first for k in within[kind]], dtype=np.int64)

    def q_slice(self, row: int) -> slice:
        """The coordinates of a row of the tree among all."""
        return slice(int(self.q_first[row]), int(self.q_first[row + 1]))

    def v_slice(self, row: int) -> slice:
        """The speeds of a row of the tree among all."""
        return slice(int(self.v_first[row]), int(self.v_first[row + 1]))

    def __repr__(self) -> str:
        return f"<Structure: {self.nb} bodies, {self.nq} coordinates, {self.nv} speeds>"

    def where_is(self, name: object, names: Iterable[str] | None = None, plural: str = "joints") -> str:
        """Why a joint, or a coordinate of one, is not in the tree, as the end of a sentence: it is cut, or there is none such
        among `names` (all joints, where none are given)."""
        every = [*self.joint_number, *sorted(self._cut)] if names is None else names
        return self.why_cut(name) or choices(name, every, plural)

    def why_cut(self, name: object) -> str:
        """Why a joint, or a coordinate of one, has no coordinates, as the end of a sentence: it is cut. Empty if it is not."""
        cut = next((j for j in self._cut if isinstance(name, str) and (name == j or name.startswith(f"{j}."))), None)
        if cut is None:
            return ""
        return (
            f"{'it' if cut == name else f'joint {cut!r}'} closes a loop and is cut: it has no coordinates, its reactions are in "
            "closing_reactions; to keep it give it cut=False, or another joint of the loop cut=True, or split its child: "
            f"model.split({cut!r})"
        )

    def motions_of(self, joint: PlacedJoint) -> list[ElementaryMotion]:
        """The motions of a joint; where it follows another, with the leader's coordinate in place of its own."""
        if joint.follows is None:
            return joint.motions
        leader = self.placed[self.joint_number[joint.follows.leader]]
        drive = next((m.drive for m in leader.motions if m.drive is not None), None)
        out: list[ElementaryMotion] = []
        for m in joint.motions:
            if m.nq:
                ratio, x = joint.follows.ratio, joint.follows.offset
                out += fixed(Pose((0.0, 0.0, m.slide * x), Rotation.about("z", m.turn * x)))
                out.append(
                    ElementaryMotion(m.kind, turn=m.turn * ratio, slide=m.slide * ratio, drive=drive, leader=drive is None)
                )
            else:
                out.append(m)
        return out

    def _with_deformations(self, motions: list[list[ElementaryMotion]], ends: Sequence[list[Pose]]) -> dict[int, Deformation]:
        """Motions of the joints of deformations, and of joints that hang on a deformed place: it moves in place of the one where
        they hang. Changes both lists."""
        out: dict[int, Deformation] = {}
        of_row = {d.row: d for d in self.deformations.values()}
        for i, joint in enumerate(self.placed, start=1):
            if i in of_row:
                d = of_row[i]
                motions[i - 1] = [ElementaryMotion(GIVEN, nq=d.n, nv=d.n, given=inertia_values(d.shapes))]
            elif (held := of_row.get(int(self.carrier[i]))) is not None:
                back = self.reversed[i - 1]
                at = ends[back][i]
                if is_held(held.shapes, at):
                    continue
                out[i] = held
                moved = place_motion(held.shapes, at, back, f"joint {joint.name!r}")
                motion = ElementaryMotion(GIVEN, given=moved, leader=True, axes=held.n)
                motions[i - 1] = [*motions[i - 1], motion] if back else [motion, *motions[i - 1]]
                ends[back][i] = Pose()
        return out

    def _elastic_arrays(self, rows: IntArray) -> tuple[IntArray, ...]:
        """`Tree`: elastic, deformed, coordinate, elastic_block, flexed, own."""
        which = np.full(self.nb + 1, -1)
        which[rows] = np.arange(len(rows))
        n = integers([d.n for d in self.deformations.values()])
        flexed = np.full(self.nb + 1, -1)
        flexed[[d.body for d in self.deformations.values()]] = np.arange(len(rows))
        own = np.stack([self.first[:-1], self.first[1:]], axis=1)
        for i, d in self.held_by.items():
            own[i] += (0, -d.n) if self.reversed[i - 1] else (d.n, 0)
        return which, rows, starts(n), np.cumsum(n * n) - n * n, flexed, own

    def _joints(self, rows: JointRows) -> Joints:
        """The rows with the indices of the values of the user's functions, and of the coordinates that lead others."""
        j = rows.joints
        joint = np.searchsorted(j.start, rows.led, side="right") - 1
        leader = self.leader[joint]
        places = [k for k, m in rows.users if m.leader]
        for x in np.flatnonzero(np.isin(rows.led, places)).tolist():
            leader[x] = self.held_by[int(joint[x])].row
        j.q_at[rows.led], j.v_at[rows.led] = rows.q_first[leader], rows.v_first[leader]
        for k, m in rows.users:
            if m.drive is not None:
                j.data_at[k] = len(self.drives)
                self.drives.append(m.drive)
            if m.given is not None:
                q, v = int(j.q_at[k]), int(j.v_at[k])
                nq, nv = (m.axes, m.axes) if m.leader else (m.nq, m.nv)
                j.data_at[k] = self._n_given
                self.given.append((m.given, slice(q, q + nq), slice(v, v + nv), self._n_given))
                self._n_given += len(m.given.outputs)
        deformations = self.deformations.values()
        at = [int(j.data_at[j.start[d.row]]) + values_before_inertia(d.n) for d in deformations]
        return j._replace(elastic_at=integers(at), coordinate=starts([d.n for d in deformations]))

    def user_functions(
        self, q: Sequence[Number], v: Sequence[Number], t: Number, parameters: Sequence[Number] | None = None
    ) -> tuple[list[tuple[Number, ...]], list[Number]]:
        """The values of the user's functions on generic scalars: driven coordinates and GIVEN motions."""
        named = self.named_parameters(parameters)
        drive = [expression(t, parameters=named) for expression in self.drives]
        given: list[Number] = [0.0] * self._n_given
        for expression, of_q, of_v, at in self.given:
            values = expression(*q[of_q], *v[of_v], t, parameters=named)
            given[at : at + len(values)] = values
        return drive, given

    def named_parameters(self, values: Sequence[Number] | None) -> dict[str, Number]:
        """Parameters by name; the model's own where none are given."""
        return self.parameters if values is None else dict(zip(self.parameters, values, strict=True))

    def data(self, parameters: Sequence[Number]) -> tuple[Tree, Joints]:
        """Tree and joints as floats, at other values of the parameters."""
        if self.parametric is None:
            return self.tree, self.joints
        tree, joints = self.parametric.filled((self.tree, self.joints), self.named_parameters(parameters))
        return tree, joints

    def _tree(self, gravity: np.ndarray) -> Tree:
        owner = np.repeat(np.arange(self.nb + 1), np.diff(self.first))
        above = axes_above(self.carrier, self.first, owner)
        speed, rotor = self._speeds_and_rotors(owner)
        masses, lent = mass_properties(self.bodies, self.parameters)
        rows = integers([d.row for d in self.deformations.values()])
        self.shared = shared_unknowns(self.carrier, self.first, speed, (), rows)
        geared, borrowed = _nonzero(rotor), lent.number[masses[3]]
        borrowed[rows] = 0  # a deformation is part of its body
        return Tree(
            self.carrier, last_children(self.carrier), self.first, above, stretches(above), owner, hinges(self.joints), speed,
            geared, rotor, *masses, gravity, *self._elastic_arrays(rows), np.searchsorted(geared, [*self.first]),
            starts(borrowed), lent.first, lent.l, *self.shared,
        )  # fmt: skip

    def _speeds_and_rotors(self, owner: IntArray) -> tuple[IntArray, FloatArray]:
        """For every axis the speed that moves it, and the inertia of its rotor per unit of that speed."""
        j, axes = self.joints, np.arange(self.na)
        motion = np.repeat(np.arange(len(j.axes)), j.axes)
        speed = j.v_at[motion] + axes - (np.cumsum(j.axes) - j.axes)[motion]
        own = np.diff(self.first)
        within = axes - self.first[owner]  # among the axes of the joint itself: those of the place where it hangs have no rotor
        for i, d in self.held_by.items():
            own[i] -= d.n
            within[owner == i] -= 0 if self.reversed[i - 1] else d.n
        has_rotor = (within >= 0) & (within < own[owner])
        width = int(own.max(initial=0)) + 1
        kinds, first, kind_of = np.unique(self.type_of * width + own[1:], return_index=True, return_inverse=True)
        rows: list[list[Number]] = [[0.0] * width for _ in kinds]  # by type and number of axes
        for k in np.argsort(first).tolist():
            joint, n = self.placed[first[k]], int(own[1:][first[k]])
            if n:  # the rotor of a driven joint loads its drive: `own_springs`
                rows[k][:n] = joint.type.per_speed("armature", n, f"joint {joint.name!r}")
        armature = array_of(rows).reshape(-1, width)
        ratio = array_of([1.0, *(1.0 if j.follows is None else j.follows.ratio for j in self.placed)])
        rotor = armature[kind_of[owner - 1], np.where(has_rotor, within, width - 1)] * ratio[owner] ** 2
        return speed, rotor


def deformations_of(placed: Sequence[PlacedJoint], carrier: IntArray, backwards: Sequence[bool]) -> dict[int, Deformation]:
    """The deformations of flexible bodies, by the row of the body; held by the joints that carry the bodies."""
    out: dict[int, Deformation] = {}
    for row, joint in enumerate(placed, start=1):
        if isinstance(joint.type, Elastic):
            body = int(carrier[row])
            holding = placed[body - 1]
            root = (holding.at if backwards[body - 1] else holding.child_at).position
            out[body] = Deformation(body, row, joint.type.flexible.rooted(tuple(float(x) for x in root)))
    return out


def _nonzero(x: np.ndarray) -> IntArray:
    """Indices of numbers other than the constant zero."""
    found = ~constant_entries(x)
    found[~found] = x[~found] != 0.0
    return np.flatnonzero(found)


def axes_above(carrier: IntArray, first: IntArray, owner: IntArray) -> IntArray:
    """For every axis the next one towards the base, -1 where there is none."""
    bodies = np.arange(len(carrier))
    bearing = np.where(np.diff(first) > 0, bodies, carrier)  # itself, or the nearest body towards the base whose joint has axes
    while not np.array_equal(further := bearing[bearing], bearing):  # welds on welds: pointer doubling
        bearing = further
    last = np.where(np.diff(first)[bearing] > 0, first[bearing + 1] - 1, -1)
    axes = np.arange(len(owner))
    return np.where(axes > first[owner], axes - 1, last[carrier[owner]])


def stretches(above: IntArray) -> IntArray:
    """For every axis the first of the run of consecutive axes that ends with it: above[a] = a - 1 within a run."""
    starts = np.flatnonzero(above != np.arange(-1, len(above) - 1)) if len(above) else np.zeros(0, dtype=np.int64)
    if len(above) and above[0] == -1 and (not len(starts) or starts[0] != 0):
        starts = np.concatenate([[0], starts])
    return starts[np.searchsorted(starts, np.arange(len(above)), side="right") - 1].astype(np.int64)


def last_children(carrier: IntArray) -> IntArray:
    """For every body the last of those it carries, 0 where it carries none."""
    out = np.zeros(len(carrier), dtype=np.int64)
    out[carrier[1:]] = np.arange(1, len(carrier))  # of several, the last one remains
    return out
