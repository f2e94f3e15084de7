"""Parameter studies in Exudyn: the quarter car and a pendulum, many runs by its `ParameterVariation`.

As in iftomm_exudyn.py: the build without range checks, one thread a run, no files, nothing printed. A process builds and
assembles each system once, and every run sets its numbers: to build the car in every run would take a tenth longer.

The car is `samples.quarter_car`: its body a mass with one coordinate, the other bodies rigid in the plane, four revolute joints;
the bump is a symbolic function, no Python in the loop. Tried were the trapezoidal rule and generalized-α, three kinds of
Newton's method, three tolerances of it, dense and sparse solvers, and a kinematic tree with a closed loop, which takes four
times as long; the settings below are the cheapest that reach their error. The pendulum is a kinematic tree of one joint, by RK44.

Everything that other processes need is found by name in this module: they may be forked or spawned.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from math import pi
from time import perf_counter
from typing import Any

import numpy as np

import sharnir as sh
from sharnir.samples.vehicles import BUMP_TIME, RATIO, STRUT, TYRE_DAMPING, TYRE_STIFFNESS, G

sys.exudynFast = True  # type: ignore[attr-defined]
with redirect_stdout(io.StringIO()):
    import exudyn as exu
    from exudyn import itemInterface as items
    from exudyn.processing import ParameterVariation
    from exudyn.utilities import CreateSymbolicUserFunction
exu.config.printToConsole = False
exu.config.suppressWarnings = True

CAR_SECONDS, CAR_STEPS, CAR_ROW = 2.0, 400, 0.01
"""Over the ranges of `studies.CAR` the height at the end is wrong by at most 1.4e-3 of the travel (median 9e-5), the largest
acceleration by 1.4e-3 of itself (median 6e-4). Half as many steps: half the time, errors about three times as large."""
PENDULUM_SECONDS, PENDULUM_STEPS = 1.0, 100
QUARTER_TURN = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
"""Lets a mass with one coordinate move along y."""
Grid = Mapping[str, Sequence[float]]
Numbers = Mapping[str, float]


# --- quarter car --------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Car:
    """Assembled; x and y of Exudyn are y and z of ours."""

    mbs: Any
    body: int
    node: int
    """Of the body."""
    strut: int
    weight: int
    tyre: int
    carried: dict[str, float]
    """Masses of the other bodies."""
    sensor: int
    keep: tuple[Any, ...]

    def set(self, mass: float, stiffness: float, damping: float) -> None:
        """Numbers of a run: preloads follow the mass, as those of the sample do."""
        set_object, set_load = self.mbs.SetObjectParameter, self.mbs.SetLoadParameter
        links, rest = sum(self.carried.values()) - self.carried["upright"], sum(self.carried.values())
        set_object(self.body, "physicsMass", mass)
        set_object(self.strut, "stiffness", stiffness / RATIO**2)
        set_object(self.strut, "damping", damping / RATIO**2)
        set_object(self.strut, "referenceLength", STRUT + (mass + 0.5 * links) * G * RATIO / stiffness)
        set_load(self.weight, "load", -G * mass)
        set_load(self.tyre, "load", G * (mass + rest))

    def run(self, steps: int = CAR_STEPS) -> tuple[float, float]:
        """Height of the body at the end, and its largest acceleration at rows 0.01 s apart."""
        self.mbs.SolveDynamic(car_settings(steps), solverType=exu.DynamicSolverType.TrapezoidalIndex2)
        end = self.mbs.GetNodeOutput(self.node, exu.OutputVariableType.Coordinates)
        return float(end), float(np.abs(self.mbs.GetSensorStoredData(self.sensor)[:, 1]).max())


@cache
def car_settings(steps: int) -> Any:
    s = exu.SimulationSettings()
    s.solution.file.write, s.show.globalTimers = False, False
    s.solution.sensors.writePeriod = CAR_ROW
    t = s.timeIntegration
    t.endTime, t.numberOfSteps, t.verboseMode, t.adaptiveStep = CAR_SECONDS, steps, 0, False
    t.newton.useModifiedNewton = True
    t.newton.relativeTolerance, t.newton.absoluteTolerance = 1e-4, 1e-6
    s.linearSolver.solverType = exu.LinearSolverType.EXUdense
    return s


@cache
def car() -> Car:
    """`samples.quarter_car`, all its numbers read from it."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    model = sh.samples.quarter_car()
    plain, bump = model.without_parameters(), model.parameters["bump"]
    origins = {b.name: x for b, x in zip(plain.bodies, sh.matrices(plain, plain.neutral()).poses[1], strict=True)}
    nodes, bodies, centres, coordinates, weights = {}, {}, {}, {}, {}
    for b in plain.bodies:
        sprung = b.name == "body"
        centres[b.name] = centre = np.zeros(3) if sprung else np.array(b.com, dtype=float)
        _, x, y = origins[b.name] + centre
        if sprung:  # it does not turn: any point will do
            nodes[b.name] = mbs.AddNode(items.Node1D(referenceCoordinates=[0.0]))
            place = {"referencePosition": [x, y, 0.0], "referenceRotation": QUARTER_TURN}
            body = items.ObjectMass1D(physicsMass=b.mass, nodeNumber=nodes[b.name], **place)
        else:
            nodes[b.name] = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=[x, y, 0.0]))
            turning = float(b.inertia_matrix()[0, 0])
            body = items.ObjectRigidBody2D(physicsMass=b.mass, physicsInertia=turning, nodeNumber=nodes[b.name])
        bodies[b.name] = mbs.AddObject(body)
        vertical = items.MarkerNodeCoordinate(nodeNumber=nodes[b.name], coordinate=0 if sprung else 1)
        coordinates[b.name] = mbs.AddMarker(vertical)
        weights[b.name] = mbs.AddLoad(items.LoadCoordinate(markerNumber=coordinates[b.name], load=-G * b.mass))
    masses = {b.name: b.mass for b in plain.bodies}

    def marker(name: str, at: Any) -> int:
        _, x, y = np.array(at, dtype=float) - centres[name]
        place = [y, -x, 0.0] if name == "body" else [x, y, 0.0]
        return mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=bodies[name], localPosition=place))

    for j in (*plain.joints, *plain.closing_joints):
        if j.parent != "ground":
            ends = [marker(j.parent, j.at.position), marker(j.child, j.child_at.position)]
            mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=ends))
    strut: Any = plain.forces["strut"]
    ends = [marker(strut.a, strut.at_a), marker(strut.b, strut.at_b)]
    spring = {"stiffness": strut.stiffness, "damping": strut.damping, "referenceLength": strut.length}
    number = mbs.AddObject(items.ObjectConnectorSpringDamper(markerNumbers=ends, **spring))
    wheel = coordinates["upright"]
    still = mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=mbs.AddNode(items.NodePointGround()), coordinate=0))
    tyre = {"stiffness": TYRE_STIFFNESS, "damping": TYRE_DAMPING}
    mbs.AddObject(items.ObjectConnectorCoordinateSpringDamper(markerNumbers=[still, wheel], **tyre))
    load = mbs.AddLoad(items.LoadCoordinate(markerNumber=wheel, load=G * sum(masses.values())))
    road = roll(mbs, load, bump)
    what = exu.OutputVariableType.Coordinates_tt
    seen = items.SensorNode(nodeNumber=nodes["body"], outputVariableType=what, storeInternal=True, writeToFile=False)
    sensor = mbs.AddSensor(seen)
    mbs.Assemble()
    carried = {name: mass for name, mass in masses.items() if name != "body"}
    return Car(mbs, bodies["body"], nodes["body"], number, weights["body"], load, carried, sensor, (container, road))


