"""Names of a model as readers and code want them: theta1 is θ₁, pole.com.z is c with the index z, pole."""

from __future__ import annotations

import keyword
import re
from typing import NamedTuple

GREEK = frozenset(
    {
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
        "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi",
        "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
    }
)  # fmt: skip
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
        base = latex_word(self.base)
        base = f"\\{'d' * self.dots}ot{{{base}}}" if self.dots else base
        return f"{base}_{{{','.join(map(latex_word, self.indices))}}}" if self.indices else base


def written(name: str) -> Written:
    """A name of the model, with a dot between joint and coordinate, or along a path."""
    *owners, last = name.split(".")
    if owners:
        letters = [k for k, word in enumerate([*owners, last]) if (k and word in FIELDS) or word == "gravity"]
        if letters:
            words = [*owners, last]
            return Written(FIELDS[words.pop(letters[0])], tuple(reversed(words)))
        base, *more = COMPONENTS.get(last) or written(last)[:2]
        own = tuple(more) if last in COMPONENTS else more[0]
        return Written(base, (*own, *owners))
    found = re.fullmatch(r"([^\W\d_]+)[ _]?(\d+)", name)
    if found is None and (short := re.fullmatch(r"([^\W\d_]+)_(\w+)", name)) and (len(short[1]) == 1 or short[1] in GREEK):
        found = short
    return Written(found[1], (found[2],)) if found else Written(name)


def latex_word(word: str) -> str:
    if word in GREEK:
        return f"\\{word}"
    upright = re.sub("[^A-Za-z0-9-]+", r"\\ ", word)
    return word if len(word) == 1 or word.isdigit() else f"\\mathrm{{{upright}}}"
