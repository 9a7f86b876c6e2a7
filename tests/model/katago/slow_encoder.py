"""KataGo's input features version 7 once more, slowly: sets of points, plain recursion, no shortcut in ladders.

Points are (x, y), x the row from the top. A position is a dict from points to colours; see `tests/game/reference.py`.
"""

from typing import Any

import numpy as np

from mini_alphago.game import BLACK, WHITE, Board
from tests.game.reference import all_points, chain, flood, neighbors, put
from tests.model.slow_encoder import past_boards

# By the table of rule sets: those where a first pass is only an offer to end the game.
FRIENDLY_PASS = {"chinese", "aga", "new-zealand"}

Point = tuple[int, int]
Stones = dict[Point, int]


def stones_of(board: Board) -> Stones:
    return {(x, y): int(board.board[x, y]) for x, y in all_points(board.size) if board.board[x, y]}


# --- ladders --------------------------------------------------------------------------------------------------------


def play(size: int, stones: Stones, ko: Point | None, point: Point, player: int) -> tuple[Stones, Point | None] | None:
    """The position and ko point after a move by the rules of ladders, None if it is illegal."""
    after, taken, lost = put(size, stones, point, player)
    if lost or point == ko:
        return None
    own, liberties = chain(size, after, point)
    return after, min(taken) if len(taken) == len(own) == len(liberties) == 1 else None


def captures(size: int, stones: Stones, target: Point) -> set[Point]:
    """Where the chain can take attackers that touch it."""
    own, _ = chain(size, stones, target)
    around = {q for p in own for q in neighbors(size, p) if q in stones and q not in own}
    liberties = [chain(size, stones, q)[1] for q in around]
    return {min(points) for points in liberties if len(points) == 1}


def is_double_ko(size: int, stones: Stones, target: Point) -> bool:
    defender = stones[target]
    if captures(size, stones, target):
        return False
    for point in chain(size, stones, target)[1]:
        around = neighbors(size, point)
        if any(stones.get(q) != defender for q in around):
            return False
        in_atari = [q for q in around if len(chain(size, stones, q)[1]) == 1]
        if len(in_atari) != 1 or len(chain(size, stones, in_atari[0])[0]) != 1:
            return False
        if len(chain(size, {**stones, point: defender}, point)[1]) > 2:
            return False
    return True


def captured(size: int, stones: Stones, ko: Point | None, target: Point, depth: int = 0) -> bool:
    """Whether the chain on `target` is lost; its owner is to move at even depths."""
    if depth >= 3 * size * size // 2:
        return True
    defender = stones[target]
    _, liberties = chain(size, stones, target)
    if depth % 2 == 0:
        if len(liberties) >= 2 or ko is not None:
            return False
        player, moves = defender, captures(size, stones, target) | liberties
    else:
        if len(liberties) != 2:
            return len(liberties) < 2
        if is_double_ko(size, stones, target):
            return True
        player, moves = 3 - defender, liberties
    wanted = player != defender
    for point in moves:
        after = play(size, stones, ko, point, player)
        if after is not None and captured(size, *after, target, depth + 1) == wanted:
            return wanted
    return not wanted


def ladders(size: int, stones: Stones, ko: Point | None) -> tuple[set[Point], dict[int, set[Point]]]:
    """The stones that ladders capture, and the moves that begin them by the colour of the chain."""
    laddered: set[Point] = set()
    working: dict[int, set[Point]] = {BLACK: set(), WHITE: set()}
    seen: set[Point] = set()
    for target, color in stones.items():
        if target in seen:
            continue
        own, liberties = chain(size, stones, target)
        seen |= own
        if len(liberties) == 1 and captured(size, stones, None, target):
            laddered |= own
        if len(liberties) == 2:
            for point in liberties:
                after = play(size, stones, ko, point, 3 - color)
                if after is not None and captured(size, after[0], None, target):
                    laddered |= own
                    working[color].add(point)
    return laddered, working


# --- area -----------------------------------------------------------------------------------------------------------


