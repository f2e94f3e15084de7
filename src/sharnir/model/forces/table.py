"""All forces of a model as one expression of the state of motion: what acts on bodies and joints, energy and power."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...trace import Expression, Graph, Number, Symbol, call_traced, check_numbers
from .base import Force
from .joint_spring import own_springs
from .loads import Loads

if TYPE_CHECKING:
    from ..structure import Structure


class ForceTable:
    """Forces in the order they were added, after those that joints bring along (damping, stiffness)."""

    def __init__(self, structure: Structure, forces: Mapping[str, Force]) -> None:
        self.forces = {**own_springs(structure), **forces}
        self.names = list(self.forces)
        self.parameters = list(structure.parameters.values())
        self.kinematic = False
        """Whether any force looks at bodies, not at coordinates alone."""
        if not self.forces:
            return
        graph = Graph()
        loads = Loads(structure, graph)
        energies, powers = [], []
        wrenches: dict[tuple[int, int], Number] = {}
        torques: dict[int, Number] = {}
        self._own: list[tuple[list[tuple[int, int]], list[int]]] = []
        own: list[Number] = []
        for name, force in self.forces.items():
            loads.power, loads.wrenches, loads.torques = 0.0, {}, {}
            stored = call_traced(force.act, [loads], f"force {name!r}")
            energies.append(0.0 if stored is None else stored)
            powers.append(loads.power)
            self._own.append((list(loads.wrenches), list(loads.torques)))
            own += [*loads.wrenches.values(), *loads.torques.values()]
            for place, x in loads.wrenches.items():
                wrenches[place] = wrenches.get(place, 0.0) + x
            for a, x in loads.torques.items():
                torques[a] = torques.get(a, 0.0) + x
        self._wrenches, self._torques = list(wrenches), list(torques)
        self._inputs = list(loads.inputs)
        self.kinematic = any(kind in ("r", "G", "velocity") for kind, _ in self._inputs)
        pushes = [*wrenches.values(), *torques.values()]
        symbols = list(loads.inputs.values())
        self._loads = Expression(graph, symbols, check_numbers(pushes, graph, "a force"))
        self._each = Expression(graph, symbols, check_numbers(own, graph, "a force"))
        self.on_ground = isinstance(loads.ground_power, Symbol)
        """Whether any force pushes the ground."""
        self._ground = Expression(graph, symbols, [loads.ground_power])
        self._report = Expression(graph, symbols, check_numbers([*energies, *powers], graph, "energy and power of a force"))

    def __bool__(self) -> bool:
        return bool(self.forces)

    def __len__(self) -> int:
        return len(self.forces)

    def loads(self, motion: Mapping[str, Any]) -> tuple[dict[tuple[int, int], Number], dict[int, Number]]:
        """What acts: {(row of body, component): value} in body axes at body origins, and {speed: value}.

        `motion`: flat lists "t", "q", "v", "r", "G", "velocity" of any numbers; "parameter" where they are not the model's.
        """
        values = self._loads(*self._read(motion))
        n = len(self._wrenches)
        return dict(zip(self._wrenches, values[:n], strict=True)), dict(zip(self._torques, values[n:], strict=True))

    def report(self, motion: Mapping[str, Any]) -> tuple[Sequence[Number], Sequence[Number]]:
        """Stored energy and power of every force."""
        if not self.forces:
            return (), ()
        values = self._report(*self._read(motion))
        return values[: len(self)], values[len(self) :]

    def actions(self, motion: Mapping[str, Any]) -> dict[str, tuple[dict[tuple[int, int], Any], dict[int, Any]]]:
        """What every force does by itself, as `loads` says it for all of them; on arrays of numbers too."""
        if not self.forces:
            return {}
        values = iter(self._each(*self._read(motion)))
        return {
            name: ({place: next(values) for place in places}, {a: next(values) for a in speeds})
            for name, (places, speeds) in zip(self.names, self._own, strict=True)
        }

    def ground_power(self, motion: Mapping[str, Any]) -> Number:
        """Power of all forces on the ground: not zero where the base moves."""
        return self._ground(*self._read(motion))[0]

    def dense(self, motion: Mapping[str, np.ndarray], nb1: int, nv: int) -> tuple[np.ndarray, np.ndarray]:
        """`loads` as arrays of floats: wrenches (nb1, 6), joint forces (nv,)."""
        wrenches, torques = self.loads({key: [float(x) for x in np.ravel(value)] for key, value in motion.items()})
        W, tau = np.zeros((nb1, 6)), np.zeros(nv)
        for (row, c), x in wrenches.items():
            W[row, c] = x
        for a, x in torques.items():
            tau[a] = x
        return W, tau

    def _read(self, motion: Mapping[str, Any]) -> list[Number]:
        motion = {"parameter": self.parameters, **motion}
        return [motion[kind][index] for kind, index in self._inputs]
