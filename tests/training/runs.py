"""Short runs, stopped wherever a test likes, and what lies in their folders."""

import dataclasses
import json
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from mini_alphago.training import (
    LearningSettings,
    MeasureSettings,
    NetworkSettings,
    ReplaySettings,
    SelfPlaySettings,
    Stopped,
    TrainingConfig,
    train,
)
from mini_alphago.training.display import Display
from mini_alphago.training.folder import RunFolder
from mini_alphago.training.records import Records, from_bytes

CONFIG = TrainingConfig(
    board_size=5,
    iterations=4,
    games_per_iteration=8,
    device="cpu",
    threads=1,
    network=NetworkSettings(size="b1c8"),
    self_play=SelfPlaySettings(
        games=8,
        groups=2,
        simulations=4,
        considered=4,
        komi=0.5,
        random_openings=0.3,
        resign_below=-0.5,
        resign_played_out=0.3,
    ),
    replay=ReplaySettings(minimum=300),
    learning=LearningSettings(batch_size=32, uses=2.0, warmup_steps=5, ema=0.9, precision="f32", surprise_weight=0.5),
    measure=MeasureSettings(every=0),
)
MEASURED = dataclasses.replace(
    CONFIG, measure=MeasureSettings(every=2, games=2, visits=2, opponents=("random", "previous"))
)
# What is different each time: the clock, and the speeds it gives.
TIMES = {"minutes", "seconds", "time"} | {f"{name}_per_second" for name in ("positions", "evals", "games", "samples")}
Games = dict[int, list[int]]


class StopAt(Display):
    """Asks for the end of the run after so many iterations, or at some call of a phase."""

    def __init__(self, iteration: int | None = None, phase: str = "", call: int = 0) -> None:
        self.stop = threading.Event()
        self._iteration, self._phase, self._calls = iteration, phase, call

    def iteration(self, metrics: dict[str, Any]) -> None:
        if metrics["iteration"] == self._iteration:
            self.stop.set()

    def phase(self, name: str, done: float, total: float, details: str = "") -> None:
        self._calls -= name == self._phase
        if self._calls <= 0 and name == self._phase:
            self.stop.set()


def train_until(config: TrainingConfig, run: Path, display: StopAt) -> None:
    with pytest.raises(Stopped):
        train(config, str(run), display, stop=display.stop)


def games_in(records: Records) -> Games:
    games = zip(records.id.tolist(), records.first.tolist(), records.length.tolist(), strict=True)
    return {id_: records.move[first : first + length].tolist() for id_, first, length in games}


def saved_games(run: Path) -> Games:
    """The games of all iterations' files, by their numbers; none is there twice."""
    found: Games = {}
    for path in sorted((run / "replay").glob("*.games")):
        part = games_in(from_bytes(path.read_bytes()))
        assert not part.keys() & found.keys(), "a game was saved twice"
        found |= part
    return found


def metrics_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def without_times(run: Path) -> list[dict[str, Any]]:
    return [{key: value for key, value in line.items() if key not in TIMES} for line in metrics_of(run)]


def info_of(run: Path) -> dict[str, Any]:
    saved = RunFolder(run).load_state()
    assert saved is not None
    return saved[1]


def contents(run: Path) -> dict[str, bytes]:
    """All files of a folder, byte by byte."""
    return {str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*") if path.is_file()}


def assert_same_run(one: Path, other: Path) -> None:
    """Networks bit by bit, games, counters, curves: everything but times."""
    assert without_times(one) == without_times(other)
    ours, theirs = (load_file(run / "checkpoints/state.safetensors") for run in (one, other))
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert torch.equal(tensor, theirs[name]), name
    assert saved_games(one) == saved_games(other)
    for key in ("iteration", "games", "positions", "matches"):
        assert info_of(one)[key] == info_of(other)[key]
    names = [sorted(path.name for path in (run / "checkpoints").iterdir()) for run in (one, other)]
    assert names[0] == names[1]
    for name in names[0]:
        tensors = [load_file(run / "checkpoints" / name) for run in (one, other)]
        assert all(torch.equal(tensor, tensors[1][key]) for key, tensor in tensors[0].items()), name
    for path in (one / "games").iterdir():
        assert path.read_bytes() == (other / "games" / path.name).read_bytes()
