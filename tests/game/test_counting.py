"""The number of legal positions is known (Tromp and Farnebäck, OEIS A094777); `set_position` must find each one.

It builds the position stone by stone with the incremental chains, and says False if some chain has no liberty.
"""

import numpy as np
import pytest

from mini_alphago.game import state
from mini_alphago.kernel import kernel


@kernel
def _count_legal(games, stones, colorings):
    """Count how many of all colourings of the board are legal; `stones` runs through them like an odometer."""
    count = 0
    for _ in range(colorings):
        count += state.set_position(games, 0, stones, state.BLACK)
        digit = 0
        while digit < len(stones) and stones[digit] == state.WHITE:
            stones[digit] = state.EMPTY
            digit += 1
        if digit < len(stones):
            stones[digit] += 1
    return count


@pytest.mark.parametrize(
    ("size", "positions"),
    [(2, 57), (3, 12_675), pytest.param(4, 24_318_165, marks=pytest.mark.slow)],
)
def test_number_of_legal_positions(size, positions):
    games = state.new_games(1, size, max_moves=1)
    stones = np.zeros(size * size, np.int8)
    assert _count_legal(games, stones, 3 ** (size * size)) == positions
    assert not stones.any()  # once around
