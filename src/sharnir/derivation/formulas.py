"""Sums and graphs as formulas of SymPy: sums as a textbook would write them, large graphs node by node under names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.simplify.fu import TR6, TR8, TR10i

from ..trace import Graph, Number, Symbol, needed
from .exact import Coefficient, exact
from .sums import ONE, Atoms, Monomial, Sum, Terms, joined

NAMED = 6
"""Operations of a root or a function beyond which it gets a name."""
CONTRACTED, FOURIER = 24, 8
"""Terms up to which angle sums are looked for, and multiples of angles."""
SHORT = 3000
"""Denominators beyond which a ratio is written as a decimal number."""
OPERATIONS: dict[str, Any] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "neg": lambda a: -a, "sum": lambda a: a, "sqrt": sp.sqrt, "sin": sp.sin, "cos": sp.cos, "tan": sp.tan, "asin": sp.asin,
    "acos": sp.acos, "atan": sp.atan, "atan2": sp.atan2, "exp": sp.exp, "log": sp.log, "pow": sp.Pow, "sinh": sp.sinh,
    "cosh": sp.cosh, "tanh": sp.tanh, "abs": sp.Abs, "hypot": lambda a, b: sp.sqrt(a * a + b * b), "floor": sp.floor,
    "mod": lambda a, b: a - b * sp.floor(a / b),
    "less": lambda a, b: sp.Piecewise((1, a < b), (0, True), evaluate=False),
    "less_equal": lambda a, b: sp.Piecewise((1, a <= b), (0, True), evaluate=False),
    "select": lambda c, a, b: sp.Piecewise((a, _condition(c)), (b, True)),
}  # fmt: skip


def _condition(x: sp.Expr) -> Any:
    """The comparison of which a number, 1 or 0, is the value; else whether it is not zero."""
    compared = isinstance(x, sp.Piecewise) and [y.expr for y in x.args] == [1, 0]
    return x.args[0].cond if compared else sp.Ne(x, 0)


class Names:
    """Symbols by their names, and names for long expressions, in the order in which they can be evaluated."""

    def __init__(self, symbols: Mapping[str, sp.Symbol]) -> None:
        self.symbols, self.definitions = symbols, list[tuple[sp.Symbol, sp.Expr]]()
        self._tables: dict[str, sp.Function] = {}
        taken = {x.name for x in symbols.values()}
        self._letter = next(x for x in ("s", "w", "named") if not any(name.startswith(f"{x}_") for name in taken))

    def named(self, x: sp.Expr) -> sp.Symbol:
        symbol = sp.Symbol(f"{self._letter}_{len(self.definitions) + 1}", real=True)
        self.definitions.append((symbol, x))
        return symbol

    def applied(self, kind: Any, args: Sequence[sp.Expr]) -> sp.Expr:
        """An operation; a table is a function with a name."""
        if isinstance(kind, str):
            return OPERATIONS[kind](*args)
        key = f"{kind.name} {kind.constants.digest} {getattr(kind, 'column', '')}"
        table = self._tables.setdefault(key, sp.Function(f"table_{len(self._tables) + 1}", real=True))
        return table(*args)


def number(x: Coefficient) -> sp.Expr:
    """A number of SymPy: a ratio where one is meant."""
    x = exact(x) if isinstance(x, float) else x
    return sp.Float(x, 17) if isinstance(x, float) else sp.Rational(x.numerator, x.denominator)


# --- sums -------------------------------------------------------------------------------------------------------------------
class Textbook:
    """Sums of some atoms as formulas: factors that all terms share in front, terms collected by speeds, sines and cosines."""

    def __init__(self, atoms: Atoms, names: Names, constant: Iterable[str]) -> None:
        """`constant`: names of the symbols that do not change in time."""
        self.atoms, self.names, self.constant = atoms, names, frozenset(constant)
        self._formulas: dict[int, sp.Expr] = {}

    def formula(self, x: Sum) -> sp.Expr:
        groups: dict[Monomial, dict[Monomial, Coefficient]] = {}
        for monomial, c in x.terms.items():
            turns = tuple((k, power) for k, power in monomial if power > 0 and self.atoms.every[k].kind in ("sin", "cos"))
            rest = joined(monomial, _inverse(turns))
            groups.setdefault(rest, {})[turns] = c
        shared = _shared(groups)
        collected: dict[sp.Expr, dict[Monomial, Terms]] = {}
        for rest, polynomial in groups.items():
            rest = joined(rest, _inverse(shared))
            for c, product in self._shortest(polynomial):
                moving = tuple((k, power) for k, power in rest if not self._is_constant(k))
                collected.setdefault(product, {}).setdefault(moving, {})[joined(rest, _inverse(moving))] = c
        terms = [term for product, inside in collected.items() for term in self._with_turns(product, inside)]
        common = set.intersection(*(set(sp.Mul.make_args(term)) for term in terms)) if len(terms) > 1 else set()
        total = sp.Add(*(term / sp.Mul(*common) for term in terms)) if common else sp.Add(*terms)
        return sp.Mul(self._product(shared), *common, total)

    def _with_turns(self, product: sp.Expr, inside: dict[Monomial, Terms]) -> Iterator[sp.Expr]:
        """Terms that share a product of sines and cosines: together where there is one."""
        if product == 1 or len(inside) == 1:
            yield from (self._factored(c) * self._product(moving) * product for moving, c in inside.items())
            return
        shared = _shared([joined(moving, still) for moving, c in inside.items() for still in c])
        moved, held = (tuple(x for x in shared if self._is_constant(x[0]) == held) for held in (False, True))
        terms = []
        for moving, c in inside.items():
            less = {joined(still, _inverse(held)): x for still, x in c.items()}
            terms.append(self._factored(less) * self._product(joined(moving, _inverse(moved))))
        yield self._product(shared) * _sum_of(terms) * product

    def _shortest(self, turns: Terms) -> Iterator[tuple[Coefficient, sp.Expr]]:
        """A polynomial in sines and cosines in as few terms as it can be written with: (coefficient, product)."""
        if turns.keys() == {ONE}:
            yield turns[ONE], sp.Integer(1)
            return
        size = max(map(abs, turns.values()))
        ways = [sp.Add(*(sp.Mul(number(c), self._product(m)) for m, c in turns.items()))]
        if len(turns) > 1:
            ways.append(sp.expand(TR6(ways[0])))
            ways += [_contracted(way) for way in ways]
            if len(turns) <= FOURIER:
                ways.append(sp.expand(TR8(ways[0])))
        best = min(ways, key=lambda way: (len(sp.Add.make_args(way)), sp.count_ops(way)))
        for term in sp.Add.make_args(best):
            c, product = term.as_coeff_Mul()
            found = Fraction(c.p, c.q) if isinstance(c, sp.Rational) else float(c)
            if abs(found) > 1e-15 * size:
                yield found, product

    def _factored(self, terms: Terms) -> sp.Expr:
        """A polynomial in constants: the one that most terms have is taken out of these, and so on."""
        count = Counter(k for monomial in terms for k, power in monomial if power > 0)
        degree = Counter({k: sum(dict(monomial).get(k, 0) for monomial in terms) for k in count})
        best = max(count, key=lambda k: (count[k], degree[k], -k), default=None)
        if best is None or count[best] < 2:
            return _sum_of([sp.Mul(number(c), self._product(m)) for m, c in terms.items()])
        having = {joined(m, ((best, -1),)): c for m, c in terms.items() if dict(m).get(best, 0) > 0}
        others = {m: c for m, c in terms.items() if dict(m).get(best, 0) <= 0}
        taken = self._of(best) * self._factored(having)
        return _sum_of([taken, *sp.Add.make_args(self._factored(others))]) if others else taken

    def _product(self, monomial: Monomial) -> sp.Expr:
        return sp.Mul(*(self._of(k) ** power for k, power in monomial))

    def _is_constant(self, k: int) -> bool:
        kind, args = self.atoms.every[k]
        return args[0] in self.constant if kind == "symbol" else kind == "sqrt" and not any(args[0].terms)

    def _of(self, k: int) -> sp.Expr:
        if k not in self._formulas:
            kind, args = self.atoms.every[k]
            if kind == "symbol":
                found = self.names.symbols[args[0]]
            elif kind == "number":
                found = sp.sympify(args[0])
            else:
                found = self.names.applied(kind, [self.formula(x) for x in args])
                if sp.count_ops(found) > NAMED and kind not in ("less", "less_equal", "sin", "cos"):
                    found = self.names.named(found)
            self._formulas[k] = found
        return self._formulas[k]


def _contracted(x: sp.Expr) -> sp.Expr:
    """A sum with sines and cosines of sums of angles, found among terms whose coefficients differ at most in sign."""
    alike: dict[sp.Expr, list[sp.Expr]] = {}
    for term in sp.Add.make_args(x):
        c, product = term.as_coeff_Mul()
        alike.setdefault(abs(c), []).append(product if c > 0 else -product)
    return sp.Add(*(c * (TR10i(sp.Add(*y)) if 1 < len(y) <= CONTRACTED else sp.Add(*y)) for c, y in alike.items())).expand()


def _inverse(monomial: Monomial) -> Monomial:
    return tuple((k, -power) for k, power in monomial)


def _shared(monomials: Iterable[Monomial]) -> Monomial:
    """The product that divides all of them."""
    first, *rest = (dict(m) for m in monomials) if monomials else ({},)
    return tuple((k, n) for k, power in first.items() if (n := min([power, *(m.get(k, 0) for m in rest)])) > 0)


def _sum_of(terms: Sequence[sp.Expr]) -> sp.Expr:
    """The sum with a simple ratio, and a sign, that all terms share in front."""
    total = sp.Add(*terms)
    if not isinstance(total, sp.Add):
        return total
    content, rest = (sp.Integer(1), total) if total.has(sp.Float) else total.primitive()
    if content.q % 5 == 0 and any(abs(term.as_coeff_Mul()[0]) != 1 for term in rest.args):  # 0.1 (10 x + 7)
        content, rest = sp.Integer(1), total
    if all(term.could_extract_minus_sign() for term in rest.args):
        content, rest = -content, -rest
    return rest if content == 1 else sp.Mul(content, rest, evaluate=False)


# --- graphs -----------------------------------------------------------------------------------------------------------------
def node_by_node(graph: Graph, outputs: Sequence[Number], inputs: Mapping[int, sp.Symbol], names: Names) -> list[sp.Expr]:
    """Outputs of a graph, every node that is used more than once under a name; nothing is simplified."""
    program = needed(graph, outputs)
    uses = Counter(k for index in program if graph.nodes[index][0] not in ("input", "const") for k in graph.nodes[index][1:])
    uses.update(x.index for x in outputs if isinstance(x, Symbol))
    found: dict[int, sp.Expr] = {}
    for index in program:
        name, *args = graph.nodes[index]
        if name == "input":
            found[index] = inputs[index]
        elif name == "const":
            found[index] = number(args[0])
        else:
            x = names.applied(name, [found[k] for k in args])
            found[index] = names.named(x) if uses[index] > 1 and name not in ("neg", "less", "less_equal") and x.args else x
    return [found[x.index] if isinstance(x, Symbol) else number(float(x)) for x in outputs]
