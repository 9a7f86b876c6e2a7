"""The page of a run in the browser, beside the training: a process of its own, which ends with it."""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import IO

_PARENT = "MINI_ALPHAGO_PARENT"  # tells `mini-alphago play` to end with this process, and to load nothing unasked


@contextlib.contextmanager
def page_beside(run: str, port: int | None, say: Callable[[str], None]) -> Iterator[None]:
    """Serve the page of this run within the block; `say` is told where it is, or why it is nowhere."""
    command = [sys.executable, "-m", "mini_alphago", "play", "--run", run, "--no-browser"]
    command += [] if port is None else ["--port", str(port)]
    process = subprocess.Popen(
        command, env={**os.environ, _PARENT: str(os.getpid())}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True,  # Ctrl-C is for the training
    )  # fmt: skip
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.strip():
                say(line.strip().replace(" (Ctrl-C ends it)", ""))
            if "http://" in line:
                break
        threading.Thread(target=_read_on, args=(process.stdout,), daemon=True).start()
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _read_on(output: IO[str]) -> None:
    """What it says later is of no use here, but it must be able to say it."""
    with contextlib.suppress(ValueError, OSError):
        for _ in output:
            pass