def claim(size: int, stones: Stones, player: int, suicide: bool, owner: Stones) -> None:
    """Benson's step for one colour, written to `owner`."""
    if player not in stones.values():
        return
    chains = {frozenset(chain(size, stones, p)[0]) for p, color in stones.items() if color == player}
    points = [p for p in all_points(size) if stones.get(p) != player]
    regions = {frozenset(flood(size, p, lambda q: stones.get(q) != player)[0]) for p in points}

    def touches(point: Point, group: frozenset[Point]) -> bool:
        return any(q in group for q in neighbors(size, point))

    def is_vital(region: frozenset[Point], group: frozenset[Point]) -> bool:
        return all(touches(p, group) for p in region if suicide or p not in stones)

    alive, good = set(chains), set(regions)
    while weak := {c for c in alive if sum(is_vital(r, c) for r in good) < 2}:
        alive -= weak
        good = {r for r in good if not any(touches(p, c) for p in r for c in weak)}
    for group in alive:
        owner.update(dict.fromkeys(group, player))
    for region in regions:
        inner = [p for p in region if not any(stones.get(q) == player for q in neighbors(size, p))]
        is_clean = not any(p in stones for p in region)
        if region in good and (len(inner) <= 1 or is_clean):
            owner.update(dict.fromkeys(region, player))
        elif is_clean:
            for point in region:
                owner.setdefault(point, player)


def full_area(size: int, stones: Stones, suicide: bool) -> Stones:
    owner: Stones = {}
    claim(size, stones, BLACK, suicide, owner)
    claim(size, stones, WHITE, suicide, owner)
    return {**stones, **owner}


def taxed_area(size: int, stones: Stones, suicide: bool) -> Stones:
    """The full area without the eyes of what is in seki."""
    full = full_area(size, stones, suicide)
    result: Stones = {}
    for point, color in full.items():
        inside, border = flood(size, point, lambda q, color=color: full.get(q) == color)
        seki = any(q not in stones and q not in full for q in border) or any(
            stones.get(q) == color and len(chain(size, stones, q)[1]) == 1 for q in inside
        )
        if not seki or stones.get(point) == color:
            result[point] = color
    return result


# --- the game -------------------------------------------------------------------------------------------------------


class Game:
    """A board with all that came before it."""

    def __init__(self, board: Board) -> None:
        self.boards = past_boards(board)[::-1]  # the oldest first
        first = len(board.history) - len(self.boards) + 1
        self.moves = [((x, y), player) for x, y, player in board.history[first:]]
        self.stones = [stones_of(past) for past in self.boards]
        self.board, self.count = board, len(self.moves)

    def is_pass(self, move: int) -> bool:
        return self.moves[move][0] == (-1, -1)

    def situation(self, count: int) -> tuple[Stones, int]:
        return self.stones[count], self.boards[count].current_player

    def is_repeated_pass(self, count: int) -> bool:
        """Whether the player to move after `count` moves has passed before in the same situation."""
        earlier = [i for i in range(count) if self.is_pass(i)]
        return self.board.rules.ko == "simple" and any(self.situation(i) == self.situation(count) for i in earlier)

    def has_ended(self, count: int) -> bool:
        """Whether the game was over after `count` moves."""
        if count == 0:
            return False
        if self.is_pass(count - 1):
            return (count > 1 and self.is_pass(count - 2)) or self.is_repeated_pass(count - 1)
        since = max((i + 1 for i in range(count) if self.is_pass(i)), default=0)
        past = [self.situation(i) for i in range(since, count + 1)]
        return self.board.rules.ko == "simple" and past.count(self.situation(count)) >= 3

    def valid_turns(self) -> int:
        turns = 0
        for count in range(1, self.count + 1):
            turns = (min(turns, 1) if self.has_ended(count - 1) else turns) + 1
            if self.board.rules.scoring == "territory" and self.has_ended(count):
                turns = min(turns, 1)
        return turns

    def banned(self) -> set[Point]:
        """Points that ko and superko forbid."""
        board, stones = self.board, self.stones[-1]
        banned = set() if board.ko_point is None else {board.ko_point}
        if board.rules.ko == "simple":
            return banned
        by_player = board.rules.ko == "situational"
        seen = [(self.stones[i], self.boards[i].current_player if by_player else 0) for i in range(self.count + 1)]
        for point in all_points(board.size):
            if point not in stones:
                after, _, lost = put(board.size, stones, point, board.current_player)
                legal = not lost or (board.rules.suicide and len(lost) > 1)
                if legal and (after, 3 - board.current_player if by_player else 0) in seen:
                    banned.add(point)
        return banned


