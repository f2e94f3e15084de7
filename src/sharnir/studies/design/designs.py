"""Which runs a study makes: the values of its inputs, run by run, known for any part of it without the rest.

A design depends on its seed and on the number of a run alone, neither on how runs are bundled nor on who computes them.
"""

from __future__ import annotations

import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ...errors import SharnirError, StateError, brief, plain
from ...integrate.trajectory import in_words
from ...machine import beyond_memory

Columns = dict[str, np.ndarray]
"""Values by name of input, one for each run: numbers, or words."""

SAMPLERS = ("random", "sobol", "lhs", "halton")
MOST_RUNS = 2**48


class ArgumentError(StateError):
    """A value that an argument cannot take; `path` leads from the name of the argument to the wrong part of the value."""

    def __init__(self, what: str, *path: str) -> None:
        super().__init__(": ".join([*path[:1], *map(repr, path[1:]), what]))
        self.what, self.path = what, path

    def after(self, *path: str) -> str:
        """The message without what its place says, where that is shown otherwise."""
        known = sum(self.path[:k] == path[:k] for k in range(1, 1 + min(len(self.path), len(path))))
        return plain(": ".join([*map(repr, self.path[known:]), self.what])) if known else str(self)

    def renamed(self, argument: str) -> StateError:
        """The error for a caller who knows the argument by another name."""
        return StateError(f"{argument}: {self.after(self.path[0])}".replace(f"`{self.path[0]}`", argument))


