"""Inputs of networks, made up: planes, and small boards in large tensors."""

import torch
from torch import Tensor

from mini_alphago.model.network import Network


def random_planes(batch: int, planes: int, size: int) -> Tensor:
    """Planes as sparse as a real position's: [B, C, N, N] of 0 and 1."""
    return (torch.rand(batch, planes, size, size) < 0.3).float()


def planes_for(network: Network, batch: int, size: int = 5) -> Tensor:
    return random_planes(batch, network.config.input_planes, size)


def embed(planes: Tensor, size: int, row: int = 0, column: int = 0, off: float = 0.0) -> tuple[Tensor, Tensor]:
    """Boards [B, C, n, n] laid into [B, C, size, size] with `off` around them, and their mask [B, 1, size, size]."""
    batch, channels, n, _ = planes.shape
    large = torch.full((batch, channels, size, size), off)
    mask = torch.zeros(batch, 1, size, size, dtype=torch.bool)
    large[:, :, row : row + n, column : column + n] = planes
    mask[:, :, row : row + n, column : column + n] = True
    return large, mask
