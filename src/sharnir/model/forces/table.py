"""All forces of a model, in groups of one shape: loads on bodies and joints, energy and power."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ...trace import Number, Symbol
from ..motion import Observed
from .force_element import Force
from .groups import grouped
from .layout import Layout
from .shape import Shape

if TYPE_CHECKING:
    from ..structure import Structure


class ForceTable:
    """Forces in the order they were added, after those that joints have by their options (`own_forces.py`)."""

    def __init__(self, structure: Structure, forces: Mapping[str, Force]) -> None:
        self.forces = dict(forces)
        self.names = list(self.forces)
        self.parameters = list(structure.parameters.values())
        self.layout = Layout(structure)
        self.groups = grouped(structure, self.layout, self.forces)
        self.kinematic = any((group.reads >= self.layout.at["r"]).any() for group in self.groups)
        """Whether any force reads the motion of bodies, not only coordinates and speeds."""
        self.kinetic: np.ndarray = np.array([force.kinetic for force in self.forces.values()], dtype=bool)
        """Forces that store kinetic energy."""
        self.on_prescribed = any(isinstance(group.shape.outputs["prescribed"][0], Symbol) for group in self.groups)
        """Whether any force acts on a motion given as a function of time."""

    def __bool__(self) -> bool:
        return bool(self.forces)

    def __len__(self) -> int:
        return len(self.forces)

    def loads(self, motion: Mapping[str, Any]) -> tuple[dict[tuple[int, int], Number], dict[int, Number]]:
        """All loads: {(row of body, component): value} in body axes at body origins, and {speed: value}.

        `motion`: flat lists "t", "q", "v", "r", "G", "velocity" of any numbers; "parameter" where not the model's.
        """
        pushes: dict[int, Number] = {}
        for _, places, values in self._each(motion, "push"):
            _add(pushes, places, values)
        return self._split(pushes)

    def rates(self, motion: Mapping[str, Any]) -> list[Number]:
        """Rates of all states."""
        at = self.layout.rate_at
        out: list[Number] = [0.0] * (self.layout.pushes - at)
        for _, places, values in self._each(motion, "push", stateful=True):
            for place, x in zip(places, values, strict=True):
                if place >= at:
                    out[place - at] = x
        return out

    def observed(self, motion: Mapping[str, Any]) -> dict[str, dict[str, tuple[Observed, list[Any]]]]:
        """Numbers that every force observes: {force: {name: (unit …, values of its parts)}}; on arrays of numbers too."""
        out: dict[str, dict[str, tuple[Observed, list[Any]]]] = {}
        values = self.layout.flat({"parameter": self.parameters, **motion})
        for group in self.groups:
            rows = (group.force[:, 0], group.reads, group.numbers)
            for number, reads, numbers in zip(*(x.tolist() for x in rows), strict=True) if group.observed else ():
                of = out.setdefault(self.names[number], {})
                found = group.shape.expression("observed")(*[values[place] for place in reads], *numbers)
                for (name, what), x in zip(group.observed.items(), found, strict=True):
                    of.setdefault(name, (what, []))[1].append(x)
        return out

    @cached_property
    def observed_names(self) -> dict[str, dict[str, tuple[Observed, int]]]:
        """{force: {name: (unit …, number of its parts that have it)}}."""
        out: dict[str, dict[str, tuple[Observed, int]]] = {}
        for group in self.groups:
            for number in group.force[:, 0].tolist() if group.observed else ():
                of = out.setdefault(self.names[number], {})
                of.update({name: (what, of.get(name, (what, 0))[1] + 1) for name, what in group.observed.items()})
        return out

    def report(self, motion: Mapping[str, Any]) -> tuple[Sequence[Number], Sequence[Number]]:
        """Stored energy and power of every force."""
        energy: list[Number] = [0.0] * len(self)
        power: list[Number] = [0.0] * len(self)
        for number, _, (stored, given) in self._each(motion, "energy", "power"):
            energy[number] += stored
            power[number] += given
        return energy, power

    def excess(self, motion: Mapping[str, Any]) -> Sequence[Number]:
        """Power of every force plus the rate of its stored energy: zero where it is conservative."""
        out: list[Number] = [0.0] * len(self)
        for number, _, (x,) in self._each(motion, "excess"):
            out[number] += x
        return out

    def actions(self, motion: Mapping[str, Any]) -> dict[str, tuple[dict[tuple[int, int], Any], dict[int, Any]]]:
        """The loads of every force by itself, in the form of `loads`; on arrays of numbers too."""
        pushes: list[dict[int, Any]] = [{} for _ in self.names]
        for number, places, values in self._each(motion, "push"):
            _add(pushes[number], places, values)
        return {name: self._split(one) for name, one in zip(self.names, pushes, strict=True)}

    def prescribed_power(self, motion: Mapping[str, Any]) -> Number:
        """Power of all forces on motions given as functions of time: of the base and of driven coordinates."""
        return sum((x for _, _, (x,) in self._each(motion, "prescribed")), 0.0)

    def dense(self, motion: Mapping[str, np.ndarray], nb1: int, nv: int) -> tuple[np.ndarray, np.ndarray]:
        """`loads` as arrays of floats: wrenches (nb1, 6), joint forces (nv,)."""
        wrenches, torques = self.loads({key: [float(x) for x in np.ravel(value)] for key, value in motion.items()})
        W, tau = np.zeros((nb1, 6)), np.zeros(nv)
        for (row, c), x in wrenches.items():
            W[row, c] = x
        for a, x in torques.items():
            tau[a] = x
        return W, tau

    def _each(
        self, motion: Mapping[str, Any], *outputs: str, stateful: bool = False
    ) -> Iterator[tuple[int, list[int], tuple[Number, ...]]]:
        """For every force its index, the places it pushes, and outputs of its shape on these numbers; `stateful`: only for
        those that have states."""
        values = self.layout.flat({"parameter": self.parameters, **motion})
        for number, shape, reads, numbers, places in self._one_by_one:
            if stateful and max(places, default=0) < self.layout.rate_at:
                continue
            yield number, places, shape.expression(*outputs)(*[values[place] for place in reads], *numbers)

    @cached_property
    def _one_by_one(self) -> list[tuple[int, Shape, list[int], list[float], list[int]]]:
        """The rows of all groups, in the order of the forces."""
        rows = [
            (number, group.shape, *lists)
            for group in self.groups
            for number, *lists in zip(
                *(x.tolist() for x in (group.force[:, 0], group.reads, group.numbers, group.places)), strict=True
            )
        ]
        return sorted(rows, key=itemgetter(0))

    def _split(self, pushes: dict[int, Number]) -> tuple[dict[tuple[int, int], Number], dict[int, Number]]:
        at, end = self.layout.load_at, self.layout.rate_at
        wrenches = {divmod(place, 6): x for place, x in pushes.items() if place < at}
        return wrenches, {place - at: x for place, x in pushes.items() if at <= place < end}


def _add(pushes: dict[int, Number], places: Sequence[int], values: Sequence[Number]) -> None:
    for place, x in zip(places, values, strict=True):
        pushes[place] = pushes.get(place, 0.0) + x
