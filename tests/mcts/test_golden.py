"""Golden trees: searches small enough to work out by hand, and larger ones node by node against the slow search."""

import numpy as np
import pytest

from mini_alphago.game import Board
from mini_alphago.mcts import Search, SearchSettings
from tests.game.reference import PASS, ReferenceGo

from .evaluators import Entry, Hashed, Table, Uniform
from .invariants import edge_records
from .slow_search import GumbelSearch, SlowSearch

# --- by hand ----------------------------------------------------------------------------------------------------------


def edges_of(search, node=0, g=0):
    """The edges of a node as {move: (visits, mean value, child)}."""
    trees = search.trees
    record = trees.nodes[g, node]
    edges = range(record["first_edge"], record["first_edge"] + record["edge_count"])
    known = edge_records(trees, g)
    return {
        int(trees.move[g, e]): (
            int(known[e]["visits"]),
            float(known[e]["value_sum"]) / max(1, int(known[e]["visits"])),
            int(known[e]["child"]),
        )
        for e in edges
    }


def test_six_simulations_by_hand():
    """PUCT at c_puct 1: value + prior · √max(1, N) / (1 + n), and 0 in place of the value before the first visit."""
    board = Board.from_diagram("X.\n.O", komi=0.5)  # Black may play 1, 2 or pass (4)
    table = Table(
        {
            "X. .O X": Entry(0.0, {1: 0.5, 2: 0.3, 4: 0.2}),
            "XX .O O": Entry(0.5),  # Black's move 1: -0.5 for Black
            "X. XO O": Entry(-0.25, {1: 0.75, 4: 0.25}),  # Black's move 2: 0.25; White takes both stones with 1
            ".O .O X": Entry(-0.5),  # ... and that is worth 0.5 to White
            "X. .O O": Entry(0.0, {1: 0.3, 2: 0.1, 4: 0.6}),  # Black's pass
        }
    )
    search = Search(table, 1, 2, SearchSettings(c_puct=1.0))
    search.set_board(board)
    # N = 0, root of 1:  1: 0 + 0.5 = 0.5        2: 0.3                          pass: 0.2             → 1, worth -0.5
    # N = 1, root of 1:  1: -0.5 + 0.5 / 2       2: 0.3                          pass: 0.2             → 2, worth 0.25
    # N = 2, 1.414:      1: -0.5 + 0.354 < 0     2: 0.25 + 0.212 = 0.462         pass: 0.283           → 2
    #     White, N = 1:  1: 0.75, pass: 0.25 → 1, worth 0.5 to White, -0.5 to Black: 2 is at (0.25 - 0.5) / 2 = -0.125
    # N = 3, 1.732:      1: -0.5 + 0.433 < 0     2: -0.125 + 0.173 = 0.048       pass: 0.346           → pass
    #     White may pass too, which is the end: one stone each, White wins by the komi of 0.5: the pass is worth -1
    # N = 4, 2:          1: -0.5 + 0.5 = 0       2: -0.125 + 0.2 = 0.075         pass: -1 + 0.2        → 2
    #     White, N = 2:  1: 0.5 + 0.75 · 1.414 / 2, pass: 0.354 → 1
    #     Black, N = 1:  all alike → the first, 0: worth 0, so White's 1 is at 0.25, Black's 2 at -0.25 / 3
    # N = 5, 2.236:      1: -0.5 + 0.559 = 0.059 2: -0.083 + 0.168 = 0.084       pass: -1 + 0.224      → 2
    #     White, N = 3:  1: 0.25 + 0.75 · 1.732 / 3 = 0.683, pass: 0.433 → 1
    #     Black, N = 2:  0: 0.333 · 1.414 / 2, 2 and pass: 0.471 → 2: worth 0, so White's 1 is at 1 / 6, Black's 2 at
    #     (0.25 - 0.5 + 0 + 0) / 4
    search.run(6)
    root = edges_of(search)
    assert {move: edge[0] for move, edge in root.items()} == {1: 1, 2: 4, 4: 1}
    assert {move: edge[1] for move, edge in root.items()} == pytest.approx({1: -0.5, 2: -0.0625, 4: -1.0})
    assert search.root_visits() == 6
    after_2 = edges_of(search, root[2][2])
    assert {move: edge[:2] for move, edge in after_2.items()} == {1: (3, pytest.approx(1 / 6)), 4: (0, 0.0)}
    after_capture = edges_of(search, after_2[1][2])
    assert {move: edge[:2] for move, edge in after_capture.items()} == {0: (1, 0.0), 2: (1, 0.0), 4: (0, 0.0)}
    after_pass = edges_of(search, root[4][2])
    assert {move: edge[:2] for move, edge in after_pass.items()} == {1: (0, 0.0), 2: (0, 0.0), 4: (0, 0.0)}
    passed = search.trees.nodes[0, root[4][2]]
    assert (passed["terminal"], passed["edge_count"], passed["value"], passed["score"]) == (0, 3, 1.0, 0.5)  # for White
    assert edges_of(search, root[1][2]) == {2: (0, 0.0, -1), 4: (0, 0.0, -1)}
    assert search.trees.node_count[0] == 7  # the root and one for each simulation


