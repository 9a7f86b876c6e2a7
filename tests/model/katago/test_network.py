"""KataGo's networks in PyTorch say what its formulas say, whatever stands around a board."""

import numpy as np
import pytest
import torch

from mini_alphago.model.heads import OFF_BOARD_LOGIT
from mini_alphago.model.katago.description import Description
from mini_alphago.model.katago.layers import Activation
from mini_alphago.model.katago.network import KataGoFileNetwork, RawOutput, mix_policies, read_values
from mini_alphago.model.katago.reader import read_katago

from .made_up import KINDS, VERSIONS, made_up
from .real import REAL, needs_real_network
from .slow_network import slow_outputs, slow_values

pytestmark = pytest.mark.usefixtures("one_thread")
ACTIVATIONS: tuple[Activation, ...] = ("identity", "relu", "mish", "silu")


def inputs(height: int, width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs of one position: spatial [22, H, W], global [19], metadata [192]."""
    random = np.random.default_rng(seed)
    spatial = random.integers(0, 2, (22, height, width)).astype(np.float32)
    spatial[0] = 1.0
    return spatial, random.normal(size=19).astype(np.float32), random.normal(size=192).astype(np.float32)


def answers(network: Description, *boards: tuple[int, int], height: int = 0, width: int = 0) -> RawOutput:
    """What the network says of boards in the corner of a tensor; without its size, of boards that fill it."""
    positions = [inputs(*board, seed=i) for i, board in enumerate(boards)]
    tall, wide = height or boards[0][0], width or boards[0][1]
    spatial = np.zeros((len(boards), 22, tall, wide), np.float32)
    for row, (own, _, _) in zip(spatial, positions, strict=True):
        row[:, : own.shape[1], : own.shape[2]] = own
    planes = torch.from_numpy(spatial)
    told = torch.from_numpy(np.stack([position[1] for position in positions]))
    metadata = None
    if network.trunk.metadata is not None:
        metadata = torch.from_numpy(np.stack([position[2] for position in positions]))
    with torch.inference_mode():
        return KataGoFileNetwork(network)(planes, told, planes[:, :1] if height else None, metadata)


def assert_right(network: Description, raw: RawOutput, i: int, board: tuple[int, int], tensor: tuple[int, int]) -> None:
    """Row i of the answers is what the formulas give for that board alone."""
    policy, value, score, ownership = slow_outputs(network, *inputs(*board, seed=i))
    on = np.zeros(tensor, bool)
    on[: board[0], : board[1]] = True
    moves = np.append(on.ravel(), True)
    close = {"rtol": 1e-4, "atol": 2e-5}
    np.testing.assert_allclose(raw.policy[i][:, moves].numpy(), policy[:2], **close)
    np.testing.assert_allclose(raw.value[i].numpy(), value, **close)
    np.testing.assert_allclose(raw.score[i].numpy(), score, **close)
    np.testing.assert_allclose(raw.ownership[i][on.ravel()].numpy(), ownership, **close)
    assert (raw.policy[i][:, ~moves] == OFF_BOARD_LOGIT).all()
    assert (raw.ownership[i][~on.ravel()] == 0).all()


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_on_boards_that_fill_the_tensor(version: int) -> None:
    network = made_up(version, metadata=version >= 15, seed=version)
    raw = answers(network, (5, 5), (5, 5))
    assert raw.policy.shape == (2, 1 if version < 12 else 2, 26)
    for i in range(2):
        assert_right(network, raw, i, (5, 5), (5, 5))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_block_and_activation_on_smaller_boards(kind: str, activation: Activation) -> None:
    network = made_up(14, (kind, kind), activations=(activation,))
    boards = ((5, 5), (7, 7), (3, 6), (7, 2))
    raw = answers(network, *boards, height=7, width=7)
    for i, board in enumerate(boards):
        assert_right(network, raw, i, board, (7, 7))


@pytest.mark.parametrize("version", [8, 16])
def test_boards_and_tensors_that_are_not_square(version: int) -> None:
    network = made_up(version)
    assert_right(network, answers(network, (4, 7)), 0, (4, 7), (4, 7))
    assert_right(network, answers(network, (4, 3), height=5, width=8), 0, (4, 3), (5, 8))


def test_what_stands_off_the_board_does_not_matter() -> None:
    network = KataGoFileNetwork(made_up(16))
    spatial, told, _ = inputs(6, 6)
    planes, told_batch = torch.from_numpy(spatial[None]), torch.from_numpy(told[None])
    mask = torch.zeros(1, 1, 6, 6, dtype=torch.bool)
    mask[..., :4, :5] = True
    with torch.inference_mode():
        one = network(planes, told_batch, mask)
        other = network(torch.where(mask, planes, 1e6), told_batch, mask)
    for a, b in zip(one, other, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)


def test_metadata_goes_to_those_that_read_it() -> None:
    spatial, told, metadata = (torch.from_numpy(array[None]) for array in inputs(5, 5))
    with pytest.raises(ValueError, match="made-up-16 takes no metadata"):
        KataGoFileNetwork(made_up(16))(spatial, told, metadata=metadata)
    reader = KataGoFileNetwork(made_up(16, metadata=True))
    with pytest.raises(ValueError, match="made-up-16 needs metadata"):
        reader(spatial, told)
    assert not torch.equal(
        reader(spatial, told, metadata=metadata).value, reader(spatial, told, metadata=-metadata).value
    )


def test_every_weight_can_be_trained() -> None:
    network = KataGoFileNetwork(made_up(16, metadata=True))
    assert not network.training
    spatial, told, metadata = (torch.from_numpy(array[None]) for array in inputs(5, 5))
    raw = network.train()(spatial, told, metadata=metadata)
    sum(part.square().mean() for part in raw).backward()
    assert all(parameter.grad is not None for parameter in network.parameters())


def test_building_a_network_draws_no_random_numbers() -> None:
    torch.manual_seed(1)
    first = torch.rand(3)
    torch.manual_seed(1)
    KataGoFileNetwork(made_up(8))
    assert torch.equal(torch.rand(3), first)


def test_optimism_mixes_two_policies() -> None:
    two = torch.randn(3, 2, 10)
    assert torch.equal(mix_policies(two), two[:, 0])
    torch.testing.assert_close(mix_policies(two, 1.0), two[:, 1])
    torch.testing.assert_close(mix_policies(two, 0.2), 0.8 * two[:, 0] + 0.2 * two[:, 1])
    each = mix_policies(two, torch.tensor([0.0, 0.5, 1.0]))
    torch.testing.assert_close(each, torch.stack((two[0, 0], two[1].mean(0), two[2, 1])))
    assert torch.equal(mix_policies(two[:, :1], 0.7), two[:, 0])


@pytest.mark.parametrize("version", VERSIONS)
def test_the_meaning_of_the_numbers(version: int) -> None:
    network = made_up(version)
    generator = torch.Generator().manual_seed(version)
    count = 4 if version == 8 else 6
    score = 3 * torch.randn(6, count, generator=generator)
    score[5] = 90.0  # beyond where softplus is more than its argument
    raw = RawOutput(
        torch.zeros(6, 1, 5), torch.randn(6, 3, generator=generator), score, torch.randn(6, 4, generator=generator)
    )
    void = torch.tensor([True, False] * 3)
    values = read_values(raw, version, network.multipliers, void)
    for i in range(6):
        expected = slow_values(raw.value[i].numpy(), score[i].numpy(), version, network.multipliers, bool(void[i]))
        for name, number in expected.items():
            assert getattr(values, name)[i].item() == pytest.approx(number, rel=1e-6), name
    assert (values.no_result[~void] == 0).all()
    torch.testing.assert_close(values.ownership, torch.tanh(raw.ownership.double()))
    assert {part.dtype for part in values} == {torch.float64}
    for can_be_void in (False, True):  # one for all
        same = read_values(raw, version, network.multipliers, can_be_void)
        torch.testing.assert_close(same.lead[void == can_be_void], values.lead[void == can_be_void])


@needs_real_network
@pytest.mark.parametrize("size", [9, 13])
def test_a_real_network_on_an_empty_board(size: int) -> None:
    """Numbers that KataGo itself printed; alone, and in the corner of a larger tensor."""
    network = KataGoFileNetwork(read_katago(REAL))
    spatial, told = torch.zeros(1, 22, size, size), torch.zeros(1, 19)
    spatial[:, 0, :9, :9] = 1.0
    told[0, [5, 6, 7, 8, 18]] = torch.tensor([-0.375, 1.0, 0.5, 1.0, -0.5])  # Tromp-Taylor, komi 7.5
    with torch.inference_mode():
        raw = network(spatial, told, None if size == 9 else spatial[:, :1])
        values = network.values(raw, can_be_void=False)
    np.testing.assert_allclose(raw.value[0], [2.992175, 3.042168, -5.950720], atol=1e-5)
    np.testing.assert_allclose(raw.score[0], [0.002602, 0.084210, 0.015945, -0.309797], atol=1e-5)
    np.testing.assert_allclose(raw.policy[0, 0, [0, 1, 2, -1]], [-6.404919, -6.262460, -6.346227, -4.431790], atol=2e-5)
    np.testing.assert_allclose(raw.ownership[0, :3], [0.035927, 0.017373, 0.069683], atol=1e-5)
    chances = mix_policies(raw.policy).softmax(dim=1)[0]
    middle = 4 * size + 4
    np.testing.assert_allclose(chances[[middle, 0, -1]], [0.269681, 0.000044, 0.000314], atol=2e-6)
    white = values.loss, -values.lead, -values.score_mean, values.score_mean_square, -values.ownership[:, middle]
    np.testing.assert_allclose([x.item() for x in white], [0.512496, -0.319, -0.052, 216.763, -0.3597198], atol=6e-4)
    assert values.no_result.item() == 0
    assert values.variance_time.item() == values.winloss_error.item() == values.score_error.item() == -1
