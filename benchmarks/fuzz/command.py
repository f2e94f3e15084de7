"""`python -m benchmarks fuzz [--minutes 30] [--kind calls …] [--workers 1]`; `--seed N --kind calls` repeats one case."""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Sequence
from time import monotonic

from sharnir.reporting.progress import ProgressBar
from sharnir.reporting.table import Table

from .cases import KINDS
from .watch import Report, Seeds, watch
from .worker import attempt

ENDS = ("accepted", "refused", "skipped", "fault")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="default: 30")
    parser.add_argument("--kind", nargs="+", choices=list(KINDS), default=list(KINDS), help="default: all")
    parser.add_argument("--seed", type=int, help="repeat this case, with its traceback")
    parser.add_argument("--first", type=int, default=0, help="seed to begin with (default: 0)")
    parser.add_argument("--cases", type=int, help="of each kind; default: until the time is up")
    parser.add_argument("--workers", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--hang", type=float, default=10.0, help="seconds that one case may take (default: 10)")
    parser.add_argument("--growth", type=int, default=1024, help="megabytes that one case may add (default: 1024)")
    options = parser.parse_args(arguments)
    if options.seed is not None:
        return repeat(options.kind, options.seed)
    faults = run(options)
    return 1 if faults else 0


def repeat(kinds: Sequence[str], seed: int) -> int:
    """One case in this process."""
    warnings.simplefilter("ignore")
    found = {kind: attempt(kind, seed) for kind in kinds}
    for kind, end in found.items():
        print(f"{kind} {seed}: {end['end']}", end.get("what", ""), end.get("trace", ""), sep="\n")
    return 1 if any("fault" in end for end in found.values()) else 0


def run(options: argparse.Namespace) -> list[Report]:
    """Print every fault when it is first seen, and the table at the end."""
    counts: Counter[tuple[str, str]] = Counter()
    faults: dict[tuple[str, str], list[Report]] = {}
    begun, seconds = monotonic(), 60.0 * options.minutes
    seeds = Seeds(options.kind, options.first, options.cases)
    with ProgressBar(None, "fuzz", seconds) as bar:
        for report in watch(seeds, options.workers, begun + seconds, options.hang, options.growth * 2**20):
            counts[report.kind, report.end] += 1
            if report.end == "fault":
                alike = faults.setdefault((report.kind, report.fault.partition(": ")[0]), [])
                alike.append(report)
                if len(alike) == 1:
                    print(f"{report.kind} {report.seed}: {report.fault}", flush=True)
            bar.update(monotonic() - begun, f"{counts.total()} cases, {len(faults)} faults")
    print(_table(options.kind, counts), *_list(faults), sep="\n")
    return [alike[0] for alike in faults.values()]


def _table(kinds: Sequence[str], counts: Counter[tuple[str, str]]) -> str:
    rows = [[kind, *(str(counts[kind, end]) for end in ENDS)] for kind in kinds]
    return Table.of_text([["kind", *ENDS], *rows]).plain(ruled=True)


def _list(faults: dict[tuple[str, str], list[Report]]) -> list[str]:
    """Faults that agree in what was raised and where, with their seeds."""
    lines = []
    for (kind, _), alike in faults.items():
        more = f" and {len(alike) - 5} more" if len(alike) > 5 else ""
        lines.append(f"\n{kind}, seeds {', '.join(str(x.seed) for x in alike[:5])}{more}: {alike[0].fault}")
        lines.append(f"  python -m benchmarks fuzz --kind {kind} --seed {alike[0].seed}")
    return lines
