"""Self-play that is stopped, saved and made again goes on as if nothing had happened."""

from dataclasses import replace

import numpy as np
import pytest
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from mini_alphago.training import SelfPlay
from mini_alphago.training.folder import to_arrays, to_tensors
from mini_alphago.training.records import join_records

from ..mcts.evaluators import Hashed
from .made_up import assert_same, finish_games
from .test_self_play import FEW, SIZE

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

SITUATIONS = {
    "gumbel": FEW,
    "gumbel, in groups": replace(FEW, groups=2),
    "gumbel, fast, resigning": replace(
        FEW, fast_simulations=2, full_share=0.4, resign_below=-0.2, resign_played_out=0.5, komi_spread=3.0
    ),
    "gumbel, fast where it is decided": replace(
        FEW, groups=2, fast_simulations=2, full_share=0.4, decided_above=0.1, random_openings=0.5
    ),
    "puct": replace(FEW, method="puct", random_openings=0.5, forced_playouts=2.0),
    "puct, fast, resigning": replace(
        FEW, method="puct", fast_simulations=2, resign_below=-0.2, resign_played_out=0.5, temperature=0.7
    ),
}
UNSIGNED = ("games.policy",)


def _advance(play, steps):
    """What ends in so many steps."""
    return join_records([play.apply(play.think()) for _ in range(steps)], play.size)


def _through_a_file(saved):
    """As a run keeps it."""
    tensors = load_tensors(save_tensors(to_tensors(saved, "play.")))
    tensors["other"] = tensors["play.counters"]
    return to_arrays(tensors, "play.", UNSIGNED)


def _assert_same_state(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].dtype == other[name].dtype, name
        np.testing.assert_array_equal(one[name], other[name], name)


@pytest.mark.parametrize("name", SITUATIONS)
@pytest.mark.parametrize("steps", [0, 9, 31])
def test_going_on_is_as_if_nothing_had_happened(name, steps):
    settings = SITUATIONS[name]
    play = SelfPlay(Hashed(sharpness=2.0), SIZE, settings, seed=3, staggered=True)
    _advance(play, steps)
    play.version = 4
    saved = _through_a_file(play.state())
    _assert_same_state(saved, play.state())
    more = 30 * settings.groups  # a step is a move in the games of one group
    expected = _advance(play, more)
    assert len(expected.id) >= 2
    again = SelfPlay(Hashed(sharpness=2.0), SIZE, settings, seed=3, staggered=True)
    if steps == 31:
        _advance(again, 2)  # whatever it did before is forgotten
    again.restore(saved)
    _assert_same_state(again.state(), saved)
    assert_same(_advance(again, more), expected)
    _assert_same_state(again.state(), play.state())


@pytest.mark.parametrize("name", SITUATIONS)
def test_steps_applied_again_give_the_same_games(name):
    """What the journal does after a crash: nothing is searched until it is through."""
    play = SelfPlay(Hashed(sharpness=2.0), SIZE, SITUATIONS[name], seed=4, staggered=True)
    _advance(play, 5)
    saved, steps, parts = play.state(), [], []
    for _ in range(25 * len(play.searches)):
        steps.append(play.think())
        parts.append(play.apply(steps[-1]))
    parts.append(_advance(play, 5))
    again = SelfPlay(Hashed(sharpness=2.0), SIZE, SITUATIONS[name], seed=4, staggered=True)
    again.restore(saved)
    evaluations = again.evaluations
    replayed = [again.apply(step) for step in steps]
    assert again.evaluations == evaluations
    assert_same(join_records([*replayed, _advance(again, 5)], SIZE), join_records(parts, SIZE))


def test_thinking_and_asking_for_the_state_change_nothing():
    plain, asked = (SelfPlay(Hashed(), SIZE, FEW, seed=6) for _ in range(2))
    for _ in range(20):
        before = asked.state()
        asked.think()
        _assert_same_state(asked.state(), before)
        assert_same(asked.apply(asked.think()), plain.apply(plain.think()))


def test_going_on_when_few_games_are_left():
    play = SelfPlay(Hashed(), SIZE, FEW, seed=1, games_wanted=6)
    while play.playing > 1:
        play.apply(play.think())
    again = SelfPlay(Hashed(), SIZE, FEW, seed=1, games_wanted=6)
    again.restore(_through_a_file(play.state()))
    assert again.playing == 1
    assert_same(join_records(list(finish_games(again)), SIZE), join_records(list(finish_games(play)), SIZE))
    again.restore(_through_a_file(play.state()))
    assert again.playing == 0


def test_groups_move_in_turn_and_a_rest_changes_nothing():
    settings = replace(FEW, groups=2, random_openings=0.0)
    plain, resting = (SelfPlay(Hashed(), SIZE, settings, seed=6) for _ in range(2))
    for turn in range(12):
        resting.rest()
        assert_same(resting.apply(resting.think()), plain.apply(plain.think()))
        first, second = divmod(turn + 1, 2)
        assert plain.roots.info["move_count"].tolist() == [first + second] * 2 + [first] * 2
