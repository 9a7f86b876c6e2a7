"""A run's folder: what lies where, and how it is written so that a kill at any instant loses no finished game.

    config.toml                    the settings
    checkpoints/000012.safetensors the network after iteration 12
    checkpoints/state.safetensors  everything needed to go on after the last finished iteration
    replay/000012.games            the games of iteration 12
    replay/000013.journal          every step of self-play since then
    replay/000013.arrived          games for iteration 13 that other machines have played
    workers.json                   how many workers on other machines the run has had
    games/000012.sgf               the games of iteration 12, to look at
    metrics.jsonl, report.html, events/
    live.json                      what it does at this moment, for who watches it

`state.safetensors` is the commit point: it names the last finished iteration, and whatever else is there for a later
one is made again, in the same way, from the journal.
"""

import contextlib
import json
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as save_tensors
from torch import Tensor

from ..files import lock, remove_abandoned, try_lock, write_atomically
from .config import TrainingConfig, from_toml, to_toml
from .frames import Frames
from .report import Metrics, read_metrics
from .self_play import Step

_MARK = b"stp4"  # another one whenever the same steps become other games
_SECONDS = struct.Struct("<d")


class Journal:
    """The steps of self-play since the last finished iteration, appended one by one and read back after a crash."""

    def __init__(self, path: Path, slots: int, points: int) -> None:
        self.path, self._slots, self._points = path, slots, points
        self._frames = Frames(path, _MARK, slots * (2 + 2 * points + 4 + 1) + _SECONDS.size)

    def read(self) -> Iterator[tuple[int, Step, float]]:
        """All whole steps with their numbers and seconds; what a crash left behind them is cut off."""
        for number, payload in self._frames.read():
            (seconds,) = _SECONDS.unpack_from(payload, len(payload) - _SECONDS.size)
            yield number, self._unpack(payload), seconds

    def append(self, number: int, step: Step, seconds: float) -> None:
        """Write a step and what it took to make it; once this returns, not even a kill loses it."""
        self._frames.append(number, b"".join(array.tobytes() for array in step) + _SECONDS.pack(seconds))

    def close(self) -> None:
        """Let go of the file."""
        self._frames.close()

    def _unpack(self, payload: bytes) -> Step:
        arrays, start = [], 0
        for dtype, shape in (
            (np.int16, (self._slots,)),
            (np.uint16, (self._slots, self._points)),
            (np.float32, (self._slots,)),
            (np.uint8, (self._slots,)),
        ):
            count = int(np.prod(shape))
            arrays.append(np.frombuffer(payload, dtype, count, start).reshape(shape).copy())
            start += count * np.dtype(dtype).itemsize
        return Step(*arrays)


