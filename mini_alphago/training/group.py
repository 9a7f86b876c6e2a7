"""One step by several processes: each has a part of the batch, and together they do what one would do with all of it.

All parts are equally large. So the gradient of the whole batch is the mean of what the processes find, if two things
are made common before: the statistics of batch norms, and over how many positions a mean is where not all are known.
What is added up here is the same on all of them, so all take the same step, and stay alike.
"""

import datetime
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from ..model import Network
from ..model.blocks import BoardMask, MaskedBatchNorm2d
from .config import LearningSettings
from .samples import Batch
from .trainer import Trainer

Shapes = list[tuple[torch.Size, torch.dtype] | None]
"""Of the fields of one process' part of a batch."""


_HERE = "127.0.0.1"
Store = Any
"""A torch.distributed.TCPStore, which is not in every build of PyTorch."""


class LostError(Exception):
    """The processes cannot reach each other any more."""


def open_store() -> Store:
    """Where the processes of a group find each other: in the first of them, for this machine only."""
    listener = socket.create_server((_HERE, 0))
    port = listener.getsockname()[1]
    return dist.TCPStore(  # type: ignore[attr-defined]
        _HERE, port, is_master=True, wait_for_workers=False, master_listen_fd=listener.detach()
    )


def join_group(device: torch.device, rank: int, processes: int, store: Store | int, timeout: float) -> None:
    """Become process `rank` of the group; returns when all are there. LostError if they do not come in time.

    store: of `open_store`; its port in all processes but the first. timeout: seconds that anybody ever waits.
    """
    patience, backend, own = datetime.timedelta(seconds=timeout), "gloo", None
    if device.type == "cuda":
        backend, own = "nccl", device
        # Who waits for a GPU that is gone is to be told so, not ended: see ParallelTrainer.check_weights.
        os.environ.setdefault("TORCH_NCCL_ASYNC_ERROR_HANDLING", "2")
    elif sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # nobody outside this machine is to hear of it

    if isinstance(store, int):
        store = _reach(dist.TCPStore, _HERE, store, timeout=patience)  # type: ignore[attr-defined]
    options = {"store": store, "rank": rank, "world_size": processes, "timeout": patience, "device_id": own}
    _reach(dist.init_process_group, backend, **options)


def _reach(operation: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    try:
        return operation(*arguments, **options)
    except RuntimeError as error:
        raise LostError(str(error).splitlines()[0]) from error


class _Total(torch.autograd.Function):
    """The sum over all processes; its gradient is the sum of what all of them make of it."""

    @staticmethod
    def forward(context: Any, part: Tensor) -> Tensor:
        part = part.clone(memory_format=torch.contiguous_format)
        _reach(dist.all_reduce, part)
        return part

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> Tensor:
        return total(gradients[0])


def total(part: Tensor) -> Tensor:
    """The sum of every process' `part`, the same on all of them; gradients go through it. LostError."""
    whole: Tensor = _Total.apply(part)  # type: ignore[no-untyped-call]
    return whole


def shapes_of_part(batch: Batch, processes: int) -> Shapes:
    """What one process gets of a batch."""
    rows = len(batch.planes) // processes
    return [None if field is None else (torch.Size((rows, *field.shape[1:])), field.dtype) for field in batch]


def scatter(batch: Batch | None, shapes: Shapes, device: torch.device) -> Batch:
    """The part of this process; `batch` is the whole of it on the first process, None on the others. LostError."""
    part: list[Tensor | None] = []
    for i, shape in enumerate(shapes):
        if shape is None:
            part.append(None)
            continue
        field = torch.empty(shape[0], dtype=shape[1], device=device)
        whole = None if batch is None else batch[i]
        _reach(dist.scatter, field, None if whole is None else list(whole.chunk(dist.get_world_size())), src=0)
        part.append(field)
    return Batch(*part)  # type: ignore[arg-type]


class SharedBatchNorm2d(MaskedBatchNorm2d):
    """Batch norm whose statistics, in training, are those of the whole batch; an ordinary one without a group."""

    def forward(self, x: Tensor, board: BoardMask | None = None) -> Tensor:
        """See MaskedBatchNorm2d; in training boards fill the tensor, as those of a run do."""
        if not self.training or not dist.is_initialized():
            return super().forward(x, board)
        if board is not None:
            raise ValueError("processes that learn together take boards of one size")
        full, processes = x.float(), dist.get_world_size()
        var, mean = torch.var_mean(full, dim=(0, 2, 3), correction=0)
        rows = torch.zeros(processes, 2, len(mean), device=x.device)
        rows[dist.get_rank()] = torch.stack((mean, var))
        means, variances = total(rows).unbind(dim=1)  # [processes, C]: one message for both
        mean = means.mean(dim=0)
        var = (variances + (means - mean).square()).mean(dim=0)
        count = processes * x.numel() // x.shape[1]
        self._track(mean, var * (count / (count - 1)))
        scale = self.weight * (var + self.eps).rsqrt()
        shift = self.bias - mean * scale
        return torch.addcmul(shift.view(1, -1, 1, 1), full, scale.view(1, -1, 1, 1)).to(x.dtype)


def _share_norms(module: nn.Module) -> None:
    for norm in module.modules():
        if isinstance(norm, MaskedBatchNorm2d):
            norm.__class__ = SharedBatchNorm2d  # the same weights by the same names; only training is different


class SharedTrainer(Trainer):
    """A `Trainer` of this process' parts of batches; all processes of the group take each step together.

    It returns the losses of the whole batch. Steps are not captured as CUDA graphs: messages between processes would be
    part of them, and one that never comes could not be told from one that takes long.
    """

    def __init__(self, network: Network, learning_rate: float, settings: LearningSettings) -> None:
        super().__init__(network, learning_rate, settings)
        self._graphed = None
        _share_norms(network)
        _share_norms(self.extra_heads)

    def _count(self, known: Tensor) -> Tensor:
        return total(known.sum()).clamp(min=1) / dist.get_world_size()

    @torch.no_grad()
    def _gather(self, parts: dict[str, Tensor]) -> dict[str, Tensor]:
        gradients = [parameter.grad for parameter in self._parameters() if parameter.grad is not None]
        found = torch.stack(list(parts.values()))
        flat = total(torch.cat([*(gradient.flatten() for gradient in gradients), found])) / dist.get_world_size()
        pieces = torch.split(flat, [*(gradient.numel() for gradient in gradients), len(found)])
        for gradient, piece in zip(gradients, pieces[:-1], strict=True):
            gradient.copy_(piece.view_as(gradient))
        return dict(zip(parts, pieces[-1].clone(), strict=True))

    def weigh(self) -> float:
        """One number for all weights and statistics, the same only if they are; waits for the device."""
        tensors = enumerate(self.network.state_dict().values(), start=1)
        return float(sum(number * tensor.double().abs().sum() for number, tensor in tensors))
