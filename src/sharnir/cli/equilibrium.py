"""`sharnir equilibrium`: where a model file rests, as a summary or as data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..analysis.equilibrium import BEST, equilibrium
from ..analysis.equilibrium_result import Equilibrium
from ..errors import EquilibriumError
from ..io.load import load
from ..model.model import Model
from .parameters import set_values
from .usage import UsageError, check_usage, named_values


def equilibrium_file(
    file: Path,
    *,
    floating: bool,
    strict: bool,
    packages: Sequence[Path],
    values: Sequence[str],
    named: Mapping[str, Sequence[str]],
    options: Mapping[str, Any],
    stable: bool | None,
    as_json: bool,
) -> None:
    """`values`: of parameters, as words name=value; `named`: "hold", "guess", "tau", "speed" as words joint=value; `options`:
    "time", "starts", "seed"."""
    given = {option: named_values(f"--{option}", words) for option, words in named.items()}
    model = load(file, floating=floating, strict=strict, package_paths=packages)
    parameters = set_values(model, values)
    for option, numbers in given.items():
        check_usage(f"--{option}", model.coordinates if option in ("hold", "guess") else model.speeds, numbers)
    for joint in given["hold"]:
        for option in ("guess", "speed"):
            if joint in given[option]:
                raise UsageError(f"--{option}", f"joint {joint!r} is held by --hold; leave one of the two out")
    try:
        found = _found(model, given, options, stable, parameters)
    except EquilibriumError as error:  # the command has no `error.result`
        raise EquilibriumError(str(error).removesuffix(BEST)) from None
    print(json.dumps(_data(found), indent=1, ensure_ascii=False) if as_json else found.summary())


def _found(
    model: Model,
    given: Mapping[str, Mapping[str, list[float]]],
    options: Mapping[str, Any],
    stable: bool | None,
    parameters: Mapping[str, float],
) -> Equilibrium:
    guess = {**given["guess"], **given["hold"]}
    return equilibrium(
        model,
        guess or None,
        tau=given["tau"],
        speeds=given["speed"],
        fixed=list(given["hold"]),
        parameters=parameters or None,
        stable=stable,
        t=options.get("time", 0.0),
        **{name: options[name] for name in ("starts", "seed") if name in options},
    )


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
