"""A network made ready to answer fast: batch norms folded into convolutions, half precision, graphs, or OpenVINO.

A backend takes planes as bytes and returns what `NetworkOutput` holds, as NumPy arrays. All compute the same function;
`Evaluator` chooses among them and checks that they do.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from .base import Network
from .norms import fold

Precision = Literal["f32", "bf16", "f16"]
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
NOT_FINITE = "the network gave numbers that are not finite: its weights are damaged or its training has diverged"
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]  # policy, value, score, ownership


class Ready(nn.Module):
    """A folded network that takes planes as bytes."""

    scale: Tensor

    def __init__(self, network: Network, scale: np.ndarray, dtype: torch.dtype) -> None:
        super().__init__()
        self.network: Network = fold(network).to(dtype)
        self.register_buffer("scale", torch.from_numpy(scale).view(1, -1, 1, 1).to(dtype))

    def forward(self, planes: Tensor, mask: Tensor | None = None) -> tuple[Tensor, ...]:
        """[B, C, N, N] int8 → policy, value, and score and ownership if the network has them, all in float32.

        Half precision is made wide where it was computed: a CPU beside a GPU has the trees to see to.
        """
        x = planes.to(self.scale.dtype, memory_format=torch.channels_last) * self.scale
        out = self.network.outputs(x, mask)
        return tuple(part.float() for part in out if part is not None)


class Backend(Protocol):
    """Something that evaluates planes."""

    def __call__(self, planes: np.ndarray, mask: np.ndarray | None) -> Arrays:
        """Planes `[B, C, N, N]` int8, `mask` `[B, 1, N, N]` bool of points on the board or None if all are."""

    def update(self, ready: Ready) -> None:
        """Compute with these weights from now on; the network has the same shape as before."""


def as_arrays(parts: tuple[Any, ...]) -> Arrays:
    """Two or four tensors or arrays, as backends return them."""
    arrays = [part.cpu().numpy() if isinstance(part, Tensor) else np.asarray(part) for part in parts]
    return arrays[0], arrays[1], *(arrays[2:] if len(arrays) == 4 else (None, None))


class TorchBackend:
    """PyTorch as it comes, on any device."""

    def __init__(self, ready: Ready, device: torch.device) -> None:
        self.ready = ready.to(device=device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._device = device

    @torch.inference_mode()
    def __call__(self, planes: np.ndarray, mask: np.ndarray | None) -> Arrays:
        """See Backend."""
        on_board = None if mask is None else torch.from_numpy(mask).to(self._device)
        return as_arrays(self.ready(torch.from_numpy(planes).to(self._device), on_board))

    def update(self, ready: Ready) -> None:
        """See Backend. The weights are written in place: captured graphs know them by their address."""
        self.ready.load_state_dict(ready.state_dict())


_RUN_LANE = -1  # of questions whose answer is waited for at once


class CudaGraphBackend:
    """One captured CUDA graph for each batch size in use, powers of two: copy in, evaluate, copy out, one launch.

    A lane whose planes are written where they are read has four sizes, the quarters of that memory: more would take
    longer to compile than they could ever save, and without three quarters, games that have fewer simulations than
    others would save nothing. Boards that do not fill the tensor go the plain way.
    """

    def __init__(self, ready: Ready, device: torch.device, compiled: bool, largest: int = 4096) -> None:
        self._plain = TorchBackend(ready, device)
        self._ready: Callable[..., Any] = self._plain.ready
        if compiled:
            torch._dynamo.config.recompile_limit = 64  # one for each batch and board size in use
            self._ready = torch.compile(self._plain.ready, dynamic=False)
        self._device = device
        self._largest = largest
        self._graphs: dict[tuple[tuple[int, ...], int], _Captured] = {}  # by shape and lane
        self._inputs: dict[tuple[tuple[int, ...], int], Tensor] = {}  # by shape of a row and lane
        self._rows: dict[int, int] = {}  # of the memory of a lane, where `buffer` was asked for it
        self._launcher = ThreadPoolExecutor(1, "launch")

    @torch.inference_mode()
    def __call__(self, planes: np.ndarray, mask: np.ndarray | None) -> Arrays:
        """See Backend."""
        if mask is not None:
            return self._plain(planes, mask)
        batches = [self._run(planes[i : i + self._largest]) for i in range(0, len(planes), self._largest)]
        return as_arrays(tuple(torch.cat(parts) for parts in zip(*batches, strict=True)))

    def update(self, ready: Ready) -> None:
        """See Backend."""
        self._plain.update(ready)

    def _run(self, planes: np.ndarray) -> tuple[Tensor, ...]:
        captured = self._graph(planes.shape, _RUN_LANE)
        captured.put(planes)
        self._launch(captured)
        captured.done.synchronize()
        return tuple(part[: len(planes)].clone() for part in captured.outputs[:-1])

    @torch.inference_mode()
    def start(self, planes: np.ndarray, lane: int) -> Callable[[], Arrays] | None:
        """Let the device begin with planes that fill their boards; the function that is returned waits for the answer.

        None if there are too many of them. The answer's arrays are those of the lane, not copies.
        """
        if len(planes) > self._room(lane):
            return None
        captured = self._graph(planes.shape, lane)
        captured.put(planes)
        # A launch takes the CPU a tenth of a millisecond: a thread of its own does it while the caller goes on.
        launched = self._launcher.submit(self._launch, captured)

        def collect() -> Arrays:
            launched.result()
            captured.done.synchronize()
            *parts, finite = captured.outputs
            if not finite:
                raise FloatingPointError(NOT_FINITE)
            return as_arrays(tuple(part[: len(planes)] for part in parts))

        return collect

    @torch.inference_mode()
    def buffer(self, shape: tuple[int, ...], lane: int) -> np.ndarray:
        """Where `start` on that lane reads planes of this shape: written there, they are not copied."""
        self._rows[lane] = _power_of_two(shape[0])
        memory: np.ndarray = self._memory(shape[1:], lane).numpy()[: shape[0]]
        return memory

    def _room(self, lane: int) -> int:
        """The most rows of a question on this lane."""
        return self._rows.get(lane, self._largest)

    def _memory(self, row: tuple[int, ...], lane: int) -> Tensor:
        """Where all graphs of a lane read rows of that shape, pinned: a lane has one question at a time."""
        key, rows = (row, lane), self._room(lane)
        if key not in self._inputs or len(self._inputs[key]) < rows:  # graphs that read another keep it
            self._inputs[key] = torch.zeros((rows, *row), dtype=torch.int8).pin_memory()
        return self._inputs[key]

    def _graph(self, shape: tuple[int, ...], lane: int) -> "_Captured":
        size = _graph_size(shape[0], self._rows.get(lane))
        key = ((size, *shape[1:]), lane)
        if key not in self._graphs:
            self._graphs[key] = self._capture(self._memory(shape[1:], lane)[:size])
        return self._graphs[key]

    def _launch(self, captured: "_Captured") -> None:
        with torch.cuda.device(self._device), torch.cuda.stream(captured.stream):
            captured.stream.wait_stream(torch.cuda.default_stream(self._device))  # where weights are written
            captured.graph.replay()
            captured.done.record(captured.stream)

    def _capture(self, inputs: Tensor) -> "_Captured":
        """Each graph has a stream of its own, so that one's copies go on while another computes.

        It is captured on that stream too: libraries keep room to work for each stream, which two must not share.
        """
        on_device = torch.zeros(inputs.shape, dtype=torch.int8, device=self._device)
        stream = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(stream):
            for _ in range(3):  # kernels are chosen and compiled outside the capture
                parts = _with_flag(self._ready(on_device))
        torch.cuda.current_stream(self._device).wait_stream(stream)
        outputs = tuple(torch.empty_like(part, device="cpu").pin_memory() for part in parts)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            on_device.copy_(inputs, non_blocking=True)
            for target, part in zip(outputs, _with_flag(self._ready(on_device)), strict=True):
                target.copy_(part, non_blocking=True)
        return _Captured(graph, stream, inputs, on_device, outputs, torch.cuda.Event())  # type: ignore[no-untyped-call]


def _power_of_two(least: int) -> int:
    """The smallest that is not below `least`."""
    return 1 << max(0, least - 1).bit_length()


def _graph_size(wanted: int, memory: int | None) -> int:
    """Rows of the graph for so many: whole quarters of the lane's memory, a power of two if it has none."""
    if memory is None:
        return _power_of_two(wanted)
    quarter = max(1, memory // 4)
    return -(-wanted // quarter) * quarter


def _with_flag(parts: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The parts, and whether policy and value are finite: the device has seen it before the CPU could have looked."""
    return *parts, torch.isfinite(parts[0]).all() & torch.isfinite(parts[1]).all()


class _Captured(NamedTuple):
    """A graph and all memory that it knows by address only: what nobody holds would be given to somebody else."""

    graph: torch.cuda.CUDAGraph
    stream: torch.cuda.Stream
    inputs: Tensor  # pinned, on the host
    on_device: Tensor
    outputs: tuple[Tensor, ...]  # pinned, on the host; the last says whether the others are finite
    done: torch.cuda.Event  # of the last replay

    def put(self, planes: np.ndarray) -> None:
        """Write planes where the graph reads them, unless they are there already."""
        if planes.ctypes.data != self.inputs.data_ptr():
            self.inputs.numpy()[: len(planes)] = planes
