"""Programs that speak GTP: a sound one, GNU Go, and every way in which one can go wrong."""

import shutil
import sys
import textwrap
import threading
import time
from contextlib import closing

import pytest

from mini_alphago.arena import GtpPlayer, PlayerFault, RandomPlayer, gnugo_player, play_match, random_openings
from mini_alphago.game import Board

# A program that plays `moves` in turn, then passes, and writes down what it is told. `bad` is what it does instead of
# its second answer to genmove.
PROGRAM = """
import os, sys, time
moves, log = iter({moves!r}), open({log!r}, "a")
count = 0
for line in sys.stdin:
    print(line.strip(), file=log, flush=True)
    answer = ""
    if line.startswith("genmove"):
        count += 1
        answer = next(moves, "pass")
        if count == 2:
            {bad}
    print("= " + answer + "\\n", flush=True)
    if line.startswith("quit"):
        break
"""


@pytest.fixture
def program(tmp_path):
    """Writes a program with such moves and such a fault, and returns a player of it."""
    players = []

    def make(moves=(), bad="pass", timeout=20.0, **more):
        script = tmp_path / f"program{len(players)}.py"
        script.write_text(textwrap.dedent(PROGRAM).format(moves=list(moves), log=str(tmp_path / "log"), bad=bad))
        players.append(GtpPlayer([sys.executable, "-S", str(script)], "program", timeout, **more))
        return players[-1]

    yield make
    for player in players:
        player.close()


def log_of(tmp_path):
    return (tmp_path / "log").read_text().splitlines()


# --- a sound program --------------------------------------------------------------------------------------------------


def test_what_a_program_is_told(program, tmp_path):
    board = Board(5, 2.5)
    board.play(2, 2)
    player = program(["A1", "b2"])
    player.start([board])
    assert player.choose([0]) == [4 * 5 + 0]
    assert player.choose([0]) == [20]  # asked again: the same answer, without a second genmove
    player.played(0, 20)
    player.played(0, 24)
    assert player.choose([0]) == [3 * 5 + 1]
    assert log_of(tmp_path) == [
        "boardsize 5",
        "clear_board",
        "komi 2.5",
        "play black C3",
        "genmove white",
        "play black E1",
        "genmove white",
    ]


def test_set_up_stones_and_handicap_are_told(program, tmp_path):
    board = Board(9, 0.5, rules="chinese")
    board.place_handicap(2)
    player = program()
    player.start([board])
    assert player.choose([0]) == [81]
    assert log_of(tmp_path)[2:] == ["komi 2.5", "play black G7", "play black C3", "genmove white"]


def test_programs_serve_again_and_end_with_the_player(program):
    player = program(["A1"] * 99)
    player.start([Board(5)] * 3)
    assert player.choose([0, 2]) == [20, 20]
    processes = dict(player._processes)
    assert set(processes) == {0, 2}  # game 1 was not asked yet
    player.start([Board(5)])
    assert player.choose([0]) == [20]
    assert player._processes[0] is processes[0]
    player.close()
    player.close()
    assert all(process._process.returncode == 0 for process in processes.values())


def test_a_program_may_resign(program):
    result = play_match(program(["resign"]), RandomPlayer(1), [Board(5, 0.5)])
    assert [game.reason for game in result.games] == ["resignation"] * 2
    assert (result.wins, result.losses, result.faults) == (0, 2, [])


@pytest.mark.parametrize("noise", ['print("loading...")', 'print("=7 A2\\r\\n\\r\\n", end="", flush=True); continue'])
def test_noise_and_other_ways_to_say_it_are_understood(program, noise):
    player = program(["A1", "A2"], bad=noise)
    player.start([Board(5)])
    for move in (20, 15):
        assert player.choose([0]) == [move]
        player.played(0, move)


# --- programs that go wrong -------------------------------------------------------------------------------------------

