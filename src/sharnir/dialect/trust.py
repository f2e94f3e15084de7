"""Files and folders that only this user can have written: machine code is loaded from nothing else."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
import warnings
from functools import cache
from pathlib import Path

MAX_BYTES = 256 * 2**20
"""Larger files are not read: no compiled code comes near."""
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


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


@cache
def _private(folder: Path, fault: str) -> Path:
    """A folder for this process instead of another, removed at its end; the warning is given once."""
    private = Path(tempfile.mkdtemp(prefix="sharnir-"))
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    text = (
        f"sharnir: the cache folder {folder} {fault}; compiled code is cached in {private} for this process. "
        "Set SHARNIR_CACHE to a folder of your own that only you can write to (chmod go-w), or to 'off'"
    )
    warnings.warn(text, RuntimeWarning, stacklevel=4)
    return private


def home_less() -> Path:
    """A folder for users without a home: in the system's temporary folder, by number."""
    number = os.geteuid() if hasattr(os, "geteuid") else os.getlogin()
    return Path(tempfile.gettempdir()) / f"sharnir-{number}"


def _is_own(found: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & OTHERS_MAY_WRITE
