"""A program: which kernels, in which order, answer one question by one method; and the inputs that programs share.

The function is written in the dialect of the kernels and takes five groups of arrays: the tree, the joints, inputs x, work w,
outputs y; before them any functions that `functools.partial` has bound. Groups are NamedTuples whose annotations are shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ..dialect.arrays import group
from ..kernels.joint_stage import Joints
from ..kernels.tree import Tree


class Sized(Protocol):
    """A model as programs see it: sizes by the names in shapes, and whether axes share speeds."""

    sizes: dict[str, int]
    coupled: bool


@dataclass(frozen=True)
class Program:
    name: str
    function: Callable[..., Any]
    inputs: type
    work: type
    outputs: type
    loops_only: bool = False
    """Branches on numbers (iterative methods): cannot be traced."""
    axis_rates: bool = False
    """Needs the rates of the columns of A."""
    wide: bool = False
    """Its outputs grow faster than the model: that its graph is too large says nothing about other programs."""

    dense: bool = False
    """Works along rows of a full matrix: worth LLVM's loop vectoriser, which doubles the time to compile."""

    @property
    def groups(self) -> tuple[type, ...]:
        """The declared groups of its arguments. The first two, the tree and the joints, are the same for all lanes."""
        return (Tree, Joints, self.inputs, self.work, self.outputs)

    def sizes(self, structure: Sized) -> dict[str, int]:
        """Values of the names in the shapes of its arrays for a model."""
        return structure.sizes if self.axis_rates else {**structure.sizes, "nda": 0}


# Computed beforehand: `drive` and `given`, the values of the user's own functions; `load`, the joint forces of the model's own
# force elements (where there is `tau` they are in it, as their wrenches are in `wrench`).
POSITION: dict[str, Any] = {"drive": ("nd", 3), "given": "ng", "q": "nq"}
STATE: dict[str, Any] = {**POSITION, "v": "nv"}
_PLACE: dict[str, Any] = {"point": 3, "path": "nb1"}
"""A point in the axes of its body; 1 for that body and all that carry it, 0 elsewhere."""

Position = group(**POSITION)
State = group(**STATE)
Forced = group(**STATE, tau="nv", wrench=("nb1", 6))
Iterated = group(**STATE, tau="nv", wrench=("nb1", 6), tolerance=1)
Moved = group(**STATE, qdd="nv", wrench=("nb1", 6), load="nf")
Bias = group(**STATE, wrench=("nb1", 6), load="nf")
Constrained = group(**STATE, tau="nv", wrench=("nb1", 6), K="nsk", gamma="nsm", share=1)  # share: e of kernels/constrained.py
Gaps = group(**POSITION, K="nsk", gap="nsm", share=1)
Point = group(**POSITION, **_PLACE)
PointMoved = group(**STATE, **_PLACE)
PointAccelerated = group(**STATE, qdd="nv", **_PLACE)
