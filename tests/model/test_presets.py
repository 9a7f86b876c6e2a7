"""Network sizes by name, what they cost, and the configs that networks are rebuilt from."""

import json

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from mini_alphago.model.blocks import (
    GlobalPoolingBlock,
)
from mini_alphago.model.network import (
    KataGoNetwork,
    Network,
    build_network,
    count_flops,
    count_parameters,
    create_network,
)
from mini_alphago.model.presets import (
    NAMED_SIZES,
    NetworkConfig,
    default_pool_channels,
    default_pooling_blocks,
    katago_config,
    parse_size,
    tutorial_config,
)

CONFIGS = {
    "tutorial": tutorial_config(3, 16, board_size=5),
    "katago-fc": katago_config(3, 16, board_size=5, heads="fc"),
    "katago-pooled": katago_config(3, 16),
}


@pytest.fixture(params=CONFIGS.values(), ids=CONFIGS.keys())
def network(request: pytest.FixtureRequest) -> Network:
    return build_network(request.param)


def test_tutorial_parameter_count_by_hand() -> None:
    trunk = 7 * 64 * 9 + 2 * 64 + 4 * (2 * 64 * 64 * 9 + 2 * 2 * 64)
    policy = 64 * 2 + 2 * 2 + (162 * 82 + 82)
    value = 64 * 1 + 2 * 1 + (81 * 64 + 64) + (64 + 1)
    assert count_parameters(create_network()) == trunk + policy + value == 318_973


def test_b6c96_flops_by_hand() -> None:
    points = 81
    ordinary = 2 * 96 * 96 * 9 * points
    pooling = (96 * 96 + 64 * 96) * 9 * points + 3 * 32 * 64
    policy = (96 * 64 + 32) * points + 3 * 32 * 32 + 3 * 32
    scalar = 96 * 32 * points + 3 * 32 * 64 + 64
    ownership = (96 * 32 + 32) * points
    total = 22 * 96 * 9 * points + 4 * ordinary + 2 * pooling + policy + 2 * scalar + ownership
    assert count_flops(KataGoNetwork(6, 96), 9) == 2 * total


def test_flops_agree_with_torchs_counter(network: Network) -> None:
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        network.eval().outputs(torch.zeros(1, network.config.input_planes, 5, 5))
    assert count_flops(network, 5) == counter.get_total_flops()


def test_largest_preset_is_counted_without_memory() -> None:
    with torch.device("meta"):
        network = build_network(katago_config(*parse_size("b60c320")))
    assert 100e6 < count_parameters(network) < 115e6
    assert 70e9 < count_flops(network, 19) < 80e9


def test_flops_of_a_board_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match="boards of 9×9"):
        count_flops(create_network(), 19)


@pytest.mark.parametrize("name", [*NAMED_SIZES, "b1c4", "b200c2048", "b12c100"])
def test_parse_size(name: str) -> None:
    blocks, channels = parse_size(name)
    assert f"b{blocks}c{channels}" == name


@pytest.mark.parametrize(
    "name", ["", "b6", "c96", "6x96", "b6c96 ", "B6C96", "b0c64", "b201c64", "b4c3", "b4c4096", "b-1c64", "b٣c64", None]
)
def test_parse_size_refuses(name: str) -> None:
    with pytest.raises(ValueError, match=r"network") as error:
        parse_size(name)
    assert "\n" not in str(error.value)


def test_pooling_placement() -> None:
    assert default_pooling_blocks(6) == (3, 5)  # as KataGo's b6c96
    assert default_pooling_blocks(4) == (3,)
    for blocks in range(2, 61):
        pooling = default_pooling_blocks(blocks)
        assert len(pooling) == max(1, blocks // 3)
        assert pooling[0] > 1
        assert pooling[-1] <= blocks
        assert list(pooling) == sorted(set(pooling))
    assert [default_pool_channels(c) for c in (4, 64, 96, 128, 256)] == [2, 16, 32, 32, 64]
    network = KataGoNetwork(6, 96)
    assert [isinstance(block, GlobalPoolingBlock) for block in network.blocks] == [
        False,
        False,
        True,
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "config",
    [
        *CONFIGS.values(),
        katago_config(4, 12, pooling_blocks=()),
        katago_config(4, 12, pooling_blocks=[1, 4], pool_channels=5, head_channels=6, value_hidden=7),
        katago_config(2, 8, input_planes=17),
        tutorial_config(2, 8, input_planes=3),
    ],
    ids=lambda config: f"{config.family}-{config.size}-{config.heads}",
)
def test_config_round_trip(config: NetworkConfig) -> None:
    network = build_network(config)
    assert network.config == config
    again = NetworkConfig.from_dict(json.loads(json.dumps(config.to_dict())))
    assert again == config
    assert hash(again) == hash(config)
    build_network(again).load_state_dict(network.state_dict())


def test_encodings_follow_from_planes() -> None:
    assert create_network().config.encoding == "tutorial"
    assert KataGoNetwork(1, 8).config.encoding == "katago"
    assert KataGoNetwork(1, 8, input_planes=17).config.encoding == "alphazero"
    assert KataGoNetwork(1, 8, input_planes=13).config.encoding == "custom"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"family": "leela"}, "family"),
        ({"heads": "none"}, "heads"),
        ({"board_size": 9}, "pooled heads fit every board"),
        ({"heads": "fc"}, "board size"),
        ({"encoding": "tutorial"}, "has 7 planes, not 22"),
        ({"blocks": 0}, "blocks"),
        ({"blocks": "6"}, "blocks"),
        ({"pooling_blocks": [7]}, "pooling block"),
        ({"pooling_blocks": [5, 3]}, "rising order"),
        ({"pooling_blocks": 3}, "pooling_blocks"),
        ({"pool_channels": 96}, "pool channels"),
        ({"family": "tutorial"}, "tutorial's network"),
        ({"colour": "red"}, "no field colour"),
    ],
)
def test_config_refuses(change: dict[str, object], message: str) -> None:
    values = {**katago_config(6, 96).to_dict(), **change}
    with pytest.raises(ValueError, match=message) as error:
        NetworkConfig.from_dict(values)
    assert "\n" not in str(error.value)


def test_config_with_a_field_missing() -> None:
    with pytest.raises(ValueError, match="not a network config"):
        NetworkConfig.from_dict({"family": "katago"})
