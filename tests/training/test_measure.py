"""How strength is measured: whom a network plays, and what the results say."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mini_alphago.arena import gnugo_player
from mini_alphago.model import SHIPPED, Evaluator, KataGoNetwork, load_network, save_checkpoint
from mini_alphago.training import MeasureSettings, SelfPlaySettings, TrainingConfig, measure
from mini_alphago.training.folder import RunFolder
from mini_alphago.training.measure import Strength

GAMES = 8


pytestmark = pytest.mark.usefixtures("plain_torch")


def silent(opponent: str, done: int, total: int) -> None:
    pass


def strength(tmp_path: Path, opponents: tuple[str, ...], played: list[list[Any]] | None = None) -> Strength:
    """A run on 5×5 whose networks of iterations 0 and 5 are there, both untrained."""
    config = TrainingConfig(
        board_size=5, device="cpu", self_play=SelfPlaySettings(komi=0.5),
        measure=MeasureSettings(every=5, games=GAMES, visits=8, opponents=opponents),
    )  # fmt: skip
    folder = RunFolder(tmp_path)
    folder.checkpoints.mkdir(exist_ok=True)
    for iteration in (0, 5):
        torch.manual_seed(iteration)
        save_checkpoint(folder.checkpoint(iteration), KataGoNetwork(1, 8))
    return Strength(config, folder, played)


def untrained() -> Evaluator:
    torch.manual_seed(0)
    return Evaluator(KataGoNetwork(1, 8), "cpu", "f32")


# --- whom to play ---------------------------------------------------------------------------------------------------


def test_the_first_time_the_previous_network_is_the_untrained_one(tmp_path: Path) -> None:
    everybody = strength(tmp_path, ("random", "untrained", "previous"))
    assert everybody.opponents(5) == ["random", "iteration 0"]


def test_previous_is_the_network_measured_last(tmp_path: Path) -> None:
    played = [[5, "iteration 0", 6, 2, 0], [10, "iteration 5", 6, 2, 0]]
    assert strength(tmp_path, ("untrained", "previous"), played).opponents(15) == ["iteration 0", "iteration 10"]


@pytest.mark.parametrize(
    ("results", "still_there"),
    [
        ([], True),
        ([(100, 0, 0)], True),  # once is not enough
        ([(100, 0, 0), (97, 3, 0)], False),
        ([(100, 0, 0), (96, 4, 0)], True),
        ([(94, 0, 6), (94, 0, 6)], False),  # draws are half a win: 97 %
        ([(100, 0, 0), (50, 50, 0), (100, 0, 0)], True),  # not in a row
        ([(50, 50, 0), (100, 0, 0), (100, 0, 0)], False),
    ],
)
def test_who_is_beaten_clearly_twice_in_a_row_is_left_out(
    tmp_path: Path, results: list[tuple[int, int, int]], still_there: bool
) -> None:
    played: list[list[Any]] = [[5, "iteration 0", 5, 3, 0]]
    played += [[5 * i, "random", *result] for i, result in enumerate(results, 1)]
    now = strength(tmp_path, ("random", "untrained"), played).opponents(50)
    assert now == (["random", "iteration 0"] if still_there else ["iteration 0"])


def test_somebody_stays(tmp_path: Path) -> None:
    played = [[i, name, 8, 0, 0] for i in (5, 10) for name in ("random", "iteration 0")]
    assert strength(tmp_path, ("random", "untrained"), played).opponents(15) == ["iteration 0"]
    assert strength(tmp_path, ()).opponents(5) == ["iteration 0"]


def test_the_anchor_of_all_ratings_is_played_first(tmp_path: Path) -> None:
    """Random moves alone would not tell anything relative to the untrained network; later they do, by way of 5."""
    alone = strength(tmp_path, ("random",))
    assert alone.opponents(5) == ["random", "iteration 0"]
    alone.measure(5, untrained(), silent)
    assert alone.opponents(10) == ["random"]
    later = alone.measure(10, untrained(), silent)
    assert [match["opponent"] for match in later.matches] == ["random"]
    assert np.isfinite(later.elo)
    assert later.error > 0


def test_a_gnugo_that_is_not_installed_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise ValueError("GNU Go is not installed")

    monkeypatch.setattr(measure, "gnugo_player", missing)
    assert strength(tmp_path, ("gnugo:1", "random", "untrained")).opponents(5) == ["random", "iteration 0"]
    only = strength(tmp_path, ("gnugo:1",), [[5, "iteration 0", 4, 4, 0]])
    assert only.opponents(10) == ["iteration 0"]


# --- what comes out -------------------------------------------------------------------------------------------------


def test_a_better_network_has_more_elo(tmp_path: Path) -> None:
    everybody = strength(tmp_path, ("random", "untrained", "previous"))
    seen = []
    weak = everybody.measure(5, untrained(), lambda *told: seen.append(told))
    strong = everybody.measure(10, Evaluator(load_network(SHIPPED), "cpu", "f32"), silent)
    assert strong.elo > weak.elo + 100
    assert [match["opponent"] for match in weak.matches] == ["random", "iteration 0"]
    assert [match["opponent"] for match in strong.matches] == ["random", "iteration 0", "iteration 5"]
    for match in weak.matches + strong.matches:
        assert match["wins"] + match["draws"] + match["losses"] == GAMES
        assert match["visits"] == 8
    assert seen[-1] == ("iteration 0", GAMES, GAMES)
    assert [row[:2] for row in everybody.played[:2]] == [[5, "random"], [5, "iteration 0"]]
    rows = [(m["wins"], m["losses"], m["draws"]) for m in weak.matches + strong.matches]
    assert [tuple(row[2:]) for row in everybody.played] == rows


def test_measuring_again_gives_the_same(tmp_path: Path) -> None:
    """So that a run that was killed while measuring goes on as if it had not been."""
    first = strength(tmp_path, ("random", "untrained")).measure(5, untrained(), silent)
    assert strength(tmp_path, ("random", "untrained")).measure(5, untrained(), silent) == first


def test_gnugo_is_an_opponent(tmp_path: Path) -> None:
    try:
        gnugo_player(0)
    except ValueError as error:
        pytest.skip(str(error))
    result = strength(tmp_path, ("gnugo:0", "untrained")).measure(5, untrained(), silent)
    gnugo, _ = result.matches
    assert gnugo["opponent"] == "gnugo:0"
    assert gnugo["losses"] == GAMES  # an untrained network on 8 visits
    assert gnugo["wins"] + gnugo["draws"] == 0
