"""The `Board` API of the tutorial and what goes beyond it, and every error with its message."""

import pickle
import random

import numpy as np
import pytest

from mini_alphago.game import BLACK, EMPTY, WHITE, Board, Rules

KO = """
    . X O . .
    X O . O .
    . X O . .
    . . . . .
    . . . . ."""


# --- the tutorial's API -----------------------------------------------------------------------------------------------


def test_a_new_board():
    board = Board()
    assert (Board.EMPTY, Board.BLACK, Board.WHITE) == (EMPTY, BLACK, WHITE) == (0, 1, 2)
    assert board.size == 9
    assert board.board.shape == (9, 9)
    assert board.board.dtype == np.int8
    assert not board.board.any()
    assert board.current_player == BLACK
    assert board.ko_point is None
    assert board.history == []
    assert board.move_count == 0
    assert board.prisoners == {BLACK: 0, WHITE: 0}
    assert not board.is_game_over()
    assert len(board.get_legal_moves()) == 82


def test_points_and_chains():
    board = Board.from_diagram(KO)
    assert board.get_opponent(BLACK) == WHITE
    assert board.get_opponent(WHITE) == BLACK
    assert board.is_on_board(0, 4)
    assert not board.is_on_board(5, 0)
    assert not board.is_on_board(0, -1)
    assert set(board.get_neighbors(0, 0)) == {(0, 1), (1, 0)}
    assert set(board.get_neighbors(0, 2)) == {(0, 1), (0, 3), (1, 2)}
    assert set(board.get_neighbors(2, 2)) == {(1, 2), (3, 2), (2, 1), (2, 3)}
    assert board.get_group(1, 1) == ({(1, 1)}, {(1, 2)})
    assert board.get_group(0, 0) == (set(), set())
    assert board.count_liberties(1, 1) == 1
    assert board.count_liberties(0, 0) == 0


def test_x_is_the_row_and_y_the_column():
    board = Board(5)
    board.play(1, 3)
    assert board.board[1, 3] == BLACK
    assert board.board.sum() == BLACK
    assert board.history == [(1, 3, BLACK)]
    assert str(board).splitlines()[2] == " 4 . . .(X). 4"


def test_play_and_pass():
    board = Board(5)
    assert board.play(2, 2) is True
    before = board.copy()
    assert board.play(2, 2) is False
    assert board == before
    assert board.history == before.history
    assert board.pass_move() is None
    assert board.play(1, 1) is True
    assert board.history == [(2, 2, BLACK), (-1, -1, WHITE), (1, 1, BLACK)]
    board.pass_move()
    assert not board.is_game_over()
    board.pass_move()
    assert board.is_game_over()
    assert board.get_legal_moves()[-1] == (-1, -1)


def test_remove_group_is_no_capture():
    board = Board.from_diagram(KO)
    stones, _ = board.get_group(1, 1)
    board.remove_group(stones)
    assert board.board[1, 1] == EMPTY
    assert board.prisoners == {BLACK: 0, WHITE: 0}
    assert board.current_player == BLACK


@pytest.mark.parametrize(("size", "komi"), [(9, 5.5), (2, 7.5), (13, 7.5), (19, 7.5)])
def test_the_tutorials_komi(size, komi):
    board = Board(size)
    assert board.komi == komi
    assert board.score() == -komi


def test_komi_may_be_given_and_changed():
    board = Board(9, komi=-3)
    assert board.score() == 3
    board.komi = 0.5
    assert board.komi == board.rules.komi == 0.5
    assert board.score() == -0.5
    assert Board(9, rules="japanese").komi == 6.5
    assert Board(9, komi=0, rules="japanese").komi == 0


def test_the_board_array_is_read_only_and_live():
    board = Board(5)
    view = board.board
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = WHITE
    board.play(0, 0)
    assert view[0, 0] == BLACK


# --- legality ---------------------------------------------------------------------------------------------------------


def test_why_illegal():
    board = Board.from_diagram(KO, rules=Rules(ko="positional"))
    assert board.why_illegal(1, 1) == "occupied"
    assert board.why_illegal(1, 2) is None
    assert board.why_illegal(1, 2, WHITE) is None  # fills, and lives on with its friends
    board.play(1, 2)
    assert board.why_illegal(1, 1) == "ko"
    assert not board.is_legal(1, 1)
    assert board.is_legal(1, 1, BLACK)
    board.current_player = BLACK
    board.current_player = WHITE  # the simple ko is forgotten, the position is not
    assert board.why_illegal(1, 1) == "superko"
    lonely = Board.from_diagram(". O\nO .", player=BLACK)
    assert lonely.why_illegal(0, 0) == "suicide"
    assert lonely.is_legal(0, 0, WHITE)
    assert lonely.get_legal_moves() == [(-1, -1)]


# --- undo, resume, copies ---------------------------------------------------------------------------------------------


