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
        warnings.filterwarnings("error", ".* does not work here")  # torch has other advice
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


def test_a_graph_keeps_its_memory_to_itself() -> None:
    """Whatever is allocated after a capture is not written by the graph, and does not change its answers."""
    import torch

    evaluator = Evaluator(trained(KataGoNetwork(3, 32)), "cuda")
    planes, sizes = np.resize(trial_planes(evaluator.encoding, 9), (256, 22, 9, 9)), np.full(256, 9)
    first = evaluator.run(planes, sizes)
    others = [torch.full((256 * 22 * 81 // 4,), 7.0, device="cuda") for _ in range(64)]
    again = evaluator.run(planes, sizes)
    assert all(bool((other == 7.0).all()) for other in others)
    np.testing.assert_array_equal(first.value, again.value)
    np.testing.assert_array_equal(first.policy, again.policy)


def test_update_changes_the_weights_of_captured_graphs() -> None:
    networks = [trained(KataGoNetwork(3, 32)), KataGoNetwork(3, 32).eval()]
    for compiled in (False, True):
        evaluator = Evaluator(networks[0], "cuda", compiled=compiled)
        planes, sizes = trial_planes(evaluator.encoding, 9), np.full(16, 9)
        for network in (networks[0], networks[1], networks[0]):
            evaluator.update(network)
            exact = Evaluator(network, "cpu", "f32", engine="torch").run(planes, sizes)
            assert disagreement(exact, evaluator.run(planes, sizes)) is None


def test_lanes_in_parts_of_their_memory() -> None:
    network = trained(KataGoNetwork(3, 32))
    exact, evaluator = Evaluator(network, "cpu", "f32", engine="torch"), Evaluator(network, "cuda")
    memory = [evaluator.buffer((64, 22, 9, 9), lane) for lane in (0, 1)]
    for rows in (64, 48, 40, 20, 5, 64):
        sizes, collect = np.full(rows, 9), []
        for lane in (0, 1):
            memory[lane][:rows] = np.roll(np.resize(trial_planes(exact.encoding, 9), (rows, 22, 9, 9)), lane, axis=0)
            collect.append(evaluator.submit(memory[lane][:rows], sizes, lane))
        for lane in (0, 1):
            assert disagreement(exact.run(memory[lane][:rows].copy(), sizes), collect[lane]()) is None
