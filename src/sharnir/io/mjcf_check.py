"""A source compiled by MuJoCo, what it said on the way, and the numbers that no mechanism has refused with their place."""

from __future__ import annotations

import numpy as np

from ..errors import FormatError
from ..model.import_report import ImportReport
from .mjcf_process import COMPILER
from .mjcf_record import CompiledModel
from .mjcf_source import Source
from .xml import LARGEST

NUMBERS = {
    "body": ("body_mass", "body_inertia", "body_pos", "body_quat", "body_ipos", "body_iquat"),
    "joint": ("jnt_pos", "jnt_axis", "jnt_stiffness"),
    "geom": ("geom_pos", "geom_quat", "geom_size"),
    "site": ("site_pos", "site_quat"),
}
"""The fields that are read, by the object they belong to."""


def compile_source(source: Source, report: ImportReport, floating: bool) -> CompiledModel:
    """The compiled model of a source; errors and warnings of MuJoCo with the file and line they refer to."""
    try:
        compiled = COMPILER.compile(source.job(floating), source.size)
    except FormatError as error:
        raise source.error(str(error)) from None
    for message in compiled.facts["messages"]:
        report.kept("warning of MuJoCo", str(source.path), message, warning=True)
    for asset in source.assets.values():
        if asset.fault:
            what = "missing file" if asset.fault.startswith("there is no file") else "file that is not read"
            report.ignored(what, asset.label, f"{asset.fault}; no mass comes from it")
    if "unfitted" in compiled.facts:
        said = str(source.error(compiled.facts["unfitted"]))
        report.ignored("mesh that a shape is fitted to", str(source.path), f"its size is not known; {said}")
    _check_numbers(compiled, source)
    return compiled


def _check_numbers(compiled: CompiledModel, source: Source) -> None:
    """Numbers may be finite in the file and overflow in what follows from them."""
    for kind, fields in NUMBERS.items():
        for field in fields:
            rows = np.asarray(getattr(compiled, field), dtype=float)
            fine = np.abs(rows) < LARGEST  # nan is not
            if not fine.all():
                k = int(np.argwhere(~fine)[0, 0])
                what = f"its {field.split('_')[1]} is not finite, or too large for SI"
                raise source.error(what, compiled.line_of(kind, k), compiled.label(kind, k))
