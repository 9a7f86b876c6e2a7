"""`MCTSNode` by hand, as the tutorial's own search uses it."""

import numpy as np
import pytest

from mini_alphago.game import Board
from mini_alphago.mcts import MCTSNode, Search

from .evaluators import Hashed

PASS = (-1, -1)


class TutorialNode:
    """The tutorial's node, word for word but for the size of the board."""

    def __init__(self, prior=0.0):
        self.visit_count, self.value_sum, self.prior, self.children = 0, 0.0, prior, {}

    @property
    def value(self):
        return self.value_sum / self.visit_count if self.visit_count else 0.0

    def expand(self, policy, legal_moves):
        size = round((len(policy) - 1) ** 0.5)
        for x, y in legal_moves:
            self.children[x, y] = TutorialNode(float(np.exp(policy[x * size + y if x >= 0 else size * size])))

    def select_child(self, c_puct=1.5):
        def score(item):
            child = item[1]
            sqrt_total = np.sqrt(max(1, self.visit_count))
            return child.value + c_puct * child.prior * sqrt_total / (1 + child.visit_count)

        return max(self.children.items(), key=score)


def log_policy(rng, size):
    logits = rng.normal(size=size * size + 1)
    return (logits - np.log(np.exp(logits).sum())).astype(np.float32)


def test_a_new_node():
    node = MCTSNode(prior=0.5)
    assert (node.visit_count, node.value_sum, node.value, node.prior, node.children) == (0, 0.0, 0.0, 0.5, {})
    assert MCTSNode().prior == 0.0
    node.visit_count += 2
    node.value_sum += 1.0
    node.prior = 0.25
    assert (node.visit_count, node.value, node.prior) == (2, 0.5, 0.25)


def test_a_node_without_children_has_none_to_select():
    with pytest.raises(ValueError, match="expand it first"):
        MCTSNode().select_child()
    node = MCTSNode()
    node.expand(np.zeros(10), [])
    assert node.children == {}


def test_expand():
    policy = log_policy(np.random.default_rng(0), 3)
    node = MCTSNode()
    node.expand(policy, [(0, 1), (2, 2), PASS])
    assert list(node.children) == [(0, 1), (2, 2), PASS]
    priors = [child.prior for child in node.children.values()]
    np.testing.assert_allclose(priors, np.exp(policy[[1, 8, 9]]), rtol=1e-6)
    node.children[0, 1].visit_count = 3
    node.expand(np.zeros(10), [(0, 0)])  # it has children: they stay
    assert list(node.children) == [(0, 1), (2, 2), PASS]
    assert node.children[0, 1].visit_count == 3


@pytest.mark.parametrize("c_puct", [0.5, 1.5, 4.0])
@pytest.mark.parametrize("size", [2, 5, 9])
def test_a_search_written_by_hand_grows_the_tutorials_tree(size, c_puct):
    """Select, expand and back up through both kinds of node: the same choice every time."""
    rng = np.random.default_rng(size)
    mine, theirs = MCTSNode(), TutorialNode()
    for root in (mine, theirs):
        root.expand(log_policy(np.random.default_rng(1), size), Board(size).get_legal_moves())
    for _ in range(150):
        board = Board(size)
        paths = [[mine], [theirs]]
        while paths[0][-1].children and not board.is_game_over():
            (move, node), (expected, other) = (path[-1].select_child(c_puct) for path in paths)
            assert move == expected
            paths[0].append(node)
            paths[1].append(other)
            assert node.prior == pytest.approx(other.prior, rel=1e-6)
            board.pass_move() if move == PASS else board.play(*move)
        value, policy = float(rng.uniform(-1, 1)), log_policy(rng, size)
        for path in paths:
            if not board.is_game_over():
                path[-1].expand(policy, board.get_legal_moves())
            sign = 1.0
            for node in reversed(path):
                node.visit_count += 1
                node.value_sum += sign * value
                sign = -sign
    for move, child in mine.children.items():
        assert child.visit_count == theirs.children[move].visit_count
        assert child.value == pytest.approx(theirs.children[move].value, abs=1e-5)


def test_backing_up_by_hand_into_a_tree_that_was_searched():
    """In the tutorial's order, visits first; whatever an earlier search left where the edge now lies."""
    search = Search(Hashed(), 1, 5)
    search.set_board(Board(5))
    search.run(300)
    search.forget()
    search.run(2)
    root = MCTSNode._view(search.trees, 0, None)
    for child in root.children.values():
        if child.visit_count == 0:
            child.visit_count += 1
            child.value_sum += 0.5
            assert child.value == 0.5


def searched(visits: int, before: int = 300) -> MCTSNode:
    """The root of a short search, where a longer one has left its numbers."""
    search = Search(Hashed(), 1, 5)
    search.set_board(Board(5))
    search.run(before)
    search.forget()
    search.run(visits)
    return MCTSNode._view(search.trees, 0, None)


def test_below_the_root_what_was_never_visited_is_not_selected_by_what_lay_there_before():
    root = searched(20)
    nodes = [child for child in root.children.values() if child._edges().stop > child._edges().start]
    assert nodes
    for node in nodes:  # before anybody asks for its children, and after it
        move, selected = node.select_child()
        assert selected.visit_count == node.children[move].visit_count
        assert sum(child.visit_count for child in node.children.values()) == node.visit_count - 1
        assert node.select_child()[0] == move


def test_what_is_written_by_hand_stays_in_a_tree_that_was_searched():
    """At the root and below it, where the search has been and where it has not; a node grown there too."""
    root = searched(20)
    below = max(root.children.values(), key=lambda child: child.visit_count)
    for parent in (root, below):
        unseen = [move for move, child in parent.children.items() if child.visit_count == 0][-1]
        for i, child in enumerate(parent.children.values()):
            child.visit_count = 5 + i
            child.value_sum = 0.5 * i
        parent.children[unseen].expand(log_policy(np.random.default_rng(1), 5), [(0, 0), (4, 4)])
        parent.children[unseen].children[0, 0].visit_count = 3
        for i, child in enumerate(parent.children.values()):
            assert (child.visit_count, child.value_sum) == (5 + i, 0.5 * i)
        assert list(parent.children[unseen].children) == [(0, 0), (4, 4)]
        assert parent.children[unseen].children[0, 0].visit_count == 3


def test_a_full_tree_says_so():
    node = MCTSNode()
    for _ in range(4096):
        node.expand(np.zeros(5), [(0, 0)])
        node = node.children[0, 0]
    with pytest.raises(ValueError, match="the tree is full"):
        node.expand(np.zeros(5), [(0, 0)])
