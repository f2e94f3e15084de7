"""Cases that go wrong on purpose: what the fuzzer must find, each by its seed."""

from __future__ import annotations

import os
import signal

HELD = []


def case(seed: int) -> tuple[str, str]:
    if seed == 1:
        os.abort()
    while seed == 2:
        pass
    if seed == 3:
        HELD.append(b"x" * 400_000_000)
        signal.pause()  # until it is ended
    if seed == 4:
        raise KeyError("not one of ours")
    return "accepted", "nothing"
