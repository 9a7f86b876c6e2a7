"""The networks: shapes, starts, gradients, learning, and the parts they are made of."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import fuse_conv_bn_eval

from mini_alphago.model.blocks import (
    GlobalPoolingBlock,
    MaskedBatchNorm2d,
    PostActivationBlock,
    ResidualBlock,
)
from mini_alphago.model.heads import OwnershipHead, PolicyHead, ScoreHead, ValueHead
from mini_alphago.model.network import (
    KataGoNetwork,
    Network,
    NetworkOutput,
    PolicyValueNetwork,
    build_network,
    create_network,
)
from mini_alphago.model.presets import (
    NetworkConfig,
    katago_config,
    tutorial_config,
)

from .planes import embed, planes_for, random_planes
from .weights import trained_like

pytestmark = pytest.mark.usefixtures("one_seed")

CONFIGS = {
    "tutorial": tutorial_config(3, 16, board_size=5),
    "katago-fc": katago_config(3, 16, board_size=5, heads="fc"),
    "katago-pooled": katago_config(3, 16),
}


@pytest.fixture(params=CONFIGS.values(), ids=CONFIGS.keys())
def network(request: pytest.FixtureRequest) -> Network:
    return build_network(request.param)


# ---------------------------------------------------------------------------------------------------------------------
# what comes out
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [5, 9])
def test_tutorial_forward(size: int) -> None:
    network = create_network(size)
    trained_like(network)
    log_policy, value = network(random_planes(3, 7, size))
    assert log_policy.shape == (3, size * size + 1)
    assert value.shape == (3, 1)
    torch.testing.assert_close(log_policy.exp().sum(1), torch.ones(3))
    assert (value.abs() <= 1).all()


@pytest.mark.parametrize("heads", ["fc", "pooled"])
def test_katago_forward(heads: str) -> None:
    network = KataGoNetwork(3, 16, board_size=9, heads=heads)  # type: ignore[arg-type]
    trained_like(network)
    out = network(random_planes(3, 22, 9))
    assert {name: tuple(tensor.shape) for name, tensor in out.items()} == {
        "policy": (3, 82),
        "value": (3, 1),
        "score": (3, 1),
        "ownership": (3, 81),
    }
    torch.testing.assert_close(out["policy"].sum(1), torch.ones(3))
    assert (out["policy"] >= 0).all()
    assert (out["value"].abs() <= 1).all()
    assert (out["ownership"].abs() <= 1).all()
    assert out["score"].std() > 0


def test_outputs_are_what_forward_says() -> None:
    for network in (build_network(config).eval() for config in CONFIGS.values()):
        trained_like(network)
        planes = planes_for(network, 3)
        out, said = network.outputs(planes), network(planes)
        assert out.value.shape == (3,)
        assert out.policy.shape == (3, 26)
        if isinstance(network, PolicyValueNetwork):
            assert out.score is None
            assert out.ownership is None
            torch.testing.assert_close(out.policy.log_softmax(1), said[0])
        else:
            assert out.score is not None
            torch.testing.assert_close(out.policy.softmax(1), said["policy"])
            torch.testing.assert_close(out.score, said["score"][:, 0])


@pytest.mark.parametrize("size", [2, 7, 13, 19])
def test_pooled_heads_take_any_size(size: int) -> None:
    out = KataGoNetwork(2, 8)(random_planes(2, 22, size))
    assert out["policy"].shape == (2, size * size + 1)
    assert out["ownership"].shape == (2, size * size)


def test_half_precision_channels_last_agrees(network: Network) -> None:
    trained_like(network)
    network.eval()
    planes = planes_for(network, 16)
    exact = network.outputs(planes)
    network.to(torch.bfloat16).to(memory_format=torch.channels_last)
    rough = network.outputs(planes.to(torch.bfloat16, memory_format=torch.channels_last))
    assert rough.policy.dtype == rough.value.dtype == torch.float32
    assert (exact.policy.softmax(1) - rough.policy.softmax(1)).abs().sum(1).max() / 2 < 0.05
    assert (exact.value - rough.value).abs().max() < 0.05


def test_autocast_trains(network: Network) -> None:
    planes = planes_for(network, 4)
    mask = torch.ones(4, 1, 5, 5)
    with torch.autocast("cpu", torch.bfloat16):
        out = network.outputs(planes, mask)
    out.policy.square().sum().backward()
    assert out.policy.dtype == torch.float32
    assert all(p.grad is None or p.grad.isfinite().all() for p in network.parameters())


def test_wrong_shapes_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"7 planes \(tutorial\), not 22"):
        create_network()(torch.zeros(1, 22, 9, 9))
    with pytest.raises(ValueError, match="boards of 9×9, not 13×13"):
        create_network()(torch.zeros(1, 7, 13, 13))
    with pytest.raises(ValueError, match="boards of N×N, not 9×8"):
        KataGoNetwork(1, 8)(torch.zeros(1, 22, 9, 8))


def test_norms_fold_into_their_convolutions() -> None:
    """What an inference engine does: `conv → norm` pairs become one convolution, and the norm an identity."""
    network = KataGoNetwork(3, 16).eval()
    trained_like(network)
    planes, mask = embed(planes_for(network, 4), 7)
    before = network.outputs(planes, mask)
    pairs = [(network, "initial_conv", "initial_bn")]
    pairs += [(block, "conv1", "bn2") for block in network.blocks]
    pairs += [(head, "conv", "bn") for head in (network.policy_head, network.value_head, network.score_head)]
    for owner, conv, norm in pairs:
        setattr(owner, conv, fuse_conv_bn_eval(getattr(owner, conv), getattr(owner, norm)))
        setattr(owner, norm, nn.Identity().eval())
    after = network.outputs(planes, mask)
    for one, other in zip(before, after, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


# ---------------------------------------------------------------------------------------------------------------------
# how it starts, and that it learns
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    "config",
    [
        tutorial_config(),
        katago_config(6, 96),
        katago_config(4, 64, board_size=9, heads="fc"),
        katago_config(18, 32),
    ],
    ids=lambda config: f"{config.family}-{config.size}-{config.heads}",
)
def test_starts_near_uniform_and_near_zero(config: NetworkConfig, training: bool) -> None:
    network = build_network(config).train(training)
    out = network.outputs(planes_for(network, 32, 9))
    assert (out.policy.softmax(1) - 1 / 82).abs().sum(1).max() / 2 < 0.03  # total variation
    assert out.value.abs().max() < 0.05
    if out.score is not None and out.ownership is not None:
        assert out.score.abs().max() < 1.5
        assert out.ownership.abs().max() < 0.05


def loss_of(out: NetworkOutput, moves: Tensor, value: Tensor, ownership: Tensor) -> Tensor:
    loss = F.cross_entropy(out.policy, moves) + F.mse_loss(out.value, value)
    if out.score is not None and out.ownership is not None:
        loss = loss + F.mse_loss(out.ownership, ownership) + F.mse_loss(out.score / 10, ownership.sum(1) / 10)
    return loss


def random_targets(batch: int, size: int) -> tuple[Tensor, Tensor, Tensor]:
    points = size * size
    signs = torch.randint(0, 2, (batch, points)) * 2.0 - 1.0
    return torch.randint(0, points + 1, (batch,)), signs[:, 0] * 0.9, signs * 0.9


def test_gradients_reach_every_parameter(network: Network) -> None:
    trained_like(network)
    loss_of(network.outputs(planes_for(network, 16)), *random_targets(16, 5)).backward()
    silent = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.abs().max() > 0]
    assert silent == []


def test_one_step_from_the_start_wakes_every_parameter(network: Network) -> None:
    """Blocks that start as the identity hold back the gradients before their last layer, but only once."""
    planes, targets = planes_for(network, 32), random_targets(32, 5)
    loss_of(network.outputs(planes), *targets).backward()
    with torch.no_grad():
        for parameter in network.parameters():
            assert parameter.grad is not None
            parameter -= 0.1 * parameter.grad
    network.zero_grad()
    loss_of(network.outputs(planes), *targets).backward()
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in network.parameters())


@pytest.mark.parametrize(
    "config",
    [
        tutorial_config(3, 32, board_size=5),
        katago_config(3, 32, board_size=5, heads="fc"),
        katago_config(3, 32),
    ],
    ids=["tutorial", "katago-fc", "katago-pooled"],
)
def test_overfits_64_positions(config: NetworkConfig) -> None:
    network = build_network(config)
    planes, targets = planes_for(network, 64), random_targets(64, 5)
    optimizer = torch.optim.Adam(network.parameters(), lr=4e-3)
    steps = 150
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0 - 0.95 * step / steps)
    first = loss = loss_of(network.outputs(planes), *targets)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(network.outputs(planes), *targets)
        loss.backward()
        optimizer.step()
        schedule.step()
    assert first.item() > 3.5
    assert loss.item() < 0.05
    settled = loss_of(network.eval().outputs(planes), *targets)  # the running statistics have to agree with the batch's
    assert settled.item() < 0.1


# ---------------------------------------------------------------------------------------------------------------------
# the parts, alone
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [ResidualBlock, GlobalPoolingBlock, PostActivationBlock])
def test_blocks_start_as_the_identity(block: type[nn.Module]) -> None:
    x = torch.rand(2, 12, 5, 5)
    torch.testing.assert_close(block(12)(x), x)


def test_documented_heads_stand_alone() -> None:
    x = torch.rand(2, 12, 19, 19)
    assert PolicyHead(12)(x).shape == (2, 362)
    assert ValueHead(12)(x).shape == (2, 1)
    assert ScoreHead(12)(x).shape == (2, 1)
    assert OwnershipHead(12)(x).shape == (2, 361)
    assert ValueHead(12, board_size=None, head_channels=4, hidden=8)(x[:, :, :9, :9]).shape == (2, 1)


def test_batch_norm_without_a_mask_is_torchs() -> None:
    ours, theirs, x = MaskedBatchNorm2d(6), nn.BatchNorm2d(6), torch.randn(4, 6, 5, 5)
    torch.testing.assert_close(ours(x), theirs(x), rtol=0, atol=0)
    assert ours.state_dict().keys() == theirs.state_dict().keys()


def test_reads_the_tutorials_state_dict_with_its_idle_biases() -> None:
    """The tutorial's convolutions have biases; they are absorbed in the norms and the answers are the same."""
    network = PolicyValueNetwork(5, 7, 16, 2).eval()
    trained_like(network)
    state = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    convolutions = [name for name, module in network.named_modules() if isinstance(module, nn.Conv2d)]
    with_biases = dict(state)
    for name in convolutions:
        bias = torch.randn(state[f"{name}.weight"].shape[0])
        with_biases[f"{name}.bias"] = bias
        with_biases[f"{name.replace('conv', 'bn')}.running_mean"] = (
            state[f"{name.replace('conv', 'bn')}.running_mean"] + bias
        )
    other = PolicyValueNetwork(5, 7, 16, 2).eval()
    other.load_state_dict(with_biases)
    planes = random_planes(3, 7, 5)
    torch.testing.assert_close(other(planes), network(planes))
    assert f"{convolutions[0]}.bias" in with_biases  # the caller's dict is left as it was
