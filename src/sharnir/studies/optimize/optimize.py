"""`optimize`: the inputs of a run for which an output is least."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np

from ... import __version__
from ...errors import MethodError, StateError, StudyError, suggesting
from ...model.model import Model
from ...model.states import check_model
from ...reporting.progress import ProgressBar
from ...simulation.run.checks import number, whole
from ..compute import execution
from ..compute.execution import WorkerPool
from ..compute.outputs import outputs_of
from ..compute.worker import Task, event_names
from ..design.designs import ArgumentError
from ..design.inputs import Inputs, checked_run
from ..statuses import OUTPUT_FAILED, REFUSED
from .evaluations import GRADIENT, BudgetExhausted, Evaluations, Gradient, Told, sensitivity_names, with_sensitivities
from .optimum import Optimum, at_bounds, best_of, history_of, reasons
from .problem import Constraints, Problem, Quantity, problem_of, start_of
from .searches import METHODS, Settings, installed_optuna, method_named, quiet

TOLERANCE = 1e-8


@suggesting
def optimize(
    model: Model,
    objective: Quantity,
    bounds: Mapping[str, tuple[float, float]],
    method: str = "auto",
    *,
    run: Mapping[str, Any] | None = None,
    constraints: Constraints | None = None,
    start: Mapping[str, float] | None = None,
    seed: int = 0,
    max_runs: int | None = None,
    workers: int | None = None,
    client: Any = None,
    progress: bool | None = None,
    tolerance: float = TOLERANCE,
) -> Optimum:
    """Find the inputs between `bounds` for which the objective is least.

    objective    an output as `study` takes it, "rms of acceleration of heave", or a function of a `Result`: a number that is
                 minimised, or an array of residuals, the sum of whose squares is (`lambda r: r.coordinate("A") - measured`)
    bounds       {input: (low, high)}: parameters and any number of the model, "q0.joint", "v0.joint", "tau.joint" … as of `study`
    method       "L-BFGS-B", "SLSQP", "trust-constr" and "least_squares" (of arrays) use gradients, "Nelder-Mead" and "COBYQA" do
                 not; "differential_evolution" and "optuna" (where it is installed) search the whole range, the runs of a
                 generation side by side. "auto": least_squares for arrays, SLSQP with constraints, else L-BFGS-B
    run          the arguments of `simulate` or `rollout` that are the same for all runs, as of `study`
    constraints  {output: (low, high)} for outputs named by texts, {name: (output, (low, high))} for functions and names of your
                 own; None where there is no limit
    start        {input: value}; by default what the model and the run have where that is between the bounds, else the middle
    seed         of global methods: the same seed gives the same runs
    max_runs     after so many the best so far is returned
    workers      threads for runs side by side (by default one for each core); or a `client` of Dask
    tolerance    relative to the first objective and to the ranges of the inputs

    Gradients come from sensitivities integrated along with the motion, one run for each point, where runs and inputs have them;
    elsewhere from differences of runs. A run that fails is penalised and counted. Ctrl-C returns the best so far.
    """
    model = check_model(model, "optimize")
    problem = problem_of(objective, bounds, constraints)
    seed, tolerance = whole(seed, "seed"), number(tolerance, "tolerance")
    if max_runs is not None:
        whole(max_runs, "max_runs", 1)
    if not 0.0 < tolerance < 1.0:
        raise MethodError(f"tolerance: expected a number between 0 and 1, got {tolerance:g}")
    method_named(method, False, bool(problem.limits))
    if method == "optuna":
        installed_optuna()
    own = dict(checked_run(run))
    if own.get("sensitivities"):
        raise StateError("run: 'sensitivities' cannot be given: optimize asks for those that it needs")
    inputs = _inputs(model, problem, own)
    first = start_of(problem, inputs, start)
    size = whole(workers, "workers", 1) if workers is not None else execution.cores()
    if client is not None and workers is not None:
        raise ArgumentError("the cluster has workers of its own; leave `workers` out", "client")
    with ExitStack() as stack:
        client = stack.enter_context(execution.connected(client))
        bar = stack.enter_context(ProgressBar(progress, f"optimum of {model.name}", max_runs or 1.0))

        def told(n: int, best: float) -> None:
            bar.update(n if max_runs else 0.0, f"{n} runs" + (f", the best {best:.6g}" if np.isfinite(best) else ""))

        search = _Search(problem, inputs, max_runs, (size, client), told)
        stack.callback(search.close)
        with bar.meanwhile("compiling"):
            search.begin(method, problem.scaled(first))
        return search.run(Settings(search.method, problem.scaled(first), tolerance, seed), seed)


def _inputs(model: Model, problem: Problem, run: Mapping[str, Any]) -> Inputs:
    """The inputs; errors name the arguments of `optimize`."""
    try:
        inputs = Inputs(model, problem.names, run)
    except ArgumentError as error:
        raise error.renamed("bounds") from None
    for name, quantity in problem.outputs.items():
        try:
            outputs_of(inputs.model, {name: quantity}, event_names(run))
        except ArgumentError as error:
            raise error.renamed("objective" if name == problem.objective else "constraints") from None
    return inputs


class _Search:
    """Evaluations, with gradients as far as there are any, and the method that uses them."""

    def __init__(self, problem: Problem, inputs: Inputs, max_runs: int | None, workers: tuple[int, Any], told: Told) -> None:
        self.problem, self.inputs, self._max_runs, self._workers, self._told = problem, inputs, max_runs, workers, told
        self._pools: list[WorkerPool] = []
        self.e: Evaluations
        self.method, self._why, self._exact = "", "", set[str]()

    def begin(self, method: str, u: np.ndarray) -> None:
        """Make the first run: it shows whether there are sensitivities, and whether the objective is an array."""
        wanted = method == "auto" or METHODS[method].gradients
        names = sensitivity_names(self.inputs) if wanted else {}
        self._prepare(names)
        p = self.e.point(u)
        if names and (p.status == REFUSED or (p.derivatives is not None and np.isnan(p.derivatives).any(axis=0).all())):
            self._why = p.message or "the outputs depend on what has no sensitivities"
            self._prepare({})
            p = self.e.point(u)
        self.method = method_named(method, self.e.is_array, bool(self.problem.limits))
        if self.method == "least_squares" and p.outputs is not None and not self.e.is_array:
            raise MethodError("method 'least_squares' needs an objective that is an array of residuals; this one is a number")
        if p.status == OUTPUT_FAILED:
            raise StateError(f"at the start, {p.message}")
        if p.outputs is None and METHODS[self.method].starts:
            advice = "Give another start={…}, or take method 'differential_evolution'"
            raise StateError(f"the run at the start failed: {p.status}, {p.message}. {advice}")

    def _prepare(self, names: Mapping[str, str]) -> None:
        run, outputs = dict(self.inputs.run), dict(self.problem.outputs)
        if names:
            run = with_sensitivities(run, list(names.values()))
            ranges = tuple((self.problem.high - self.problem.low).tolist())
            by = tuple(names.get(name) for name in self.problem.names)
            outputs[GRADIENT] = Gradient(self.problem.outputs, by, ranges, tuple(event_names(run)))
        self._exact = set(names)
        self._pools.append(WorkerPool(Task(self.inputs.model, self.problem.names, run, outputs), *self._workers))
        self.e = Evaluations(self.problem, self._pools[-1], self._max_runs, self._told)

    def run(self, settings: Settings, seed: int) -> Optimum:
        try:
            with quiet():
                converged, message = METHODS[self.method].search(self.e, settings)
                message += self._doubts(settings.start)
            status = "max_runs" if self.method == "optuna" else "converged" if converged else "not_converged"
        except BudgetExhausted:
            status, message = "max_runs", f"all {self._max_runs} runs that were allowed are made"
        except KeyboardInterrupt:
            status, message = "interrupted", "by Ctrl-C"
        return self._optimum(status, " ".join(message.split()), seed)

    def _doubts(self, start: np.ndarray) -> str:
        """Sentence for the message of a search by gradients that were all zero; empty for others."""
        p = self.e.point(start)
        if not METHODS[self.method].gradients or p.outputs is None:
            return ""
        if self.e.derivatives(p)[: len(p.residuals)].any():
            return ""
        return (
            "; at the start the objective does not change with any input: if it changes in steps, as a 'time of max' does, take "
            "method 'differential_evolution'"
        )

    def _optimum(self, status: str, message: str, seed: int) -> Optimum:
        e, p = self.e, self.problem
        k, feasible = best_of(e)
        attributes = {
            "title": f"optimum of {self.inputs.model.name}", "model": self.inputs.model.name, "objective": p.objective,
            "method": self.method, "seed": seed, "sharnir": __version__, "best": k, "squares": e.squares,
        }  # fmt: skip
        history = history_of(e, attributes)
        if k < 0:
            raise StudyError(f"none of the {len(e.rows)} runs gave an objective: {reasons(history)}", history)
        if not feasible and status != "interrupted":
            status, message = "infeasible", f"no run meets the constraints; {message}"
        history.attrs["status"] = status
        row = e.rows[k]
        return Optimum(
            p.values(row.u), row.objective, dict(zip(p.limits, row.constraints.tolist(), strict=True)), status, message,
            self.method, self._gradients(), at_bounds(p.names, row.u), history,
            {name: (float(a), float(b)) for name, a, b in zip(p.names, p.low, p.high, strict=True)}, p.limits, e.pool.first,
        )  # fmt: skip

    def _gradients(self) -> str:
        if not METHODS[self.method].gradients:
            return "none"
        differences = self.e.by_differences
        exact = [name for name in self.problem.names if name in self._exact - differences]
        if not differences:
            return "sensitivities"
        text = "differences of runs" + (f" ({self._why})" if self._why else "")
        if not exact:
            return text
        others = ", ".join(name for name in self.problem.names if name in differences)
        return f"sensitivities by {', '.join(exact)}; {text} by {others}"

    def close(self) -> None:
        for pool in self._pools:
            pool.close()
