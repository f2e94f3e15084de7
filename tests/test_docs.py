"""The code in the documentation runs, and what it asserts is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
pytestmark = pytest.mark.xdist_group("integrators")


@pytest.mark.parametrize("page", ["simulation.md", "compare.md"])
def test_code_blocks_run_one_after_the_other(page, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text(encoding="utf-8")
    space: dict[str, object] = {}
    for found in re.finditer(r"```python\n(.*?)```", text, flags=re.DOTALL):
        line = text[: found.start(1)].count("\n")
        exec(compile("\n" * line + found[1], str(DOCS / page), "exec"), space)
    assert capsys.readouterr().out