def roll(mbs: Any, load: int, bump: float) -> Any:
    """Let the road lift the wheel: a force of time beside the tyre's spring and damper, which stand on level ground."""
    symbolic, rate = exu.symbolic, pi / BUMP_TIME  # type: ignore[attr-defined]

    def lift(mbs: Any, t: Any, weight: Any) -> Any:
        hump = symbolic.sin(rate * t) * symbolic.sin(rate * t)
        pushed = bump * hump * (TYRE_STIFFNESS * hump + 2.0 * rate * TYRE_DAMPING * symbolic.sin(2.0 * rate * t))
        return weight + symbolic.IfThenElse(t < BUMP_TIME, pushed, symbolic.Real(0.0))

    made = CreateSymbolicUserFunction(mbs, lift, "loadUserFunction", itemIndex=load, verbose=0)
    mbs.SetLoadParameter(load, "loadUserFunction", made)
    return made


def quarter_car(numbers: Numbers) -> tuple[float, float]:
    """One run with "mass", "stiffness", "damping" (and "steps"): height of the body at the end, and its largest acceleration."""
    own = dict(numbers)
    steps = round(own.pop("steps", CAR_STEPS))
    car().set(**own)
    return car().run(steps)


# --- pendulum -----------------------------------------------------------------------------------------------------------------
@cache
def swing() -> tuple[Any, ...]:
    """`samples.pendulum`, assembled, and the settings of its solver."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    model = sh.samples.pendulum()
    (bar,) = model.bodies
    node = mbs.AddNode(items.NodeGenericODE2(
        referenceCoordinates=[0.0], initialCoordinates=[0.0], initialCoordinates_t=[0.0], numberOfODE2Coordinates=1
    ))  # fmt: skip
    mbs.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node, jointTypes=[exu.JointType.RevoluteZ], linkParents=[-1], gravity=list(model.gravity),
            jointTransformations=exu.Matrix3DList([np.eye(3)]), jointOffsets=exu.Vector3DList([[0.0, 0.0, 0.0]]),
            linkMasses=[bar.mass], linkCOMs=exu.Vector3DList([list(bar.com)]),
            linkInertiasCOM=exu.Matrix3DList([bar.inertia_matrix()]),
        )
    )  # fmt: skip
    mbs.Assemble()
    s = exu.SimulationSettings()
    s.solution.file.write, s.solution.sensors.active, s.show.globalTimers = False, False, False
    t = s.timeIntegration
    t.endTime, t.numberOfSteps, t.verboseMode = PENDULUM_SECONDS, PENDULUM_STEPS, 0
    t.explicit.computeEndOfStepAccelerations = False
    return mbs, s, container


def pendulum(numbers: Numbers) -> float:
    """One run from "angle" and "speed": the angle at the end."""
    mbs, settings, _ = swing()
    data, begin = mbs.systemData, exu.ConfigurationType.Initial
    data.SetODE2Coordinates([numbers["angle"]], configuration=begin)
    data.SetODE2Coordinates_t([numbers["speed"]], configuration=begin)
    mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.RK44)
    return float(data.GetODE2Coordinates()[0])


# --- studies --------------------------------------------------------------------------------------------------------------------
def varied(run: Callable[[Numbers], Any], grid: Grid, processes: int) -> tuple[float, list[Any]]:
    """Seconds of `ParameterVariation` over all combinations, its processes started and ended included, and what runs returned."""
    values = {name: list(map(float, x)) for name, x in grid.items()}
    begun = perf_counter()
    _, found = ParameterVariation(run, values, useMultiProcessing=processes > 1, numberOfThreads=processes, showProgress=False)
    return perf_counter() - begun, found
