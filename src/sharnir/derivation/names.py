"""Names of a model as readers and code want them: theta1 is θ₁, pole.com.z is c with the index z, pole."""

from __future__ import annotations

import keyword
import re
from html import escape
from typing import NamedTuple

from sympy.printing.latex import tex_greek_dictionary
from sympy.printing.pretty.pretty_symbology import greek_unicode

FIELDS = {"mass": "m", "inertia": "I", "com": "c", "gravity": "g", "stiffness": "k", "damping": "d", "length": "l"}
"""Letters for numbers of a model that are parameters by their paths."""
COMPONENTS = {f"{letter}{x}": (name, x) for letter, name in (("w", "omega"), ("v", "v"), ("q", "q")) for x in "wxyz"}
"""Coordinates and speeds that are components of a vector or a quaternion."""


class Written(NamedTuple):
    """A letter or a word, its indices, and how often it is differentiated in time."""

    base: str
    indices: tuple[str, ...] = ()
    dots: int = 0

    @property
    def rate(self) -> Written:
        return self._replace(dots=self.dots + 1)

    @property
    def identifier(self) -> str:
        out = re.sub(r"\W+", "_", "_".join([self.base, *self.indices])).strip("_")
        out = out if out.isidentifier() and not keyword.iskeyword(out) else f"{out}_" if keyword.iskeyword(out) else f"x_{out}"
        return out + ("", "_dot", "_ddot")[self.dots]

    @property
    def latex(self) -> str:
        base = _latex(self.base)
        base = f"\\{'d' * self.dots}ot{{{base}}}" if self.dots else base
        return f"{base}_{{{','.join(map(_latex, self.indices))}}}" if self.indices else base

    @property
    def mathml(self) -> str:
        base = _mathml(self.base)
        base = f'<mover accent="true">{base}<mo>{"˙¨"[self.dots - 1]}</mo></mover>' if self.dots else base
        return f"<msub>{base}<mrow>{'<mo>,</mo>'.join(map(_mathml, self.indices))}</mrow></msub>" if self.indices else base


def written(name: str) -> Written:
    """A name of the model, with a dot between joint and coordinate, or along a path."""
    words = name.split(".")
    last = words[-1]
    if len(words) > 1 and (letters := [word for word in words if word == "gravity"] or [x for x in words[1:] if x in FIELDS]):
        words.remove(letters[0])
        return Written(FIELDS[letters[0]], tuple(reversed(words)))
    if len(words) > 1 and last in COMPONENTS:
        base, component = COMPONENTS[last]
        return Written(base, (component, *words[:-1]))
    found = re.fullmatch(r"([^\W\d_]+)[ _]?(\d+)", last)
    if (
        found is None
        and (short := re.fullmatch(r"([^\W\d_]+)_(\w+)", last))
        and (len(short[1]) == 1 or short[1] in greek_unicode)
    ):
        found = short
    base, *own = found.groups() if found else (last,)
    return Written(base, (*own, *words[:-1]))


def _latex(word: str) -> str:
    if word in greek_unicode:
        return str(tex_greek_dictionary.get(word, f"\\{word}"))
    upright = re.sub("[^A-Za-z0-9-]+", r"\\ ", word)
    return word if len(word) == 1 or word.isdigit() else f"\\mathrm{{{upright}}}"


def _mathml(word: str) -> str:
    kind = "mn" if word.isdigit() else "mi"
    return f"<{kind}>{escape(greek_unicode.get(word, word))}</{kind}>"
