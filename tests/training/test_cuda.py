"""Training on an NVIDIA GPU: a captured step is the same step, and groups of games that take turns play real games."""

import numpy as np
import pytest
import torch

from mini_alphago.model import Evaluator, KataGoNetwork
from mini_alphago.training import LearningSettings, SelfPlay, SelfPlaySettings, Trainer
from mini_alphago.training.records import join_records, record_board
from mini_alphago.training.samples import Batch

pytestmark = pytest.mark.cuda
ROWS = 64


def batches(count):
    generator = torch.Generator().manual_seed(1)

    def policy():
        return torch.softmax(2 * torch.randn(ROWS, 82, generator=generator), dim=1)

    for _ in range(count):
        planes = torch.randint(0, 2, (ROWS, 22, 9, 9), generator=generator, dtype=torch.int8)
        numbers = 2 * torch.rand(ROWS, 83, generator=generator) - 1
        ones = torch.ones(ROWS)
        yield Batch(planes, policy(), numbers[:, 0], 20 * numbers[:, 1], numbers[:, 2:].sign(), ones, policy(), ones)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
@pytest.mark.parametrize("precision", ["f32", "bf16"])
def test_a_captured_step_is_the_same_step(precision, optimizer):
    settings = LearningSettings(
        optimizer=optimizer, precision=precision, warmup_steps=5, reply_weight=0.2, soft_weight=1.0
    )
    torch.manual_seed(3)
    first = KataGoNetwork(2, 32)
    results = []
    for captured in (True, False):
        network = KataGoNetwork(2, 32)
        network.load_state_dict(first.state_dict())
        torch.manual_seed(4)
        trainer = Trainer(network.cuda(), 1e-3, settings)
        if not captured:
            trainer._graphed = None
        losses = []
        for i, batch in enumerate(batches(40)):
            trainer.set_progress(i / 40)
            losses.append(trainer.train_step(batch)["total_loss"])
        results.append((losses, {name: t.float().cpu() for name, t in trainer.average.state_dict().items()}))
    assert losses[-1] < losses[0]
    tolerance = 2e-3 if precision == "f32" else 3e-2
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=tolerance)
    for name, tensor in results[0][1].items():
        torch.testing.assert_close(tensor, results[1][1][name], rtol=0.05, atol=0.02)


def test_batches_of_other_sizes_than_the_captured_one():
    """The last one of an epoch is smaller: it is learned from as it is, and the others go on as before."""
    torch.manual_seed(3)
    first, results = KataGoNetwork(2, 32), []
    for captured in (True, False):
        network = KataGoNetwork(2, 32)
        network.load_state_dict(first.state_dict())
        trainer = Trainer(network.cuda(), 1e-3, LearningSettings(precision="f32", warmup_steps=0))
        if not captured:
            trainer._graphed = None
        losses = []
        for i, batch in enumerate(batches(30)):
            rows = ROWS // 2 if i % 5 == 4 else ROWS
            part = Batch(*(None if field is None else field[:rows] for field in batch))
            losses.append(trainer.train_step(part)["total_loss"])
        results.append(losses)
    np.testing.assert_allclose(*results, rtol=2e-3)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_it_goes_on_from_its_state(optimizer):
    torch.manual_seed(3)
    settings, everything = LearningSettings(optimizer=optimizer), list(batches(40))
    trainer = Trainer(KataGoNetwork(2, 32).cuda(), 1e-3, settings)
    for batch in everything[:20]:
        trainer.step(batch)
    other = Trainer(KataGoNetwork(2, 32).cuda(), 1e-3, settings)
    other.restore(trainer.state())
    one, two = ([t.train_step(batch)["total_loss"] for batch in everything[20:]] for t in (trainer, other))
    np.testing.assert_allclose(one, two, rtol=2e-2)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_groups_of_games(groups):
    evaluator = Evaluator(KataGoNetwork(2, 32), "cuda")
    play = SelfPlay(evaluator, 5, SelfPlaySettings(games=48, groups=groups, simulations=8), seed=1, staggered=True)
    records = join_records([play.apply(play.think()) for _ in range(40 * groups)], 5)
    assert len(records.id) > 48
    for g in range(len(records.id)):
        assert record_board(records, g, "cgos").move_count == records.length[g]
