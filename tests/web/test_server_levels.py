"""When to pass or give up."""

import numpy as np
import pytest

from mini_alphago.engine.manners import is_hopeless, may_pass
from mini_alphago.game import BLACK, WHITE, Board
from mini_alphago.mcts import RootMove
from mini_alphago.model import Evaluation


def move(x: int, visits: int, value: float, prior: float) -> RootMove:
    return RootMove((x, x), visits, value, 0.0, value, prior, [(x, x)], [visits])


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
