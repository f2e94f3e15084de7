"""The user's own functions (drives, custom joints, a moving base) for loops.

They are grouped by shape, as forces are: a thousand sines that differ in amplitude and phase are one piece of machine code.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..dialect.cache import Cache
from ..dialect.native import Native
from ..model.forces.groups import Group
from ..model.forces.shape import Shape
from ..model.structure import Structure
from ..trace.alike import Form, with_constants_as_inputs, without_constants
from .grouped import GroupedCode


class UserFunctions:
    """Values of all of them, `drive` (nd, 3) and `given` (ng,), from q, v, t and the parameters."""

    def __init__(self, structure: Structure, store: Cache) -> None:
        s = self.structure = structure
        self.size, self.n_drive = 3 * len(s.drives) + s.sizes["ng"], 3 * len(s.drives)
        found: dict[Form, list[tuple[list[int], list[float], list[int]]]] = {}
        of_q, of_v = 1, 1 + s.nq  # the flat vector is t, q, v, parameters
        place = {name: 1 + s.nq + s.nv + k for k, name in enumerate(s.parameters)}
        for k, drive in enumerate(s.drives):
            form, constants = without_constants(drive.graph, drive.all_inputs, drive.outputs)
            found.setdefault(form, []).append(
                ([0, *(place[name] for name in drive.parameters)], constants, list(range(3 * k, 3 * k + 3)))
            )
        for given, q, v, at in s.given:
            form, constants = without_constants(given.graph, given.all_inputs, given.outputs)
            reads = [*range(of_q + q.start, of_q + q.stop), *range(of_v + v.start, of_v + v.stop), 0]
            reads += [place[name] for name in given.parameters]
            first = self.n_drive + at
            found.setdefault(form, []).append((reads, constants, list(range(first, first + len(given.outputs)))))
        self._own_parameters = np.array(list(s.parameters.values()), dtype=float)
        self.code = GroupedCode([_group(form, each) for form, each in found.items()], store)

    def chain(self, arrays: Mapping[str, np.ndarray]) -> tuple[list[Native], dict[str, np.ndarray]]:
        """Native functions for one state, and the arrays they fill."""
        given = [arrays["t"], arrays["q"], arrays["v"], arrays.get("parameter", self._own_parameters)]
        flat, values = np.zeros(sum(x.size for x in given)), np.zeros(self.size)
        parts = np.split(flat, np.cumsum([x.size for x in given])[:-1])
        copied = self.code.copied(list(zip(given, parts, strict=True)))
        return [copied, *self.code.chain(flat, {"push": values})], self._split(values)

    def run(self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Rows of states, or one for all, to rows of values."""
        given = (t, q, v, self._own_parameters[None] if parameters is None else parameters)
        n = max(len(x) for x in given)
        flat = np.concatenate([np.broadcast_to(x, (n, x.shape[1])) for x in given], axis=1)
        values = np.zeros((n, self.size))
        self.code.run(flat, {"push": values})
        return self._split(values)

    def _split(self, values: np.ndarray) -> dict[str, np.ndarray]:
        return {"drive": values[..., : self.n_drive], "given": values[..., self.n_drive :]}


def _group(form: Form, each: list[tuple[list[int], list[float], list[int]]]) -> Group:
    graph, reads, numbers, outputs = with_constants_as_inputs(form)
    read, constants, places = (np.array(x) for x in zip(*each, strict=True))
    no_force = np.zeros((len(each), 1), dtype=np.int64)
    shape = Shape(graph, reads, numbers, {"push": outputs})
    return Group(
        shape, no_force, np.array(read, dtype=np.int64), np.array(constants, dtype=float), np.array(places, dtype=np.int64)
    )
