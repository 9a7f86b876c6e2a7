"""Tournaments: players by name, games kept as they end, taken up where they were interrupted."""

import json
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mini_alphago.arena import MatchSettings, PlayerMaker, PolicyPlayer, RandomPlayer, SearchPlayer, Tournament, sprt
from mini_alphago.arena import tournament as tournament_module
from mini_alphago.arena.command import _sure
from mini_alphago.arena.players import LevelPlayer
from mini_alphago.cli import main
from mini_alphago.files import lock
from mini_alphago.game import parse_sgf
from mini_alphago.mcts import playing_settings
from mini_alphago.mcts.levels import find_level
from mini_alphago.model import KataGoNetwork, save_checkpoint

pytestmark = pytest.mark.usefixtures("plain_torch")
SMALL = MatchSettings(games=8, at_once=4, visits=2, board_size=5, komi=0.5)


@pytest.fixture
def network(tmp_path: Path) -> str:
    path = tmp_path / "net.safetensors"
    save_checkpoint(path, KataGoNetwork(1, 8))
    return str(path)


def play_all(tournament: Tournament, games: int | None = None, enough: Callable[..., bool] | None = None) -> None:
    """All of it, or so many games."""
    with closing(tournament.run(lambda *_: None, enough)) as playing:
        for i, _ in enumerate(playing, start=1):
            if i == games:
                return