FAULTS = {
    "crash": ("os._exit(3)", "ended with status 3 at 'genmove "),
    "hang": ("time.sleep(99)", "no answer to 'genmove "),
    "deaf child": ("os.fork() and os._exit(0); time.sleep(99)", "no answer to 'genmove "),
    "half an answer": ('print("= A1", flush=True); time.sleep(99)', "no answer to 'genmove "),
    "flood": ('[print("= A1") for i in iter(int, 1)]', "with more than 1000 lines"),
    "nonsense": ('answer = "Z99"', "'z99' is not a point of a 5×5 board"),
    "refusal": ('print("? cannot do that\\n", flush=True); continue', "refused 'genmove "),
    "illegal": ('answer = "A1"', "illegal move A1 (occupied)"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_faulty_program_loses_and_nothing_hangs(program, kind):
    bad, message = FAULTS[kind]
    begin, threads = time.monotonic(), threading.active_count()
    player = program(["A1", "B1"], bad, timeout=2.0, parallel=2)
    result = play_match(player, Passing(), [Board(5, 0.5)])
    player.close()
    assert [game.winner for game in result.games] == ["second"] * 2
    assert result.faults == result.games
    assert all(game.reason.startswith("fault: program: ") and message in game.reason for game in result.games)
    assert time.monotonic() - begin < 15
    assert threading.active_count() <= threads


class Passing(RandomPlayer):
    """Passes."""

    def choose(self, games):
        return [25 for _ in games]


def test_only_the_game_at_hand_is_lost(program):
    player = program(["pass"], bad="os._exit(1)", parallel=2)
    player.start([Board(5), Board(5)])
    player.choose([0, 1])
    player.played(1, 25)
    with pytest.raises(PlayerFault, match="program: ended with status 1") as fault:
        player.choose([0, 1])
    assert fault.value.game == 1
    assert player.choose([0]) == [25]
    player.start([Board(5), Board(5)])  # a new game: a new process, and the old fault is forgotten
    assert player.choose([1]) == [25]


def test_a_program_that_is_not_there():
    with pytest.raises(ValueError, match="there is no program /nowhere/engine"):
        GtpPlayer("/nowhere/engine --gtp")
    with pytest.raises(ValueError, match="an empty command"):
        GtpPlayer("")


def test_a_command_may_be_one_line(tmp_path):
    script = tmp_path / "a program.py"
    script.write_text("import sys\nfor line in sys.stdin: print('= pass\\n', flush=True)")
    with closing(GtpPlayer(f"{sys.executable} -S '{script}'")) as player:
        player.start([Board(5)])
        assert player.choose([0]) == [25]
        assert player.name.startswith("python")


# --- GNU Go -----------------------------------------------------------------------------------------------------------

needs_gnugo = pytest.mark.skipif(
    not (shutil.which("gnugo") or shutil.which("/usr/games/gnugo")),
    reason="GNU Go is not installed (apt install gnugo)",
)


@needs_gnugo
def test_gnugo_beats_random():
    with closing(gnugo_player(level=1)) as gnugo:
        result = play_match(gnugo, RandomPlayer(1), random_openings(2, 9, 7, moves=4, seed=1))
    assert gnugo.name == "gnugo-1"
    assert result.faults == []
    assert (result.wins, result.losses) == (4, 0)


@needs_gnugo
def test_gnugo_and_the_board_count_alike():
    """Two GNU Gos play to the end; the board then counts what GNU Go itself would."""
    with closing(gnugo_player(level=1, seed=1)) as one, closing(gnugo_player(level=1, seed=2)) as two:
        result = play_match(one, two, random_openings(2, 7, 6.5, moves=2, seed=5))
        assert result.faults == []
        counted = [game for game in result.games if game.score is not None]
        assert counted
        for game in counted:
            judge = one._processes[result.games.index(game)]
            color, _, points = judge.send("final_score").partition("+")
            assert game.score == (1 if color == "B" else -1) * float(points), game.board


@needs_gnugo
def test_gnugo_knows_our_superko():
    """Openings that go through long random fights are told to it, and not one move is refused."""
    with closing(gnugo_player(level=0)) as gnugo:
        gnugo.start(random_openings(4, 7, 6.5, moves=60, seed=2))
        assert all(-1 <= move <= 49 for move in gnugo.choose([0, 1, 2, 3]))


def test_a_machine_without_gnugo(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_: None)
    with pytest.raises(ValueError, match="GNU Go is not installed"):
        gnugo_player()
