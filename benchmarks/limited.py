"""Measurements in a process of their own with a time limit: what was measured before the limit is kept, the rest is said."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from .harness import SETTINGS, process_environment
from .report import Measure

CHILD = """
from benchmarks import harness, limited, {module}
harness.SETTINGS.quick = {quick}
limited.print_items({call})
"""


def print_items(items: Iterable[Measure | str]) -> None:
    """One line for every measure and every note, as soon as it is known."""
    for item in items:
        print(json.dumps(item if isinstance(item, str) else asdict(item)), flush=True)


def limited(module: str, call: str, limit: float, cache: Path) -> Iterator[Measure | str]:
    """What a generator of a module yields, called as in "module.function(40)", until it ends or `limit` seconds have passed.

    A process of its own, because compiled code does not listen to signals. Where it is stopped or fails, a note is the last.
    """
    code = CHILD.format(module=module, call=call, quick=SETTINGS.quick)
    child = subprocess.Popen(
        [sys.executable, "-c", code], env=process_environment(cache), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        out, complaint = child.communicate(timeout=limit)
        end = f"{call} failed: {complaint.strip().splitlines()[-1]}" if child.returncode else None
    except subprocess.TimeoutExpired:
        child.kill()
        out, _ = child.communicate()
        end = f"{call}: stopped after {limit:g} s"
    except BaseException:
        child.kill()
        raise
    for line in out.splitlines():
        item = json.loads(line)
        yield item if isinstance(item, str) else Measure(**item)
    if end:
        yield end
