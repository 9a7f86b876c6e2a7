"""The search itself, compiled, on a batch of trees held as arrays: select → expand → backup.

Each game has one tree. A node is a position; its edges, one for each legal move, lie side by side. Sums on an edge are
from the view of the player who chooses it, so selection always maximises. Nodes and their edges are stored in the order
in which they were made, parents before children: cutting a tree down to a subtree is one pass that moves things
towards the front, in place.

A visit is counted on the way down, and every edge of the way is lent what it is expected to bring, so that several
leaves can be out for evaluation at once: the visit lowers the exploration bonus and leaves the mean alone. `backup`
takes the loan back and adds the value. (Liu et al., Watch the Unobserved, ICLR 2020: the same by other means.)
"""

from typing import Any

import numpy as np

from ..game.scoring import score
from ..game.state import BLACK, Games, copy_game, play
from ..kernel import index, inlined_kernel, kernel
from .arrays import COLLISION, NEW, NO_NODE, PENDING, TERMINAL, Leaves, Options, Trees
from .gumbel import gumbel_edge
from .puct import bring_forward, clear_edge, first_visit, puct_edge
from .softmax import softmax

_NONE = np.uint64(0)  # an unsigned index: Numba leaves out its test for negative ones

# --- select -----------------------------------------------------------------------------------------------------------


@inlined_kernel
def _is_over(games: Games, g: int, options: Options) -> bool:
    return games.info[g].passes >= 2 or games.info[g].move_count >= options.move_limit


@inlined_kernel
def _expected(trees: Trees, g: int, node: int, edge: int, options: Options) -> float:
    """What to lend an edge for a visit: its mean, without visits what its node is worth, less the virtual loss.

    Nothing if there is one leaf at a time: nobody looks before the answer comes, and sums stay exact.
    """
    if not options.several:
        return 0.0
    if trees.edges[g, edge].visits > 0:
        return trees.edges[g, edge].utility_sum / trees.edges[g, edge].visits - options.virtual_loss
    return (trees.nodes[g, node].utility if options.fpu_reduction >= 0 else 0.0) - options.virtual_loss


@kernel
def descend(
    trees: Trees,
    g: int,
    roots: Games,
    ends: Games,
    place: int,
    leaves: Leaves,
    slot: int,
    options: Options,
    schedule: Any,
    work: Any,
) -> None:
    """Go from the root of tree `g` to a leaf: its position into game `place` of `ends`, the way into `leaves`.

    Terminal leaves and collisions with another descent need no network: they are settled by `settle`.
    """
    copy_game(ends, place, roots, g)
    leaves.size[slot] = ends.info[place].size
    leaves.length[slot] = 0
    node = index(0 if trees.node_count[g] > 0 else NO_NODE)
    while node >= 0 and not trees.nodes[g, node].terminal:
        if options.gumbel:
            edge = gumbel_edge(trees, g, node, options, schedule, work)
        else:
            parent = trees.nodes[g, node]
            edge = puct_edge(trees, g, node, options, index(min(parent.seen + 1, parent.edge_count)))
        trees.nodes[g, node].visits += 1
        if trees.edges[g, edge].visits == 0:
            edge = first_visit(trees, g, node, edge)
        loan = _expected(trees, g, node, edge, options)
        trees.edges[g, edge].visits += 1
        trees.edges[g, edge].utility_sum += loan
        leaves.loan[slot, leaves.length[slot]] = loan
        leaves.path[slot, leaves.length[slot]] = edge
        leaves.length[slot] += 1
        play(ends, place, trees.move[g, edge])
        node = trees.edges[g, edge].child
    if node == PENDING:
        leaves.status[slot] = COLLISION
    elif node >= 0 or _is_over(ends, place, options):
        leaves.status[slot] = TERMINAL
    else:
        leaves.status[slot] = NEW
        if leaves.length[slot] > 0:
            trees.edges[g, leaves.path[slot, leaves.length[slot] - 1]].child = PENDING


# --- expand and backup ------------------------------------------------------------------------------------------------


@kernel
def utility_of(value: float, points: float, size: int, options: Options) -> float:
    """What the search maximises, in [-1, 1]: the value, and with a small weight the score, squashed by board size."""
    if options.score_weight == 0:
        return value
    squashed = 2 / np.pi * np.arctan(points / (2 * size))
    return (value + options.score_weight * squashed) / (1 + options.score_weight)


