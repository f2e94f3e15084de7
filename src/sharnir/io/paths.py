"""Files that a model file names: looked up only in its own package and in folders that the caller declared. Of meshes only the
existence is checked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np

from ..errors import FormatError, StateError, brief
from ..model.parts import ALL
from ..reporting.atomic_write import file_path
from ..types import FilePath
from .xml import Element

MARKS = ("package.xml", ".git", "pyproject.toml", "setup.py", "__init__.py")
"""Files that mark the root of a package."""
INNER = {"urdf", "mjcf", "xml", "robots"}
"""Folders for model files inside a package, where nothing else marks its root."""
Found = tuple[Path | None, str]
"""Where a file is; or None, and why it is not used."""
UNUSABLE = (OSError, ValueError, RuntimeError)
"""Exceptions that a path can raise: a null character, a loop of symbolic links, a name that is too long."""
_bound: ContextVar[Path | None] = ContextVar("bound", default=None)


@contextmanager
def kept_within(folder: Path) -> Iterator[None]:
    """In this thread, inside the block, files that models name are read inside this folder only, wherever their packages are."""
    token = _bound.set(folder.resolve())
    try:
        yield
    finally:
        _bound.reset(token)


def model_path(path: object) -> Path:
    """The path of a model file as the caller gives it."""
    try:
        return file_path(path)
    except StateError as error:
        raise FormatError(str(error)) from None


def declared_folders(package_paths: FilePath | Iterable[FilePath]) -> list[Path]:
    """`package_paths` as absolute folders; a single path counts as one folder."""
    paths = [package_paths] if isinstance(package_paths, (str, os.PathLike)) else package_paths
    if not np.iterable(paths):
        raise FormatError(f"package_paths: expected a folder or several, got {brief(paths)}")
    return [model_path(p).resolve() for p in paths]


def confined(path: Path, roots: Sequence[Path]) -> Path | None:
    """The absolute path if it is inside one of the folders, both as written and after symbolic links; else None. As written
    comes first: the file system is not touched for a path that leads outside."""
    written, bound = Path(os.path.normpath(path)), _bound.get()

    def inside(path: Path) -> bool:
        return any(path.is_relative_to(root) for root in roots) and (bound is None or path.is_relative_to(bound))

    if not inside(written):
        return None
    found = written.resolve()
    return found if inside(found) else None


def package_root(folder: Path) -> Path:
    """The package that a folder belongs to: files of one package may name each other by `../`.

    It is the nearest folder upwards with one of `MARKS` (the outermost of Python packages inside each other), else the nearest
    with a licence and a read-me, else the folder above one of `INNER`, else the folder itself; never the user's home folder or
    one above it.
    """
    home = Path(os.path.expanduser("~")).resolve()
    candidates = [f for f in (folder, *folder.parents) if f != f.parent and not home.is_relative_to(f)]

    def is_marked(folder: Path) -> bool:
        return any((folder / mark).exists() for mark in MARKS)

    def is_published(folder: Path) -> bool:
        return all(any(folder.glob(pattern)) for pattern in ("LICEN[CS]E*", "README*"))

    for belongs in (is_marked, is_published, lambda f: f == folder.parent and folder.name.lower() in INNER):
        root = next((f for f in candidates if belongs(f)), None)
        if root is not None:
            while root.parent in candidates and all((f / "__init__.py").is_file() for f in (root, root.parent)):
                root = root.parent
            return root
    return folder


NOT_ACTING = 'it acts with sharnir.load(…, acting="all")'
"""For reports: of what is stored only."""


class LoadOptions(NamedTuple):
    """The options of `sharnir.load`."""

    floating: bool
    strict: bool
    package_paths: FilePath | Iterable[FilePath]
    passive: bool
    actuators: bool
    acting: str
    """"all" or "motion": whether limits, friction and contacts of robots act."""

    @property
    def acts(self) -> bool:
        return self.acting == ALL


class Folders:
    """The folder of a model file, the package it belongs to, and folders declared besides."""

    def __init__(self, model_file: Path, package_paths: FilePath | Iterable[FilePath] = ()) -> None:
        try:
            self.folder = model_file.resolve().parent
            self.package = package_root(self.folder)
            self.declared = declared_folders(package_paths)
        except UNUSABLE as error:
            raise error if isinstance(error, FormatError) else FormatError(f"{model_file}: no usable path ({error})") from None
        self.roots = [self.folder, self.package, *self.declared]

    def find(self, name: str, places: Sequence[Path]) -> Found:
        """The first file of that name in the given places; or None, and why there is none."""
        outside = False
        for place in places:
            try:
                path = confined(place / name, self.roots)
                if path is not None and path.is_file():
                    return path, ""
            except UNUSABLE as error:
                return None, f"{name!r} is no usable path ({error})"
            outside = outside or path is None
        if outside:
            return None, (
                f"the file {name!r} leads out of the model's package {self.package} and is not read; "
                "if that is intended, declare its folder in package_paths"
            )
        return None, f"there is no file {name!r}"

    def first(self, element: Element, name: str, places: Sequence[Path]) -> Path:
        """A file that must be there."""
        path, why = self.find(name, places)
        if path is None:
            raise element.error(why)
        return path


class MeshFolders(Folders):
    """Where meshes of a URDF or of a native file are: `package://`, `file://` and relative names."""

    def __init__(self, model_file: Path, package_paths: FilePath | Iterable[FilePath] = ()) -> None:
        super().__init__(model_file, package_paths)
        environment = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
        self.declared += declared_folders(filter(None, environment))
        self.roots = [self.folder, self.package, *self.declared]

    def mesh(self, uri: str) -> Found:
        scheme, separator, rest = uri.partition("://")
        try:
            if not separator or scheme == "file":
                return _file(self.folder / (unquote(rest) if separator else uri), self.roots)
            if scheme == "package":
                return self._in_package(*rest.partition("/")[::2])
        except UNUSABLE as error:
            return None, f"{uri!r} is no usable path ({error})"
        return None, f"{uri!r}: only package://, file:// and relative paths are looked up"

    def _in_package(self, package: str, rest: str) -> Found:
        if package in ("", ".", ".."):
            return None, f"{package!r} is no name of a package"
        folders = [p if p.name == package else p / package for p in self.declared]
        ancestors = [self.folder, *self.folder.parents]
        for ancestor in ancestors:
            beside = ancestor / package
            if ancestor.name == package:
                folders.append(ancestor)
            elif (beside / "package.xml").is_file() or beside in ancestors:
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
