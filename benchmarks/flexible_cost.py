"""What elastic coordinates cost: operations, time per state, throughput of batches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import sharnir as sh
from sharnir.reporting.formats import duration
from sharnir.reporting.table import Table

from .harness import race

MODES = (0, 1, 2, 4, 8, 16)
BATCH = 4096


def arm(modes: int) -> sh.Model:
    """Two links of 1 m in space on universal joints, both flexible; modes of each, of the lowest frequency."""
    m = sh.Model("arm")
    carrier, at = "ground", sh.Pose()
    for name in ("upper", "lower"):
        beam = sh.FlexibleBeam(
            length=1.0, E=7e10, G=2.6e10, density=2700.0, section=sh.Rectangle(0.02, 0.01), modes=max(modes, 1)
        )
        if modes:
            m.add_body(name, flexible=beam)
        else:
            m.add_body(name, beam.mass, beam.com, beam.inertia)
        m.add_joint(name, sh.Universal("z", "y"), carrier, name, at=at)
        carrier, at = name, sh.Pose((1.0, 0.0, 0.0))
    return m


def states(m: sh.Model, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Small deformations: shapes are valid where they are small."""
    rng = np.random.default_rng(1)
    scale = np.concatenate([np.full(j.nq, 1e-3 if j.name.endswith(" elastic") else 1.0) for j in m.joints])
    return scale * rng.uniform(-1.0, 1.0, (n, m.nq)), scale * rng.uniform(-1.0, 1.0, (n, m.nv))


def costs(quick: bool) -> Iterator[str]:
    """(e) Against the number of modes."""
    head = ["modes per link", "coordinates", "method", "operations", "compiled", "runs as", "time per state"]
    rows = [[*head, "states per second, 4096 at once"]]
    for modes in MODES[:4] if quick else MODES:
        m = arm(modes)
        q, v = states(m, BATCH)
        for method in ("separate", "composite"):
            d = sh.Dynamics(m, method)
            spent = race({"one": partial(d.forward, np.array(q[0]), np.array(v[0])), "batch": partial(d.forward, q, v)}, rounds=6)
            counts = [str(d.count(compiled=compiled).total) for compiled in (False, True)]
            rate = f"{BATCH / spent['batch']:.3g}"
            rows.append([str(modes), str(m.nv), method, *counts, d.backend, duration(spent["one"]), rate])
    yield "## Cost"
    yield (
        "Forward dynamics of two flexible links on universal joints (`benchmarks/flexible_cost.py`, `arm`), called from Python. "
        "Operations: `d.count().total`, as written; compiled: those left in straight-line code, `d.count(compiled=True).total`. "
        "A graph that is too large runs as loops."
    )
    yield Table.of_text(rows).markdown()
