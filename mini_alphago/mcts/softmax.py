"""A softmax in float32 that goes over many numbers at a time: libm's exponential takes them one by one."""

from typing import Any

import numpy as np

from ..intrinsics import float_of_bits
from ..kernel import inlined_kernel, kernel

# 2^f on [0, 1) to a relative error of 1e-7 (Chebyshev nodes, constant term first)
_POLYNOMIAL = (
    np.polynomial.chebyshev.Chebyshev.interpolate(np.exp2, 6, domain=[0, 1])
    .convert(kind=np.polynomial.Polynomial)
    .coef.astype(np.float32)
)
_C0, _C1, _C2, _C3, _C4, _C5, _C6 = _POLYNOMIAL
_LOG2_E = np.float32(np.log2(np.e))
_LOWEST = np.float32(-126)  # 2^-126 is the smallest normal number
_ONE, _BIAS, _MANTISSA = np.float32(1), np.int32(127), np.int32(23)


@inlined_kernel
def exp32(x: float) -> float:
    """e^x of a float32 that is not positive, to 4e-6 of it, from -1 on to 2e-7; less than 2^-126 counts as that."""
    power = max(x * _LOG2_E, _LOWEST)
    whole = np.floor(power)
    f = power - whole
    fraction = _C0 + f * (_C1 + f * (_C2 + f * (_C3 + f * (_C4 + f * (_C5 + f * _C6)))))
    return fraction * float_of_bits((np.int32(whole) + _BIAS) << _MANTISSA)


@kernel
def softmax(values: Any) -> None:
    """Turn float32 values, [n] and at least one, into their softmax, in place, each to 1e-5 of it."""
    count, even = len(values), len(values) & ~3
    a = b = c = d = values[0]  # four largest, and then four sums: none need wait for another
    for i in range(0, even, 4):
        a, b = max(a, values[i]), max(b, values[i + 1])
        c, d = max(c, values[i + 2]), max(d, values[i + 3])
    for i in range(even, count):
        a = max(a, values[i])
    largest = max(max(a, b), max(c, d))
    for i in range(count):
        values[i] = exp32(values[i] - largest)
    a = b = c = d = np.float32(0)
    for i in range(0, even, 4):
        a, b = a + values[i], b + values[i + 1]
        c, d = c + values[i + 2], d + values[i + 3]
    for i in range(even, count):
        a += values[i]
    factor = _ONE / (a + b + (c + d))
    for i in range(count):
        values[i] *= factor
