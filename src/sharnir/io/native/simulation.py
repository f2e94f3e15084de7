"""How the model of a file is to be simulated: initial state, duration, method, output, events."""

from __future__ import annotations

from math import inf
from typing import Annotated, Any

from ...errors import ModelError, known
from ...model.formulas import SignalFormula
from ...model.model import Model
from ...model.settings import STEPS, SimulationSettings
from . import checks
from .checks import NUMBER, array, either, expected, leaf
from .fields import EndlessNumber, Fields, Flag, Number, OneOrMany, Text, at
from .formulas import Item, Where

STATE = either({"type": "object", "additionalProperties": either(NUMBER, array(NUMBER))}, array(NUMBER))


def state(value: Any) -> Any:
    """{joint: number or numbers}, or all numbers in order."""
    if isinstance(value, list):
        return checks.numbers()(value)
    if not isinstance(value, dict):
        raise expected("{joint: value, …} or a list of all values", value)
    return {
        joint: tuple(checks.number(x, "a number", joint, k) for k, x in enumerate(part))
        if isinstance(part, list)
        else checks.number(part, "a number or a list of them", joint)
        for joint, part in value.items()
    }


def times(value: Any) -> Any:
    if value == STEPS:
        return STEPS
    return checks.numbers()(value) if isinstance(value, list) else checks.number(value, "an interval, a list of times or 'steps'")


def positive_whole(value: Any) -> int:
    if checks.whole_number(value) < 1:
        raise expected("a whole number above zero", value)
    return value


def seconds(value: Any) -> float:
    if (found := checks.number(value, "a number of seconds")) == 0.0:
        raise expected("a number of seconds other than zero", value)
    return found


def rates(value: Any) -> Any:
    """One number or two, per second."""
    found = checks.number_or_numbers(value)
    if not 1 <= len(many := found if isinstance(found, tuple) else (found,)) <= 2 or not all(0.0 < x < inf for x in many):
        raise expected("a positive number, 1/s, or two", value)
    return found


State = Annotated[Any, *leaf(state, STATE)]


def choice(*words: str) -> Any:
    return Annotated[str | None, *leaf(checks.one_of(*words), {"enum": list(words)})]


class EventFields(Fields):
    """Something that happens where a formula of t and of signals crosses zero."""

    when: Item
    """e.g. position.ball.z - 0.05"""
    where: Where | None = None
    action: Annotated[str, *leaf(checks.one_of("record", "stop"), {"enum": ["record", "stop"]})] = "record"
    direction: Annotated[str, *leaf(checks.one_of("rising", "falling", "both"), {"enum": ["rising", "falling", "both"]})] = "both"
    name: Text = ""

    def build(self) -> Any:
        from ...model.events import Event

        with at("when"):
            when = SignalFormula(self.when, self.where)
        return Event(when, self.action, self.direction, self.name)


class SimulationFields(Fields):
    """Arguments of sharnir.simulate; what is not said has its default there."""

    duration: Annotated[float | None, *leaf(seconds, NUMBER)] = None
    """s"""
    q0: State = None
    """Initial coordinates by joint, the rest neutral; or all of them."""
    v0: State = None
    """Initial speeds by joint, the rest zero; or all of them."""
    t0: Number | None = None
    """Initial time, s."""
    tau: State = None
    """Constant joint forces by joint, the rest zero; or all of them."""
    method: Text | None = None
    """A name of sharnir.methods()."""
    backend: choice("auto", "llvm", "loops", "python", "numba") = None  # type: ignore[valid-type]
    integrator: Text | None = None
    """A name of sharnir.integrators()."""
    rtol: Number | None = None
    atol: OneOrMany | None = None
    step: Number | None = None
    """Of integrators with a fixed step, s."""
    max_step: EndlessNumber | None = None
    output: Annotated[Any, *leaf(times, either(NUMBER, array(NUMBER), {"enum": [STEPS]}))] = None
    """Interval between the times of the result, or those times, or steps: every step."""
    every: Annotated[int | None, *leaf(positive_whole, {"type": "integer", "minimum": 1})] = None
    limits: choice("ignore", "stop", "error") = None  # type: ignore[valid-type]
    stabilisation: choice("projection", "partitioning", "baumgarte", "ggl", "none") = None  # type: ignore[valid-type]
    """How constraints are kept."""
    decay: Annotated[Any, *leaf(rates, either(NUMBER, array(NUMBER)))] = None
    """How fast violations die out, 1/s: of baumgarte α and β or one number for both, of ggl one number."""
    balance: Flag | None = None
    events: list[EventFields] | None = None

    def build(self, model: Model) -> SimulationSettings:
        for what, names in (("q0", "q_names"), ("v0", "v_names"), ("tau", "v_names")):
            given = getattr(self, what)
            if isinstance(given, dict):
                with at(what):
                    _check_state(model, given, names)
        events = None
        if self.events is not None:
            events = []
            for k, event in enumerate(self.events):
                with at("events", k):
                    events.append(event.build())
                    check_signals(model, events[-1].when.formulas.signals)
        said = {name: getattr(self, name) for name in type(self).model_fields if name != "events"}
        return SimulationSettings(**said, events=None if events is None else tuple(events))


def _check_state(model: Model, given: dict[str, Any], names: str) -> None:
    joints = {joint.name: joint for joint in model._joints}
    for joint, values in given.items():
        with at(joint):
            if joint not in joints:
                raise ModelError(f"no joint {joint!r}; the joints are {known(joints)}")
            n, m = len(getattr(joints[joint], names)), len(values) if isinstance(values, tuple) else 1
            if n != m:
                raise ModelError(f"expected {n} number{'s' * (n != 1)}, got {m}")


def check_signals(model: Model, signals: set[tuple[str, ...]]) -> None:
    """Bodies, joints and parameters that formulas speak of must be there."""
    joints, bodies = model._joint_names, {"ground", *model._body_names}
    there = {"q": joints, "v": joints, "position": bodies, "velocity": bodies, "parameter": set(model.parameters)}
    for path in sorted(signals):
        if path[1] not in there[path[0]]:
            raise ModelError(f"signal {'.'.join(path)!r}: no {path[1]!r}; there are {known(sorted(there[path[0]]))}")
