"""Where the games of a match begin."""

import numpy as np

from ..game import Board, stack_boards
from ..game.rules import Rules
from ..mcts.search import Evaluates
from .players import play_flat, sensible_points

_TRIES = 100  # to find one more opening that is not there yet
OPEN = 0.5  # the largest value, of either side, of an opening that a judge lets pass: a winning chance of 75 %


def random_openings(
    count: int,
    size: int,
    komi: float | None,
    moves: int,
    seed: int,
    rules: Rules | str = "cgos",
    judge: Evaluates | None = None,
) -> list[Board]:
    """`count` different positions after so many random moves, none of them a pass or into one's own eye.

    judge: positions that it takes for decided are left out; of a pair of games from one of those, colours swapped, each
    side tends to win one, whoever they are. The same arguments give the same positions. ValueError: too few of them.
    """
    rng = np.random.default_rng(seed)
    openings: dict[bytes, Board] = {}
    for _ in range(_TRIES * count):
        if len(openings) == count:
            break
        board = Board(size, komi, rules)
        if _play_randomly(board, moves, rng) and (judge is None or _is_open(board, judge)):
            openings.setdefault(board.board.tobytes(), board)
    if len(openings) < count:
        kind = "different" if judge is None else "different and undecided"
        found = f"only {len(openings)} were found"
        raise ValueError(f"no {count} {kind} openings of {moves} random moves on {size}×{size}: {found}")
    return list(openings.values())


def _play_randomly(board: Board, moves: int, rng: np.random.Generator) -> bool:
    for _ in range(moves):
        points = sensible_points(board)
        if not len(points):
            return False
        play_flat(board, int(rng.choice(points)))
    return True


def _is_open(board: Board, judge: Evaluates) -> bool:
    return bool(abs(judge.evaluate(stack_boards([board])).value[0]) <= OPEN)
