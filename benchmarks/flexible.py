"""Flexible bodies beside rigid segments, published numbers and Exudyn; what they cost: docs/results/flexible.md and a picture."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import sharnir as sh
from sharnir.machine import machine
from sharnir.reporting.pictures import new_figure
from sharnir.reporting.table import Table

from . import flexible_cost, flexible_models, flexible_peers
from .harness import SETTINGS, results
from .report import PACKAGES

CANTILEVER = np.array([3.5160153, 22.0344916, 61.6972144])
"""Frequencies of a clamped beam over the square root of EI/(ρAL⁴)."""
DROP = 0.5
"""Seconds."""
PICTURE = "flexible_convergence.png"


def beam(modes: int) -> sh.Model:
    """The beam that `samples.segmented_beam()` approaches: 1 m, 1 kg, EI = 100 N m²; too thin for its rotary inertia to "
    "count."""
    section = sh.OwnSection(area=1e-4, Iy=1e-12, Iz=1e-12, It=2e-12)
    shapes = {"bend_y": modes}
    m = sh.Model("beam", gravity=(0.0, -9.81, 0.0))
    m.add_body("beam", flexible=sh.FlexibleBeam(length=1.0, E=1e14, G=4e13, density=1e4, section=section, modes=shapes))
    m.add_joint("clamp", sh.Weld(), "ground", "beam")
    m.add_node("tip", "beam", (1.0, 0.0, 0.0))
    return m


def frequencies(m: sh.Model) -> np.ndarray:
    """The first three without weight, over the square root of EI/(ρAL⁴), which is 10 rad/s."""
    m = m.copy()
    m.gravity = (0.0, 0.0, 0.0)
    return 0.2 * np.pi * np.sort(sh.linearize(m).frequencies)[:3]


def drop(m: sh.Model) -> np.ndarray:
    """How far the tip is below its place, every 5 ms after the beam is let go."""
    return -sh.simulate(m, DROP, output=0.005, rtol=1e-8, atol=1e-10, balance=False).point("tip")[:, 1]


def convergence(quick: bool) -> Iterator[str]:
    """(a) Rigid segments become the beam, with an error of the square of their length; few modes are the beam."""
    exact, fine = CANTILEVER, drop(beam(8))
    counts = [2, 4, 8, 16] if quick else [2, 4, 8, 16, 32, 64]
    rows = [["model", "coordinates", "1st frequency", "2nd", "3rd", "motion of the tip"]]
    errors: dict[str, list[tuple[int, list[float]]]] = {"segments": [], "modes": []}
    models = [("segments", n, sh.samples.segmented_beam(n)) for n in counts] + [("modes", n, beam(n)) for n in (1, 2, 3, 5)]
    for kind, n, m in models:
        found = frequencies(m)
        far = [*(abs(found - exact[: len(found)]) / exact[: len(found)]), np.abs(drop(m) - fine).max() / fine.max()]
        errors[kind].append((n, far))
        shown = [f"{x:.1e}" for x in far[:-1]] + [""] * (4 - len(far)) + [f"{far[-1]:.1e}"]
        rows.append([f"{n} {kind}", str(m.nv), *shown])
    draw(errors)
    yield "## Rigid segments and the beam"
    yield (
        "A cantilever as n rigid segments with springs EI/h (`sh.samples.segmented_beam(n)`) and as a `FlexibleBeam`. "
        "Errors relative to "
        "the frequencies of the Euler–Bernoulli beam (βL = 1.8751, 4.6941, 7.8548); of the motion: the largest difference "
        "of the tip "
        f"in {DROP} s after it is let go under its weight, relative to its largest deflection, from the beam with 8 modes."
    )
    yield Table.of_text(rows).markdown()
    first, last = (errors["segments"][k] for k in (-2, -1))
    order = np.log(first[1][0] / last[1][0]) / np.log(last[0] / first[0])
    yield f"The error of the first frequency falls with the power {order:.2f} of the number of segments.\n\n![]({PICTURE})"


def draw(errors: dict[str, list[tuple[int, list[float]]]]) -> None:
    figure = new_figure((7, 3.2), dpi=130, layout="constrained")
    for ax, k, title in zip(figure.subplots(1, 2), (0, -1), ("first frequency", "motion of the tip"), strict=True):
        for (kind, rows), colour in zip(errors.items(), ("#b5482a", "#1f6f8b"), strict=True):
            ax.loglog([n for n, _ in rows], [max(far[k], 1e-9) for _, far in rows], "o-", color=colour, ms=4, label=kind)
        ax.set_title(f"relative error, {title}", loc="left", fontsize=9)
        ax.set_xlabel("number of segments or modes", fontsize=8)
        ax.tick_params(labelsize=8)
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8, frameon=False)
    figure.savefig(results() / PICTURE)


