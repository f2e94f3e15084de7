"""`sharnir modes`: frequencies and damping ratios of a model file near a position, and which joints move."""

from __future__ import annotations

import json
import sys
import warnings
from argparse import Namespace
from typing import Any

from ..analysis.equilibrium import equilibrium
from ..analysis.linear_system import LinearSystem
from ..analysis.linearize import linearize
from ..errors import LinearizationWarning
from ..reporting.pictures import check_picture
from ..types import State
from .usage import check_usage, load_model, set_values, values_by_joint


def command(options: Namespace) -> None:
    plot = options.plot
    check_usage("--plot", check_picture, plot)
    model = load_model(options)
    if parameters := set_values(model, options.set):
        model = model.with_parameters(parameters)
    q: State
    v: State
    tau: State
    q, v, tau = (numbers or None for numbers in values_by_joint(model, options, "at", "speed", "tau").values())
    if options.equilibrium:
        found = equilibrium(model, q, tau=tau, speeds=v, t=options.time)
        q, v, tau = found.q, found.v, found.tau
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LinearizationWarning)
        system = linearize(model, q, v, options.time, tau=tau)
    for warning in caught:
        print(f"sharnir: warning: {warning.message}", file=sys.stderr)
    print(json.dumps(as_data(system), indent=2, allow_nan=False) if options.json else system.summary())
    if plot is not None:
        system.plot_modes(plot)
        print(f"written: {plot}", file=sys.stderr if options.json else sys.stdout)


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
