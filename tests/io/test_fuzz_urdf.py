"""Damaged files: whatever is wrong with a URDF, it loads or is refused with an error of ours, with little work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benchmarks.fuzz.mutate_urdf import MUTATIONS, mutated, renumbered
from benchmarks.urdf import robot_files

import sharnir as sh
from urdf_files import SEED_FILE
from work import counted

ROUNDS = 60
SEEDS = range(14)
MOST = 500_000
"""Calls of functions that one file may cost."""


def tried(path: Path, data: bytes | str) -> str:
    """Load what is written; how it ended."""
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return _ending(lambda: str(sh.load(path, floating=len(data) % 2 == 0).import_report))


def _ending(action: Callable[[], object]) -> str:
    """Any error that is not ours comes through."""
    end = "read"
    with counted() as work:
        try:
            action()
        except sh.SharnirError as error:
            end = "refused" if str(error) else "refused without a word"
    assert work.calls < MOST
    assert end != "refused without a word"
    return end


@pytest.mark.parametrize("seed", SEEDS)
def test_a_damaged_file_is_read_or_refused(seed, tmp_path):
    """60 files for each of 14 seeds, one to three kinds of damage each."""
    rng = np.random.default_rng((seed, 99))
    ends = []
    for _ in range(ROUNDS):
        ends.append(tried(tmp_path / "fuzz.urdf", mutated(SEED_FILE, rng)))
    assert {"read", "refused"} == set(ends), "both happen, or the damage is no test"


@pytest.mark.parametrize("name", ["panda/panda", "tiago/tiago_no_hand"])
def test_a_damaged_robot_is_read_or_refused(name, tmp_path):
    text = robot_files()[name].read_text(encoding="utf-8")
    rng = np.random.default_rng(3)
    for k in range(40):
        tried(tmp_path / "fuzz.urdf", MUTATIONS[k % len(MUTATIONS)](text, rng))


def test_numbers_that_pass_the_reader_make_no_trouble_behind_it(tmp_path):
    """Huge, tiny and zero numbers: the equations are solved or refused, and what is read can be saved and read again."""
    rng = np.random.default_rng(8)
    ends = []
    for _ in range(60):
        path = tmp_path / "fuzz.urdf"
        path.write_text(renumbered(renumbered(SEED_FILE, rng), rng), encoding="utf-8")
        ends.append(_ending(lambda path=path: _used(path)))
    assert ends.count("read") > 30


def _used(path: Path) -> None:
    m = sh.load(path)
    m.save(path.with_name("again.urdf"))
    sh.load(path.with_name("again.urdf"))
    sh.Dynamics(m, "composite", backend="python").forward(m.random_q(0), np.ones(m.nv), np.zeros(m.nv))


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"<", b"<robot", b"solid x", b"PK\x03\x04", b"<a/><b/>", b"\x00" * 999]
)
def test_what_is_no_xml_at_all_is_refused(data, tmp_path):
    assert tried(tmp_path / "fuzz.urdf", data) == "refused"
