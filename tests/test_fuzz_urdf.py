"""Damaged files: whatever is wrong with a URDF, it loads or is refused with an error of ours, and soon."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benchmarks.urdf import robot_files

import sharnir as sh
from urdf_files import arm, joint, link

ROUNDS = 60
SEEDS = range(14)
SLOW = 5.0
"""Seconds; a file of this size takes milliseconds."""

SHAPES = (
    '<visual name="v"><origin xyz="0 0 1"/><geometry><mesh filename="package://p/m.stl" scale="1 1 1"/></geometry>'
    '<material name="red"><color rgba="1 0 0 1"/></material></visual>'
    '<collision><geometry><box size="1 2 3"/></geometry></collision>'
)
SEED_FILE = "\n".join(
    [
        '<?xml version="1.0" encoding="utf-8"?>', '<robot name="fuzz">', *arm(), link("hand", SHAPES), link("puck"), link("kite"),
        joint("wrist", "continuous", "tool", "hand", '<axis xyz="0 0 1"/><mimic joint="elbow" multiplier="2" offset="1"/>'),
        joint("slide", "planar", "base", "puck", '<axis xyz="0 1 1"/><dynamics damping="0.1" friction="0.2"/>'),
        joint("fly", "floating", "puck", "kite"), '<gazebo reference="hand"><mu1>0.2</mu1></gazebo>', "</robot>",
    ]
)  # fmt: skip
VALUES = [
    "",
    "nan",
    "inf",
    "-1",
    "1e308",
    "1e400",
    "0",
    "0 0 0",
    "1 2",
    "x y z",
    "é",
    "&lt;",
    "1e-320",
    "${x}",
    "../../..",
    " ",
    "١",
]
NUMBERS = ["0", "-1", "1e29", "-1e29", "1e-29", "1e-320", "3", "1e9", "1e15", "-1e15", "1e-9"]
TAGS = ["link", "joint", "robot", "inertial", "mass", "origin", "xacro:if", "a:b", "mimic", "geometry"]


def truncated(text: str, rng: np.random.Generator) -> str:
    return text[: int(rng.integers(len(text)))]


def garbled(text: str, rng: np.random.Generator) -> bytes:
    data = bytearray(text.encode())
    for _ in range(int(rng.integers(1, 12))):
        data[int(rng.integers(len(data)))] = int(rng.integers(256))
    return bytes(data)


def spliced(text: str, rng: np.random.Generator) -> str:
    """A piece cut out, or put in once more elsewhere."""
    a, b = sorted(int(x) for x in rng.integers(len(text), size=2))
    at = int(rng.integers(len(text)))
    return text[:a] + text[b:] if rng.integers(2) else text[:at] + text[a : min(b, a + 400)] + text[at:]


def _one(pattern: str, text: str, rng: np.random.Generator, new) -> str:
    places = list(re.finditer(pattern, text))
    if not places:
        return text
    m = places[int(rng.integers(len(places)))]
    return text[: m.start()] + new(m) + text[m.end() :]


def revalued(text: str, rng: np.random.Generator) -> str:
    return _one(r'(\w+)="[^"]*"', text, rng, lambda m: f'{m[1]}="{rng.choice(VALUES)}"')


def unattributed(text: str, rng: np.random.Generator) -> str:
    return _one(r' \w+="[^"]*"', text, rng, lambda m: "")


def renamed(text: str, rng: np.random.Generator) -> str:
    """A tag called otherwise, most often no longer closed; or a name that others refer to."""
    if rng.integers(2):
        return _one(r"<(\w+)", text, rng, lambda m: f"<{rng.choice(TAGS)}")
    return _one(
        r'(name|link|joint|type)="[^"]*"',
        text,
        rng,
        lambda m: f'{m[1]}="{rng.choice(["base", "elbow", "zzz", "fixed", "ground"])}"',
    )


def unelemented(text: str, rng: np.random.Generator) -> str:
    return _one(r"<\w+ [^<>]*/>", text, rng, lambda m: "")


def relined(text: str, rng: np.random.Generator) -> str:
    """Whole elements deleted, doubled or exchanged: still XML."""
    lines = text.split("\n")
    if len(lines) < 4:
        return text
    i, j = (int(x) for x in rng.integers(2, len(lines) - 1, size=2))
    change = int(rng.integers(3))
    if change == 0:
        del lines[i]
    elif change == 1:
        lines.insert(j, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


MUTATIONS = (truncated, garbled, spliced, revalued, unattributed, renamed, unelemented, relined)


def tried(path: Path, data: bytes | str) -> str:
    """Load what is written; how it ended."""
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return _ending(lambda: str(sh.load(path, floating=len(data) % 2 == 0).import_report))


def _ending(action: Callable[[], object]) -> str:
    """Any error that is not ours comes through."""
    start, end = time.perf_counter(), "read"
    try:
        action()
    except sh.SharnirError as error:
        end = "refused" if str(error) else "refused without a word"
    assert time.perf_counter() - start < SLOW
    assert end != "refused without a word"
    return end


@pytest.mark.parametrize("seed", SEEDS)
def test_a_damaged_file_is_read_or_refused(seed, tmp_path):
    """60 files for each of 14 seeds, one to three kinds of damage each."""
    rng = np.random.default_rng((seed, 99))
    ends = []
    for _ in range(ROUNDS):
        data: str | bytes = SEED_FILE
        for k in rng.choice(len(MUTATIONS), size=int(rng.integers(1, 4)), replace=False):
            if isinstance(data, str) and data:
                data = MUTATIONS[k](data, rng)
        ends.append(tried(tmp_path / "fuzz.urdf", data))
    assert {"read", "refused"} == set(ends), "both happen, or the damage is no test"


@pytest.mark.parametrize("name", ["panda/panda", "tiago/tiago_no_hand"])
def test_a_damaged_robot_is_read_or_refused(name, tmp_path):
    text = robot_files()[name].read_text(encoding="utf-8")
    rng = np.random.default_rng(3)
    for k in range(40):
        tried(tmp_path / "fuzz.urdf", MUTATIONS[k % len(MUTATIONS)](text, rng))


def renumbered(text: str, rng: np.random.Generator) -> str:
    return _one(r'(?<=[" ])-?\d[\d.]*(?=[" ])', text, rng, lambda m: str(rng.choice(NUMBERS)))


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
