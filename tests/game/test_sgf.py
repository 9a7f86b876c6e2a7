"""Game records: what is read, what is written, and what happens to files that are not what they say."""

import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import sgf as sgfmill

from mini_alphago.game import Board, Rules, SgfError, SgfGame, SgfMove, format_sgf, parse_sgf, read_sgf, write_sgf

GAME = (
    "(;GM[1]FF[4]CA[UTF-8]SZ[9]KM[6.5]RU[Japanese]PB[Shusaku]BR[4d]PW[石田]WR[8d]DT[1846-09-11]RE[B+2]"
    "C[The ear-reddening game\\] or so];B[ee];W[gc]C[hm];B[];W[tt](;B[cc];W[gg])(;B[dd]))"
)


def test_reads_a_game() -> None:
    game = parse_sgf(GAME)
    assert (game.size, game.rules.scoring, game.rules.komi) == (9, "territory", 6.5)
    assert (game.black_name, game.black_rank, game.white_name, game.white_rank) == ("Shusaku", "4d", "石田", "8d")
    assert (game.date, game.result) == ("1846-09-11", "B+2")
    assert game.nodes[0].comment == "The ear-reddening game] or so"
    assert game.nodes[2].comment == "hm"
    # the main line only, both spellings of a pass, and play goes on after two passes
    assert game.moves == [(4, 4, 1), (2, 6, 2), (-1, -1, 1), (-1, -1, 2), (2, 2, 1), (6, 6, 2)]
    board = game.board()
    assert board.history == game.moves
    assert game.board(2).history == game.moves[:2]
    assert game.board(0) == Board(9, komi=6.5, rules="japanese")


def test_setup_handicap_and_player() -> None:
    game = parse_sgf("(;SZ[9]HA[2]KM[0.5]RU[chinese]AB[gc][cg];W[ee])")
    assert game.handicap == 2
    board = game.board()
    assert board.handicap == 2
    assert board.score() == pytest.approx(2 - 1 - 0.5 - 2)  # Chinese: White gets a point for each stone
    free = parse_sgf("(;SZ[5]AB[aa:bb]AW[dd]PL[W]AE[ee];AE[aa]AW[ea]PL[B])")
    board = free.board()
    assert board.board.tolist()[0] == [0, 1, 0, 0, 2]
    assert board.board.tolist()[1] == [1, 1, 0, 0, 0]
    assert board.current_player == Board.BLACK


def test_two_moves_of_one_colour_and_no_moves() -> None:
    assert parse_sgf("(;SZ[9];B[aa];B[bb])").board().history == [(0, 0, 1), (1, 1, 1)]
    assert parse_sgf("(;)").size == 19
    assert parse_sgf("junk before (;SZ[9];B[aa]) and after").moves == [(0, 0, 1)]


@pytest.mark.parametrize(
    ("komi", "points"), [("7", 7), ("-3.5", -3.5), ("0", 0), ("375", 7.5), ("3.75", 7.5), ("650", 6.5), ("6.50", 6.5)]
)
def test_komi_as_servers_write_it(komi: str, points: float) -> None:
    assert parse_sgf(f"(;SZ[9]KM[{komi}])").rules.komi == points


@pytest.mark.parametrize(
    ("name", "ko", "scoring"),
    [
        ("Japanese", "simple", "territory"),
        ("AGA", "situational", "area"),
        ("NZ", "situational", "area"),
        ("Tromp-Taylor", "positional", "area"),
        ("koSITUATIONALscoreTERRITORYtaxSEKIsui1whbN-1", "situational", "territory"),
        ("my own", "simple", "area"),
    ],
)
def test_rules(name: str, ko: str, scoring: str) -> None:
    rules = parse_sgf(f"(;SZ[9]RU[{name}])").rules
    assert (rules.ko, rules.scoring) == (ko, scoring)


@pytest.mark.parametrize(
    ("encoding", "declared"), [("utf-8", True), ("utf-8", False), ("gb2312", True), ("latin-1", False)]
)
def test_charsets(encoding: str, declared: bool) -> None:
    name = "é" if encoding == "latin-1" else "柯洁"
    text = f"(;{f'CA[{encoding}]' if declared else ''}SZ[9]PB[{name}])"
    assert parse_sgf(text.encode(encoding)).black_name == name


def test_an_unknown_charset_is_guessed() -> None:
    assert parse_sgf("(;CA[nonsense]SZ[9]PB[é])".encode()).black_name == "é"


