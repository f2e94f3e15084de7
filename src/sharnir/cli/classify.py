"""`sharnir classify`: every form of the equations of a model file; a tree on the screen, a page."""

from __future__ import annotations

import sys
from argparse import Namespace

from rich.console import Console

from ..classification.classify import classify
from ..classification.report import show
from ..reporting.atomic_write import check_writable
from .inspect import PIPE_WIDTH
from .usage import check_usage, load_model, set_values, values_by_joint


def command(options: Namespace) -> None:
    check_usage("--html", check_writable, options.html)
    model = load_model(options)
    if parameters := set_values(model, options.set):
        model = model.with_parameters(parameters)
    q, v = (numbers or None for numbers in values_by_joint(model, options, "at", "speed").values())
    found = classify(model, q, v, options.time, measure=options.measure)
    if not options.quiet:
        show(found, Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH))
    if options.html is not None:
        found.report(options.html)
        print(f"written: {options.html}")
