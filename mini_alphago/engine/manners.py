"""When to pass and when to give up, so that a game with a person ends as people end it."""

from ..game import BLACK, Board, stack_boards
from ..game.coords import PASS
from ..mcts import RootMove
from ..mcts.search import Evaluates
from .status import count_board

_LOST, _WAS_LOST = 0.03, 0.10  # winrates: now, after a search; at earlier turns, by the network alone
_TURNS = 3  # so many own turns ago it was lost already
_EARLIEST = 0.3  # moves before which nobody resigns, as a part of the board's points


def may_pass(board: Board, player: int, evaluator: Evaluates) -> bool:
    """Whether the opponent has just passed and the game is won for `player` as it stands, dead stones being dead."""
    history = board.history
    if not history or history[-1][:2] != PASS:
        return False
    count = count_board(board, evaluator)
    return count.settled and (count.score > 0) == (player == BLACK) and count.score != 0


def is_hopeless(board: Board, moves: list[RootMove], evaluator: Evaluates) -> bool:
    """Whether the player to move should resign: every good move loses, and at his last turns it was lost already."""
    if board.move_count < max(2 * _TURNS, _EARLIEST * board.size**2):
        return False
    best = [move for move in moves[:3] if move.visits]
    if not best or any((move.value + 1) / 2 >= _LOST for move in best):
        return False
    earlier, past = [], board.copy()
    for _ in range(_TURNS):
        if not past.undo() or not past.undo():
            break
        earlier.append(past.copy())
    if not earlier:
        return False
    values = evaluator.evaluate(stack_boards(earlier)).value
    return all(
        was.current_player == board.current_player and (float(value) + 1) / 2 < _WAS_LOST
        for was, value in zip(earlier, values, strict=True)
    )
