"""A whole run: what lies in its folder, and that it goes on exactly where it was, whatever ended it."""

import contextlib
import dataclasses
import errno
import json
import multiprocessing
import os
import random
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from mini_alphago import files
from mini_alphago.game import parse_sgf
from mini_alphago.model import evaluator, load_network
from mini_alphago.training import (
    LearningSettings,
    MeasureSettings,
    NetworkSettings,
    ReplaySettings,
    SelfPlay,
    SelfPlaySettings,
    Stopped,
    Training,
    TrainingConfig,
    train,
)
from mini_alphago.training.config import to_toml
from mini_alphago.training.display import Display
from mini_alphago.training.folder import Journal, RunFolder, to_arrays
from mini_alphago.training.records import Records, from_bytes
from mini_alphago.training.self_play import Step

CONFIG = TrainingConfig(
    board_size=5,
    iterations=4,
    games_per_iteration=8,
    device="cpu",
    threads=1,
    network=NetworkSettings(size="b1c8"),
    self_play=SelfPlaySettings(
        games=8, simulations=4, considered=4, komi=0.5, random_openings=0.3, resign_below=-0.5, resign_played_out=0.3
    ),
    replay=ReplaySettings(minimum=300),
    learning=LearningSettings(batch_size=32, uses=2.0, warmup_steps=5, ema=0.9, precision="f32"),
    measure=MeasureSettings(every=0),
)
MEASURED = dataclasses.replace(
    CONFIG, measure=MeasureSettings(every=2, games=2, visits=2, opponents=("random", "previous"))
)
# What is different each time: the clock, and the speeds it gives.
TIMES = {"minutes", "seconds", "time"} | {f"{name}_per_second" for name in ("positions", "evals", "games", "samples")}
Games = dict[int, list[int]]


pytestmark = pytest.mark.usefixtures("plain_torch")


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


