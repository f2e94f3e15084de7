"""State of a studio: the open file, parameters and start as edited, options of the run, results. No browser here.

A step that fails leaves everything as it was: the file that was open, the values that were edited, the last run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...comparison.comparison import Comparison
from ...comparison.run import compare
from ...equations.assembly.start import assemble_start
from ...equations.rows.constraint_table import table_of
from ...errors import AssemblyError, SimulationError, SingularError, StateError, brief
from ...integrate.methods import INTEGRATORS
from ...model.mobility import degrees_of_freedom
from ...model.model import Model
from ...model.parameters import parameter_value
from ...simulation.results.result import Result
from ...simulation.run.options import CompiledOptions, RunOptions
from ...simulation.run.simulate import simulate
from ...types import FilePath, FloatArray
from .folder import Folder, Opened

DURATION = 5.0
"""Seconds of a run where the file says nothing."""
BUDGET = 30.0
"""Seconds of a comparison."""
QUICK: dict[str, Any] = {"states": 4, "batch": 256, "rounds": 7}
"""Options of a comparison for which the user waits."""
FINE = 0.01
"""Absolute over relative tolerance where the latter is edited: the ratio of the defaults of `simulate`."""
FORMATS: dict[str, tuple[str, Callable[[Result, Path], object]]] = {
    "NetCDF: the whole motion": (".nc", lambda r, path: r.save(path)),
    "CSV: a table": (".csv", lambda r, path: r.to_csv(path)),
    "HTML: a page that plays": (".html", lambda r, path: r.animate(path)),
}
"""Files that can be made of a run: suffix, and how it is written."""
COMPARISON = "comparison"
"""The kind of file that is the page of a comparison."""


@dataclass(frozen=True)
class EditedOptions:
    """How the model is to be run, as it is edited; the rest is as the file says."""

    duration: float = DURATION
    interval: float | None = 0.01
    """Between rows; None where the file lists its times or asks for every step."""
    method: str = CompiledOptions.method
    integrator: str = CompiledOptions.integrator
    rtol: float = RunOptions.rtol
    step: float = 1e-3

    @staticmethod
    def of(said: Mapping[str, Any]) -> EditedOptions:
        """Options by the arguments that a file gives."""
        output = said.get("output", RunOptions.output)
        own = {name: said[name] for name in ("duration", "method", "integrator", "rtol", "step") if name in said}
        return EditedOptions(interval=float(output) if isinstance(output, (int, float)) else None, **own)


@dataclass
class Workspace:
    folder: Folder
    opened: Opened | None = None
    values: dict[str, float] = field(default_factory=dict)
    """Values of the parameters."""
    pose: FloatArray | None = None
    """(nq,) position at the start, in place of the file's."""
    speeds: dict[str, list[float]] = field(default_factory=dict)
    """Speeds at the start by joint, in place of the file's; where there are loops, the others follow."""
    options: EditedOptions = field(default_factory=EditedOptions)
    result: Result | None = None
    comparison: Comparison | None = None

    @property
    def model(self) -> Model:
        if self.opened is None:
            raise StateError("nothing is open yet: choose a file, or upload one")
        return self.opened.model

    # --- opening and editing ---------------------------------------------------------------------------------------------------
    def open(self, name: FilePath) -> Opened:
        opened = self.folder.open(name)
        if not opened.model.joints:
            raise StateError(f"{opened.name}: nothing in it moves, every link is fixed to the ground")
        self.opened, self.result, self.comparison = opened, opened.result, None
        self.reset()
        return opened

    def reset(self) -> None:
        """Parameters, start and options as the file has them."""
        said = self.file_settings
        self.values, self.pose, self.speeds = self._parameters(said), None, {}
        self.options = EditedOptions.of(said)

    @property
    def file_settings(self) -> dict[str, Any]:
        """Arguments of `simulate` as the file has them: its settings, or those of the run that it is."""
        model = self.model
        out = model.simulation.arguments() if model.simulation is not None else {}
        r = self.opened.result if self.opened is not None else None
        if r is None or not len(r):
            return out
        span = float(r.t[-1] - r.t[0])
        if span:
            out |= {"duration": span, "output": abs(span) / max(len(r) - 1, 1)}
        if r.cost.integrator in INTEGRATORS and INTEGRATORS[r.cost.integrator].adaptive:
            out["integrator"] = r.cost.integrator
        own = {"parameters": dict(zip(model.parameters, r.parameters[0].tolist(), strict=True))} if r.parameters.size else {}
        return out | r.state(0) | {"fixed": [], "t0": float(r.t[0]), "tau": r.tau} | own

    def set_parameter(self, name: str, value: float) -> None:
        self.values[name] = parameter_value(name, value, StateError)

    def make_parameter(self, path: str) -> str:
        """Make a number of the model, by its path ("link3.mass"), a parameter: its name."""
        model = self.model.copy()
        model.make_parameter(path)
        added = [name for name in model.parameters if name not in self.values]
        if self.opened is not None:
            self.opened = replace(self.opened, model=model)
        self.values |= {name: model.parameters[name] for name in added}
        return added[0] if added else path

    def set_speeds(self, joint: str, values: list[float]) -> None:
        self.model.speeds({joint: values})
        self.speeds[joint] = values

    def _parameters(self, said: Mapping[str, Any]) -> dict[str, float]:
        """Values of the parameters, without states of forces, which are not edited."""
        every = self.model.parameter_values(said.get("parameters"))
        return {name: every[name] for name in self.model.parameters}

    # --- running ---------------------------------------------------------------------------------------------------------------
    def arguments(self) -> dict[str, Any]:
        o, out = self.options, self.file_settings
        if o.integrator not in INTEGRATORS:
            raise StateError(f"no integrator {brief(o.integrator)}")
        adaptive, before = INTEGRATORS[o.integrator].adaptive, EditedOptions.of(out)
        out |= {"duration": o.duration, "method": o.method, "integrator": o.integrator, "step": None if adaptive else o.step}
        if o.rtol != before.rtol:
            out |= {"rtol": o.rtol, "atol": FINE * o.rtol}
        if o.interval is not None:
            out["output"] = o.interval
        if self.values:
            out["parameters"] = dict(self.values)
        if self.pose is not None or self.speeds:
            out |= {"q0": self.start(), "v0": self.start_speeds(), "fixed": list(self.speeds)}
        return out

    def run(self) -> Result:
        """Simulate the model as edited. A run that fails or is stopped is kept as far as it went, and says so."""
        try:
            self.result = simulate(self.model, progress=False, **self.arguments())
        except SimulationError as error:
            if error.result is None or not len(error.result):
                raise
            self.result = error.result
        return self.result

    def compare(self) -> Comparison:
        self.comparison = compare(self.model, parameters=self.values or None, budget=BUDGET, progress=False, **QUICK)
        return self.comparison

    def start(self) -> FloatArray:
        """(nq,): where a run would begin. An AssemblyError where the loops cannot be closed there."""
        if self.pose is not None:
            return self.pose
        model, said = self.model, self.file_settings
        if not model.constraints:
            return model.coordinates(said.get("q0"))
        values = list(model.parameter_values(self.values or None).values())
        return assemble_start(model, said.get("q0"), None, said.get("t0", 0.0), table_of(model), values, said.get("fixed")).q

    def start_speeds(self) -> FloatArray:
        """(nv,): speeds that a run begins with, before loops are closed."""
        v = np.array(self.model.speeds(self.file_settings.get("v0")))
        for joint, values in self.speeds.items():
            v[self.model.v_slice(joint)] = values
        return v

    def mobility(self) -> str:
        model = self.model
        if not model.constraints:
            return degrees_of_freedom(model.nv)
        try:
            return str(model.mobility(self.start()))
        except (AssemblyError, SingularError) as error:
            return f"{degrees_of_freedom(model.nv, len(table_of(model)))}; {error}"

    # --- taking away -----------------------------------------------------------------------------------------------------------
    def file(self, kind: str) -> tuple[str, bytes]:
        """Name and content of a file of the last run, or of the comparison."""
        name, write = self._writer(kind)
        with tempfile.TemporaryDirectory(prefix=".sharnir-", dir=self._writable()) as place:
            path = Path(place) / name
            write(path)
            return name, path.read_bytes()

    def keep(self, kind: str) -> str:
        """Write such a file into the folder: its name there."""
        name, write = self._writer(kind)
        self._writable()
        path = self.folder.free(name)
        write(path)
        return path.name

    def _writer(self, kind: str) -> tuple[str, Callable[[Path], object]]:
        stem = Path(self.opened.name).stem if self.opened else "run"
        if kind == COMPARISON:
            if self.comparison is None:
                raise StateError("there is no comparison yet: compare the methods first")
            return f"{stem}-compared.html", self.comparison.report
        if kind not in FORMATS:
            raise StateError(f"no format {brief(kind)}; there are {', '.join(FORMATS)}")
        if (result := self.result) is None:
            raise StateError("there is no motion yet: run the model first")
        suffix, write = FORMATS[kind]
        return f"{stem}-run{suffix}", lambda path: write(result, path)

    def _writable(self) -> Path:
        try:
            with tempfile.TemporaryFile(dir=self.folder.path):
                pass
        except OSError as error:
            why = f"{error.strerror}; start the studio with another --folder"
            raise StateError(f"cannot write into {self.folder.path}: {why}") from None
        return self.folder.path
