"""`sharnir equilibrium`: where a model file rests, as a summary or as data."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

from ..analysis.equilibrium import BEST, Equilibrium, equilibrium
from ..errors import EquilibriumError
from .usage import UsageError, given, load_model, set_values, values_by_joint


def command(options: Namespace) -> None:
    model = load_model(options)
    parameters = set_values(model, options.set)
    named = values_by_joint(model, options, "hold", "guess", "tau", "speed")
    for joint in named["hold"]:
        for option in ("guess", "speed"):
            if joint in named[option]:
                raise UsageError(f"--{option}", f"joint {joint!r} is held by --hold; leave one of the two out")
    try:
        found = equilibrium(
            model,
            {**named["guess"], **named["hold"]} or None,
            tau=named["tau"],
            speeds=named["speed"],
            fixed=list(named["hold"]),
            parameters=parameters or None,
            stable=True if options.stable else False if options.nearest else None,
            t=options.time,
            **given(options, "starts", "seed"),
        )
    except EquilibriumError as error:  # the command has no `error.result`
        raise EquilibriumError(str(error).removesuffix(BEST)) from None
    print(json.dumps(_data(found), indent=1, ensure_ascii=False) if options.json else found.summary())


def _data(found: Equilibrium) -> dict[str, Any]:
    m = found.model
    return {
        "model": m.name,
        "stability": found.stability,
        "reason": found.reason,
        "steady": found.steady,
        "unbalanced": found.residual,
        "time": found.t,
        "q": dict(zip(m.q_names, found.q.tolist(), strict=True)),
        "v": dict(zip(m.v_names, found.v.tolist(), strict=True)),
        "tau": dict(zip(m.v_names, found.tau.tolist(), strict=True)),
        "held": list(found.held),
        "multipliers": found.multipliers.tolist(),
    }
