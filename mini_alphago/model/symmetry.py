"""The eight symmetries of the square board, as index tables.

Symmetry 0 is the identity; 1 flips rows, 2 flips columns, 4 swaps rows and columns, and the sums combine them (the swap
last). `apply` moves planes, policies and ownership alike: what stood on point p stands on `point_table(size)[s, p]`.
"""

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

COUNT = 8


@lru_cache(maxsize=64)
def point_table(size: int) -> np.ndarray:
    """[8, size² + 1] int64: where each point goes, the pass staying the pass."""
    x, y = np.divmod(np.arange(size * size), size)
    table = np.empty((COUNT, size * size + 1), np.int64)
    for symmetry in range(COUNT):
        i = size - 1 - x if symmetry & 1 else x
        j = size - 1 - y if symmetry & 2 else y
        table[symmetry, :-1] = j * size + i if symmetry & 4 else i * size + j
    table[:, -1] = size * size
    table.flags.writeable = False
    return table


@lru_cache(maxsize=64)
def inverse_table(size: int) -> np.ndarray:
    """[8, size² + 1] int64: where each point comes from, so that indexing with row s moves a vector by s."""
    table = np.argsort(point_table(size), axis=1)
    table.flags.writeable = False
    return table


def inverse(symmetry: int) -> int:
    """The symmetry that undoes this one."""
    return {5: 6, 6: 5}.get(symmetry, symmetry)


def apply(array: np.ndarray, symmetry: int, size: int) -> np.ndarray:
    """A moved copy of planes `[..., size, size]`, of ownership `[..., size²]`, or of policies `[..., size² + 1]`."""
    source = inverse_table(size)[symmetry]
    if array.shape[-2:] == (size, size):
        flat = array.reshape(*array.shape[:-2], size * size)
        return flat[..., source[:-1]].reshape(array.shape)
    if array.shape[-1] not in (size * size, size * size + 1):
        raise ValueError(
            f"an array of shape {list(array.shape)} is neither planes nor a vector of a {size}×{size} board"
        )
    return array[..., source[: array.shape[-1]]]


def apply_encoded(planes: np.ndarray, drawn: int, symmetry: int) -> np.ndarray:
    """`apply` for encoded positions `[..., planes, size, size]`: planes from `drawn` on hold numbers, and stay."""
    moved = apply(planes[..., :drawn, :, :], symmetry, planes.shape[-1])
    return np.concatenate((moved, planes[..., drawn:, :, :]), axis=-3)


def apply_planes(planes: Tensor, symmetry: int) -> Tensor:
    """`apply` for a tensor of square planes `[..., size, size]`; a view where possible."""
    if symmetry & 1:
        planes = planes.flip(-2)
    if symmetry & 2:
        planes = planes.flip(-1)
    return planes.transpose(-2, -1) if symmetry & 4 else planes


def apply_vector(vector: Tensor, symmetry: int, size: int) -> Tensor:
    """`apply` for a tensor of policies `[..., size² + 1]` or ownership `[..., size²]`."""
    source = torch.from_numpy(inverse_table(size)[symmetry, : vector.shape[-1]].copy()).to(vector.device)
    return vector[..., source]
