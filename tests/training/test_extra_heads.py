"""What is learned by heads of its own, for the trunk's sake: the opponent's reply, and a softened policy."""

import numpy as np
import pytest
import torch

from mini_alphago.model import ENCODINGS, KataGoNetwork, NetworkOutput, PolicyValueNetwork, symmetry
from mini_alphago.training import LearningSettings, Trainer
from mini_alphago.training.records import POLICY_UNIT
from mini_alphago.training.samples import Batch, SampleMaker
from mini_alphago.training.trainer import losses

from .made_up import one_game

pytestmark = pytest.mark.usefixtures("one_thread")
SETTINGS = LearningSettings(reply_weight=0.5, soft_weight=2.0, precision="f32")


def test_the_reply_is_the_policy_one_move_later():
    records = one_game([0, 6, 12, 18], full=[1, 1, 0, 1])
    maker = SampleMaker(ENCODINGS["tutorial"], 5, "cgos", 4, 10)
    for view in (0, 3, 5):
        batch = maker.make(records, np.zeros(4, np.int64), np.arange(4), np.full(4, view))
        assert batch.replied.tolist() == [1, 0, 1, 0]  # no reply to a fast search's move, none at the end
        for at in (0, 2):
            stored = records.policy[at + 1] / records.policy[at + 1].sum()
            np.testing.assert_allclose(batch.reply[at], symmetry.apply(stored, view, 5), atol=1 / POLICY_UNIT)


def test_reply_loss_by_hand():
    third = torch.full((2, 3), 1 / 3)
    out = NetworkOutput(torch.zeros(2, 3), torch.zeros(2), None, None)
    batch = Batch(torch.zeros(2, 1, 1, 1), third, torch.zeros(2), reply=torch.tensor([[1.0, 0, 0], [0, 1, 0]]),
                  replied=torch.tensor([1.0, 0.0]))  # fmt: skip
    logits = torch.tensor([[2.0, 2.0, 2.0], [9.0, 0.0, 0.0]])
    parts = losses(out, batch, SETTINGS, {"reply": logits})
    assert float(parts["reply_loss"]) == pytest.approx(np.log(3), abs=1e-6)  # the second row does not count
    assert float(parts["total_loss"]) == pytest.approx(0.5 * np.log(3), abs=1e-6)
    assert "reply_loss" not in losses(out, batch, SETTINGS)


def test_soft_loss_by_hand():
    policy = torch.tensor([[16 / 17, 1 / 17, 0.0]])  # to the power ¼ they are as 2 to 1 to 0
    out = NetworkOutput(torch.log(policy), torch.zeros(1), None, None)
    batch = Batch(torch.zeros(1, 1, 1, 1), policy, torch.zeros(1))
    told = torch.log(torch.tensor([[2 / 3, 1 / 3, 1e-9]]))
    assert float(losses(out, batch, SETTINGS, {"soft": told})["soft_loss"]) == pytest.approx(0, abs=1e-6)
    parts = losses(out._replace(policy=torch.log(policy + 1e-9)), batch, SETTINGS, {"soft": torch.zeros(1, 3)})
    entropy = -(2 * np.log(2 / 3) + np.log(1 / 3)) / 3
    assert float(parts["soft_loss"]) == pytest.approx(np.log(3) - entropy, abs=1e-6)
    assert float(parts["total_loss"]) == pytest.approx(2 * (np.log(3) - entropy), abs=1e-5)
    assert "soft_loss" not in losses(out, batch, SETTINGS)


@pytest.mark.parametrize("network", [KataGoNetwork(1, 8), PolicyValueNetwork(5, 7, 8, 1)], ids=["pooled", "fc"])
def test_it_is_learned_saved_and_taken_up(network):
    torch.manual_seed(0)
    policies = torch.softmax(3 * torch.randn(2, 8, 26), dim=2)
    planes = torch.randint(0, 2, (8, network.config.input_planes, 5, 5), dtype=torch.int8)
    batch = Batch(planes, policies[0], torch.zeros(8), reply=policies[1], replied=torch.ones(8))
    trainer = Trainer(network, 1e-2, SETTINGS)
    first = trainer.train_step(batch)
    for _ in range(150):
        last = trainer.train_step(batch)
    for name in ("reply_loss", "soft_loss"):
        assert last[name] < 0.1 * first[name]
    other = Trainer(type(network)(1, 8) if network.config.board_size is None else PolicyValueNetwork(5, 7, 8, 1),
                    1e-2, SETTINGS)  # fmt: skip
    other.restore(trainer.state())
    assert other.train_step(batch) == trainer.train_step(batch)
    assert not any(
        "reply" in name or "soft" in name for name in trainer.average.state_dict()
    )  # the network itself is as before
