"""KataGo's input features: golden values, drawn ladders, life and kos, and a slow encoder beside random games."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mini_alphago.game import BLACK, WHITE, Board, stack_boards
from mini_alphago.game.coords import to_gtp
from mini_alphago.model import get_encoding
from mini_alphago.model.katago.features import SMALLEST, TAX_ALL, TAX_SEKI, FeaturesV7, read_numbers

from ...game.test_drawn import SEND_TWO
from ..test_features import random_board
from . import slow_encoder
from .small import play

RULES = ["cgos", "tromp-taylor", "chinese", "japanese", "aga", "new-zealand"]


def encode(board: Board, **options: int) -> tuple[np.ndarray, np.ndarray]:
    """Planes [22, size, size] and inputs [19]."""
    width = max(board.size, SMALLEST)
    planes, reasons = np.full((1, 23, width * width), 99, np.int8), np.empty((1, board.size**2 + 1), np.uint8)
    FeaturesV7(**options).write(board.games, np.arange(1), reasons, planes)
    planes = planes.reshape(1, 23, width, width)
    return planes[0, :22, : board.size, : board.size].astype(np.float32), read_numbers(planes[:, 22])[0]


def names(plane: np.ndarray) -> str:
    """The points of a plane as in GTP, sorted."""
    return " ".join(sorted(to_gtp(int(x), int(y), len(plane)) for x, y in zip(*np.nonzero(plane), strict=True)))


def drawn(text: str, player: int = BLACK, rules: str = "chinese") -> Board:
    return Board.from_diagram(text, rules=rules, player=player)


def laddered(text: str, player: int = BLACK) -> tuple[str, str]:
    """Stones that ladders capture, and the moves that begin one against the opponent; the slow search agrees."""
    board = drawn(text, player)
    planes, _ = encode(board)
    stones, moves = slow_encoder.ladders(board.size, slow_encoder.stones_of(board), None)
    assert set(zip(*np.nonzero(planes[14]), strict=True)) == stones
    assert set(zip(*np.nonzero(planes[17]), strict=True)) == moves[3 - player]
    assert np.array_equal(planes[14], planes[15])  # no history is the same as nothing changed
    assert np.array_equal(planes[14], planes[16])
    return names(planes[14]), names(planes[17])


# --- golden values --------------------------------------------------------------------------------------------------


def test_an_empty_board() -> None:
    planes, row = encode(Board(9, 7.5, "tromp-taylor"))
    assert planes[0].all()
    assert not planes[1:].any()
    assert {i: value for i, value in enumerate(row.tolist()) if value} == {5: -0.375, 6: 1, 7: 0.5, 8: 1, 18: -0.5}


def test_six_moves_with_a_ladder() -> None:
    """The position and the planes that KataGo's own features give for it."""
    planes, row = encode(play(Board(9, 7.5, "tromp-taylor"), "E6 E5 D5 G7 D4 C3"))
    expected = {
        1: "D4 D5 E6", 2: "C3 E5 G7", 4: "E5", 5: "E6", 9: "C3", 10: "D4", 11: "G7", 12: "D5", 13: "E5", 14: "E5",
        15: "E5", 17: "F5", 18: "D4 D5 E6", 19: "C3 E5 G7",
    }  # fmt: skip
    assert planes[0].all()
    assert {plane: names(planes[plane]) for plane in range(1, 22) if planes[plane].any()} == expected
    assert np.array_equal(row, encode(Board(9, 7.5, "tromp-taylor"))[1])


