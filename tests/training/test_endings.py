"""When a game is over and whose each point then is, drawn; random beginnings; moves made again."""

import numpy as np
import pytest

from mini_alphago.game import BLACK, WHITE, Board, Rules, get_rules, scoring, state
from mini_alphago.game.rules import KO_CODES
from mini_alphago.training.endings import end_of_game, find_ends, new_rooms, play_random, replay_moves
from mini_alphago.training.records import LIMIT, PASSES, SETTLED

from ..game.reference import ReferenceGo, chain, neighbors
from ..game.reference import ownership as slow_ownership
from ..game.test_life import SEKI

GOES_ON = 0


def _end(board, limit=1000, settle=True, move_count=None):
    """How the game on this board has ended, and the ownership then: int8 [size, size]."""
    games, area = board.games, board.size**2
    before = int(games.info[0]["move_count"])
    games.info[0]["move_count"] = area if move_count is None else move_count  # a drawn board has no moves
    owner, other = np.full(area + 1, 9, np.int8), np.zeros(area + 1, np.int8)
    ending = end_of_game(games, 0, limit, settle, scoring.new_scratch(area + 1), owner, other)
    games.info[0]["move_count"] = before
    return ending, owner[:-1].reshape(board.size, board.size)


def _drawn(text):
    """Ownership as it is drawn: x Black's, o White's, . nobody's."""
    rows = [line.split() for line in text.strip().splitlines()]
    return np.array([[{"x": 1, "o": -1, ".": 0}[mark] for mark in row] for row in rows], np.int8)


BOTH_LIVE = """
    . X . X O
    X X X X O
    X X X O O
    O O O O .
    . O . O O"""
BOTH_LIVE_OWNED = """
    x x x x o
    x x x x o
    x x x o o
    o o o o o
    o o o o o"""
DEAD_STONES_INSIDE = """
    . X O . X O .
    X X X X X O O
    X . X X O O .
    X X X O O O O
    O O O O . X O
    O O O O O . O
    . O O O O O O"""
DEAD_OWNED = """
    x x x x x o o
    x x x x x o o
    x x x x o o o
    x x x o o o o
    o o o o o o o
    o o o o o o o
    o o o o o o o"""
ALL_WHITE = """
    . O . O .
    O O O O O
    . . . . .
    O O O O O
    . . . . ."""
OPEN_POINT = """
    . X . X O
    X X X X O
    X X . O O
    X O O O .
    O O . O O"""


ONE_EYE = """
    . X . X O
    X X X X O
    X X X O O
    O O O O O
    . O O O O"""


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize(
    ("drawing", "owned"),
    [
        pytest.param(BOTH_LIVE, BOTH_LIVE_OWNED, id="both live"),
        pytest.param(DEAD_STONES_INSIDE, DEAD_OWNED, id="dead stones inside"),
        pytest.param(ALL_WHITE, "o o o o o\n" * 5, id="all White's"),
    ],
)
def test_settled(drawing, owned, suicide):
    for drawn, sign in ((drawing, 1), (drawing.translate(str.maketrans("XO", "OX")), -1)):
        ending, owner = _end(Board.from_diagram(drawn, rules=Rules(suicide=suicide)))
        assert ending == SETTLED
        np.testing.assert_array_equal(owner, sign * _drawn(owned))


def test_dead_stones_are_settled_otherwise_than_they_stand():
    board = Board.from_diagram(DEAD_STONES_INSIDE, komi=0)
    standing = board.ownership()
    assert standing[0, 2] == -1  # C7 stands, and is dead
    assert standing[4, 5] == 1  # so is F3
    settled = _end(board)[1]
    assert settled[0, 2] == 1
    assert settled[4, 5] == -1
    assert _end(board, limit=49)[0] == SETTLED  # it comes before the limit
    cut, owner = _end(board, limit=49, settle=False)
    assert cut == LIMIT
    np.testing.assert_array_equal(owner, standing)