# --- what is in a folder --------------------------------------------------------------------------------------------


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


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four iterations in one go, with matches after the second and the fourth."""
    run = tmp_path_factory.mktemp("runs") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "_has_openvino", lambda: False)
        training = train(MEASURED, str(run))
    assert training.iteration == 4
    return run


def test_there_is_a_line_of_metrics_for_each_iteration(whole: Path) -> None:
    lines = metrics_of(whole)
    assert [line["iteration"] for line in lines] == [1, 2, 3, 4]
    for line in lines:
        assert 8 <= line["new_games"] < 16
        assert sum(line["ended"].values()) == line["new_games"]
        for key in ("total_loss", "policy_loss", "value_loss", "score_loss", "ownership_loss", "learning_rate"):
            assert line[key] > 0
        for key in ("positions_per_second", "evals_per_second", "games_per_second", "samples_per_second"):
            assert 0 < line[key] < 1e6
        assert line["seconds"] == pytest.approx(sum(line["time"].values()), rel=0.1)
    assert np.cumsum([line["new_games"] for line in lines]).tolist() == [line["games"] for line in lines]
    assert np.cumsum([line["new_positions"] for line in lines]).tolist() == [line["positions"] for line in lines]
    assert [line["steps"] for line in lines] == [int(2.0 * line["positions"] / 32) for line in lines]
    assert ["elo" in line for line in lines] == [False, True, False, True]
    assert [[match["opponent"] for match in line.get("matches", [])] for line in lines] == [
        [], ["random", "iteration 0"], [], ["random", "iteration 2"]
    ]  # fmt: skip


def test_everything_is_in_the_folder(whole: Path) -> None:
    names = {str(path.relative_to(whole)) for path in whole.rglob("*") if path.is_file() and "events" not in path.parts}
    numbered = {f"replay/00000{i}.games" for i in range(1, 5)} | {f"games/00000{i}.sgf" for i in range(1, 5)}
    numbered |= {f"checkpoints/00000{i}.safetensors" for i in range(5)}
    assert names == numbered | {
        "config.toml", "metrics.jsonl", "report.html", "live.json", "lock", "checkpoints/state.safetensors"
    }  # fmt: skip
    assert (whole / "config.toml").read_text() == to_toml(MEASURED)
    assert "iteration 2" in (whole / "report.html").read_text()
    assert list((whole / "events").glob("events.out.tfevents.*"))


def test_games_are_all_there_and_readable(whole: Path) -> None:
    found = saved_games(whole)
    assert len(found) == info_of(whole)["games"]
    for i in range(1, 5):
        records = from_bytes((whole / f"replay/00000{i}.games").read_bytes())
        texts = (whole / f"games/00000{i}.sgf").read_text().splitlines()
        assert len(texts) == len(records.id)
        for text, id_ in zip(texts, records.id, strict=True):
            game = parse_sgf(text)
            assert f"GN[game {id_}]" in text
            game.board()  # every move is legal
            flat = [25 if x < 0 else 5 * x + y for x, y, _ in game.moves]
            assert flat == found[int(id_)]


def test_the_newest_network_can_be_loaded(whole: Path) -> None:
    newest, fourth = load_network(whole), load_network(whole / "checkpoints/000004.safetensors")
    state = load_file(whole / "checkpoints/state.safetensors")
    for name, tensor in newest.state_dict().items():
        assert torch.equal(tensor, fourth.state_dict()[name])
        assert torch.equal(tensor, state[f"trainer.average.{name}"])
    first = load_network(whole / "checkpoints/000000.safetensors").state_dict()
    assert any(not torch.equal(tensor, first[name]) for name, tensor in newest.state_dict().items())


def test_networks_between_are_dropped_but_the_newest_is_there(tmp_path: Path) -> None:
    config = dataclasses.replace(CONFIG, checkpoint_every=2)
    train_until(config, tmp_path, StopAt(iteration=3))
    assert RunFolder(tmp_path).iterations() == [0, 2, 3]
    train(None, str(tmp_path))
    assert RunFolder(tmp_path).iterations() == [0, 2, 4]


def test_the_last_network_of_a_run_is_measured(tmp_path: Path) -> None:
    """Whichever limit ends it."""
    every = dataclasses.replace(MEASURED.measure, every=100)
    train(dataclasses.replace(CONFIG, iterations=None, minutes=1e-6, measure=every), str(tmp_path))
    assert ["elo" in line for line in metrics_of(tmp_path)] == [True]


# --- going on -------------------------------------------------------------------------------------------------------


def test_two_and_two_iterations_are_four(tmp_path: Path, whole: Path) -> None:
    train(dataclasses.replace(MEASURED, iterations=2), str(tmp_path))
    training = train(None, str(tmp_path), changes=lambda config: dataclasses.replace(config, iterations=4))
    assert training.iteration == 4
    assert_same_run(tmp_path, whole)


@pytest.mark.parametrize(
    "stops",
    [
        [StopAt(phase="self-play", call=1), StopAt(phase="self-play", call=9), StopAt(phase="self-play", call=30)],
        [StopAt(phase="training", call=2), StopAt(phase="training", call=15), StopAt(iteration=3)],
        [StopAt(phase="measuring", call=5), StopAt(phase="measuring", call=30)],
    ],
    ids=["self-play", "training", "measuring"],
)
def test_a_run_that_is_stopped_goes_on_exactly(tmp_path: Path, whole: Path, stops: list[StopAt]) -> None:
    for stop in stops:
        train_until(MEASURED, tmp_path, stop)
    assert train(None, str(tmp_path)).iteration == 4
    assert_same_run(tmp_path, whole)


def test_games_known_from_the_journal_do_not_count_as_speed(tmp_path: Path) -> None:
    train_until(CONFIG, tmp_path, StopAt(phase="training", call=1))
    train_until(CONFIG, tmp_path, StopAt(iteration=1))
    assert metrics_of(tmp_path)[0]["games_per_second"] == 0


def test_limits_can_change_but_the_network_and_the_games_cannot(tmp_path: Path) -> None:
    train_until(CONFIG, tmp_path, StopAt(iteration=1))
    before = contents(tmp_path)

    def refused(changed: TrainingConfig, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            train(None, str(tmp_path), changes=lambda _: changed)
        assert contents(tmp_path) == before

    bigger = NetworkSettings(size="b2c16")
    refused(dataclasses.replace(CONFIG, network=bigger), r"this run has network .*b1c8.* cannot change")
    refused(dataclasses.replace(CONFIG, board_size=7), "this run has board_size 5, which cannot change to 7")
    for name, value in {"games": 4, "komi": 6.5, "random_openings": 0.0, "resign_below": None}.items():
        play = dataclasses.replace(CONFIG.self_play, **{name: value})
        refused(dataclasses.replace(CONFIG, self_play=play), rf"self_play\.{name} .* cannot change")
    play = dataclasses.replace(CONFIG.self_play, simulations=6)
    changed = dataclasses.replace(CONFIG, iterations=2, self_play=play)
    assert train(None, str(tmp_path), changes=lambda _: changed).iteration == 2
    assert "simulations = 6" in (tmp_path / "config.toml").read_text()


def test_a_run_begins_from_a_network(tmp_path: Path, whole: Path) -> None:
    one_more = dataclasses.replace(CONFIG, iterations=1)
    train(one_more, str(tmp_path / "next"), init=str(whole))
    first, newest = load_network(tmp_path / "next/checkpoints/000000.safetensors"), load_network(whole)
    for name, tensor in first.state_dict().items():
        assert torch.equal(tensor, newest.state_dict()[name])
    other = dataclasses.replace(CONFIG, network=NetworkSettings(size="b1c16"))
    with pytest.raises(ValueError, match=r"network of another kind \(b1c8\)"):
        train(other, str(tmp_path / "wrong"), init=str(whole))


# --- killed ---------------------------------------------------------------------------------------------------------

ENDLESS = dataclasses.replace(CONFIG, iterations=1000)  # the learning rate depends on the limit


def work(run: str, until: int, begun: Any) -> None:
    """What a process does until it is killed, or until so many iterations are finished."""
    evaluator._has_openvino = lambda: False
    start = Training.start

    def say_and_start(training: Training, init: str | None = None) -> bool:
        begun.send(True)
        return start(training, init)

    Training.start = say_and_start  # type: ignore[method-assign]
    display = StopAt(iteration=until)
    with contextlib.suppress(Stopped):
        train(ENDLESS, run, display, stop=display.stop)


def begin_work(run: Path, until: int) -> Any:
    """A process that works in the folder and has everything loaded by now: it comes from a server that had it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["mini_alphago.training", "torch.utils.tensorboard", __name__])
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(str(run), until, send))
    process.start()
    send.close()
    assert receive.poll(120)
    assert receive.recv()
    return process


