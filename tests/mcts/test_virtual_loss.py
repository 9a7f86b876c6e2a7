"""Several leaves at once: the same visits, sound sums, and nearly always the same move as one leaf at a time.

Two evaluators that know something, so that the best move is no coin flip. `Worth`: each point is worth something, the
value is what the stones on the board are worth, and the policy knows that too, but half of it is noise. `Area`: the
value is the area score, and the policy knows nothing.
"""

import numpy as np
import pytest

from mini_alphago.game import Board
from mini_alphago.mcts import Search, SearchSettings
from mini_alphago.model import Evaluation

from .evaluators import Area, Hashed
from .invariants import check_tree, edge_records, random_board

SIZE = 7


class Worth:
    """Points have their worth, some much more than others."""

    def __init__(self):
        self.worth = np.append(np.random.default_rng(3).exponential(1.0, SIZE * SIZE), 0)

    def evaluate(self, states):
        own = states.color == states.info["to_move"][:, None]
        other = states.color == 3 - states.info["to_move"][:, None]
        value = np.tanh(((own * 1.0 - other) @ self.worth) / 4)
        seeds = (states.info["hash"] % 9973).astype(np.float32)
        noise = 1.5 * np.sin(seeds[:, None] * (0.1 + np.arange(len(self.worth))))
        return Evaluation((self.worth + noise).astype(np.float32), value.astype(np.float32), None, None)


@pytest.fixture(scope="module")
def positions():
    rng = np.random.default_rng(0)
    boards = [random_board(rng, (SIZE, SIZE), int(rng.integers(0, 40))) for _ in range(110)]
    return [board for board in boards if not board.is_game_over()][:100]


def search_all(evaluator, positions, visits, **settings):
    search = Search(evaluator, len(positions), SIZE, SearchSettings(nodes=visits + 20, **settings))
    for g, board in enumerate(positions):
        search.set_board(board, g)
    search.run(visits)
    return search


@pytest.mark.parametrize(
    ("evaluator", "visits", "settings"),
    [(Worth(), 400, {}), (Area(), 800, {"fpu_reduction": 0.3})],
    ids=["worth", "area"],
)
def test_sixteen_leaves_choose_the_move_of_one(positions, evaluator, visits, settings):
    """In at least 90 of a hundred positions, at equal visits."""
    one = search_all(evaluator, positions, visits, leaves=1, **settings)
    many = search_all(evaluator, positions, visits, leaves=16, **settings)
    np.testing.assert_array_equal(one.visit_counts().sum(axis=1), visits)
    np.testing.assert_array_equal(many.visit_counts().sum(axis=1), visits)
    assert len(positions) == 100
    assert sum(one.best_move(g) == many.best_move(g) for g in range(100)) >= 90


@pytest.mark.parametrize("virtual_loss", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("leaves", [2, 16, 64])
def test_no_loss_is_left_behind(virtual_loss, leaves):
    """`check_tree` adds the sums up from the leaves: a loss that was not taken back would show."""
    search = Search(Hashed(), 1, 5, SearchSettings(leaves=leaves, virtual_loss=virtual_loss))
    search.set_board(Board(5))
    for visits in (1, 2, 50, 501):
        search.run(visits)
        assert search.root_visits() == visits
        assert search.visit_counts().sum() == visits
        check_tree(search, never_cut=True)
    # Without a score in the utility both sums are the same, but for the rounding of losses.
    records = edge_records(search.trees)
    np.testing.assert_allclose(records["utility_sum"], records["value_sum"], atol=1e-3)


def test_leaves_of_one_call_are_different_positions():
    sizes = []

    class Watching(Hashed):
        def evaluate(self, states):
            waiting = np.flatnonzero(search.leaves.status == 0)
            ways = {search.leaves.path[slot, : search.leaves.length[slot]].tobytes() for slot in waiting}
            assert len(ways) == len(waiting)
            sizes.append(len(waiting))
            return super().evaluate(states)

    search = Search(Watching(), 1, 9, SearchSettings(leaves=16, virtual_loss=0.1))
    search.set_board(Board(9))
    search.run(800)
    assert np.mean(sizes) > 8  # or it would hardly be worth it
    check_tree(search, never_cut=True)


def test_a_leaf_in_flight_leaves_the_mean_alone():
    """By hand: a move with two visits that brought 0.5 each; while a third is out, it still has a mean of 0.5."""
    means = []

    class Watching:
        def evaluate(self, states):
            if search.root_visits() > 2:
                edges = slice(0, int(search.trees.nodes[0, 0]["edge_count"]))
                visits, sums = (search.trees.edges[name][0, edges] for name in ("visits", "utility_sum"))
                means.extend((sums[visits > 1] / visits[visits > 1]).tolist())
            value = np.where(states.info["to_move"] == 1, 0.5, -0.5).astype(np.float32)  # Black is always ahead
            return Evaluation(np.zeros((len(value), 10), np.float32), value, None, None)

    search = Search(Watching(), 1, 3, SearchSettings(leaves=4, c_puct=4.0, fpu_reduction=0.0, move_limit=200))
    search.set_board(Board(3))
    search.run(40)
    assert len(means) > 10
    np.testing.assert_allclose(means, 0.5, atol=1e-12)


def test_one_leaf_needs_no_virtual_loss():
    """With one leaf at a time it makes no difference what it is."""
    counts = []
    for virtual_loss in (0.0, 1.0, 10.0):
        search = Search(Hashed(), 1, 5, SearchSettings(virtual_loss=virtual_loss))
        search.set_board(Board(5))
        search.run(300)
        counts.append(search.visit_counts())
    np.testing.assert_array_equal(counts[0], counts[1])
    np.testing.assert_array_equal(counts[0], counts[2])
