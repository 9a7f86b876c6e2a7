"""Writing files so that a crash at any instant leaves the old content or the new, never half of it."""

import contextlib
import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

_TEMPORARY = re.compile(r"\..+\.[a-z0-9_]{8}")  # as `open_atomically` names them


def write_atomically(path: str | os.PathLike[str], data: bytes, durable: bool = True) -> None:
    """Let the file hold exactly these bytes; see `open_atomically`."""
    with open_atomically(path, durable) as file:
        file.write(data)


@contextlib.contextmanager
def open_atomically(path: str | os.PathLike[str], durable: bool = True) -> Iterator[BinaryIO]:
    """A temporary file beside `path` to write to: flushed to the disk at the end, then renamed into place.

    Not `durable`: without the flush, for what is of no use after a crash anyway.
    """
    target = Path(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp makes private files
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


@contextlib.contextmanager
def lock(path: Path) -> Iterator[bool]:
    """Have a file, made if need be, for oneself within this block: whether that is so, or another process has it."""
    with path.open("ab") as file:
        ours = try_lock(file)
        if not ours:
            time.sleep(0.1)  # somebody may only have looked
            ours = try_lock(file)
        yield ours


def try_lock(file: IO[bytes]) -> bool:
    """Whether this process now has the file for itself; the system lets go when the process ends, however it ends."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files that killed processes left in a folder; only where nobody else writes now."""
    for path in folder.iterdir():
        if _TEMPORARY.fullmatch(path.name) and path.is_file():
            path.unlink(missing_ok=True)
