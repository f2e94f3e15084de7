"""Colours by name or by numbers."""

from __future__ import annotations

from typing import Any

from .base import Kind, expected, listed
from .scalars import Scalar

EXAMPLES = "a colour such as 'orange', '#ff8800' or three or four numbers from 0 to 1"


class ColourValue(Kind):
    """Red, green, blue, opacity, each from 0 to 1; from three or four numbers, a name of CSS or "#rrggbb"."""

    def check(self, value: Any) -> tuple[float, float, float, float]:
        if isinstance(value, str):
            from matplotlib.colors import to_rgba  # which knows the names

            try:
                r, g, b, a = to_rgba(value)
            except ValueError:
                raise expected(EXAMPLES, value) from None
            return r, g, b, a
        values = listed(value)
        if values is None or len(values) not in (3, 4):
            raise expected(EXAMPLES, value)
        r, g, b, a = (Scalar(at_least=0.0).number(x, k) for k, x in enumerate([*values, 1.0][:4]))
        if max(r, g, b, a) > 1.0:
            raise expected(EXAMPLES, value)
        return r, g, b, a
