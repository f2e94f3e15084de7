"""Parameter studies: runs per second of a quarter car (closed loop, adaptive steps) and of a pendulum (fixed steps).

The peers: Exudyn's `ParameterVariation` (studies_exudyn.py), and a loop of `sh.simulate` over the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from time import perf_counter

import numpy as np

import sharnir as sh

from .harness import check_same

CAR = {"mass": (250.0, 450.0), "stiffness": (15e3, 40e3), "damping": (500.0, 3000.0)}
"""Within these ranges the tyre stays on the road."""
PENDULUM = {"angle": (-1.5, 1.5), "speed": (-2.0, 2.0)}
Ranges = Mapping[str, tuple[float, float]]
Grid = Mapping[str, Sequence[float]]


def grid(ranges: Ranges, runs: int) -> dict[str, list[float]]:
    """Equally many values of each number, about `runs` combinations."""
    each = max(1, round(runs ** (1.0 / len(ranges))))
    return {name: np.linspace(low, high, each).tolist() for name, (low, high) in ranges.items()}


def combinations(values: Grid) -> Iterator[dict[str, float]]:
    for numbers in product(*values.values()):
        yield dict(zip(values, numbers, strict=True))


# --- Exudyn -------------------------------------------------------------------------------------------------------------------
def exudyn_quarter_car_rate(runs: int = 1000, processes: int = 2, steps: int | None = None) -> float:
    """Runs per second of `ParameterVariation` over mass, stiffness and damping; each of so many steps."""
    from . import studies_exudyn as exudyn

    return _rate(exudyn.quarter_car, grid(CAR, runs) | {"steps": [steps or exudyn.CAR_STEPS]}, processes)


def exudyn_pendulum_rate(runs: int = 10_000, processes: int = 2) -> float:
    """Runs per second of `ParameterVariation` over initial angle and speed."""
    from . import studies_exudyn as exudyn

    return _rate(exudyn.pendulum, grid(PENDULUM, runs), processes)


def _rate(run: Callable[..., object], values: Grid, processes: int) -> float:
    from . import studies_exudyn as exudyn

    run(next(combinations(values)))  # built by now, here and in processes that are forked
    seconds, found = exudyn.varied(run, values, processes)
    return len(found) / seconds


def check_same_motions() -> None:
    """Before anything is timed: both programs solve the same problems."""
    from . import studies_exudyn as exudyn

    car, start = ({name: 0.6 * low + 0.4 * high for name, (low, high) in ranges.items()} for ranges in (CAR, PENDULUM))
    model = sh.samples.quarter_car()
    height, acceleration = simulated_quarter_car(model, car)
    their_height, their_acceleration = exudyn.quarter_car({**car, "steps": 4000})
    bump = model.parameters["bump"]
    check_same("quarter car, height beside the bump", [height, bump], [their_height, bump], 1e-4)
    check_same("quarter car, acceleration", acceleration, their_acceleration, 1e-3)
    check_same("pendulum", simulated_pendulum(sh.samples.pendulum(), start), exudyn.pendulum(start), 1e-12)


# --- one simulation after another -----------------------------------------------------------------------------------------------
def simulated_quarter_car(model: sh.Model, numbers: Mapping[str, float]) -> tuple[float, float]:
    """Height of the body after 2 s, and its largest acceleration at rows 0.01 s apart."""
    r = sh.simulate(model, 2.0, parameters=numbers, output=0.01, progress=False)
    return float(r.coordinate("heave")[-1]), float(np.abs(r.acceleration("heave")).max())


def simulated_pendulum(model: sh.Model, numbers: Mapping[str, float]) -> float:
    """The angle after 1 s in steps of 0.01 s."""
    start = {"q0": {"hinge": numbers["angle"]}, "v0": {"hinge": numbers["speed"]}}
    r = sh.simulate(model, 1.0, **start, integrator="rk4", step=0.01, output=[1.0], balance=False, progress=False)
    return float(r.coordinate("hinge")[-1])


SIMULATED = {
    "quarter car": (sh.samples.quarter_car, simulated_quarter_car, CAR),
    "pendulum": (sh.samples.pendulum, simulated_pendulum, PENDULUM),
}


def one_at_a_time_rate(what: str, runs: int = 50) -> float:
    """Runs per second of `sh.simulate` in a loop, of the "quarter car" or the "pendulum", after a first one."""
    build, run, ranges = SIMULATED[what]
    model, sets = build(), list(combinations(grid(ranges, runs)))
    run(model, sets[0])
    begun = perf_counter()
    for numbers in sets:
        run(model, numbers)
    return len(sets) / (perf_counter() - begun)
