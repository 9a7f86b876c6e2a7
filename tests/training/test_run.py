"""A whole run: what lies in its folder, and that it goes on exactly where it was stopped."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from mini_alphago.game import parse_sgf
from mini_alphago.model import load_network
from mini_alphago.model.norms import restore_sizes
from mini_alphago.training import NetworkSettings, TrainingConfig, train
from mini_alphago.training.config import to_toml
from mini_alphago.training.folder import RunFolder
from mini_alphago.training.records import from_bytes

from .runs import (
    CONFIG,
    MEASURED,
    StopAt,
    assert_same_run,
    contents,
    info_of,
    metrics_of,
    saved_games,
    train_until,
)

pytestmark = pytest.mark.usefixtures("plain_torch")


# --- what is in a folder --------------------------------------------------------------------------------------------


def test_there_is_a_line_of_metrics_for_each_iteration(whole: Path) -> None:
    lines = metrics_of(whole)
    assert [line["iteration"] for line in lines] == [1, 2, 3, 4]
    for line in lines:
        assert 8 <= line["new_games"] < 16
        assert sum(line["ended"].values()) == line["new_games"]
        for key in ("total_loss", "policy_loss", "value_loss", "score_loss", "ownership_loss", "learning_rate"):
            assert line[key] > 0
        for key in ("positions_per_second", "evals_per_second", "games_per_second", "samples_per_second"):
            assert 0 < line[key] < 1e6
        assert line["seconds"] == pytest.approx(sum(line["time"].values()), rel=0.1)
    assert np.cumsum([line["new_games"] for line in lines]).tolist() == [line["games"] for line in lines]
    assert np.cumsum([line["new_positions"] for line in lines]).tolist() == [line["positions"] for line in lines]
    assert [line["steps"] for line in lines] == [int(2.0 * line["positions"] / 32) for line in lines]
    assert ["elo" in line for line in lines] == [False, True, False, True]
    assert [[match["opponent"] for match in line.get("matches", [])] for line in lines] == [
        [], ["random", "iteration 0"], [], ["random", "iteration 2"]
    ]  # fmt: skip


def test_everything_is_in_the_folder(whole: Path) -> None:
    names = {str(path.relative_to(whole)) for path in whole.rglob("*") if path.is_file() and "events" not in path.parts}
    numbered = {f"replay/00000{i}.games" for i in range(1, 5)} | {f"games/00000{i}.sgf" for i in range(1, 5)}
    numbered |= {f"checkpoints/00000{i}.safetensors" for i in range(5)}
    assert names == numbered | {
        "config.toml", "metrics.jsonl", "report.html", "live.json", "lock", "checkpoints/state.safetensors"
    }  # fmt: skip
    assert (whole / "config.toml").read_text() == to_toml(MEASURED)
    assert "iteration 2" in (whole / "report.html").read_text()
    assert list((whole / "events").glob("events.out.tfevents.*"))


def test_games_are_all_there_and_readable(whole: Path) -> None:
    found = saved_games(whole)
    assert len(found) == info_of(whole)["games"]
    for i in range(1, 5):
        records = from_bytes((whole / f"replay/00000{i}.games").read_bytes())
        texts = (whole / f"games/00000{i}.sgf").read_text().splitlines()
        assert len(texts) == len(records.id)
        for text, id_ in zip(texts, records.id, strict=True):
            game = parse_sgf(text)
            assert f"GN[game {id_}]" in text
            game.board()  # every move is legal
            flat = [25 if x < 0 else 5 * x + y for x, y, _ in game.moves]
            assert flat == found[int(id_)]


def test_the_newest_network_can_be_loaded(whole: Path) -> None:
    newest, fourth = load_network(whole), load_network(whole / "checkpoints/000004.safetensors")
    state = load_file(whole / "checkpoints/state.safetensors")
    for name, tensor in newest.state_dict().items():
        assert torch.equal(tensor, fourth.state_dict()[name])
        assert torch.equal(tensor, state[f"trainer.average.{name}"])
    first = load_network(whole / "checkpoints/000000.safetensors").state_dict()
    assert any(not torch.equal(tensor, first[name]) for name, tensor in newest.state_dict().items())


def test_networks_between_are_dropped_but_the_newest_is_there(tmp_path: Path) -> None:
    config = dataclasses.replace(CONFIG, checkpoint_every=2)
    train_until(config, tmp_path, StopAt(iteration=3))
    assert RunFolder(tmp_path).iterations() == [0, 2, 3]
    train(None, str(tmp_path))
    assert RunFolder(tmp_path).iterations() == [0, 2, 4]


def test_the_last_network_of_a_run_is_measured(tmp_path: Path) -> None:
    """Whichever limit ends it."""
    every = dataclasses.replace(MEASURED.measure, every=100)
    train(dataclasses.replace(CONFIG, iterations=None, minutes=1e-6, measure=every), str(tmp_path))
    assert ["elo" in line for line in metrics_of(tmp_path)] == [True]


# --- going on -------------------------------------------------------------------------------------------------------


def test_two_and_two_iterations_are_four(tmp_path: Path, whole: Path) -> None:
    train(dataclasses.replace(MEASURED, iterations=2), str(tmp_path))
    training = train(None, str(tmp_path), changes=lambda config: dataclasses.replace(config, iterations=4))
    assert training.iteration == 4
    assert_same_run(tmp_path, whole)


@pytest.mark.parametrize(
    "stops",
    [
        [StopAt(phase="self-play", call=1), StopAt(phase="self-play", call=9), StopAt(phase="self-play", call=30)],
        [StopAt(phase="training", call=2), StopAt(phase="training", call=15), StopAt(iteration=3)],
        [StopAt(phase="measuring", call=5), StopAt(phase="measuring", call=30)],
    ],
    ids=["self-play", "training", "measuring"],
)
def test_a_run_that_is_stopped_goes_on_exactly(tmp_path: Path, whole: Path, stops: list[StopAt]) -> None:
    for stop in stops:
        train_until(MEASURED, tmp_path, stop)
    assert train(None, str(tmp_path)).iteration == 4
    assert_same_run(tmp_path, whole)


def test_games_known_from_the_journal_do_not_count_as_speed(tmp_path: Path) -> None:
    train_until(CONFIG, tmp_path, StopAt(phase="training", call=1))
    train_until(CONFIG, tmp_path, StopAt(iteration=1))
    assert metrics_of(tmp_path)[0]["games_per_second"] == 0


def test_time_that_went_into_games_of_the_journal_counts(tmp_path: Path) -> None:
    """Or a run of many short sessions would seem to have taken less time than one without a break."""
    train_until(CONFIG, tmp_path, StopAt(phase="training", call=1))
    journal = RunFolder(tmp_path).journal(1, CONFIG)
    taken = sum(seconds for _, _, seconds in journal.read())
    assert taken > 0
    train_until(CONFIG, tmp_path, StopAt(iteration=1))
    line = metrics_of(tmp_path)[0]
    assert line["time"]["before the interruption"] == pytest.approx(taken)
    assert line["seconds"] == pytest.approx(sum(line["time"].values()), abs=0.01)
    assert line["minutes"] == pytest.approx(line["seconds"] / 60, abs=1e-3)


def test_limits_can_change_but_the_network_and_the_games_cannot(tmp_path: Path) -> None:
    train_until(CONFIG, tmp_path, StopAt(iteration=1))
    before = contents(tmp_path)

    def refused(changed: TrainingConfig, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            train(None, str(tmp_path), changes=lambda _: changed)
        assert contents(tmp_path) == before

    bigger = NetworkSettings(size="b2c16")
    refused(dataclasses.replace(CONFIG, network=bigger), r"this run has network .*b1c8.* cannot change")
    refused(dataclasses.replace(CONFIG, board_size=7), "this run has board_size 5, which cannot change to 7")
    for name, value in {"games": 4, "komi": 6.5, "random_openings": 0.0, "resign_below": None}.items():
        play = dataclasses.replace(CONFIG.self_play, **{name: value})
        refused(dataclasses.replace(CONFIG, self_play=play), rf"self_play\.{name} .* cannot change")
    play = dataclasses.replace(CONFIG.self_play, simulations=6)
    changed = dataclasses.replace(CONFIG, iterations=2, self_play=play)
    assert train(None, str(tmp_path), changes=lambda _: changed).iteration == 2
    assert "simulations = 6" in (tmp_path / "config.toml").read_text()


@pytest.mark.parametrize("changes", [{"uses": 1.0}, {"uses": 6.0}, {"batch_size": 64}, {"batch_size": 16}])
def test_another_pace_of_learning_is_for_what_comes(tmp_path: Path, changes: dict[str, float]) -> None:
    """Steps for positions of the past are neither made up for nor taken back."""
    train(dataclasses.replace(CONFIG, iterations=2), str(tmp_path))
    learning = dataclasses.replace(CONFIG.learning, **changes)
    for iterations in (3, 4):  # it goes on twice: the change is remembered
        config = dataclasses.replace(CONFIG, iterations=iterations, learning=learning)
        train(None, str(tmp_path), changes=lambda _, config=config: config)
    lines = metrics_of(tmp_path)
    changed = lines[1]
    assert changed["steps"] == int(2.0 * changed["positions"] / 32)
    for line in lines[2:]:
        new = line["positions"] - changed["positions"]
        assert line["steps"] == changed["steps"] + int(learning.uses * new / learning.batch_size)


def test_the_second_half_of_a_run_searches_longer(tmp_path: Path) -> None:
    play = dataclasses.replace(CONFIG.self_play, simulations=4, late_simulations=12)
    history = train(dataclasses.replace(CONFIG, iterations=4, self_play=play), str(tmp_path)).history
    each = [line["evals_per_second"] / line["positions_per_second"] for line in history]
    assert max(each[:2]) < 6
    assert min(each[2:]) > 9  # less than 13: a finished game needs no network


def test_a_run_begins_from_a_network(tmp_path: Path, whole: Path) -> None:
    one_more = dataclasses.replace(CONFIG, iterations=1)
    train(one_more, str(tmp_path / "next"), init=str(whole))
    first, newest = load_network(tmp_path / "next/checkpoints/000000.safetensors"), load_network(whole)
    restore_sizes(newest)
    for name, tensor in first.state_dict().items():
        assert torch.equal(tensor, newest.state_dict()[name])
    deeper = dataclasses.replace(one_more, network=NetworkSettings(size="b3c8"))
    train(deeper, str(tmp_path / "deeper"), init=str(whole))
    assert load_network(tmp_path / "deeper").config.blocks == 3
    other = dataclasses.replace(CONFIG, network=NetworkSettings(size="b1c16"))
    with pytest.raises(ValueError, match=r"network of another kind \(b1c8\)"):
        train(other, str(tmp_path / "wrong"), init=str(whole))
    with pytest.raises(FileNotFoundError, match="nobody"):
        train(other, str(tmp_path / "wrong"), init=str(tmp_path / "nobody"))
    assert not (tmp_path / "wrong").exists(), "the same command, corrected, begins a run"
