"""All measurements: `python -m benchmarks [robots] [chains] [compile] [first] [limit] [simulate] [iftomm] …`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # one thread unless said; before numpy is imported

from . import report, timing  # noqa: E402

PARTS = {
    "robots": "peers",
    "chains": "chains",
    "compile": "compile",
    "first": "first",
    "limit": "limit",
    "simulate": "simulate",
    "iftomm": "iftomm",
    "choice": "choice",
}
"""Parts that measure time, and their modules."""

NAMES = [*PARTS, "kane", "figure1", "urdf", "loops", "stabilisation"]

TITLES = {
    "robots": "Robots, times faster than the peers called from Python; one thread, minimum of rounds taken in turn",
    "chains": "Chains of revolute joints, compiled loops",
    "compile": "The first answer of a fresh process",
    "first": "The first simulation of a fresh process, and the command line",
    "limit": "Straight lines beside loops: what compiling costs and gains",
    "simulate": "Simulation, times faster than the peers; one thread unless said, minimum of rounds taken in turn",
    "iftomm": "IFToMM problems, CPU time at a stated error beside Exudyn",
    "choice": 'method="auto" on sixty models, beside the fastest method of each',
}


def run(part: str, quick: bool) -> Iterator[report.Measure | str]:
    yield from import_module(f".{PARTS[part]}", __package__).measure(quick)


def known_part(name: str) -> str:
    if name not in NAMES:
        raise argparse.ArgumentTypeError(f"no part {name!r}; the parts are {', '.join(NAMES)}")
    return name


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", type=known_part, metavar="part", help=f"of {', '.join(NAMES)}; all, if none is named")
    parser.add_argument("--quick", action="store_true", help="a short run")
    parser.add_argument("--out", type=Path, help="folder for bench.json and bench.png (results), or for figure1 (docs/results)")
    options = parser.parse_args()
    timing.QUICK = options.quick
    chosen = options.parts or NAMES

    measures: list[report.Measure] = []
    notes: list[str] = []
    for part in (p for p in PARTS if p in chosen):
        print(f"\n{TITLES[part]}", flush=True)
        found: list[report.Measure] = []
        for item in run(part, options.quick):
            if isinstance(item, str):
                notes.append(item)
                print(f"  {item}", flush=True)
            else:
                found.append(item)
        print(report.table(found), flush=True)
        measures += found
    if measures:
        out = options.out or Path("results")
        report.save(out / "bench.json", measures, notes)
        report.draw(out / "bench.png", measures)
        missed = [m for m in measures if m.met is False]
        print(f"\n{sum(m.met is True for m in measures)} targets met, {len(missed)} missed; written to {out}")
    if "kane" in chosen:
        from .kane_table import main as kane

        kane(["--out", "docs/results"])
    if "figure1" in chosen:
        from .figure1 import main as figure1

        figure1(options.out or Path("results" if options.quick else "docs/results"), options.quick)  # no short run among results
    if "urdf" in chosen:
        from .urdf import main as urdf

        urdf()
    if "loops" in chosen:
        from .loops import main as loops

        print()
        loops(options.quick)
    if "stabilisation" in chosen:
        from .stabilisation import main as stabilisation

        print()
        stabilisation(options.quick)


if __name__ == "__main__":
    main()
