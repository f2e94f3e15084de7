"""A child process of the fuzzer: cases one after another, a line of JSON about each before and after it."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import IO, Any

import sharnir

from .cases import case

PACKAGE = Path(sharnir.__file__).parent

ROOM = 8 * 2**30
"""Bytes of address space beyond what is in use at the start: a case that wants more fails alone, not the machine."""


def work(kind: str, seeds: range, out: IO[str]) -> None:
    warnings.simplefilter("ignore")  # the cases are full of numbers that overflow
    case(kind)  # imported before the first of them is timed
    for seed in seeds:
        _write(out, seed=seed)
        _write(out, seed=seed, **attempt(kind, seed))


def attempt(kind: str, seed: int) -> dict[str, str]:
    """How one case ended; `fault` is there where it should not have ended so."""
    try:
        end, what = case(kind)(seed)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # what a case raises is what it found
        return {"end": "fault", "fault": described(error), "trace": "".join(traceback.format_exception(error))}
    return {"end": end, "what": what}


def described(error: BaseException) -> str:
    """What was raised, and where in the library: cases that agree in that have one cause."""
    inside = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(PACKAGE)]
    where = f" at sharnir{os.sep}{Path(inside[-1].filename).relative_to(PACKAGE)}:{inside[-1].lineno}" if inside else ""
    text = str(error).partition("\n")[0].encode("ascii", "backslashreplace").decode()
    return f"{type(error).__name__}{where}: {text[:200]}"


def limit_memory() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):  # not on Windows
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _write(out: IO[str], **line: Any) -> None:
    out.write(json.dumps(line) + "\n")
    out.flush()


def main() -> None:
    kind, first, last, pipe = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    faulthandler.enable()
    limit_memory()
    with os.fdopen(pipe, "w", encoding="utf-8") as out:
        work(kind, range(first, last), out)


if __name__ == "__main__":
    main()
