"""`study`: many runs of one model, wherever they are computed, as one dataset."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from shutil import rmtree
from time import perf_counter
from typing import Any

import numpy as np
from xarray import Dataset

from ..errors import SharnirError, StateError, StudyError, suggesting
from ..machine import beyond_memory
from ..model.model import Model
from ..model.states import check_model
from ..reporting.atomic_write import file_path, target_of
from ..reporting.progress import ProgressBar
from ..simulation.results.result import Result
from ..simulation.results.storage import PathLike
from ..simulation.run.checks import whole
from ..types import truth
from .compute import execution
from .compute.identity import check_same, fingerprint, identity, packed
from .compute.store import Folder, Layout, Memory, Store
from .compute.worker import Bundle, Task, Worker
from .dataset import dataset_of, read_netcdf, write_netcdf
from .design.designs import ArgumentError, Columns, Design, design_of
from .design.inputs import checked_run
from .statuses import ENDED, OUTPUT_FAILED, REFUSED

SECONDS = 1.0
"""Seconds that a bundle of runs one after another should take: this much is lost where a process is killed."""
MOST, MOST_ON_LANES = 2048, 4096
"""Largest numbers of runs in a bundle."""
ROOM = 2**26
"""Bytes for the rows of a bundle on lanes."""
TRIED = 64
"""Runs that are timed to size bundles, where runs go side by side."""
DASK_SECONDS = 0.25
"""Seconds that a bundle takes at least on a cluster, where each costs a few milliseconds."""

Over = Mapping[str, Any] | Sequence[Mapping[str, Any]] | Callable[..., Mapping[str, Any]] | Design | Any
Outputs = Mapping[str, str | Callable[[Result], Any]] | Sequence[str] | str | Callable[[Result], Any]


@suggesting
def study(
    model: Model,
    over: Over,
    run: Mapping[str, Any] | None = None,
    outputs: Outputs | None = None,
    *,
    client: Any = None,
    store: PathLike | None = None,
    runs: int | None = None,
    sampler: Any = "random",
    seed: int = 0,
    workers: int | None = None,
    processes: bool = False,
    bundle: int | None = None,
    progress: bool | None = None,
) -> Dataset:
    """Run a model for many values of its inputs; one row of a labelled dataset for each run.

    over      {input: values}: all combinations, a grid. With `runs`: {input: distribution of scipy.stats, range (low, high), or
              list to choose from}, drawn by `sampler`. Or a list of {input: value}, a table of pandas, or a function of the
              number of a run (and of a random generator) that returns {input: value}, with `runs`
              An input is a parameter or any number of the model ("bar.mass", "spring.stiffness"), "q0.joint", "v0.joint",
              "tau.joint", "states.name", or an option of the run ("rtol", "integrator", "duration" …)
    run       the arguments of `simulate` that are the same for all; with a `step`, those of `rollout`. Runs of fixed step go side
              by side on the lanes of the processor; so do adaptive ones of which nothing is asked but reductions of quantities,
              without events, contacts and controllers; the others one after another in compiled code
    outputs   {name: "<reduction> of <quantity>"} with final, initial, max, min, peak, range, mean, rms, integral, time of max,
              time of min, or motion (all rows); "time of event NAME", "count of event NAME"; or functions of a `Result`. By
              default the coordinates and speeds at the end
    client    of Dask, `dask.distributed.Client`, or the address of a scheduler: bundles of runs go there
    store     a folder (Zarr), to which results go as they come; a study that was killed goes on where it was when called again. A
              name that ends with .nc: the whole dataset as NetCDF in the end, and a folder beside it until then
    runs, sampler, seed   how many runs are drawn and how: "random", "sobol", "lhs", "halton", or an engine of scipy.stats.qmc
    workers   threads (by default one for each core), or with processes=True processes: for outputs and controllers that are long
              functions in Python
    bundle    runs that are computed, stored and lost together; by default what takes a second at most

    A run that fails is a row too: `status` and `message` say why, `t_end` when; outputs of its end are those of where it ended,
    the others nan. Ctrl-C ends the study with what is done. Results do not depend on who computed them, to the last bit.
    """
    model = check_model(model, "study")
    seed = whole(seed, "seed")
    design = design_of(over, runs, sampler, seed)
    task = Task(model, design.names, checked_run(run), outputs, design.count, design.rows(0, 1))
    worker = Worker(task)
    worker.inputs.check(design.rows(0, 1))
    for name, given in (("workers", workers), ("bundle", bundle)):
        if given is not None:
            whole(given, name, 1)
    processes = truth(processes, "processes")
    if client is not None and (processes or workers is not None):
        raise ArgumentError("the cluster has workers of its own; leave `workers` and `processes` out", "client")
    bar = ProgressBar(progress, f"study of {model.name}", design.count)
    about = {**identity(task, design, seed), "output_names": [output.name for output in worker.outputs]}
    about["units"] = worker.inputs.units
    path = None if store is None else file_path(store, "store")
    if path is not None and _is_file(path) and path.exists():
        return _finished(path, about)
    with execution.connected(client) as client:
        try:
            kept = _store(path, design, about, bundle, lambda: _bundle_size(worker, design, client is not None, bar))
            bar.start = min(design.count, len(kept.done) * kept.layout.size)  # the rate counts new runs only
            jobs = ((k, design.rows(*kept.layout.span(k))) for k in range(kept.layout.bundles) if k not in kept.done)
            size = workers or execution.cores()
            if client is not None:
                done = execution.on_cluster(packed(task), jobs, client)
            else:
                done = (
                    execution.on_processes(packed(task), jobs, size)
                    if processes
                    else execution.on_threads(task, jobs, size, worker)
                )
            if bar.shown and client is not None and getattr(client, "dashboard_link", ""):
                print(f"dashboard: {client.dashboard_link}", file=sys.stderr)
            with bar:
                status = _collected(kept, design, about, done, bar, path)
            return _result(kept, about, path, status)
        except (SharnirError, OSError):
            if path is None or not (_is_file(path) and path.exists()):
                raise
            found = _finished(path, about)  # by another process, which has removed the folder of both
            rmtree(_folder(path), ignore_errors=True)
            return found


def open_study(path: PathLike) -> Dataset:
    """The dataset of a store, finished or not; numbers are read when they are looked at."""
    place = file_path(path)
    if place.is_file():
        return read_netcdf(place)
    kept = Folder.found(_folder(place)) if _folder(place).is_dir() else None
    if kept is None:
        raise StateError(f"there is no study in {place}")
    return _dataset(kept, kept.about, "done" if len(kept.done) == kept.layout.bundles else "unfinished")


# --- where results go -------------------------------------------------------------------------------------------------------
KEPT_BESIDE = 3
"""Numbers kept of a run beside inputs and outputs: its status, message and end."""


def _is_file(path: Path) -> bool:
    return path.suffix.lower() == ".nc"


def _folder(path: Path) -> Path:
    return path.with_name(f"{path.name}.partial") if _is_file(path) else path


def _store(path: Path | None, design: Design, about: Mapping[str, Any], bundle: int | None, best: Callable[[], int]) -> Store:
    if path is None:
        numbers = design.count * (len(about["inputs"]) + len(about["output_names"]) + KEPT_BESIDE)
        if beyond := beyond_memory(numbers):
            raise StateError(f"{design.count} runs need {beyond}, to be kept there; give a folder as `store`, or make fewer")
        return Memory(Layout(design.count, bundle or best()))
    folder = _folder(path)
    if folder.exists() and not folder.is_dir():
        raise StateError(f"store {path}: it is a file; a store is a folder, or a file whose name ends with .nc")
    if _is_file(path):
        target_of(path)
    try:
        if not folder.absolute().parent.is_dir():
            raise StateError(f"store {path}: there is no folder {folder.absolute().parent}; make it first")
        found = Folder.found(folder) or Folder.begin(folder, Layout(design.count, bundle or best()), about)
        check_same(path, found.about, about)
        if bundle is not None and bundle != found.layout.size:
            raise StateError(f"store {path} was begun with bundle={found.layout.size}; give the same, or none")
        found.declare(design.rows(0, 1))
        return found
    except OSError as error:
        raise StateError(f"store {path}: it cannot be written: {error.strerror or error}") from error


def _finished(path: Path, about: Mapping[str, Any]) -> Dataset:
    """The dataset of a study that was finished before, from its file."""
    found = read_netcdf(path)
    if found.attrs.get("identity") != fingerprint(about):
        found.close()
        raise StateError(f"store {path} is there already, and holds another study; give another name, or remove it")
    return found


def _dataset(kept: Store, about: Mapping[str, Any], status: str) -> Dataset:
    axes = about["axes"]
    named: Columns | None = None if axes is None else {name: np.array(x) for name, x in axes.items()}
    attributes = {
        "title": f"study of {about['model']}", "model": about["model"], "runs": kept.layout.count, "seed": about["seed"],
        "status": status, "sharnir": about["version"], "identity": fingerprint(about),
    }  # fmt: skip
    ds = dataset_of(kept, tuple(about["inputs"]), tuple(about["output_names"]), named, attributes)
    for name, unit in about.get("units", {}).items():
        ds[name].attrs |= {"units": unit} if unit else {}
    return ds


def _result(kept: Store, about: Mapping[str, Any], path: Path | None, status: str) -> Dataset:
    ds = _dataset(kept, about, status)
    if path is None or not _is_file(path) or status != "done":
        return ds
    ds = ds.load()
    try:
        write_netcdf(ds, path)
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or error
        raise StudyError(f"store {path}: {what}; all runs are in {_folder(path)}, call study again", ds) from error
    rmtree(_folder(path), ignore_errors=True)
    return ds


# --- the runs ---------------------------------------------------------------------------------------------------------------
def _bundle_size(worker: Worker, design: Design, on_cluster: bool, bar: ProgressBar) -> int:
    """Size of bundles, from timing the first runs; an output that cannot be computed is an error now, not a row per run."""
    share = max(1, ceil(design.count / (16 * execution.cores())))
    row = design.rows(0, 1)
    with bar.meanwhile("compiling"):
        _check_first(worker, design, worker.compute(row))
        try:
            room = ROOM // (8 * max(1, worker.rows_of_one({name: x[0] for name, x in row.items()})))
        except SharnirError:  # the row of the first run reports it
            room = MOST
        if worker.inputs.on_lanes:
            return max(1, min(MOST_ON_LANES, room, max(64, share)))
        if share == 1:
            return 1
        tried = min(TRIED, share) if worker.go_together(row) else 1  # no more than a small part of the study
        begun = perf_counter()
        worker.compute(design.rows(0, tried))
        seconds = (perf_counter() - begun) / tried
    least = ceil(DASK_SECONDS / seconds) if on_cluster else 1
    return max(1, min(MOST, room, int(SECONDS / seconds) or 1, max(share, least)))


def _check_first(worker: Worker, design: Design, first: Bundle) -> None:
    """Raise an error that every run would meet, instead of a row for each."""
    status, message = first.status[0], first.message[0]
    if status == OUTPUT_FAILED:
        raise ArgumentError(f"of the first run, {message}", "outputs")
    others = [worker.compute(design.rows(k, k + 1)) for k in {design.count // 2, design.count - 1} if status == REFUSED]
    if others and all((one.status[0], one.message[0]) == (REFUSED, message) for one in others):
        raise StateError(f"no run can begin: {message}")


def _collected(
    kept: Store, design: Design, about: Mapping[str, Any], done: Iterator[tuple[int, Bundle]], bar: ProgressBar, path: Path | None
) -> str:
    """Put all bundles into the store; returns "done", or "interrupted" after Ctrl-C."""
    begun, total = perf_counter(), design.count
    before = count = min(total, len(kept.done) * kept.layout.size)
    try:
        for k, bundle in done:
            rows = design.rows(*kept.layout.span(k))
            try:
                kept.put(k, rows, bundle)
            except KeyboardInterrupt:
                kept.put(k, rows, bundle)  # whole, before the study ends
                raise
            count = min(total, count + len(bundle.status))
            kept.failed += sum(status not in ENDED for status in bundle.status[bundle.status != "done"])
            rate = (count - before) / (perf_counter() - begun)
            failed = f", {kept.failed} failed" if kept.failed else ""
            bar.update(count, f"{count} of {total} runs, {rate:.3g} a second{failed}")
        return "done"
    except KeyboardInterrupt:
        return "interrupted"
    except (OSError, SharnirError) as error:
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        where = f"{len(kept.done)} of {kept.layout.bundles} bundles are done"
        where += f" and in {_folder(path)}; call study again to go on" if path is not None else ", in the error's `result`"
        raise StudyError(f"{reason}. {where[0].upper()}{where[1:]}", _dataset(kept, about, "unfinished")) from error
    finally:
        getattr(done, "close", lambda: None)()
