"""A Ray cluster of several nodes on one machine, and ways to let its processes die."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path


def wait_for(what: Callable[[], object], seconds: float = 300.0) -> object:
    """What `what()` gives as soon as it is true; AssertionError if that never happens."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds:g} s in vain")


def processes(title: str) -> list[int]:
    """Our own processes, and theirs, whose title begins so."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                named = (folder / "cmdline").read_bytes().decode(errors="replace").startswith(title)
            except OSError:
                continue
            if named and os.getpid() in ancestors(int(folder.name)):
                found.append(int(folder.name))
    return sorted(found)


def ancestors(process: int) -> list[int]:
    """Its parent, the parent of that, and so on."""
    found = []
    while process > 1:
        try:
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            break
        found.append(process)
    return found


def kill(title: str) -> int:
    """SIGKILL for the first process of that title, once there is one; returns its id."""
    wait_for(lambda: processes(title))
    victim = processes(title)[0]
    os.kill(victim, signal.SIGKILL)
    return victim
