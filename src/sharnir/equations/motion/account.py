"""The energy account on loops: the power of every cause that adds or removes energy as native code, for models of any size; which
forces are such causes; and the rates of states of forces, carried to where the equations read them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...backends.compiled_programs import CompiledPrograms
from ...backends.grouped import GroupedCode, native_copy
from ...backends.grouped_forces import flat_motion
from ...backends.loops import grouped_forces
from ...backends.run import read_by_forces
from ...dialect.cache import Cache
from ...dialect.native import Native, bind_kernel
from ...model.forces.groups import Group
from ...model.model import Model
from ...model.per_structure import per_structure
from ...model.structure import Structure
from ...trace import Symbol
from ...trace.generic import stacked
from ..kernels.powers import Powers, collect_powers
from ..rows.flat_motion import GenericMotion, parameters_near


class Account:
    """`causes`: "drives", forces by name without the conservative ones, "tau", as of the straight-line derivative."""

    def __init__(self, model: Model, programs: CompiledPrograms, tau_works: bool) -> None:
        self.structure = s = model.structure
        self.programs, self.tau_works = programs, tau_works
        self.drives = bool(s.drives or s.given)
        self.forces = grouped_forces(s, programs.store) if s.forces else None
        self.dissipative = not_conservative(s)
        names = [s.forces.names[k] for k in self.dissipative]
        self.causes = (*(["drives"] if self.drives else []), *names, *(["tau"] if tau_works else []))

    def chain(self, at: Mapping[str, np.ndarray]) -> list[Native]:
        """Native functions that fill the end of at["more"] once accelerations are known."""
        if not self.causes:
            return []
        s, programs, none = self.structure, self.programs, np.zeros(0)
        out: list[Native] = []
        drive, excess, prescribed = none, none, none
        if self.drives:
            R, drive = np.zeros(6 * (s.nb + 1)), np.zeros(1)
            out += programs.runner("kinetostatics", backend="loops").chain({**at, "R": R})
            out += programs.runner("drive-power", backend="loops").chain({**at, "R": R, "power": drive})
        if self.forces is not None and len(self.dissipative):
            excess = np.zeros(len(s.forces))
        if self.forces is not None and self.drives and s.forces.on_prescribed:
            prescribed = np.zeros(len(s.forces))
        wanted = {name: x for name, x in (("excess", excess), ("prescribed", prescribed)) if x.size}
        if self.forces is not None and wanted:
            out += self.forces.chain({name: at[name] for name in ("t", "q", "v", "parameter")}, wanted)
        tau, v = (at["tau"], at["v"]) if self.tau_works else (none, none)
        powers = Powers(drive, prescribed, excess, self.dissipative, tau, v, at["more"][-len(self.causes) :])
        return [*out, bind_kernel(collect_powers, powers, store=programs.store)]


def native_state_rates(programs: CompiledPrograms, at: Mapping[str, np.ndarray]) -> list[Native]:
    """Native functions that fill the first numbers of at["more"] for one state: only forces that have states are evaluated."""
    s = programs.structure
    if not s.states:
        return []
    layout = s.forces.layout
    groups = [group for group in s.forces.groups if (group.places >= layout.rate_at).any()]
    code = GroupedCode(groups, programs.store)
    reads_bodies = any((group.reads >= layout.at["r"]).any() for group in groups)
    bodies = programs.runner("motion", backend="loops") if reads_bodies else None
    flat, natives = flat_motion(layout, at, bodies, code)
    push = np.zeros(layout.pushes)
    found = code.copied([(push[layout.rate_at :], at["more"][: len(s.states)])])
    return [*natives, *code.chain(flat, {"push": push}), found]


def state_rates(structure: Structure, t: float, q: np.ndarray, v: np.ndarray, parameters: np.ndarray) -> list[float]:
    """Rates of states of forces, interpreted; `parameters` end with the states."""
    values = {"t": [t], "q": q.tolist(), "v": v.tolist(), "parameter": parameters.tolist()}
    return [float(x) for x in structure.forces.rates(read_by_forces(structure, values, float))]


def native_carry(structure: Structure, states: np.ndarray, parameters: np.ndarray, store: Cache) -> list[Native]:
    """Copy states of forces from rows (n, …) of the state, which begin with them, to the ends of rows of parameters."""
    nz = len(structure.states)
    if not nz:
        return []
    rows = parameters.reshape(len(states), -1)
    return [native_copy([(x[:nz], p[-nz:]) for x, p in zip(states, rows, strict=True)], store)]


SCALES = (1.0, 1.0, 1e3)
"""Sizes of generic motions: beside the small numbers a high power is seen in the large ones, and the reverse."""
DECIDED = tuple(np.geomspace(0.1, 10.0, 32).tolist())
"""Sizes at which a force of the library takes the branches that belong to them: one may hold on its own side alone."""


@per_structure
def not_conservative(structure: Structure) -> np.ndarray:
    """Indices of the forces that add or remove energy: whose power and rate of stored energy do not cancel identically."""
    forces = list(structure.forces.forces.values())
    counts = np.zeros(len(forces), dtype=bool)
    for group in structure.forces.groups:
        excess = group.shape.outputs["excess"][0]
        if not isinstance(excess, Symbol) and excess == 0.0:
            continue  # it neither does work nor stores energy
        number = group.force[:, 0]
        lost = ~_cancels(structure, group, SCALES)
        if any(not forces[k].has_function for k in number[lost].tolist()):
            lost &= ~_cancels(structure, group, DECIDED, decides=True) | [forces[k].has_function for k in number.tolist()]
        counts[number[lost]] = True
    return np.flatnonzero(counts)


def _cancels(structure: Structure, group: Group, scales: tuple[float, ...], decides: bool = False) -> np.ndarray:
    """For every force of a group, whether its excess vanishes at generic motions, and is not only a sum of nothing."""
    n = len(group.force)
    zero, acts = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
    for k, scale in enumerate(scales):  # one by one: there may be many forces
        motion = _anywhere(structure, np.random.default_rng(k), scale)
        with np.errstate(all="ignore"):
            excess = stacked(group.shape.expression("excess")(*motion.at(group.reads, decides), *group.numbers.T), (1, n))
        zero &= excess.vanishes[0, 0]
        acts |= excess.size[0, 0] > 0.0
    return zero & acts


def _anywhere(structure: Structure, rng: np.random.Generator, scale: float) -> GenericMotion:
    """One flat motion in which bodies are and move anywhere, not as joints let them: a force knows what it reads, no tree."""
    s, layout = structure, structure.forces.layout
    values = {name: scale * rng.uniform(-1.0, 1.0, size) for name, size in layout.sizes.items()}
    values["t"], values["parameter"] = scale * rng.uniform(0.5, 1.5, 1), parameters_near(s, rng, 1)[0]
    for at in s.quaternions.tolist():
        values["q"][at : at + 4] /= np.linalg.norm(values["q"][at : at + 4])
    G = np.linalg.qr(rng.normal(size=(s.nb + 1, 3, 3)))[0]
    values["G"] = (G * np.linalg.det(G)[:, None, None]).ravel()
    flat = np.concatenate(list(values.values()))[None]
    sizes = np.abs(flat)
    sizes[:, layout.at["G"] :][:, : layout.sizes["G"]] = 1.0
    return GenericMotion(flat, sizes)
