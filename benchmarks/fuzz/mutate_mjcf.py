"""Damage to an MJCF file: its elements and attributes, or its characters."""

from __future__ import annotations

from copy import deepcopy
from xml.etree import ElementTree

import numpy as np

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
