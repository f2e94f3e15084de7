"""One panel of a response surface: curves, a grid as contours or as cells, a design as contours between its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...reporting.pictures import INK
from ...types import FloatArray
from .colours import COLOUR_MAP, ONE_COLOUR, WORD_COLOURS, norm_of
from .drawing import FAILED, set_axis
from .scales import Scale, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMOOTH = 5
"""Values along each axis from which a grid is drawn by contours, not cell by cell."""
WRITTEN = 60
"""Most cells with the value written into each."""
LEVELS = 14
FEW_CELLS = 10
FEW = 400
"""Most points that are marked."""


def curves(axes: Axes, x: Sequence[FloatArray], z: Sequence[FloatArray], names: tuple[str, ...], joined: bool) -> None:
    """Draw a line with points for each name; where there is no value, a cross at the bottom."""
    for k, (across, up) in enumerate(zip(x, z, strict=True)):
        order = np.argsort(across, kind="stable")
        across, up = across[order], up[order]
        known = np.isfinite(up)
        colour = WORD_COLOURS[k % len(WORD_COLOURS)] if names else ONE_COLOUR
        style: dict[str, Any] = {"linestyle": "-" if joined else "", "marker": "o" if len(up) <= FEW else ""}
        axes.plot(across, up, color=colour, ms=4, lw=1.5, label=names[k] if names else None, **style)
        if not known.all():
            axes.plot(
                across[~known], np.full((~known).sum(), 0.025), "x", color=FAILED, mew=1.6, ms=6, clip_on=False,
                transform=axes.get_xaxis_transform(), label="_failed", zorder=4,
            )  # fmt: skip


def grid(axes: Axes, x: FloatArray, y: FloatArray, z: FloatArray, scales: tuple[Scale, Scale, Scale], smooth: bool) -> None:
    """Draw a grid, z (values of y, values of x), as contours or as cells."""
    horizontal, vertical, shade = scales
    known = np.isfinite(z)
    if smooth and min(z.shape) >= SMOOTH and _is_contoured(z[known], shade):
        masked = np.ma.masked_invalid(z)
        axes.contourf(x, y, masked, levels=_levels(shade), norm=norm_of(shade), cmap=COLOUR_MAP)
        axes.contour(x, y, masked, levels=_levels(shade), colors="white", linewidths=0.5, alpha=0.5)
        ends = (0.0, 0.0)
        if z.size <= FEW:
            across, up = np.meshgrid(x, y)
            axes.plot(across[known], up[known], ".", color=INK, ms=2.0, alpha=0.6)
    else:
        edges = _edges(x, horizontal), _edges(y, vertical)
        axes.pcolormesh(*edges, np.ma.masked_invalid(z), norm=norm_of(shade), cmap=COLOUR_MAP, shading="flat")
        ends = (_beyond(edges[0], horizontal), _beyond(edges[1], vertical))
        horizontal, vertical = _at_cells(horizontal, x), _at_cells(vertical, y)
        if z.size <= WRITTEN:
            _write(axes, x, y, z, shade)
    set_axis(axes, "x", horizontal, ends[0])
    set_axis(axes, "y", vertical, ends[1])
    rows, columns = np.nonzero(~known)
    crosses(axes, x[columns], y[rows])


def scattered(axes: Axes, x: FloatArray, y: FloatArray, z: FloatArray, scales: tuple[Scale, Scale, Scale], near: int) -> None:
    """Draw points in their colours, and contours by triangles between them, of the mean of so many nearest runs (0: none)."""
    horizontal, vertical, shade = scales
    known = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    places = np.stack([horizontal.position(x[known]), vertical.position(y[known])], axis=1)
    mean = _nearest_mean(places, z[known], near) if near > 1 else z[known]
    triangles = _triangles(places) if near and _is_contoured(mean, shade) else None
    if triangles is not None:
        from matplotlib.tri import Triangulation

        mesh = Triangulation(x[known], y[known], triangles)
        axes.tricontourf(mesh, mean, levels=_levels(shade), norm=norm_of(shade), cmap=COLOUR_MAP)
    size = float(np.clip(5000.0 / max(known.sum(), 1), 5.0, 30.0))
    axes.scatter(
        x[known], y[known], c=z[known], s=size, norm=norm_of(shade), cmap=COLOUR_MAP, edgecolors="white",
        linewidths=0.5 if size > 8 else 0.2, zorder=3,
    )  # fmt: skip
    set_axis(axes, "x", horizontal, 0.03)
    set_axis(axes, "y", vertical, 0.03)
    crosses(axes, x[~known], y[~known])


def crosses(axes: Axes, x: FloatArray, y: FloatArray) -> None:
    """Mark runs without a value."""
    if len(x):
        size = float(np.clip(300.0 / len(x), 3.0, 7.0))
        axes.plot(x, y, "x", color="white", ms=size + 1.0, mew=3.2, zorder=4, label="_halo", clip_on=False)
        axes.plot(x, y, "x", color=FAILED, ms=size, mew=1.6, zorder=4, label="_failed", clip_on=False)


def _levels(shade: Scale) -> FloatArray:
    return shade.value(np.linspace(0.0, 1.0, LEVELS + 1))


def _is_contoured(z: FloatArray, shade: Scale) -> bool:
    """Whether values differ by more than rounding, as contours need it."""
    return len(z) > 2 and bool(np.ptp(shade.position(z)) > 1e-9)


def _edges(values: FloatArray, scale: Scale) -> FloatArray:
    """Edges of the cells around values, half way between them as the axis shows it."""
    at = scale.position(values)
    if len(at) == 1:
        return scale.value(np.array([at[0] - 0.5, at[0] + 0.5]))
    middle = 0.5 * (at[1:] + at[:-1])
    return scale.value(np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]]))


def _beyond(edges: FloatArray, scale: Scale) -> float:
    """Share of the axis by which cells reach beyond it; the same at both ends."""
    ends = scale.position(edges[[0, -1]])
    return float(max(-ends[0], ends[1] - 1.0))


def _at_cells(scale: Scale, values: FloatArray) -> Scale:
    """The scale with ticks at the cells, where these are few."""
    if len(values) > FEW_CELLS or not scale.ticks or len(scale.ticks) == len(values):
        return scale
    return replace(scale, ticks=tuple(values), texts=tuple(texts([float(f"{v:.3g}") for v in values])))


def _write(axes: Axes, x: FloatArray, y: FloatArray, z: FloatArray, shade: Scale) -> None:
    for row, up in zip(z, y, strict=True):
        for value, across in zip(row, x, strict=True):
            if np.isfinite(value):
                dark = shade.position(np.array([value]))[0] < 0.6
                axes.text(across, up, f"{value:.3g}", ha="center", va="center", fontsize=7.5, color="white" if dark else INK)


def _triangles(places: FloatArray) -> NDArray[np.int32] | None:
    """Delaunay's, without slivers along the hull; None where the points are too few or lie on a line."""
    from matplotlib.tri import TriAnalyzer, Triangulation

    try:
        mesh = Triangulation(places[:, 0], places[:, 1])
    except (RuntimeError, ValueError):
        return None
    mask = np.asarray(TriAnalyzer(mesh).get_flat_tri_mask(0.01, rescale=False))
    return mesh.triangles[~mask] if mask.size and not mask.all() else mesh.triangles


def _nearest_mean(places: FloatArray, z: FloatArray, near: int) -> FloatArray:
    from scipy.spatial import cKDTree

    if len(z) <= near:
        return z
    return z[cKDTree(places).query(places, near)[1]].mean(axis=1)
