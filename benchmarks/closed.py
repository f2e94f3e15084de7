"""Closed systems of any size: how `forward` grows with their number of loops, a long closed chain, CPU time beside Exudyn's.

Every size runs in processes of its own with a time limit: what takes longer is named and skipped.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

import sharnir as sh

from .harness import check_same, race
from .iftomm_models import parallel_rate
from .limited import limited
from .report import Measure

SIZES = (10, 40, 100, 200, 400, 1000, 2000)
FROM = 40
"""The time of one call is to grow in proportion to the size from here on."""
LINEAR = 1.4
FIRST = 5.0
"""Seconds to the first answer."""
LIMIT = 60.0
"""Seconds of a process for one size."""
LINKS, MOTION, CHAIN_LIMIT = 1000, 0.2, 120.0
RACE_LIMIT = 900.0
PEER_SIZES = (40, 400)
FORWARD, ANSWER = "forward, one state", "model, Dynamics, first forward"


def measure(quick: bool = False) -> Iterator[Measure | str]:
    yield from growth(SIZES[:3] if quick else SIZES)
    for spatial in (False, True):
        yield from chain(LINKS // 10 if quick else LINKS, spatial)
    with tempfile.TemporaryDirectory() as folder:
        for n in PEER_SIZES[: 1 if quick else 2]:
            yield from limited("closed_exudyn", f"closed_exudyn.side_by_side({n})", RACE_LIMIT, Path(folder))


# --- growth -----------------------------------------------------------------------------------------------------------------
def growth(sizes: tuple[int, ...]) -> Iterator[Measure | str]:
    """First answers with an empty and a full cache, the time of one call, and how it grows."""
    times: dict[int, float] = {}
    for n in sizes:
        with tempfile.TemporaryDirectory() as folder:
            for state in ("empty", "full"):
                found = list(limited("closed", f"closed.forward_of({n})", LIMIT, Path(folder)))
                yield from (x for x in found if isinstance(x, str) and (state == "empty" or "stopped" in x or "failed" in x))
                measures = {x.what: x for x in found if isinstance(x, Measure)}
                first = measures[ANSWER].value if ANSWER in measures else LIMIT
                yield Measure("closed", four_bars(n), f"{ANSWER}, {state} cache", first, " s", FIRST, at_most=True)
                if FORWARD in measures:
                    times[n] = min(measures[FORWARD].value, times.get(n, np.inf))
                else:
                    break
    for n, milliseconds in times.items():
        yield Measure("closed", four_bars(n), FORWARD, milliseconds, " ms")
        if n > FROM and FROM in times:
            share, what = milliseconds / times[FROM] / (n / FROM), f"time per loop over that of N = {FROM}"
            yield Measure("closed", four_bars(n), what, share, "×", LINEAR, at_most=True)


def four_bars(n: int) -> str:
    return f"N-four-bar, N = {n}"


def forward_of(n: int, angle: float = 1.1) -> Iterator[Measure | str]:
    """Seconds to the first answer, and milliseconds of a call; the answer is that of parallel rods."""
    begun = perf_counter()
    m, start = sh.samples.n_four_bar(n), sh.samples.n_four_bar_start(n, angle=angle)
    d = sh.Dynamics(m)
    q, v = np.array(m.coordinates(start["q0"])), np.array(m.speeds(start["v0"]))
    a = d.forward(q, v)
    spent = perf_counter() - begun
    yield Measure("closed", four_bars(n), ANSWER, spent, " s")
    yield f"N = {n}: method {d.method!r}, {d.why}"
    exact = -parallel_rate(n) * np.cos(angle)  # angles from the horizontal
    signs = {name: exact if name.startswith("foot") else -exact for name in start["q0"]}
    check_same(f"{m.name}: forward", a, m.speeds(signs), 1e-8)
    seconds = race({FORWARD: lambda: d.forward(q, v)}, rounds=30, sample=0.02)[FORWARD]
    yield Measure("closed", four_bars(n), FORWARD, 1e3 * seconds, " ms")


# --- a long closed chain ----------------------------------------------------------------------------------------------------
def chain(n: int, spatial: bool) -> Iterator[Measure | str]:
    """Assembly and motion of a closed chain, or a missed target where it does not move within the limit."""
    with tempfile.TemporaryDirectory() as folder:
        found = list(limited("closed", f"closed.chain_moves({n}, {spatial})", CHAIN_LIMIT, Path(folder)))
    yield from found
    if not any(isinstance(x, Measure) and x.at_most for x in found):
        name = sh.samples.closed_chain(n, spatial).name
        yield Measure("closed", name, f"{MOTION} s of motion: not done", CHAIN_LIMIT, " s", CHAIN_LIMIT / 2, at_most=True)


def chain_moves(n: int, spatial: bool) -> Iterator[Measure | str]:
    m = sh.samples.closed_chain(n, spatial)
    for which in ("first", "second"):
        begun = perf_counter()
        m.assemble()
        yield Measure("closed", m.name, f"{which} assembly", perf_counter() - begun, " s")
    for which in ("first", "second"):
        begun = perf_counter()
        r = sh.simulate(m, MOTION, progress=False)
        spent, what = perf_counter() - begun, f"{MOTION} s of motion, {which} run, {r.cost.steps} steps on {r.cost.backend!r}"
        yield Measure("closed", m.name, what, spent, " s", CHAIN_LIMIT / 2, at_most=True)
    defect, exchanged = np.abs(r.energy.defect).max(), np.ptp(r.energy.potential)
    energy = f"energy defect {defect:.1e} J of {exchanged:.2g} J exchanged"
    yield f"{m.name}: {energy}, violation {r.violation.max():.1e}, method {r.cost.method!r}"
