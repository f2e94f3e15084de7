"""Files gone wrong: whatever is done to an MJCF file, it is read or refused with an error of ours, with little work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.fuzz.mutate_mjcf import mutated
from test_mjcf import SHIPPED
from test_mjcf_files import stl

import sharnir as sh
from mjcf_models import SEED_FILES
from mujoco_pairs import write
from work import counted

SEEDS = [*SEED_FILES, SHIPPED.read_text(encoding="utf-8")]
ROUNDS, PER_ROUND = 20, 50
MOST = 5_000_000
"""Calls of functions that one file may cost in this process; MuJoCo's compiler is bounded in one of its own."""


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_mutations_are_read_or_refused(round_: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    refused = 0
    for k in range(PER_ROUND):
        rng = np.random.default_rng((round_, k))
        data = mutated(SEEDS[int(rng.integers(len(SEEDS)))], rng)
        path = write(tmp_path, data)
        with counted() as work:
            try:
                sh.load(path).freeze()
            except sh.SharnirError:
                refused += 1
            except BaseException as error:
                raise AssertionError(f"round {round_}, file {k}: {type(error).__name__}: {error}") from error
        assert work.calls < MOST, f"round {round_}, file {k}"
    assert 0 < refused < PER_ROUND
    assert capfd.readouterr() == ("", "")
    assert [p.name for p in tmp_path.iterdir()] == ["model.xml"]


MESHES = """<mujoco><extension><plugin plugin="mujoco.sdf.gear"><instance name="g"/></plugin></extension>
  <asset><mesh name="a" file="a.stl" scale="1 2 3"/><mesh name="b" file="b.obj"/><mesh name="p"><plugin instance="g"/></mesh>
    <mesh name="d" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 3 2 0 1 3 1 2 3"/>
    <mesh name="e" builtin="sphere" params="2"/></asset>
  <worldbody><body><joint/><geom type="mesh" mesh="a"/><geom type="mesh" mesh="b" mass="0"/><geom type="box" mesh="d" mass="0"/>
    <body><joint type="slide"/><geom type="mesh" mesh="d"/><geom type="mesh" mesh="e" mass="1"/>
      <geom type="sdf" mesh="p" mass="0"><plugin instance="g"/></geom></body></body>
    <replicate count="3" offset="1 0 0"><body><freejoint/><geom type="mesh" mesh="b"/></body></replicate></worldbody></mujoco>"""
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_damaged_meshes_are_read_or_refused(tmp_path: Path) -> None:
    said = []
    for k in range(40):
        rng = np.random.default_rng((k, 5))
        for name, data in (("a.stl", stl()), ("b.obj", OBJ)):
            (tmp_path / name).write_bytes(damaged(data, rng))
        path = write(tmp_path, mutated(MESHES, rng) if k % 2 else MESHES)
        try:
            sh.load(path).freeze()
        except sh.SharnirError as error:
            said.append(str(error))
    assert 0 < len(said) < 40 and all(words.startswith(str(path)) for words in said)


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(int(rng.integers(4))):
        changed[int(rng.integers(len(data)))] = int(rng.integers(256))
    return bytes(changed[: int(rng.integers(len(data)))] if rng.random() < 0.1 else changed)


BOMB = '<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(9)
) + "]>"  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        f"{BOMB}<mujoco>&j;</mujoco>",
        '<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/passwd">]><mujoco model="m">&x;</mujoco>',
        '<!DOCTYPE m [<!ENTITY % x SYSTEM "http://localhost:1/x"> %x;]><mujoco/>',
        '<?xml version="1.0" encoding="UTF-7"?><mujoco/>',
        "<mujoco>" * 100_000,
        "<mujoco " + " ".join(f'a{k}="1"' for k in range(50_000)) + "/>",
        "<mujoco>" + '<include file="model.xml"/>' * 1000 + "</mujoco>",
        "<mujoco><worldbody>" + "<body>" * 190 + "</body>" * 190 + "</worldbody></mujoco>",
        '<mujoco><worldbody>' + '<replicate count="100">' * 5 + "<body/>" + "</replicate>" * 5 + "</worldbody></mujoco>",
        '<mujoco><worldbody><composite type="cable" count="100000000 1 1" initial="free"/></worldbody></mujoco>',
        '<mujoco><worldbody><flexcomp name="f" type="grid" count="1000 1000 1000" spacing="1 1 1"/></worldbody></mujoco>',
        '<mujoco><size memory="1T" nuser_geom="2000000000"/><worldbody/></mujoco>',
        '<mujoco><asset><mesh name="m" builtin="supersphere" params="100000 1 1"/></asset></mujoco>',
        '<mujoco><asset><texture name="t" builtin="checker" width="1000000" height="1000000"/></asset></mujoco>',
        '<mujoco><asset><model name="m" file="model.xml"/></asset></mujoco>',
    ],
    ids=range(15),
)  # fmt: skip
def test_attacks_are_refused_at_once(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with counted() as work, pytest.raises(sh.SharnirError):
        sh.load(path)
    assert work.calls < MOST
