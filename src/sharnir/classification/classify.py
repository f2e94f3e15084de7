"""`sharnir.classify`: every form of the equations of motion for one model in one state."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import Any

from ..choice.choose import predict
from ..comparison.contender import written_count
from ..comparison.run import compare
from ..dynamics import Dynamics
from ..errors import AccuracyWarning, ModelError, SharnirError
from ..forms.closed import independent_rows
from ..forms.constraint_rows import speed_rows
from ..forms.maggi import own_system
from ..forms.matrices import Matrices
from ..forms.system import System
from ..integrate.methods import INTEGRATORS
from ..model.model import Model
from ..model.motion import Motion
from ..model.states import check_model
from ..programs.methods import METHODS, Method
from ..types import State, truth
from .classification import Classification, MethodUse, Node
from .elimination import skeleton

SPARSE = 60
"""Bodies beyond which the large matrices are sparse."""
ROUNDS = 5
"""Samples of each method where it is measured."""
OWN = "quasi-velocities"


def classify(
    model: Model,
    q: State = None,
    v: State = None,
    t: float = 0.0,
    *,
    tau: State = None,
    quasi_velocities: Callable[[Motion], Any] | None = None,
    measure: bool = False,
) -> Classification:
    """The papers' classification for this model: every form, its matrix in this state, cost, methods, and why it fits or not.

    q, v, t, tau      the state; without q the neutral one, or with loops a closed one near it that is not singular
    quasi_velocities  a function of the motion that returns as many numbers, linear in the speeds, as there are degrees of
                      freedom: `lambda on: [on.v("slew"), sh.cos(on.q("luff")) * on.v("travel"), …]`
    measure           time every method that can solve the model, by `sharnir.compare`
    """
    model = check_model(model, "classify").copy()  # which is frozen; the caller's stays as it is
    mobility = model.mobility(q, t)
    if model.constraints and q is None:
        q, v = model.assemble(mobility.q, v, t)
    m = Matrices(model, q, v, t, None, len(model.bodies) > SPARSE, None, tau)
    if not m.n:
        raise ModelError(f"model {model.name!r} has no degree of freedom: it has no equations of motion to classify")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # c.why says it
        uses = {name: _use(model, method) for name, method in METHODS.items()}
        d = Dynamics(model)
        able = [name for name, use in uses.items() if not use.why_not]
        found, how = predict(d.formulation.programs, model, able)
        comparison = compare(model, able, rounds=ROUNDS) if truth(measure, "measure") else None
    for name, use in uses.items():
        rows = [row for row in comparison.rows if row.method == name] if comparison else []
        use.auto, use.predicted = name == d.method, found.get(name, (None,))[0]
        use.measured = min((x for row in rows if (x := row.time("single"))), default=None)
    nodes = dict[str, Node]()
    for entry in definitions()["forms"]:
        solved = [use for name, use in uses.items() if form_of(METHODS[name]) == entry["name"]]
        node = nodes[entry["name"]] = _node(entry, m, solved, quasi_velocities)
        if node.parent:
            nodes[node.parent].children.append(node)
    return Classification(model, mobility, nodes["graph"], d.why, how, comparison)


def form_of(method: Method) -> str:
    """The form that a method solves, by what the method says of itself."""
    if method.in_momenta:
        return "momentum"
    if method.is_sparse_form:
        return method.name
    if method.multipliers:
        return "lagrange1"
    if method.constrains == "elimination":
        return "separate"
    return method.inertia if method.inertia in ("composite", "direct") else "kane"


@cache
def definitions() -> dict[str, Any]:
    """The contents of forms.yaml."""
    import yaml

    found: dict[str, Any] = yaml.safe_load(resources.files(__package__).joinpath("forms.yaml").read_text(encoding="utf-8"))
    return found


def _use(model: Model, method: Method) -> MethodUse:
    use = MethodUse(method.name, method.what)
    try:
        d = Dynamics(model, method.name)
        d.formulation.check_inertia()
    except SharnirError as error:
        use.why_not = str(error)
        return use
    if not model.constraints:
        use.operations = written_count(d, method)[0]
    elif method.constrains != "form":
        with suppress(SharnirError):  # too large to be one graph
            use.operations = d.count(compiled=True)
    return use


def _node(entry: dict[str, Any], m: Matrices, uses: list[MethodUse], own: Any) -> Node:
    node = Node(**entry, methods=uses)
    solved = [use for use in uses if not use.why_not]
    try:
        node.matrices = m = _split(m) if node.name == "split" else m
        if system := _system(node.assembled, m, own):
            node.unknowns, node.matrix, node.right = system.unknowns, system.matrix, system.right
    except SharnirError as error:
        node.why_not = str(error)
    if uses and not solved:
        node.why_not = node.why_not or uses[0].why_not
    if node.name == "graph" and node.fits and (rank := len(independent_rows(m.K))) < len(m.K):
        only = f"only {rank} of the {len(m.K)} rows of its cut joints are independent here"
        node.why_not = f"{only}: reactions are not unique, and the matrix is singular; the forms below keep independent rows"
    if node.fits:
        node.skeleton, node.integrators = skeleton(m.model), tuple(INTEGRATORS) if solved else ()
    if m.model.constraints and node.name in ("graph", "maggi"):  # blocks of another kind
        node.blocks = ""
    return node


def _system(name: str, m: Matrices, own: Any) -> System | None:
    if name != OWN:
        return m.system(name) if name else None
    if own is None:
        raise ModelError("no quasi-velocities were given: classify(model, quasi_velocities=lambda on: [on.v(…), …])")
    return own_system(m, m.tau, speed_rows(m, own, OWN), (m.J, m.gamma))


def _split(m: Matrices) -> Matrices:
    """The same mechanism in the same state, with a body split in place of every joint that is cut."""
    if not m.closing_joints:
        raise ModelError(f"the graph of model {m.model.name!r} is a tree: S is square, and there is no loop to close")
    free = [joint.name for joint in m.model.joints if joint.nq]
    q = {name: m.q[m.model.q_slice(name)] for name in free}
    v, tau = ({name: x[m.model.v_slice(name)] for name in free} for x in (m.v_q, m.given_tau))
    found, model = m.cut_joints, m.model.copy()
    for joint, cut in zip(m.closing_joints, found, strict=True):
        model.split(joint.name)
        if joint.nq:
            q[joint.name], v[joint.name] = cut.q, cut.v
    return Matrices(model, *model.assemble(q, v, m.t, nearest=True), m.t, None, m.sparse, None, tau)
