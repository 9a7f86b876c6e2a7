"""What explores at the root: Dirichlet noise, and forced playouts with their pruning."""

import numpy as np
import pytest

from mini_alphago.game import Board
from mini_alphago.mcts import MCTS, MCTSNode, Search, SearchSettings

from .evaluators import Hashed, Uniform
from .invariants import check_tree


def evaluated(games=1, size=5, seed=0, evaluator=None, **settings):
    """A search whose roots are evaluated, and nothing else."""
    search = Search(evaluator or Hashed(), games, size, SearchSettings(nodes=600, **settings), seed=seed)
    for g in range(games):
        search.set_board(Board(size), g)
    search.run(0)
    return search


def root_priors(search, g=0):
    """[moves] of a root with every move legal, by flat index: noise may change the order of its edges."""
    edges = search._root_edges(g)
    return search.trees.prior[g, edges][np.argsort(search.trees.move[g, edges])].astype(np.float64)


@pytest.mark.parametrize("epsilon", [0.0, 0.25, 0.6, 1.0])
def test_noise_has_its_share_of_the_prior(epsilon):
    search = evaluated(games=400, noise_epsilon=epsilon)
    clean = root_priors(search)
    search.run(0, noise=True)
    noisy = np.array([root_priors(search, g) for g in range(400)])
    np.testing.assert_allclose(noisy.sum(axis=1), 1, atol=1e-5)
    assert (noisy >= (1 - epsilon) * clean - 1e-6).all()
    if epsilon == 0:
        np.testing.assert_allclose(noisy, np.broadcast_to(clean, noisy.shape), atol=1e-6)
        return
    noise = (noisy - (1 - epsilon) * clean) / epsilon
    np.testing.assert_allclose(noise.mean(axis=0), 1 / 26, atol=0.025)
    assert abs(np.corrcoef(noise[0], noise[1])[0, 1]) < 0.9  # each game its own
    # Of a symmetric Dirichlet with alpha each of n, the squares have the mean (alpha + 1) / (n · (n · alpha + 1)).
    assert (noise**2).mean() == pytest.approx(1.3 / (26 * (26 * 0.3 + 1)), rel=0.1)


@pytest.mark.parametrize("size", [3, 5])
def test_scaled_noise_is_as_uneven_on_every_board(size):
    search = evaluated(games=400, size=size, noise_epsilon=1.0, scale_noise=True)
    search.run(0, noise=True)
    noise = np.array([root_priors(search, g) for g in range(400)])
    n = size * size + 1
    assert (noise**2).mean() == pytest.approx((10.83 / n + 1) / (n * (10.83 + 1)), rel=0.1)


def test_a_root_gets_its_noise_once():
    """Going on with a search must not add noise to noise."""
    search = evaluated()
    search.run(10, noise=True)
    once = root_priors(search)
    search.run(20, noise=True)
    np.testing.assert_array_equal(root_priors(search), once)


def test_noise_is_for_the_root_alone():
    search = evaluated(seed=2)
    search.run(100, noise=True)
    check_tree(search, never_cut=True)
    plain = evaluated(seed=2)
    plain.run(100)
    assert not np.allclose(root_priors(search), root_priors(plain), atol=1e-3)
    move = search.best_move()
    for one in (search, plain):
        one.advance(move)
        one.run(0)
    np.testing.assert_allclose(root_priors(search), root_priors(plain), atol=1e-6)


def test_the_tutorials_add_dirichlet_noise():
    """On the children of any root, by hand or from a search."""
    mcts = MCTS(None, 3, seed=5)
    root = MCTSNode()
    policy = np.log(np.arange(1, 11) / 55)
    root.expand(policy, [(x, y) for x in range(3) for y in range(3)] + [(-1, -1)])
    mcts.add_dirichlet_noise(root, alpha=0.3, epsilon=0.25)
    priors = np.array([child.prior for child in root.children.values()])
    expected = 0.75 * np.exp(policy) + 0.25 * np.random.default_rng(5).dirichlet([0.3] * 10)
    np.testing.assert_allclose(priors, expected, atol=1e-6)
    mcts.add_dirichlet_noise(root, epsilon=0.0)
    np.testing.assert_allclose([child.prior for child in root.children.values()], expected, atol=1e-6)


# --- forced playouts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("leaves", [1, 4])
def test_forced_playouts(noise, leaves):
    """Each visited root move has √(k · prior · visits), but for what the last few simulations had no time for."""
    k, visits = 2.0, 500
    search = evaluated(games=20, forced_playouts=k, leaves=leaves, evaluator=Hashed(sharpness=2.0))
    search.run(visits - 40, noise=noise)
    started = search.visit_counts() > 0
    search.run(visits)  # moves begun by then have had the time
    for g in range(20):
        check_tree(search, g, never_cut=True)
        prior = root_priors(search, g)
        counts = search.visit_counts()[g]
        needed = np.sqrt(k * prior * visits)
        assert (counts >= needed - 1 - leaves)[started[g]].all()


def test_forced_playouts_force():
    free = evaluated(evaluator=Hashed(sharpness=2.0))
    forced = evaluated(evaluator=Hashed(sharpness=2.0), forced_playouts=2.0)
    for search in (free, forced):
        search.run(500)
    assert forced.visit_counts().max() < free.visit_counts().max()


@pytest.mark.parametrize("k", [0.0, 2.0, 8.0])
def test_pruned_visits(k):
    search = evaluated(games=20, forced_playouts=k, evaluator=Hashed(sharpness=2.0))
    search.run(300, noise=True)
    given_up = 0
    for g in range(20):
        counts, pruned = search.visit_counts()[g], search.pruned_visits(g)
        best = counts.argmax()
        assert pruned[best] == counts[best]
        assert (pruned <= counts).all()
        assert (pruned >= 0).all()
        assert k == 0 or not ((pruned > 0) & (pruned <= 1)).any()
        prior = root_priors(search, g)
        assert (counts - pruned <= np.maximum(np.sqrt(k * prior * 300), 1) + 1 + 1e-3).all()
        given_up += (counts - pruned).sum()
    assert given_up > 20 * 10 if k > 0 else given_up == 0


def test_pruned_visits_of_nothing():
    search = Search(Uniform(), 1, 3)
    search.set_board(Board(3))
    assert search.pruned_visits().tolist() == [0] * 10
    search.run(0)
    assert search.pruned_visits().tolist() == [0] * 10
