"""A run packed into one small file goes on elsewhere."""

import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from mini_alphago.cli import main
from mini_alphago.training import train
from mini_alphago.training.folder import RunFolder
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
    assert training.self_play.playing == CONFIG.self_play.games
    known, later = saved_games(whole), saved_games(run)
    assert known.items() <= later.items(), "a game was lost, or its id given to another"
    assert len(later) == lines[-1]["games"]


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


def test_newest_games_are_whole(whole: Path) -> None:
    from mini_alphago.training.records import newest_games, record_board, to_bytes

    records = from_bytes((whole / "replay" / "000002.games").read_bytes())
    for count in (0, 1, 3, len(records.id), 1000):
        part = newest_games(records, count)
        left_out = max(0, len(records.id) - count)
        assert from_bytes(to_bytes(part)).id.tolist() == records.id.tolist()[left_out:]
        for g in range(len(part.id)):
            assert record_board(part, g, "cgos") == record_board(records, left_out + g, "cgos")


def test_the_command(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["pack", str(whole), "--to", str(tmp_path / "x.tar.gz")])
    assert "the run after iteration 4" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.gz"]
    with pytest.raises(SystemExit, match="not the folder of a training run"):
        main(["pack", str(tmp_path)])
    with RunFolder(whole).open(), pytest.raises(SystemExit, match="in use"):
        main(["pack", str(whole), "--to", str(tmp_path / "y.tar.gz")])
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.gz"]
