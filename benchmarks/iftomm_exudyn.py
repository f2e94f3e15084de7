"""The same mechanisms in Exudyn, in every way its examples would model them, and a search for its cheapest settings.

All runs: the build without range checks, one thread, no files, no sensors, no Python function in the loop. Its solvers for
constraints (generalized-α and the trapezoidal rule) are of second order and of fixed step; explicit ones of higher order
serve systems without constraints only: of these problems, the pendulum.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

import sharnir as sh
from sharnir.reporting.timing import cpu_and_wall

from .iftomm_models import Problem, error

sys.exudynFast = True  # type: ignore[attr-defined]
with redirect_stdout(io.StringIO()):
    import exudyn as exu
    from exudyn import itemInterface as items
    from exudyn.rigidBodyUtilities import RigidBodyInertia
exu.config.printToConsole = False
exu.config.suppressWarnings = True

IMPLICIT = ("GeneralizedAlpha", "TrapezoidalIndex2")
NEWTON = {"old": "modified Newton", "of the step": "one Jacobian a step, Newton", "new": "full Newton"}
"""Which Jacobian Newton's method takes: one that serves as long as it converges, that of the step, that of the iteration."""
DENSE, FULL_PIVOT = ("EXUdense", "EigenDense", "EigenSparse"), ("EigenDense, full pivoting",)
PLANE, SPACE = (1, 1, 0, 0, 0, 0), (1, 1, 1, 0, 1, 1)


@dataclass(frozen=True)
class Settings:
    solver: str
    steps: int = 1000
    rtol: float = 0.0
    """Of DOPRI5."""
    rho: float = 0.95
    linear: str = "EXUdense"
    jacobian: str = "old"
    newton: float = 1e-8

    def __str__(self) -> str:
        if self.rtol:
            return f"{self.solver}, rtol = atol = {self.rtol:.2g}"
        if self.solver not in IMPLICIT:
            return f"{self.solver}, {self.steps} steps"
        kind = f"{NEWTON[self.jacobian]} to {self.newton:.0e}, {self.linear}"
        radius = f" ρ = {self.rho:g}," if self.solver == "GeneralizedAlpha" else ""
        return f"{self.solver},{radius} {self.steps} steps, {kind}"

    def made(self, duration: float) -> Any:
        s = exu.SimulationSettings()
        s.solution.file.write, s.solution.sensors.active, s.show.globalTimers = False, False, False
        t = s.timeIntegration
        t.endTime, t.numberOfSteps, t.verboseMode, t.adaptiveStep = duration, self.steps, 0, False
        t.solverType = getattr(exu.DynamicSolverType, self.solver)
        t.automaticStepSize = self.rtol > 0.0
        if self.rtol:
            t.relativeTolerance = t.absoluteTolerance = self.rtol
            t.numberOfSteps, t.initialStepSize, t.minimumStepSize = 10, 1e-3 * duration, 1e-10 * duration
        t.explicit.computeEndOfStepAccelerations = False
        t.generalizedAlpha.spectralRadius = self.rho
        t.newton.useModifiedNewton = self.jacobian != "new"
        t.newton.modifiedNewtonJacUpdatePerStep = self.jacobian == "of the step"
        t.newton.relativeTolerance, t.newton.absoluteTolerance = self.newton, 0.01 * self.newton
        name = self.linear.split(",")[0]
        s.linearSolver.solverType = getattr(exu.LinearSolverType, name)
        s.linearSolver.ignoreSingularJacobian = name != self.linear
        s.linearSolver.reuseAnalyzedPattern = True  # of sparse solvers: up to a quarter faster
        return s


