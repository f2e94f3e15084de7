"""The formula of a force as a small graph, which all forces of the same shape share."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import ModelError
from ...kernels.algebra import cross, mtv, neg
from ...kernels.joint_stage import BALL, GIVEN, ball_motion, free_motion
from ...trace import Expression, Graph, Number, Symbol, call_traced, check_numbers, needed, tangent
from ...trace.alike import Form, with_constants_as_inputs, without_constants
from ..motion import Motion
from .layout import WIDTH, Layout

if TYPE_CHECKING:
    from ..structure import Structure


class Shape:
    """A formula. Inputs: what is read of the motion, then the numbers of the force.

    Outputs of a force: "push" (wrenches, joint forces, rates of states), "energy" that is stored, "power", "prescribed" (the
    part of it that goes into motions given in time), "excess" (power plus rate of the stored energy, zero for a conservative
    force), "observed".
    """

    def __init__(
        self, graph: Graph, reads: Sequence[Symbol], numbers: Sequence[Symbol], outputs: Mapping[str, Sequence[Number]]
    ) -> None:
        self.graph, self.reads, self.numbers = graph, tuple(reads), tuple(numbers)
        self.outputs = {name: tuple(x) for name, x in outputs.items()}
        self._made: dict[tuple[str, ...], Expression] = {}

    def expression(self, *names: str) -> Expression:
        """The named outputs, one after another; made once."""
        if names not in self._made:
            outputs = [x for name in names for x in self.outputs[name]]
            self._made[names] = Expression(self.graph, [*self.reads, *self.numbers], outputs)
        return self._made[names]


class TracedForce:
    """One force on symbols: the places it reads, the places it pushes, and its outputs."""

    def __init__(
        self,
        structure: Structure,
        graph: Graph,
        act: Callable[[Motion], Any],
        name: str,
        states: Mapping[str, str],
        noun: str = "force",
    ) -> None:
        on = Motion(structure, graph, states)
        stored = call_traced(act, [on], f"{noun} {name!r}")
        self.graph = graph
        if len(on.rates) < len(states):
            missing = next(x for x in states.values() if structure.state_number[x] not in on.rates)
            raise ModelError(f"{noun} {name!r} has a state {missing!r} without a rate: on.rate(…) sets it")
        self.wrenches, self.torques, self.rates = list(on.wrenches), list(on.torques), list(on.rates)
        pushes = check_numbers([*on.wrenches.values(), *on.torques.values()], graph, f"{noun} {name!r}")
        rates = check_numbers(on.rates.values(), graph, f"{noun} {name!r}: its rate")
        observed = check_numbers([x for x, _ in on.observed.values()], graph, f"{noun} {name!r}, in what it observes,")
        self.observed = {name: what for name, (_, what) in on.observed.items()}
        work = (0.0 if stored is None else stored, on.power, on.prescribed_power)
        energy, power, prescribed = check_numbers(work, graph, f"{noun} {name!r}, as the energy it stores,")
        if stored is not None and not on.pushed and not states:
            raise ModelError(
                f"force {name!r} returns a number and pushes nothing: what it returns is the energy it stores; push with "
                "on.torque(joint, …) or on.push(body, force)"
            )
        excess = power + tangent((energy,), list(flow(on, [energy])))[0]
        self.outputs = {
            "push": (*pushes, *rates), "energy": (energy,), "power": (power,), "prescribed": (prescribed,), "excess": (excess,),
            "observed": observed,
        }  # fmt: skip
        wanted = set(needed(graph, self._flat))
        self.reads = {place: x for place, x in on.inputs.items() if x.index in wanted}

    def places(self, layout: Layout) -> list[tuple[int, str, int]]:
        """Places it pushes: the part of the pushes (wrenches like velocities, joint forces like speeds) and the index in it."""
        wrenches = [(0, "velocity", 6 * row + c) for row, c in self.wrenches]
        rates = [(layout.rate_at, "state", k) for k in self.rates]
        return [*wrenches, *((layout.load_at, "v", a) for a in self.torques), *rates]

    @property
    def _flat(self) -> list[Number]:
        return [x for group in self.outputs.values() for x in group]

    def without_numbers(self) -> tuple[tuple[Form, Sizes], list[float]]:
        """The graph without its constants, to be compared with others, and the constants."""
        form, constants = without_constants(self.graph, list(self.reads.values()), self._flat)
        return (form, tuple((name, len(x)) for name, x in self.outputs.items())), constants


Sizes = tuple[tuple[str, int], ...]
"""How many numbers each output has."""


def rebuilt(form: Form, sizes: Sizes) -> Shape:
    """The shape of the result of `without_numbers`: constants are inputs."""
    graph, reads, numbers, outputs = with_constants_as_inputs(form)
    flat = iter(outputs)
    return Shape(graph, reads, numbers, {name: [next(flat) for _ in range(n)] for name, n in sizes})


# --- how what is read changes in time -------------------------------------------------------------------------------------
def flow(on: Motion, outputs: Sequence[Number]) -> Iterator[tuple[Symbol, Number]]:
    """Every position that outputs depend on, and the time, with its rate; the rates may read more of the motion. Speeds have no
    rate here."""
    wanted = set(needed(on._graph, outputs))
    for (kind, index), x in list(on.inputs.items()):
        if x.index not in wanted:
            continue
        if kind == "t":
            yield x, 1.0
        elif kind == "q":
            yield x, _coordinate_rate(on, index)
        elif kind in ("r", "G"):
            row, c = divmod(index, WIDTH[kind])
            G, u, w = on._motion(row)
            if kind == "r":
                yield x, mtv(G, u)[c]
            else:  # Ġ = −w̃ G, column by column
                yield x, neg(cross(w, G[c % 3 :: 3]))[c // 3]
        elif kind == "parameter" and (place := index - on.structure.first_state) >= 0:
            if place not in on.rates:
                name = list(on.structure.states)[place]
                raise ModelError(f"the energy of a force depends on {name!r}, a state of another: it must be its own")
            yield x, on.rates[place]


def _coordinate_rate(on: Motion, index: int) -> Number:
    """The rate of a coordinate as the joint stage computes it, from the coordinates and speeds of its elementary motion."""
    s = on.structure
    j = s.joints
    m = int(s.motion_of[index])
    kind, first = int(j.kind[m]), int(j.q_at[m])
    q = [on._input("q", k) for k in range(first, first + int(j.coordinates[m]))]
    v = [on._input("v", k) for k in range(int(j.v_at[m]), int(j.v_at[m]) + int(j.axes[m]))]
    c = index - first
    if kind == GIVEN:
        given = s.given[bisect_left(s.given, int(j.data_at[m]), key=lambda one: one[3])][0]
        return on._evaluated(given, *q, *v, on.t)[24 + c]  # where the joint stage has them
    rate = v if kind < BALL else [0.0] * len(q)
    if kind >= BALL:
        (ball_motion if kind == BALL else free_motion)(q, v, 0, 0, rate)
    return rate[c]
