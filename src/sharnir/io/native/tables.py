"""Tables of a file, which its formulas call by their names: read before everything else, collected while formulas are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ...errors import FormatError
from ...trace.table import Table
from .entries import TableEntry
from .faults import at, each
from .reading import read_element

_collected: ContextVar[dict[str, Table]] = ContextVar("tables of a file")


def read_tables(data: Any) -> dict[str, Table]:
    """The tables of a file by name. Mistakes in them come first: formulas that call such a table would be mistakes too."""
    given = data.get("tables") if isinstance(data, dict) else None
    with at("tables"):
        names = given if isinstance(given, dict) else {}
        return each(((name, name) for name in names), lambda name: _read_table(name, names[name]))


def _read_table(name: Any, value: Any) -> Table:
    found: Table = read_element(TableEntry, value).build(str(name))
    if not isinstance(name, str) or not name.isidentifier():
        raise FormatError(f"formulas call a table by its name, which consists of letters, digits and _; got {name!r}")
    return found


def write_table(table: Table) -> dict[str, Any]:
    axes = [x.tolist() for x in table.axes]
    data = (
        {"x": axes[0], "y": table.values.tolist()} if len(axes) == 1 else {"x": axes[0], "y": axes[1], "z": table.values.tolist()}
    )
    return data | {key: word for key, word in (("kind", table.kind), ("outside", table.outside)) if word not in ("cubic", "hold")}


@contextmanager
def collected_tables() -> Iterator[dict[str, Table]]:
    """The tables of formulas that are written inside."""
    tables: dict[str, Table] = {}
    token = _collected.set(tables)
    try:
        yield tables
    finally:
        _collected.reset(token)


def collect(tables: Mapping[str, Table], label: str) -> None:
    """Tables of a formula become those of the file."""
    there = _collected.get({})
    for name, table in tables.items():
        if there.setdefault(name, table) != table:
            raise FormatError(f"{label}: two different tables are called {name!r}; the tables of a file need a name each")


def name_of(table: Table) -> str:
    """The name by which a file knows a table that is a function itself."""
    if table.name.isidentifier():
        return table.name
    there = _collected.get({})
    same = (name for name, other in there.items() if other == table)
    return next(same, "") or next(name for k in range(1, len(there) + 2) if (name := f"table{k}") not in there)