def known_games(run: Path, copy: Path) -> Games:
    """All finished games that a folder knows of: those of its files, and those that its journal makes of its state."""
    found: Games = {}
    for path in sorted((run / "replay").glob("*.games")):
        found |= games_in(from_bytes(path.read_bytes()))
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(run, copy)  # reading a journal cuts off its torn end
    saved = RunFolder(copy).load_state()
    if saved is None:
        return found
    tensors, info = saved
    play = SelfPlay(None, 5, ENDLESS.self_play, ENDLESS.seed)  # type: ignore[arg-type]
    play.restore(to_arrays(tensors, "play.", unsigned=("games.policy",)))
    for number, step in RunFolder(copy).journal(info["iteration"] + 1, 8, 26).read():
        assert number == play.steps
        found |= games_in(play.apply(step))
    return found


def kill_often(run: Path, kills: int, seed: int, limit: float) -> Games:
    """Work in a folder, killed so often, each time at some instant within `limit` seconds after the work began.

    Returns the games that were finished by then. None is lost or changed by a kill.
    """
    draw = random.Random(seed)
    seen: Games = {}
    for kill in range(kills):
        process = begin_work(run, until=1000)
        time.sleep(draw.uniform(0, limit))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        now = known_games(run, run.with_name("copy"))
        for id_, moves in seen.items():
            assert now.get(id_) == moves, f"game {id_} was lost or changed by kill {kill}"
        seen = now
        if RunFolder(run).iterations():
            load_network(run)
    return seen


