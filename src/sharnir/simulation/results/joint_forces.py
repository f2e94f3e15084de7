"""Forces of joints: the reaction on the body a joint is named to carry, the power of its actuator, forces in its coordinates.

The last is found by inverse dynamics of the same motion of the mechanism with all joints of its tree released.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...dynamics import Dynamics
from ...equations.rows.constraint_table import table_of
from ...errors import StateError, brief, unknown
from ...model.body import GROUND
from ...model.constraints.closing import ClosingJoint
from ...model.model import Model
from ...model.per_structure import per_structure
from ...model.placed_joint import PlacedJoint, couplings
from ...model.references import is_name_in
from .derived import at_states, rows_of, shaped, turned
from .joint_motion import ACCELERATION, COORDINATE, SPEED, is_cut, values_of

if TYPE_CHECKING:
    from .named_motion import NamedMotion

AXES, POINTS = ("body", "world", "joint"), ("origin", "joint")

Forces = dict[str, np.ndarray]
"""(…, T, n) on the speeds of joints, by their names, driven and following ones too."""


class Wrench(NamedTuple):
    """World axes; the moment is about the point."""

    force: np.ndarray
    moment: np.ndarray
    point: np.ndarray

    def about(self, point: np.ndarray) -> np.ndarray:
        return self.moment + np.cross(self.point - point, self.force)

    def along(self, R: np.ndarray, point: np.ndarray) -> np.ndarray:
        """(…, T, 6) in the axes of a rotation, the moment about another point."""
        back = R.swapaxes(-1, -2)
        return np.concatenate([turned(back, self.force), turned(back, self.about(point))], axis=-1)


def reaction(r: NamedMotion, joint: PlacedJoint, axes: str, at: str) -> np.ndarray:
    """(…, T, 6): force and moment on the joint's child."""
    for what, value, known in (("axes", axes, AXES), ("at", at, POINTS)):
        if not is_name_in(known, value):
            raise StateError(unknown(f"{what}={brief(value)}", value, known, f"values of {what}"))
    i = r.model.structure.joint_number.get(joint.name)
    if i is not None and axes == "body" and at == "origin" and not r.model.tree.reversed[i] and not has_links(r):
        return r.reactions[..., i, :]
    wrench, body, own = _wrench_on_child(r, joint), r.body_frame(joint.child), r.place((joint.child, joint.child_at))
    point = (own if at == "joint" else body)[1]
    if axes == "world":
        return np.concatenate([wrench.force, wrench.about(point)], axis=-1)
    return wrench.along((own if axes == "joint" else body)[0], point)


def _wrench_on_child(r: NamedMotion, joint: PlacedJoint) -> Wrench:
    """The wrench of a joint on its child, also where the tree carries the parent: a joint has no mass, its two wrenches are
    opposite. Forces of constraints and couplings in its coordinates are not counted."""
    i = r.model.structure.joint_number.get(joint.name)
    if i is not None:
        body, numbers = r.model.bodies[i].name, r.reactions[..., i, :]
    else:
        ends = r.forces_on_bodies.get(joint.name, {})
        body = next((end for end in (joint.child, joint.parent) if end in ends), "")
        if not body:
            return Wrench(*np.zeros((3, *r.shape, 3)))  # a joint that forbids nothing
        numbers = ends[body]
    R, origin = r.body_frame(body)
    force, moment = _both(R, numbers, 1.0 if body == joint.child else -1.0)
    if i is None or not has_links(r):
        return Wrench(force, moment, origin)
    found = [forces[joint.name] for forces in r.joint_loads.links.values() if joint.name in forces]
    if not found:
        return Wrench(force, moment, origin)
    links = _wrench_of(r, joint, sum(found[1:], found[0]))
    return Wrench(force - links.force, moment - links.about(origin), origin)


