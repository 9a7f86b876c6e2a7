"""The edges of a search: finished games, failing evaluators, endless lines, long histories, the clock."""

import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from mini_alphago.game import Board, Rules, state
from mini_alphago.game.coords import to_flat
from mini_alphago.mcts import Search, SearchSettings
from mini_alphago.model import Evaluation

from .evaluators import Entry, Hashed, Table, Uniform
from .invariants import check_tree, random_board


def over(size=5):
    board = Board(size)
    board.pass_move()
    board.pass_move()
    return board


# --- finished games ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["puct", "gumbel"])
def test_a_finished_game_is_not_searched(method):
    search = Search(Uniform(), 2, 5, SearchSettings(method=method))
    search.set_board(over(), 0)
    search.set_board(Board(5), 1)
    search.run(20, noise=True)
    assert list(search.think(visits=10)) == []
    assert search.root_moves(0) == []
    assert not search.visit_counts()[0].any()
    assert not search.improved_policies()[0].any()
    assert search.root_visits(1) == 20
    with pytest.raises(ValueError, match="the game is over"):
        search.best_move(0)
    check_tree(search, 0)
    check_tree(search, 1, never_cut=True)


def test_advancing_into_the_end_of_the_game():
    search = Search(Uniform(), 1, 3)
    search.set_board(Board(3))
    search.advance(9)
    search.run(40)
    assert search.visit_counts()[0, 9] > 0
    search.advance(9)
    search.run(40)
    check_tree(search)
    with pytest.raises(ValueError, match="the game is over"):
        search.best_move()


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_the_temperature_of_priors(temperature):
    policy = {0: 0.5, 4: 0.3, 8: 0.15, 9: 0.05}  # the pass too
    search = Search(Table({}, Entry(0.0, policy)), 1, 3, SearchSettings(prior_temperature=temperature))
    search.run(1)
    powers = {move: probability ** (1 / temperature) for move, probability in policy.items()}
    total = sum(powers.values()) + 6 * 1e-9 ** (1 / temperature)
    found = {to_flat(*move.move, 3): move.prior for move in search.root_moves()}
    assert {move: found[move] for move in policy} == pytest.approx({m: p / total for m, p in powers.items()}, rel=1e-4)


def test_nothing_searched_is_no_move():
    search = Search(Uniform())
    search.set_board(Board(9))
    with pytest.raises(ValueError, match="nothing was searched"):
        search.best_move()
    assert search.root_moves() == []
    assert search.root_visits() == 0


def test_a_larger_board_does_not_fit():
    search = Search(Uniform(), 1, 5)
    with pytest.raises(ValueError, match="6×6 does not fit"):
        search.set_board(Board(6))


# --- evaluators -------------------------------------------------------------------------------------------------------


class Failing(Hashed):
    """Raises at its n-th call."""

    def __init__(self, calls, error):
        super().__init__()
        self.calls, self.error = calls, error

    def evaluate(self, states):
        self.calls -= 1
        if self.calls == 0:
            raise self.error
        return super().evaluate(states)


@pytest.mark.parametrize("error", [RuntimeError("out of memory"), KeyboardInterrupt()])
@pytest.mark.parametrize("calls", [1, 2, 7])
@pytest.mark.parametrize("leaves", [1, 8])
def test_an_evaluator_that_raises(error, calls, leaves):
    evaluator = Failing(calls, error)
    search = Search(evaluator, 3, 5, SearchSettings(leaves=leaves))
    for g in range(3):
        search.set_board(Board(5), g)
    with pytest.raises(type(error)):
        search.run(100)
    for g in range(3):
        check_tree(search, g)
    search.run(100)
    fresh = Search(Hashed(), 3, 5, SearchSettings(leaves=leaves))
    for g in range(3):
        check_tree(search, g, never_cut=True)
        fresh.set_board(Board(5), g)
    fresh.run(100)
    np.testing.assert_array_equal(search.visit_counts(), fresh.visit_counts())


def test_each_position_is_asked_about_once():
    """Evaluations are the nodes that are no end of the game: nothing is asked twice, nothing for nothing."""
    search = Search(Hashed(), 1, 4, SearchSettings(leaves=4))
    search.set_board(Board(4))
    search.run(300)
    nodes = search.trees.nodes[0, : search.trees.node_count[0]]
    assert search.evaluations == (nodes["terminal"] == 0).sum()


# --- the move limit ---------------------------------------------------------------------------------------------------


class NeverPass:
    """Would rather do anything than pass: with the simple ko rule lines need not end."""

    def evaluate(self, states):
        policy = np.zeros(states.color.shape, np.float32)
        policy[:, states.info["size"] ** 2] = -30
        return Evaluation(policy, np.zeros(len(policy), np.float32), None, None)


