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
    first, last = parent.first_edge, parent.first_edge + looked_at
    move, prior, edges = trees.move[g, first:last], trees.prior[g, first:last], trees.edges[g, first:last]
    total = max(1, parent.visits)
    exploration = options.c_puct
    if options.c_base > 0:
        exploration += np.log((parent.visits + options.c_base + 1) / options.c_base)
    exploration *= np.sqrt(total)
    unvisited = 0.0
    if options.fpu_reduction >= 0:
        mass = 0.0
        for i in range(looked_at):
            if edges[i].visits > 0:
                mass += prior[i]
        unvisited = parent.utility - options.fpu_reduction * np.sqrt(mass)
    best, best_score = 0, -np.inf
    for i in range(looked_at):
        n = edges[i].visits
        if n == 0:
            value = unvisited + exploration * prior[i]
        else:
            value = (edges[i].utility_sum + exploration * prior[i] * n / (1 + n)) / n
        if value > best_score or (value == best_score and move[i] < move[best]):
            best, best_score = i, value
    if node == 0 and options.forced_playouts > 0:
        best = _forced_edge(trees, g, options, best, looked_at)
    return index(first + best)


@kernel
def _forced_edge(trees: Trees, g: int, options: Options, best: int, looked_at: int) -> int:
    """The edge of the root, of the lowest move, that has too few visits for its prior; `best` if none has."""
    forced = index(NO_NODE)
    total = max(1, trees.nodes[g, 0].visits)
    for e in range(looked_at):
        if 0 < trees.edges[g, e].visits < np.sqrt(options.forced_playouts * trees.prior[g, e] * total) and (
            forced == NO_NODE or trees.move[g, e] < trees.move[g, forced]
        ):
            forced = index(e)
    return forced if forced != NO_NODE else best


@kernel
def bring_forward(trees: Trees, g: int, node: int) -> None:
    """Put the edge with the largest prior of those without visits (of equals, the lowest move) in front of them.

    Its record is written: the next descent may look at it.
    """
    parent = trees.nodes[g, node]
    front = parent.first_edge + parent.seen
    last = parent.first_edge + parent.edge_count
    if front == last:
        return
    move, prior = trees.move[g, front:last], trees.prior[g, front:last]  # in slices no index can be negative
    best = 0
    for i in range(1, last - front):
        if prior[i] > prior[best] or (prior[i] == prior[best] and move[i] < move[best]):
            best = i
    if best > 0:
        _swap(trees, g, front, front + best)
    clear_edge(trees, g, front)


@inlined_kernel
def clear_edge(trees: Trees, g: int, edge: int) -> None:
    """Make an edge one without visits."""
    trees.edges[g, edge].visits = 0
    trees.edges[g, edge].child = NO_NODE


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
    trees.edges[g, front].utility_sum = 0  # now, not for every edge of a new node: most are never visited
    trees.edges[g, front].value_sum = 0
    trees.edges[g, front].score_sum = 0
    trees.nodes[g, node].seen += 1
    bring_forward(trees, g, node)
    return front
