"""Games that other machines have played: on disk from the moment they are here, one file for each iteration to come.

A file is whole as soon as it has the games of an iteration; what comes then goes into the next one. So an iteration
that is begun again after a crash has the same games as before, and none is in two.
"""

import json
import zlib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from ..files import write_atomically
from .folder import RunFolder
from .frames import Frames
from .records import Records, from_bytes, to_bytes

_MARK = b"game"
_LEVEL = 1  # of compression: policies are mostly zeros
_WORKER = 1_000_000_000  # ids that each worker has for its games; those of worker 0 are played where the network learns


class Delivery(NamedTuple):
    """What a worker sends: the games that have ended since it did so last, and what it did for them."""

    worker: int
    number: int  # from 0, of this worker
    games: int
    records: bytes  # see `to_parcel`
    version: int  # of the network that played last
    positions: int  # searched in full, those of unfinished games too
    evaluations: int
    seconds: float


def to_parcel(records: Records) -> bytes:
    """Games as they travel."""
    return zlib.compress(to_bytes(records), _LEVEL)


def from_parcel(data: bytes) -> Records:
    """The games of `to_parcel`. ValueError if it is anything else."""
    try:
        return from_bytes(zlib.decompress(data))
    except zlib.error as error:
        raise ValueError(f"not a parcel of games ({error})") from None


def first_id(worker: int) -> int:
    """The id of a worker's first game."""
    return worker * _WORKER


def workers_of(records: Records) -> Counter[int]:
    """How many of these games each worker has played."""
    return Counter((records.id // _WORKER).tolist())


def next_worker(folder: RunFolder) -> int:
    """A number that no worker of this run has had, from 1, written down before it is given out."""
    path = folder.workers
    number = 1 + (json.loads(path.read_text())["workers"] if path.exists() else 0)
    write_atomically(path, json.dumps({"workers": number}).encode())
    return number


class Arrivals:
    """The games for iteration `iteration` and those after it; `wanted`: how many an iteration has at least."""

    def __init__(self, folder: Path, iteration: int, wanted: int) -> None:
        self._folder, self._wanted = folder, wanted
        self.filling = iteration  # the iteration whose games are coming in
        self._parts: dict[int, list[Records]] = {}
        self._known: set[tuple[int, int]] = set()
        number = iteration
        while (frames := self._frames(number)).path.exists():
            self._parts[number] = [self._unpack(key, data) for key, data in frames.read()]
            number += 1
        self._open = self._next_file()

    def _frames(self, iteration: int) -> Frames:
        return Frames(self._folder / f"{iteration:06d}.arrived", _MARK)

    def _next_file(self) -> Frames:
        """The file of the first iteration from `filling` on that is not whole."""
        while self.count(self.filling) >= self._wanted:
            self.filling += 1
        return self._frames(self.filling)

    def _unpack(self, number: int, data: bytes) -> Records:
        self._known.add(divmod(number, _WORKER))
        return from_parcel(data)

    def count(self, iteration: int) -> int:
        """How many games for this iteration are here."""
        return sum(len(part.id) for part in self._parts.get(iteration, []))

    def add(self, delivery: Delivery) -> Records | None:
        """Write these games down, and take them; None if they were here already."""
        key = delivery.worker, delivery.number
        if key in self._known:
            return None
        records = from_parcel(delivery.records)
        if not len(records.id):
            return records
        self._open.append(delivery.worker * _WORKER + delivery.number, delivery.records)
        self._known.add(key)
        self._parts.setdefault(self.filling, []).append(records)
        if self.count(self.filling) >= self._wanted:
            self._open.close()
            self._open = self._next_file()
        return records

    def take(self, iteration: int) -> list[Records]:
        """The games for this iteration, whole or not; their file stays until the iteration is over."""
        return self._parts.pop(iteration, [])

    def close(self) -> None:
        """Let go of the file."""
        self._open.close()