@dataclass
class Built:
    """A mechanism in Exudyn, assembled."""

    name: str
    problem: Problem
    mbs: Any
    look: Callable[[], np.ndarray]
    linear: Sequence[str] = DENSE
    explicit: bool = False
    keep: list[Any] = field(default_factory=list)

    def run(self, settings: Settings) -> tuple[float, float, np.ndarray | None]:
        """CPU time and wall time of the call of its solver, and what is seen at the end: None if it failed."""
        made = settings.made(self.problem.duration)
        solved = []

        def solve() -> None:
            with suppress(Exception):  # SolverError is not exported under one name by all versions
                solved.append(self.mbs.SolveDynamic(made))

        cpu, wall = cpu_and_wall(solve)
        if not any(solved) or self.mbs.systemData.GetTime() < 0.999999 * self.problem.duration:
            return cpu, wall, None
        found = self.look()
        return cpu, wall, found if np.isfinite(found).all() else None


# --- models -----------------------------------------------------------------------------------------------------------------
def new_system() -> tuple[Any, Any]:
    container = exu.SystemContainer()
    return container, container.AddSystem()


def begin(p: Problem) -> tuple[np.ndarray, ...]:
    """Coordinates and speeds; rotations and origins of bodies; velocities of their centres of mass and angular ones, world."""
    q, v = np.array(p.model.coordinates(p.q0)), np.array(p.model.speeds(p.v0))
    oracle = sh.matrices(p.model, q, v)
    (R, r), V = oracle.poses, oracle.v.reshape(-1, 6)
    coms = np.array([b.com for b in p.model.bodies])
    return q, v, R, r, np.einsum("nij,nj->ni", R, V[:, :3] + np.cross(V[:, 3:], coms)), np.einsum("nij,nj->ni", R, V[:, 3:])


def add_spring(p: Problem, mbs: Any, marker: Callable[[str, Any], int]) -> None:
    for force in p.model.forces.values():
        ends = [marker(force.a, force.at_a), marker(force.b, force.at_b)]
        mbs.AddObject(
            items.ObjectConnectorSpringDamper(markerNumbers=ends, referenceLength=force.length, stiffness=force.stiffness)
        )


def planar(p: Problem) -> Built:
    """Rigid bodies in the plane, a pair of equations for every revolute joint: as Exudyn's own IFToMM four-bar."""
    container, mbs = new_system()
    _, _, R, r, velocity, omega = begin(p)
    ground, nodes, objects = mbs.AddObject(items.ObjectGround()), [], {}
    for k, b in enumerate(p.model.bodies):
        com = np.array(b.com, float)
        x = r[k] + R[k] @ com
        place = [x[0], x[1], np.arctan2(R[k, 1, 0], R[k, 0, 0])]
        node = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=place, initialVelocities=[*velocity[k, :2], omega[k, 2]]))
        body = mbs.AddObject(items.ObjectRigidBody2D(nodeNumber=node, mass=b.mass, inertia=b.inertia_matrix()[2, 2]))
        add_weight(p, mbs, body)
        nodes.append(node)
        objects[b.name] = body, com

    def marker(name: str, at: Any) -> int:
        body, com = objects.get(name, (ground, 0.0))
        return mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=list(np.array(at, float) - com)))

    for j in [*p.model.joints, *p.model.closing_joints]:
        ends = [marker(j.parent, j.at.position), marker(j.child, j.child_at.position)]
        mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=ends))
    for torque in p.tau.values():  # on the first body, which stands on the ground
        on = mbs.AddMarker(items.MarkerNodeRigid(nodeNumber=nodes[0]))
        mbs.AddLoad(items.LoadTorqueVector(markerNumber=on, loadVector=[0, 0, torque]))
    add_spring(p, mbs, marker)
    mbs.Assemble()

    def look() -> np.ndarray:
        what = exu.OutputVariableType.Coordinates
        at = [getattr(exu.ConfigurationType, name) for name in ("Reference", "Current")]
        x = np.array([sum(np.array(mbs.GetNodeOutput(n, what, configuration=c)) for c in at) for n in nodes])
        turned = np.array([rotation_z(a) for a in x[:, 2]])
        x[:, 2] = 0.0
        return p.look(x - np.array([T @ np.array(b.com, float) for T, b in zip(turned, p.model.bodies, strict=True)]), turned)

    return Built("plane bodies and joints", p, mbs, look, keep=[container])


