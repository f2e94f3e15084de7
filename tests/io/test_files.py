"""What is written to disk: whole or not at all, through links, and never in the place of something that is no file."""

from __future__ import annotations

import csv
import os
import stat

import pytest

import sharnir as sh
from sharnir.reporting.atomic_write import atomic_write

POSIX = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links and pipes of POSIX")


@pytest.fixture(scope="module")
def result():
    return sh.simulate(sh.samples.chain(2), 0.05, method="separate")


WRITERS = {
    "NetCDF": ("a.nc", lambda r, path: r.save(path)),
    "CSV": ("a.csv", lambda r, path: r.to_csv(path)),
    "picture": ("a.png", lambda r, path: r.plot(path=path)),
    "model": ("a.yaml", lambda r, path: r.model.save(path)),
}
writers = pytest.mark.parametrize(("name", "write"), WRITERS.values(), ids=list(WRITERS))


@POSIX
@writers
def test_a_link_is_written_through_and_a_pipe_is_refused(result, tmp_path, name, write):
    target, link, pipe = tmp_path / f"target-{name}", tmp_path / name, tmp_path / f"pipe-{name}"
    target.write_text("before")
    target.chmod(0o640)
    link.symlink_to(target)
    write(result, link)
    assert link.is_symlink() and target.read_bytes() != b"before" and stat.S_IMODE(target.stat().st_mode) == 0o640
    os.mkfifo(pipe)
    with pytest.raises(sh.SharnirError, match="a device or a pipe"):
        write(result, pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert {path.name for path in tmp_path.iterdir()} == {target.name, link.name, pipe.name}


@writers
def test_files_of_the_users_own_beside_it_stay(result, tmp_path, name, write):
    mine = tmp_path / f"{name}.part"
    mine.write_text("mine")
    write(result, tmp_path / name)
    assert mine.read_text() == "mine"


def test_a_table_that_cannot_be_finished_leaves_the_old_one(result, tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(csv, "writer", full)
    with pytest.raises(sh.StateError, match="No space left"):
        result.to_csv(path)
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


def test_an_interruption_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("before")

    def interrupted():
        with atomic_write(path) as part:
            part.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]
