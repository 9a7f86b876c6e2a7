"""SearchSettings: what is impossible is refused, in one sentence."""

import math
from dataclasses import FrozenInstanceError

import pytest

from mini_alphago.mcts import SearchSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("method", "alphabeta"),
        ("method", None),
        ("c_puct", -0.1),
        ("c_puct", math.nan),
        ("c_puct", math.inf),
        ("c_puct", "1.5"),
        ("c_puct", None),
        ("c_puct", True),
        ("c_base", -1),
        ("fpu_reduction", -0.5),
        ("fpu_reduction", 3),
        ("forced_playouts", -2),
        ("forced_playouts", math.nan),
        ("virtual_loss", -1),
        ("score_weight", 1.5),
        ("prior_temperature", 0),
        ("prior_temperature", math.inf),
        ("noise_alpha", 0),
        ("noise_epsilon", 1.1),
        ("noise_epsilon", -0.1),
        ("considered", 0),
        ("considered", 2.5),
        ("considered", 363),
        ("c_visit", -1),
        ("c_scale", -1),
        ("leaves", 0),
        ("leaves", 1.0),
        ("leaves", 10**9),
        ("nodes", 1),
        ("nodes", 10**12),
        ("nodes", "many"),
        ("move_limit", 0),
        ("move_limit", -5),
        ("move_limit", 2.5),
    ],
)
def test_impossible_settings_are_refused_in_one_sentence(name, value):
    with pytest.raises(ValueError, match="search") as caught:
        SearchSettings(**{name: value})
    message = str(caught.value)
    assert "\n" not in message
    assert ". " not in message
    assert repr(value) in message


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"c_puct": 0},
        {"c_puct": 2},
        {"fpu_reduction": None, "move_limit": None},
        {"fpu_reduction": 0.0},
        {"nodes": 2, "leaves": 1024},
        {"method": "gumbel", "considered": 1},
        {"score_weight": 1.0, "noise_epsilon": 1.0},
    ],
)
def test_the_ends_of_each_range_are_possible(values):
    settings = SearchSettings(**values)
    for name, value in values.items():
        assert getattr(settings, name) == value


def test_the_defaults_are_the_tutorials():
    settings = SearchSettings()
    assert (settings.c_puct, settings.noise_alpha, settings.noise_epsilon) == (1.5, 0.3, 0.25)
    assert settings.fpu_reduction is None
    assert settings.method == "puct"
    options = settings.options(9, has_score=True)
    assert options.move_limit == 3 * 81 + 50
    assert (options.c_base, options.forced_playouts, options.score_weight) == (0, 0, 0)


def test_the_score_counts_only_where_the_network_knows_it():
    settings = SearchSettings(score_weight=0.25)
    assert settings.options(9, has_score=True).score_weight == 0.25
    assert settings.options(9, has_score=False).score_weight == 0


def test_settings_are_not_changed_once_made():
    with pytest.raises(FrozenInstanceError):
        SearchSettings().c_puct = 2.0
