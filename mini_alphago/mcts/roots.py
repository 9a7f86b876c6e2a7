"""What a search found out at its roots, and going on from there: compiled, for all games at once."""

from typing import Any, NamedTuple

import numpy as np

from ..game.state import Games, play
from ..kernel import index, inlined_kernel, kernel, parallel_kernel, prange
from .arrays import NO_NODE, Options, Trees
from .gumbel import improved_policy
from .tree import cut


class Roots(NamedTuple):
    """What a search says of the position of each game, for the player to move; by flat index of each game's board."""

    best: np.ndarray  # [games] int32: the move to play; -1 if there is none
    visits: np.ndarray  # [games, A] int32
    policy: np.ndarray  # [games, A] float32: what to learn; Gumbel's improved policy, or the shares of (pruned) visits
    value: np.ndarray  # [games] float32: see `summarize_game`
    score: np.ndarray  # [games] float32: points, likewise
    surprise: np.ndarray  # [games] float32: divergence of that policy from the prior (noise included), in nats


def new_roots(games: int, points: int) -> Roots:
    """Room for that many games on boards of `points` = size² + 1."""
    return Roots(
        best=np.full(games, -1, np.int32),
        visits=np.zeros((games, points), np.int32),
        policy=np.zeros((games, points), np.float32),
        value=np.zeros(games, np.float32),
        score=np.zeros(games, np.float32),
        surprise=np.zeros(games, np.float32),
    )


@inlined_kernel
def _comes_first(trees: Trees, g: int, value: float, other_value: float, edge: int, other: int) -> bool:
    return value > other_value or (value == other_value and trees.move[g, edge] < trees.move[g, other])


@kernel
def pruned_visits(trees: Trees, g: int, options: Options, out: Any) -> None:
    """Visits of the root's edges, in their order, less the forced ones that PUCT would not have made on its own.

    The most visited edge keeps its visits; another gives up forced visits as long as its PUCT value stays below that
    edge's; a single visit left is none. Without `forced_playouts` nothing is pruned.
    """
    root = trees.nodes[g, 0]
    first, count = root.first_edge, root.edge_count
    prior, edges = trees.prior[g], trees.edges[g]
    total, best = 0, first
    for e in range(first, first + count):
        total += edges[e].visits
        if edges[e].visits > edges[best].visits or (
            edges[e].visits == edges[best].visits and _comes_first(trees, g, prior[e], prior[best], e, best)
        ):  # as `summarize_game`
            best = e
        out[e - first] = edges[e].visits
    if options.forced_playouts <= 0 or total == 0:
        return
    exploration = options.c_puct
    if options.c_base > 0:
        exploration += np.log((total + options.c_base + 1) / options.c_base)
    exploration *= np.sqrt(total)
    most = edges[best].visits
    bar = edges[best].utility_sum / most + exploration * prior[best] / (1 + most)
    for e in range(first, first + count):
        n = edges[e].visits
        if e == best or n == 0:
            continue
        gap = bar - edges[e].utility_sum / n
        needed = exploration * prior[e] / gap - 1 if gap > 0 else np.float64(n)
        kept = max(min(np.float64(n), max(needed, 0.0)), n - np.sqrt(options.forced_playouts * prior[e] * total))
        out[e - first] = kept if kept > 1 else 0.0


@kernel
def summarize_game(trees: Trees, g: int, options: Options, roots: Roots, work: Any) -> None:
    """Fill row `g` of `roots`.

    Value and score are the mean over all visits and the root's own evaluation. Gumbel gives many visits to moves that
    lose the race, so there each move counts by its share in the improved policy instead.
    """
    roots.best[g] = -1
    roots.visits[g] = 0
    roots.policy[g] = 0
    roots.surprise[g] = 0
    if trees.node_count[g] == 0:
        return
    root = trees.nodes[g, 0]
    first, count = root.first_edge, root.edge_count
    if options.gumbel:
        improved_policy(trees, g, index(0), options, work)
    else:
        pruned_visits(trees, g, options, work)
    norm, mass, value, points, total = 0.0, 0.0, 0.0, 0.0, 0
    best, best_visits, best_second = -1, -1, -np.inf
    for i in range(count):
        e = first + i
        n = trees.edges[g, e].visits
        norm += work[i]
        if n > 0:
            total += n
            weight = work[i] / n if options.gumbel else 1.0  # of one visit
            mass += weight * n
            value += weight * trees.edges[g, e].value_sum
            points += weight * trees.edges[g, e].score_sum
        second = np.float64(trees.prior[g, e])
        if options.gumbel:
            second = np.log(max(work[i], 1e-300)) + trees.gumbel[g, trees.move[g, e]]
        if n > best_visits or (n == best_visits and _comes_first(trees, g, second, best_second, e, best)):
            best, best_visits, best_second = e, n, second
    seen = total / (1.0 + total) if mass > 0 else 0.0
    mass = max(mass, 1e-300)
    roots.value[g] = (1 - seen) * root.value + seen * value / mass
    roots.score[g] = (1 - seen) * root.score + seen * points / mass
    surprise = 0.0
    for i in range(count):
        move = trees.move[g, first + i]
        roots.visits[g, move] = trees.edges[g, first + i].visits
        share = work[i] / norm if norm > 0 else 0.0
        roots.policy[g, move] = share
        if share > 0:
            surprise += share * np.log(share / max(trees.prior[g, first + i], np.float32(1e-37)))
    roots.surprise[g] = max(surprise, 0.0)
    if best >= 0:
        roots.best[g] = trees.move[g, best]


@parallel_kernel
def summarize_all(trees: Trees, options: Options, roots: Roots, work: Any) -> None:
    """`summarize_game` for every game."""
    for g in prange(len(work)):
        summarize_game(trees, index(g), options, roots, work[g])


@kernel
def advance_game(trees: Trees, games: Games, g: int, move: int, keep_tree: bool) -> None:
    """Make a legal move in game `g`; its tree becomes the subtree behind that move if there is one, else empty."""
    child = index(NO_NODE)
    if keep_tree and trees.node_count[g] > 0:
        root = trees.nodes[g, 0]
        for e in range(root.first_edge, root.first_edge + root.edge_count):
            if trees.move[g, e] == move:
                child = index(trees.edges[g, e].child)
    play(games, g, move)
    if child >= 0:
        cut(trees, g, child, index(0))
    else:
        trees.node_count[g] = 0
        trees.edge_count[g] = 0


@parallel_kernel
def advance_all(trees: Trees, games: Games, moves: Any, keep_tree: bool) -> None:
    """`advance_game` for every game; a negative move leaves its game alone."""
    for g in prange(len(moves)):
        if moves[g] >= 0:
            advance_game(trees, games, index(g), index(moves[g]), keep_tree)
