"""What holds of every tree, whatever was searched; and random boards to search."""

import numpy as np

from mini_alphago.game import Board, Rules, state
from mini_alphago.game.scoring import score
from mini_alphago.mcts.arrays import NO_NODE


def check_tree(search, g=0, never_cut=False, replayed=4, seed=0):
    """Assert all that must hold of the tree of game `g` between two searches.

    never_cut: the tree never ran out of nodes, so each node has all visits of the edge that leads to it. `replayed`:
    how many nodes are compared with the rules of the game, by playing the moves that lead there.
    """
    nodes, edges = _nodes_and_edges(search, g)
    if len(nodes) == 0:
        assert search.trees.edge_count[g] == 0
        return
    _check_layout(search, nodes, edges)
    _check_order(nodes, edges)
    _check_links(nodes, edges)
    _check_sums(nodes, edges, never_cut)
    rng = np.random.default_rng(seed)
    chosen = {0, len(nodes) - 1, *rng.integers(0, len(nodes), replayed).tolist()}
    ended = np.flatnonzero(nodes["terminal"])
    if len(ended):
        chosen.add(int(rng.choice(ended)))
    for node in sorted(chosen):
        _check_position(search, g, nodes, edges, node)


def edge_records(trees, g=0):
    """The records of all edges of tree `g`, [edges] EDGE; those the search has not written yet as not visited."""
    records = trees.edges[g, : trees.edge_count[g]].copy()
    for node, (first, count, seen) in enumerate(
        trees.nodes[g, : trees.node_count[g]][["first_edge", "edge_count", "seen"]].tolist()
    ):
        written = count if node == 0 else min(seen + 1, count)
        assert not records["visits"][first + seen : first + written].any()
        assert (records["child"][first + seen : first + written] == NO_NODE).all()
        records[first + seen : first + count] = (0, 0, 0, 0, NO_NODE)
    return records


def _nodes_and_edges(search, g):
    trees = search.trees
    nodes, records = trees.nodes[g, : trees.node_count[g]], edge_records(trees, g)
    edges = {name: getattr(trees, name)[g, : trees.edge_count[g]] for name in ("move", "prior")}
    return nodes, {**edges, **{name: records[name] for name in records.dtype.names}}


def _check_layout(search, nodes, edges):
    assert len(nodes) <= search.settings.nodes
    counts = nodes["edge_count"].astype(np.int64)
    # One node's edges after the other's, in the order of the nodes: no overlap, and no hole.
    np.testing.assert_array_equal(nodes["first_edge"], np.cumsum(counts) - counts)
    assert counts.sum() == len(edges["move"])
    assert ((counts == 0) == (nodes["terminal"] == 1)).all()  # one may always pass, unless the game is over
    sums = np.bincount(_parents(nodes), edges["prior"], len(nodes))
    np.testing.assert_allclose(sums[counts > 0], 1, atol=1e-4)
    assert (edges["prior"] >= 0).all()


def _check_order(nodes, edges):
    """Edges with visits first, then the one with the largest prior of the others, of equals the lowest move."""
    for first, count, seen in nodes[["first_edge", "edge_count", "seen"]].tolist():
        visits, prior, move = (edges[name][first : first + count] for name in ("visits", "prior", "move"))
        assert (visits[:seen] > 0).all()
        assert not visits[seen:].any()
        if seen < count:
            assert (prior[seen], -move[seen]) == max(zip(prior[seen:], -move[seen:], strict=True))


def _parents(nodes):
    return np.repeat(np.arange(len(nodes)), nodes["edge_count"])


def _check_links(nodes, edges):
    child, parents = edges["child"], _parents(nodes)
    assert (child >= NO_NODE).all(), "an evaluation is still out"
    linked = child >= 0
    np.testing.assert_array_equal(np.sort(child[linked]), np.arange(1, len(nodes)), "not one edge to each node")
    assert (child[linked] > parents[linked]).all()
    assert (edges["visits"][linked] > 0).all()


