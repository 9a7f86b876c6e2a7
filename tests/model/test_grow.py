"""A deeper network that begins as the one it was made from."""

import pytest
import torch

from mini_alphago.model import KataGoNetwork, build_network, katago_config, tutorial_config
from mini_alphago.model.grow import grow_network

from .weights import trained


@pytest.mark.parametrize(("before", "after"), [(6, 10), (1, 4), (4, 6), (6, 6)])
def test_it_gives_the_same_answers_and_learns_in_all_blocks(before: int, after: int) -> None:
    old, wanted = trained(build_network(katago_config(before, 12))), katago_config(after, 12)
    grown = grow_network(old, wanted)
    assert grown.config == wanted
    planes = torch.randint(0, 2, (5, 22, 9, 9), generator=torch.Generator().manual_seed(3)).float()
    for mine, its in zip(grown.outputs(planes), old.outputs(planes), strict=True):
        torch.testing.assert_close(mine, its)
    grown.train().outputs(planes).policy[:, 0].sum().backward()
    assert isinstance(grown, KataGoNetwork)
    for block in grown.blocks:
        assert block.conv2.weight.grad.abs().max() > 0  # type: ignore[union-attr]


def test_what_has_another_shape_is_refused() -> None:
    deep = katago_config(6, 16)
    for other in (katago_config(4, 12), katago_config(10, 16), katago_config(4, 16, pooling_blocks=(1, 2, 3))):
        with pytest.raises(ValueError, match=rf"another kind \({other.size}\) cannot become b6c16"):
            grow_network(build_network(other), deep)
    with pytest.raises(ValueError, match="another kind"):
        grow_network(build_network(tutorial_config(2, 16)), deep)
