"""Rule sets by name, diagrams, and what wrong arguments get: one sentence that says what is allowed."""

import numpy as np
import pytest

from mini_alphago.game import BLACK, RULE_SETS, WHITE, Board, Rules, get_rules


@pytest.mark.parametrize(
    ("name", "ko", "scoring", "suicide"),
    [
        ("tromp-taylor", "positional", "area", True),
        ("chinese", "simple", "area", False),
        ("japanese", "simple", "territory", False),
        ("korean", "simple", "territory", False),
        ("aga", "situational", "area", False),
        ("new-zealand", "situational", "area", True),
        ("cgos", "positional", "area", False),
    ],
)
def test_rules_by_name(name, ko, scoring, suicide):
    rules = get_rules(name)
    assert (rules.ko, rules.scoring, rules.suicide) == (ko, scoring, suicide)
    assert get_rules(name.upper().replace("-", "_")) == rules
    assert get_rules(name.title().replace("-", " ")) == rules
    assert get_rules(rules) is rules
    assert Board(5, rules=name) == Board(5, rules=rules)


def test_the_default_rules():
    assert Board() == Board(rules="cgos") == Board(rules=Rules())
    assert set(RULE_SETS) == {"tromp-taylor", "chinese", "japanese", "korean", "aga", "new-zealand", "cgos"}


def test_rules_may_change_in_mid_game():
    board = Board.from_diagram(". X\nX .", komi=0)
    assert board.score() == 4
    board.set_rules("japanese")
    assert board.score() == 2
    assert board.komi == 0  # stays unless given
    assert board.current_player == BLACK
    board.set_rules("chinese", komi=1.5)
    assert board.score() == 2.5
    with pytest.raises(ValueError, match="unknown rules"):
        board.set_rules("ing")
    with pytest.raises(ValueError, match="komi"):
        board.set_rules("aga", komi=0.3)
    assert board.rules.ko == "simple"
    assert board.komi == 1.5


def test_other_rules_leave_the_moves_unless_one_is_illegal_by_them():
    board = Board(5, rules="new-zealand")
    for x, y in ((2, 2), (3, 3), (2, 3)):
        board.play(x, y)
    board.pass_move()
    moves = board.history
    board.set_rules("japanese")
    assert board.history == moves
    assert [board.undo() for _ in range(5)] == [True] * 4 + [False]

    board = Board(5, rules="new-zealand")  # where two black stones take themselves off
    for move in ((0, 0), (1, 0), None, (1, 1), None, (0, 2), (0, 1)):
        assert board.play(*move) if move else board.pass_move() is None
    stones, turn, prisoners = board.board.copy(), board.current_player, board.prisoners
    assert stones[0, 0] == 0
    board.set_rules("chinese")
    np.testing.assert_array_equal(board.board, stones)
    assert (board.current_player, board.prisoners) == (turn, prisoners)
    assert not board.undo(), "its moves are none by these rules"


def _over():
    board = Board(5)
    board.pass_move()
    board.pass_move()
    return board


