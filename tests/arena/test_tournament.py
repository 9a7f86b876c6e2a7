"""Tournaments: players by name, games kept as they end, taken up where they were interrupted."""

import json
import sys
from pathlib import Path

import pytest

from mini_alphago.arena import MatchSettings, PlayerMaker, PolicyPlayer, RandomPlayer, SearchPlayer, Tournament, sprt
from mini_alphago.cli import main
from mini_alphago.game import parse_sgf
from mini_alphago.model import KataGoNetwork, save_checkpoint

pytestmark = pytest.mark.usefixtures("plain_torch")
SMALL = MatchSettings(games=8, at_once=4, visits=2, board_size=5, komi=0.5)


@pytest.fixture
def network(tmp_path: Path) -> str:
    path = tmp_path / "net.safetensors"
    save_checkpoint(path, KataGoNetwork(1, 8))
    return str(path)


def play_all(tournament: Tournament, parts: int | None = None) -> None:
    for i, _ in enumerate(tournament.run(lambda *_: None), start=1):
        if i == parts:
            return


def test_players_by_name(network: str) -> None:
    maker = PlayerMaker(SMALL)
    assert isinstance(maker.make("random", 4), RandomPlayer)
    assert isinstance(maker.make(f"policy:{network}", 4), PolicyPlayer)
    one, two = maker.make(network, 4), maker.make(f"{network},visits=7", 4)
    assert isinstance(one, SearchPlayer)
    assert isinstance(two, SearchPlayer)
    assert (one.visits, two.visits) == (2, 7)
    assert one._search.evaluator is two._search.evaluator  # loaded once
    for wrong in ("nobody", "gnugo:11", "gnugo:x", f"{network},visits=0", f"{network},depth=3"):
        with pytest.raises(ValueError, match=r"gnugo|no player|visits"):
            maker.make(wrong, 4)


def test_everybody_meets_everybody_and_games_are_kept(network: str, tmp_path: Path) -> None:
    players = [network, "random", f"policy:{network}"]
    tournament = Tournament(players, SMALL, tmp_path / "match")
    play_all(tournament)
    tournament.write_summary()
    assert [tournament.played(a, b) for a, b in ((players[0], players[1]), (players[1], players[2]))] == [8, 8]
    assert len(tournament.rows) == 24
    sgfs = sorted((tmp_path / "match/sgf").glob("*.sgf"))
    assert len(sgfs) == 24
    assert all(parse_sgf(path.read_bytes()).moves for path in sgfs)
    table = json.loads((tmp_path / "match/results.json").read_text())["players"]
    assert sum(row["wins"] + row["losses"] + row["draws"] for row in table) == 48
    assert [row["elo"] for row in table] == sorted((row["elo"] for row in table), reverse=True)
    blacks = [row["black"] for row in tournament.rows[:8]]
    assert blacks == ["first", "second"] * 4


def test_an_interrupted_match_goes_on(network: str, tmp_path: Path) -> None:
    players = ["random", f"policy:{network}"]
    whole = Tournament(players, SMALL, tmp_path / "whole")
    play_all(whole)
    begun = Tournament(players, SMALL, tmp_path / "parts")
    play_all(begun, parts=1)
    with (tmp_path / "parts/games.jsonl").open("a") as file:
        file.write('{"first": "random", "sec')  # a crash in the middle of a line
    again = Tournament(players, SMALL, tmp_path / "parts")
    assert len(again.rows) == 4
    play_all(again)
    assert [row["game"] for row in again.rows] == list(range(8))
    assert len(Tournament(players, SMALL, tmp_path / "parts").rows) == 8
    with pytest.raises(ValueError, match="holds another match"):
        Tournament(["random", network], SMALL, tmp_path / "parts")


def test_players_must_differ(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the same"):
        Tournament(["random", "random"], SMALL, tmp_path)
    with pytest.raises(ValueError, match="two players"):
        Tournament(["random"], SMALL, tmp_path)


def test_the_command(network: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["match", "random", network, "--games", "4", "--visits", "2", "--board-size", "5", "--komi", "0.5"]
    main([*arguments, "--results", str(tmp_path / "m"), "--sprt", "0", "400"])
    shown = capsys.readouterr().out
    assert "Elo" in shown
    assert "SPRT: log likelihood ratio" in shown
    with pytest.raises(SystemExit, match="no player 'nobody'"):
        main(["match", "random", "nobody", "--results", str(tmp_path / "n")])


def test_a_program_that_fails_loses_its_games(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text("print('= ', flush=True)\n")
    tournament = Tournament(["random", f"gtp:{sys.executable} {script}"], SMALL, tmp_path / "match")
    play_all(tournament)
    table = {row["player"]: row for row in tournament.table()}
    assert table["random"]["wins"] == 8
    assert table[f"gtp:{sys.executable} {script}"]["faults"] == 8


def test_sprt_by_hand() -> None:
    assert sprt(0, 0, 0, 0, 10) == (0.0, "")
    assert sprt(60, 40, 0, 0, 100)[1] == ""
    assert sprt(90, 30, 10, 0, 50)[1] == "H1"
    assert sprt(45, 55, 10, 0, 100)[1] == "H0"
    ratio, _ = sprt(50, 50, 0, -20, 20)  # exactly in the middle
    assert ratio == pytest.approx(0, abs=1e-9)
