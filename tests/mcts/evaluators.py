"""Evaluators that need no network: what a search is given in these tests."""

import zlib
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mini_alphago.game.scoring import score
from mini_alphago.game.state import BLACK, Games
from mini_alphago.kernel import kernel
from mini_alphago.model import ENCODINGS, Evaluation


class Entry(NamedTuple):
    """What a table says of one position, for the player to move there."""

    value: float = 0.0
    priors: Mapping[int, float] | None = None  # probabilities by flat index; None: all alike. Moves left out get 1e-9
    score: float = 0.0


_UNKNOWN = Entry()


def key(states: Games, g: int = 0) -> str:
    """A position as text: the rows from the top, then who is to move; on 2×2 for example "X. .O X"."""
    size = int(states.info[g]["size"])
    stones = "".join(".XO"[c] for c in states.color[g, : size * size])
    rows = [stones[i : i + size] for i in range(0, size * size, size)]
    return " ".join([*rows, ".XO"[states.info[g]["to_move"]]])


class Uniform:
    """Knows nothing: every move alike, every value `value`, every score 0."""

    def __init__(self, value=0.0):
        self.value = value

    def evaluate(self, states):
        count, points = states.color.shape
        return Evaluation(np.zeros((count, points), np.float32), np.full(count, self.value, np.float32), None, None)


class _EachPosition:
    """Asks `entry(states, g)` of one position after the other; most look no further than its `key`."""

    def evaluate(self, states):
        count, points = states.color.shape
        width = round((points - 1) ** 0.5)
        policy = np.zeros((count, points), np.float32)
        value, score = np.zeros(count, np.float32), np.zeros(count, np.float32)
        for g in range(count):
            value[g], priors, score[g] = self.entry(states, g)
            if priors is not None:
                size = int(states.info[g]["size"])
                policy[g] = np.log(1e-9)
                for move, probability in priors.items():
                    x, y = divmod(move, size)
                    policy[g, points - 1 if move == size * size else x * width + y] = np.log(max(probability, 1e-9))
        return Evaluation(policy, value, score, None)

    def entry(self, states, g):
        return self.of_key(key(states, g))


class Table(_EachPosition):
    """Looks positions up by their `key`; `default` for all others."""

    def __init__(self, entries: Mapping[str, Entry], default: Entry = _UNKNOWN):
        self.entries, self.default = dict(entries), default

    def of_key(self, text):
        return self.entries.get(text, self.default)


class Hashed(_EachPosition):
    """Anything at all, but always the same for the same position."""

    def __init__(self, seed=0, largest_value=0.9, sharpness=1.0):
        self.seed, self.largest_value, self.sharpness = seed, largest_value, sharpness

    def of_key(self, text):
        points = text.index(" ") ** 2 + 1
        rng = np.random.default_rng([self.seed, zlib.crc32(text.encode())])
        weights = np.exp(self.sharpness * rng.normal(size=points))
        value = round(64 * self.largest_value * rng.uniform(-1, 1)) / 64  # sums of these are exact in float32
        return Entry(value, dict(enumerate(weights / weights.sum())), round(20 * rng.uniform(-1, 1)))


class Seen:
    """Anything at all, but always the same for the same planes, whatever stands beside them in the batch."""

    def __init__(self, encoding="tutorial", width=5):
        self.encoding, points = ENCODINGS[encoding], width * width
        rng = np.random.default_rng(4)
        self._weights = rng.integers(-9, 9, (self.encoding.planes * points, points + 3))
        self.asked = []  # how many positions at a time

    def run(self, planes, sizes):
        self.asked.append(len(planes))
        numbers = planes.reshape(len(planes), -1).astype(np.int64) @ self._weights % 61  # whole numbers: exact
        value = (numbers[:, -2] - 30) / 32
        return Evaluation(numbers[:, :-2] / np.float32(16), value.astype(np.float32), numbers[:, -1] - 30.0, None)


@kernel
def _scores(states, points, owner, stack):
    for g in range(len(points)):
        points[g] = score(states, g, states.color[g], owner, stack)
        if states.info[g].to_move != BLACK:
            points[g] = -points[g]


class Area:
    """Thinks the board as it stands will be counted: tanh of the area score, all moves alike."""

    def __init__(self, points_for_sure=5.0):
        self.points_for_sure = points_for_sure

    def evaluate(self, states):
        count, width = states.color.shape
        points = np.zeros(count, np.float32)
        _scores(states, points, np.zeros(width, np.int8), np.zeros(width, np.int16))
        return Evaluation(np.zeros((count, width), np.float32), np.tanh(points / self.points_for_sure), points, None)
