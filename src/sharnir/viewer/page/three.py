"""three.js, which draws the page: cut out of the viewer that the package trimesh brings along."""

from __future__ import annotations

import zipfile
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from ...errors import SharnirError

KNOWN = "4.10 to 5.2"
"""Versions of trimesh whose viewer has been seen to hold it in this form."""
WHERE = ("resources/templates/viewer.zip", "viewer.html.template")
BEGIN, END = "/**\n * @license\n * Copyright 2010-", 'Object.defineProperty(t,"__esModule",{value:!0})}));'
"""The first and the last words of the bundle, which defines the global THREE and nothing else."""
NEEDED = (".THREE={})", "t.REVISION=", "t.InstancedMesh=", "t.WebGLRenderer=", "t.ShadowMaterial=", "t.MeshStandardMaterial=")


@cache
def three_js() -> str:
    """The text of a script that defines `THREE`, its licence included."""
    return cut(_viewer())


def cut(viewer: str) -> str:
    """The part of trimesh's viewer that is three.js."""
    begin = viewer.find(BEGIN)
    end = viewer.find(END, begin)
    found = viewer[begin : end + len(END)] if 0 <= begin < end else ""
    if not all(word in found for word in NEEDED) or "</script" in found.lower():
        raise _unusable("its viewer does not hold three.js in the form that is known here")
    return found


def _viewer() -> str:
    spec = find_spec("trimesh")
    if spec is None or not spec.submodule_search_locations:
        raise SharnirError("pages draw with three.js, which the package trimesh brings along; install it: pip install trimesh")
    folder = Path(next(iter(spec.submodule_search_locations)))
    try:
        with zipfile.ZipFile(folder / WHERE[0]) as archive:
            return archive.read(WHERE[1]).decode("utf-8")
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise _unusable(f"its {WHERE[0]} cannot be read ({error})") from None


def _unusable(why: str) -> SharnirError:
    try:
        installed = version("trimesh")
    except PackageNotFoundError:
        installed = "of unknown version"
    return SharnirError(
        f"pages draw with three.js from the package trimesh, and the one installed ({installed}) does not serve: {why}; "
        f"install one of the versions {KNOWN}: pip install 'trimesh>=4.10,<=5.2'"
    )
