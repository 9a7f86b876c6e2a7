"""`mini_alphago.analyze`: a position in, moves with their numbers out."""

import numpy as np
import pytest
import torch

import mini_alphago
from mini_alphago.game import Board
from mini_alphago.mcts import Search, SearchSettings
from mini_alphago.model import Evaluator, KataGoNetwork, PolicyValueNetwork

from ..model.weights import trained
from .evaluators import Uniform
from .invariants import random_board

PASS = (-1, -1)


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def evaluator():
    torch.manual_seed(2)
    return Evaluator(trained(KataGoNetwork(1, 8)), device="cpu", precision="f32", engine="torch")


@pytest.mark.parametrize("size", [3, 5, 9])
def test_what_it_says(evaluator, size):
    board = random_board(np.random.default_rng(size), (size, size), 5)
    before = board.copy()
    analysis = mini_alphago.analyze(board, evaluator, visits=60)
    assert board == before
    assert analysis.visits == 60
    assert sum(move.visits for move in analysis.moves) == 60
    assert {move.move for move in analysis.moves} == set(board.get_legal_moves())
    assert sum(move.prior for move in analysis.moves) == pytest.approx(1, abs=1e-5)
    assert 0 <= analysis.winrate <= 1
    assert np.isfinite(analysis.score)
    assert analysis.best == analysis.moves[0]
    counts = [move.visits for move in analysis.moves]
    assert counts == sorted(counts, reverse=True)
    assert analysis.ownership.shape == (size, size)
    assert (np.abs(analysis.ownership) <= 1).all()
    for move in analysis.moves:
        assert abs(move.value) <= 1
        assert abs(move.utility) <= 1
        assert bool(move.variation) == (move.visits > 0)
        if move.visits:
            assert move.variation[0] == move.move
            assert_playable(board, move.variation)
    mean = sum(move.visits * move.value for move in analysis.moves) / 60
    assert analysis.winrate == pytest.approx((mean + 1) / 2)


def assert_playable(board, moves):
    board = board.copy()
    for x, y in moves:
        if (x, y) == PASS:
            board.pass_move()
        else:
            assert board.play(x, y)


def test_a_network_is_enough():
    torch.manual_seed(0)
    analysis = mini_alphago.analyze(Board(5), trained(KataGoNetwork(1, 8)), visits=20)
    assert analysis.visits == 20


def test_a_network_without_score_and_ownership():
    torch.manual_seed(0)
    network = trained(PolicyValueNetwork(board_size=5, num_filters=8, num_blocks=1))
    analysis = mini_alphago.analyze(Board(5), Evaluator(network, device="cpu", engine="torch"), visits=30)
    assert analysis.ownership is None
    assert sum(move.visits for move in analysis.moves) == 30


def test_one_visit_is_enough(evaluator):
    analysis = mini_alphago.analyze(Board(5), evaluator, visits=1)
    assert analysis.best.visits == 1
    assert analysis.best.variation == [analysis.best.move]


@pytest.mark.parametrize("visits", [0, -3])
def test_no_visits_say_nothing(evaluator, visits):
    with pytest.raises(ValueError, match="visits"):
        mini_alphago.analyze(Board(5), evaluator, visits=visits)


def test_a_finished_game(evaluator):
    board = Board(5)
    board.pass_move()
    board.pass_move()
    with pytest.raises(ValueError, match="the game is over"):
        mini_alphago.analyze(board, evaluator)


def test_a_game_over_by_its_move_limit(evaluator):
    board = random_board(np.random.default_rng(0), (5, 5), 20)
    with pytest.raises(ValueError, match="over"):
        mini_alphago.analyze(board, evaluator, settings=SearchSettings(move_limit=20))


@pytest.mark.parametrize("method", ["puct", "gumbel"])
def test_the_best_of_an_analysis_is_the_move_to_play(evaluator, method):
    """Also where the most visited moves are several."""
    settings = SearchSettings(method=method)
    for seed in range(30):
        board = random_board(np.random.default_rng(seed), (5, 5), 8)
        search = Search(evaluator, 1, 5, settings)
        search.set_board(board)
        search.run(9)
        move = search.best_move()
        x, y = mini_alphago.analyze(board, evaluator, visits=9, settings=settings).best.move
        assert (x * 5 + y if x >= 0 else 25) == move


def test_of_moves_alike_in_everything_the_same_one_is_played_and_listed_first():
    search = Search(Uniform(), 1, 5)
    search.set_board(Board(5))
    search.run(26)
    x, y = search.root_moves()[0].move
    assert (x * 5 + y if x >= 0 else 25) == search.best_move()
