"""MuJoCo's compiler in a process of its own. A file of a few lines can make it take minutes, gigabytes or crash; all of that ends
with an error that names the file, and never ends the user's process.

A process for each file would take `import mujoco` for each, a third of a second. This one is started with the first MJCF file and
serves those after it, for a few milliseconds each; the user's process does not import MuJoCo at all: it gets the compiled model
as plain arrays through a pipe.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import IO, Any

import numpy as np

from ..errors import FormatError, ModelError
from ..types import FloatArray

MISSING = 'reading MJCF needs MuJoCo\'s own compiler: pip install "sharnir[mjcf]"'
HEADER = 8
"""Bytes that say how long the JSON of a message is."""
SECONDS, SECONDS_PER_MB = 10.0, 2.0
MEGABYTES, MEGABYTES_PER_MB = 1000.0, 50.0
"""Limits of a job, and how much more for each megabyte of text and meshes. $SHARNIR_MJCF_SECONDS and $SHARNIR_MJCF_MB
replace the first of each."""
STARTING = 120.0
ENVIRONMENT = {"MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1", "MUJOCO_GL": "disable"}
"""Threads take address space, which is bounded; and nothing is drawn: that import takes 50 ms."""
IDLE = 120.0
"""Seconds without a job after which the process ends."""
OUT_OF_MEMORY = ("Could not allocate memory", "Caught an unknown exception!")
"""MuJoCo's messages for it; the second is std::bad_alloc."""
START = "import sys; sys.path[:] = sys.argv[2:]; from sharnir.io.mjcf_compile import main; main(float(sys.argv[1]))"


class CompiledModel:
    """The fields of an MjModel that are read, under MuJoCo's names (`body_mass`, `jnt_axis` …); names and lines of objects.

    In `facts`, "meshes" has the file of every mesh as the source names it (`Source.assets`), "" where it has none."""

    def __init__(self, facts: Mapping[str, Any], arrays: Mapping[str, FloatArray]) -> None:
        self.facts = facts
        vars(self).update(arrays)

    def __getattr__(self, field: str) -> FloatArray:
        raise AttributeError(f"this version of MuJoCo has no {field}")

    def given(self, field: str, i: int, default: Any = 0) -> Any:
        """Entry i of a field that not every version of MuJoCo has."""
        return vars(self)[field][i] if field in vars(self) else default

    def count(self, kind: str) -> int:
        """How many "body", "joint", "geom", "site", "camera", "equality", "tendon", "actuator", "key" … there are."""
        return len(self.facts["names"].get(kind, ()))

    def name_of(self, kind: str, i: int) -> str:
        return str(self.facts["names"][kind][i])

    def name_or_number(self, kind: str, i: int) -> str:
        """`elbow`, or `joint3` where it has no name."""
        return self.name_of(kind, i) or f"{kind}{i}"

    def label(self, kind: str, i: int) -> str:
        """`joint 'elbow'`, or `joint 3` where it has no name."""
        return f"{kind} {self.name_of(kind, i) or i!r}"

    def line_of(self, kind: str, i: int) -> int:
        """The line of the source that defines an object; 0 where that is not known."""
        lines = self.facts["lines"].get(kind, ())
        return int(lines[i]) if i < len(lines) else 0

    def enumeration(self, name: str) -> dict[str, int]:
        """`mjtGeom` … as {"sphere": 2, …}."""
        return self.facts["enumerations"][name]

    def word(self, enumeration: str, number: int) -> str:
        """`sphere` for mjtGeom and 2."""
        return next((word for word, n in self.enumeration(enumeration).items() if n == number), "unknown")

    def is_disabled(self, what: str) -> bool:
        """Whether `<option><flag>` switches something off: "gravity", "spring", "damper", "equality" …"""
        bits = self.enumeration("mjtDisableBit")
        bit = bits.get(what) or bits["passive"]  # one bit for springs and dampers in older versions
        return bool(int(self.opt_disableflags[0]) & bit)


# --- messages -----------------------------------------------------------------------------------------------------------
def send(pipe: IO[bytes], facts: Mapping[str, Any], arrays: Mapping[str, FloatArray] | None = None) -> None:
    """One message: JSON and the bytes of arrays. No pickle: a message can only be data."""
    parts = {name: np.ascontiguousarray(a) for name, a in (arrays or {}).items()}
    layout = [(name, a.dtype.str, a.shape) for name, a in parts.items()]
    text = json.dumps({"facts": facts, "arrays": layout}).encode()
    pipe.write(len(text).to_bytes(HEADER, "little") + text)
    for a in parts.values():
        pipe.write(a.tobytes())
    pipe.flush()


def receive(pipe: IO[bytes]) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """The next message; EOFError where the other side has gone."""
    message = json.loads(_exactly(pipe, int.from_bytes(_exactly(pipe, HEADER), "little")))
    arrays: dict[str, FloatArray] = {}
    for name, dtype, shape in message["arrays"]:
        kind = np.dtype(dtype)
        data = _exactly(pipe, kind.itemsize * int(np.prod(shape, dtype=int)))
        arrays[name] = np.frombuffer(data, kind).reshape(shape)
    return message["facts"], arrays


