"""The top of a search tree, for people who want to see what the search did."""

from dataclasses import dataclass, field

import numpy as np

from ..game.coords import from_flat
from .arrays import Trees
from .search import Search


@dataclass
class Branch:
    """A move in the tree, from the view of the player who chooses it."""

    move: tuple[int, int]  # (x, y), or (-1, -1) for the pass
    player: int
    prior: float
    visits: int
    value: float  # mean, -1 to 1; 0 without visits
    children: list["Branch"] = field(default_factory=list)


def branches(search: Search, g: int = 0, depth: int = 3, width: int = 5) -> list[Branch]:
    """The moves of game `g` that were visited most, down to `depth` plies and `width` at each node.

    Moves without a visit are not shown, but for the root, which shows its likeliest ones in their place.
    """
    if search.trees.node_count[g] == 0:
        return []
    info = search.roots.info[g]
    return _of_node(search.trees, g, 0, int(info["to_move"]), int(info["size"]), depth, width)


def _of_node(trees: Trees, g: int, node: int, player: int, size: int, depth: int, width: int) -> list[Branch]:
    record = trees.nodes[g, node]
    first, count = int(record["first_edge"]), int(record["edge_count"])
    edges = np.arange(first, first + count)
    if node:
        edges = edges[: record["seen"]]
    order = np.lexsort((-trees.prior[g, edges], -trees.edges["visits"][g, edges]))[:width]
    shown = []
    for edge in edges[order].tolist():
        known = trees.edges[g, edge]
        visits = int(known["visits"])
        value = float(known["value_sum"]) / visits if visits else 0.0
        move = from_flat(int(trees.move[g, edge]), size)
        branch = Branch(move, player, float(trees.prior[g, edge]), visits, value)
        behind = int(known["child"])
        if depth > 1 and behind >= 0 and visits:
            branch.children = _of_node(trees, g, behind, 3 - player, size, depth - 1, width)
        shown.append(branch)
    return shown
