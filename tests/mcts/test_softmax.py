"""The softmax in float32, beside NumPy's exponential in float64."""

import numpy as np
import pytest

from mini_alphago.kernel import kernel
from mini_alphago.mcts.softmax import exp32, softmax

SMALLEST = 2.0**-126


@kernel
def powers(values, out):
    for i in range(len(values)):
        out[i] = exp32(values[i])


def relative(found, exact):
    return np.abs(found.astype(np.float64) - exact) / exact


def test_the_exponential():
    x = np.concatenate([np.linspace(-100, 0, 200_001), -np.logspace(-8, 2, 10_001)]).astype(np.float32)
    found = np.empty_like(x)
    powers(x, found)
    exact = np.maximum(np.exp(x.astype(np.float64)), SMALLEST)
    assert relative(found, exact).max() < 4e-6
    near = x >= -1
    assert relative(found[near], exact[near]).max() < 2e-7


@pytest.mark.parametrize("count", [*range(1, 10), 82, 362])
def test_the_softmax(count):
    """Of every length: four at a time, and what is left over."""
    rng = np.random.default_rng(count)
    for spread in (0.0, 1.0, 5.0, 20.0):
        for shift in (-50.0, 0.0, 50.0):
            values = rng.normal(shift, spread, count).astype(np.float32)
            exact = np.exp(values.astype(np.float64) - values.max())
            exact /= exact.sum()
            softmax(values)
            np.testing.assert_allclose(values, exact, rtol=1e-5, atol=SMALLEST)
            assert values.sum(dtype=np.float64) == pytest.approx(1, abs=2e-6)
