"""How many cores to use, set for Numba and PyTorch in one place so that they never fight over them."""

import contextlib
import os
import warnings
from collections.abc import Iterator
from typing import Any

from . import torch_spins

_was_set = False


def available_cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def most_threads() -> int:
    """The most threads that Numba's parallel kernels can have in this process."""
    import numba

    config: Any = numba.config
    return int(config.NUMBA_NUM_THREADS)


def set_threads(count: int | None = None) -> int:
    """Let Numba and PyTorch use `count` threads each; they take turns. Returns the number.

    Without a count, all cores, and only the first time: what was set since then stays.
    """
    import numba
    import torch

    global _was_set
    if count is None and _was_set:
        return int(torch.get_num_threads())
    if torch_spins and not _was_set:
        warnings.warn(
            "torch was imported before mini_alphago, so its threads spin where others could work: searches take up to "
            "twice as long on a CPU. Import mini_alphago first, or set GOMP_SPINCOUNT=2000",
            stacklevel=2,
        )
    _was_set = True
    count = min(count or available_cores(), most_threads())
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
