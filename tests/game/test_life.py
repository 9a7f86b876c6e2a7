"""Life, death and the score, drawn: seki, bent four, open regions, and what Benson's algorithm calls pass-alive."""

from typing import NamedTuple

import numpy as np
import pytest

from mini_alphago.game import Board, Rules, scoring, state
from mini_alphago.game.coords import from_gtp

from .reference import BLACK, WHITE, all_points, chain, put

SEKI = """
   A B C D E F G
 7 . O X . O X .
 6 O O X X O X X
 5 O O X O O X X
 4 . O X X O X .
 3 O O X O O X X
 2 O O X X O X X
 1 O O X . O X X"""
BENT_FOUR = """
   A B C D E F G
 7 O O O . X O .
 6 . X X X X O .
 5 X X O O O O .
 4 O O O . . . .
 3 . . . . . . .
 2 . . . . . . .
 1 . . . . . . ."""


def test_seki():
    """The chains on C and E share D7 and D1, which belong to nobody; whoever fills one is captured."""
    board = Board.from_diagram(SEKI, komi=0)
    assert board.count_liberties(*from_gtp("C4", 7)) == board.count_liberties(*from_gtp("E4", 7)) == 2
    owner = board.ownership()
    assert owner[from_gtp("D7", 7)] == owner[from_gtp("D1", 7)] == 0
    assert (owner == 1).sum() == 24
    assert (owner == -1).sum() == 23
    assert board.score() == 1
    assert board.play(*from_gtp("D7", 7))
    assert board.play(*from_gtp("D1", 7))
    assert board.prisoners == {BLACK: 0, WHITE: 11}
    white_first = Board.from_diagram(SEKI, komi=0, player=WHITE)
    assert white_first.play(*from_gtp("D7", 7))
    assert white_first.play(*from_gtp("D1", 7))
    assert white_first.prisoners == {BLACK: 10, WHITE: 0}


def test_bent_four_counts_as_it_stands_unless_called_dead():
    board = Board.from_diagram(BENT_FOUR, komi=0.5)
    assert board.score() == 7 - 40 - 0.5  # A6 and D7 touch both
    assert board.score(dead=[from_gtp("B5", 7)]) == -49.5  # one stone names the chain
    assert (board.board == BLACK).sum() == 7  # asking took nothing off
    territory = Board.from_diagram(BENT_FOUR, komi=0.5, rules="japanese")
    assert territory.score() == -28 - 0.5
    assert territory.score(dead=[from_gtp("B5", 7), from_gtp("A5", 7)]) == -28 - 2 - 7 - 7 - 0.5


@pytest.mark.parametrize("size", [2, 9, 19])
def test_an_empty_board_is_nobodys(size):
    board = Board(size)
    assert board.score() == -board.komi
    assert not board.ownership().any()


def test_a_region_that_touches_both_colours_is_nobodys():
    """The tutorial looks at the neighbours of a point only; a region is flooded as a whole."""
    board = Board(19, komi=0)
    board.play(0, 0)
    assert board.score() == 361  # touches Black alone
    board.play(18, 18)
    assert board.score() == 0
    divided = Board.from_diagram(
        """
        . . X O .
        . . X O .
        X . X O O
        . . X X .
        . . . . X""",
        komi=0,
    )
    # E5-E4 is White's; E2 touches White above and Black beside and below; the rest is Black's.
    assert divided.score() == 18 - 6
    assert divided.ownership()[3, 4] == 0


class Life(NamedTuple):
    name: str
    drawing: str
    alive: str  # `#` pass-alive stones, `*` regions where the opponent cannot live
    suicide: tuple[bool, ...] = (False, True)


TWO_EYES = """
    . X . X .
    X X X X .
    . . . . .
    . . . . .
    . . . . ."""
NOTHING_5 = ". . . . .\n" * 5
ENEMY_IN_THE_CORNER = """
    O . X . X .
    . X X X X .
    X X . . . .
    . . . . . .
    . . . . . .
    . . . . . ."""
