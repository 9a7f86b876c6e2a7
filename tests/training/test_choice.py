"""Which positions are learned from, and how often."""

import numpy as np
import pytest

from mini_alphago.mcts import Search, SearchSettings
from mini_alphago.training import SelfPlay, SelfPlaySettings
from mini_alphago.training.choice import choose, copies, draw, usable, weigh
from mini_alphago.training.records import SURPRISE_UNITS, join_records, to_full

from ..mcts.evaluators import Hashed
from .made_up import finish_games, one_game, some_games

SIZE = 5


@pytest.fixture(scope="module")
def played():
    """Some searches are full, others fast."""
    settings = SelfPlaySettings(games=4, simulations=4, considered=4, komi=0.5, fast_simulations=2, full_share=0.5)
    play = SelfPlay(Hashed(sharpness=2.0), SIZE, settings, seed=2, games_wanted=6)
    return join_records(list(finish_games(play)), SIZE)


def test_usable_are_the_full_searches(played):
    for records in (played, some_games(7, seed=4), join_records([some_games(2), played, some_games(1)], SIZE)):
        expected = [
            (g, at)
            for g in range(len(records.id))
            for at in range(int(records.length[g]))
            if records.full[records.first[g] + at]
        ]
        game, at = usable(records)
        assert list(zip(game.tolist(), at.tolist(), strict=True)) == expected
        assert len(expected) == records.samples > 0
    assert 0.3 < (played.full > 0).mean() < 0.7


def test_games_without_moves_or_full_searches_have_nothing_usable():
    parts = [one_game([]), one_game([3, 4], full=[0, 0]), one_game([5, 6], full=[0, 1]), one_game([])]
    game, at = usable(join_records(parts, SIZE))
    assert (game.tolist(), at.tolist()) == ([2], [1])
    assert [len(part) for part in usable(parts[1])] == [0, 0]


@pytest.mark.parametrize(("samples", "count"), [(1, 1), (1, 5), (7, 3), (7, 7), (7, 8), (10, 95)])
def test_each_sample_is_used_once_before_any_is_used_twice(samples, count):
    order = draw(samples, count, np.random.default_rng(0))
    assert len(order) == count
    for start in range(0, count, samples):
        round_ = order[start : start + samples]
        assert len(set(round_.tolist())) == len(round_)
        assert set(round_.tolist()) <= set(range(samples))
    assert (order == draw(samples, count, np.random.default_rng(0))).all()


def test_samples_are_drawn_in_no_order():
    order = draw(1000, 1000, np.random.default_rng(1))
    assert abs(np.corrcoef(np.arange(1000), order)[0, 1]) < 0.1
    assert not (order == draw(1000, 1000, np.random.default_rng(2))).all()


# --- surprise ---------------------------------------------------------------------------------------------------------


def test_surprise_as_it_is_kept():
    full = np.array([True, True, True, True, True, False])
    surprise = np.array([0.0, 1.0, 0.01, 1e9, np.nan, 3.0], np.float32)
    assert to_full(full, surprise).tolist() == [1, 1 + SURPRISE_UNITS, 1, 255, 1, 0]
    assert to_full(full, surprise).dtype == np.uint8


@pytest.mark.parametrize("method", ["gumbel", "puct"])
def test_self_play_keeps_how_much_a_search_surprised_the_network(method):
    """As recomputed from the priors of another search of the same position and from the policy in the records."""
    settings = SelfPlaySettings(
        games=1, method=method, simulations=24, considered=8, komi=0.5, random_openings=0.0, noise_epsilon=0.0
    )
    play = SelfPlay(Hashed(sharpness=2.0), SIZE, settings, seed=3, games_wanted=1)
    expected = []
    while play.playing:
        again = Search(Hashed(sharpness=2.0), 1, SIZE, SearchSettings())
        prior = np.zeros(SIZE * SIZE + 1)
        step = play.think()
        again.roots = play.roots._replace(**{
            name: array.copy() for name, array in play.roots._asdict().items()
        })  # fmt: skip
        again.run(1)
        for edge in range(int(again.trees.nodes[0, 0]["edge_count"])):
            prior[again.trees.move[0, edge]] = again.trees.prior[0, edge]
        policy = step.policy[0] / step.policy[0].sum()
        seen = policy > 0
        expected.append(float((policy[seen] * np.log(policy[seen] / prior[seen])).sum()))
        assert abs((int(step.full[0]) - 1) / SURPRISE_UNITS - expected[-1]) < 0.02
        play.apply(step)
    assert max(expected) > 0.3, "some of them are surprising"


def test_weights_go_to_surprising_positions_and_are_1_on_average_in_each_game():
    units = SURPRISE_UNITS
    games = [one_game([1, 2, 3, 4], full=[1, 0, 1 + units, 1 + 3 * units]), one_game([1, 2, 3], full=[1, 1, 1])]
    records = join_records([*games, one_game([]), one_game([7, 8], full=[1 + units, 1 + units])], SIZE)
    game, at = usable(records)
    assert weigh(records, game, at, 0.5).tolist() == pytest.approx([0.5, 0.875, 1.625, 1, 1, 1, 1, 1])
    assert weigh(records, game, at, 1.0).tolist() == pytest.approx([0, 0.75, 2.25, 1, 1, 1, 1, 1])
    assert weigh(records, game, at, 0.0).tolist() == [1] * 8


def test_copies_are_as_many_as_weights_say():
    weights = np.array([0.0, 0.25, 1.0, 2.5, 7.0])
    rng = np.random.default_rng(0)
    counts = np.array([np.bincount(copies(weights, rng), minlength=5) for _ in range(2000)])
    assert set(counts[:, 0]) == {0}
    assert set(counts[:, 1]) == {0, 1}
    assert set(counts[:, 2]) == {1}
    assert set(counts[:, 3]) == {2, 3}
    assert set(counts[:, 4]) == {7}
    np.testing.assert_allclose(counts.mean(axis=0), weights, atol=0.05)


@pytest.mark.parametrize("surprise", [0.0, 0.5])
def test_samples_that_are_chosen(surprise):
    units = SURPRISE_UNITS
    records = join_records([one_game([1, 2, 3, 4], full=[0, 1, 1, 1 + 4 * units]), one_game([5], full=[0])], SIZE)
    game, at = choose(records, (300, 4), surprise, np.random.default_rng(1))
    assert game.shape == at.shape == (300, 4)
    assert set(game.flat) == {0}
    share = np.bincount(at.flat, minlength=4) / at.size
    # Weights of 0.5, 0.5 and 2 in place of 1 each: what 0.5 becomes is drawn once, for all of these batches.
    assert share[0] == 0
    assert share[3] > 0.45 if surprise else share[1:] == pytest.approx([1 / 3] * 3)
    again = choose(records, (300, 4), surprise, np.random.default_rng(1))
    assert (again[0] == game).all()
    assert (again[1] == at).all()
