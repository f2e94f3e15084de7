"""MuJoCo's own compiler: resolves defaults, angles, frames and inertia from shapes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import FormatError, ModelError
from ..model.import_report import ImportReport
from .mjcf_source import Source
from .xml import LARGEST

NUMBERS = {
    "body": ("body_mass", "body_inertia", "body_pos", "body_quat", "body_ipos", "body_iquat"),
    "joint": ("jnt_pos", "jnt_axis", "jnt_stiffness"),
    "geom": ("geom_pos", "geom_quat", "geom_size"),
    "site": ("site_pos", "site_quat"),
}
"""The fields that are read, by the object they belong to."""


def import_mujoco() -> Any:
    """MuJoCo, imported only when a file needs it: it is optional. The error says how to install it."""
    try:
        import mujoco
    except ImportError:
        raise ModelError("reading MJCF needs MuJoCo's own compiler; install it with: pip install sharnir[mjcf]") from None
    if not hasattr(mujoco, "MjSpec"):
        raise ModelError(f"reading MJCF needs MuJoCo 3.2 or later, this is {mujoco.__version__}: pip install -U sharnir[mjcf]")
    return mujoco


def compile_source(source: Source, report: ImportReport) -> Any:
    """The compiled MjModel of a source."""
    mujoco = import_mujoco()
    with quiet() as messages:
        try:
            more = {"include": source.submodels} if source.submodels else {}
            spec = mujoco.MjSpec.from_string(source.text, **more)
            _check_missing(mujoco, spec, source, report)
            compiled = spec.compile()
        except FormatError:
            raise
        except (ValueError, TypeError, RuntimeError, MemoryError, mujoco.FatalError) as error:
            raise source.error(str(error)) from None
    for message in dict.fromkeys(" ".join(words.split()) for words in messages):
        report.kept("warning of MuJoCo", str(source.path), message, warning=True)
    _check_numbers(compiled, source)
    return compiled


def _check_numbers(compiled: Any, source: Source) -> None:
    """MuJoCo accepts nan, and numbers whose squares overflow."""
    for kind, fields in NUMBERS.items():
        for field in fields:
            rows = np.asarray(getattr(compiled, field), dtype=float)
            fine = np.abs(rows) < LARGEST  # nan is not
            if not fine.all():
                k = int(np.argwhere(~fine)[0, 0])
                name = getattr(compiled, kind)(k).name or k
                raise FormatError(f"{source.path}: {kind} {name!r}: its {field.split('_')[1]} is not finite, or too large for SI")


def is_disabled(compiled: Any, what: str) -> bool:
    """Whether `<option><flag>` switches something off: "GRAVITY", "SPRING", "DAMPER", "EQUALITY" …"""
    bits = import_mujoco().mjtDisableBit.__members__
    bit = bits.get(f"mjDSBL_{what}") or bits["mjDSBL_PASSIVE"]  # one bit for springs and dampers in older versions
    return bool(int(compiled.opt.disableflags) & int(bit))


@contextmanager
def quiet() -> Iterator[list[str]]:
    """Collects the warnings that MuJoCo would write to the terminal and to MUJOCO_LOG.TXT."""
    mujoco = import_mujoco()
    messages: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(messages.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield messages
        messages += [str(warning.message) for warning in caught]
    finally:
        mujoco.set_mju_user_warning(before)


def _check_missing(mujoco: Any, spec: Any, source: Source, report: ImportReport) -> None:
    """A missing mesh only cannot be drawn; but a body that takes its mass from it is refused."""
    if not source.missing:
        return
    always = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    never = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    low, high = spec.compiler.inertiagrouprange
    for geom in spec.geoms:
        name = geom.meshname or geom.hfieldname
        file = source.missing.get(name)
        body = geom.parent
        if file is None or body.name == "world":
            continue
        weighs = geom.mass > 0.0 if geom.mass == geom.mass else geom.density > 0.0  # nan: the density counts
        if weighs and low <= geom.group <= high and not never and (always or not body.explicitinertial):
            raise FormatError(
                f"{source.path}: body {body.name!r} takes its mass from the mesh {name!r}, but there is no file {file!r}; "
                "put it there, or give the body an <inertial>"
            )
    for name, file in source.missing.items():
        report.ignored("missing file", f"mesh {name!r}", f"no file {file!r}; no mass comes from it")
