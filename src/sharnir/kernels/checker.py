"""The dialect of the kernels, enforced: `python -m sharnir.kernels.checker` reads every kernel and every program.

What the page of the dialect (README.md) allows is written out here; whatever is not allowed is reported as
`file:line: what`. The one rule that takes thought is the fourth, branches on integers only: each function is walked in
the order it runs, with the set of names that hold integers, and an integer is what cannot be anything else: a loop
variable, a field of the tree that is declared so, a shape, or a parameter that serves as an index or a loop bound (there
Python itself refuses a float).
"""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

INTEGER_FIELDS = {
    "tree": {"carrier", "last_child", "first", "above", "stretch", "owner", "speed", "geared"},
    "joints": {"start", "first", "reversed", "kind", "q_at", "v_at", "data_at", "axes", "coordinates"},
}
MARKS = {"moves"}               # work arrays that hold 0 or 1, whatever the numbers are
ARRAYS = {"Array", "IntegerArray"}
INTEGER_FUNCTIONS = {"last_axis"}   # answers with the number of an axis; checked where it is defined
INTEGER_PARAMETERS = {"kind", "so_far"}     # compared with named numbers of the joint stage, never an index
BUILTINS = {"range"}
NOT_KERNELS = {"kernels": {"__init__.py", "checker.py"}, "programs": {"__init__.py", "program.py"}}
NO_KERNELS = {"ops.py"}                     # the alphabet itself, as interpretation has it
LOOKS_AT_NUMBERS = {"iterative.py"}         # stops by looking at numbers, and takes their size; never traced

STATEMENTS = (ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Return, ast.Expr, ast.Continue, ast.Break, ast.Pass)
EXPRESSIONS = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Call, ast.Name, ast.Attribute, ast.Subscript,
    ast.Tuple, ast.Constant,
)
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
ON_INTEGERS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
FORBIDDEN = {
    "FunctionDef": "a function within a function", "AsyncFunctionDef": "an async function", "ClassDef": "a class in a function",
    "Lambda": "a lambda", "ListComp": "a comprehension", "SetComp": "a comprehension", "DictComp": "a comprehension",
    "GeneratorExp": "a comprehension", "Try": "try", "TryStar": "try", "Raise": "raise", "Assert": "assert", "With": "with",
    "Yield": "yield", "YieldFrom": "yield", "Global": "global", "Nonlocal": "nonlocal", "Import": "an import in a function",
    "ImportFrom": "an import in a function", "Delete": "del", "List": "a list: nothing is allocated", "Dict": "a dictionary",
    "Set": "a set", "JoinedStr": "a string", "Starred": "a starred value", "NamedExpr": "an assignment in an expression",
    "Slice": "a slice: take numbers one by one", "AnnAssign": "an annotation in a function", "Match": "match", "Await": "await",
}


def check(path: Path | str) -> list[str]:
    """What breaks the dialect in one file, as `file:line: what`; nothing for a clean one."""
    return [f"{path}:{line}: {what}" for line, what in sorted(_File(Path(path)).problems())]


def check_all() -> list[str]:
    """The same for every kernel and every program, and for the module Numba makes of all of them."""
    here = Path(__file__).parent
    files = [
        path
        for folder in (here, here.parent / "programs")
        for path in sorted(folder.glob("*.py"))
        if path.name not in NOT_KERNELS[folder.name]
    ]
    return [message for path in files for message in check(path)] + check_names(files)


def check_names(files: Iterable[Path]) -> list[str]:
    """Numba sees all kernels in one module: a function or a constant must not bear the name of another file's."""
    found: dict[str, tuple[Path, int]] = {}
    messages = []
    for path in files:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [node.name] if isinstance(node, ast.FunctionDef) else _assigned(node) - {"PROGRAMS", "__all__"}
            for name in names:
                if name in found:
                    other, line = found[name]
                    messages.append(f"{path}:{node.lineno}: {name!r} is also defined in {other.name}, line {line}")
                found[name] = (path, node.lineno)
    return messages


def _assigned(node: ast.stmt) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return {x.id for target in targets for x in ast.walk(target) if isinstance(x, ast.Name)}


