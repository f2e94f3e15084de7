"""A linear system in a few lines of text: the table of its modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..reporting.formats import MISSING, plural
from ..reporting.table import Table
from .modes import ZERO, Mode

if TYPE_CHECKING:
    from .linear_system import LinearSystem

SHOWN = 0.1
"""Coordinates that move less than this, relative to the one that moves most, are not listed."""
MOST = 4
"""Coordinates listed for a mode."""


def summary(system: LinearSystem) -> str:
    name, growing = system.dynamics.model.name, system.growing
    about = f"{system.steadiness} at t = {system.t:g}" if system.steadiness == "frozen" else system.steadiness
    verdict = f"{plural(len(growing), 'mode grows', 'modes grow')}" if growing else "no mode grows"
    zeros = system.spectrum.zeros
    lines = [f"{name}: {about}; {plural(len(system.A), 'state')}, {zeros} of {len(system.A)} eigenvalues zero, {verdict}"]
    if system.why:
        lines.append(f"  A is that of the instant only: {system.why}")
    return "\n".join([*lines, mode_table(system).plain()])


def mode_table(system: LinearSystem) -> Table:
    head = ["mode", "eigenvalue, 1/s", "frequency, Hz", "damping ratio", "kind", "moves"]
    return Table.of_text([head, *(_row(k, mode) for k, mode in enumerate(system.modes))])


def _row(k: int, mode: Mode) -> list[str]:
    x = mode.eigenvalue
    real = x.real if mode.kind != "oscillation" else 0.0
    shown = f"{real:.6g}" + (f" ± {x.imag:.6g}i" if x.imag else "")
    ratio = MISSING if mode.kind == ZERO else "0" if mode.kind == "oscillation" else f"{mode.damping_ratio:.4g}"
    return [str(k + 1), shown, f"{mode.frequency:.6g}" if x.imag else MISSING, ratio, mode.kind, _moves(mode)]


def _moves(mode: Mode) -> str:
    """`shoulder 1, elbow −0.41`: in phase or against it, and where it is neither, by how many degrees ahead."""
    parts = []
    for share in mode.shares:
        if share.amplitude < SHOWN:
            break
        degrees = np.degrees(share.phase)
        if abs(degrees) < 1.0 or abs(degrees) > 179.0:
            parts.append(f"{share.name} {share.amplitude * (1.0 if abs(degrees) < 90.0 else -1.0):.2g}")
        else:
            parts.append(f"{share.name} {share.amplitude:.2g} at {degrees:.0f}°")
    more = len(parts) - MOST
    return ", ".join(parts[:MOST]) + (f" and {more} more" if more > 0 else "")
