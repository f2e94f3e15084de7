"""Files that appear whole or not at all, and checks of their names beforehand."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import StateError, brief


def file_path(path: object, what: str = "path") -> Path:
    """A path as the caller gives it: text or a path object, without null characters and surrogates."""
    try:
        found = Path(path)  # type: ignore[arg-type]
        os.fsencode(found)
    except (TypeError, ValueError):
        raise StateError(f"{what}: expected the name of a file, got {brief(path)}") from None
    if "\0" in str(found):
        raise StateError(f"{what}: the name of a file has no null characters, got {brief(path)}")
    return found


def target_of(path: str | os.PathLike[str]) -> Path:
    """The regular file, there already or not, that a path stands for: a link is followed; devices, pipes, folders are refused."""
    path = file_path(path)
    try:
        target = Path(os.path.realpath(path))
        target.stat()
    except FileNotFoundError:
        return target  # it is not there yet
    except OSError as error:  # a name that is too long, a loop of links, a file in place of a folder
        raise StateError(f"cannot write {brief(str(path))}: {error.strerror}") from None
    if target.is_dir():
        raise StateError(f"cannot write {path}: it is a folder; give a file name")
    if target.exists() and not target.is_file():
        raise StateError(f"cannot write {path}: it is a device or a pipe, not a regular file")
    return target


def check_writable(path: str | os.PathLike[str], size: int = 0) -> Path:
    """Refuse, before a run, a path that cannot be written: folder, permission, room for `size` bytes."""
    target_of(path := file_path(path))
    folder = path.absolute().parent
    if not folder.is_dir():
        raise StateError(f"cannot write {path}: there is no folder {folder}; make it first")
    target = path if path.exists() else folder
    if not os.access(target, os.W_OK):
        raise StateError(f"cannot write {path}: no permission to write {target}")
    free = shutil.disk_usage(folder).free
    if free < size + 65536:
        raise StateError(f"cannot write {path}: the result needs about {size / 1e6:.1f} MB, {free / 1e6:.1f} MB are free there")
    return path


def check_suffix(path: str | os.PathLike[str], suffixes: Sequence[str], doing: str = "write") -> None:
    """Refuse, before anything is computed, a folder, and a file whose format its name does not say."""
    suffix = Path(path).suffix
    if Path(path).is_dir():
        raise StateError(f"cannot {doing} {path}: it is a folder; give a file name")
    if suffix.lower() not in suffixes:
        problem = f"unknown suffix {suffix!r}" if suffix else "no suffix"
        known = f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        raise StateError(f"cannot {doing} {path}: {problem}; end the name with {known}")


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A new file beside `path` to write to. It takes the place of `path` at the end of the block; after an error, an interruption
    or a kill, what was there before is still there."""
    target = target_of(path)
    part = target.with_name(f".{target.stem[:100]}-{secrets.token_hex(8)}{target.suffix}")
    try:
        part.touch(exist_ok=False)
        if target.exists():
            with suppress(OSError):
                shutil.copymode(target, part)
        yield part
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
