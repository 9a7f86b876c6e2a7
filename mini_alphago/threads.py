"""How many cores to use, set for Numba and PyTorch in one place so that they never fight over them."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any


def available_cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def set_threads(count: int | None = None) -> int:
    """Let Numba and PyTorch use `count` threads each, by default all cores; they take turns. Returns the number."""
    import numba
    import torch

    config: Any = numba.config
    count = min(count or available_cores(), config.NUMBA_NUM_THREADS)
    numba.set_num_threads(count)
    torch.set_num_threads(count)
    return count


@contextlib.contextmanager
def use_threads(count: int | None) -> Iterator[None]:
    """Let Numba's parallel kernels use `count` threads within this block; None changes nothing."""
    import numba

    if count is None:
        yield
        return
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)
