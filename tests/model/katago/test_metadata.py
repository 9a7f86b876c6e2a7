"""What networks that imitate people are told: the numbers of KataGo's profiles, by hand."""

import numpy as np
import pytest
import torch

from mini_alphago.model.katago.metadata import profile_row, with_area
from mini_alphago.model.katago.network import KataGoFileNetwork

from .made_up import made_up


def test_a_profile_by_hand() -> None:
    """Two people of 5 kyu on KGS, 1 March 2020, 20 minutes and five times 30 seconds."""
    row = profile_row("rank_5k")
    assert row.shape == (192,)
    assert row.dtype == np.float32
    expected = dict.fromkeys([0, 1, *range(6, 20), *range(40, 54), 79, 153], 1.0)
    expected |= {74: 0.5, 82: 0.255547, 83: 0.130196, 84: 0.222955, 85: -0.201713}
    expected |= {87: -0.900969, 88: 0.433884}  # the day of the week: 18322 days are 2617 weeks and 3 days
    expected |= {149: 0.978944, 150: 0.204128}  # and the slowest hand, which goes round in 560000 days
    assert not row[[2, 3, 4, 5, *range(20, 40), *range(54, 74), *range(75, 79), 80, 81, 86]].any()
    assert not row[[151, 152, *range(154, 192)]].any()
    for at, value in expected.items():
        assert row[at] == pytest.approx(value, abs=2e-6), at
    hands = row[87:151].reshape(32, 2)
    np.testing.assert_allclose(np.square(hands).sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(("rank", "steps"), [("9d", 1), ("8d", 2), ("1d", 9), ("1k", 10), ("2k", 11), ("25k", 34)])
def test_ranks_are_thermometers(rank: str, steps: int) -> None:
    row = profile_row(f"rank_{rank}")
    for first in (6, 40):  # both players have it
        assert row[first : first + 34].tolist() == [1] * steps + [0] * (34 - steps)


@pytest.mark.parametrize("name", ["rank_10d", "rank_0k", "rank_26k", "5k", "preaz_5k", "", "rank_"])
def test_other_profiles_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"is no profile: it is rank_9d … rank_1d, rank_1k … rank_25k$"):
        profile_row(name)


def test_the_area_is_that_of_the_board_itself() -> None:
    row, planes = torch.from_numpy(profile_row("rank_1d")), torch.zeros(3, 23, 19, 19)
    whole = with_area(row, planes, None)
    assert whole.shape == (3, 192)
    assert whole[:, 86].tolist() == [0, 0, 0]  # half the log of area / 361
    mask = torch.zeros(3, 1, 19, 19, dtype=torch.bool)
    for i, size in enumerate((9, 13, 19)):
        mask[i, :, :size, :size] = True
    rows = with_area(row, planes, mask)
    torch.testing.assert_close(rows[:, 86], torch.tensor([-0.747214, -0.379490, 0.0]), rtol=0, atol=2e-6)
    torch.testing.assert_close(with_area(row, planes[..., :9, :9], None)[:, 86], rows[:1, 86].expand(3))
    others = [i for i in range(192) if i != 86]
    assert torch.equal(rows[:, others], row[others].expand(3, -1))
    assert row[86] == 0  # the profile itself is as it was


def test_who_plays_makes_a_difference() -> None:
    network = KataGoFileNetwork(made_up(16, metadata=True, seed=3))
    planes = torch.zeros(1, 23, 5, 5)
    planes[:, 0] = 1
    with torch.inference_mode():
        strong = network.outputs(planes)
        network.profile = torch.from_numpy(profile_row("rank_20k"))
        weak = network.outputs(planes)
    assert not torch.equal(strong.policy, weak.policy)
    assert not torch.equal(strong.value, weak.value)
