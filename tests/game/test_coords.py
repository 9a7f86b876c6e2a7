"""All names of a point, and the way from each to each."""

import pytest

from mini_alphago.game import coords

TABLE = [  # size, (x, y), flat, GTP, SGF
    (9, (0, 0), 0, "A9", "aa"),
    (9, (0, 8), 8, "J9", "ia"),
    (9, (8, 0), 72, "A1", "ai"),
    (9, (3, 4), 31, "E6", "ed"),
    (9, (-1, -1), 81, "pass", ""),
    (19, (15, 3), 288, "D4", "dp"),
    (19, (3, 15), 72, "Q16", "pd"),
    (19, (18, 18), 360, "T1", "ss"),
    (2, (1, 1), 3, "B1", "bb"),
]


@pytest.mark.parametrize(("size", "xy", "flat", "gtp", "sgf"), TABLE)
def test_table(size: int, xy: tuple[int, int], flat: int, gtp: str, sgf: str) -> None:
    assert coords.to_flat(*xy, size) == flat
    assert coords.to_gtp(*xy, size) == gtp
    assert coords.to_sgf(*xy, size) == sgf
    assert coords.from_flat(flat, size) == coords.from_gtp(gtp, size) == coords.from_sgf(sgf, size) == xy
    assert coords.from_gtp(f" {gtp.lower()} ", size) == xy


@pytest.mark.parametrize("size", range(2, 20))
def test_round_trips_on_every_point(size: int) -> None:
    for flat in range(size * size + 1):
        x, y = coords.from_flat(flat, size)
        assert coords.to_flat(x, y, size) == flat
        assert coords.from_gtp(coords.to_gtp(x, y, size), size) == (x, y)
        assert coords.from_sgf(coords.to_sgf(x, y, size), size) == (x, y)


@pytest.mark.parametrize("text", ["", "I5", "K1", "A0", "A10", "5A", "A-1", "A²", "A1x", "é", "\x00", "A" * 10_000])
def test_bad_gtp(text: str) -> None:
    with pytest.raises(ValueError, match="A1 to J9, or pass") as error:
        coords.from_gtp(text, 9)
    assert len(str(error.value)) < 120


@pytest.mark.parametrize("text", ["a", "jj", "aaa", "AA", "a1", "t", "é" * 2])
def test_bad_sgf(text: str) -> None:
    with pytest.raises(ValueError, match="aa to ii"):
        coords.from_sgf(text, 9)


def test_tt_is_a_pass() -> None:
    assert coords.from_sgf("tt", 9) == coords.from_sgf("tt", 19) == (-1, -1)


@pytest.mark.parametrize("xy", [(-1, 0), (0, -1), (9, 0), (0, 9)])
def test_off_board(xy: tuple[int, int]) -> None:
    for convert in (coords.to_flat, coords.to_gtp, coords.to_sgf):
        with pytest.raises(ValueError, match="x and y are 0 to 8"):
            convert(*xy, 9)


@pytest.mark.parametrize("flat", [-1, 82])
def test_bad_flat(flat: int) -> None:
    with pytest.raises(ValueError, match="0 to 81"):
        coords.from_flat(flat, 9)
