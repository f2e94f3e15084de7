"""The forces of a model for backends that loop: grouped by shape, gathered from the flat motion (`model/forces/layout.py`); and
the user's own functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..dialect.cache import Cache
from ..dialect.kernels.rows import Looked, look_at
from ..dialect.native import Native, address, bind_kernel
from ..model.forces.groups import Group
from ..model.forces.layout import WIDTH, Layout
from ..model.forces.shape import Shape
from ..model.structure import Structure
from ..programs import FORCE_REPORT
from ..trace.alike import Form, with_constants_as_inputs, without_constants
from .grouped import GroupedCode
from .runner import Interface, Runner, run_by_name


class GroupedForces:
    """Motion, energies and powers of one state or of many.

    A motion is given as rows: "t", "q", "v", one for all states or one each; "parameter" where it is not the model's.
    """

    def __init__(self, structure: Structure, bodies: Runner | None, store: Cache) -> None:
        """`bodies`: a runner of the program "motion", where forces read poses or velocities of bodies."""
        self.structure, self.table, self.bodies = structure, structure.forces, bodies
        self.code = GroupedCode(self.table.groups, store)

    def loads(self, motion: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Wrenches (n, 6·bodies), the base's first, and joint forces (n, nv) of all forces together."""
        flat = self.flat(motion)
        layout = self.table.layout
        out = np.zeros((len(flat), layout.pushes))
        self.code.run(flat, {"push": out})
        return {"wrench": out[:, : layout.load_at], "load": out[:, layout.load_at : layout.rate_at]}

    def per_force(self, motion: Mapping[str, np.ndarray], *answers: str) -> list[np.ndarray]:
        """(n, number of forces) each: stored "energy", "power", "excess", that beyond the rate of that energy, "prescribed", the
        power on what moves as a given function of time."""
        flat = self.flat(motion)
        out = {name: np.zeros((len(flat), len(self.table))) for name in answers}
        self.code.run(flat, out)
        return list(out.values())

    def flat(self, motion: Mapping[str, np.ndarray]) -> np.ndarray:
        """(n, size): everything forces read, laid out by `Layout`; poses and velocities of bodies are computed here."""
        rows: dict[str, Any] = {"parameter": np.array([self.table.parameters]), **motion}
        layout, n = self.table.layout, max(len(x) for x in rows.values())
        parts = [part for part in layout.sizes if self.bodies is not None or part not in self._of_bodies]
        flat = np.empty((n, sum(layout.sizes[part] for part in parts)))
        for part in parts:
            if part in rows:
                flat[:, layout.at[part] : layout.at[part] + layout.sizes[part]] = rows[part].reshape(len(rows[part]), -1)
        if self.bodies is not None and not rows.keys() >= self._of_bodies:
            for part, x in run_by_name(self.bodies, n, rows).items():
                flat[:, layout.at[part] : layout.at[part] + layout.sizes[part]] = x
        return flat

    # --- one state, without Python ------------------------------------------------------------------------------------------
    def chain(self, arrays: Mapping[str, np.ndarray], answers: Mapping[str, np.ndarray]) -> list[Native]:
        """Native functions for one state in arrays by name (t, q, v, parameter). `answers`: where to put "push" (wrenches
        and joint forces, as `Layout` has them), "excess", "power", "energy" or "prescribed" (one number for each force)."""
        given = {"parameter": np.array(self.table.parameters, dtype=float), **arrays}
        flat, natives = flat_motion(self.table.layout, given, self.bodies, self.code)
        return [*natives, *self.code.chain(flat, answers)]

    _of_bodies = frozenset(("r", "G", "velocity"))


def flat_motion(
    layout: Layout, arrays: Mapping[str, np.ndarray], bodies: Runner | None, code: GroupedCode
) -> tuple[np.ndarray, list[Native]]:
    """The motion as one flat vector, and native functions that fill it from arrays t, q, v, parameter; with poses and velocities
    where there is a runner for them."""
    flat = np.zeros(sum(layout.sizes.values()) if bodies is not None else layout.at["r"])
    parts = {part: flat[at : at + layout.sizes[part]] for part, at in layout.at.items()}
    out = [code.copied([(arrays[part], parts[part]) for part in ("t", "q", "v", "parameter")])]
    if bodies is not None:
        out += bodies.chain({**arrays} | {part: parts[part] for part in WIDTH})
    return flat, out


def finite(arrays: Mapping[str, np.ndarray], runner: Runner) -> list[Native]:
    """Where there is an array `check`: it becomes 0 if all numbers that go in and come out are finite, else nan."""
    if "check" not in arrays:
        return []
    looked = [arrays[name] for name in (*runner.inputs, *runner.outputs)]
    rows = np.array([(address(x), x.size) for x in looked], dtype=np.int64).reshape(-1, 2)
    native = bind_kernel(look_at, Looked(rows, arrays["check"]))
    native.keep_alive(looked)
    return [native]


