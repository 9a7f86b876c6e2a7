"""Batches of games as NumPy arrays: made longer, packed for a journey, put together."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import state

if TYPE_CHECKING:
    from .board import Board

_SHARED = {"neighbors": state.NEIGHBORS, "zobrist": state.ZOBRIST}  # the tables that every batch points to


def with_more_room(games: state.Games) -> state.Games:
    """The same games with room for twice as many moves; only `moves` and `keys` are new arrays."""
    count, room = games.moves.shape
    moves = np.concatenate([games.moves, np.zeros((count, room), state.MOVE)], axis=1)
    keys = np.concatenate([games.keys, np.zeros((count, room), np.int64)], axis=1)
    return games._replace(moves=moves, keys=keys)


def pack(games: state.Games) -> dict[str, np.ndarray]:
    """Copies of the arrays that are the batch's own, by name, for `unpack`."""
    return {name: array.copy() for name, array in games._asdict().items() if name not in _SHARED}


def unpack(arrays: Mapping[str, np.ndarray]) -> state.Games:
    """The batch of these arrays, which it then owns."""
    return state.Games(**{**arrays, **_SHARED})


def stack_boards(boards: Sequence["Board"]) -> state.Games:
    """The games of several boards, of any sizes, as one batch; later moves on the boards do not change it."""
    games = state.new_games(
        len(boards), max(board.size for board in boards), max(board.move_count for board in boards) + 1
    )
    for g, board in enumerate(boards):
        state.copy_game(games, g, board.games, 0)
    return games
