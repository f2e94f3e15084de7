"""Files that pages are written to: checked before anything is computed."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ...reporting.atomic_write import check_suffix, check_writable, file_path

SUFFIXES = (".html", ".htm")
MOTION = 1_700_000
"""Characters of a page for its motion: three.js, plots and bodies without meshes fit beside it into 3 MB."""


def check_page_file(path: str | PathLike[str]) -> Path:
    """Refuse a file that could not be written."""
    check_suffix(file_path(path), SUFFIXES)
    return check_writable(path, 2 * MOTION)
