"""The modes of a linear model as motions of the mechanism; pictures of modes, and Bode plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import pi
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..dynamics import Dynamics
from ..equations.assembly.start import assemble
from ..errors import NOT_A_NUMBER, StateError, brief
from ..model.references import listed_names
from ..model.services import service
from ..reporting.pictures import COLOURS, GREY, check_picture, new_figure, plain_axes, save_picture
from ..types import FilePath, real_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .linear_system import LinearSystem

UNDAMPED = 1e-9
"""Real parts below this share of the eigenvalue are none."""
ZERO, OSCILLATION, GROWTH, DECAY = "zero", "oscillation", "growth", "decay"
DAMPED, GROWING = "damped oscillation", "growing oscillation"


class Share(NamedTuple):
    """One coordinate in a mode."""

    name: str
    amplitude: float
    phase: float
    """Radians ahead of the coordinate that moves most."""


@dataclass(frozen=True, repr=False)
class Mode:
    """x(t) = Re(state · exp(eigenvalue · t)): one mode, scaled so that the coordinate that moves most moves by one.

    tangent   (nv,) complex: displacements of all coordinates, dependent ones too, in the order of v_names
    speeds    (nv,) complex: changes of all speeds
    """

    eigenvalue: complex
    state: np.ndarray
    tangent: np.ndarray
    speeds: np.ndarray
    dynamics: Dynamics = field(compare=False)
    q: np.ndarray
    """The coordinates it is a motion about."""
    t: float

    @property
    def frequency(self) -> float:
        """Hz, of the oscillation as it is seen; zero where there is none."""
        return abs(self.eigenvalue.imag) / (2.0 * pi)

    @property
    def natural_frequency(self) -> float:
        """Hz: |eigenvalue| / 2π, that of the oscillation without its damping."""
        return abs(self.eigenvalue) / (2.0 * pi)

    @property
    def damping_ratio(self) -> float:
        """−Re/|eigenvalue|: 0 undamped, 1 no oscillation, negative where it grows; nan of the eigenvalue zero."""
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if size else float("nan")

    @property
    def kind(self) -> str:
        """ "zero"; "oscillation" (undamped), "damped oscillation", "growing oscillation"; "growth" or "decay" without any."""
        size, real = abs(self.eigenvalue), self.eigenvalue.real
        if not size:
            return ZERO
        if abs(real) <= UNDAMPED * size:
            return OSCILLATION
        if abs(self.eigenvalue.imag) > UNDAMPED * size:
            return GROWING if real > 0.0 else DAMPED
        return GROWTH if real > 0.0 else DECAY

    @property
    def shares(self) -> list[Share]:
        """The coordinates, those that move most first."""
        names = self.dynamics.model.v_names
        order = np.argsort(-np.abs(self.tangent), kind="stable")
        return [Share(names[k], float(np.abs(self.tangent[k])), float(np.angle(self.tangent[k]))) for k in order]

    def motion(self, amplitude: float = 1.0, phase: ArrayLike = 0.0) -> np.ndarray:
        """q (nq,) displaced by the mode, at a phase in radians: `amplitude` is that of the coordinate that moves most.

        Closed mechanisms are assembled at the displaced coordinates. Phases (n,) give (n, nq): an animation.
        """
        try:
            phases, size = np.asarray(phase, dtype=float), float(amplitude)
        except NOT_A_NUMBER:
            raise StateError(f"motion of a mode: expected numbers, got {brief(amplitude)}, {brief(phase)}") from None
        if phases.ndim > 1 or not (np.isfinite(phases).all() and np.isfinite(size)):
            raise StateError(f"motion of a mode: expected finite numbers, got {brief(amplitude)}, {brief(phase)}")
        model, turned = self.dynamics.model, np.exp(1j * phases.reshape(-1, 1))
        found = model.integrate(self.q, size * (turned * self.tangent).real, self.t)
        if model.constraints:
            found = np.array([assemble(model, q, t=self.t)[0] for q in found])
        return found.reshape(*phases.shape, len(self.q))

    def poses(self, amplitude: float = 1.0, phase: ArrayLike = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (…, N, 3, 3) and position (…, N, 3) of every body, displaced as by `motion`."""
        return self.dynamics.poses(self.motion(amplitude, phase), self.t)

    def body(self, name: str, point: Sequence[float] = (0.0, 0.0, 0.0)) -> np.ndarray:
        """(6,) complex: displacement of a point of a body and the small rotation of the body, in the world."""
        return self.dynamics.jacobian(self.q, name, point, self.t) @ self.tangent

    def video(
        self, path: FilePath, fps: float = 30.0, *, amplitude: float | None = None, period: float = 2.0, periods: int = 3,
        show: Sequence[str] | None = None, size: tuple[int, int] | None = None, view: str | Sequence[float] | None = None,
        theme: str = "light", labels: bool = False, title: str | None = None, progress: bool | None = None,
    ) -> None:  # fmt: skip
        """The mode as a video, .mp4 or .gif: one period, shown in `period` seconds whatever its frequency, `periods` times.

        Growth and decay are not shown. `amplitude` is that of the coordinate that moves most; by default the point that moves
        most moves by a tenth of the mechanism's size. The title says frequency and kind. The rest as for `Result.video`.
        """
        look = {"size": size, "view": view, "theme": theme, "labels": labels, "title": title, "progress": progress}
        service("mode video")(self, path, fps, amplitude=amplitude, period=period, periods=periods, show=show, **look)

    def animate(
        self, path: FilePath | None = None, *, amplitude: float | None = None, show: Sequence[str] | None = None,
        view: str | Sequence[float] | None = None, title: str | None = None,
    ) -> Path | Any:  # fmt: skip
        """The mode as a page that opens in any browser, one period in two seconds; arguments as for `video`. By default
        mode.html; in a notebook the page is shown there, and no file is written."""
        return service("animate mode")(self, path, amplitude=amplitude, show=show, view=view, title=title)

    def __repr__(self) -> str:
        moves = ", ".join(x.name for x in self.shares[:3] if x.amplitude > 0.1)
        return f"<Mode {self.kind}, {self.frequency:.6g} Hz, damping ratio {self.damping_ratio:.3g}: {moves}>"


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
        x, label = G[:, i, k], f"{system.output_names[i]} / {system.input_names[k]}"
        amplitude.plot(w / (2.0 * np.pi), 20.0 * np.log10(np.maximum(np.abs(x), SMALLEST)), label=label, **style)
        angles = np.where(np.isfinite(np.abs(x)), np.angle(x), np.nan)
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
