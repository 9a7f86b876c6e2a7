"""Whatever ends or damages a run: what is there is kept, what is wrong is said, and it goes on exactly where it was."""

import contextlib
import dataclasses
import errno
import multiprocessing
import os
import random
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from mini_alphago import files
from mini_alphago.model import evaluator, load_network
from mini_alphago.training import SelfPlay, Stopped, Training, train
from mini_alphago.training.folder import Journal, RunFolder, to_arrays
from mini_alphago.training.records import from_bytes
from mini_alphago.training.self_play import Step

from .runs import (
    CONFIG,
    MEASURED,
    Games,
    StopAt,
    assert_same_run,
    contents,
    games_in,
    info_of,
    metrics_of,
    saved_games,
    train_until,
)

pytestmark = pytest.mark.usefixtures("plain_torch")


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
    for number, step, _ in RunFolder(copy).journal(info["iteration"] + 1, ENDLESS).read():
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
    assert not list((folder / "killed").rglob(".*")), "temporary files stayed"


@pytest.mark.usefixtures("whole")  # what is compiled by then does not have to be between two kills
def test_twenty_kills_lose_nothing(tmp_path: Path) -> None:
    check_kills(tmp_path, 20, seed=1)


@pytest.mark.slow
@pytest.mark.usefixtures("whole")
def test_sixty_more_kills_lose_nothing(tmp_path: Path) -> None:
    check_kills(tmp_path, 60, seed=2)


# --- everything else that can go wrong ------------------------------------------------------------------------------


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
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


def test_a_torn_journal_loses_its_last_step_only(tmp_path: Path, stopped: Path) -> None:
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


def torn_append(journal: Journal, number: int, step: Step, seconds: float) -> None:
    append(journal, number, step, seconds)
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
    many_steps = dataclasses.replace(tame.learning, learning_rate=10.0, clip=0.0, uses=20.0)
    wild = dataclasses.replace(tame, learning=many_steps)
    with pytest.raises(FloatingPointError, match="smaller learning rate"):
        train(None, str(tmp_path), changes=lambda _: wild)
    assert contents(tmp_path / "checkpoints") == before
    tame = dataclasses.replace(tame, iterations=2)
    assert train(None, str(tmp_path), changes=lambda _: tame).iteration == 2
