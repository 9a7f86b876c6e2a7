"""Small boards solved outright: area scoring, positional superko, the game over after two passes. Slow and exact.

What superko forbids hangs on the whole way to a position, so no result is kept for another way to it; what makes the
search finite in time is only that a won game is not searched on, and that good moves come first.
"""

from functools import cache

from tests.game.reference import BLACK, all_points, chain, flood, ownership, put


@cache
def after(size, stones, point, player):
    """The position after a stone on `point`, or None if it may not be put there, superko aside.

    A position is a string of ".XO" in reading order; a point an index of it.
    """
    if stones[point] != ".":
        return None
    board, _, lost = put(size, _as_dict(size, stones), divmod(point, size), player)
    return None if lost else "".join(".XO"[board.get(p, 0)] for p in all_points(size))


@cache
def area(size, stones):
    """Black's points minus White's."""
    owner = list(ownership(size, _as_dict(size, stones)).values())
    return owner.count(1) - owner.count(2)


@cache
def order(size, stones, player):
    """The moves of `player` with the positions they lead to, the most promising first: by area, then liberties."""
    sign = 1 if player == BLACK else -1
    found = [(point, after(size, stones, point, player)) for point in range(size * size)]
    legal = [(point, position) for point, position in found if position]

    def promise(move):
        board = _as_dict(size, move[1])
        breath = {1: 0, 2: 0}
        for color, libs in {(board[p], frozenset(chain(size, board, p)[1])) for p in board}:
            breath[color] += len(libs) - (3 if len(libs) == 1 else 0)
        return -(sign * area(size, move[1]) + 0.5 * (breath[player] - breath[3 - player]))

    return sorted(legal, key=promise)


@cache
def safe_points(size, stones, player):
    """Points that `player` keeps without another move: Benson's stones and the regions they enclose."""
    board = _as_dict(size, stones)
    chains = {frozenset(chain(size, board, p)[0]) for p in board if board[p] == player}
    regions = set()
    for p in all_points(size):
        if board.get(p) != player:
            inside, _ = flood(size, p, lambda q: board.get(q) != player)
            regions.add(frozenset(inside))
    empty = {p for p in all_points(size) if p not in board}

    def is_vital(region, stones):
        liberties = chain(size, board, next(iter(stones)))[1]
        return region & empty <= liberties and bool(region & empty)

    while True:
        alive = {c for c in chains if sum(is_vital(region, c) for region in regions) >= 2}
        stones_alive = set().union(*alive)
        kept = {
            region
            for region in regions
            if all(
                board.get(q) != player or q in stones_alive
                for q in flood(size, next(iter(region)), lambda p: board.get(p) != player)[1]
            )
        }
        if alive == chains and kept == regions:
            break
        chains, regions = alive, kept
    # Only small regions count: in one with room for two eyes the opponent might live.
    small = [region for region in regions if any(is_vital(region, c) for c in chains)]
    return len(set().union(*chains)) + sum(len(region) for region in small) if chains else 0


class GaveUpError(Exception):
    """The answer needs more positions than were allowed."""


class Solver:
    """Who wins at a komi that allows no draw."""

    def __init__(self, size, komi, most_positions=10**9):
        self.size, self.komi, self.most_positions = size, komi, most_positions
        self.positions = 0  # looked at so far
        self.first_choice = {}  # what won last, by position and player: tried first, nothing else hangs on it

    def wins(self, stones, player, seen, passed=False):
        """Whether `player`, to move, wins. `seen`: all positions of the game, this one among them."""
        depth, answer = 2, 0
        while answer == 0:  # deeper and deeper, since lines without sense are long ones
            answer = self._result(stones, player, set(seen), passed, depth)
            depth += 1
        return answer > 0

    def _result(self, stones, player, seen, passed, depth):
        """1: `player` wins; -1: loses; 0: not to be seen within so many moves."""
        self.positions += 1
        if self.positions > self.most_positions:
            raise GaveUpError
        size, sign = self.size, 1 if player == BLACK else -1
        for side in (1, 2):
            if 2 * safe_points(size, stones, side) - size * size > (self.komi if side == 1 else -self.komi):
                return 1 if side == player else -1
        ahead = sign * (area(size, stones) - self.komi) > 0
        if passed and ahead:
            return 1
        if depth == 0:
            return 0
        answer = -1
        moves = order(size, stones, player)
        if not passed:
            moves = [(None, stones), *moves] if ahead else [*moves, (None, stones)]
        if choice := self.first_choice.get((stones, player, passed)):
            moves = [choice, *(move for move in moves if move != choice)]
        for point, position in moves:
            if point is None:
                result = self._result(stones, 3 - player, seen, True, depth - 1)
            elif position in seen:
                continue
            else:
                seen.add(position)
                result = self._result(position, 3 - player, seen, False, depth - 1)
                seen.remove(position)
            if result < 0:
                self.first_choice[stones, player, passed] = (point, position)
                return 1
            if result == 0:
                answer = 0
        return answer

    def winning_moves(self, stones, player, seen, passed=False):
        """All moves, by flat index with the pass last, after which `player` still wins."""
        found = []
        for point, position in sorted(order(self.size, stones, player)):
            if position not in seen and not self.wins(position, 3 - player, {*seen, position}):
                found.append(point)
        ahead = (1 if player == BLACK else -1) * (area(self.size, stones) - self.komi) > 0
        if ahead if passed else not self.wins(stones, 3 - player, seen, True):
            found.append(self.size**2)
        return found


def _as_dict(size, stones):
    return {divmod(i, size): ".XO".index(c) for i, c in enumerate(stones) if c != "."}
