"""Where a mesh of a URDF is: only its existence is checked, and only inside the model's own folders or declared packages."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote

from ..types import FilePath
from .paths import UNUSABLE, Found, confined, declared_folders, package_root


class MeshFinder:
    """Resolves `package://`, `file://` and relative names for one model file."""

    def __init__(self, model_file: Path, package_paths: FilePath | Iterable[FilePath] = ()) -> None:
        self.folder = model_file.resolve().parent
        self.ancestors = [self.folder, *self.folder.parents]
        environment = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
        self.packages = [*declared_folders(package_paths), *declared_folders(filter(None, environment))]
        self.allowed = [self.folder, package_root(self.folder), *self.packages]

    def find(self, uri: str) -> Found:
        scheme, separator, rest = uri.partition("://")
        try:
            if not separator:
                return _file(self.folder / uri, self.allowed)
            if scheme == "file":
                return _file(self.folder / unquote(rest), self.allowed)
            if scheme == "package":
                return self._in_package(*rest.partition("/")[::2])
        except UNUSABLE as error:
            return None, f"{uri!r} is no usable path ({error})"
        return None, f"{uri!r}: only package://, file:// and relative paths are looked up"

    def _in_package(self, package: str, rest: str) -> Found:
        if package in ("", ".", ".."):
            return None, f"{package!r} is no name of a package"
        folders = [p if p.name == package else p / package for p in self.packages]
        for ancestor in self.ancestors:
            beside = ancestor / package
            if ancestor.name == package:
                folders.append(ancestor)
            elif (beside / "package.xml").is_file() or beside in self.ancestors:
                folders.append(beside)  # any other folder of that name does not belong to the model
        folders = [f.resolve() for f in folders if f.is_dir()]
        if not folders:
            return None, f"package {package!r} is not found; give its parent folder in package_paths"
        found = [_file(folder / rest, [folder]) for folder in folders]
        return next((x for x in found if x[0] is not None), found[-1])


def _file(path: Path, roots: Sequence[Path]) -> Found:
    inside = confined(path, roots)
    if inside is None:
        return None, "it leads out of the model's package and is not read; if that is intended, declare it in package_paths"
    return (inside, "") if inside.is_file() else (None, "there is no such file")
