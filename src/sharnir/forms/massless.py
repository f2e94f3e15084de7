"""Whether every joint moves mass: decided by where there is mass, not by how much.

A joint moves no mass where some motion of it, with whatever joints behind it help, leaves all that has mass or inertia at
rest. That does not change when a body is made heavier. So each body gets a mass of one and an inertia of one, unless it has
none: a joint that turns a gram below a ship is then told from one that turns nothing.
"""

from __future__ import annotations

import numpy as np

from ..errors import SingularError, known
from ..model.body import Body
from ..model.joints import Ball, Compound, Free, Universal
from ..model.placed_joint import PlacedJoint
from .blocks import skew
from .lagrange2 import composite_inertia
from .matrices import Matrices

POINT = 1e-20
"""m²: radius of gyration squared below which the inertia of a body is rounding of a point mass, as of iCub's head."""
NOTHING = 1e-13
"""Share of the inertia a joint carries that rounding leaves where the joint moves none of it."""


DEPENDENT = 1e-9
"""Least singular value of axes of length one that are dependent: two that coincide differ by the rounding of an angle."""


def check_axes(m: Matrices) -> None:
    """Raise SingularError where axes of a chain of rotations coincide: accelerations are rounding there, divided by nothing."""
    for A, rotors, joint in zip(m.A_blocks, m.rotor_blocks, m.structure.placed, strict=True):
        if isinstance(joint.type, Compound) and A.shape[1] > 1:
            size, Vt = np.linalg.svd(A / np.maximum(np.linalg.norm(A, axis=0), NOTHING))[1:]
            if size[-1] < DEPENDENT and not (np.abs(Vt[-1]) > DEPENDENT)[rotors > 0.0].any():
                raise SingularError(_coinciding(joint, Vt[-1]))


def _coinciding(joint: PlacedJoint, way: np.ndarray) -> str:
    names = [name for name, x in zip(joint.v_names, way, strict=True) if abs(x) > 1e-6]
    what = f"the axes of {known(names)} coincide (gimbal lock)" if len(names) == 2 else f"{known(names)} are dependent"
    return (
        f"joint {joint.name!r}: in this position {what}, and no force decides how much each moves; take sharnir.Ball, which has "
        "no such position, or another order of the axes, or start elsewhere"
    )


def check_inertia(m: Matrices) -> None:
    """Raise SingularError where some joint moves no mass."""
    masses = [unit_mass_matrix(body) for body in m.structure.bodies]
    if m.structure.coupled:
        _check_coupled(m, masses)
    else:
        _check_joints(m, masses)


def unit_mass_matrix(body: Body) -> np.ndarray:
    """M_i of a body of the same kind: of mass one where it has mass, with a largest moment of inertia about its centre of mass of
    one where it has any."""
    m, J, r = float(body.mass > 0.0), body.inertia_matrix(), skew(np.array(body.com))
    largest = float(np.abs(J).max())
    rounding = body.mass * (POINT + NOTHING * float(np.dot(body.com, body.com)))
    J = J * (0.0 if largest <= rounding else 1.0 / largest)
    return np.block([[m * np.eye(3), -m * r], [m * r, J - m * r @ r]])


def _check_joints(m: Matrices, masses: list[np.ndarray]) -> None:
    """Check by elimination from the leaves inward, as in (D3)."""
    carried, U = [float(np.trace(M)) for M in masses], [np.zeros((0, 0))] * m.N
    axes, rotors, C, carriers = m.A_blocks, m.rotor_blocks, m.C, m.k
    for i in range(m.N - 1, -1, -1):
        A, M, k = axes[i], masses[i], carriers[i]
        U[i] = A.T @ M @ A + np.diag((rotors[i] > 0.0) * 1.0)
        if not np.isfinite(U[i]).all():
            name = m.structure.placed[i].name
            raise SingularError(f"the inertia that joint {name!r} moves is not a finite number: lengths there are too large")
        least, size = np.linalg.eigvalsh(U[i])[0] if U[i].size else np.inf, carried[i] * np.abs(A).max(initial=0.0) ** 2
        if least < -NOTHING * size:
            raise SingularError(_indefinite(m))
        if not least > NOTHING * size:
            raise SingularError(_without_mass(m, i, np.linalg.eigh(U[i])[1][:, 0], masses, U))
        if k >= 0:
            masses[k] += C[i].T @ (M - M @ A @ np.linalg.solve(U[i], A.T @ M)) @ C[i]
            carried[k] += carried[i]