@kernel
def _new_node(trees: Trees, g: int, slot: int, leaves: Leaves, edge_count: int) -> int:
    """Room for a node at the end of the descent in `slot`, linked to its edge; NO_NODE if the tree is full."""
    node, first = trees.node_count[g], trees.edge_count[g]
    if node == trees.nodes.shape[1] or first + edge_count > trees.move.shape[1]:
        return NO_NODE
    trees.node_count[g] += 1
    trees.edge_count[g] += edge_count
    trees.nodes[g, node].first_edge = first
    trees.nodes[g, node].edge_count = edge_count
    trees.nodes[g, node].seen = 0
    trees.nodes[g, node].terminal = 0
    trees.nodes[g, node].visits = 1 if leaves.length[slot] > 0 else 0
    return node


@kernel
def expand(
    trees: Trees, g: int, leaves: Leaves, slot: int, logits: Any, width: int, for_pass: float, options: Options
) -> int:
    """Make a node of the leaf in `slot`: an edge for each legal move, priors the softmax of scaled `logits` over those.

    `logits` [width² + 1] is laid out for a tensor that may be wider than the board. for_pass: share of the prior that
    the pass gets beside. Returns the node, or NO_NODE.
    """
    area = leaves.size[slot] * leaves.size[slot]
    count = 0
    for move in range(area + 1):
        count += leaves.reasons[slot, move] == 0
    node = _new_node(trees, g, slot, leaves, count)
    if node == NO_NODE:
        return NO_NODE
    first = trees.nodes[g, node].first_edge
    last = first + count
    _list_moves(trees, g, first, leaves, slot, logits, width)
    prior = trees.prior[g, first:last]
    if options.prior_scale != 1:
        for i in range(count):
            prior[i] *= options.prior_scale
    softmax(prior)
    if for_pass > 0:
        for i in range(count):
            prior[i] *= 1 - for_pass
        prior[count - 1] += for_pass
    bring_forward(trees, g, node)
    if node == 0:
        trees.racers[g] = 0
        for e in range(first, last):
            clear_edge(trees, g, e)
    return node


@inlined_kernel
def _list_moves(trees: Trees, g: int, first: int, leaves: Leaves, slot: int, logits: Any, width: int) -> None:
    """Write the legal moves and their logits, from edge `first` on."""
    size = leaves.size[slot]
    reasons, moves, values = leaves.reasons[slot], trees.move[g, first:], trees.prior[g, first:]
    count = _NONE
    for x in range(size):
        row = logits[x * width : x * width + size]
        for y in range(size):  # without branches, whose way nobody can foretell: what is not legal is written over
            moves[count] = x * size + y
            values[count] = row[y]
            count += np.uint64(reasons[x * size + y] == 0)
    moves[count] = size * size  # passing is always legal
    values[count] = logits[width * width]


@kernel
def backup(trees: Trees, g: int, leaves: Leaves, slot: int, value: float, points: float, options: Options) -> None:
    """Add what the leaf is worth for its player to move to each edge of the path, from the view of its chooser."""
    utility = utility_of(value, points, leaves.size[slot], options)
    sign = -1.0
    for i in range(leaves.length[slot] - 1, -1, -1):
        edge = leaves.path[slot, i]
        trees.edges[g, edge].utility_sum += sign * utility - leaves.loan[slot, i]
        trees.edges[g, edge].value_sum += sign * value
        trees.edges[g, edge].score_sum += sign * points
        sign = -sign


@kernel
def _take_back(trees: Trees, g: int, leaves: Leaves, slot: int) -> None:
    """Undo a descent that met another one's leaf."""
    node = 0
    for i in range(leaves.length[slot]):
        edge = leaves.path[slot, i]
        trees.nodes[g, node].visits -= 1
        trees.edges[g, edge].visits -= 1
        trees.edges[g, edge].utility_sum -= leaves.loan[slot, i]
        node = trees.edges[g, edge].child


@kernel
def counted(ends: Games, place: int, leaves: Leaves, slot: int) -> float:
    """The points of the player to move in game `place` if the game is over."""
    points = score(ends, place, ends.color[place], leaves.owner[slot], leaves.stack[slot])
    return points if ends.info[place].to_move == BLACK else -points


