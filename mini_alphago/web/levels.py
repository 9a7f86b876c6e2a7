"""How strong it plays: named levels, weaker by fewer visits and by a choice among several good moves.

No level plays a move that its own search finds clearly worse than the best: a weak level overlooks things, it does not
throw games away.
"""

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..mcts import RootMove

PASS = (-1, -1)


@dataclass(frozen=True)
class Level:
    """One level."""

    id: str
    name: str
    about: str
    visits: int | None  # None: as many as the server was started with
    temperature: float = 0.0  # how flat the choice is; 0: the best move
    margin: float = 0.0  # winrate that a chosen move may be behind the best


LEVELS = (
    Level("beginner", "Beginner", "Looks at a few moves and likes to try things.", 12, 2.0, 0.25),
    Level("easy", "Easy", "Sees captures coming, and often enough does not mind.", 24, 1.5, 0.16),
    Level("medium", "Medium", "Plays soundly, and not always the same.", 60, 1.0, 0.10),
    Level("hard", "Hard", "Reads further, and seldom gives anything away.", 160, 0.5, 0.05),
    Level("full", "Full strength", "Everything it has.", None),
)
FULL = LEVELS[-1]


def find_level(name: str) -> Level:
    """The level with this id. ValueError if there is none."""
    for level in LEVELS:
        if level.id == name:
            return level
    raise ValueError(f"levels are {', '.join(level.id for level in LEVELS)}")


def choose(moves: list["RootMove"], level: Level, rng: random.Random) -> "RootMove":
    """A move of this level among those that a search found, the best of them first.

    Drawn by visits and prior among the moves whose winrate is within the level's margin; a pass only if it is the best.
    """
    best = moves[0]
    if level.temperature == 0 or best.move == PASS:
        return best
    good = [move for move in moves if move.visits and move.move != PASS and best.value - move.value <= 2 * level.margin]
    if not good:
        return best
    total = sum(move.visits for move in moves)
    weights = [(move.visits / total + move.prior) ** (1 / level.temperature) for move in good]
    return rng.choices(good, weights)[0]
