"""Levels: weaker by choice among good moves, never by throwing a game away; and when to pass or give up."""

import random
from collections import Counter

import numpy as np
import pytest

from mini_alphago.engine.manners import is_hopeless, may_pass
from mini_alphago.game import BLACK, WHITE, Board
from mini_alphago.mcts import RootMove
from mini_alphago.mcts.levels import FULL, LEVELS, choose, find_level
from mini_alphago.model import Evaluation


def move(x: int, visits: int, value: float, prior: float) -> RootMove:
    return RootMove((x, x), visits, value, 0.0, value, prior, [(x, x)], [visits])


PASSING = RootMove((-1, -1), 1, 0.3, 0.0, 0.3, 0.01, [(-1, -1)], [1])
MOVES = [
    move(0, 30, 0.30, 0.4), move(1, 10, 0.28, 0.2), move(2, 8, 0.15, 0.2), move(3, 2, -0.9, 0.15),
    move(4, 0, 0.0, 0.04), move(5, 0, 0.0, 0.005), move(6, 0, 0.0, 0.0005), PASSING,
]  # fmt: skip


def drawn(name: str, moves: list[RootMove] = MOVES) -> Counter[int]:
    rng = random.Random(1)
    return Counter(choose(moves, find_level(name), rng).move[0] for _ in range(400))


def test_full_strength_plays_the_best() -> None:
    assert set(drawn("full")) == {0}


@pytest.mark.parametrize(
    ("level", "moves"),
    [
        ("beginner", {0, 1, 2, 4, 5}),
        ("easy", {0, 1, 2, 4, 5}),
        ("medium", {0, 1, 2, 4}),
        ("hard", {0, 1}),
        ("full", {0}),
    ],
)
def test_no_level_plays_what_it_knows_to_lose_and_weak_ones_what_they_have_not_looked_at(level, moves) -> None:
    """Move 2 is 7 % behind, move 3 is lost; 4 to 6 were not searched, and 6 comes to nobody's mind."""
    assert set(drawn(level)) == moves


def test_weaker_levels_vary_more() -> None:
    best = [drawn(level.id)[0] for level in LEVELS]
    assert best == sorted(best)
    assert best[0] < best[-2] < best[-1] == 400
    visits = [level.visits or 10**9 for level in LEVELS]
    assert visits == sorted(visits)
    assert FULL.visits is None


def test_a_pass_is_played_only_if_it_is_the_best() -> None:
    assert set(drawn("beginner", [PASSING, *MOVES[:3]])) == {-1}


def test_unknown_levels() -> None:
    with pytest.raises(ValueError, match="levels are beginner, easy, medium, hard, full"):
        find_level("god")


class Thinks:
    """Gives the player every position, but for one colour, to whom it gives `value`."""

    def __init__(self, value: float, player: int = WHITE) -> None:
        self.value, self.player = value, player

    def evaluate(self, states):
        count, points = states.color.shape
        value = np.where(states.info["to_move"] == self.player, self.value, -self.value)
        return Evaluation(np.zeros((count, points), np.float32), value.astype(np.float32), None, None)


def lost_board(moves: int) -> Board:
    board = Board(5, komi=0.5)
    for point in range(moves):
        assert board.play(*divmod(point, 5))
    return board


@pytest.mark.parametrize(
    ("moves", "searched", "before", "resigns"),
    [
        (9, -0.99, -0.99, True),
        (9, -0.80, -0.99, False),  # there is a chance
        (9, -0.99, -0.50, False),  # it was not lost until now: wait and see
        (5, -0.99, -0.99, False),  # the game has hardly begun
    ],
)
def test_giving_up(moves: int, searched: float, before: float, resigns: bool) -> None:
    board = lost_board(moves)
    assert board.current_player == WHITE
    assert is_hopeless(board, [move(0, 30, searched, 1.0), move(4, 0, 0.0, 0.1)], Thinks(before)) is resigns


def test_nobody_gives_up_without_having_looked() -> None:
    assert not is_hopeless(lost_board(9), [], Thinks(-1))
    assert not is_hopeless(lost_board(9), [move(0, 0, 0.0, 1.0)], Thinks(-1))


ALIVE = """
.XX0.
XXX00
.XX0.
XXX00
.XX0.
""".replace("0", "O")


@pytest.mark.parametrize(("komi", "passed", "may"), [(7, True, True), (7, False, False), (0.5, True, False)])
def test_passing_after_a_pass(komi: float, passed: bool, may: bool) -> None:
    """White has ten points, Black fifteen."""
    board = Board.from_diagram(ALIVE, komi=komi, player=BLACK)
    if passed:
        board.pass_move()
    assert may_pass(board, WHITE, Thinks(0.0)) is may
