"""The methods of optimisation: those of SciPy, and Optuna where it is installed, each on the same evaluations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import optimize

from ...errors import MethodError, brief, choices
from .evaluations import Evaluations

BATCH = 8
"""Points that Optuna is asked for at once: the same on every machine, so that its choices are the same too."""
TRIALS = 50
"""Runs of Optuna for each input where no number is given."""
FAR = 1e30
"""The constraint of a failed run, for methods that only compare."""

Outcome = tuple[bool, str]
"""Whether a search has converged, and its message."""


@dataclass(frozen=True)
class Settings:
    method: str
    start: np.ndarray
    tolerance: float
    seed: int


@dataclass(frozen=True)
class Method:
    search: Callable[[Evaluations, Settings], Outcome]
    gradients: bool = False
    constraints: bool = False
    starts: bool = True
    """Whether it starts from a point, where the run must not fail."""


def method_named(name: object, is_array: bool, constrained: bool) -> str:
    """Name of the method, chosen here where it is "auto"."""
    if name == "auto":
        return "least_squares" if is_array and not constrained else "SLSQP" if constrained else "L-BFGS-B"
    if not isinstance(name, str) or name not in METHODS:
        raise MethodError(f"unknown method {brief(name)}; {choices(name, ('auto', *METHODS), 'methods')}")
    if constrained and not METHODS[name].constraints:
        able = ", ".join(repr(k) for k, m in METHODS.items() if m.constraints)
        raise MethodError(f"method {name!r} takes no constraints; choose one of {able}")
    return name


# --- SciPy ------------------------------------------------------------------------------------------------------------------
@contextmanager
def quiet() -> Iterator[None]:
    """Silence SciPy's warnings of differences that vanish and steps that overflow: neither concerns the caller."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"scipy\.")
        warnings.filterwarnings("ignore", message="delta_grad == 0.0")
        yield


def _limited(e: Evaluations, slopes: bool) -> list[optimize.NonlinearConstraint]:
    if not e.problem.limits:
        return []
    low, high = np.array(list(e.problem.limits.values())).T / e.scales

    def values(u: np.ndarray) -> np.ndarray:
        p = e.point(u)
        return (e.last_constraints() if p.outputs is None else p.constraints) / e.scales

    def derivatives(u: np.ndarray) -> np.ndarray:
        p = e.point(u)
        if p.outputs is None:
            return np.zeros((len(low), len(u)))
        return np.asarray(e.derivatives(p)[len(p.residuals) :] / e.scales[:, None])

    given: dict[str, Any] = {"jac": derivatives} if slopes else {}
    return [optimize.NonlinearConstraint(values, low, high, **given)]


def _minimize(e: Evaluations, s: Settings) -> Outcome:
    exact, tol, n = METHODS[s.method].gradients, s.tolerance, len(s.start)
    beside = np.where(s.start > 0.5, -0.1, 0.1)  # a tenth of the range of every input, away from the nearer bound
    simplex = np.concatenate([s.start[None], s.start + np.diag(beside)])

    def objective(u: np.ndarray) -> float:
        p = e.point(u)
        return (e.penalty() if p.outputs is None else p.objective) / e.scale

    def gradient(u: np.ndarray) -> np.ndarray:
        """A failed run has none; its penalty turns the search around."""
        p = e.point(u)
        if p.outputs is None:
            return np.zeros(n)
        J = e.derivatives(p)[: len(p.residuals)]
        return np.asarray((2.0 * p.residuals @ J if e.is_array else J[0]) / e.scale)

    options: dict[str, Any] = {
        "L-BFGS-B": {"ftol": tol, "gtol": tol, "maxiter": 1000},
        "SLSQP": {"ftol": tol, "maxiter": 1000},
        "trust-constr": {"xtol": tol, "gtol": tol, "initial_tr_radius": 0.1, "maxiter": 1000},
        "Nelder-Mead": {"xatol": np.sqrt(tol), "fatol": tol, "initial_simplex": simplex, "maxfev": 500 * n},
        "COBYQA": {"initial_tr_radius": 0.1, "final_tr_radius": tol},
    }[s.method]
    bounds = optimize.Bounds(np.zeros(n), np.ones(n), keep_feasible=True)
    given = {"bounds": bounds, "constraints": _limited(e, exact), "jac": gradient if exact else None, "options": options}
    found = cast(Any, optimize.minimize)(objective, s.start, method=s.method, **given)
    return bool(found.success), str(found.message)


