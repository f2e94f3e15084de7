"""A program as loops compiled by Numba: models of any size.

What is kept on disk is object code under a digest of the text of all kernels, so that an edit anywhere is noticed, and a
warm cache is loaded without Numba.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from ..errors import MethodError
from ..kernels.joint_stage import Joints
from ..kernels.tree import Tree
from ..model.storage import allocate, resolve, words
from ..model.structure import Structure
from ..programs import PROGRAMS
from ..programs.program import Program
from .cache import Cache
from .grouped_forces import GroupedForces
from .llvm.jit import Compiled, compile_kept
from .llvm.runner import LLVMRunner, Prepared, share
from .numba_module import addresses, flat, kernels_text, native_assembly, translators
from .runner import Interface
from .user_functions import USER_FUNCTIONS

FLAGS = "{'contract', 'reassoc', 'nsz', 'arcp'}"
_loaded: dict[tuple[str, str], Compiled] = {}


class NumbaRunner(Interface):
    def __init__(self, *args: Any, store: Cache | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._store = store or Cache()
        _check_memory(self.program, self.structure)
        self.compiled = load(self.program, self._store)
        self._model = addresses([*self.structure.tree, *self.structure.joints])
        self.work: list[list[np.ndarray]] = []
        self._lists: list[np.ndarray] = []
        self._more_work()
        self._constants = {name: np.asarray(x, dtype=float)[None] for name, x in self.constant.items()}
        sizes, program = self.structure.sizes, self.program
        self._input_shapes = {name: resolve(a.shape, sizes) for name, a in program.inputs.__annotations__.items()}
        self._output_shapes = {name: resolve(a.shape, sizes) for name, a in program.outputs.__annotations__.items()}

    def _more_work(self) -> None:
        """Work arrays for one thread more, and the list by which compiled code finds them."""
        self.work.append(flat(allocate(self.program.work, self.program.sizes(self.structure))))
        self._lists.append(np.array([0, 0, 0, *self._model, *addresses(self.work[-1])], dtype=np.int64))

    def run(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], threads: int = 1) -> None:
        if n == 0:
            return
        x, y, _keep = self._where(n, inputs, outputs)
        threads = 1 if self.program.loops_only else max(1, min(threads, n))
        while len(self.work) < threads:
            self._more_work()
        edges = [n * k // threads for k in range(threads + 1)]

        def part(k: int) -> None:
            first, last = edges[k], edges[k + 1]
            self._lists[k][:3] = last - first, x[first:].ctypes.data, y[first:].ctypes.data
            self.compiled.call(self._lists[k].ctypes.data)

        if threads == 1:
            part(0)
        else:
            share(part, range(threads), threads)

    def prepared(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> Callable[[], None]:
        """A call on these very arrays, to be made again and again: nothing but the compiled code."""
        x, y, keep = self._where(n, inputs, outputs)
        arguments = self._lists[0].copy()
        arguments[:3] = n, x.ctypes.data, y.ctypes.data
        return Prepared(self.compiled, arguments, (self, x, y, keep))

    def _where(self, n: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, Any]:
        """Where the inputs and outputs of every state are, and what must be kept alive for that."""
        given = dict(zip(self.inputs, inputs, strict=True))
        given.update(self._constants)
        given.update(self._user_functions(given))
        if self.structure.forces and "wrench" in given:
            given.update(self._with_forces(given))
        arrays = [self._shaped(name, given[name]) for name in self._input_shapes]
        results = self._results(n, dict(zip(self.outputs, outputs, strict=True)))
        return _rows(arrays, n), _rows(results, n), (arrays, results)

    def native(self, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> tuple[int, np.ndarray, Any]:
        """Address and arguments of a native function that works on these very arrays, and what must be kept alive.

        `inputs` has everything the program reads, what is computed beforehand (drive, given, load) too.
        """
        program = self.program
        sizes = program.sizes(self.structure)
        x = [inputs[name].reshape(1, *resolve(a.shape, sizes)) for name, a in program.inputs.__annotations__.items()]
        y = [outputs[name].reshape(1, *resolve(a.shape, sizes)) for name, a in program.outputs.__annotations__.items()]
        work = flat(allocate(program.work, sizes))
        rows = _rows(x, 1), _rows(y, 1)
        head = [1, rows[0].ctypes.data, rows[1].ctypes.data]
        arguments = np.array([*head, *self._model, *addresses(work)], dtype=np.int64)
        return self.compiled.address, arguments, (self, x, y, work, rows)

    def _shaped(self, name: str, x: np.ndarray) -> np.ndarray:
        kind = np.int64 if name in self.program.integers else float
        return np.ascontiguousarray(x, dtype=kind).reshape(len(x), *self._input_shapes[name])

    def _results(self, n: int, wanted: dict[str, np.ndarray]) -> list[np.ndarray]:
        """Outputs in the program's order; what nobody asked for is thrown away."""
        shapes = ((name, (n, *shape)) for name, shape in self._output_shapes.items())
        return [wanted[name].reshape(shape) if name in wanted else np.empty(shape) for name, shape in shapes]

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
        if not hasattr(self, "_forces"):
            self._forces = grouped_forces(self.structure, self._store)
        found = self._forces.loads({name: given[name] for name in ("t", "q", "v")})
        out = {"wrench": given["wrench"].reshape(len(given["wrench"]), -1) + found["wrench"], "load": found["load"]}
        if "tau" in given:
            out["tau"] = given["tau"] + found["load"]
        return out


