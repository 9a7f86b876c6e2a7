"""Random games against the slow reference: everything observable, after every move, under every rule."""

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mini_alphago.game import Board, Rules

from .reference import BLACK, PASS, WHITE, ReferenceGo, all_points, chain, ownership

COMMON = settings(deadline=None, derandomize=True, database=None)
ALL_RULES = [
    Rules(ko=ko, suicide=suicide, scoring=scoring, komi=0.5)
    for ko, suicide, scoring in product(("simple", "positional", "situational"), (False, True), ("area", "territory"))
]
# Small boards most of the time: captures, kos and repetitions are everywhere on them.
small_sizes = st.sampled_from([2, 2, 3, 3, 3, 4, 4, 5, 6, 7])


class Pair:
    """The same game on a Board and on the reference."""

    def __init__(self, size, rules, stones=(), player=BLACK):
        self.board = Board(size, rules=rules)
        self.reference = ReferenceGo(
            size, rules.ko, rules.suicide, rules.scoring, rules.komi or 0.0, stones=stones, player=player
        )
        if stones or player != BLACK:
            black, white = ([p for p, color in dict(stones).items() if color == c] for c in (BLACK, WHITE))
            self.board.setup(black, white, player=player)

    def play(self, move):
        if move == PASS:
            self.board.pass_move()
        else:
            assert self.board.play(*move)
        self.reference.play(move)

    def check(self, dead_picks=()):
        board, reference = self.board, self.reference
        assert stones_of(board) == reference.stones
        assert board.current_player == reference.player
        assert board.ko_point == reference.ko_point
        assert board.prisoners == reference.prisoners
        assert board.is_game_over() == reference.is_over()
        legal = board.get_legal_moves()
        assert set(legal) == reference.legal_moves()
        assert legal == [*sorted(legal[:-1]), PASS]  # board order
        self.check_chains()
        stones = sorted(reference.stones)
        dead = [stones[pick % len(stones)] for pick in dead_picks if stones]
        assert board.score(dead) == reference.score(dead)
        assert board.score() == reference.score()

    def check_chains(self):
        for point in self.reference.stones:
            stones, liberties = chain(self.board.size, self.reference.stones, point)
            assert self.board.count_liberties(*point) == len(liberties)
            if point == min(stones):  # each chain once: the sets are slow
                assert self.board.get_group(*point) == (stones, liberties)

    def check_reasons(self):
        """Why each move of either player is illegal; slow."""
        for point, player in product(all_points(self.board.size), (BLACK, WHITE)):
            assert self.board.why_illegal(*point, player) == self.reference.why_illegal(point, player)


def stones_of(board):
    return {(int(x), int(y)): int(board.board[x, y]) for x, y in np.argwhere(board.board)}


def choose(pair, pick, window):
    """A move for a random byte: now and then a pass, else a legal point, within `window` while there is one."""
    if pick >= 246:
        return PASS
    legal = sorted(pair.reference.legal_moves() - {PASS})
    low, high = window
    near = [p for p in legal if low <= p[0] <= high and low <= p[1] <= high] or legal
    return near[pick % len(near)] if near else PASS


def random_game(pair, picks, window=(0, 18)):
    """Play it, and yield after each move."""
    for pick in picks:
        if pair.reference.is_over():
            return
        pair.play(choose(pair, pick, window))
        yield


@settings(COMMON, max_examples=200)
@given(
    size=small_sizes,
    rules=st.sampled_from(ALL_RULES),
    picks=st.binary(min_size=10, max_size=70),
    dead=st.lists(st.integers(0, 99), max_size=3),
)
def test_every_move_of_small_games(size, rules, picks, dead):
    pair = Pair(size, rules)
    pair.check()
    for _ in random_game(pair, picks):
        pair.check(dead)
        if size <= 3:
            pair.check_reasons()


@pytest.mark.parametrize("size", range(2, 20))
def test_every_size(size):
    @settings(COMMON, max_examples=6 if size < 10 else 3)
    @given(
        rules=st.sampled_from(ALL_RULES),
        picks=st.binary(min_size=30, max_size=60),
        corner=st.integers(0, size - 1),
        dead=st.lists(st.integers(0, 99), max_size=3),
    )
    def play(rules, picks, corner, dead):
        pair = Pair(size, rules)
        for _ in random_game(pair, picks, window=(corner - 2, corner + 2)):  # fights, also on a large board
            pair.check(dead)

    play()


