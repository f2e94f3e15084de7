"""Programs that take an algorithm as an argument: of the inertia matrix, or of the iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ..dialect.arrays import group
from ..kernels.composite import CompositeWork
from ..kernels.direct import DirectWork
from ..kernels.iterative import InertiaMemory, warm_started_direct, warm_started_inverse
from ..kernels.joint_stage import JointValues
from ..kernels.kane import KaneWork
from ..kernels.kane_forces import KaneForces
from ..kernels.kinematics import Drift, Poses
from ..kernels.multipliers import MultiplierWork
from ..kernels.stepanenko import StepanenkoWork
from .kernels import coupled, forward, kane
from .program import Forced, Iterated, Position, Program


class InertiaAlgorithm(NamedTuple):
    name: str
    work: type
    matrix: Callable[..., Any]
    """Writes the inertia matrix of joints whose stage has run."""
    solve: Callable[..., Any] = forward.solve_on_tree
    needs_poses: bool = False
    states: tuple[Callable[..., Any], Callable[..., Any]] = (forward.state_stage, forward.state_stage)
    """Write the bias, and what `rest` needs; the second also what reactions need."""
    rest: Callable[..., Any] | None = None
    """Writes the inertia matrix after one of `states`, where that has done a part of it."""
    forces: type | None = None
    """Work of `states`."""

    def programs(self) -> Iterator[Program]:
        """Forward dynamics, with reactions, and the matrix; each also for coupled coordinates."""
        work = group(base=forward.MatrixForward, inertia=self.work, **({"forces": self.forces} if self.forces else {}))
        folded = group(on_axes=work, folded=coupled.Folded)
        dense, rest = self.solve is forward.solve_dense, self.rest or self.matrix
        for question, by_matrix, by_folding, outputs, state in (
            ("forward", forward.forward_by_matrix, coupled.forward_folded, forward.ForwardOut, self.states[0]),
            ("solve", forward.solve_by_matrix, coupled.solve_by_folding, forward.SolveOut, self.states[1]),
        ):
            function = partial(by_matrix, state, rest, self.solve)
            yield Program(f"{question}/{self.name}", function, Forced, work, outputs, dense=dense)
            entry = partial(by_folding, state, rest)
            yield Program(f"coupled/{question}/{self.name}", entry, Forced, folded, outputs, dense=True)
        poses = {"poses": Poses} if self.needs_poses else {}
        alone = group(v="nv", joint=JointValues, **poses, inertia=self.work)
        on_axes = group(on_axes=alone, M=("na", "na"))
        for prefix, function, needed in (("", forward.matrix_alone, alone), ("coupled/", coupled.matrix_folded, on_axes)):
            entry = partial(function, self.matrix)
            yield Program(f"{prefix}inertia/{self.name}", entry, Position, needed, group(M=("nv", "nv")))


INERTIA = (
    InertiaAlgorithm("composite", CompositeWork, forward.composite),
    InertiaAlgorithm("direct", DirectWork, forward.direct, forward.solve_dense),
    InertiaAlgorithm("stepanenko", StepanenkoWork, forward.stepanenko),
    InertiaAlgorithm(
        "recursive", KaneWork, forward.recursive, needs_poses=True,
        states=(kane.world_state, kane.world_state_and_drift), rest=kane.recursive_sums, forces=KaneForces,
    ),
    InertiaAlgorithm("kosynka", KaneWork, forward.kosynka, forward.solve_dense, needs_poses=True),
)  # fmt: skip


def iterations() -> Iterator[Program]:
    """Iterative methods on the inertia matrix, and on the matrix of the multipliers."""
    outputs = group(qdd="nv", report=2)  # iterations of this call; 1 where a fresh factorisation was needed
    matrix = group(base=forward.MatrixForward, inertia=CompositeWork)
    on_inertia = group(**matrix.__annotations__, right="nv", memory=InertiaMemory)
    on_folded = group(on_axes=matrix, folded=coupled.Folded, right="nv", memory=InertiaMemory)
    memory = group(**{name: ("nl",) * len(x.shape) for name, x in InertiaMemory.__annotations__.items()})
    system = {"L": ("nl", "nl"), "right": "nl", "x": "nl", "R": ("nb1", 6), "memory": memory}
    on_multipliers = group(joint=JointValues, drift=Drift, multiplier=MultiplierWork, **system)
    for name, warm_started in (("inverse-iterative", warm_started_inverse), ("direct-iterative", warm_started_direct)):
        for full_name, function, work in (
            (f"forward/{name}", forward.forward_on_inertia, on_inertia),
            (f"coupled/forward/{name}", coupled.forward_on_folded, on_folded),
            (f"forward/{name}-multipliers", forward.forward_on_multipliers, on_multipliers),
        ):
            yield Program(full_name, partial(function, warm_started), Iterated, work, outputs, loops_only=True, dense=True)


PROGRAMS = [*(program for algorithm in INERTIA for program in algorithm.programs()), *iterations()]