@pytest.mark.parametrize(
    ("rules", "komi", "moves", "inputs"),
    [
        ("chinese", 7.5, "E5", {5: 0.375, 18: 0.5}),
        ("japanese", 6.5, "E5 C3 G7", {5: 7.5 / 20, 9: 1, 10: 1}),
        ("aga", 7.5, "E5", {5: 0.375, 6: 1, 7: -0.5, 18: 0.5}),
        ("tromp-taylor", 7.5, "E5 pass", {0: 1, 5: -0.375, 6: 1, 7: 0.5, 8: 1, 14: 1, 18: -0.5}),
        ("chinese", 7.5, "E5 pass", {5: -0.375, 18: -0.5}),
        ("japanese", 6.5, "E5 pass", {0: 1, 5: -7.5 / 20, 9: 1, 10: 1, 14: 1}),
        ("chinese", 7.5, "E5 pass pass", {0: 1, 5: 0.375, 14: 1, 18: 0.5}),
        ("chinese", 300, "E5", {5: 101 / 20, 18: 0}),
        ("chinese", 6, "E5", {5: 0.3, 18: 0}),
    ],
)
def test_typical_settings(rules: str, komi: float, moves: str, inputs: dict[int, float]) -> None:
    planes, row = encode(play(Board(9, komi, rules), moves))
    np.testing.assert_allclose(row, [inputs.get(i, 0) for i in range(19)], atol=1e-6)
    if moves == "E5 pass":
        assert names(planes[10]) == ("" if rules == "chinese" else "E5")


def test_komi_parity_is_a_wave() -> None:
    waves = [encode(play(Board(size, komi / 2), "B2"))[1][18] for size in (4, 5) for komi in range(5)]
    assert waves == [0, 0.5, 0, -0.5, 0, 0, -0.5, 0, 0.5, 0]


def test_a_pass_that_repeats_itself_would_end_the_game() -> None:
    """Under the simple ko rule: the same player, the same stones, one pass before."""
    board = Board.from_diagram(
        """
        . X O . .
        X . X O .
        . X O . .
        . . . . .
        . . . . .
        """,
        rules="japanese",
        player=WHITE,
    )
    play(board, "B4 pass")  # White takes the ko, Black passes
    assert encode(board)[1][14] == 1
    play(board, "E1 A1 pass")
    assert encode(board)[1][14] == 1
    assert encode(play(board, "B1"))[1][14] == 0


# --- ladders --------------------------------------------------------------------------------------------------------

LADDER = """
    . . . . . . . . .
    . . . . . . . . .
    . . . . . . . . .
    . . . . X . . . .
    . . . X O . . . .
    . . . X . . . . .
    . . . . . . . . .
    . . . . . . {} . .
    . . . . . . . . .
"""


def test_a_ladder_that_works() -> None:
    assert laddered(LADDER.format(".")) == ("E5", "F5")
    assert laddered(LADDER.format("."), WHITE) == ("E5", "")  # the moves are the attacker's


def test_a_ladder_with_a_breaker() -> None:
    assert laddered(LADDER.format("O")) == ("", "")
    assert laddered(LADDER.format("X")) == ("E5", "F5")  # a stone of the attacker's in the way changes nothing


def test_a_stone_crawls_along_the_edge_into_the_corner() -> None:
    crawl = """
        O . . . .
        X . . {} .
        . . . . .
        . . . . .
        . . . . .
    """
    assert laddered(crawl.format(".")) == ("A5", "")
    assert laddered(crawl.format("O")) == ("", "")


def test_next_to_the_corner_only_the_way_out_is_to_be_closed() -> None:
    """A stone in the corner would itself be in atari."""
    text = """
        . O . . .
        . X . . .
        . . . . .
        . . . . .
        . . . . .
    """
    assert laddered(text) == ("B5", "C5")


def test_two_ladders_at_once_one_of_each_colour() -> None:
    text = """
        . . . . . . . . . . . . .
        . . . . . . . . . . . . .
        . . . . . . . . . . . . .
        . . . . . O . . . . . . .
        . . . . X O . . . . . . .
        . . . . O . . . . . . . .
        . . . . . . . . . . . . .
        . . . . . . . . X . . . .
        . . . . . . . X O . . . .
        . . . . . . . X . . . . .
        . . . . . . . . . . . . .
        . . . . . . . . . . . . .
        . . . . . . . . . . . . .
    """
    assert laddered(text, BLACK) == ("E9 J5", "K5")
    assert laddered(text, WHITE) == ("E9 J5", "D9")


