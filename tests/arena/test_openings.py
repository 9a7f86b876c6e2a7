"""Openings: different, the same for a seed, and open if there is a judge."""

import numpy as np
import pytest

from mini_alphago.arena import random_openings
from mini_alphago.game import Board, stack_boards, state
from mini_alphago.model import SHIPPED, Evaluation, Evaluator, load_network


def test_openings_differ_from_each_other_and_are_the_same_for_a_seed():
    openings = random_openings(40, 9, 7, moves=6, seed=3)
    assert len({board.board.tobytes() for board in openings}) == 40
    assert all(board.move_count == 6 and board.komi == 7 for board in openings)
    assert openings == random_openings(40, 9, 7, moves=6, seed=3)
    assert openings != random_openings(40, 9, 7, moves=6, seed=4)
    assert random_openings(1, 9, None, 0, 0, "chinese") == [Board(9, rules="chinese")]
    assert random_openings(0, 9, 7, 5, 0) == []


def test_there_may_not_be_that_many_openings():
    with pytest.raises(ValueError, match="no 2 different openings of 0 random moves on 9×9: only 1"):
        random_openings(2, 9, 7, moves=0, seed=1)


class Judge:
    """Takes every position for decided in which the stone is among the first forty points of the board."""

    def evaluate(self, states: state.Games) -> Evaluation:
        size = int(states.info["size"][0])
        upper = np.asarray(states.color[:, : size * size // 2] != 0).any(axis=1)
        return Evaluation(np.zeros((len(upper), size**2 + 1), np.float32), np.where(upper, -0.6, 0.5), None, None)


def test_openings_that_the_judge_takes_for_decided_are_left_out():
    openings = random_openings(20, 9, 7, moves=1, seed=3, judge=Judge())
    assert all(not board.board.ravel()[:40].any() for board in openings)
    assert len({board.board.tobytes() for board in openings}) == 20
    with pytest.raises(ValueError, match="no 42 different and undecided openings of 1 random moves on 9×9: only 41"):
        random_openings(42, 9, 7, moves=1, seed=3, judge=Judge())


@pytest.mark.usefixtures("plain_torch")
def test_the_shipped_network_finds_about_half_of_the_random_openings_decided():
    judge = Evaluator(load_network(SHIPPED), "cpu", average_symmetries=True)
    of_all = np.abs(judge.evaluate(stack_boards(random_openings(60, 9, 7, moves=2, seed=1))).value)
    assert 10 <= np.count_nonzero(of_all > 0.5) <= 50
    chosen = random_openings(30, 9, 7, moves=2, seed=1, judge=judge)
    assert np.abs(judge.evaluate(stack_boards(chosen)).value).max() <= 0.5
