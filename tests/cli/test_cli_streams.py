"""What commands print: readable on any terminal, quiet where nobody reads, one line where nothing can be written."""

from __future__ import annotations

import io
import os
import sys

import pytest

import sharnir as sh
from sharnir.cli.main import main
from sharnir.cli.streams import plain
from urdf_files import arm, write

COMMANDS = {
    "inspect": ("inspect", "FILE"),
    "json": ("inspect", "FILE", "--json"),
    "run": ("run", "FILE", "--acting", "motion", "--duration", "0.01", "-o", "OUT"),
    "schema": ("schema",),
    "help": ("run", "--help"),
    "version": ("--version",),
    "compare": (
        "compare", "FILE", "--acting", "motion", "--methods", "composite,separate", "--backends", "python", "--rounds", "1",
        "--batch", "4",
    ),
}  # fmt: skip


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Run a command with this stream as its standard output; returns exit code and standard error."""
    file = write(tmp_path, *arm())

    def call(name: str, out: io.TextIOWrapper) -> tuple[int, str]:
        words = [{"FILE": str(file), "OUT": str(tmp_path / "a.nc")}.get(word, word) for word in COMMANDS[name]]
        err = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        monkeypatch.setattr(sys, "argv", ["sharnir", *words])
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit) as end:
            main()
        assert sys.stdout is out and (name != "run" or (tmp_path / "a.nc").exists())
        return end.value.code, err.buffer.getvalue().decode("ascii")

    return call


@pytest.mark.parametrize("name", COMMANDS)
def test_an_ascii_terminal_reads_everything(call, name):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    assert call(name, out) == (0, "")
    text = out.buffer.getvalue().decode("ascii")
    assert text.strip() and "?" not in text.replace("(?", "").replace("]?", "")


def test_what_ascii_lacks_is_spelled():
    assert plain("τ − ½·k·x² … 3 µs → é, Ω, q̇, 日") == "tau - 1/2*k*x^2 ... 3 us -> e, omega, q, ?"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_one_line_and_one(call, name):
    with open("/dev/full", "w", encoding="utf-8") as out:
        assert call(name, out) == (1, "sharnir: cannot write the output: No space left on device\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_that_has_left_is_no_error(call, name):
    read, written = os.pipe()
    os.close(read)
    with open(written, "w", encoding="utf-8") as out:
        assert call(name, out) == (0, "")


def test_closed_output_is_none(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["sharnir", "--version"])
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(SystemExit, match="0"):
        main()


def test_the_error_of_a_command_keeps_its_code_where_nobody_reads(call, monkeypatch):
    monkeypatch.setattr("sharnir.io.load.load", lambda *args, **options: sh.samples.pendulum())
    monkeypatch.setitem(COMMANDS, "bad", ("run", "FILE", "--duration", "1", "--t0", "1e18", "-o", "OUT"))
    read, written = os.pipe()
    os.close(read)
    with open(written, "w", encoding="utf-8") as out:
        code, err = call("bad", out)
    assert code == 1 and err.startswith("sharnir: duration: 1 s is lost in the rounding")