@pytest.mark.parametrize("limit", [1, 2, 7, None])
def test_endless_lines_end(limit):
    search = Search(NeverPass(), 1, 2, SearchSettings(move_limit=limit))
    search.set_board(Board(2, rules=Rules(ko="simple")))
    search.run(3000)
    check_tree(search, never_cut=True, replayed=20)
    assert search.root_visits() == 3000
    if limit is not None:
        assert search.trees.nodes[0, : search.trees.node_count[0]]["terminal"].any()


def test_boards_with_long_histories():
    """More moves than the limit of a game: it gets a later one, and the other games stay as they are."""
    rng = np.random.default_rng(2)
    boards = [random_board(rng, (3, 5), moves) for moves in (0, 300, 40, 900)]
    search = Search(Hashed(), 4, 5)
    for g, board in enumerate(boards):
        search.set_board(board, g)
    search.run(60)
    for g, board in enumerate(boards):
        assert search.roots.info[g]["move_count"] == board.move_count
        np.testing.assert_array_equal(search.roots.color[g, : board.size**2], board.board.reshape(-1))
        assert search.root_visits(g) == 60
        check_tree(search, g, never_cut=True)
        assert not search.trees.nodes[g, 0]["terminal"]


def test_a_set_move_limit_holds_for_long_games_too():
    board = random_board(np.random.default_rng(0), (5, 5), 50)
    search = Search(Uniform(), 1, 5, SearchSettings(move_limit=50))
    search.set_board(board)
    search.run(10)
    check_tree(search)
    assert search.root_moves() == []


def test_moves_past_the_limit_do_not_run_into_the_next_game():
    """A game may go on past what the search takes for its end (or be refused); its neighbour must not feel it."""
    search = Search(Uniform(), 2, 3, SearchSettings(move_limit=4))
    for g in range(2):
        search.set_board(Board(3), g)
    for move in (0, 1, 2):
        search.advance(move, 1)
    before = search.roots.moves[1, :3].copy()
    try:
        for move in range(9):
            search.advance(move if move % 2 == 0 else 9, 0)  # Black fills the board, White passes
    except ValueError:
        pass
    np.testing.assert_array_equal(search.roots.moves[1, :3], before)


def test_a_game_that_was_never_set_starts_empty_or_is_refused():
    search = Search(Uniform(), 2, 3)
    search.set_board(Board(3), 0)
    try:
        search.run(30)
    except ValueError:
        return
    assert search.roots.info[1]["to_move"] == state.BLACK
    check_tree(search, 1, replayed=20)


# --- the clock --------------------------------------------------------------------------------------------------------


def test_think_stops_at_each_limit():
    search = Search(Uniform(), 1, 9, SearchSettings(leaves=4))
    search.set_board(Board(9))
    seen = list(search.think(visits=100))
    assert seen[-1] == 100
    assert seen == sorted(seen)
    assert np.diff(seen).max() <= 4
    start = time.perf_counter()
    seen = list(search.think(seconds=0.2))
    assert 0.2 <= time.perf_counter() - start < 2
    assert len(seen) > 10
    count = len(list(search.think(stop=lambda: search.root_visits() >= 5000)))
    assert count > 0
    assert search.root_visits() >= 5000
    check_tree(search)


def test_a_caller_may_stop_asking_and_play_on():
    search = Search(Hashed(), 1, 5)
    search.set_board(Board(5))
    for visits in search.think():
        if visits == 50:
            break
    check_tree(search, never_cut=True)
    move = search.best_move()
    kept = int(search.visit_counts()[0, move])
    search.advance(move)
    assert search.root_visits() == kept - 1
    assert next(search.think()) == kept


@pytest.mark.parametrize("limits", ["seconds=0.2", "stop=lambda: True"])
@pytest.mark.parametrize("case", ["all lines end at once", "passing wins, and the network is sure of it"])
def test_think_hears_the_clock_when_every_descent_ends_in_a_finished_game(case, limits):
    """In a process of its own: compiled code that does not come back can only be killed."""
    script = f"""
        import numpy as np
        from mini_alphago.game import Board
        from mini_alphago.mcts import Search, SearchSettings
        from mini_alphago.model import Evaluation

        class Sure:
            def evaluate(self, states):
                policy = np.zeros(states.color.shape, np.float32)
                policy[:, -1] = 20
                return Evaluation(policy, np.zeros(len(policy), np.float32), None, None)

        board = Board(5, komi=-5)
        board.play(2, 2)
        if {case!r} == "all lines end at once":
            search = Search(Sure(), 1, 5, SearchSettings(move_limit=2))
        else:
            board.play(0, 0)
            board.play(2, 1)
            board.pass_move()
            search = Search(Sure(), 1, 5)
        search.set_board(board)
        for _ in search.think({limits}):
            pass
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=30)
