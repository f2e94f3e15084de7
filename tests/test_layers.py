"""The table of layers in ARCHITECTURE.md is true: a module imports only what stands above it, also inside functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sharnir"
TOP = "__init__"
"""The package itself: it names every layer, and none imports it but for the version."""


def layers() -> dict[str, int]:
    """The rank of every package and module beside them: those of one row of the table share it."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text[text.index("| | |") :].split("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return {name.strip("/").removesuffix(".py"): rank for rank, row in enumerate(rows) for name in re.findall("`([^`]+)`", row)}


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """(module within sharnir, line) of every import, wherever it stands."""
    package = ("sharnir", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            base += node.module.split(".") if node.module else []
            names = [".".join([*base, alias.name]) for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "sharnir":
                yield name.removeprefix("sharnir").removeprefix("."), node.lineno


def unit(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def test_the_picture_of_the_layers_shows_every_package_in_its_order():
    text, rank = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), layers()
    rows = text[text.index("## Layers") :].split("```")[1].splitlines()
    shown = [[name for name in re.findall(r"\w+", row[19:]) if name in rank] for row in rows]
    assert sorted(name for row in shown for name in row) == sorted(set(rank) - {"__main__"})
    for k, row in enumerate(shown):
        below = [rank[name] for other in shown[k + 1 :] for name in other]
        assert max((rank[name] for name in row), default=0) <= min(below, default=len(rank)), row


def test_every_package_has_its_layer():
    there = {unit(path) for path in PACKAGE.rglob("*.py")} - {TOP}
    assert there == set(layers())


@pytest.mark.parametrize("name", sorted(layers()))
def test_a_layer_imports_only_what_stands_above_it(name):
    rank = layers()
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if unit(path) != name:
            continue
        for module, line in imports(path):
            target = module.split(".")[0]
            if target in rank and rank[target] > rank[name]:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {module}")
            assert target in rank or target == "__version__", f"{path}:{line} imports sharnir itself"
    assert not wrong, wrong


@pytest.mark.parametrize("readme", sorted(PACKAGE.rglob("README.md")), ids=lambda path: str(path.parent.relative_to(PACKAGE)))
def test_a_readme_names_every_module_of_its_package(readme):
    text = readme.read_text(encoding="utf-8")
    folder = readme.parent
    there = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    there += [path.name + "/" for path in folder.iterdir() if (path / "__init__.py").exists()]
    missing = [name for name in there if f"`{name}" not in text and f"/{name}" not in text and f"({name}" not in text]
    assert not missing


def test_every_package_has_a_readme():
    packages = {path.parent for path in PACKAGE.rglob("__init__.py")} - {PACKAGE}
    small = {folder for folder in packages if len(list(folder.glob("*.py"))) < 6 or (folder.parent / "README.md").exists()}
    assert not [folder for folder in packages - small if not (folder / "README.md").exists()]