@pytest.mark.parametrize(
    "drawing",
    [
        pytest.param(SEKI, id="seki"),
        pytest.param(OPEN_POINT, id="a point between the two"),
        pytest.param(". X . . .\n" * 5, id="nobody has two eyes"),
        pytest.param(". . . . .\n" * 5, id="empty"),
        pytest.param(ONE_EYE, id="one of them has one eye"),
    ],
)
def test_not_settled(drawing):
    for drawn in (drawing, drawing.translate(str.maketrans("XO", "OX"))):
        board = Board.from_diagram(drawn)
        assert _end(board)[0] == GOES_ON
        ending, owner = _end(board, limit=board.size**2)
        assert ending == LIMIT
        np.testing.assert_array_equal(owner, board.ownership())


def test_a_game_is_not_settled_where_that_is_not_wanted():
    board = Board.from_diagram(BOTH_LIVE)
    assert _end(board, settle=False)[0] == GOES_ON
    assert _end(board, move_count=12)[0] == GOES_ON  # nobody looks before half the points are played
    assert _end(board, move_count=13)[0] == SETTLED


def test_two_passes_count_the_board_as_it_stands():
    board = Board.from_diagram(DEAD_STONES_INSIDE)
    board.pass_move()
    assert _end(board)[0] == SETTLED
    board.pass_move()
    ending, owner = _end(board)
    assert ending == PASSES
    np.testing.assert_array_equal(owner, board.ownership())
    early = Board(5)
    early.pass_move()
    assert _end(early, move_count=1)[0] == GOES_ON
    early.pass_move()
    assert _end(early, move_count=2) == (PASSES, pytest.approx(np.zeros((5, 5))))


@pytest.mark.parametrize("limit", [1, 7, 20])
def test_the_limit(limit):
    board = Board(5)
    for move in range(limit):
        assert _end(board, limit, move_count=move)[0] == GOES_ON
    assert _end(board, limit, move_count=limit)[0] == LIMIT
    assert _end(board, limit, move_count=limit + 1)[0] == LIMIT


# --- random games -----------------------------------------------------------------------------------------------------


def _new_games(count, size, max_moves=400, rules="cgos"):
    games, chosen = state.new_games(count, size, max_moves), get_rules(rules)
    games.info["ko_rule"], games.info["suicide"] = KO_CODES[chosen.ko], chosen.suicide
    for g in range(count):
        state.clear(games, g)
    return games


def _random_game(games, g, rng, moves):
    area = int(games.info[g]["size"]) ** 2
    play_random(games, g, rng.random(moves), np.zeros(area + 1, np.uint8), np.zeros(area + 1, np.int16))


def _moves(games, g):
    return games.moves[g, : games.info[g]["move_count"]]["point"].tolist()


def _board(moves, size, rules="cgos"):
    board = Board(size, rules=rules)
    for move in moves:
        assert board.play(*divmod(move, size)) if move < size * size else board.pass_move() is None
    return board


@pytest.mark.parametrize("rules", ["cgos", "tromp-taylor"])
def test_settled_is_pass_alive_for_one_or_the_other_in_random_games(rules):
    """Late positions, and the whole batch at once."""
    size, count = 5, 150
    games, rng = _new_games(count, size, rules=rules), np.random.default_rng(1)
    for g in range(count):
        _random_game(games, g, rng, 14 + g)
    ending, owner = np.zeros(count, np.uint8), np.zeros((count, 26), np.int8)
    find_ends(games, 10_000, True, *new_rooms(2, 26), ending, owner)
    for g in range(count):
        board = _board(_moves(games, g), size, rules)
        alive = {player: set.union(*board.pass_alive(player)) for player in (BLACK, WHITE)}
        assert not alive[BLACK] & alive[WHITE]
        assert (ending[g] == SETTLED) == (len(alive[BLACK]) + len(alive[WHITE]) == size * size)
        if ending[g]:
            for x, y in np.ndindex(size, size):
                assert owner[g, x * size + y] == (1 if (x, y) in alive[BLACK] else -1)
    assert 20 < (ending == SETTLED).sum() < count - 20


