"""`Model.save`: a model to a file, by its suffix."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ..errors import FormatError
from ..model.model import Model

WRITABLE = ".urdf (URDF), .yaml or .yml (sharnir's own)"


def save(model: Model, path: str | PathLike[str]) -> None:
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".urdf":
        from .urdf_write import urdf_text

        text = urdf_text(model, path.parent)
    elif suffix in (".yaml", ".yml"):
        from .native import dumps

        text = dumps(model)
    else:
        raise FormatError(f"{path}: cannot tell the format from the suffix {suffix!r}; what can be written: {WRITABLE}")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FormatError(f"{path}: cannot be written ({error.strerror})") from None
