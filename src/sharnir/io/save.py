"""`Model.save`: a model to a file, by its suffix."""

from __future__ import annotations

from ..errors import FormatError, StateError
from ..model.model import Model
from ..reporting.atomic_write import atomic_write
from ..types import FilePath
from .load import YAML
from .paths import model_path

WRITABLE = ".urdf (URDF), .yaml or .yml (sharnir's own)"


def save(model: Model, path: FilePath) -> None:
    # each writer is imported where it is needed, as in load
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
