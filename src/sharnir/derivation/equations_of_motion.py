"""Equations of motion as formulas of SymPy, and how they are read: as LaTeX, as Python, as a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import sympy as sp

from ..equations.rows.constraint_table import table_of
from ..errors import MethodError, unknown
from ..model.model import Model
from ..reporting.formats import plural
from ..reporting.pages import page, write_page
from ..trace import Graph, Number, Symbol
from .formulas import Names, Textbook, node_by_node
from .names import Written, written
from .python_code import python_text
from .sums import Sum
from .typeset import LATEX, MATHML, Line, Style, sides

TITLES = {
    "rates": "Rates of the coordinates", "kinetic": "Kinetic energy", "potential": "Potential energy",
    "equations": "Equations of motion", "constraints": "Constraints", "definitions": "where", "M": "Mass matrix",
    "coriolis": "Coriolis and centrifugal forces", "gravity": "Gravity", "forces": "Forces of the model",
    "J": "Jacobian of the constraints", "gamma": "Accelerations of the constraints, J v̇ + γ = 0", "momentum": "Momenta",
}  # fmt: skip
"""Parts that `latex` can be asked for."""
READ = ("rates", "kinetic", "potential", "momentum", "equations", "constraints", "definitions")
"""Parts it gives where nothing is asked for."""


@dataclass(frozen=True, repr=False)
class EquationsOfMotion:
    """Equations of motion of a model: M v̇ + coriolis + gravity = τ + forces + Jᵀλ, J v̇ + γ = 0."""

    name: str
    form: str
    parts: dict[str, sp.Matrix]
    """M, coriolis, gravity, forces, kinetic, potential, rates; with constraints residuals, speeds, J, gamma; of the form
    "hamilton" momentum and momentum rates."""
    symbols: dict[str, list[sp.Symbol]]
    """q, v, a (v̇), tau, lambda, p, t, and the parameters in their order."""
    parameters: dict[str, float]
    """Parameters that are letters, with their values in the model."""
    definitions: list[tuple[sp.Symbol, sp.Expr]]
    """Named subexpressions, each of those before it."""
    simplified: bool
    operations: int
    """Operations in the formulas."""
    notes: list[str]
    _written: dict[sp.Symbol, Written] = field(default_factory=dict)

    def sympy(self) -> dict[str, Any]:
        """Matrices, symbols by the names of q, v, a, tau, lambda, t, `parameters` by their names in the model, `definitions`."""
        own = {"parameters": dict(zip(self.parameters, self.symbols["parameters"], strict=True)), "definitions": self.definitions}
        scalars = {name: self.parts[name][0] for name in ("kinetic", "potential")}
        return {**self.parts, **scalars, **self.symbols, **own}

    def latex(self, part: str = "") -> str:
        """Lines of LaTeX, one below the other, without dollars: everything, or one part: "equations", "kinetic", "M" …"""
        lines = self._lines(part)
        if not lines:
            return ""
        return "\\begin{aligned}\n" + " \\\\\n".join(" &= ".join(self._typeset(LATEX, x)) for x in lines) + "\n\\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"

    def python(self) -> str:
        """A module of Python with the functions `equations`, which returns the matrices, and `forward`, which solves them."""
        return python_text(self)

    def html(self, path: str | PathLike[str] | None = None) -> str | Path:
        """A page that opens offline in any browser; written to a file where a path is given."""
        sections = [(TITLES[part], ["<mo>=</mo>".join(self._typeset(MATHML, x)) for x in self._lines(part)]) for part in TITLES]
        text = page(__package__, "page.html", figures={}, equations=self, sections=[x for x in sections if x[1]])
        return text if path is None else write_page(text, path)

    def summary(self) -> str:
        """One line: the form, sizes, operations."""
        n, m = len(self.symbols["v"]), len(self.symbols["lambda"])
        rows = f", {plural(m, 'constraint row')}" if m else ""
        how = "simplified" if self.simplified else "in named subexpressions, too long to simplify"
        return f"{self.name}: {self.form}, {plural(n, 'speed')}{rows}; {plural(self.operations, 'operation')}, {how}"

    def __repr__(self) -> str:
        return f"<EquationsOfMotion: {self.summary()}>"

    # --- lines ----------------------------------------------------------------------------------------------------------------
    def _typeset(self, style: Style, line: Line) -> tuple[str, str]:
        return sides(style, line, self._written)

    def _lines(self, part: str) -> list[Line]:
        if not part:
            return [line for one in READ for line in self._lines(one)]
        if part not in TITLES:
            raise MethodError(unknown(f"part {part!r}", part, TITLES, "parts"))
        parts, symbols = self.parts, self.symbols
        if part in ("kinetic", "potential"):
            return (
                [] if parts[part][0] == 0 else [([(sp.Symbol("T" if part == "kinetic" else "V"), None)], _terms(parts[part][0]))]
            )
        if part == "definitions":
            return [([(symbol, None)], _terms(x)) for symbol, x in self.definitions]
        if part == "rates":
            pairs = zip(symbols["rates of q"], parts["rates"], strict=True)
            return [([(symbol, None)], _terms(x)) for symbol, x in pairs if symbol != x]
        if part == "constraints":
            return [(_terms(x), [(sp.Integer(0), None)]) for name in ("residuals", "speeds") for x in parts.get(name, ())]
        if part == "momentum":
            return [([(p, None)], _terms(x)) for p, x in zip(symbols.get("p", ()), parts.get("momentum", ()), strict=False)]
        if part == "equations":
            return self._hamilton() if self.form == "hamilton" else [self._row(k) for k in range(len(symbols["v"]))]
        letter = {"coriolis": "c", "gravity": "g", "forces": "Q", "gamma": "gamma"}.get(part, part)
        found = parts.get(part)
        return [] if found is None or found.is_zero_matrix else [([(sp.Symbol(letter), None)], [(found, None)])]

    def _row(self, k: int) -> Line:
        parts, symbols = self.parts, self.symbols
        inertia = [(x, a) for x, a in zip(parts["M"].row(k), symbols["a"], strict=True) if x != 0]
        left = [*inertia, *(term for name in ("coriolis", "gravity") for term in _terms(parts[name][k], empty=True))]
        right = [(symbols["tau"][k], None), *_terms(parts["forces"][k], empty=True)]
        if "J" in parts:
            right += [(x, lam) for x, lam in zip(parts["J"].col(k), symbols["lambda"], strict=True) if x != 0]
        return left, right

    def _hamilton(self) -> list[Line]:
        rows = zip(
            self.symbols["rates of p"], self.symbols["tau"], self.parts["momentum rates"], self.parts["forces"], strict=True
        )
        return [([(p, None)], [(tau, None), *_terms(x, empty=True), *_terms(Q, empty=True)]) for p, tau, x, Q in rows]


def _terms(x: sp.Expr, empty: bool = False) -> list[tuple[sp.Expr, sp.Symbol | None]]:
    """The terms of a sum; of zero none, where that may be."""
    return [] if empty and x == 0 else [(term, None) for term in x.as_ordered_terms()]


def assembled(
    model: Model,
    form: str,
    graph: Graph,
    inputs: Mapping[str, Sequence[Symbol]],
    letters: Sequence[str],
    groups: Mapping[str, list[Number]],
    sums: list[Sum] | None,
    operations: int,
) -> EquationsOfMotion:
    """The equations of a model from the numbers of its graph, or from these as sums."""
    s, rows = model.structure, len(groups.get("gamma", ()))
    given = _Given()
    symbols = {"t": given([Written("t")]), "q": given(map(written, model.q_names))}
    speeds = {x.index: k for k, x in enumerate(inputs["v"])}
    moves = [speeds.get(x.index) if isinstance(x, Symbol) else None for x in groups["rates"]]
    """The speed that is the rate of each coordinate."""
    rate_of = {k: given.written[x].rate for k, x in zip(moves, symbols["q"], strict=True) if k is not None}
    symbols["v"] = given(rate_of.get(k) or written(name) for k, name in enumerate(model.v_names))
    symbols["a"] = given(given.written[x].rate for x in symbols["v"])
    own = [given([given.written[x].rate])[0] if k is None else symbols["v"][k] for k, x in zip(moves, symbols["q"], strict=True)]
    symbols["rates of q"] = own
    symbols["parameters"] = given(map(written, letters))
    symbols |= {"tau": given.numbered("tau", s.nv), "lambda": given.numbered("lambda", rows)}
    if form == "hamilton":
        symbols["p"] = given.numbered("p", s.nv)
        symbols["rates of p"] = given(given.written[x].rate for x in symbols["p"])
    keys = {f"{name}{k}": x for name in ("q", "v", "t") for k, x in enumerate(symbols[name])}
    keys |= {f"parameter{list(s.parameters).index(name)}": x for name, x in zip(letters, symbols["parameters"], strict=True)}
    book = Names(keys)
    if sums is None:
        where = {
            x.index: keys[f"{name}{k}"] for name, group in inputs.items() for k, x in enumerate(group) if f"{name}{k}" in keys
        }
        found = node_by_node(graph, [x for group in groups.values() for x in group], where, book)
    else:
        textbook = Textbook(sums[0].atoms, book, [key for key in keys if key.startswith("parameter")])
        found = [textbook.formula(x) for x in sums]
        operations = int(sum(sp.count_ops(x) for x in (*found, *(x for _, x in book.definitions))))
    parts, at = {}, 0
    for name, group in groups.items():
        width = s.nv if name in ("M", "J") else 1
        parts[name] = sp.Matrix(len(group) // width, width, found[at : at + len(group)])
        at += len(group)
    values = {name: model.parameters[name] for name in letters}
    notes = list(_notes(model, sums is not None))
    simplified = sums is not None
    return EquationsOfMotion(
        model.name, form, parts, symbols, values, book.definitions, simplified, operations, notes, given.written
    )


class _Given:
    """Symbols given to names, each with an identifier of its own, and how they are written."""

    def __init__(self) -> None:
        self.written: dict[sp.Symbol, Written] = {}
        self._taken = {"q", "v", "np", "math"}  # names of the Python code

    def __call__(self, names: Iterable[Written]) -> list[sp.Symbol]:
        return [self._symbol(name) for name in names]

    def numbered(self, letter: str, n: int) -> list[sp.Symbol]:
        return self(Written(letter, (str(k + 1),) if n > 1 else ()) for k in range(n))

    def _symbol(self, name: Written) -> sp.Symbol:
        found, k = name, 2
        while found.identifier in self._taken:
            found, k = name._replace(indices=(*name.indices, str(k))), k + 1
        self._taken.add(found.identifier)
        symbol = sp.Symbol(found.identifier, real=True)
        self.written[symbol] = name if name.identifier in ("q", "v", "np", "math") else found
        return symbol


def _notes(model: Model, simplified: bool) -> Iterable[str]:
    """Remarks that a reader needs beside the formulas."""
    if not simplified:
        yield "too long to simplify: subexpressions have names, and stand where they are computed"
    if len(model.structure.quaternions):
        yield "quaternions have length one; angular velocities are in the axes of the moved body, no rates of coordinates"
    rows = table_of(model).rows
    for k, row in enumerate(rows):
        yield f"λ{k + 1 if len(rows) > 1 else ''}: {row}"
