"""Symbols that record what is done to them, and the graph they record it in.

To the code that computes with it a `Symbol` is a number like any other. While operations are recorded, constants are folded
(arithmetic on plain floats never reaches the graph), zeros and ones are eliminated, and equal subexpressions are shared. A value
that turns out to be constant is a float again.
"""

from __future__ import annotations

import operator
from numbers import Real
from typing import Any, TypeAlias

from ..errors import TraceError
from .one_number import UNKNOWN, OneNumber
from .operations import operation

Number: TypeAlias = Any
"""A float or a Symbol (or a counting number): whatever a kernel may be run on."""

Node: TypeAlias = tuple[Any, ...]
"""("input", position), ("const", value) or (operation, index, …); the operation by its name, or a lookup (lookup.py)."""


class GraphTooLarge(Exception):
    """The graph has reached its limit: the program is better run as loops."""


class Graph:
    """Nodes in the order they were recorded: every node comes after its arguments."""

    def __init__(self, limit: int | None = None) -> None:
        """`limit`: the number of nodes at which recording stops with GraphTooLarge."""
        self.limit = limit
        self.nodes: list[Node] = []
        self._index: dict[Node, int] = {}
        self.n_inputs = 0
        self.parameters: dict[str, Symbol] = {}
        """The inputs that stand for named parameters."""
        self.defaults: dict[str, float] = {}
        """Values of the parameters, where a call gives no others."""
        self._adopted: dict[Symbol, Number] = {}

    def parameter(self, name: str, default: float) -> Symbol:
        """The input that stands for a named parameter."""
        if name not in self.parameters:
            self.parameters[name] = self.input()
        self.defaults[name] = default
        return self.parameters[name]

    def adopted(self, x: Symbol) -> Number:
        """A number that depends on parameters alone, recorded in their own graph, as a number of this graph."""
        if not isinstance(x.graph, ParameterGraph):
            raise TraceError("symbols of two different traces were mixed: a function has stored a value of an earlier call")
        if isinstance(self, ParameterGraph):
            raise TraceError(f"parameters of two different models were mixed: {x!r} belongs to another model; add it to this one")
        if x not in self._adopted:
            from .expression import Expression

            expression = Expression(x.graph, (), [x])
            own = {name: self.parameter(name, x.graph.defaults[name]) for name in expression.parameters}
            self._adopted[x] = expression(parameters=own)[0]
        return self._adopted[x]

    def input(self) -> Symbol:
        self.n_inputs += 1
        return Symbol(self, self._intern(("input", self.n_inputs - 1)))

    def inputs(self, n: int) -> tuple[Symbol, ...]:
        return tuple(self.input() for _ in range(n))

    def _intern(self, key: Node) -> int:
        index = self._index.get(key)
        if index is None:
            index = self._index[key] = len(self.nodes)
            self.nodes.append(key)
            if index == self.limit:
                raise GraphTooLarge(f"more than {self.limit} nodes")
        return index

    def index_of(self, x: Number) -> int:
        """The node of a symbol, or of a constant that an operation takes as its argument."""
        if isinstance(x, Symbol) and x.graph is not self:
            x = self.adopted(x)
        return x.index if isinstance(x, Symbol) else self._intern(("const", float(x)))

    def record(self, name: Any, *args: Number) -> Symbol:
        """Record one operation on arguments of which at least one is a symbol; no simplification beyond sharing."""
        indices = [self.index_of(x) for x in args]
        if operation(name).commutative and indices[0] > indices[1]:
            indices.reverse()
        return Symbol(self, self._intern((name, *indices)))

    def has(self, name: str, *indices: int) -> bool:
        return (name, *indices) in self._index

    def constant(self, index: int) -> float | None:
        node = self.nodes[index]
        return node[1] if node[0] == "const" else None


class ParameterGraph(Graph):
    """Numbers that depend on named parameters alone. They can be mixed with the symbols of any other graph, which then has
    inputs for these parameters. Only ever added to, so that copies of a model share it."""

    of_parameters = True

    def record(self, name: Any, *args: Number) -> Symbol:
        other = next((x.graph for x in args if isinstance(x, Symbol) and not isinstance(x.graph, ParameterGraph)), None)
        return super().record(name, *args) if other is None else other.record(name, *args)


