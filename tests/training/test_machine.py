"""Runs that fit the memory of the machine."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mini_alphago.cli import main
from mini_alphago.model import ENCODINGS
from mini_alphago.training import PRESETS, SelfPlay, Stopped, command, get_preset
from mini_alphago.training.machine import (
    fit_to_machine,
    fit_to_speed,
    memory_of_self_play,
    memory_of_this_machine,
    speed_of_network,
    too_large_for,
)

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


@pytest.mark.parametrize(("name", "speed"), [("gpu", 700_000.0), ("laptop", 5_000.0), ("tiny", 2_000.0)])
def test_presets_stay_as_they_are_where_the_network_is_fast_enough(name: str, speed: float) -> None:
    assert fit_to_speed(get_preset(name), speed) == (get_preset(name), "")


def test_fewer_games_where_the_network_is_slow() -> None:
    preset = get_preset("gpu")
    config, said = fit_to_speed(preset, 100_000.0)
    assert (config.self_play.games, config.self_play.groups, config.games_per_iteration) == (3072, 3, 1024)
    assert said == (
        "3,072 games at once and 1,024 an iteration, in place of 12,288 and 4,096: "
        "the network answers 100,000 times a second here."
    )
    same = replace(config, self_play=preset.self_play, games_per_iteration=preset.games_per_iteration)
    assert same == preset, "nothing else changes"
    assert fit_to_speed(preset, 1.0)[0].self_play.games == 96, "and never none"


def test_the_speed_of_a_network_is_measured() -> None:
    assert 10 < speed_of_network(get_preset("tiny")) < 1e7


@pytest.mark.parametrize("changed", [False, True])
def test_a_slow_device_gets_fewer_games_unless_somebody_has_said_how_many(
    changed: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As on a GPU, which is not there."""
    begun = []
    monkeypatch.setattr(command, "pick_device", lambda name: torch.device("cuda"))
    monkeypatch.setattr(command, "speed_of_network", lambda config: 100_000.0)
    monkeypatch.setattr(command, "_ctrl_c", lambda: nullcontext())
    monkeypatch.setattr(command, "train", lambda config, *rest: begun.append(config) or _stop())
    arguments = ["train", "--preset", "gpu", "--run", str(tmp_path / "run")]
    main([*arguments, "--self-play.games", "6144"] if changed else arguments)
    assert [config.self_play.games for config in begun] == [6144 if changed else 3072]


def _stop() -> None:
    raise Stopped


def test_it_ends_where_nothing_would_fit() -> None:
    config, said = fit_to_machine(get_preset("gpu"), 1000)
    assert config.self_play.games == 96
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
