"""The machine: its memory, and the package versions that a measurement belongs to."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("numpy", "scipy", "llvmlite")


def machine(packages: tuple[str, ...] = PACKAGES) -> dict[str, str]:
    from . import __version__

    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "cores": str(os.cpu_count()),
        "system": platform.platform(),
        "python": platform.python_version(),
        "sharnir": __version__,
        **{name: found for name in packages if (found := installed(name))},
    }


def installed(name: str) -> str:
    """The version of a package, empty where it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def memory() -> int:
    """Bytes of main memory, 0 where that is not known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


def beyond_memory(numbers: float) -> str:
    """`640 GiB, of 32 GiB of memory` where that many floats exceed four fifths of it, else nothing."""
    have = memory()
    if not have or 8 * numbers <= 0.8 * have:
        return ""
    return f"{8 * numbers / 2**30:.3g} GiB, of {have / 2**30:.3g} GiB of memory"


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
