"""Levels in matches: they play as in the browser."""

import pytest

from mini_alphago.arena import (
    RandomPlayer,
    play_match,
    random_openings,
)
from mini_alphago.arena import players as players_module
from mini_alphago.arena.players import LevelPlayer
from mini_alphago.engine.pool import Pool, Task
from mini_alphago.game import Board
from mini_alphago.mcts.levels import find_level

from ..mcts.evaluators import Hashed, Uniform


def test_a_level_searches_each_move_anew_and_chooses_as_the_browser_does(monkeypatch):
    """All its visits every time: neither kept ones nor spared ones, since other moves than the best matter."""
    level, seen = find_level("beginner"), []

    def watched(moves, chosen_level, rng):
        assert chosen_level is level
        seen.append(sum(move.visits for move in moves))
        return moves[-2] if len(moves) > 1 else moves[0]

    monkeypatch.setattr(players_module, "choose", watched)
    player = LevelPlayer("beginner", Uniform(), level, 100, 5, 4, seed=1)
    result = play_match(player, RandomPlayer(2), random_openings(2, 5, 0.5, 2, 1), move_limit=12)
    assert len(result.games) == 4
    assert seen
    assert set(seen) == {level.visits}


@pytest.mark.parametrize("name", ["beginner", "medium", "expert"])
def test_a_level_finds_what_the_browser_finds(monkeypatch, name):
    """Move by move the same visits and values as the pool of searches behind the page."""
    level, found = find_level(name), []
    board = Board(5, komi=0.5)
    monkeypatch.setattr(players_module, "choose", lambda moves, level, rng: found.append(moves) or moves[0])
    player = LevelPlayer(name, Hashed(), level, 100, 5, 2, seed=1)
    player.start([board, board])
    player.choose([1])
    pool = Pool()
    pool.add(
        Task(board=board, visits=level.visits, evaluator=Hashed(), on_done=lambda done: found.append(done.moves()))
    )
    while not pool.is_idle():
        pool.step()
    assert found[0] == found[1]


def test_full_strength_takes_the_visits_it_is_given():
    assert LevelPlayer("full", Uniform(), find_level("full"), 7, 5, 1).visits == 7
