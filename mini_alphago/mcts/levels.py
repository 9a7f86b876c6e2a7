"""How strong it plays: named levels, weaker by fewer visits and by a choice among several moves.

A weak level overlooks things: it may take a move that it has not looked at, if it came to its mind at all, and one that
its search finds worse than the best by no more than its margin.
"""

import random
from dataclasses import dataclass

from ..game.coords import PASS
from .ranking import RootMove


@dataclass(frozen=True)
class Level:
    """One level."""

    id: str
    name: str
    about: str
    visits: int | None  # None: as many as one likes
    temperature: float = 0.0  # how flat the choice is; 0: the best move
    margin: float = 0.0  # winrate that a chosen move may be behind the best
    careless: float = 1.0  # moves that were not searched may be chosen from this prior on


LEVELS = (
    Level("beginner", "Beginner", "Plays here and there, and sees little.", 4, 5.0, 0.5, 0.0),
    Level("easy", "Easy", "Knows good moves, and often enough does not mind.", 4, 3.0, 0.5, 0.0),
    Level("medium", "Medium", "Sees captures coming, and likes to try things.", 8, 2.5, 0.4, 0.001),
    Level("hard", "Hard", "Plays soundly, and not always the same.", 32, 1.2, 0.12, 0.01),
    Level("expert", "Expert", "Reads further, and seldom gives anything away.", 64, 0.7, 0.08, 0.03),
    Level("full", "Full strength", "Everything it has.", None),
)
FULL = LEVELS[-1]


def find_level(name: str) -> Level:
    """The level with this id. ValueError if there is none."""
    for level in LEVELS:
        if level.id == name:
            return level
    raise ValueError(f"levels are {', '.join(level.id for level in LEVELS)}")


def choose(moves: list[RootMove], level: Level, rng: random.Random) -> RootMove:
    """A move of this level among those that a search found, the best of them first.

    Drawn by visits and prior among the moves whose winrate is within the level's margin, and those without visits that
    the level is careless enough for; a pass only if it is the best.
    """
    best = moves[0]
    if level.temperature == 0 or best.move == PASS:
        return best

    def is_good(move: RootMove) -> bool:
        if move.move == PASS:
            return False
        return best.value - move.value <= 2 * level.margin if move.visits else move.prior >= level.careless

    good = [move for move in moves if is_good(move)]
    if not good:
        return best
    total = sum(move.visits for move in moves)
    weights = [(move.visits / total + move.prior) ** (1 / level.temperature) for move in good]
    return rng.choices(good, weights)[0]