def test_uniform_visits_go_round_in_move_order():
    search = Search(Uniform(), 1, 3, SearchSettings())
    search.set_board(Board(3, komi=0.0))
    for visits in range(1, 11):
        search.run(visits)
        assert search.visit_counts()[0].tolist() == [1] * visits + [0] * (10 - visits)


# --- node by node against the slow search -----------------------------------------------------------------------------

POSITIONS = {
    # name: diagram, komi, player, moves made before the search
    "empty 2×2": ("..\n..", 0.5, Board.BLACK, []),
    "2×2 after a pass": ("X.\n.O", 0.0, Board.WHITE, [PASS]),
    "2×2 deep in a superko fight": ("..\n..", 1.0, Board.BLACK, [(0, 0), (1, 1), (0, 1), (1, 0)]),
    "empty 3×3": ("...\n...\n...", 3.5, Board.BLACK, []),
    "3×3 ko": (".XO\nXO.\n.XO", 0.0, Board.BLACK, []),
    "3×3 all but over": ("XX.\nXXO\n.OO", -0.5, Board.WHITE, []),
    "4×4": (".XO.\nXO.O\n.XO.\n....", 1.5, Board.BLACK, [(1, 2), (3, 3)]),
}
SETTINGS = {
    "plain": {},
    "c_puct": {"c_puct": 0.4},
    "c_base": {"c_base": 20.0},
    "fpu 0": {"fpu_reduction": 0.0},
    "fpu 0.3": {"fpu_reduction": 0.3},
    "score": {"score_weight": 0.5},
    "forced": {"forced_playouts": 2.0},
    "short games": {"move_limit": 7},
    "all of it": {
        "c_puct": 1.1,
        "c_base": 50.0,
        "fpu_reduction": 0.2,
        "score_weight": 0.1,
        "forced_playouts": 1.0,
        "move_limit": 12,
    },
}


def both_games(name):
    """The same game on a Board and on the reference."""
    diagram, komi, player, moves = POSITIONS[name]
    board = Board.from_diagram(diagram, komi=komi, player=player)
    stones = {(x, y): int(board.board[x, y]) for x in range(board.size) for y in range(board.size) if board.board[x, y]}
    reference = ReferenceGo(board.size, komi=komi, stones=stones, player=player)
    for move in moves:
        reference.play(move)
        if move == PASS:
            board.pass_move()
        else:
            assert board.play(*move)
    return board, reference


def assert_same_tree(search, slow, node=0, g=0):
    """Every node and every edge of the two trees, however deep; returns how many nodes there are."""
    trees = search.trees
    record = trees.nodes[g, node]
    assert record["visits"] == slow.visits
    assert [record["value"], record["score"], record["utility"]] == pytest.approx(
        [slow.value, slow.score, slow.utility], abs=1e-5
    )
    assert bool(record["terminal"]) == (not slow.edges)
    first, count = int(record["first_edge"]), int(record["edge_count"])
    edges = first + np.argsort(trees.move[g, first : first + count])
    expected, known = list(slow.edges.values()), edge_records(trees, g)
    assert trees.move[g, edges].tolist() == list(slow.edges)
    assert known["visits"][edges].tolist() == [edge.visits for edge in expected]
    np.testing.assert_allclose(trees.prior[g, edges], [edge.prior for edge in expected], atol=1e-6)
    visited = known["visits"][edges] > 0
    for name in ("utility_sum", "value_sum", "score_sum"):
        sums = [getattr(edge, name) for edge in expected if edge.visits]
        np.testing.assert_allclose(known[name][edges][visited], sums, rtol=1e-5, atol=2e-4, err_msg=name)
    nodes = 1
    for e, edge in zip(edges.tolist(), expected, strict=True):
        assert (known[e]["child"] >= 0) == (edge.child is not None)
        if edge.child is not None:
            nodes += assert_same_tree(search, edge.child, int(known[e]["child"]), g)
    return nodes


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("position", POSITIONS)
def test_puct_tree(position, settings):
    board, reference = both_games(position)
    evaluator = Hashed(seed=len(settings))
    search = Search(evaluator, 1, board.size, SearchSettings(**SETTINGS[settings]))
    search.set_board(board)
    search.run(300)
    slow = SlowSearch(evaluator.of_key, **SETTINGS[settings])
    nodes = assert_same_tree(search, slow.search(reference, 300))
    assert nodes == search.trees.node_count[0]


