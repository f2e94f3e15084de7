"""The energy account on loops: the power of every cause that adds or removes energy as native code, for models of any size."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..backends.compiled_programs import CompiledPrograms
from ..backends.grouped_forces import GroupedForces
from ..backends.loops import grouped_forces
from ..dialect.arithmetic import STEPPING
from ..dialect.native import Loop, Native
from ..model.model import Model
from .powers import Powers, collect_powers

SAMPLES = 3
"""States at which a force is tested for being conservative: power and rate of stored energy cancel."""


class Account:
    """`causes`: "drives", forces by name without the conservative ones, "tau", as of the straight-line derivative."""

    def __init__(self, model: Model, programs: CompiledPrograms, tau_works: bool) -> None:
        self.structure = s = model.structure
        self.programs, self.tau_works = programs, tau_works
        self.drives = bool(s.drives or s.given)
        self.forces = grouped_forces(s, programs.store) if s.forces else None
        self.dissipative = _not_conservative(model, self.forces) if self.forces else np.zeros(0, dtype=np.int64)
        names = [s.forces.names[k] for k in self.dissipative]
        self.causes = (*(["drives"] if self.drives else []), *names, *(["tau"] if tau_works else []))

    def chain(self, at: Mapping[str, np.ndarray]) -> list[Native]:
        """Native functions that fill the end of at["more"] once accelerations are known."""
        if not self.causes:
            return []
        s, programs, none = self.structure, self.programs, np.zeros(0)
        out: list[Native] = []
        drive, excess, ground = none, none, none
        if self.drives:
            R, drive = np.zeros(6 * (s.nb + 1)), np.zeros(1)
            out += programs.runner("kinetostatics", backend="loops").chain({**at, "R": R})
            out += programs.runner("drive-power", backend="loops").chain({**at, "R": R, "power": drive})
        if self.forces is not None and len(self.dissipative):
            excess = np.zeros(len(s.forces))
        if self.forces is not None and self.drives and s.forces.on_ground:
            ground = np.zeros(len(s.forces))
        wanted = {name: x for name, x in (("excess", excess), ("ground", ground)) if x.size}
        if self.forces is not None and wanted:
            out += self.forces.chain({name: at[name] for name in ("t", "q", "v", "parameter")}, wanted)
        tau, v = (at["tau"], at["v"]) if self.tau_works else (none, none)
        powers = Powers(drive, ground, excess, self.dissipative, tau, v, at["more"][-len(self.causes) :])
        return [*out, Loop(collect_powers, (Powers,), STEPPING, store=programs.store).bind(powers)]


def _not_conservative(model: Model, forces: GroupedForces) -> np.ndarray:
    """Tested once for a model. A force that vanishes at all samples may do work elsewhere: it counts."""
    s = model.structure
    if "not conservative" not in s.cached:
        rng = np.random.default_rng(5)
        q = np.array([model.random_q(rng) for _ in range(SAMPLES)])
        states = {"t": rng.uniform(0.1, 0.9, (SAMPLES, 1)), "q": q, "v": rng.uniform(0.1, 0.9, (SAMPLES, s.nv))}
        pushes = np.zeros(len(s.forces), dtype=bool)  # a state without a force does no work
        for group in s.forces.groups:
            pushes[group.force.ravel()] |= bool((group.places < s.forces.layout.rate_at).any())
        stateful = [name in {force for force, _ in s.states_of} for name in s.forces.names]
        s.cached["not conservative"] = np.flatnonzero((~forces.conservative(states) | stateful) & pushes)
    return s.cached["not conservative"]
