"""Go and search the way a tutorial writes them: arrays, sets, copies, dictionaries. A yardstick only."""

import mini_alphago  # noqa: F401  # before torch, see its __init__

# isort: split
from typing import Any

import numpy as np
import torch

STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


class PlainBoard:
    """An unhurried Go board in plain Python, simple ko only."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.stones = np.zeros((size, size), np.int8)
        self.player = 1
        self.ko: tuple[int, int] | None = None
        self.passes = 0

    def copy(self) -> "PlainBoard":
        """An independent board in the same state."""
        other = PlainBoard(self.size)
        other.stones = self.stones.copy()
        other.player, other.ko, other.passes = self.player, self.ko, self.passes
        return other

    def around(self, x: int, y: int) -> list[tuple[int, int]]:
        """Points next to (x, y)."""
        near = ((x + dx, y + dy) for dx, dy in STEPS)
        return [(i, j) for i, j in near if 0 <= i < self.size and 0 <= j < self.size]

    def chain(self, x: int, y: int) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        """Stones and liberties of the chain on (x, y)."""
        color = self.stones[x, y]
        found, liberties, todo = {(x, y)}, set(), [(x, y)]
        while todo:
            for point in self.around(*todo.pop()):
                if self.stones[point] == 0:
                    liberties.add(point)
                elif self.stones[point] == color and point not in found:
                    found.add(point)
                    todo.append(point)
        return found, liberties

    def put(self, x: int, y: int) -> list[tuple[int, int]]:
        """Place a stone and take what it captures; returns the captured points."""
        self.stones[x, y] = self.player
        taken: list[tuple[int, int]] = []
        for point in self.around(x, y):
            if self.stones[point] == 3 - self.player:
                stones, liberties = self.chain(*point)
                if not liberties:
                    taken.extend(stones)
                    for stone in stones:
                        self.stones[stone] = 0
        return taken

    def is_legal(self, x: int, y: int) -> bool:
        """Try it on a copy and see."""
        if self.stones[x, y] != 0 or self.ko == (x, y):
            return False
        trial = self.copy()
        return bool(trial.put(x, y)) or bool(trial.chain(x, y)[1])

    def legal_moves(self) -> list[tuple[int, int]]:
        """All legal moves but the pass."""
        return [(x, y) for x in range(self.size) for y in range(self.size) if self.is_legal(x, y)]

    def play(self, x: int, y: int) -> bool:
        """Make a move if it is legal."""
        if not self.is_legal(x, y):
            return False
        taken = self.put(x, y)
        stones, liberties = self.chain(x, y)
        self.ko = taken[0] if len(taken) == 1 and len(stones) == 1 and len(liberties) == 1 else None
        self.player = 3 - self.player
        self.passes = 0
        return True

    def pass_move(self) -> None:
        """Pass."""
        self.passes += 1
        self.ko = None
        self.player = 3 - self.player


class PlainNode:
    """A node of a plain search tree."""

    def __init__(self, prior: float) -> None:
        self.prior = prior
        self.visits = 0
        self.total = 0.0
        self.children: dict[tuple[int, int], PlainNode] = {}

    def best_child(self, c_puct: float) -> tuple[tuple[int, int], "PlainNode"]:
        """PUCT over a dictionary."""
        root = np.sqrt(max(1, self.visits))

        def worth(item: tuple[tuple[int, int], "PlainNode"]) -> float:
            child = item[1]
            q = child.total / child.visits if child.visits else 0.0
            return float(q + c_puct * child.prior * root / (1 + child.visits))

        return max(self.children.items(), key=worth)


def plain_planes(board: PlainBoard, planes: int) -> np.ndarray:
    """Own stones, opponent's, empty, legal moves; the rest zeros: what a network sees does not change its speed."""
    features = np.zeros((planes, board.size, board.size), np.float32)
    features[0] = board.stones == board.player
    features[1] = board.stones == 3 - board.player
    features[2] = board.stones == 0
    for x, y in board.legal_moves():
        features[5, x, y] = 1
    return features


def plain_search(network: Any, board: PlainBoard, simulations: int, planes: int) -> PlainNode:
    """Search as a tutorial writes it: nodes as objects, a copied board a simulation, one position a network call."""

    def expand(node: PlainNode, position: PlainBoard) -> float:
        features = torch.from_numpy(plain_planes(position, planes)).unsqueeze(0)
        network.eval()
        with torch.no_grad():
            out = network.outputs(features)
        policy = torch.softmax(out.policy[0], dim=0).numpy()
        moves = [*position.legal_moves(), (-1, -1)]
        for x, y in moves:
            node.children[x, y] = PlainNode(float(policy[x * position.size + y if x >= 0 else -1]))
        return float(out.value[0])

    root = PlainNode(1.0)
    expand(root, board)
    for _ in range(simulations):
        node, position, path = root, board.copy(), [root]
        while node.children and position.passes < 2:
            move, node = node.best_child(1.5)
            if move[0] >= 0:
                position.play(*move)
            else:
                position.pass_move()
            path.append(node)
        value = 0.0 if position.passes >= 2 else expand(node, position)
        for visited in reversed(path):
            value = -value
            visited.visits += 1
            visited.total += value
    return root
