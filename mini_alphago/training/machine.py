"""What the machine can bear: fewer games at the same time where it is short of memory, or of speed."""

import math
import os
import statistics
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..mcts.arrays import node_bytes
from ..model import Evaluator, build_network
from ..model.evaluator import trial_planes
from .config import TrainingConfig

_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container
_GAME_BYTES = 16_000  # of the rest, on 9×9: a position, its history, what the network sees of it; with room to spare
_FEWEST = 64
_PATIENCE = (
    120.0  # seconds in which all games at once should have been played, so that there is something to learn from
)


def memory_of_this_machine() -> int | None:
    """Bytes that this process may use at most; None if nobody says."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        return min(physical, int(_LIMIT.read_text()))
    except (OSError, ValueError):
        return physical


def memory_of_self_play(config: TrainingConfig) -> int:
    """Bytes that the games of a run and their trees take at most."""
    play, points = config.self_play, config.board_size**2 + 1
    nodes = play.nodes_for(max(play.simulations, play.late_simulations))
    policies = 2 * points * play.limit_for(config.board_size)  # of a game, until it is finished
    return play.games * (nodes * node_bytes(points) + policies + _GAME_BYTES * points // 82)


def fit_to_machine(config: TrainingConfig, memory: int | None) -> tuple[TrainingConfig, str]:
    """The settings with as many games at once as half of the memory can hold, and a sentence if these are fewer."""
    wanted, fitting = config.self_play.games, config
    while memory is not None and memory_of_self_play(fitting) > memory / 2 and _can_halve(fitting):
        fitting = _half_the_games(fitting)
    games = fitting.self_play.games
    if games == wanted or memory is None:
        return config, ""
    return (
        fitting,
        f"{games:,} games at once in place of {wanted:,}: this machine has {memory / 2**30:.1f} GB of memory.",
    )


def _can_halve(config: TrainingConfig) -> bool:
    return config.self_play.games // 2 >= _FEWEST


def _half_the_games(config: TrainingConfig) -> TrainingConfig:
    games = config.self_play.games // 2
    play = replace(config.self_play, games=games, groups=math.gcd(games, config.self_play.groups))
    return replace(config, self_play=play)


def speed_of_network(config: TrainingConfig) -> float:
    """Evaluations a second of a new network of this run, in batches as in its self-play; it takes some seconds."""
    evaluator = Evaluator(build_network(config.network.config(config.board_size)), config.device)
    size, play = config.board_size, config.self_play
    batch = max(1, play.games * play.leaves // play.groups)
    planes = np.resize(trial_planes(evaluator.encoding, size), (batch, evaluator.encoding.planes, size, size))
    seconds = []
    for _ in range(4):  # the first one gets everything ready
        start = time.perf_counter()
        evaluator.run(planes, np.full(batch, size))
        seconds.append(time.perf_counter() - start)
    return batch / statistics.median(seconds[1:])


def fit_to_speed(config: TrainingConfig, evals_per_second: float) -> tuple[TrainingConfig, str]:
    """The settings with fewer games, at once and in an iteration, where all at once would take long to be played.

    And a sentence if these are fewer. The presets are made for fast machines: on a slower one the network would wait
    for its first games for minutes, and those to come would be of a network of long ago.
    """
    fitting, wanted = config, config.self_play.games
    evals = config.board_size**2 * (config.self_play.simulations + 1)  # of a game
    while fitting.self_play.games * evals > _PATIENCE * evals_per_second and _can_halve(fitting):
        fitting = _half_the_games(fitting)
    games = fitting.self_play.games
    if games == wanted:
        return config, ""
    before = config.games_per_iteration
    each = max(1, before * games // wanted)
    return (
        replace(fitting, games_per_iteration=each),
        f"{games:,} games at once and {each:,} an iteration, in place of {wanted:,} and {before:,}: "
        f"the network answers {evals_per_second:,.0f} times a second here.",
    )


def too_large_for(config: TrainingConfig, memory: int | None) -> str:
    """A sentence if the memory cannot hold the games of a run that goes on with as many as it has; else nothing."""
    needed = memory_of_self_play(config)
    if memory is None or needed <= memory:
        return ""
    return (
        f"The games of this run take up to {needed / 2**30:.1f} GB, and this machine has {memory / 2**30:.1f} GB of "
        "memory: if it is not enough, pack the run (mini-alphago pack); unpacked, it goes on with fewer games at once."
    )
