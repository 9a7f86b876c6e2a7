"""The tutorial's sign bugs: each test here fails with one of them, for Black and for White."""

import pytest

from mini_alphago.game import Board
from mini_alphago.mcts import MCTS, Search, SearchSettings

from .drawn import drawn, swapped
from .evaluators import Entry, Table, key

BOTH = pytest.mark.parametrize("player", [Board.BLACK, Board.WHITE], ids=["Black", "White"])
GOOD, BAD = 2, 6  # two moves on an empty 3×3 board
PASS = 9


def after(board, *moves):
    """The key of the position after these moves."""
    board = board.copy()
    for move in moves:
        assert move == PASS or board.play(*divmod(move, board.size))
        if move == PASS:
            board.pass_move()
    return key(board.games)


def searched(board, evaluator, visits, **settings):
    search = Search(evaluator, 1, board.size, SearchSettings(**settings))
    search.set_board(board)
    search.run(visits)
    return search


def by_move(search):
    size = search.size
    return {(size * size if m.move[0] < 0 else m.move[0] * size + m.move[1]): m for m in search.root_moves()}


EMPTY = "...\n...\n..."
OWN_PASS = {PASS: 1.0}  # priors that all but forbid anything else


# --- the leaf's value is its player's, the edge's that of the one who moved there -------------------------------------


@BOTH
def test_a_position_bad_for_the_opponent_is_sought(player):
    board = drawn(EMPTY, player)
    table = Table({after(board, GOOD): Entry(-0.75), after(board, BAD): Entry(0.75)})
    search = searched(board, table, GOOD + 1)  # in move order, each once
    good = by_move(search)[GOOD]
    assert (good.visits, good.value) == (1, 0.75)
    search.run(40)
    bad = by_move(search)[BAD]
    assert search.best_move() == GOOD
    assert (bad.visits, bad.value) == (1, -0.75)


@BOTH
def test_the_opponent_also_seeks_what_is_bad_for_us(player):
    """GOOD looks good, but the opponent has an answer after which we stand badly: at depth two the sign is back."""
    board = drawn(EMPTY, player)
    refutation = {4: 1.0}
    table = Table(
        {
            key(board.games): Entry(0.0, {GOOD: 1.0}),
            after(board, GOOD): Entry(-0.5, refutation),
            after(board, GOOD, 4): Entry(-0.75),
        }
    )
    one, two = (by_move(searched(board, table, visits))[GOOD] for visits in (1, 2))
    assert (one.visits, one.value) == (1, 0.5)
    assert (two.visits, two.value) == (2, pytest.approx((0.5 - 0.75) / 2))


@BOTH
def test_gumbel_seeks_it_too(player):
    board = drawn(EMPTY, player)
    table = Table({after(board, GOOD): Entry(-0.5), after(board, BAD): Entry(0.5)})
    search = searched(board, table, 20, method="gumbel")
    assert search.best_move() == GOOD
    improved = search.improved_policies()[0]
    assert improved.argmax() == GOOD
    assert improved.argmin() == BAD


@BOTH
@pytest.mark.parametrize("value", [0.5, -0.5])
def test_gumbel_takes_the_value_of_the_player_to_move_for_moves_without_visits(player, value):
    """One move was tried and is even: it is the worst where the player to move thinks it is winning, else the best."""
    board = drawn(EMPTY, player)
    search = searched(board, Table({key(board.games): Entry(value)}), 1, method="gumbel")
    tried = search.visit_counts()[0].argmax()
    improved = search.improved_policies()[0]
    assert tried == (improved.argmin() if value > 0 else improved.argmax())


@BOTH
def test_score_has_the_same_sign_as_value(player):
    """All values are even; a position of minus five points for the opponent is plus five for us."""
    board = drawn(EMPTY, player)
    table = Table({after(board, GOOD): Entry(score=-5.0), after(board, BAD): Entry(score=5.0)})
    search = searched(board, table, 100, score_weight=0.5)
    moves = by_move(search)
    assert search.best_move() == GOOD
    assert by_move(searched(board, table, GOOD + 1, score_weight=0.5))[GOOD].score == 5
    assert moves[GOOD].utility > 0 > moves[BAD].utility