class _File:
    """One module: what stands at its top level, then every function."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.in_programs = path.parent.name == "programs"
        self.module = ast.parse(path.read_text(encoding="utf-8"))
        self.found: set[tuple[int, str]] = set()
        self.functions = {x.name for x in self.module.body if isinstance(x, ast.FunctionDef)}
        self.integers: set[str] = set()
        for node in self.module.body:
            if isinstance(node, ast.ImportFrom):
                self.functions |= {alias.name for alias in node.names}
            if isinstance(node, ast.Assign):
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                if all(isinstance(x, ast.Constant) and type(x.value) is int for x in values):
                    self.integers |= _assigned(node)

    def report(self, node: ast.AST, what: str) -> None:
        self.found.add((getattr(node, "lineno", 1), what))

    def problems(self) -> set[tuple[int, str]]:
        for node in self.module.body:
            self.top_level(node)
        for node in ast.walk(self.module):
            for name in (getattr(node, part, None) for part in ("id", "arg", "attr", "name")):
                if isinstance(name, str) and not name.isascii():
                    self.report(node, f"{name!r} is not ASCII")
        return self.found

    def top_level(self, node: ast.stmt) -> None:
        if isinstance(node, ast.FunctionDef):
            if self.path.name not in NO_KERNELS:
                _Function(self, node).check()
        elif isinstance(node, ast.ClassDef):
            if self.path.name != "arrays.py":
                self.group(node)
        elif isinstance(node, ast.ImportFrom):
            self.imported(node)
        elif isinstance(node, ast.Import) and self.path.name in NO_KERNELS:
            return
        elif isinstance(node, ast.Assign):
            names = _assigned(node)
            if names == {"__all__"} or (self.in_programs and names == {"PROGRAMS"}):
                return
            if not _constant(node.value):
                self.report(node, "a module keeps numbers and tuples of numbers only")
        elif not _docstring(node):
            self.report(node, "only functions, groups of arrays, constants and imports stand at the top of a module")

    def imported(self, node: ast.ImportFrom) -> None:
        source = "." * node.level + (node.module or "")
        allowed = source == "typing" or (node.level == 1 and node.module is not None)
        allowed = allowed or (self.in_programs and source.startswith("..kernels."))
        if not allowed:
            self.report(node, f"an import from {source!r}: kernels import each other only")
        for alias in node.names:
            if alias.name == "*" or alias.asname is not None:
                self.report(node, "a function keeps its own name when it is imported")

    def group(self, node: ast.ClassDef) -> None:
        """A NamedTuple of arrays and of other groups."""
        if [ast.unparse(base) for base in node.bases] != ["NamedTuple"] or node.keywords or node.decorator_list:
            self.report(node, f"class {node.name!r}: the only classes are NamedTuple groups of arrays")
        for part in node.body:
            field = isinstance(part, ast.AnnAssign) and part.value is None and _array_or_group(part.annotation)
            if not (field or isinstance(part, ast.Pass) or _docstring(part)):
                self.report(part, f"class {node.name!r}: a group holds arrays with their shapes and nothing else")


def _docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _array_or_group(x: ast.expr) -> bool:
    return isinstance(x, ast.Name) or (isinstance(x, ast.Subscript) and isinstance(x.value, ast.Name) and x.value.id in ARRAYS)


def _constant(x: ast.expr) -> bool:
    if isinstance(x, ast.Tuple):
        return all(_constant(part) for part in x.elts)
    if isinstance(x, ast.UnaryOp) and isinstance(x.op, ast.USub):
        return _constant(x.operand)
    return isinstance(x, ast.Constant) and type(x.value) in (int, float)


class _Function:
    """One kernel: its form, and the kinds of its names in the order in which it runs."""

    def __init__(self, file: _File, node: ast.FunctionDef) -> None:
        self.file = file
        self.node = node
        self.any_branch = file.path.name in LOOKS_AT_NUMBERS and not file.in_programs
        self.builtins = BUILTINS | ({"abs"} if self.any_branch else set())
        self.names = {x.id for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
        self.names |= {a.arg for a in node.args.args}

    def report(self, node: ast.AST, what: str) -> None:
        self.file.report(node, what)

    def check(self) -> None:
        a = self.node.args
        if a.posonlyargs or a.kwonlyargs or a.vararg or a.kwarg or a.defaults or a.kw_defaults:
            self.report(self.node, "parameters are plain: no defaults, no keywords, no *args")
        if self.node.decorator_list:
            self.report(self.node, "a decorator")
        body = self.node.body[1:] if _docstring(self.node.body[0]) else self.node.body
        for statement in body:
            self.form(statement)
        used_as_index = {name for x in self.indices(body) for name in _names(x)}
        for x in (x for statement in body for x in ast.walk(statement) if isinstance(x, ast.Assign)):
            if _names(x.targets[0]) & used_as_index:               # i = body: what i is, body was
                used_as_index |= _names(x.value)
        self.walk(body, {x.arg for x in a.args} & (used_as_index | INTEGER_PARAMETERS) | self.file.integers)

    # --- form -----------------------------------------------------------------------------------------------------
    def form(self, node: ast.AST) -> None:
        """Every statement and expression is one that the dialect knows."""
        kind = type(node).__name__
        if kind in FORBIDDEN:
            self.report(node, FORBIDDEN[kind])
            return
        if isinstance(node, (ast.stmt, ast.expr)) and not isinstance(node, STATEMENTS + EXPRESSIONS):
            self.report(node, f"{kind} is not of the dialect")
            return
        rule: Callable[[ast.AST], None] | None = getattr(self, "form_" + kind, None)
        if rule is not None:
            rule(node)
        for child in ast.iter_child_nodes(node):
            self.form(child)

    def form_Constant(self, node: ast.Constant) -> None:
        if type(node.value) not in (int, float):
            what = "a string" if isinstance(node.value, (str, bytes)) else repr(node.value)
            self.report(node, f"{what} as a value: values are numbers and tuples of numbers")

    def form_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Call):
            self.report(node, "an expression whose value is lost")

    def form_Call(self, node: ast.Call) -> None:
        if node.keywords:
            self.report(node, "a keyword argument")
        if not isinstance(node.func, ast.Name):
            self.report(node, f"a call of {ast.unparse(node.func)!r}: kernels call kernels by their names")
        elif node.func.id not in self.file.functions | self.builtins or node.func.id in self.names:
            self.report(node, f"a call of {node.func.id!r}, which is neither a kernel nor a function of ops")

    def form_BinOp(self, node: ast.BinOp | ast.AugAssign) -> None:
        if not isinstance(node.op, ARITHMETIC + ON_INTEGERS):
            self.report(node, f"the operator {type(node.op).__name__} is not of the dialect")

    form_AugAssign = form_BinOp

    def form_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Invert):
            self.report(node, "the operator Invert is not of the dialect")

    def form_Compare(self, node: ast.Compare) -> None:
        if not all(isinstance(op, COMPARISONS) for op in node.ops):
            self.report(node, "a comparison that is not one of numbers")

    def form_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            if not all(isinstance(x, (ast.Name, ast.Subscript)) for x in parts):
                self.report(node, "only names and places of arrays are assigned to")

    def form_For(self, node: ast.For | ast.While) -> None:
        if node.orelse:
            self.report(node, "else after a loop")
        if isinstance(node, ast.For) and not (_is_range(node.iter) and isinstance(node.target, ast.Name)):
            self.report(node, "a loop that does not run over a range")

    form_While = form_For

    # --- integers ---------------------------------------------------------------------------------------------------
    def indices(self, body: Iterable[ast.stmt]) -> Iterator[ast.expr]:
        """Whatever stands as an index or as a bound of a range: an integer, or Python stops there."""
        for statement in body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Subscript):
                    yield from node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                if _is_range(node):
                    yield from node.args  # type: ignore[attr-defined]

    def walk(self, body: Iterable[ast.stmt], known: set[str]) -> set[str]:
        """Follow the statements; `known` holds the names of integers and is what is known at the end."""
        for node in body:
            self.conditions(node, known)
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    known = self.assign(target, node.value, known)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                on_integers = isinstance(node.op, ON_INTEGERS) and self.integer(node.value, known)
                known = known if on_integers else known - {node.target.id}
            elif isinstance(node, ast.For):
                if _is_range(node.iter):
                    for bound in node.iter.args:  # type: ignore[attr-defined]
                        self.need_integer(bound, known, "a loop bound")
                known = self.loop(node.body, known, _names(node.target) if _is_range(node.iter) else set())
            elif isinstance(node, ast.While):
                known = self.loop(node.body, known, set())
                self.conditions(node, known)
            elif isinstance(node, ast.If):
                known = self.walk(node.body, set(known)) & self.walk(node.orelse, set(known))
            elif isinstance(node, ast.Return) and self.node.name in INTEGER_FUNCTIONS and node.value is not None:
                self.need_integer(node.value, known, f"the value of {self.node.name!r}")
        return known

    def loop(self, body: list[ast.stmt], known: set[str], variables: set[str]) -> set[str]:
        """Twice through the body: what is an integer at its end as well as at its start is one."""
        inside = known | variables
        return self.walk(body, inside & self.walk(body, set(inside))) & inside

    def assign(self, target: ast.expr, value: ast.expr, known: set[str]) -> set[str]:
        if isinstance(target, ast.Tuple):
            values = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
            new = set(known)
            for part, x in zip(target.elts, values, strict=False):
                if isinstance(part, ast.Name):
                    new = new - {part.id, part.id + "[]"} | (self.assign(part, x, known) & {part.id, part.id + "[]"})
            return new
        if isinstance(target, ast.Name):
            others = known - {target.id, target.id + "[]"}
            if _integer_array(value):
                return others | {target.id + "[]"}
            return others | {target.id} if self.integer(value, known) else others
        return known

    def conditions(self, node: ast.stmt, known: set[str]) -> None:
        """The tests of a statement itself (not of the statements in it) are made of integers."""
        if isinstance(node, (ast.If, ast.While)):
            self.condition(node.test, known)
        parts = [x for x in ast.iter_child_nodes(node) if isinstance(x, ast.expr)]
        for x in (x for part in parts for x in ast.walk(part)):
            if isinstance(x, ast.IfExp):
                self.condition(x.test, known)

    def condition(self, test: ast.expr, known: set[str]) -> None:
        if self.any_branch:
            return
        if isinstance(test, ast.BoolOp):
            for part in test.values:
                self.condition(part, known)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.condition(test.operand, known)
        elif isinstance(test, ast.Compare):
            for x in (test.left, *test.comparators):
                self.need_integer(x, known, "a branch")
        else:
            self.report(test, f"a branch on {ast.unparse(test)!r}: write a comparison of integers")

    def need_integer(self, x: ast.expr, known: set[str], where: str) -> None:
        if not self.integer(x, known):
            self.report(x, f"{where} depends on {ast.unparse(x)!r}, which is not seen to be an integer: use select")

    def integer(self, x: ast.expr, known: set[str]) -> bool:
        """Whether an expression can be seen to be an integer."""
        if isinstance(x, ast.Constant):
            return type(x.value) is int
        if isinstance(x, ast.Name):
            return x.id in known
        if isinstance(x, ast.UnaryOp):
            return isinstance(x.op, ast.USub) and self.integer(x.operand, known)
        if isinstance(x, ast.BinOp):
            return isinstance(x.op, ON_INTEGERS) and self.integer(x.left, known) and self.integer(x.right, known)
        if isinstance(x, ast.IfExp):
            return self.integer(x.body, known) and self.integer(x.orelse, known)
        if isinstance(x, ast.Call):
            return isinstance(x.func, ast.Name) and x.func.id in INTEGER_FUNCTIONS
        if isinstance(x, ast.Subscript):
            if isinstance(x.value, ast.Name):                      # kinds = joints.kind; … kinds[m]
                return x.value.id + "[]" in known
            return _integer_array(x.value)
        return False


def _integer_array(x: ast.expr) -> bool:
    """A field of the tree or the joints that holds integers, a shape, or a row of marks."""
    if not isinstance(x, ast.Attribute):
        return False
    owner = x.value.id if isinstance(x.value, ast.Name) else ""
    return x.attr == "shape" or x.attr in MARKS or x.attr in INTEGER_FIELDS.get(owner, set())


def _is_range(x: ast.AST) -> bool:
    return isinstance(x, ast.Call) and isinstance(x.func, ast.Name) and x.func.id == "range"


def _names(x: ast.expr) -> set[str]:
    """Names joined by arithmetic: if the whole is an integer, so is each of them."""
    if isinstance(x, ast.BinOp) and isinstance(x.op, ON_INTEGERS):
        return _names(x.left) | _names(x.right)
    return {x.id} if isinstance(x, ast.Name) else set()


if __name__ == "__main__":
    messages = check_all()
    print("\n".join(messages) or "the kernels are clean")
    sys.exit(1 if messages else 0)
