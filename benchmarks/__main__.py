"""All measurements: `python -m benchmarks [robots] [chains] [compile] [first] [limit] [simulate] …`; and `… fuzz`."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # one thread by default; before numpy is imported

from . import report  # noqa: E402
from .harness import SETTINGS  # noqa: E402

MEASURED = {
    "robots": ("peers", "Robots, times faster than the peers called from Python; one thread, minimum of interleaved samples"),
    "derivatives": ("derivatives", "Derivatives of robots, times faster than Pinocchio called from Python; one thread"),
    "chains": ("chains", "Chains of revolute joints, compiled loops"),
    "parallel": ("parallel", "One state of a large model, two threads over one; minimum of interleaved samples"),
    "compile": ("compile", "The first answer of a fresh process"),
    "first": ("first", "The first simulation of a fresh process, and the command line"),
    "limit": ("limit", "Straight-line code and loops: what compiling costs and gains"),
    "simulate": ("simulate", "Simulation, times faster than the peers; one thread by default, minimum of interleaved samples"),
    "contact": ("contact", "A quadruped that stands on its feet: many at once, times faster than MuJoCo; one thread"),
    "iftomm": ("iftomm", "IFToMM problems, CPU time at a stated error, compared with Exudyn"),
    "closed": (
        "closed",
        "Closed systems of any size: growth, a long chain, CPU time at equal error beside Exudyn's",
    ),
    "coupled": (
        "coupled",
        "Robots with coupled joints, times faster than Pinocchio called from Python; one thread",
    ),
    "sweep": ("sweep", "Preparation of a run in a sweep over a parameter of a closed mechanism"),
    "choice": ("choice", 'method="auto" on sixty models, compared with the fastest method of each'),
    "pages": ("pages", "Pages of motions: size, and frames a second in a Chromium without a graphics processor"),
    "steps": ("steps", "Loops around a simulation: a step from Python, a sample of a controller, processor time"),
    "cliffs": ("cliffs", "One step beside the fast path: steps of a Simulation, other arguments, short runs, rows of four-bars"),
    "studies": ("studies", "Studies: thousands of runs, times faster than one at a time and than Exudyn's ParameterVariation"),
    "soak": ("soak", "Memory that stays in a process of many models and simulations"),
}
"""Parts whose module has `measure(quick)`, which yields measures and notes: module and title."""
PAGES = {
    "kane": "kane_table",
    "figure1": "figure1",
    "urdf": "urdf",
    "acting": "acting",
    "loops": "loops",
    "starts": "starts",
    "stabilisation": "stabilisation",
    "dae": "dae",
    "conditioning": "conditioning",
    "singular": "singular",
    "pictures": "pictures",
    "flexible": "flexible",
    "equations": "equations",
}
"""Parts whose module has `main(quick)`, which prints, and writes a page of results."""
NAMES = [*MEASURED, *PAGES]
FUZZ = "fuzz"


def measure(part: str, quick: bool) -> tuple[list[report.Measure], list[str]]:
    """Print what a part measures as it goes."""
    module, title = MEASURED[part]
    print(f"\n{title}", flush=True)
    measures, notes = [], []
    for item in import_module(f".{module}", __package__).measure(quick):
        if isinstance(item, str):
            notes.append(item)
            print(f"  {item}", flush=True)
        else:
            measures.append(item)
    print(report.table(measures), flush=True)
    return measures, notes


def known_part(name: str) -> str:
    if name not in NAMES:
        raise argparse.ArgumentTypeError(f"no part {name!r}; the parts are {', '.join(NAMES)}")
    return name


def main() -> None:
    if sys.argv[1:2] == [FUZZ]:  # a search for faults, with options of its own
        sys.exit(import_module(".fuzz.command", __package__).main(sys.argv[2:]))
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", type=known_part, metavar="part", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a short run")
    parser.add_argument("--out", type=Path, help="folder for results (bench.json and bench.png: results; pages: docs/results)")
    options = parser.parse_args()
    SETTINGS.quick, SETTINGS.out = options.quick, options.out
    chosen = options.parts or NAMES

    measures: list[report.Measure] = []
    notes: list[str] = []
    for part in (p for p in MEASURED if p in chosen):
        found, remarks = measure(part, options.quick)
        measures += found
        notes += remarks
    if measures:
        out = options.out or Path("results")
        report.save(out / "bench.json", measures, notes)
        report.draw(out / "bench.png", measures)
        missed = [m for m in measures if m.met is False]
        print(f"\n{sum(m.met is True for m in measures)} targets met, {len(missed)} missed; written to {out}")
    for part in (p for p in PAGES if p in chosen):
        print()
        import_module(f".{PAGES[part]}", __package__).main(options.quick)


if __name__ == "__main__":
    main()
