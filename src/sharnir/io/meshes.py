"""Where a mesh is: only its existence is looked up, and only inside the model's own folders or the declared packages."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote


class MeshFinder:
    """Resolves `package://`, `file://` and relative names for one model file."""

    def __init__(self, model_file: Path, package_paths: Iterable[str | os.PathLike[str]] = ()) -> None:
        self.folder = model_file.resolve().parent
        self.ancestors = [self.folder, *self.folder.parents]
        own = next((a for a in self.ancestors if (a / "package.xml").is_file()), self.folder)
        declared = [package_paths] if isinstance(package_paths, (str, os.PathLike)) else list(package_paths)
        environment = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
        self.packages = [Path(p).resolve() for p in (*declared, *filter(None, environment))]
        self.allowed = [self.folder, own, *self.packages]

    def find(self, uri: str) -> tuple[Path | None, str]:
        """Where the file is, or None and why not."""
        scheme, separator, rest = uri.partition("://")
        try:
            if not separator:
                return self._inside(self.folder / uri, self.allowed)
            if scheme == "file":
                return self._inside(self.folder / unquote(rest), self.allowed)
            if scheme == "package":
                return self._in_package(*rest.partition("/")[::2])
        except (OSError, ValueError, RuntimeError) as error:  # a null character, a loop of symbolic links, a name too long
            return None, f"{uri!r} is no usable path ({error})"
        return None, f"{uri!r}: only package://, file:// and relative paths are looked up"

    def _in_package(self, package: str, rest: str) -> tuple[Path | None, str]:
        if package in ("", ".", ".."):
            return None, f"{package!r} is no name of a package"
        folders = [p if p.name == package else p / package for p in self.packages]
        for ancestor in self.ancestors:
            beside = ancestor / package
            if ancestor.name == package:
                folders.append(ancestor)
            elif (beside / "package.xml").is_file() or beside in self.ancestors:
                folders.append(beside)  # any other folder of that name is none of the model's business
        folders = [f for f in folders if f.is_dir()]
        if not folders:
            return None, f"package {package!r} is not found; give its parent folder in package_paths"
        found: tuple[Path | None, str] = (None, "")
        for folder in folders:
            found = self._inside(folder.resolve() / rest, [folder.resolve()])
            if found[0] is not None:
                break
        return found

    def _inside(self, path: Path, roots: Sequence[Path]) -> tuple[Path | None, str]:
        """Twice inside: as it is written, before anything is asked of the disk, and where symbolic links lead."""
        written = Path(os.path.normpath(path))
        if not any(written.is_relative_to(root) for root in roots) or not any(
            written.resolve().is_relative_to(root) for root in roots
        ):
            return None, "it leads out of the model's folder and is not touched; if that is meant, declare it in package_paths"
        return (written.resolve(), "") if written.is_file() else (None, "there is no such file")
