"""Whole games of our engine's process against GNU Go's: neither refuses a move, and both count the same score.

A referee gives each move to the other side and to a board of its own. The network is untrained: against it GNU Go
takes the whole board, and it does not know when to stop. So from a limit of moves on GNU Go plays for both sides, in
every second game soon, and then there is something to count for both.
"""

import random
import shutil
from collections.abc import Iterator
from contextlib import closing

import pytest

from mini_alphago.arena.gtp_player import GtpProcess
from mini_alphago.game import BLACK, WHITE, Board
from mini_alphago.game.coords import PASS, from_gtp, to_gtp

GNUGO = shutil.which("gnugo") or shutil.which("/usr/games/gnugo")
OPTIONS = "--mode gtp --quiet --chinese-rules --positional-superko --capture-all-dead --never-resign --level 0"
NAMES = {BLACK: "black", WHITE: "white"}
needs_gnugo = pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed (apt install gnugo)")


@pytest.fixture(scope="module")
def ours(gtp_command: list[str]) -> Iterator[GtpProcess]:
    """Our engine, one process for all games."""
    with closing(GtpProcess([*gtp_command, "--cleanup", "--visits", "4"], timeout=120.0)) as process:
        yield process


def play_game(ours: GtpProcess, gnugo: GtpProcess, size: int, komi: float, our_color: int, number: int) -> Board:
    """One game to its two passes, the first moves random and from the limit of moves on GNU Go's for both sides.

    GtpError if anybody refuses anything.
    """
    board = Board(size, komi)
    for side in (ours, gnugo):
        for line in (f"boardsize {size}", "clear_board", f"komi {komi}"):
            side.send(line)
    rng = random.Random(number)
    limit = (size * size * 3 // 2, size * size // 10)[number % 4 in (1, 2)]
    while not board.is_game_over():
        player = board.current_player
        if board.move_count < 2:  # openings that differ
            x, y = rng.choice([move for move in board.get_legal_moves() if move != PASS])
            tell, vertex = (ours, gnugo), to_gtp(x, y, size)
        else:
            mine = player == our_color and board.move_count < limit
            asked, other = (ours, gnugo) if mine else (gnugo, ours)
            tell, vertex = (other,), asked.send(f"genmove {NAMES[player]}")
        move = from_gtp(vertex, size)
        assert move == PASS or board.is_legal(*move), f"{vertex} is illegal:\n{board}"
        for side in tell:
            side.send(f"play {NAMES[player]} {vertex}")
        if move == PASS:
            board.pass_move()
        else:
            board.play(*move)
    return board


def check_game(ours: GtpProcess, size: int, number: int) -> Board:
    """Play game `number`, colours and komi in turn; the board, GNU Go and our engine must count the same."""
    with closing(GtpProcess([str(GNUGO), *OPTIONS.split(), "--seed", str(number + 1)], timeout=60.0)) as gnugo:
        komi = (7.0, 7.5)[number // 2 % 2]
        board = play_game(ours, gnugo, size, komi, (BLACK, WHITE)[number % 2], number)
        assert _points(ours.send("final_score")) == _points(gnugo.send("final_score")) == board.score(), f"\n{board}"
    return board


def _points(answer: str) -> float:
    """Black's points of `B+3.5`, `W+3.5` or `0`."""
    side, _, points = answer.partition("+")
    return float(points) * (1 if side == "B" else -1) if points else 0.0


@needs_gnugo
@pytest.mark.parametrize("number", range(4))
def test_a_game_on_9x9(ours: GtpProcess, number: int) -> None:
    check_game(ours, 9, number)


@needs_gnugo
@pytest.mark.slow
@pytest.mark.parametrize("number", range(4, 20))
def test_more_games_on_9x9(ours: GtpProcess, number: int) -> None:
    check_game(ours, 9, number)


@needs_gnugo
@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_a_game_on_19x19(ours: GtpProcess, number: int) -> None:
    check_game(ours, 19, number)
