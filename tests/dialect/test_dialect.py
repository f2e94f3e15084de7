"""The kernels keep to their dialect, and the checker that says so sees every breach of it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import sharnir as sh
from sharnir.dialect.arithmetic import STEPPING, Options
from sharnir.dialect.compiler import compile_module
from sharnir.dialect.rules import check, check_all
from sharnir.kernels.tree import Tree

SOURCE = Path(sh.__file__).parent

GOOD = '''
"""A kernel that uses everything the dialect has."""

from typing import NamedTuple

from .algebra import add, get3
from ..dialect.arrays import Array
from ..dialect.ops import select, sqrt

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
        elif joints.kind[i] == FIRST:
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
    "'print' is not in the dialect": "print(x)",
    "'abs' is not among the functions of ops": "y = abs(x[0])",
    "'max' is not among the functions of ops": "y = max(x[0], 1.0)",
    "a function that calls itself": "y = kernel(tree, x, n)",
    "'nowhere' is not defined here": "y = nowhere(x[0])",
    "index 3 of a tuple of 3": "y = add((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))[3]",
    "an index depends on '0.5'": "y = x[0.5]",
    "an array that all lanes share is only read": "tree.mass[n] = 1.0",
    "2 indices into an array of 1 dimension": "y = x[n, 0]",
    "the group Tree has no 'weight'": "y = tree.weight[n]",
    "takes 2 arguments, got 1": "y = add(x[0])",
    "'len' is not in the dialect": "y = len(x)",
    "the operator Pow": "y = x[0] ** 2",
    "the operator MatMult": "y = x @ x",
    "the operator Invert": "y = ~n",
    "a comparison that is not one of numbers": "y = x is x",
    "only names and places of arrays": "x.y = 1.0",
    "an expression whose value is not used": "x[0]",
    "else after a loop": "for a in range(3):\n        pass\n    else:\n        pass",
    "a loop that does not run over a range": "for a in x:\n        pass",
    "a loop bound depends on 'x[0]'": "for a in range(x[0]):\n        pass",
    "a branch depends on 'x[0] > 0'": "if x[0] > 0:\n        pass",
    "a branch depends on 'tree.mass[n] > 0'": "if tree.mass[n] > 0:\n        pass",
    "a branch depends on 'n > 0.5'": "y = x[n] if n > 0.5 else 0.0",
    "a loop depends on 'y > 1'": "y = x[n]\n    while y > 1:\n        y = y - 1",
    "write a comparison": "if x[n]:\n        pass",
    "a branch depends on 'not (n > 0 or x[1] > 0)'": "y = x[n] if not (n > 0 or x[1] > 0) else x[0]",
}

UNCLEAR = {
    "one kind on one way, another on another": "if n > 0:\n        k = 1\n    if n > 1:\n        k = 0.5\n    y = k",
    "an array on one way, another on another": "if n > 0:\n        k = x\n    if n > 1:\n        k = tree.mass\n    y = k[0]",
    "left by a break before it changed": (
        "for i in range(n):\n        k = 1\n        if i > 2:\n            break\n        k = 0.5\n    y = k"
    ),
    "changed in a loop that may not run": (
        "for i in range(n):\n        k = 1\n    for i in range(n):\n        k = 0.5\n    y = k"
    ),
    "read in a loop before it changes": (
        "for i in range(n):\n        k = 1\n    for i in range(n):\n        y = k\n        k = 0.5"
    ),
    "read before it is assigned": "for i in range(n):\n        if i > 0:\n            y = FIRST\n        FIRST = 2.0",
}

REFUSED = {
    "`and` and `or` join conditions": "k = n or 5",
    "a chain of comparisons that loads": "if 0 < n < tree.carrier[n]:\n        y = 0.0",
    "a negative index": "y = x[-1]",
    "'select' takes 3 arguments, got 2": "y = select(x[0] > 0.0, x[0])",
    "returns a value, but not on every way to its end": "if n > 0:\n        return y\n    y = 1.0\n    add((y, y, y), (y, y, y))",
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
    "a function is imported under its own name": "from .algebra import add as plus\n",
    "a module holds numbers": "x = [1, 2]\n",
    "the only classes are NamedTuple groups": "class A:\n    pass\n",
    "a group holds arrays": "from typing import NamedTuple\n\n\nclass A(NamedTuple):\n    n: int = 0\n",
    "a decorator": "def f():\n    return 0\n\n\n@f\ndef g(x):\n    return x\n",
    "no defaults": "def f(x, y=0.0):\n    return x\n",
    "no keywords": "def f(x, *, y):\n    return x\n",
    "no *args": "def f(*x):\n    return x\n",
    "'é' is not ASCII": "def f(é):\n    return é\n",
    "groups of arrays, constants and imports": "async def f(x):\n    return x\n",
    "stand at the top of a module": "for i in range(3):\n    pass\n",
}


def written(folder: Path, text: str, name: str = "sample.py", package: str = "kernels") -> Path:
    path = folder / package / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


HEAD = """import math
from typing import NamedTuple

from sharnir.dialect.arrays import Array, IntegerArray
from sharnir.dialect.ops import select, sin
from sharnir.kernels.algebra import add

