"""The stages of a program bound to arrays, part by part: what threads share where one state of a large model is evaluated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dialect.arithmetic import Options
from ..dialect.cache import Cache
from ..dialect.native import Loop, Native
from ..dialect.storage import allocate
from ..kernels.joint_stage import Joints
from ..kernels.tree import Tree
from ..model.structure import Structure
from ..programs.parallel import Part
from ..programs.program import BODIES, ONCE, SUBTREES, TRUNK, Program, Stage
from ..types import IntArray
from .division import Division, bands, divide

SUBTREES_FROM, COLUMNS_FROM = 300, 150
"""Bodies from which threads share the subtrees of a tree and the columns of a matrix: below, one thread is as fast
(`python -m benchmarks parallel`)."""
WORTH_SHARING = 0.85
"""The longest time, relative to one thread and without handing over, for which a tree is shared."""


def shared_steps(
    program: Program, structure: Structure, groups: tuple[Any, ...], threads: int, store: Cache
) -> list[list[Native]]:
    """The steps of a program for one state, each as functions that run at once; none where one thread is as fast."""
    in_subtrees = any(stage.over == SUBTREES for stage in program.stages)
    if not program.stages or structure.nb < (SUBTREES_FROM if in_subtrees else COLUMNS_FROM):
        return []
    division = division_of(structure, threads)
    if in_subtrees and division.time(threads) > WORTH_SHARING:
        return []
    parts = [parts_of(stage, division, structure, threads) for stage in program.stages]
    return [
        _bound(program, stage, structure, groups, rows, store) for stage, rows in zip(program.stages, parts, strict=True)
    ]


def division_of(structure: Structure, threads: int) -> Division:
    key = ("division", threads)
    if key not in structure.cached:
        structure.cached[key] = divide(structure.carrier, threads)
    return structure.cached[key]


def parts_of(stage: Stage, division: Division, structure: Structure, threads: int) -> list[IntArray]:
    """The parts that a stage is done in."""
    everything = np.array([[1, structure.nb + 1]])
    of = {ONCE: [everything], TRUNK: [division.trunk], SUBTREES: division.parts, BODIES: bands(structure.nb, threads)}
    return of[stage.over]


def _bound(
    program: Program, stage: Stage, structure: Structure, groups: tuple[Any, ...], parts: list[IntArray], store: Cache
) -> list[Native]:
    declared = (Tree, Joints, program.inputs, program.work, program.outputs, Part)
    loop = Loop(stage.function, declared, Options(1, vectorize=True), shared=2, store=store)
    tree, joints, x, work, y = groups
    out = []
    for rows in parts:
        own = allocate_own(program.work, work, stage.own, program.sizes(structure))
        out.append(loop.bind(tree, joints, x, own, y, Part(rows)))
    return out


def allocate_own(declared: Any, work: Any, own: tuple[str, ...], sizes: dict[str, int]) -> Any:
    """The work with arrays of its own at some paths."""
    for path in own:
        name, _, rest = path.partition(".")
        kind = declared.__annotations__[name]
        part = allocate_own(kind, getattr(work, name), (rest,), sizes) if rest else allocate(kind, sizes)
        work = work._replace(**{name: part})
    return work
