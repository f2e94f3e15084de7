"""Kinds "urdf", "mjcf", "native" and "results": damaged files are read, or refused with an error of ours."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import sharnir as sh

from . import mutate_mjcf, mutate_native, mutate_netcdf, mutate_urdf, seed_files

Mutate = Callable[[str, np.random.Generator], str | bytes]


def urdf(seed: int) -> tuple[str, str]:
    return _model_file(seed, "fuzz.urdf", seed_files.urdf_texts(), mutate_urdf.mutated)


def mjcf(seed: int) -> tuple[str, str]:
    return _model_file(seed, "fuzz.xml", seed_files.mjcf_texts(), mutate_mjcf.mutated)


def native(seed: int) -> tuple[str, str]:
    rng = np.random.default_rng((seed, 2))
    texts = seed_files.native_texts()
    text = mutate_native.mutated(texts[int(rng.integers(len(texts)))], rng)
    return "accepted" if native_accepted(text) else "refused", text


def results(seed: int) -> tuple[str, str]:
    rng = np.random.default_rng((seed, 3))
    with _folder() as folder:
        path = folder / "fuzz.nc"
        path.write_bytes(seed_files.result_bytes())
        what = mutate_netcdf.mutate(path, rng)
        try:
            found = sh.Result.load(path)
        except sh.SharnirError:
            return "refused", what
        for use in (
            found.summary,
            lambda: found.energy,
            lambda: found.a,
            lambda: repr(found),
            lambda: found.to_csv(folder / "x.csv"),
        ):
            with contextlib.suppress(sh.SharnirError):
                use()
    return "accepted", what


def native_accepted(text: str) -> bool:
    """Whether a text passes as a model. What does is written and read again, and may be frozen or refused then."""
    try:
        model = sh.loads(text, "fuzz.yaml")
    except sh.FormatError as error:
        if not str(error).startswith("fuzz.yaml:"):
            raise AssertionError(f"an error without its file: {error}") from error
        return False
    written = sh.dumps(model)
    if sh.dumps(sh.loads(written)) != written:
        raise AssertionError("what was written is read as something else")
    with contextlib.suppress(sh.SharnirError):
        model.freeze()
    return True


def _model_file(seed: int, name: str, texts: list[str], mutate: Mutate) -> tuple[str, str]:
    """Loaded by its suffix; a model that passes is saved, read again and asked for its motion."""
    rng = np.random.default_rng((seed, 2))
    data = mutate(texts[int(rng.integers(len(texts)))], rng)
    floating = bool(rng.random() < 0.3)
    with _folder() as folder:
        path = folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        try:
            model = sh.load(path, floating=floating, acting="motion")
        except sh.SharnirError as error:
            if not str(error):
                raise AssertionError("refused without a word") from error
            return "refused", repr(data)
        for use in _uses(model):
            with contextlib.suppress(sh.SharnirError):
                use()
    return "accepted", repr(data)


def _uses(model: sh.Model) -> Iterator[Callable[[], object]]:
    yield lambda: str(model.import_report)
    yield lambda: sh.loads(sh.dumps(model))
    yield lambda: sh.Dynamics(model, "composite", backend="python").forward(model.random_q(0), np.ones(model.nv))


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sharnir-fuzz-") as folder:
        yield Path(folder)
