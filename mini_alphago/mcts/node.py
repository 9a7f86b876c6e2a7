"""`MCTSNode`: the tutorial's node, as a view of the arrays of a tree."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arrays import EDGE, NO_NODE, NODE, Trees, new_trees
from .puct import puct_edge
from .settings import SearchSettings

Move = tuple[int, int]
_OWN_NODES = 4096  # room of the tree that a node made by hand brings along
_UNVISITED = np.array((0.0, 0.0, 0.0, 0, NO_NODE), EDGE)
_PLAIN = SearchSettings().options(19, has_score=False)  # the tutorial's rule


class MCTSNode:
    """A move in a search tree and the position behind it.

    `value` is from the view of the player who chose the move, so that the best child has the largest; at the root,
    which nobody chose, from the view of the player to move. `MCTSNode(prior)` makes a root of its own.
    """

    def __init__(self, prior: float = 0.0) -> None:
        self._trees: Trees | None = None
        self._g = 0
        self._edge: int | None = None
        self._own = [0, 0.0, float(prior)]  # visits, value_sum and prior of a root: no edge holds them
        self._whole: set[int] = set()

    @classmethod
    def _view(cls, trees: Trees, g: int, edge: int | None, whole: set[int] | None = None) -> "MCTSNode":
        """The node behind an edge of tree `g`, or its root.

        whole: which nodes have records for all of their edges by now, shared by all views of a tree; whoever searches
        the tree again empties it.
        """
        node = cls()
        node._trees, node._g, node._edge = trees, g, edge
        node._whole = set() if whole is None else whole
        if edge is None:
            node._own[0] = int(trees.nodes[g, 0]["visits"])
            children = node._edges()
            known = trees.edges[g, children]
            node._own[1] = float(known["value_sum"][known["visits"] > 0].sum())
        return node

    @property
    def visit_count(self) -> int:
        """How often the search went through here."""
        return int(self._own[0] if self._edge is None else self._record["visits"])

    @visit_count.setter
    def visit_count(self, count: int) -> None:
        if self._edge is not None:
            if self.visit_count == 0:
                self.value_sum = 0.0  # sums mean nothing before the first visit
            self._record["visits"] = count
        self._own[0] = count
        if (node := self._node) >= 0:
            self._array.nodes[self._g, node]["visits"] = count

    @property
    def value_sum(self) -> float:
        """The sum of the values that came back from here."""
        if self._edge is None:
            return float(self._own[1])
        return float(self._record["value_sum"]) if self.visit_count else 0.0

    @value_sum.setter
    def value_sum(self, total: float) -> None:
        if self._edge is not None:
            self._record["value_sum"] = self._record["utility_sum"] = total
        self._own[1] = total

    @property
    def value(self) -> float:
        """The mean value; 0 without visits."""
        return self.value_sum / self.visit_count if self.visit_count else 0.0

    @property
    def prior(self) -> float:
        """What the network thought of the move before the search."""
        return float(self._own[2] if self._edge is None else self._array.prior[self._g, self._edge])

    @prior.setter
    def prior(self, prior: float) -> None:
        if self._edge is not None:
            self._array.prior[self._g, self._edge] = prior
        self._own[2] = prior

    @property
    def children(self) -> dict[Move, "MCTSNode"]:
        """The children by move; the pass is (-1, -1)."""
        edges = self._whole_edges()
        by_move = sorted(range(edges.start, edges.stop), key=lambda e: int(self._array.move[self._g, e]))
        return {self._move(e): self._view(self._array, self._g, e, self._whole) for e in by_move}

    def expand(self, policy: np.ndarray, legal_moves: Sequence[Move]) -> None:
        """Give the node a child for each legal move, its prior exp(policy) of it; `policy` is [size² + 1] logs.

        A node that has children already keeps them as they are.
        """
        if self._edges().stop > self._edges().start or not legal_moves:
            return
        if self._trees is None:
            self._trees = new_trees(1, _OWN_NODES, len(policy))
        trees, g = self._trees, self._g
        node, first = int(trees.node_count[g]), int(trees.edge_count[g])
        if node == trees.nodes.shape[1] or first + len(legal_moves) > trees.move.shape[1]:
            raise ValueError(f"the tree is full: it holds {trees.nodes.shape[1]} expanded nodes")
        size = round((len(policy) - 1) ** 0.5)
        edges = slice(first, first + len(legal_moves))
        moves = [size * size if x < 0 else x * size + y for x, y in legal_moves]
        trees.move[g, edges] = moves
        trees.prior[g, edges] = np.exp(np.asarray(policy)[moves])
        trees.edges[g, edges] = _UNVISITED
        trees.nodes[g, node] = np.zeros((), NODE)
        trees.nodes[g, node]["first_edge"] = first
        trees.nodes[g, node]["edge_count"] = len(legal_moves)
        trees.nodes[g, node]["seen"] = len(legal_moves)  # all may be visited by hand, in any order
        trees.nodes[g, node]["visits"] = self.visit_count
        trees.node_count[g] += 1
        trees.edge_count[g] += len(legal_moves)
        if self._edge is not None:
            self._record["child"] = node

    def select_child(self, c_puct: float = 1.5) -> tuple[Move, "MCTSNode"]:
        """The child that PUCT would visit next, and its move. ValueError if there are none."""
        edges = self._whole_edges()
        if edges.stop == edges.start:
            raise ValueError("a node without children has none to select: expand it first")
        options, count = _PLAIN._replace(c_puct=float(c_puct)), edges.stop - edges.start
        edge = int(puct_edge(self._array, self._g, self._node, options, count))
        return self._move(edge), self._view(self._array, self._g, edge, self._whole)

    @property
    def _array(self) -> Trees:
        assert self._trees is not None
        return self._trees

    @property
    def _record(self) -> Any:
        return self._array.edges[self._g, self._edge]

    @property
    def _node(self) -> int:
        if self._trees is None or self._trees.node_count[self._g] == 0:
            return NO_NODE
        return 0 if self._edge is None else int(self._record["child"])

    def _edges(self) -> slice:
        if (node := self._node) < 0:
            return slice(0, 0)
        record = self._array.nodes[self._g, node]
        return slice(int(record["first_edge"]), int(record["first_edge"] + record["edge_count"]))

    def _whole_edges(self) -> slice:
        """The node's edges, every one with its record: below the root a search writes only those that it looks at.

        The others are made the first time, and never again: somebody may have written to them since.
        """
        edges, node = self._edges(), self._node
        if node > 0 and node not in self._whole:
            self._whole.add(node)
            seen = int(self._array.nodes[self._g, node]["seen"])
            self._array.edges[self._g, edges.start + seen : edges.stop] = _UNVISITED
        return edges

    def _move(self, edge: int) -> Move:
        size = round((self._array.gumbel.shape[1] - 1) ** 0.5)
        move = int(self._array.move[self._g, edge])
        return (-1, -1) if move == size * size else divmod(move, size)
