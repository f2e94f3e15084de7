"""A mechanism as a linear system: its matrices, eigenvalues and modes, and how it answers to inputs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm, matrix_balance, qr

from ..dialect.jit import in_background
from ..dynamics import Dynamics
from ..errors import MethodError, StateError, brief, no_such
from ..model.references import is_name_in
from ..reporting.formats import MISSING, plural
from ..reporting.table import Table
from ..types import real_array
from .modes import GROWING, GROWTH, OSCILLATION, Mode
from .modes import ZERO as NOTHING_MOVES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# --- eigenvalues and eigenvectors of a linear model, with those that are zero told apart from those that are small
ZERO = 1e-12
"""Singular values below this share of the largest are zero, time measured in periods of the fastest oscillation."""

LARGE = 200
"""Freedoms from which on matrices take longer than a reader notices: Ctrl-C is heard meanwhile."""

SLOW = 1e-6
"""Share of the fastest eigenvalue that rounding may leave of one that is zero."""


@dataclass(frozen=True)
class Spectrum:
    values: np.ndarray
    """Zeros first, then by absolute value; of a pair the one with positive imaginary part first."""
    zeros: int
    """Number of zeros."""
    null: np.ndarray
    """(n, k): what belongs to the eigenvalue zero, k ≤ zeros: states that remain as they are."""
    vectors: np.ndarray
    """(n, n − zeros): eigenvectors of the others, in their order."""


def spectrum(A: np.ndarray, positions: int, others: int = 0) -> Spectrum:
    """The first states are displacements, so many; then come speeds; the last are `others`, of forces, in units of their own:
    pressures beside metres, which are made comparable by balancing."""
    n = len(A)
    if not n:
        return Spectrum(np.zeros(0, complex), 0, np.zeros((0, 0)), np.zeros((0, 0), complex))
    stiffness = float(np.linalg.norm(A[positions:, :positions]))
    scale = np.where(np.arange(n) < positions, 1.0, np.sqrt(stiffness) if stiffness > 0.0 else 1.0)
    balanced = scale * matrix_balance(A * scale / scale[:, None], permute=False, separate=True)[1][0]
    if others:
        scale = balanced
    R, Q, sizes = _zeros_first(A * scale / scale[:, None])
    if sizes and not others:  # of coordinates as unlike as angles and amplitudes of modes, balancing may tell more
        again = _zeros_first(A * balanced / balanced[:, None])
        moving = np.abs(np.linalg.eigvals(again[0][sum(again[2]) :, sum(again[2]) :]))
        if sum(again[2]) < sum(sizes) and moving.min() > SLOW * moving.max():
            scale, (R, Q, sizes) = balanced, again
    k = sum(sizes)
    null = scale[:, None] * Q[:, : sizes[0]] if sizes else np.zeros((n, 0))
    values, Y = np.linalg.eig(R[k:, k:])
    order = _sorted(values)
    values, Y = values[order], Y[:, order]
    upper = [np.linalg.solve(x * np.eye(k) - R[:k, :k], R[:k, k:] @ y) for x, y in zip(values, Y.T, strict=True)]
    vectors = np.vstack([np.array(upper, dtype=complex).reshape(len(values), k).T, Y])
    return Spectrum(np.concatenate([np.zeros(k), values]), k, _by_coordinates(null), scale[:, None] * (Q @ vectors))


def _zeros_first(R: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Qᵀ R Q, block triangular: null spaces one after another, then what is regular; and the sizes of the null spaces."""
    R, Q, done, sizes, enough = R.copy(), np.eye(len(R)), 0, list[int](), -1.0
    while done < len(R):
        _, s, Vt = np.linalg.svd(R[done:, done:])
        enough = ZERO * s[0] if enough < 0.0 else enough
        k = int((s <= enough).sum())
        if not k:
            break
        V = Vt[::-1].T  # null vectors first
        R[:, done:] = R[:, done:] @ V
        R[done:] = V.T @ R[done:]
        Q[:, done:] = Q[:, done:] @ V
        R[done:, done : done + k] = 0.0
        sizes.append(k)
        done += k
    return R, Q, sizes


def _sorted(values: np.ndarray) -> list[int]:
    """Order by absolute value, pairs together: LAPACK puts the conjugate behind the one of positive imaginary part."""
    leaders = [k for k, x in enumerate(values) if x.imag >= 0.0]
    leaders.sort(key=lambda k: (abs(values[k]), values[k].real))
    return [at for k in leaders for at in (k, k + 1)[: 1 + (values[k].imag > 0.0)]]


