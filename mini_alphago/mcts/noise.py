"""What explores at the roots of many games, compiled: Gumbel noise, and Dirichlet noise mixed into priors.

Every number is drawn from a stream of its own, named by a game's seed and a move: so it depends neither on threads nor
on the order of edges.
"""

from typing import Any

import numpy as np

from ..kernel import index, inlined_kernel, kernel, parallel_kernel, prange
from .arrays import Trees
from .puct import bring_forward

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the constants of SplitMix64
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@inlined_kernel
def _mixed(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


@inlined_kernel
def stream(seed: np.uint64, move: int) -> np.uint64:
    """Where the stream of a move begins."""
    return _mixed(seed + _GOLDEN * np.uint64(move + 1))


@inlined_kernel
def uniform(stream: np.uint64, draw: int) -> float:
    """The number at a place of a stream, between 0 and 1, neither of them included."""
    return (np.float64(_mixed(stream + _GOLDEN * np.uint64(draw + 1)) >> _S11) + 0.5) * 2.0**-53


@kernel
def _gamma(stream: np.uint64, alpha: float) -> float:
    """A gamma variate of that shape, by Marsaglia and Tsang; below 1 from the next larger shape."""
    d = (alpha if alpha >= 1 else alpha + 1) - 1 / 3
    c = 1 / np.sqrt(9 * d)
    draw = 1
    while True:
        radius = np.sqrt(-2 * np.log(uniform(stream, draw)))
        normal = radius * np.cos(2 * np.pi * uniform(stream, draw + 1))
        v = (1 + c * normal) ** 3
        u = uniform(stream, draw + 2)
        draw += 3
        if v > 0 and np.log(u) < normal * normal / 2 + d - d * v + d * np.log(v):
            break
    boost = 1.0 if alpha >= 1 else uniform(stream, 0) ** (1 / alpha)
    return d * v * boost


@kernel
def _draw_gumbel(seed: np.uint64, noisy: bool, out: Any) -> None:
    for move in range(len(out)):
        out[move] = -np.log(-np.log(uniform(stream(seed, move), 0))) if noisy else 0.0


@kernel
def _line_up(trees: Trees, g: int, considered: int, work: Any) -> None:
    """Put the root's moves of the largest log prior + noise in order, at most so many; of equals, the lowest first."""
    trees.racers[g] = 0
    if trees.node_count[g] == 0 or trees.nodes[g, 0].seen > 0:
        return
    root, order = trees.nodes[g, 0], trees.order[g]
    count = 0
    for e in range(root.first_edge, root.first_edge + root.edge_count):
        move = trees.move[g, e]
        value = np.log(max(trees.prior[g, e], np.float32(1e-37))) + trees.gumbel[g, move]
        place = count
        while place > 0 and (value > work[place - 1] or (value == work[place - 1] and move < order[place - 1])):
            if place < considered:
                work[place], order[place] = work[place - 1], order[place - 1]
            place -= 1
        if place < considered:
            work[place], order[place] = value, move
            count = min(count + 1, considered)
    trees.racers[g] = count


@parallel_kernel
def start_races(trees: Trees, seeds: Any, noisy: Any, considered: int, work: Any) -> None:
    """Give the moves of every noisy game Gumbel noise, those of others none, and line them up for the race.

    seeds: [games] uint64; noisy: [games] bool; work: [games, A] float64, scratch.
    """
    for g in prange(len(seeds)):
        _draw_gumbel(seeds[g], noisy[g], trees.gumbel[g])
        _line_up(trees, index(g), considered, work[g])


@kernel
def _mix_dirichlet(trees: Trees, g: int, seed: np.uint64, alpha: float, share: float, work: Any) -> None:
    first = trees.nodes[g, 0].first_edge
    count = trees.nodes[g, 0].edge_count
    total = 0.0
    for i in range(count):
        work[i] = _gamma(stream(seed, trees.move[g, first + i]), alpha)
        total += work[i]
    if total == 0:  # of tiny shapes all may be too small for a number
        return
    for i in range(count):
        trees.prior[g, first + i] = (1 - share) * trees.prior[g, first + i] + share * work[i] / total
    bring_forward(trees, g, index(0))


@parallel_kernel
def mix_dirichlet(trees: Trees, seeds: Any, wanted: Any, alpha: float, by_moves: bool, share: float, work: Any) -> None:
    """Give the priors of every wanted root their share of Dirichlet noise.

    seeds: [games] uint64; wanted: [games] bool; alpha: the noise's parameter, or if `by_moves` that times the number
    of legal moves; work: [games, A] float64.
    """
    for g in prange(len(seeds)):
        if wanted[g]:
            game = index(g)
            own = alpha / max(1, trees.nodes[g, 0].edge_count) if by_moves else alpha
            _mix_dirichlet(trees, game, seeds[g], own, share, work[g])
