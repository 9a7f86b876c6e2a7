"""How a batch of games lies in memory: constants, record types, the arrays and the tables that all games share."""

from typing import NamedTuple

import numpy as np

EMPTY, BLACK, WHITE, WALL = 0, 1, 2, 3
MIN_SIZE, MAX_SIZE = 2, 19
RECENT = 8  # positions kept before the current one
NO_POINT = -1
NO_CHAIN = 65535  # points are unsigned in the tables: Numba then leaves out its test for negative indices

KO_SIMPLE, KO_POSITIONAL, KO_SITUATIONAL = 0, 1, 2
SCORING_AREA, SCORING_TERRITORY = 0, 1
LEGAL, OCCUPIED, KO, SUPERKO, SUICIDE, OVER = 0, 1, 2, 3, 4, 5

INFO = np.dtype(
    [
        ("size", np.int32),
        ("ko_rule", np.int32),
        ("scoring", np.int32),
        ("suicide", np.int32),  # 1: a chain of two or more may take its own last liberty
        ("komi", np.float32),  # what White gets in all, handicap compensation included
        ("to_move", np.int32),
        ("ko_point", np.int32),  # where `to_move` may not retake now, or NO_POINT
        ("passes", np.int32),  # in a row, just now
        ("move_count", np.int32),
        ("first_move", np.int32),  # move_count at the last free setup: superko and `recent` remember nothing older
        ("black_prisoners", np.int32),  # white stones that Black has taken
        ("white_prisoners", np.int32),
        ("stamp", np.int32),  # last value written to `mark`
        ("hash", np.int64),
    ],
    align=True,
)
POINT = np.dtype(
    [
        ("head", np.uint16),  # the chain's name: the index of one of its stones; NO_CHAIN on empty points and walls
        ("next", np.uint16),  # the next stone of the chain's ring
        ("stones", np.int16),  # at the head only, like the one below
        ("liberties", np.int16),
    ],
    align=True,
)
MOVE = np.dtype([("point", np.int16), ("player", np.int16)], align=True)


class Games(NamedTuple):
    """A batch of games. A = (largest size)² + 1, M = the most moves a game can hold."""

    info: np.ndarray  # [games] INFO
    color: np.ndarray  # [games, A] int8: EMPTY, BLACK, WHITE; WALL at index size²
    points: np.ndarray  # [games, A] POINT: the chains
    moves: np.ndarray  # [games, M] MOVE
    keys: np.ndarray  # [games, M + 1] int64: what superko compares, one for each position since `first_move`
    removed: np.ndarray  # [games, A] uint8: by bits, BLACK | WHITE, whose stones were taken off here since `first_move`
    recent: np.ndarray  # [games, RECENT, A] int8: `color` before move n is in slot n % RECENT
    mark: np.ndarray  # [games, A] int32: scratch, valid where equal to the stamp at hand
    neighbors: np.ndarray  # [MAX_SIZE + 1, MAX_SIZE², 4] uint16, one table for every batch
    zobrist: np.ndarray  # [3, MAX_SIZE² + 1] int64, likewise; [player, MAX_SIZE²] says who is to move


class Position(NamedTuple):
    """One game's rows of a batch: views, which cost nothing without reference counts."""

    info: np.ndarray  # [1] INFO
    color: np.ndarray  # [A] int8
    points: np.ndarray  # [A] POINT
    keys: np.ndarray  # [M + 1] int64
    removed: np.ndarray  # [A] uint8
    mark: np.ndarray  # [A] int32
    neighbors: np.ndarray  # [MAX_SIZE², 4] uint16, of this board size
    zobrist: np.ndarray  # [3, MAX_SIZE² + 1] int64


def _neighbor_table() -> np.ndarray:
    table = np.zeros((MAX_SIZE + 1, MAX_SIZE * MAX_SIZE, 4), np.uint16)
    for size in range(MIN_SIZE, MAX_SIZE + 1):
        for point in range(size * size):
            x, y = divmod(point, size)
            for k, (i, j) in enumerate(((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))):
                table[size, point, k] = i * size + j if 0 <= i < size and 0 <= j < size else size * size
    return table


NEIGHBORS = _neighbor_table()
ZOBRIST = np.random.default_rng(0x60).integers(-(2**63), 2**63, (3, MAX_SIZE * MAX_SIZE + 1), np.int64)


def new_games(count: int, size: int, max_moves: int) -> Games:
    """An empty batch for boards up to `size`; rules are zero until written to `info`, and each game needs `clear`."""
    points = size * size + 1
    games = Games(
        info=np.zeros(count, INFO),
        color=np.zeros((count, points), np.int8),
        points=np.zeros((count, points), POINT),
        moves=np.zeros((count, max_moves), MOVE),
        keys=np.zeros((count, max_moves + 1), np.int64),
        removed=np.zeros((count, points), np.uint8),
        recent=np.zeros((count, RECENT, points), np.int8),
        mark=np.zeros((count, points), np.int32),
        neighbors=NEIGHBORS,
        zobrist=ZOBRIST,
    )
    games.info["size"] = size
    return games
