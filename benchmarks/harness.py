"""What all benchmarks share: the settings of the command, races, fresh processes, robot files, where results go."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sharnir.reporting import timing

DOCS = Path("docs/results")
ROOT = Path(__file__).parents[1]


@dataclass
class Settings:
    """Of the command line; see `__main__.py`."""

    quick: bool = False
    out: Path | None = None


SETTINGS = Settings()


def results() -> Path:
    """The folder that result pages are written to."""
    folder = SETTINGS.out or DOCS
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def race(calls: Mapping[str, Callable[[], Any]], rounds: int = 12, sample: float = 0.02) -> dict[str, float]:
    """Least seconds per call of each, sampled in turn; fewer rounds with --quick."""
    return timing.race(calls, rounds=max(3, rounds // 3) if SETTINGS.quick else rounds, sample=sample)


def fresh_process(
    arguments: list[str], cache: Path, bytecode: Path | None = None, folder: Path | None = None
) -> tuple[float, str]:
    """Seconds of a new Python process with this code cache, and what it printed.

    Modules are compiled to bytecode once (in `bytecode`, where given), as those of an installed package are.
    """
    environment = process_environment(cache)
    if bytecode is not None:
        environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    begun = perf_counter()
    done = subprocess.run([sys.executable, *arguments], env=environment, cwd=folder, capture_output=True, text=True, check=False)
    spent = perf_counter() - begun
    if done.returncode:
        raise RuntimeError(f"python {' '.join(arguments)} failed:\n{done.stderr}")
    return spent, done.stdout


def process_environment(cache: Path) -> dict[str, str]:
    """Of a new Python process that imports these benchmarks and keeps its compiled code in `cache`."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "SHARNIR_CACHE": str(cache), "PYTHONPATH": os.pathsep.join(paths)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def relative_error(found: ArrayLike, expected: ArrayLike) -> float:
    """The largest difference, relative to the largest number expected."""
    x, y = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    return float(np.abs(x - y).max() / (np.abs(y).max() or 1.0)) if y.size else 0.0


def check_same(what: str, ours: ArrayLike, theirs: ArrayLike, tolerance: float = 1e-9) -> None:
    """Before anything is timed: both solve the same problem."""
    error = relative_error(ours, theirs)
    if not error < tolerance:
        raise AssertionError(f"{what}: we differ from the peer by {error:.1e} of the largest entry")


def robot_files(ending: str = ".urdf") -> list[Path]:
    """Files of example-robot-data whose path ends so."""
    return sorted(Path(str(f.locate())) for f in files("example-robot-data") or [] if str(f).endswith(ending))
