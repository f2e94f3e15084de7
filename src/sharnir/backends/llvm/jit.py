"""From assembly to machine code in memory, by way of the cache."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache as once
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from ..cache import Cache, digest

VERSION = "1"
"""Raised whenever the emitted text stays the same but what is done with it changes."""


@once
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def machine() -> Any:
    """A code generator for this very processor."""
    _initialize()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=_features(), opt=3, codemodel="small", reloc="pic")


def _features() -> str:
    _initialize()
    return llvm.get_host_cpu_features().flatten()


@once
def host_lanes() -> int:
    """How many doubles a vector register holds."""
    features = _features().split(",")
    return 8 if "+avx512f" in features else 4 if "+avx" in features else 2


@once
def host() -> str:
    """What machine code depends on besides its text."""
    return "|".join([VERSION, llvmlite.__version__, str(llvm.llvm_version_info), llvm.get_host_cpu_name(), _features()])


class Compiled:
    """A function in machine code; keeps alive what it lives in."""

    def __init__(self, code: bytes, name: str = "f") -> None:
        self.size = len(code)
        """Bytes of the object file."""
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine())
        self.engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self.engine.finalize_object()
        self.address = self.engine.get_function_address(name)
        self.call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.address)
        """Called with the address of the argument list; lets other threads run meanwhile."""
        self.call_quick = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(self.address)
        """The same without letting go of the interpreter: for single states."""


def compile_text(text: str, store: Cache) -> Compiled:
    return compile_kept((text,), lambda: text, store)


def compile_kept(depends_on: tuple[str, ...], make_text: Callable[[], str], store: Cache) -> Compiled:
    """Code kept under all it depends on; the text is made only where the code is not there yet."""
    key = digest(host(), *depends_on)
    code = store.load("llvm", key)
    if code is None:
        code = object_code(make_text())
        store.save("llvm", key, code)
    return Compiled(code)


def optimized(text: str) -> str:
    """A module that is loops over arrays, not straight lines: everything inlined, loops vectorised."""
    module = llvm.parse_assembly(text)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.inlining_threshold = 225
    options.loop_vectorization, options.slp_vectorization = True, False  # pairs of numbers far apart: slower, and long to find
    builder = llvm.create_pass_builder(machine(), options)
    builder.getModulePassManager().run(module, builder)
    return str(module)


def object_code(text: str) -> bytes:
    """Machine code of a module. The graph is simplified already, so the shortest useful list of passes will do;
    what matters (fusing, scheduling, registers) happens in the code generator."""
    module = llvm.parse_assembly(text)
    module.verify()
    target = machine()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    return target.emit_object(module)
