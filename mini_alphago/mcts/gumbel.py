"""Gumbel AlphaZero: sequential halving at the root, and the improved policy as target and as guide below it.

Danihelka, Guez, Schrittwieser, Silver: Policy improvement by planning with Gumbel (ICLR 2022). With this rule a search
improves on the network's policy from two simulations on.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from ..kernel import kernel
from .arrays import Options, Trees


@lru_cache(maxsize=64)
def halving_schedule(considered: int, simulations: int) -> np.ndarray:
    """[considered + 1, simulations] int32: by how many actions are considered, the visits that the next one has.

    Rounds of equal length: each visits all actions still in the race equally often, then the better half goes on. When
    only two are left they take turns to the end.
    """
    table = np.zeros((considered + 1, simulations), np.int32)
    for actions in range(1, considered + 1):
        table[actions] = _visit_sequence(actions, simulations)
    return table


def stacked_schedules(considered: int, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Schedules for games with different simulations, [races, considered + 1, most], and the race of each game."""
    lengths, race = np.unique(np.maximum(targets, 1), return_inverse=True)
    table = np.full((len(lengths), considered + 1, lengths[-1]), -1, np.int32)  # -1: no edge has so many visits
    for row, length in enumerate(lengths.tolist()):
        table[row, :, :length] = halving_schedule(considered, length)
    return table, race.astype(np.int32)


def _visit_sequence(actions: int, simulations: int) -> np.ndarray:
    if actions == 1:
        return np.arange(simulations, dtype=np.int32)
    rounds = int(np.ceil(np.log2(actions)))
    visits = [0] * actions  # of the actions in the race, best first
    sequence: list[int] = []
    racing = actions
    while len(sequence) < simulations:
        for _ in range(max(1, simulations // (rounds * racing))):
            for i in range(racing):
                sequence.append(visits[i])
                visits[i] += 1
        racing = max(2, racing // 2)
    return np.array(sequence[:simulations], np.int32)


@kernel
def improved_policy(trees: Trees, g: int, node: int, options: Options, out: Any) -> int:
    """softmax(log prior + σ(completed Q)) over a node's edges, in their order, into `out`; returns their visits in all.

    σ(q) = (c_visit + most visits) · c_scale · q, with q in [0, 1]. An edge without visits takes the node's own value
    mixed with what the visited ones say; so only visited edges need an exponential of their own.
    """
    parent = trees.nodes[g, node]
    prior, visits, utility_sum = trees.prior[g], trees.visits[g], trees.utility_sum[g]
    first, count = parent.first_edge, parent.edge_count
    total, most, mass, weighted, largest = 0, 0, 0.0, 0.0, -1.0
    for e in range(first, first + count):
        n = visits[e]
        if n > 0:
            q = utility_sum[e] / n
            total += n
            most = max(most, n)
            mass += prior[e]
            weighted += prior[e] * q
            largest = max(largest, q)
    mixed = (parent.utility + total * weighted / mass) / (1 + total) if mass > 0 else np.float64(parent.utility)
    largest = max(largest, mixed)
    scale = 0.5 * (options.c_visit + most) * options.c_scale
    unvisited = np.exp(scale * (mixed - largest))
    norm = 0.0
    for i in range(count):
        n = visits[first + i]
        weight = unvisited if n == 0 else np.exp(scale * (utility_sum[first + i] / n - largest))
        out[i] = prior[first + i] * weight
        norm += out[i]
    norm = max(norm, 1e-300)
    for i in range(count):
        out[i] /= norm
    return total


@kernel
def gumbel_edge(trees: Trees, g: int, node: int, options: Options, schedule: Any, work: Any) -> int:
    """The edge to go down next.

    At the root, the best by Gumbel score among those with as many visits as the halving schedule asks for: `schedule`
    [races, considered + 1, simulations] int32 says it by race and by how many actions are considered. Below the root,
    and beyond the end of the schedule, the edge whose share of visits lags most behind the improved policy.
    """
    parent = trees.nodes[g, node]
    first = parent.first_edge
    total = improved_policy(trees, g, node, options, work)
    best, best_score = first, -np.inf
    if node == 0 and parent.visits < schedule.shape[2]:
        wanted = schedule[trees.race[g], min(schedule.shape[1] - 1, parent.edge_count), parent.visits]
        for i in range(parent.edge_count):
            if trees.visits[g, first + i] == wanted:
                value = np.log(max(work[i], 1e-300)) + trees.gumbel[g, i]
                if value > best_score:
                    best, best_score = first + i, value
        if best_score > -np.inf:
            return best
    for i in range(parent.edge_count):
        value = work[i] - trees.visits[g, first + i] / (1 + total)
        if value > best_score:
            best, best_score = first + i, value
    return best
