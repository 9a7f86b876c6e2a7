"""A file to which pieces are appended one by one, and from which all whole ones come back after a kill."""

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_HEADER = struct.Struct("<4sIQI")  # mark, payload length, number, CRC of all but itself


class Frames:
    """Numbered pieces of bytes in a file. mark: four bytes that say what they are; length: of each, if it is known."""

    def __init__(self, path: Path, mark: bytes, length: int | None = None) -> None:
        self.path, self._mark, self._length = path, mark, length
        self._file: IO[bytes] | None = None

    def read(self) -> Iterator[tuple[int, bytes]]:
        """All whole pieces with their numbers; what a crash left behind them is cut off."""
        if not self.path.exists():
            return
        end, size = 0, self.path.stat().st_size
        with self.path.open("rb") as file:
            while len(header := file.read(_HEADER.size)) == _HEADER.size:
                mark, length, number, check = _HEADER.unpack(header)
                if mark != self._mark or length != (self._length or length) or length > size:
                    break
                payload = file.read(length)
                if len(payload) != length or self._check(number, payload) != check:
                    break
                end = file.tell()
                yield number, payload
        os.truncate(self.path, end)

    def append(self, number: int, payload: bytes) -> None:
        """Write a piece; once this returns, not even a kill loses it."""
        if self._file is None:
            self._file = self.path.open("ab", buffering=0)
        data = _HEADER.pack(self._mark, len(payload), number, self._check(number, payload)) + payload
        while data:  # a full disk writes a part first, then raises
            data = data[self._file.write(data) :]

    def close(self) -> None:
        """Let go of the file."""
        if self._file:
            self._file.close()
            self._file = None

    def _check(self, number: int, payload: bytes) -> int:
        return zlib.crc32(payload, zlib.crc32(_HEADER.pack(self._mark, len(payload), number, 0)))
