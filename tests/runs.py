"""Programs run on every backend, the states they are run on, and what they should answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import sharnir as sh
from sharnir.backends.graph_function import LLVMRunner
from sharnir.backends.loops import LoopRunner
from sharnir.backends.runner import PythonRunner
from sharnir.backends.traced import TracedProgram
from sharnir.dialect.arrays import Array
from sharnir.forms import FORMS, momentum
from sharnir.programs import PROGRAMS
from sharnir.programs.program import Program
from sharnir.trace import Graph

RUNNERS = {"python": PythonRunner, "llvm": LLVMRunner, "loops": LoopRunner}
STRAIGHT = [name for name, program in PROGRAMS.items() if not program.loops_only]
"""Programs that become straight-line code."""
BODY = 3
"""The body of the point that is asked about."""

Arrays = dict[str, np.ndarray]


def batch(model: sh.Model, n: int, seed: int = 0) -> Arrays:
    """n states and everything a program may be given, a row each."""
    rng = np.random.default_rng((seed, 13))
    nv, nb = model.nv, len(model.bodies)
    values = {name: rng.normal(size=(n, nv)) for name in ("v", "tau", "qdd", "p")}
    values["q"] = np.array([model.random_q(rng) for _ in range(n)])
    values["t"] = rng.uniform(0.1, 1.5, size=(n, 1))
    values["wrench"] = rng.normal(size=(n, 6 * (nb + 1)))
    values["wrench"][:, :6] = 0.0  # the base feels no force
    values["point"] = rng.normal(size=(n, 3))
    values |= {name: rng.normal(size=(n, model.structure.na)) for name in ("ratio", "dry")}
    values["tolerance"] = np.full((n, 1), 1e-13)
    values["path"] = np.zeros((n, nb + 1))
    i = min(BODY, nb)
    while i > 0:
        values["path"][:, i] = 1.0
        i = model.parents[i - 1] + 1
    values["R"] = rng.normal(size=(n, 6 * (nb + 1)))
    return values


def row(values: Arrays, b: int) -> Arrays:
    return {name: x[b : b + 1] for name, x in values.items()}


def make(name: str, model: sh.Model, backend: str, **options: Any) -> Any:
    return RUNNERS[backend](PROGRAMS[name], model.freeze(), **options)


@cache
def kept(name: str, model: sh.Model, backend: str) -> Any:
    """A runner that is made once: compilation is what takes time."""
    return make(name, model, backend)


def run(runner: Any, values: Arrays, n: int | None = None, threads: int = 1) -> Arrays:
    """All outputs, a row per state; what the program does not write stays 7.5."""
    given = [values[name] for name in runner.inputs]
    n = n or max(len(x) for x in given)
    results = {name: np.full((n, int(np.prod(shape))), 7.5) for name, shape in runner.outputs.items()}
    runner.run(n, given, list(results.values()), threads)
    return {name: x.reshape(n, *runner.outputs[name]) for name, x in results.items()}


def used(outputs: Arrays) -> Arrays:
    """Without what nobody reads: the base's row of arrays over bodies, and the report of iterations."""
    over_bodies = ("R", "vdot", "velocity", "drift", "r", "G")
    return {name: x[:, 1:] if name in over_bodies and x.ndim == 3 else x for name, x in outputs.items() if name != "report"}


def expected(name: str, model: sh.Model, state: Arrays) -> dict[str, Any]:
    """The outputs of a program in one state, by the dense matrices of the papers.

    Where no coordinates are coupled, the programs for coupled ones give what the others give.
    """
    name = name.removeprefix("coupled/")
    q, v, t = state["q"][0], state["v"][0], float(state["t"][0, 0])
    wrenches = state["wrench"].reshape(-1, 6)[1:]
    X = sh.matrices(model, q, v, t, wrenches)
    kind = name.split("/")[0]
    if kind in ("forward", "solve"):
        x = FORMS["extended"](X, state["tau"][0])
        return {"qdd": x.qdd} if kind == "forward" else {"qdd": x.qdd, "vdot": x.vdot, "R": x.R}
    if kind == "inertia":
        return {"M": X.M_r}
    if kind in ("inverse", "kinetostatics"):
        vdot = X.B @ state["qdd"][0] + X.psi
        R = X.T.T @ (X.M @ vdot - X.F)
        return {"tau": X.A.T @ R} | ({"R": R.reshape(-1, 6), "vdot": vdot.reshape(-1, 6)} if kind == "kinetostatics" else {})
    if kind == "regressor":
        return {"Y": np.hstack([_body_columns(X, state["qdd"][0]), _joint_columns(state)])}
    if kind in ("speeds", "momentum-rates"):
        qd, _, _ = momentum.velocities(X, state["p"][0])
        Lambda = (X.T.T @ (X.M @ X.v)).reshape(-1, 6)
        return {"v": qd} if kind == "speeds" else {"dp": momentum.momentum_rates(X, state["tau"][0], Lambda)}
    return _of_state(kind, X, state)


