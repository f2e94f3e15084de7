"""Units: numbers with a unit in SI, and numbers that look as if they were meant in degrees or millimetres."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnitWarning, warn
from .values import coordinate_limits

if TYPE_CHECKING:
    from .joints import Joint
    from .model import Model

deg: float = pi / 180.0
"""One degree in radians: 90 * sharnir.deg."""

SI = {
    "m": ("m", 1.0), "mm": ("m", 1e-3), "cm": ("m", 1e-2), "km": ("m", 1e3), "kg": ("kg", 1.0), "g": ("kg", 1e-3),
    "t": ("kg", 1e3),
    "s": ("s", 1.0), "ms": ("s", 1e-3), "min": ("s", 60.0), "h": ("s", 3600.0), "rad": ("rad", 1.0), "deg": ("rad", deg),
    "°": ("rad", deg), "m/s": ("m/s", 1.0), "km/h": ("m/s", 1.0 / 3.6), "rad/s": ("rad/s", 1.0), "deg/s": ("rad/s", deg),
    "rpm": ("rad/s", pi / 30.0), "N": ("N", 1.0), "kN": ("N", 1e3), "Pa": ("Pa", 1.0), "kPa": ("Pa", 1e3), "MPa": ("Pa", 1e6),
    "GPa": ("Pa", 1e9), "N/m": ("N/m", 1.0), "N/mm": ("N/m", 1e3), "kN/m": ("N/m", 1e3), "kg/m³": ("kg/m³", 1.0),
    "g/cm³": ("kg/m³", 1e3), "N m": ("N m", 1.0), "kg m²": ("kg m²", 1.0), "V": ("V", 1.0),
}  # fmt: skip
"""By unit: the one of SI, and how many of it."""
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\W\d_].*|°)\s*")


def in_si(text: str) -> tuple[float, str] | None:
    """(0.03, "m") of "30 mm"; None of what is no number with a unit."""
    found = _NUMBER.fullmatch(text)
    unit = SI.get(found[2].strip().replace("^", "").replace("m3", "m³").replace("m2", "m²")) if found else None
    return (float(found[1]) * unit[1], unit[0]) if found and unit else None


# --- numbers that look as if they were meant in other units
MOST_DEGREES, STEP = 720.0, 5.0
"""Angles that are read as degrees are beyond two turns as radians, within two as degrees, and whole multiples of this."""
FAR, TIMES = (20.0, 5e3), (200.0, 1e4)
"""Metres from the origin to a centre of mass that is read as millimetres, and how many radii of gyration these are: bodies
as large as that are not as small, and bodies of a satellite's size are farther from the centre of the earth."""


def _in_degrees(x: np.ndarray) -> np.ndarray:
    """(…,): which angles look as if they were degrees."""
    return (np.abs(x) > 4.0 * pi) & (np.abs(x) <= MOST_DEGREES) & (np.round(x / STEP) * STEP == x)


def warn_of_degrees(model: Model, q: Any) -> None:
    """Warn of angles of a start that look as if they were degrees. A row of a larger array comes from a run: it is no mistake."""
    if isinstance(q, np.ndarray) and q.base is not None:
        return
    given = np.atleast_2d(np.asarray(model.coordinates(q), dtype=float))
    for k in np.flatnonzero(_in_degrees(given).any(axis=0)).tolist() if given.shape[-1] == model.nq else ():
        i = int(np.searchsorted(model.structure.q_first, k, side="right")) - 1
        joint = model.structure.placed[i - 1]
        if joint.q_units[k - int(model.structure.q_first[i])] == "rad":
            _ask(f"q0: {model.q_names[k]!r}", given[_in_degrees(given[:, k]).argmax(), k])
            return


def warn_of_angle(what: str, x: float) -> None:
    """Warn of an angle that looks as if it were in degrees."""
    if _in_degrees(np.array(x)):
        _ask(what, x)


def warn_of_limits(name: str, joint: Joint) -> None:
    """Warn of limits of an angle that look as if they were degrees."""
    limits: Any = joint.limits
    for k, unit in enumerate(unit for run in joint.segments(name) for unit in run.q_units):
        ends = coordinate_limits(limits, min(k, len(limits) - 1)) if unit == "rad" else ()
        if found := [x for x in ends if x is not None and _in_degrees(np.array(x))]:
            return _ask(f"joint {name!r}: limits: an angle", found[-1])
    return None


def _ask(what: str, x: float) -> None:
    warn(
        f"{what} is {x:g} rad, {abs(x) / (2.0 * pi):.1f} turns: degrees? Angles are in radians: write {x:g} * sharnir.deg, in "
        f"files {x:g}*deg; if radians are meant, ignore sharnir.UnitWarning",
        UnitWarning,
    )


def warn_of_millimetres(body: str, mass: float, com: Sequence[float], moments: Sequence[float]) -> None:
    """Warn of a centre of mass that looks as if it were in millimetres: farther than its body is large."""
    far, largest = max(map(abs, com)), max(moments[:3])
    if FAR[0] <= far <= FAR[1] and mass > 0.0 and largest > 0.0 and TIMES[0] <= far / (largest / mass) ** 0.5 <= TIMES[1]:
        warn(
            f"body {body!r}: its centre of mass is {far:g} m from its origin, though its inertia is that of a body of about "
            f"{(largest / mass) ** 0.5:.2g} m: millimetres? Lengths are in metres: write {far / 1e3:g}; if metres are "
            "meant, ignore sharnir.UnitWarning",
            UnitWarning,
        )
