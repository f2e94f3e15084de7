"""The tests as other processors would run them: `make test-cpus`, or `make test-cpus-fast` for the half that takes two minutes.

Each level of x86-64 that this processor has, with instructions of that level in compiled code (`SHARNIR_CPU`), in OpenBLAS and in
NumPy: what is asked of numbers must not rest on the rounding of one of them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from sharnir.dialect.jit import LEVELS

HERE = Path(__file__).parent
KERNELS = {"x86-64-v2": "Nehalem", "x86-64-v3": "Haswell", "x86-64-v4": "SkylakeX"}
"""Names of OpenBLAS."""
KEPT = {"x86-64-v2": (), "x86-64-v3": ("X86_V3", "AVX2", "FMA3"), "x86-64-v4": tuple(__cpu_dispatch__)}
"""What NumPy may use of the instructions that it chooses at run time."""
BITS = re.compile(r"array_equal|tobytes|tolist\(\) ==|to_the_last_bit")
NOT_NUMERICAL = re.compile(r"test_(benchmarks|cli|fuzz|live|loading|mesh|page|pictures|plots|processes|stud|view)")
LONG = ("derivatives", "flexible", "parameters", "large_models", "cache", "equilibrium", "optimize")
"""Left to the whole: they take as long as all others of the fast half."""


def levels() -> list[str]:
    """Those that this processor has, the lowest first: it differs most from what runs every day."""
    here = llvm.get_host_cpu_features()
    return [level for level, needs in LEVELS.items() if all(here.get(name) for name in needs.split())]


def files(fast: bool) -> list[str]:
    """Those about numbers; fast: of them those that ask for equal bits."""
    found = [path for path in sorted(HERE.rglob("test_*.py")) if not NOT_NUMERICAL.match(path.name)]
    if fast:
        short = [path for path in found if path.stem.removeprefix("test_") not in LONG]
        found = [path for path in short if BITS.search(path.read_text(encoding="utf-8"))]
    return [str(path) for path in found]


def run(level: str, fast: bool) -> int:
    off = [name for name in __cpu_dispatch__ if __cpu_features__[name] and name not in KEPT[level]]
    setting = {"SHARNIR_CPU": level, "OPENBLAS_CORETYPE": KERNELS[level], "NPY_DISABLE_CPU_FEATURES": " ".join(off)}
    print(*(f"{name}={value!r}" for name, value in setting.items()), flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "loadgroup", "-m", "not browser", *files(fast)]
    return subprocess.run(command, cwd=HERE.parent, env={**os.environ, **setting}, check=False).returncode


def main() -> int:
    fast = "--fast" in sys.argv[1:]
    codes = [run(level, fast) for level in levels()[: 1 if fast else None]]
    return max(codes, default=0)


if __name__ == "__main__":
    sys.exit(main())
