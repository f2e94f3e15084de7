"""Models from files and back, by the suffix of the file: `sharnir.load` and `Model.save`. Readers and writers are imported when
they are needed: YAML and its checks take longer to import than a model to load."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import FormatError, NotActingWarning, StateError, suggesting, warn
from ..model.model import Model
from ..model.parts import MOTION, check_acting
from ..reporting.atomic_write import atomic_write
from ..reporting.formats import plural
from ..trace import is_zero
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
    acting: str | None = None,
) -> Model:
    """A model from a file; `model.import_report` says what became of each part of it.

    floating       the root of a URDF is free instead of fixed to the ground: six more degrees of freedom
    strict         refuse a file of which anything that may change the motion would be approximated or ignored
    package_paths  folders that contain the packages of `package://…`, before ROS_PACKAGE_PATH and the file's own; includes and
                   meshes may come from them and from the package of the file, from nowhere else (docs/mjcf.md)
    passive        False leaves damping, friction and stiffness out
    actuators      False leaves the actuators of an MJCF file out
    acting         of URDF and MJCF "motion", the bare equations: limits and friction of joints are stored, contacts left out; or
                   "all": they act (docs/mjcf.md; URDF knows no floor: `add_ground`). Where it is not given, "motion", and a
                   NotActingWarning says what does not act. A YAML file says it itself, `acting:`, unless it is given here
    """
    if acting is not None:
        check_acting(acting)
    path = model_path(path)
    floating, passive = truth(floating, "floating"), truth(passive, "passive")
    options = LoadOptions(floating, strict, package_paths, passive, truth(actuators, "actuators"), acting or MOTION)
    suffix = path.suffix.lower()
    if suffix in XML:
        root = read_xml(path)
        if suffix == ".urdf" or root.tag == "robot":
            from .urdf import load_urdf as load_root
        else:
            from .mjcf import load_mjcf as load_root
        model = load_root(path, options, root)
        model.acting = options.acting
        if acting is None and (line := not_acting(model)):
            warn(f"{path.name}: {line}", NotActingWarning)
        return model
    if suffix in YAML:
        from .native import load_native

        model = load_native(path, options)
        model.acting = model.acting if acting is None else acting
        return model
    if suffix == ".xacro":
        raise FormatError(f"{path}: xacro is a macro language, not a model; run it first: xacro {path.name} > {path.stem}")
    text = "; sharnir.loads reads a text" if ":" in path.name else ""
    raise FormatError(f"{path}: cannot tell the format from the suffix {suffix!r}; what can be read: {READABLE}{text}")


def not_acting(model: Model) -> str:
    """A line about what of a robot does not act; empty where all does."""
    if model.acting != MOTION:
        return ""
    types = [joint.type for joint in model.parts.joints]
    shapes = sum(visual.role in ("collision", "both") for visual in model.visuals)
    counts = [(sum(x.limits is not None for x in types), "limits of {}", "joint")]
    counts += [(sum(not is_zero(x.friction) for x in types), "friction of {}", "joint"), (shapes, "contacts of {}", "shape")]
    what = ", ".join(text.format(plural(n, noun)) for n, text, noun in counts if n)
    return what and (
        f'{what} do not act: load(…, acting="all") lets those of joints act, and contacts of MJCF; sharnir.add_ground adds a '
        'floor; acting="motion" says that this is meant'
    )


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