def test_taking_an_attacker_ends_a_ladder() -> None:
    """With White around E6 it is in atari, and White takes it."""
    text = """
        . . . . . . . . .
        . . . . . . . . .
        . . . . {0} . . . .
        . . . {0} X . . . .
        . . . X O X . . .
        . . . X . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """
    assert laddered(text.format(".")) == ("E5", "")
    assert laddered(text.format("O")) == ("", "")


def test_two_kos_do_not_save_a_chain() -> None:
    """A3 and A2 have but the liberties A4 and A1: White takes a ko there, and the other one if Black takes it back."""
    stones, moves = laddered(
        """
        X O O O .
        . X . X O
        X O . X O
        X O . X X
        . X O . X
        """,
        WHITE,
    )
    assert {"A2", "A3"} <= set(stones.split())
    assert moves == "A1 A4 C4"


def test_a_ladder_is_shown_as_it_was_two_moves_ago() -> None:
    board = play(drawn(LADDER.format(".")), "C8 G2")
    planes, _ = encode(board)
    assert [names(planes[plane]) for plane in (14, 15, 16, 17)] == ["", "E5", "E5", ""]
    board.pass_move()  # by Chinese rules, nothing is shown of the past after one pass
    assert not encode(board)[0][9:18].any()


# --- life, area, kos ------------------------------------------------------------------------------------------------

LIFE = """
    . X . X O . .
    X X X X O . .
    . . O X O . .
    O . . X O O O
    X X X X O . .
    . . . . O . O
    . . . . O O .
"""


def test_dead_stones_belong_to_the_life_around_them() -> None:
    """Black's upper left is pass-alive by two eyes, but White's stones there have room to live."""
    board = drawn(LIFE)
    planes, _ = encode(board)
    stones, regions = board.pass_alive(BLACK)
    assert planes[18, 0, 0] == planes[18, 0, 2] == 1
    for x, y in stones | regions:
        assert planes[18, x, y] == 1
    assert not (planes[18] * planes[19]).any()
    white, _ = encode(drawn(LIFE, WHITE))
    assert np.array_equal(white[18], planes[19])
    assert np.array_equal(white[19], planes[18])


def test_one_stone_owns_the_whole_board() -> None:
    assert encode(play(Board(5), "C3"))[0][18:20].all(axis=(1, 2)).tolist() == [False, True]


def test_territory_rules_show_no_area() -> None:
    assert not encode(drawn(LIFE, rules="japanese"))[0][18:20].any()


def test_a_tax_takes_the_eyes_of_what_is_in_seki() -> None:
    """Nobody owns the points of the middle line, so both sides are in seki there and keep their stones alone."""
    text = """
        . X . O . O
        X X . O O O
        . X . O . .
        X X . O O O
        . X . O . O
        X X . O O .
    """
    board = drawn(text)
    free, _ = encode(board)
    taxed, row = encode(board, tax=TAX_SEKI)
    assert names(free[18]) == "A1 A2 A3 A4 A5 A6 B1 B2 B3 B4 B5 B6"
    assert names(taxed[18]) == "A1 A3 A5 B1 B2 B3 B4 B5 B6"
    assert row[10:12].tolist() == [1, 0]
    assert encode(board, tax=TAX_ALL)[1][10:12].tolist() == [1, 1]


def test_life_may_reckon_with_suicide() -> None:
    """White's stone touches nothing of Black's; where White may fill that eye and vanish, it is none for sure."""
    text = """
        X X X X X X .
        . X . . . X .
        X X . O . X .
        X X . . . X .
        . X X X X X .
        . . . . . . .
        . . . . . . .
    """
    without, reckoned = encode(drawn(text))[0], encode(drawn(text), pass_alive_suicide=True)[0]
    assert without[18].all()
    assert names(reckoned[18] == 0) == "C4 C5 C6 D4 D5 D6 E4 E5 E6"
    assert names(reckoned[19]) == "D5"
    assert np.array_equal(encode(drawn(text, rules="new-zealand"))[0][18], reckoned[18])