def _body_columns(X: sh.Matrices, qdd: np.ndarray) -> np.ndarray:
    """Newton and Euler of a body that has one of its ten numbers and no other, projected on what the joints allow."""
    rotation, _ = X.poses
    vdot, velocity, B = (X.B @ qdd + X.psi).reshape(-1, 6), X.v.reshape(-1, 6), np.asarray(X.B)
    out = np.zeros((B.shape[1], 10 * X.N))
    for i in range(X.N):
        a, e, w = vdot[i, :3] - rotation[i].T @ np.array(X.model.gravity), vdot[i, 3:], velocity[i, 3:]
        for k, one in enumerate(np.eye(10)):
            m, h, J = one[0], one[1:4], np.array([[one[4], one[7], one[8]], [one[7], one[5], one[9]], [one[8], one[9], one[6]]])
            force = m * a + np.cross(e, h) + np.cross(w, np.cross(w, h))
            moment = J @ e + np.cross(w, J @ w) + np.cross(h, a)
            out[:, 10 * i + k] = B[6 * i : 6 * i + 6].T @ np.concatenate([force, moment])
    return out


def _joint_columns(state: Arrays) -> np.ndarray:
    ratio, n = state["ratio"][0], len(state["v"][0])
    out = np.zeros((n, n, 3))
    out[np.arange(n), np.arange(n)] = np.stack([ratio**2 * state["qdd"][0], ratio**2 * state["v"][0], state["dry"][0]], axis=1)
    return out.reshape(n, 3 * n)


def _of_state(kind: str, X: sh.Matrices, state: Arrays) -> dict[str, Any]:
    rotation, r = X.poses
    G = np.swapaxes(rotation, 1, 2)
    if kind == "bias":
        return {"h": -X.Q}
    if kind == "poses":
        return {"r": r, "G": G.reshape(-1, 9)}
    if kind == "motion":
        return {"r": r, "G": G.reshape(-1, 9), "velocity": X.v.reshape(-1, 6)}
    if kind == "axes":
        columns = np.hstack([np.zeros((6, 0)), *X.A_blocks]).T
        return _of_state("motion", X, state) | {"drift": X.psi.reshape(-1, 6), "A": columns}
    if kind == "rates":
        return {"rate": X.q_rate}
    if kind == "velocities":
        return {"velocity": X.v.reshape(-1, 6)}
    if kind == "drive-power":
        R = state["R"].reshape(-1, 6)
        return {"power": [R[0] @ X.base_velocity + R[1:].ravel() @ X.phi_r]}
    if kind == "momenta":
        return {"p": momentum.momenta(X)}
    mass = np.array([b.mass for b in X.model.bodies])
    com = r + np.einsum("bij,bj->bi", rotation, np.array([b.com for b in X.model.bodies]))
    if kind == "energy":
        return {"energy": [0.5 * X.v @ X.M @ X.v, -mass @ com @ np.array(X.model.gravity)]}
    if kind == "total":
        own = (X.M @ X.v).reshape(-1, 6)
        linear = np.einsum("bij,bj->bi", rotation, own[:, :3])
        angular = np.einsum("bij,bj->bi", rotation, own[:, 3:]) + np.cross(r, linear)
        total = np.concatenate([linear.sum(axis=0), angular.sum(axis=0)])
        return {"momentum": total[None], "centre": (mass @ com / mass.sum())[None]}
    return _of_point(kind, X, state)


def _of_point(kind: str, X: sh.Matrices, state: Arrays) -> dict[str, Any]:
    body = min(BODY, X.N) - 1
    part = slice(6 * body, 6 * body + 6)
    rotation, r = (x[body] for x in X.poses)
    arm = rotation @ state["point"][0]
    out: dict[str, Any] = {"G": rotation.T.ravel()}
    if kind == "pose":
        return out | {"position": r + arm}
    if kind == "jacobian":
        u, w = rotation @ np.asarray(X.B)[part][:3], rotation @ np.asarray(X.B)[part][3:]
        return out | {"J": np.vstack([u + np.cross(w, arm, axisa=0, axisc=0), w])}
    w, v = rotation @ X.v[part][3:], rotation @ X.v[part][:3]
    if kind == "point-velocity":
        return out | {"velocity": np.concatenate([v + np.cross(w, arm), w])}
    assert kind == "point-acceleration"
    vdot = (X.B @ state["qdd"][0] + X.psi)[part]
    a, e = rotation @ vdot[:3], rotation @ vdot[3:]
    return out | {"acceleration": np.concatenate([a + np.cross(e, arm) + np.cross(w, np.cross(w, arm)), e])}


def recorded(graph: Graph, inputs: Sequence[Any], outputs: Sequence[Any]) -> LLVMRunner:
    """A graph of one's own, with inputs q (and a time that is not looked at) and outputs y, as a program."""
    x = NamedTuple("x", [("q", Array[len(inputs)])])  # noqa: UP014 (the shape is known only here)
    y = NamedTuple("y", [("y", Array[len(outputs)])])  # noqa: UP014
    program = Program("recorded", lambda *groups: None, x, NamedTuple("w", []), y)
    traced = TracedProgram(graph, {"q": tuple(inputs), "t": (graph.input(),)}, {"y": tuple(outputs)})
    return LLVMRunner(program, sh.samples.pendulum().freeze(), traced=traced)


def evaluate(runner: LLVMRunner, q: Any) -> np.ndarray:
    """Rows of inputs to rows of outputs."""
    q = np.ascontiguousarray(q, dtype=float)
    return run(runner, {"q": q, "t": np.zeros((1, 1))})["y"]
