"""Where the results of a study are kept as they come: in memory, or in a folder of chunks, one chunk for a bundle of runs.

The folder is a Zarr group (version 2: small JSON files and plain compressed arrays), which `xarray.open_zarr` reads too. A chunk
appears whole or not at all, that of `status` last: a bundle is either done or will be done again, never half, never twice.
Format: https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html
"""

from __future__ import annotations

import json
import os
import secrets
import zlib
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from ...errors import StateError
from ..design.designs import Columns
from ..statuses import COMPLETED, ENDED, NOT_RUN, OUTPUT_FAILED
from .identity import DIFFERS
from .outputs import Shape
from .worker import Bundle

STATUS, WORD, MESSAGE = 24, 64, 400
"""Characters of a status, of an input that is a word, and of a message."""
NUMBER = "<f8"
TYPES = (NUMBER, *(f"<U{n}" for n in (STATUS, WORD, MESSAGE)))
"""Types of arrays."""
FORMAT = "sharnir study 1"


def fill_of(name: str, dtype: np.dtype[Any]) -> Any:
    """The value of entries that were not written."""
    return np.nan if dtype.kind == "f" else NOT_RUN if name == "status" else ""


class Layout:
    """Runs in bundles of one size; the last may be smaller."""

    def __init__(self, count: int, size: int) -> None:
        self.count, self.size = count, size
        self.bundles = -(-count // size)

    def span(self, k: int) -> tuple[int, int]:
        return k * self.size, min(self.count, (k + 1) * self.size)


class Store:
    """Arrays along the runs, by name, bundle by bundle. `shapes`: of outputs, as they become known."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.shapes: dict[str, Shape] = {}
        self.done: set[int] = set()
        self.failed = 0
        """Number of runs that failed."""

    def put(self, k: int, rows: Columns, bundle: Bundle) -> None:
        """Bundle k is done. Where it cannot be written it is kept in memory, and the error is raised after that."""
        self._check_shapes(bundle)
        arrays = {**rows, **bundle.values, "t_end": bundle.t_end}
        if not np.isin(bundle.status, COMPLETED).all():
            arrays["message"] = np.array([text[:MESSAGE] for text in bundle.message], dtype=object)
        arrays["status"] = bundle.status  # the last: it says that the others are there
        failures = []
        for name, x in arrays.items():
            try:
                self._write(name, k, x)
            except OSError as error:
                failures.append(error)
        if failures:
            raise failures[0]
        self.done.add(k)

    def _check_shapes(self, bundle: Bundle) -> None:
        """All runs give arrays of one shape; of those that do not, the values are dropped and the run says so."""
        for name, shape in bundle.shapes.items():
            if name not in self.shapes:
                self.shapes[name] = shape
                self._announce(name, shape)
            known = self.shapes[name]
            if known.sizes != shape.sizes or known.dims != shape.dims:
                for k in np.flatnonzero(~np.isnan(bundle.values[name]).reshape(len(bundle.status), -1).all(axis=1)):
                    bundle.status[k] = OUTPUT_FAILED
                    bundle.message[k] = f"output {name!r}: it has shape {shape.sizes}, of other runs {known.sizes}"
                bundle.values[name] = np.full((len(bundle.status), *known.sizes), np.nan)

    def _announce(self, name: str, shape: Shape) -> None:
        """Act on the shape of an output, once it is known."""

    def _write(self, name: str, k: int, x: np.ndarray) -> None:
        raise NotImplementedError

    def read(self, name: str, runs: np.ndarray) -> np.ndarray:
        """Values for some runs, in any order."""
        raise NotImplementedError

    def names(self) -> list[str]:
        raise NotImplementedError


class Memory(Store):
    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._arrays: dict[str, np.ndarray] = {"message": np.full(layout.count, "", dtype=object)}

    def _write(self, name: str, k: int, x: np.ndarray) -> None:
        first, last = self.layout.span(k)
        if name not in self._arrays:
            dtype = float if x.dtype.kind == "f" else object  # most messages are empty
            self._arrays[name] = np.full((self.layout.count, *x.shape[1:]), fill_of(name, x.dtype), dtype=dtype)
        self._arrays[name][first:last] = x

    def read(self, name: str, runs: np.ndarray) -> np.ndarray:
        return self._arrays[name] if len(runs) == self.layout.count else self._arrays[name][runs]

    def names(self) -> list[str]:
        return list(self._arrays)


class Folder(Store):
    def __init__(self, path: Path, layout: Layout, about: Mapping[str, Any]) -> None:
        super().__init__(layout)
        self.path, self.about, self._some_ended = path, dict(about), False
        self._unwritten: dict[tuple[str, int], np.ndarray] = {}
        self._described: dict[str, dict[str, Any]] = {}

    # --- beginning and going on -----------------------------------------------------------------------------------------------
    @classmethod
    def begin(cls, path: Path, layout: Layout, about: Mapping[str, Any]) -> Folder:
        """A new store, or that of another process which began it meanwhile, with bundles of its own size."""
        store = cls(path, layout, about)
        path.mkdir(exist_ok=True)
        store._text(".zgroup", {"zarr_format": 2})
        mine = path / f"..zattrs-{secrets.token_hex(4)}"
        store._text(mine.name, {"format": FORMAT, "runs": layout.count, "bundle": layout.size, **about})
        try:
            os.link(mine, path / ".zattrs")
        except FileExistsError:
            return cls.found(path) or store
        except OSError:  # a file system without links
            os.replace(mine, path / ".zattrs")
        finally:
            mine.unlink(missing_ok=True)
        return store

    @classmethod
    def found(cls, path: Path) -> Folder | None:
        """The store that was begun there; None where there is none."""
        there = [p.name.lstrip(".") for p in path.iterdir()] if path.exists() else []  # before: another process may begin it now
        if not (path / ".zattrs").exists():
            if any(not name.startswith(("zgroup", "zattrs")) for name in there):
                raise StateError(f"store {path}: the folder is not empty and holds no study; give another name")
            return None
        try:
            about = json.loads((path / ".zattrs").read_text(encoding="utf-8"))
            runs, size, axes = about.pop("runs"), about.pop("bundle"), about["axes"]
            known = about.pop("format") == FORMAT and {*DIFFERS, "output_names"} <= about.keys()
            counted = type(runs) is type(size) is int and min(runs, size) > 0
            inputs, outputs = about["inputs"], about["output_names"]
            words = all(isinstance(name, str) for name in (*inputs, *outputs))
            if not (known and counted and words) or (axes is not None and prod(map(len, axes.values())) != runs):
                raise ValueError
            store = cls(path, Layout(runs, size), about)
            for folder in sorted(p.parent for p in path.glob("*/.zarray")):
                store._look(folder)
        except StateError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, IsADirectoryError, FileNotFoundError):
            what = "it holds no study of sharnir, or a damaged one; give another name, or remove it"
            raise StateError(f"store {path}: {what}") from None
        # every bundle that is done has its inputs, and one in which a run ended all outputs
        for name in [*inputs, "t_end", "message", *(outputs if store._some_ended else [])] if store.done else []:
            if not (path / store._place(name) / ".zarray").exists():
                advice = f"remove {path / 'status'} and call study again, which computes them anew"
                raise StateError(f"store {path}: {name!r} is missing of runs that are done; {advice}")
        return store

    def _look(self, folder: Path) -> None:
        """Read the description of an array, which must be the one that `_array` writes."""
        attributes = self._attributes(folder)
        name, role = attributes["name"], attributes["role"]
        found = json.loads((folder / ".zarray").read_text(encoding="utf-8"))
        sizes, dtype = tuple(found["shape"][1:]), np.dtype(found["dtype"])
        if dtype.str not in TYPES or found != self._described_as(name, dtype, sizes) or folder.name != self._place(name):
            raise ValueError
        if role == "output":
            dims = tuple(attributes["_ARRAY_DIMENSIONS"][1:])
            self.shapes[name] = Shape(dims, sizes, attributes["coords"], attributes.get("units", ""))
        if name == "status":
            places = {p.name for p in folder.iterdir()}
            self.done = {k for k in range(self.layout.bundles) if str(k) in places}
            ended = np.concatenate([np.isin(self._statuses(k), ENDED) for k in self.done] or [np.zeros(0, dtype=bool)])
            self.failed, self._some_ended = int((~ended).sum()), bool(ended.any())

    # --- writing --------------------------------------------------------------------------------------------------------------
    def _announce(self, name: str, shape: Shape) -> None:
        self._array(name, np.dtype(NUMBER), shape, "output")

    def declare(self, rows: Columns) -> None:
        """Describe the arrays that every study has."""
        for name, x in rows.items():
            self._array(name, np.dtype(f"<U{WORD}" if x.dtype.kind == "U" else NUMBER), Shape(), "input")
        for name, kind in (("t_end", NUMBER), ("message", f"<U{MESSAGE}"), ("status", f"<U{STATUS}")):
            self._array(name, np.dtype(kind), Shape(units="s" if name == "t_end" else ""), "run")

    def _array(self, name: str, dtype: np.dtype[Any], shape: Shape, role: str) -> None:
        place = self._place(name)
        (self.path / place).mkdir(exist_ok=True)
        about = {"name": name, "role": role, "units": shape.units, "coords": shape.coords}
        self._text(f"{place}/.zattrs", {**about, "_ARRAY_DIMENSIONS": ["run", *shape.dims]})
        self._text(f"{place}/.zarray", self._described_as(name, dtype, shape.sizes))

    def _described_as(self, name: str, dtype: np.dtype[Any], sizes: tuple[int, ...]) -> dict[str, Any]:
        chunks = [self.layout.size, *(max(n, 1) for n in sizes)]
        fill = "NaN" if dtype.kind == "f" else fill_of(name, dtype)
        return {
            "zarr_format": 2, "shape": [self.layout.count, *sizes], "chunks": chunks, "dtype": dtype.str, "order": "C",
            "compressor": {"id": "zlib", "level": 1}, "fill_value": fill, "filters": None,
        }  # fmt: skip

    def _write(self, name: str, k: int, x: np.ndarray) -> None:
        dtype = self.dtype(name)
        whole = np.full((self.layout.size, *x.shape[1:]), fill_of(name, dtype), dtype=dtype)
        whole[: len(x)] = x
        self._unwritten[name, k] = whole
        if name == "status" and len(self._unwritten) > 1:
            raise OSError("the rest of the bundle could not be written")
        self._bytes(f"{self._place(name)}/{k}" + ".0" * (x.ndim - 1), zlib.compress(whole.tobytes(), 1))
        del self._unwritten[name, k]

    def dtype(self, name: str) -> np.dtype[Any]:
        return np.dtype(self._description(name)["dtype"])

    def _description(self, name: str) -> dict[str, Any]:
        if name not in self._described:
            self._described[name] = json.loads((self.path / self._place(name) / ".zarray").read_text(encoding="utf-8"))
        return self._described[name]

    @staticmethod
    def _place(name: str) -> str:
        """Folder for a name: any characters but those that have a meaning in paths."""
        return quote(name, safe=" ()[]+,=@")

    def _text(self, place: str, content: Mapping[str, Any]) -> None:
        self._bytes(place, json.dumps(content, indent=1).encode())

    def _bytes(self, place: str, data: bytes) -> None:
        """Write a file that appears whole or not at all."""
        target = self.path / place
        part = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
        try:
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)

    # --- reading --------------------------------------------------------------------------------------------------------------
    def names(self) -> list[str]:
        return [self._attributes(p.parent)["name"] for p in sorted(self.path.glob("*/.zarray"))]

    @staticmethod
    def _attributes(folder: Path) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((folder / ".zattrs").read_text(encoding="utf-8"))
        return found

    def _statuses(self, k: int) -> np.ndarray:
        return self._chunk("status", k)[: np.diff(self.layout.span(k))[0]]

    def _may_lack(self, name: str, k: int) -> bool:
        """Whether a chunk need not be there: its bundle is not done, or had nothing to write."""
        if k not in self.done or name == "status":
            return k not in self.done
        if name == "message":
            return bool(np.isin(self._statuses(k), COMPLETED).all())
        return name in self.shapes and not np.isin(self._statuses(k), ENDED).any()

    def _chunk(self, name: str, k: int) -> np.ndarray:
        about = self._description(name)
        dtype, shape = np.dtype(about["dtype"]), tuple(about["chunks"][:1] + about["shape"][1:])
        if (name, k) in self._unwritten:
            return self._unwritten[name, k]
        file = self.path / self._place(name) / (f"{k}" + ".0" * (len(shape) - 1))
        if not file.exists() and self._may_lack(name, k):
            return np.full(shape, fill_of(name, dtype), dtype=dtype)
        try:
            if not file.is_file():
                raise ValueError
            return np.frombuffer(zlib.decompress(file.read_bytes()), dtype).reshape(shape)
        except (zlib.error, ValueError, OSError):
            what = f"chunk {file.name} of {name!r} is {'damaged' if file.exists() else 'missing'}"
            advice = f"remove {self.path / 'status' / str(k)} and call study again, which computes its runs anew"
            raise StateError(f"store {self.path}: {what}; {advice}") from None

    def read(self, name: str, runs: np.ndarray) -> np.ndarray:
        about = self._description(name)
        dtype = np.dtype(about["dtype"])
        out = np.empty((len(runs), *about["shape"][1:]), dtype if dtype.kind == "f" else object)  # most messages are empty
        chunks = runs // self.layout.size
        for k in np.unique(chunks).tolist():
            mine = np.flatnonzero(chunks == k)
            out[mine] = self._chunk(name, k)[runs[mine] - k * self.layout.size]
        return out