@kernel
def settle(trees: Trees, g: int, ends: Games, place: int, leaves: Leaves, slot: int, options: Options) -> None:
    """Finish a descent that needs no network: score the end of the game exactly, or take a collision back."""
    if leaves.status[slot] == COLLISION:
        _take_back(trees, g, leaves, slot)
        return
    points = counted(ends, place, leaves, slot)
    value = np.sign(points)
    last = leaves.path[slot, leaves.length[slot] - 1] if leaves.length[slot] > 0 else NO_NODE
    if last == NO_NODE or trees.edges[g, last].child == NO_NODE:
        node = _new_node(trees, g, slot, leaves, 0)
        if node != NO_NODE:
            _write_evaluation(trees, g, node, value, points, leaves.size[slot], options)
            trees.nodes[g, node].terminal = 1
            if last != NO_NODE:
                trees.edges[g, last].child = node
    else:
        trees.nodes[g, trees.edges[g, last].child].visits += 1
    backup(trees, g, leaves, slot, value, points, options)


@kernel
def _write_evaluation(
    trees: Trees, g: int, node: int, value: float, points: float, size: int, options: Options
) -> None:
    trees.nodes[g, node].value = value
    trees.nodes[g, node].score = points
    trees.nodes[g, node].utility = utility_of(value, points, size, options)


@kernel
def receive(
    trees: Trees,
    g: int,
    leaves: Leaves,
    slot: int,
    logits: Any,
    value: float,
    points: float,
    width: int,
    options: Options,
) -> None:
    """Take the network's answer for the leaf in `slot`: expand it and back its value up.

    Who may end the game by passing has at least what that brings him, whatever the network thinks: if that is more than
    the network thought, half of the prior goes to the pass, and it will be looked at.
    """
    by_passing, for_pass = leaves.by_passing[slot], 0.0
    if not np.isnan(by_passing):
        size, ended = leaves.size[slot], np.sign(by_passing)
        if utility_of(ended, by_passing, size, options) > utility_of(value, points, size, options):
            value, points, for_pass = ended, by_passing, 0.5
    node = expand(trees, g, leaves, slot, logits, width, for_pass, options)
    if node != NO_NODE:
        _write_evaluation(trees, g, node, value, points, leaves.size[slot], options)
    if leaves.length[slot] > 0:
        trees.edges[g, leaves.path[slot, leaves.length[slot] - 1]].child = node
    backup(trees, g, leaves, slot, value, points, options)


# --- cutting ----------------------------------------------------------------------------------------------------------


@kernel
def cut(trees: Trees, g: int, root: int, least_visits: int) -> None:
    """Keep the subtree of `root` only, and in it only nodes with at least so many visits; `root` becomes node 0.

    Edges keep their sums when the node behind them goes; a later visit makes it anew. No evaluation may be out.
    """
    nodes, records, new_index = trees.nodes[g], trees.edges[g], trees.new_index[g]
    old_count = trees.node_count[g]
    for node in range(old_count):
        new_index[node] = NO_NODE
    new_index[root] = 0
    kept, edges = 0, 0
    for node in range(root, old_count):
        if new_index[node] == NO_NODE:
            continue
        first, count, seen = nodes[node].first_edge, nodes[node].edge_count, nodes[node].seen
        for i in range(count):
            trees.move[g, edges + i] = trees.move[g, first + i]
            trees.prior[g, edges + i] = trees.prior[g, first + i]
        for i in range(seen):
            new = edges + i
            records[new] = records[first + i]
            behind = records[new].child
            if behind >= 0 and nodes[behind].visits >= least_visits:
                new_index[behind] = 0  # its number is not known yet, only that it has one
            else:
                records[new].child = NO_NODE
        for e in range(edges + seen, edges + (count if kept == 0 else min(seen + 1, count))):
            clear_edge(trees, g, e)
        new_index[node] = kept
        nodes[kept] = nodes[node]
        nodes[kept].first_edge = edges
        kept += 1
        edges += count
    for node in range(kept):
        for e in range(nodes[node].first_edge, nodes[node].first_edge + nodes[node].seen):
            if records[e].child >= 0:
                records[e].child = new_index[records[e].child]
    trees.node_count[g] = kept
    trees.edge_count[g] = edges
    if root > 0 and nodes[0].visits > 0 and not nodes[0].terminal:
        nodes[0].visits -= 1  # its own evaluation: the root counts descents only


@kernel
def make_room(trees: Trees, g: int, wanted: int) -> None:
    """If so many more nodes might not fit, let the subtrees with the fewest visits go, down to three quarters."""
    room, edges = trees.nodes.shape[1], trees.move.shape[1]
    points = trees.gumbel.shape[1]
    if trees.node_count[g] + wanted <= room and trees.edge_count[g] + wanted * points <= edges:
        return
    least = index(2)
    while trees.node_count[g] > 1 and 4 * trees.node_count[g] > 3 * room:
        cut(trees, g, index(0), least)
        least *= 2
