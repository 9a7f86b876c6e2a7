"""Drawn cases: kos, suicide, snapback, each played out move by move on the Board and on the reference."""

from typing import NamedTuple

import numpy as np
import pytest

from mini_alphago.game import Board, Rules
from mini_alphago.game.coords import from_gtp

from .reference import ReferenceGo

EVERY_KO = ("simple", "positional", "situational")
SUPERKO = ("positional", "situational")
MOONSHINE = """
   A B C D E F G H J K L M N
13 . O X O O . O X X O . . .
12 O X X O O O X X X O . . .
11 O O X O O O X X X O . . .
10 . O X O O O X X X O . . .
 9 O O X O O O X X X O . . .
 8 X X X O O O X X X O . . .
 7 . X X O . O X . X O . . .
 6 X X X O O O X X X O . . .
 5 X . X O O O X X X O . . .
 4 . X X O O O X X X O . . .
 3 . . X O O O X X X O . . .
 2 . . X O O O X X X O . . .
 1 . . X O O X . X X O . . ."""
DOUBLE_KO = """
   A B C D E F G H J
 9 X O . O . X . X O
 8 . X O . . . X O .
 7 . . . . . . . . .
 6 . . . . . . . . .
 5 . . . . . . . . .
 4 . . . . . . . . .
 3 . . . . . . . . .
 2 . . . . . . . . .
 1 . . . . . . . . ."""
TRIPLE_KO = """
   A B C D E F G H J
 9 X O . O . X . X O
 8 . X O . . . X O .
 7 . . . . . . . . .
 6 . . . . . . . . .
 5 . . . . . . . . .
 4 . . . . . . . . .
 3 . . . . . . . . .
 2 . X O . . . . . .
 1 X O . O . . . . ."""
SEND_TWO = """
   A B C D E
 5 . O . O .
 4 X X O O .
 3 . . . . .
 2 . . . . .
 1 . . . . ."""
TWO_IN_THE_CORNER = """
   A B C D E
 5 X . O . .
 4 O O . . .
 3 . . . . .
 2 . . . . .
 1 . . . . ."""


class Case(NamedTuple):
    """`steps` are moves in turn; `-` passes, `B4:ko` is illegal for that reason, `=B4` or `=` says what ko_point is."""

    name: str
    drawing: str
    first: str  # X or O
    steps: str
    captured: tuple[int, int]  # by Black, by White, at the end
    ko: tuple[str, ...] = EVERY_KO
    suicide: tuple[bool, ...] = (False, True)


