"""`sharnir study`: many runs of a model as a file describes them; a summary on the screen, the dataset and pictures in files."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from ..errors import SharnirError, StudyError
from ..reporting.atomic_write import check_suffix, check_writable
from ..reporting.formats import count, duration, figures
from ..reporting.pictures import check_picture
from ..simulation.results.storage import check_result_file
from ..studies.dataset import write_csv, write_netcdf
from ..studies.design.designs import ArgumentError
from ..studies.design.file import read_study
from ..studies.pictures.columns import runs as in_words
from ..studies.pictures.plot_study import SUFFIXES, plot_study
from ..studies.study import open_study, study
from ..studies.summary import Counts, counted, summary
from .usage import INTERRUPTED, UsageError, check_usage, end, given

if TYPE_CHECKING:
    from xarray import Dataset


def command(options: Namespace) -> None:
    client, workers, output = (getattr(options, name, None) for name in ("scheduler", "workers", "output"))
    if client is not None and (options.processes or workers is not None):
        option = "--processes" if options.processes else "--workers"
        raise UsageError(option, "the cluster of --scheduler has workers of its own; leave one of them out")
    check_usage("--output", check_result_file, output)
    check_usage("--page", check_writable, options.page)
    check_usage("--page", lambda path: check_suffix(path, SUFFIXES), options.page)
    check_usage("--plot", check_picture, options.plot)
    ds, kept, failure = None, getattr(options, "store", None), ""
    try:
        described = read_study(options.file)
        if "runs" in options and described.lists_runs:
            raise UsageError("--runs", f"{options.file} lists its runs one by one: there is nothing to draw; leave it out")
        arguments = described.arguments(**given(options, "runs", "seed")) | given(options, "store")
        kept = arguments["store"]
        if kept is not None and output is not None and kept.resolve() == output.resolve():
            raise UsageError("--output", f"{kept} is the store already; leave it out")
        before, begun = _there_already(kept), perf_counter()
        progress = False if options.quiet else None
        ds = study(**arguments, client=client, workers=workers, processes=options.processes, progress=progress)
    except KeyboardInterrupt:  # before the first run, or after the last while its results were written
        end(f"interrupted; {_again(kept)}", INTERRUPTED)
    except StudyError as error:
        ds, failure = error.result, str(error)
    except ArgumentError as error:
        if error.path != ("client",):
            raise
        raise error.renamed("--scheduler") from None
    n, seconds = counted(ds), perf_counter() - begun
    if not options.quiet:
        print(summary(ds))
        print(_pace(n, before, seconds))
        if kept is not None:
            print(f"results: {kept} (sharnir.open_study reads them)")
    _write(ds, n, options)
    if failure:
        end(failure, 1)
    if ds.attrs.get("status") == "interrupted":
        end(f"interrupted after {count(n.done)} of {in_words(n.all)}; {_again(kept)}", INTERRUPTED)
    if n.failed == n.all:
        end("all runs failed", 1)


def _there_already(store: Path | None) -> int:
    """Number of runs that an earlier call has made."""
    if store is not None:
        with suppress(SharnirError, OSError), open_study(store) as found:  # `study` reports a store that is none of ours
            return counted(found).done
    return 0


def _pace(n: Counts, before: int, seconds: float) -> str:
    new = n.done - before
    if not new:
        return "nothing to compute: all runs were in the store already" if n.done else "nothing was computed"
    there = f"; {in_words(before)} {'was' if before == 1 else 'were'} in the store already" if before else ""
    return f"{in_words(new)} in {duration(seconds)}, {figures(new / seconds)} a second{there}"


def _again(store: Path | None) -> str:
    if store is None:
        return "the same command begins anew; with a store (--store FOLDER) it would go on"
    return "the same command goes on where it was"


def _write(ds: Dataset, n: Counts, options: Namespace) -> None:
    for path in (options.output, options.page, options.plot):
        if path is None:
            continue
        if not n.done or (path is options.plot and n.failed == n.done):
            what = "no run was done" if not n.done else "all runs failed"
            print(f"sharnir: {what}, so {path} was not written", file=sys.stderr)
            continue
        left_out: list[str] = []
        if path is not options.output:
            plot_study(ds, path)
        elif path.suffix.lower() == ".csv":
            left_out = write_csv(ds, path)
        else:
            write_netcdf(ds, path)
        if left_out:
            print(f"sharnir: {', '.join(left_out)}: too many numbers per run for a table; write a .nc file", file=sys.stderr)
        if not options.quiet:
            print(f"written: {path}")
