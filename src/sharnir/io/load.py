"""`sharnir.load`: a model from a file, by its suffix."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import FormatError
from ..model.model import Model
from ..types import FilePath, truth
from .paths import LoadOptions, model_path
from .xml import read_xml

XML, YAML = (".urdf", ".xml", ".mjcf"), (".yaml", ".yml")
READABLE = ".urdf (URDF), .xml or .mjcf (MuJoCo's MJCF), .yaml or .yml (sharnir's own)"


def load(
    path: FilePath,
    floating: bool = False,
    strict: bool = False,
    package_paths: FilePath | Iterable[FilePath] = (),
    passive: bool = True,
    actuators: bool = True,
) -> Model:
    """A model from a file; `model.import_report` says what became of each part of it.

    floating       the root of a URDF is free instead of fixed to the ground: six more degrees of freedom
    strict         refuse a file of which anything would be approximated or ignored
    package_paths  folders that contain the packages of `package://…`, before ROS_PACKAGE_PATH and the file's own; includes and
                   meshes may come from them and from the package of the file, from nowhere else (docs/mjcf.md)
    passive        False leaves damping, friction and stiffness out
    actuators      False leaves the actuators of an MJCF file out
    """
    # each reader is imported where it is needed: YAML and its checks take longer to import than a model to load
    path = model_path(path)
    floating, passive = truth(floating, "floating"), truth(passive, "passive")
    options = LoadOptions(floating, strict, package_paths, passive, truth(actuators, "actuators"))
    suffix = path.suffix.lower()
    root = read_xml(path) if suffix in XML else None
    if root is not None and (suffix == ".urdf" or root.tag == "robot"):
        from .urdf import load_urdf

        return load_urdf(path, options, root)
    if root is not None:
        from .mjcf import load_mjcf

        return load_mjcf(path, options, root)
    if suffix in YAML:
        from .native import load_native

        return load_native(path, options)
    if suffix == ".xacro":
        raise FormatError(f"{path}: xacro is a macro language, not a model; run it first: xacro {path.name} > {path.stem}")
    raise FormatError(f"{path}: cannot tell the format from the suffix {suffix!r}; what can be read: {READABLE}")
