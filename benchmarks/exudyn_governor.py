"""The flyball governor in Exudyn: as a tree of joint coordinates, and as rigid bodies with joints between them.

Exudyn runs without range checks, in one thread, without files, without functions of Python; it prints nothing.
Tried besides the settings below, and slower or failing: full Newton, a Jacobian for every step, tighter Newton
tolerances, Euler angles or rotation vectors for the bodies, midpoint rule and RK67, accelerations at the ends of steps.
"""

from __future__ import annotations

import contextlib
import io
import math
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import sharnir as sh

from .governor import (
    ANGLE,
    DAMPING,
    DENSITY,
    DURATION,
    EDGE,
    HEIGHT,
    LENGTH,
    ROD,
    SIDE,
    SPEED,
    STIFFNESS,
    THICK,
    loaded_rod,  # fmt: skip
)

sys.exudynFast = True  # type: ignore[attr-defined]  # selects the build without range checks, before the import
with contextlib.redirect_stdout(io.StringIO()):
    import exudyn as exu
    import exudyn.utilities as eu

exu.config.printToConsole = False

Run = Callable[[], tuple[np.ndarray, np.ndarray]]
GRAVITY = [0.0, 0.0, -9.81]
HALF_TURN = np.diag([-1.0, -1.0, 1.0])
"""The left rod's frame: half a turn about the shaft."""


def solids() -> list[tuple[float, np.ndarray, np.ndarray]]:
    """Mass, centre (from the joint) and inertia of shaft, slider, both rods along x."""
    shaft = sh.Box((THICK, THICK, ROD), sh.Pose((0, 0, ROD / 2))).mass_properties(None, DENSITY, "shaft")
    slider = sh.Box((EDGE, EDGE, EDGE)).mass_properties(None, DENSITY, "slider")
    return [(m, np.array(c, dtype=float), J) for m, c, J in (shaft, slider, loaded_rod(), loaded_rod())]


class Governor:
    """An assembled system and the sensor of its slider."""

    def __init__(self, mbs: Any, sensor: Any, column: int) -> None:
        mbs.Assemble()
        self.mbs, self.sensor, self.column = mbs, sensor, column

    def run(self, solver: Any, settings: Any) -> tuple[np.ndarray, np.ndarray]:
        try:
            self.mbs.SolveDynamic(settings, solverType=solver, showHints=False, showCausingItems=False)
        except (ValueError, RuntimeError):
            return np.array([0.0]), np.array([math.nan])
        rows = np.array(self.mbs.GetSensorStoredData(self.sensor))
        return rows[:, 0], rows[:, self.column]


def tree() -> Governor:
    """Four coordinates, no constraints: Exudyn's KinematicTree."""
    mbs = exu.SystemContainer().AddSystem()
    start = {"initialCoordinates": [0, HEIGHT, ANGLE, ANGLE], "initialCoordinates_t": [SPEED, 0, 0, 0]}
    node = mbs.AddNode(eu.NodeGenericODE2(referenceCoordinates=[0] * 4, numberOfODE2Coordinates=4, **start))
    masses, centres, inertias = zip(*solids(), strict=True)
    kinds = exu.JointType
    body = mbs.AddObject(
        eu.ObjectKinematicTree(
            nodeNumber=node,
            gravity=GRAVITY,
            jointTypes=[kinds.RevoluteZ, kinds.PrismaticZ, kinds.RevoluteY, kinds.RevoluteY],
            linkParents=[-1, 0, 0, 0],
            jointTransformations=exu.Matrix3DList([np.eye(3), np.eye(3), np.eye(3), HALF_TURN]),
            jointOffsets=exu.Vector3DList([[0, 0, 0], [0, 0, 0], [SIDE, 0, ROD], [-SIDE, 0, ROD]]),
            linkInertiasCOM=exu.Matrix3DList(list(inertias)),
            linkCOMs=exu.Vector3DList([list(c) for c in centres]),
            linkMasses=list(masses),
        )
    )
    for link, side in ((2, SIDE), (3, -SIDE)):
        rod = mbs.AddMarker(eu.MarkerKinematicTreeRigid(objectNumber=body, linkNumber=link, localPosition=[ROD / 2, 0, 0]))
        slider = mbs.AddMarker(eu.MarkerKinematicTreeRigid(objectNumber=body, linkNumber=1, localPosition=[side, 0, 0]))
        spring(mbs, rod, slider)
    what = exu.OutputVariableType.Coordinates
    return Governor(mbs, mbs.AddSensor(eu.SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=what)), 2)


