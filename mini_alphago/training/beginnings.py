"""How games of self-play begin: komi, random first moves, how long moves are sampled; drawn by seed and game."""

from typing import Any, NamedTuple

import numpy as np

from ..game.state import Games, clear
from ..kernel import kernel
from ..mcts.noise import stream, uniform
from .config import SelfPlaySettings
from .endings import play_random

_LONGEST_OPENING = 4
_FIXED = 7  # numbers that every game draws, before those of its random moves


class Beginnings(NamedTuple):
    """How a number of games begin."""

    komi: np.ndarray  # [games] float32
    sampled: np.ndarray  # [games] int32: how many moves are sampled, after the random ones
    played_out: np.ndarray  # [games] bool: nobody resigns
    random_moves: np.ndarray  # [games] int64
    draws: np.ndarray  # [games, most random moves] float64 in (0, 1): which move, of those that there are


@kernel
def _draw(seed: Any, ids: Any, out: Any) -> None:
    for i in range(len(ids)):
        own = stream(seed, ids[i])
        for k in range(out.shape[1]):
            out[i, k] = uniform(own, k)


def draw_beginnings(
    settings: SelfPlaySettings, seed: int, ids: np.ndarray, at_least: np.ndarray, limit: int
) -> Beginnings:
    """How the games of these ids ([games] int64) begin, each with at least so many random moves ([games] int64).

    limit: of the moves of a game, of which at least one is left.
    """
    key = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    u = np.empty((len(ids), _FIXED + max(_LONGEST_OPENING, int(at_least.max(initial=0)))))
    _draw(key, ids, u)
    varied, opening, length, low, high = (
        u[:, 2] < 0.5,
        u[:, 3] < settings.random_openings,
        u[:, 4],
        *settings.sampled_moves,
    )
    normal = np.sqrt(-2 * np.log(u[:, 0])) * np.cos(2 * np.pi * u[:, 1])
    spread = np.where(varied, settings.komi_spread, 0.0)
    random_moves = np.where(opening, np.maximum(at_least, 1 + (_LONGEST_OPENING * length).astype(np.int64)), at_least)
    random_moves = np.minimum(random_moves, limit - 1)
    return Beginnings(
        komi=(settings.komi + np.rint(2 * spread * normal) / 2).astype(np.float32),
        sampled=(low + np.floor((high - low + 1) * u[:, 5])).astype(np.int32),
        played_out=u[:, 6] < settings.resign_played_out,
        random_moves=random_moves,
        draws=np.ascontiguousarray(u[:, _FIXED : _FIXED + int(random_moves.max(initial=0))]),
    )


@kernel
def begin_games(games: Games, slots: Any, komi: Any, random_moves: Any, draws: Any, reasons: Any, points: Any) -> None:
    """Start a game in each of these slots; see `Beginnings`. reasons, points: [A] uint8 and int16, room to work."""
    for i in range(len(slots)):
        games.info[slots[i]].komi = komi[i]
        clear(games, slots[i])
        play_random(games, slots[i], draws[i, : random_moves[i]], reasons, points)
