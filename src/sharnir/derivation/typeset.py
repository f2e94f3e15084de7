"""Lines of formulas as LaTeX and as MathML: both from the same terms, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias
from xml.dom.minidom import parseString

import sympy as sp
from sympy.printing.mathml import MathMLPresentationPrinter

from .names import Written, written

Term: TypeAlias = tuple[Any, sp.Symbol | None]
"""A formula or a matrix, and the symbol it is multiplied by."""
Line: TypeAlias = tuple[Sequence[Term], Sequence[Term]]
"""Both sides of an equation."""
SPACE = '<mspace width="0.16em"/>'
"""Between factors."""
SHOWN = 6
"""Digits of decimal numbers."""
SIMPLE, TENS = 12, (5, 10)
"""Largest denominator of a ratio that is shown as one; those that are shown as decimals all the same."""


class Style(NamedTuple):
    """How formulas and the signs between them are written."""

    formula: Callable[[Any, Mapping[sp.Symbol, Written]], str]
    plus: str
    minus: str
    times: str
    bracketed: str


class _MathML(MathMLPresentationPrinter):  # type: ignore[misc]
    """MathML with symbols in the words of the model."""

    def __init__(self, names: Mapping[sp.Symbol, Written]) -> None:
        super().__init__()
        self.names = names

    def _print_Symbol(self, x: sp.Symbol, style: str = "plain") -> Any:
        return parseString((self.names.get(x) or written(x.name)).mathml).documentElement


def _latex(x: Any, names: Mapping[sp.Symbol, Written]) -> str:
    own = {symbol: (names.get(symbol) or written(symbol.name)).latex for symbol in x.free_symbols}
    return str(sp.latex(x, symbol_names=own, fold_func_brackets=True))


def _mathml(x: Any, names: Mapping[sp.Symbol, Written]) -> str:
    return _MathML(names).doprint(x).replace("<mo>-</mo>", "<mo>−</mo>").replace("<mo>&InvisibleTimes;</mo>", SPACE)


LATEX = Style(_latex, " + ", " - ", " ", r"\left({}\right)")
MATHML = Style(_mathml, "<mo>+</mo>", "<mo>−</mo>", SPACE, "<mrow><mo>(</mo>{}<mo>)</mo></mrow>")


def side(style: Style, terms: Sequence[Term], names: Mapping[sp.Symbol, Written]) -> str:
    """A side of an equation as text."""
    out = ""
    for x, symbol in terms:
        x = _readable(x)
        negative = not isinstance(x, sp.MatrixBase) and x.could_extract_minus_sign()
        x = -x if negative else x
        text = style.formula(x, names)
        if symbol is not None:
            text = "" if x == 1 else style.bracketed.format(text) if isinstance(x, sp.Add) else text + style.times
            text += style.formula(symbol, names)
        out += (style.minus.lstrip() if negative else "") + text if not out else (style.minus if negative else style.plus) + text
    return out or style.formula(sp.Integer(0), names)


def _readable(x: Any) -> Any:
    """Ratios that are no simple ones as decimals, all decimals with few digits."""
    numbers = x.atoms(sp.Rational, sp.Float)
    plain = {y for y in numbers if y.is_Rational and y.q <= SIMPLE and y.q not in TENS}
    return x.xreplace({y: sp.Float(f"{float(y):.{SHOWN}g}", SHOWN) for y in numbers - plain})