def _by_coordinates(null: np.ndarray) -> np.ndarray:
    """The same space with a basis of vectors that each move one coordinate of their own."""
    if not null.shape[1]:
        return null
    rows = qr(null.T, mode="r", pivoting=True)[1][: null.shape[1]]
    found = null @ np.linalg.inv(null[np.sort(rows)])
    return np.where(np.abs(found) < 1e-12, 0.0, found)


# --- the linear system
@dataclass(frozen=True, eq=False, repr=False)
class LinearSystem:
    """ẋ = A x + B u, y = C x + D u near a motion of a mechanism: made by `sharnir.linearize`."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    state_names: list[str]
    input_names: list[str]
    output_names: list[str]
    dynamics: Dynamics = field(repr=False)
    q: np.ndarray
    """Coordinates, speeds, time and joint forces of the motion it is linearised about; assembled where there are loops."""
    v: np.ndarray
    t: float
    tau: np.ndarray
    basis: np.ndarray
    """(2nv, states): displacements of all coordinates, then changes of all speeds, in the order of v_names, from x."""
    steadiness: str
    """ "equilibrium", "steady motion", or "frozen": A is that of the instant only."""
    why: str
    """The reason where it is frozen."""
    conditioning: float
    """The least singular value of the constraint rows, scaled: near zero close to singular positions; 1 without constraints."""

    # --- free motion ----------------------------------------------------------------------------------------------------------
    @cached_property
    def spectrum(self) -> Spectrum:
        positions = sum(name.startswith("q.") for name in self.state_names)
        long, states = len(self.A) > LARGE, len(self.dynamics.model.states)
        return in_background(lambda: spectrum(self.A, positions, states), long, "eigenvalues")

    @property
    def eigenvalues(self) -> np.ndarray:
        """(states,): exact zeros first, then by absolute value, pairs together."""
        return self.spectrum.values

    @cached_property
    def modes(self) -> list[Mode]:
        """One for each pair of eigenvalues and for each real one, in their order; of the eigenvalue zero as many as there are
        states that remain as they are."""
        s = self.spectrum
        zero = [self._mode(0j, x.astype(complex)) for x in s.null.T]
        values = s.values[s.zeros :]
        return zero + [self._mode(complex(x), y) for x, y in zip(values, s.vectors.T, strict=True) if x.imag >= 0.0]

    def _mode(self, eigenvalue: complex, x: np.ndarray) -> Mode:
        n = len(self.v)
        whole = self.basis @ x
        moves = whole[:n] if np.abs(whole[:n]).max(initial=0.0) > 0.0 else x  # a mode of states of forces moves nothing
        leading = moves[np.abs(moves).argmax()]
        scaled = whole / leading
        return Mode(eigenvalue, x / leading, scaled[:n], scaled[n:], self.dynamics, self.q, self.t)

    @property
    def frequencies(self) -> np.ndarray:
        """Hz, of every mode: as the oscillation is seen, |Im|/2π."""
        return np.array([mode.frequency for mode in self.modes])

    @property
    def natural_frequencies(self) -> np.ndarray:
        """Hz, of every mode: |eigenvalue|/2π."""
        return np.array([mode.natural_frequency for mode in self.modes])

    @property
    def damping_ratios(self) -> np.ndarray:
        """Damping ratio of every mode, −Re/|eigenvalue|; nan for the eigenvalue zero."""
        return np.array([mode.damping_ratio for mode in self.modes])

    @property
    def growing(self) -> list[Mode]:
        """Modes that grow: none of a motion that is stable to first order."""
        return [mode for mode in self.modes if mode.kind in (GROWTH, GROWING)]

    # --- forced motion --------------------------------------------------------------------------------------------------------
    def frequency_response(self, omega: ArrayLike) -> np.ndarray:
        """(frequencies, outputs, inputs) complex: C (iω − A)⁻¹ B + D at angular frequencies ω, rad/s; infinite at a resonance
        without damping."""
        given = real_array(omega, "omega")
        if given.ndim > 1 or not np.isfinite(given).all():
            raise StateError(f"omega: expected finite angular frequencies, a number or (n,), got {brief(omega)}")
        one = np.eye(len(self.A))
        found = np.full((given.size, *self.D.shape), complex(np.inf))
        for k, w in enumerate(given.reshape(-1)):
            with suppress(np.linalg.LinAlgError):
                found[k] = self.C @ np.linalg.solve(1j * w * one - self.A, self.B) + self.D
        return found.reshape(*given.shape, *self.D.shape)

    def step_response(self, t: ArrayLike) -> np.ndarray:
        """(times, outputs, inputs): outputs at times t ≥ 0 after one input was set to one, from x = 0."""
        given = real_array(t, "t")
        if given.ndim > 1 or not (np.isfinite(given).all() and (given >= 0.0).all()):
            raise StateError(f"t: expected times, a number or (n,), from 0 on; got {brief(t)}")
        n, k = self.B.shape
        whole = np.block([[self.A, self.B], [np.zeros((k, n + k))]])
        found = np.array([self.C @ expm(x * whole)[:n, n:] + self.D for x in given.reshape(-1)])
        return found.reshape(*given.shape, *self.D.shape)

    # --- shown and handed on --------------------------------------------------------------------------------------------------
    def summary(self) -> str:
        """The modes as a table: eigenvalues, frequencies, damping ratios, and what moves."""
        growing, zeros = self.growing, self.spectrum.zeros
        about = f"{self.steadiness} at t = {self.t:g}" if self.steadiness == "frozen" else self.steadiness
        verdict = f"{plural(len(growing), 'mode grows', 'modes grow')}" if growing else "no mode grows"
        states = plural(len(self.A), "state")
        lines = [f"{self.dynamics.model.name}: {about}; {states}, {zeros} of {len(self.A)} eigenvalues zero, {verdict}"]
        if self.why:
            lines.append(f"  A is that of the instant only: {self.why}")
        return "\n".join([*lines, self._table().plain()])

    def _table(self) -> Table:
        head = ["mode", "eigenvalue, 1/s", "frequency, Hz", "damping ratio", "kind", "moves"]
        return Table.of_text([head, *(_row(k, mode) for k, mode in enumerate(self.modes))])

    def _repr_html_(self) -> str:
        return self._table().html(repr(self)) if len(self.A) <= LARGE else escape(repr(self))

    def bode(
        self,
        inputs: Sequence[str] = (),
        outputs: Sequence[str] = (),
        omega: ArrayLike | None = None,
        path: str | PathLike[str] | None = None,
    ) -> Figure:
        """Amplitude and phase of every output to every input, or those named, over the frequency; into a file where `path` is
        given. `omega`: rad/s, default: a decade around all eigenvalues."""
        from .modes import bode

        return bode(self, inputs, outputs, omega, path)

    def plot_modes(self, path: str | PathLike[str] | None = None) -> Figure:
        """Eigenvalues in the complex plane, and how much every coordinate moves in each mode."""
        from .modes import plot_modes

        return plot_modes(self, path)

    def to_control(self) -> Any:
        """A `control.StateSpace` of python-control, names included ("." is "_" there)."""
        try:
            import control
        except ImportError:
            raise MethodError('python-control is not installed: pip install "sharnir[control]"') from None
        named = {"states": self.state_names, "inputs": self.input_names, "outputs": self.output_names}
        named = {key: [name.replace(".", "_") for name in names] for key, names in named.items()}
        return control.ss(self.A, self.B, self.C, self.D, **named)

    def index(self, kind: str, name: str) -> int:
        """The index of a state, an input or an output by its name."""
        names = {"state": self.state_names, "input": self.input_names, "output": self.output_names}[kind]
        if not is_name_in(names, name):
            raise MethodError(no_such(kind, name, names))
        return names.index(name)

    def __repr__(self) -> str:
        shape = f"{len(self.A)} states, {len(self.input_names)} inputs, {len(self.output_names)} outputs"
        return f"<LinearSystem of {self.dynamics.model.name!r}: {shape}; {self.steadiness}>"


# --- the modes as lines of a table
SHOWN = 0.1
"""Coordinates that move less than this, relative to the one that moves most, are not listed."""
MOST = 4
"""Coordinates listed for a mode."""


def _row(k: int, mode: Mode) -> list[str]:
    x = mode.eigenvalue
    real = x.real if mode.kind != OSCILLATION else 0.0
    shown = f"{real:.6g}" + (f" ± {x.imag:.6g}i" if x.imag else "")
    ratio = MISSING if mode.kind == NOTHING_MOVES else "0" if mode.kind == OSCILLATION else f"{mode.damping_ratio:.4g}"
    return [str(k + 1), shown, f"{mode.frequency:.6g}" if x.imag else MISSING, ratio, mode.kind, _moves(mode)]


def _moves(mode: Mode) -> str:
    """`shoulder 1, elbow −0.41`: in phase or against it, and where it is neither, by how many degrees ahead."""
    parts = []
    for share in mode.shares:
        if share.amplitude < SHOWN:
            break
        degrees = np.degrees(share.phase)
        in_phase, against = abs(degrees) < 1.0, abs(degrees) > 179.0
        at = "" if in_phase or against else f" at {degrees:.0f}°"
        parts.append(f"{share.name} {-share.amplitude if against else share.amplitude:.2g}{at}")
    more = len(parts) - MOST
    return ", ".join(parts[:MOST]) + (f" and {more} more" if more > 0 else "")
