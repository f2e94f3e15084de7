"""Modal bodies in archives of arrays (.npz).

Fields, for n nodes and m modes: `mass` (), `centre` (3,), `inertia` (6,: xx yy zz xy xz yz about the centre), `node_names`
(n,), `nodes` (n, 3), `modes` (n, 6, m: displacements, then rotations), `K` (m, m), `modal_mass` (m, m), `damping` () or (m,),
`rayleigh` (2,), and the integrals `linear` (m, 3), `first` (m, 3, 3), `product` (m, m, 3, 3). SI units, rad/s.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FormatError, ModelError, brief, known
from ...types import FilePath
from .modal import ModalBody
from .tables import modal_integrals

FIELDS = (
    "mass", "centre", "inertia", "node_names", "nodes", "modes", "K", "modal_mass", "damping", "rayleigh",
    "linear", "first", "product",
)  # fmt: skip


LARGEST = 2_000_000_000
"""Bytes of an archive when it is unpacked."""
UNREADABLE = (OSError, ValueError, EOFError, MemoryError, RuntimeError, SyntaxError, zipfile.BadZipFile, zlib.error)
"""Exceptions that damaged archives raise."""


def load_modal(path: FilePath) -> ModalBody:
    """The modal body of an archive that `ModalBody.save` has written, or another program with the same fields."""
    path = archive_path(path)
    try:
        found = _arrays(path)
    except FileNotFoundError:
        raise FormatError(f"{path}: there is no such file") from None
    except UNREADABLE as error:
        raise FormatError(f"{path}: cannot be read as an archive of arrays: {error}") from None
    try:
        with np.errstate(all="ignore"):  # on numbers that no body has, which are refused below
            return _body(found)
    except (ModelError, ValueError, IndexError, TypeError, OverflowError) as error:
        raise FormatError(f"{path}: {error}") from None


def _arrays(path: Path) -> dict[str, Any]:
    """The fields by name: numbers, and words of `node_names`."""
    with zipfile.ZipFile(path) as file:
        size = sum(part.file_size for part in file.infolist())
    if size > LARGEST:
        raise FormatError(f"{path}: it would be {size / 1e9:.3g} GB of numbers, more than {LARGEST / 1e9:g} GB")
    with np.load(path, allow_pickle=False) as file:
        missing = [name for name in FIELDS if name not in file.files]
        if missing:
            raise FormatError(f"{path}: not a modal body: it has no {known(missing, 99)}; it has {known(file.files, 99)}")
        found = {name: file[name] for name in FIELDS}
    for name, value in found.items():
        if value.dtype.kind not in ("U" if name == "node_names" else "fiu"):
            raise FormatError(f"{path}: {name} has values of type {value.dtype}, expected numbers or, in node_names, words")
        if name != "node_names" and not np.isfinite(value).all():
            raise FormatError(f"{path}: {name} has numbers that are not finite")
    return found


def _body(found: dict[str, Any]) -> ModalBody:
    names = [str(name) for name in found["node_names"]]
    m = found["K"].shape[0]
    n = len(names)
    sizes: dict[str, tuple[int, ...]] = {"mass": (), "centre": (3,), "inertia": (6,)}
    sizes |= {"nodes": (n, 3), "modes": (n, 6, m), "linear": (m, 3), "first": (m, 3, 3), "product": (m, m, 3, 3)}
    for name, shape in sizes.items():
        if found[name].shape != shape:
            raise FormatError(f"{name} has the shape {found[name].shape}, expected {shape}")
    rigid = [found[name] for name in ("mass", "centre", "inertia")]
    integrals = modal_integrals(rigid, found["linear"], found["first"], found["product"])
    by_node: dict[str, Any] = {name: dict(zip(names, found[name], strict=True)) for name in ("nodes", "modes")}
    others = {name: found[name] for name in ("centre", "inertia", "K", "modal_mass", "damping", "rayleigh")}
    return ModalBody(mass=float(found["mass"]), integrals=integrals, **by_node, **others)


def archive_path(path: FilePath) -> Path:
    """The path of an archive, its suffix checked."""
    if not isinstance(path, (str, os.PathLike)):
        raise ModelError(f"expected the path of an archive, got {brief(path)}")
    path = Path(path)
    if path.suffix != ".npz":
        raise ModelError(f"{path}: modal bodies are kept in archives of NumPy; name the file {path.with_suffix('.npz').name}")
    return path