def test_undo():
    board = Board.from_diagram(KO)
    assert board.undo() is False
    start = board.copy()
    board.play(1, 2)
    taken = board.copy()
    board.play(4, 4)
    assert board.undo() is True
    assert board == taken
    assert board.ko_point == (1, 1)
    assert board.prisoners == {BLACK: 1, WHITE: 0}
    assert board.undo() is True
    assert board == start
    assert board.prisoners == {BLACK: 0, WHITE: 0}
    assert board.history == []


def test_undo_does_not_cross_a_setup():
    board = Board(5)
    board.play(0, 0)
    board.setup(white=[(4, 4)])
    board.play(2, 2)
    assert board.undo()
    assert not board.undo()
    assert board.board[0, 0] == BLACK
    assert board.board[4, 4] == WHITE
    assert board.history == [(0, 0, BLACK)]


def test_undo_keeps_prisoners_from_before_a_setup():
    board = Board.from_diagram(KO)
    board.play(1, 2)
    board.setup(black=[(4, 4)])
    board.play(4, 0)
    board.undo()
    assert board.prisoners == {BLACK: 1, WHITE: 0}


def test_undo_takes_back_the_end_of_the_game():
    board = Board(5)
    board.pass_move()
    board.pass_move()
    assert board.undo()
    assert not board.is_game_over()
    assert board.play(0, 0)


def test_resume():
    board = Board(5)
    board.pass_move()
    board.pass_move()
    board.resume()
    assert not board.is_game_over()
    assert board.play(2, 2)
    assert board.move_count == 3


def test_undo_after_resume_gives_the_position_before_the_move():
    board = Board(5)
    board.pass_move()
    board.pass_move()
    board.resume()
    board.pass_move()
    before = board.copy()
    board.play(2, 2)
    board.undo()
    assert board == before
    assert not board.is_game_over()


def test_current_player_may_be_set():
    board = Board.from_diagram(KO)
    board.current_player = WHITE
    assert board.play(4, 4)
    assert board.board[4, 4] == WHITE
    board.play(1, 2)
    board.current_player = BLACK
    assert board.ko_point is None  # it was White's
    with pytest.raises(ValueError, match="neither BLACK"):
        board.current_player = 3
    board.undo()
    assert board.current_player == BLACK
    board.undo()
    assert board.current_player == WHITE


def test_undo_of_a_move_out_of_turn():
    board = Board.from_diagram(KO)
    board.play(1, 2)
    board.current_player = BLACK
    before = board.copy()
    board.play(4, 4)
    board.undo()
    assert board == before  # and no ko that would bind White
    assert board.is_legal(1, 1)


def test_equality():
    one, other = Board(5), Board(5)
    assert one == other
    one.play(1, 1)
    assert one != other
    other.setup(black=[(1, 1)], player=WHITE)
    assert one == other  # how it came about does not count
    assert one != Board(9)
    assert Board(5, komi=0.5) != Board(5)
    assert Board(5, rules="japanese") != Board(5, rules="chinese")
    assert Board(5) != "board"
    with pytest.raises(TypeError):
        hash(one)


def test_copy_and_pickle_keep_everything():
    board = Board(9, rules="aga")
    board.place_handicap(2)
    board.play(4, 4)
    for twin in (board.copy(), pickle.loads(pickle.dumps(board))):
        assert twin == board
        assert twin.history == board.history
        assert twin.handicap == 2
        assert twin.rules == board.rules
        twin.undo()
        twin.play(0, 0)
        assert board.board[0, 0] == EMPTY
        assert board.board[4, 4] == WHITE


def test_a_game_of_any_length():
    """Room for moves is made as needed, and superko goes on knowing them all."""
    board = Board(3, rules=Rules(ko="simple", suicide=True))
    rng = random.Random(3)
    for _ in range(300):
        if board.is_game_over():
            board.resume()
        move = rng.choice(board.get_legal_moves())
        if move == (-1, -1):
            board.pass_move()
        else:
            assert board.play(*move)
    assert board.move_count == len(board.history) == 300
    twin = board.copy()
    assert twin == board
    assert twin.history == board.history
    positional = Board(2, rules=Rules())
    seen = {positional.board.tobytes()}
    for _ in range(60):
        moves = positional.get_legal_moves()
        positional.play(*moves[0]) if len(moves) > 1 else positional.pass_move()
        if len(moves) > 1:
            assert positional.board.tobytes() not in seen
            seen.add(positional.board.tobytes())
        positional.resume()


def test_undo_believes_what_was_played():
    """A turn that was set twice forgets a ko, and what is played then stays where it was."""
    board = Board.from_diagram(". X O . .\nX O . O .\n. X O . .\n. . . . .\n. . . . .", rules="chinese")
    board.play(1, 2)
    assert board.why_illegal(1, 1) == "ko"
    board.current_player = BLACK
    board.current_player = WHITE
    assert board.play(1, 1)
    before = board.copy()
    board.play(4, 4)
    assert board.undo()
    assert board == before
    assert len(board.history) == 2
