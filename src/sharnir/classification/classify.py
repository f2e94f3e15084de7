"""`sharnir.classify`: every form of the equations of motion for one model in one state."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

from ..choice.choose import predict
from ..comparison.contender import written_count
from ..comparison.run import compare
from ..dynamics import Dynamics
from ..errors import AccuracyWarning, ModelError, SharnirError, SingularError
from ..forms import SYSTEMS
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

    q, v, t, tau      the state; without q the neutral one, assembled where there are closed loops
    quasi_velocities  a function of the motion that returns as many numbers, linear in the speeds, as there are degrees of
                      freedom: `lambda on: [on.v("slew"), sh.cos(on.q("luff")) * on.v("travel"), …]`
    measure           time every method that can solve the model, by `sharnir.compare`
    """
    model = check_model(model, "classify").copy()  # which is frozen; the caller's stays as it is
    if model.constraints and q is None:
        q, v = model.assemble(None, v, t)
    m = Matrices(model, q, v, t, None, len(model.bodies) > SPARSE, None, tau)
    if not m.n:
        raise ModelError(f"model {model.name!r} has no degree of freedom: it has no equations of motion to classify")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # c.why says it
        uses = {name: _use(model, method) for name, method in METHODS.items()}
        d = Dynamics(model)
        able = [name for name, use in uses.items() if not use.why_not]
        found, how = predict(d.formulation.programs, model, able)
        comparison = compare(model, able) if truth(measure, "measure") else None
    for name, use in uses.items():
        use.auto = name == d.method
        use.predicted = found.get(name, (None,))[0]
        rows = comparison.rows if comparison else []
        use.measured = min((x for row in rows if row.method == name and (x := row.time("single"))), default=None)
    nodes = dict[str, Node]()
    for entry in definitions()["forms"]:
        solved = [use for name, use in uses.items() if form_of(METHODS[name]) == entry["name"]]
        nodes[entry["name"]] = _node(entry, m, solved, nodes, quasi_velocities)
    return Classification(model, nodes["graph"], d.why, how, comparison)


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
        use.operations = written_count(d, method)[0]
    except SharnirError as error:
        use.why_not = str(error)
    return use


def _node(entry: dict[str, str], m: Matrices, uses: list[MethodUse], nodes: dict[str, Node], own: Any) -> Node:
    name, why, system = entry["name"], "", None
    if name == "graph" and not m.closing_joints:
        entry = {**entry, "blocks": "extended"}
    try:
        m = _split(m) if name == "split" else m
        system = _system(entry.get("system", ""), m, own)
        if uses and all(use.why_not for use in uses):
            why = uses[0].why_not
    except SharnirError as error:
        why = str(error)
    closed_maggi = name == "maggi" and m.model.constraints
    parent = nodes.get(entry.get("parent", ""))
    node = Node(
        name, entry["title"], entry["equation"], entry["step"], entry["text"], parent, why, m, system,
        "" if closed_maggi else entry.get("blocks", ""), skeleton(m.model), methods=uses,
        integrators=tuple(INTEGRATORS) if any(not use.why_not for use in uses) else (),
    )  # fmt: skip
    if parent:
        parent.children.append(node)
    return node


def _system(name: str, m: Matrices, own: Any) -> System | None:
    if name == OWN:
        if own is None:
            raise ModelError("no quasi-velocities were given: classify(model, quasi_velocities=lambda on: [on.v(…), …])")
        return own_system(m, m.tau, speed_rows(m, own, OWN), (m.J, m.gamma))
    return m.system(name) if name in SYSTEMS else None


def _split(m: Matrices) -> Matrices:
    """The same mechanism in the same state, with a body split in place of every joint that is cut."""
    if not m.closing_joints:
        raise ModelError(f"the graph of model {m.model.name!r} is a tree: S is square, and there is no loop to close")
    q, v = ({j.name: x[where(j.name)] for j in m.model.joints if j.nq} for x, where in ((m.q, m.model.q_slice), (m.v_q, m.model.v_slice)))
    whole, model = m.cut_joints, m.model.copy()
    for joint, cut in zip(m.closing_joints, whole, strict=True):
        model.split(joint.name)
        if joint.nq:
            q[joint.name], v[joint.name] = cut.q, cut.v
    return Matrices(model, *model.assemble(q, v, m.t, nearest=True), m.t, None, m.sparse)
