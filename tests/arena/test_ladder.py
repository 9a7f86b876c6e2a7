"""The ladder: whom a model meets, and what may be said after it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from mini_alphago.arena import MatchSettings, Tournament
from mini_alphago.arena.command import elo_words
from mini_alphago.arena.ladder import GNUGO, Ladder, ladder_players
from mini_alphago.cli import main
from mini_alphago.model import KataGoNetwork, save_checkpoint

from .test_gtp_player import needs_gnugo

pytestmark = pytest.mark.usefixtures("plain_torch")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run with ten networks."""
    folder = tmp_path / "run"
    (folder / "checkpoints").mkdir(parents=True)
    save_checkpoint(folder / "checkpoints/000000.safetensors", KataGoNetwork(1, 8))
    for i in range(1, 10):
        shutil.copy(folder / "checkpoints/000000.safetensors", folder / f"checkpoints/{i:06d}.safetensors")
    return folder


@pytest.fixture
def no_gnugo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_: None)


@needs_gnugo
def test_whom_a_run_meets(run: Path) -> None:
    players, notes = ladder_players(f"{run},visits=8", ["gtp:other --fast"], 3)
    net = run / "checkpoints"
    assert players == [
        f"{net}/000009.safetensors,visits=8", "random", f"policy:{net}/000009.safetensors", "gnugo:1", "gnugo:10",
        f"{net}/000000.safetensors,visits=8", f"{net}/000003.safetensors,visits=8",
        f"{net}/000006.safetensors,visits=8", "gtp:other --fast",
    ]  # fmt: skip
    assert notes == []


@pytest.mark.usefixtures("no_gnugo")
def test_without_gnugo_it_says_so(run: Path) -> None:
    players, (note,) = ladder_players(str(run), [], 0)
    assert players[1:] == ["random", f"policy:{players[0]}"]
    assert note.startswith("Without GNU Go: GNU Go is not installed")
    assert len(ladder_players(str(run), ["random"], 50)[0]) == 3 + 9  # random is in it once, and there are nine
    assert len(ladder_players(players[0], [], 3)[0]) == 3  # one file: no run
    for wrong, message in (("random", "a ladder rates a network"), ("nobody", "no player")):
        with pytest.raises(ValueError, match=message):
            ladder_players(wrong, [], 3)
    with pytest.raises(ValueError, match="no player 'nobody'"):
        ladder_players(str(run), ["nobody"], 3)
    with pytest.raises(ValueError, match="0 or more"):
        ladder_players(str(run), [], -1)


def words(run: Path, tmp_path: Path, scores: dict[str, tuple[int, int, int]], size: int = 9) -> list[str]:
    """What is said after such results: wins, losses and draws of the model."""
    model = str(run / "checkpoints/000009.safetensors")
    tournament = Tournament([model, *scores], MatchSettings(board_size=size), tmp_path / "ladder", only_first=True)
    for other, (won, lost, drawn) in scores.items():
        for i, winner in enumerate(won * ["first"] + lost * ["second"] + drawn * [None]):
            row: dict[str, Any] = {"first": model, "second": other, "game": i, "winner": winner, "reason": "passes"}
            tournament.rows.append({**row, "seconds": [1.0, 1.0], "turns": [10, 10]})
    return Ladder(tournament, []).words()


@pytest.mark.parametrize(
    ("score", "beside", "scale", "rank"),
    [
        (
            (40, 40, 20),
            "About as strong as GNU Go level 10: +0 Elo",
            "1800, 95 % interval 1732 to 1868",
            "About 8 to 5",
        ),
        ((60, 35, 5), "Stronger than GNU Go level 10: +89 Elo", "1889, 95 % interval 1819 to 1959", "too wide"),
        ((5, 5, 0), "Not told apart from GNU Go level 10", "1800, 95 % interval 1596 to 2004", "too wide an interval"),
        ((10, 90, 0), "Weaker than GNU Go level 10: -382 Elo", "1418", "too far from GNU Go level 10"),
        ((20, 0, 0), "it won all 20 games, so by 287 Elo or more", "at least 2087", "it won every game"),
        (
            (2, 0, 0),
            "Not told apart from GNU Go level 10: it won all games, but 2",
            "at least 1687",
            "it won every game",
        ),
        ((0, 20, 0), "it lost all 20 games, so by 287 Elo or more", "at most 1513", "it lost every game"),
    ],
)
def test_only_what_the_games_support_is_said(
    run: Path, tmp_path: Path, score: tuple[int, int, int], beside: str, scale: str, rank: str
) -> None:
    one, two, three = words(run, tmp_path, {"random": (10, 0, 0), GNUGO: score})
    assert beside in one
    assert scale in two
    assert rank in three
    assert three.startswith(("About 8 to 5 kyu, assuming", "No rank in kyu or dan: "))


def test_other_boards_and_no_gnugo(run: Path, tmp_path: Path) -> None:
    assert "there is none for GNU Go on 13×13" in words(run, tmp_path, {GNUGO: (40, 40, 20)}, size=13)[1]
    shutil.rmtree(tmp_path / "ladder")
    scale, rank = words(run, tmp_path, {"random": (10, 0, 0)})
    assert "no games against GNU Go" in scale
    assert "was not played" in rank
    shutil.rmtree(tmp_path / "ladder")
    one, *_ = words(run, tmp_path, {"gnugo:1": (20, 0, 0)})
    assert one.startswith("Stronger than GNU Go level 1: it won all 20 games")


def test_a_difference_in_words() -> None:
    assert elo_words(85.2, -20.4, 190.6) == "+85 (-20 to +191)"
    assert elo_words(None, 286.8, None) == "at least +287"
    assert elo_words(None, None, -286.8) == "at most -287"
    assert elo_words(0.0, None, None) == ""


@pytest.mark.usefixtures("no_gnugo")
def test_the_command(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--games", "2", "--visits", "2", "--board-size", "5", "--komi", "0.5", "--run-checkpoints", "1"]
    main(["ladder", str(run), *arguments, "--results", str(tmp_path / "ladder")])
    shown = capsys.readouterr().out
    assert "Without GNU Go" in shown
    assert "Elo beside it" in shown
    assert "No rank in kyu or dan" in shown
    summary = json.loads((tmp_path / "ladder/results.json").read_text())
    assert [row["games"] for row in summary["players"] if row["player"].endswith("9.safetensors")] == [6, 2]
    assert len(summary["ladder"]["rows"]) == 3
    main(["ladder", str(run), *arguments, "--results", str(tmp_path / "ladder")])  # it is all there
    assert json.loads((tmp_path / "ladder/results.json").read_text())["games"] == 6
