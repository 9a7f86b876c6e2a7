"""The evaluator on an NVIDIA GPU: graphs, half precision and compiled networks say what float32 on the CPU says."""

import warnings

import numpy as np
import pytest

from mini_alphago.game import Board, stack_boards
from mini_alphago.model import Evaluator, KataGoNetwork, PolicyValueNetwork
from mini_alphago.model.evaluator import disagreement, trial_planes

from .weights import trained

pytestmark = pytest.mark.cuda


@pytest.mark.parametrize("precision", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("compiled", [False, True])
def test_agrees_with_the_cpu_for_every_batch_size(precision: str, compiled: bool) -> None:
    network = trained(KataGoNetwork(6, 96))
    exact = Evaluator(network, "cpu", "f32", engine="torch")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        evaluator = Evaluator(network, "cuda", precision, compiled=compiled)
    assert evaluator.precision == precision
    for count in (1, 3, 64, 100):
        planes, sizes = np.resize(trial_planes(exact.encoding, 9), (count, 22, 9, 9)), np.full(count, 9)
        assert disagreement(exact.run(planes, sizes), evaluator.run(planes, sizes)) is None
        assert disagreement(exact.run(planes, sizes), evaluator.run(planes, sizes)) is None  # and again


def test_batches_beyond_the_largest_graph() -> None:
    network = trained(PolicyValueNetwork(9, 7, 32, 2))
    evaluator = Evaluator(network, "cuda")
    planes = np.resize(trial_planes(evaluator.encoding, 9), (5000, 7, 9, 9))
    everything = evaluator.run(planes, np.full(5000, 9))
    assert everything.policy.shape == (5000, 82)
    np.testing.assert_allclose(everything.value[4096:4112], everything.value[:16], atol=1e-2)


def test_mixed_sizes_and_symmetries() -> None:
    network = trained(KataGoNetwork(3, 32))
    boards = [Board(5), Board(9), Board(7)]
    for board in boards:
        board.play(2, 2)
    for average in (False, True):
        exact = Evaluator(network, "cpu", "f32", average_symmetries=average)
        evaluator = Evaluator(network, "cuda", average_symmetries=average)
        games = stack_boards(boards)
        assert disagreement(exact.evaluate(games), evaluator.evaluate(games)) is None
