"""The folder of a studio: what is in it to be opened, and what is put into it. Nothing outside is read or written."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ...errors import FormatError, SharnirError, StateError, brief
from ...io.load import XML, YAML
from ...io.paths import UNUSABLE, confined, kept_within
from ...model.model import Model
from ...reporting.atomic_write import atomic_write, file_path
from ...simulation.results.result import Result
from ...types import FilePath
from ..live.view import RESULT, from_file

MODELS, RESULTS = (*XML, *YAML), (RESULT,)
MOST_FILES, DEEPEST, MOST_FOLDERS = 500, 4, 2000
"""Files that are listed, folders below the studio's that are searched for them, and how many of those."""
LARGEST_UPLOAD = 100_000_000
"""Bytes."""
SKIPPED = {"node_modules", "__pycache__", "site-packages", "venv"}


class Listing(NamedTuple):
    """Names relative to the folder, models before results; and whether there are more."""

    models: tuple[str, ...]
    results: tuple[str, ...]
    more: bool = False


@dataclass(frozen=True)
class Opened:
    """A file that was read: a model, and the motion where the file has one."""

    name: str
    model: Model
    result: Result | None = None
    notes: tuple[str, ...] = ()
    """Remarks on files outside the folder, which are not read."""


def check_suffix(path: Path) -> None:
    if path.suffix.lower() not in (*MODELS, *RESULTS):
        those = ", ".join((*MODELS, *RESULTS))
        raise FormatError(f"{path.name}: the suffix {path.suffix!r} is none of a model or a result; those are {those}")


class Folder:
    def __init__(self, path: FilePath = ".") -> None:
        given = file_path(path, "folder")
        try:
            self.path = given.resolve(strict=True)
        except UNUSABLE:
            raise StateError(f"folder: there is no folder {brief(str(given))}") from None
        if not self.path.is_dir():
            raise StateError(f"folder: {given} is a file; give the folder it is in")

    # --- reading -----------------------------------------------------------------------------------------------------------
    def listing(self) -> Listing:
        models, results, folders = list[str](), list[str](), 0
        for place, inner, files in os.walk(self.path):  # links to folders are not followed
            folders += 1
            here = Path(place).relative_to(self.path)
            shallow = len(here.parts) < DEEPEST and folders < MOST_FOLDERS
            inner[:] = sorted(n for n in inner if shallow and not n.startswith(".") and n not in SKIPPED)
            for file in sorted(files):
                kind = {**dict.fromkeys(MODELS, models), **dict.fromkeys(RESULTS, results)}.get(Path(file).suffix.lower())
                if kind is None or file.startswith(".") or not self._is_inside(here / file):
                    continue
                if len(models) + len(results) >= MOST_FILES:
                    return Listing(tuple(models), tuple(results), more=True)
                kind.append((here / file).as_posix())
        return Listing(tuple(models), tuple(results), more=folders >= MOST_FOLDERS)

    def _is_inside(self, name: Path) -> bool:
        try:
            return confined(self.path / name, [self.path]) is not None
        except UNUSABLE:
            return False

    def inside(self, name: FilePath) -> Path:
        """The path of a file by its name in the folder; a name that leads out of it is refused, also by a symbolic link."""
        try:
            found = confined(self.path / file_path(name), [self.path])
        except UNUSABLE as error:
            raise StateError(f"{brief(str(name))} is no usable name of a file ({error})") from None
        if found is None:
            outside = f"{brief(str(name))} is outside the studio's folder {self.path} and is not read"
            raise StateError(f"{outside}; start the studio in a folder that holds it: --folder")
        return found

    def open(self, name: FilePath) -> Opened:
        """A model, or a result with its model."""
        path = self.inside(name)
        shown = path.relative_to(self.path).as_posix()
        if not os.path.isfile(path):
            raise StateError(f"there is no file {brief(shown)} in {self.path}")
        with kept_within(self.path):
            check_suffix(path)
            found = from_file(path)
            model, result = (found.model, found) if isinstance(found, Result) else (found, None)
            return Opened(shown, model, result, self._without_outer_meshes(model))

    def _without_outer_meshes(self, model: Model) -> tuple[str, ...]:
        """Remove visuals' paths that lead out of the folder; a note on each."""
        notes = []
        for k, visual in enumerate(model.visuals):
            if visual.path is not None and not self._is_inside(visual.path):
                model.visuals[k] = replace(visual, path=None)
                mesh = f"{visual.body}: its mesh {visual.uri or visual.path}"
                notes.append(f"{mesh} is outside the studio's folder and is not read")
        return tuple(notes)

    # --- writing -----------------------------------------------------------------------------------------------------------
    def put(self, name: str, content: bytes) -> str:
        """An uploaded file, under its own name or, where that is taken, the next one: its name in the folder."""
        own = Path(name.replace("\\", "/")).name
        if not own or own.startswith(".") or Path(own).suffix.lower() not in (*MODELS, *RESULTS) or not own.isprintable():
            raise StateError(f"{brief(name)} is no model and no result; their names end with {', '.join((*MODELS, *RESULTS))}")
        if len(content) > LARGEST_UPLOAD:
            raise StateError(f"{own}: {len(content) / 1e6:.0f} MB are too much for an upload; copy it into {self.path}")
        path = self.free(own)
        try:
            with atomic_write(path) as part:
                part.write_bytes(content)
        except OSError as error:
            raise StateError(f"cannot write {path.name} into {self.path}: {error.strerror}") from None
        return path.relative_to(self.path).as_posix()

    def free(self, name: str) -> Path:
        """A path in the folder that nothing has yet: run.nc, run-2.nc …"""
        stem, suffix = Path(name).stem, Path(name).suffix
        for k in range(1, 10_000):
            path = self.path / (name if k == 1 else f"{stem}-{k}{suffix}")
            with suppress(OSError):
                if not os.path.lexists(path):
                    return path
        raise StateError(f"{self.path} has too many files named {stem}-…{suffix}; move some away")


def words(error: BaseException) -> str:
    """An error as the page shows it."""
    if isinstance(error, (SharnirError, OSError)):
        return str(error)
    if isinstance(error, MemoryError):
        return "the memory does not suffice; ask for less: a shorter run, or a longer interval between rows"
    return f"this should not have happened, please report it: {type(error).__name__}: {error}"
