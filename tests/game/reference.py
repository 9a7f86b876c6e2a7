"""Go, slow and obvious: what the compiled rules are compared with. Used only in tests; imports nothing of the package.

A position is a dict from (x, y) to the colour of the stone there; points without a stone are not in it. `x` is the row
from the top, `y` the column. Chains are found by flooding, superko by comparing whole boards with all earlier ones.
"""

BLACK, WHITE = 1, 2
PASS = (-1, -1)


def neighbors(size, point):
    """The points next to `point`."""
    x, y = point
    around = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
    return [(i, j) for i, j in around if 0 <= i < size and 0 <= j < size]


def flood(size, start, belongs):
    """The connected points around `start` that `belongs` accepts, and the set of points just outside."""
    inside, border, todo = {start}, set(), [start]
    while todo:
        for q in neighbors(size, todo.pop()):
            if not belongs(q):
                border.add(q)
            elif q not in inside:
                inside.add(q)
                todo.append(q)
    return inside, border


def chain(size, stones, point):
    """The chain on `point`: its stones and its liberties."""
    color = stones[point]
    inside, border = flood(size, point, lambda q: stones.get(q) == color)
    return inside, {q for q in border if q not in stones}


def put(size, stones, point, player):
    """The position after `player` plays on an empty `point`: (position, captured stones, own stones lost)."""
    after = dict(stones)
    after[point] = player
    captured = set()
    for q in neighbors(size, point):
        if after.get(q) == 3 - player:
            inside, liberties = chain(size, after, q)
            if not liberties:
                captured |= inside
    for q in captured:
        del after[q]
    own, liberties = chain(size, after, point)
    lost = set() if liberties else own
    for q in lost:
        del after[q]
    return after, captured, lost


def ownership(size, stones):
    """Who owns a point by area: a stone its own, an empty region goes to the one colour it touches, if one it is."""
    owner = dict(stones)
    for point in all_points(size):
        if point not in owner:
            inside, border = flood(size, point, lambda q: q not in stones)
            colors = {stones[q] for q in border}
            owner.update(dict.fromkeys(inside, colors.pop() if len(colors) == 1 else 0))
    return {point: color for point, color in owner.items() if color}


def all_points(size):
    """Every point of the board, in reading order."""
    return [(x, y) for x in range(size) for y in range(size)]


class ReferenceGo:
    """One game. `ko` is simple, positional or situational; `scoring` is area or territory."""

    def __init__(self, size, ko="positional", suicide=False, scoring="area", komi=0.0, stones=(), player=BLACK):
        self.size, self.ko, self.suicide, self.scoring, self.komi = size, ko, suicide, scoring, komi
        self.stones = dict(stones)
        self.player = player
        self.ko_point = None
        self.prisoners = {BLACK: 0, WHITE: 0}
        self.passes = 0
        self.past = [self._situation(self.stones, player)]

    def _situation(self, stones, to_move):
        """What superko compares."""
        return (stones, to_move if self.ko == "situational" else None)

    def why_illegal(self, point, player=None):
        """None if `player` may put a stone on `point`, else the reason."""
        player = player or self.player
        if point in self.stones:
            return "occupied"
        if point == self.ko_point and player == self.player:
            return "ko"
        after, _, lost = put(self.size, self.stones, point, player)
        if lost and (not self.suicide or len(lost) == 1):
            return "suicide"
        if self.ko != "simple" and self._situation(after, 3 - player) in self.past:
            return "superko"
        return None

    def legal_moves(self, player=None):
        """All legal moves, the pass among them."""
        return {PASS} | {point for point in all_points(self.size) if self.why_illegal(point, player) is None}

    def play(self, point):
        """Make a legal move."""
        player = self.player
        self.ko_point = None
        self.passes = self.passes + 1 if point == PASS else 0
        if point != PASS:
            assert self.why_illegal(point) is None
            self.stones, captured, lost = put(self.size, self.stones, point, player)
            self.prisoners[player] += len(captured)
            self.prisoners[3 - player] += len(lost)
            if len(captured) == 1 and not lost:
                own, liberties = chain(self.size, self.stones, point)
                if len(own) == 1 and len(liberties) == 1:
                    (self.ko_point,) = captured
        self.player = 3 - player
        self.past.append(self._situation(self.stones, self.player))

    def is_over(self):
        """Whether both players have just passed."""
        return self.passes >= 2

    def score(self, dead=()):
        """Black's points minus White's minus komi, once the chains named by `dead` are off the board."""
        left = dict(self.stones)
        for point in dead:
            for q in chain(self.size, self.stones, point)[0]:
                left.pop(q, None)
        owner = ownership(self.size, left)
        points = {BLACK: 0, WHITE: 0}
        for point, color in owner.items():
            if self.scoring == "area" or point not in left:
                points[color] += 1
        if self.scoring == "territory":
            for color in (BLACK, WHITE):
                removed = [q for q in self.stones if q not in left and self.stones[q] == 3 - color]
                points[color] += self.prisoners[color] + len(removed)
        return points[BLACK] - points[WHITE] - self.komi
