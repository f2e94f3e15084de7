"""From assembly to machine code in memory, by way of the cache; long work on a thread of its own."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from functools import cache as once
from functools import cached_property, partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import llvmlite
import llvmlite.binding as llvm
from llvmlite.binding.newpassmanagers import NewPassManager

from ..errors import SharnirError
from ..reporting.progress import ProgressBar
from .cache import Cache, digest
from .source import translators

PACKAGE = __name__.partition(".")[0]
COMPILING, BACKGROUND = "sharnir compiling", "sharnir in the background"
"""A bar shows the one; the other is the name of threads whose work may be abandoned."""
LONG_TEXT = 100_000
"""Characters of assembly that take longer to compile than a reader notices, some 0.2 s."""

LEVELS = {
    "x86-64-v2": "cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3",
    "x86-64-v3": "avx avx2 bmi bmi2 f16c fma lzcnt movbe",
    "x86-64-v4": "avx512bw avx512cd avx512dq avx512f avx512vl",
}
"""Values of $SHARNIR_CPU, and the features of each beyond the one before."""

POLL = 0.2
"""Seconds between two looks whether the work is still wanted."""

CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


if hasattr(os, "register_at_fork"):
    # A process forked while another thread compiles would wait for LLVM for ever: forking waits until LLVM is idle.
    _idle = llvm.ffi.lib._lock
    _let_go = partial(_idle.__exit__, None, None, None)
    os.register_at_fork(before=_idle.__enter__, after_in_parent=_let_go, after_in_child=_let_go)
    os.register_at_fork(after_in_child=lambda: _renew_locks())


def _renew_locks() -> None:
    """In a forked process: Python 3.11 holds a lock while it computes a cached_property, and a thread that had one is not there
    to release it."""
    if sys.version_info >= (3, 12):
        return
    for name, module in list(sys.modules.items()):
        for thing in list(vars(module).values()) if name.startswith(f"{PACKAGE}.") else ():
            for x in list(vars(thing).values()) if isinstance(thing, type) else ():
                if isinstance(x, cached_property):
                    x.lock = threading.RLock()  # type: ignore[attr-defined]


@once
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def machine(opt: int = 3) -> Any:
    """A code generator for `processor()`."""
    cpu, features = processor()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=cpu, features=features, opt=opt, codemodel="small", reloc="pic")


@once
def processor() -> tuple[str, str]:
    """Name and features of the processor that code is generated for: this one, or a lower level that $SHARNIR_CPU names."""
    _initialize()
    level, here = os.environ.get("SHARNIR_CPU", ""), llvm.get_host_cpu_features()
    if not level:
        return llvm.get_host_cpu_name(), here.flatten()
    if level not in LEVELS:
        raise SharnirError(f"SHARNIR_CPU must be one of {', '.join(LEVELS)}, or empty for this processor, got {level!r}")
    needed = " ".join(LEVELS[name] for name in LEVELS if name <= level).split()
    if lacking := [name for name in needed if not here.get(name)]:
        raise SharnirError(f"SHARNIR_CPU={level}: this processor lacks {', '.join(lacking)}; name a lower level or none")
    return level, ",".join(f"+{name}" for name in needed)


@once
def host_lanes() -> int:
    """How many doubles a vector register holds."""
    features = processor()[1].split(",")
    return 8 if "+avx512f" in features else 4 if "+avx" in features else 2


@once
def host() -> str:
    """Everything that machine code depends on besides its text."""
    return "|".join([llvmlite.__version__, str(llvm.llvm_version_info), *processor()])


class Compiled:
    """A function in machine code; keeps alive what it lives in."""

    def __init__(self, code: bytes) -> None:
        self.size = len(code)
        """Bytes of the object file."""
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine())
        self.engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self.engine.finalize_object()
        self.address = self.engine.get_function_address("f")
        self.call = CALLBACK(self.address)
        """Called with the address of the argument list; lets other threads run meanwhile."""
        self.call_with_gil = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(self.address)
        """The same call without releasing the GIL: for single states."""


def compile_text(text: str, store: Cache, quick: bool = False) -> Compiled:
    return compile_cached((text,), lambda: text, store, quick=quick)


def compile_cached(
    depends_on: tuple[str, ...], make_text: Callable[[], str], store: Cache, vectorize: bool = False, quick: bool = False
) -> Compiled:
    """Machine code under a digest of everything it depends on: the caller's part, the text of the compiler, LLVM, the
    processor. The assembly is made only where the code is not in the cache yet. `quick`: as of `object_code`."""
    key = digest(host(), translators(), str((vectorize, quick)), *depends_on)
    compiled = _in_use.get((key, str(store.folder)))
    if compiled is None:
        code = store.load("llvm", key)
        if code is None:
            text = make_text()
            code = in_background(partial(object_code, text, vectorize, quick), len(text) > LONG_TEXT)
            store.save("llvm", key, code)
        compiled = _in_use[key, str(store.folder)] = Compiled(code)
    return compiled


_in_use: WeakValueDictionary[tuple[str, str], Compiled] = WeakValueDictionary()
"""Code loaded in this process."""


T = TypeVar("T")


def in_background(work: Callable[[], T], long: bool, title: str = COMPILING) -> T:
    """Run `work`, on a thread of its own where it is long: Ctrl-C stops the wait at once, and the thread after the call it is
    in (of LLVM, LAPACK, a loop); the process ends without waiting for it."""
    if not long:
        return work()
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    thread = threading.Thread(target=copy_context().run, args=(run,), name=BACKGROUND, daemon=True)
    thread.start()
    bar = ProgressBar(False, title, 1.0)
    try:
        while not done.done():
            wait([done], POLL)
            bar.update(0.0)
    except BaseException:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt))
        raise
    return done.result()


@atexit.register
def _leave() -> None:
    """Machine code cannot be stopped, and LLVM aborts where its library is taken down while a compilation is abandoned."""
    at_work = [thread for thread in threading.enumerate() if thread.name == BACKGROUND]
    libc = ctypes.CDLL(None) if at_work and sys.platform == "linux" else None
    if libc is not None and hasattr(libc, "on_exit"):  # glibc: before anything is taken down, with the exit code of the process
        libc.on_exit(libc._exit, None)
        return
    for thread in at_work:
        thread.join()


def object_code(text: str, vectorize: bool = False, quick: bool = False) -> bytes:
    """Machine code of a module. What comes here is simplified already, so the shortest useful list of passes is enough;
    what matters (fusing, scheduling, registers) happens in the code generator. The SLP vectoriser is left out: its code
    is slower, and it takes long. `quick`: without scheduling and with the simplest choice of registers; code that is little else
    than calls runs as fast, and compiles in a fifth of the time."""
    module = llvm.parse_assembly(text)
    module.verify()
    builder = _pass_builder(vectorize)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    NewPassManager._dispose(passes)  # llvmlite 0.50 hides this method behind an empty one: 30 kB a module stayed
    passes.detach()
    return machine(0 if quick else 3).emit_object(module)


@once
def _pass_builder(vectorize: bool) -> Any:
    options = llvm.create_pipeline_tuning_options(speed_level=2 if vectorize else 1)
    options.loop_vectorization = options.loop_unrolling = vectorize
    options.slp_vectorization = False
    return llvm.create_pass_builder(machine(), options)
