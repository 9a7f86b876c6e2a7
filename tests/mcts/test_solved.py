"""Boards so small that a brute-force solver knows the truth: the search must find it.

Covered: on 2×2, every position up to three moves into the game, at every komi, with a network that knows nothing; on
3×3, with such a network, a hundred positions in the middle of random games; the opening and every answer to every
first move with a network that only counts the board as it stands. (One that knows nothing sees finished games only, and
from the empty 3×3 board those that matter are hundreds of thousands of simulations away.)

Who wins hangs on komi. At the komi next to the true score only the best moves win, so winning is playing the best move.
"""

import random
from functools import cache
from itertools import product

import pytest

from mini_alphago.game import Board
from mini_alphago.mcts import Search, SearchSettings

from .evaluators import Area, Uniform
from .solver import GaveUpError, Solver, after

BLACK, WHITE = 1, 2


class Line:
    """A game from the empty board: on a Board for the search, as text for the solver."""

    def __init__(self, size, moves, komi):
        self.board = Board(size, komi=komi)
        self.stones = "." * size * size
        self.seen, self.player, self.passes, self.legal = {self.stones}, BLACK, 0, True
        for move in moves:
            self.play(move)

    def play(self, move):
        size = self.board.size
        position = self.stones if move == size * size else after(size, self.stones, move, self.player)
        passed = move == size * size
        if self.passes == 2 or position is None or (not passed and position in self.seen):
            self.legal = False
        if self.legal:
            self.passes = self.passes + 1 if passed else 0
            self.board.pass_move() if passed else self.board.play(*divmod(move, size))
            self.stones, self.player = position, 3 - self.player
            self.seen.add(position)

    def winning_moves(self, most_positions=10**9):
        solver = Solver(self.board.size, self.board.komi, most_positions)
        return solver.winning_moves(self.stones, self.player, self.seen, self.passes == 1)


def chosen(evaluator, lines, visits):
    """What the search plays in each of the games, all of one size."""
    search = Search(evaluator, len(lines), lines[0].board.size, SearchSettings(nodes=visits + 2))
    for g, line in enumerate(lines):
        search.set_board(line.board, g)
    search.run(visits)
    return [search.best_move(g) for g in range(len(lines))]


def lines_of(size, sequences, komis):
    lines = [Line(size, moves, komi) for moves, komi in product(sequences, komis)]
    return [line for line in lines if line.legal and line.passes < 2]


@cache
def is_won_by_last(moves, komi):
    """Whether, on 3×3, the player of the last of these moves wins after it."""
    turned = tuple(move if move == 9 else 3 * (move % 3) + 2 - move // 3 for move in moves)
    if moves[0] in (2, 5, 6, 7, 8):  # the same as with the first move in the corner 0 or on the edge 1 or 3
        return is_won_by_last(turned, komi)
    line = Line(3, moves, komi)
    assert line.legal
    return not Solver(3, komi).wins(line.stones, line.player, line.seen, line.passes == 1)


# --- what the solver says ---------------------------------------------------------------------------------------------


def test_two_by_two_is_one_point_for_black():
    assert Line(2, [], 0.5).winning_moves() == [0, 1, 2, 3]
    assert Line(2, [], 1.5).winning_moves() == []


@pytest.mark.parametrize(("first", "score"), [(4, 9), (1, 3), (0, -9)], ids=["centre", "edge", "corner"])
def test_three_by_three_by_first_move(first, score):
    """As known since 1972: the centre takes the board, an edge three points, and a corner loses all."""
    for komi, black_wins in ((score - 0.5, True), (score + 0.5, False)):
        line = Line(3, [first], komi)
        assert Solver(3, komi).wins(line.stones, WHITE, line.seen) is not black_wins


# --- what the search finds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_two_by_two(depth):
    lines = lines_of(2, product(range(5), repeat=depth), [-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5])
    checked = 0
    for line, move in zip(lines, chosen(Uniform(), lines, 600), strict=True):
        if winning := line.winning_moves():
            assert move in winning, f"{move} loses, {winning} win\n{line.board}"
            checked += len(winning) < len(line.board.get_legal_moves())
    assert checked >= (1, 6, 40, 150)[depth]  # there was something to choose


def test_three_by_three_in_the_middle_of_a_game():
    rng = random.Random(3)
    lines, answers = [], []
    while len(lines) < 100:
        line = Line(3, [], rng.choice([-2.5, -0.5, 0.5, 2.5]))
        for _ in range(rng.randrange(6, 11)):
            line.play(rng.choice([3 * x + y if x >= 0 else 9 for x, y in line.board.get_legal_moves()]))
            if line.passes == 2:
                break
        try:
            winning = line.winning_moves(most_positions=3000) if line.passes < 2 else []
        except GaveUpError:
            continue
        if 0 < len(winning) < len(line.board.get_legal_moves()):
            lines.append(line)
            answers.append(winning)
    for line, move, winning in zip(lines, chosen(Uniform(), lines, 3000), answers, strict=True):
        assert move in winning, f"{move} loses, {winning} win\n{line.board}"


def test_three_by_three_opening():
    """Black takes all nine points with the centre only, and wins at all with the centre or an edge."""
    lines = lines_of(3, [()], [0.5, 8.5])
    won_by_any, won_by_all = chosen(Area(3.0), lines, 20_000)
    assert won_by_any in (1, 3, 4, 5, 7)
    assert won_by_all == 4


# Komi at which White, to move, wins with the best answers only, and one at which there is more to choose from.
# (That White takes all nine points after the corners 6 and 8 is found, by 20 000 visits, only of their mirror images.)
ANSWERED = [(0, -8.5), (2, -8.5), (9, -8.5)]
ANSWERED += [(corner, -0.5) for corner in (0, 2, 6, 8, 9)] + [(edge, 3.5) for edge in (1, 3, 5, 7)]


def test_three_by_three_answers_to_every_first_move():
    """To the centre there is no answer; to all else White finds it."""
    lines = [Line(3, [first], komi) for first, komi in ANSWERED]
    for (first, komi), line, move in zip(ANSWERED, lines, chosen(Area(3.0), lines, 20_000), strict=True):
        assert is_won_by_last((first, move), komi), f"{move} is not the best\n{line.board}"


def test_three_by_three_black_in_the_centre_answers_everything():
    answers = [0, 1, 2, 3, 5, 6, 7, 8, 9]
    lines = [Line(3, [4, answer], 8.5) for answer in answers]
    for answer, line, move in zip(answers, lines, chosen(Area(3.0), lines, 20_000), strict=True):
        assert is_won_by_last((4, answer, move), 8.5), f"{move} is not the best\n{line.board}"
