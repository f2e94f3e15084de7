"""Base classes of forces, a force given by a function of the user's, and states of forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ModelError
from ...kernels.algebra import dot
from ...trace import Graph, Number, Symbol, call_traced
from ...trace.functions import maximum, minimum, select, sqrt
from ..element import BaseClass, Referring, element, element_field
from ..motion import Motion
from ..parameters import parameter_value
from ..values import Name

if TYPE_CHECKING:
    from ..structure import Structure

Numbers = Mapping[str, Any]
"""Fields of a force and their values: a number, several, or None."""


class Force(BaseClass):
    """A force. A subclass defines how it acts, on generic scalars: floats when interpreted, symbols when compiled.

    It defines `act`; or the two steps `numbers` and `formula`, and then ten thousand of them are traced as fast as one.
    """

    remedy = "its act(on). A function is a force as it is: model.add_force(function)"
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
    watches: bool = False
    """Whether it has gaps that runs must not pass over: `on.watch`."""

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


# --- states of forces and their names, and states without a force
Own = dict[tuple[str, int], dict[str, str]]
"""States of every part of every force, by its name and the number of the part: {local name: full name}."""


class AddedState(Force):
    """A state of `Model.add_state`: it has a rate and applies no force."""

    noun = "state"

    def __init__(self, initial: float, rate: Callable[[Motion], Number], unit: str = "") -> None:
        self.initial, self.function, self.unit = initial, rate, unit

    def states(self, on: Motion) -> Mapping[str, float]:
        return {"": self.initial}

    @property
    def units_of_states(self) -> Mapping[str, str]:
        return {"": self.unit}

    def act(self, on: Motion) -> None:
        on.rate("", self.function(on))
        if on.pushed:
            raise ModelError("the function of a state returns its rate and pushes nothing; use add_force for that")


def parts_of(structure: Structure, force: Force) -> Sequence[Force]:
    """The forces that are traced for a force: its parts, where it is of the library, else itself."""
    return force.parts(structure) if force.alike else (force,)


def declared_states(structure: Structure, forces: Mapping[str, Force]) -> tuple[dict[str, float], dict[str, str], Own]:
    """Initial values and units of all states, and whose they are."""
    on = Motion(structure, Graph())
    values: dict[str, float] = {}
    units: dict[str, str] = {}
    own: Own = {}
    for name, whole in forces.items():
        if not has_states(whole):
            continue
        parts = parts_of(structure, whole)
        for k, force in enumerate(parts):
            found = call_traced(force.states, [on], f"force {name!r}")
            middle = f".{force.name or k + 1}" if len(parts) > 1 else ""
            full = {local: f"{name}{middle}{'.' * bool(local)}{local}" for local in found}
            for local, state in full.items():
                if state in structure.parameters or state in values:
                    raise ModelError(
                        f"{whole.noun} {name!r}: there is a parameter or a state {state!r} already; give it another name"
                    )
                values[state] = parameter_value(state, found[local])
                units[state] = force.units_of_states.get(local, "")
            if full:
                own[name, k] = full
    return values, units, own


def has_states(force: Any) -> bool:
    """Whether it may have states: it defines `states`, or consists of parts that do."""
    return type(force).states is not Force.states
