"""Gumbel AlphaZero: sequential halving at the root, and the improved policy as target and as guide below it.

Danihelka, Guez, Schrittwieser, Silver: Policy improvement by planning with Gumbel (ICLR 2022). With this rule a search
improves on the network's policy from two simulations on.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..kernel import index, inlined_kernel, kernel
from .arrays import NO_NODE, Options, Trees


@lru_cache(maxsize=1024)  # a few kilobytes each
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


class Completed(NamedTuple):
    """What the improved policy of a node is made of."""

    visits: int  # of all its edges
    mixed: float  # what an edge without visits is worth: the node's own value mixed with what the visited ones say
    largest: float  # the best that any edge is worth
    scale: float  # σ(q) = scale · q; (c_visit + most visits) · c_scale for q in [0, 1], half of it for [-1, 1]
    mass: float  # priors of the edges with visits


@inlined_kernel
def _completed(trees: Trees, g: int, node: int, options: Options) -> Completed:
    parent = trees.nodes[g, node]
    first, last = parent.first_edge, parent.first_edge + parent.seen
    prior, edges = trees.prior[g, first:last], trees.edges[g, first:last]
    total, most, mass, weighted, largest = 0, 0, 0.0, 0.0, -1.0
    for i in range(parent.seen):
        n = edges[i].visits
        q = edges[i].utility_sum / n
        total += n
        most = max(most, n)
        mass += prior[i]
        weighted += prior[i] * q
        largest = max(largest, q)
    mixed = (parent.utility + total * weighted / mass) / (1 + total) if mass > 0 else np.float64(parent.utility)
    return Completed(total, mixed, max(largest, mixed), 0.5 * (options.c_visit + most) * options.c_scale, mass)


@kernel
def improved_policy(trees: Trees, g: int, node: int, options: Options, out: Any) -> None:
    """softmax(log prior + σ(completed Q)) over a node's edges, in their order, into `out`.

    σ(q) = (c_visit + most visits) · c_scale · q, with q in [0, 1]. An edge without visits takes the node's own value
    mixed with what the visited ones say; so only visited edges need an exponential of their own.
    """
    parent = trees.nodes[g, node]
    first = parent.first_edge
    q = _completed(trees, g, node, options)
    unvisited = np.exp(q.scale * (q.mixed - q.largest))
    norm = 0.0
    for i in range(parent.edge_count):
        out[i] = trees.prior[g, first + i]
        if i < parent.seen:
            edge = trees.edges[g, first + i]
            out[i] *= np.exp(q.scale * (edge.utility_sum / edge.visits - q.largest))
        else:
            out[i] *= unvisited
        norm += out[i]
    norm = max(norm, 1e-300)
    for i in range(parent.edge_count):
        out[i] /= norm


@kernel
def leaves_at_once(trees: Trees, g: int, schedule: Any, most: int) -> int:
    """How many of the next descents, up to `most`, do not depend on what comes of each other: 1 or more.

    In a round of the race every move in it gets one more visit, and which ones are in it was known at its beginning.
    Each of these descents is in a subtree of its own.
    """
    root = trees.nodes[g, 0]
    wanted = wanted_visits(trees, g, schedule)
    if wanted < 0:
        return 1
    sequence = schedule[trees.race[g], min(schedule.shape[1] - 1, root.edge_count)]
    count = 1
    while count < most and root.visits + count < len(sequence) and sequence[root.visits + count] == wanted:
        count += 1
    return count


@kernel
def gumbel_edge(trees: Trees, g: int, node: int, options: Options, schedule: Any, work: Any) -> int:
    """The edge to go down next.

    At the root, the best by Gumbel score among those with as many visits as the halving schedule asks for: `schedule`
    [races, considered + 1, simulations] int32 says it by race and by how many actions are considered. Below the root,
    and beyond the end of the schedule, the edge whose share of visits lags most behind the improved policy.
    """
    if node == 0:
        wanted = wanted_visits(trees, g, schedule)
        best = _racing_edge(trees, g, options, wanted) if wanted >= 0 else index(NO_NODE)
        if best != NO_NODE:
            return best
    return _lagging_edge(trees, g, node, options, work)


@inlined_kernel
def wanted_visits(trees: Trees, g: int, schedule: Any) -> int:
    """How many visits the next move in the race has; NO_NODE if the race is over. See `gumbel_edge`."""
    root = trees.nodes[g, 0]
    if root.visits >= schedule.shape[2]:
        return index(NO_NODE)
    return index(schedule[trees.race[g], min(schedule.shape[1] - 1, root.edge_count), root.visits])


@kernel
def _racing_edge(trees: Trees, g: int, options: Options, wanted: int) -> int:
    """The root's edge of so many visits with the largest log prior + noise + σ(completed Q); NO_NODE if none has."""
    root = trees.nodes[g, 0]
    if wanted == 0 and root.seen < trees.racers[g]:  # all unvisited moves are worth the same: the order is known
        for e in range(root.seen, root.edge_count):
            if trees.move[g, e] == trees.order[g, root.seen]:
                return index(e)
    q = _completed(trees, g, index(0), options)
    best, best_score = index(NO_NODE), -np.inf
    for e in range(root.seen) if wanted > 0 else range(root.seen, root.edge_count):
        n = trees.edges[g, e].visits
        if n != wanted:
            continue
        worth = q.mixed if n == 0 else trees.edges[g, e].utility_sum / n
        move = trees.move[g, e]
        value = np.log(max(trees.prior[g, e], np.float32(1e-37))) + trees.gumbel[g, move] + q.scale * worth
        if best == NO_NODE or value > best_score or (value == best_score and move < trees.move[g, best]):
            best, best_score = index(e), value
    return best


@kernel
def _lagging_edge(trees: Trees, g: int, node: int, options: Options, work: Any) -> int:
    """The edge with the largest improved policy − visits / (1 + visits of all); of equals, the lowest move."""
    parent = trees.nodes[g, node]
    first, seen = parent.first_edge, parent.seen
    q = _completed(trees, g, node, options)
    unvisited = np.exp(q.scale * (q.mixed - q.largest))
    norm = max(0.0, 1 - q.mass) * unvisited  # of all others together
    for i in range(seen):
        e = first + i
        worth = trees.edges[g, e].utility_sum / trees.edges[g, e].visits
        work[i] = trees.prior[g, e] * np.exp(q.scale * (worth - q.largest))
        norm += work[i]
    norm = max(norm, 1e-300)
    best, best_score = index(first), -np.inf
    for i in range(min(seen + 1, parent.edge_count)):
        e = first + i
        weight, n = (work[i], trees.edges[g, e].visits) if i < seen else (trees.prior[g, e] * unvisited, 0)
        value = weight / norm - n / (1 + q.visits)
        if value > best_score or (value == best_score and trees.move[g, e] < trees.move[g, best]):
            best, best_score = index(e), value
    return best
