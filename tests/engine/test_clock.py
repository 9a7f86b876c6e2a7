"""Clocks: whatever the system, and with a second of delay on every move, no game is lost on time."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mini_alphago.engine.clock import LAG, Clock, TimeSystem, gtp_settings, moves_left, named_settings
from mini_alphago.game import BLACK, WHITE


def test_what_clients_send():
    assert gtp_settings(["300", "0", "0"]) == TimeSystem("absolute", 300)
    assert gtp_settings(["0", "30", "5"]) == TimeSystem("canadian", 0, 30, stones=5)
    assert gtp_settings(["0", "1", "0"]) == TimeSystem()  # GTP: no limit
    assert named_settings(["byoyomi", "60", "10", "3"]) == TimeSystem("byoyomi", 60, 10, periods=3)
    assert named_settings(["fischer-capped", "60", "5", "90"]) == TimeSystem("fischer", 60, 5, limit=90)
    assert named_settings(["none"]) == TimeSystem()
    for wrong in ([], ["hourglass"], ["absolute"], ["absolute", "x"], ["absolute", "-1"], ["byoyomi", "1", "2"]):
        with pytest.raises(ValueError, match=r"[a-z]"):
            named_settings(wrong)


def test_without_a_clock_there_is_no_budget():
    clock = Clock()
    assert clock.budget(BLACK, 20) is None
    clock.start(TimeSystem())
    assert clock.budget(BLACK, 20) is None
    clock.spent(BLACK, 5)


def play_out(system, moves, lag, seed):
    """A referee of its own: what is left after so many moves that each take the most allowed and the lag besides."""
    clock, rng = Clock(), random.Random(seed)
    clock.start(system)
    main, periods, block, stones = system.main, system.periods, system.period, system.stones
    for move in range(moves):
        budget = clock.budget(BLACK, moves_left(9, 2 * move))
        assert 0 < budget.base <= budget.most
        thought = rng.choice([budget.base, budget.most])
        clock.spent(BLACK, thought)
        used = thought + lag
        if system.kind == "fischer":
            main -= used
            assert main > 0
            main = min(main + system.period, system.limit)
            clock.time_left(BLACK, main, 0)
            continue
        over = max(0.0, used - main)
        main = max(0.0, main - used)
        if over > 0 and system.kind == "absolute":
            raise AssertionError(f"time ran out after {move} moves")
        if over > 0 and system.kind == "byoyomi":
            while over > system.period:
                over -= system.period
                periods -= 1
            assert periods > 0, move
        elif over > 0 and system.kind == "canadian":
            block -= over
            stones -= 1
            assert block > 0, move
            if stones == 0:
                block, stones = system.period, system.stones
        left = main if main > 0 else system.period if system.kind == "byoyomi" else block
        count = 0 if main > 0 else periods if system.kind == "byoyomi" else stones
        clock.time_left(BLACK, left, count)  # what a server says


@pytest.mark.parametrize(
    "system",
    [
        TimeSystem("absolute", 300),
        TimeSystem("absolute", 120),
        TimeSystem("byoyomi", 60, 10, periods=3),
        TimeSystem("byoyomi", 0, 5, periods=1),
        TimeSystem("canadian", 60, 60, stones=10),
        TimeSystem("canadian", 0, 30, stones=5),
        TimeSystem("fischer", 60, 5),
        TimeSystem("fischer", 30, 3, limit=40),
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(5))
def test_time_does_not_run_out(system, seed):
    play_out(system, 50, 0.95 * LAG, seed)


@given(st.floats(0, 1e6), st.integers(0, 30), st.sampled_from(["absolute", "byoyomi", "canadian", "fischer"]))
def test_a_budget_never_exceeds_what_is_left(left, count, kind):
    clock = Clock()
    clock.start(TimeSystem(kind, 600, 30, periods=5, stones=10))
    clock.time_left(WHITE, left, count)
    budget = clock.budget(WHITE, 30)
    in_overtime = count > 0 and kind in ("byoyomi", "canadian")
    behind = 30 if kind in ("byoyomi", "canadian") and not in_overtime else 0
    assert budget.most <= max(0.02, left + behind - LAG) + 1e-9


def test_an_undecided_move_may_take_longer_and_time_is_used():
    clock = Clock()
    clock.start(TimeSystem("absolute", 600))
    budget = clock.budget(BLACK, 30)
    assert 10 < budget.base < 20
    assert budget.most > 2 * budget.base
    clock.start(TimeSystem("byoyomi", 0, 30, periods=5))
    assert clock.budget(BLACK, 30).base == 29
