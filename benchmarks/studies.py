"""Parameter studies: runs per second of a quarter car (closed loop, adaptive steps) and of a pendulum (fixed steps).

The peers: Exudyn's `ParameterVariation` (studies_exudyn.py), and a loop of `sh.simulate` over the same numbers.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from xarray import Dataset

import sharnir as sh

from .harness import check_same
from .report import Measure

CAR = {"mass": (250.0, 450.0), "stiffness": (15e3, 40e3), "damping": (500.0, 3000.0)}
"""Within these ranges the tyre stays on the road."""
PENDULUM = {"angle": (-1.5, 1.5), "speed": (-2.0, 2.0)}
FOUR_BAR = {"angle": (0.2, 1.2)}
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
def simulated_quarter_car(model: sh.Model, numbers: Mapping[str, float], **tolerances: float) -> tuple[float, float]:
    """Height of the body after 2 s, and its largest acceleration at rows 0.01 s apart."""
    r = sh.simulate(model, 2.0, parameters=numbers, output=0.01, progress=False, **tolerances)  # type: ignore[arg-type]
    return float(r.coordinate("heave")[-1]), float(np.abs(r.acceleration("heave")).max())


def simulated_pendulum(model: sh.Model, numbers: Mapping[str, float]) -> float:
    """The angle after 1 s in steps of 0.01 s."""
    start = {"q0": {"hinge": numbers["angle"]}, "v0": {"hinge": numbers["speed"]}}
    r = sh.simulate(model, 1.0, **start, integrator="rk4", step=0.01, output=[1.0], balance=False, progress=False)
    return float(r.coordinate("hinge")[-1])


def four_bar() -> sh.Model:
    return sh.samples.four_bar(0.5, 1.0, 1.0, 1.2)


def simulated_four_bar(model: sh.Model, numbers: Mapping[str, float]) -> float:
    """The angle of the crank after 0.5 s, from another one."""
    r = sh.simulate(model, 0.5, q0={"A": numbers["angle"]}, output=0.05, progress=False)
    return float(r.coordinate("A")[-1])


SIMULATED = {
    "quarter car": (sh.samples.quarter_car, simulated_quarter_car, CAR),
    "four-bar": (four_bar, simulated_four_bar, FOUR_BAR),
    "pendulum": (sh.samples.pendulum, simulated_pendulum, PENDULUM),
}


def one_at_a_time_rate(what: str, runs: int = 50, **tolerances: float) -> float:
    """Runs per second of `sh.simulate` in a loop, of the "quarter car", the "four-bar" or the "pendulum", after a first one."""
    build, run, ranges = SIMULATED[what]
    model, sets = build(), list(combinations(grid(ranges, runs)))
    run(model, sets[0], **tolerances)  # type: ignore[operator]
    begun = perf_counter()
    for numbers in sets:
        run(model, numbers, **tolerances)  # type: ignore[operator]
    return len(sets) / (perf_counter() - begun)


# --- studies ------------------------------------------------------------------------------------------------------------------
LOOSE = {"rtol": 1e-3, "atol": 1e-5}
"""Tolerances at which the height of the car is still a hundred times as accurate as Exudyn's in its 400 steps."""
CAR_OUTPUTS = {"height": "final of heave", "acceleration": "peak of acceleration of heave"}
THREADS = 2


def study_of_cars(runs: int, tolerances: Mapping[str, float], **options: Any) -> tuple[float, Dataset]:
    """Runs per second, and what they gave."""
    run = {"duration": 2.0, "output": 0.01, **tolerances}
    return _timed(sh.samples.quarter_car(), CAR, run, CAR_OUTPUTS, runs, **options)


def study_of_pendulums(runs: int, **options: Any) -> tuple[float, Dataset]:
    ranges = {"q0.hinge": PENDULUM["angle"], "v0.hinge": PENDULUM["speed"]}
    return _timed(sh.samples.pendulum(), ranges, {"duration": 1.0, "step": 0.01}, {"angle": "final of hinge"}, runs, **options)


def study_of_four_bars(runs: int, **options: Any) -> tuple[float, Dataset]:
    """Every one has its own position, whose loop has to be closed."""
    ranges = {"q0.A": FOUR_BAR["angle"]}
    return _timed(four_bar(), ranges, {"duration": 0.5, "output": 0.05}, {"angle": "final of A"}, runs, **options)


