"""Equations of motion as a module of Python that needs NumPy alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import sympy as sp
from sympy.printing.pycode import PythonCodePrinter

from ..errors import ModelError

if TYPE_CHECKING:
    from .equations_of_motion import EquationsOfMotion

TEXT = '''"""Equations of motion of {name}: M dv/dt + h = tau + J' lambda, J dv/dt + gamma = 0."""

import math

import numpy as np


def equations(q, v, t=0.0{parameters}):
    """M (n, n), h (n,), J (m, n), gamma (m,) in a state."""
    {states} = q, v
{body}


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
    parts, symbols, print_ = x.parts, x.symbols, PythonCodePrinter({"fully_qualified_modules": True, "precision": 17}).doprint
    every = [*(y for _, y in x.definitions), *(y for part in parts.values() for y in part)]
    if any(y.has(sp.core.function.AppliedUndef) for y in every):
        raise ModelError(f"the equations of {x.name!r} read a table, which this code has not; ask sharnir.Dynamics for numbers")
    zero = sp.zeros(0, len(symbols["v"]))
    h = parts["coriolis"] + parts["gravity"] - parts["forces"]

    def array(rows: Iterable[Iterable[sp.Expr]]) -> str:
        return "[" + ", ".join("[" + ", ".join(map(print_, row)) + "]" for row in rows) + "]"

    def vector(column: sp.Matrix) -> str:
        return "np.array([" + ", ".join(map(print_, column)) + "], dtype=float)"

    J = parts.get("J", zero)
    body = [f"{symbol} = {print_(y)}" for symbol, y in x.definitions]
    body += ["return (", f"    np.array({array(parts['M'].tolist())}, dtype=float),", f"    {vector(h)},"]
    body += [f"    np.array({array(J.tolist())}, dtype=float).reshape({J.rows}, {J.cols}),"]
    body += [f"    {vector(parts.get('gamma', zero))},", ")"]
    values = "".join(f", {symbol}={value!r}" for symbol, value in zip(symbols["parameters"], x.parameters.values(), strict=True))
    states = ", ".join("(" + "".join(f"{symbol}, " for symbol in symbols[name]).rstrip() + ")" for name in ("q", "v"))
    text = "\n".join(f"    {line}" for line in body)
    return TEXT.format(name=x.name, parameters=f", *{values}" if values else "", states=states, body=text)
