"""Cross-check with OpenSpiel's Go over thousands of random games.

What its rules are, by experiment, and how they compare with ours:

* Legal moves are those of the simple ko rule without suicide: equal to ours under `ko="simple"` at every ply.
* A stone (never a pass) that brings back any earlier board, whoever is to move, ends the game as a draw on the spot. So
  it ends there exactly when our positional superko calls the move illegal; all other moves are legal to both.
* Two passes in a row end the game, and so does the move number `max_game_length`, 2 * size² unless told otherwise.
* The result is the sign of the area score with whole regions flooded, as ours; with komi a half there are no draws.
* Its flat index counts rows from below, ours from the top.
"""

import random
from collections import Counter

import numpy as np
import pytest

from mini_alphago.game import BLACK, scoring, state

pyspiel = pytest.importorskip("pyspiel", reason="the cross-check needs open_spiel: pip install '.[openspiel]'")

KOMI = 0.5
# Two games of ours side by side: they have the same stones, and differ in what they forbid.
SIMPLE, POSITIONAL = 0, 1


class Ours:
    """The kernels on a batch of two, driven with OpenSpiel's action numbers."""

    def __init__(self, size, max_moves):
        self.size, self.area = size, size * size
        self.games = state.new_games(2, size, max_moves)
        self.games.info["ko_rule"] = [state.KO_SIMPLE, state.KO_POSITIONAL]
        self.games.info["komi"] = KOMI
        self.reasons = np.zeros(self.area + 1, np.uint8)
        flipped = np.arange(self.area).reshape(size, size)[::-1].ravel()
        self.flat = np.append(flipped, self.area)  # action to flat index, and back: it is its own inverse
        self.point = self.flat.tolist()

    def clear(self):
        state.clear(self.games, SIMPLE)
        state.clear(self.games, POSITIONAL)

    def legal_actions(self, game, player):
        state.legality_map(self.games, game, player, self.reasons)
        return np.flatnonzero(self.reasons[self.flat] == state.LEGAL).tolist()

    def score(self):
        color = self.games.color[SIMPLE]
        owner, stack = np.empty_like(color), np.empty(self.area + 1, np.int16)
        return scoring.score(self.games, SIMPLE, color, owner, stack)


def play_one(game, ours, rng):
    """One random game, compared at every ply. "superko", "passes" or "length": how it ended."""
    theirs = game.new_initial_state()
    ours.clear()
    player = BLACK
    while True:
        actions = theirs.legal_actions()
        assert actions == ours.legal_actions(SIMPLE, player)
        stones = actions[:-1]  # the last action is the pass: rare, so that games are long
        action = rng.choice(stones) if stones and rng.random() > 0.03 else actions[-1]
        theirs.apply_action(action)
        assert state.try_play(ours.games, SIMPLE, ours.point[action]) == state.LEGAL
        forbidden = state.try_play(ours.games, POSITIONAL, ours.point[action])
        if forbidden:
            # Taking a simple ko back is never among their actions, so this can be nothing but superko.
            assert forbidden == state.SUPERKO
            assert theirs.is_terminal()
            assert theirs.returns() == [0, 0]
            return "superko"
        player = 3 - player
        if theirs.is_terminal():
            assert theirs.returns() == ([1, -1] if ours.score() > 0 else [-1, 1])
            return "passes" if ours.games.info[SIMPLE]["passes"] == 2 else "length"


# Long games on tiny boards for the repetitions, few on large ones for the size of it.
@pytest.mark.parametrize(
    ("size", "count", "length"),
    [
        (2, 2000, 100),
        (3, 2000, 150),
        (4, 1000, 150),
        (5, 500, 200),
        (7, 400, 200),
        (9, 200, 250),
        (13, 60, 400),
        (19, 30, 1000),
    ],
)
def test_random_games(size, count, length):
    game = pyspiel.load_game(f"go(board_size={size},komi={KOMI},max_game_length={length})")
    ours = Ours(size, length)
    rng = random.Random(size)
    ends = Counter(play_one(game, ours, rng) for _ in range(count))
    assert ends["passes"] > 0
    if size <= 4:
        assert ends["superko"] > 0  # else the comparison would say nothing about it
