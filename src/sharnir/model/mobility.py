"""How many degrees of freedom a mechanism has at a position: `Model.mobility`."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..reporting.formats import plural
from ..types import FloatArray


def counted_bodies(bodies: int, flexible: int) -> str:
    """`4 bodies`, `4 bodies (1 flexible)`; of `bodies` rows of the tree each flexible body has brought one that is no body."""
    return plural(bodies - flexible, "body", "bodies") + f" ({flexible} flexible)" * bool(flexible)


def degrees_of_freedom(coordinates: int, constraints: int = 0, rank: int | None = None) -> str:
    """`7 degrees of freedom`; of a mechanism with loops `1 degree of freedom (9 coordinates, 8 constraints)`.

    coordinates   those of the spanning tree, as many as speeds: `model.nv`
    constraints   scalar equations, as many as rows of their Jacobian
    rank          of that Jacobian; without it the degrees of freedom have only a lower bound
    """
    free = max(0, coordinates - constraints) if rank is None else coordinates - rank
    text = plural(free, "degree of freedom", "degrees of freedom")
    if not constraints:
        return text
    redundant = 0 if rank is None else constraints - rank
    bound = "at least " if rank is None else ""
    more = f", {redundant} of them redundant" if redundant else ""
    return f"{bound}{text} ({plural(coordinates, 'coordinate')}, {plural(constraints, 'constraint')}{more})"


@dataclass(frozen=True)
class Mobility:
    """Mobility at a position. `freedoms` is the actual number, `gruebler` the count 6·bodies − Σ(6 − freedoms of each joint) −
    other rows, which is less where constraints are redundant."""

    freedoms: int
    gruebler: int
    rank: int
    rows: tuple[str, ...]
    redundant: tuple[str, ...]
    """Redundant rows, and the rows they follow from."""
    cuts: tuple[str, ...] = ()
    """Joints that are cut, and why; `cut=True` at another joint of a loop, `cut=False` at this one chooses otherwise."""
    position: str = ""
    """The position this was judged at, if none was given."""
    q: FloatArray | None = field(default=None, compare=False, repr=False)
    """Its coordinates."""

    @property
    def summary(self) -> str:
        """`1 degree of freedom (9 coordinates, 8 constraints)`."""
        return degrees_of_freedom(self.freedoms + self.rank, len(self.rows), self.rank)

    def __str__(self) -> str:
        how = ["  (cut=True at another joint of a loop, or cut=False at this one, chooses otherwise)"] * bool(self.cuts)
        lines = [*[f"in {self.position}"] * bool(self.position and self.rows), *self.redundant, *self.cuts]
        return "\n".join([f"{self.summary}; Grübler's count: {self.gruebler}", *(f"  {line}" for line in lines), *how])
