"""Go the way a tutorial writes it: a NumPy array, sets, and legality by trying the move on a copy. A yardstick only."""

import numpy as np

STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


class PlainBoard:
    """An unhurried Go board in plain Python, simple ko only."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.stones = np.zeros((size, size), np.int8)
        self.player = 1
        self.ko: tuple[int, int] | None = None
        self.passes = 0

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
        trial = PlainBoard(self.size)
        trial.stones = self.stones.copy()
        trial.player = self.player
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
