"""The energy account on loops: the power of every cause that adds or removes energy as native code, for models of any size."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...backends.compiled_programs import CompiledPrograms
from ...backends.loops import grouped_forces
from ...dialect.native import Native, bind_kernel
from ...model.model import Model
from ..kernels.powers import Powers, collect_powers
from .conservative import not_conservative


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
