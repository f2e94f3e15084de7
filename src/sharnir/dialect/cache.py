"""The cache on disk: compiled code under a digest of everything it depends on.

Safe for concurrent processes (files appear whole, by renaming; one that another process removed is compiled again), against
corrupt files (each carries its own checksum) and against other users (machine code is loaded from nothing that somebody else
can have written). Bounded in size: what was used least recently is removed first. Where the folder cannot be written, everything
works without it.
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache as once
from pathlib import Path

from ..errors import CacheWarning, SharnirError, warn

LIMIT_MB = 1000
"""Largest size of the cache in megabytes, unless $SHARNIR_CACHE_MB is set."""
SHARE_KEPT = 0.75
"""Share of the limit that remains after a removal: the next one should not follow at once."""
SHARE_UNCHECKED = 1 / 16
"""Share of the limit that a process may write before it measures the folder again."""
DERIVED = ("llvm", "choice")
"""The subfolders whose content can be made again: they are bounded and cleared. The calibration is in another one."""
NOWHERE = Path(os.devnull)
"""The folder of a cache that is off: nothing is read or written."""
MAX_BYTES = 256 * 2**20
"""Larger files are not read: no compiled code comes near."""
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OFF = ("off", "0", "/dev/null", os.devnull)
_MAGIC = b"sharnir2"
_UNFINISHED = ".sharnir-"
"""How the name of a file begins while it is written."""


def digest(*parts: str) -> str:
    h = hashlib.sha256()
    for part in parts:
        h.update(part.encode())
        h.update(b"\0")
    return h.hexdigest()


def default_folder() -> Path:
    """$SHARNIR_CACHE (`off`: `NOWHERE`), else `sharnir` in $XDG_CACHE_HOME or the cache folder of the platform; within
    `cached_in`, its folder."""
    instead = _instead.get()
    if instead is not None:
        return instead
    return _folder(*(os.environ.get(name) for name in ("SHARNIR_CACHE", "XDG_CACHE_HOME", "HOME")))


@once
def _folder(named: str | None, cache: str | None, home: str | None) -> Path:
    if named:
        return NOWHERE if named.lower() in _OFF else Path(named)
    if cache:
        return Path(cache) / "sharnir"
    from platformdirs import user_cache_path

    try:
        found = user_cache_path("sharnir", appauthor=False)
    except RuntimeError:  # there is no home; earlier versions of platformdirs returned "~/.cache"
        return home_less()
    return found if found.is_absolute() else home_less()


def limit() -> int:
    """Bytes of compiled code that may stay on disk; 0: nothing is written."""
    text = os.environ.get("SHARNIR_CACHE_MB") or str(LIMIT_MB)
    try:
        megabytes = float(text)
    except ValueError:
        megabytes = -1.0
    if not 0.0 <= megabytes < float("inf"):
        raise SharnirError(f"SHARNIR_CACHE_MB must be a number of megabytes, 0 or more, got {text!r}")
    return int(megabytes * 1e6)


_instead: ContextVar[Path | None] = ContextVar("sharnir_cache", default=None)


@contextmanager
def cached_in(folder: Path) -> Iterator[None]:
    """Whatever is created within this block uses this folder as its cache, also later: an empty one for a cold start."""
    token = _instead.set(folder)
    try:
        yield
    finally:
        _instead.reset(token)


class Cache:
    """Files `kind/key` in a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or default_folder()
        self.folder = folder if folder == NOWHERE else own_folder(folder)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cache) and self.folder == other.folder

    def __hash__(self) -> int:
        return hash(self.folder)

    def load(self, kind: str, key: str) -> bytes | None:
        path = self.folder / kind / key
        content = None if self._why_not(kind) else read_own(path)
        if content is None:
            return None
        head, check, body = content[:8], content[8:40], content[40:]
        if head != _MAGIC or _checksum(kind, key, body) != check:
            return None
        with suppress(OSError):  # a folder that can only be read serves as well
            os.utime(path)  # file systems seldom record access times: the time of change is that of the last use
        return body

    def save(self, kind: str, key: str, body: bytes) -> None:
        folder, allowed = self.folder / kind, limit()
        if self.folder == NOWHERE or (kind in DERIVED and not allowed):
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            if fault := self._why_not(kind):
                raise OSError(errno.EPERM, fault)
            handle, name = tempfile.mkstemp(prefix=_UNFINISHED, dir=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_MAGIC + _checksum(kind, key, body) + body)
                os.replace(name, folder / key)
            except OSError:
                os.unlink(name)
                raise
        except OSError as error:
            warn_unwritable(self.folder, error)
            return
        if kind in DERIVED:
            self._bound(len(body), allowed)

    def _why_not(self, kind: str) -> str:
        """Asked at every use: where there was no folder before, another user may have made one since."""
        return why_not(self.folder) or why_not(self.folder / kind)

    def _bound(self, written: int, allowed: int) -> None:
        """Measure the folder at the first write of a process and then now and again; make room where it is over the limit."""
        unchecked = _unchecked.get(self.folder, float("inf")) + written
        if unchecked > SHARE_UNCHECKED * allowed:
            self.shrink(allowed)
            unchecked = 0
        _unchecked[self.folder] = unchecked

    def shrink(self, allowed: int) -> None:
        """Remove what was used least recently, if all of it together is larger than allowed. The newest file stays."""
        files = sorted(self._files())
        total = sum(size for _, size, _ in files)
        if total <= allowed:
            return
        for _, size, path in files[:-1]:
            _remove(path)
            total -= size
            if total <= SHARE_KEPT * allowed:
                return

    def _files(self) -> Iterator[tuple[int, int, str]]:
        """(time of last use, bytes, path) of every file, those of interrupted writes included."""
        for kind in DERIVED:
            with suppress(OSError), os.scandir(self.folder / kind) as entries:
                for entry in entries:
                    with suppress(OSError):
                        if entry.is_file(follow_symlinks=False):
                            found = entry.stat(follow_symlinks=False)
                            yield found.st_mtime_ns, found.st_size, entry.path

    def clear(self) -> None:
        for _, _, path in self._files():
            _remove(path)


