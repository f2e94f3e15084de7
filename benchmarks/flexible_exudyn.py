"""The same flexible mechanisms in Exudyn: cubic ANCF cable elements in the plane, Euler–Bernoulli and geometrically exact.

As in iftomm_exudyn.py: the build without range checks, one thread, no files. Drives are symbolic functions: no Python in the
loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import pi
from typing import Any

import numpy as np

from sharnir.reporting.timing import cpu_and_wall

from .iftomm_exudyn import exu, items

POSITION = exu.OutputVariableType.Position


@dataclass(frozen=True)
class How:
    """Settings of its solver."""

    steps: int
    """From one recorded time to the next: a whole number, so that none falls between two steps."""
    newton: float = 1e-5
    rho: float = 0.9
    modified: bool = False
    linear: str = "EigenSparse"
    solver: str = "GeneralizedAlpha"

    def __str__(self) -> str:
        kind = "modified" if self.modified else "full"
        radius = f" ρ = {self.rho}," if self.solver == "GeneralizedAlpha" else ""
        return f"{self.solver},{radius} {self.steps} steps a sample, {kind} Newton to {self.newton:.0e}, {self.linear}"


@dataclass
class Cables:
    """A plane mechanism with one elastic beam, assembled by `finish`."""

    elements: int
    length: float
    mass: float
    """Per metre."""
    bending: float
    stretching: float
    start: tuple[float, float] = (0.0, 0.0)
    seen: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.still = self.mbs.AddMarker(
            items.MarkerNodeCoordinate(nodeNumber=self.mbs.AddNode(items.NodePointGround()), coordinate=0)
        )
        h, (x, y) = self.length / self.elements, self.start
        places = [[x + k * h, y, 1.0, 0.0] for k in range(self.elements + 1)]
        self.nodes = [self.mbs.AddNode(items.NodePoint2DSlope1(referenceCoordinates=p)) for p in places]
        stiff = {"bendingStiffness": self.bending, "axialStiffness": self.stretching, "massPerLength": self.mass}
        self.beams = [
            self.mbs.AddObject(items.ObjectANCFCable2D(length=h, nodeNumbers=self.nodes[k : k + 2], **stiff))
            for k in range(self.elements)
        ]

    def hold(self, node: int, coordinate: int) -> int:
        moving = self.mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate))
        found: int = self.mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[self.still, moving]))
        return found

    def driven(self, speed: float, duration: float, mass: float, inertia: float) -> int:
        """A rigid body on the ground, turned by the law of `samples.flexible`."""
        from exudyn.utilities import CreateSymbolicUserFunction

        symbolic, rate = exu.symbolic, 2.0 * pi / duration  # type: ignore[attr-defined]

        def angle(mbs: Any, t: Any, i: Any, offset: Any) -> Any:
            begun = (0.5 * t * t + (symbolic.cos(rate * t) - 1.0) / rate**2) / duration
            return speed * symbolic.IfThenElse(t < duration, begun, t - 0.5 * duration)

        def turning(mbs: Any, t: Any, i: Any, offset: Any) -> Any:
            begun = (t - symbolic.sin(rate * t) / rate) / duration
            return speed * symbolic.IfThenElse(t < duration, begun, symbolic.Real(1.0))

        node = self.mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=[0.0, 0.0, 0.0]))
        body: int = self.mbs.AddObject(items.ObjectRigidBody2D(nodeNumber=node, mass=mass, inertia=inertia))
        drive = [self.hold(node, k) for k in range(3)][2]
        for name, law in (("offsetUserFunction", angle), ("offsetUserFunction_t", turning)):
            made = CreateSymbolicUserFunction(self.mbs, law, name, itemIndex=drive, verbose=0)
            self.mbs.SetObjectParameter(drive, name, made)
        return body

    def pin(self, a: int, at: list[float], b: int, there: list[float]) -> None:
        ends = [(a, at), (b, there)]
        pair = [self.mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=n, localPosition=p)) for n, p in ends]
        self.mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=pair))

    def clamp(self, body: int) -> None:
        pair = [self.mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=n)) for n in (body, self.beams[0])]
        self.mbs.AddObject(items.ObjectJointGeneric(markerNumbers=pair, constrainedAxes=[1, 1, 0, 0, 0, 1]))

    def weigh(self, g: float) -> None:
        for beam in self.beams:
            on = self.mbs.AddMarker(items.MarkerBodyMass(bodyNumber=beam))
            self.mbs.AddLoad(items.LoadMassProportional(markerNumber=on, loadVector=[0.0, -g, 0.0]))

    def finish(self) -> Cables:
        """Paths of the first, the middle and the last node are recorded."""
        for node in (self.nodes[0], self.nodes[self.elements // 2], self.nodes[-1]):
            sensor = items.SensorNode(nodeNumber=node, outputVariableType=POSITION, storeInternal=True, writeToFile=False)
            self.seen.append(self.mbs.AddSensor(sensor))
        self.mbs.Assemble()
        return self

    def run(self, duration: float, samples: int, how: How) -> tuple[float, np.ndarray]:
        """CPU time of the solver, and (3, samples + 1, 2): where the three nodes were at equal intervals."""
        s = exu.SimulationSettings()
        s.solution.file.write, s.show.globalTimers = False, False
        s.solution.sensors.writePeriod = duration / samples
        t = s.timeIntegration
        t.endTime, t.numberOfSteps, t.verboseMode, t.adaptiveStep = duration, how.steps * samples, 0, False
        t.generalizedAlpha.spectralRadius = how.rho
        t.newton.useModifiedNewton = how.modified
        t.newton.relativeTolerance, t.newton.absoluteTolerance = how.newton, 0.1 * how.newton
        s.linearSolver.solverType = getattr(exu.LinearSolverType, how.linear)
        s.linearSolver.reuseAnalyzedPattern = True
        cpu, _ = cpu_and_wall(lambda: self.mbs.SolveDynamic(s, solverType=getattr(exu.DynamicSolverType, how.solver)))
        found = np.array([self.mbs.GetSensorStoredData(n) for n in self.seen])
        late = np.abs(found[0, :, 0] - np.linspace(0.0, duration, samples + 1)).max()
        if late > 1e-9 * duration:  # a sample between two steps would be counted as an error
            raise RuntimeError(f"Exudyn recorded the motion up to {late} s beside the times asked for")
        return cpu, found[:, :, 1:3]


def rotating_beam(elements: int) -> Cables:
    c = Cables(elements, 10.0, 1.2, 1.4e4, 2.8e7)
    c.clamp(c.driven(6.0, 15.0, 1.0, 1.0))
    return c.finish()


def slider_crank(elements: int) -> Cables:
    edge, crank = 0.008, 0.15
    c = Cables(elements, 0.3, 7870.0 * edge**2, 2e11 * edge**4 / 12.0, 2e11 * edge**2, (crank, 0.0))
    node = c.mbs.AddNode(items.NodePoint2D(referenceCoordinates=[crank + 0.3, 0.0]))
    block = c.mbs.AddObject(items.ObjectMassPoint2D(nodeNumber=node, mass=0.075552))
    c.hold(node, 1)
    c.pin(c.driven(150.0, 0.1, 0.36, 0.002727), [crank, 0.0, 0.0], c.beams[0], [0.0, 0.0, 0.0])
    c.pin(c.beams[-1], [0.3 / elements, 0.0, 0.0], block, [0.0, 0.0, 0.0])
    return c.finish()


def pendulum(elements: int) -> Cables:
    width, thick = 0.02, 0.002
    c = Cables(elements, 1.0, 7850.0 * width * thick, 2.1e11 * width * thick**3 / 12.0, 2.1e11 * width * thick)
    for k in (0, 1):
        c.hold(c.nodes[0], k)
    c.weigh(9.81)
    return c.finish()


BUILDS: dict[str, Callable[[int], Cables]] = {
    "rotating beam": rotating_beam, "slider-crank": slider_crank, "pendulum": pendulum,
}  # fmt: skip
