"""How every compiled function of the package is made: one decorator, one cache.

Numba keys its on-disk cache by the file a function stands in, so a kernel that calls into another file would go on
running yesterday's version of it. The cache here lives in a folder named after the content of *all* sources that may be
compiled: any edit starts a fresh folder, and the package directory itself may be read-only.
"""

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

prange = numba.prange
index: Callable[[Any], int] = np.int64  # type: ignore[assignment]
"""Makes an int64 of an index within a kernel: a literal or a prange variable would compile callees a second time."""
_KEEP_SECONDS = 30 * 24 * 3600
_PATIENCE, _REPEAT = 2.0, 8.0  # seconds before the first notice that kernels are compiled, and between notices


def cache_root() -> Path:
    """Where compiled code is kept: `MINI_ALPHAGO_CACHE`, else the user's cache folder. Nothing is created here."""
    if explicit := os.environ.get("MINI_ALPHAGO_CACHE"):
        return Path(explicit)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "mini-alphago"


@lru_cache(maxsize=1)
def cache_directory() -> str:
    """The writable folder for this version of the kernels; a passing one if the user's cache cannot be written."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        text = source.read_bytes()
        if b"kernel" in text or b"numba" in text:
            digest.update(text)
    try:
        folder = cache_root() / digest.hexdigest()[:16]
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _forget_old_versions(folder.parent)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except (OSError, RuntimeError):  # RuntimeError: no home directory
        passing = tempfile.mkdtemp(prefix="mini-alphago-")  # a name nobody could have prepared: what is in it is run
        atexit.register(shutil.rmtree, passing, ignore_errors=True)
        return passing


def _forget_old_versions(root: Path) -> None:
    for folder in root.iterdir():
        if folder.is_dir() and time.time() - folder.stat().st_mtime > _KEEP_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


class _Notice(event.Listener):
    """Says on standard error that kernels are being compiled, once it has taken a while."""

    def __init__(self) -> None:
        self._first = self._last = 0.0
        self._count = 0

    def on_start(self, event: Any) -> None:
        """Numba begins to compile a function; it does not ask here about what it finds in the cache."""
        module = event.data["dispatcher"].py_func.__module__ if event.data else ""
        if not module.startswith("mini_alphago."):
            return
        now = time.monotonic()
        self._first = self._first or now
        self._count += 1
        if now - max(self._first + _PATIENCE - _REPEAT, self._last) > _REPEAT:
            self._last = now
            done = f"{self._count} kernels so far"
            print(
                f"mini-alphago: compiling, once for this machine ({done}, {now - self._first:.0f} s)", file=sys.stderr
            )

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


event.register("numba:compile", _Notice())  # type: ignore[no-untyped-call]


def _compile(function: Function, parallel: bool = False, inlined: bool = False) -> Function:
    # No runtime for reference counts (`_nrt`): with it, every array taken out of a NamedTuple is counted up and down
    # atomically, which costs a third of the speed on one thread and far more when threads share a batch. The price:
    # kernels allocate nothing.
    # The setting is read once, when a dispatcher is made; it is put back so that other users of Numba in this
    # process keep their own cache.
    config: Any = numba.config
    options = {"cache": True, "nogil": True, "_nrt": False, "error_model": "numpy", "parallel": parallel}
    options["forceinline"] = inlined
    previous = config.CACHE_DIR
    config.CACHE_DIR = cache_directory()
    try:
        compiled: Function = numba.njit(**options)(function)  # type: ignore[call-overload]
        return compiled
    finally:
        config.CACHE_DIR = previous


def kernel(function: Function) -> Function:
    """Compile a function of one game in a batch; it releases the GIL and may be called from other kernels."""
    return _compile(function)


def inlined_kernel(function: Function) -> Function:
    """Compile a small function of other kernels into each of them: a call passes dozens of words for a NamedTuple."""
    return _compile(function, inlined=True)


def parallel_kernel(function: Function) -> Function:
    """Compile a driver that runs a kernel over all games with `prange`. Never to be entered by two threads at once."""
    return _compile(function, parallel=True)
