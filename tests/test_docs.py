"""The documentation is true where a machine can tell: its code runs, its links, files, tests and commands exist."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from benchmarks.__main__ import FUZZ, NAMES

import sharnir as sh
from sharnir.cli.main import main
from sharnir.forms import FORMS

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.md")]
)
THEORY = ROOT / "docs" / "theory"
PACKAGES = [path.parent.name for path in (ROOT / "src" / "sharnir").glob("*/__init__.py")]
pytestmark = pytest.mark.xdist_group("integrators")


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


CODE = [page for page in PAGES if page.startswith(("README", "docs")) and "```python\n" in text_of(page)]


def test_the_pages_with_code_are_those_one_would_expect():
    assert {"README.md", "docs/simulation.md", "docs/compare.md", "docs/seeing.md", "docs/theory/loops.md"} <= set(CODE)


@pytest.mark.parametrize("page", CODE)
def test_code_blocks_run_one_after_the_other(page, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = text_of(page)
    space: dict[str, object] = {}
    for found in re.finditer(r"```python\n(.*?)```", text, flags=re.DOTALL):
        line = text[: found.start(1)].count("\n")
        exec(compile("\n" * line + found[1], str(ROOT / page), "exec"), space)
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", text_of(page)):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        there = (ROOT / page).parent / path if path else ROOT / page
        assert there.exists(), f"{page}: {target}"
        if anchor:
            titles = re.findall(r"(?m)^#+ (.*)$", there.read_text(encoding="utf-8"))
            assert anchor in [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles], f"{page}: {target}"


@pytest.mark.parametrize("page", PAGES)
def test_files_and_commands_that_are_named_exist(page):
    text = text_of(page)
    if page == "CHANGELOG.md":  # speaks of the past too
        return
    for name in re.findall(r"`((?:tests|benchmarks|examples|docs|src)/[\w/.]+\.\w+)`", text):
        assert (ROOT / name).exists(), f"{page}: {name}"
    for name in re.findall(rf"`((?:{'|'.join(PACKAGES)})/[\w/]+\.py)`", text):
        assert any((place / name).exists() for place in (ROOT / "src" / "sharnir", (ROOT / page).parent)), f"{page}: {name}"
    for parts in re.findall(r"python -m benchmarks((?: [a-z0-9]+)*)[`,; )]", text):
        assert set(parts.split()) <= {*NAMES, FUZZ}, f"{page}: python -m benchmarks{parts}"
    targets = re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"))
    for target in re.findall(r"`make ([a-z]+)`", text):
        assert target in targets, f"{page}: make {target}"


@pytest.mark.parametrize("page", [page for page in PAGES if page != "CHANGELOG.md"])
def test_commands_and_options_of_the_command_line_exist(page, capsys, monkeypatch):
    for command, rest in re.findall(r"(?:`|\$ |```\n)sharnir ([a-z]+)([^`\n]*)", text_of(page)):
        monkeypatch.setattr(sys, "argv", ["sharnir", command, "--help"])
        with pytest.raises(SystemExit) as end:
            main()
        shown = capsys.readouterr().out
        assert not end.value.code, f"{page}: sharnir {command}"
        for option in re.findall(r"(?<=\s)--?[a-z][a-z0-9-]*", rest):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", shown), f"{page}: sharnir {command} {option}"


@cache
def defined_tests() -> dict[str, set[str]]:
    out = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        out[path.name] = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return out


@pytest.mark.parametrize("page", PAGES)
def test_tests_that_are_named_exist(page):
    every = set().union(*defined_tests().values())
    for name, shortened in re.findall(r"`(?:tests/[\w/]+\.py::)?(test_\w+?)(_…|…)?(?:\[[^\]]*\])?`", text_of(page)):
        assert any(name == one or (shortened and one.startswith(name)) for one in every), f"{page}: {name}"


def test_every_equation_of_ours_has_one_number():
    """(J1) … (S…) stand at the right margin of one page each."""
    found: dict[str, list[str]] = {}
    for page in (p for p in PAGES if p.startswith("docs/theory")):
        for number in re.findall(r"(?m) {3,}\(([JDLPS]\d+)\)$", text_of(page)):
            found.setdefault(number, []).append(page)
    assert len(found) > 25
    assert {number: pages for number, pages in found.items() if len(pages) > 1} == {}


def test_names_of_the_glossary_exist():
    model = sh.samples.four_bar()
    x, d, forms = sh.matrices(model), sh.Dynamics(model), {node.name for node in sh.classify(model)}
    known = {*forms, *FORMS, *(method.name for method in sh.methods()), "ground"}
    rows = re.findall(r"(?m)^\|.*\|(.*)\|[^|]*\|$", (THEORY / "glossary.md").read_text(encoding="utf-8"))
    found = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert len(found) > 60
    for name in found:
        owner, _, rest = name.split("(")[0].partition(".")
        if name.startswith('"'):
            assert name.strip('"') in known, name
        elif rest:
            attrgetter(rest)({"sh": sh, "x": x, "d": d, "model": model}[owner])


def test_the_citation_has_the_version_of_the_package():
    assert f"\nversion: {sh.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


# --- numbers that stand in the text -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("change", "fewest", "most"), [(1e-7, 1, 1), (1e-5, 2, 2), (1e-3, 3, 3), (1e-1, 9, 12)])
def test_iterations_of_the_inverse_iterative_method(change, fewest, most):
    """The table in docs/theory/solving.md: random matrices of 17 rows, to a relative residual of 1e-10."""
    counts = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        root, other = rng.normal(size=(17, 17)), rng.normal(size=(17, 17))
        before, b = root @ root.T + 17.0 * np.eye(17), rng.normal(size=17)
        A = before + change * np.linalg.norm(before, 2) * (other + other.T) / np.linalg.norm(other + other.T, 2)
        H = np.linalg.inv(before)
        x, enough = H @ b, 1e-10 * np.linalg.norm(b)
        r, count = b - A @ x, 0
        s = H @ r
        while np.linalg.norm(r) > enough:
            x, count = x + s, count + 1
            next_r = b - A @ x
            y = H @ next_r
            d = y @ (r - next_r)
            s, H, r = (1.0 + y @ next_r / d) * y, H + np.outer(y, y) / d, next_r
        counts.append(count)
    assert (min(counts), max(counts)) == (fewest, most)


def test_ranges_of_equations_are_those_of_the_pages():
    ranges = re.findall(
        r"\*\*\(([A-Z]+)(\d+)\)(?:–|, )\([A-Z]+(\d+)\)\*\*(?: stand)? in\s+\[(\w+\.md)\]",
        (THEORY / "README.md").read_text(encoding="utf-8"),
    )
    pages = [page.name for page in THEORY.glob("*.md")]
    numbered = {page for page in pages if re.search(r"(?m) {3,}\([A-Z]+\d+\)$", text_of(f"docs/theory/{page}"))}
    assert {page for *_, page in ranges} == numbered
    for letter, first, last, page in ranges:
        text = (THEORY / page).read_text(encoding="utf-8")
        found = [int(k) for k in re.findall(rf" {{3,}}\({letter}(\d+)\)", text)]
        assert (min(found), max(found)) == (int(first), int(last)), page
