"""`import sharnir` is quick: heavy packages are imported where they are used."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("scipy", "loops", "llvmlite", "matplotlib", "pinocchio", "xarray", "plotly", "typer", "yaml", "pydantic")


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_import_takes_less_than_three_tenths_of_a_second():
    """Processor time: the clock's on an idle machine, and not disturbed by the tests that run beside this one."""
    code = "from time import process_time as now; a = now(); import sharnir; print(now() - a)"
    assert min(float(run(code)) for _ in range(5)) < 0.3


def test_import_and_building_a_model_bring_no_heavy_package():
    code = "import sys, sharnir; m = sharnir.samples.chain(3); m.freeze(); print(*sys.modules)"
    loaded = {name.partition(".")[0] for name in run(code).split()}
    assert "sharnir" in loaded
    assert not loaded & set(HEAVY)


def test_every_public_name_is_there():
    import sharnir as sh

    for name in sh.__all__:
        assert getattr(sh, name) is not None
    with pytest.raises(AttributeError, match="module 'sharnir' has no attribute 'Robot'"):
        sh.Robot  # noqa: B018
