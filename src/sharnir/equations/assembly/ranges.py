"""Which table of a model is asked for a value outside of its range: the numbers of one state once more, interpreted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.structure import Structure
from ...trace.lookup import ranges_left
from ..rows.evaluation import with_bodies


def range_left(structure: Structure, q: Sequence[float], v: Sequence[float], t: float, parameters: Sequence[float]) -> str:
    """The table of a force, drive or custom joint that is left, in words; empty where there is none."""
    values = {"q": list(q), "v": list(v), "t": [t], **({"parameter": list(parameters)} if len(parameters) else {})}
    with ranges_left() as seen, np.errstate(all="ignore"):
        structure.user_functions(values["q"], values["v"], t, values.get("parameter"))
        if structure.forces:
            structure.forces.loads(with_bodies(structure, values, float))
    return seen[0] if seen else ""
