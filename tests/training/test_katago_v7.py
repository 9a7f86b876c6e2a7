"""Training with KataGo's own inputs and architecture: a short run, and a file of it that says the same."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from mini_alphago.game import Board
from mini_alphago.model import ENCODINGS, Evaluator, load_checkpoint, load_network, symmetry
from mini_alphago.model.evaluator import trial_planes
from mini_alphago.model.export import export_katago
from mini_alphago.model.katago.features import read_numbers
from mini_alphago.model.katago.network import KataGoFileNetwork
from mini_alphago.model.norms import restore_sizes
from mini_alphago.training import NetworkSettings, train
from mini_alphago.training.choice import usable
from mini_alphago.training.records import record_board
from mini_alphago.training.samples import SampleMaker

from ..model.katago.small import SMALL
from .made_up import some_games
from .runs import CONFIG, StopAt, assert_same_run, metrics_of, train_until

pytestmark = pytest.mark.usefixtures("plain_torch")
V7 = ENCODINGS["katago-v7"]
SHORT = dataclasses.replace(
    CONFIG,
    iterations=2,
    network=NetworkSettings(size="b2c8", encoding="katago-v7"),
    self_play=dataclasses.replace(CONFIG.self_play, komi_spread=4.0),
)
KOMI, SUICIDE, TERRITORY = 5, 8, 9  # of the global inputs


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two iterations in one go."""
    from mini_alphago.model import evaluator

    folder = tmp_path_factory.mktemp("v7") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluator, "_has_openvino", lambda: False)
        train(SHORT, str(folder))
    return folder


def test_a_run_makes_networks_of_katagos_kind(run: Path) -> None:
    network, checkpoint = load_checkpoint(run)
    assert isinstance(network, KataGoFileNetwork)
    assert (checkpoint.config.encoding, checkpoint.config.family, checkpoint.board_sizes) == (
        "katago-v7",
        "katago",
        (5,),
    )
    assert [line["iteration"] for line in metrics_of(run)] == [1, 2]
    for line in metrics_of(run):
        for name in ("policy_loss", "value_loss", "score_loss", "ownership_loss"):
            assert 0 < line[name] < 10
    first = load_network(run / "checkpoints/000000.safetensors").state_dict()
    changed = {name for name, tensor in network.state_dict().items() if not torch.equal(tensor, first[name])}
    assert {
        "initial_conv.weight",
        "global_inputs.weight",
        "value_head.fc2.weight",
        "policy_head.passing.weight",
    } <= changed


def test_komi_is_learned_and_what_never_happens_is_not(run: Path) -> None:
    """Rules that were not played do not matter, and nobody expects a game without a result."""
    network = load_network(run)
    assert isinstance(network, KataGoFileNetwork)
    weights = network.global_inputs.weight.detach()
    assert float(weights[:, KOMI].abs().max()) > 1e-4
    assert not weights[:, [SUICIDE, TERRITORY]].any()
    planes = np.empty((1, V7.planes, 5, 5), np.float32)
    V7.encode(Board(5, 4, "japanese").games, planes)
    with torch.inference_mode():
        assert 0 < float(network.explain(torch.from_numpy(planes)).no_result) < 1e-4


def test_the_exported_file_says_the_same(run: Path, tmp_path: Path) -> None:
    network = load_network(run)
    export_katago(network, tmp_path / "net.bin.gz", "short run")
    ours = Evaluator(network, "cpu", "f32", engine="torch")
    again, checkpoint = load_checkpoint(tmp_path / "net.bin.gz")
    assert checkpoint.notes == {"name": "short-run"}
    theirs = Evaluator(again, "cpu", "f32", engine="torch")
    for size in (5, 9):
        planes, sizes = trial_planes(V7, size), np.full(16, size)
        for one, other in zip(ours.run(planes, sizes), theirs.run(planes, sizes), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("stop", [StopAt(phase="self-play", call=9), StopAt(iteration=1)], ids=["self-play", "between"])
def test_a_run_that_is_stopped_goes_on_exactly(run: Path, tmp_path: Path, stop: StopAt) -> None:
    train_until(SHORT, tmp_path, stop)
    assert train(None, str(tmp_path)).iteration == 2
    assert_same_run(tmp_path, run)


def test_a_run_begins_from_its_like_but_not_from_a_file(run: Path, tmp_path: Path) -> None:
    """A file of KataGo's may hold what no run can go on with."""
    one = dataclasses.replace(SHORT, iterations=1)
    train(one, str(tmp_path / "next"), init=str(run))
    first, newest = load_network(tmp_path / "next/checkpoints/000000.safetensors"), load_network(run)
    restore_sizes(newest)
    for name, tensor in first.state_dict().items():
        assert torch.equal(tensor, newest.state_dict()[name])
    with pytest.raises(ValueError, match=r"network of another kind \(b2c16\)"):
        train(one, str(tmp_path / "wrong"), init=str(SMALL))


# --- samples --------------------------------------------------------------------------------------------------------


def test_boards_are_turned_and_numbers_are_not() -> None:
    """The planes of a turned position are its planes, turned; komi, rules and passes stay the same numbers."""
    records = some_games(6)
    game, at = usable(records)
    maker = SampleMaker(V7, 5, "cgos", len(game), 50)
    plain = maker.make(records, game, at, np.zeros(len(game), np.int64)).planes.numpy()
    for view in range(symmetry.COUNT):
        turned = maker.make(records, game, at, np.full(len(game), view)).planes.numpy()
        np.testing.assert_array_equal(turned[:, :22], symmetry.apply(plain[:, :22], view, 5))
        np.testing.assert_array_equal(turned[:, 22], plain[:, 22])
    numbers = read_numbers(plain[:, 22])
    for b in range(len(game)):
        board = record_board(records, game[b], "cgos", moves=at[b])
        sign = -1 if board.current_player == Board.BLACK else 1
        assert numbers[b, KOMI] == pytest.approx(sign * board.komi / 20, abs=1e-6)
        assert numbers[b, 6:8].tolist() == [1, 0.5]  # positional superko
    assert len(set(numbers[:, KOMI].tolist())) > 1


def test_other_families_have_no_such_network() -> None:
    with pytest.raises(ValueError, match="katago-v7 is for networks of family katago"):
        NetworkSettings(family="tutorial", encoding="katago-v7")
