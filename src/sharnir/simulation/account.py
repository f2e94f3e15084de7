"""The account of work on loops: the power of whatever feeds or takes energy, natively, for models of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.grouped_forces import GroupedForces
from ..backends.loops import grouped_forces
from ..dialect.arithmetic import STEPPING
from ..dialect.native import Loop, Native
from .powers import Powers, collect_powers

if TYPE_CHECKING:
    from .mechanics import Mechanics

SAMPLES = 3
"""States at which a force is tried for being conservative: power and rate of its energy cancel."""


class Account:
    """`causes`: "drives", forces by name without the conservative ones, "tau", as the straight-line derivative has them."""

    def __init__(self, m: Mechanics, tau_works: bool) -> None:
        s = m.structure
        self.m, self.tau_works = m, tau_works
        self.drives = bool(s.drives or s.given)
        self.forces = grouped_forces(s, m.d.formulation.programs.store) if s.forces else None
        self.kept = np.zeros(0, dtype=np.int64)
        if self.forces is not None:
            self.kept = self._not_conservative(self.forces)
        names = [s.forces.names[k] for k in self.kept]
        self.causes = (*(["drives"] if self.drives else []), *names, *(["tau"] if tau_works else []))

    def _not_conservative(self, forces: GroupedForces) -> np.ndarray:
        """Found out once for a model. A force that did nothing where it was tried may do something later: it stays."""
        s, model = self.m.structure, self.m.d.model
        if "not conservative" not in s.cached:
            rng = np.random.default_rng(5)
            q = np.array([model.random_q(rng) for _ in range(SAMPLES)])
            states = {"t": rng.uniform(0.1, 0.9, (SAMPLES, 1)), "q": q, "v": rng.uniform(0.1, 0.9, (SAMPLES, s.nv))}
            s.cached["not conservative"] = np.flatnonzero(~forces.conservative(states))
        return s.cached["not conservative"]

    def chain(self, at: dict[str, np.ndarray], power: np.ndarray) -> list[Native]:
        """Native functions that leave the powers in `power` once accelerations are known."""
        s, compiled, none = self.m.structure, self.m.d.formulation.programs, np.zeros(0)
        out: list[Native] = []
        drive, excess, ground = none, none, none
        if self.drives:
            R, drive = np.zeros(6 * (s.nb + 1)), np.zeros(1)
            out += compiled.runner("kinetostatics", wrenches=True, backend="loops").chain(at | {"R": R})
            out += compiled.runner("drive-power", backend="loops").chain(at | {"R": R, "power": drive})
        if self.forces is not None and len(self.kept):
            excess = np.zeros(len(s.forces))
        if self.forces is not None and self.drives and s.forces.on_ground:
            ground = np.zeros(len(s.forces))
        wanted = {name: x for name, x in (("excess", excess), ("ground", ground)) if x.size}
        if self.forces is not None and wanted:
            out += self.forces.chain({name: at[name] for name in ("t", "q", "v", "parameter")}, wanted)
        tau, v = (at["tau"], at["v"]) if self.tau_works else (none, none)
        groups: Any = Powers(drive, ground, excess, self.kept, tau, v, power)
        return [*out, Loop(collect_powers, (Powers,), STEPPING, store=compiled.store).bind(groups)]
