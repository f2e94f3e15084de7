"""The question `derive`: the graphs of a model's equations of motion, and from these the formulas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..backends.run import evaluate, read_by_forces, with_bodies
from ..backends.traced import state_inputs
from ..equations.rows.constraint_table import table_of
from ..errors import MethodError, ModelError, brief, unknown
from ..model.model import Model
from ..model.structure import Structure
from ..trace import Expression, Graph, Number, Symbol, needed, tangent
from ..trace.graph import GraphTooLarge
from .sums import Atoms, Sum, TooLong

if TYPE_CHECKING:
    from .equations_of_motion import EquationsOfMotion

FORMS = {
    "auto": "lagrange1 where there are closed loops or constraints, else lagrange2",
    "lagrange2": "Lagrange's second kind: M v̇ + c + g = τ + Q",
    "lagrange1": "with closed loops and constraints: M v̇ + c + g = τ + Q + Jᵀλ, J v̇ + γ = 0",
    "hamilton": "momenta p = M v and their rates, of models whose speeds are rates of coordinates",
}
LARGEST = 20_000
"""Operations beyond which formulas are of no use."""
READABLE, PRODUCTS, TERMS = 3_000, 150_000, 800
"""Operations, products of terms, and terms up to which formulas are simplified."""


def derive(model: Model, form: str = "auto", parameters: str | Iterable[str] = "all") -> EquationsOfMotion:
    """The equations of motion of a model as formulas: LaTeX, SymPy, Python, a page.

    form        "lagrange2": M v̇ + c + g = τ + Q, independent coordinates; "lagrange1": with closed loops and constraints, whose
                multipliers λ act by Jᵀ; "hamilton": momenta and their rates; "auto": the first, or the second where there are
                constraints
    parameters  which stay letters: "all" that the model has, or some of them by name; a path such as "pole.mass" makes a
                number of the model one. Other numbers are written as numbers: ratios where they are meant, decimals else

    Formulas are simplified: sin² + cos² = 1, angle sums, parameters collected. Those of large models consist of named
    subexpressions (`simplified` is False); beyond 20 000 operations they are refused. Needs SymPy, sharnir[derive].
    """
    try:
        import sympy  # noqa: F401
    except ImportError:
        raise MethodError('derive needs SymPy: pip install "sharnir[derive]"') from None
    from .equations_of_motion import assembled

    if not isinstance(form, str) or form not in FORMS:
        raise MethodError(unknown(f"form {brief(form)}", form, FORMS, "forms"))
    if not isinstance(model, Model):
        raise ModelError(f"derive: expected a sharnir.Model, got {brief(model)}")
    model, letters = _with_letters(model, parameters)
    form = _checked_form(model, form)
    s = model.structure
    graph = Graph(LARGEST)
    inputs = state_inputs(s, graph)
    values: dict[str, Sequence[Number]] = {**inputs, "wrench": [0.0] * (6 * (s.nb + 1))}
    values["parameter"] = [
        x if name in letters else float(s.parameters[name]) for name, x in zip(s.parameters, inputs["parameter"], strict=True)
    ]
    try:
        groups = _groups(model, values, form)
    except GraphTooLarge:
        raise ModelError(
            f"derive: the equations of {model.name!r} have more than {LARGEST} operations, too many for formulas; ask "
            "sharnir.Dynamics for numbers, or derive a smaller model"
        ) from None
    every = [x for group in groups.values() for x in group]
    size = len([k for k in needed(graph, every) if graph.nodes[k][0] not in ("input", "const")])
    sums = _as_sums(s, inputs, every, letters) if size <= READABLE else None
    return assembled(model, form, graph, inputs, letters, groups, sums, size)


def _with_letters(model: Model, parameters: str | Iterable[str]) -> tuple[Model, list[str]]:
    """The model with parameters at all paths named, and the parameters that stay letters."""
    if parameters == "all":
        return model, list(model.parameters)
    if isinstance(parameters, str) or not isinstance(parameters, Iterable):
        raise ModelError(f"derive: parameters must be 'all', or a list of names and paths, got {brief(parameters)}")
    names = list(parameters)
    out = model.copy()
    for name in names:
        if name not in out.parameters:
            out.make_parameter(name)
    return out, names


def _checked_form(model: Model, form: str) -> str:
    s, closed = model.structure, bool(len(table_of(model)))
    if s.deformations:
        name = s.bodies[next(iter(s.deformations.values())).body - 1].name
        raise ModelError(
            f"derive: body {name!r} is flexible: its equations have integrals over shapes, no formulas; make it rigid"
        )
    if s.states:
        raise ModelError(
            f"derive: {next(iter(s.states))!r} is a state of a force, which has an equation of its own; leave that force out"
        )
    if not s.nv:
        raise ModelError(f"derive: model {model.name!r} has no freedom: every joint is a weld or driven")
    if closed and form in ("lagrange2", "hamilton"):
        raise MethodError(
            f"form {form!r} needs independent coordinates, and closed loops or constraints make those of {model.name!r} depend "
            "on one another; take form='lagrange1'"
        )
    if form == "hamilton" and s.coupled:
        raise MethodError("form 'hamilton' does not handle coupled coordinates; take form='lagrange2'")
    return "lagrange1" if closed or form == "lagrange1" else "lagrange2" if form == "auto" else form


def _groups(model: Model, values: Mapping[str, Sequence[Number]], form: str) -> dict[str, list[Number]]:
    """Everything that is asked for, each a flat list of numbers of the graph."""
    s = model.structure
    q, v, t = values["q"], values["v"], values["t"]
    rates = evaluate(s, "rates", values).rate.tolist()
    kinetic, weight = evaluate(s, "energy", values).energy.tolist()
    flow = [*zip(q, rates, strict=True)]
    # g by the power of the weights, which is gᵀv where v moves the coordinates
    gravity = [tangent(tangent([weight], flow), [(x, 1.0)])[0] for x in v]
    free = s.without_forces()
    bias = evaluate(free, "bias", {**values, "load": []}).h.tolist()
    out = {
        "rates": rates,
        "M": evaluate(s, "inertia/composite", values).M.ravel().tolist(),
        "coriolis": [x - y for x, y in zip(bias, gravity, strict=True)],
        "gravity": gravity,
        "forces": _forces(s, values),
        "kinetic": [kinetic],
        "potential": [weight + _stored(s, values)],
    }
    if form == "lagrange1":
        rows = table_of(model).trace({**values, "t": t})
        out |= {"residuals": list(rows.g), "speeds": list(rows.rate[len(rows.g) :])}
        out |= {"J": [x for row in rows.J for x in row], "gamma": list(rows.gamma)}
    if form == "hamilton":
        rested = {**values, "tau": [0.0] * s.nv}
        out["momentum"] = evaluate(s, "momenta", values).p.tolist()
        out["momentum rates"] = evaluate(free, "momentum-rates", rested).dp.tolist()
    return out


def _forces(s: Structure, values: Mapping[str, Sequence[Number]]) -> list[Number]:
    """Q of the model's forces: what they do per unit of every speed."""
    if not s.forces:
        return [0.0] * s.nv
    motion = with_bodies(s, values)
    pushes, torques = s.forces.loads(motion)
    columns = [tangent(motion["velocity"], [(x, 1.0)]) for x in values["v"]]
    return [
        sum((x * column[6 * row + c] for (row, c), x in pushes.items()), torques.get(k, 0.0)) for k, column in enumerate(columns)
    ]


