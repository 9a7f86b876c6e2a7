"""What kernels need of the machine and Numba does not offer: copying memory at once, and numbers by their bits."""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.typing.templates import Signature

intrinsic: Any = extending.intrinsic  # what it makes takes one argument less than what it is given
_memcpy: Any = cgutils.raw_memcpy


@intrinsic  # type: ignore[untyped-decorator]
def copy_row(typing_context: Any, target: Any, source: Any, count: Any) -> tuple[Signature, Any]:
    """Copy the first `count` entries of a row `source`, a C array [n], to another of its type.

    Not checked: that both have so many and are not the same memory. A loop over records copies them one by one.
    """
    for array in (target, source):
        if not isinstance(array, types.Array) or (array.ndim, array.layout, array.dtype) != (1, "C", target.dtype):
            raise TypingError(f"rows are C arrays of one dimension and one type, not {target} and {source}")

    def generate(context: Any, builder: Any, signature: Signature, arguments: Any) -> Any:
        to, of = (
            context.make_array(array)(context, builder, value).data
            for array, value in zip(signature.args[:2], arguments[:2], strict=True)
        )
        size = context.get_abi_sizeof(context.get_data_type(target.dtype))
        _memcpy(builder, to, of, arguments[2], size)
        return context.get_dummy_value()

    return types.void(target, source, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def float_of_bits(typing_context: Any, bits: Any) -> tuple[Signature, Any]:
    """The float32 whose bits an int32 has."""

    def generate(context: Any, builder: Any, signature: Signature, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate


@intrinsic  # type: ignore[untyped-decorator]
def take(typing_context: Any, counter: Any, amount: Any) -> tuple[Signature, Any]:
    """Add to counter[0], a C array of int64, and return what it was; threads may do so at once."""

    def generate(context: Any, builder: Any, signature: Signature, arguments: Any) -> Any:
        place = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", place, arguments[1], "monotonic")

    return types.int64(counter, types.int64), generate
