"""The equations of motion as straight-line code: one graph for the whole derivative, one state or lanes of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...backends import sizes
from ...dialect.jit import host_lanes
from ...dialect.native import Native
from ...equations.motion.derivative import Derivative, compiled_derivative
from .motion_system import CompiledSystem, Setup


def straight_line_code(setup: Setup) -> Derivative | None:
    """The derivative as straight-line code; None where method, backend or size of the model does not allow for it."""
    f = setup.d.formulation
    method, structure, constrained = f.method, f.structure, f.constrained
    if f.requested in ("python", "loops") or not (method.in_momenta or (method.program and not method.iterates)):
        return None
    if constrained and (constrained.form or not constrained.is_small):
        return None
    limit, batch = None, setup.n > 1
    if f.requested == "auto":
        if not constrained and (not sizes.is_traceable(structure) if batch else sizes.is_large(structure)):
            return None
        limit = sizes.PROGRAM if not batch else None if constrained else sizes.ROLLOUT
    return compiled_derivative(
        structure, method, f.programs.store, constrained, balance=setup.balance, tau_works=setup.balance and setup.tau_works,
        limit=limit, stabilisation=setup.stabilisation.name,
    )  # fmt: skip


class StraightLine(CompiledSystem):
    backend = "llvm"
    records_work = True

    def __init__(self, setup: Setup, code: Derivative) -> None:
        self.compiled = code
        super().__init__(setup, code.causes, has_jacobian=True)

    def derivative(self) -> list[Native]:
        s = self.setup.sensitivities
        self.at["pivots"] = np.zeros((self.setup.n, len(self.constrained.table) if self.constrained else 0))
        own = self.compiled.code.bind(self.at, self.setup.n, self.lanes)
        if s is None or not len(s):
            return [own]
        lanes, rest = host_lanes() if len(s) >= host_lanes() else 1, slice(self.row_size, None)
        rows = {"dx": self.buffers.X[rest], "dp": s.parameters, "d": self.buffers.DX[rest]}
        return [own, self.compiled.along_with_parameters.bind(self.at | rows, len(s), lanes)]  # along all directions as a batch

    def pivots(self) -> np.ndarray | None:
        return self.at["pivots"] if self.at["pivots"].size else None

    def derivative_of_one(self, at: Mapping[str, np.ndarray]) -> list[Native]:
        decay = self.decay.reshape(-1)[: self.decay.size // self.setup.n]  # without effect on the constraints
        return [self.compiled.code.bind({**at, "pivots": np.zeros(self.at["pivots"].shape[1]), "decay": decay.copy()})]

    def events(self) -> list[Native]:
        assert self.event_functions is not None
        return [self.event_functions.straight_line(self.at, self.buffers.G[: len(self.setup.events)], self.momenta, self.store)]

    def jacobian(self) -> list[Native]:
        """The derivative along all directions as a batch over the lanes of the processor: row j of J by x_j."""
        if self.setup.sensitivities is not None:
            return []  # it would need second derivatives
        lanes = host_lanes() if self.size >= host_lanes() else 1
        arrays = self.at | {"dx": np.eye(self.size, self.nq + self.nv + self.nz), "d": self.buffers.J}
        return [self.compiled.along.bind(arrays, self.size, lanes)]
