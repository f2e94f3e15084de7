"""The cache on disk: compiled code under a digest of all it depends on.

Safe against concurrent processes (files appear whole, by renaming) and against corrupt files (each carries its own
check sum and is made anew where it does not fit). Where the folder cannot be written, everything works without.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache as once
from pathlib import Path

_MAGIC = b"sharnir1"


def digest(*parts: str) -> str:
    h = hashlib.sha256()
    for part in parts:
        h.update(part.encode())
        h.update(b"\0")
    return h.hexdigest()


def default_folder() -> Path:
    """$SHARNIR_CACHE, or `sharnir` in the user's cache folder; or where `kept_in` says."""
    instead = _instead.get()
    if instead is not None:
        return instead
    return _folder(*(os.environ.get(name) for name in ("SHARNIR_CACHE", "XDG_CACHE_HOME", "HOME")))


@once
def _folder(named: str | None, cache: str | None, home: str | None) -> Path:
    if named:
        return Path(named)
    return (Path(cache) if cache else Path.home() / ".cache") / "sharnir"


_instead: ContextVar[Path | None] = ContextVar("sharnir_cache", default=None)


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Whatever is made within this block keeps its code in this folder, then and later: an empty one for a cold start."""
    token = _instead.set(folder)
    try:
        yield
    finally:
        _instead.reset(token)


class Cache:
    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()

    def load(self, kind: str, key: str) -> bytes | None:
        try:
            content = (self.folder / kind / key).read_bytes()
        except OSError:
            return None
        head, check, body = content[:8], content[8:40], content[40:]
        return body if head == _MAGIC and hashlib.sha256(body).digest() == check else None

    def save(self, kind: str, key: str, body: bytes) -> None:
        folder = self.folder / kind
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_MAGIC + hashlib.sha256(body).digest() + body)
                os.replace(name, folder / key)
            except OSError:
                os.unlink(name)
                raise
        except OSError as error:
            say_unwritable(self.folder, error)

    def clear(self) -> None:
        for kind in ("llvm", "choice"):
            shutil.rmtree(self.folder / kind, ignore_errors=True)


_said: set[Path] = set()


def say_unwritable(folder: Path, error: OSError) -> None:
    """Once for each folder."""
    if folder not in _said:
        _said.add(folder)
        text = f"sharnir: the cache folder {folder} cannot be written ({error.strerror}); compiled code is not kept"
        warnings.warn(text, RuntimeWarning, stacklevel=2)


def cache_clear() -> None:
    """Remove the compiled code that sharnir has kept on disk; it is made anew when needed. The calibration stays."""
    Cache().clear()
