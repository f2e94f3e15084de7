"""Models from files and back, by the suffix of the file: `sharnir.load` and `Model.save`. Readers and writers are imported when
they are needed: YAML and its checks take longer to import than a model to load."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import FormatError, StateError, suggesting
from ..model.model import Model
from ..reporting.atomic_write import atomic_write
from ..types import FilePath, truth
from .paths import LoadOptions, model_path
from .xml import read_xml

XML, YAML = (".urdf", ".xml", ".mjcf"), (".yaml", ".yml")
READABLE = ".urdf (URDF), .xml or .mjcf (MuJoCo's MJCF), .yaml or .yml (sharnir's own)"
WRITABLE = ".urdf (URDF), .yaml or .yml (sharnir's own)"


@suggesting
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
    path = model_path(path)
    floating, passive = truth(floating, "floating"), truth(passive, "passive")
    options = LoadOptions(floating, strict, package_paths, passive, truth(actuators, "actuators"))
    suffix = path.suffix.lower()
    if suffix in XML:
        root = read_xml(path)
        if suffix == ".urdf" or root.tag == "robot":
            from .urdf import load_urdf as load_root
        else:
            from .mjcf import load_mjcf as load_root
        return load_root(path, options, root)
    if suffix in YAML:
        from .native import load_native

        return load_native(path, options)
    if suffix == ".xacro":
        raise FormatError(f"{path}: xacro is a macro language, not a model; run it first: xacro {path.name} > {path.stem}")
    text = "; sharnir.loads reads a text" if ":" in path.name else ""
    raise FormatError(f"{path}: cannot tell the format from the suffix {suffix!r}; what can be read: {READABLE}{text}")


def save(model: Model, path: FilePath) -> None:
    path = model_path(path)
    suffix = path.suffix.lower()
    if suffix == ".urdf":
        from .urdf_write import urdf_text

        text = urdf_text(model, path.parent)
    elif suffix in YAML:
        from .native import dumps

        text = dumps(model)
    else:
        raise FormatError(f"{path}: cannot tell the format from the suffix {suffix!r}; what can be written: {WRITABLE}")
    try:
        with atomic_write(path) as part:
            part.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FormatError(f"{path}: cannot be written ({error.strerror})") from None
    except StateError as error:
        raise FormatError(str(error)) from None
