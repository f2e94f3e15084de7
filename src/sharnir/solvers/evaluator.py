"""Programs evaluated on what callers pass in, one state or a batch, arrays, lists or values by name: arguments checked and turned
into rows of floats, the program run, results checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import prod
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from ..backends.counting import Count, count_as_written, count_compiled
from ..backends.fast_path import FastPath, fast_path
from ..backends.run import input_sizes, range_left
from ..backends.runner import Runner, empty_outputs
from ..backends.traced import trace_program
from ..equations.motion.retraction import retract
from ..errors import MethodError, SingularError, StateError
from ..forms.massless import check_inertia
from ..forms.matrices import Matrices
from ..model.model import Model
from ..model.parameters import check_values
from ..model.states import check_array, check_finite, check_state, check_wrenches, numbers_of
from ..programs import needs_inertia, program_for
from ..types import Parameters, State, Wrenches, real_array
from .formulation import Formulation

Actions = dict[str, dict[str, np.ndarray]]
"""{constraint or force: {body: (…, 6) force and moment at its origin, its axes}}."""


class At(TypedDict, total=False):
    """Arguments of one question as the caller gave them, by the names of inputs of programs."""

    q: State
    v: State
    tau: State
    qdd: State
    p: State
    t: ArrayLike
    wrench: Wrenches
    parameter: Parameters


Rows = dict[str, np.ndarray]
"""Inputs by name, each (B, size), or (1, size) where all states share it."""
Row = tuple[np.ndarray, bool]
"""(B, size) or (1, size), C-contiguous, and whether a batch was given."""


class Arguments:
    """Arguments for one model: values by name leave the rest neutral or zero; shapes are checked."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def row(self, name: str, x: Any, size: int) -> Row:
        """An input as C-contiguous rows of floats, and whether it is a batch."""
        shown = {"qdd": "a", "wrench": "wrenches"}.get(name, name)
        if name in ("q", "v", "tau", "qdd") and (x is None or isinstance(x, Mapping)):
            x = self.model.coordinates(x) if name == "q" else self.model.speeds(x)
        if name == "wrench":
            return self.wrenches(x)
        if name == "parameter":
            return self.parameters(x)
        expected = "a number or (B,)" if name == "t" else f"({size},) or (B, {size})"
        if x is None:
            raise StateError(f"{shown}: expected {expected}, got None")
        a = real_array(x, shown)
        if name == "t":
            if a.ndim > 1:
                raise StateError(f"t: expected {expected}, got {a.shape}")
            return a.reshape(-1, 1), a.ndim == 1
        if a.ndim not in (1, 2) or a.shape[-1] != size:
            names = self.model.q_names if name == "q" else self.model.v_names if name in ("v", "tau", "qdd", "p") else []
            raise StateError(f"{shown}: expected {expected}{numbers_of(names)}, got {a.shape}")
        return a.reshape(-1, size) if size else a.reshape(a.shape[0] if a.ndim == 2 else 1, 0), a.ndim == 2

    def plain(self, name: str, x: Any) -> Any:
        """An input of one state as the fast path takes it; unchanged where that needs a closer look."""
        kind = x.__class__
        if kind is list or kind is tuple or (kind is np.ndarray and x.dtype.kind in "fiu"):
            try:
                a = np.asarray(x)
            except ValueError:  # rows of different lengths
                return x
            return a.astype(float) if a.dtype.kind in "fiu" else x
        if name == "t":
            return float(x) if kind is int or kind is np.float64 else x
        if name == "parameter":
            return self._own_parameters[0] if x is None else x
        if kind is dict or (x is None and name == "q"):
            return self.model.coordinates(x) if name == "q" else self.model.speeds(x)
        return x

    def wrenches(self, x: ArrayLike | Mapping[str, ArrayLike]) -> Row:
        """A wrench on every body, with a row of zeros for the base in front."""
        N = len(self.model.bodies)
        if isinstance(x, Mapping):
            named, x = x, np.zeros((N, 6))
            for body, wrench in named.items():
                x[self.model.body_index(body)] = check_array(wrench, f"wrench on body {body!r}", 6)
        a = real_array(x, "wrenches")
        if a.shape[-2:] != (N, 6) or a.ndim not in (2, 3):
            raise StateError(f"wrenches: expected ({N}, 6) or (B, {N}, 6), got {a.shape}")
        full = np.zeros((*a.shape[:-2], N + 1, 6))
        full[..., 1:, :] = a
        return full.reshape(-1, 6 * (N + 1)), a.ndim == 3

    def parameters(self, x: Parameters) -> Row:
        """Values of all parameters, the model's own where none are given: {name: number or (B,)}, or (P,) or (B, P) in order."""
        own = self._own_parameters
        if x is None:
            return own, False
        if isinstance(x, Mapping):
            for name in x:
                self.model.check_parameter(name)
            columns = [
                real_array(x[name], f"parameter {name!r}") if name in x else own[0, k] for k, name in enumerate(self._names)
            ]
            if any(np.ndim(column) > 1 for column in columns):
                bad = next(name for name, column in zip(self._names, columns, strict=True) if np.ndim(column) > 1)
                raise StateError(f"parameter {bad!r}: expected a number or (B,), got {np.shape(x[bad])}")
            try:
                a = np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else np.zeros(0)
            except ValueError:
                sizes = {name: len(x) for name, x in zip(self._names, columns, strict=True) if np.ndim(x)}
                raise StateError(f"parameters: batches of different sizes: {sizes}") from None
        else:
            a = real_array(x, "parameters")
        size = own.shape[1]
        if a.ndim not in (1, 2) or a.shape[-1] != size:
            raise StateError(f"parameters: expected {{name: value}}, ({size},) or (B, {size}), got {a.shape}")
        rows = np.ascontiguousarray(np.atleast_2d(a))
        check_values(self.model, rows)
        return rows, a.ndim == 2

    @cached_property
    def _names(self) -> list[str]:
        return list(self.model.structure.parameters)

    @cached_property
    def _own_parameters(self) -> np.ndarray:
        return np.array([list(self.model.structure.parameters.values())], dtype=float)

    def states(self, at: At) -> tuple[Rows, int, bool]:
        """`rows` of what was given of q, v, tau, qdd, t and wrench, with the parameters of a model that has any."""
        optional = {"wrench": at.get("wrench") is not None, "parameter": bool(self._names) or at.get("parameter") is not None}
        return self.rows(at, {name: size for name, size in self._sizes.items() if optional.get(name, name in at)})

    @cached_property
    def _sizes(self) -> dict[str, int]:
        s = self.model.structure
        return {"q": s.nq, "v": s.nv, "tau": s.nv, "qdd": s.nv, "t": 1, "wrench": 6 * s.nb, "parameter": len(s.parameters)}

    def rows(self, given: Mapping[str, Any], sizes: Mapping[str, int]) -> tuple[Rows, int, bool]:
        """Inputs of these sizes as rows, how many states they are, and whether it is one that came without a batch axis."""
        arrays = {
            name: self.row(name, given.get(name) if name == "parameter" else given[name], size) for name, size in sizes.items()
        }
        batches = {name: len(x) for name, (x, many) in arrays.items() if many}
        if len(set(batches.values())) > 1:
            shown = ", ".join(f"{name}: {size}" for name, size in batches.items())
            raise StateError(f"batches of different sizes ({shown})")
        return {name: x for name, (x, _) in arrays.items()}, next(iter(batches.values()), 1), not batches