def add_weight(p: Problem, mbs: Any, body: int) -> None:
    if np.any(p.model.gravity):
        on = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        mbs.AddLoad(items.LoadMassProportional(markerNumber=on, loadVector=list(p.model.gravity)))


def rotation_z(a: float) -> np.ndarray:
    return np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])


def on_a_rod(p: Problem) -> Built:
    """The pendulum as a point mass at a constant distance."""
    container, mbs = new_system()
    node = mbs.AddNode(items.NodePoint2D(referenceCoordinates=[-1.0, 0.0]))
    body = mbs.AddObject(items.ObjectMassPoint2D(nodeNumber=node, mass=1.0))
    add_weight(p, mbs, body)
    ends = [mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=b)) for b in (mbs.AddObject(items.ObjectGround()), body)]
    mbs.AddObject(items.ObjectConnectorDistance(markerNumbers=ends, distance=1.0))
    mbs.Assemble()
    return Built(
        "point and distance",
        p,
        mbs,
        lambda: np.array(mbs.GetNodeOutput(node, exu.OutputVariableType.Position))[:2],
        keep=[container],
    )


def pinned(p: Problem) -> Built:
    """The pendulum as a body in the plane whose reference point stands still, eliminated by the explicit solver."""
    container, mbs = new_system()
    node = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=[0.0, 0.0, 0.0]))
    body = mbs.AddObject(items.ObjectRigidBody2D(nodeNumber=node, mass=1.0, inertia=1.0, centerOfMass=[-1.0, 0.0]))
    add_weight(p, mbs, body)
    still = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(items.NodePointGround()), coordinate=0))
    for k in (0, 1):
        moving = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=k))
        mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[still, moving]))
    mbs.Assemble()

    def look() -> np.ndarray:
        a = np.array(mbs.GetNodeOutput(node, exu.OutputVariableType.Coordinates))[2]
        return p.look(np.zeros((1, 3)), rotation_z(a)[None])

    return Built("plane body, pin eliminated", p, mbs, look, explicit=True, keep=[container])


def tree(p: Problem, rows: Sequence[int] = PLANE, linear: Sequence[str] = DENSE) -> Built:
    """One kinematic tree in joint coordinates, as ours, and a joint with the given rows closed for every loop."""
    container, mbs = new_system()
    m, n = p.model, p.model.nv
    q, v, *_ = begin(p)
    ground = mbs.AddObject(items.ObjectGround())
    start = {"initialCoordinates": list(q), "initialCoordinates_t": list(v)}
    node = mbs.AddNode(items.NodeGenericODE2(referenceCoordinates=[0.0] * n, numberOfODE2Coordinates=n, **start))
    rotations, inertias, offsets, coms = exu.Matrix3DList(), exu.Matrix3DList(), exu.Vector3DList(), exu.Vector3DList()
    names = [b.name for b in m.bodies]
    for j, b in zip(m.joints, m.bodies, strict=True):
        assert j.child == b.name
        rotations.Append(np.eye(3))
        offsets.Append(list(j.at.position))
        inertias.Append(b.inertia_matrix())
        coms.Append(list(b.com))
    body = mbs.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node, jointTypes=[getattr(exu.JointType, f"Revolute{j.type.axis.upper()}") for j in m.joints],
            linkParents=[-1 if j.parent == "ground" else names.index(j.parent) for j in m.joints],
            jointTransformations=rotations, jointOffsets=offsets, linkInertiasCOM=inertias, linkCOMs=coms,
            linkMasses=[b.mass for b in m.bodies], gravity=list(m.gravity), jointForceVector=list(m.speeds(p.tau)),
        )
    )  # fmt: skip

    def marker(name: str, at: Any) -> int:
        if name == "ground":
            return mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=ground, localPosition=list(at)))
        link = names.index(name)
        return mbs.AddMarker(items.MarkerKinematicTreeRigid(objectNumber=body, linkNumber=link, localPosition=list(at)))

    for j in m.closing_joints:
        ends = [marker(j.parent, j.at.position), marker(j.child, j.child_at.position)]
        mbs.AddObject(items.ObjectJointGeneric(markerNumbers=ends, constrainedAxes=list(rows)))
    add_spring(p, mbs, marker)
    mbs.Assemble()

    def look() -> np.ndarray:
        return p.seen(np.atleast_1d(np.array(mbs.GetNodeOutput(node, exu.OutputVariableType.Coordinates))))

    closed = f", rows {''.join(map(str, rows))}" if m.closing_joints else ""
    return Built(f"kinematic tree{closed}", p, mbs, look, linear, not m.closing_joints, [container])


