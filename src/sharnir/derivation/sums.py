"""Sums of products of atoms: numbers on which a graph becomes a polynomial in sines, cosines, speeds and parameters.

Equal sums have equal terms: sin² is always 1 − cos², sines and cosines of sums of angles are those of single angles, a quaternion
has length one. What is no polynomial (a root, a table, a quotient by a sum) is an atom itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from ..trace import Number
from ..trace.operations import Operators
from .exact import Coefficient, added, exact, root

Monomial: TypeAlias = tuple[tuple[int, int], ...]
"""(atom, power), by atoms in their order."""
Terms: TypeAlias = dict[Monomial, Coefficient]
ONE: Monomial = ()
MULTIPLE = 4
"""Sines of more than so many times an angle are not written by those of the angle."""


class TooLong(Exception):
    """More terms would be multiplied than a reader waits for."""


class Atom(NamedTuple):
    """`kind`: "symbol", which has a name; an operation or a lookup of other sums."""

    kind: Any
    args: tuple[Any, ...]


class Atoms:
    """All atoms of one derivation, in the order they appeared, and the squares of those that have a rule."""

    def __init__(self, limit: int) -> None:
        """`limit`: how many products of terms may be formed."""
        self.every: list[Atom] = []
        self.squares: dict[int, Terms] = {}
        self._left = limit
        self._numbers: dict[Any, int] = {}

    def number(self, kind: Any, *args: Any) -> int:
        """The atom of an operation on sums, or of a name."""
        key = (kind, *(tuple(sorted(x.terms.items())) if isinstance(x, Sum) else x for x in args))
        if key not in self._numbers:
            self._numbers[key] = len(self.every)
            self.every.append(Atom(kind, args))
        return self._numbers[key]

    def atom(self, kind: Any, *args: Any) -> Sum:
        return Sum(self, {((self.number(kind, *args), 1),): Fraction(1)})

    def quaternion(self, names: Sequence[str]) -> None:
        """Symbols whose squares add up to one."""
        first, *rest = (self.number("symbol", name) for name in names)
        self.squares[first] = {ONE: Fraction(1), **{((x, 2),): Fraction(-1) for x in rest}}

    def sum(self, x: Number) -> Sum:
        """Any number as a sum."""
        if isinstance(x, Sum):
            return x
        found = exact(float(x))
        if not math.isfinite(found):
            return self.atom("number", str(found))
        if isinstance(found, float) and (surd := root(found)):
            return self.sqrt(self.sum(surd[1])) * Sum(self, {ONE: surd[0]})
        return Sum(self, {ONE: found} if found else {})

    def sqrt(self, x: Sum) -> Sum:
        k = self.number("sqrt", x)
        self.squares.setdefault(k, x.terms)
        return Sum(self, {((k, 1),): Fraction(1)})

    def product(self, a: Terms, b: Terms) -> Terms:
        self._left -= len(a) * len(b)
        if self._left < 0:
            raise TooLong
        out: Terms = {}
        for m, x in a.items():
            for n, y in b.items():
                self._put(out, joined(m, n), x * y)
        return out

    def _put(self, out: Terms, monomial: Monomial, x: Coefficient) -> None:
        """Add a term; a square that has a rule is written out."""
        for atom, power in monomial:
            if power >= 2 and atom in self.squares:
                for m, y in self.product({joined(monomial, ((atom, -2),)): x}, self.squares[atom]).items():
                    put(out, m, y)
                return
        put(out, monomial, x)

    def turn(self, angle: Sum) -> tuple[Sum, Sum]:
        """Cosine and sine of an angle, by those of the single angles in it."""
        out = self.sum(1.0), self.sum(0.0)
        for monomial, x in sorted(angle.terms.items()):
            times = abs(x.numerator) if monomial and isinstance(x, Fraction) and abs(x.numerator) <= MULTIPLE else 1
            one = self._single(monomial, x / times)
            for _ in range(times):
                out = out[0] * one[0] - out[1] * one[1], out[1] * one[0] + out[0] * one[1]
        return out

    def _single(self, monomial: Monomial, x: Coefficient) -> tuple[Sum, Sum]:
        if not monomial:
            return self.sum(math.cos(x)), self.sum(math.sin(x))
        c, s = (self.number(kind, Sum(self, {monomial: abs(x)})) for kind in ("cos", "sin"))
        self.squares[s] = {ONE: Fraction(1), ((c, 2),): Fraction(-1)}
        return Sum(self, {((c, 1),): Fraction(1)}), Sum(self, {((s, 1),): Fraction(1 if x > 0 else -1)})


class Sum(Operators):
    """A sum of terms; to code that computes with it a number like any other."""

    __slots__ = ("atoms", "terms")

    def __init__(self, atoms: Atoms, terms: Terms) -> None:
        self.atoms, self.terms = atoms, terms

    def apply(self, name: Any, *args: Number) -> Number:
        atoms = self.atoms
        first, *rest = (atoms.sum(x) for x in args)
        second = rest[0].terms if rest else {}
        match name:
            case "add" | "sub":
                out = dict(first.terms)
                for monomial, x in second.items():
                    put(out, monomial, x if name == "add" else -x)
                return Sum(atoms, out)
            case "neg":
                return Sum(atoms, {monomial: -x for monomial, x in first.terms.items()})
            case "mul":
                return Sum(atoms, atoms.product(first.terms, second))
            case "div" if len(second) == 1:
                ((monomial, x),) = second.items()
                return first * Sum(atoms, {tuple((k, -power) for k, power in monomial): 1 / x})
            case "div":
                return first * Sum(atoms, {((atoms.number("sum", rest[0]), -1),): Fraction(1)})
            case "cos" | "sin":
                return atoms.turn(first)[name == "sin"]
            case "sqrt":
                return atoms.sqrt(first)
        return atoms.atom(name, first, *rest)


def joined(m: Monomial, n: Monomial) -> Monomial:
    """The product of two monomials."""
    if not m or not n:
        return m or n
    powers = dict(m)
    for atom, power in n:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((atom, power) for atom, power in powers.items() if power))


def put(out: Terms, monomial: Monomial, x: Coefficient) -> None:
    """Add a term; one that becomes zero goes."""
    x = added(out[monomial], x) if monomial in out else x
    if x:
        out[monomial] = x
    else:
        out.pop(monomial, None)
