"""How `CudaGraphBackend` shares memory among graphs and chooses their sizes; what a device would do is made up."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from mini_alphago.model import KataGoNetwork, get_encoding
from mini_alphago.model.inference import CudaGraphBackend, Ready, _Captured

ROW = (22, 5, 5)


class MadeUp(CudaGraphBackend):
    """On the CPU: an answer is the sum of its planes, written when a graph is launched."""

    def __init__(self) -> None:
        network, scale = KataGoNetwork(1, 8), get_encoding("katago").scale
        super().__init__(Ready(network, scale, torch.float32), torch.device("cpu"), compiled=False, largest=64)
        self.launched: list[int] = []

    def _capture(self, inputs: Tensor) -> _Captured:
        outputs = (torch.zeros(len(inputs), 26), torch.zeros(len(inputs)), torch.tensor(True))
        nothing: Any = SimpleNamespace(synchronize=lambda: None)
        return _Captured(nothing, nothing, inputs, inputs, outputs, nothing)

    @torch.inference_mode()
    def _launch(self, captured: _Captured) -> None:
        self.launched.append(len(captured.inputs))
        captured.outputs[1].copy_(captured.inputs.flatten(1).sum(dim=1))


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> MadeUp:
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: tensor)  # no device, nothing to pin it for
    return MadeUp()


def draw(seed: int, rows: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, (rows, *ROW), np.int8)


def test_all_graphs_of_a_lane_read_the_same_memory(backend: MadeUp) -> None:
    memory = [backend.buffer((32, *ROW), lane) for lane in (0, 1)]
    for rows, size in ((32, 32), (25, 32), (24, 24), (17, 24), (16, 16), (9, 16), (8, 8), (1, 8), (30, 32)):
        planes = [draw(rows + lane, rows) for lane in (0, 1)]
        collect = []
        for lane in (0, 1):
            memory[lane][:rows] = planes[lane]
            collect.append(backend.start(memory[lane][:rows], lane))
        for lane in (0, 1):
            _, value, _, _ = collect[lane]()
            np.testing.assert_array_equal(value, planes[lane].sum(axis=(1, 2, 3)))
        assert backend.launched[-2:] == [size, size], "whole quarters of the memory"
    assert len(backend._graphs) == 8


def test_planes_from_elsewhere_are_copied(backend: MadeUp) -> None:
    memory = backend.buffer((32, *ROW), 0)
    planes = draw(1, 20)
    _, value, _, _ = backend.start(planes, 0)()
    np.testing.assert_array_equal(value, planes.sum(axis=(1, 2, 3)))
    np.testing.assert_array_equal(memory[:20], planes)
    _, value, _, _ = backend(planes[:3], None)  # of no lane, and so in a graph of its own, as small as can be
    np.testing.assert_array_equal(value, planes[:3].sum(axis=(1, 2, 3)))
    assert backend.launched == [24, 4]
    assert backend.start(draw(2, 65), 0) is None
    assert backend.start(draw(2, 65), 5) is None


def test_a_lane_may_be_larger_than_any_other_question(backend: MadeUp) -> None:
    small = backend.buffer((20, *ROW), 0)
    for rows in (1, 20):
        backend.start(small[:rows], 0)()
    memory = backend.buffer((200, *ROW), 0)
    for rows, size in ((200, 256), (180, 192), (100, 128), (65, 128), (30, 64)):
        planes = draw(rows, rows)
        memory[:rows] = planes
        _, value, _, _ = backend.start(memory[:rows], 0)()
        np.testing.assert_array_equal(value, planes.sum(axis=(1, 2, 3)))
        assert backend.launched[-1] == size
    assert backend.start(draw(2, 257), 0) is None