def _remove(path: str) -> None:
    """Remove a file, if a cache wrote it: a folder named by the user may hold others."""
    with suppress(OSError):  # another process was faster
        with open(path, "rb") as file:
            written_here = file.read(len(_MAGIC)) == _MAGIC
        if written_here or os.path.basename(path).startswith(_UNFINISHED):
            os.unlink(path)


def _checksum(kind: str, key: str, body: bytes) -> bytes:
    """Checksum of name and content: code under the name of other code is not run."""
    h = hashlib.sha256(f"{kind}/{key}\0".encode())
    h.update(body)
    return h.digest()


_unchecked: dict[Path, float] = {}
"""Bytes that this process has written to a folder since it was last measured."""
_warned: set[Path] = set()


def warn_unwritable(folder: Path, error: OSError) -> None:
    """A warning, once per folder."""
    if folder not in _warned:
        _warned.add(folder)
        text = (
            f"sharnir: the cache folder {folder} cannot be written ({error.strerror}); compiled code is not cached. "
            "Set SHARNIR_CACHE to a folder you can write to"
        )
        warn(text, CacheWarning)


def cache_clear() -> None:
    """Remove the compiled code that sharnir has cached on disk; it is compiled again when needed. The calibration stays."""
    Cache().clear()


# --- files and folders that only this user can have written ------------------------------------------------------------------
def read_own(path: Path) -> bytes | None:
    """The content of a regular file of this user's that nobody else can write; None for anything else."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)  # a link is not followed, a pipe does not block
    except OSError:
        return None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or not _is_own(found) or found.st_size > MAX_BYTES:
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(found.st_size)
    except OSError:
        return None
    finally:
        os.close(handle)


def own_folder(folder: Path) -> Path:
    """The folder, if it is this user's and closed to others or does not exist yet; else a private one, with a warning."""
    fault = why_not(folder)
    return _private(folder, fault) if fault else folder


def why_not(folder: Path) -> str:
    """Why files in a folder are not to be trusted, if they are not. What stands there may be anything: nothing is changed."""
    try:
        found = os.stat(folder)
    except OSError:
        return ""  # writing to it will create it, or warn
    if not stat.S_ISDIR(found.st_mode):
        return "is not a folder"
    if not hasattr(os, "geteuid"):
        return ""
    if found.st_uid != os.geteuid():
        return "belongs to another user"
    return "can be written by others" if found.st_mode & OTHERS_MAY_WRITE else ""


@once
def _private(folder: Path, fault: str) -> Path:
    """A folder for this process instead of another, removed at its end; the warning is given once."""
    private = Path(tempfile.mkdtemp(prefix="sharnir-"))
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    text = (
        f"sharnir: the cache folder {folder} {fault}; compiled code is cached in {private} for this process. "
        "Set SHARNIR_CACHE to a folder of your own that only you can write to (chmod go-w), or to 'off'"
    )
    warn(text, CacheWarning)
    return private


def home_less() -> Path:
    """A folder for users without a home: in the system's temporary folder, by number."""
    number = os.geteuid() if hasattr(os, "geteuid") else os.getlogin()
    return Path(tempfile.gettempdir()) / f"sharnir-{number}"


def _is_own(found: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & OTHERS_MAY_WRITE
