"""Units: numbers with a unit in SI, and numbers that look as if they were meant in degrees or millimetres."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LONGEST_SHOWN, UnitWarning, warn
from .values import coordinate_limits

if TYPE_CHECKING:
    from .joints import Joint
    from .model import Model

deg: float = pi / 180.0
"""One degree in radians: 90 * sharnir.deg."""

SI = {
    "m": ("m", 1.0), "mm": ("m", 1e-3), "cm": ("m", 1e-2), "km": ("m", 1e3), "kg": ("kg", 1.0), "g": ("kg", 1e-3),
    "t": ("kg", 1e3), "s": ("s", 1.0), "ms": ("s", 1e-3), "min": ("s", 60.0), "h": ("s", 3600.0), "rad": ("rad", 1.0),
    "deg": ("rad", deg), "°": ("rad", deg), "m/s": ("m/s", 1.0), "km/h": ("m/s", 1.0 / 3.6), "rad/s": ("rad/s", 1.0),
    "deg/s": ("rad/s", deg), "rpm": ("rad/s", pi / 30.0), "N": ("N", 1.0), "kN": ("N", 1e3), "Pa": ("Pa", 1.0),
    "kPa": ("Pa", 1e3), "MPa": ("Pa", 1e6), "GPa": ("Pa", 1e9), "N/m": ("N/m", 1.0), "N/mm": ("N/m", 1e3), "kN/m": ("N/m", 1e3),
    "kg/m³": ("kg/m³", 1.0), "g/cm³": ("kg/m³", 1e3), "N m": ("N m", 1.0), "kg m²": ("kg m²", 1.0), "V": ("V", 1.0),
}  # fmt: skip
"""By unit: the one of SI, and how many of it."""
_NUMBER = re.compile(r"\s*([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\W\d_].*|°)\s*")


def in_si(text: str) -> tuple[float, str] | None:
    """(0.03, "m") of "30 mm"; None of what is no number with a unit."""
    found = _NUMBER.fullmatch(text) if len(text) <= LONGEST_SHOWN else None
    unit = SI.get(found[2].strip().replace("^", "").replace("m3", "m³").replace("m2", "m²")) if found else None
    return (float(found[1]) * unit[1], unit[0]) if found and unit else None


# --- numbers that look as if they were meant in other units
FAR, TIMES = (20.0, 5e3), (200.0, 1e4)
"""Metres to a centre of mass that is read as millimetres, and how many radii of gyration that is: satellites are farther off."""


def _in_degrees(x: Any) -> Any:
    """Whether angles look as if they were degrees: beyond two turns as radians, within two as degrees, and multiples of five."""
    return (np.abs(x) > 4.0 * pi) & (np.abs(x) <= 720.0) & (np.round(np.divide(x, 5.0)) * 5.0 == x)


def warn_of_angle(what: str, x: float) -> None:
    if _in_degrees(x):
        text = (
            f"{what} is {x:g} rad, {abs(x) / (2.0 * pi):.1f} turns: degrees? Angles are in radians: write {x:g} * sharnir.deg, in"
        )
        warn(f"{text} files {x:g}*deg; if radians are meant, ignore sharnir.UnitWarning", UnitWarning)


def warn_of_degrees(model: Model, q: Any) -> None:
    """Warn of angles of a start that look as if they were degrees. A row of a larger array comes from a run: it is no mistake."""
    if isinstance(q, np.ndarray) and q.base is not None:
        return
    given = np.atleast_2d(np.asarray(model.coordinates(q), dtype=float))
    suspicious = np.argwhere(_in_degrees(given)).tolist() if given.shape[-1] == model.nq else []
    units = [unit for joint in model.structure.placed for unit in joint.q_units] if suspicious else []
    if place := next((place for place in suspicious if units[place[1]] == "rad"), None):
        warn_of_angle(f"q0: {model.q_names[place[1]]!r}", given[*place])


def warn_of_limits(name: str, joint: Joint) -> None:
    """Warn of limits of an angle that look as if they were degrees."""
    limits: Any = joint.limits
    for k, unit in enumerate(unit for run in joint.segments(name) for unit in run.q_units):
        ends = coordinate_limits(limits, min(k, len(limits) - 1)) if unit == "rad" else ()
        if found := [x for x in ends if x is not None and _in_degrees(x)]:
            return warn_of_angle(f"joint {name!r}: limits: an angle", found[-1])
    return None


def warn_of_millimetres(body: str, mass: float, com: Sequence[float], moments: Sequence[float]) -> None:
    """Warn of a centre of mass that looks as if it were in millimetres: farther than its body is large."""
    far, size = max(map(abs, com)), (max(moments[:3]) / mass) ** 0.5 if mass > 0.0 else 0.0
    if FAR[0] <= far <= FAR[1] and size > 0.0 and TIMES[0] <= far / size <= TIMES[1]:
        text = f"body {body!r}: its centre of mass is {far:g} m from its origin, though its inertia is that of a body of about"
        why = f"{text} {size:.2g} m: millimetres? Lengths are in metres: write {far / 1e3:g}"
        warn(f"{why}; if metres are meant, ignore sharnir.UnitWarning", UnitWarning)