class RunFolder:
    """The folder of one run; `open` before use."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.checkpoints, self.replay, self.games = (self.path / name for name in ("checkpoints", "replay", "games"))

    @property
    def exists(self) -> bool:
        """Whether a run was begun here."""
        return (self.path / "config.toml").exists()

    @contextlib.contextmanager
    def open(self) -> Iterator["RunFolder"]:
        """Have the folder for oneself. ValueError if another process has it."""
        folders = (self.path, self.checkpoints, self.replay, self.games)
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        with lock(self.path / "lock") as ours:
            if not ours:
                raise ValueError(f"{self.path} is in use: another training process works on it")
            for folder in folders:
                remove_abandoned(folder)
            yield self

    def in_use(self) -> bool:
        """Whether a process works on the run now."""
        try:
            with (self.path / "lock").open("r+b") as file:
                return not try_lock(file)
        except OSError:
            return False

    def write_config(self, config: TrainingConfig) -> None:
        """Keep the settings."""
        write_atomically(self.path / "config.toml", to_toml(config).encode())

    def read_config(self) -> TrainingConfig:
        """The settings kept. ValueError, naming the file, if it is damaged."""
        path = self.path / "config.toml"
        try:
            return from_toml(path.read_text())
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    # --- where things are -------------------------------------------------------------------------------------------

    def checkpoint(self, iteration: int) -> Path:
        """The network after an iteration."""
        return self.checkpoints / f"{iteration:06d}.safetensors"

    def iterations(self) -> list[int]:
        """The iterations whose networks are there, in order."""
        return sorted(int(path.stem) for path in self.checkpoints.glob("*.safetensors") if path.stem.isdigit())

    @property
    def workers(self) -> Path:
        """How many workers on other machines the run has had."""
        return self.path / "workers.json"

    def journal(self, iteration: int, config: TrainingConfig) -> Journal:
        """The journal of an iteration."""
        slots = config.self_play.games // config.self_play.groups
        return Journal(self.replay / f"{iteration:06d}.journal", slots, config.board_size**2 + 1)

    # --- the state --------------------------------------------------------------------------------------------------

    @property
    def _state(self) -> Path:
        return self.checkpoints / "state.safetensors"

    def save_state(self, tensors: dict[str, Tensor], info: dict[str, Any]) -> None:
        """Commit: from now on the run goes on from here."""
        metadata = {"info": json.dumps(info), "check": _checksum(tensors)}
        write_atomically(self._state, save_tensors(tensors, metadata))

    def load_state(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """What was committed last, or None if nothing was. ValueError if the file is damaged."""
        if not self._state.exists():
            return None
        try:
            with safe_open(self._state, framework="pt") as file:
                metadata = file.metadata() or {}
                info = json.loads(metadata["info"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if metadata["check"] != _checksum(tensors):
                raise ValueError("the check sum is wrong")
            return tensors, info
        except (SafetensorError, KeyError, ValueError) as error:
            newest = max(self.iterations(), default=None)
            whole = "" if newest is None else f"train --run ANOTHER --init {self.checkpoint(newest)}"
            advice = whole and f"; its networks are whole: {whole}"
            raise ValueError(f"{self._state} is damaged ({str(error)[:60]}), and nothing was changed{advice}") from None

    def is_at_rest(self) -> bool:
        """Whether no game of the run has begun, as after `pack`: how many are played at once may change then."""
        try:
            with safe_open(self._state, framework="pt") as file:
                name = "play.slots"  # a run that was always on a cluster has none
                playing = name in file.keys() and len(file.get_tensor(name)) > 0  # noqa: SIM118
        except (OSError, SafetensorError):  # `load_state` says what is wrong with it
            return False
        return not playing and not any(self.replay.glob("*.journal"))

    def tidy(self, iteration: int, kept: Callable[[int], bool]) -> None:
        """Remove what is needed no more, the last finished iteration being `iteration`.

        kept: whether the network of an iteration is to stay; the last one, those after it and 0 always do.
        """
        for i in self.iterations():
            if 0 < i < iteration and not kept(i):
                self.checkpoint(i).unlink()
        for path in (*self.replay.glob("*.journal"), *self.replay.glob("*.arrived")):
            if path.stem.isdigit() and int(path.stem) <= iteration:
                path.unlink()

    # --- metrics ----------------------------------------------------------------------------------------------------

    @property
    def metrics_path(self) -> Path:
        """One JSON object for each finished iteration."""
        return self.path / "metrics.jsonl"

    def write_metrics(self, metrics: list[Metrics]) -> None:
        """Let the file hold exactly these."""
        write_atomically(self.metrics_path, "".join(json.dumps(line) + "\n" for line in metrics).encode())

    def append_metrics(self, metrics: Metrics) -> None:
        """Add a finished iteration."""
        with self.metrics_path.open("a") as file:
            file.write(json.dumps(metrics) + "\n")

    def read_metrics(self) -> list[Metrics]:
        """All that is there."""
        return read_metrics(self.metrics_path)


def _checksum(tensors: dict[str, Tensor]) -> str:
    """CRC of all tensors; the format of the file has none of its own."""
    check = 0
    for name in sorted(tensors):
        check = zlib.crc32(tensors[name].numpy().tobytes(), check)
    return str(check)


def to_tensors(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, Tensor]:
    """Arrays as tensors to save; unsigned 16-bit numbers travel as signed ones, which every reader knows."""
    tensors = {}
    for name, array in arrays.items():
        plain = np.ascontiguousarray(array)
        tensors[prefix + name] = torch.from_numpy(plain.view(np.int16) if plain.dtype == np.uint16 else plain)
    return tensors


def to_arrays(tensors: dict[str, Tensor], prefix: str, unsigned: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The arrays of `to_tensors`; those named `unsigned` are unsigned 16-bit numbers."""
    arrays = {}
    for name, tensor in tensors.items():
        if name.startswith(prefix):
            array = tensor.numpy()
            arrays[name[len(prefix) :]] = array.view(np.uint16) if name[len(prefix) :] in unsigned else array
    return arrays
