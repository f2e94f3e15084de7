"""Files gone wrong: whatever is done to an MJCF file, it is read or refused with an error of ours, soon."""

from __future__ import annotations

import time
from copy import deepcopy
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import sharnir as sh
from mjcf_models import COPIES, COUPLED, SLIDER, WALKER, random_tree, two_hinges
from mujoco_pairs import write
from sharnir.io.mjcf import load_mjcf
from test_mjcf import SHIPPED
from test_mjcf_files import stl

LOOPS = '<equality><weld body1="one" body2="two"/><connect site1="s" site2="t"/><joint joint1="a" joint2="b"/></equality>'
SEEDS = [WALKER, SLIDER, COPIES, COUPLED, random_tree(4), two_hinges(LOOPS), SHIPPED.read_text(encoding="utf-8")]
ROUNDS, PER_ROUND = 20, 50
SLOWEST = 10.0
"""Seconds for one file, on a busy machine."""
WORDS = [
    "nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "0", "-1", "", " ", "x", "1 2", "0 0 0", "0 0 0 0", "1e400", "9" * 400,
    "true", "free", "ball", "slide", "hinge", "mesh", "plane", "world", "ground", "../x", "/etc/passwd", "\u0442", "a" * 3000,
    "2147483648", "-2147483649", "0x10", "1,2,3", "%s%n", "&amp;", "\u202e",
]  # fmt: skip
SCRAPS = ["<x>", "</body>", "<![CDATA[x]]>", "<!-- -- -->", "<?x?>"]
TAGS = [
    '<include file="model.xml"/>', '<include file="../x.xml"/>', "<body/>", "<joint/>", "<freejoint/>", '<geom type="mesh"/>',
    '<inertial pos="0 0 0" mass="0"/>', "<frame/>", '<replicate count="3"/>', '<composite type="cable"/>',
    '<geom size="0"/>', '<site name="s"/>', "<camera/>", '<plugin plugin="mujoco.elasticity.cable"/>', "<default/>",
    "<worldbody/>", '<equality><joint joint1="a"/></equality>', '<keyframe><key qpos="1"/></keyframe>',
    '<asset><mesh file="m.stl"/></asset>', '<asset><model file="model.xml"/></asset>',
    '<flexcomp name="f" count="2 2 1"/>', '<option gravity="nan 0 0"/>', '<compiler coordinate="global"/>',
    '<size nuser_body="1000000000"/>', '<joint type="ball"/>', '<geom size="0.1"/>', '<body><joint/><geom size="0.1"/></body>',
]  # fmt: skip


def mutated(text: str, rng: np.random.Generator) -> bytes:
    """One to three blows: mostly to elements and attributes, so that some pass as models, else to the bytes."""
    blows = int(rng.integers(1, 4))
    if rng.random() < 0.8:
        root = ElementTree.fromstring(text)
        for _ in range(blows):
            _bend(root, rng)
        return ElementTree.tostring(root, encoding="utf-8")
    for _ in range(blows):
        text = _break(text, rng)
    data = text.encode("utf-8", errors="replace")
    return data[: int(rng.integers(len(data)))] if rng.random() < 0.1 and data else data


def _bend(root: ElementTree.Element, rng: np.random.Generator) -> None:
    """Another value, an attribute or element less or more, or somewhere else."""
    every = list(root.iter())
    one, two = (every[int(k)] for k in rng.integers(len(every), size=2))
    kind = rng.integers(8)
    if kind <= 2 and one.attrib:
        name = str(rng.choice(list(one.attrib)))
        words = one.attrib[name].split() or [""]
        words[int(rng.integers(len(words)))] = str(rng.choice(WORDS))
        one.set(name, " ".join(words) if kind else str(rng.choice(WORDS)))
    elif kind == 3 and one.attrib:
        del one.attrib[str(rng.choice(list(one.attrib)))]
    elif kind == 4 and two.attrib:
        name = str(rng.choice(list(two.attrib)))
        one.set(name, two.attrib[name])
    elif kind == 5 and len(one):
        one.remove(one[int(rng.integers(len(one)))])
    elif kind == 6 and len(two):
        one.append(deepcopy(two[int(rng.integers(len(two)))]))
    else:
        one.append(ElementTree.fromstring(str(rng.choice(TAGS))))


def _break(text: str, rng: np.random.Generator) -> str:
    at, kind = int(rng.integers(len(text) + 1)), rng.integers(4)
    if kind == 0:
        ends = [i for i, c in enumerate(text) if c == ">"] or [0]
        i = int(rng.choice(ends)) + 1
        return text[:i] + str(rng.choice(TAGS + SCRAPS)) + text[i:]
    if kind == 1:
        return text[:at] + text[at + int(rng.integers(40)) :]
    if kind == 2:
        return text[:at] + text[at : at + 200] + text[at:]
    return text[:at] + chr(int(rng.integers(1, 400))) + text[at + 1 :]


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_mutations_are_read_or_refused(round_: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    refused = 0
    for k in range(PER_ROUND):
        rng = np.random.default_rng((round_, k))
        data = mutated(SEEDS[int(rng.integers(len(SEEDS)))], rng)
        path = write(tmp_path, data)
        start = time.perf_counter()
        try:
            load_mjcf(path).freeze()
        except sh.SharnirError:
            refused += 1
        except BaseException as error:
            raise AssertionError(f"round {round_}, file {k}: {type(error).__name__}: {error}") from error
        assert time.perf_counter() - start < SLOWEST, f"round {round_}, file {k}"
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
            load_mjcf(path).freeze()
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
    start = time.perf_counter()
    with pytest.raises(sh.SharnirError):
        load_mjcf(write(tmp_path, text))
    assert time.perf_counter() - start < SLOWEST