def test_players_by_name(network: str) -> None:
    maker = PlayerMaker(board_size=5, games=4, visits=2, seed=1, device="cpu", timeout=5.0)
    assert isinstance(maker.make("random"), RandomPlayer)
    assert isinstance(maker.make(f"policy:{network}"), PolicyPlayer)
    texts = (network, f"{network},visits=7", f"{network},time=0.5", f"{network},visits=9,time=2")
    searches = [maker.make(text) for text in texts]
    found = [(s.visits, s.seconds) for s in searches if isinstance(s, SearchPlayer)]
    assert found == [(2, None), (7, None), (None, 0.5), (9, 2.0)]
    assert len({id(s._search.evaluator) for s in searches if isinstance(s, SearchPlayer)}) == 1  # loaded once
    tuned = maker.make(f"{network},visits=7,c_puct=2,fpu-reduction=0.1,method=gumbel")
    assert isinstance(tuned, SearchPlayer)
    assert tuned._search.settings == replace(playing_settings(23, 1), c_puct=2.0, fpu_reduction=0.1, method="gumbel")
    levels = [maker.make(f"{network},level={rest}") for rest in ("easy", "full", "full,visits=5")]
    assert [(type(s), s.visits) for s in levels] == [
        (LevelPlayer, find_level("easy").visits), (LevelPlayer, 2), (LevelPlayer, 5)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("nobody", "no player 'nobody'"), ("policy:nobody", "no player"), ("gnugo:11", "gnugo:0 to gnugo:10"),
        ("gnugo:x", "gnugo:0 to"), ("gtp:", "no player"), ("gtp:/nowhere/engine", "there is no program"),
        ("NET,visits=0", "visits is 1 or more"), ("NET,visits=x", "is no whole number"),
        ("NET,level=5", "levels are beginner, easy"), ("NET,level=easy,visits=3", "its own search"),
        ("NET,level=full,time=1", "none takes time"), ("NET,level=full,c_puct=1", "none takes time or settings"),
        ("NET,c_puct=x", "'x' is no number"), ("NET,c_puct=-1", "search setting c_puct is -1.0"),
        ("NET,considered=1.5", "is no whole number"), ("NET,method=minimax", "unknown search method"),
        ("NET,time=1,method=gumbel", "has to know its visits"),
        ("NET,depth=3", "and nothing else"), ("NET,time=0", "time above 0"), ("NET,time=nan", "time above 0"),
    ],
)  # fmt: skip
def test_players_that_there_are_not(network: str, wrong: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PlayerMaker(5, 4, 2, 1, "cpu", 5.0).make(wrong.replace("NET", network))


def test_the_folder_of_a_run_and_its_newest_network_are_one(network: str, tmp_path: Path) -> None:
    (tmp_path / "run/checkpoints").mkdir(parents=True)
    newest = Path(network).rename(tmp_path / "run/checkpoints/000012.safetensors")
    maker = PlayerMaker(5, 4, 2, 1, "cpu", 5.0)
    one, two = maker.make(str(tmp_path / "run")), maker.make(f"policy:{newest}")
    assert one._search.evaluator is two._evaluator  # type: ignore[attr-defined]


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
    for row in tournament.rows:
        assert row["black"] == ("first", "second")[row["game"] % 2]
        assert min(row["seconds"]) > 0
        assert min(row["turns"]) > 0
    assert (tmp_path / "match/sgf/1-2-0001.sgf").exists()
    assert (tmp_path / "match/sgf/2-3-0008.sgf").exists()


def test_the_summary_says_it_all(network: str, tmp_path: Path) -> None:
    players = ["random", f"policy:{network}", network]
    tournament = Tournament(players, replace(SMALL, games=2), tmp_path / "match")
    tournament.rows = [
        {"first": first, "second": second, "game": i, "winner": winner, "reason": reason, "seconds": [3.0, 1.0],
         "turns": [6, 4]}
        for i, (first, second, winner, reason) in enumerate(
            [(0, 1, "first", "passes"), (0, 1, None, "passes"), (0, 2, "second", "fault: late"),
             (0, 2, "second", "passes"), (1, 2, "second", "fault: late"), (1, 2, "first", "fault: early")]
        )
        for first, second in [(players[first], players[second])]
    ]  # fmt: skip
    tournament.write_summary(more=7)
    summary = json.loads((tmp_path / "match/results.json").read_text())
    assert (summary["games"], summary["more"], summary["settings"]["visits"]) == (6, 7, 2)
    assert summary["faults"] == {"fault: late": 2, "fault: early": 1}
    rows = {row.pop("player"): row for row in summary["players"]}
    assert {name: rows[network][name] for name in ("games", "wins", "draws", "losses", "score", "faults")} == {
        "games": 4, "wins": 3, "draws": 0, "losses": 1, "score": 0.75, "faults": 1
    }  # fmt: skip
    assert rows[network]["seconds"] == 0.25
    assert rows[players[1]]["seconds"] == pytest.approx((1 + 1 + 3 + 3) / (4 + 4 + 6 + 6))
    assert rows["random"]["faults"] == 1
    assert (rows["random"]["elo"], rows["random"]["error"]) == (0, 0)
    even, lost, _ = summary["pairs"]
    assert (even["wins"], even["losses"], even["draws"], even["score"][0]) == (1, 0, 1, 0.75)
    assert even["superiority"] == pytest.approx(0.841, abs=1e-3)  # one standard deviation
    assert lost["elo"][:2] == [None, None]
    assert lost["elo"][2] == pytest.approx(113.4, abs=0.1)  # two games bound nothing


def test_a_table_before_the_first_game(network: str, tmp_path: Path) -> None:
    tournament = Tournament(["random", network], SMALL, tmp_path / "match")
    assert [(row["elo"], row["score"], row["seconds"]) for row in tournament.table()] == [(None, None, None)] * 2
    assert tournament.pair_table() == []


def test_the_first_one_against_all_others(network: str, tmp_path: Path) -> None:
    players = [f"policy:{network}", "random", network]
    tournament = Tournament(players, replace(SMALL, games=2), tmp_path / "match", only_first=True)
    play_all(tournament)
    assert [tournament.played(*pair) for pair in tournament.pairs] == [2, 2]
    assert {row["first"] for row in tournament.rows} == {players[0]}
    assert tournament.total == 4


def test_an_interrupted_match_goes_on(network: str, tmp_path: Path) -> None:
    players = ["random", f"policy:{network}"]
    begun = Tournament(players, SMALL, tmp_path / "parts")
    play_all(begun, games=3)
    assert len(list((tmp_path / "parts/sgf").iterdir())) == 3
    with (tmp_path / "parts/games.jsonl").open("a") as file:
        file.write('{"first": "random", "sec')  # a crash in the middle of a line
    again = Tournament(players, SMALL, tmp_path / "parts")
    assert again.rows == begun.rows
    play_all(again)
    assert again.rows[:3] == begun.rows
    assert sorted(row["game"] for row in again.rows) == list(range(8))
    assert len(Tournament(players, SMALL, tmp_path / "parts").rows) == 8
    longer = Tournament(players, replace(SMALL, games=10), tmp_path / "parts")
    play_all(longer)
    assert sorted(row["game"] for row in longer.rows) == list(range(10))


def test_a_match_is_played_once(network: str, tmp_path: Path) -> None:
    """Two processes in one folder, or a folder that two have written to, must not count a game twice."""
    players = ["random", f"policy:{network}"]
    tournament = Tournament(players, SMALL, tmp_path / "match")
    with lock(tmp_path / "match/lock") as ours:
        assert ours
        with pytest.raises(ValueError, match="match is in use: another process plays"):
            play_all(tournament)
    play_all(tournament)
    log = tmp_path / "match/games.jsonl"
    log.write_text(2 * log.read_text())
    again = Tournament(players, SMALL, tmp_path / "match")
    assert again.rows == tournament.rows
    play_all(again)
    assert len(log.read_text().splitlines()) == len(again.rows) == 8


def test_another_match_is_not_gone_on_with(network: str, tmp_path: Path) -> None:
    players = ["random", network]
    Tournament(players, SMALL, tmp_path / "match")
    with pytest.raises(ValueError, match=r"holds another match \(with other players\)"):
        Tournament([network, "random"], SMALL, tmp_path / "match")
    with pytest.raises(ValueError, match=r"holds another match \(komi was 0.5\): name another folder"):
        Tournament(players, replace(SMALL, komi=7.0), tmp_path / "match")
    Tournament([*players, f"policy:{network}"], SMALL, tmp_path / "match")  # one more may join, and then belongs to it
    with pytest.raises(ValueError, match="with other players"):
        Tournament(players, SMALL, tmp_path / "match")
    save_checkpoint(network, KataGoNetwork(1, 8))
    with pytest.raises(ValueError, match="was another network then"):
        Tournament([*players, f"policy:{network}"], SMALL, tmp_path / "match")
    about = json.loads((tmp_path / "match" / "match.json").read_text())
    about["search"]["fpu_reduction"] = 0.2
    (tmp_path / "match" / "match.json").write_text(json.dumps(about))
    with pytest.raises(ValueError, match="searched otherwise then"):
        Tournament([*players, f"policy:{network}"], SMALL, tmp_path / "match")


def test_a_judge_of_the_openings_belongs_to_the_match(network: str, tmp_path: Path) -> None:
    judged = replace(SMALL, judge=network)
    with pytest.raises(ValueError, match="no network 'nowhere' to judge the openings"):
        Tournament(["random", network], replace(SMALL, judge="nowhere"), tmp_path / "match")
    play_all(Tournament(["random", network], judged, tmp_path / "match"))
    play_all(Tournament(["random", network], judged, tmp_path / "match"))  # goes on
    with pytest.raises(ValueError, match="judge was"):
        Tournament(["random", network], SMALL, tmp_path / "match")
    about = tmp_path / "match" / "match.json"
    kept = json.loads(about.read_text())
    del kept["settings"]["judge"]  # as those that were kept before there were judges
    about.write_text(json.dumps(kept))
    with pytest.raises(ValueError, match="judge was "):
        Tournament(["random", network], judged, tmp_path / "match")


def test_a_record_that_cannot_be_written_leaves_no_half_of_it(
    network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record comes before the line in games.jsonl, so that every game named there has one."""
    tournament = Tournament(["random", f"policy:{network}"], SMALL, tmp_path / "match")

    def full(path: Path, data: bytes) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(tournament_module, "write_atomically", full)
    with pytest.raises(OSError, match="no space"):
        play_all(tournament)
    assert not (tmp_path / "match/games.jsonl").exists()
    assert tournament.rows == []


def test_players_must_differ(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the same"):
        Tournament(["random", "random"], SMALL, tmp_path)
    with pytest.raises(ValueError, match="two players"):
        Tournament(["random"], SMALL, tmp_path)


COMMAND = ["--games", "4", "--visits", "2", "--board-size", "5", "--komi", "0.5"]


def test_the_command(network: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["match", "random", network, *COMMAND, "--results", str(tmp_path / "m"), "--sprt", "0", "400"])
    shown = capsys.readouterr().out
    assert "Elo (95 %)" in shown
    assert "SPRT: log likelihood ratio" in shown
    assert json.loads((tmp_path / "m/results.json").read_text())["sprt"]["elo1"] == 400
    with pytest.raises(SystemExit, match="no player 'nobody'"):
        main(["match", "random", "nobody", "--results", str(tmp_path / "n")])
    assert not (tmp_path / "n").exists()
    with pytest.raises(SystemExit, match="a test of two players, and there are 3"):
        main(["match", "random", network, f"policy:{network}", "--results", str(tmp_path / "n"), "--sprt", "0", "9"])
    with pytest.raises(SystemExit, match="the second is the larger one"):
        main(["match", "random", network, "--results", str(tmp_path / "n"), "--sprt", "9", "0"])


def test_ctrl_c_keeps_what_is_finished_and_says_so(
    network: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = Tournament._keep
    closed = []

    def interrupted(self: Tournament, *game: Any) -> dict[str, Any]:
        if len(self.rows) == 2:
            raise KeyboardInterrupt
        return keep(self, *game)

    monkeypatch.setattr(Tournament, "_keep", interrupted)
    monkeypatch.setattr(SearchPlayer, "close", lambda self: closed.append(self.name))
    command = ["match", "random", network, *COMMAND, "--results", str(tmp_path / "m")]
    with pytest.raises(SystemExit) as stopped:
        main(command)
    assert stopped.value.code == 130
    assert "2 of 4 games are kept. The same command goes on from there." in capsys.readouterr().out
    assert json.loads((tmp_path / "m/results.json").read_text())["games"] == 2
    assert closed == [network]
    monkeypatch.setattr(Tournament, "_keep", keep)
    main(command)
    assert json.loads((tmp_path / "m/results.json").read_text())["games"] == 4


def test_a_program_that_fails_loses_its_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "broken.py"
    script.write_text("print('= ', flush=True)\n")
    name = f"gtp:{sys.executable} -S {script}"
    main(["match", "random", name, *COMMAND, "--results", str(tmp_path / "match")])
    table = {row["player"]: row for row in json.loads((tmp_path / "match/results.json").read_text())["players"]}
    assert table["random"]["wins"] == 4
    assert table[name]["faults"] == 4
    assert "× fault: gtp:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("likelihood", "words"), [(0.5, "50.0 %"), (0.9994, "99.9 %"), (0.99999, "> 99.9 %"), (1e-9, "< 0.1 %")]
)
def test_nothing_is_certain(likelihood: float, words: str) -> None:
    assert _sure(likelihood) == words


def test_a_program_that_is_late_loses_its_games(tmp_path: Path) -> None:
    script = tmp_path / "late.py"
    script.write_text(
        "import sys, time\n"
        "for line in sys.stdin:\n"
        "    if line.startswith('genmove'): time.sleep(60)\n"
        "    print('= \\n', flush=True)\n"
    )
    settings = replace(SMALL, games=2, timeout=1.0)
    tournament = Tournament(["random", f"gtp:{sys.executable} -S {script}"], settings, tmp_path / "match")
    play_all(tournament)
    assert [row["winner"] for row in tournament.rows] == ["first", "first"]
    assert all("within 1 s" in row["reason"] for row in tournament.rows)
    with pytest.raises(ValueError, match="timeout is 0"):
        replace(SMALL, timeout=0)


def test_sprt_by_hand() -> None:
    assert sprt(0, 0, 0, 0, 10) == (0.0, "")
    assert sprt(60, 40, 0, 0, 100)[1] == ""
    assert sprt(90, 30, 10, 0, 50)[1] == "H1"
    assert sprt(45, 55, 10, 0, 100)[1] == "H0"
    ratio, _ = sprt(50, 50, 0, -20, 20)  # exactly in the middle
    assert ratio == pytest.approx(0, abs=1e-9)
    with pytest.raises(ValueError, match="is not possible"):
        sprt(1, 1, 0, 10, 10)


def test_a_test_counts_games_in_order_and_stops_the_match(network: str, tmp_path: Path) -> None:
    """Short games end first, and may be won by another than long ones: only whole pairs without a gap count."""
    players = ["random", f"policy:{network}"]
    tournament = Tournament(players, SMALL, tmp_path / "match")
    pair = {"first": players[0], "second": players[1]}
    for games, expected in (([], 0), ([1], 0), ([0, 1], 2), ([0, 1, 2, 4, 5], 2), (range(8), 8)):
        tournament.rows = [{**pair, "game": game, "winner": "first"} for game in games]
        assert tournament.score_in_order(*players) == (expected, 0, 0)
    tournament.rows = []
    play_all(tournament, enough=lambda so_far: len(so_far.rows) >= 3)
    assert len(tournament.rows) == 3
    play_all(tournament, enough=lambda so_far: True)
    assert len(tournament.rows) == 3
