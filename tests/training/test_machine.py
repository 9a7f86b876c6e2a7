"""Runs that fit the memory of the machine."""

from dataclasses import replace

import numpy as np
import pytest

from mini_alphago.model import ENCODINGS
from mini_alphago.training import PRESETS, SelfPlay, get_preset
from mini_alphago.training.machine import fit_to_machine, memory_of_self_play, memory_of_this_machine, too_large_for

from ..mcts.evaluators import Uniform

GB = 2**30


def test_this_machine_has_some_memory() -> None:
    memory = memory_of_this_machine()
    assert memory is not None
    assert memory > 2**28


@pytest.mark.parametrize("name", PRESETS)
def test_presets_stay_as_they_are_where_there_is_enough(name: str) -> None:
    assert fit_to_machine(get_preset(name), 64 * GB) == (get_preset(name), "")
    assert fit_to_machine(get_preset(name), None) == (get_preset(name), "")


def test_fewer_games_where_there_is_little() -> None:
    config, said = fit_to_machine(get_preset("gpu"), 2 * GB)
    games = config.self_play.games
    assert games < get_preset("gpu").self_play.games
    assert memory_of_self_play(config) <= GB < memory_of_self_play(get_preset("gpu"))
    assert said == f"{games:,} games at once in place of 12,288: this machine has 2.0 GB of memory."
    assert replace(config, self_play=get_preset("gpu").self_play) == get_preset("gpu"), "nothing else changes"


def test_it_ends_where_nothing_would_fit() -> None:
    config, said = fit_to_machine(get_preset("gpu"), 1000)
    assert 64 <= config.self_play.games < 128
    assert said


@pytest.mark.parametrize("encoding", ["katago", "katago-v7"])
@pytest.mark.parametrize(("size", "simulations"), [(5, 4), (9, 32), (19, 16)])
def test_it_reckons_with_what_self_play_takes(size: int, simulations: int, encoding: str) -> None:
    class Encoded(Uniform):
        def __init__(self) -> None:
            super().__init__()
            self.encoding = ENCODINGS[encoding]

    games = 23
    config = replace(get_preset("tiny"), board_size=size)
    config = replace(config, self_play=replace(config.self_play, games=games, simulations=simulations))
    play = SelfPlay(Encoded(), size, config.self_play)
    search = play.searches[0]
    arrays = [*search.trees, *search.ends, *search.leaves, *play.roots, *vars(play).values(), *vars(search).values()]
    taken = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray) and len(array) == games)
    assert 0.5 * memory_of_self_play(config) < taken < memory_of_self_play(config)


def test_a_run_that_goes_on_says_when_it_is_too_large() -> None:
    assert too_large_for(get_preset("gpu"), 64 * GB) == too_large_for(get_preset("gpu"), None) == ""
    needed = memory_of_self_play(get_preset("gpu"))
    said = too_large_for(get_preset("gpu"), GB)
    assert f"take up to {needed / GB:.1f} GB, and this machine has 1.0 GB of memory" in said