def _timed(model: sh.Model, over: Any, run: Any, outputs: Any, runs: int, **options: Any) -> tuple[float, Dataset]:
    begun = perf_counter()
    ds = sh.study(model, over, run, outputs, runs=runs, progress=False, **options)
    seconds = perf_counter() - begun
    failed = int((ds["status"] != "done").sum())
    if failed:
        raise SystemExit(f"{failed} of {runs} runs failed: {ds['message'].values[ds['status'].values != 'done'][0]}")
    return runs / seconds, ds


def on_a_cluster(workers: int, runs: int) -> tuple[float, float]:
    """Cars per second on so many processes of one thread; milliseconds of a bundle of one pendulum, without its run."""
    from distributed import Client, LocalCluster

    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as client:
        study_of_cars(100 * workers, {}, client=client, bundle=10)  # compiled by now, everywhere
        rate, _ = study_of_cars(runs, {}, client=client)
        study_of_pendulums(10, client=client, bundle=1)
        bundles = 300
        each, _ = study_of_pendulums(bundles, client=client, bundle=1)
        return rate, 1e3 / each


STREAMED = """
import sys, threading, time
import sharnir as sh
from pathlib import Path

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

seen, done = [], threading.Event()
def watch():
    while not done.wait(0.1):
        seen.append((len(list(Path(sys.argv[1], "status").glob("[0-9]*"))), resident()))

threading.Thread(target=watch, daemon=True).start()
sh.study(sh.samples.pendulum(), {"q0.hinge": (-1.5, 1.5), "v0.hinge": (-2.0, 2.0)}, {"duration": 1.0, "step": 0.01},
         {"angle": "final of hinge"}, runs=int(sys.argv[2]), store=sys.argv[1], progress=False)
done.set()
bundles = max(n for n, _ in seen)
early = max(x for n, x in seen if n <= 0.2 * bundles)
print(early, max(x for _, x in seen))
"""


def streamed(runs: int) -> tuple[float, float]:
    """Megabytes of a process that writes its results to a store: after a fifth of the runs, and at most."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-c", STREAMED, f"{folder}/study", str(runs)]
        early, most = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(early), float(most)


def measure(quick: bool = False) -> Iterator[Measure | str]:
    scale = 20 if quick else 1
    check_same_motions()
    cars, pendulums = 100_000 // scale, 1_000_000 // scale
    exudyn = exudyn_quarter_car_rate(2000 // scale, THREADS)
    for name, tolerances in (("default tolerances", {}), ("rtol 1e-3", LOOSE)):
        alone = one_at_a_time_rate("quarter car", 400 // scale, **tolerances)
        rate, _ = study_of_cars(cars, tolerances, workers=THREADS)
        yield f"quarter car, {name}: {cars} runs at {rate:.4g} a second; simulate {alone:.4g}, Exudyn {exudyn:.4g}"
        yield Measure("studies", f"quarter car, {name}", "against simulate in a loop", rate / alone, "×", 50.0)
        yield Measure("studies", f"quarter car, {name}", "against ParameterVariation, 2 processes", rate / exudyn, "×", 50.0)
    bars = 100_000 // scale
    alone, (rate, _) = one_at_a_time_rate("four-bar", 400 // scale), study_of_four_bars(bars, workers=THREADS)
    yield f"four-bar, each from another angle: {bars} runs at {rate:.4g} a second; simulate {alone:.4g}"
    yield Measure("studies", "four-bar from different angles", "against simulate in a loop", rate / alone, "×")
    exudyn, alone = exudyn_pendulum_rate(20_000 // scale, THREADS), one_at_a_time_rate("pendulum", 2000 // scale)
    rate, _ = study_of_pendulums(pendulums, workers=THREADS)
    yield f"pendulum: {pendulums} rollouts at {rate:.4g} a second; simulate {alone:.4g}, Exudyn {exudyn:.4g}"
    yield Measure("studies", "pendulum", "against simulate in a loop", rate / alone, "×", 50.0)
    yield Measure("studies", "pendulum", "against ParameterVariation, 2 processes", rate / exudyn, "×", 50.0)
    found = {workers: on_a_cluster(workers, 10_000 * workers // scale) for workers in (1, 2)}
    yield f"a local cluster of Dask: {found[1][0]:.4g} quarter cars a second on one worker, {found[2][0]:.4g} on two"
    yield Measure("studies", "cluster", "two workers over one", found[2][0] / found[1][0], "×", 1.7)
    yield Measure("studies", "cluster", "a bundle, with its way there and back", found[1][1], " ms")
    early, most = streamed(pendulums)
    yield f"{pendulums} results streamed to a store: {early:.0f} MB after a fifth of them, {most:.0f} MB at most"
    yield Measure("studies", "store", "memory at most, over that after a fifth", most / early, "×", 1.1, at_most=True)
