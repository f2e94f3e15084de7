"""`sharnir.load`: a model from a file, by its suffix."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import FormatError
from ..model.model import Model

READABLE = ".urdf (URDF), .xml or .mjcf (MuJoCo's MJCF), .yaml or .yml (sharnir's own)"


def load(
    path: str | PathLike[str],
    floating: bool = False,
    strict: bool = False,
    package_paths: Iterable[str | PathLike[str]] = (),
    passive: bool = True,
) -> Model:
    """A model from a file; `model.import_report` says what became of each part of it.

    floating       free the root of a URDF from the ground: six more freedoms
    strict         refuse a file of which anything would be approximated or ignored
    package_paths  folders in which the packages of `package://…` stand, before ROS_PACKAGE_PATH and the file's own
    passive        False leaves damping, friction and stiffness out
    """
    path = Path(path)
    suffix = path.suffix.lower()
    options: dict[str, Any] = {"floating": floating, "strict": strict, "package_paths": package_paths, "passive": passive}
    if suffix == ".urdf":
        from .urdf import load_urdf

        return load_urdf(path, floating, strict, package_paths, passive)
    if suffix in (".xml", ".mjcf"):
        from .xml import read_xml

        root = read_xml(path)
        if root.tag == "robot":
            from .urdf import load_urdf

            return load_urdf(path, floating, strict, package_paths, passive, root)
        from .mjcf import load_mjcf

        return load_mjcf(path, **options)
    if suffix in (".yaml", ".yml"):
        from .native import load_native

        return load_native(path, **options)
    if suffix == ".xacro":
        raise FormatError(f"{path}: xacro is a language of macros, not a model; run it first: xacro {path.name} > {path.stem}")
    raise FormatError(f"{path}: cannot tell the format from the suffix {suffix!r}; what can be read: {READABLE}")
