"""What `load(…, acting="all")` lets act of robots: a line for each, what does not act, and whether joints stay within their
limits where the robot falls; and what that costs batches of states.

`python -m benchmarks acting` writes docs/results/acting.md. Robots are the URDFs of example-robot-data, and the MJCF files of
gymnasium and dm_control where these are installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np

import sharnir as sh
from sharnir.analysis.limits import Limits
from sharnir.reporting.table import Table

from . import harness
from .robots import ROBOTS, urdf_of
from .urdf import robot_files

MJCF = {"gymnasium": "mujoco/assets/", "dm_control": "suite/"}
"""Packages, and where in them files of whole models are."""
SECONDS = 0.5
STATES = 1024

TEXT = """# What acts of robots
Written by `python -m benchmarks acting`: `sharnir.load(…, acting="all")` of every robot. Limits, friction, contacts: how many
act. Beyond a limit: the largest excess within {seconds} s of falling from rest in the middle of all limits; without limits, or
with several hundred contacts, `—`. It is about v/(2ω) with ω = 100 rad/s: 0.3 rad are light ends without friction that arrive at
60 to 90 rad/s. A SingularError: some joint of the file moves no mass.

{robots}

## What it costs
One state of `forward` in a batch of {states}, one thread, minimum of interleaved samples.

{costs}
"""


def robots() -> Iterator[tuple[str, Path]]:
    yield from robot_files().items()
    for package, folder in MJCF.items():
        try:
            found = sorted(f for f in files(package) or [] if str(f.parent).endswith(folder.rstrip("/")) and f.suffix == ".xml")
        except PackageNotFoundError:
            print(f"  {package} is not installed: left out")
            continue
        yield from ((f"{package}/{f.stem}", Path(str(f.locate()))) for f in found)


def line(name: str, path: Path) -> list[str]:
    """A robot: freedoms, how many limits, frictions and contacts act, what does not, and how far limits are passed in a fall."""
    try:
        m = sh.load(path, acting="all")
    except sh.FormatError as error:
        return [name, "—", "—", "—", "—", str(error).rpartition(": ")[2][:60], "—"]
    if not m.bodies:
        return [name, "0", "0", "0", "0", "nothing moves: all is fixed", "—"]
    own = [x for key, x in m.structure.forces.forces.items() if key not in m.forces]
    stops, rubs = (sum(isinstance(x, kind) for x in own) for kind in (sh.JointStop, sh.JointFriction))
    contacts = sum(isinstance(x, sh.Contact) for x in m.forces.values())
    report, collisions = m.import_report, sum(visual.role in ("collision", "both") for visual in m.visuals)
    assert report is not None
    left = [entry.what for entry in report.ignored if entry.warning]
    left += [f"{collisions} collision shapes (add_ground)"] if path.suffix == ".urdf" and collisions else []
    return [
        name,
        str(m.nv),
        str(stops),
        str(rubs),
        str(contacts),
        "; ".join(left),
        fall(m) if stops and len(m.forces) < 400 else "—",
    ]


def fall(m: sh.Model) -> str:
    """The largest excess over a limit, rad or m, of a robot let go at rest in the middle of its limits."""
    limits, q = Limits(m), m.keyframes.get("qpos0", m.neutral()).copy()
    at = limits.coordinate >= 0
    low, high = limits.low[at], limits.high[at]
    both = np.isfinite(low) & np.isfinite(high)
    q[limits.coordinate[at][both]] = 0.5 * (low[both] + high[both])
    try:
        r = sh.simulate(m, SECONDS, q0=q, backend="loops", rtol=1e-5, atol=1e-7, balance=False, max_seconds=30.0)
    except sh.SharnirError as error:
        return type(error).__name__
    x = np.array([limits.values(row) for row in r.q])
    return f"{max(0.0, float(np.nanmax([limits.low - x, x - limits.high]))):.2g}" + f" (to {r.t[-1]:.2g} s)" * (
        r.status != "done"
    )


def costs() -> Iterator[list[str]]:
    """Microseconds of `forward` for a state of a batch, with what acts and without."""
    for name in ("ur5", "panda", "anymal_c"):
        calls = {}
        for acting in ("motion", "all"):
            m = sh.load(urdf_of(name), floating=ROBOTS[name][1], acting=acting)
            rng = np.random.default_rng(0)
            q = np.array([m.random_q(rng) for _ in range(STATES)])
            v, tau = rng.normal(size=(2, STATES, m.nv))
            calls[acting] = partial(sh.Dynamics(m).forward, q, v, tau)
        seconds = harness.race(calls, rounds=400, sample=0.002)
        motion, every = (1e6 * seconds[acting] / STATES for acting in ("motion", "all"))
        yield [name, f"{motion:.3f}", f"{every:.3f}", f"{every / motion:.2f}"]


def main(quick: bool = False) -> None:
    """docs/results/acting.md."""
    rows = [["robot", "freedoms", "limits", "friction", "contacts", "does not act", "beyond a limit, rad or m"]]
    for name, path in robots():
        rows.append(line(name, path))
        print("  " + "  ".join(rows[-1]), flush=True)
        if quick and len(rows) > 6:
            break
    speed = [["robot", "motion, µs", "all, µs", "ratio"], *costs()]
    text = TEXT.format(
        seconds=SECONDS, states=STATES, robots=Table.of_text(rows).markdown(), costs=Table.of_text(speed).markdown()
    )
    (harness.results() / "acting.md").write_text(text, encoding="utf-8")
    print(Table.of_text(speed).markdown())
