"""How many freedoms a mechanism has at a position: `Model.mobility`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mobility:
    """At one position. `freedoms` is the truth, `gruebler` the count 6·bodies − Σ(6 − freedoms of each joint) − other rows."""

    freedoms: int
    gruebler: int
    rank: int
    rows: tuple[str, ...]
    redundant: tuple[str, ...]
    """Rows that say nothing new, and by what they are fixed already."""

    def __str__(self) -> str:
        head = f"{self.freedoms} freedom{'s' * (self.freedoms != 1)} (Grübler's count: {self.gruebler}); "
        return "\n".join([f"{head}{len(self.rows)} rows, rank {self.rank}", *(f"  {line}" for line in self.redundant)])