def _least_squares(e: Evaluations, s: Settings) -> Outcome:
    size, scale = len(e.point(s.start).residuals), np.sqrt(e.scale)

    def residuals(u: np.ndarray) -> np.ndarray:
        p = e.point(u)
        return np.full(size, np.inf) if p.outputs is None else p.residuals / scale

    def derivatives(u: np.ndarray) -> np.ndarray:
        return np.asarray(e.derivatives(e.point(u))[:size] / scale)

    tol = max(s.tolerance, 4.0 * float(np.finfo(float).eps))
    given = {"bounds": (0.0, 1.0), "ftol": tol, "xtol": tol, "gtol": tol, "max_nfev": 1000}
    found = cast(Any, optimize.least_squares)(residuals, s.start, jac=derivatives, **given)
    return bool(found.success), str(found.message)


def _differential_evolution(e: Evaluations, s: Settings) -> Outcome:
    def objective(us: np.ndarray) -> np.ndarray:
        return np.array([np.inf if p.outputs is None else p.objective for p in e.points(us.T)])

    constraints: Any = ()
    if e.problem.limits:
        scales = e.scales.copy()  # fixed for the search: those of the evaluations change with the first run that does not fail
        low, high = np.array(list(e.problem.limits.values())).T / scales
        far = np.where(np.isfinite(high), FAR, -FAR)

        def limited(us: np.ndarray) -> np.ndarray:
            ps = e.points(np.atleast_2d(us.T))
            found = np.array([far if p.outputs is None else p.constraints / scales for p in ps]).T
            return found if us.ndim > 1 else found[:, 0]

        constraints = optimize.NonlinearConstraint(limited, low, high)
    given = {"tol": np.sqrt(s.tolerance), "constraints": constraints, "polish": False, "updating": "deferred", "vectorized": True}
    found = cast(Any, optimize.differential_evolution)(objective, [(0.0, 1.0)] * len(s.start), rng=s.seed, x0=s.start, **given)
    return bool(found.success), str(found.message)


# --- Optuna -----------------------------------------------------------------------------------------------------------------
def _optuna(e: Evaluations, s: Settings) -> Outcome:
    optuna, names = installed_optuna(), e.problem.names
    most = e.max_runs if e.max_runs is not None else TRIALS * len(names)
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.TPESampler(seed=s.seed, multivariate=True, constant_liar=True)
            search = optuna.create_study(sampler=sampler)
            search.enqueue_trial(dict(zip(names, s.start.tolist(), strict=True)))
            distributions = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in names}
            while len(e.rows) < most:
                trials = [search.ask(distributions) for _ in range(min(BATCH, most - len(e.rows)))]
                points = e.points(np.array([[trial.params[name] for name in names] for trial in trials]))
                for trial, p in zip(trials, points, strict=True):
                    if p.outputs is None:
                        search.tell(trial, state=optuna.trial.TrialState.FAIL)
                        continue
                    if e.problem.limits:
                        trial.set_constraint("limits", float(e.problem.violations(p.constraints, e.scales)))
                    search.tell(trial, p.objective)
    finally:
        optuna.logging.set_verbosity(before)
    return True, f"all {most} runs are made"


def installed_optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise MethodError("method 'optuna' needs Optuna 5: pip install \"sharnir[optimize]\"") from None
    return optuna


METHODS: dict[str, Method] = {
    "L-BFGS-B": Method(_minimize, gradients=True),
    "SLSQP": Method(_minimize, gradients=True, constraints=True),
    "trust-constr": Method(_minimize, gradients=True, constraints=True),
    "least_squares": Method(_least_squares, gradients=True),
    "Nelder-Mead": Method(_minimize),
    "COBYQA": Method(_minimize, constraints=True),
    "differential_evolution": Method(_differential_evolution, constraints=True, starts=False),
    "optuna": Method(_optuna, constraints=True, starts=False),
}
