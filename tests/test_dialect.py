"""The kernels keep to their dialect, and the checker that says so sees every breach of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sharnir
from sharnir.kernels.checker import check, check_all, check_names

SOURCE = Path(sharnir.__file__).parent

GOOD = '''
"""A kernel that uses everything the dialect has."""

from typing import NamedTuple

from .algebra import add, get3
from .arrays import Array
from .ops import select, sqrt

FIRST, SECOND = 0, 1
SMALL = -1e-3


class Work(NamedTuple):
    """Two arrays."""

    x: Array["nb1", 3]          # with a comment: v̇
    n: Array["nv"]


def kernel(tree, joints, w, n, body):
    """Docstrings are strings and may say v̇."""
    total, k = 0.0, 0
    for i in range(1, tree.carrier.shape[0]):
        k = tree.carrier[i]
        if k > 0 and not joints.kind[i] == SECOND:
            x = get3(w.x, k)
            total = total + select(x[0] < 0.0, -x[0], x[0])
            w.n[i - 1] = sqrt(total) if i < n else SMALL
        elif w.moves[i] == 1:
            continue
    i = body
    while i > 0:
        i = tree.carrier[i]
    for c in range(n - 1, -1, -1):
        w.x[0, c] = w.x[0, c] / 2.0
    return add(get3(w.x, 0), (0.0, 0.0, total))
'''

BAD_FUNCTIONS = {
    "a function within a function": "def g():\n        return x\n    return g()",
    "a lambda": "g = lambda y: y",
    "a comprehension": "y = (a for a in x)",
    "a list: nothing is allocated": "y = [0.0, 1.0]",
    "a dictionary": "y = {}",
    "a set": "y = {1, 2}",
    "a slice": "y = x[1:3]",
    "a string as a value": "y = 'name'",
    "a string": "y = f'{n}'",
    "None as a value": "y = None",
    "True as a value": "y = True",
    "try": "try:\n        y = 1\n    except:\n        pass",
    "raise": "raise x",
    "assert": "assert n > 0",
    "with": "with x:\n        pass",
    "yield": "yield x",
    "global": "global n2",
    "an import in a function": "import math",
    "del": "del x",
    "match": "match n:\n        case 1:\n            pass",
    "an assignment in an expression": "y = (z := 1.0)",
    "an annotation in a function": "y: float = 1.0",
    "a keyword argument": "y = add(x, b=x)",
    "a starred value": "y = add(*x)",
    "a call of 'x.copy'": "y = x.copy()",
    "a call of 'np.zeros'": "y = np.zeros(3)",
    "a call of 'print'": "print(x)",
    "a call of 'abs', which is neither": "y = abs(x[0])",
    "a call of 'len'": "y = len(x)",
    "the operator Pow": "y = x[0] ** 2",
    "the operator MatMult": "y = x @ x",
    "the operator Invert": "y = ~n",
    "a comparison that is not one of numbers": "y = x is x",
    "only names and places of arrays": "x.y = 1.0",
    "an expression whose value is lost": "x[0]",
    "else after a loop": "for a in range(3):\n        pass\n    else:\n        pass",
    "a loop that does not run over a range": "for a in x:\n        pass",
    "a loop bound depends on 'x[0]'": "for a in range(x[0]):\n        pass",
    "a branch depends on 'x[0]'": "if x[0] > 0:\n        pass",
    "a branch depends on 'tree.mass[n]'": "if tree.mass[n] > 0:\n        pass",
    "a branch depends on '0.5'": "y = x[n] if n > 0.5 else 0.0",
    "a branch depends on 'y'": "y = x[n]\n    while y > 1:\n        y = y - 1",
    "a branch on 'n': write a comparison": "if n:\n        pass",
    "a branch depends on 'x[1]'": "y = add(x[n] if not (n > 0 or x[1] > 0) else x[0], x)",
    "not ASCII": "ω = 1.0",
}

INTEGERS_THAT_STOP_BEING_SO = {
    "after an assignment": "k = tree.carrier[n]\n    k = x[k]\n    if k > 0:\n        pass",
    "on one of two branches": "k = 0\n    if n > 0:\n        k = 0.5\n    if k > 0:\n        pass",
    "the second time round": "k = 0\n    for a in range(3):\n        if k > 0:\n            pass\n        k = x[a]",
    "by division": "k = n / 2\n    if k > 1:\n        pass",
    "by addition of a number": "k = 0\n    k += x[0]\n    if k > 1:\n        pass",
    "by unpacking": "k = 0\n    k, y = x\n    if k > 1:\n        pass",
    "at the head of a loop": "k = n\n    while k > 0:\n        k = x[k]",
}

BAD_MODULES = {
    "only functions, groups of arrays": "import math\n",
    "an import from 'numpy'": "from numpy import zeros\n",
    "an import from 'math'": "from math import sin\n",
    "an import from '..model.model'": "from ..model.model import Model\n",
    "a function keeps its own name": "from .algebra import add as plus\n",
    "a module keeps numbers": "x = [1, 2]\n",
    "the only classes are NamedTuple groups": "class A:\n    pass\n",
    "a group holds arrays": "from typing import NamedTuple\n\n\nclass A(NamedTuple):\n    n: int = 0\n",
    "a decorator": "def f():\n    return 0\n\n\n@f\ndef g(x):\n    return x\n",
    "no defaults": "def f(x, y=0.0):\n    return x\n",
    "no keywords": "def f(x, *, y):\n    return x\n",
    "no *args": "def f(*x):\n    return x\n",
    "'é' is not ASCII": "def f(é):\n    return é\n",
    "groups of arrays, constants and imports": "async def f(x):\n    return x\n",
    "stand at the top of a module": "for i in range(3):\n    pass\n",
    "the value of 'last_axis' depends on '0.5'": "def last_axis(tree, i):\n    return 0.5\n",
}


def written(folder: Path, text: str, name: str = "sample.py", package: str = "kernels") -> Path:
    path = folder / package / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def function(body: str) -> str:
    return f"from .algebra import add\n\n\ndef kernel(tree, x, n):\n    y = x[n]\n    {body}\n    return y\n"


def test_the_kernels_and_the_programs_keep_to_the_dialect():
    assert check_all() == []


def test_everything_the_dialect_allows_is_let_through(tmp_path):
    assert check(written(tmp_path, GOOD)) == []


@pytest.mark.parametrize("what", BAD_FUNCTIONS)
def test_what_a_kernel_must_not_do_is_reported_with_its_line(what, tmp_path):
    path = written(tmp_path, function(BAD_FUNCTIONS[what]))
    messages = check(path)
    assert messages and all(m.startswith(f"{path}:") for m in messages)
    assert any(what in m for m in messages), messages
    assert int(messages[0].removeprefix(f"{path}:").split(":")[0]) >= 6


@pytest.mark.parametrize("how", INTEGERS_THAT_STOP_BEING_SO)
def test_a_name_is_an_integer_only_as_long_as_it_holds_one(how, tmp_path):
    messages = check(written(tmp_path, function(INTEGERS_THAT_STOP_BEING_SO[how])))
    assert any("a branch depends on 'k'" in m for m in messages), messages


@pytest.mark.parametrize("what", BAD_MODULES)
def test_what_must_not_stand_at_the_top_of_a_module_is_reported(what, tmp_path):
    messages = check(written(tmp_path, BAD_MODULES[what]))
    assert any(what in m for m in messages), messages


def test_only_the_iterative_methods_look_at_numbers(tmp_path):
    text = function("if abs(x[0]) > 0.5:\n        y = 0.0")
    assert check(written(tmp_path, text, "iterative.py")) == []
    assert len(check(written(tmp_path, text, "direct.py"))) == 3  # abs, and a branch on two numbers
    assert len(check(written(tmp_path, text.replace(".algebra", "..kernels.algebra"), "iterative.py", "programs"))) == 3
    assert check(written(tmp_path, function("y = x.copy()"), "iterative.py"))  # and are bound by every other rule


def test_programs_may_import_kernels_and_kernels_must_not_import_programs(tmp_path):
    assert check(written(tmp_path, "from ..kernels.algebra import add\nfrom .inputs import State\n", package="programs")) == []
    assert check(written(tmp_path, "from ..programs.inputs import State\n"))
    assert check(written(tmp_path, "from ..model.model import Model\n", package="programs"))


def test_two_kernels_of_one_name_are_found_before_numba_takes_one_for_the_other(tmp_path):
    a = written(tmp_path, "SMALL = 1.0\n\n\ndef f(x):\n    return x\n", "a.py")
    b = written(tmp_path, "SMALL = 2.0\n\n\ndef f(x):\n    return x\n", "b.py")
    assert check_names([a]) == []
    assert check_names([a, b]) == [
        f"{b}:1: 'SMALL' is also defined in a.py, line 1",
        f"{b}:4: 'f' is also defined in a.py, line 4",
    ]


def test_the_checker_runs_as_a_module_and_says_with_its_exit_code_what_it_found(tmp_path):
    assert subprocess.run([sys.executable, "-m", "sharnir.kernels.checker"], check=False).returncode == 0
    for folder in ("kernels", "programs"):
        (tmp_path / folder).mkdir()
        for path in (SOURCE / folder).glob("*.py"):
            (tmp_path / folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    bad = written(tmp_path, function("raise x"))
    found = subprocess.run([sys.executable, "kernels/checker.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 1 and found.stdout.strip().endswith("sample.py:6: raise"), found
    bad.unlink()
