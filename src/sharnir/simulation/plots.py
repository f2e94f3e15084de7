"""Pictures of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import StateError, known

if TYPE_CHECKING:
    from .result import Result

COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#edae49", "#6a4c93", "#00798c", "#8d6a4f", "#444444")
MOST = 8
"""Lines that can still be told apart."""


def plot(r: Result, joints: Sequence[str] = (), path: str | None = None) -> Any:
    """Coordinates and speeds of the joints (all, or those named), and the energies, over time."""
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    _check(r, joints)
    figure = Figure(figsize=(9.0, 8.0), layout="constrained") if path else plt.figure(figsize=(9.0, 8.0), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True)
    names = joints or [j.name for j in r.model.joints if j.nv]
    _lines(axes[0], r.t, _columns(r, names, r.q, "q"), "coordinates, rad or m")
    _lines(axes[1], r.t, _columns(r, names, r.v, "v"), "speeds, 1/s")
    e = r.energy
    parts = {"kinetic": e.kinetic, "potential": e.potential, "total": e.total}
    parts |= {f"work of {name}": work for name, work in list(e.work.items())[: MOST - 3]}
    _lines(axes[2], r.t, parts, "energy, J")
    axes[2].set_xlabel("t, s")
    axes[0].set_title(f"{r.model.name}: {r.cost.method}, {r.cost.integrator}", loc="left", fontweight="bold")
    for event in r.events[:40]:
        for axis in axes:
            axis.axvline(event.t, color="#999999", linewidth=0.8, linestyle=":")
    if path:
        figure.savefig(path, dpi=150)
    return figure


def _columns(r: Result, joints: Sequence[str], values: np.ndarray, kind: str) -> dict[str, np.ndarray]:
    names = r.model.q_names if kind == "q" else r.model.v_names
    where = r.model.q_slice if kind == "q" else r.model.v_slice
    return {names[k]: values[:, k] for joint in joints for k in range(where(joint).start, where(joint).stop)}


def _lines(axis: Any, t: np.ndarray, parts: dict[str, np.ndarray], label: str) -> None:
    shown = list(parts.items())
    for k, (name, values) in enumerate(shown):
        many = len(shown) > MOST
        colour = COLOURS[k % len(COLOURS)]
        axis.plot(t, values, color=colour, linewidth=0.7 if many else 1.4, alpha=0.7 if many else 1.0, label=name)
    axis.set_ylabel(label)
    axis.grid(True, color="#dddddd", linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    if shown and len(shown) <= MOST:
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)


def _check(r: Result, joints: Sequence[str]) -> None:
    have = [j.name for j in r.model.joints if j.nv]
    for joint in joints:
        if joint not in have:
            raise StateError(f"no joint {joint!r} with freedoms to plot; there are {known(have)}")
    if not len(r):
        raise StateError("nothing to plot: the result has no times")
