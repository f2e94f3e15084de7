"""The form of the dialect: which statements and expressions it has, and what may stand at the top of a module.

`python -m sharnir.dialect.rules FILES` reports what breaks it as `file:line: what`. The compiler checks the same in every
function before it reads it. What takes more than form (a branch on a number, an index that is none) the compiler finds, which
knows what every name holds.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ARRAYS = {"Array", "IntegerArray", "ComplexArray"}
NOT_OF_THE_DIALECT = {"__init__.py"}
MAY_BE_IMPORTED = {"arrays", "dialect", "kernels", "memory", "ops", "program"}
BRANCHES_ON_NUMBERS = {
    "double_double.py",
    "integrate",
    "iterative.py",
    "partition.py",
    "singular_step.py",
}  # files and folders; never traced

STATEMENTS = (ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Return, ast.Expr, ast.Continue, ast.Break, ast.Pass)
EXPRESSIONS = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Call, ast.Name, ast.Attribute, ast.Subscript,
    ast.Tuple, ast.Constant,
)  # fmt: skip
ON_NUMBERS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
PLACES = "only names and places of arrays are assigned to"
COMPREHENSION = "a comprehension: write a loop into an array"
FORBIDDEN = {
    "FunctionDef": "a function within a function: write it in the module", "AsyncFunctionDef": "an async function",
    "ClassDef": "a class in a function", "Lambda": "a lambda: write a function of the module", "ListComp": COMPREHENSION,
    "SetComp": COMPREHENSION, "DictComp": COMPREHENSION, "GeneratorExp": COMPREHENSION, "Try": "try", "TryStar": "try",
    "Raise": "raise: failure is a value", "Assert": "assert: failure is a value", "With": "with", "Yield": "yield",
    "YieldFrom": "yield", "Global": "global", "Nonlocal": "nonlocal", "Import": "an import in a function",
    "ImportFrom": "an import in a function", "Delete": "del", "List": "a list: nothing is allocated", "Dict": "a dictionary",
    "Set": "a set", "JoinedStr": "a string", "Starred": "a starred value", "NamedExpr": "an assignment in an expression",
    "Slice": "a slice: take numbers one by one", "AnnAssign": "an annotation in a function", "Match": "match", "Await": "await",
}  # fmt: skip

Problem = tuple[int, str]


# --- functions ----------------------------------------------------------------------------------------------------------------
def function_problems(tree: ast.FunctionDef, numbers: bool = False) -> list[Problem]:
    """Line and rule of everything in a function that is not of the dialect. `numbers`: it may branch on numbers."""
    a = tree.args
    found = []
    if a.posonlyargs or a.kwonlyargs or a.vararg or a.kwarg or a.defaults or a.kw_defaults:
        found.append((tree.lineno, "parameters are plain: no defaults, no keywords, no *args"))
    if tree.decorator_list:
        found.append((tree.lineno, "a decorator"))
    for statement in tree.body[1:] if _docstring(tree.body[0]) else tree.body:
        found += _form(statement, numbers)
    return found


def _form(node: ast.AST, numbers: bool) -> Iterator[Problem]:
    kind, line = type(node).__name__, getattr(node, "lineno", 0)
    if kind in FORBIDDEN:
        yield line, FORBIDDEN[kind]
        return
    if isinstance(node, (ast.stmt, ast.expr)) and not isinstance(node, STATEMENTS + EXPRESSIONS):
        yield line, f"{kind} is not of the dialect"
        return
    problem = _special(node, numbers)
    if problem:
        yield line, problem
    for child in ast.iter_child_nodes(node):
        yield from _form(child, numbers)


def _special(node: ast.AST, numbers: bool) -> str:
    """The rule that a node by itself breaks; empty where it breaks none."""
    match node:
        case ast.Constant(value=value) if type(value) not in (int, float) and not (numbers and isinstance(value, bool)):
            what = "a string" if isinstance(value, (str, bytes)) else repr(value)
            return f"{what} as a value: values are numbers and tuples of numbers"
        case ast.Expr(value=value) if not isinstance(value, ast.Call) and type(value).__name__ not in FORBIDDEN:
            return "an expression whose value is not used"
        case ast.Call(keywords=[_, *_]):
            return "a keyword argument"
        case ast.Call(func=func) if not isinstance(func, ast.Name):
            return f"a call of {ast.unparse(func)!r}: functions are called by their names"
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if not isinstance(op, (*ON_NUMBERS, *((ast.Pow,) if numbers else ()))):
            power = ": write x * x" if isinstance(op, ast.Pow) else ""
            return f"the operator {type(op).__name__} is not of the dialect{power}"
        case ast.UnaryOp(op=ast.Invert()):
            return "the operator Invert is not of the dialect"
        case ast.Compare(ops=ops) if not all(isinstance(op, COMPARISONS) for op in ops):
            return "a comparison that is not one of numbers"
        case ast.Assign(targets=targets) if not all(map(_assignable, targets)):
            return PLACES
        case ast.AugAssign(target=target) if not _assignable(target):
            return PLACES
        case ast.For(orelse=[_, *_]) | ast.While(orelse=[_, *_]):
            return "else after a loop"
        case ast.For() if not (_is_range(node.iter) and isinstance(node.target, ast.Name)):
            return "a loop that does not run over a range"
    return ""


def _assignable(x: ast.expr) -> bool:
    parts = x.elts if isinstance(x, ast.Tuple) else [x]
    return all(isinstance(part, (ast.Name, ast.Subscript)) for part in parts)


def _is_range(x: ast.AST) -> bool:
    return isinstance(x, ast.Call) and isinstance(x.func, ast.Name) and x.func.id == "range"


def _docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


# --- modules ------------------------------------------------------------------------------------------------------------------
def check(path: Path | str) -> list[str]:
    """Violations of the form of the dialect in one file, as `file:line: what`; none for a clean one."""
    path = Path(path)
    module = ast.parse(path.read_text(encoding="utf-8"))
    numbers = bool({*path.resolve().parts[-3:]} & BRANCHES_ON_NUMBERS)
    found = {problem for node in module.body for problem in _top_level(node, numbers)}
    for node in ast.walk(module):
        for name in (getattr(node, part, None) for part in ("id", "arg", "attr", "name")):
            if isinstance(name, str) and not name.isascii():
                found.add((getattr(node, "lineno", 1), f"{name!r} is not ASCII"))
    return [f"{path}:{line}: {what}" for line, what in sorted(found)]


def _top_level(node: ast.stmt, numbers: bool) -> Iterator[Problem]:
    line = node.lineno
    if isinstance(node, ast.FunctionDef):
        yield from function_problems(node, numbers)
    elif isinstance(node, ast.ClassDef):
        yield from _group(node)
    elif isinstance(node, ast.ImportFrom):
        source = "." * node.level + (node.module or "")
        beyond = node.level > 1 and source.lstrip(".").split(".")[0] not in MAY_BE_IMPORTED
        if (not node.level and source != "typing") or beyond or node.module is None:
            yield line, f"an import from {source!r}: functions of the dialect import each other only"
        if any(alias.name == "*" or alias.asname is not None for alias in node.names):
            yield line, "a function is imported under its own name"
    elif isinstance(node, ast.Assign):
        names = {x.id for target in node.targets for x in ast.walk(target) if isinstance(x, ast.Name)}
        named_for_others = names <= {"__all__", "PROGRAMS"} or all(name.endswith(_TABLES) for name in names)
        if not named_for_others and not _constant(node.value):
            yield line, "a module holds numbers and tuples of numbers only"
    elif not _docstring(node):
        yield line, "only functions, groups of arrays, constants and imports stand at the top of a module"


_TABLES = ("_A", "_B", "_C", "_D", "_E", "_SIZES", "_TABLEAU")
"""Suffixes of coefficients of a method, which the Python side copies into arrays; compiled code refuses to read them."""


def _group(node: ast.ClassDef) -> Iterator[Problem]:
    """A NamedTuple of arrays and of other groups."""
    if [ast.unparse(base) for base in node.bases] != ["NamedTuple"] or node.keywords or node.decorator_list:
        yield node.lineno, f"class {node.name!r}: the only classes are NamedTuple groups of arrays"
    for part in node.body:
        field = isinstance(part, ast.AnnAssign) and part.value is None and _array_or_group(part.annotation)
        if not (field or isinstance(part, ast.Pass) or _docstring(part)):
            yield part.lineno, f"class {node.name!r}: a group holds arrays with their shapes and nothing else"


def _array_or_group(x: ast.expr) -> bool:
    return isinstance(x, ast.Name) or (isinstance(x, ast.Subscript) and isinstance(x.value, ast.Name) and x.value.id in ARRAYS)


def _constant(x: ast.expr) -> bool:
    """A number, an expression of numbers and constants, a tuple of them, or range(n)."""
    match x:
        case ast.Tuple(elts=parts):
            return all(map(_constant, parts))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _constant(operand)
        case ast.BinOp(left=left, right=right):
            return _constant(left) and _constant(right)
        case ast.Call(args=args) if _is_range(x):
            return all(map(_constant, args))
        case ast.Name(id=name):
            return name.isupper()
        case ast.Constant(value=value):
            return type(value) in (int, float)
    return False


def check_all(*places: Path | str) -> list[str]:
    """Violations in files, and in all files of folders."""
    files = [file for place in map(Path, places) for file in ([place] if place.is_file() else sorted(place.glob("*.py")))]
    return [message for file in files if file.name not in NOT_OF_THE_DIALECT for message in check(file)]


if __name__ == "__main__":
    messages = check_all(*sys.argv[1:])
    print("\n".join(messages) or "nothing breaks the dialect")
    sys.exit(1 if messages else 0)
