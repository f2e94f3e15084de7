"""Arguments of `Dynamics` as rows of floats: one state or a batch, arrays, lists or values by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from ..errors import StateError
from ..model.model import Model
from ..model.parameters import check_values
from ..model.states import check_array
from ..types import Parameters, State, Wrenches, real_array


class At(TypedDict, total=False):
    """Arguments of one question as the caller gave them, by the names of inputs of programs."""

    q: State
    v: State
    tau: State
    qdd: State
    p: State
    t: ArrayLike
    wrench: Wrenches
    parameter: Parameters


Rows = dict[str, np.ndarray]
"""Inputs by name, each (B, size), or (1, size) where all states share it."""
Row = tuple[np.ndarray, bool]
"""(B, size) or (1, size), C-contiguous, and whether a batch was given."""


class Arguments:
    """Arguments for one model: values by name leave the rest neutral or zero; shapes are checked."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def row(self, name: str, x: Any, size: int) -> Row:
        """An input as C-contiguous rows of floats, and whether it is a batch."""
        shown = {"qdd": "a", "wrench": "wrenches"}.get(name, name)
        if name in ("q", "v", "tau", "qdd") and (x is None or isinstance(x, Mapping)):
            x = self.model.coordinates(x) if name == "q" else self.model.speeds(x)
        if name == "wrench":
            return self.wrenches(x)
        if name == "parameter":
            return self.parameters(x)
        expected = "a number or (B,)" if name == "t" else f"({size},) or (B, {size})"
        if x is None:
            raise StateError(f"{shown}: expected {expected}, got None")
        a = real_array(x, shown)
        if name == "t":
            if a.ndim > 1:
                raise StateError(f"t: expected {expected}, got {a.shape}")
            return a.reshape(-1, 1), a.ndim == 1
        if a.ndim not in (1, 2) or a.shape[-1] != size:
            raise StateError(f"{shown}: expected {expected}, got {a.shape}")
        return a.reshape(-1, size) if size else a.reshape(a.shape[0] if a.ndim == 2 else 1, 0), a.ndim == 2

    def wrenches(self, x: ArrayLike | Mapping[str, ArrayLike]) -> Row:
        """A wrench on every body, with a row of zeros for the base in front."""
        N = len(self.model.bodies)
        if isinstance(x, Mapping):
            named, x = x, np.zeros((N, 6))
            for body, wrench in named.items():
                x[self.model.body_index(body)] = check_array(wrench, f"wrench on body {body!r}", 6)
        a = real_array(x, "wrenches")
        if a.shape[-2:] != (N, 6) or a.ndim not in (2, 3):
            raise StateError(f"wrenches: expected ({N}, 6) or (B, {N}, 6), got {a.shape}")
        full = np.zeros((*a.shape[:-2], N + 1, 6))
        full[..., 1:, :] = a
        return full.reshape(-1, 6 * (N + 1)), a.ndim == 3

    def parameters(self, x: Parameters) -> Row:
        """Values of all parameters, the model's own where none are given: {name: number or (B,)}, or (P,) or (B, P) in order."""
        own = self._own_parameters
        if x is None:
            return own, False
        if isinstance(x, Mapping):
            for name in x:
                self.model.check_parameter(name)
            columns = [
                real_array(x[name], f"parameter {name!r}") if name in x else own[0, k] for k, name in enumerate(self._names)
            ]
            if any(np.ndim(column) > 1 for column in columns):
                bad = next(name for name, column in zip(self._names, columns, strict=True) if np.ndim(column) > 1)
                raise StateError(f"parameter {bad!r}: expected a number or (B,), got {np.shape(x[bad])}")
            try:
                a = np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else np.zeros(0)
            except ValueError:
                sizes = {name: len(x) for name, x in zip(self._names, columns, strict=True) if np.ndim(x)}
                raise StateError(f"parameters: batches of different sizes: {sizes}") from None
        else:
            a = real_array(x, "parameters")
        size = own.shape[1]
        if a.ndim not in (1, 2) or a.shape[-1] != size:
            raise StateError(f"parameters: expected {{name: value}}, ({size},) or (B, {size}), got {a.shape}")
        rows = np.ascontiguousarray(np.atleast_2d(a))
        check_values(self.model, rows)
        return rows, a.ndim == 2

    @cached_property
    def _names(self) -> list[str]:
        return list(self.model.structure.parameters)

    @cached_property
    def _own_parameters(self) -> np.ndarray:
        return np.array([list(self.model.structure.parameters.values())], dtype=float)

    def states(self, at: At) -> tuple[Rows, int, bool]:
        """`rows` of what was given of q, v, tau, qdd, t and wrench, with the parameters of a model that has any."""
        optional = {"wrench": at.get("wrench") is not None, "parameter": bool(self._names) or at.get("parameter") is not None}
        return self.rows(at, {name: size for name, size in self._sizes.items() if optional.get(name, name in at)})

    @cached_property
    def _sizes(self) -> dict[str, int]:
        s = self.model.structure
        return {"q": s.nq, "v": s.nv, "tau": s.nv, "qdd": s.nv, "t": 1, "wrench": 6 * s.nb, "parameter": len(s.parameters)}

    def rows(self, given: Mapping[str, Any], sizes: Mapping[str, int]) -> tuple[Rows, int, bool]:
        """Inputs of these sizes as rows, how many states they are, and whether it is one that came without a batch axis."""
        arrays = {
            name: self.row(name, given.get(name) if name == "parameter" else given[name], size) for name, size in sizes.items()
        }
        batches = {name: len(x) for name, (x, many) in arrays.items() if many}
        if len(set(batches.values())) > 1:
            shown = ", ".join(f"{name}: {size}" for name, size in batches.items())
            raise StateError(f"batches of different sizes ({shown})")
        return {name: x for name, (x, _) in arrays.items()}, next(iter(batches.values()), 1), not batches


def each_state(rows: Rows, n: int) -> Iterator[Rows]:
    """Rows of n states one by one."""
    for b in range(n):
        yield {name: x[b if len(x) > 1 else 0] for name, x in rows.items()}


def check_out(out: object, shape: tuple[int, ...]) -> np.ndarray:
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise StateError("out: the array is read-only")
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape or not out.flags.c_contiguous:
        got = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else repr(out)
        raise StateError(f"out: expected a C-contiguous float64 array {shape}, got {got}")
    return out


def unbatch(found: np.ndarray, single: bool, out: np.ndarray | None) -> np.ndarray:
    """A result (n, …) as the caller expects it: one state without the batch axis, or written to `out`."""
    found = found[0] if single else found
    if out is None:
        return found
    check_out(out, found.shape)[...] = found
    return out
