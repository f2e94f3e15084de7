"""An expression graph as LLVM assembly: one loop over states, straight-line code inside, some states at a time.

The function takes one array of 64-bit integers: the number of states, then address and stride (in numbers) of every
input, then the address of every output. A stride of zero shares an input among all states.
With several lanes there must be at least as many states as lanes; the last block overlaps the one before it.
With one lane there is one output more: zero for each state whose inputs and outputs are all finite, else nan.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...trace import Number, Symbol, needed
from ..traced import TracedProgram
from .sincos import sines_and_cosines
from .text import Writer

FLAGS = "contract nsz arcp reassoc"
"""No nnan, no ninf: a nan in a lane must come out as a nan in that lane."""

_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTRINSIC = {"sqrt": "sqrt", "abs": "fabs"}
_COMPARE = {"less": "olt", "less_equal": "ole"}
_LIBM = {"tan", "asin", "acos", "atan", "atan2", "exp", "log", "pow", "sinh", "cosh", "tanh"}


def emit(traced: TracedProgram, lanes: int, name: str = "f") -> str:
    """The text of a module with one function."""
    return _Emitter(traced, lanes).module(name)


class _Emitter:
    def __init__(self, traced: TracedProgram, lanes: int) -> None:
        self.traced = traced
        self.nodes = traced.graph.nodes
        self.w = Writer(lanes)
        self.values: dict[int, str] = {}
        self.is_bool: set[int] = set()
        outputs = [x for group in traced.outputs.values() for x in group]
        self.order = needed(traced.graph, outputs)

    def module(self, name: str) -> str:
        w = self.w
        w.block("entry")
        count = self._argument(0)
        n_in = len(self.traced.inputs)
        inputs = [(self._pointer(1 + 2 * k), self._argument(2 + 2 * k)) for k in range(n_in)]
        outputs = [self._pointer(1 + 2 * n_in + k) for k in range(len(self.traced.outputs))]
        last = w.let(f"sub i64 {count}, {w.lanes}")
        w.line("br label %loop")
        w.block("loop")
        w.line("%next = phi i64 [ 0, %entry ], [ %after, %end ]")
        past = w.let(f"icmp sgt i64 %next, {last}")
        state = w.let(f"select i1 {past}, i64 {last}, i64 %next")
        for (pointer, stride), symbols in zip(inputs, self.traced.inputs.values(), strict=True):
            self._load(pointer, stride, state, symbols)
        check = self._pointer(1 + 2 * n_in + len(outputs)) if w.lanes == 1 else None
        self._first_sines()
        for index in self.order:
            self._node(index)
        for pointer, group in zip(outputs, self.traced.outputs.values(), strict=True):
            self._store(pointer, state, group)
        if check is not None:
            self._store_check(check, state)
        w.line("br label %end")
        w.block("end")
        w.line(f"%after = add i64 {state}, {w.lanes}")
        more = w.let(f"icmp slt i64 %after, {count}")
        w.line(f"br i1 {more}, label %loop, label %exit")
        w.block("exit")
        w.line("ret void")
        declarations = "\n".join(sorted(w.declarations))
        body = "\n".join(w.lines)
        weights = '!0 = !{!"branch_weights", i32 1, i32 100000}'
        return f"{declarations}\ndefine void @{name}(ptr noundef %args) nounwind {{\n{body}\n}}\n{weights}\n"

    # --- arguments ----------------------------------------------------------------------------------------------------
    def _argument(self, k: int) -> str:
        return self.w.let(f"load i64, ptr {self.w.let(f'getelementptr i64, ptr %args, i64 {k}')}")

    def _pointer(self, k: int) -> str:
        return self.w.let(f"inttoptr i64 {self._argument(k)} to ptr")

    def _rows(self, pointer: str, stride: str | int, state: str) -> list[str]:
        """The address of each lane's row."""
        w = self.w
        rows = []
        for lane in range(w.lanes):
            at = w.let(f"add i64 {state}, {lane}") if lane else state
            offset = w.let(f"mul i64 {at}, {stride}")
            rows.append(w.let(f"getelementptr double, ptr {pointer}, i64 {offset}"))
        return rows

    def _load(self, pointer: str, stride: str, state: str, symbols: Sequence[Symbol]) -> None:
        w = self.w
        wanted = set(self.order)
        rows = self._rows(pointer, stride, state)
        for start in range(0, len(symbols), w.lanes):
            group = symbols[start : start + w.lanes]
            if w.lanes > 1 and not any(x.index in wanted for x in group):
                continue
            if len(group) == w.lanes == 4:
                vectors = [w.let(f"load {w.T}, ptr {self._at(row, start)}, align 8") for row in rows]
                columns = self._transpose(vectors)
            else:
                columns = [self._gather(rows, start + k) for k in range(len(group))]
            for x, value in zip(group, columns, strict=True):
                self.values[x.index] = value

    def _gather(self, rows: list[str], k: int) -> str:
        w = self.w
        parts = [w.let(f"load double, ptr {self._at(row, k)}, align 8") for row in rows]
        if w.lanes == 1:
            return parts[0]
        out = "undef"
        for lane, part in enumerate(parts):
            out = w.let(f"insertelement {w.T} {out}, double {part}, i32 {lane}")
        return out

    def _store(self, pointer: str, state: str, group: Sequence[Number]) -> None:
        w = self.w
        rows = self._rows(pointer, len(group), state)
        values = [self._value(x) for x in group]
        for start in range(0, len(values), w.lanes):
            part = values[start : start + w.lanes]
            if len(part) == w.lanes == 4:
                for row, vector in zip(rows, self._transpose(part), strict=True):
                    w.line(f"store {w.T} {vector}, ptr {self._at(row, start)}, align 8")
                continue
            for k, value in enumerate(part):
                for lane, row in enumerate(rows):
                    one = value if w.lanes == 1 else w.let(f"extractelement {w.T} {value}, i32 {lane}")
                    w.line(f"store double {one}, ptr {self._at(row, start + k)}, align 8")

    def _store_check(self, pointer: str, state: str) -> None:
        """0·x summed over everything: strict arithmetic, so that a nan or an infinity anywhere shows."""
        w = self.w
        values = [self.values[x.index] for group in self.traced.inputs.values() for x in group]
        values += [self._value(x) for group in self.traced.outputs.values() for x in group if isinstance(x, Symbol)]
        total = w.const(0.0)
        for value in values:
            total = w.fma(value, w.const(0.0), total)
        w.line(f"store double {total}, ptr {w.let(f'getelementptr double, ptr {pointer}, i64 {state}')}, align 8")

    def _at(self, row: str, k: int) -> str:
        return row if k == 0 else self.w.let(f"getelementptr double, ptr {row}, i64 {k}")

    def _transpose(self, rows: list[str]) -> list[str]:
        """Four vectors of four: rows become columns, in eight shuffles."""

        def shuffle(a: str, b: str, *order: int) -> str:
            mask = ", ".join(f"i32 {k}" for k in order)
            return self.w.let(f"shufflevector {self.w.T} {a}, {self.w.T} {b}, <4 x i32> <{mask}>")

        r0, r1, r2, r3 = rows
        even = shuffle(r0, r1, 0, 4, 2, 6), shuffle(r2, r3, 0, 4, 2, 6)
        odd = shuffle(r0, r1, 1, 5, 3, 7), shuffle(r2, r3, 1, 5, 3, 7)
        return [shuffle(*even, 0, 1, 4, 5), shuffle(*odd, 0, 1, 4, 5), shuffle(*even, 2, 3, 6, 7), shuffle(*odd, 2, 3, 6, 7)]

    # --- nodes ----------------------------------------------------------------------------------------------------------
    def _first_sines(self) -> None:
        """Sines of inputs (times constants) come first and together, so that all the rest is one straight line."""
        args: list[int] = []
        for index in self.order:
            node = self.nodes[index]
            if node[0] in ("sin", "cos") and node[1] not in args:
                inner = self.nodes[node[1]]
                simple = inner[0] == "input" or (
                    inner[0] == "mul" and {self.nodes[k][0] for k in inner[1:]} == {"input", "const"}
                )
                if simple:
                    args.append(node[1])
        if args:
            self._sines(args)

    def _sines(self, args: list[int]) -> None:
        for index in args:
            self._node(index)
        for index, (sine, cosine) in zip(args, sines_and_cosines(self.w, [self.values[a] for a in args]), strict=True):
            self.values[-1 - 2 * index], self.values[-2 - 2 * index] = sine, cosine

    def _value(self, x: Number) -> str:
        return self._number(x.index) if isinstance(x, Symbol) else self.w.const(float(x))

    def _number(self, index: int) -> str:
        """The value of a node as a number; a condition used as a number is 0 or 1."""
        if index in self.is_bool:
            return self.w.let(f"uitofp {self.w.bools} {self.values[index]} to {self.w.T}")
        node = self.nodes[index]
        return self.w.const(node[1]) if node[0] == "const" else self.values[index]

    def _node(self, index: int) -> None:
        name, *args = self.nodes[index]
        if index in self.values or name == "const":
            return
        w = self.w
        if name in ("sin", "cos"):
            if -1 - 2 * args[0] not in self.values:
                self._sines([args[0]])
            self.values[index] = self.values[(-1 if name == "sin" else -2) - 2 * args[0]]
        elif name == "select":
            if args[0] in self.is_bool:
                condition = self.values[args[0]]
            else:
                condition = w.let(f"fcmp une {w.T} {self._number(args[0])}, {w.const(0.0)}")
            a, b = self._number(args[1]), self._number(args[2])
            self.values[index] = w.let(f"select {w.bools} {condition}, {w.T} {a}, {w.T} {b}")
        else:
            operands = [self._number(a) for a in args]
            self.values[index] = self._operation(name, operands)
            if name in _COMPARE:
                self.is_bool.add(index)

    def _operation(self, name: str, x: list[str]) -> str:
        w = self.w
        if name in _BINARY:
            return w.let(f"{_BINARY[name]} {FLAGS} {w.T} {x[0]}, {x[1]}")
        if name == "neg":
            return w.let(f"fneg {FLAGS} {w.T} {x[0]}")
        if name in _INTRINSIC:
            return w.call(_INTRINSIC[name], *x)
        if name in _COMPARE:
            return w.let(f"fcmp {_COMPARE[name]} {w.T} {x[0]}, {x[1]}")
        return w.libm(name, *x)
