"""Lines of formulas as LaTeX and as MathML: both from the same terms, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import sympy as sp
from sympy.printing.mathml import MathMLPresentationPrinter
from sympy.printing.pretty.pretty_symbology import greek_unicode

from .names import GREEK, Written, written

Term: TypeAlias = tuple[Any, sp.Symbol | None]
"""A formula or a matrix, and the symbol it is multiplied by."""
Line: TypeAlias = tuple[Sequence[Term], Sequence[Term]]
"""Both sides of an equation."""
TIMES, SPACE = "<mo>&InvisibleTimes;</mo>", '<mspace width="0.16em"/>'
"""Between factors, as SymPy and as a page has it."""
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
        name = self.names.get(x) or written(x.name)
        out = self._word(name.base)
        if name.dots:
            out = self._element("mover", out, self._operator("˙¨"[name.dots - 1]))
            out.setAttribute("accent", "true")
        if name.indices:
            row = self._element("mrow", *(self._word(word) for word in ",".join(name.indices).replace(",", "\0,\0").split("\0")))
            out = self._element("msub", out, row)
        return out

    def _print_Pow(self, x: sp.Pow) -> Any:
        turned = isinstance(x.base, (sp.sin, sp.cos)) and x.exp.is_Integer and x.exp > 0
        return self._turn(x.base, self._print(x.exp)) if turned else super()._print_Pow(x)

    def _print_sin(self, x: sp.Expr) -> Any:
        return self._turn(x)

    _print_cos = _print_sin

    def _turn(self, x: sp.Expr, *power: Any) -> Any:
        """sin² θ; brackets only around an angle of several parts."""
        name = self._element("mi", self.dom.createTextNode(x.func.__name__))
        name = self._element("msup", name, *power) if power else name
        angle = self._print(x.args[0])
        if not x.args[0].is_Symbol:
            angle = self._element("mrow", self._operator("("), angle, self._operator(")"))
        return self._element("mrow", name, self._operator("\u2061"), angle)

    def _operator(self, text: str) -> Any:
        return self._element("mo", self.dom.createTextNode(text))

    def _word(self, word: str) -> Any:
        if word == ",":
            return self._operator(word)
        text = self.dom.createTextNode(greek_unicode[word] if word in GREEK else word)
        return self._element("mn" if word.isdigit() else "mi", text)

    def _element(self, name: str, *children: Any) -> Any:
        out = self.dom.createElement(name)
        for child in children:
            out.appendChild(child)
        return out


def _latex(x: Any, names: Mapping[sp.Symbol, Written]) -> str:
    own = {symbol: (names.get(symbol) or written(symbol.name)).latex for symbol in x.free_symbols}
    return str(sp.latex(x, symbol_names=own, fold_func_brackets=True))


def _mathml(x: Any, names: Mapping[sp.Symbol, Written]) -> str:
    return str(_MathML(names).doprint(x)).replace("<mo>-</mo>", "<mo>−</mo>").replace(TIMES, SPACE)


LATEX = Style(_latex, " + ", " - ", " ", r"\left({}\right)")
MATHML = Style(_mathml, "<mo>+</mo>", "<mo>−</mo>", SPACE, "<mrow><mo>(</mo>{}<mo>)</mo></mrow>")


def sides(style: Style, line: Line, names: Mapping[sp.Symbol, Written]) -> tuple[str, str]:
    """Both sides of an equation as text."""
    left, right = (_sum(style, side, names) for side in line)
    return left, right


def _sum(style: Style, terms: Sequence[Term], names: Mapping[sp.Symbol, Written]) -> str:
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
