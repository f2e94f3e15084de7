"""sharnir: dynamics of multibody systems, every formulation of the equations of motion behind one model."""

import re
from importlib import import_module
from pkgutil import get_data

from .model.services import provide

__version__ = "0.2.0.dev0"

provide(
    {
        "animate": ("sharnir.viewer.page.animate", "animate"),
        "animate mode": ("sharnir.viewer.page.animate", "animate_mode"),
        "animate model": ("sharnir.viewer.page.animate", "animate_model"),
        "assemble": ("sharnir.equations.assembly.start", "assemble"),
        "difference": ("sharnir.equations.motion.retraction", "difference"),
        "draw": ("sharnir.viewer.picture.files", "draw"),
        "integrate": ("sharnir.equations.motion.retraction", "integrate"),
        "mobility": ("sharnir.equations.assembly.mobility", "mobility"),
        "mode video": ("sharnir.viewer.picture.files", "mode_video"),
        "save": ("sharnir.io.load", "save"),
        "snapshot": ("sharnir.viewer.picture.files", "snapshot"),
        "video": ("sharnir.viewer.picture.files", "video"),
    }
)

_STUB = get_data(__name__, "__init__.pyi").decode()
_HOMES = {name: home for home, name in re.findall(r"^from (\S+) import (\w+) as \2$", _STUB, re.MULTILINE)}
"""Every public name and the module it is in. The stub is the only list of them; a name is imported when it is first used, so
that `import sharnir` and the command line start quickly."""

_RENAMED = {"Loads": "Motion"}
"""Public names of version 0.1 and what they are called now. They go with version 0.3."""

__all__ = sorted(_HOMES)


def __getattr__(name):
    if name in _RENAMED:
        errors = import_module(".errors", __name__)
        errors.warn(f"sharnir.{name} is called sharnir.{_RENAMED[name]} now", errors.RenamedWarning)
        name = _RENAMED[name]
    elif name not in _HOMES:
        hint = "" if name.startswith("_") else import_module(".errors", __name__).suggestion(name, __all__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{'; ' if hint else ''}{hint.rstrip()}")
    home = _HOMES[name]
    found = import_module(f".{name}", __name__) if home == "." else getattr(import_module(home, __name__), name)
    globals()[name] = found  # from now on an ordinary attribute
    return found


def __dir__():
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
