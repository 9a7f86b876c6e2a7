"""Ratings, against values worked out by hand."""

import math

import pytest

from mini_alphago.arena import (
    Rating,
    elo_interval,
    elo_of_score,
    elo_ratings,
    likelihood_of_superiority,
    wilson_interval,
)


def elo(odds):
    return 400 * math.log10(odds)


def test_two_players_by_hand():
    ratings = elo_ratings([("a", "b", 3, 1, 0)], anchor="b")
    assert ratings["b"] == Rating(0.0, 0.0)
    assert ratings["a"].elo == pytest.approx(elo(3.5 / 1.5))  # the prior is one draw
    p = 3.5 / 5
    error = 1.96 * 400 / math.log(10) / math.sqrt(5 * p * (1 - p))
    assert ratings["a"].error == pytest.approx(error, rel=1e-4)


def test_the_prior_fades():
    far = [elo_ratings([("a", "b", 3 * n, n, 0)], "b")["a"].elo for n in (1, 10, 100, 10_000)]
    assert far == sorted(far)
    assert far[-1] == pytest.approx(190.85, abs=0.05)  # 400 · log10(3)


def test_draws_are_half_a_win_each_and_rows_add_up():
    whole = elo_ratings([("a", "b", 10, 4, 6)], "b")
    assert whole["a"].elo == pytest.approx(elo(13.5 / 7.5))
    parts = elo_ratings([("a", "b", 7, 1, 2), ("b", "a", 3, 3, 4), ("a", "b", 0, 0, 0)], "b")
    assert parts["a"] == pytest.approx(whole["a"])


def test_ratings_go_through_a_third_player():
    ratings = elo_ratings([("a", "b", 75, 25, 0), ("b", "c", 75, 25, 0)], anchor="c", anchor_elo=1000)
    step = elo(75.5 / 25.5)
    assert ratings["c"] == Rating(1000.0, 0.0)
    assert ratings["b"].elo == pytest.approx(1000 + step)
    assert ratings["a"].elo == pytest.approx(1000 + 2 * step)
    assert ratings["a"].error == pytest.approx(math.sqrt(2) * ratings["b"].error)  # two independent steps


def test_a_triangle_is_the_most_likely_compromise():
    rows = [("a", "b", 60, 40, 0), ("b", "c", 55, 45, 0), ("a", "c", 80, 20, 0)]
    ratings = elo_ratings(rows, "c")
    wins = {("a", "b"): 60.5, ("b", "a"): 40.5, ("b", "c"): 55.5, ("c", "b"): 45.5, ("a", "c"): 80.5, ("c", "a"): 20.5}
    for name in "abc":  # at the maximum everybody has scored what was to be expected
        others = set("abc") - {name}
        expected = sum(
            (wins[name, other] + wins[other, name]) / (1 + 10 ** ((ratings[other].elo - ratings[name].elo) / 400))
            for other in others
        )
        assert expected == pytest.approx(sum(wins[name, other] for other in others), abs=1e-6)


def test_errors_shrink_with_the_root_of_the_games():
    few, many = (elo_ratings([("a", "b", n, n, 0)], "b")["a"].error for n in (500, 2000))
    assert few / many == pytest.approx(2, rel=1e-3)
    assert many == pytest.approx(1.96 * 400 / math.log(10) / math.sqrt(4000 / 4), rel=1e-3)


@pytest.mark.parametrize("won", [(20, 0), (0, 20)])
def test_a_perfect_score_stays_finite(won):
    ratings = elo_ratings([("a", "b", *won, 0)], "b")
    assert ratings["a"].elo == pytest.approx(elo((won[0] + 0.5) / (won[1] + 0.5)))
    assert abs(ratings["a"].elo) == pytest.approx(645.1, abs=0.1)
    assert 300 < ratings["a"].error < 700


def test_a_long_ladder_of_perfect_scores():
    ratings = elo_ratings([(f"{i + 1}", f"{i}", 200, 0, 0) for i in range(40)], anchor="0")
    assert ratings["40"].elo == pytest.approx(40 * elo(200.5 / 0.5), rel=1e-6)
    assert all(math.isfinite(rating.error) for rating in ratings.values())


def test_an_anchor_alone_and_players_that_cannot_be_compared():
    assert elo_ratings([], "a", 7) == {"a": Rating(7, 0.0)}
    assert elo_ratings([("a", "b", 0, 0, 0)], "a") == {"a": Rating(0.0, 0.0)}
    with pytest.raises(ValueError, match="no games link c, d to a"):
        elo_ratings([("a", "b", 1, 0, 0), ("c", "d", 1, 0, 0)], "a")
    with pytest.raises(ValueError, match="is not the result of a match"):
        elo_ratings([("a", "a", 1, 0, 0)], "a")
    with pytest.raises(ValueError, match="is not the result of a match"):
        elo_ratings([("a", "b", 5, -1, 0)], "a")


def test_elo_of_a_score():
    assert elo_of_score(0.5) == 0
    assert elo_of_score(0.75) == pytest.approx(190.85, abs=0.01)
    assert elo_of_score(10 / 11) == pytest.approx(400)
    assert elo_of_score(0.2) == pytest.approx(-elo_of_score(0.8))
    assert (elo_of_score(0), elo_of_score(1)) == (-math.inf, math.inf)
    with pytest.raises(ValueError, match="it is 0 to 1"):
        elo_of_score(1.2)


def test_wilson_intervals():
    assert wilson_interval(50, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert wilson_interval(20, 20) == pytest.approx((0.8389, 1.0), abs=1e-4)
    assert wilson_interval(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson_interval(0, 0) == (0, 1)
    with pytest.raises(ValueError, match="are not possible"):
        wilson_interval(3, 2)


def test_the_elo_of_a_match_has_an_interval():
    assert elo_interval(50, 50, 0) == pytest.approx((0, elo(0.4038 / 0.5962), elo(0.5962 / 0.4038)), abs=0.1)
    assert elo_interval(40, 40, 20) == elo_interval(50, 50, 0)
    assert elo_interval(0, 0, 0) == (0, -math.inf, math.inf)


@pytest.mark.parametrize("games", [1, 7, 20, 40, 400])
def test_who_won_everything_has_a_lower_end_only(games):
    won, lost = elo_interval(games, 0, 0), elo_interval(0, games, 0)
    assert won[2] == math.inf
    assert won[1] == pytest.approx(elo_of_score(wilson_interval(games, games)[0]))
    assert lost == pytest.approx((-math.inf, -math.inf, -won[1]))


def test_likelihood_of_superiority():
    assert likelihood_of_superiority(0, 0) == likelihood_of_superiority(7, 7) == 0.5
    assert likelihood_of_superiority(60, 40) == pytest.approx(0.97725, abs=1e-5)  # two standard deviations
    assert likelihood_of_superiority(40, 60) == pytest.approx(0.02275, abs=1e-5)
    with pytest.raises(ValueError, match="are not possible"):
        likelihood_of_superiority(-1, 2)