def check_kills(folder: Path, kills: int, seed: int) -> None:
    seen = kill_often(folder / "killed", kills, seed, limit=0.8)
    until = info_of(folder / "killed")["iteration"] + 1
    assert until > 1, "nothing was finished between the kills"
    for name in ("killed", "straight"):
        process = begin_work(folder / name, until)
        process.join(300)
        assert process.exitcode == 0
    assert_same_run(folder / "killed", folder / "straight")
    final = saved_games(folder / "killed")
    assert {id_: final.get(id_) for id_ in seen} == seen
    lines = [path.read_text().splitlines() for path in (folder / "killed/games").iterdir()]
    assert len(final) == info_of(folder / "killed")["games"] == sum(map(len, lines))
    assert [line["iteration"] for line in metrics_of(folder / "killed")] == list(range(1, until + 1))
    hidden = [path for path in (folder / "killed").rglob(".*") if path.is_file()]
    assert len(hidden) <= 1, "temporary files stayed"  # one of a report may have


def test_twenty_kills_lose_nothing(tmp_path: Path) -> None:
    check_kills(tmp_path, 20, seed=1)


@pytest.mark.slow
def test_sixty_more_kills_lose_nothing(tmp_path: Path) -> None:
    check_kills(tmp_path, 60, seed=2)


# --- everything else that can go wrong ------------------------------------------------------------------------------


@pytest.fixture
def stopped(tmp_path: Path, whole: Path) -> Path:
    """A run that was stopped in its third iteration, so that there is a journal too."""
    run = tmp_path / "run"
    train_until(CONFIG, run, StopAt(iteration=2))
    train_until(CONFIG, run, StopAt(phase="self-play", call=5))
    assert (run / "replay/000003.journal").exists()
    return run


def refused(run: Path, message: str, kind: type[Exception] = ValueError) -> None:
    """Going on says so in one sentence, and every file stays as it is."""
    before = contents(run)
    with pytest.raises(kind, match=message) as caught:
        train(None, str(run))
    assert "\n" not in str(caught.value)
    assert contents(run) == before


def test_a_damaged_state_is_said_and_kept(stopped: Path) -> None:
    path = stopped / "checkpoints/state.safetensors"
    whole_file = path.read_bytes()
    middle = len(whole_file) // 2
    flipped = whole_file[:middle] + bytes([whole_file[middle] ^ 1]) + whole_file[middle + 1 :]
    for damaged in (whole_file[:-100], whole_file[:5], b"", flipped):
        path.write_bytes(damaged)
        refused(stopped, r"state.safetensors is damaged \(.*nothing was changed.*--init .*000002.safetensors")
    path.write_bytes(whole_file)
    assert train(None, str(stopped)).iteration == 4


def test_damaged_or_missing_games_are_said_and_kept(stopped: Path) -> None:
    path = stopped / "replay/000002.games"
    whole_file = path.read_bytes()
    for damaged in (whole_file[:-7], b"nonsense", whole_file[:-1] + bytes([whole_file[-1] ^ 8])):
        path.write_bytes(damaged)
        refused(stopped, r"000002\.games: not a whole file of games")
    path.unlink()
    refused(stopped, r"000002\.games is missing")


