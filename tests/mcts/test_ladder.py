"""A ladder across 9×9, read to the end: twelve moves deep, where one wrong step lets the stones out."""

import numpy as np
import pytest

from mini_alphago.game import Board, state
from mini_alphago.mcts import Search, SearchSettings

from .drawn import drawn
from .evaluators import Area

LADDER = """
. . . . . . . . .
. . . . . . . . .
. . X X . . . . .
. X O O . . . . .
. . X . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
. . . . . . . . .
"""
# X drives, O runs: the only way that keeps O at two liberties.
ZIGZAG = [(3, 4), (4, 3), (5, 3), (4, 4), (4, 5), (5, 4), (6, 4), (5, 5), (5, 6), (6, 5), (7, 5), (6, 6)]


class Tactical(Area):
    """Counts the board as it stands, and looks first at the liberties of chains that have one or two."""

    def evaluate(self, states):
        answer = super().evaluate(states)
        for g in range(len(states.info)):
            size, points = int(states.info[g]["size"]), states.points[g]
            for p in np.flatnonzero(points["head"][: size * size] != state.NO_CHAIN):
                if points[points[p]["head"]]["liberties"] <= 2:
                    around = states.neighbors[size, p]
                    answer.policy[g, around[states.color[g, around] == Board.EMPTY]] = 7
        return answer


@pytest.mark.parametrize("player", [Board.BLACK, Board.WHITE], ids=["Black", "White"])
def test_reads_a_ladder_to_its_end(player):
    search = Search(Tactical(12.0), 1, 9, SearchSettings(leaves=4, fpu_reduction=0.2, nodes=25_000))
    search.set_board(drawn(LADDER, player, komi=4))
    search.run(20_000)
    best = search.root_moves()[0]
    assert best.move == ZIGZAG[0]
    assert best.variation[: len(ZIGZAG)] == ZIGZAG
