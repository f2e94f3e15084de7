"""`import sharnir` is quick, and so is what follows: packages are imported where they are used."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import sharnir as sh
from urdf_files import arm, write

PUBLIC = vars(sh)["__all__"]

NUMERICAL = {"scipy", "numba", "mujoco", "pinocchio"}
FILES = {"xarray", "pandas", "h5py", "h5netcdf", "yaml"}
SHOWN = {"matplotlib", "plotly", "rich", "IPython"}
ANY = {*NUMERICAL, *FILES, *SHOWN, "typing_extensions", "asyncio", "ssl"}
"""Beyond NumPy and llvmlite a model needs none of them to be read and to move, once its code is in the cache."""


def run(code: str, *arguments: object) -> str:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def imported(code: str, *arguments: object) -> set[str]:
    """Top-level packages that are there when a program ends."""
    last = run(f"import sys\n{code}\nprint(); print(*sys.modules)", *arguments).splitlines()[-1]
    return {name.partition(".")[0] for name in last.split()}


@pytest.fixture
def file(tmp_path):
    return write(tmp_path, *arm())


def test_import_brings_few_modules_and_little_work():
    """Three modules of our own and no NumPy: milliseconds."""
    code = "from cProfile import Profile; import sys; p, n = Profile(), len(sys.modules); p.runcall(__import__, 'sharnir')"
    modules, calls = map(int, run(f"{code}; print(len(sys.modules) - n, sum(x.callcount for x in p.getstats()))").split())
    assert modules < 50 and calls < 20_000


def test_import_and_building_a_model_bring_no_heavy_package():
    loaded = imported("import sharnir; m = sharnir.samples.chain(3); m.freeze()")
    assert "sharnir" in loaded
    assert not loaded & {*ANY, "llvmlite"}


@pytest.mark.xdist_group("integrators")
def test_a_loaded_model_moves_without_any_other_package(file):
    code = "import sharnir; r = sharnir.simulate(sharnir.load(sys.argv[1]), 0.1); r.summary()"
    imported(code, file)  # compiled by now
    loaded = imported(code, file)
    assert {"numpy", "llvmlite"} <= loaded and not loaded & ANY


@pytest.mark.xdist_group("integrators")
def test_the_command_needs_no_more_and_files_what_they_are_made_of(file, tmp_path):
    code = "from sharnir.cli.main import main\ntry: main()\nexcept SystemExit as end: assert not end.code"
    arguments = (file, "--duration", "0.1", "-o")
    imported(code, "run", *arguments, tmp_path / "a.nc")
    assert not imported(code, "run", *arguments, tmp_path / "a.csv") & ANY
    assert not imported(code, "run", *arguments, tmp_path / "a.nc") & {*NUMERICAL, *SHOWN, "xarray", "pandas"}


def test_a_written_result_is_read_back_without_xarray(tmp_path):
    run("import sys, sharnir as sh; sh.simulate(sh.samples.pendulum(), 0.1, save=sys.argv[1])", tmp_path / "a.nc")
    assert not imported("import sharnir; sharnir.Result.load(sys.argv[1])", tmp_path / "a.nc") & {*SHOWN, "xarray", "pandas"}


def test_every_public_name_is_there_and_the_stub_lists_it():
    assert len(PUBLIC) > 90
    for name in PUBLIC:
        assert getattr(sh, name) is not None
    assert set(PUBLIC) <= set(dir(sh))
    assert {name for name in dir(sh) if not name.startswith("__")} == set(PUBLIC)
    with pytest.raises(AttributeError, match="module 'sharnir' has no attribute 'Robot'"):
        getattr(sh, "Robot")  # noqa: B009


def test_every_line_of_the_stub_is_understood():
    """A line that type checkers read and the loader does not would be a name without a home."""
    text = Path(sh.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith(("from", "import", " "))]
    assert len(lines) == len(PUBLIC)
    assert Path(sh.__file__).with_name("py.typed").is_file()


def test_an_old_public_name_still_works_and_says_the_new_one():
    with pytest.warns(FutureWarning, match=r"sharnir\.Loads is called sharnir\.Motion now"):
        assert sh.Loads is sh.Motion  # type: ignore[attr-defined]


def test_samples_show_nothing_but_samples():
    from sharnir.samples import four_bar

    assert four_bar is sh.samples.four_bar
    shown = dir(sh.samples)
    assert len(shown) == 30
    built = {name: getattr(sh.samples, name) for name in shown if not name.endswith("_start")}
    assert all(x.__module__.startswith("sharnir.samples.") and x.__doc__ for x in built.values())
    assert {"four_bar", "n_four_bar_start", "andrews_start", "tree"} <= set(shown)


def test_types_of_the_arguments_of_dynamics_resolve_and_none_is_any():
    """`help` and editors show what an argument may be."""
    questions = {name: f for name, f in inspect.getmembers(sh.Dynamics, inspect.isfunction) if not name.startswith("_")}
    assert len(questions) > 30
    for name, function in questions.items():
        types = typing.get_type_hints(function)
        assert set(types) == {*inspect.signature(function).parameters, "return"} - {"self"}, name
        assert typing.Any not in types.values(), name