LIVES = [
    Life(
        "two eyes",
        TWO_EYES,
        """
    * # * # .
    # # # # .
    . . . . .
    . . . . .
    . . . . .""",
    ),
    Life(
        "one eye",
        """
    . X . . .
    X X . . .
    . . . . .
    . . . . .
    . . . . .""",
        NOTHING_5,
    ),
    Life(
        "an eye of two points is one eye",
        """
    . . X . .
    X X X . .
    . . . . .
    . . . . .
    . . . . .""",
        NOTHING_5,
    ),
    Life(
        "a false eye",
        """
    . X . X O
    X X X O .
    O O O . .
    . . . . .
    . . . . .""",
        NOTHING_5,
    ),
    Life(
        "two chains that share both eyes",
        """
    . X X . .
    X . X . .
    X X . . .
    . . . . .
    . . . . .""",
        """
    * # # . .
    # * # . .
    # # . . .
    . . . . .
    . . . . .""",
    ),
    Life(
        "an enemy stone in an eye, next to the wall",
        """
    . X O . X .
    X X X X X .
    . . . . . .
    . . . . . .
    . . . . . .
    . . . . . .""",
        """
    * # * * # .
    # # # # # .
    . . . . . .
    . . . . . .
    . . . . . .
    . . . . . .""",
    ),
    Life(
        "an enemy stone away from the wall",
        ENEMY_IN_THE_CORNER,
        """
    * * # * # .
    * # # # # .
    # # . . . .
    . . . . . .
    . . . . . .
    . . . . . .""",
        suicide=(False,),
    ),
    # White may fill the corner, vanish, and come back leaving A6 open: then D6 captures.
    Life("an enemy stone away from the wall", ENEMY_IN_THE_CORNER, ". . . . . .\n" * 6, suicide=(True,)),
    # Lower left: one point touches no wall, so White cannot make two eyes there. Lower right: two points, White might.
    Life(
        "big eyes with inner points",
        """
    . X . X X X X X
    X X X X X X X X
    X X X X X X X X
    X X X X X X X X
    X X X X X X X X
    X X X X X X X X
    . . X X X . . .
    . . X X X . . .""",
        """
    * # * # # # # #
    # # # # # # # #
    # # # # # # # #
    # # # # # # # #
    # # # # # # # #
    # # # # # # # #
    * * # # # . . .
    * * # # # . . .""",
    ),
    Life(
        "a big eye alone",
        """
    . . . X .
    . . . X .
    X X X X .
    . . . . .
    . . . . .""",
        NOTHING_5,
    ),
]


@pytest.mark.parametrize("player", [BLACK, WHITE])
@pytest.mark.parametrize(
    ("life", "suicide"),
    [pytest.param(life, s, id=f"{life.name}{', suicide' * s}") for life in LIVES for s in life.suicide],
)
def test_benson(life, suicide, player):
    drawing = life.drawing if player == BLACK else life.drawing.translate(str.maketrans("XO", "OX"))
    board = Board.from_diagram(drawing, rules=Rules(suicide=suicide))
    marks = np.array([line.split() for line in life.alive.strip().splitlines()])
    stones, regions = board.pass_alive(player)
    assert stones == set(zip(*(i.tolist() for i in np.nonzero(marks == "#")), strict=True))
    assert regions == set(zip(*(i.tolist() for i in np.nonzero(marks == "*")), strict=True))
    assert board.pass_alive(3 - player) == (set(), set())


def _legal_positions(size):
    """All of them, as tuples of (point, colour)."""
    points = all_points(size)
    for code in range(3 ** len(points)):
        digits = {p: code // 3**i % 3 for i, p in enumerate(points)}
        stones = {p: color for p, color in digits.items() if color}
        if all(chain(size, stones, p)[1] for p in stones):
            yield tuple(stones.items())


@pytest.mark.parametrize("suicide", [False, True])
def test_benson_is_exact_on_every_position_of_3x3(suicide):
    """Pass-alive is what White cannot capture though Black only ever passes (Benson's theorem), by brute force."""
    size, area = 3, 9
    scratch, owner = scoring.new_scratch(area + 1), np.zeros(area + 1, np.int8)

    def benson(position, player):
        """The kernel itself: a Board for each position would take most of the time."""
        color = np.full(area + 1, state.WALL, np.int8)
        color[:area] = 0
        for (x, y), stone in position:
            color[x * size + y] = stone
        board = color, state.NEIGHBORS[size], area, player, int(suicide), scratch
        assert not scoring.pass_alive(*board, owner) or scoring.may_live(*board)
        return [{divmod(p, size) for p in range(area) if owner[p] == kind} for kind in (1, 2)]

    positions = [tuple(sorted(position)) for position in _legal_positions(size)]
    successors = {}
    for position in positions:
        stones, successors[position] = dict(position), []
        for point in all_points(size):
            if point not in stones:
                after, captured, lost = put(size, stones, point, WHITE)
                if not lost or (suicide and len(lost) > 1):
                    successors[position].append((tuple(sorted(after.items())), captured))
    # Grow both to a fixed point: with suicide White's moves may go in circles. Fullest boards first, to be there soon.
    positions.sort(key=len, reverse=True)
    capturable = {position: set() for position in positions}
    white_life = {position: set(benson(position, WHITE)[0]) for position in positions}
    changed = True
    while changed:
        changed = False
        for position in positions:
            before = len(capturable[position]) + len(white_life[position])
            stones = dict(position)
            for after, captured in successors[position]:
                capturable[position] |= captured | {p for p in capturable[after] if stones.get(p) == BLACK}
                white_life[position] |= white_life[after]
            changed |= len(capturable[position]) + len(white_life[position]) != before
    for position in positions:
        alive, regions = benson(position, BLACK)
        assert alive == {p for p, color in position if color == BLACK} - capturable[position]
        assert not regions & white_life[position]