def spatial(p: Problem, rows: Sequence[int] = SPACE, linear: Sequence[str] = DENSE) -> Built:
    """Rigid bodies in space with Euler parameters, revolute joints, a general joint last: as Exudyn's own Bricard."""
    container, mbs = new_system()
    _, _, R, r, _, _ = begin(p)
    numbers = {"ground": mbs.AddObject(items.ObjectGround())}
    for k, b in enumerate(p.model.bodies):
        com = np.array(b.com, float)
        about = b.inertia_matrix() + b.mass * (com @ com * np.eye(3) - np.outer(com, com))
        inertia = RigidBodyInertia(mass=b.mass, inertiaTensor=about, com=com)
        numbers[b.name] = mbs.CreateRigidBody(
            inertia=inertia, referencePosition=r[k], referenceRotationMatrix=R[k], gravity=list(p.model.gravity)
        )
    where = {"ground": np.zeros(3)} | {b.name: r[k] for k, b in enumerate(p.model.bodies)}
    for j in [*p.model.joints, *p.model.closing_joints]:
        place = {
            "bodyNumbers": [numbers[j.parent], numbers[j.child]],
            "position": where[j.parent] + np.array(j.at.position, float),
        }
        if j in p.model.closing_joints:
            mbs.CreateGenericJoint(constrainedAxes=list(rows), **place)
        else:
            mbs.CreateRevoluteJoint(axis=[float(j.type.axis == a) for a in "xyz"], **place)
    mbs.Assemble()
    third = numbers[p.model.bodies[2].name]

    def look() -> np.ndarray:
        return np.array(mbs.GetObjectOutputBody(third, exu.OutputVariableType.Position, localPosition=[0, 0, 0]))

    return Built(f"bodies and joints in space, last rows {''.join(map(str, rows))}", p, mbs, look, linear, keep=[container])


def builds(p: Problem) -> list[Built]:
    if p.code == "A01":
        return [on_a_rod(p), pinned(p), tree(p)]
    if p.code != "A04":
        return [planar(p), tree(p)]
    fewer = [(1, 1, 1, 0, 1, 0), (0, 1, 1, 0, 1, 1)]  # one of five rows is redundant
    out = [tree(p, SPACE, FULL_PIVOT), *(tree(p, rows) for rows in fewer)]
    return [*out, spatial(p, SPACE, FULL_PIVOT), *(spatial(p, rows) for rows in fewer)]


# --- the search -------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Found:
    built: Built
    settings: Settings
    cpu: float
    wall: float
    error: float

    @property
    def name(self) -> str:
        return f"{self.built.name}; {self.settings}"


def candidates(
    p: Problem, reference: np.ndarray, models: Sequence[Built], steps: int = 0, most: int = 4
) -> tuple[list[Found], list[str]]:
    """The `most` cheapest settings of implicit solvers, and the cheapest of each solver: all are tried with few steps; the error
    falls with the square of their number."""
    steps = steps or PROBE[p.code]
    tries = [
        (built, Settings(solver, steps, linear=linear, jacobian=jacobian))
        for built in models
        for solver, linear, jacobian in product(IMPLICIT, built.linear, NEWTON)
    ]
    runs = []
    for built, settings in tries:  # near singular positions Newton's method may not reach the usual tolerance
        each = (tried(built, s, reference) for s in (settings, replace(settings, newton=1e-6)))
        runs.append((settings, next((f for f in each if f), None)))
    fine = [f for _, f in runs if f and f.error < 0.05]
    notes = []
    for solver in IMPLICIT:
        mine = [f for settings, f in runs if settings.solver == solver]
        lost = sum(f is None or f.error >= 0.05 for f in mine)
        if lost:
            notes.append(f"{p.name}: Exudyn's {solver} failed in {lost} of {len(mine)} trials with {steps} steps")
    ranked = sorted(fine, key=score)
    first = {f.settings.solver: f for f in reversed(ranked)}
    return [tuned(f, reference) for k, f in enumerate(ranked) if k < most or f in first.values()], notes


