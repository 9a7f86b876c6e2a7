"""Free setup of stones and handicap: what they do, and that a failed one leaves the board as it was."""

import pytest

from mini_alphago.game import BLACK, EMPTY, WHITE, Board
from mini_alphago.game.coords import to_gtp

KO = """
    . X O . .
    X O . O .
    . X O . .
    . . . . .
    . . . . ."""


def test_setup():
    board = Board(5)
    board.setup(black=[(0, 0), (0, 1)], white=[(4, 4)], player=WHITE)
    assert board.current_player == WHITE
    assert board.count_liberties(0, 0) == 3
    board.setup(black=[(4, 4)], empty=[(0, 1)])  # over a stone that stands there
    assert board.board[4, 4] == BLACK
    assert board.board[0, 1] == EMPTY
    assert board.current_player == WHITE
    assert board.history == []
    board.setup()
    assert board.get_group(4, 4) == ({(4, 4)}, {(3, 4), (4, 3)})


def test_setup_starts_superko_anew():
    board = Board.from_diagram(KO)
    board.play(1, 2)
    board.setup()
    assert board.ko_point is None
    assert board.is_legal(1, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"black": [(0, 0)], "white": [(0, 0)]}, "two colours: each point may have one"),
        ({"black": [(0, 0)], "empty": [(0, 0)]}, "two colours"),
        ({"black": [(0, 0)], "white": [(0, 1), (1, 0)]}, "no libert.*every stone set up needs one"),
        ({"black": [(5, 0)]}, r"off the 5×5 board: x and y are 0 to 4"),
        ({"white": [(0, -1)]}, r"x and y are 0 to 4"),
        ({"player": 0}, r"neither BLACK \(1\) nor WHITE \(2\)"),
    ],
)
def test_a_failed_setup_changes_nothing(arguments, message):
    board = Board.from_diagram(KO)
    board.play(1, 2)
    before = board.copy()
    with pytest.raises(ValueError, match=message):
        board.setup(**arguments)
    assert board == before
    assert board.history == before.history
    assert board.prisoners == before.prisoners
    assert board.get_legal_moves() == before.get_legal_moves()
    assert board.undo()


CORNERS_9, SIDES_9 = "C3 G7 C7 G3", "C5 G5 E3 E7"
CORNERS_13, SIDES_13 = "D4 K10 D10 K4", "D7 K7 G4 G10"
CORNERS_19, SIDES_19 = "D4 Q16 D16 Q4", "D10 Q10 K4 K16"


@pytest.mark.parametrize(
    ("size", "corners", "sides", "centre"),
    [(9, CORNERS_9, SIDES_9, "E5"), (13, CORNERS_13, SIDES_13, "G7"), (19, CORNERS_19, SIDES_19, "K10")],
)
@pytest.mark.parametrize("stones", range(2, 10))
def test_handicap_stones_stand_where_they_do_by_custom(size, corners, sides, centre, stones):
    corner, side = corners.split(), sides.split()
    expected = {
        2: corner[:2],
        3: corner[:3],
        4: corner,
        5: [*corner, centre],
        6: [*corner, *side[:2]],
        7: [*corner, *side[:2], centre],
        8: [*corner, *side],
        9: [*corner, *side, centre],
    }
    board = Board(size)
    points = board.place_handicap(stones)
    names = {to_gtp(*p, size) for p in points}
    assert names == set(expected[stones])  # as GNU Go's fixed_handicap has them
    assert len(points) == stones == board.handicap == (board.board == BLACK).sum()
    assert board.current_player == WHITE
    assert board.move_count == 0


@pytest.mark.parametrize(("rules", "points"), [("cgos", 0), ("chinese", 3), ("aga", 2), ("japanese", 0)])
def test_handicap_compensation(rules, points):
    board = Board(9, komi=0.5, rules=rules)
    empty = board.copy()
    board.place_handicap(3)
    assert board.komi == 0.5
    free = Board(9, komi=0.5, rules=rules)
    free.setup(black=[(2, 2), (6, 6), (6, 2)])
    assert board.score() == free.score() - points
    board.komi = 5.5
    assert board.score() == free.score() - points - 5
    assert empty.handicap == 0


def test_handicap_where_told():
    board = Board(5, rules="chinese", komi=0)
    assert board.place_handicap([(0, 0), (4, 4)]) == [(0, 0), (4, 4)]
    assert board.handicap == 2
    assert board.score() == 25 - 2


@pytest.mark.parametrize(
    ("size", "stones", "message"),
    [
        (9, 1, "2 to 9 stones"),
        (9, 10, "2 to 9 stones"),
        (8, 5, "2 to 4 stones"),
        (5, 2, "name the points yourself"),
        (9, [(0, 0), (0, 0)], "each needs its own"),
        (9, [(0, 0), (9, 9)], "x and y are 0 to 8"),
        (2, [(0, 0), (0, 1), (1, 0), (1, 1)], "every stone set up needs one"),
    ],
)
def test_handicap_errors(size, stones, message):
    board = Board(size)
    with pytest.raises(ValueError, match=message):
        board.place_handicap(stones)
    assert board == Board(size)
    assert board.handicap == 0


def test_handicap_needs_an_empty_board():
    board = Board(9)
    board.play(4, 4)
    with pytest.raises(ValueError, match="on an empty board, before the first move"):
        board.place_handicap(2)
