"""The classic NetCDF format (64-bit offsets): a header, plain arrays, and rows that a file grows by.

What is not in the format cannot go wrong: no links to other files, no compression, nothing that a reader has to follow. Rows are
appended and counted afterwards, so that a file is valid whenever its writer is stopped. Behind the last row stands a checksum of
all bytes before it. Other programs ignore it, and leave it out of what they write: such files, and older ones, are not checked.
The format: https://docs.unidata.ucar.edu/netcdf-c/current/file_format_specifications.html
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO

import numpy as np

from ...machine import beyond_memory

Variables = dict[str, tuple[Sequence[str], Any, dict[str, str]]]
"""By name: dimensions, values (numbers, or a list of words), attributes."""

Stored = tuple[tuple[str, ...], np.ndarray, dict[str, Any]]
"""The same as the file has them: numbers or letters."""

ROWS = "time"
"""The dimension along which a file grows."""

MAGIC, VERSION, COUNT_AT = b"CDF", b"\x02", 4
DIMENSION, VARIABLE, ATTRIBUTE = 10, 11, 12
CHAR, INT, DOUBLE = 2, 4, 6
TYPES = {1: "i1", CHAR: "S1", 3: ">i2", INT: ">i4", 5: ">f4", DOUBLE: ">f8"}
LARGEST = 2**32 - 5
"""Bytes of an array, or of a row of one."""
MAX_COUNT = 10_000
"""Dimensions, variables, attributes: no result has so many."""
BLOCK = 2**24
"""Bytes that are rearranged, or checked, at once."""
CHECKSUM, CHECKSUM_BYTES = b"\n#crc32 ", 16
"""The last bytes of a file: this mark and eight hexadecimal digits."""


class Writer:
    """A file with these variables. Those along `ROWS` begin with the rows given, and `append` adds more."""

    def __init__(self, file: BinaryIO, variables: Variables, attributes: Mapping[str, Any]) -> None:
        self.file = file
        arrays = {name: _stored(*variable) for name, variable in variables.items()}
        # the format has no dimension of size 0 but that of rows
        arrays = {name: (d, x, about) for name, (d, x, about) in arrays.items() if prod(x.shape[d[0] == ROWS :])}
        sizes = {d: n for dimensions, x, _ in arrays.values() for d, n in zip(dimensions, x.shape, strict=True)}
        rows = {name: x for name, (dimensions, x, _) in arrays.items() if dimensions[:1] == (ROWS,)}
        self.row = np.dtype([(name, x.dtype, x.shape[1:]) for name, x in rows.items()])
        fixed = {name: x for name, (_, x, _) in arrays.items() if name not in rows}
        for name, x in (*fixed.items(), *((name, x[:0]) for name, x in rows.items())):
            if max(x.nbytes, x.dtype.itemsize * prod(x.shape[1:])) > LARGEST:
                raise ValueError(f"{name!r} {x.shape} is larger than the format allows, 4 GiB")
        begins = dict.fromkeys(arrays, 0)
        length = len(_header(arrays, sizes, attributes, begins))
        for name in (*fixed, *rows):
            begins[name] = length
            length += _padded(fixed[name].nbytes) if name in fixed else self.row[name].itemsize
        whole = b"".join(x.tobytes() + bytes(_padded(x.nbytes) - x.nbytes) for x in fixed.values())
        self.begin = file.write(whole := _header(arrays, sizes, attributes, begins) + whole)
        # rows, and the checksum of everything behind their count: one attribute, changed at once
        self._written = 0, zlib.crc32(whole[COUNT_AT + 4 :])
        self.append(rows)

    @property
    def count(self) -> int:
        """Rows that count."""
        return self._written[0]

    def append(self, columns: Mapping[str, np.ndarray]) -> None:
        """Add rows: an array for each variable along `ROWS`. They count when all are written."""
        names = self.row.names or ()
        n = len(columns[names[0]]) if names else 0
        step = max(1, BLOCK // max(self.row.itemsize, 1))
        count, crc = self._written
        self.file.seek(self.begin + count * self.row.itemsize)
        for first in range(0, n, step):
            block = np.empty(min(step, n - first), self.row)
            for name in names:
                block[name] = columns[name][first : first + step]
            crc = zlib.crc32(data := block.tobytes(), crc)
            self.file.write(data)
        end = self.file.tell()
        self.file.flush()
        self.file.seek(COUNT_AT)
        self.file.write(counted := struct.pack(">I", count + n))
        self.file.flush()
        self._written = count + n, crc
        self.file.seek(end)
        self.file.write(_checksum(MAGIC + VERSION + counted, crc))
        self.file.flush()


def add_checksum(file: BinaryIO) -> None:
    """Add a checksum to a file that another writer has finished."""
    checksum = _checksum_of(file, file.seek(0, os.SEEK_END))
    file.seek(0, os.SEEK_END)
    file.write(checksum)


def _checksum_of(file: BinaryIO, size: int) -> bytes:
    """The last bytes that belong to the first `size`."""
    file.seek(0)
    head, crc = file.read(COUNT_AT + 4), 0
    for at in range(len(head), size, BLOCK):
        crc = zlib.crc32(file.read(min(BLOCK, size - at)), crc)
    return _checksum(head, crc)


def _checksum(head: bytes, rest: int) -> bytes:
    """The head last: it has the count of rows, which changes as they are appended."""
    return CHECKSUM + b"%08x" % zlib.crc32(head, rest)


def _stored(dimensions: Sequence[str], values: Any, about: Mapping[str, str]) -> Stored:
    """Numbers as doubles; words as rows of bytes, as other programs do it."""
    x = np.asarray(values)
    if x.dtype.kind not in "UO" or not x.size:
        return tuple(dimensions), x.astype(">f8"), dict(about)
    encoded = [str(word).encode() for word in x]
    width = max(1, *map(len, encoded))
    letters = np.array(encoded, f"S{width}").view("S1").reshape(len(encoded), width)
    return (*dimensions, f"string{width}"), letters, {**about, "_Encoding": "utf-8"}


def _header(
    arrays: Mapping[str, Stored], sizes: Mapping[str, int], attributes: Mapping[str, Any], begins: Mapping[str, int]
) -> bytes:
    number = {name: k for k, name in enumerate(sizes)}
    dimensions = [_text(name) + struct.pack(">I", 0 if name == ROWS else n) for name, n in sizes.items()]
    variables = []
    for name, (dims, x, about) in arrays.items():
        shape = x.shape[1:] if dims[:1] == (ROWS,) else x.shape
        kind = CHAR if x.dtype.kind == "S" else DOUBLE
        which = struct.pack(f">I{len(dims)}I", len(dims), *(number[d] for d in dims))
        place = struct.pack(">IIQ", kind, _padded(prod(shape) * x.dtype.itemsize), begins[name])
        variables.append(_text(name) + which + _attributes(about) + place)
    no_rows = bytes(4)
    lists = _list(DIMENSION, dimensions) + _attributes(attributes) + _list(VARIABLE, variables)
    return MAGIC + VERSION + no_rows + lists


def _attributes(attributes: Mapping[str, Any]) -> bytes:
    items = []
    for name, value in attributes.items():
        if isinstance(value, str):
            items.append(_text(name) + struct.pack(">I", CHAR) + _text(value))
            continue
        x = np.atleast_1d(value)
        small = x.dtype.kind in "iub" and bool((np.abs(x) < 2**31).all())
        x = x.astype(">i4" if small else ">f8")
        items.append(_text(name) + struct.pack(">II", INT if small else DOUBLE, x.size) + x.tobytes())
    return _list(ATTRIBUTE, items)


def _list(tag: int, items: Sequence[bytes]) -> bytes:
    return struct.pack(">II", tag if items else 0, len(items)) + b"".join(items)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">I", len(data)) + data + bytes(_padded(len(data)) - len(data))


def _padded(n: int) -> int:
    return n + -n % 4


# --- reading ----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Array:
    """The place of a variable in its file."""

    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    attributes: dict[str, Any]
    begin: int
    in_rows: bool

    @property
    def nbytes(self) -> int:
        """Size of the array, or of one row where the file grows by rows."""
        return prod(self.shape[self.in_rows :]) * self.dtype.itemsize


class Reader:
    """The header of a file, checked: every array lies within the file, and its checksum is right. ValueError says what is wrong.

    rows    how many are there: as many as the header counts, unless the file is shorter
    whole   False where it is
    """

    def __init__(self, file: BinaryIO, encoding: str = "utf-8") -> None:
        self.file, self._encoding = file, encoding
        self.size = os.fstat(file.fileno()).st_size
        version = self._take(4)
        if version[:3] != MAGIC or version[3] not in (1, 2):
            raise ValueError("it is no NetCDF file of the classic format")
        self._offset = ">I" if version[3] == 1 else ">Q"
        counted = self._number()
        dimensions = [(self._text(), self._number()) for _ in self._items(DIMENSION)]
        self.attributes = self._attributes()
        found = [self._variable(dimensions) for _ in self._items(VARIABLE)]
        self.arrays = dict(found)
        if len(self.arrays) != len(found) or len(dict(dimensions)) != len(dimensions):
            raise ValueError("a name occurs twice in its header")
        rows = {name: a for name, a in self.arrays.items() if a.in_rows}
        self.row_bytes = sum(_padded(a.nbytes) for a in rows.values())
        self.first_row = min((a.begin for a in rows.values()), default=self.size)
        there = max(0, self.size - self.first_row) // max(self.row_bytes, 1)
        self.rows, self.whole = min(counted, there), counted <= there or not rows
        for name, a in self.arrays.items():
            end = self.first_row + self.row_bytes if a.in_rows else self.size
            if a.begin + a.nbytes > end:
                raise ValueError(f"{name!r} is not where its header says")
        end = max(0, self.size - CHECKSUM_BYTES)
        self.file.seek(end)
        last = self.file.read(CHECKSUM_BYTES)
        if last.startswith(CHECKSUM) and last != _checksum_of(self.file, end):
            raise ValueError(
                "its checksum is another: it is damaged, or was changed in place; take a copy of it; where the change was meant, "
                "write it anew with xarray.open_dataset(path, decode_times=False).to_netcdf(another)"
            )

    def shape(self, name: str) -> tuple[int, ...]:
        a = self.arrays[name]
        return (self.rows, *a.shape[1:]) if a.in_rows else a.shape

    def read(self, *names: str) -> dict[str, np.ndarray]:
        """Arrays by name; those in rows in one pass over the file."""
        if beyond := beyond_memory(sum(prod(self.shape(name)) * self.arrays[name].dtype.itemsize for name in names) / 8):
            raise ValueError(f"its numbers need {beyond}")
        out = {name: np.empty(self.shape(name), self.arrays[name].dtype.newbyteorder("=")) for name in names}
        for name, x in out.items():
            if not self.arrays[name].in_rows:
                self.file.seek(self.arrays[name].begin)
                x[...] = np.frombuffer(self._take(x.nbytes), self.arrays[name].dtype).reshape(x.shape)
        columns = [name for name in names if self.arrays[name].in_rows]
        step = max(1, BLOCK // max(self.row_bytes, 1))
        for row in range(0, self.rows if columns else 0, step):
            n = min(step, self.rows - row)
            self.file.seek(self.first_row + row * self.row_bytes)
            block = np.frombuffer(self._take(n * self.row_bytes), np.uint8).reshape(n, self.row_bytes)
            for name in columns:
                a = self.arrays[name]
                at = a.begin - self.first_row
                part = np.ascontiguousarray(block[:, at : at + a.nbytes])
                out[name][row : row + n] = part.view(a.dtype).reshape(n, *a.shape[1:])
        return out

    def words(self, name: str) -> list[str]:
        if self.arrays[name].dtype.kind != "S" or len(self.arrays[name].shape) != 2 or self.arrays[name].in_rows:
            raise ValueError(f"{name!r} is no list of words")
        x = self.read(name)[name]
        return [word.decode() for word in x.view(f"S{x.shape[1]}").ravel().tolist()]

    def _variable(self, dimensions: Sequence[tuple[str, int]]) -> tuple[str, Array]:
        name = self._text()
        which = [self._number() for _ in range(self._count())]
        if any(k >= len(dimensions) for k in which):
            raise ValueError(f"{name!r} has a dimension that is not there")
        attributes = self._attributes()
        kind, _ = self._kind(), self._number()  # its size follows from its dimensions
        (begin,) = struct.unpack(self._offset, self._take(struct.calcsize(self._offset)))
        shape = tuple(dimensions[k][1] for k in which)
        if 0 in shape[1:]:
            raise ValueError(f"{name!r} grows along a dimension that is not its first")
        return name, Array(tuple(dimensions[k][0] for k in which), shape, kind, attributes, begin, shape[:1] == (0,))

    def _attributes(self) -> dict[str, Any]:
        return {self._text(): self._attribute() for _ in self._items(ATTRIBUTE)}

    def _attribute(self) -> Any:
        kind, n = self._kind(), self._number()
        data = self._take(_padded(n * kind.itemsize))[: n * kind.itemsize]
        if kind.kind == "S":
            return data.decode(self._encoding).rstrip("\0")
        return np.frombuffer(data, kind).astype(kind.newbyteorder("="))

    def _kind(self) -> np.dtype[Any]:
        code = self._number()
        if code not in TYPES:
            raise ValueError(f"a type {code} is not known to the format")
        return np.dtype(TYPES[code])

    def _items(self, tag: int) -> Iterator[int]:
        found = self._number()
        n = self._count()
        if found != tag and (found or n):
            raise ValueError("its header is damaged")
        return iter(range(n))

    def _count(self) -> int:
        n = self._number()
        if n > MAX_COUNT:
            raise ValueError(f"its header lists {n} things, more than any result has")
        return n

    def _text(self) -> str:
        n = self._number()
        return self._take(_padded(n))[:n].decode(self._encoding)

    def _number(self) -> int:
        return int.from_bytes(self._take(4), "big")

    def _take(self, n: int) -> bytes:
        """The next n bytes. A length that lies is noticed before memory is asked for."""
        if n > self.size - self.file.tell() or len(data := self.file.read(n)) < n:
            raise ValueError("it is shorter than its header says")
        return data