@BOTH
def test_first_play_urgency_is_from_the_view_of_the_player_to_move(player):
    """The player to move thinks it is losing here: moves it has not tried look bad, so it stays with one that is even.

    With the wrong sign, all ten moves would be tried.
    """
    board = drawn(EMPTY, player)
    table = Table({key(board.games): Entry(-1.0)})
    search = searched(board, table, 10, fpu_reduction=0.0, c_puct=0.5)
    assert sum(move.visits > 0 for move in by_move(search).values()) == 1


@BOTH
def test_the_tutorials_nodes_hold_the_choosers_value(player):
    board = drawn(EMPTY, player)
    table = Table({after(board, GOOD): Entry(-0.75), after(board, BAD): Entry(0.25)})
    mcts = MCTS(table, board_size=3, num_simulations=40)
    root = mcts.search(board)
    assert root.children[divmod(GOOD, 3)].value > 0 > root.children[divmod(BAD, 3)].value
    assert root.value > 0
    assert mcts.select_move(root, 0) == divmod(GOOD, 3)


# --- the end of the game is scored for the player to move there -------------------------------------------------------

WON = "...\nXXX\n..."  # the whole board is X's


@BOTH
@pytest.mark.parametrize("ahead", [True, False])
def test_the_pass_that_ends_the_game(player, ahead):
    """The opponent has passed: the winner passes at once and the loser does anything else."""
    board = drawn(WON if ahead else swapped(WON), player, opponent_passed=True)
    search = searched(board, Table({}), 60)
    ending = by_move(search)[PASS]
    assert ending.value == (1 if ahead else -1)
    assert ending.score == (9 if ahead else -9)
    assert (search.best_move() == PASS) == ahead
    if not ahead:
        assert ending.visits == min(move.visits for move in search.root_moves())


@BOTH
@pytest.mark.parametrize("ahead", [True, False])
def test_two_passes_from_here(player, ahead):
    """The end is two plies away, its player to move is ours: the value turns twice on its way up.

    Who is behind need not go there: the other one would pass too, whatever the network thinks of that.
    """
    board = drawn(WON if ahead else swapped(WON), player)
    table = Table({key(board.games): Entry(0.0, OWN_PASS), after(board, PASS): Entry(-0.25, OWN_PASS)})
    search = searched(board, table, 2)
    ending = by_move(search)[PASS]
    assert ending.visits == (2 if ahead else 1)
    assert ending.value == ((0.25 + 1) / 2 if ahead else -1)  # at the first visit what the network thinks, then won
    assert ending.score == (4.5 if ahead else -9)


@BOTH
@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("ahead", [True, False])
def test_the_end_by_the_move_limit(player, ahead, limit):
    board = drawn(WON if ahead else swapped(WON), player)
    search = searched(board, Table({}), 40, move_limit=limit)
    for move in search.root_moves():
        if move.visits >= limit:  # with a limit of two, the first visit is the network's
            assert (move.value > 0, move.value < 0) == (ahead, not ahead)
            assert limit == 2 or abs(move.value) == 1


@BOTH
def test_komi_counts_for_white(player):
    """Stones are even, so komi alone decides: who has it passes when the opponent has passed, who has not does not."""
    for komi in (1.0, -1.0):
        board = drawn("XXX\n...\nOOO", player, komi, opponent_passed=True)
        ending = by_move(searched(board, Table({}), 40))[PASS]
        assert (ending.value, ending.score) == ((-1, -1) if komi > 0 else (1, 1))


@BOTH
def test_a_draw_is_worth_nothing(player):
    board = drawn("XXX\n...\nOOO", player, opponent_passed=True)
    ending = by_move(searched(board, Table({}), 40))[PASS]
    assert (ending.value, ending.score) == (0, 0)