@pytest.mark.parametrize("position", POSITIONS)
def test_puct_tree_with_ties_everywhere(position):
    """A network that knows nothing: only the order of the moves decides between most edges."""
    board, reference = both_games(position)
    table = Table({})
    search = Search(table, 1, board.size, SearchSettings(c_puct=1.0))
    search.set_board(board)
    search.run(200)
    assert_same_tree(search, SlowSearch(table.of_key, c_puct=1.0).search(reference, 200))


@pytest.mark.parametrize("kept", [True, False])
def test_puct_tree_after_moves_made_in_the_search(kept):
    """A tree that was kept goes on as if the search had always stood there; one that was not starts anew."""
    board, reference = both_games("empty 3×3")
    evaluator = Hashed(7)
    search = Search(evaluator, 1, 3, SearchSettings())
    search.set_board(board)
    search.run(200)
    slow = SlowSearch(evaluator.of_key)
    slow.search(reference, 200)
    for step in range(3):
        move = 9 if step == 1 else int(search.visit_counts()[0, :9].argmax())  # two passes would end it
        search.advance(move, keep_tree=kept)
        child = slow.root.edges[move].child
        if kept:
            slow.root = child
            child.visits -= 1  # a root counts descents only
        else:
            slow.root = slow.new_node(child.game)
        search.run(slow.root.visits + 100)
        for _ in range(100):
            slow.simulate(slow.root)
        assert_same_tree(search, slow.root)


def test_many_games_at_once_are_the_same_trees():
    evaluator = Hashed(3)
    games = [both_games(name) for name in POSITIONS]
    search = Search(evaluator, len(games), 4, SearchSettings())
    for g, (board, _) in enumerate(games):
        search.set_board(board, g)
    visits = [100 + 10 * g for g in range(len(games))]
    search.run(visits)
    for g, (_, reference) in enumerate(games):
        assert_same_tree(search, SlowSearch(evaluator.of_key).search(reference, visits[g]), g=g)


# --- Gumbel -----------------------------------------------------------------------------------------------------------


def assert_same_race(search, slow, reference, simulations, g=0):
    assert_same_tree(search, slow.search(reference, simulations), g=g)
    expected = slow.improved_policy(slow.root)
    improved = search.improved_policies()[g]
    assert improved.sum() == pytest.approx(1, abs=1e-5)
    assert {move: improved[move] for move in expected} == pytest.approx(expected, abs=1e-5)
    assert search.best_move(g) == slow.best_move()


@pytest.mark.parametrize("simulations", [1, 2, 3, 4, 7, 16, 50, 200])
@pytest.mark.parametrize("position", POSITIONS)
def test_gumbel_tree(position, simulations):
    board, reference = both_games(position)
    evaluator = Hashed(simulations)
    for options in ({}, {"considered": 4}, {"considered": 3, "c_visit": 10.0, "c_scale": 0.3, "score_weight": 0.2}):
        search = Search(evaluator, 1, board.size, SearchSettings(method="gumbel", **options))
        search.set_board(board)
        search.run(simulations)
        slow = GumbelSearch(evaluator.of_key, **options)
        assert_same_race(search, slow, reference, simulations)


@pytest.mark.parametrize("seed", range(5))
def test_gumbel_tree_with_noise(seed):
    board, reference = both_games("empty 3×3")
    evaluator = Hashed(seed)
    search = Search(evaluator, 1, 3, SearchSettings(method="gumbel", considered=5), seed)
    search.set_board(board)
    search.run(40, noise=True)
    slow = GumbelSearch(evaluator.of_key, considered=5, noise=tuple(search.trees.gumbel[0].tolist()))
    assert np.ptp(slow.noise) > 0
    assert_same_race(search, slow, reference, 40)


def test_gumbel_games_of_different_lengths_each_have_their_own_race():
    evaluator = Hashed(11)
    board, reference = both_games("empty 3×3")
    search = Search(evaluator, 2, 3, SearchSettings(method="gumbel", considered=4))
    search.set_board(board, 0)
    search.set_board(board, 1)
    search.run([8, 64])
    for g, simulations in enumerate((8, 64)):
        slow = GumbelSearch(evaluator.of_key, considered=4)
        assert_same_race(search, slow, reference, simulations, g)


# --- what is made of a tree -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["puct", "gumbel"])
@pytest.mark.parametrize("simulations", [1, 5, 10, 24])
def test_the_move_to_play_is_the_first_of_the_list(method, simulations):
    """Also where several moves have equally many visits: a program must not show one move and play another."""
    for evaluator in (Uniform(), Hashed(1), Hashed(2)):
        search = Search(evaluator, 1, 3, SearchSettings(method=method))
        search.set_board(Board(3, komi=0.0))
        search.run(simulations)
        x, y = search.root_moves()[0].move
        assert search.best_move() == (9 if x < 0 else 3 * x + y)
