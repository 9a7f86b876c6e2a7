"""What `summary` says of all games at once is what the trees hold, and `advance_all` is `advance` for each of them."""

import numpy as np
import pytest

from mini_alphago.game.state import BLACK
from mini_alphago.mcts import Search, SearchSettings

from .evaluators import Hashed, Uniform
from .invariants import check_tree, random_board

GAMES = 12


def searched(method, **settings):
    rng = np.random.default_rng(5)
    search = Search(Hashed(), GAMES, 5, SearchSettings(method=method, **settings), seed=1)
    for g in range(GAMES - 1):
        search.set_board(random_board(rng, (4, 5), int(rng.integers(0, 12))), g)
    search.run(40, noise=True)
    return search


@pytest.mark.parametrize(
    ("method", "settings"), [("puct", {}), ("puct", {"forced_playouts": 2.0}), ("gumbel", {"considered": 4})]
)
def test_summary(method, settings):
    search = searched(method, **settings)
    roots = search.summary()
    for g in range(GAMES):
        moves = search.root_moves(g)
        if not moves:
            assert roots.best[g] == -1
            continue
        size = int(search.roots.info[g]["size"])
        flat = [size * size if x < 0 else x * size + y for x, y in (move.move for move in moves)]
        assert roots.best[g] == flat[0] == search.best_move(g)
        assert roots.visits[g, flat].tolist() == [move.visits for move in moves]
        assert roots.visits[g].sum() == 40
        assert roots.policy[g].sum() == pytest.approx(1, abs=1e-5)
        prior = np.array([move.prior for move in moves])
        share = roots.policy[g, flat]
        divergence = (share * np.log(np.where(share > 0, share, 1) / prior)).sum()
        assert roots.surprise[g] == pytest.approx(divergence, abs=1e-4)
        own = search.trees.nodes[g, 0]
        visited = roots.visits[g, flat] > 0
        weights = np.where(visited, roots.policy[g, flat] if method == "gumbel" else roots.visits[g, flat], 0)
        for name, found, error in (("value", roots.value[g], 1e-5), ("score", roots.score[g], 1e-4)):
            mean = np.average([getattr(move, name) for move in moves], weights=weights)
            assert found == pytest.approx((float(own[name]) + 40 * mean) / 41, abs=error)
        if method == "puct":
            wanted = search.pruned_visits(g)
            np.testing.assert_allclose(roots.policy[g], wanted / wanted.sum(), atol=1e-6)


def test_moves_that_lost_the_race_do_not_darken_the_value():
    """One move wins for Black, all others lose: Gumbel visits many of them, and knows all the same that Black wins."""

    class OneGoodMove(Uniform):
        def evaluate(self, states):
            good = np.where(states.color[:, 12] == BLACK, 0.9, -0.9) * (states.info["move_count"] > 0)
            value = np.where(states.info["to_move"] == BLACK, good, -good).astype(np.float32)
            return super().evaluate(states)._replace(value=value)

    search = Search(OneGoodMove(), 1, 5, SearchSettings(method="gumbel", considered=26), seed=1)
    search.run(64, noise=True)
    roots = search.summary()
    assert roots.best[0] == 12
    assert roots.visits[0, 12] < 32
    assert roots.value[0] > 0.85


def test_before_any_search():
    roots = Search(Hashed(), 2, 3).summary()
    assert roots.best.tolist() == [-1, -1]
    assert not roots.visits.any()
    assert not roots.policy.any()


@pytest.mark.parametrize("keep", [True, False])
def test_advance_all(keep):
    one, all_at_once = searched("puct"), searched("puct")
    moves = one.summary().best.astype(np.int64)
    moves[3] = -1
    all_at_once.advance_all(moves, keep)
    for g in range(GAMES):
        if moves[g] >= 0:
            one.advance(int(moves[g]), g, keep)
        for array, other in zip(one.roots, all_at_once.roots, strict=True):
            if array.shape[0] == GAMES and array.dtype != one.roots.info.dtype:
                np.testing.assert_array_equal(array[g], other[g])
        assert one.root_visits(g) == all_at_once.root_visits(g)
        check_tree(all_at_once, g)
    one.run(30)
    all_at_once.run(30)
    np.testing.assert_array_equal(one.visit_counts(), all_at_once.visit_counts())


def test_noise_for_some_games():
    quiet, noisy, mixed = (Search(Hashed(), 2, 5, seed=3) for _ in range(3))
    quiet.run(30)
    noisy.run(30, noise=True)
    mixed.run(30, noise=np.array([True, False]))
    np.testing.assert_array_equal(mixed.visit_counts()[1], quiet.visit_counts()[1])
    np.testing.assert_array_equal(mixed.visit_counts()[0], noisy.visit_counts()[0])
    assert (quiet.visit_counts()[0] != noisy.visit_counts()[0]).any()
