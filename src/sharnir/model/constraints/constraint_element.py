"""Base classes of constraints, and constraints given by functions of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar

from ..element import BaseClass, Referring, element, element_field
from ..forces.force_element import Numbers, name_of
from ..formulas import SignalFormula
from ..joints.closing_rows import Row
from ..motion import Motion
from ..values import Label, NamedFormula


class Constraint(BaseClass):
    """Functions of the motion that are zero. A subclass defines them, on generic scalars: floats and symbols."""

    name: str | None = None
    internal = False
    """Whether it concerns only how its bodies and joints move relative to each other, not how they move together."""
    switched = False
    """Whether it comes and goes during a run, its rows being zero while it is off: they say nothing about singular positions."""

    undefined: ClassVar[str] = ""
    """Where its rows are not finite, and what to do instead."""
    remedy = "its positions(on) or speeds(on). A function is a constraint as it is: model.add_constraint(function)"

    @property
    def alike(self) -> bool:
        """Whether constraints of this class that differ in names and in `numbers` only have the same rows: ten thousand of them
        are then traced as fast as one."""
        return False

    def numbers(self, on: Motion) -> Numbers:
        """Numbers that its rows may be traced with as symbols, by name."""
        return {}

    def with_numbers(self, numbers: Numbers) -> Constraint:
        """A copy to be traced, with symbols in place of its numbers."""
        raise NotImplementedError

    def positions(self, on: Motion) -> Sequence[Row]:
        """Functions of position and time (holonomic)."""
        return ()

    def true_amount(self, what: str) -> Callable[[float], float] | None:
        """The true amount of the named row as a function of its residual; None where the residual is that amount."""
        return None

    def speeds(self, on: Motion) -> Sequence[Row]:
        """Functions of position and time, linear in the speeds, that follow from no function of position (non-holonomic)."""
        return ()

    def bodies(self) -> Sequence[str]:
        """Names of the bodies it refers to, checked when it is added."""
        return ()

    def joints(self) -> Sequence[str]:
        return ()


class ConstraintElement(Referring, Constraint):
    """A constraint of the library."""

    symbolic: ClassVar[tuple[str, ...]] = ()
    """Fields whose numbers its rows may be traced with as symbols: no decision depends on them."""

    @property
    def alike(self) -> bool:
        return bool(self.symbolic) and self.is_described

    def numbers(self, on: Motion) -> Numbers:
        return {name: getattr(self, name) for name in self.symbolic}

    def with_numbers(self, numbers: Numbers) -> Constraint:
        out = copy(self)
        out.__dict__.update(numbers)
        return out


ZERO = NamedFormula(SignalFormula, example="sharnir.SignalFormula('position.hand.z - 0.05')")


class FunctionConstraint(ConstraintElement):
    """A constraint given by a function of the user's, of which it has the name."""

    if TYPE_CHECKING:
        function: Callable[[Any], Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__dict__["name"] = self.name or name_of(self.function)


@element("position")
class UserConstraint(FunctionConstraint):
    """g(q, t) = 0: a function of `sharnir.Motion` that reads positions and returns one number or several."""

    function: Callable[[Any], Any] = element_field(
        ZERO, key="zero", meaning="a function of t and of positions (q.elbow, position.hand.z …) that is zero"
    )
    name: str | None = element_field(Label(), default=None, key="")

    def positions(self, on: Motion) -> Sequence[Row]:
        return _rows(self.function(on))


@element("speed")
class SpeedConstraint(FunctionConstraint):
    """a(q, t)·v = b(q, t): a function that reads positions and, linearly, speeds, and returns one number or several."""

    function: Callable[[Any], Any] = element_field(
        ZERO, key="zero", meaning="a function, linear in speeds (v.elbow, velocity.hand.x …), that is zero"
    )
    name: str | None = element_field(Label(), default=None, key="")

    def speeds(self, on: Motion) -> Sequence[Row]:
        return _rows(self.function(on))


def _rows(values: Any) -> list[Row]:
    if not isinstance(values, (list, tuple)):
        return [("", values)]
    return [(f"row {k + 1}", value) for k, value in enumerate(values)]
