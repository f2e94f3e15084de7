"""`sharnir view`: models and results in the browser, until Ctrl-C."""

from __future__ import annotations

from argparse import Namespace

from ..model.model import Model
from ..viewer.build import check_layers
from ..viewer.live.view import subjects_of, view
from .parameters import set_values
from .usage import UsageError, check_usage, given, named_values


def command(options: Namespace) -> None:
    if options.show:
        check_usage("--show", check_layers, options.show)
    found = subjects_of(options.files, floating=options.floating, strict=options.strict, package_paths=options.package_path)
    first, start, parameters = found[0], None, None
    if isinstance(first, Model):
        if options.quantity:
            raise UsageError("--quantity", "it goes with results; a model file has none: `sharnir run` makes them")
        parameters = set_values(first, options.set) or None
        if options.q0:
            start = named_values("q0", options.q0)
            check_usage("--q0", first.coordinates, start)
    else:
        for option, words in (("--q0", options.q0), ("--set", options.set)):
            if words:
                raise UsageError(option, "it goes with a model file; a result has its own")
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
