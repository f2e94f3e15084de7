"""`sharnir derive`: the equations of motion of a model file as formulas, printed or written as a page."""

from __future__ import annotations

import sys
from argparse import Namespace

from ..derivation.derive import FORMS, derive
from .usage import check_name, given, load_model


def command(options: Namespace) -> None:
    form = given(options, "form")
    if form:
        check_name("--form", form["form"], FORMS)
    equations = derive(load_model(options), **form, parameters=options.letter or "all")
    for note in equations.notes:
        print(f"sharnir: {note}", file=sys.stderr)
    if options.python:
        print(equations.python(), end="")
    elif options.latex or options.html is None:
        print(equations.latex())
    if options.html is not None:
        equations.html(options.html)
        print(f"written: {options.html}", file=sys.stderr)
