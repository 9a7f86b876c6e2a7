"""PUCT, the rule that chooses a move to look at, and the order of edges that makes it cheap.

Of a node's edges those with visits come first, and right behind them stands the one with the largest prior of all
others. Nothing else without visits can be chosen next, so selection looks at those alone: a handful, not every move.
"""

import numpy as np

from ..kernel import index, inlined_kernel, kernel
from .arrays import NO_NODE, Options, Trees


@kernel
def puct_edge(trees: Trees, g: int, node: int, options: Options, looked_at: int) -> int:
    """The edge that PUCT chooses among the first so many; of equals, the one with the lowest move.

    Whatever the numbers are, it is one of the node's edges.
    """
    parent = trees.nodes[g, node]
    move, prior, visits, utility_sum = trees.move[g], trees.prior[g], trees.visits[g], trees.utility_sum[g]
    first, last = parent.first_edge, parent.first_edge + looked_at
    total = max(1, parent.visits)
    exploration = options.c_puct
    if options.c_base > 0:
        exploration += np.log((parent.visits + options.c_base + 1) / options.c_base)
    exploration *= np.sqrt(total)
    unvisited = 0.0
    if options.fpu_reduction >= 0:
        mass = 0.0
        for e in range(first, last):
            if visits[e] > 0:
                mass += prior[e]
        unvisited = parent.utility - options.fpu_reduction * np.sqrt(mass)
    best, best_score = first, -np.inf
    for e in range(first, last):
        n = visits[e]
        if n == 0:
            value = unvisited + exploration * prior[e]
        else:
            value = (utility_sum[e] + exploration * prior[e] * n / (1 + n)) / n
        if value > best_score or (value == best_score and move[e] < move[best]):
            best, best_score = e, value
    if node == 0 and options.forced_playouts > 0:
        best = _forced_edge(trees, g, options, best, looked_at)
    return best


@kernel
def _forced_edge(trees: Trees, g: int, options: Options, best: int, looked_at: int) -> int:
    """The edge of the root, of the lowest move, that has too few visits for its prior; `best` if none has."""
    forced = index(NO_NODE)
    total = max(1, trees.nodes[g, 0].visits)
    for e in range(looked_at):
        if 0 < trees.visits[g, e] < np.sqrt(options.forced_playouts * trees.prior[g, e] * total) and (
            forced == NO_NODE or trees.move[g, e] < trees.move[g, forced]
        ):
            forced = index(e)
    return forced if forced != NO_NODE else best


@kernel
def bring_forward(trees: Trees, g: int, node: int) -> None:
    """Put the edge with the largest prior of those without visits (of equals, the lowest move) in front of them."""
    move, prior = trees.move[g], trees.prior[g]
    parent = trees.nodes[g, node]
    front = parent.first_edge + parent.seen
    best = front
    for e in range(front + 1, parent.first_edge + parent.edge_count):
        if prior[e] > prior[best] or (prior[e] == prior[best] and move[e] < move[best]):
            best = e
    if best != front:
        _swap(trees, g, front, best)


@inlined_kernel
def _swap(trees: Trees, g: int, a: int, b: int) -> None:
    """Change the places of two edges without visits: they have nothing yet but a move and a prior."""
    move, prior = trees.move[g], trees.prior[g]
    move[a], move[b] = move[b], move[a]
    prior[a], prior[b] = prior[b], prior[a]


@inlined_kernel
def first_visit(trees: Trees, g: int, node: int, edge: int) -> int:
    """Make an edge without visits one of those with visits; returns where it stands now."""
    front = index(trees.nodes[g, node].first_edge + trees.nodes[g, node].seen)
    if edge != front:
        _swap(trees, g, edge, front)
    trees.utility_sum[g, front] = 0  # now, not for every edge of a new node: most are never visited
    trees.value_sum[g, front] = 0
    trees.score_sum[g, front] = 0
    trees.nodes[g, node].seen += 1
    bring_forward(trees, g, node)
    return front
