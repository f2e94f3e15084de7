"""Words of docstrings, and names of modules: part of `make lint`.

The first line of a docstring says what the thing is or does, its subject included: it does not begin with "Of" or "What". A
module has a name of its own within its package: `base.py` in two folders says nothing of either.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SUBJECTLESS = ("Of ", "What ", "Whether anybody ")
SHARED = {"__init__"}
"""Names of modules that every package may have."""


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of every docstring, those of fields and constants included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def complaints(package: Path) -> Iterator[str]:
    homes = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        for line, text in docstrings(path):
            if text.startswith(SUBJECTLESS):
                yield f"{path}:{line}: {text.splitlines()[0]!r}: name the subject"
        if path.stem not in SHARED:
            homes[path.relative_to(package).parts[0], path.stem].append(path)
    for (_, name), paths in homes.items():
        if len(paths) > 1:
            yield f"module {name!r} stands {len(paths)} times in one package: {', '.join(map(str, paths))}"


if __name__ == "__main__":
    found = [text for folder in sys.argv[1:] for text in complaints(Path(folder))]
    print("\n".join(found) or "every docstring has a subject")
    sys.exit(1 if found else 0)
