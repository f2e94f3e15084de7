"""Files gone wrong: whatever is done to an MJCF file, it is read or refused with an error of ours, soon."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from benchmarks.fuzz.mutate_mjcf import mutated

import sharnir as sh
from mjcf_models import SEED_FILES
from mujoco_pairs import write
from sharnir.io.mjcf import load_mjcf
from test_mjcf import SHIPPED

SEEDS = [*SEED_FILES, SHIPPED.read_text(encoding="utf-8")]
ROUNDS, PER_ROUND = 20, 50
SLOWEST = 10.0
"""Seconds for one file, on a busy machine."""


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