def _both(R: np.ndarray, numbers: np.ndarray, sign: float) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment (…, 6) in the axes of the world."""
    return sign * turned(R, numbers[..., :3]), sign * turned(R, numbers[..., 3:])


def reactions_of_links(r: NamedMotion) -> dict[str, dict[str, np.ndarray]]:
    """{constraint or coupling that acts in coordinates of joints: {body: (…, T, 6) at its origin, in its axes}}."""
    out: dict[str, dict[str, np.ndarray]] = {}
    for name, forces in r.joint_loads.links.items() if has_links(r) else ():
        for joint in (j for j in r.model.joints if j.name in forces):
            wrench, bodies = _wrench_of(r, joint, forces[joint.name]), out.setdefault(name, {})
            for body, sign in ((joint.child, 1.0), (joint.parent, -1.0)):
                if body != GROUND:
                    bodies[body] = bodies.get(body, 0.0) + sign * wrench.along(*r.body_frame(body))
    return out


def power(r: NamedMotion, joint: PlacedJoint) -> np.ndarray:
    """(…, T): power of the joint force τ, and of the drive that moves the joint as a given function of time."""
    if is_cut(r.model, joint):
        return _power_between(r, joint) if joint.type.motion is not None else np.zeros(r.shape)  # an ideal joint does no work
    if joint.follows or joint.nv == len(joint.type.speeds):
        where = r.model.v_slice(joint.name)
        return (np.broadcast_to(r.tau, r.v.shape)[..., where] * r.v[..., where]).sum(axis=-1)
    return (r.joint_loads.own[joint.name] * values_of(r, joint.name, SPEED)).sum(axis=-1)


def _power_between(r: NamedMotion, joint: PlacedJoint) -> np.ndarray:
    """Power of the reaction in the motion of the child relative to the parent."""
    (_, point), wrench = r.place((joint.child, joint.child_at)), _wrench_on_child(r, joint)
    parent, child = r.velocity_of((joint.parent, joint.at)), r.velocity_of((joint.child, joint.child_at))
    arm = point - r.place((joint.parent, joint.at))[1]
    slip = child[..., :3] - parent[..., :3] - np.cross(parent[..., 3:], arm)
    spin = child[..., 3:] - parent[..., 3:]
    total: np.ndarray = (wrench.force * slip).sum(axis=-1) + (wrench.about(point) * spin).sum(axis=-1)
    return total


# --- forces in the coordinates of joints --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class JointLoads:
    """Forces in joints over a motion. `columns`: (…, T, n, 6), velocity of the moved body per unit of each speed, body axes."""

    own: Forces
    """Joint forces τ and drives."""
    links: dict[str, Forces]
    """Forces of constraints and couplings in the coordinates of joints."""
    columns: Forces


def has_links(r: NamedMotion) -> bool:
    """Whether constraints or couplings may act in the coordinates of joints."""
    model = r.model_with_contacts
    s, others = model.structure, [x for x in model.constraints.values() if not isinstance(x, ClosingJoint)]
    if s.follows or (others and (s.drives or s.given)):
        return True
    return bool(others) and bool(table_of(model).on_bodies.links.kind.any())


@per_structure
def _released(model: Model, backend: str) -> Dynamics:
    """Dynamics of a copy in which every joint of the same tree moves freely."""
    out, closing = model.copy(), {joint.name for joint in model.closing_joints}
    for k, j in enumerate(out.parts.joints):
        if j.name in closing:
            out.parts.joints[k] = replace(j, cut=True)
        else:
            kind = j.type if j.nv == len(j.type.speeds) else j.type.released()
            out.parts.joints[k] = replace(j, cut=False, follows=None, type=kind, motions=kind.built(f"joint {j.name!r}"))
    return Dynamics(out, "separate", backend)


def joint_loads(r: NamedMotion) -> JointLoads:
    """Loads by inverse dynamics of the released mechanism, the bodies under the forces of the constraints on them."""
    d = _released(r.dynamics.model, "python" if r.dynamics.backend == "python" else "auto")
    names, n, rows = [j.name for j in d.model.joints], prod(r.shape), rows_of(r)
    state: dict[str, Any] = {
        what: np.concatenate([values_of(r, name, order).reshape(n, -1) for name in names], axis=1)
        for what, order in (("q", COORDINATE), ("v", SPEED), ("qdd", ACCELERATION))
    }
    state |= {"t": rows.t, "parameter": rows.parameters}
    wrenches = np.zeros((n, len(d.model.bodies), 6))
    for bodies in r.forces_on_bodies.values():
        for body, wrench in bodies.items():
            wrenches[:, d.model.body_index(body)] += wrench.reshape(n, 6)
    evaluator = d.solver.evaluator
    tau = evaluator.output("inverse", "tau", **state, wrench=wrenches)
    axes = evaluator.output("axes", "A", **{what: x for what, x in state.items() if what != "qdd"})
    own = {name: shaped(r, tau[:, d.model.v_slice(name)]) for name in names}
    links = {name: forces for name, forces in _of_constraints(r, d, state).items() if forces}
    for forces in links.values():
        for name, force in forces.items():
            own[name] = own[name] - force
    for name, j in couplings(r.model.joints).items():
        if (c := j.follows) is not None:
            force, ratio = own[j.name], at_states(r, c.ratio)[..., None]
            links[name] = {j.name: force, c.leader: -ratio * force}
            own[c.leader], own[j.name] = own[c.leader] + ratio * force, np.zeros_like(force)
    places = zip(names, d.model.structure.tree.own[1:].tolist(), strict=True)
    return JointLoads(own, links, {name: shaped(r, axes[:, slice(*at)]) for name, at in places})


def _of_constraints(r: NamedMotion, d: Dynamics, state: dict[str, Any]) -> dict[str, Forces]:
    """{constraint: its forces in the coordinates of joints}. The rows are those of the model; rows of released joints alone
    have no multiplier."""
    if d.constrained is None or r.dynamics.constrained is None:
        return {}
    rows, speeds, n = d.constrained.table.on_bodies, [(j, k) for j in d.model.joints for k in range(j.nv)], len(state["t"])
    known = dict(zip(r.dynamics.constrained.table.rows, r.multipliers.reshape(n, -1).T, strict=True))
    lam = np.array([known.get(row, np.zeros(n)) for row in rows.rows]).T
    K = rows.evaluate(state["q"], state["v"], state["t"], state["parameter"], ["K"])["K"]
    found: dict[str, Forces] = {}
    for name, forces in rows.speed_forces(K, lam):
        for speed, force in forces.items():
            joint, k = speeds[speed]
            found.setdefault(name, {}).setdefault(joint.name, np.zeros((*r.shape, joint.nv)))[..., k] = shaped(r, force)
    return found


def _wrench_of(r: NamedMotion, joint: PlacedJoint, force: np.ndarray) -> Wrench:
    """The wrench of forces on the speeds of a joint on its child: of all with that power the one in the directions that the joint
    allows, taken at the joint. A hinge's is a moment about its axis."""
    moved, columns = r.model.bodies[r.model.joint_index(joint.name)].name, r.joint_loads.columns[joint.name]
    (R, origin), (_, point) = r.body_frame(moved), r.place((joint.child, joint.child_at))
    arm = turned(R.swapaxes(-1, -2), point - origin)
    A = columns + np.concatenate([np.cross(columns[..., 3:], arm[..., None, :]), np.zeros_like(columns[..., 3:])], axis=-1)
    return Wrench(*_both(R, turned(np.linalg.pinv(A), force), 1.0 if moved == joint.child else -1.0), point)
