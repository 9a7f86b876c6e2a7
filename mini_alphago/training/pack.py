"""A run in one small file, to go on with it on another machine: what training needs, and as many games as fit."""

import math
import os
import shutil
import tarfile
import tempfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..files import open_atomically
from .folder import RunFolder, to_arrays, to_tensors
from .records import Records, newest_games, no_records, to_bytes
from .replay import games_path, read_games
from .self_play import UNSIGNED

_LEVEL = 6  # of compression


class Packed(NamedTuple):
    """What went into the file."""

    path: Path
    size: int  # bytes
    least: int  # bytes, about, of what always goes along
    iteration: int  # the last one that was finished
    games: int
    positions: int

    def words(self, megabytes: float) -> str:
        """For people, who have asked for so many megabytes."""
        games = f"the newest {self.games:,} games ({self.positions:,} positions)"
        said = f"{self.path}: {self.size / 1e6:.1f} MB, the run after iteration {self.iteration}, {games}"
        if self.least <= megabytes * 1e6:
            return said
        return f"{said}\nWhat always goes along takes {self.least / 1e6:.1f} MB: more than --megabytes {megabytes:g}."


def pack(run: str | os.PathLike[str], archive: str | os.PathLike[str] | None = None, megabytes: float = 40.0) -> Packed:
    """Write a run as a compressed tar file of at most about so many megabytes; unpacked, it is a run's folder again.

    archive: the file; None: beside the folder, RUN.tar.gz.
    The first network, the last and the last that was measured, the optimizer's memory and the metrics always go with
    it, games as far as there is room, the newest first. Games that are being played are left out: others begin in
    their place. ValueError if there is no run, or somebody trains it, or the file cannot be written there.
    """
    source, home = RunFolder(run), Path(run).resolve()  # `.` has a name too
    target = home.with_name(f"{home.name}.tar.gz") if archive is None else Path(archive)
    if not 0 < megabytes < math.inf:
        raise ValueError(f"megabytes is {megabytes:g}: it is a number above 0")
    if not source.exists:
        raise ValueError(f"{source.path} is not the folder of a training run")
    if target.is_dir():
        raise ValueError(f"{target} is a folder: name the file to write")
    if not target.parent.is_dir():
        raise ValueError(f"there is no folder {target.parent} to write {target.name} to")
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".pack-") as room:
        small = RunFolder(Path(room) / home.name)
        with source.open(), small.open():
            records, iteration, least = _copy(source, small, megabytes * 1e6)
        (small.path / "lock").unlink()
        with open_atomically(target) as file, tarfile.open(fileobj=file, mode="w:gz", compresslevel=_LEVEL) as tar:
            tar.add(small.path, home.name)
    games = sum(len(part.id) for part in records)
    positions = sum(part.samples for part in records)
    return Packed(target, target.stat().st_size, least, iteration, games, positions)


def _copy(source: RunFolder, small: RunFolder, room: float) -> tuple[list[Records], int, int]:
    """Make `small` a run that goes on where `source` is, in so many bytes if it can.

    Returns the games that it has, its last iteration, and what all but the games takes.
    """
    saved = source.load_state()
    if saved is None or not saved[1]["iteration"]:
        raise ValueError(f"{source.path} has no finished iteration yet: there is nothing to pack")
    tensors, info = saved
    config = source.read_config()
    small.write_config(config)
    small.write_metrics(source.read_metrics())
    if source.workers.exists():
        shutil.copy(source.workers, small.workers)  # or others would play under their numbers again
    measured = [row[0] for row in info["matches"]]  # the next measurement may want to play the last of them
    for i in {0, info["iteration"], *measured[-1:]}:
        shutil.copy(source.checkpoint(i), small.checkpoint(i))
    play = to_arrays(tensors, "play.", unsigned=UNSIGNED)
    if play:  # there is nothing of it in a run that was always on a cluster
        play |= {f"games.{name}": array for name, array in no_records(config.board_size)._asdict().items()}
        play["slots"] = np.zeros(0, np.int64)
    kept = {name: tensor for name, tensor in tensors.items() if name.startswith("trainer.")}
    kept |= to_tensors(play, "play.")
    small.save_state(kept, info)
    least = sum(_packed_size(path) for path in small.path.rglob("*") if path.is_file())
    records = _copy_games(source, small, info["iteration"], config.board_size, room - least)
    small.save_state(kept, {**info, "oldest": info["iteration"] - len(records) + 1})
    return records, info["iteration"], least


def _copy_games(source: RunFolder, small: RunFolder, iteration: int, board_size: int, room: float) -> list[Records]:
    """The newest games that fit into so many bytes: whole iterations, and of the oldest one a part."""
    copied: list[Records] = []
    while iteration > 0 and room > 0 and (path := games_path(source.replay, iteration)).exists():
        records, size = read_games(source.replay, iteration, board_size), _packed_size(path)
        if size <= room:
            shutil.copy(path, small.replay)
        else:
            records = newest_games(records, int(len(records.id) * room / size))
            games_path(small.replay, iteration).write_bytes(to_bytes(records))
        copied.append(records)
        room -= size
        iteration -= 1
    return copied


def _packed_size(path: Path) -> int:
    return len(zlib.compress(path.read_bytes(), _LEVEL))
