"""Assembly: every angle of a crank that can be reached is found and held, every other is refused with the range; random loops;
what it costs."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import sharnir as sh
from sharnir.equations.assembly.fixed_coordinates import held_coordinates
from sharnir.equations.assembly.search import closed_position
from sharnir.equations.rows.constraint_table import table_of
from sharnir.reporting.table import Table

from .fuzz.seed_files import of_tests

S = sh.samples
RANGE = re.compile(r"between (-?[\d.e-]+) and (-?[\d.e-]+)")


@dataclass(frozen=True)
class Mechanism:
    """A mechanism with one freedom, the coordinate that is held, and where it can be: a range about `middle`, every whole turn
    again, and the same about the other middle where there is one."""

    name: str
    model: sh.Model
    joint: str
    half: float
    """Half of the range; infinite: all the way round."""
    middles: tuple[float, ...] = (0.0,)

    def margin(self, angle: float) -> float:
        """How far inside its range an angle is; negative outside."""
        return max(self.half - abs(math.remainder(angle - middle, 2.0 * math.pi)) for middle in self.middles)


def slider_crank(crank: float, rod: float, joint: str = "main") -> Mechanism:
    half = math.inf if crank <= rod else math.asin(rod / crank)
    return Mechanism(f"slider-crank {crank:g}, {rod:g}", S.slider_crank(crank, rod), joint, half, (0.0, math.pi))


def four_bar(crank: float, coupler: float, rocker: float, base: float) -> Mechanism:
    """The crank turns until coupler and rocker are in line: all the way round, or about the position nearest to the rocker's
    foot, or about the one farthest from it, or between the two."""
    near, far = abs(coupler - rocker), coupler + rocker

    def angle(distance: float) -> float:  # of the crank, its tip so far from the rocker's foot
        return math.acos((crank * crank + base * base - distance * distance) / (2.0 * crank * base))

    name = f"four-bar {crank:g}, {coupler:g}, {rocker:g}, {base:g}"
    model = S.four_bar(crank, coupler, rocker, base)
    if near <= abs(base - crank) and crank + base <= far:
        return Mechanism(name, model, "A", math.inf)
    if near <= abs(base - crank):
        return Mechanism(name, model, "A", angle(far))
    if crank + base <= far:
        return Mechanism(name, model, "A", math.pi - angle(near), (math.pi,))
    low, high = angle(near), angle(far)
    return Mechanism(name, model, "A", 0.5 * (high - low), (0.5 * (low + high), -0.5 * (low + high)))


def mechanisms() -> list[Mechanism]:
    return [
        slider_crank(0.1, 0.3),
        slider_crank(0.2, 0.5),
        slider_crank(0.5, 0.2),
        four_bar(0.5, 1.3, 0.9, 1.1),
        four_bar(1.0, 1.0, 0.8, 1.9),
        four_bar(1.2, 0.4, 1.1, 0.9),
        four_bar(1.0, 0.9, 0.3, 1.0),
    ]


@dataclass
class Angles:
    """What became of the angles of one mechanism."""

    assembled: int = 0
    refused: int = 0
    wrong: int = 0
    """Reachable ones refused, unreachable ones assembled, held ones moved."""
    residual: float = 0.0
    ends: float = 0.0
    """The largest error of an end of a range that was reported, relative to what six digits say."""
    unsaid: int = 0
    """Refused without a range."""
    slowest: float = 0.0
    seconds: float = 0.0


def held_at(mechanism: Mechanism, angles: Sequence[float]) -> Angles:
    """Every angle held, all other coordinates neutral."""
    m, out, table = mechanism.model, Angles(), table_of(mechanism.model)
    for angle in angles:
        margin = mechanism.margin(angle)
        begun = time.process_time()
        try:
            q, _ = m.assemble({mechanism.joint: angle}, fixed=[mechanism.joint])
            out.assembled += 1
            out.wrong += int(margin < -1e-9 or q[m.q_slice(mechanism.joint)][0] != angle)
            out.residual = max(out.residual, float(np.abs(table.evaluate(q, np.zeros(m.nv), 0.0)["g"]).max()))
        except sh.AssemblyError as error:
            out.refused += 1
            out.wrong += int(margin > 1e-9)
            ranges = RANGE.findall(str(error))
            out.unsaid += int(not ranges)
            ends = [abs(mechanism.margin(float(x))) for pair in ranges for x in pair]
            out.ends = max([out.ends, *ends])
        spent = time.process_time() - begun
        out.slowest, out.seconds = max(out.slowest, spent), out.seconds + spent
    return out


def random_loop(seed: int, moved: float) -> tuple[sh.Model, np.ndarray]:
    """A chain of any joints, driven ones and the user's own included, closed at a random position; and a guess beside that."""
    graphs, rng = of_tests("graph_models"), np.random.default_rng((seed, 16))
    cut = int(rng.choice([k for k in graphs.CUTTABLE if k != graphs.CUTTABLE[-1]]))
    joints = (*rng.choice(graphs.MOVING, int(rng.integers(2, 6))).tolist(), int(rng.choice(graphs.CUTTABLE)))
    model, start = graphs.closed_chain(graphs.Loop(seed, joints, cut, 0), cut_other=False)
    return model, model.integrate(model.coordinates(start), moved * rng.normal(size=model.nv))


def closed_from(model: sh.Model, guess: np.ndarray) -> float | None:
    """What is left of the residuals where the loop closes; None where that is refused."""
    table = table_of(model)
    try:
        q = closed_position(model, table, guess, 0.0, held_coordinates(model, ()))
    except sh.AssemblyError:
        return None
    return float(np.abs(table.evaluate(q, np.zeros(model.nv), 0.0)["g"]).max(initial=0.0))


def main(quick: bool = False) -> None:
    count, loops = (36, 10) if quick else (720, 200)
    rows = [["mechanism", "assembled", "refused", "wrong", "residual", "range off", "CPU ms each"]]
    for mechanism in mechanisms():
        found = held_at(mechanism, np.linspace(-math.pi, math.pi, count, endpoint=False).tolist())
        numbers = [str(x) for x in (found.assembled, found.refused, found.wrong)]
        rows.append(
            [mechanism.name, *numbers, f"{found.residual:.1e}", f"{found.ends:.1e}", f"{1e3 * found.seconds / count:.1f}"]
        )
    print(Table.of_text(rows).plain())
    for moved in (0.3, 1.0):
        left = [closed_from(*random_loop(seed, moved)) for seed in range(loops)]
        closed = [x for x in left if x is not None]
        print(
            f"random loops of all joints, guesses {moved} beside a closed position: {len(closed)} of {loops} closed, "
            f"residual at most {max(closed):.1e}"
        )
    m = S.four_bar(0.5, 1.3, 0.9, 1.1)
    for words, start in (("near", {"A": 1.3, "B": -1.0, "C": 1.5}), ("neutral", {"A": 1.3})):
        for _ in range(30):
            m.assemble(start, fixed=["A"])
        begun = time.process_time()
        for _ in range(300):
            m.assemble(start, fixed=["A"])
        print(f"assembly of a four-bar, {words} guess: {(time.process_time() - begun) / 0.3:.2f} ms")
