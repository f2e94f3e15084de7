"""Forces in the coordinates of every joint, from the same motion of the mechanism with all joints of its tree released."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...dynamics import Dynamics
from ...equations.rows.constraint_table import table_of
from ...model.constraints.closing import ClosingJoint
from ...model.couplings import couplings
from ...model.model import Model
from ...model.per_structure import per_structure
from ...model.placed_joint import PlacedJoint
from .derived import Derived, at_states, rows_of, shaped, turned
from .joint_motion import ACCELERATION, COORDINATE, SPEED, values_of

Forces = dict[str, np.ndarray]
"""(…, T, n) on the speeds of joints, by their names, driven and following ones too."""


class Wrench(NamedTuple):
    """World axes; the moment is about the point."""

    force: np.ndarray
    moment: np.ndarray
    point: np.ndarray

    def about(self, point: np.ndarray) -> np.ndarray:
        return self.moment + np.cross(self.point - point, self.force)


@dataclass(frozen=True)
class JointLoads:
    """Forces in joints over a motion. `columns`: (…, T, n, 6), velocity of the moved body per unit of each speed, body axes."""

    own: Forces
    """Joint forces τ and drives."""
    links: dict[str, Forces]
    """Forces of constraints and couplings in the coordinates of joints."""
    columns: Forces

    def borne(self, joint: str) -> np.ndarray | None:
        """The sum of the forces of links in a joint; None where there are none."""
        found = [forces[joint] for forces in self.links.values() if joint in forces]
        return sum(found[1:], found[0]) if found else None


def has_links(r: Derived) -> bool:
    """Whether constraints or couplings may act in the coordinates of joints."""
    model = r.model_with_contacts
    s, others = model.structure, [x for x in model.constraints.values() if not isinstance(x, ClosingJoint)]
    if s.follows or (others and (s.drives or s.given)):
        return True
    return bool(others) and bool(table_of(model).on_bodies.links.kind.any())


def released(model: Model) -> Model:
    """A copy in which every joint of the same tree moves freely."""
    out, closing = model.copy(), {joint.name for joint in model.closing_joints}
    for k, j in enumerate(out.parts.joints):
        if j.name in closing:
            out.parts.joints[k] = replace(j, cut=True)
        else:
            kind = j.type if j.nv == len(j.type.speeds) else j.type.released()
            out.parts.joints[k] = replace(j, cut=False, follows=None, type=kind, motions=kind.built(f"joint {j.name!r}"))
    return out


def released_dynamics(d: Dynamics) -> Dynamics:
    """Dynamics of the released mechanism."""
    return _released_dynamics(d.model, "python" if d.backend == "python" else "auto")


@per_structure
def _released_dynamics(model: Model, backend: str) -> Dynamics:
    return Dynamics(released(model), "separate", backend)


def _motion(r: Derived, d: Dynamics) -> dict[str, Any]:
    """The motion in the coordinates of the released mechanism, as rows."""
    rows = rows_of(r)
    found = {
        what: np.concatenate([values_of(r, j.name, order).reshape(len(rows.t), -1) for j in d.model.joints], axis=1)
        for what, order in (("q", COORDINATE), ("v", SPEED), ("qdd", ACCELERATION))
    }
    return found | {"t": rows.t, "parameter": rows.parameters}


def joint_loads(r: Derived) -> JointLoads:
    """By inverse dynamics of the released mechanism, the bodies under the forces of the constraints on them."""
    d = released_dynamics(r.dynamics)
    names, n, state = [j.name for j in d.model.joints], prod(r.shape), _motion(r, d)
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
    rows = {name: slice(*x) for name, x in zip(names, d.model.structure.tree.own[1:].tolist(), strict=True)}
    return JointLoads(own, links, {name: shaped(r, axes[:, rows[name]]) for name in names})


def _of_constraints(r: Derived, d: Dynamics, state: dict[str, Any]) -> dict[str, Forces]:
    """{constraint: its forces in the coordinates of joints}. The rows are those of the model; rows of released joints alone
    have no multiplier."""
    if d.constrained is None or r.dynamics.constrained is None:
        return {}
    rows, speeds, n = d.constrained.table.on_bodies, [(j.name, k) for j in d.model.joints for k in range(j.nv)], len(state["t"])
    known = dict(zip(r.dynamics.constrained.table.rows, r.multipliers.reshape(n, -1).T, strict=True))
    lam = np.array([known.get(row, np.zeros(n)) for row in rows.rows]).T
    K = rows.evaluate(state["q"], state["v"], state["t"], state["parameter"], ["K"])["K"]
    found: dict[str, Forces] = {}
    for name, forces in rows.speed_forces(K, lam):
        for speed, force in forces.items():
            joint, k = speeds[speed]
            of = found.setdefault(name, {}).setdefault(joint, np.zeros((*r.shape, d.model.joints[d.model.joint_index(joint)].nv)))
            of[..., k] = shaped(r, force)
    return found


def wrench_of(r: Derived, joint: PlacedJoint, columns: np.ndarray, force: np.ndarray) -> Wrench:
    """The wrench of forces on the speeds of a joint on its child: of all with that power the one in the directions that the joint
    allows, taken at the joint. A hinge's is a moment about its axis."""
    moved = r.model.bodies[r.model.joint_index(joint.name)].name
    (R, origin), (_, point) = r.body_frame(moved), r.place((joint.child, joint.child_at))
    arm = turned(R.swapaxes(-1, -2), point - origin)
    A = columns + np.concatenate([np.cross(columns[..., 3:], arm[..., None, :]), np.zeros_like(columns[..., 3:])], axis=-1)
    w = turned(np.linalg.pinv(A), force)
    sign = 1.0 if moved == joint.child else -1.0
    return Wrench(sign * turned(R, w[..., :3]), sign * turned(R, w[..., 3:]), point)