def _exactly(pipe: IO[bytes], count: int) -> bytes:
    data = pipe.read(count)
    if len(data) < count:
        raise EOFError("the other side has gone")
    return data


# --- the process ----------------------------------------------------------------------------------------------------------
class Ended(Exception):
    """The process ended before it answered: its exit code, and whether it took too long."""


class MjcfCompiler:
    """The process, started where there is none, and replaced after a job that it did not survive."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.ready = False
        self.used = 0.0

    def start(self) -> None:
        """Start the process if it is not running; it imports MuJoCo while the caller goes on."""
        if find_spec("mujoco") is None:
            raise ModelError(MISSING)
        with self.lock:
            self._start()

    def compile(self, job: Mapping[str, Any], size: int) -> CompiledModel:
        """The compiled model of a job (see `mjcf_compile.compiled`); `size`: bytes of all that it reads."""
        seconds = _limit("SHARNIR_MJCF_SECONDS", SECONDS) + SECONDS_PER_MB * size / 1e6
        megabytes = _limit("SHARNIR_MJCF_MB", MEGABYTES) + MEGABYTES_PER_MB * size / 1e6
        with self.lock:
            self._greet()
            try:
                facts, arrays = self._answer(seconds, {**job, "seconds": seconds, "bytes": int(megabytes * 1e6)})
            except Ended as end:
                code, late = end.args
                if late or code == -getattr(signal, "SIGXCPU", 0):
                    raise _too_much(f"{seconds:.3g} s", "SHARNIR_MJCF_SECONDS") from None
                raise FormatError(f"MuJoCo's compiler crashed on it ({_ending(code)})") from None
            self.used = time.monotonic()
            if "last" in facts:
                self._end()
        if "memory" in facts or any(words in facts.get("refused", "") for words in OUT_OF_MEMORY):
            raise _too_much(f"{megabytes:.4g} MB of memory", "SHARNIR_MJCF_MB")
        if "refused" in facts:
            raise FormatError(facts["refused"])
        return CompiledModel(facts, arrays)

    def _start(self) -> None:
        idle = time.monotonic() - self.used > IDLE / 2  # it may be about to end by itself
        if self.process is not None and not idle and self.process.poll() is None:
            return
        self._end()
        flags = ["-I", "-B"] if sys.dont_write_bytecode else ["-I"]
        command = [sys.executable, *flags, "-c", START, str(IDLE), *(os.path.abspath(p) for p in sys.path)]
        environment, folder, pipe = {**os.environ, **ENVIRONMENT}, tempfile.gettempdir(), subprocess.PIPE
        try:
            self.process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=folder, env=environment
            )
        except OSError as error:
            raise ModelError(f"MuJoCo's compiler runs in a process of its own, which cannot be started: {error}") from None
        self.ready, self.used = False, time.monotonic()

    def _greet(self) -> None:
        """Wait until the process has imported MuJoCo; one that ended for lack of jobs is replaced."""
        self._start()
        if self.ready:
            return
        try:
            facts, _ = self._answer(STARTING)
        except Ended as end:
            raise ModelError(f"the process of MuJoCo's compiler does not start ({_ending(end.args[0])})") from None
        if "missing" in facts:
            self._end()
            raise ModelError(facts["missing"])
        self.ready = True

    def _answer(self, seconds: float, job: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """The answer of the process to a job, or what it says at first; `Ended` where it does not come in so many seconds."""
        process, late = self.process, threading.Event()
        assert process is not None and process.stdin is not None and process.stdout is not None

        def stop() -> None:
            late.set()
            process.kill()

        clock = threading.Timer(seconds, stop)
        clock.start()
        try:
            if job is not None:
                send(process.stdin, job)
            return receive(process.stdout)
        except (EOFError, OSError):
            raise Ended(self._end(), late.is_set()) from None
        except BaseException:  # Ctrl-C: an answer may still come, but no call waits for it
            self._end()
            raise
        finally:
            clock.cancel()

    def _end(self) -> int:
        """End the process; its exit code."""
        process, self.process = self.process, None
        if process is None:
            return 0
        with suppress(OSError):
            process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        return process.wait()

    def close(self) -> None:
        with self.lock:
            self._end()

    def forget(self) -> None:
        """Forget the process in a forked child: it belongs to the parent."""
        process, self.lock, self.process = self.process, threading.Lock(), None
        if process is not None and process.stdin is not None and process.stdout is not None:
            process.stdin.close()
            process.stdout.close()
            process.returncode = 0  # it is not ours to wait for


def _too_much(limit: str, name: str) -> FormatError:
    return FormatError(f"compiling it takes more than {limit}; make fewer copies or smaller meshes, or set {name}")


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _limit(name: str, default: float) -> float:
    text = os.environ.get(name) or str(default)
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 < value < 1e9:
        raise ModelError(f"{name} must be a positive number, got {text!r}")
    return value


COMPILER = MjcfCompiler()
atexit.register(COMPILER.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=COMPILER.forget)
