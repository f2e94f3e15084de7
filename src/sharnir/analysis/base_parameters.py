"""Which combinations of mass properties and coefficients joint forces depend on: the base parameters of a model.

Columns of the regressor that depend on one another in every state cannot be told apart by any motion. Going through the
columns from the base outward, those independent of all before them are kept; the others are absorbed (P6).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from ..dynamics import Dynamics
from ..errors import AssemblyError, ModelError, SingularError, StateError, brief, choices
from ..machine import beyond_memory
from ..model.model import Model
from ..model.references import listed_names
from ..model.states import check_model
from ..types import FloatArray, random_generator

INDEPENDENT = 1e-8
"""A column of length one is independent if more than this of it is left outside the span of the others."""
ATTEMPTS = 50
"""Random positions from which a mechanism with constraints is assembled, before it is given up."""
ZERO = 1e-9
"""Factors of a combination below this, relative to the largest, are rounding."""


@dataclass(frozen=True, repr=False)
class BaseParameters:
    """The identifiable combinations `matrix` @ π; each is named after the parameter it absorbs others into."""

    names: list[str]
    """Names of the base parameters."""
    parameters: list[str]
    """The parameters π that were considered."""
    matrix: FloatArray
    """(base parameters, parameters)."""
    without_effect: list[str]
    """Parameters that joint forces do not depend on."""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def expressions(self) -> dict[str, str]:
        """Every base parameter as a sum: "link1.Izz + 0.25 link2.mass"."""
        return {name: _sum(row, self.parameters) for name, row in zip(self.names, self.matrix, strict=True)}

    def __str__(self) -> str:
        width = max(map(len, self.names), default=0)
        lines = [f"{len(self)} base parameters of {len(self.parameters)} parameters"]
        lines += [f"{name:{width}} = {text}" for name, text in self.expressions.items()]
        return "\n".join([*lines, *(f"without effect: {', '.join(self.without_effect)}" for _ in self.without_effect[:1])])

    __repr__ = __str__


def base_parameters(
    model: Model, fixed: Sequence[str] = (), samples: int | None = None, seed: int | np.random.Generator | None = 0
) -> BaseParameters:
    """The identifiable combinations of the parameters of `Dynamics.regressor`, from the regressor at random states.

    fixed    parameters that are known: names of `regressor_names` or patterns such as "*.friction", "link3.*"
    samples  states; by default enough for three equations to a parameter
    """
    d = dynamics_of(model, "base_parameters")
    names = d.regressor_names
    free = np.setdiff1d(np.arange(len(names)), matching(names, fixed))
    chosen, matrix = independent_columns(_factor(d, free, samples, seed))
    used = np.abs(matrix).max(axis=0, initial=0.0) > 0.0
    parameters = [names[k] for k in free]
    unused = [name for name, is_used in zip(parameters, used, strict=True) if not is_used]
    return BaseParameters([parameters[k] for k in chosen], parameters, matrix, unused)


def dynamics_of(model: Model, caller: str) -> Dynamics:
    """Dynamics as loops: compiled once for all models, not again for this one."""
    return Dynamics(check_model(model, caller), backend="loops")


def matching(names: Sequence[str], patterns: Sequence[str]) -> np.ndarray:
    """Indices of the names that match any of the patterns; a pattern that matches none is refused."""
    found: set[int] = set()
    for pattern in listed_names(patterns, "fixed", StateError):
        matches = {k for k, name in enumerate(names) if isinstance(pattern, str) and fnmatchcase(name, pattern)}
        if not matches:
            raise StateError(f"fixed: no parameter matches {brief(pattern)}; {choices(pattern, names, 'parameters')}")
        found |= matches
    return np.array(sorted(found), dtype=int)


def triangular(rows: FloatArray) -> FloatArray:
    """R of rows = QR: as many equations as are needed to say the same."""
    R: FloatArray = np.linalg.qr(rows, mode="r")  # type: ignore[assignment]
    return R


def independent_columns(R: FloatArray) -> tuple[list[int], FloatArray]:
    """Columns that are independent of those before them, and all columns as combinations of these (P6)."""
    length = np.linalg.norm(R, axis=0)
    unit = R / np.where(length > 0.0, length, 1.0)
    effective = length > INDEPENDENT * length.max(initial=0.0)
    chosen: list[int] = []
    basis = np.zeros((len(R), 0))
    for k in np.flatnonzero(effective).tolist():
        rest = unit[:, k]
        for _ in range(2):  # twice is enough for orthogonality to rounding
            rest = rest - basis @ (basis.T @ rest)
        if (size := np.linalg.norm(rest)) > INDEPENDENT:
            chosen.append(k)
            basis = np.column_stack([basis, rest / size])
    factors = np.linalg.lstsq(unit[:, chosen], unit * effective, rcond=None)[0] if chosen else np.zeros((0, R.shape[1]))
    factors[np.abs(factors) < ZERO] = 0.0
    factors[:, chosen] = np.eye(len(chosen))
    return chosen, factors * length / length[chosen][:, None] if chosen else factors


def _factor(d: Dynamics, free: np.ndarray, samples: int | None, seed: int | np.random.Generator | None) -> FloatArray:
    """The triangular factor of regressors stacked at random states."""
    m, rng = d.model, random_generator(seed)
    freedom = max(1, m.nv if d.constrained is None else _freedoms(m, rng))
    n = samples if samples is not None else 10 + -(-3 * max(len(free), 1) // freedom)
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise StateError(f"samples: expected a whole number of at least 1, got {brief(n)}")
    if beyond := beyond_memory(float(min(n, 10**18)) * (m.nq + 2.0 * m.nv + 1.0)):
        advice = "a few times as many as there are parameters are enough"
        raise StateError(f"samples: {brief(n)} states would need {beyond}; {advice}")
    q, v, a, t = _states(d, n, rng)
    R = np.zeros((0, len(free)))
    step = max(1, 2_000_000 // max(1, m.nv * len(d.regressor_names)))
    for k in range(0, n, step):
        part = slice(k, k + step)
        Y = d.regressor(q[part], v[part], a[part], t[part])[:, :, free]
        R = triangular(np.concatenate([R, Y.reshape(-1, len(free))]))
    return R


def _freedoms(m: Model, rng: np.random.Generator) -> int:
    """Degrees of freedom of a mechanism with constraints, in some position that satisfies them."""
    for _ in range(ATTEMPTS):
        with suppress(AssemblyError, SingularError):
            return m.mobility(m.assemble(m.random_q(rng))[0]).freedoms
    raise ModelError(f"base_parameters: model {m.name!r} could not be assembled at any of {ATTEMPTS} random positions")


def _states(d: Dynamics, n: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Random motions that satisfy the constraints."""
    m = d.model
    q = np.array([m.random_q(rng) for _ in range(n)]).reshape(n, m.nq)
    v, a = rng.normal(size=(n, m.nv)), rng.normal(size=(n, m.nv))
    t = rng.uniform(0.0, 10.0, n)
    if d.constrained is None:
        return q, v, a, t
    kept = []
    for b in range(n):
        with suppress(AssemblyError, SingularError):
            q[b], v[b] = m.assemble(q[b], v[b], float(t[b]))
            kept.append(b)
    q, v, t = q[kept], v[kept], t[kept]
    a = d.forward(q, v, 10.0 * a[kept], t)
    good = np.isfinite(a).all(axis=1)
    return q[good], v[good], a[good], t[good]


def _sum(row: FloatArray, names: Sequence[str]) -> str:
    out = ""
    for k in np.flatnonzero(row).tolist():
        size = "" if abs(abs(row[k]) - 1.0) < ZERO else f"{abs(row[k]):.6g} "
        out += f"{' - ' if row[k] < 0.0 else ' + '}{size}{names[k]}"
    return f"-{out[3:]}" if out.startswith(" - ") else out[3:]
