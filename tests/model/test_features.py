"""What networks see: every plane, on drawn positions and on random games, and the eight symmetries."""

import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mini_alphago.game import Board, stack_boards, state
from mini_alphago.model import ENCODINGS, encode_board, get_encoding, symmetry

from .slow_encoder import ENCODERS


def encode(name: str, board: Board, width: int | None = None) -> np.ndarray:
    width = width or board.size
    out = np.full((1, ENCODINGS[name].planes, width, width), np.nan, np.float32)
    ENCODINGS[name].encode(board.games, out)
    return out[0]


def random_board(size: int, moves: int, rng: random.Random, rules: str = "cgos") -> Board:
    board = Board(size, komi=rng.randrange(-30, 31) / 2, rules=rules)
    for _ in range(moves):
        choices = board.get_legal_moves()
        x, y = rng.choice(choices) if rng.random() < 0.95 else (-1, -1)
        if board.is_game_over():
            board.resume()
        if x < 0:
            board.pass_move()
        else:
            board.play(x, y)
    return board


KO = Board.from_diagram("""
    . O X . .
    O X . X .
    . O X . .
    . . . . .
    . . . . .
""")  # Black to play


def points(plane: np.ndarray) -> set[tuple[int, int]]:
    return {(int(x), int(y)) for x, y in zip(*np.nonzero(plane), strict=True)}


def test_tutorial_planes_of_a_drawn_ko() -> None:
    board = KO.copy()
    board.current_player = Board.WHITE
    assert board.play(1, 2)  # takes (1, 1); Black may not take back at once
    planes = encode_board(board)
    assert planes.dtype == np.float32
    assert planes.shape == (7, 5, 5)
    assert points(planes[0]) == {(0, 2), (1, 3), (2, 2)}
    assert points(planes[1]) == {(0, 1), (1, 0), (1, 2), (2, 1)}
    assert planes[2].sum() == 25 - 7
    assert points(planes[3]) == {(1, 2)}
    assert not planes[4].any()
    assert points(planes[2] - planes[5]) == {(1, 1), (0, 0)}  # ko, and suicide in the corner
    assert planes[6].all()
    board.pass_move()
    planes = encode_board(board)
    assert not planes[3].any()  # a pass is nowhere
    assert points(planes[4]) == {(1, 2)}
    assert not planes[6].any()


def test_katago_planes_of_a_drawn_ko() -> None:
    board = KO.copy()
    board.current_player = Board.WHITE
    board.play(1, 2)
    planes = encode("katago", board)
    assert points(planes[11]) == {(1, 1)}
    assert points(planes[12]) == {(1, 2), (0, 2)}  # in atari, one of each colour
    assert points(planes[13]) == {(0, 1), (2, 2)}
    assert points(planes[14]) == {(1, 0), (2, 1), (1, 3)}
    assert not planes[15:18].any()
    assert planes[3, 1, 1] == 1  # one ply ago Black's own stone was there
    assert planes[3, 1, 0] == -1
    assert not planes[4:11].any()  # the game began with the drawing
    assert planes[18].all()
    assert not planes[19].any()
    assert np.allclose(planes[20], 7.5 / 15)
    assert planes[21].all()


def test_alphazero_planes_go_back_seven_plies() -> None:
    board = Board(9)
    for i in range(10):
        board.play(0, i) if i < 9 else board.play(8, 8)
    planes = encode("alphazero", board)
    assert points(planes[0]) == {(0, i) for i in (0, 2, 4, 6, 8)}  # Black to move, all stones there
    assert points(planes[14]) == {(0, 0), (0, 2)}  # seven plies ago there were three stones
    assert points(planes[15]) == {(0, 1)}


def test_territory_rules_and_handicap_reach_the_network() -> None:
    board = Board(9, komi=0.5, rules="aga")
    board.place_handicap(4)
    assert np.allclose(encode("katago", board)[20], (0.5 + 3) / 15)
    japanese = encode("katago", Board(9, rules="japanese"))
    assert not japanese[18].any()
    assert japanese[19].all()


@settings(deadline=None, max_examples=80, derandomize=True)
@given(st.integers(2, 19), st.integers(0, 2**32), st.sampled_from(["cgos", "japanese", "aga", "tromp-taylor"]))
def test_agrees_with_the_slow_encoder(size: int, seed: int, rules: str) -> None:
    rng = random.Random(seed)
    board = random_board(size, rng.randrange(60), rng, rules)
    for name, slow in ENCODERS.items():
        np.testing.assert_allclose(encode(name, board), slow(board), atol=1e-6, err_msg=name)


