"""Compiled code is kept under a digest of all it depends on, and nothing on disk can make a result wrong."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import platformdirs
import pytest

import sharnir as sh
from runs import batch, recorded, run
from sharnir.backends.graph_function import LLVMRunner
from sharnir.backends.llvm.emit import emit
from sharnir.backends.loops import LoopRunner
from sharnir.dialect import cache, jit, native
from sharnir.dialect.cache import Cache, digest
from sharnir.dialect.compiler import compile_module
from sharnir.dialect.source import texts, translators
from sharnir.programs import PROGRAMS
from sharnir.trace import Graph

MODEL = sh.samples.chain(3)
PROGRAM = PROGRAMS["forward/separate"]
VALUES = batch(MODEL, 9)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache for this test alone."""
    monkeypatch.setenv("SHARNIR_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


@pytest.fixture
def compiled(monkeypatch):
    """The texts that were compiled, one after another."""
    texts, really = [], jit.object_code

    def object_code(text, vectorize=False, quick=False):
        texts.append(text)
        return really(text)

    monkeypatch.setattr(jit, "object_code", object_code)
    return texts


def answer(model=MODEL):
    """Forward dynamics of one state and of a batch by a runner that starts from nothing but the disk."""
    runner = LLVMRunner(PROGRAM, model.freeze())
    values = VALUES if model is MODEL else batch(model, 9)
    return np.concatenate([run(runner, {k: x[:1] for k, x in values.items()})["qdd"], run(runner, values)["qdd"]])


# --- one process ----------------------------------------------------------------------------------------------------------------
def test_the_folder_is_the_named_one_or_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("SHARNIR_CACHE", str(tmp_path / "here"))
    assert Cache().folder == tmp_path / "here"
    monkeypatch.delenv("SHARNIR_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert Cache().folder == tmp_path / "sharnir"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert Cache().folder == Path(platformdirs.user_cache_dir("sharnir", appauthor=False))
    assert tmp_path / "home" in Cache().folder.parents


def test_what_was_compiled_once_is_loaded_ever_after(folder, compiled):
    first = answer()
    assert len(compiled) == 2  # one lane, many lanes
    assert answer().tobytes() == first.tobytes() and len(compiled) == 2
    assert len(list((folder / "llvm").iterdir())) == 2
    answer(sh.samples.chain(3))  # another model of the same kind
    assert len(compiled) == 2
    answer(sh.samples.chain(4))
    assert len(compiled) == 4


CORRUPTIONS = {
    "truncated": lambda x: x[: len(x) // 2],
    "without its last byte": lambda x: x[:-1],
    "empty": lambda x: b"",
    "random": lambda x: np.random.default_rng(0).bytes(len(x)),
    "one bit turned": lambda x: x[:100] + bytes([x[100] ^ 1]) + x[101:],
    "of another format": lambda x: b"sharnir0" + x[8:],
    "with more behind it": lambda x: x + b"more",
}


@pytest.mark.parametrize("how", CORRUPTIONS)
def test_a_corrupt_file_is_made_anew(how, folder, compiled):
    first = answer()
    whole = {path: path.read_bytes() for path in (folder / "llvm").iterdir()}
    for path, content in whole.items():
        path.write_bytes(CORRUPTIONS[how](content))
    assert answer().tobytes() == first.tobytes() and len(compiled) == 4
    assert {path: path.read_bytes() for path in (folder / "llvm").iterdir()} == whole
    answer()
    assert len(compiled) == 4


def test_a_folder_in_the_place_of_a_file_is_no_obstacle(folder, compiled):
    first = answer()
    for path in list((folder / "llvm").iterdir()):
        path.unlink()
        path.mkdir()
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        assert answer().tobytes() == first.tobytes()
    assert not [path for path in (folder / "llvm").iterdir() if path.is_file()]  # nothing half-made is left lying


def test_clearing_removes_what_was_kept(folder, compiled):
    first = answer()
    sh.cache_clear()
    assert not (folder / "llvm").exists() or not list((folder / "llvm").iterdir())
    sh.cache_clear()  # of nothing
    assert answer().tobytes() == first.tobytes() and len(compiled) == 4


def test_clearing_leaves_alone_what_is_not_sharnirs(folder):
    answer()
    (folder / "choice").mkdir(exist_ok=True)
    others = [folder / "letters.txt", folder / "llvm" / "README", folder / "llvm" / "lib" / "a.cpp", folder / "choice" / "empty"]
    for path in others:  # the folder may be that of projects, one of which is called llvm
        path.parent.mkdir(exist_ok=True)
        path.write_text("" if path.name == "empty" else "mine")
    sh.cache_clear()
    assert all(path.exists() for path in others) and {path.name for path in (folder / "llvm").iterdir()} == {"README", "lib"}


def test_a_folder_that_cannot_be_written_costs_one_warning_and_nothing_else(tmp_path, monkeypatch, compiled):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SHARNIR_CACHE", str(tmp_path / "file" / "below"))
    with pytest.warns(RuntimeWarning, match=r"cache folder .*below cannot be written \(Not a directory\)") as caught:
        first = answer()
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert answer().tobytes() == first.tobytes()
        answer(sh.samples.chain(2))
        sh.cache_clear()
    assert len(compiled) == 6  # nothing was kept


# --- its size -------------------------------------------------------------------------------------------------------------------
MB = 1_000_000


def keys(folder: Path) -> set[str]:
    return {path.name for path in (folder / "llvm").iterdir()}


def aged(folder: Path, key: str, seconds: float) -> None:
    """As if last used that long ago."""
    path = folder / "llvm" / key
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def test_what_was_used_least_recently_makes_room(folder, monkeypatch):
    monkeypatch.setenv("SHARNIR_CACHE_MB", "10")
    for k in range(9):
        Cache().save("llvm", f"{k}", bytes(MB))
        aged(folder, f"{k}", 1000.0 - k)
    assert keys(folder) == set("012345678")
    assert Cache().load("llvm", "0") == bytes(MB)  # used just now
    Cache().save("llvm", "new", bytes(2 * MB))
    assert keys(folder) == {"0", "5", "6", "7", "8", "new"}  # 7.5 MB at most remain
    assert Cache().load("llvm", "1") is None


def test_files_of_the_user_make_no_room(folder, monkeypatch):
    monkeypatch.setenv("SHARNIR_CACHE_MB", "2")
    (folder / "llvm").mkdir(parents=True)
    (folder / "llvm" / "thesis").write_bytes(bytes(MB))
    aged(folder, "thesis", 1000.0)
    for k in range(3):
        Cache().save("llvm", f"{k}", bytes(MB))
    assert "thesis" in keys(folder) and "2" in keys(folder)


def test_the_size_is_measured_on_writing_and_not_on_every_write(folder, monkeypatch):
    monkeypatch.setenv("SHARNIR_CACHE_MB", "160")
    measured, shrink = [], Cache.shrink
    monkeypatch.setattr(Cache, "shrink", lambda self, allowed: measured.append(allowed) or shrink(self, allowed))
    store = Cache()
    assert store.load("llvm", "nothing") is None and not measured
    for k in range(25):
        store.save("llvm", f"{k}", bytes(MB))
    assert measured == [160 * MB] * 3  # the first write of the process, and after every 10 MB


def test_the_calibration_is_not_counted_and_not_removed(folder, monkeypatch):
    monkeypatch.setenv("SHARNIR_CACHE_MB", "1")
    Cache().save("calibration", "mine", bytes(2 * MB))
    os.utime(folder / "calibration" / "mine", (0, 0))
    for k in range(4):
        Cache().save("llvm", f"{k}", bytes(MB // 2))
    assert Cache().load("calibration", "mine") == bytes(2 * MB)
    assert 1 <= len(keys(folder)) <= 2


def test_a_file_larger_than_the_limit_is_kept_until_the_next_one(folder, monkeypatch):
    monkeypatch.setenv("SHARNIR_CACHE_MB", "1")
    Cache().save("llvm", "large", bytes(3 * MB))
    assert keys(folder) == {"large"}
    aged(folder, "large", 10.0)
    Cache().save("llvm", "next", bytes(MB // 2))
    assert keys(folder) == {"next"}


def test_no_cache_at_all_is_a_limit_of_zero(folder, monkeypatch, compiled):
    monkeypatch.setenv("SHARNIR_CACHE_MB", "0")
    assert answer().tobytes() == answer().tobytes() and len(compiled) == 4
    assert not folder.exists()


@pytest.mark.parametrize("off", ["off", "OFF", "0", "/dev/null"])
def test_a_cache_that_is_off_reads_and_writes_nothing(off, tmp_path, monkeypatch, compiled):
    """Not a word about it either. `/dev/null` is what many programs take for no cache: as root it must stay what it is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHARNIR_CACHE", off)
    changed = []
    for name in ("chmod", "unlink", "replace"):
        monkeypatch.setattr(os, name, lambda *a, **_: changed.append(a))
    assert answer().tobytes() == answer().tobytes() and len(compiled) == 4
    Cache().save("calibration", "mine", b"numbers")
    sh.cache_clear()
    assert Cache().load("calibration", "mine") is None and changed == [] and not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["much", "-1", "nan", "inf"])
def test_a_limit_that_is_no_number_of_megabytes_is_refused(folder, monkeypatch, text):
    monkeypatch.setenv("SHARNIR_CACHE_MB", text)
    with pytest.raises(sh.SharnirError, match=f"SHARNIR_CACHE_MB must be a number of megabytes, 0 or more, got '{text}'"):
        Cache().save("llvm", "key", b"body")


def test_files_that_another_process_removes_meanwhile_are_no_obstacle(folder, monkeypatch):
    for k in range(4):
        Cache().save("llvm", f"{k}", bytes(MB))
    found = sorted(Cache()._files())
    sh.cache_clear()
    monkeypatch.setattr(Cache, "_files", lambda self: iter(found))
    Cache().shrink(MB)


def test_processes_that_fill_a_small_cache_together_keep_to_its_limit(tmp_path, monkeypatch):
    """Each one removes what the others need: compiled again, not an error, and the same answers."""
    monkeypatch.setenv("SHARNIR_CACHE_MB", "0.02")
    first = spawned("llvm", 3, tmp_path / "shared")
    assert len(set(first)) == 1 and first[0]
    assert sum(size for _, size, _ in Cache(tmp_path / "shared")._files()) < 100_000
    assert spawned("llvm", 1, tmp_path / "shared") == first[:1]


# --- what a digest depends on ---------------------------------------------------------------------------------------------------
def test_a_digest_sees_every_part_and_the_seams_between_them():
    digests = {digest("a", "b"), digest("ab"), digest("a", "b", ""), digest("b", "a"), digest("a"), digest("")}
    assert len(digests) == 6 and all(len(d) == 64 for d in digests)
    assert digest("a", "b") == digest("a", "b")


def test_other_constants_other_outputs_other_widths_are_other_texts(folder, compiled):
    def text(constant, lanes=1, more=False):
        graph = Graph()
        x, y = graph.inputs(2)
        return emit(recorded(graph, [x, y], [x * constant + y, *([x] if more else [])]).traced, lanes)

    texts = [text(2.0), text(2.0000000000000004), text(2.0, 4), text(2.0, 8), text(2.0, more=True)]
    assert len(set(texts)) == len(texts) and text(2.0) == texts[0]


def test_the_same_text_for_another_machine_is_other_code(folder, compiled, monkeypatch):
    answer()
    monkeypatch.setattr(jit, "host", lambda: "another processor")
    answer()
    assert len(compiled) == 4


def test_a_kernel_or_a_compiler_that_changes_is_compiled_anew(folder, monkeypatch):
    """One character in any file that the code depends on, the compiler's own too, and what was kept is not looked at."""
    made = []
    monkeypatch.setattr(native, "compile_module", lambda *args: made.append(args[0].__name__) or compile_module(*args))
    changes = [
        lambda: None,
        lambda: None,
        lambda: monkeypatch.setattr(native, "texts", lambda *f: (*texts(*f)[:-1], texts(*f)[-1] + "# changed")),
        lambda: monkeypatch.setattr(jit, "translators", lambda: translators() + "changed"),
    ]
    for change in changes:
        monkeypatch.setattr(native, "_loaded", {})  # as another process would
        change()
        made.append("|")
        assert np.array_equal(run(LoopRunner(PROGRAMS["rates"], MODEL.freeze()), VALUES)["rate"], VALUES["v"])
    first, second, third, fourth = " ".join(made).split("|")[1:]
    assert "run_rates" in first and "run_rates" in third and "run_rates" in fourth
    assert second.strip() == ""


def test_the_key_of_a_program_covers_every_file_it_is_written_in():
    files = "\n".join(texts(PROGRAMS["forward/separate"].function))
    for name in ("forward_separate", "separate_bodies", "joint_stage", "drift", "cross"):
        assert files.count(f"\ndef {name}(") == 1


def test_loops_work_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    runner_of = PROGRAMS["rates"]
    runner = LoopRunner(runner_of, MODEL.freeze(), store=Cache(tmp_path / "file" / "below"))
    with pytest.warns(RuntimeWarning, match="cannot be written") as caught:
        found = run(runner, VALUES)["rate"]
    assert len(caught) == 1
    assert np.array_equal(found, VALUES["v"])


def test_loops_go_on_after_its_folder_was_cleared(folder):
    first = run(LoopRunner(PROGRAMS["rates"], MODEL.freeze()), VALUES)["rate"]
    sh.cache_clear()
    assert np.array_equal(run(LoopRunner(PROGRAMS["rates"], MODEL.freeze()), VALUES)["rate"], first)
    poses = run(LoopRunner(PROGRAMS["poses"], MODEL.freeze()), VALUES)["r"]  # a driver not compiled before
    assert np.isfinite(poses).all()


# --- many processes -------------------------------------------------------------------------------------------------------------
SCRIPT = """
import sys
import tempfile
import numpy as np
import sharnir as sh

d = sh.Dynamics(sh.samples.chain(4), "composite", backend=sys.argv[1])
a = d.rates(np.full((9, 4), 0.3), np.full((9, 4), 0.2)) if sys.argv[1] == "loops" else d.forward(np.full((9, 4), 0.3))
print(a.tobytes().hex())
"""


def spawned(backend: str, n: int, folder: Path) -> list[str]:
    env = {**os.environ, "SHARNIR_CACHE": str(folder), "PYTHONWARNINGS": "error"}
    command = [sys.executable, "-c", SCRIPT, backend]
    started = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(n)]
    finished = [(p.communicate(), p.returncode) for p in started]
    assert all(code == 0 for _, code in finished), [errors for (_, errors), _ in finished]
    return [out for (out, _), _ in finished]


def test_four_processes_fill_one_empty_cache_together(tmp_path):
    answers = spawned("llvm", 4, tmp_path / "shared")
    assert len(set(answers)) == 1 and answers[0]
    names = [path.name for path in (tmp_path / "shared" / "llvm").iterdir()]
    assert names and all(len(name) == 64 for name in names)  # no half-written files


def test_processes_share_compiled_loops_and_outlive_its_damage(tmp_path):
    """Object code, truncated: compiled again, not an error."""
    first = spawned("loops", 2, tmp_path / "shared")
    assert len(set(first)) == 1
    damaged = [path for path in (tmp_path / "shared").rglob("*") if path.is_file()]
    assert damaged
    for path in damaged:
        path.write_bytes(path.read_bytes()[:60])
    assert spawned("loops", 1, tmp_path / "shared") == first[:1]


def test_every_warning_about_a_folder_is_given_once(tmp_path):
    error = OSError(13, "Permission denied")
    with pytest.warns(RuntimeWarning) as caught:  # noqa: PT031
        for name in ("a", "a", "b"):
            cache.warn_unwritable(tmp_path / name, error)
    assert len(caught) == 2


# --- whose files --------------------------------------------------------------------------------------------------------------
POSIX = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes of POSIX")
ROOT = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def entry(folder):
    store = Cache()
    store.save("llvm", "key", b"code")
    assert store.load("llvm", "key") == b"code"
    return folder / "llvm" / "key"


@POSIX
def test_what_others_can_write_is_not_read(entry):
    for mode in (0o620, 0o602, 0o666):
        entry.chmod(mode)
        assert Cache().load("llvm", "key") is None
    entry.chmod(0o644)
    assert Cache().load("llvm", "key") == b"code"


@ROOT
def test_what_belongs_to_another_user_is_not_read(entry):
    os.chown(entry, 12345, 12345)
    assert Cache().load("llvm", "key") is None


@POSIX
def test_links_pipes_devices_and_huge_files_are_no_entries(entry, tmp_path, monkeypatch):
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")
    assert Cache().load("llvm", "key") is None
    entry.unlink()
    os.mkfifo(entry)  # opened by a plain read it blocks for ever
    assert Cache().load("llvm", "key") is None
    entry.unlink()
    entry.symlink_to("/dev/zero")
    assert Cache().load("llvm", "key") is None
    entry.unlink()
    (tmp_path / "elsewhere").rename(entry)
    monkeypatch.setattr(cache, "MAX_BYTES", 10)
    assert Cache().load("llvm", "key") is None


@POSIX
@pytest.mark.parametrize("mode", [0o1777, 0o777, 0o775])
def test_a_folder_that_others_can_write_is_left_as_it_is_and_not_used(folder, tmp_path, monkeypatch, mode):
    """/tmp, a folder of a group: what was not created here keeps its mode."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder.mkdir()
    folder.chmod(mode)
    with pytest.warns(RuntimeWarning, match=f"{folder} can be written by others; .* Set SHARNIR_CACHE") as caught:
        stores = [Cache(), Cache()]
    assert len(caught) == 1 and stores[0].folder == stores[1].folder and stores[0].folder.parent == tmp_path
    stores[0].save("llvm", "key", b"code")
    assert stores[1].load("llvm", "key") == b"code"
    assert stat.S_IMODE(folder.stat().st_mode) == mode and not list(folder.iterdir())


@POSIX
def test_a_file_in_the_place_of_the_folder_keeps_its_mode_and_its_content(folder, tmp_path, monkeypatch):
    """As root, a device too: `SHARNIR_CACHE=/dev/full` must not change what it names."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder.write_text("mine")
    folder.chmod(0o666)
    with pytest.warns(RuntimeWarning, match=f"{folder} is not a folder; .* Set SHARNIR_CACHE"):
        Cache().save("llvm", "key", b"code")
    sh.cache_clear()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o666 and folder.read_text() == "mine"


@POSIX
def test_what_the_process_made_instead_goes_with_it(tmp_path):
    """A private folder replaces one that others can write, until the process ends."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "tmp").mkdir()
    env = {**os.environ, "SHARNIR_CACHE": str(tmp_path / "open"), "TMPDIR": str(tmp_path / "tmp")}
    script = "from sharnir.dialect.cache import Cache; Cache().save('llvm', 'key', b'code'); print(Cache().load('llvm', 'key'))"
    out = subprocess.run([sys.executable, "-c", script], env=env, check=True, capture_output=True, text=True)
    assert out.stdout == "b'code'\n" and "can be written by others" in out.stderr
    assert not list((tmp_path / "tmp").iterdir()) and not list((tmp_path / "open").iterdir())


@ROOT
def test_the_folder_of_another_user_is_not_used_and_that_is_said_once(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    with pytest.warns(RuntimeWarning, match=f"{folder} belongs to another user; .* Set SHARNIR_CACHE") as caught:
        stores = [Cache(), Cache()]
    assert len(caught) == 1 and stores[0].folder == stores[1].folder != folder
    stores[0].save("llvm", "key", b"code")
    assert stores[1].load("llvm", "key") == b"code" and not list(folder.iterdir())


def nowhere(*_, **__):
    raise RuntimeError("could not determine the home directory")


@pytest.mark.parametrize(
    "found", [lambda *_, **__: Path("~/.cache/sharnir"), nowhere], ids=["platformdirs 4.3", "platformdirs 4.14"]
)
def test_a_user_without_a_home_has_a_folder_by_number(monkeypatch, tmp_path, found):
    """Where neither the environment nor the list of users knows a home; platformdirs answers so or so, by its version."""
    for name in ("SHARNIR_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", found)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cache._folder.cache_clear()
    try:
        assert cache.default_folder().parent == tmp_path
    finally:
        cache._folder.cache_clear()


def test_an_entry_under_the_name_of_another_is_not_read(entry):
    """Whoever can rename files, or a copy that went wrong: the code of one function is not run in the place of another."""
    entry.rename(entry.with_name("another"))
    assert Cache().load("llvm", "another") is None
    Cache().save("llvm", "another", b"code")
    assert Cache().load("llvm", "another") == b"code"


@POSIX
def test_an_open_folder_inside_is_neither_read_nor_written_nor_changed(entry, monkeypatch):
    monkeypatch.setattr(cache, "_warned", set())
    entry.parent.chmod(0o777)
    assert Cache().load("llvm", "key") is None
    with pytest.warns(RuntimeWarning, match="cannot be written .can be written by others.; compiled code is not cached"):
        Cache().save("llvm", "another", b"code")
    assert os.listdir(entry.parent) == ["key"] and stat.S_IMODE(entry.parent.stat().st_mode) == 0o777


@ROOT
def test_a_folder_of_another_user_inside_is_neither_read_nor_written(entry, monkeypatch):
    monkeypatch.setattr(cache, "_warned", set())
    os.chown(entry.parent, 12345, 12345)
    assert Cache().load("llvm", "key") is None
    with pytest.warns(RuntimeWarning, match="cannot be written .belongs to another user.; compiled code is not cached"):
        Cache().save("llvm", "another", b"code")
    assert os.listdir(entry.parent) == ["key"]


@ROOT
def test_a_folder_that_another_user_makes_meanwhile_is_not_used(folder, monkeypatch):
    monkeypatch.setattr(cache, "_warned", set())
    store = Cache()  # there is no folder yet
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        store.save("llvm", "key", b"code")
    assert store.load("llvm", "key") is None
