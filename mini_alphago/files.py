"""Writing files so that a crash at any instant leaves the old content or the new, never half of it."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], data: bytes, durable: bool = True) -> None:
    """Write `data` to a temporary file beside `path`, flush it to the disk, then rename it into place.

    Not `durable`: without the flush, for what is of no use after a crash anyway.
    """
    target = Path(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
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
