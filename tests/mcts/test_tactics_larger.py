"""Drawn tactics on 7×7, 8×8 and 9×9, for both colours: all is settled but one place, and at its komi one move wins.

The brute-force solver says so of the captures, the snapback and the last point. The rest is too much for it here; their
shapes are close to those it solved on 5×5, and a search of 10,000 visits after each other move finds it lost.
"""

import pytest

from .drawn import AREA, BOTH, SETTINGS, Tactic, check

TACTICS = [
    Tactic(
        "7x7: capture the cutting stones, or be captured",
        """
        . X O X O O .
        X X O X O O O
        . X O X O O .
        X X O X O O O
        X X . . O O O
        X X X O O O O
        X . X O O . O""",
        0.5,
        {30},
    ),
    Tactic(
        "7x7: snapback; from the other side O connects",
        """
        . X X O O O .
        X X X O O O O
        . X X X O O .
        X X X X X O O
        X X X X X O O
        X O O O X O O
        X X . . O O .""",
        4.5,
        {45},
    ),
    Tactic(
        "7x7: seki, and ahead: pass",
        """
        . O X . O X .
        O O X X O X X
        O O X X O X X
        O O X O O X X
        O O X O O X X
        O O X X O X X
        . O X . O X .""",
        0.5,
        {49},
        (AREA,),
    ),
    Tactic(
        "7x7: take the outside liberty to make it seki, or lose the race",
        """
        . O X . O X .
        O O X X O X X
        O O X X O X X
        O O X O O . X
        O O X O O X X
        O O X X O X X
        . O X . O X .""",
        -3.5,
        {26},
        (AREA,),
    ),
    Tactic(
        "8x8: two chains in atari, and only the bigger one is enough",
        """
        . X X O O . O .
        X X X X X O O O
        X X X X X O O O
        X X X X X O O .
        X X X X X O O O
        X X X X X X O O
        . X O O O X O O
        X X O O O . O O""",
        14.5,
        {61},
    ),
    Tactic(
        "8x8: two eyes",
        """
        . . . X O O O .
        X X X X O O O O
        O O O O O O . O
        O O O O O O O O
        X X X X X X X X
        X X X X X X X X
        X . X X X X . X
        X X X X X X X X""",
        7.5,
        {1},
    ),
    Tactic(
        "9x9: no two eyes, the one move that kills",
        """
        . . . O X X X X .
        O O O O X X X X X
        X X X X X X X . X
        X X X X X X X X X
        X X X X X X X X X
        O O O O O O O O O
        O O O O O O O O O
        O . O O O O O . O
        O O O O O O O O O""",
        0.5,
        {1},
    ),
    Tactic(
        "9x9: ahead and done: pass, rather than fill an eye",
        """
        . X X X X O O O .
        X X X X X O O O O
        X X X X X O O O O
        X X X X X O O O O
        X . X X X O O . O
        X X X X O O O O O
        X X X X O O O O O
        X X X X O O O O O
        X X X X O O O O O""",
        0.5,
        {81},
    ),
    Tactic(
        "9x9: behind by half a point and O has passed: not a pass, but the last point",
        """
        . X X X X O O O .
        X X X X X O O O O
        X X X X X O O O O
        X X X X X O O O O
        X . X X . O O . O
        X X X X O O O O O
        X X X X O O O O O
        X X X X O O O O O
        X X X X O O O O O""",
        0.5,
        {40},
        opponent_passed=True,
    ),
]


@BOTH
@SETTINGS
@pytest.mark.parametrize("tactic", TACTICS, ids=[tactic.name for tactic in TACTICS])
def test_tactic(tactic, player, settings):
    check(tactic, player, settings)
