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
from ..programs.kernels.parallel import Part
from ..programs.program import Program
from ..programs.sharing import BODIES, ONCE, SHARING, TRUNK, Sharing, Stage
from ..types import IntArray
from .division import Division, bands, divide

WORTH_SHARING = 0.85
"""The longest time, relative to one thread and without handing over, for which a tree is shared."""


def shared_steps(
    program: Program, structure: Structure, groups: tuple[Any, ...], threads: int, store: Cache
) -> list[list[Native]]:
    """The steps of a program for one state, each as functions that run at once; none where one thread is as fast."""
    sharing = SHARING.get(program.name)
    if sharing is None or not pays(sharing, structure, threads):
        return []
    return [_bound(program, stage, structure, groups, parts_of(stage, structure, threads), store) for stage in sharing.stages]


def pays(sharing: Sharing, structure: Structure, threads: int) -> bool:
    """Whether so many threads are faster than one."""
    if structure.nb < sharing.least:
        return False
    return not sharing.in_subtrees or division_of(structure, threads).time(threads) <= WORTH_SHARING


def division_of(structure: Structure, threads: int) -> Division:
    key = ("division", threads)
    if key not in structure.cached:
        structure.cached[key] = divide(structure.carrier, threads)
    return structure.cached[key]


def parts_of(stage: Stage, structure: Structure, threads: int) -> list[IntArray]:
    """The parts that a stage is done in."""
    if stage.over == ONCE:
        return [np.array([[1, structure.nb + 1]])]
    if stage.over == BODIES:
        return bands(structure.nb, threads)
    division = division_of(structure, threads)
    return [division.trunk] if stage.over == TRUNK else division.parts


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
