"""`sharnir view`: models and results in the browser, until Ctrl-C."""

from __future__ import annotations

from argparse import Namespace

from ..model.model import Model
from ..viewer.build import check_layers
from ..viewer.live.view import subjects_of, view
from .usage import UsageError, check_usage, given, set_values, values_by_joint


def command(options: Namespace) -> None:
    if options.show:
        check_usage("--show", check_layers, options.show)
    reading = {"floating": options.floating, "strict": options.strict, "package_paths": options.package_path}
    found = subjects_of(options.files, acting=options.acting or "motion", **reading)
    first, start, parameters = found[0], None, None
    if isinstance(first, Model):
        if options.quantity:
            raise UsageError("--quantity", "it goes with results; a model file has none: `sharnir run` makes them")
        parameters = set_values(first, options.set) or None
        start = values_by_joint(first, options, "q0")["q0"] or None
    elif options.q0 or options.set:
        raise UsageError("--q0" if options.q0 else "--set", "it goes with a model file; a result has its own")
    view(
        found,
        q=start,
        parameters=parameters,
        show=options.show or None,
        plots=options.quantity,
        **given(options, "host", "port"),
        open_browser=not options.no_browser,
        block=True,
    )