def score(f: Found) -> float:
    """What a run of second order would cost at a given error."""
    return f.cpu * f.error**0.5


def tuned(top: Found, reference: np.ndarray) -> Found:
    """With the best of a few damping parameters and tolerances of Newton's method, one after the other."""
    for change in [*({"rho": x} for x in (0.6, 0.8, 0.9, 0.99)), *({"newton": x} for x in (1e-10, 1e-6, 1e-5))]:
        if top.settings.solver == "GeneralizedAlpha" or "newton" in change:
            one = tried(top.built, replace(top.settings, **change), reference, 2)
            top = one if one and one.error < 0.05 and score(one) < score(top) else top
    return top


def best(reference: np.ndarray, target: float, models: Sequence[Built], implicit: Sequence[Found], longest: float) -> list[Found]:
    """The cheapest run that reaches the target, or the most exact within `longest` seconds; after it, where an explicit
    solver won, the cheapest implicit one."""
    found = [f for built in models if built.explicit for f in explicit(built, reference, target) if f]
    found += [refined(f, reference, target, longest) for f in implicit]
    reached = sorted((f for f in found if f.error <= target), key=lambda f: f.cpu) or sorted(found, key=lambda f: f.error)
    return [
        *reached[:1],
        *[f for f in reached[1:] if f.settings.solver in IMPLICIT and reached[0].settings.solver not in IMPLICIT][:1],
    ]


def tried(built: Built, settings: Settings, reference: np.ndarray, repeats: int = 1) -> Found | None:
    runs = [built.run(settings) for _ in range(repeats)]
    end = runs[0][2]
    return (
        None if end is None else Found(built, settings, min(r[0] for r in runs), min(r[1] for r in runs), error(end, reference))
    )


def explicit(built: Built, reference: np.ndarray, target: float) -> Iterator[Found | None]:
    """The loosest tolerance, the fewest steps, of every explicit solver of high order."""
    for choices in (
        [Settings("DOPRI5", rtol=10 ** (-3 - k / 8)) for k in range(72)],
        [Settings("RK44", steps=int(40 * 2 ** (k / 8))) for k in range(80)],
        [Settings("RK67", steps=int(20 * 2 ** (k / 8))) for k in range(72)],
    ):
        for settings in choices:
            one = tried(built, settings, reference)
            if one and one.error <= target:
                yield tried(built, settings, reference, 5)
                break


PROBE = {"A01": 4000, "A02": 3000, "A03": 2000, "A04": 1500}
"""Steps of a trial."""


def refined(f: Found, reference: np.ndarray, target: float, longest: float) -> Found:
    """As many steps as the target needs, with Newton's method as tight as it must be; or the most exact of what was tried."""
    found = [f]
    for newton in (x for x in (f.settings.newton, 1e-8, 1e-10, 1e-12) if x <= f.settings.newton):
        last = tried(f.built, replace(f.settings, newton=newton), reference)
        for _ in range(4):
            if last is None:
                break
            steps = int(last.settings.steps * (last.error / (0.97 * target)) ** 0.5) + 1
            if last.cpu * steps / last.settings.steps > longest:
                break
            several = (replace(last.settings, steps=int(x * steps)) for x in (1.0, 1.13))  # some numbers of steps fail
            last = next((x for x in (tried(f.built, s, reference) for s in several) if x), None)
            found += [last] if last else []
            if last and (last.error <= target or last.error > 3.0 * target):  # there, or stuck
                break
        if any(x.error <= target for x in found[1:]):
            break
    reached = [x for x in found if x.error <= target]
    return min(reached, key=lambda x: x.cpu) if reached else min(found, key=lambda x: x.error)
