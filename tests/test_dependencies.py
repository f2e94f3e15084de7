"""What the package imports is what pyproject.toml declares: in the core, or in an extra that an error message names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MODULES = {
    "fast-simplification": "fast_simplification", "imageio-ffmpeg": "imageio_ffmpeg", "pillow": "PIL", "pycollada": "collada",
    "pyyaml": "yaml", "salib": "SALib", "scikit-sundae": "sksundae",
}  # fmt: skip
"""Packages whose module has another name."""


def modules(requirements: list[str]) -> set[str]:
    names = [re.split(r"[\[>=<; ]", requirement)[0].lower() for requirement in requirements]
    return {MODULES.get(name, name) for name in names}


@cache
def imported() -> dict[str, set[str]]:
    """{module from elsewhere: files that import it}."""
    out: dict[str, set[str]] = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names = [node.module]
            for name in {name.split(".")[0] for name in names} - set(sys.stdlib_module_names) - {"sharnir"}:
                out.setdefault(name, set()).add(path.name)
    return out


def test_every_import_is_declared_and_every_dependency_is_imported():
    core = modules(PROJECT["dependencies"])
    named = ("cluster", "control", "derive", "mjcf", "optimize", "sundials", "video")
    extras = modules([x for name in named for x in PROJECT["optional-dependencies"][name]])
    found = imported()
    assert set(found) <= core | extras
    assert core <= set(found)
    assert extras <= set(found)


def test_extras_are_imported_in_one_place_each():
    found = imported()
    assert found["mujoco"] == {"mjcf_compile.py"}
    assert found["sksundae"] == {"cvode.py"}
    assert found["control"] == {"linear_system.py"}
    assert found["optuna"] == {"searches.py"}
    assert found["SALib"] == {"sobol.py"}


def test_all_is_all():
    extras = PROJECT["optional-dependencies"]
    users = sorted(set(extras) - {"all", "test", "bench", "lint"})
    assert extras["all"] == [f"sharnir[{','.join(users)}]"]


@pytest.mark.parametrize(
    ("module", "line", "extra"),
    [
        ("mujoco", "sh.load('robot.xml')", "mjcf"),
        ("control", "sh.linearize(sh.samples.pendulum(), [-1.5707963267948966]).to_control()", "control"),
        ("sympy", "sh.derive(sh.samples.pendulum())", "derive"),
        ("optuna", "sh.optimize(sh.samples.pendulum(), 'final of A', {'v0.A': (0, 1)}, 'optuna')", "optimize"),
        ("SALib", "sh.sobol_indices(sh.samples.pendulum(), {'v0.A': (0, 1)})", "optimize"),
        ("sksundae", "sh.simulate(sh.samples.chain(1), 0.1, integrator='cvode-bdf')", "sundials"),
    ],
)
def test_without_an_extra_the_message_says_how_to_install_it(module, line, extra, tmp_path):
    (tmp_path / "robot.xml").write_text("<mujoco><worldbody/></mujoco>")
    code = (
        f"import sys\nsys.modules[{module!r}] = None\nimport sharnir as sh\n"
        f"try:\n    {line}\nexcept sh.SharnirError as e:\n    print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert f'pip install "sharnir[{extra}]"' in done.stdout, done.stdout + done.stderr
