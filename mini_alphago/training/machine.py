"""What the machine can bear: fewer games at the same time where the memory would not hold their trees."""

import math
import os
from dataclasses import replace
from pathlib import Path

from ..mcts.arrays import node_bytes
from .config import TrainingConfig

_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container
_GAME_BYTES = 16_000  # of the rest, on 9×9: a position, its history, what the network sees of it; with room to spare
_FEWEST = 64


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
    wanted = games = config.self_play.games
    fitting = config
    while memory is not None and memory_of_self_play(fitting) > memory / 2 and games // 2 >= _FEWEST:
        games //= 2
        play = replace(config.self_play, games=games, groups=math.gcd(games, config.self_play.groups))
        fitting = replace(config, self_play=play)
    if games == wanted or memory is None:
        return config, ""
    return (
        fitting,
        f"{games:,} games at once in place of {wanted:,}: this machine has {memory / 2**30:.1f} GB of memory.",
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
