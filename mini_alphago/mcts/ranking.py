"""The moves at a root, the best first, and what was found out about each."""

from typing import NamedTuple

import numpy as np

from ..game.coords import from_flat
from .arrays import Options, Trees
from .gumbel import improved_policy


class RootMove(NamedTuple):
    """One move at the root, from the view of the player to move there."""

    move: tuple[int, int]  # (x, y), or (-1, -1) for the pass
    visits: int
    value: float  # mean value in [-1, 1]; 0 without visits
    score: float  # mean points
    utility: float  # what the search maximises
    prior: float
    variation: list[tuple[int, int]]  # this move, and the replies visited most
    variation_visits: list[int]  # of each of them


def ranked_edges(trees: Trees, g: int, edges: slice, options: Options, work: np.ndarray) -> list[int]:
    """The edges of the root of tree `g`, the best first: by visits, then by prior, or by the Gumbel score.

    work: [A] float64, scratch.
    """
    visits = trees.edges["visits"][g, edges]
    second: np.ndarray = trees.prior[g, edges]
    if options.gumbel and len(visits):
        improved_policy(trees, g, 0, options, work)
        noise = trees.gumbel[g, trees.move[g, edges]]
        second = np.log(work[: len(visits)] + 1e-300) + noise
    return (edges.start + np.lexsort((trees.move[g, edges], -second, -visits))).tolist()


def describe_edge(trees: Trees, g: int, edge: int, size: int) -> RootMove:
    """What the search knows of an edge of the root."""
    known = trees.edges[g, edge]
    n = int(known["visits"])
    sums = ("value_sum", "score_sum", "utility_sum")
    value, score, utility = (float(known[name]) / n if n else 0.0 for name in sums)
    edges = _variation(trees, g, edge) if n else []
    line = [from_flat(int(trees.move[g, e]), size) for e in edges]
    visits = [int(trees.edges[g, e]["visits"]) for e in edges]
    own, prior = from_flat(int(trees.move[g, edge]), size), float(trees.prior[g, edge])
    return RootMove(own, n, value, score, utility, prior, line, visits)


def _variation(trees: Trees, g: int, edge: int) -> list[int]:
    """The edge itself, and those that were visited most behind it."""
    line = [edge]
    node = int(trees.edges[g, edge]["child"])
    while node >= 0 and trees.nodes[g, node]["seen"]:
        first = int(trees.nodes[g, node]["first_edge"])
        visits = trees.edges["visits"][g, first : first + int(trees.nodes[g, node]["seen"])]
        line.append(first + int(visits.argmax()))
        node = int(trees.edges[g, line[-1]]["child"])
    return line