def _settled_boards(size, seeds):
    """Positions of random games at the first moment at which they are settled."""
    for seed in range(seeds):
        games, rng = _new_games(1, size), np.random.default_rng(seed)
        for _ in range(60):
            _random_game(games, 0, rng, 1)
            board = _board(_moves(games, 0), size)
            if _end(board, move_count=board.move_count)[0] == SETTLED:
                yield board, rng
                break


def test_what_is_settled_stays_so():
    """Each player only ever plays into the other's area: nothing changes hands."""
    found = 0
    for board, rng in _settled_boards(size=5, seeds=40):
        found += 1
        owner = _end(board)[1]
        for _ in range(30):
            other = -1 if board.current_player == BLACK else 1
            moves = [point for point in board.get_legal_moves()[:-1] if owner[point] == other]
            if moves:
                assert board.play(*moves[rng.integers(len(moves))])
            else:
                board.pass_move()
            if board.is_game_over():
                break
            ending, after = _end(board)
            assert ending == SETTLED
            np.testing.assert_array_equal(after, owner)
    assert found > 10


@pytest.mark.parametrize("size", [2, 3, 5, 9])
def test_random_moves_are_legal_and_fill_no_own_eye(size):
    """By the slow rules; they go on until no such move is left."""
    for seed in range(12):
        games = _new_games(1, size)
        rng = np.random.default_rng(seed)
        asked = int(rng.integers(1, 3 * size * size))
        _random_game(games, 0, rng, asked)
        slow = ReferenceGo(size)

        def is_own_eye(point, game=slow):
            return all(game.stones.get(q) == game.player for q in neighbors(game.size, point))

        for move in _moves(games, 0):
            point = divmod(move, size)
            assert not is_own_eye(point)
            slow.play(point)  # asserts that it is legal
        left = [p for p in slow.legal_moves() if p != (-1, -1) and not is_own_eye(p)]
        assert len(_moves(games, 0)) == asked or not left


def test_every_legal_move_may_begin_a_game():
    games = _new_games(1, 3)
    counts = np.zeros(9, int)
    for draw in np.arange(0, 1, 1 / 90):
        state.clear(games, 0)
        play_random(games, 0, np.array([draw]), np.zeros(10, np.uint8), np.zeros(10, np.int16))
        counts[_moves(games, 0)] += 1
    assert counts.tolist() == [10] * 9


@pytest.mark.parametrize("rules", ["cgos", "chinese"])
def test_moves_made_again_give_the_same_board(rules):
    """Stones, chains, ko, prisoners, superko: everything that later moves depend on."""
    size = 5
    played, again = _new_games(20, size, rules=rules), _new_games(1, size, rules=rules)
    for g in range(20):
        _random_game(played, g, np.random.default_rng(g), 4 * g)
        moves = np.array(_moves(played, g) + [size * size] * (g % 2), np.int16)
        replay_moves(again, 0, moves)
        board = _board(moves.tolist(), size, rules)
        assert again.info[0]["move_count"] == len(moves) == board.move_count
        np.testing.assert_array_equal(again.color[0, :-1].reshape(size, size), board.board)
        fields = ["to_move", "ko_point", "passes", "black_prisoners", "white_prisoners"]
        assert again.info[0][fields] == board.games.info[0][fields]
        reasons = np.zeros((2, size * size + 1), np.uint8)
        state.legality_map(again, 0, board.current_player, reasons[0])
        state.legality_map(board.games, 0, board.current_player, reasons[1])
        np.testing.assert_array_equal(*reasons)


def test_ownership_at_the_limit_is_a_slow_flood():
    size = 5
    for seed in range(30):
        games = _new_games(1, size)
        _random_game(games, 0, np.random.default_rng(seed), 3 + seed)
        board = _board(_moves(games, 0), size)
        stones = {(int(x), int(y)): int(board.board[x, y]) for x, y in np.argwhere(board.board)}
        assert all(chain(size, stones, point)[1] for point in stones)
        slow = slow_ownership(size, stones)
        ending, owner = _end(board, limit=0, settle=False)
        assert ending == LIMIT
        for point in np.ndindex(size, size):
            assert owner[point] == {BLACK: 1, WHITE: -1}.get(slow.get(point), 0)