def _check_sums(nodes, edges, never_cut):
    visits, child, parents = edges["visits"].astype(np.int64), edges["child"], _parents(nodes)
    assert (visits >= 0).all()
    for name in ("utility_sum", "value_sum", "score_sum"):
        assert np.isfinite(edges[name]).all()
    for name in ("utility_sum", "value_sum"):
        assert (np.abs(edges[name]) <= visits * (1 + 1e-5) + 1e-4).all(), name
    for name in ("utility", "value"):
        assert (np.abs(nodes[name]) <= 1 + 1e-6).all()
    # A node's own evaluation is one of its visits, but not one of the root's. Cutting does not change that: an edge
    # keeps its visits, and a node made anew starts with one.
    below = np.bincount(parents, visits, len(nodes))
    goes_on = nodes["terminal"] == 0
    own = np.ones(len(nodes))
    own[0] = 0
    np.testing.assert_array_equal(below[goes_on], (nodes["visits"] - own)[goes_on])
    linked = child >= 0
    assert (nodes["visits"][child[linked]] <= visits[linked]).all()
    if never_cut:
        assert (linked == (visits > 0)).all()
        assert (nodes["visits"][child[linked]] == visits[linked]).all()
    # Where a node has seen every visit of its edge, the edge's sums are the node's own value and its edges' sums, from
    # the other side.
    whole = np.flatnonzero(linked)
    whole = whole[nodes["visits"][child[whole]] == visits[whole]]
    behind = child[whole]
    times = np.where(nodes["terminal"][behind] == 1, nodes["visits"][behind], 1)
    for name, own_name in (("value_sum", "value"), ("score_sum", "score"), ("utility_sum", "utility")):
        sums = np.bincount(parents, edges[name], len(nodes))
        expected = -(times * nodes[own_name][behind] + sums[behind])
        scale = 1 + visits[whole] * (400 if name == "score_sum" else 1)
        assert (np.abs(edges[name][whole] - expected) <= 1e-5 * scale).all(), name


def _check_position(search, g, nodes, edges, node):
    """Play the moves that lead to `node`: each is legal, repeats nothing that superko forbids, and ends as it says."""
    game = _play_to(search, g, nodes, edges, node)
    info, record = game.info[0], nodes[node]
    over = info["passes"] >= 2 or info["move_count"] >= search.options.move_limit
    assert bool(record["terminal"]) == bool(over)
    area = int(info["size"]) ** 2
    if over:
        owner, stack = np.empty(area + 1, np.int8), np.empty(area + 1, np.int16)
        points = float(score(game, 0, game.color[0], owner, stack)) * (1 if info["to_move"] == Board.BLACK else -1)
        assert record["score"] == points
        assert record["value"] == np.sign(points)
        return
    reasons = np.empty(area + 1, np.uint8)
    state.legality_map(game, 0, info["to_move"], reasons)
    first, count = record["first_edge"], record["edge_count"]
    moves = np.sort(edges["move"][first : first + count])
    np.testing.assert_array_equal(moves, np.flatnonzero(reasons == state.LEGAL))


def _play_to(search, g, nodes, edges, node):
    leads_to = {int(c): e for e, c in enumerate(edges["child"]) if c >= 0}
    parents = _parents(nodes)
    moves = []
    while node > 0:
        edge = leads_to[node]
        moves.append(int(edges["move"][edge]))
        node = int(parents[edge])
    info = search.roots.info[g]
    size = int(info["size"])
    game = state.new_games(1, size, int(info["move_count"]) + len(moves) + 1)
    state.copy_game(game, 0, search.roots, g)
    seen = {_situation(game)}
    for move in reversed(moves):
        assert state.try_play(game, 0, move) == state.LEGAL
        if move < size * size and info["ko_rule"] != state.KO_SIMPLE:
            assert _situation(game) not in seen
        seen.add(_situation(game))
    return game


def _situation(game):
    """What superko compares: the stones, and by situational superko whose turn it is."""
    info = game.info[0]
    stones = game.color[0, : int(info["size"]) ** 2].tobytes()
    return stones, int(info["to_move"]) if info["ko_rule"] == state.KO_SITUATIONAL else 0


def random_board(rng, sizes=(2, 9), moves=None):
    """A random game of so many moves or a random number of them, under random rules; sometimes it is over."""
    size = int(rng.integers(sizes[0], sizes[1] + 1))
    rules = Rules(
        ko=str(rng.choice(["simple", "positional", "situational"])),
        scoring=str(rng.choice(["area", "territory"])),
        suicide=bool(rng.integers(2)),
        komi=float(rng.integers(-10, 11)) / 2,
    )
    board = Board(size, rules=rules)
    for _ in range(int(rng.integers(0, 2 * size * size)) if moves is None else moves):
        x, y = rng.integers(0, size, 2).tolist()
        if rng.random() < 0.05 or not board.play(x, y):
            board.pass_move()
        if board.is_game_over():
            if moves is None and rng.random() < 0.3:
                break
            board.resume()
    return board