def _stored(s: Structure, values: Mapping[str, Sequence[Number]]) -> Number:
    """Potential energy of the model's forces."""
    if not s.forces:
        return 0.0
    energies, _ = s.forces.report(read_by_forces(s, values))
    return sum((x for x, kinetic in zip(energies, s.forces.kinetic, strict=True) if not kinetic), 0.0)


def _as_sums(
    s: Structure, inputs: Mapping[str, Sequence[Symbol]], outputs: Sequence[Number], letters: Iterable[str]
) -> list[Sum] | None:
    """The outputs as sums; None where these would be too long. Symbols are named by their inputs: "q0", "v1", "t0"."""
    atoms = Atoms(PRODUCTS)
    order = ("parameter", "q", "v", "t")
    symbols = {name: [atoms.atom("symbol", f"{name}{k}") for k in range(len(inputs[name]))] for name in order}
    for k in s.quaternions.tolist():
        atoms.quaternion([f"q{k + c}" for c in range(4)])
    graph = inputs["t"][0].graph
    try:
        found = Expression(graph, [x for name in order for x in inputs[name]], outputs)(
            *(x for name in order for x in symbols[name])
        )
    except TooLong:
        return None
    sums = [atoms.sum(x) for x in found]
    return sums if sum(len(x.terms) for x in sums) <= TERMS else None
