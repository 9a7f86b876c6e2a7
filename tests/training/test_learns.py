"""It learns: about a minute of training on 5×5, from nothing, on the CPU, and what came of it."""

from pathlib import Path

from mini_alphago.training import train

from .strength import LEARNER, assert_it_has_learned


def test_a_minute_of_training_beats_random_moves_and_its_own_beginning(tmp_path: Path) -> None:
    train(LEARNER, str(tmp_path))
    assert_it_has_learned(tmp_path)
