"""The same dynamics with other values of the model's parameters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..dynamics import Dynamics


def with_parameters(d: Dynamics, values: Sequence[float] | np.ndarray) -> Dynamics:
    """`d` itself where the values are its own."""
    own = d.model.parameters
    named = dict(zip(own, (float(x) for x in values), strict=True))
    if named == own:
        return d
    model = d.model.copy()
    model._parameters = named
    return Dynamics(model, d.method, d.formulation.requested)
