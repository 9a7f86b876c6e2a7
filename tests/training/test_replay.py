"""The replay window and the journal: what a run knows after a crash is what it knew before."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mini_alphago.training import ReplaySettings, folder
from mini_alphago.training.folder import Journal
from mini_alphago.training.records import join_records, no_records
from mini_alphago.training.replay import Replay, games_path
from mini_alphago.training.self_play import Step

from .made_up import assert_same, one_game, some_games


def _part(iteration, samples, unused=0):
    """An iteration of one game with so many positions to learn from, and some others."""
    moves = np.arange(samples + unused) % 25
    return one_game(moves, id=iteration, full=[1] * samples + [0] * unused)


def _ids(replay):
    return replay.records().id.tolist()


# --- the window -------------------------------------------------------------------------------------------------------


def test_the_oldest_leave_once_the_rest_is_enough(tmp_path):
    replay = Replay(tmp_path, 5, ReplaySettings(minimum=10, exponent=0.0))
    for iteration, samples, expected in [
        (1, 4, [1]),
        (2, 4, [1, 2]),
        (3, 4, [1, 2, 3]),  # 8 would be too few
        (4, 2, [2, 3, 4]),
        (5, 9, [4, 5]),
        (6, 0, [4, 5, 6]),  # nothing to learn from, but the newest
        (7, 10, [7]),
        (8, 30, [8]),
    ]:
        replay.add(iteration, _part(iteration, samples, unused=3))
        assert _ids(replay) == expected
    assert replay.samples == 30
    assert replay.positions == 63


def test_the_newest_never_leave(tmp_path):
    replay = Replay(tmp_path, 5, ReplaySettings(minimum=1, exponent=0.0, maximum=1))
    for iteration in range(1, 5):
        replay.add(iteration, some_games(5, first_id=10 * iteration))
        assert _ids(replay) == list(range(10 * iteration, 10 * iteration + 5))


def test_an_empty_window(tmp_path):
    replay = Replay(tmp_path, 5, ReplaySettings())
    assert_same(replay.records(), no_records(5))
    assert replay.samples == 0
    replay.load(0, 0)
    assert_same(replay.records(), no_records(5))


@given(
    samples=st.lists(st.integers(0, 12), min_size=1, max_size=25),
    window=st.builds(
        ReplaySettings,
        minimum=st.integers(1, 40),
        exponent=st.sampled_from([0.0, 0.5, 0.75, 1.0]) | st.floats(0, 1),
        maximum=st.integers(1, 200),
    ),
)
@settings(max_examples=60, deadline=None)
def test_loading_gives_what_the_running_one_has(samples, window):
    """After every iteration, whatever there is in each."""
    with tempfile.TemporaryDirectory() as name:
        running, everything = Replay(Path(name), 5, window), []
        for iteration, count in enumerate(samples, start=1):
            part = _part(iteration, count, unused=iteration % 3)
            everything.append(part)
            running.save(iteration, part)
            running.add(iteration, part)
            loaded = Replay(Path(name), 5, window)
            loaded.load(iteration, running.positions)
            assert_same(loaded.records(), running.records())
            assert (loaded.positions, loaded.samples) == (running.positions, running.samples)
            assert running.positions == sum(samples[:iteration])
            kept = len(running.records().id)
            assert_same(running.records(), join_records(everything[-kept:], 5))
            assert running.samples >= min(window.window(running.positions), running.positions)


def test_loading_reads_no_more_than_it_needs(tmp_path):
    window = ReplaySettings(minimum=10, exponent=0.0)
    running = Replay(tmp_path, 5, window)
    for iteration in range(1, 5):
        running.save(iteration, _part(iteration, 6))
        running.add(iteration, _part(iteration, 6))
    games_path(tmp_path, 1).unlink()
    games_path(tmp_path, 2).write_bytes(b"")
    loaded = Replay(tmp_path, 5, window)
    loaded.load(4, running.positions)
    assert _ids(loaded) == _ids(running) == [3, 4]


@pytest.mark.parametrize("damage", ["missing", "cut", "flipped", "foreign", "another board"])
def test_a_damaged_file_is_named(tmp_path, damage):
    replay = Replay(tmp_path, 5, ReplaySettings())
    for iteration in range(1, 4):
        replay.save(iteration, some_games(3))
    path = games_path(tmp_path, 2)
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "another board":
        replay.save(2, some_games(3, size=6))
    else:
        flipped = data[:-100] + bytes([data[-100] ^ 1]) + data[-99:]
        path.write_bytes({"cut": data[:-1], "flipped": flipped, "foreign": b"(;GM[1])"}[damage])
    with pytest.raises(ValueError, match=r"000002\.games") as said:
        replay.load(3, 30)
    assert "\n" not in str(said.value)
    assert replay.positions == 0  # as before


def test_what_it_takes_on_disk(tmp_path):
    replay = Replay(tmp_path, 5, ReplaySettings())
    replay.save(1, some_games(3))
    replay.save(2, some_games(4))
    replay.save(2, some_games(5))  # written over
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["000001.games", "000002.games"]


# --- the journal ------------------------------------------------------------------------------------------------------

SLOTS, POINTS = 3, 26


def _step(seed):
    rng = np.random.default_rng(seed)
    return Step(
        rng.integers(-1, POINTS, SLOTS).astype(np.int16),
        rng.integers(0, 65536, (SLOTS, POINTS)).astype(np.uint16),
        rng.uniform(-1, 1, SLOTS).astype(np.float32),
        rng.integers(0, 256, SLOTS).astype(np.uint8),
    )


def _journal(folder):
    return Journal(folder / "000001.journal", SLOTS, POINTS)


def _write(folder, numbers):
    journal = _journal(folder)
    for number in numbers:
        journal.append(number, _step(number), number / 8)
    journal.close()
    return journal


def _assert_holds(journal, numbers):
    found = list(journal.read())
    assert [number for number, _, _ in found] == list(numbers)
    for number, step, seconds in found:
        assert seconds == number / 8
        for a, b in zip(step, _step(number), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


def test_steps_come_back(tmp_path):
    assert list(_journal(tmp_path).read()) == []
    assert not _journal(tmp_path).path.exists()
    journal = _write(tmp_path, range(5, 9))
    _assert_holds(journal, range(5, 9))
    _write(tmp_path, range(9, 11))
    _assert_holds(_journal(tmp_path), range(5, 11))
    for array in next(_journal(tmp_path).read())[1]:
        assert array.flags.writeable


def test_a_step_is_on_disk_before_the_next_one(tmp_path):
    """A kill closes nothing and flushes nothing."""
    journal = _journal(tmp_path)
    for number in range(3):
        journal.append(number, _step(number), number / 8)
        _assert_holds(_journal(tmp_path), range(number + 1))
    journal.close()


def test_a_tail_cut_anywhere_loses_only_the_last_step(tmp_path):
    journal = _write(tmp_path, range(2))
    whole = journal.path.stat().st_size
    _write(tmp_path, [2])
    data = journal.path.read_bytes()
    for length in range(whole, len(data)):
        journal.path.write_bytes(data[:length])
        _assert_holds(_journal(tmp_path), range(2))
        assert journal.path.stat().st_size == whole, "the tail is cut off"
        _write(tmp_path, [2, 3])
        _assert_holds(_journal(tmp_path), range(4))


def test_any_flipped_bit_loses_only_the_step_and_those_after_it(tmp_path):
    """Those after it cannot be applied without it."""
    journal = _write(tmp_path, range(3))
    data = journal.path.read_bytes()
    size = len(data) // 3
    header = [8 * size + bit for bit in range(8 * 20)]
    for bit in header + [8 * i + i % 8 for i in range(size + 20, 2 * size)]:
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        journal.path.write_bytes(flipped)
        _assert_holds(_journal(tmp_path), range(1))
        assert journal.path.stat().st_size == size
        _write(tmp_path, [1])
        _assert_holds(_journal(tmp_path), range(2))


def test_garbage_is_no_journal(tmp_path):
    journal = _journal(tmp_path)
    for garbage in (b"", folder._MARK, bytes(5000), os.urandom(5000), folder._MARK * 1000):
        journal.path.write_bytes(garbage)
        _assert_holds(_journal(tmp_path), [])
        assert journal.path.stat().st_size == 0


def test_a_journal_of_a_former_version_is_not_taken_for_this_one(tmp_path, monkeypatch):
    """Games began otherwise then: its steps would become other games, with moves that are not legal in them."""
    with monkeypatch.context() as former:
        former.setattr(folder, "_MARK", b"step")
        journal = _write(tmp_path, range(3))
        assert len(list(_journal(tmp_path).read())) == 3
    _assert_holds(_journal(tmp_path), [])
    assert journal.path.stat().st_size == 0


def test_a_journal_of_other_slots_is_not_taken_for_this_one(tmp_path):
    _write(tmp_path, range(3))
    assert list(Journal(_journal(tmp_path).path, SLOTS + 1, POINTS).read()) == []