FIRST = 99.0


class Data(NamedTuple):
    x: Array["n"]
    at: IntegerArray[1]


def entry(tree, d):
    d.x[0] = kernel(tree, d.x, d.at[0])


"""
FIRST_LINE = HEAD.count("\n") + 1


def function(body: str) -> str:
    return f"{HEAD}def kernel(tree, x, n):\n    y = x[n]\n    {body}\n    return y\n"


LANES = Options(lanes=4)


def compiled(path: Path, options: Options = LANES) -> str:
    spec = importlib.util.spec_from_file_location(f"sample_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return compile_module(module.entry, (Tree, module.Data), options, shared=1)


def test_the_kernels_the_programs_and_the_integrators_keep_to_the_form_of_the_dialect():
    places = [*SOURCE.rglob("kernels")]
    assert len(places) == 6 and check_all(*places) == []


def test_everything_the_dialect_allows_is_let_through(tmp_path):
    assert check(written(tmp_path, GOOD)) == []


@pytest.mark.parametrize("what", BAD_FUNCTIONS)
def test_what_a_kernel_must_not_do_is_refused_with_file_line_and_rule(what, tmp_path):
    path = written(tmp_path, function(BAD_FUNCTIONS[what]))
    with pytest.raises(sh.DialectError) as caught:
        compiled(path)
    message = str(caught.value)
    assert what in message, message
    if "takes 2 arguments" not in what:  # that is a fault of the call, said of the function
        assert message.startswith(f"{path}:"), message
        assert FIRST_LINE <= int(message.removeprefix(f"{path}:").split(":")[0]) <= FIRST_LINE + 8, message


@pytest.mark.parametrize("how", INTEGERS_THAT_STOP_BEING_SO)
def test_a_name_is_an_integer_only_as_long_as_it_holds_one(how, tmp_path):
    with pytest.raises(sh.DialectError, match=r"sample\.py:\d+: .*('k|made of numbers|2 names for an array)"):
        compiled(written(tmp_path, function(INTEGERS_THAT_STOP_BEING_SO[how])))


@pytest.mark.parametrize("how", UNCLEAR)
def test_a_name_means_one_thing_where_it_is_read(how, tmp_path):
    with pytest.raises(sh.DialectError, match=r"sample\.py:\d+: '(k|FIRST)' (has different|is)"):
        compiled(written(tmp_path, function(UNCLEAR[how])))


@pytest.mark.parametrize("what", REFUSED)
def test_what_would_not_be_what_python_does_is_refused(what, tmp_path):
    text = function(REFUSED[what])
    text = text.removesuffix("    return y\n") if "every way" in what else text
    with pytest.raises(sh.DialectError, match=rf"sample\.py:\d+: .*{what}"):
        compiled(written(tmp_path, text))


@pytest.mark.parametrize("what", BAD_MODULES)
def test_what_must_not_stand_at_the_top_of_a_module_is_reported(what, tmp_path):
    messages = check(written(tmp_path, BAD_MODULES[what]))
    assert any(what in m for m in messages), messages


def test_only_code_that_is_never_traced_looks_at_numbers(tmp_path):
    path = written(tmp_path, function("if abs(x[0]) > 0.5:\n        y = 0.0"))
    with pytest.raises(sh.DialectError, match="abs"):
        compiled(path)
    with pytest.raises(sh.DialectError, match=r"a branch depends on 'x\[0\] > 0.5', which is made of numbers: use select"):
        compiled(written(tmp_path, function("if x[0] > 0.5:\n        y = 0.0"), "another.py"), Options())  # one lane is no excuse
    assert "define" in compiled(path, STEPPING)
    with pytest.raises(sh.DialectError, match=r"a call of 'x.copy'"):  # and is bound by every other rule
        compiled(written(tmp_path, function("y = x.copy()"), "third.py"), STEPPING)


def test_a_closure_is_no_function_of_the_dialect():
    scale = 2.0

    def kernel(d):
        d.x[0] = scale * d.x[0]

    with pytest.raises(sh.DialectError, match=r"test_dialect\.py:\d+: 'kernel' is no function of a module: closures"):
        compile_module(kernel, (Tree,), Options())


def test_programs_may_import_kernels_and_kernels_must_not_import_programs(tmp_path):
    assert check(written(tmp_path, "from ..kernels.algebra import add\nfrom .inputs import State\n", package="programs")) == []
    assert check(written(tmp_path, "from ..programs.inputs import State\n"))
    assert check(written(tmp_path, "from ..model.model import Model\n", package="programs"))


def test_the_rules_run_as_a_module_and_say_with_the_exit_code_what_they_found(tmp_path):
    command = [sys.executable, "-m", "sharnir.dialect.rules"]
    assert subprocess.run([*command, SOURCE / "kernels", SOURCE / "programs" / "kernels"], check=False).returncode == 0
    bad = written(tmp_path, function("raise x").replace("import math\n", ""))
    found = subprocess.run([*command, bad], capture_output=True, text=True, check=False)
    assert found.returncode == 1 and f"sample.py:{FIRST_LINE + 1}: raise" in found.stdout, found
