"""A run in one small file, to go on with it on another machine: what training needs, and as many games as fit."""

import os
import shutil
import tarfile
import tempfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .folder import RunFolder, to_arrays, to_tensors
from .records import Records, from_bytes, newest_games, no_records, to_bytes
from .replay import Replay
from .self_play import UNSIGNED

_LEVEL = 6  # of compression


class Packed(NamedTuple):
    """What went into the file."""

    size: int  # bytes
    iteration: int  # the last one that was finished
    games: int  # of the replay window
    positions: int


def pack(run: str | os.PathLike[str], archive: str | os.PathLike[str], megabytes: float = 40.0) -> Packed:
    """Write a run as a compressed tar file of at most about so many megabytes; unpacked, it is a run's folder again.

    Networks, the optimizer's memory and the metrics always go with it, games as far as there is room, the newest
    first. Games that are being played are left out: others begin in their place. ValueError if there is no run, or
    somebody trains it.
    """
    source = RunFolder(run)
    if not source.exists:
        raise ValueError(f"{source.path} is not the folder of a training run")
    name = source.path.resolve().name
    with tempfile.TemporaryDirectory(dir=Path(archive).resolve().parent, prefix=".pack-") as room:
        small = RunFolder(Path(room) / name)
        with source.open(), small.open():
            records, iteration = _copy(source, small, int(megabytes * 1e6))
        (small.path / "lock").unlink()
        packed = Path(room) / "packed"
        with tarfile.open(packed, "w:gz", compresslevel=_LEVEL) as tar:
            tar.add(small.path, name)
        os.replace(packed, archive)
    games, positions = (sum(counts) for counts in zip((0, 0), *((len(r.id), r.samples) for r in records), strict=True))
    return Packed(Path(archive).stat().st_size, iteration, games, positions)


def _copy(source: RunFolder, small: RunFolder, room: int) -> tuple[list[Records], int]:
    """Make `small` a run that goes on where `source` is; returns the games that it has, and its last iteration."""
    saved = source.load_state()
    if saved is None or not saved[1]["iteration"]:
        raise ValueError(f"{source.path} has no finished iteration yet: there is nothing to pack")
    tensors, info = saved
    config = source.read_config()
    small.write_config(config)
    small.write_metrics(source.read_metrics())
    measured = [row[0] for row in info["matches"]]  # the next measurement may want to play the last of them
    for i in {0, info["iteration"], *measured[-1:]}:
        shutil.copy(source.checkpoint(i), small.checkpoint(i))
    play = to_arrays(tensors, "play.", unsigned=UNSIGNED)
    play |= {f"games.{name}": array for name, array in no_records(config.board_size)._asdict().items()}
    play["slots"] = np.zeros(0, np.int64)
    kept = {name: tensor for name, tensor in tensors.items() if name.startswith("trainer.")}
    kept |= to_tensors(play, "play.")
    small.save_state(kept, info)
    room -= sum(_packed_size(path.read_bytes()) for path in small.path.rglob("*") if path.is_file())
    records = _copy_games(source, small, info["iteration"], room)
    small.save_state(kept, {**info, "oldest": info["iteration"] - len(records) + 1})
    return records, info["iteration"]


def _copy_games(source: RunFolder, small: RunFolder, iteration: int, room: int) -> list[Records]:
    """The newest games that fit into so many bytes: whole iterations, and of the oldest one a part."""
    copied: list[Records] = []
    while iteration > 0 and room > 0 and (path := Replay.file(source.replay, iteration)).exists():
        data = path.read_bytes()
        records, size = from_bytes(data), _packed_size(data)
        if size > room:
            records = newest_games(records, len(records.id) * room // size)
            data = to_bytes(records)
        Replay.file(small.replay, iteration).write_bytes(data)
        copied.append(records)
        room -= size
        iteration -= 1
    return copied


def _packed_size(data: bytes) -> int:
    return len(zlib.compress(data, _LEVEL))