ERRORS = {
    "size 1": (lambda: Board(1), "2 to 19"),
    "size 20": (lambda: Board(20), "2 to 19"),
    "size 9.5": (lambda: Board(9.5), "whole number"),
    "size nine": (lambda: Board("nine"), "whole number"),
    "komi of minus a million": (lambda: Board(9, komi=-1_000_000), "multiple of 0.5 between -400 and 400"),
    "komi beyond all floats": (lambda: Board(9, komi=10**400), "multiple of 0.5 between -400 and 400"),
    "komi nan": (lambda: Board(9, komi=float("nan")), "multiple of 0.5"),
    "komi inf": (lambda: Board(9, komi=float("inf")), "multiple of 0.5"),
    "komi 7.3": (lambda: Board(9, komi=7.3), "multiple of 0.5"),
    "komi in Rules": (lambda: Rules(komi=1e9), "multiple of 0.5"),
    "unknown rules": (lambda: Board(9, rules="ing"), "known are cgos, tromp-taylor, chinese"),
    "unknown ko": (lambda: Rules(ko="super"), "one of simple, positional, situational"),
    "unknown scoring": (lambda: Rules(scoring="stones"), "one of area, territory"),
    "unknown compensation": (lambda: Rules(handicap_compensation="2n"), "one of none, n, n-1"),
    "suicide 2": (lambda: Rules(suicide=2), "True or False"),
    "play off the board": (lambda: Board(9).play(9, 0), "x and y are 0 to 8"),
    "play at -1, -1": (lambda: Board(9).play(-1, -1), "x and y are 0 to 8"),
    "is_legal off the board": (lambda: Board(9).is_legal(0, 9), "x and y are 0 to 8"),
    "why_illegal off the board": (lambda: Board(9).why_illegal(-1, 0), "x and y are 0 to 8"),
    "get_group off the board": (lambda: Board(9).get_group(0, 100), "x and y are 0 to 8"),
    "get_neighbors off the board": (lambda: Board(9).get_neighbors(9, 9), "x and y are 0 to 8"),
    "count_liberties off the board": (lambda: Board(9).count_liberties(-5, 0), "x and y are 0 to 8"),
    "remove_group off the board": (lambda: Board(9).remove_group([(9, 9)]), "x and y are 0 to 8"),
    "dead stone off the board": (lambda: Board(9).score(dead=[(9, 9)]), "x and y are 0 to 8"),
    "dead stone where there is none": (lambda: Board(9).ownership(dead=[(0, 0)]), "there is no stone"),
    "is_legal for nobody": (lambda: Board(9).is_legal(0, 0, 3), r"neither BLACK \(1\) nor WHITE \(2\)"),
    "opponent of nobody": (lambda: Board(9).get_opponent(0), r"neither BLACK \(1\) nor WHITE \(2\)"),
    "pass_alive for nobody": (lambda: Board(9).pass_alive(0), r"neither BLACK \(1\) nor WHITE \(2\)"),
    "play after the end": (lambda: _over().play(0, 0), r"over after two passes: undo\(\).*resume\(\)"),
    "pass after the end": (lambda: _over().pass_move(), r"over after two passes: undo\(\).*resume\(\)"),
    "setup without liberties": (lambda: Board(2).setup(white=[(0, 0), (0, 1), (1, 0), (1, 1)]), "needs one"),
    "diagram without liberties": (lambda: Board.from_diagram("XO\nOX"), "needs one"),
    "diagram not square": (lambda: Board.from_diagram("...\n..."), "square of 2×2 to 19×19"),
    "diagram of nothing": (lambda: Board.from_diagram("Hello"), "square of 2×2 to 19×19"),
    "diagram too large": (lambda: Board.from_diagram("\n".join(["." * 20] * 20)), "square of 2×2 to 19×19"),
}


@pytest.mark.parametrize(("call", "message"), ERRORS.values(), ids=ERRORS)
def test_errors_say_what_is_allowed(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    text = str(error.value)
    assert "\n" not in text
    assert len(text) < 200


def test_play_after_the_end_changes_nothing():
    board = _over()
    before = board.copy()
    with pytest.raises(ValueError, match="over"):
        board.play(0, 0)
    assert board == before
    assert board.history == before.history


def test_diagrams_in_other_hands():
    plain = Board.from_diagram(".X\nO.")
    for text in ("+ #\nW +", " 2 . B 2\n 1 W . 1", "   A B\n 2 . X\n 1 O .\n   A B", "\n\n. x\no .\n\nBlack to play"):
        assert Board.from_diagram(text) == plain
    white = Board.from_diagram(".X\nO.\nWhite (O) to play, move 3")
    assert white.current_player == WHITE
    assert Board.from_diagram(str(white), player=BLACK).current_player == BLACK
    assert Board.from_diagram(".X\nO.", komi=0.5, rules="japanese").rules.scoring == "territory"


def test_drawing():
    board = Board(7, komi=0.5)
    board.play(2, 2)
    board.play(3, 3)
    assert str(board).splitlines() == [
        "   A B C D E F G",
        " 7 . . . . . . . 7",
        " 6 . . . . . . . 6",
        " 5 . . X . + . . 5",
        " 4 . . .(O). . . 4",
        " 3 . . + . + . . 3",
        " 2 . . . . . . . 2",
        " 1 . . . . . . . 1",
        "   A B C D E F G",
        "Black (X) to play, move 3, komi 0.5, captured by X 0, by O 0",
    ]
    board.pass_move()
    board.pass_move()
    assert "game over" in str(board)
    assert str(board) in repr(board)
