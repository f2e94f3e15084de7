"""What Numba must be told to compile the integrators: how to call an address, and what a group of arrays is.

To Numba a group is a `NamedTuple` of arrays, which as an argument is hundreds of numbers. Here it is one: the address of a
list of integers, address and shape of each array in turn. A function then has a handful of arguments and compiles in a
fraction of the time. The list never changes while the code runs, and the code generator is told so.

Imported only when something is compiled: with a warm cache Numba is not even loaded.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, models, register_model
from numba.np.arrayobj import make_array, populate_array

from ..kernels.arrays import Array

_NUMBERS = {float: types.float64, "int64": types.int64, complex: types.complex128}
_WORD = ir.IntType(64)


def words(group: Any) -> int:
    """How long the list of a group is: for each array its address and its shape."""
    parts = group.__annotations__.values()
    return sum(1 + len(part.shape) if issubclass(part, Array) else words(part) for part in parts)


@intrinsic
def invoke(typing_context: Any, address: Any, arguments: Any) -> Any:
    """Call `void f(int64 *arguments)` at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = ir.IntType(8).as_pointer()
        function = builder.inttoptr(args[0], ir.FunctionType(ir.VoidType(), [pointer]).as_pointer())
        builder.call(function, [builder.inttoptr(args[1], pointer)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


class GroupType(types.Type):
    def __init__(self, group: Any) -> None:
        self.group = group
        super().__init__(name=f"{group.__module__}.{group.__name__}")


@register_model(GroupType)
class GroupModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _WORD)


def _type_of(part: Any) -> Any:
    if not issubclass(part, Array):
        return GroupType(part)
    return types.Array(_NUMBERS[getattr(part, "dtype", float)], len(part.shape), "C")


@infer_getattr
class GroupAttribute(AttributeTemplate):
    key = GroupType

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
        part = kind.group.__annotations__.get(name)
        return None if part is None else _type_of(part)


@lower_getattr_generic(GroupType)
def _lower(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    """The part of a group: another group is further down the list, an array is put together from what stands there."""
    at = 0
    for other, part in kind.group.__annotations__.items():
        if other == name:
            break
        at += 1 + len(part.shape) if issubclass(part, Array) else words(part)
    place = builder.add(value, _WORD(8 * at))
    if not issubclass(part, Array):
        return place
    numbers = [_constant_word(builder, place, k) for k in range(1 + len(part.shape))]
    array_type = _type_of(part)
    number = context.get_data_type(array_type.dtype)
    itemsize = _WORD(context.get_abi_sizeof(number))
    strides: list[Any] = []
    step = itemsize
    for size in reversed(numbers[1:]):
        strides.insert(0, step)
        step = builder.mul(step, size, flags=["nsw"])
    out = make_array(array_type)(context, builder)
    data = builder.inttoptr(numbers[0], number.as_pointer())
    populate_array(out, data=data, shape=numbers[1:], strides=strides, itemsize=itemsize, meminfo=None)
    return out._getvalue()


def _constant_word(builder: Any, place: Any, k: int) -> Any:
    word = builder.load(builder.inttoptr(builder.add(place, _WORD(8 * k)), _WORD.as_pointer()))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


def group_at(group: Any) -> Any:
    """A function for compiled code: the group whose list is at an address."""

    @intrinsic
    def at(typing_context: Any, address: Any) -> Any:
        return GroupType(group)(types.int64), lambda context, builder, signature, args: args[0]

    return at