def rotation(quick: bool) -> Iterator[str]:
    """(b) Frequencies of a rotating beam."""
    m = flexible_models.rotating(5 if quick else 7)
    rows = [["speed", "1st flapping", "published", "2nd flapping", "published", "1st in the plane", "√(flapping² − speed²)"]]
    for speed, (first, second) in flexible_models.FLAPPING.items():
        out, plane = flexible_models.flapping(m, speed)
        across = np.sqrt(out[0] ** 2 - speed**2)
        numbers = [out[0], first, out[1], second, plane[0], across]
        rows.append([f"{speed:g}", *(f"{x:.4f}" for x in numbers)])
    yield "## Frequencies of a rotating beam"
    yield (
        "`sh.linearize` of a clamped beam that a joint turns at a constant speed (`benchmarks/flexible_models.py`, "
        "`rotating`); speeds and "
        "frequencies over the square root of EI/(ρAL⁴). Published: Wright, Smith, Thresher and Wang, J. Applied Mechanics "
        "49 (1982); "
        "Hodges and Rutkowski, AIAA J. 19 (1981)."
    )
    yield Table.of_text(rows).markdown()


def spin_up(quick: bool) -> Iterator[str]:
    """(c) The spin-up of Kane, Ryan and Banerjee."""
    rows = [
        ["modes of bending, of stretching", "stiffening", "largest lag of the tip", "at", "longer by, after 16 s", "lag at 9 s"]
    ]
    cases = (
        [(3, 1, True), (5, 2, True), (5, 2, False)]
        if quick
        else [(2, 1, True), (3, 1, True), (5, 2, True), (8, 3, True), (3, 1, False), (5, 2, False)]
    )
    for bending, stretching, on in cases:
        t, along, across = flexible_models.spin_up(bending, stretching, on, 20.0 if on else 9.0)
        k, nine = int(np.argmin(across)), int(np.argmin(np.abs(t - 9.0)))
        words = (
            [f"{-across[k]:.4f} m", f"{t[k]:.2f} s", f"{along[t > 16].mean():.3e} m"] if on else ["grows without bound", "", ""]
        )
        rows.append([f"{bending}, {stretching}", "on" if on else "off", *words, f"{-across[nine]:.3f} m"])
    yield "## Spin-up"
    yield (
        "A beam of 10 m, EA = 2.8e7 N, EI = 1.4e4 N m², 1.2 kg/m, brought from rest to 6 rad/s in 15 s "
        "(`sh.samples.rotating_beam()`): Kane, "
        "Ryan and Banerjee, J. Guidance 10 (1987), data of Simo and Vu-Quoc, J. Applied Mechanics 53 (1986) and of VM258 in "
        "Ansys' "
        f"verification manual. The final stretch is ρAΩ²L³/(3EA) = {flexible_models.STRETCH:.3e} m. Without stiffening the "
        f"beam is lost "
        "when the speed passes its first natural frequency, 3.80 rad/s. Exudyn's geometrically exact cables: next section."
    )
    yield Table.of_text(rows).markdown()


def crank(quick: bool) -> Iterator[str]:
    """The slider-crank of the IVP test set."""
    found, published = flexible_models.crank_end(1e-8 if quick else 1e-10), flexible_models.CRANK
    rows = [["", "here", "published", "relative difference"]]
    for name, ours, theirs in zip(("φ₂", "x₃", "q₁", "q₂", "q₃", "q₄"), found, published, strict=True):
        rows.append([name, f"{ours:.12g}", f"{theirs:.12g}", f"{abs(ours / theirs - 1.0):.0e}"])
    yield "## The slider-crank of the IVP test set"
    yield (
        "State at 0.1 s, after two and a half turns at 150 rad/s. Reference solution of the test set for initial value "
        "problem solvers "
        '(Bari and CWI, problem "crank", Simeon 1996). The rod is a `ModalBody` with the shapes and matrices of that problem '
        "(`benchmarks/flexible_models.py`, `published_rod`), of which the longitudinal masses are 15 times too large in the "
        "test set's "
        "program. The problem rounds π to 3.1415927."
    )
    yield Table.of_text(rows).markdown()


def main(quick: bool = False) -> None:
    where = machine(PACKAGES)
    page = [
        "# Flexible bodies",
        f"Written by `python -m benchmarks flexible`. {where['processor']}, {where['cores']} cores, one thread; Python "
        f"{where['python']}, "
        f"sharnir {where['sharnir']}. Times are the least of several.",
    ]
    for part in (convergence, rotation, spin_up, crank, flexible_peers.compare, flexible_cost.costs):
        for text in part(quick):
            print(f"{text}\n", flush=True)
            page.append(text)
    if not quick or SETTINGS.out:
        (results() / "flexible.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")
