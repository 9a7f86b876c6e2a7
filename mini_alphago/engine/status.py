"""Who lives at the end of a game: from what is pass-alive for sure, and from the ownership that the network expects."""

from typing import NamedTuple

import numpy as np

from ..game import BLACK, WHITE, Board
from ..game.coords import PASS, to_flat
from ..mcts import Search, playing_settings
from ..mcts.search import Evaluates
from .seki import Point, chains_of, seki_stones

_CHECK_VISITS = 48
_LOST = 0.2  # mean ownership, by the least sure view, at which a chain belongs to its enemy


class Count(NamedTuple):
    """A finished position, counted."""

    score: float  # Black's, komi included
    dead: list[Point]
    settled: bool  # whether every point clearly belongs to somebody


class Statuses(NamedTuple):
    """Every chain on the board, each as its stones in board order."""

    alive: list[list[Point]]
    seki: list[list[Point]]
    dead: list[list[Point]]


def dead_stones(board: Board, evaluator: Evaluates) -> list[Point]:
    """All stones that cannot be saved, whole chains of them.

    What lies in the other side's pass-alive regions is dead, and pass-alive stones live. Of the rest a chain is dead if
    the network gives its points to the opponent, now and also after the best play that a short search finds with
    either side to move first. A network that does not say who owns what gives no more dead stones.
    """
    return _dead_stones(board, _expected_owner(board, evaluator))


def final_statuses(board: Board, evaluator: Evaluates) -> Statuses:
    """Who is dead (see `dead_stones`), who lives only in seki (see `seki_stones`), and who is alive otherwise."""
    owner = _expected_owner(board, evaluator)
    dead = _dead_stones(board, owner)
    seki = seki_stones(board, dead, owner)
    result = Statuses([], [], [])
    for chain in chains_of(board):
        stones = sorted(chain.stones)
        which = result.dead if stones[0] in dead else result.seki if stones[0] in seki else result.alive
        which.append(stones)
    return result


def _dead_stones(board: Board, owner: np.ndarray | None) -> list[Point]:
    surely_dead: set[Point] = set()
    surely_alive: set[Point] = set()
    for player in (BLACK, WHITE):
        stones, regions = board.pass_alive(player)
        surely_alive |= stones
        surely_dead |= {point for point in regions if board.board[point] == board.get_opponent(player)}
    dead: list[Point] = []
    for chain in chains_of(board):
        lost = False
        if owner is not None and not chain.stones & surely_alive:
            mean = float(np.mean([owner[point] for point in chain.stones]))
            lost = (mean if chain.color == BLACK else -mean) < -_LOST
        if lost or chain.stones & surely_dead:
            dead += sorted(chain.stones)
    return dead


def _expected_owner(board: Board, evaluator: Evaluates) -> np.ndarray | None:
    """[size, size] float64, 1 Black's to -1 White's: of three views the one least sure.

    The views: now, and after the best play with either side first. None if the network does not say.
    """
    views = []
    for player in (None, BLACK, WHITE):
        position = board.copy()
        if position.is_game_over():
            position.resume()
        if player is not None:
            position.current_player = player
            for move in _best_line(position, evaluator):
                if position.is_game_over() or (move != PASS and not position.is_legal(*move)):
                    break
                play_or_pass(position, move)
        evaluation = evaluator.evaluate(position.games)
        if evaluation.ownership is None:
            return None
        sign = 1 if position.current_player == BLACK else -1
        views.append(sign * evaluation.ownership[0].reshape(board.size, board.size).astype(np.float64))
    stack = np.stack(views)
    least, largest = stack.min(axis=0), stack.max(axis=0)
    return np.asarray(np.where(least > 0, least, np.where(largest < 0, largest, 0.0)))


def _best_line(board: Board, evaluator: Evaluates) -> list[Point]:
    search = Search(evaluator, 1, board.size, playing_settings(_CHECK_VISITS + 32))
    search.set_board(board)
    search.run(_CHECK_VISITS)
    moves = search.root_moves()
    return moves[0].variation if moves else []


def play_or_pass(board: Board, move: Point) -> None:
    """Make a legal move; (-1, -1) passes."""
    if move == PASS:
        board.pass_move()
    else:
        board.play(*move)


def legal_policy(board: Board, logits: np.ndarray) -> np.ndarray:
    """[size² + 1] float64: the network's policy over legal moves, sum 1; NaN where a move is illegal."""
    legal = [to_flat(x, y, board.size) for x, y in board.get_legal_moves()]
    odds = np.exp(logits[legal].astype(np.float64) - float(logits[legal].max()))
    policy = np.full(board.size**2 + 1, np.nan)
    policy[legal] = odds / odds.sum()
    return policy


def count_board(board: Board, evaluator: Evaluates) -> Count:
    """Count the board without its dead stones; `settled` if then every empty point touches one colour alone."""
    dead = dead_stones(board, evaluator)
    owner = board.ownership(dead)
    return Count(board.score(dead), dead, bool((owner != 0).all()))