def test_writes_what_other_programs_read(tmp_path: Path) -> None:
    """Checked with sgfmill's own reading of coordinates, which share nothing with ours."""
    board = Board(9, rules="japanese")
    board.place_handicap(2)
    board.play(4, 4)
    board.play(0, 8)
    board.pass_move()
    game = SgfGame.from_board(board, black_name="a]b\\c", white_name="石", result="B+R", date="2026-01-02")
    game.nodes[1].comment = "a [comment]\nin two lines"
    game.nodes[1].extra = {"LB": ["ee:A"], "TR": ["aa", "bb"], "SBKV": ["53.2"]}
    write_sgf(game, tmp_path / "game.sgf")
    theirs = sgfmill.Sgf_game.from_bytes((tmp_path / "game.sgf").read_bytes())
    root = theirs.get_root()
    assert (theirs.get_size(), theirs.get_komi(), theirs.get_handicap()) == (9, 6.5, 2)
    assert (root.get("PB"), root.get("PW"), root.get("RU"), root.get("RE")) == ("a]b\\c", "石", "japanese", "B+R")
    assert root.get("AB") == {(2, 2), (6, 6)}
    assert root.get("PL") == "w"
    line = theirs.get_main_sequence()
    # sgfmill counts rows from below: our (0, 8) is its (8, 8)
    assert [node.get_move() for node in line[1:]] == [("w", (4, 4)), ("b", (8, 8)), ("w", None)]
    assert line[1].get("C") == "a [comment]\nin two lines"
    assert line[1].get("LB") == [((4, 4), "A")]
    assert line[1].get("TR") == {(8, 0), (7, 1)}
    again = read_sgf(tmp_path / "game.sgf")
    assert again.board() == board
    assert again.board().handicap == 2


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.integers(2, 19), st.integers(0, 2**32), st.sampled_from(["cgos", "japanese", "aga", "new-zealand"]))
def test_round_trip_of_random_games(size: int, seed: int, rules: str) -> None:
    rng = random.Random(seed)
    board = Board(size, komi=rng.randrange(-20, 20) / 2, rules=rules)
    if size > 3:
        board.setup(black=[(0, 0)], white=[(0, 2)], player=rng.choice([1, 2]))
    for _ in range(rng.randrange(60)):
        x, y = rng.choice(board.get_legal_moves())
        if board.is_game_over():
            break
        if x < 0:
            board.pass_move()
        else:
            board.play(x, y)
    again = parse_sgf(format_sgf(SgfGame.from_board(board)))
    assert again.board() == board
    assert again.board().history == board.history


def test_rules_without_a_name_come_back() -> None:
    rules = Rules(ko="situational", scoring="territory", suicide=True, komi=3.5, handicap_compensation="n-1")
    assert parse_sgf(format_sgf(SgfGame(size=9, rules=rules))).rules == rules


NOISE = random.Random(1).randbytes(10_000_000)
DAMAGED = {  # name: content, and what the message must tell
    "empty": (b"", "no SGF data"),
    "truncated": (GAME.encode()[:-20], "at byte"),
    "truncated value": (GAME.encode()[:60], "at byte"),
    "noise": (NOISE, "at byte"),
    "noise in a comment": (b"(;SZ[9]C[" + NOISE[:1_000_000], "at byte"),
    "only parentheses": (b"(" * 1_000_000, "no SGF data"),
    "unclosed variations": (b"(;B[aa]" * 200_000, "at byte"),
    "backslashes": (b"(;C[" + b"\\" * 1_000_000, "at byte"),
    "another game": (b"(;GM[2]SZ[9])", r"GM\[2\]"),
    "size 99999": (b"(;SZ[99999])", "99999.*2 to 19"),
    "size 25": (b"(;SZ[25])", "25.*2 to 19"),
    "size 1": (b"(;SZ[1])", "2 to 19"),
    "size x": (b"(;SZ[x])", "2 to 19"),
    "rectangle": (b"(;SZ[9:13])", "square"),
    "off the board": (b"(;SZ[9];B[aa];W[zz])", "node 2, W.*aa to ii"),
    "setup off the board": (b"(;SZ[9]AB[aa][jj])", "node 0, AB"),
    "setup with a pass": (b"(;SZ[9]AB[])", "node 0, AB"),
    "occupied": (b"(;SZ[9];B[aa];W[aa])", r"move 2, White A9.*occupied"),
    "suicide": (b"(;SZ[9]AW[ab][ba];B[aa])", r"move 1, Black A9.*suicide"),
    "stones without liberties": (b"(;SZ[9]AW[ab][ba]AB[aa])", "node 0.*libert"),
    "two colours on a point": (b"(;SZ[9]AW[ab]AB[ab])", "node 0.*two colours"),
    "komi": (b"(;SZ[9]KM[lots])", r"KM\[lots\]"),
    "komi nan": (b"(;SZ[9]KM[nan])", "KM"),
    "handicap": (b"(;SZ[9]HA[many])", r"HA\[many\]"),
    "two moves in a node": (b"(;SZ[9];B[aa]W[bb])", "node 1.*one move"),
    "player": (b"(;SZ[9]PL[x])", "node 0, PL"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_give_one_clear_error(name: str, tmp_path: Path) -> None:
    content, message = DAMAGED[name]
    (tmp_path / "bad.sgf").write_bytes(content)
    start = time.perf_counter()
    with pytest.raises(SgfError, match=f"bad.sgf: .*{message}") as error:
        read_sgf(tmp_path / "bad.sgf")
    assert len(str(error.value)) < 200
    assert "\n" not in str(error.value)
    assert time.perf_counter() - start < 60  # not a speed claim: the reader may not hang


def test_too_large(tmp_path: Path) -> None:
    with (tmp_path / "huge.sgf").open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(SgfError, match="larger than 32 MB"):
        read_sgf(tmp_path / "huge.sgf")


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.data())
def test_any_damage_gives_a_game_or_an_error(data: st.DataObject) -> None:
    content = bytearray(GAME.encode())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    try:
        parse_sgf(bytes(content))
    except SgfError as error:
        assert len(str(error)) < 200  # noqa: PT017 (most damage is harmless, so nothing need be raised)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_sgf(tmp_path / "none.sgf")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    write_sgf(SgfGame(size=9), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="off the 9×9 board"):
        write_sgf(SgfGame(size=9, nodes=[SgfMove(), SgfMove(move=(9, 9, 1))]), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["game.sgf"]
