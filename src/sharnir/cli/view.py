"""`sharnir view`: models and results in the browser, until Ctrl-C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..model.model import Model
from ..viewer.build import check_layers
from ..viewer.live.subjects import subjects_of
from ..viewer.live.view import view
from .parameters import set_values
from .usage import UsageError, check_usage, named_values


def view_files(
    files: Sequence[Path],
    *,
    reading: Mapping[str, Any],
    q0: Sequence[str],
    values: Sequence[str],
    show: Sequence[str],
    plots: Sequence[str],
    host: str,
    port: int | None,
    open_browser: bool,
) -> None:
    """`reading`: options of `load`; `q0`, `values`: words joint=value, name=value."""
    if show:
        check_usage("--show", check_layers, show)
    found = subjects_of(files, **reading)
    first, start, parameters = found[0], None, None
    if isinstance(first, Model):
        if plots:
            raise UsageError("--quantity", "it goes with results; a model file has none: `sharnir run` makes them")
        parameters = set_values(first, values) or None
        if q0:
            start = named_values("--q0", q0)
            check_usage("--q0", first.coordinates, start)
    else:
        for option, given in (("--q0", q0), ("--set", values)):
            if given:
                raise UsageError(option, "it goes with a model file; a result has its own")
    view(
        found,
        q=start,
        parameters=parameters,
        show=list(show) or None,
        plots=plots,
        host=host,
        port=port,
        open_browser=open_browser,
        block=True,
    )
