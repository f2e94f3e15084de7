"""Pictures of parameter studies, chosen by what the study is and what is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import StateError, brief, choices
from ...reporting.atomic_write import file_path
from .columns import RUN, inputs_of, outputs_of
from .page import SUFFIXES, study_page
from .runs import parallel_coordinates, scatter_matrix
from .surface import response_surface

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

KINDS = ("parallel", "scatter", "surface", "page")
OPTIONS = {
    "parallel": ("names", "color"), "scatter": ("names", "color"), "surface": ("output", "x", "y"), "page": ("title",),
}  # fmt: skip
"""Options of each kind."""
FEW_DIMENSIONS = 3
"""Most inputs of a grid that is drawn as a surface by default; for a design, one less."""


def plot_study(
    ds: Dataset,
    path: str | PathLike[str] | None = None,
    kind: str | None = None,
    *,
    names: Sequence[str] = (),
    color: str | None = None,
    output: str | None = None,
    x: str | None = None,
    y: str | None = None,
    title: str | None = None,
) -> Figure | Path:
    """A picture of a study: a Matplotlib figure, or the path of a page.

    path    a file: .png, .svg, .pdf; .html for an interactive page that opens offline
    kind    "parallel": parallel coordinates; "scatter": a scatter matrix; "surface": an output over inputs; "page".
            None: a page for .html, a surface where few inputs vary, otherwise parallel coordinates
    names   columns of parallel coordinates and scatter matrices; none: as many as are legible
    color   the input or output that colours their runs; None: the first output that varies
    output  that of a surface; None: the first one
    x, y    inputs of a surface; None: the first two that vary
    title   that of a page
    """
    if kind is not None and kind not in KINDS:
        raise StateError(f"unknown kind of picture {brief(kind)}; {choices(kind, KINDS, 'kinds')}")
    given: dict[str, object] = {"names": tuple(names) or None, "color": color, "output": output, "x": x, "y": y, "title": title}
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(names, str):
        raise StateError(f"names: expected a list of names, got {names!r}; write [{names!r}]")
    if kind is None:
        kind = _kind(ds, path, given)
    for name in given:
        if name not in OPTIONS[kind]:
            fits = " and ".join(repr(k) for k, options in OPTIONS.items() if name in options)
            raise StateError(f"{name} is not for pictures of kind {kind!r}, but for {fits}")
    if kind == "page":
        if path is None:
            raise StateError("a page is a file: give its name, path='study.html'")
        return study_page(ds, path, title)
    if kind == "surface":
        return response_surface(ds, output if output is not None else _first_output(ds), x, y, path)
    return (parallel_coordinates if kind == "parallel" else scatter_matrix)(ds, *names, color=color, path=path)


def _kind(ds: Dataset, path: str | PathLike[str] | None, given: dict[str, object]) -> str:
    """Kind of picture: a page by its suffix; otherwise the kind that has the options given, and then what suits the study."""
    if path is not None and file_path(path).suffix.lower() in SUFFIXES:
        return "page"
    for kind in ("surface", "parallel"):
        if any(name in OPTIONS[kind] for name in given):
            return kind
    varied = sum(ds[name].size > 1 for name in inputs_of(ds))
    return "surface" if outputs_of(ds) and 1 <= varied <= FEW_DIMENSIONS - (RUN in ds.dims) else "parallel"


def _first_output(ds: Dataset) -> str:
    found = outputs_of(ds)
    if not found:
        raise StateError("the study has no output that is one value per run: there is no surface to draw")
    return next((name for name in found if ds[name].dtype.kind in "iuf"), found[0])