@pytest.mark.parametrize(("rules", "banned"), [("chinese", ""), ("tromp-taylor", "B5"), ("cgos", "B5"), ("aga", "")])
def test_superko_after_sending_two_and_returning_one(rules: str, banned: str) -> None:
    """White sends two stones, Black takes them with one; taking that back would repeat the position, Black to move."""
    board = play(drawn(SEND_TWO, WHITE, rules), "A5 C5")
    assert names(encode(board)[0][6]) == banned


def test_the_ko_point_is_banned_by_all_rules() -> None:
    text = """
        . O X . .
        O X . X .
        . O X . .
        . . . . .
        . . . . .
    """
    for rules in RULES:
        planes, _ = encode(play(drawn(text, WHITE, rules), "C4"))
        assert names(planes[6]) == "B4"


# --- beside the slow encoder ----------------------------------------------------------------------------------------


def check(board: Board, rules: str, tax: int = -1, suicide: bool = False) -> np.ndarray:
    planes, row = encode(board, tax=tax, pass_alive_suicide=suicide)
    slow_planes, slow_row = slow_encoder.encode(board, rules, tax, suicide)
    for plane in range(22):
        np.testing.assert_array_equal(planes[plane], slow_planes[plane], err_msg=f"plane {plane} of\n{board}")
    np.testing.assert_allclose(row, slow_row, atol=1e-6, err_msg=str(board))
    return planes


@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    st.sampled_from([2, 3, 4, 5, 6, 7, 9]), st.sampled_from(RULES), st.sampled_from([-1, 0, 1, 2]), st.booleans(),
    st.integers(0, 2**32),
)  # fmt: skip
def test_random_games(size: int, rules: str, tax: int, suicide: bool, seed: int) -> None:
    rng = random.Random(seed)
    check(random_board(size, rng.randrange(2 * size * size), rng, rules), rules, tax, suicide)


def test_long_games_on_a_small_board() -> None:
    """Kos, superko bans, ladders, passes and repeated situations: all of them come up here."""
    rng = random.Random(3)
    seen = np.zeros(22, bool)
    for rules in RULES:
        board = Board(4, 1.5, rules)
        for move in range(70):
            if board.is_game_over():
                board.resume()
            x, y = rng.choice(board.get_legal_moves())
            if x < 0:
                board.pass_move()
            else:
                board.play(x, y)
            if move % 2:
                seen |= check(board, rules).any(axis=(1, 2))
    assert np.flatnonzero(~seen).tolist() == [7, 8, 20, 21]


def test_out_of_turn_moves_cut_the_history() -> None:
    board = play(Board(9), "E5 C3")
    board.current_player = WHITE
    play(board, "G7")
    planes = check(board, "cgos")
    assert names(planes[9]) == "G7"
    assert not planes[10:14].any()


def test_a_batch_is_its_games_each_in_the_corner_of_the_planes() -> None:
    rng = random.Random(11)
    sizes = (5, 13, 9, 19, 2, 9)
    boards = [random_board(size, 2 * size * size // 3, rng, rules) for size, rules in zip(sizes, RULES, strict=True)]
    planes = np.full((6, 23, 19, 19), 99, np.int8)
    get_encoding("katago-v7").encode(stack_boards(boards), planes)
    rows = read_numbers(planes[:, 22])
    planes = planes[:, :22]
    for g, board in enumerate(boards):
        alone, row = encode(board)
        np.testing.assert_array_equal(planes[g, :, : board.size, : board.size], alone)
        np.testing.assert_array_equal(rows[g], row)
        planes[g, :, : board.size, : board.size] = 0
    assert not planes.any()


def test_says_what_does_not_fit() -> None:
    games = Board(9).games
    encoding = get_encoding("katago-v7")
    for shape in ((1, 23, 7, 7), (2, 23, 9, 9), (1, 22, 9, 9)):
        with pytest.raises(ValueError, match="do not fit into"):
            encoding.encode(games, np.empty(shape, np.int8))
    with pytest.raises(ValueError, match="on boards from 5×5 on"):
        encoding.encode(Board(4).games, np.empty((1, 23, 4, 4), np.int8))
