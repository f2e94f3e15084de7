"""Global sensitivity: which share of the variance of an output each input causes, by Sobol's indices (SALib)."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray import DataArray, Dataset

from ...errors import MethodError, StateError, brief, shortened
from ...model.model import Model
from ...reporting.pictures import INK, check_picture
from ...simulation.run.checks import whole
from ..design.designs import ArgumentError, Listed, inverse_of
from ..pictures.columns import parts
from ..pictures.drawing import GREY, ONE_COLOUR, SMALL, Sheet, pale_frame
from ..statuses import ENDED
from ..study import Outputs, study
from .optimum import reasons

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INSIDE = 2.0**-40
"""Points of the unit cube are kept so far from its faces: a distribution may have no value there."""


def sobol_indices(
    model: Model,
    over: Mapping[str, Any],
    n: int = 1024,
    *,
    run: Mapping[str, Any] | None = None,
    outputs: Outputs | None = None,
    seed: int = 0,
    second_order: bool = False,
    **study_options: Any,
) -> Dataset:
    """Which inputs matter: shares of the variance of every output that each input causes, over all values of the others.

    over          {input: range (low, high), or distribution of scipy.stats}; inputs vary independently
    n             points of Sobol's sequence, a power of two; n (inputs + 2) runs, with `second_order` n (2 inputs + 2)
    run, outputs  as of `study`, and so are further options: store, client, workers …

    `S1` is the share of an input alone, `ST` with all that it does together with others, `S2` that of pairs; `S1_confidence` …:
    half the width of the interval that holds them at 95 %. Dimensions are (output, input). An output that does not vary has nan.
    """
    try:
        from SALib.analyze import sobol as analysis
        from SALib.sample import sobol as sampling
    except ImportError:
        raise MethodError('sobol_indices needs SALib: pip install "sharnir[optimize]"') from None
    seed, n = whole(seed, "seed"), whole(n, "n", 2)
    if n & (n - 1):
        raise StateError(f"n: Sobol's sequence is balanced for powers of two only; take {2 ** round(np.log2(n))}, not {n}")
    if not isinstance(over, Mapping) or not over:
        raise ArgumentError(f"expected {{input: (low, high) or distribution}}, got {brief(over)}", "over")
    for name in ("runs", "sampler"):
        if name in study_options:
            raise StateError(f"{name}: the design of Sobol's indices is its own; say how large it is by n=…")
    names = [str(name) for name in over]
    inverse = [inverse_of(str(name), _distribution(str(name), given)) for name, given in over.items()]
    unit = {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}
    points = sampling.sample(unit, n, calc_second_order=second_order, scramble=True, seed=seed)
    points = np.clip(points, INSIDE, 1.0 - INSIDE)
    design = Listed({name: f(points[:, k]) for k, (name, f) in enumerate(zip(names, inverse, strict=True))})
    ds = study(model, design, run, outputs, seed=seed, **study_options)
    _check_all_done(ds)
    labels, columns = _columns(ds)
    order = ("S1", "ST", "S2") if second_order else ("S1", "ST")
    shape = {"S1": (len(names),), "ST": (len(names),), "S2": (len(names), len(names))}
    found = {key: np.full((len(labels), *shape[key]), np.nan) for key in order}
    found |= {f"{key}_confidence": np.full_like(x, np.nan) for key, x in found.items()}
    for k, y in enumerate(columns):
        if not np.ptp(y) > 1e-12 * np.abs(y).max(initial=0.0):
            continue
        indices = analysis.analyze(unit, (y - y.mean()) / y.std(), calc_second_order=second_order, seed=seed)
        for key in order:
            for name, x in ((key, indices[key]), (f"{key}_confidence", indices[f"{key}_conf"])):
                found[name][k] = np.where(np.isnan(x), x.T, x)  # SALib gives pairs above the diagonal only
    dims = {"S1": ("output", "input"), "ST": ("output", "input"), "S2": ("output", "input", "other")}
    coords = {"output": labels, "input": names, **({"other": names} if second_order else {})}
    data = {key: DataArray(x, dims=dims[key.removesuffix("_confidence")]) for key, x in found.items()}
    about = {"title": f"sensitivity of {model.name}", "model": model.name, "runs": len(points), "n": n, "seed": seed}
    return Dataset(data, coords, about)


def _distribution(name: str, given: Any) -> Any:
    if hasattr(given, "ppf") or (isinstance(given, tuple) and len(given) == 2):
        return given
    raise ArgumentError(f"expected a range (low, high) or a distribution of scipy.stats, got {brief(given)}", "over", name)


def _check_all_done(ds: Dataset) -> None:
    """Refuse failed runs: every row of the design is one of a pair, without which the other means nothing."""
    if ds.attrs.get("status") == "interrupted":
        raise KeyboardInterrupt
    failed = int((~np.isin(ds["status"].values.astype(str), ENDED)).sum())
    if failed:
        advice = "look where they fail (sharnir.study with the same `over` and runs=…), and narrow the ranges until none does"
        what = f"{failed} of {ds.sizes['run']} runs failed: {reasons(ds)}. Sobol's indices need all of them"
        raise StateError(f"{what}: {advice}")


def _columns(ds: Dataset) -> tuple[list[str], list[np.ndarray]]:
    """Labels and values of every number of every output: "q[hinge]" for one of several."""
    found: dict[str, np.ndarray] = {}
    for name, variable in ds.data_vars.items():
        if variable.attrs.get("role") != "output":
            continue
        bad = ~np.isfinite(variable.values.reshape(variable.shape[0], -1))
        if bad.any():
            raise StateError(f"output {name!r} is not finite in {int(bad.any(axis=1).sum())} runs")
        found |= {label: one.values for label, one in parts(ds, str(name))}
    return list(found), list(found.values())


def plot_sobol(ds: Dataset, path: str | PathLike[str] | None = None) -> Figure:
    """Bars of `sobol_indices`, a panel for each output: of every input S1, dark, within ST, pale. `path`: .png, .svg, .pdf."""
    check_picture(path)
    if "S1" not in ds or "ST" not in ds:
        raise StateError("expected the dataset of sharnir.sobol_indices")
    outputs, inputs = [str(x) for x in ds["output"].values], [str(x) for x in ds["input"].values]
    words = f"{ds.attrs.get('runs', '?')} runs; dark: an input alone (S1), pale: with others (ST); lines: confidence of 95 %"
    left, bar, gap = 0.35 + 0.075 * max(len(shortened(x, 28)) for x in inputs), 0.36, 0.7
    width = max(6.4, left + 4.5)
    panel = bar * len(inputs)
    sheet = Sheet(width, 0.45 + len(outputs) * (panel + gap), str(ds.attrs.get("title", "Sensitivity")), words, path)
    at = np.arange(len(inputs))
    for k, name in enumerate(outputs):
        axes = sheet.axes(left, (len(outputs) - k) * (panel + gap) - panel, width - left - 0.4, panel)
        one = ds.isel(output=k)
        for key, shade, place in (("S1", ONE_COLOUR, at - 0.18), ("ST", "#a9cbe3", at + 0.18)):
            axes.barh(place, one[key].values, 0.34, color=shade, zorder=2)
            axes.errorbar(one[key].values, place, xerr=one[f"{key}_confidence"].values, fmt="none", ecolor=INK, lw=0.8, zorder=3)
        axes.set_title(shortened(name, 60), fontsize=9, color=INK, loc="left", parse_math=False, pad=4)
        axes.set_yticks(at, [shortened(x, 28) for x in inputs], fontsize=SMALL, color=INK)
        axes.set_xlim(min(0.0, float(np.nanmin(one["S1"].values, initial=0.0))), 1.05)
        axes.set_ylim(len(inputs) - 0.4, -0.6)
        axes.tick_params(labelsize=SMALL, color=GREY, labelcolor=INK, length=2.5)
        pale_frame(axes, "x")
        for label in axes.get_yticklabels():
            label.set_parse_math(False)
    return sheet.finished()