class Design(ABC):
    """The runs of a study: `names` of the inputs, `count` of the runs."""

    names: tuple[str, ...]
    count: int
    axes: Columns | None = None
    """Values along every axis of a grid, the last of which changes fastest."""

    @abstractmethod
    def rows(self, first: int, last: int) -> Columns:
        """The inputs of runs first … last - 1."""

    @property
    def ingredients(self) -> Any:
        """Everything that tells it from another design."""
        ends = [self.rows(k, k + 1) for k in (0, self.count // 2, self.count - 1)]
        return [type(self).__name__, self.names, self.count, ends]


class Grid(Design):
    def __init__(self, axes: Mapping[str, Any]) -> None:
        self.axes = {name: column(values, name) for name, values in axes.items()}
        self.names = tuple(self.axes)
        self._shape = tuple(len(x) for x in self.axes.values())
        self.count = int(np.prod(self._shape, dtype=object))
        for name, values in self.axes.items():
            if not len(values):
                raise ArgumentError(f"{name!r} has no values", "over")

    def rows(self, first: int, last: int) -> Columns:
        assert self.axes is not None
        at = np.unravel_index(np.arange(first, last), self._shape)
        return {name: values[k] for (name, values), k in zip(self.axes.items(), at, strict=True)}


class Listed(Design):
    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {name: column(values, name) for name, values in columns.items()}
        self.names = tuple(self._columns)
        self.count = len(next(iter(self._columns.values()))) if self._columns else 0

    @classmethod
    def of(cls, runs: Sequence[Mapping[str, Any]]) -> Listed:
        names = tuple(runs[0])
        for k, one in enumerate(runs):
            if not isinstance(one, Mapping):
                raise ArgumentError(f"run {k} is {brief(one)}; a list has a mapping {{input: value}} for each run", "over")
            if odd := set(one) ^ set(names):
                what = f"run {k} differs from run 0 in naming {sorted(odd)[0]!r}; give every run the same inputs"
                raise ArgumentError(what, "over")
        return cls({name: [one[name] for one in runs] for name in names})

    def rows(self, first: int, last: int) -> Columns:
        return {name: x[first:last] for name, x in self._columns.items()}

    @property
    def ingredients(self) -> Any:
        return self._columns


class Sampled(Design):
    """Inputs drawn from distributions, by points of the unit cube."""

    def __init__(self, over: Mapping[str, Any], count: int, sampler: Any, seed: int) -> None:
        self.names, self.count, self._seed = tuple(over), count, seed
        self._inverse = {name: inverse_of(name, given) for name, given in over.items()}
        self._points = _points(sampler, len(over), count, seed)
        self._given = [over, sampler if isinstance(sampler, str) else self._points(0, count), seed]

    def rows(self, first: int, last: int) -> Columns:
        u = self._points(first, last)
        return {name: np.asarray(f(u[:, k])) for k, (name, f) in enumerate(self._inverse.items())}

    @property
    def ingredients(self) -> Any:
        return [super().ingredients, self._given]


class Computed(Design):
    """f(run) or f(run, rng) -> {input: value}; every run has a generator of its own."""

    def __init__(self, f: Callable[..., Any], count: int, seed: int) -> None:
        self._f, self.count, self._seed = f, count, seed
        self._takes_rng = False
        with suppress(TypeError, ValueError):
            self._takes_rng = len(inspect.signature(f).parameters) > 1
        self.names = tuple(self._run(0))

    def rows(self, first: int, last: int) -> Columns:
        runs = [self._run(k) for k in range(first, last)]
        for k, one in enumerate(runs, first):
            if tuple(one) != self.names:
                given = ", ".join(map(repr, one))
                raise ArgumentError(f"the function names {given} for run {k}, and other inputs for run 0", "over")
        return {name: column([one[name] for one in runs], name) for name in self.names}

    @property
    def ingredients(self) -> Any:
        return [super().ingredients, self._f, self._seed]

    def _run(self, k: int) -> Mapping[str, Any]:
        try:
            found = self._f(k, np.random.default_rng([self._seed, k])) if self._takes_rng else self._f(k)
        except SharnirError:
            raise
        except Exception as error:
            raise ArgumentError(f"the function raised {in_words(error)} for run {k}", "over") from error
        if not isinstance(found, Mapping):
            raise ArgumentError(f"the function must return {{input: value}}; for run {k} it returned {brief(found)}", "over")
        return found


def design_of(over: Any, runs: int | None, sampler: Any, seed: int) -> Design:
    """The design for what a caller gives: a mapping, a list of mappings, a table, a function."""
    design = _design_of(over, runs, sampler, seed)
    if not design.names:
        raise ArgumentError("no inputs; give at least one, such as {'spring.stiffness': [1e4, 2e4]}", "over")
    if not design.count:
        raise ArgumentError("no runs", "over")
    for name in design.names:
        if not name or name[0] == "." or "/" in name or name in RESERVED:
            raise ArgumentError(f"{name!r} cannot be the name of an input", "over")
    return design


def _design_of(over: Any, runs: int | None, sampler: Any, seed: int) -> Design:
    if runs is not None and (isinstance(runs, bool) or not isinstance(runs, (int, np.integer)) or not 0 < runs <= MOST_RUNS):
        raise StateError(f"runs: expected a whole number of at least 1, got {brief(runs)}")
    if isinstance(over, Design):
        return over
    if callable(over):
        if runs is None:
            raise ArgumentError("a function gives the inputs of any run; say how many there are: runs=…", "over")
        return Computed(over, int(runs), seed)
    if isinstance(over, Mapping):
        for name in over:
            if not isinstance(name, str):
                raise ArgumentError(f"inputs are named by texts, got {brief(name)}", "over")
        if runs is not None:
            return Sampled(over, int(runs), sampler, seed)
        for name, given in over.items():
            if hasattr(given, "ppf"):
                raise ArgumentError(f"{name!r} is a distribution; say how many runs to draw: runs=…", "over")
            if isinstance(given, tuple) and len(given) == 2:
                low, high = (brief(x) for x in given)
                what = f"({low}, {high}) is a range, from which runs are drawn: runs=…; two values are a list, [{low}, {high}]"
                raise ArgumentError(what, "over", name)
        return Grid(over)
    if runs is not None:
        raise StateError("runs: a list or a table has as many runs as it has rows; leave `runs` out")
    if hasattr(over, "columns") and hasattr(over, "to_dict"):  # a table of pandas
        return Listed({str(name): np.asarray(over[name]) for name in over.columns})
    if isinstance(over, Sequence) and not isinstance(over, str):
        if not over:
            raise ArgumentError("the list has no runs", "over")
        if not isinstance(over[0], Mapping):
            what = f"a list has a mapping {{input: value}} for each run; its first entry is {brief(over[0])}"
            raise ArgumentError(what, "over")
        return Listed.of(over)
    able = "{input: values} (a grid), {input: distribution} with runs=…, a list of {input: value}, a table"
    raise ArgumentError(f"expected {able}, or a function of the run with runs=…; got {brief(over)}", "over")


RESERVED = ("run", "status", "message", "t_end")
"""Names that every dataset of a study has."""


def column(values: Any, name: str) -> np.ndarray:
    """Values of one input: finite numbers, or words."""
    if isinstance(values, (str, Mapping)) or not np.iterable(values):
        values = [values]
    found = np.array(list(values)) if not isinstance(values, np.ndarray) else np.asarray(values)
    if found.ndim != 1:
        what = f"{name!r} has values of shape {found.shape[1:]}; an input is one number, name its parts: 'q0.joint.x'"
        raise ArgumentError(what, "over")
    if found.dtype.kind == "U":
        return found
    if found.dtype.kind in "cb":
        raise ArgumentError(f"expected real numbers, got {brief(values)}", "over", name)
    try:
        found = found.astype(float)
    except (TypeError, ValueError):
        raise ArgumentError(f"expected numbers, or words, got {brief(values)}", "over", name) from None
    if not np.isfinite(found).all():
        raise ArgumentError(f"{name!r} of run {int(np.argmin(np.isfinite(found)))} is not finite", "over")
    return found


# --- samples ----------------------------------------------------------------------------------------------------------------
def inverse_of(name: str, given: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Map from (0, 1) to values of an input, given by a distribution, a range (low, high), a list to choose from, one value."""
    if hasattr(given, "ppf"):
        return lambda u: np.asarray(given.ppf(u), dtype=float)
    values = column(given, name)
    if isinstance(given, tuple) and len(values) == 2 and values.dtype.kind == "f":
        low, high = values
        if not low < high:
            raise ArgumentError(f"a range (low, high) needs low < high, got {brief(given)}", "over", name)
        return lambda u: low + (high - low) * u
    return lambda u: values[np.minimum((u * len(values)).astype(int), len(values) - 1)]


def _points(sampler: Any, d: int, count: int, seed: int) -> Callable[[int, int], np.ndarray]:
    """Function for points first … last - 1 of the unit cube."""
    if sampler == "random":
        return lambda first, last: _random(d, seed, first, last)
    engine_given = not isinstance(sampler, str) and hasattr(sampler, "random") and hasattr(sampler, "d")
    if engine_given and sampler.d != d:
        raise StateError(f"sampler: it has {sampler.d} dimensions, the study has {d} inputs")
    if not engine_given and sampler not in SAMPLERS:
        known = ", ".join(map(repr, SAMPLERS))
        raise StateError(f"sampler: expected one of {known}, or an engine of scipy.stats.qmc; got {brief(sampler)}")
    from scipy.stats import qmc

    if engine_given or sampler == "lhs":  # every point depends on how many there are
        if not engine_given and (beyond := beyond_memory(3.0 * count * d)):  # SciPy draws, permutes and divides
            raise StateError(f"runs: {count} points of 'lhs' need {beyond}; take another sampler, or fewer")
        every = np.asarray((sampler if engine_given else qmc.LatinHypercube(d, rng=seed)).random(count))
        return lambda first, last: every[first:last]
    make: Any = {"sobol": qmc.Sobol, "halton": qmc.Halton}[sampler]

    def points(first: int, last: int) -> np.ndarray:
        more = {"bits": 64} if sampler == "sobol" and count > 2**30 else {}
        engine = make(d, rng=seed, **more)
        if first:
            engine.fast_forward(first)
        with warnings.catch_warnings():  # SciPy warns of parts of Sobol's sequence that are no power of two
            warnings.simplefilter("ignore", UserWarning)
            return np.asarray(engine.random(last - first))

    return points


def _random(d: int, seed: int, first: int, last: int) -> np.ndarray:
    """Independent uniform points. Philox counts: the numbers of a run are found without those before it."""
    words = -(-d // 4) * 4  # a count of the generator is four words
    generator = np.random.Philox(key=seed)
    generator.advance(first * (words // 4))
    raw = generator.random_raw((last - first) * words).reshape(last - first, words)[:, :d]
    return ((raw >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53
