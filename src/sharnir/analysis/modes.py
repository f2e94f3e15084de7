"""The modes of a linear model as motions of the mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import pi
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..dynamics import Dynamics
from ..equations.assembly.start import assemble
from ..errors import NOT_A_NUMBER, StateError, brief
from ..model.services import service
from ..types import FilePath

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
        self, path: FilePath = "mode.html", *, amplitude: float | None = None, show: Sequence[str] | None = None,
        view: str | Sequence[float] | None = None, title: str | None = None,
    ) -> Path:  # fmt: skip
        """The mode as a page that opens in any browser, one period in two seconds; arguments as for `video`."""
        page: Path = service("animate mode")(self, path, amplitude=amplitude, show=show, view=view, title=title)
        return page

    def __repr__(self) -> str:
        moves = ", ".join(x.name for x in self.shares[:3] if x.amplitude > 0.1)
        return f"<Mode {self.kind}, {self.frequency:.6g} Hz, damping ratio {self.damping_ratio:.3g}: {moves}>"
