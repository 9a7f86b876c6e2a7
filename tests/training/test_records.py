"""Records of games: on disk, as SGF, joined."""

import numpy as np
import pytest
from safetensors.numpy import load, save
from sgfmill import sgf

from mini_alphago.game import Board, parse_sgf
from mini_alphago.training import SelfPlay, SelfPlaySettings
from mini_alphago.training.records import (
    ENDINGS,
    LIMIT,
    PASSES,
    RESIGNED,
    SETTLED,
    from_bytes,
    join_records,
    no_records,
    record_board,
    result_text,
    sgf_text,
    to_bytes,
)

from ..mcts.evaluators import Hashed
from .made_up import assert_same, finish_games, one_game, some_games


@pytest.fixture(scope="module")
def played():
    """A few real games on 9×9."""
    settings = SelfPlaySettings(games=6, simulations=4, considered=4, komi_spread=3.0, sampled_moves=(0, 4))
    play = SelfPlay(Hashed(), 9, settings, seed=5, games_wanted=8)
    play.version = 12
    return join_records(list(finish_games(play)), 9)


# --- on disk ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 5])
def test_they_come_back_from_disk(count):
    records = some_games(count)
    assert_same(from_bytes(to_bytes(records)), records)


def test_real_games_come_back_in_less_than_300_bytes_a_position(played):
    data = to_bytes(played)
    assert_same(from_bytes(data), played)
    assert len(played.move) > 300
    assert len(data) / len(played.move) < 300


def _refused(data, said=""):
    with pytest.raises(ValueError, match="not a whole file of games") as refused:
        from_bytes(bytes(data))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_cut_file_is_refused_wherever_it_is_cut():
    data = to_bytes(some_games(2, longest=3))
    for length in range(len(data)):
        _refused(data[:length])
    _refused(data + b"\0")


def test_any_flipped_bit_is_refused_or_changes_nothing():
    """Some bits are notes in the header; no other may go unseen: an illegal move would be played by compiled code."""
    records = one_game([0, 7, 25], full=[1, 0, 1])
    data = to_bytes(records)
    header = 8 + int.from_bytes(data[:8], "little")
    unseen = 0
    for i in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[i] ^= 1 << bit
            try:
                found = from_bytes(bytes(flipped))
            except ValueError as error:
                assert "not a whole file of games" in str(error)  # noqa: PT017
            else:
                assert_same(found, records)
                unseen += 1
                assert i < header
    assert unseen < 8 * 64


def test_other_files_are_refused():
    whole = load(to_bytes(some_games(2)))
    _refused(b"")
    _refused(b"(;GM[1]SZ[9])")
    _refused(bytes(1000))
    _refused(save({"weight": np.zeros(3)}))
    for name in whole:
        _refused(save({other: array for other, array in whole.items() if other != name}))
    _refused(save({**whole, "more": whole["move"]}))


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("id", lambda array: array.astype(np.int32), "id has the wrong shape or type"),
        ("ownership", lambda array: array[0].copy(), "index out of range"),
        ("policy", lambda array: array[:, :-1].copy(), "policy has the wrong shape"),
        ("value", lambda array: array[:-1].copy(), "value has the wrong shape"),
        ("full", lambda array: np.zeros((), np.uint8), "full has the wrong shape"),
        ("length", lambda array: array + 1, "outside the moves"),
        ("length", lambda array: -array, "outside the moves"),
        ("first", lambda array: array - 1, "outside the moves"),
        ("first", lambda array: np.full_like(array, 2**63 - 1), "outside the moves"),
        ("move", lambda array: array + 25, "outside the board"),
        ("move", lambda array: -array - 1, "outside the board"),
        ("komi", lambda array: array + 1, "check sum"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(name, change, said):
    whole = load(to_bytes(some_games(2)))
    _refused(save({**whole, name: change(whole[name])}), said)


# --- joined -----------------------------------------------------------------------------------------------------------


def test_joining_keeps_every_game_whole():
    parts = [some_games(3, seed=1), no_records(5), some_games(1, first_id=3, seed=1), some_games(4, first_id=4, seed=1)]
    joined = join_records(parts, 5)
    assert joined.id.tolist() == list(range(8))
    assert joined.samples == sum(part.samples for part in parts)
    singles = [(part, g) for part in parts for g in range(len(part.id))]
    for i, (part, g) in enumerate(singles):
        rows = slice(joined.first[i], joined.first[i] + joined.length[i])
        own = slice(part.first[g], part.first[g] + part.length[g])
        for name in ("move", "policy", "value", "full"):
            np.testing.assert_array_equal(getattr(joined, name)[rows], getattr(part, name)[own])
    assert_same(join_records([join_records(parts[:2], 5), join_records(parts[2:], 5)], 5), joined)


def test_joining_nothing():
    assert_same(join_records([], 7), no_records(7))
    assert no_records(7).size == 7
    assert no_records(7).samples == 0
    assert_same(join_records([no_records(7), no_records(7)], 7), no_records(7))


# --- for people -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("score", "ending", "text"),
    [
        (1.5, PASSES, "B+1.5"),
        (-7.0, LIMIT, "W+7"),
        (-80.5, SETTLED, "W+80.5"),
        (0.0, PASSES, "0"),
        (1.0, RESIGNED, "B+R"),
        (-1.0, RESIGNED, "W+R"),
    ],
)
def test_results(score, ending, text):
    assert result_text(one_game([3], score=score, ending=ending), 0) == text
    assert ending in ENDINGS


@pytest.mark.parametrize("rules", ["cgos", "chinese", "tromp-taylor"])
def test_sgf_says_the_same_to_us_and_to_sgfmill(played, rules):
    assert len({float(komi) for komi in played.komi}) > 1
    for g in range(len(played.id)):
        text = sgf_text(played, g, rules)
        rows = slice(played.first[g], played.first[g] + played.length[g])
        moves = [(-1, -1) if move == 81 else divmod(move, 9) for move in played.move[rows].tolist()]
        game = parse_sgf(text)
        assert [move[:2] for move in game.moves] == moves
        assert [move[2] for move in game.moves] == [1 + i % 2 for i in range(len(moves))]
        assert (game.size, game.rules.komi, game.result) == (9, played.komi[g], result_text(played, g))
        assert game.black_name == game.white_name == "iteration 12"
        assert game.rules == Board(9, komi=float(played.komi[g]), rules=rules).rules

        other = sgf.Sgf_game.from_string(text)
        assert (other.get_size(), other.get_komi()) == (9, played.komi[g])
        assert other.get_root().get("RE") == result_text(played, g)
        their = [node.get_move() for node in other.get_main_sequence()[1:]]
        assert [color for color, _ in their] == ["bw"[i % 2] for i in range(len(moves))]
        # sgfmill counts rows from below.
        assert [(-1, -1) if point is None else (8 - point[0], point[1]) for _, point in their] == moves


def test_boards_of_a_record(played):
    """After any number of moves; and an illegal move is said to be one."""
    full = record_board(played, 1, "cgos")
    assert full.move_count == played.length[1]
    assert record_board(played, 1, "cgos", moves=0) == Board(9, komi=float(played.komi[1]))
    assert record_board(played, 1, "cgos", moves=10).history == full.history[:10]
    with pytest.raises(ValueError, match="game 3 has an illegal move"):
        record_board(one_game([4, 4], id=3), 0, "cgos")