def _in_one_graph(a: Symbol, b: Symbol) -> tuple[Number, Number]:
    """Two symbols of different graphs, one of which is that of parameters, as numbers of the other."""
    if isinstance(a.graph, ParameterGraph) and not isinstance(b.graph, ParameterGraph):
        return b.graph.adopted(a), b
    return a, a.graph.adopted(b)


def _is_number(x: object) -> bool:
    return isinstance(x, (int, float, Real)) or (hasattr(x, "__float__") and hasattr(x, "dtype") and getattr(x, "ndim", 1) == 0)


def _is_operand(x: object) -> bool:
    return isinstance(x, Symbol) or _is_number(x)


class Symbol(OneNumber):
    """A number whose value is not known while tracing: one node of a graph."""

    __slots__ = ("graph", "index")

    def __init__(self, graph: Graph, index: int) -> None:
        self.graph = graph
        self.index = index

    def __repr__(self) -> str:
        if isinstance(self.graph, ParameterGraph):
            from .parameters import formula_text

            return f"<parameter {formula_text(self)}>"
        return f"<symbol {self.index}: {self.graph.nodes[self.index]}>"

    # --- arithmetic -----------------------------------------------------------------------------------------------
    def __add__(self, other: Number) -> Number:
        g = self.graph
        if not isinstance(other, Symbol):
            if not _is_number(other):
                return NotImplemented
            if other == 0:
                return self
            return g.record("add", self, other)
        if other.graph is not g:
            return operator.add(*_in_one_graph(self, other))
        a, b = g.nodes[self.index], g.nodes[other.index]
        if b[0] == "neg":
            return self - Symbol(g, b[1])
        if a[0] == "neg":
            return other - Symbol(g, a[1])
        return g.record("add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Number) -> Number:
        g = self.graph
        if not isinstance(other, Symbol):
            if not _is_number(other):
                return NotImplemented
            return self + (-float(other))
        if other.graph is not g:
            return operator.sub(*_in_one_graph(self, other))
        b = g.nodes[other.index]
        if other.index == self.index:
            return 0.0
        if b[0] == "neg":
            return self + Symbol(g, b[1])
        if g.nodes[self.index][0] == "neg":
            return -(Symbol(g, g.nodes[self.index][1]) + other)
        if g.has("sub", other.index, self.index):  # b − a is recorded already: share it
            return -(other - self)
        return g.record("sub", self, other)

    def __rsub__(self, other: Number) -> Number:
        if not _is_number(other):
            return NotImplemented
        if other == 0:
            return -self
        node = self.graph.nodes[self.index]
        if node[0] == "neg":
            return Symbol(self.graph, node[1]) + other
        return self.graph.record("sub", float(other), self)

    def __neg__(self) -> Number:
        g = self.graph
        node = g.nodes[self.index]
        if node[0] == "neg":
            return Symbol(g, node[1])
        if node[0] == "mul" and (c := g.constant(node[1])) is not None:
            return Symbol(g, node[2]) * -c
        if node[0] == "mul" and (c := g.constant(node[2])) is not None:
            return Symbol(g, node[1]) * -c
        return g.record("neg", self)

    def __pos__(self) -> Number:
        return self

    def __mul__(self, other: Number) -> Number:
        g = self.graph
        a = g.nodes[self.index]
        if not isinstance(other, Symbol):
            if not _is_number(other):
                return NotImplemented
            if other == 0:
                return 0.0
            if other == 1:
                return self
            if other == -1:
                return -self
            if a[0] == "neg":
                return Symbol(g, a[1]) * -float(other)
            if a[0] == "mul":  # c·(d·x) = (cd)·x
                for c, x in ((a[1], a[2]), (a[2], a[1])):
                    value = g.constant(c)
                    if value is not None:
                        return Symbol(g, x) * (value * float(other))
            return g.record("mul", self, other)
        if other.graph is not g:
            return operator.mul(*_in_one_graph(self, other))
        b = g.nodes[other.index]
        if a[0] == "neg":
            return -(Symbol(g, a[1]) * other)
        if b[0] == "neg":
            return -(self * Symbol(g, b[1]))
        return g.record("mul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Number:
        if not isinstance(other, Symbol):
            if not _is_number(other):
                return NotImplemented
            if other == 0:
                raise TraceError("division by the constant zero in a traced function")
            return self * (1.0 / float(other))
        if other.graph is not self.graph:
            return operator.truediv(*_in_one_graph(self, other))
        if other.index == self.index:
            return 1.0
        node = self.graph.nodes[self.index]
        if node[0] == "neg":
            return -(Symbol(self.graph, node[1]) / other)
        return self.graph.record("div", self, other)

    def __rtruediv__(self, other: Number) -> Number:
        if not _is_number(other):
            return NotImplemented
        if other == 0:
            return 0.0
        return self.graph.record("div", float(other), self)

    def __pow__(self, exponent: Number) -> Number:
        if isinstance(exponent, Symbol):
            return self.graph.record("pow", self, exponent)
        if not _is_number(exponent):
            return NotImplemented
        if float(exponent).is_integer() and abs(exponent) <= 16:
            n = int(exponent)
            power = _integer_power(self, abs(n))
            return power if n >= 0 else 1.0 / power
        if exponent == 0.5:
            return self.graph.record("sqrt", self)
        return self.graph.record("pow", self, float(exponent))

    def __rpow__(self, base: Number) -> Number:
        if not _is_number(base):
            return NotImplemented
        return self.graph.record("pow", float(base), self)

    def __abs__(self) -> Number:
        return self.graph.record("abs", self)

    # --- what remains of a division: mod is exact, and // goes with it ------------------------------------------------
    def __mod__(self, other: Number) -> Number:
        if not _is_operand(other):
            return NotImplemented
        if not isinstance(other, Symbol) and other == 0:
            raise TraceError("% by the constant zero in a traced function")
        return self.graph.record("mod", self, other)

    def __rmod__(self, other: Number) -> Number:
        return self.graph.record("mod", float(other), self) if _is_number(other) else NotImplemented

    def __floordiv__(self, other: Number) -> Number:
        from .functions import quotient

        return quotient(self, other) if _is_operand(other) else NotImplemented

    def __rfloordiv__(self, other: Number) -> Number:
        from .functions import quotient

        return quotient(float(other), self) if _is_number(other) else NotImplemented

    def __divmod__(self, other: Number) -> tuple[Number, Number]:
        return (self // other, self % other) if _is_operand(other) else NotImplemented

    def __rdivmod__(self, other: Number) -> tuple[Number, Number]:
        return (other // self, other % self) if _is_number(other) else NotImplemented

    # --- comparison: a symbol that `select` understands --------------------------------------------------------------
    def __lt__(self, other: Number) -> Number:
        return self.graph.record("less", self, other) if _is_operand(other) else NotImplemented

    def __le__(self, other: Number) -> Number:
        return self.graph.record("less_equal", self, other) if _is_operand(other) else NotImplemented

    def __gt__(self, other: Number) -> Number:
        return self.graph.record("less", other, self) if _is_operand(other) else NotImplemented

    def __ge__(self, other: Number) -> Number:
        return self.graph.record("less_equal", other, self) if _is_operand(other) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if self is other or not _is_operand(other):
            return self is other
        if isinstance(other, Symbol) and isinstance(self.graph, ParameterGraph):
            return self.graph is other.graph and self.index == other.index  # the same formula: they are keys of dictionaries
        raise TraceError(
            f"whether two numbers are equal {UNKNOWN}: compare with < or >, sharnir.select(abs(a - b) < small, x, y)"
        )

    def __hash__(self) -> int:
        return hash((id(self.graph), self.index)) if isinstance(self.graph, ParameterGraph) else object.__hash__(self)

    # --- numpy: np.sin(symbol), np.float64(2) * symbol, np.where(condition, a, b) --------------------------------------
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from .functions import apply_ufunc

        if method != "__call__" or kwargs:
            raise TraceError(f"numpy.{ufunc.__name__} can be traced as a plain function only, without {method} and options")
        return apply_ufunc(ufunc.__name__, inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .functions import apply_numpy

        return apply_numpy(function, args, kwargs)


def _integer_power(x: Number, n: int) -> Number:
    if n == 0:
        return 1.0
    half = _integer_power(x, n // 2)
    return half * half * x if n % 2 and n > 1 else half * half if n > 1 else x
