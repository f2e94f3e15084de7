"""Packing of numbers into a page: arrays one after the other behind a table of contents, compressed, as text.

The table is JSON; an array in it is {"at": byte, "n": numbers, "type": …}. `templates/unpack.js` reads it.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np

TYPES = {"float32": "f4", "float64": "f8", "uint8": "u1", "int8": "i1", "uint16": "u2", "uint32": "u4", "int32": "i4"}
ALIGNMENT = 8
"""Bytes: a typed array of the browser begins at a multiple of the size of its numbers."""

Reference = dict[str, Any]


class Package:
    """Arrays that are added, each once however often it is added."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0
        self._known: dict[tuple[str, bytes], Reference] = {}

    def add(self, array: np.ndarray) -> Reference:
        data = np.ascontiguousarray(array)
        key = TYPES[data.dtype.name], data.tobytes()
        if key not in self._known:
            padded = key[1] + bytes(-len(key[1]) % ALIGNMENT)
            self._known[key] = {"at": self._size, "n": data.size, "type": key[0]}
            self._chunks.append(padded)
            self._size += len(padded)
        return self._known[key]

    def text(self, contents: dict[str, Any]) -> str:
        """Base64 of the compressed whole: length of the table (4 bytes), table, arrays."""
        table = json.dumps(contents, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        table += b" " * (-(len(table) + 4) % ALIGNMENT)
        whole = len(table).to_bytes(4, "little") + table + b"".join(self._chunks)
        return base64.b64encode(gzip.compress(whole, 9, mtime=0)).decode("ascii")


def series(package: Package, numbers: np.ndarray) -> Reference:
    """Whole numbers (rows, columns) over time. Second differences of a smooth motion are small: their bytes, the low ones first
    and the high ones after them, compress well."""
    rows, columns = numbers.shape
    narrow = bool(np.abs(numbers).max(initial=0) < 2**15)
    x = np.ascontiguousarray(numbers.T).astype(np.int16 if narrow else np.int32)
    second = np.diff(np.diff(x, axis=1, prepend=x.dtype.type(0)), axis=1, prepend=x.dtype.type(0))
    bytes_of = second.view(np.uint8).reshape(-1, x.dtype.itemsize).T
    return {"rows": rows, "columns": columns, "bytes": x.dtype.itemsize, "data": package.add(bytes_of)}
