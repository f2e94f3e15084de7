"""`sharnir modes`: frequencies and damping ratios of a model file near a position, and which joints move."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..analysis.equilibrium import equilibrium
from ..analysis.linear_system import LinearSystem
from ..analysis.linearize import linearize
from ..errors import LinearizationWarning
from ..io.load import load
from ..types import State
from .parameters import set_values
from .usage import check_picture, check_usage, named_values


def modes_of_file(
    file: Path,
    *,
    floating: bool,
    strict: bool,
    packages: Sequence[Path],
    states: Mapping[str, Sequence[str]],
    values: Sequence[str],
    time: float,
    at_equilibrium: bool,
    as_json: bool,
    plot: Path | None,
) -> None:
    """`states`: "at", "speed", "tau" as words joint=value; `values`: of parameters, as words name=value.

    `at_equilibrium`: where the model rests, searched from `at`.
    """
    if plot is not None:
        check_picture("--plot", plot)
    given = {name: named_values(f"--{name}", words) for name, words in states.items()}
    model = load(file, floating=floating, strict=strict, package_paths=packages)
    if parameters := set_values(model, values):
        model = model.with_parameters(parameters)
    for name, numbers in given.items():
        check_usage(f"--{name}", model.coordinates if name == "at" else model.speeds, numbers)
    q: State
    v: State
    tau: State
    q, v, tau = (given[name] or None for name in ("at", "speed", "tau"))
    if at_equilibrium:
        found = equilibrium(model, q, tau=tau, speeds=v, t=time)
        q, v, tau = found.q, found.v, found.tau
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LinearizationWarning)
        system = linearize(model, q, v, time, tau=tau)
    for warning in caught:
        print(f"sharnir: warning: {warning.message}", file=sys.stderr)
    print(json.dumps(as_data(system), indent=2, allow_nan=False) if as_json else system.summary())
    if plot is not None:
        system.plot_modes(plot)
        print(f"written: {plot}", file=sys.stderr if as_json else sys.stdout)


def as_data(system: LinearSystem) -> dict[str, Any]:
    return {
        "name": system.dynamics.model.name,
        "steadiness": system.steadiness,
        "states": system.state_names,
        "eigenvalues": [[x.real, x.imag] for x in system.eigenvalues],
        "modes": [
            {
                "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag],
                "kind": mode.kind,
                "frequency": mode.frequency,
                "damping_ratio": mode.damping_ratio if mode.eigenvalue else None,
                "moves": {share.name: [share.amplitude, share.phase] for share in mode.shares if share.amplitude > 0.0},
            }
            for mode in system.modes
        ],
    }
