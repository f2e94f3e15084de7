"""Derivatives of what `Dynamics` computes: one result class for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import MethodError, unknown
from ..model.references import listed_names


@dataclass(frozen=True)
class Derivatives:
    """A value and its derivatives, the columns of each last; None where not asked for."""

    value: np.ndarray
    dq: np.ndarray | None = None
    dv: np.ndarray | None = None
    dtau: np.ndarray | None = None
    da: np.ndarray | None = None
    dparameters: np.ndarray | None = None


def checked_wrt(wrt: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    names = tuple(listed_names(wrt, "wrt", MethodError))
    for name in names:
        if name not in known:
            raise MethodError(unknown(f"{name!r} in wrt", name, known, "inputs"))
    return names
