"""Files to damage: those of the tests, whose folder holds one of every element; and the robots, where they are installed."""

from __future__ import annotations

import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import sharnir as sh

from ..harness import ROOT, robot_files
from .valid import MODELS, result


def of_tests(module: str) -> Any:
    folders = (str(ROOT / "tests"), str(ROOT / "tests" / "models"))
    sys.path += [folder for folder in folders if folder not in sys.path]
    return import_module(module)


@cache
def urdf_texts() -> list[str]:
    robots = [text for path in robot_files() if len(text := path.read_text(encoding="utf-8", errors="replace")) < 40_000]
    own: str = of_tests("urdf_files").SEED_FILE
    return [own, own, own, *robots[:6]]


@cache
def mjcf_texts() -> list[str]:
    own: list[str] = of_tests("mjcf_models").SEED_FILES
    return own


@cache
def native_texts() -> list[str]:
    """Models of this folder, a tree of all joints, flexible bodies, and the example of the documents."""
    page = (ROOT / "docs" / "native_format.md").read_text(encoding="utf-8")
    example = page.partition("```yaml\n")[2].partition("```")[0]
    made = [sh.dumps(make()) for make in MODELS.values()]
    flexible = of_tests("native_flexible_models")
    bent = [sh.dumps(flexible.arm(flexible.FLEXIBLE[name])) for name in ("beam of families", "modal of one mode")]
    return [example, *made, *bent, sh.dumps(sh.samples.all_joints(0))]


@cache
def result_bytes() -> bytes:
    with tempfile.TemporaryDirectory(prefix="sharnir-fuzz-") as folder:
        path = Path(folder) / "seed.nc"
        result().save(path)
        return path.read_bytes()