def bodies() -> Governor:
    """Rigid bodies with Euler parameters, joints as constraints."""
    mbs = exu.SystemContainer().AddSystem()
    down, spin = eu.RotationMatrixY(ANGLE), [0.0, 0.0, SPEED]
    rotations = [np.eye(3), np.eye(3), down, HALF_TURN @ down]
    origins = [np.zeros(3), np.array([0, 0, HEIGHT]), np.array([SIDE, 0, ROD]), np.array([-SIDE, 0, ROD])]
    parts = []
    for (mass, centre, J), R, origin in zip(solids(), rotations, origins, strict=True):
        place = origin + R @ centre
        inertia = eu.RigidBodyInertia(mass=mass, inertiaTensor=J, com=[0, 0, 0], inertiaTensorAtCOM=True)
        motion = {"initialVelocity": list(np.cross(spin, place)), "initialAngularVelocity": spin, "gravity": GRAVITY}
        frame = {"referencePosition": list(place), "referenceRotationMatrix": R}
        kind = exu.NodeType.RotationEulerParameters
        parts.append(mbs.CreateRigidBody(inertia=inertia, nodeType=kind, **frame, **motion))
    shaft, slider, right, left = parts
    along = float(solids()[2][1][0])

    def at(body: Any, x: float = 0.0, z: float = 0.0) -> Any:
        return mbs.AddMarker(eu.MarkerBodyRigid(bodyNumber=body, localPosition=[x, 0, z]))

    def joint(a: Any, b: Any, axes: list[int], turned: np.ndarray) -> None:
        mbs.AddObject(eu.GenericJoint(markerNumbers=[a, b], constrainedAxes=axes, rotationMarker0=turned))

    joint(at(mbs.CreateGround()), at(shaft, z=-ROD / 2), [1, 1, 1, 1, 1, 0], np.eye(3))
    joint(at(shaft), at(slider), [1, 1, 0, 1, 1, 1], np.eye(3))
    for rod, side, turned in ((right, SIDE, np.eye(3)), (left, -SIDE, HALF_TURN)):
        joint(at(shaft, side, ROD / 2), at(rod, -along), [1, 1, 1, 1, 0, 1], turned)
        spring(mbs, at(rod, ROD / 2 - along), at(slider, side))
    what = exu.OutputVariableType.Position
    return Governor(mbs, mbs.AddSensor(eu.SensorBody(bodyNumber=slider, storeInternal=True, outputVariableType=what)), 3)


def spring(mbs: Any, a: Any, b: Any) -> None:
    force = {"stiffness": STIFFNESS, "damping": DAMPING, "referenceLength": LENGTH}
    mbs.AddObject(eu.SpringDamper(markerNumbers=[a, b], **force))


# --- settings -------------------------------------------------------------------------------------------------------------
def common(steps: float) -> Any:
    """So many steps a second, no files, one thread, the slider noted every second."""
    settings = exu.SimulationSettings()
    settings.timeIntegration.endTime, settings.timeIntegration.numberOfSteps = DURATION, round(DURATION * steps)
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = 1.0
    settings.parallel.numberOfThreads = 1
    return settings


def explicit(steps: float, tolerance: float = 0.0) -> Any:
    settings = common(steps)
    time = settings.timeIntegration
    time.explicit.computeEndOfStepAccelerations = False
    time.explicit.computeMassMatrixInversePerBody = True
    time.automaticStepSize = tolerance > 0.0
    if tolerance:
        time.absoluteTolerance = time.relativeTolerance = tolerance
        time.initialStepSize = 1e-4
    return settings


def implicit(steps: float) -> Any:
    """Exudyn's own Newton method: the Jacobian is reused as long as it converges. Above tolerances of 1e-6 its error shows."""
    settings = common(steps)
    settings.timeIntegration.newton.relativeTolerance = 1e-6
    settings.timeIntegration.newton.absoluteTolerance = 1e-8
    return settings


def ladders(quick: bool) -> dict[str, list[tuple[str, Run]]]:
    """Solvers with settings from coarse to fine; in a short run those alone that are the fastest and do it."""
    solvers, joints = exu.DynamicSolverType, tree()

    def rungs(name: str, model: Governor, solver: Any, settings: dict[str, Any]) -> list[tuple[str, Run]]:
        return [(f"Exudyn {name}, {label}", partial(model.run, solver, x)) for label, x in settings.items()]

    def steps(make: Callable[[float], Any], *numbers: int) -> dict[str, Any]:
        return {f"{n} steps/s": make(n) for n in numbers}

    def tolerances(*numbers: float) -> dict[str, Any]:
        return {f"tolerance {x:g}": explicit(100, x) for x in numbers}

    fastest = {
        "RK33": rungs("tree RK33", joints, solvers.RK33, steps(explicit, 3100, 3200)),
        "ODE23": rungs("tree ODE23", joints, solvers.ODE23, tolerances(5e-4, 4e-4, 3e-4)),
    }
    if quick:
        return {name: found[-1:] for name, found in fastest.items()}
    pinned = bodies()
    return fastest | {
        "RK44": rungs("tree RK44", joints, solvers.RK44, steps(explicit, 2850, 3000)),
        "DOPRI5": rungs("tree DOPRI5", joints, solvers.DOPRI5, tolerances(5e-4, 4e-4, 3e-4)),
        "trapezoidal rule": rungs("tree trapezoidal", joints, solvers.TrapezoidalIndex2, steps(implicit, 5000, 5500)),
        "generalised alpha": rungs("tree generalised alpha", joints, solvers.GeneralizedAlpha, steps(implicit, 5000, 5500)),
        "bodies": rungs("bodies trapezoidal, index 2", pinned, solvers.TrapezoidalIndex2, steps(implicit, 6000, 6500)),
    }
