"""An expression graph as LLVM assembly: loops over states, straight-line code inside, some states at a time.

The function takes one array of 64-bit integers: the number of states, then address and stride (in numbers) of every
input, then the address of every output. A stride of zero shares an input among all states.
There may be no states; else, with several lanes, at least as many as lanes: the last block overlaps the one before it.
Arrays are rows, a row for each state; or `innermost`, blocks of as many states as there are lanes, the lanes innermost.
With one lane there is one output more: zero for each state whose inputs and outputs are all finite, else nan (not where numbers
are double-double: those are pairs of doubles, one after the other).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from ...dialect.arithmetic import RELAXED
from ...dialect.double_double_code import PairWriter, prelude
from ...dialect.sincos import UNLIKELY, sines_and_cosines
from ...dialect.text import Writer
from ...trace import Number, Symbol, needed
from ...trace.lookup import Lookup
from ..traced import TracedProgram
from .lookup import Lookups
from .stages import STAGED, plan

_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "floor": "floor"}
_COMPARE = {"less": "olt", "less_equal": "ole"}


def emit(traced: TracedProgram, lanes: int, pairs: bool = False, innermost: bool = False) -> str:
    """The text of a module with one function. `pairs`: in double-double arithmetic, numbers in and out are pairs, one lane."""
    return _Emitter(traced, PairWriter() if pairs else Writer(lanes), lanes, innermost).module()


class _Emitter:
    def __init__(self, traced: TracedProgram, writer: Writer, lanes: int, innermost: bool) -> None:
        self.traced, self.innermost = traced, innermost
        self.nodes = traced.graph.nodes
        self.w, self.lanes = writer, lanes
        self.lookups = Lookups(writer)
        self.cell = writer.T if writer.pairs else "double"
        """Type of one number in memory."""
        self.values: dict[int, str] = {}
        self.is_bool: set[int] = set()
        self.outputs = [x for group in traced.outputs.values() for x in group]
        self.order = needed(traced.graph, self.outputs)
        wanted = set(self.order)
        inputs = [x.index for group in traced.inputs.values() for x in group if lanes == 1 or x.index in wanted]
        self.first_angles = self._angles_known_first()
        first_sines = [k for k in self.order if self.nodes[k][0] in ("sin", "cos") and self.nodes[k][1] in self.first_angles]
        early = list(dict.fromkeys([*inputs, *self.first_angles, *first_sines]))
        self.parts = [
            (k, start, group[start : start + lanes])
            for k, group in enumerate(traced.outputs.values())
            for start in range(0, len(group), lanes)
        ]
        """Outputs that are stored together: which array, where in it, values."""
        ends = [[x.index for x in part if isinstance(x, Symbol)] for _, _, part in self.parts]
        self.plan = plan(traced.graph, self.order, early, ends, several=1 < lanes <= STAGED)

    def module(self) -> str:
        w, blocks = self.w, self.plan.blocks
        w.block("entry")
        self.room = max(self.plan.slots.values(), default=-1) + 1
        room = blocks * self.room
        self.waiting = w.let(f"alloca [{room} x {w.T}], align 32") if room else ""
        count = self._argument(0)
        n_in = len(self.traced.inputs)
        self.sources = [(self._pointer(1 + 2 * k), self._argument(2 + 2 * k)) for k in range(n_in)]
        self.targets = [self._pointer(1 + 2 * n_in + k) for k in range(len(self.traced.outputs) + 1)]
        self.last = w.let(f"sub i64 {count}, {self.lanes}")
        w.line(f"br i1 {w.let(f'icmp sgt i64 {count}, 0')}, label %round, label %exit")
        w.block("round")  # some blocks of states go through every stage
        w.line("%base = phi i64 [ 0, %entry ], [ %next, %done ]")
        rest = w.let(f"sub i64 {count}, %base")
        left = w.let(f"sdiv i64 {w.let(f'add i64 {rest}, {self.lanes - 1}')}, {self.lanes}")
        fewer = w.let(f"icmp slt i64 {left}, {blocks}")
        self.rounds = w.let(f"select i1 {fewer}, i64 {left}, i64 {blocks}")
        before = "round"
        for n, stage in enumerate(self.plan.stages):
            before = self._stage(n, stage, before)
        w.line("br label %done")
        w.block("done")
        w.line(f"%next = add i64 %base, {blocks * self.lanes}")
        more = w.let(f"icmp slt i64 %next, {count}")
        w.line(f"br i1 {more}, label %round, label %exit")
        w.block("exit")
        w.line("ret void")
        called = "\n".join(prelude(w.operations, w.declarations)) if isinstance(w, PairWriter) else ""
        declarations, body = "\n".join(sorted(w.declarations)), "\n".join(w.lines)
        called += self.lookups.module()
        return f"{declarations}\n{called}\ndefine void @f(ptr noundef %args) nounwind {{\n{body}\n}}\n{UNLIKELY}\n"

    # --- stages -----------------------------------------------------------------------------------------------------------
    def _stage(self, n: int, stage: Sequence[int], before: str) -> str:
        """A loop over the blocks of this round; returns the label behind it."""
        w, plan = self.w, self.plan
        w.line(f"br label %stage{n}")
        w.block(f"stage{n}")
        w.line(f"%block{n} = phi i64 [ 0, %{before} ], [ %after{n}, %end{n} ]")
        at = w.let(f"add i64 %base, {w.let(f'mul i64 %block{n}, {self.lanes}')}")
        past = w.let(f"icmp sgt i64 {at}, {self.last}")
        state = w.let(f"select i1 {past}, i64 {self.last}, i64 {at}")
        if plan.slots:
            compiled = w.let(f"mul i64 %block{n}, {self.room}")
            self.compiled = w.let(f"getelementptr {w.T}, ptr {self.waiting}, i64 {compiled}")
        self.values, self.is_bool = {}, set()
        if n == 0:
            for (pointer, stride), symbols in zip(self.sources, self.traced.inputs.values(), strict=True):
                self._load(pointer, stride, state, symbols)
            for index in self.first_angles:
                self._node(index)
            if self.first_angles:
                self._sines(self.first_angles)
        for index in stage:
            self._node(index)
        self._store(state, [self.parts[k] for k in plan.stored[n]])
        if self.lanes == 1 and not w.pairs and n == len(plan.stages) - 1:
            self._store_check(self.targets[-1], state)
        for index in stage:
            if index in plan.slots:
                w.line(f"store {w.T} {self._number(index)}, ptr {self._slot(index)}, align 32")
        w.line(f"br label %end{n}")
        w.block(f"end{n}")
        w.line(f"%after{n} = add i64 %block{n}, 1")
        more = w.let(f"icmp slt i64 %after{n}, {self.rounds}")
        w.line(f"br i1 {more}, label %stage{n}, label %behind{n}")
        w.block(f"behind{n}")
        return f"behind{n}"

    def _slot(self, index: int) -> str:
        return self.w.let(f"getelementptr {self.w.T}, ptr {self.compiled}, i64 {self.plan.slots[index]}")

    # --- arguments ----------------------------------------------------------------------------------------------------
    def _argument(self, k: int) -> str:
        return self.w.let(f"load i64, ptr {self.w.let(f'getelementptr i64, ptr %args, i64 {k}')}")

    def _pointer(self, k: int) -> str:
        return self.w.let(f"inttoptr i64 {self._argument(k)} to ptr")

    def _rows(self, pointer: str, stride: str | int, state: str) -> list[str]:
        """The address of each lane's row."""
        w = self.w
        rows = []
        for lane in range(self.lanes):
            at = w.let(f"add i64 {state}, {lane}") if lane else state
            offset = w.let(f"mul i64 {at}, {stride}")
            rows.append(w.let(f"getelementptr {self.cell}, ptr {pointer}, i64 {offset}"))
        return rows

    def _vector(self, pointer: str, stride: str | int, state: str, k: int) -> str:
        """The address of number k of a block of states, whose lanes are innermost."""
        block = self.w.let(f"getelementptr double, ptr {pointer}, i64 {self.w.let(f'mul i64 {state}, {stride}')}")
        return self._at(block, k * self.lanes)

    def _load(self, pointer: str, stride: str, state: str, symbols: Sequence[Symbol]) -> None:
        w = self.w
        wanted = set(self.order)
        if self.innermost:
            for k, x in enumerate(symbols):
                if x.index in wanted:
                    self.values[x.index] = w.let(f"load {w.T}, ptr {self._vector(pointer, stride, state, k)}, align 8")
            return
        rows = self._rows(pointer, stride, state)
        for start in range(0, len(symbols), self.lanes):
            group = symbols[start : start + self.lanes]
            if self.lanes > 1 and not any(x.index in wanted for x in group):
                continue
            if len(group) == self.lanes > 1:
                columns = w.transposed([w.let(f"load {w.T}, ptr {self._at(row, start)}, align 8") for row in rows])
            else:
                columns = [self._gather(rows, start + k) for k in range(len(group))]
            for x, value in zip(group, columns, strict=True):
                self.values[x.index] = value

    def _gather(self, rows: list[str], k: int) -> str:
        w = self.w
        parts = [w.let(f"load {self.cell}, ptr {self._at(row, k)}, align 8") for row in rows]
        if self.lanes == 1:
            return parts[0]
        out = "undef"
        for lane, part in enumerate(parts):
            out = w.let(f"insertelement {w.T} {out}, double {part}, i32 {lane}")
        return out

    def _store(self, state: str, parts: Sequence[tuple[int, int, Sequence[Number]]]) -> None:
        w = self.w
        sizes = [len(group) for group in self.traced.outputs.values()]
        if self.innermost:
            for k, start, part in parts:
                for c, x in enumerate(part, start):
                    place = self._vector(self.targets[k], sizes[k], state, c)
                    w.line(f"store {w.T} {self._value(x)}, ptr {place}, align 8")
            return
        rows = {k: self._rows(self.targets[k], sizes[k], state) for k in dict.fromkeys(k for k, _, _ in parts)}
        for k, start, part in parts:
            values = [self._value(x) for x in part]
            if len(values) == self.lanes > 1:
                for row, vector in zip(rows[k], w.transposed(values), strict=True):
                    w.line(f"store {w.T} {vector}, ptr {self._at(row, start)}, align 8")
                continue
            for c, value in enumerate(values):
                for lane, row in enumerate(rows[k]):
                    one = value if self.lanes == 1 else w.let(f"extractelement {w.T} {value}, i32 {lane}")
                    w.line(f"store {self.cell} {one}, ptr {self._at(row, start + c)}, align 8")

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
        return row if k == 0 else self.w.let(f"getelementptr {self.cell}, ptr {row}, i64 {k}")

    # --- nodes ----------------------------------------------------------------------------------------------------------
    def _angles_known_first(self) -> list[int]:
        """Inputs (times constants) whose sine or cosine is wanted: they come first and together, with one branch."""
        angles: dict[int, None] = {}
        for index in self.order:
            node = self.nodes[index]
            if node[0] in ("sin", "cos"):
                inner = self.nodes[node[1]]
                scaled = inner[0] == "mul" and {self.nodes[k][0] for k in inner[1:]} == {"input", "const"}
                if inner[0] == "input" or scaled:
                    angles[node[1]] = None
        return list(angles)

    def _sines(self, args: list[int]) -> None:
        angles = [self._number(a) for a in args]
        w = self.w
        found = [w.sine_and_cosine(x) for x in angles] if isinstance(w, PairWriter) else sines_and_cosines(w, angles)
        for index, (sine, cosine) in zip(args, found, strict=True):
            self.values[-1 - 2 * index], self.values[-2 - 2 * index] = sine, cosine

    def _value(self, x: Number) -> str:
        return self._number(x.index) if isinstance(x, Symbol) else self.w.const(float(x))

    def _number(self, index: int) -> str:
        """The value of a node as a number; a condition used as a number is 0 or 1."""
        if index in self.is_bool:
            w = self.w
            return w.let(f"select {w.bools} {self.values[index]}, {w.T} {w.const(1.0)}, {w.T} {w.const(0.0)}")
        node = self.nodes[index]
        if node[0] == "const":
            return self.w.const(node[1])
        if index not in self.values:  # spilled by an earlier stage
            self.values[index] = self.w.let(f"load {self.w.T}, ptr {self._slot(index)}, align 32")
        return self.values[index]

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
                condition = w.nonzero(self._number(args[0]))
            a, b = self._number(args[1]), self._number(args[2])
            self.values[index] = w.let(f"select {w.bools} {condition}, {w.T} {a}, {w.T} {b}")
        else:
            operands = [self._number(a) for a in args]
            self.values[index] = self._operation(name, operands)
            if name in _COMPARE:
                self.is_bool.add(index)

    def _operation(self, name: str | Lookup, x: list[str]) -> str:
        w = self.w
        if isinstance(name, Lookup):
            return self.lookups.write(name, x[0])
        if isinstance(w, PairWriter):
            return w.operation(name, *x)
        if name in _BINARY:
            return w.let(f"{_BINARY[name]} {RELAXED} {w.T} {x[0]}, {x[1]}")
        if name == "neg":
            return w.let(f"fneg {RELAXED} {w.T} {x[0]}")
        if name in _INTRINSIC:
            return w.call(_INTRINSIC[name], *x)
        if name in _COMPARE:
            return w.let(f"fcmp {_COMPARE[name]} {w.T} {x[0]}, {x[1]}")
        if name == "hypot":
            return self._hypot(*x)
        if name == "mod":
            return self._mod(*x)
        return w.libm(name, *x)

    def _hypot(self, a: str, b: str) -> str:
        """Relative to the larger of the two, whose square may be too large or too small; infinite where either is."""
        w, zero = self.w, self.w.const(0.0)
        a, b = w.call("fabs", a), w.call("fabs", b)
        is_more = w.let(f"fcmp olt {w.T} {a}, {b}")
        large = w.let(f"select {w.bools} {is_more}, {w.T} {b}, {w.T} {a}")
        small = w.let(f"select {w.bools} {is_more}, {w.T} {a}, {w.T} {b}")
        share = w.let(f"fdiv {w.T} {small}, {large}")
        found = w.let(f"fmul {w.T} {large}, {w.call('sqrt', w.fma(share, share, w.const(1.0)))}")
        plain = w.let(f"fadd {w.T} {large}, {small}")
        is_zero = w.let(f"fcmp oeq {w.T} {small}, {zero}")
        found = w.let(f"select {w.bools} {is_zero}, {w.T} {plain}, {w.T} {found}")
        for x in (large, small):
            is_infinite = w.let(f"fcmp oeq {w.T} {x}, {w.const(inf)}")
            found = w.let(f"select {w.bools} {is_infinite}, {w.T} {x}, {w.T} {found}")
        return found

    def _mod(self, a: str, b: str) -> str:
        """The rest of a division, which has the sign of a, with that of b, as Python has it."""
        w, zero = self.w, self.w.const(0.0)
        rest = w.libm("fmod", a, b)
        below = [w.let(f"fcmp olt {w.T} {x}, {zero}") for x in (rest, b)]
        opposed = w.let(f"xor {w.bools} {below[0]}, {below[1]}")
        other = w.let(f"and {w.bools} {opposed}, {w.let(f'fcmp one {w.T} {rest}, {zero}')}")
        return w.let(f"select {w.bools} {other}, {w.T} {w.let(f'fadd {w.T} {rest}, {b}')}, {w.T} {rest}")