CASES = [
    Case(
        "simple ko",
        """
   A B C D E
 5 . X O . .
 4 X O . O .
 3 . X O . .
 2 . . . . .
 1 . . . . .""",
        "X",
        "C4 =B4 B4:ko E1 A1 B4 =C4 C4:ko",
        (1, 1),
    ),
    Case(
        "ko in the corner",
        """
   A B C D
 4 . O X .
 3 O X . .
 2 . . . .
 1 . . . .""",
        "X",
        "A4 =B4 B4:ko D1 D2 B4 =A4 A4:ko",
        (1, 1),
        ko=("simple",),
    ),
    Case(
        "a pass lifts the simple ko",
        """
   A B C D E
 5 . X O . .
 4 X O . O .
 3 . X O . .
 2 . . . . .
 1 . . . . .""",
        "X",
        "C4 =B4 - = A1 B4 =C4",
        (1, 1),
    ),
    Case(
        "snapback",
        """
   A B C D E
 5 . . O X .
 4 O O O X .
 3 X X X . .
 2 . . . . .
 1 . . . . .""",
        "X",
        "B5 A5 = B5 =",
        (5, 1),
    ),
    Case(
        "two taken, one liberty left: no ko",
        """
   A B C D E
 5 O O . O .
 4 X X O O .
 3 . . . . .
 2 . . . . .
 1 . . . . .""",
        "X",
        "C5 = B5 =",
        (2, 1),
    ),
    Case(
        "one taken by a chain of three with one liberty: no ko",
        """
   A B C D E
 5 O . O . .
 4 X X O . .
 3 O O . . .
 2 . . . . .
 1 . . . . .""",
        "X",
        "B5 = A5 =",
        (1, 3),
    ),
    Case(
        "one taken by a lone stone with two liberties: no ko",
        """
   A B C D E
 5 O . . . .
 4 X . . . .
 3 . . . . .
 2 . . . . .
 1 . . . . .""",
        "X",
        "B5 =",
        (1, 0),
    ),
    # After H9 both kos have changed hands twice: the first position is back, with White to move.
    Case("double ko", DOUBLE_KO, "X", "C9 G9 - B9 H9 - C9 G9", (3, 3), ko=("simple",)),
    Case("double ko", DOUBLE_KO, "X", "C9 G9 H9:ko - B9 H9:superko", (1, 2), ko=("positional",)),
    # With White to move that is a new situation; what Black's next capture makes is not.
    Case("double ko", DOUBLE_KO, "X", "C9 G9 - B9 H9 - C9:superko", (2, 2), ko=("situational",)),
    Case("triple ko", TRIPLE_KO, "X", "C9 G9 C1 B9 H9 B1 C9 G9", (4, 4), ko=("simple",)),
    Case("triple ko", TRIPLE_KO, "X", "C9 G9 C1 B9 H9 B1:superko", (3, 2), ko=SUPERKO),
    Case("sending two, returning one", SEND_TWO, "O", "A5 C5 = B5 = - A5 C5 B5", (4, 2), ko=("simple",)),
    Case("sending two, returning one", SEND_TWO, "O", "A5 C5 = B5:superko", (2, 0), ko=("positional",)),
    Case("sending two, returning one", SEND_TWO, "O", "A5 C5 = B5 - A5:superko", (2, 1), ko=("situational",)),
    Case("suicide of two", TWO_IN_THE_CORNER, "X", "B5", (0, 2), suicide=(True,)),
    Case("suicide of two", TWO_IN_THE_CORNER, "X", "B5:suicide", (0, 0), suicide=(False,)),
    # The first position was there twice before, once with each player to move: both superkos have seen it.
    Case(
        "suicide that undoes the move before it",
        TWO_IN_THE_CORNER.replace("5 X", "5 ."),
        "O",
        "- B5 - A5:superko",
        (0, 0),
        ko=SUPERKO,
        suicide=(True,),
    ),
    Case(
        "suicide that gives the turn away: positional and situational differ",
        TWO_IN_THE_CORNER.replace("5 X", "5 ."),
        "X",
        "B5 - A5",
        (0, 2),
        ko=("simple", "situational"),
        suicide=(True,),
    ),
    Case(
        "suicide that gives the turn away: positional and situational differ",
        TWO_IN_THE_CORNER.replace("5 X", "5 ."),
        "X",
        "B5 - A5:superko",
        (0, 0),
        ko=("positional",),
        suicide=(True,),
    ),
    Case(
        "suicide of one",
        """
   A B C D
 4 . O . .
 3 O . . .
 2 . . . .
 1 . . . .""",
        "X",
        "A4:suicide",
        (0, 0),
    ),
    Case(
        "a capture is no suicide",
        """
   A B C D
 4 . O X .
 3 O X . .
 2 X . . .
 1 . . . .""",
        "X",
        "A4 =",
        (2, 0),
    ),
    # Black may not begin; White ends it in a ko.
    Case(
        "bent four in the corner",
        """
   A B C D E F G
 7 O O O . X O .
 6 . X X X X O .
 5 X X O O O O .
 4 O O O . . . .
 3 . . . . . . .
 2 . . . . . . .
 1 . . . . . . .""",
        "O",
        "A6 D7 = B7 A7 A6 =A7 A7:ko",
        (4, 1),
    ),
    # White's corner has one eye (A10) and a ko. Each time Black takes the ko, White makes a threat in the double ko on
    # the right, which both sides can always answer: without superko that goes round for ever.
    Case("moonshine life", MOONSHINE, "X", "A13 G1 F13 B13 F1 G13 A13 G1 F13 B13", (5, 5), ko=("simple",)),
    Case("moonshine life", MOONSHINE, "X", "A13 G1 F13 B13 F1 G13:superko - E7 - A13 - A10", (46, 2), ko=SUPERKO),
]


def _rules(case):
    return [Rules(ko=ko, suicide=suicide, komi=0) for ko in case.ko for suicide in case.suicide]


@pytest.mark.parametrize(
    ("case", "rules"),
    [
        pytest.param(case, rules, id=f"{case.name}, {rules.ko}{', suicide' * rules.suicide}")
        for case in CASES
        for rules in _rules(case)
    ],
)
def test_drawn(case, rules):
    board = Board.from_diagram(case.drawing, rules=rules, player=" XO".index(case.first))
    stones = {(int(x), int(y)): int(board.board[x, y]) for x, y in np.argwhere(board.board)}
    reference = ReferenceGo(board.size, rules.ko, rules.suicide, stones=stones, player=board.current_player)
    for step in case.steps.split():
        name, _, reason = step.partition(":")
        if step.startswith("="):
            assert board.ko_point == (from_gtp(step[1:], board.size) if step[1:] else None)
        elif step == "-":
            board.pass_move()
            reference.play((-1, -1))
        else:
            point = from_gtp(name, board.size)
            before = board.copy()
            # Superko forbids the retaking of a simple ko too; the nearer reason is the one given.
            assert board.why_illegal(*point) == (reason or None), step
            assert reference.why_illegal(point) == (reason or None), step
            assert board.play(*point) is (not reason)
            if reason:
                assert board == before
                assert board.history == before.history
            else:
                reference.play(point)
    assert tuple(board.prisoners.values()) == case.captured
    assert all(board.board[point] == reference.stones.get(point, 0) for point in np.ndindex(board.size, board.size))
