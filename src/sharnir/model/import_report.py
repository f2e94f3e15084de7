"""Report of what became of every part of an imported file: nothing is dropped silently."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from os import PathLike

from ..errors import FormatError
from ..types import truth

VERDICTS = {
    "honoured": "acts in the model as the file says",
    "approximated": "acts, but not exactly as the file says",
    "kept": "stored with the model; does not act by itself",
    "ignored": "left out",
}


@dataclass(frozen=True)
class ReportEntry:
    """One part of a file: its kind, its place, its verdict and the reason."""

    what: str
    where: str
    verdict: str
    why: str = ""
    warning: bool = False
    """Something is wrong with it, though it is taken as the file has it; or it is left out, and the motion differs."""
    motion: bool = True
    """Whether it may change the motion; what is only seen or measured does not."""


class Entries(list[ReportEntry]):
    """The entries of one verdict. Readers call it to add one: `report.ignored("sensor", "sensor 'imu', line 12")`."""

    def __init__(self, report: ImportReport, verdict: str) -> None:
        super().__init__()
        self._report, self._verdict = report, verdict

    def __call__(self, what: str, where: str, note: str = "", *, warning: bool = False, motion: bool = True) -> None:
        self._report._add(ReportEntry(what, where, self._verdict, note, warning, motion))


class ImportReport:
    """The entries of one import. `strict` raises on the first part that is approximated, ignored or suspect and may
    change the motion."""

    def __init__(self, source: str | PathLike[str] = "", strict: bool = False) -> None:
        self.source = str(source)
        self.strict = truth(strict, "strict")
        self.entries: list[ReportEntry] = []
        self.honoured = Entries(self, "honoured")
        self.approximated = Entries(self, "approximated")
        self.kept = Entries(self, "kept")
        self.ignored = Entries(self, "ignored")

    def _add(self, entry: ReportEntry) -> None:
        if self.strict and entry.motion and (entry.warning or entry.verdict in ("approximated", "ignored")):
            raise FormatError(
                f"{self.source}: {'' if entry.where == self.source else f'{entry.where}: '}{entry.what} would be {entry.verdict}"
                f"{f' ({entry.why})' if entry.why else ''}; strict=True refuses that, strict=False reports it"
            )
        self.entries.append(entry)
        self.of(entry.verdict).append(entry)

    def of(self, verdict: str) -> Entries:
        """The entries with one verdict, e.g. `report.of("ignored")`."""
        entries: Entries = getattr(self, verdict)
        return entries

    def copy(self) -> ImportReport:
        other = ImportReport(self.source)
        for entry in self.entries:
            other._add(entry)
        other.strict = self.strict
        return other

    @property
    def warnings(self) -> list[ReportEntry]:
        """Entries that may make results differ from the intention of the file."""
        return [e for e in self.entries if e.warning or e.verdict == "approximated"]

    @property
    def complete(self) -> bool:
        """Whether everything in the file was honoured or kept, without a warning."""
        return not self.warnings and not self.ignored

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[ReportEntry]:
        return iter(self.entries)

    def groups(self, verdict: str) -> list[tuple[str, str, list[str]]]:
        """(what, why, places) of one verdict: equal entries together, the most frequent first."""

        def key(e: ReportEntry) -> tuple[str, str]:
            return e.what, e.why

        grouped = groupby(sorted(self.of(verdict), key=key), key=key)
        found = [(what, why, [e.where for e in entries]) for (what, why), entries in grouped]
        return sorted(found, key=lambda group: -len(group[2]))

    def summary(self) -> str:
        """`151 honoured, 12 kept, 3 ignored`."""
        counts = ((len(self.of(verdict)), verdict) for verdict in VERDICTS)
        return ", ".join(f"{n} {verdict}" for n, verdict in counts if n) or "nothing imported"

    def __str__(self) -> str:
        lines = [f"import of {self.source}: {self.summary()}"]
        for verdict, meaning in VERDICTS.items():
            groups = self.groups(verdict)
            if not groups:
                continue
            lines.append(f"{verdict} ({meaning})")
            width = min(44, max(len(what) for what, _, _ in groups))
            for what, why, places in groups:
                more = f" and {len(places) - 1} more" if len(places) > 1 else ""
                tail = why if verdict == "honoured" else "  ".join(x for x in (why, f"[{places[0]}{more}]") if x)
                lines.append(f"  {len(places):5d} × {what:{width}}  {tail}".rstrip())
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"ImportReport({self.source!r}: {self.summary()})"

    def as_dict(self) -> dict[str, object]:
        """Plain data, for JSON."""
        return {"source": self.source, "summary": self.summary(), "entries": [asdict(e) for e in self.entries]}
