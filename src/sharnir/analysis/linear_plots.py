"""Bode plots, and modes as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import StateError, brief
from ..model.references import listed_names
from ..reporting.pictures import COLOURS, GREY, check_picture, new_figure, plain_axes, save_picture
from ..types import real_array
from .modes import ZERO, Mode

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .linear_system import LinearSystem

POINTS = 600
MAX_LINES = 8
"""Lines that can be distinguished."""
MAX_MODES = 24
"""Modes that can be read beside one another."""
SMALLEST = 1e-300
"""The amplitude that is drawn in place of zero."""


def bode(
    system: LinearSystem,
    inputs: Sequence[str],
    outputs: Sequence[str],
    omega: ArrayLike | None,
    path: str | PathLike[str] | None,
) -> Figure:
    columns = [system.index("input", name) for name in listed_names(inputs, "inputs")] or list(range(len(system.input_names)))
    rows = [system.index("output", name) for name in listed_names(outputs, "outputs")] or list(range(len(system.output_names)))
    if not rows or not columns:
        raise StateError("nothing to plot: the system has no inputs or no outputs")
    check_picture(path)
    w = default_frequencies(system) if omega is None else _frequencies(omega)
    G = system.frequency_response(w)
    figure = new_figure((9.0, 6.0), window=path is None, layout="constrained")
    amplitude, phase = figure.subplots(2, 1, sharex=True)
    pairs = [(i, k) for k in columns for i in rows]
    many = len(pairs) > MAX_LINES
    for number, (i, k) in enumerate(pairs):
        style: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "linewidth": 0.7 if many else 1.5}
        x = G[:, i, k]
        size = np.abs(x)
        label = f"{system.output_names[i]} / {system.input_names[k]}"
        amplitude.plot(w / (2.0 * np.pi), 20.0 * np.log10(np.maximum(size, SMALLEST)), label=label, **style)
        angles = np.where(np.isfinite(size), np.angle(x), np.nan)
        known = np.isfinite(angles)
        angles[known] = np.unwrap(angles[known])
        phase.plot(w / (2.0 * np.pi), np.degrees(angles), label=label, **style)
    for axes, label in ((amplitude, "amplitude, dB"), (phase, "phase, degrees")):
        plain_axes(axes, label)
        axes.set_xscale("log")
    amplitude.axhline(0.0, color="#bbbbbb", linewidth=0.8, zorder=0)
    phase.set_xlabel("frequency, Hz")
    if not many:
        amplitude.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
    return _titled(system, figure, amplitude, path)


def default_frequencies(system: LinearSystem) -> np.ndarray:
    """rad/s: from a decade below the eigenvalues to a decade above, denser near those that oscillate."""
    sizes = np.abs(system.eigenvalues[system.spectrum.zeros :])
    low, high = (sizes.min() / 10.0, sizes.max() * 10.0) if len(sizes) else (0.1, 100.0)
    peaks = [x.imag * (1.0 + s * np.geomspace(1e-4, 0.1, 20)) for x in system.eigenvalues if x.imag > 0.0 for s in (-1.0, 1.0)]
    return np.unique(np.concatenate([np.geomspace(low, high, POINTS), *peaks]))


def plot_modes(system: LinearSystem, path: str | PathLike[str] | None) -> Figure:
    check_picture(path)
    modes = [mode for mode in system.modes if mode.kind != ZERO][:MAX_MODES]
    figure = new_figure((9.0, max(4.0, 1.5 + 0.28 * len(system.v))), window=path is None, layout="constrained")
    plane, shapes = figure.subplots(1, 2, width_ratios=(1, 1.4))
    values = system.eigenvalues
    for wanted, colour, label in ((values.real > 0.0, COLOURS[1], "grow"), (values.real <= 0.0, COLOURS[0], "do not grow")):
        plane.plot(values[wanted].real, values[wanted].imag, "x", color=colour, label=label)
    plain_axes(plane, "imaginary part, 1/s")
    plane.set_xlabel("real part, 1/s", fontsize=9)
    for line in (plane.axhline, plane.axvline):
        line(0.0, color="#bbbbbb", linewidth=0.8, zorder=0)
    _shapes(shapes, system.dynamics.model.v_names, modes)
    return _titled(system, figure, plane, path)


def _shapes(axes: Axes, names: list[str], modes: list[Mode]) -> None:
    """A bar for every coordinate in every mode: its length is the amplitude, its side in phase or against it."""
    for k, mode in enumerate(modes):
        size = mode.tangent.real
        axes.barh(np.arange(len(names)), 0.45 * size, left=k, height=0.7, color=COLOURS[k % len(COLOURS)])
        axes.axvline(k, color="#bbbbbb", linewidth=0.8, zorder=0)
    plain_axes(axes, "")
    axes.set_xlim(-0.6, len(modes) - 0.4)
    axes.set_yticks(np.arange(len(names)), names)
    axes.invert_yaxis()
    labels = [f"{m.frequency:.3g} Hz" if m.frequency else f"{m.eigenvalue.real:.3g} /s" for m in modes]
    axes.set_xticks(np.arange(len(modes)), labels, rotation=45, ha="right")


def _titled(system: LinearSystem, figure: Figure, axes: Axes, path: str | PathLike[str] | None) -> Figure:
    axes.set_title(system.dynamics.model.name, loc="left", fontsize=12, fontweight="bold", pad=12)
    about = system.steadiness + (f" at t = {system.t:g}" if system.why else "")
    axes.set_title(about, loc="right", fontsize=9, color=GREY, pad=12)
    if path is not None:
        save_picture(figure, path)
    return figure


def _frequencies(omega: ArrayLike) -> np.ndarray:
    w = np.atleast_1d(real_array(omega, "omega"))
    if w.ndim > 1 or not (np.isfinite(w).all() and (w > 0.0).all()):
        raise StateError(f"omega: expected positive angular frequencies (n,), rad/s, got {brief(omega)}")
    return np.sort(w)