def each_state(rows: Rows, n: int) -> Iterator[Rows]:
    for b in range(n):
        yield {name: x[b if len(x) > 1 else 0] for name, x in rows.items()}


def check_out(out: object, shape: tuple[int, ...]) -> np.ndarray:
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise StateError("out: the array is read-only")
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape or not out.flags.c_contiguous:
        got = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else repr(out)
        raise StateError(f"out: expected a C-contiguous float64 array {shape}, got {got}")
    return out


def unbatch(found: np.ndarray, single: bool, out: np.ndarray | None) -> np.ndarray:
    """A result (n, …) as the caller expects it: one state without the batch axis, or written to `out`."""
    found = found[0] if single else found
    if out is None:
        return found
    check_out(out, found.shape)[...] = found
    return out


# --- programs evaluated on those arguments
class Way(NamedTuple):
    """Code that answers one question, and its fast path, which never applies to interpreted code."""

    runner: Runner
    fast: FastPath


class Evaluator:
    """The programs of one formulation, evaluated on what callers pass in."""

    def __init__(self, formulation: Formulation, threads: int) -> None:
        self.formulation, self.threads = formulation, threads
        self.model, self.structure = formulation.model, formulation.structure
        self.arguments = Arguments(self.model)
        self._programs = formulation.programs
        self._ways: dict[tuple[str, tuple[str, ...], bool], Way] = {}

    def output(self, name: str, output: str, out: np.ndarray | None = None, **given: Any) -> np.ndarray:
        return self.outputs(name, (output,), out, **given)[output]

    def outputs(
        self, name: str, outputs: tuple[str, ...] = (), out: np.ndarray | None = None, **given: Any
    ) -> dict[str, np.ndarray]:
        """Some outputs of a program, all if none is named; `out` is an array for the first."""
        runner, fast = self.way(name, outputs, given.get("wrench") is not None)
        if "parameter" in fast.inputs:
            given["parameter"] = self.parameters(given.get("parameter"))
        done = fast(out, *[given[key] for key in fast.inputs])
        return self.checked(name, outputs, out, **given) if done is None else _by_name(runner, done)

    def checked(
        self, name: str, outputs: tuple[str, ...] = (), out: np.ndarray | None = None, **given: Any
    ) -> dict[str, np.ndarray]:
        """`outputs` of arguments that are no plain arrays: checked and converted, then evaluated, the result checked."""
        runner, fast = self.way(name, outputs, given.get("wrench") is not None)
        if given.get("parameter") is not None and "parameter" not in runner.inputs:
            self.arguments.parameters(given["parameter"])  # refused where the model has none
        if out is None and given.get("wrench") is None:
            done = fast.single(*[self.arguments.plain(key, given[key]) for key in fast.inputs])
            if done is not None:
                return _by_name(runner, done)
        rows, n, single = self.arguments.rows(given, runner.inputs)
        done = fast.row(rows) if single and out is None else None
        if done is not None:
            return _by_name(runner, done)
        found = self.run(runner, rows, n, out, single)
        if single and not (_finite(rows) and _finite(found)):
            self.diagnose(given, needs_inertia(name))
        if single:
            found = {key: y[0] for key, y in found.items()}
        if out is not None:
            found[next(iter(found))] = out
        return found

    def run(
        self, runner: Runner, rows: Mapping[str, np.ndarray], n: int, out: np.ndarray | None = None, single: bool = False
    ) -> dict[str, np.ndarray]:
        """n states given as rows by name; outputs (n, …). The first goes into `out`, by a copy where that is one of the rows."""
        found = dict(zip(runner.outputs, empty_outputs(n, runner.outputs.values()), strict=True))
        first = next(iter(found))
        if out is not None:
            check_out(out, found[first].shape[1:] if single else found[first].shape)
            if not any(np.may_share_memory(out, x) for x in rows.values()):
                found[first] = out.reshape(found[first].shape)
        if n:
            flat = [y.reshape(n, prod(y.shape[1:])) for y in found.values()]
            runner.run(n, [rows[key] for key in runner.inputs], flat, self.threads)
        if out is not None and not np.may_share_memory(out, found[first]):
            out[...] = found[first].reshape(out.shape)
        return found

    def motion_of(self, rows: Mapping[str, np.ndarray], n: int) -> dict[str, Any]:
        """The inputs of forces and constraints, a row for each number and a column for each of n states."""
        keys = [key for key in ("q", "v", "t", "parameter") if key in rows]
        state = {key: np.broadcast_to(rows[key], (n, rows[key].shape[-1])) for key in keys}
        found = self.outputs("motion", q=state["q"], v=state["v"], t=state["t"][:, 0], parameter=state.get("parameter"))
        return {key: x.T for key, x in state.items()} | {name: x.reshape(n, prod(x.shape[1:])).T for name, x in found.items()}

    # --- fast path ------------------------------------------------------------------------------------------------------------
    def way(self, name: str, outputs: tuple[str, ...], wrenches: bool = False) -> Way:
        """The code for some outputs of a program, all if none is named."""
        key = (name, outputs, wrenches)
        if key not in self._ways:
            runner: Runner = self._programs.runner(name, outputs, wrenches)
            interpreted = self._programs.backend_of(name) == "python"
            self._ways[key] = Way(runner, fast_path(None if interpreted else runner, self.threads))
        return self._ways[key]

    def parameters(self, given: Parameters) -> np.ndarray:
        """Values of parameters as the fast path takes them: (P,), or (B, P)."""
        rows, many = self.arguments.parameters(given)
        return rows if many else rows[0]

    def fast_parameters(self, given: Parameters) -> tuple[np.ndarray, ...]:
        """The arguments of a fast path before the time: none where the model has no parameters."""
        if not self.structure.parameters and given is None:
            return ()
        found = self.parameters(given)
        return (found,) if self.structure.parameters else ()

    # --- cost -----------------------------------------------------------------------------------------------------------------
    def count(self, name: str, compiled: bool, step: float | None = None) -> Count:
        """Operations of one evaluation: as written, or as compiled for this model. `step`: of an iteration that has solved the
        state this much time before."""
        program = program_for(self.structure, name)
        constant = self._programs.constants(program)
        if compiled:
            if program.loops_only:
                raise MethodError(f"{name!r} is never compiled to straight-line code: its branches depend on numbers")
            return count_compiled(trace_program(program, self.structure, constant))
        rng = np.random.default_rng(0)
        values: dict[str, Any] = {key: rng.uniform(0.1, 1.0, size) for key, size in input_sizes(program, self.structure).items()}
        before = None
        values |= {"q": self.model.random_q(rng), **constant}
        if step is not None:
            if not program.loops_only:
                raise MethodError(f"step is for methods that iterate; {self.formulation.method.name!r} remembers no state")
            before = values
            v, t = np.array(values["v"]), float(values["t"][0])
            values = {**values, "q": retract(self.model, np.array(values["q"]), step * v, t), "t": [t + step]}
        return count_as_written(program, self.structure, values, before)[0]

    def nothing_to_count(self) -> MethodError:
        return MethodError(
            f"nothing to count for 'forward' by {self.formulation.method.name!r}; try 'inverse', 'inertia', 'energy'"
        )

    # --- failures -------------------------------------------------------------------------------------------------------------
    def diagnose(self, given: Mapping[str, Any], by_inertia: bool = True) -> None:
        """A result is not finite: raise an error that names the input or, where the question needs inertia, the joint."""
        q, v, t = check_state(self.model, given.get("q"), given.get("v"), given.get("t", 0.0))
        check_wrenches(self.model, given.get("wrench"))
        for key, shown in (("tau", "tau"), ("qdd", "a"), ("p", "p")):
            if given.get(key) is not None:
                check_finite(self.model.speeds(given[key]), lambda: self.model.v_names, shown)
        if given.get("point") is not None:
            check_finite(np.asarray(given["point"], dtype=float), lambda: "xyz", "point")
        rows, _ = self.arguments.parameters(given.get("parameter"))
        named = dict(zip(self.model.structure.parameters, rows[0].tolist(), strict=True))
        if left := range_left(self.structure, q.tolist(), v.tolist(), t, rows[0].tolist()):
            raise StateError(left)
        if by_inertia:
            check_inertia(Matrices(self.model, q, v, t, None, sparse=False, parameters=named))
        if self.formulation.constrained:
            self.formulation.constrained.table.finite(q, v, t, rows[0], sparse=True)
        asked = "the equations of motion have no finite solution" if by_inertia else "the motion is not given by finite numbers"
        raise SingularError(f"{asked} in this state")


def _by_name(runner: Runner, found: Any) -> dict[str, np.ndarray]:
    """Results of a fast path: a tuple where there are several outputs."""
    return dict(zip(runner.outputs, found if len(runner.outputs) > 1 else (found,), strict=True))


def _finite(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether all numbers of one state are finite; rows of bodies without the base's, which is not always written."""
    return all(np.isfinite(x[0] if x.ndim < 3 else x[0, 1:]).all() for x in arrays.values())
