"""Drawn tactics on boards that are all but full, for both colours: at its komi, each is won by the right moves only.

The network gives all moves the same prior. Where it knows nothing at all the search sees finished games only; where
that would take it too long it is given a rough value, the board counted as it stands, and `AREA` says so. What wins in
the snapback, the eyes, the kill, the sekis and the kos was checked with the brute-force solver; the rest by hand.
"""

import pytest

from mini_alphago.mcts import Search, SearchSettings

from .drawn import AREA, BOTH, NOTHING, SETTINGS, Tactic, check, check_choice, drawn

TACTICS = [
    Tactic(
        "capture, or be captured",
        """
        X X O O O
        X X O O O
        X X O O O
        X X O O O
        . X O O .""",
        0.5,
        {24},
    ),
    Tactic(
        "capture when behind and O has passed: a pass would lose",
        """
        X X O O O
        X X O O O
        X X O O O
        X X O O O
        . X O O .""",
        0.5,
        {24},
        opponent_passed=True,
    ),
    Tactic(
        "snapback: X is one move short in any other race",
        """
        . . O X .
        O O O X .
        X X X X O
        O O O O O
        . O . O .""",
        -1.5,
        {0, 1},
    ),
    Tactic(
        "two eyes",
        """
        . . . X O
        X X X X O
        O O O O O
        O . O . O
        O O O O .""",
        -9.5,
        {1},
    ),
    Tactic(
        "no two eyes: the one move that kills",
        """
        . . . O X
        O O O O X
        X X X X X
        X . X . X
        X X X X .""",
        9.5,
        {1},
    ),
    Tactic(
        "seki: who fills a shared liberty loses three stones",
        """
        O . O X .
        O X O X X
        O X O X .
        O X O X X
        O . O X .""",
        2.5,
        {4, 14, 24, 25},
        (AREA,),
    ),
    Tactic(
        "seki from the other side: who fills a shared liberty loses everything",
        """
        X . X O .
        X O X O O
        X O X O .
        X O X O O
        X . X O .""",
        -3.5,
        {25},
        (AREA,),
    ),
    Tactic(
        "the last ko: take it",
        """
        X X X O O
        X . X O .
        X X O . O
        . X X O O
        X X O O .""",
        1.5,
        {13},
    ),
    Tactic(
        "ahead and done, and O has passed: pass",
        """
        . X O O .
        X X O O O
        . X O O .
        X X O O O
        . X O O .""",
        -5.5,
        {25},
        opponent_passed=True,
    ),
    Tactic(
        "ahead and done: pass, rather than fill an eye",
        """
        . X O O .
        X X O O O
        . X O O .
        X X O O O
        . X O O .""",
        -5.5,
        {25},
        (AREA,),
    ),
    Tactic(
        "behind, with room left, and O has passed: anything but a pass",
        """
        . . . . .
        . O O O .
        . . . . .
        . . . . .
        . . . . .""",
        0.5,
        set(range(25)),
        opponent_passed=True,
    ),
]


@BOTH
@SETTINGS
@pytest.mark.parametrize("tactic", TACTICS, ids=[tactic.name for tactic in TACTICS])
def test_tactic(tactic, player, settings):
    check(tactic, player, settings)


KO = """
    X X X O O
    X . X O .
    X X . X O
    . X X O O
    X X O O ."""


@BOTH
def test_a_ko_is_not_taken_back_at_once(player):
    """O has just taken the ko: X may not take it back."""
    board = drawn(KO, player)
    board.current_player = 3 - player
    assert board.play(2, 2)
    search = Search(NOTHING, 1, 5, SearchSettings(nodes=4096))
    search.set_board(board)
    search.run(1000)
    assert search.visit_counts()[0, 13] == 0
    assert (2, 3) not in [move.move for move in search.root_moves()]


THREAT = """
    . X O O O .
    X X O O O O
    X . X O . O
    X X O O O O
    X X X X . .
    . X O O O O"""
ATARI, ANSWER, RETAKE = (4, 4), (4, 5), (2, 2)


def after_the_ko_is_taken(player, komi, *moves):
    """O takes the ko in THREAT, then these moves in turn."""
    board = drawn(THREAT, player, komi)
    board.current_player = 3 - player
    for move in [(2, 1), *moves]:
        assert board.play(*move)
    return board


@BOTH
@SETTINGS
@pytest.mark.parametrize(
    ("komi", "moves", "right"),
    [(-5.0, [], ATARI), (-3.0, [ATARI], ANSWER), (-5.0, [ATARI, ANSWER], RETAKE)],
    ids=["threaten", "answer", "take it back"],
)
def test_a_ko_threat(player, settings, komi, moves, right):
    """X needs the ko O has just taken: the atari on four stones, which O must answer, and then X takes it back.

    At 5 points the ko decides and no other move wins, the threat from the wrong side included. At 3 points O stands the
    loss of the ko, but not of the stones: then the answer is O's only move.
    """
    check_choice(after_the_ko_is_taken(player, komi, *moves), {right[0] * 6 + right[1]}, settings)
