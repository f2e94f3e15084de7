"""Settings of every test: one BLAS thread per worker, reproducible examples of hypothesis, a cache of its own, Ctrl-C heard."""

import atexit
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

if "PYTEST_XDIST_WORKER" not in os.environ:  # workers inherit the folder: what one compiles, all find
    os.environ["SHARNIR_CACHE"] = tempfile.mkdtemp(prefix="sharnir-tests-")
    atexit.register(shutil.rmtree, os.environ["SHARNIR_CACHE"], ignore_errors=True)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # `make test &` in a script: no process would hear it
    signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path.insert(0, str(Path(__file__).parents[1]))  # for `benchmarks.robots`

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

settings.register_profile("sharnir", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("sharnir")


@pytest.fixture
def command(capsys, monkeypatch):
    """`sharnir` with arguments: exit code, stdout, stderr."""
    from sharnir.cli.main import main

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sharnir", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        out = capsys.readouterr()
        return int(end.value.code or 0), out.out, out.err

    return call
