"""A study described in a file: YAML, of which every mistake is named with file, line and field (docs/studies_file.md)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import samples
from ...errors import FormatError, SharnirError, choices, no_such, unknown
from ...io.load import XML, load
from ...io.native.document import Document, read_text
from ...io.native.entries import FileKind, Record
from ...io.native.faults import Faults, at, each
from ...io.native.read import check_settings, format_error
from ...io.native.reading import read_element
from ...model.element import Element, element, element_field
from ...model.model import Model
from ...model.parts import ALL, MOTION
from ...model.settings import SimulationSettings, overridden
from ...model.values import ByName, Choice, Fault, FilePath, Flag, Name, Scalar, Text, Whole, expected
from ..compute.outputs import outputs_of
from ..compute.worker import event_names
from .designs import SAMPLERS, ArgumentError, design_of
from .file_values import all_values, one_value, read_runs
from .inputs import WORDS, Inputs


class Over(FileKind):
    """The inputs of a study. Their values depend on the model: they are read once it is there."""

    def check(self, value: Any) -> Any:
        if not isinstance(value, (Mapping, list)) or not value:
            raise expected("inputs by name, such as {spring.stiffness: [1e4, 2e4]}, or a list of such runs", value)
        return value


class OutputTexts(FileKind):
    """{name: reduction}, or a list of reductions, which are their own names."""

    def check(self, value: Any) -> Mapping[str, str]:
        if not isinstance(value, (Mapping, list)) or not value:
            raise expected("outputs by name, such as {height: final of heave}, or a list of them", value)
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        texts = each(pairs, Text().check)
        return texts if isinstance(value, Mapping) else {text: text for text in texts.values()}


@element()
class RunEntry(SimulationSettings):
    """Arguments that all runs have in common."""

    parameters: Mapping[str, float] | None = element_field(
        ByName(Scalar()), default=None, meaning="values of parameters of the model that do not vary"
    )


@element()
class StudyEntry(Element):
    """A study."""

    model: Path | None = element_field(FilePath(), default=None, meaning="a model file, from the folder of this file")
    floating: bool = element_field(Flag(), default=False, meaning="whether the root of a URDF model is free")
    acting: str | None = element_field(
        Choice((ALL, MOTION)), default=None, meaning="of a robot: whether limits, friction and contacts act, as of sharnir.load"
    )
    sample: str | None = element_field(Name(), default=None, meaning="a mechanism of sharnir.samples, in place of `model`")
    over: Any = element_field(Over(), default=None, meaning="inputs and their values or distributions, or a list of runs")
    table: Path | None = element_field(FilePath(), default=None, meaning="runs as rows of a CSV file, in place of `over`")
    runs: int | None = element_field(Whole(1), default=None, meaning="how many runs are drawn")
    sampler: str | None = element_field(Choice(SAMPLERS), default=None, meaning="how they are drawn")
    seed: int = element_field(Whole(0), default=0, meaning="of what is drawn")
    run: RunEntry | None = element_field(Record(RunEntry), default=None, meaning="arguments that all runs have in common")
    outputs: Mapping[str, str] | None = element_field(OutputTexts(), default=None, meaning="what is kept of every run")
    store: Path | None = element_field(FilePath(), default=None, meaning="a folder, or a .nc file, for the results")


@dataclass(frozen=True)
class StudyFile:
    """The contents of a file, checked as far as that is possible without its model."""

    document: Document
    entry: StudyEntry
    folder: Path

    @property
    def lists_runs(self) -> bool:
        """Whether runs are given one by one: then there is nothing to draw."""
        return self.entry.table is not None or isinstance(self.entry.over, list)

    @property
    def store(self) -> Path | None:
        return None if self.entry.store is None else self.folder / self.entry.store

    def arguments(self, runs: int | None = None, seed: int | None = None) -> dict[str, Any]:
        """Arguments for `sharnir.study`, all checked; `runs` and `seed` in place of those of the file."""
        changes = {name: x for name, x in (("runs", runs), ("seed", seed)) if x is not None}
        try:
            return _Reader(self, self.entry.replaced(**changes)).arguments() | {"store": self.store}
        except Faults as error:
            raise format_error(error.faults, self.document) from None


def read_study(path: Path) -> StudyFile:
    document = Document("bodies:" if path.suffix.lower() in XML else read_text(path), str(path))
    if isinstance(document.data, dict) and "bodies" in document.data and not {"model", "sample"} & document.data.keys():
        raise FormatError(
            f"{path}:1: this describes a model, not a study: `sharnir run {path}` simulates it once; a study names it, "
            f"`model: {path.name}`, and says what varies, `over:`, in a file of its own (docs/studies_file.md)"
        )
    if document.data is None:
        raise FormatError(f"{path}:1: the file is empty; a study begins with e.g. `model: car.yaml` and `over:`")
    try:
        with at():
            entry = read_element(StudyEntry, document.data)
            _check_pairs(entry)
    except Faults as error:
        raise format_error(error.faults, document) from None
    return StudyFile(document, entry, path.parent)


def _check_pairs(entry: StudyEntry) -> None:
    for first, second in (("model", "sample"), ("over", "table")):
        given = sum(getattr(entry, name) is not None for name in (first, second))
        if not given:
            raise Fault(f"a field is missing: `{first}`, or `{second}` in its place")
        if given == 2:
            raise Fault(f"`{first}` is given too; leave one of them out", second)
    if entry.floating and entry.model is None:
        raise Fault("it goes with `model`; leave it out", "floating")
    if entry.runs is not None and (entry.table is not None or isinstance(entry.over, list)):
        raise Fault("a list or a table has as many runs as it has rows; leave this field out", "runs")


class _Reader:
    def __init__(self, file: StudyFile, entry: StudyEntry) -> None:
        self.file, self.entry = file, entry
        self.lines: list[int] = []
        """Line numbers of the rows of a table."""

    def arguments(self) -> dict[str, Any]:
        entry = self.entry
        if entry.sampler is not None and entry.runs is None:
            with at("sampler"):
                raise Fault("it says how runs are drawn; give `runs` too, or leave it out")

        def check(name: str) -> None:
            if name not in model.parameters:
                raise Fault(no_such("parameter", name, model.parameters))

        model = self._model()
        rows = self._rows()
        names = list(entry.over if rows is None else rows[0])
        if entry.run is not None:
            with at("run"):
                check_settings(model, entry.run)
            with at("run", "parameters"):
                each(((name, name) for name in entry.run.parameters or ()), check)
        run = self._run(model, names)
        inputs = self._inputs(model, names, run)
        words = {name for name, (argument, part) in inputs.places.items() if argument in WORDS and not part}
        over = self._over(words) if rows is None else self._listed(rows, words)
        sampler = entry.sampler or SAMPLERS[0]
        with at("over" if entry.table is None else "table"):
            _placed(lambda: design_of(over, entry.runs, sampler, entry.seed), "over")
        self._check_outputs(inputs.model, run)
        own = {"outputs": entry.outputs, "runs": entry.runs, "seed": entry.seed}
        return {"model": model, "over": over, "run": run, "sampler": sampler, **own}

    # --- the model and what its runs have in common -----------------------------------------------------------------------------
    def _model(self) -> Model:
        entry = self.entry
        if entry.model is not None:
            return load(self._path("model"), floating=entry.floating, acting=entry.acting)  # its mistakes have lines of their own
        with at("sample"):
            there = _samples()
            if entry.sample not in there:
                raise Fault(unknown(f"sample {entry.sample!r}", entry.sample, there, "samples"))
            return there[entry.sample]()

    def _path(self, field: str) -> Path:
        path: Path = self.file.folder / getattr(self.entry, field)
        if not path.is_file():
            with at(field):
                raise Fault(f"there is no file {path}")
        return path

    def _run(self, model: Model, names: Sequence[str]) -> dict[str, Any]:
        """Arguments of the runs: the settings in the model file, unless this file or an input overrides them."""
        options = {name for name in names if name not in model.parameters}
        if (own := model.simulation) is not None:
            own = own.replaced(**{name: None for name in own.fields() if name in options})
        run = overridden(own, self.entry.run.arguments() if self.entry.run is not None else {})
        if "duration" not in {*run, *options}:
            with at("run", "duration"):
                raise Fault("this field is missing: how many seconds a run takes")
        return run

    # --- inputs ---------------------------------------------------------------------------------------------------------------
    def _inputs(self, model: Model, names: Sequence[str], run: Mapping[str, Any]) -> Inputs:
        try:
            return Inputs(model, names, run)
        except SharnirError:  # those at fault are found by trying them one by one
            place = ("table",) if self.entry.table is not None else ("over", 0) if self.file.lists_runs else ("over",)
            with at(*place):
                each(zip(names, names, strict=True), lambda name: _placed(lambda: Inputs(model, [name], run), "over", name))
            raise

    def _over(self, words: Collection[str]) -> dict[str, Any]:
        pairs = ((name, (name, value)) for name, value in self.entry.over.items())
        with at("over"):
            return each(pairs, lambda pair: all_values(pair[1], pair[0] in words, self.entry.runs is not None))

    def _rows(self) -> list[Mapping[str, Any]] | None:
        """Runs that are given one by one, all with the same inputs."""
        if self.entry.table is not None:
            self.lines, found = read_runs(self._path("table"))
            return found
        if not isinstance(self.entry.over, list):
            return None
        first = self.entry.over[0] if isinstance(self.entry.over[0], Mapping) else {}

        def check(row: Any) -> Mapping[str, Any]:
            if not isinstance(row, Mapping) or not row:
                raise expected("the inputs of a run, {input: value}", row)
            for name in row if first else ():
                if name not in first:
                    raise Fault(f"the first run does not have it; {choices(name, first, 'inputs there')}", name)
            for name in first:
                if name not in row:
                    raise Fault(f"the input {name!r} is missing, which the first run has")
            return row

        with at("over"):
            return list(each(enumerate(self.entry.over), check).values())

    def _listed(self, rows: list[Mapping[str, Any]], words: Collection[str]) -> list[dict[str, Any]]:
        def values(row: Mapping[str, Any]) -> dict[str, Any]:
            return each(((name, (name, x)) for name, x in row.items()), lambda pair: one_value(pair[1], pair[0] in words))

        try:
            return list(each(enumerate(rows), values).values())
        except Faults as error:
            if self.entry.table is None:
                raise Faults([Fault(fault.what, "over", *fault.path) for fault in error.faults]) from None
            row, name = error.faults[0].path
            line = f"{self.file.folder / self.entry.table}:{self.lines[int(row)]}"
            raise FormatError(f"{line}: column {name!r}: {error.faults[0].what}") from None

    # --- outputs --------------------------------------------------------------------------------------------------------------
    def _check_outputs(self, model: Model, run: Mapping[str, Any]) -> None:
        given, events = self.entry.outputs or {}, event_names(run)
        keys = list(given) if isinstance(self.file.document.data.get("outputs"), Mapping) else range(len(given))
        with at("outputs"):
            pairs = zip(keys, given.items(), strict=True)
            each(pairs, lambda one: _placed(lambda: outputs_of(model, dict([one]), events), "outputs", one[0]))


def _placed(check: Callable[[], Any], *path: str) -> None:
    """Raise an error about an argument as a `Fault`, whose place in the file says what `path` says."""
    try:
        check()
    except ArgumentError as error:
        raise Fault(error.after(*path)) from None


def _samples() -> dict[str, Callable[[], Model]]:
    """Samples that are models, and can be built without arguments."""
    functions = {name: f for name in dir(samples) if inspect.isfunction(f := getattr(samples, name))}
    about = {name: inspect.signature(f) for name, f in functions.items()}
    models = [name for name, x in about.items() if x.return_annotation in ("Model", Model)]
    return {name: functions[name] for name in models if all(p.default is not p.empty for p in about[name].parameters.values())}
