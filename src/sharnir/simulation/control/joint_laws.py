"""Joint forces as a traced function of the motion: compiled with the equations, evaluated wherever they are.

The law becomes one more force, called "tau", of a copy of the model. It sees the model itself, without the law, as `Plant`: what
computed torque needs is inverse dynamics inside the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...backends.run import evaluate
from ...dynamics import Dynamics
from ...errors import ModelError, StateError
from ...model.forces.shape import TracedForce
from ...model.model import Model
from ...model.motion import Motion
from ...model.per_structure import per_structure
from ...trace import Graph, Number
from .sampled import name_of, positional_arguments

TAU = "tau"
"""The force of the law, and the cause of its work."""

MOST_KEPT = 8
"""Laws of one model whose equations are kept compiled."""

Values = Sequence[Number] | Mapping[str, Any] | Number
"""One number for each speed (coordinate), or {joint: value}; the rest zero."""


JointLaw = Callable[[Any], Any]
"""f(on), on a `Plant`: joint forces, (nv,) or {joint: value}."""

Law = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None], np.ndarray]
"""(t, q, v, parameters and states of forces), rows -> joint forces (T, nv)."""


class Plant(Motion):
    """The motion as a law of joint forces sees it: everything of `Motion`, and the equations of the model without the law."""

    def __init__(self, on: Motion, model: Model) -> None:
        self.__dict__ = on.__dict__  # the same motion: what is read and pushed here is read and pushed there
        self._model = model

    def inverse(self, a: Values, q: Values | None = None, v: Values | None = None) -> tuple[Number, ...]:
        """M(q) a + h(q, v): the joint forces, (nv,), that give the accelerations `a`, against gravity and the model's own
        forces; at the present state, or at another q, v. Constraints of the model are not among it: it is that of the tree."""
        values = self._at(q, v) | {"qdd": self._row(a, "a", self._model.structure.nv)}
        return tuple(evaluate(self._model.structure, "inverse", values).tau)

    def bias(self, q: Values | None = None, v: Values | None = None) -> tuple[Number, ...]:
        """h(q, v), (nv,): the joint forces at which nothing accelerates."""
        return tuple(evaluate(self._model.structure, "bias", self._at(q, v)).h)

    def mass_matrix(self, q: Values | None = None) -> tuple[tuple[Number, ...], ...]:
        """M(q), rows (nv, nv)."""
        M = evaluate(self._model.structure, "inertia/composite", self._at(q, None)).M
        return tuple(tuple(row) for row in M)

    def _at(self, q: Values | None, v: Values | None) -> dict[str, Sequence[Number]]:
        s = self._model.structure
        at: dict[str, Sequence[Number]] = {
            "q": [self._input("q", k) for k in range(s.nq)] if q is None else self._row(q, "q", s.nq),
            "v": [self._input("v", k) for k in range(s.nv)] if v is None else self._row(v, "v", s.nv),
            "t": [self.t],
            "wrench": [0.0] * (6 * (s.nb + 1)),
        }
        return at | ({"parameter": [self._graph.parameter(*x) for x in s.parameters.items()]} if s.parameters else {})

    def _row(self, values: Values, what: str, n: int) -> list[Number]:
        """One number for each coordinate ("q") or speed."""
        if not isinstance(values, Mapping):
            row = _sequence(values)
            if len(row) != n:
                raise StateError(f"{what}: expected {n} numbers or {{joint: value}}, got {len(row)}")
            return row
        m = self._model
        out: list[Number] = m.neutral().tolist() if what == "q" else [0.0] * n
        for joint, x in values.items():
            place = (m.q_slice if what == "q" else m.v_slice)(joint)
            numbers = _sequence(x)
            if len(numbers) != place.stop - place.start:
                raise StateError(f"{what} of joint {joint!r}: expected {place.stop - place.start} numbers, got {len(numbers)}")
            out[place] = numbers
        return out


def _sequence(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (list, tuple, np.ndarray)) else [x]


def is_law(tau: object) -> bool:
    """Whether joint forces are given by a traced function of one argument."""
    return callable(tau) and positional_arguments(tau) == 1


def acting(function: Callable[[Any], Any], model: Model) -> Callable[[Motion], None]:
    """A law as the action of a force on a copy of `model`."""

    def act(on: Motion) -> None:
        returned = function(plant := Plant(on, model))
        if returned is None and not on.pushed:
            raise ModelError("tau: the law returned nothing; it returns joint forces, (nv,) or {joint: value}")
        if returned is not None and not isinstance(returned, Mapping):
            row = _sequence(returned)
            if len(row) != model.nv:
                raise ModelError(f"tau: the law returned {len(row)} joint forces, the model has {model.nv} speeds")
            own = [joint.name for joint in model.structure.placed if joint.nv and not joint.follows]
            returned = {name: row[model.v_slice(name)] for name in own}
        for name, x in (returned or {}).items():
            plant.torque(name, _sequence(x))

    act.__name__ = name_of(function, TAU)
    return act


def with_law(model: Model, function: Callable[[Any], Any], name: str = TAU) -> Model:
    """The model with a law among its forces. A law that is the same when it is traced again has the same model: nothing is
    compiled anew."""
    if name in model.forces:
        raise ModelError(
            f"a law of joint forces is called {name!r}, and model {model.name!r} has a force of that name: rename it"
        )
    act, structure = acting(function, model), model.structure
    traced = TracedForce(structure, Graph(), act, name, {})
    if traced.observed:
        raise ModelError(f"{name}: a law of joint forces observes nothing for the result; add it to the model as a force")
    form, constants = traced.without_numbers()
    places = tuple(traced.reads), tuple(traced.wrenches), tuple(traced.torques)
    kept, key = _models_with_laws(model), (name, places, form, tuple(constants))
    if key not in kept:
        while len(kept) >= MOST_KEPT:
            kept.pop(next(iter(kept)))
        copy = model.copy()
        copy.add_force(act, name=name)
        kept[key] = copy
    return kept[key]


@per_structure
def _models_with_laws(model: Model) -> dict[tuple[object, ...], Model]:
    """Copies of a model with a law among its forces, by what was traced of it."""
    return {}


def law_of(model: Model, backend: str) -> Law:
    """The joint forces of the law in a model of `with_law`, for rows of states."""
    d = Dynamics(model, "separate", "python" if backend == "python" else "auto")

    def over(t: np.ndarray, q: np.ndarray, v: np.ndarray, parameters: np.ndarray | None) -> np.ndarray:
        acts = d.force_actions(q, v, t, parameters).get(TAU, {})
        out = np.zeros(v.shape)
        for joint, x in acts.items():
            out[:, model.v_slice(joint)] = x
        return out

    return over


def check_law(tau: JointLaw) -> JointLaw:
    """Refuse functions that are no law."""
    if callable(tau) and not is_law(tau):
        raise StateError(
            "tau: a law of joint forces is a function of one argument, sharnir.Motion, that is compiled; "
            f"{name_of(tau, 'the function')!r} takes {positional_arguments(tau)}. A Python function of t, q, v is called at "
            "sample times: control=sharnir.Sampled(f, period)"
        )
    return tau