def _without_mass(m: Matrices, i: int, way: np.ndarray, MA: list[np.ndarray], U: list[np.ndarray]) -> str:
    """Words for joint i that moves in one way without moving a mass: alone, or because joints further out undo its motion."""
    v, moving = {i: m.A_blocks[i] @ way}, [i]
    for j in range(i + 1, m.N):
        k = m.k[j]
        if k in v:
            carried, A = m.C[j] @ v[k], m.A_blocks[j]
            x = -np.linalg.solve(U[j], A.T @ MA[j] @ carried)  # what makes the motion of least energy
            v[j] = carried + A @ x
            if x.size and np.abs(x).max() > 1e-6 * np.abs(way).max():
                moving.append(j)
    names = [m.structure.placed[j].name for j in moving]
    body = m.structure.bodies[i].name
    or_cut = ", or cut it in place of another joint of its loop: add_joint(…, cut=True)" if m.model.closing_joints else ""
    if len(moving) == 1:
        if not np.abs(v[i]).max() > DEPENDENT * np.abs(m.A_blocks[i]).max():
            return _coinciding(m.structure.placed[i], way)
        if np.trace(MA[i]) > 0.0 and (spin := np.linalg.norm(v[i][3:])) > DEPENDENT:
            return _on_an_axis(m.structure.placed[i], body, v[i][3:] / spin) + or_cut
        axes = "axis" if m.A_blocks[i].shape[1] == 1 else "axes"
        return (
            f"joint {names[0]!r} moves no mass: nothing with inertia about its {axes} hangs on it "
            f"(body {body!r} and what it carries); give that body mass or inertia, or weld the joint{or_cut}"
        )
    light = [m.structure.bodies[j].name for j in v if np.abs(v[j]).max() > 1e-6 * np.abs(v[i]).max()]
    return (
        f"joints {known(names)} together move no mass: what the first does the others undo, and only {known(light)} moves, "
        f"without inertia about that axis; give {light[0]!r} mass or inertia, or weld one of the joints{or_cut}"
    )


def _on_an_axis(joint: PlacedJoint, body: str, axis: np.ndarray) -> str:
    k = int(np.abs(axis).argmax())
    shown = "xyz"[k] if abs(axis[k]) > 1.0 - DEPENDENT else np.array2string(axis, precision=4, separator=", ")
    other = {Ball: "Universal", Universal: "Revolute", Free: "Translation"}.get(type(joint.type))
    return (
        f"joint {joint.name!r} moves no mass when it turns about the axis {shown} of body {body!r}: all that it carries lies "
        f"on that axis, without inertia about it. Give {body!r} an inertia (inertia=…, or a shape such as sharnir.Sphere), "
        + (f"take sharnir.{other}, which does not turn so, or weld the joint" if other else "or weld the joint")
    )


def _indefinite(m: Matrices) -> str:
    """Words for a mass matrix with a negative eigenvalue: only an inertia that no body can have makes one."""
    least = {body.name: float(np.linalg.eigvalsh(body.inertia_matrix())[0]) for body in m.structure.bodies}
    body = min(least, key=lambda name: least[name])
    return (
        f"the mass matrix is not positive definite: the inertia of body {body!r} is unphysical, a principal moment about its "
        f"centre of mass is {least[body]:.3g} kg m²; correct it: no body has negative moments, none exceeds the sum of the others"
    )


def _check_coupled(m: Matrices, masses: list[np.ndarray]) -> None:
    """Check where joints share speeds: by the least eigenvalue of the whole inertia matrix."""
    moved = m.rotors > 0.0
    for i in m.deformed:
        moved[m.elastic(i)] = True  # a deformation moves the mass of its body
    inertia = composite_inertia(m, masses, np.diag(moved * 1.0))
    if not np.isfinite(inertia).all():
        raise SingularError("the inertia of the mechanism is not a finite number: lengths in it are too large")
    values, vectors = np.linalg.eigh(inertia)
    if values[0] < -NOTHING * values[-1]:
        raise SingularError(_indefinite(m))
    if not values[0] > NOTHING * values[-1]:
        name = m.model.v_names[int(np.argmax(np.abs(vectors[:, 0])))]
        raise SingularError(f"{name!r} and the joints coupled to it move no mass; give their bodies mass or inertia")
