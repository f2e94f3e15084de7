"""One call of a function of the dialect, written into the LLVM function it is part of: its statements."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .arithmetic import Mismatch
from .slots import INTEGER, Names, Slot, Unclear, described, fits
from .source import assigned_names, check_form, direct_names, nodes_in, refuse, returns_early, syntax
from .values import describe

if TYPE_CHECKING:
    from .compiler import Function

UNROLLED = 16
"""The most iterations of a loop that are unrolled where their number is known; and `Options.unrolled` nodes they may become."""


@dataclass(frozen=True)
class _OpenLoop:
    """A loop that is being compiled: where it goes on and ends, and what names are bound to on the ways into and out of it."""

    again: str
    end: str
    at_entry: dict[str, Any]
    left: list[dict[str, Any]]
    reads: set[tuple[str, int]]
    """Names that the code around it has read."""


class Frame(Names):
    def __init__(self, into: Function, function: Any, args: Sequence[Any]) -> None:
        self.into, self.unit, self.w, self.a = into, into.unit, into.w, into.a
        check_form(function, self.a.options.branches)
        self.function, self.tree = function, syntax(function)
        self.direct, self.assigned = direct_names(function), assigned_names(function)
        super().__init__()
        self._loops: list[_OpenLoop] = []
        self._result: Any = None
        self._exit = ""
        self._returned = False
        parameters = [x.arg for x in self.tree.args.args]
        if len(parameters) != len(args):
            raise refuse(function, self.tree, f"{function.__name__!r} takes {len(parameters)} arguments, got {len(args)}")
        for name, value in zip(parameters, args, strict=True):
            self.store(name, value)

    def run(self) -> Any:
        """The statements; what the function returns."""
        body = self.tree.body
        if not returns_early(self.function):
            last = body[-1]
            self.block(body[:-1] if isinstance(last, ast.Return) else body)
            return self.value(last.value) if isinstance(last, ast.Return) and last.value is not None else None
        self._exit = self.w.label()
        self.block(body)
        if self.w.here != "dead":
            if self._result is not None:
                what = f"{self.function.__name__!r} returns a value, but not on every way to its end"
                raise refuse(self.function, self.tree, what)
            self.w.line(f"br label %{self._exit}")
        self.w.block(self._exit)
        return self.read(self._result)

    # --- statements ---------------------------------------------------------------------------------------------------------
    def block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            try:
                getattr(self, "do_" + type(statement).__name__)(statement)
            except Mismatch as error:
                raise refuse(self.function, statement, str(error)) from None
            if self.w.here == "dead":
                break  # what follows is unreachable

    def do_Pass(self, node: ast.Pass) -> None:
        return

    def do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):  # else it is the docstring
            self.value(node.value)

    def do_Return(self, node: ast.Return) -> None:
        value = None if node.value is None else self.value(node.value)
        if value is not None and not self.storable(value):
            raise Mismatch(f"returns {describe(value)} from within: only numbers, and tuples of numbers")
        if not self._returned:
            self._result = None if value is None else self.slot_for(value)
            self._returned = True
        elif (value is None) != (self._result is None) or (value is not None and not fits(self._result, value)):
            raise Mismatch(f"returns {describe(value)} here and {described(self._result)} elsewhere")
        if value is not None:
            self.write(self._result, value)
        self.w.line(f"br label %{self._exit}")
        self._dead()

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._assign(target, value)

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Subscript):  # the address is computed once
            array, place = self.element(target)
            value = self.a.binary(type(node.op), self.load(array, place), self.value(node.value))
            self.put(array, place, value)
        else:
            assert isinstance(target, ast.Name)
            before = self.value(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            self.store(target.id, self.a.binary(type(node.op), before, self.value(node.value)))

    def _assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            if value is None:
                raise Mismatch("a function that returns nothing has no value")
            self.store(target.id, value)
        elif isinstance(target, ast.Tuple):
            if not isinstance(value, tuple) or len(value) != len(target.elts):
                raise Mismatch(f"{len(target.elts)} names for {describe(value)}")
            for part, x in zip(target.elts, value, strict=True):
                self._assign(part, x)
        else:
            assert isinstance(target, ast.Subscript)
            array, place = self.element(target)
            self.put(array, place, value)

    def do_If(self, node: ast.If) -> None:
        test = self.condition(node.test, "a branch")
        if isinstance(test, bool):
            self.block(node.body if test else node.orelse)  # as if only this were written
            return
        yes, no, end = self.w.label(), self.w.label(), self.w.label()
        self.w.line(f"br i1 {test.name}, label %{yes}, label %{no if node.orelse else end}")
        before = dict(self.names)
        yes_goes_on = self._branch(yes, node.body, end)
        after_yes = self.names
        self.names, no_goes_on = before, True
        if node.orelse:
            outer, self._other = self._other, {**self._other, **after_yes}
            no_goes_on = self._branch(no, node.orelse, end)
            self._other = outer
        if yes_goes_on and no_goes_on:
            for name, found in after_yes.items():
                mine = self.names.get(name)
                if mine is None:
                    self.names[name] = found
                elif mine is not found:
                    self.names[name] = Unclear()
        elif yes_goes_on:
            self.names = after_yes
        if yes_goes_on or no_goes_on:
            self.w.block(end)
        else:
            self._dead()

    def _branch(self, label: str, body: list[ast.stmt], end: str) -> bool:
        self.w.block(label)
        self.block(body)
        if self.w.here == "dead":
            return False
        self.w.line(f"br label %{end}")
        return True

    def _dead(self) -> None:
        """Mark the rest of this list of statements as unreachable."""
        self.w.block("dead")
        self.w.lines.pop()

    def do_While(self, node: ast.While) -> None:
        head, body, end = self.w.label(), self.w.label(), self.w.label()
        self.w.line(f"br label %{head}")
        self.w.block(head)
        loop = self._enter(head, end)
        test = self.condition(node.test, "a loop")
        if isinstance(test, bool) and not test:
            self.w.line(f"br label %{end}")
        else:
            self.w.line(f"br label %{body}" if test is True else f"br i1 {test.name}, label %{body}, label %{end}")
            self.w.block(body)
            self.block(node.body)
            if self.w.here != "dead":
                self.w.line(f"br label %{head}")
        self._leave(loop, node)
        if test is True and not _breaks(node):
            self._dead()
        else:
            self.w.block(end)

    def _enter(self, again: str, end: str) -> _OpenLoop:
        self._loops.append(_OpenLoop(again, end, dict(self.names), [], self.reads))
        self.reads = set()
        return self._loops[-1]

    def _leave(self, loop: _OpenLoop, node: ast.AST) -> None:
        """Close a loop. The binding of a name that is used afterwards must not depend on the number of iterations."""
        self._loops.pop()
        for name, now in list(self.names.items()):
            first = loop.at_entry.get(name, now)
            if first is not now and (name, id(first)) in self.reads:
                rule = f"{name!r} is {described(first)} when the loop begins and {described(now)} in the next iteration"
                raise refuse(self.function, node, rule)
            if first is not now or any(ways.get(name, now) is not now for ways in loop.left):
                self.names[name] = Unclear()
        self.reads |= loop.reads

    def do_Continue(self, node: ast.Continue) -> None:
        self._jump(self._loops[-1].again)

    def do_Break(self, node: ast.Break) -> None:
        self._jump(self._loops[-1].end)

    def _jump(self, label: str) -> None:
        self._loops[-1].left.append(dict(self.names))
        self.w.line(f"br label %{label}")
        self._dead()

    def do_For(self, node: ast.For) -> None:
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        name, bounds = node.target.id, [self.bound(x) for x in node.iter.args]
        low, high, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        if not isinstance(step, int) or step == 0:
            raise Mismatch("the step of a range is a known integer")
        if isinstance(low, int) and isinstance(high, int) and self._worth_unrolling(node, name, len(range(low, high, step))):
            self._unrolled(node, name, range(low, high, step))
        else:
            self._loop(node, name, low, high, step)

    def _unrolled(self, node: ast.For, name: str, rounds: range) -> None:
        """Iteration by iteration with a known variable, which is stored afterwards like any other name."""
        before = {name: self.names[name]} if name in self.names else {}
        for k in rounds:
            self.names[name] = k
            self.block(node.body)
        self.names.pop(name, None)
        self.names |= before
        if rounds:
            self.store(name, rounds[-1])

    def _worth_unrolling(self, node: ast.For, name: str, rounds: int) -> bool:
        inside = [n for statement in node.body for n in ast.walk(statement)]
        if any(isinstance(n, (ast.Continue, ast.Break, ast.Return)) for n in inside) or rounds > UNROLLED:
            return False
        if any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in inside):
            return False
        return rounds <= 1 or rounds * nodes_in(node.body, self.function) <= self.a.options.unrolled

    def _loop(self, node: ast.For, name: str, low: Any, high: Any, step: int) -> None:
        w, count = self.w, Slot(self.into.room("i64"), INTEGER)
        self.write(count, low)
        limit = self.a.integer(high)
        head, body, more, end = w.label(), w.label(), w.label(), w.label()
        variable = self.names.get(name)
        if not (isinstance(variable, Slot) and variable.kind == INTEGER):
            variable = self.names[name] = Slot(self.into.room("i64"), INTEGER)
        w.line(f"br label %{head}")
        w.block(head)
        k = self.read(count)
        going = w.let(f"icmp {'slt' if step > 0 else 'sgt'} i64 {k.name}, {limit}")
        w.line(f"br i1 {going}, label %{body}, label %{end}")
        loop = self._enter(more, end)
        w.block(body)
        self.write(variable, k)
        self.block(node.body)
        self._leave(loop, node)
        if w.here != "dead":
            w.line(f"br label %{more}")
        w.block(more)
        after = w.let(f"add nsw i64 {k.name}, {step}")
        w.line(f"store i64 {after}, ptr {count.pointer}")
        w.line(f"br label %{head}")
        w.block(end)


def _breaks(node: ast.AST) -> bool:
    """Whether a loop is left by a break of its own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Break) or (not isinstance(child, (ast.For, ast.While)) and _breaks(child)):
            return True
    return False
