"""Base classes of forces, and a force given by a function of the user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ModelError
from ...kernels.algebra import dot
from ...trace import Number, Symbol
from ...trace.functions import maximum, minimum, select, sqrt
from ..element import Referring, element, element_field
from ..values import Name

if TYPE_CHECKING:
    from ..motion import Motion
    from ..structure import Structure

Numbers = Mapping[str, Any]
"""Fields of a force and their values: a number, several, or None."""


class Force:
    """A force. A subclass defines how it acts, on generic scalars: floats when interpreted, symbols when compiled.

    It defines `act`; or the two steps `numbers` and `formula`, and then ten thousand of them are traced as fast as one.
    """

    name: str | None = None
    noun = "force"
    """The word for it in messages."""

    @property
    def loses_unseen(self) -> bool:
        """Whether stored energy may be lost while it applies no force: its work is then integrated to the tolerances."""
        return False

    kinetic: bool = False
    """Whether the energy it stores is kinetic."""
    at_places: bool = False
    """Whether it acts at places of bodies that it names, so that flexible ones may be among them."""

    @property
    def watches(self) -> bool:
        """Whether it has gaps that runs must not pass over: `on.watch`."""
        return False

    @property
    def has_function(self) -> bool:
        """Whether it depends on a function of the user's, which may do anything where it was not evaluated."""
        return not self.alike or any(callable(x) and not isinstance(x, Symbol) for x in vars(self).values())

    def act(self, on: Motion) -> Number | None:
        """Push bodies and joints through `on`; return the energy stored, None where there is none."""
        return self.formula(on, self.numbers(on))

    def numbers(self, on: Motion) -> Numbers:
        """The numbers of its formula by field, with the options of joints in place of defaults."""
        return {}

    def formula(self, on: Motion, n: Numbers) -> Number | None:
        """`act` with these numbers, which may be symbols. Everything else that differs from force to force must be a field."""
        raise NotImplementedError

    @property
    def alike(self) -> bool:
        """Whether forces of this class whose fields differ in numbers and names only have the same formula."""
        return type(self).act is Force.act

    def states(self, on: Motion) -> Mapping[str, float]:
        """States of its own, {local name: initial value}: read by `on.state(name)`, their rates set by `on.rate(name, value)`. Of
        `on` only joints and their options are read here."""
        return {}

    @property
    def units_of_states(self) -> Mapping[str, str]:
        """Units of its states that have one, by local name."""
        return {}

    def parts(self, structure: Structure) -> Sequence[Force]:
        """The forces it consists of, where one graph for all bodies would be as long as the model."""
        return (self,)

    def bodies(self) -> Sequence[str]:
        """Names of the bodies it refers to, checked when it is added."""
        return ()

    def joints(self) -> Sequence[str]:
        return ()


class ForceElement(Referring, Force):
    """A force of the library. Its numbers are all fields that are numbers or tuples of them."""

    def numbers(self, on: Motion) -> Numbers:
        return {name: x for name, x in self.fields().items() if isinstance(x, (float, tuple, Symbol))}


@element()
class JointForce(ForceElement):
    """A force of the library in a joint."""

    joint: str = element_field(Name("joint"), meaning="the joint, or one coordinate of it: joint.coordinate")


class UserForce(Force):
    """A plain Python function of one argument, `Motion`."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function, self.name = function, name_of(function)

    def act(self, on: Motion) -> Number | None:
        return self.function(on)


def name_of(function: Any) -> str | None:
    """The name of a function as the name of the element made of it; a lambda has none."""
    name = getattr(function, "__name__", "<lambda>")
    return None if name == "<lambda>" else name


def check_one_speed(force: JointForce, on: Motion, what: str) -> None:
    """Refuse a joint of more than one speed, or of none."""
    if (n := on.speed_count(force.joint)) != 1:
        raise ModelError(f"{what} of joint {force.joint!r}: it needs one speed, the joint has {n}")


def size_of(x: Sequence[Number]) -> Number:
    """The length of a vector, with a derivative of zero where it is zero."""
    square = dot(x, x)
    moves = square > 0.0  # the root of zero has no derivative
    return select(moves, sqrt(select(moves, square, 1.0)), 0.0)


def limited(x: Number, limit: Number) -> Number:
    """A number held within ±limit."""
    return maximum(-limit, minimum(limit, x))


def value_of(x: Any, *args: Any) -> Any:
    """A constant, or a function of the given arguments."""
    return x(*args) if callable(x) and not isinstance(x, Symbol) else x
