"""A run packed into one small file goes on elsewhere."""

import math
import os
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from mini_alphago.cli import main
from mini_alphago.training import command, machine, train
from mini_alphago.training.arrivals import next_worker
from mini_alphago.training.folder import RunFolder
from mini_alphago.training.machine import memory_of_self_play
from mini_alphago.training.pack import pack
from mini_alphago.training.records import from_bytes

from .runs import CONFIG, contents, metrics_of, saved_games

pytestmark = pytest.mark.usefixtures("plain_torch")


def _unpacked(archive: Path, where: Path) -> Path:
    with tarfile.open(archive) as tar:
        tar.extractall(where, filter="data")
    (folder,) = where.iterdir()
    return folder


def _later(config):
    return replace(config, iterations=6)


def test_it_goes_on_elsewhere(whole: Path, tmp_path: Path) -> None:
    before = contents(whole)
    packed = pack(whole, tmp_path / "small.tar.gz")
    assert contents(whole) == before
    assert packed.iteration == 4
    assert packed.size == (tmp_path / "small.tar.gz").stat().st_size
    run = _unpacked(tmp_path / "small.tar.gz", tmp_path / "elsewhere")
    assert run.name == whole.name
    assert saved_games(run) == saved_games(whole)
    tensors, _ = RunFolder(whole).load_state()
    ours, info = RunFolder(run).load_state()
    for name in tensors:
        if name.startswith("trainer."):
            assert (ours[name] == tensors[name]).all()
    assert info["oldest"] == 1
    training = train(None, str(run), changes=_later)
    lines = metrics_of(run)
    assert [line["iteration"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert lines[:4] == metrics_of(whole)
    assert [line["steps"] for line in lines] == [int(2.0 * line["positions"] / 32) for line in lines]
    assert training.workers.self_play.playing == CONFIG.self_play.games
    known, later = saved_games(whole), saved_games(run)
    assert known.items() <= later.items(), "a game was lost, or its id given to another"
    assert len(later) == lines[-1]["games"]


def test_workers_of_a_packed_run_get_numbers_of_their_own(whole: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(whole, source)
    numbers = [next_worker(RunFolder(source)) for _ in range(2)]
    pack(source, tmp_path / "small.tar.gz")
    run = _unpacked(tmp_path / "small.tar.gz", tmp_path / "elsewhere")
    assert next_worker(RunFolder(run)) not in numbers


def test_it_goes_on_with_fewer_games_at_once_where_memory_is_short(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """If none has begun: a run that was stopped in the middle of games needs all of them."""
    few = replace(CONFIG, self_play=replace(CONFIG.self_play, games=4))
    monkeypatch.setattr(machine, "_FEWEST", 1)
    monkeypatch.setattr(command, "memory_of_this_machine", lambda: 2 * memory_of_self_play(few))
    pack(whole, tmp_path / "small.tar.gz")
    run = _unpacked(tmp_path / "small.tar.gz", tmp_path / "elsewhere")
    assert RunFolder(run).is_at_rest()
    main(["train", "--run", str(run), "--iterations", "5"])
    assert "4 games at once in place of 8" in capsys.readouterr().out
    assert RunFolder(run).read_config().self_play.games == 4
    assert saved_games(whole).items() <= saved_games(run).items()
    assert not RunFolder(run).is_at_rest()
    main(["train", "--run", str(run), "--iterations", "6"])
    assert metrics_of(run)[-1]["iteration"] == 6
    with pytest.raises(SystemExit, match="cannot change"):
        main(["train", "--run", str(run), "--iterations", "7", "--self-play.games", "2"])


def test_a_run_in_the_middle_of_its_games_says_when_memory_is_short(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    monkeypatch.setattr(command, "memory_of_this_machine", lambda: 1000)
    main(["train", "--run", str(run), "--iterations", "5"])
    assert "and this machine has 0.0 GB of memory" in capsys.readouterr().out
    assert metrics_of(run)[-1]["iteration"] == 5


def test_only_so_many_games_fit(whole: Path, tmp_path: Path) -> None:
    everything = pack(whole, tmp_path / "whole.tar.gz")
    limit = everything.size / 1e6 - 0.004
    packed = pack(whole, tmp_path / "small.tar.gz", limit)
    assert packed.size / 1e6 <= 1.02 * limit
    assert 0 < packed.games < everything.games
    run = _unpacked(tmp_path / "small.tar.gz", tmp_path / "elsewhere")
    games = saved_games(run)
    assert len(games) == packed.games
    assert games.items() <= saved_games(whole).items()
    oldest = RunFolder(run).load_state()[1]["oldest"]
    for i in range(oldest + 1, 5):
        assert contents(run)[f"replay/{i:06d}.games"] == contents(whole)[f"replay/{i:06d}.games"], "the newest"
    assert (run / "replay" / f"{oldest:06d}.games").exists()
    assert not (run / "replay" / f"{oldest - 1:06d}.games").exists()
    train(None, str(run), changes=_later)
    train(None, str(run), changes=lambda config: replace(config, iterations=7))  # and once more, with what was saved
    assert metrics_of(run)[-1]["iteration"] == 7


def test_without_room_for_games_it_goes_on_too(whole: Path, tmp_path: Path) -> None:
    packed = pack(whole, tmp_path / "small.tar.gz", 0.001)
    assert packed.games == packed.positions == 0
    run = _unpacked(tmp_path / "small.tar.gz", tmp_path / "elsewhere")
    train(None, str(run), changes=_later)
    assert metrics_of(run)[-1]["iteration"] == 6


@pytest.mark.parametrize("megabytes", [math.inf, math.nan, -1.0, 0.0])
def test_sizes_that_no_file_can_have(whole: Path, tmp_path: Path, megabytes: float) -> None:
    with pytest.raises(ValueError, match=r"megabytes is .*: it is a number above 0"):
        pack(whole, tmp_path / "x.tar.gz", megabytes)
    assert not list(tmp_path.iterdir())


def test_where_it_cannot_be_written(whole: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a folder: name the file"):
        pack(whole, tmp_path)
    with pytest.raises(ValueError, match=f"there is no folder {tmp_path / 'no'} to write x.tar.gz to"):
        pack(whole, tmp_path / "no" / "x.tar.gz")
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_of_games_is_named(whole: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    path = run / "replay" / "000003.games"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"000003\.games: not a whole file of games"):
        pack(run, tmp_path / "x.tar.gz")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_it_is_on_the_disk_before_it_has_its_name(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, flushed = tmp_path / "x.tar.gz", dict[int, int]()
    fsync, replaced = os.fsync, os.replace

    def watch_flush(handle: int) -> None:
        fsync(handle)
        flushed[os.fstat(handle).st_ino] = os.fstat(handle).st_size

    def watch_name(source: str, to: Path) -> None:
        if Path(to) == target:
            assert flushed.get(os.stat(source).st_ino) == os.stat(source).st_size
        replaced(source, to)

    monkeypatch.setattr(os, "fsync", watch_flush)
    monkeypatch.setattr(os, "replace", watch_name)
    assert pack(whole, target).size == target.stat().st_size


def test_newest_games_are_whole(whole: Path) -> None:
    from mini_alphago.training.records import newest_games, record_board, to_bytes

    records = from_bytes((whole / "replay" / "000002.games").read_bytes())
    for count in (0, 1, 3, len(records.id), 1000):
        part = newest_games(records, count)
        left_out = max(0, len(records.id) - count)
        assert from_bytes(to_bytes(part)).id.tolist() == records.id.tolist()[left_out:]
        for g in range(len(part.id)):
            assert record_board(part, g, "cgos") == record_board(records, left_out + g, "cgos")


def test_the_command(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["pack", str(whole), "--to", str(tmp_path / "x.tar.gz")])
    assert "the run after iteration 4" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.gz"]
    main(["pack", str(whole), "--to", str(tmp_path / "x.tar.gz"), "--megabytes", "0.001"])
    assert "the newest 0 games" in (said := capsys.readouterr().out)
    assert "What always goes along takes 0." in said
    assert " MB: more than --megabytes 0.001." in said
    with pytest.raises(SystemExit, match="not the folder of a training run"):
        main(["pack", str(tmp_path)])
    monkeypatch.chdir(whole)
    main(["pack", "."])
    beside = whole.parent / f"{whole.name}.tar.gz"
    assert f"{beside}: " in (said := capsys.readouterr().out)
    assert "always" not in said
    beside.unlink()
    with RunFolder(whole).open(), pytest.raises(SystemExit, match="in use"):
        main(["pack", str(whole), "--to", str(tmp_path / "y.tar.gz")])
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.gz"]
