"""The choice of a method for a model, behind method="auto".

The methods that can be the fastest are traced on the model, the remaining work of each is counted, and its time
is predicted with the calibration of the machine. Nothing is measured here: one calibration, one choice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from ..backends import sizes
from ..backends.compiled_programs import CompiledPrograms
from ..backends.traced import TracedProgram, trace_program
from ..equations.motion.constrained import ConstrainedEquations
from ..errors import known
from ..model.model import Model
from ..model.structure import Structure
from ..programs import program_for
from ..programs.methods import METHODS, features
from ..reporting.formats import duration
from .calibration import Calibration, current, of_graph, of_loops

FASTEST = ("composite", "separate", "stepanenko", "direct", "lagrange1")
"""Methods that are the fastest for some tree (`python -m benchmarks choice` times the others too)."""

FASTEST_CONSTRAINED = ("composite", "separate")
"""Methods for models with constraints; the last is the one whose loops grow least."""

TOLERATED = 1e-6
"""Expected relative error of accelerations beyond which a method is left out."""

WRONG = 1e-3
"""Expected relative error beyond which the slow matrix form that loses nothing is taken."""

MAX_GROWTH = 1.3
"""A graph with this many times the nodes of the smallest is not the fastest: its tracing stops there."""


class Why(str):
    """The reason for a method in one short sentence; `details`: all that was weighed."""

    details: str

    def __new__(cls, short: str, details: str = "") -> Why:
        out = super().__new__(cls, short)
        out.details = details or short
        return out


@dataclass(frozen=True)
class Choice:
    method: str
    why: Why
    constrained: ConstrainedEquations | None = None
    """The equations with constraints, where they were made to choose."""


Predicted = dict[str, tuple[float, float]]
"""Seconds per state by method, one at a time and in a batch."""


def choose_method(programs: CompiledPrograms, model: Model, errors: Mapping[str, float] | None = None) -> Choice:
    """Choose a method. `errors`: expected errors by method on this model. Methods that lose too much are left out; where all
    do, separate bodies are chosen, which lose the least, unless even their result would be wrong."""
    s, errors = programs.structure, errors or {}
    if min(errors.get(name, 0.0) for name in FASTEST_CONSTRAINED) > WRONG:
        return Choice("extended", Why(f"masses differ so much that {known(FASTEST_CONSTRAINED)} would lose nearly all digits"))
    able = [*FASTEST_CONSTRAINED] if model.constraints else [name for name in FASTEST if applies(name, s)]
    names = [name for name in able if errors.get(name, 0.0) <= TOLERATED] or ["separate"]
    choice = _choose_constrained(programs, model, names) if model.constraints else choose_among(programs, names)
    if others := [name for name in able if name not in names]:
        left_out = f"; left out because masses differ much and they lose digits: {known(others)}"
        return replace(choice, why=Why(choice.why + left_out, choice.why.details + left_out))
    return choice


def choose_among(programs: CompiledPrograms, names: list[str]) -> Choice:
    """The fastest of these methods."""
    s = programs.structure
    calibration = current()
    if not sizes.is_traceable(s):  # nothing is traced: choosing again is cheaper than reading the cache
        return _by_loops(s, names, calibration)
    key = _key(programs, names, calibration)
    if (stored := programs.store.load("choice", key)) is not None:
        method, *why = json.loads(stored)
        return Choice(method, Why(*why))
    found = _by_graphs(programs, names, calibration) if programs.requested in ("auto", "llvm") else {}
    choice = _best(found, "straight-line code", calibration) if found else _by_loops(s, names, calibration)
    programs.traced = {key: traced for key, traced in programs.traced.items() if key[0] == f"forward/{choice.method}"}
    programs.store.save("choice", key, json.dumps([choice.method, choice.why, choice.why.details]).encode())
    return choice


def _by_graphs(programs: CompiledPrograms, names: list[str], calibration: Calibration) -> Predicted:
    """Predicted times of the methods whose graphs are not too large."""
    s, found = programs.structure, dict[str, tuple[float, float]]()
    limit = programs.limit if programs.requested == "auto" else None
    for name in names:
        program = program_for(s, f"forward/{name}")
        traced = sizes.fits(partial(trace_program, program, s, programs.no_wrench, ("qdd",), limit))
        if traced is None:
            continue
        enough = max(100, int(MAX_GROWTH * len(traced.graph.nodes)))
        limit = enough if limit is None else min(limit, enough)
        programs.traced[f"forward/{name}", ("qdd",)] = traced
        found[name] = _seconds(name, traced, calibration)
    return found


def _by_loops(s: Structure, names: list[str], calibration: Calibration) -> Choice:
    return _best(_loop_times(s, names, calibration), "loops", calibration)


def _loop_times(s: Structure, names: list[str], calibration: Calibration) -> Predicted:
    around = of_loops(s)
    return {name: (calibration.loop_seconds(name, around),) * 2 for name in names if name in calibration.loops}


def _choose_constrained(programs: CompiledPrograms, model: Model, names: list[str]) -> Choice:
    """Choose for a model with constraints: graphs contain the solution for the multipliers, so that candidates are few."""
    calibration = current()
    made, found = _by_constrained_graphs(programs, model, names, calibration)
    last, equations = next(reversed(made.items()))
    if equations.backend != "llvm":
        return Choice(last, Why(f"not compiled: {last!r} needs the fewest operations"), equations)
    if not found:
        name = names[-1]
        why = f"too large for straight-line code; as loops, {name!r} takes time in proportion to bodies and constraints"
        return Choice(name, Why(why), made[name])
    best = _best(found, "straight-line code, constraints solved in it", calibration)
    return Choice(best.method, best.why, made[best.method])


def _by_constrained_graphs(
    programs: CompiledPrograms, model: Model, names: list[str], calibration: Calibration
) -> tuple[dict[str, ConstrainedEquations], Predicted]:
    """Equations by these methods, as far as they are compiled, and predicted times of those that are straight-line code."""
    made, found = dict[str, ConstrainedEquations](), Predicted()
    for name in names:
        equations = made[name] = ConstrainedEquations(model, METHODS[name], programs.requested, programs.store)
        if equations.backend != "llvm":
            break
        if equations.is_small:
            inputs, c = equations.whole()
            found[name] = _seconds("", TracedProgram.of(inputs, {"qdd": c.qdd}), calibration)
    return made, found


def predict(programs: CompiledPrograms, model: Model, names: list[str]) -> tuple[Predicted, str]:
    """Predicted times of those of these methods that the calibration can tell, and how they are run."""
    s, calibration = programs.structure, current()
    if model.constraints:
        _, found = _by_constrained_graphs(programs, model, [x for x in FASTEST_CONSTRAINED if x in names], calibration)
    else:
        able = [name for name in FASTEST if name in names and applies(name, s)]
        found = _by_graphs(programs, able, calibration) if sizes.is_traceable(s) else {}
        if not found:
            return _loop_times(s, able, calibration), f"as loops; calibration: {calibration}"
    return found, f"as straight-line code; calibration: {calibration}"


def _seconds(method: str, traced: TracedProgram, calibration: Calibration) -> tuple[float, float]:
    todo = of_graph(traced)
    return calibration.graph_seconds(method, todo, False), calibration.graph_seconds(method, todo, True)


def _best(found: Predicted, how: str, calibration: Calibration) -> Choice:
    """The method whose larger slowdown, for one state or in a batch, is the smallest."""
    least = [min(times[k] for times in found.values()) for k in (0, 1)]
    order = sorted(found, key=lambda name: max(found[name][k] / least[k] for k in (0, 1)))
    words = {name: (duration(a), "" if a == b else f" ({duration(b)})") for name, (a, b) in found.items()}
    shown = ", ".join(f"{name!r} {''.join(words[name])}" for name in order)
    details = f"predicted time per state, alone (in a batch), as {how}: {shown}; calibration: {calibration}"
    among = f" of {len(order)} methods" if len(order) > 1 else ""
    return Choice(order[0], Why(f"{order[0]!r} is predicted to be the fastest{among}, as {how}", details))


def applies(method: str, s: Structure) -> bool:
    """Whether a compiled method handles everything in a tree, in a time that calibrations know: mobilities with rows for rotors
    and lent inertias are not among their models."""
    found = METHODS[method]
    plain = found.loses != "mobility" or not (len(s.tree.geared) or s.tree.lent_of[-1])
    return plain and found.refusal(features(s.follows, bool(s.deformations), False)) is None


def _key(programs: CompiledPrograms, names: list[str], calibration: Calibration) -> str:
    """Digest of all that a choice depends on: candidates, numbers of the tree, text of kernels and programs, calibration."""
    h = hashlib.sha256(f"why {calibration.key} {names} {programs.requested} {programs.limit} {_texts()}".encode())
    for x in (*programs.structure.tree, *programs.structure.joints):
        h.update(np.ascontiguousarray(x).tobytes())
    return h.hexdigest()


@cache
def _texts() -> str:
    package = Path(__file__).parents[1]
    folders = (package / "kernels", package / "programs", package / "choice")
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()
