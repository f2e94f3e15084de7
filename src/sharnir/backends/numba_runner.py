"""A program as loops compiled by Numba: models of any size.

All kernels are written, as they stand, into one module in the cache folder whose name is a digest of all of them, so
that Numba's own cache, which looks at one file only, can be trusted. Each program has a driver there, a loop over states.
"""

from __future__ import annotations

import atexit
import importlib.util
import inspect
import os
import pickle
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..errors import MethodError
from ..kernels import ops
from ..kernels.arrays import Array
from ..kernels.joint_stage import Joints
from ..kernels.tree import Tree
from ..model.storage import allocate, resolve
from ..programs import PROGRAMS
from ..programs.program import Program
from .cache import Cache, digest, say_unwritable
from .compiled_forces import CompiledForces
from .link import closure
from .llvm.runner import LLVMRunner, pool
from .runner import Interface
from .user_functions import USER_FUNCTIONS

FLAGS = "{'contract', 'reassoc', 'nsz', 'arcp'}"
_modules: dict[str, ModuleType] = {}


class NumbaRunner(Interface):
    def __init__(self, *args: Any, store: Cache | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._store = store or Cache()
        _check_memory(self.program, self.structure)
        self.driver = getattr(load_module(self._store), driver_name(self.program))
        self._model = [*self.structure.tree, *self.structure.joints]
        self.work = [_flat(allocate(self.program.work, self.structure.sizes))]
        self._constants = {name: np.asarray(x, dtype=float)[None] for name, x in self.constant.items()}

    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        given = dict(zip(self.inputs, inputs, strict=True))
        given.update(self._constants)
        given.update(self._user_functions(given))
        if self.structure.forces and "wrench" in given:
            given.update(self._with_forces(given))
        arrays = [self._shaped(name, given[name]) for name in self.program.inputs.__annotations__]
        results = self._results(n, dict(zip(self.outputs, outputs, strict=True)))
        threads = 1 if self.program.loops_only else max(1, min(threads, n))
        while len(self.work) < threads:
            self.work.append(_flat(allocate(self.program.work, self.structure.sizes)))
        edges = [n * k // threads for k in range(threads + 1)]

        def part(k: int) -> None:
            self._call(edges[k], edges[k + 1], *self._model, *self.work[k], *arrays, *results)

        if threads == 1:
            part(0)
        else:
            list(pool(threads).map(part, range(threads)))

    def _call(self, *args: Any) -> None:
        """The driver; where what Numba kept on disk is damaged, it is thrown away and made anew."""
        try:
            self.driver(*args)
        except (pickle.UnpicklingError, EOFError):
            self.driver = getattr(load_module(self._store, afresh=True), driver_name(self.program))
            self.driver(*args)

    def _shaped(self, name: str, x: np.ndarray) -> np.ndarray:
        shape = resolve(self.program.inputs.__annotations__[name].shape, self.structure.sizes)
        return np.ascontiguousarray(x, dtype=np.int64 if name in self.program.integers else float).reshape(len(x), *shape)

    def _results(self, n: int, wanted: dict[str, np.ndarray]) -> list[np.ndarray]:
        """Outputs in the program's order; what nobody asked for is thrown away."""
        out = []
        for name, array in self.program.outputs.__annotations__.items():
            shape = (n, *resolve(array.shape, self.structure.sizes))
            out.append(wanted[name].reshape(shape) if name in wanted else np.empty(shape))
        return out

    def _user_functions(self, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Driven coordinates and given motions of every state, by compiled code of their own."""
        s = self.structure
        nothing = np.zeros((1, 0))
        if not s.drives and not s.given:
            return {"drive": nothing, "given": nothing, "load": nothing}
        if not hasattr(self, "_functions"):
            self._functions = LLVMRunner(USER_FUNCTIONS, s, store=self._store)
        v = given.get("v", np.zeros((1, s.nv)))
        q, t = given["q"], given["t"]
        rows = max(len(q), len(v), len(t))
        drive, values = np.empty((rows, 3 * len(s.drives))), np.empty((rows, s.sizes["ng"]))
        self._functions.run(rows, [np.ascontiguousarray(x) for x in (q, v, t)], [drive, values])
        return {"drive": drive, "given": values, "load": nothing}

    def _with_forces(self, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Wrenches, joint forces and loads once the model's own forces have acted."""
        s = self.structure
        if not hasattr(self, "_forces"):
            self._forces = CompiledForces(s, self._store)
            self._motion = NumbaRunner(PROGRAMS["motion"], s, store=self._store) if s.forces.kinematic else None
        motion = {name: given[name] for name in ("t", "q", "v")}
        if self._motion is not None:
            n = max(len(x) for x in motion.values())
            found = {name: np.empty((n, int(np.prod(shape)))) for name, shape in self._motion.outputs.items()}
            self._motion.run(n, [motion[name] for name in self._motion.inputs], list(found.values()))
            motion |= found
        found = self._forces.loads(motion)
        out = {"wrench": given["wrench"].reshape(len(given["wrench"]), -1) + found["wrench"], "load": found["load"]}
        if "tau" in given:
            out["tau"] = given["tau"] + found["load"]
        return out


def _check_memory(program: Program, structure: Any) -> None:
    need = [0]

    def count(shape: tuple[int, ...]) -> None:
        need[0] += 8 * int(np.prod([float(k) for k in shape]))

    allocate(program.work, structure.sizes, count)
    have = _memory()
    if have and need[0] > 0.8 * have:
        raise MethodError(
            f"'{program.name}' would need {need[0] / 2**30:.0f} GiB of work space for {structure.nb} bodies and "
            f"{structure.nv} freedoms, of {have / 2**30:.0f} GiB; choose a method of linear cost, 'separate' or 'lagrange1'"
        )


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


# --- the module of all kernels --------------------------------------------------------------------------------------------
def load_module(store: Cache, afresh: bool = False) -> ModuleType:
    """The module of all kernels: from memory, from the cache folder, or made now; `afresh` distrusts both."""
    import numba

    text = module_text()
    key = digest(text, numba.__version__, sys.version, platform.machine(), np.__version__)[:32]
    where = str(store.folder / key)
    if afresh:
        _modules.pop(where, None)
        shutil.rmtree(store.folder / "numba" / key, ignore_errors=True)
    if where not in _modules:
        path = _place(store.folder / "numba" / key, text)
        _modules[where] = _import(path, f"sharnir_kernels_{digest(str(path))[:16]}")
    return _modules[where]


def _place(folder: Path, text: str) -> Path:
    """The module's file; in a folder that goes away with the process where the cache cannot be written."""
    path = folder / "kernels.py"
    try:
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=folder, suffix=".tmp")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(name, path)
        return path
    except OSError as error:
        say_unwritable(folder.parents[1], error)
        path = Path(tempfile.mkdtemp(prefix="sharnir-")) / "kernels.py"
        atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
        path.write_text(text, encoding="utf-8")
        return path


def _import(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def driver_name(program: Program) -> str:
    return "drive_" + program.function.__name__


@cache
def module_text() -> str:
    """One self-contained module: constants, every kernel that any program calls, and a loop over states for each."""
    functions: dict[str, Any] = {}
    for program in PROGRAMS.values():
        for f in closure(program.function):
            if f.__module__ == ops.__name__ and f.__name__ != "select":
                continue  # Numba has its own: those of math
            if functions.setdefault(f.__name__, f) is not f:
                raise AssertionError(f"two kernels are called {f.__name__!r}: rename one")
    constants = {}
    for f in functions.values():
        for name in f.__code__.co_names:
            value = f.__globals__.get(name)
            if isinstance(value, (int, float, tuple)):
                constants[name] = value
    return "\n".join(
        [
            '"""The kernels of sharnir, as they stand, for Numba. Generated; do not edit."""',
            "from math import " + ", ".join(sorted(n for n in ops.__all__ if n != "select")),
            "from numba import njit",
            "",
            f"kernel = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={FLAGS}, error_model='numpy')",
            f"driver = njit(nogil=True, cache=True, fastmath={FLAGS}, error_model='numpy')",
            *(f"{name} = {value!r}" for name, value in sorted(constants.items())),
            *(f"\n\n@kernel\n{inspect.getsource(f)}" for f in functions.values()),
            *(_driver_text(program) for program in PROGRAMS.values()),
        ]
    )


def _driver_text(program: Program) -> str:
    """The loop over states. Arrays come one by one and are put into their groups inside: Numba takes an array quickly,
    a NamedTuple slowly."""
    groups = {"tree": Tree, "joints": Joints, "work": program.work}
    x, y = list(program.inputs.__annotations__), list(program.outputs.__annotations__)
    parameters = [name for prefix, group in groups.items() for name in _leaves(group, prefix)]
    rows = ", ".join(f"{k}[b if {k}.shape[0] > 1 else 0]" for k in x)
    results = ", ".join(f"y_{k}[b]" for k in y)
    classes = sorted({c for group in (*groups.values(), program.inputs, program.outputs) for c in _classes(group)}, key=_alias)
    imports = "\n".join(f"from {c.__module__} import {c.__name__} as {_alias(c)}" for c in classes)
    return f"""
{imports}


@driver
def {driver_name(program)}(first, last, {", ".join([*parameters, *x, *(f"y_{k}" for k in y)])}):
    tree = {_built(Tree, "tree")}
    joints = {_built(Joints, "joints")}
    work = {_built(program.work, "work")}
    for b in range(first, last):
        x = {_alias(program.inputs)}({rows})
        {program.function.__name__}(tree, joints, x, work, {_alias(program.outputs)}({results}))
"""


def _alias(group: type) -> str:
    return f"{group.__module__.rsplit('.', 1)[-1]}_{group.__name__}"


def _classes(group: Any) -> list[type]:
    """A group and the groups in it."""
    return [group, *(c for part in group.__annotations__.values() if not issubclass(part, Array) for c in _classes(part))]


def _leaves(group: Any, prefix: str) -> list[str]:
    """Names of the arrays of a group, groups within it opened up."""
    out: list[str] = []
    for name, part in group.__annotations__.items():
        out += [f"{prefix}_{name}"] if issubclass(part, Array) else _leaves(part, f"{prefix}_{name}")
    return out


def _built(group: Any, prefix: str) -> str:
    """The text that puts a group together from its arrays."""
    parts = (
        f"{prefix}_{name}" if issubclass(part, Array) else _built(part, f"{prefix}_{name}")
        for name, part in group.__annotations__.items()
    )
    return f"{_alias(group)}({', '.join(parts)})"


def _flat(group: Any) -> list[np.ndarray]:
    """The arrays of a group, groups within it opened up."""
    return [x for part in group for x in ([part] if isinstance(part, np.ndarray) else _flat(part))]
