"""A training step as one launch: on CUDA, the hundreds of small operations of a step are captured once and replayed."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from .samples import Batch

Compute = Callable[[Batch], dict[str, Tensor]]
_EAGER_STEPS = 11  # before the capture: PyTorch chooses and sets up its kernels in them


class GraphedStep:
    """Runs `compute`, a whole training step on the device, first as it is, then as a captured graph.

    compute: takes a batch on the device, changes weights in place, returns losses; it reads nothing back, and what
    changes from step to step (the learning rate) it knows as tensors. Batches of a shape of their own are computed
    as they are.
    """

    def __init__(self, compute: Compute, device: torch.device) -> None:
        self._compute, self._device = compute, device
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._steps = 0
        self._shapes: list[torch.Size | None] = []  # of the last batch
        self._captured: _Captured | None = None

    def __call__(self, batch: Batch) -> dict[str, Tensor]:
        """One step; the losses stay on the device."""
        before, self._shapes = self._shapes, _shapes(batch)
        usual = before if self._captured is None else _shapes(self._captured.batch)
        if self._steps < _EAGER_STEPS or self._shapes != usual:
            self._steps += 1
            current = torch.cuda.current_stream(self._device)
            self._stream.wait_stream(current)  # a capture wants to follow steps on a stream of their own
            with torch.cuda.stream(self._stream):
                parts = self._compute(batch.to(self._device))
            current.wait_stream(self._stream)
            return parts
        if self._captured is None:
            self._captured = self._capture(batch)
        captured = self._captured
        for static, part in zip(captured.batch, batch, strict=True):
            if static is not None and part is not None:
                static.copy_(part, non_blocking=True)
        captured.graph.replay()
        return dict(zip(captured.names, captured.losses.clone(), strict=True))

    def _capture(self, batch: Batch) -> "_Captured":
        static = batch.to(self._device)
        torch.cuda.synchronize(self._device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self._stream):  # by default one of the first device, whichever is meant
            parts = self._compute(static)
            losses = torch.stack(list(parts.values()))
        return _Captured(graph, static, list(parts), losses)


class _Captured(NamedTuple):
    """The graph, and the memory that it reads and writes."""

    graph: torch.cuda.CUDAGraph
    batch: Batch
    names: list[str]
    losses: Tensor  # [names]


def _shapes(batch: Batch) -> list[torch.Size | None]:
    return [None if part is None else part.shape for part in batch]
