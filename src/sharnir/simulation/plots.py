"""A motion as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from ..errors import StateError, brief
from ..model.references import is_name_in
from ..reporting.pictures import COLOURS, GREY, check_picture_suffix, new_figure, plain_axes, save_picture
from .storage import check_writable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .result import Result

MAX_LINES = 8
"""Lines that can be distinguished."""


def plot(r: Result, joints: Sequence[str] = (), path: str | PathLike[str] | None = None) -> Figure:
    """Coordinates and speeds of the joints (all, or those named), energies, and the work of drives and forces, over time."""
    _check(r, joints)
    if path is not None:
        check_picture_suffix(path)
        check_writable(path)
    names = joints or [j.name for j in r.model.joints if j.nv]
    e = r.energy
    panels = {
        "coordinates, rad or m": _columns(r, names, r.q, "q"),
        "speeds, rad/s or m/s": _columns(r, names, r.v, "v"),
        # the zero of potential energy is arbitrary: counted from the start, changes can be seen
        "energy, J": {"total": e.total - e.potential[0], "kinetic": e.kinetic, "potential": e.potential - e.potential[0]},
        "work since the start, J": _largest(e.work),
    }
    panels = {label: lines for label, lines in panels.items() if lines}
    figure = new_figure((9.0, 0.6 + 2.1 * len(panels)), window=path is None, layout="constrained")
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (label, lines) in zip(axes, panels.items(), strict=True):
        _lines(axis, r.t, lines, label)
    axes[0].margins(x=0.0)
    axes[-1].set_xlabel("t, s")
    title = f"{r.model.name}   " + (r.status if r.status != "done" else "")
    axes[0].set_title(title, loc="left", fontsize=12, fontweight="bold", pad=12)
    axes[0].set_title(f"{r.cost.method}, {r.cost.integrator}", loc="right", fontsize=9, color=GREY, pad=12)
    for event in r.events[:40]:
        for axis in axes:
            axis.axvline(event.t, color=GREY, linewidth=0.8, linestyle=":")
    if len(r.events) <= MAX_LINES:
        for event in r.events:
            axes[0].annotate(
                event.name, (event.t, 1.0), (2, 2), xycoords=("data", "axes fraction"), textcoords="offset points",
                fontsize=7, color=GREY,
            )  # fmt: skip
    if path is not None:
        save_picture(figure, path)
    return figure


def _largest(work: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The causes that did the most work, as many as can be distinguished."""
    shown = sorted(work, key=lambda name: -float(np.abs(work[name]).max()))[:MAX_LINES]
    return {name: work[name] for name in work if name in shown}


def _columns(r: Result, joints: Sequence[str], values: np.ndarray, kind: str) -> dict[str, np.ndarray]:
    names = r.model.q_names if kind == "q" else r.model.v_names
    where = r.model.q_slice if kind == "q" else r.model.v_slice
    return {names[k]: values[:, k] for joint in joints for k in range(where(joint).start, where(joint).stop)}


def _lines(axis: Axes, t: np.ndarray, parts: dict[str, np.ndarray], label: str) -> None:
    many = len(parts) > MAX_LINES
    for k, (name, values) in enumerate(parts.items()):
        colour = COLOURS[k % len(COLOURS)]
        axis.plot(t, values, color=colour, linewidth=0.7 if many else 1.5, alpha=0.7 if many else 1.0, label=name)
    axis.axhline(0.0, color="#bbbbbb", linewidth=0.8, zorder=0)
    plain_axes(axis, label)
    if parts and not many:
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)


def _check(r: Result, joints: Sequence[str]) -> None:
    have = [j.name for j in r.model.joints if j.nv]
    for joint in joints:
        if not is_name_in(have, joint):
            where = r.model.structure.where_is(joint, have, "joints with freedoms")
            raise StateError(f"no joint {brief(joint)} with freedoms to plot; {where}")
    if not len(r):
        raise StateError("nothing to plot: the result has no times")
