"""Curves of charts on their way into a page."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...simulation.results.charts import Charts, Curve
from ...simulation.results.plotly_plots import thinned
from .pack import Package

POINTS = 1500
"""Of a curve: more than a plot beside the motion has pixels."""


def plots(package: Package, found: Charts) -> list[dict[str, Any]]:
    """Each chart with its curves in the order of time."""
    return [
        {"title": chart.panel.heading, "unit": chart.panel.unit, "curves": [_curve(package, curve) for curve in chart.curves]}
        for chart in found.charts
    ]


def _curve(package: Package, curve: Curve) -> dict[str, Any]:
    x, y = thinned(np.asarray(curve.x), np.asarray(curve.y), POINTS)
    if len(x) and x[0] > x[-1]:  # a run backward in time
        x, y = x[::-1], y[::-1]
    return {
        "label": curve.label, "colour": curve.colour, "dash": curve.dash,
        "t": package.add(x.astype(np.float32)), "y": package.add(y.astype(np.float32)),
    }  # fmt: skip