@pytest.mark.parametrize("rules", ALL_RULES, ids=lambda r: f"{r.ko}-{'suicide' if r.suicide else 'plain'}-{r.scoring}")
def test_every_rule_in_long_games(rules):
    """Hundreds of moves on tiny boards, where superko decides nearly every legal move."""

    @settings(COMMON, max_examples=10)
    @given(size=st.integers(2, 4), picks=st.binary(min_size=80, max_size=160))
    def play(size, picks):
        pair = Pair(size, rules)
        for _ in random_game(pair, picks):
            pair.check()

    play()


@settings(COMMON, max_examples=60)
@given(size=small_sizes, rules=st.sampled_from(ALL_RULES), picks=st.binary(min_size=5, max_size=60))
def test_undo_goes_back_to_the_start(size, rules, picks):
    pair = Pair(size, rules)
    before = [pair.board.copy()]
    legal = [pair.board.get_legal_moves()]
    for _ in random_game(pair, picks):
        before.append(pair.board.copy())
        legal.append(pair.board.get_legal_moves())
    for earlier, moves in zip(before[-2::-1], legal[-2::-1], strict=True):
        assert pair.board.undo()
        assert pair.board == earlier
        assert pair.board.history == earlier.history
        assert pair.board.prisoners == earlier.prisoners
        assert pair.board.get_legal_moves() == moves  # superko forgets the move as well
    assert not pair.board.undo()
    assert pair.board == Board(size, rules=rules)


@settings(COMMON, max_examples=40)
@given(
    size=small_sizes,
    rules=st.sampled_from(ALL_RULES),
    picks=st.binary(min_size=4, max_size=50),
    later=st.binary(min_size=4, max_size=20),
)
def test_copies_and_pickles_live_on_their_own(size, rules, picks, later):
    pair = Pair(size, rules)
    for _ in random_game(pair, picks):
        pass
    original = pair.board
    restored = pickle.loads(pickle.dumps(original))
    copied = original.copy()
    assert original == copied == restored
    assert restored.history == original.history
    pair.board = copied
    for _ in random_game(pair, later):  # the copy knows the history: superko agrees with the reference
        pair.check()
    assert original == restored
    assert original.history == restored.history
    assert original.get_legal_moves() == restored.get_legal_moves()


@settings(COMMON, max_examples=40)
@given(size=st.integers(2, 19), picks=st.binary(max_size=40))
@example(size=9, picks=b"\x00")  # the last stone is drawn in parentheses: next to the row number
@example(size=9, picks=b"\x08")
@example(size=10, picks=b"\x5a")
def test_diagram_round_trip(size, picks):
    pair = Pair(size, ALL_RULES[0])
    for _ in random_game(pair, picks):
        pass
    board = pair.board
    if board.is_game_over():
        board.undo()  # a drawing of a finished game does not say whose turn it would be
    again = Board.from_diagram(str(board), rules=ALL_RULES[0])
    assert np.array_equal(again.board, board.board)
    assert again.current_player == board.current_player


@settings(COMMON, max_examples=60)
@given(
    size=st.integers(2, 9),
    rules=st.sampled_from(ALL_RULES),
    colors=st.binary(min_size=81, max_size=81),
    density=st.integers(10, 120),
    picks=st.binary(max_size=12),
    player=st.sampled_from((BLACK, WHITE)),
)
def test_setup_counts_liberties_exactly(size, rules, colors, density, picks, player):
    """Stones set up in any order make the same chains as stones played, and the game goes on from there."""
    stones = {}
    for point, value in zip(all_points(size), colors, strict=False):
        if value < 2 * density:
            stones[point] = BLACK if value < density else WHITE
    stones = {p: color for p, color in stones.items() if chain(size, stones, p)[1]}
    # Taking chains off leaves liberties to the rest, so that this is a legal position.
    pair = Pair(size, rules, stones, player)
    pair.check()
    owner = pair.board.ownership()
    expected = ownership(size, stones)
    assert all(owner[p] == {BLACK: 1, WHITE: -1}.get(expected.get(p), 0) for p in all_points(size))
    for _ in random_game(pair, picks):
        pair.check()
