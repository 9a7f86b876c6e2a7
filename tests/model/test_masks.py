"""Boards smaller than the tensor: a network says of them what it says of each alone, and learns the same."""

import pytest
import torch
from torch import Tensor

from mini_alphago.model.blocks import board_mask, global_pool
from mini_alphago.model.heads import OFF_BOARD_LOGIT
from mini_alphago.model.network import KataGoNetwork, NetworkOutput, PolicyValueNetwork

from .planes import embed, random_planes
from .weights import trained_like

pytestmark = pytest.mark.usefixtures("one_seed")


def assert_same_board(alone: NetworkOutput, inside: NetworkOutput, mask: Tensor, tolerance: float = 1e-5) -> None:
    """`inside`, of boards masked in a larger tensor, says of the board what `alone` says, and nothing of the rest."""
    on = mask.flatten(1)
    batch = len(on)
    close = {"rtol": tolerance, "atol": tolerance}
    assert alone.score is not None
    assert inside.ownership is not None
    torch.testing.assert_close(inside.value, alone.value, **close)
    torch.testing.assert_close(inside.score, alone.score, **close)
    torch.testing.assert_close(inside.policy[:, :-1][on].view(batch, -1), alone.policy[:, :-1], **close)
    torch.testing.assert_close(inside.policy[:, -1], alone.policy[:, -1], **close)
    torch.testing.assert_close(inside.ownership[on].view(batch, -1), alone.ownership, **close)
    assert (inside.policy[:, :-1][~on] == OFF_BOARD_LOGIT).all()
    assert (inside.ownership[~on] == 0).all()
    assert (inside.policy.softmax(1)[:, :-1][~on] == 0).all()


@pytest.mark.parametrize(("row", "column"), [(0, 0), (10, 10), (4, 7)])
def test_9x9_alone_and_inside_19x19(row: int, column: int) -> None:
    network = KataGoNetwork(6, 32).eval()
    trained_like(network)
    planes = random_planes(4, 22, 9)
    large, mask = embed(planes, 19, row, column, off=3.0)  # whatever stands off the board must not matter
    alone = network.outputs(planes)
    assert alone.value.std() > 1e-3  # the test would say nothing of a constant
    assert_same_board(alone, network.outputs(large, mask), mask)


def test_bool_and_float_and_full_masks_agree() -> None:
    network = KataGoNetwork(3, 16).eval()
    trained_like(network)
    large, mask = embed(random_planes(4, 22, 9), 13)
    for one, other in zip(network.outputs(large, mask), network.outputs(large, mask.float()), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
    full = torch.ones(4, 1, 13, 13, dtype=torch.bool)
    for one, other in zip(network.outputs(large), network.outputs(large, full), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


def test_mixed_sizes_answer_like_each_alone() -> None:
    network = KataGoNetwork(4, 24).eval()
    trained_like(network)
    sizes = [5, 9, 13, 19]
    boards = [random_planes(1, 22, size) for size in sizes]
    embedded = [embed(board, 19) for board in boards]
    mixed = network.outputs(torch.cat([large for large, _ in embedded]), torch.cat([mask for _, mask in embedded]))
    for i, board in enumerate(boards):
        own = NetworkOutput(*(tensor[i : i + 1] for tensor in mixed))
        assert_same_board(network.outputs(board), own, embedded[i][1])


def test_training_statistics_ignore_points_off_the_board() -> None:
    alone, inside = KataGoNetwork(4, 24), KataGoNetwork(4, 24)
    trained_like(alone)
    inside.load_state_dict(alone.state_dict())
    planes = random_planes(8, 22, 7)
    large, mask = embed(planes, 13, 2, 3)
    assert_same_board(alone.outputs(planes), inside.outputs(large, mask), mask, tolerance=1e-4)
    for (name, one), other in zip(alone.state_dict().items(), inside.state_dict().values(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5, msg=name)


def test_masked_training_has_the_same_gradients() -> None:
    alone, inside = KataGoNetwork(3, 16).double(), KataGoNetwork(3, 16).double()
    trained_like(alone)
    inside.load_state_dict(alone.state_dict())
    planes = random_planes(8, 22, 5).double()
    large, mask = embed(planes.float(), 9)
    for network, out in ((alone, alone.outputs(planes)), (inside, inside.outputs(large.double(), mask))):
        assert out.ownership is not None
        (out.value.sum() + out.policy.softmax(1)[:, 0].sum() + out.ownership.square().sum()).backward()
        assert network.blocks[0].conv1.weight.grad is not None
    for (name, one), other in zip(alone.named_parameters(), inside.parameters(), strict=True):
        if one.grad is not None:
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=1e-4, msg=name)


def test_global_pool_by_hand() -> None:
    x = torch.tensor([[[[-1.0, -2.0, 9.0], [-3.0, -6.0, 9.0], [9.0, 9.0, 9.0]]]])
    mask = torch.zeros(1, 1, 3, 3)
    mask[:, :, :2, :2] = 1
    assert global_pool(x, board_mask(mask)).tolist() == [pytest.approx([-3.0, -3.0 * -1.2, -1.0])]
    assert global_pool(x[:, :, :2, :2]).tolist() == [pytest.approx([-3.0, -3.0 * -1.2, -1.0])]


def test_fc_networks_give_masked_points_no_probability() -> None:
    network = PolicyValueNetwork(board_size=9, num_filters=8, num_blocks=1)
    large, mask = embed(random_planes(4, 7, 7), 9)
    log_policy, _ = network(large, mask)
    assert (log_policy[:, :-1][~mask.flatten(1)] < -9000).all()
    torch.testing.assert_close(log_policy.exp().sum(1), torch.ones(4))