def test_a_long_small_game_with_superko_agrees_too() -> None:
    rng = random.Random(5)
    seen = 0
    for _ in range(30):
        board = random_board(3, 40, rng)
        planes = encode("katago", board)
        np.testing.assert_allclose(planes, ENCODERS["katago"](board), atol=1e-6)
        seen += int(planes[11].sum())
    assert seen > 0  # superko did occur


@pytest.mark.parametrize("name", ENCODINGS)
def test_small_boards_lie_in_the_corner_of_a_larger_tensor(name: str) -> None:
    board = random_board(7, 30, random.Random(1))
    wide = encode(name, board, width=13)
    np.testing.assert_array_equal(ENCODINGS[name].corner(wide[None], 7)[0], encode(name, board))
    wide[:, :7, :7] = 0
    assert not wide[: ENCODINGS[name].drawn].any()


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("count", [3, 64])  # below and above the size from which all threads work
def test_a_batch_of_mixed_sizes(name: str, count: int) -> None:
    rng = random.Random(2)
    boards = [random_board(rng.choice([5, 9, 13]), 30, rng) for _ in range(count)]
    games = stack_boards(boards)
    encoding = get_encoding(name)
    out = np.empty((count, encoding.planes, 13, 13), np.int8)
    encoding.encode(games, out)
    for board, planes in zip(boards, out, strict=True):
        np.testing.assert_allclose(
            planes * encoding.scale[:, None, None], encode(name, board, width=13), atol=1e-6, err_msg=str(board)
        )


def test_bad_arrays_and_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"takes \[1, 7, 9 or more"):
        ENCODINGS["tutorial"].encode(Board(9).games, np.zeros((1, 22, 9, 9), np.float32))
    with pytest.raises(ValueError, match="9 or more"):
        ENCODINGS["katago"].encode(Board(9).games, np.zeros((1, 22, 5, 5), np.float32))
    with pytest.raises(ValueError, match="tutorial, alphazero, katago"):
        get_encoding("leela")


# --- symmetries -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 5, 9, 19])
def test_tables_are_the_eight_symmetries(size: int) -> None:
    table = symmetry.point_table(size)
    assert len({tuple(row) for row in table.tolist()}) == 8
    assert table[0].tolist() == list(range(size * size + 1))
    neighbors = state.NEIGHBORS[size]
    for s in range(8):
        undone = table[symmetry.inverse(s)][table[s]]
        assert undone.tolist() == list(range(size * size + 1))
        for point in range(size * size):  # neighbours stay neighbours
            moved = {int(table[s, q]) for q in neighbors[point]}
            assert moved == set(neighbors[table[s, point]].tolist())


@pytest.mark.parametrize("s", range(8))
@pytest.mark.parametrize("name", ENCODINGS)
def test_encoding_commutes_with_symmetries(name: str, s: int) -> None:
    """Playing the moved game gives the moved planes."""
    size = 7
    board, rng = Board(size), random.Random(3)
    moved = Board(size)
    table = symmetry.point_table(size)[s]
    for _ in range(50):
        x, y = rng.choice(board.get_legal_moves()[:-1] or [(-1, -1)])
        if x < 0:
            break
        board.play(x, y)
        assert moved.play(*divmod(int(table[x * size + y]), size))
    expected = symmetry.apply_encoded(encode(name, board), ENCODINGS[name].drawn, s)
    np.testing.assert_array_equal(encode(name, moved), expected)


@pytest.mark.parametrize("s", range(8))
def test_policies_and_ownership_move_with_the_planes(s: int) -> None:
    size, rng = 5, np.random.default_rng(4)
    plane = rng.random((3, size, size))
    ownership = plane.reshape(3, -1)
    policy = np.concatenate([ownership, [[7.0]] * 3], axis=1)
    moved = symmetry.apply(plane, s, size)
    np.testing.assert_array_equal(symmetry.apply(ownership, s, size), moved.reshape(3, -1))
    np.testing.assert_array_equal(symmetry.apply(policy, s, size)[:, :-1], moved.reshape(3, -1))
    assert (symmetry.apply(policy, s, size)[:, -1] == 7).all()
    np.testing.assert_array_equal(symmetry.apply_planes(torch.from_numpy(plane), s).numpy(), moved)
    tensor = symmetry.apply_vector(torch.from_numpy(policy), s, size)
    np.testing.assert_array_equal(tensor.numpy(), symmetry.apply(policy, s, size))
    np.testing.assert_array_equal(symmetry.apply(moved, symmetry.inverse(s), size), plane)


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="neither planes nor a vector"):
        symmetry.apply(np.zeros((3, 4)), 1, 5)
