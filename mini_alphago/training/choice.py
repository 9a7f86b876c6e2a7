"""Which positions are learned from: all that were searched in full, the surprising ones more often if one likes."""

import numpy as np

from .records import Records


def usable(records: Records) -> tuple[np.ndarray, np.ndarray]:
    """Which positions can be learned from: [samples] int64 the game, and [samples] int64 the move of each."""
    rows = np.flatnonzero(records.full)
    game = np.searchsorted(records.first, rows, side="right") - 1
    return game, rows - records.first[game]


def weigh(records: Records, game: np.ndarray, at: np.ndarray, share: float) -> np.ndarray:
    """[samples] float64: how often each sample is to be drawn beside others, 1 on average in each game.

    `share` of that goes to where a search surprised the network, in proportion to its surprise; the rest is even.
    game, at: [samples], the samples of these records.
    """
    surprise = records.full[records.first[game] + at] - 1.0
    count = np.bincount(game, minlength=len(records.id))
    mean = np.bincount(game, surprise, len(records.id)) / np.maximum(count, 1)
    even = mean[game] == 0
    return np.where(even, 1.0, 1 - share + share * surprise / np.where(even, 1.0, mean[game]))


def copies(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Samples by number, each as often as its weight says: rounded down, and once more by chance for what is left."""
    whole = np.floor(weights)
    return np.repeat(np.arange(len(weights)), (whole + (rng.random(len(weights)) < weights - whole)).astype(np.int64))


def draw(samples: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """[count] int64: which of so many samples to use: each once before any is used twice."""
    rounds = -(-count // samples)
    order = np.concatenate([rng.permutation(samples) for _ in range(rounds)])
    return order[:count]


def choose(
    records: Records, shape: tuple[int, int], surprise: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Samples of these records, of which there are some: the games, and the moves in them, int64 of that shape.

    surprise: see `LearningSettings.surprise_weight`.
    """
    game, at = usable(records)
    if surprise:
        often = copies(weigh(records, game, at, surprise), rng)
        game, at = game[often], at[often]
    rows = draw(len(game), shape[0] * shape[1], rng).reshape(shape)
    return game[rows], at[rows]
