"""Positions drawn once and searched for both colours."""

from typing import NamedTuple

import pytest

from mini_alphago.game import Board
from mini_alphago.mcts import Search, SearchSettings

from .evaluators import Area, Uniform

NOTHING, AREA = Uniform(), Area(3.0)
BOTH = pytest.mark.parametrize("player", [Board.BLACK, Board.WHITE], ids=["Black", "White"])
SETTINGS = pytest.mark.parametrize("settings", [{}, {"leaves": 8, "fpu_reduction": 0.3}], ids=["plain", "as played"])


class Tactic(NamedTuple):
    name: str
    diagram: str  # X to move
    komi: float  # for O
    right: set  # of these flat indices one is played; size² is the pass
    evaluators: tuple = (NOTHING, AREA)
    opponent_passed: bool = False


def swapped(diagram):
    """The drawing with the colours exchanged."""
    return diagram.translate(str.maketrans("XO", "OX"))


def drawn(diagram, player, komi=0.0, opponent_passed=False):
    """The board as drawn, X being `player`, who is to move; `komi` is what the other side gets."""
    if player == Board.WHITE:
        diagram, komi = swapped(diagram), -komi
    board = Board.from_diagram(diagram, komi=komi, player=3 - player if opponent_passed else player)
    if opponent_passed:
        board.pass_move()
    assert board.current_player == player
    return board


def check_choice(board, right, settings, evaluators=(NOTHING, AREA)):
    """With each of the evaluators, 3000 visits end in one of the right moves."""
    for evaluator in evaluators:
        search = Search(evaluator, 1, board.size, SearchSettings(nodes=4096, **settings))
        search.set_board(board)
        search.run(3000)
        assert search.best_move() in right, f"{type(evaluator).__name__}\n{board}\n{search.root_moves()[:4]}"


def check(tactic, player, settings):
    """The tactic is solved for `player`."""
    board = drawn(tactic.diagram, player, tactic.komi, tactic.opponent_passed)
    check_choice(board, tactic.right, settings, tactic.evaluators)
