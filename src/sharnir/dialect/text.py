"""LLVM assembly as text: a writer that names values and knows the type of a vector of lanes."""

from __future__ import annotations

import struct
from collections.abc import Sequence


class Writer:
    pairs = False
    """Whether a number is a vector of two, the parts of a double-double number (double_double_code.py)."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        one = lanes == 1
        self.T = "double" if one else f"<{lanes} x double>"
        self.I = "i64" if one else f"<{lanes} x i64>"
        self.bools = "i1" if one else f"<{lanes} x i1>"
        self.suffix = "f64" if one else f"v{lanes}f64"
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self.here = "entry"
        """The label of the block that is being written."""
        self._count = 0

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def let(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def label(self) -> str:
        self._count += 1
        return f"b{self._count}"

    def block(self, label: str) -> None:
        self.here = label
        self.lines.append(f"{label}:")

    def const(self, x: float) -> str:
        bits = double(x)
        return bits if self.lanes == 1 else "<" + ", ".join([f"double {bits}"] * self.lanes) + ">"

    def integer(self, k: int) -> str:
        return str(k) if self.lanes == 1 else "<" + ", ".join([f"i64 {k}"] * self.lanes) + ">"

    def call(self, intrinsic: str, *args: str) -> str:
        """An LLVM intrinsic on whole vectors."""
        name = f"llvm.{intrinsic}.{self.suffix}"
        self.declarations.add(f"declare {self.T} @{name}({', '.join([self.T] * len(args))})")
        return self.let(f"call {self.T} @{name}({', '.join(f'{self.T} {a}' for a in args)})")

    def nonzero(self, x: str) -> str:
        """A number as a condition."""
        return self.let(f"fcmp une {self.T} {x}, {self.const(0.0)}")

    def fma(self, a: str, b: str, c: str) -> str:
        return self.call("fma", a, b, c)

    def transposed(self, rows: list[str]) -> list[str]:
        """Rows of a square as columns. Squares of 1, 2, 4 … are swapped across the diagonal."""
        rows, n = list(rows), self.lanes
        step = 1
        while step < n:
            for r in (r for r in range(n) if not r & step):
                a, b = rows[r], rows[r + step]
                upper = [k if not k & step else n + k - step for k in range(n)]
                lower = [k + step if not k & step else n + k for k in range(n)]
                rows[r], rows[r + step] = self.shuffle(a, b, upper), self.shuffle(a, b, lower)
            step *= 2
        return rows

    def shuffle(self, a: str, b: str, order: Sequence[int]) -> str:
        """Elements of two vectors, those of the second counted on."""
        mask = ", ".join(f"i32 {k}" for k in order)
        return self.let(f"shufflevector {self.T} {a}, {self.T} {b}, <{self.lanes} x i32> <{mask}>")

    def libm(self, name: str, *args: str) -> str:
        """A function of the C library, lane by lane."""
        self.declarations.add(f"declare double @{name}({', '.join(['double'] * len(args))})")
        if self.lanes == 1:
            return self.let(f"call double @{name}({', '.join(f'double {a}' for a in args)})")
        out = "undef"
        for lane in range(self.lanes):
            parts = [self.let(f"extractelement {self.T} {a}, i32 {lane}") for a in args]
            value = self.let(f"call double @{name}({', '.join(f'double {p}' for p in parts)})")
            out = self.let(f"insertelement {self.T} {out}, double {value}, i32 {lane}")
        return out


def double(x: float) -> str:
    """A double as LLVM writes it: its bits."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', x))[0]:016X}"
