"""Kind "physics": random trees and closed chains of all joints, with forces; every method gives the oracle's accelerations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import sharnir as sh
from sharnir.comparison.oracle import Oracle
from sharnir.comparison.states import States, random_states
from sharnir.forms.constraint_rows import constraint_rows
from sharnir.programs.methods import METHODS, Method

from .seed_files import of_tests

EPS = float(np.finfo(float).eps)
STATES = 2
TOLERANCE, ITERATED = 1e-10, 1e-6
"""Relative differences that a well-conditioned mechanism may have; of a method that iterates."""
LARGE = 10
"""Bodies from which not every method is tried in a case."""
SEEDS = 10**7
"""Models that are drawn: samples take no larger seed."""
WORST = 1e10
"""Condition of the equations beyond which the oracle itself has lost its digits."""


def run(seed: int) -> tuple[str, str]:
    rng = np.random.default_rng((seed, 4))
    try:
        draw = random_chain if rng.random() < 0.35 else random_tree
        model = draw(seed % SEEDS, rng)
        add_forces(model, rng)
        states = random_states(model, STATES, seed)
    except sh.AssemblyError:
        return "skipped", "cannot be assembled"
    what = repr(model)
    condition = max(_condition(model, states, k) for k in range(STATES))
    if not condition < WORST:
        return "skipped", f"{what}: condition {condition:.1e}"
    oracle = Oracle(model, states)
    compared = [check(d, method, states, oracle, condition) for d, method in _every_method(model, rng)]
    return "accepted", f"{what}: {len(compared)} methods, condition {condition:.1e}, largest difference {max(compared):.1e}"


# --- models -------------------------------------------------------------------------------------------------------------------
def random_tree(seed: int, rng: np.random.Generator) -> sh.Model:
    if rng.random() < 0.3:
        return sh.samples.all_joints(seed, driven=bool(rng.random() < 0.5), moving_base=bool(rng.random() < 0.5))
    return sh.samples.tree(int(rng.integers(1, 12)), branching=float(rng.choice([1.0, 1.5, 2.0, 4.0])), seed=seed)


def random_chain(seed: int, rng: np.random.Generator) -> sh.Model:
    """A chain of any joints closed onto the ground by a joint that can be cut: the graphs of the tests."""
    graphs = of_tests("graph_models")
    joints = rng.choice(graphs.MOVING, size=int(rng.integers(2, 6))).tolist()
    loop = graphs.Loop(seed, tuple(joints), int(rng.choice([k for k in graphs.CUTTABLE if k != graphs.CUTTABLE[-1]])), 0)
    model: sh.Model = graphs.closed_chain(loop, cut_other=False)[0]
    return model


def add_forces(m: sh.Model, rng: np.random.Generator) -> None:
    bodies = [b.name for b in m.bodies]

    def numbers(size: float) -> tuple[float, ...]:
        return tuple(rng.normal(0.0, size, 3).tolist())

    for _ in range(int(rng.integers(4))):
        body, other = str(rng.choice(bodies)), "ground"
        kind = int(rng.integers(5))
        if kind == 0:
            m.add_force(sh.SpringDamper(body, other, numbers(0.3), numbers(2.0), stiffness=5.0, damping=0.3, length=0.2))
        elif kind == 1:
            m.add_force(sh.Drag(body, linear=0.2, quadratic=0.1, angular=0.05, wind=numbers(1.0)))
        elif kind == 2:
            m.add_force(sh.Wrench(body, numbers(3.0), numbers(1.0), numbers(0.2), axes=str(rng.choice(["world", "body"]))))
        elif kind == 3:
            m.add_force(sh.PointGravity(centre=numbers(5.0), mu=20.0))
        else:
            m.add_force(sh.Wrench(body, sh.VectorFormula("sin(t)", f"velocity.{body}.x", "t*t")))


# --- comparison ---------------------------------------------------------------------------------------------------------------
def _condition(model: sh.Model, s: States, k: int) -> float:
    """Of the equations in state k: of the extended system with constraints, scaled as it is solved."""
    m = sh.matrices(model, s.q[k], s.v[k], float(s.t[k]))
    if not model.nv:
        return 1.0
    M = m.M_r
    size = np.sqrt(np.diag(M))
    if not model.constraints:
        return float(np.linalg.cond(M / np.outer(size, size)))
    J, _ = constraint_rows(m)
    S = J @ np.linalg.solve(M, J.T)
    scale = np.sqrt(np.diag(S) + 1e-6 * np.trace(S) / max(len(S), 1) + 1e-300)
    modes = np.linalg.eigvalsh(S / np.outer(scale, scale))
    if ((modes > 1e-12) & (modes < 1e-3)).any():  # neither dependent nor independent to ten digits
        return np.inf
    return float(np.linalg.cond(M / np.outer(size, size)))


def _every_method(model: sh.Model, rng: np.random.Generator) -> Iterator[tuple[sh.Dynamics, Method]]:
    """Interpreted all of them, of a large model some; compiled one of them."""
    chosen = rng.permutation(list(METHODS)).tolist()[: len(METHODS) if len(model.bodies) < LARGE else 4]
    compiled = chosen[0]
    for name, method in METHODS.items():
        if name not in chosen:
            continue
        backends = ["auto" if method.is_sparse_form else "python"]
        if name == compiled and rng.random() < 0.3:
            backends.append(str(rng.choice(["loops", "llvm"])))
        for backend in backends:
            try:
                yield sh.Dynamics(model, name, backend), method
            except sh.MethodError:
                continue


def check(d: sh.Dynamics, method: Method, s: States, oracle: Oracle, condition: float) -> float:
    """The difference from the oracle, of single states and of a batch."""
    if method.in_momenta:
        p = d.momenta(s.q, s.v, s.t)
        single = [d.momentum_rates(s.q[k], p[k], s.tau[k], float(s.t[k])) for k in range(STATES)]
        batch, right = d.momentum_rates(s.q, p, s.tau, s.t), oracle.answers("ṗ")
    else:
        single = [d.forward(s.q[k], s.v[k], s.tau[k], float(s.t[k])) for k in range(STATES)]
        batch, right = d.forward(s.q, s.v, s.tau, s.t), oracle.answers()
    error = max(_difference(np.array(single), right), _difference(batch, right))
    allowed = max(TOLERANCE, 1e4 * EPS * condition, ITERATED if method.iterates else 0.0)
    if not error <= allowed:
        raise AssertionError(f"{d!r} differs from the oracle by {error:.2e}, condition {condition:.1e}")
    return error


def _difference(found: np.ndarray, right: np.ndarray) -> float:
    """Relative to the largest number, or to one where a mechanism cannot move: the forces on it are of that order."""
    if not np.isfinite(found).all():
        return np.inf
    return float(np.abs(found - right).max(initial=0.0) / max(1.0, np.abs(right).max(initial=0.0)))