def self_komi(game: Game) -> float:
    board = game.board
    komi = board.komi + board.rules.compensation_for(board.handicap)
    if board.rules.scoring == "territory":
        start = list(game.stones[0].values())
        taken = game.boards[0].prisoners
        komi += start.count(BLACK) - start.count(WHITE) - (taken[BLACK] - taken[WHITE])
        komi += sum(3 - 2 * player for i, (_, player) in enumerate(game.moves) if not game.is_pass(i))
    limit = board.size**2 + 20
    return max(-limit, min(limit, komi if board.current_player == WHITE else -komi))


def wave(komi: float, area: int) -> float:
    d = (komi - area % 2) % 2
    if d < 0.5:
        return d
    return 1 - d if d < 1.5 else d - 2


def history(game: Game, rules: str, planes: np.ndarray, row: np.ndarray) -> int:
    """Planes 9 to 13, inputs 0 to 4 and 14; how many moves are shown."""
    board = game.board
    in_a_row = int(board.games.info[0]["passes"])  # not from the moves: a game that was resumed starts counting anew
    repeated = game.is_repeated_pass(game.count)
    ends = in_a_row + 1 >= 2 or repeated
    limit = 5
    if rules in FRIENDLY_PASS and in_a_row + 1 == 2 and not repeated:
        limit, ends = 0, False
    elif game.has_ended(game.count):
        limit = 1
    row[14] = ends
    shown = 0
    for i in range(min(limit, game.valid_turns())):
        point, player = game.moves[-1 - i]
        if player != (3 - board.current_player if i % 2 == 0 else board.current_player):
            break
        if point == (-1, -1):
            row[i] = 1
        else:
            planes[(9 + i, *point)] = 1
        shown = i + 1
    return shown


def encode(board: Board, rules: str, tax: int = -1, suicide: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Planes [22, size, size] and inputs [19] of a board; `rules` is the name of its rule set."""
    game, size, me = Game(board), board.size, board.current_player
    planes, row = np.zeros((22, size, size), np.float32), np.zeros(19, np.float32)
    territory = board.rules.scoring == "territory"
    tax = tax if tax >= 0 else int(territory)

    def show(plane: int, points: Any) -> None:
        for point in points:
            planes[(plane, *point)] = 1

    stones = game.stones[-1]
    planes[0] = 1
    for point, color in stones.items():
        show(1 if color == me else 2, [point])
        if (liberties := len(chain(size, stones, point)[1])) <= 3:
            show(2 + liberties, [point])
    show(6, game.banned())
    shown = history(game, rules, planes, row)
    for back in range(3):
        now = game.count - min(back, shown)
        laddered, working = ladders(size, game.stones[now], game.boards[now].ko_point)
        show(14 + back, laddered)
        if back == 0:
            show(17, working[3 - me])
    if not territory:
        area = (taxed_area if tax else full_area)(size, stones, suicide or board.rules.suicide)
        show(18, [p for p, color in area.items() if color == me])
        show(19, [p for p, color in area.items() if color != me])
    komi = self_komi(game)
    row[5] = komi / 20
    row[6:8] = {"simple": (0, 0), "positional": (1, 0.5), "situational": (1, -0.5)}[board.rules.ko]
    row[8:12] = board.rules.suicide, territory, tax > 0, tax == 2
    row[18] = 0 if territory else wave(komi, size * size)
    return planes, row