def grouped_forces(structure: Structure, store: Cache) -> GroupedForces:
    """The forces of a model, with poses and velocities by loops."""
    bodies = NumbaRunner(PROGRAMS["motion"], structure, store=store) if structure.forces.kinematic else None
    return GroupedForces(structure, bodies, store)


def _check_memory(program: Program, structure: Any) -> None:
    need = [0]

    def count(shape: tuple[int, ...]) -> None:
        need[0] += 8 * int(np.prod([float(k) for k in shape]))

    allocate(program.work, program.sizes(structure), count)
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


# --- machine code ---------------------------------------------------------------------------------------------------------
def load(program: Program, store: Cache) -> Compiled:
    """The machine code of a program: from memory, from the cache folder, or made now."""
    key = (program.name, str(store.folder))
    if key not in _loaded:
        texts = (translators(), module_text(), _main_text(program))
        depends_on = (program.name, *texts, version("numba"), version("numpy"), sys.version)
        _loaded[key] = compile_kept(depends_on, lambda: _assembly(program), store)
    return _loaded[key]


@cache
def module_text() -> str:
    """All the text a program can depend on: constants, and every kernel that any program calls."""
    return "\n".join(
        [
            '"""The kernels of sharnir, as they stand, for Numba. Generated; do not edit."""',
            "from numba import njit",
            "from sharnir.backends.intrinsics import word",
            "",
            f"kernel = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={FLAGS}, error_model='numpy', _nrt=False)",
            kernels_text([program.function for program in PROGRAMS.values()]),
        ]
    )


def _main_text(program: Program) -> str:
    """The loop over states. The list at `address`: number of states, where the lists of their inputs and outputs are, one
    after the other, then the arrays of the model and of the work."""
    at = [24, 24 + 8 * words(Tree), 24 + 8 * (words(Tree) + words(Joints))]
    x, y = 8 * words(program.inputs), 8 * words(program.outputs)
    return f"""def main(address):
    tree, joints, work = tree_at(address + {at[0]}), joints_at(address + {at[1]}), work_at(address + {at[2]})
    inputs, outputs = word(address + 8), word(address + 16)
    n = word(address)
    for b in range(n):
        {program.function.__name__}(tree, joints, inputs_at(inputs + {x} * b), work, outputs_at(outputs + {y} * b))
    return n
"""


@cache
def _space() -> dict[str, Any]:
    """The kernels, not compiled yet: what two programs share is compiled once in a process."""
    space: dict[str, Any] = {"__name__": "sharnir_kernels"}
    exec(compile(module_text(), "<sharnir kernels>", "exec"), space)
    return space


def forget_kernels() -> None:
    """What programs share is compiled anew: for those who measure how long compilation takes."""
    _space.cache_clear()


def _assembly(program: Program) -> str:
    groups = {"tree": Tree, "joints": Joints, "work": program.work, "inputs": program.inputs, "outputs": program.outputs}
    return native_assembly(_space(), _main_text(program), {f"{name}_at": group for name, group in groups.items()})


def _rows(arrays: Sequence[np.ndarray], n: int) -> np.ndarray:
    """For every state the list of its rows of the arrays: address and shape of each; one row may serve all states."""
    first = np.array([k for x in arrays for k in (x.ctypes.data, *x.shape[1:])], dtype=np.int64)
    if n == 1:
        return first[None]
    step = [k for x in arrays for k in (x.strides[0] if len(x) > 1 else 0, *(0 for _ in x.shape[1:]))]
    return first + np.arange(n)[:, None] * np.array(step, dtype=np.int64)