class ReportRunner(Interface):
    """The program "forces", energies and powers, by groups."""

    def __init__(self, structure: Structure, forces: GroupedForces, only: tuple[str, ...]) -> None:
        super().__init__(FORCE_REPORT, structure, only=only)
        self.forces = forces

    def chain(self, arrays: Mapping[str, np.ndarray], threads: int = 1) -> list[Native]:
        """Energies and powers of one state. Inputs are not checked: a number that is not finite shows in the outputs."""
        found = {name: arrays[name] for name in self.outputs}
        state = {name: arrays[name] for name in ("t", "q", "v", "parameter") if name in arrays}
        return [*self.forces.chain(state, found), *finite(arrays, self)]

    def run(self, n: int, inputs: Any, outputs: Any, threads: int = 1) -> None:
        energy, power = self.forces.per_force(dict(zip(self.inputs, inputs, strict=True)), "energy", "power")
        for name, y in zip(self.outputs, outputs, strict=True):
            y[:] = energy if name == "energy" else power


# --- the user's own functions: drives, custom joints, a moving base
class UserFunctions:
    """Values of all of them, `drive` (nd, 3) and `given` (ng,), from q, v, t and parameters; grouped by shape as forces are: a
    thousand sines that differ in amplitude and phase are one piece of machine code."""

    def __init__(self, structure: Structure, store: Cache) -> None:
        s = self.structure = structure
        self.size, self.n_drive = 3 * len(s.drives) + s.sizes["ng"], 3 * len(s.drives)
        found: dict[Form, list[tuple[list[int], list[float], list[int]]]] = {}
        of_q, of_v = 1, 1 + s.nq  # the flat vector is t, q, v, parameters
        place = {name: 1 + s.nq + s.nv + k for k, name in enumerate(s.parameters)}
        for k, drive in enumerate(s.drives):
            form, constants = without_constants(drive.graph, drive.all_inputs, drive.outputs)
            found.setdefault(form, []).append(
                ([0, *(place[name] for name in drive.parameters)], constants, list(range(3 * k, 3 * k + 3)))
            )
        for given, q, v, at in s.given:
            form, constants = without_constants(given.graph, given.all_inputs, given.outputs)
            reads = [*range(of_q + q.start, of_q + q.stop), *range(of_v + v.start, of_v + v.stop), 0]
            reads += [place[name] for name in given.parameters]
            first = self.n_drive + at
            found.setdefault(form, []).append((reads, constants, list(range(first, first + len(given.outputs)))))
        self._own_parameters = np.array(list(s.parameters.values()), dtype=float)
        self.code = GroupedCode([_group(form, each) for form, each in found.items()], store)

    def chain(self, arrays: Mapping[str, np.ndarray]) -> tuple[list[Native], dict[str, np.ndarray]]:
        """Native functions for one state, and the arrays they fill."""
        given = [arrays["t"], arrays["q"], arrays["v"], arrays.get("parameter", self._own_parameters)]
        flat, values = np.zeros(sum(x.size for x in given)), np.zeros(self.size)
        parts = np.split(flat, np.cumsum([x.size for x in given])[:-1])
        copied = self.code.copied(list(zip(given, parts, strict=True)))
        return [copied, *self.code.chain(flat, {"push": values})], self._split(values)

    def run(self, q: np.ndarray, v: np.ndarray, t: np.ndarray, parameters: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Rows of states, or one for all, to rows of values."""
        given = (t, q, v, self._own_parameters[None] if parameters is None else parameters)
        n = max(len(x) for x in given)
        flat = np.concatenate([np.broadcast_to(x, (n, x.shape[1])) for x in given], axis=1)
        values = np.zeros((n, self.size))
        self.code.run(flat, {"push": values})
        return self._split(values)

    def _split(self, values: np.ndarray) -> dict[str, np.ndarray]:
        return {"drive": values[..., : self.n_drive], "given": values[..., self.n_drive :]}


def _group(form: Form, each: list[tuple[list[int], list[float], list[int]]]) -> Group:
    graph, reads, numbers, outputs = with_constants_as_inputs(form)
    read, constants, places = (np.array(x) for x in zip(*each, strict=True))
    no_force = np.zeros((len(each), 1), dtype=np.int64)
    shape = Shape(graph, reads, numbers, {"push": outputs})
    return Group(
        shape, no_force, np.array(read, dtype=np.int64), np.array(constants, dtype=float), np.array(places, dtype=np.int64)
    )
