"""Cases that go wrong on purpose: what the fuzzer must find, each by its seed."""

from __future__ import annotations

import os
import time

HELD = []


def case(seed: int) -> tuple[str, str]:
    if seed == 1:
        os.abort()
    if seed == 2:
        time.sleep(60.0)
    if seed == 3:
        HELD.append(b"x" * 400_000_000)
        time.sleep(0.8)
    if seed == 4:
        raise KeyError("not one of ours")
    return "accepted", "nothing"
