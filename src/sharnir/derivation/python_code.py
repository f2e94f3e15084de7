"""Equations of motion as a module of Python that needs NumPy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.pycode import PythonCodePrinter

from ..errors import ModelError

if TYPE_CHECKING:
    from .equations_of_motion import EquationsOfMotion

TEXT = '''# Equations of motion of {name!r}: M dv/dt + h = tau + J' lambda, J dv/dt + gamma = 0

import math

import numpy as np


def equations(q, v, t=0.0{parameters}):
    """M (n, n), h (n,), J (m, n), gamma (m,) in a state."""
    {states} = q, v
{definitions}    return (
        {arrays},
    )


def forward(q, v, tau=None, t=0.0, **parameters):
    """Accelerations and multipliers: those of least length where constraints depend on one another."""
    M, h, J, gamma = equations(q, v, t, **parameters)
    force = (0.0 if tau is None else np.asarray(tau)) - h
    if not len(J):
        return np.linalg.solve(M, force), gamma
    matrix = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    found = np.linalg.lstsq(matrix, np.concatenate([force, -gamma]), rcond=1e-13)[0]
    return found[: len(M)], found[len(M) :]
'''


def python_text(x: EquationsOfMotion) -> str:
    """The module: functions `equations` and `forward`."""
    symbols, print_ = x.symbols, PythonCodePrinter({"fully_qualified_modules": True, "precision": 17}).doprint
    J, gamma = x.parts.get("J", sp.zeros(0, len(symbols["v"]))), x.parts.get("gamma", sp.zeros(0, 1))
    M, h = x.parts["M"], x.parts["coriolis"] + x.parts["gravity"] - x.parts["forces"]
    if any(y.has(AppliedUndef) for y in (M, h, J, gamma, *(y for _, y in x.definitions))):
        raise ModelError(f"the equations of {x.name!r} read a table, which this code has not; ask sharnir.Dynamics for numbers")
    arrays = [f"np.array({print_(numbers)}, dtype=float)" for numbers in (M.tolist(), list(h), J.tolist(), list(gamma))]
    arrays[2] += f".reshape({J.rows}, {J.cols})"
    values = "".join(f", {symbol}={value!r}" for symbol, value in zip(symbols["parameters"], x.parameters.values(), strict=True))
    return TEXT.format(
        name=x.name,
        parameters=f", *{values}" if values else "",
        states=", ".join("(" + "".join(f"{symbol}, " for symbol in symbols[name]).rstrip() + ")" for name in ("q", "v")),
        definitions="".join(f"    {symbol} = {print_(y)}\n" for symbol, y in x.definitions),
        arrays=",\n        ".join(arrays),
    )