def test_damaged_settings_are_said_and_kept(stopped: Path) -> None:
    path = stopped / "config.toml"
    text = path.read_text()
    for damaged, message in {
        text[:-30]: r"config\.toml: not TOML",
        text.replace("games = 8", "games = -8"): r"config\.toml: games is -8",
        text.replace("komi = 0.5", "comi = 0.5"): r"config\.toml: unknown setting self_play\.comi",
        text.replace('"b1c8"', '"b2c8"'): "this run has network .* cannot change",
    }.items():
        assert damaged != text
        path.write_text(damaged)
        refused(stopped, message)


def test_damaged_metrics_are_said_and_kept(stopped: Path) -> None:
    path = stopped / "metrics.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(["nonsense", lines[1]]))
    refused(stopped, r"metrics\.jsonl, line 1")
    path.write_text("\n".join([lines[0], lines[1][:20]]))  # cut off: the state has it too
    train_until(CONFIG, stopped, StopAt(phase="self-play", call=1))
    assert [line["iteration"] for line in metrics_of(stopped)] == [1, 2]


def test_a_torn_journal_loses_its_last_step_only(tmp_path: Path, stopped: Path, whole: Path) -> None:
    path = stopped / "replay/000003.journal"
    path.write_bytes(path.read_bytes()[:-10])
    train(None, str(stopped))
    straight = tmp_path / "straight"
    train(CONFIG, str(straight))
    assert_same_run(stopped, straight)


def test_two_processes_do_not_share_a_folder(stopped: Path) -> None:
    other = begin_work(stopped, until=1000)
    try:
        with pytest.raises(ValueError, match="is in use: another training process works on it"):
            train(None, str(stopped))
        assert other.is_alive()
    finally:
        other.kill()
        other.join()
    train_until(CONFIG, stopped, StopAt(phase="self-play", call=1))


def full_disk(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def torn_append(journal: Journal, number: int, step: Step) -> None:
    append(journal, number, step)
    if number % 3 == 0:
        os.truncate(journal.path, journal.path.stat().st_size - 9)
        full_disk()


append = Journal.append


class FullDisk:
    """Stands for `os` in a module: nothing can be flushed any more."""

    fsync = staticmethod(full_disk)

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


def test_a_full_disk_ends_a_run_that_can_go_on(tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While games are saved, while a step of the journal is: one sentence, and later all goes on as if nothing was."""
    run = tmp_path / "run"
    train_until(MEASURED, run, StopAt(phase="self-play", call=9))
    with monkeypatch.context() as patch:
        patch.setattr(files, "os", FullDisk())
        with pytest.raises(OSError, match="No space left on device") as caught:
            train(None, str(run))
        assert caught.value.filename == str(run)
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", torn_append)
        with pytest.raises(OSError, match="No space left on device"):
            train(None, str(run))
    assert not [path for path in run.rglob(".*") if path.is_file()]
    assert train(None, str(run)).iteration == 4
    assert_same_run(run, whole)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(OSError, match="Not a directory") as caught:
        train(CONFIG, str(tmp_path / "file/run"))
    assert caught.value.filename
    with pytest.raises(OSError, match="exists") as caught:
        train(CONFIG, str(tmp_path / "file"))
    assert caught.value.filename
    assert contents(tmp_path) == {"file": b"kept"}


def test_training_that_diverges_keeps_the_last_good_network(tmp_path: Path) -> None:
    tame = dataclasses.replace(CONFIG, learning=dataclasses.replace(CONFIG.learning, optimizer="sgd"))
    train_until(tame, tmp_path, StopAt(iteration=1))
    before = contents(tmp_path / "checkpoints")
    wild = dataclasses.replace(tame, learning=dataclasses.replace(tame.learning, learning_rate=10.0, clip=0.0))
    with pytest.raises(FloatingPointError, match="smaller learning rate"):
        train(None, str(tmp_path), changes=lambda _: wild)
    assert contents(tmp_path / "checkpoints") == before
    tame = dataclasses.replace(tame, iterations=2)
    assert train(None, str(tmp_path), changes=lambda _: tame).iteration == 2
