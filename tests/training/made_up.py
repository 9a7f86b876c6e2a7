"""Games, and batches of positions, made up for tests of what is done with them."""

import numpy as np
import torch

from mini_alphago.training import LearningSettings
from mini_alphago.training.records import LIMIT, POLICY_UNIT, Records, join_records
from mini_alphago.training.samples import Batch

# Nothing but the step: no warm-up, decay, clipping or averaging, and all losses count alike.
PLAIN = LearningSettings(
    warmup_steps=0, weight_decay=0.0, clip=0.0, ema=0.0, value_weight=1.0, score_weight=1.0, ownership_weight=1.0,
    precision="f32",
)  # fmt: skip


def one_game(moves, size=5, *, id=0, version=0, komi=0.5, score=1.5, ending=LIMIT, doubted=0, full=None, seed=0):
    """A record of these moves (flat indices), with arbitrary policies, values and ownership."""
    rng = np.random.default_rng([seed, id])
    area, length = size * size, len(moves)
    weights = rng.random((length, area + 1))
    policy = np.rint(POLICY_UNIT * weights / weights.sum(axis=1, keepdims=True))
    return Records(
        id=np.array([id], np.int64),
        version=np.array([version], np.int32),
        first=np.zeros(1, np.int64),
        length=np.array([length], np.int32),
        komi=np.array([komi], np.float32),
        score=np.array([score], np.float32),
        ending=np.array([ending], np.uint8),
        doubted=np.array([doubted], np.uint8),
        ownership=rng.integers(-1, 2, (1, area)).astype(np.int8),
        move=np.array(moves, np.int16).reshape(length),
        policy=policy.astype(np.uint16).reshape(length, area + 1),
        value=rng.uniform(-1, 1, length).astype(np.float32),
        full=np.ones(length, np.uint8) if full is None else np.array(full, np.uint8),
    )


def some_games(count, longest=6, size=5, first_id=0, seed=0):
    """Records of so many short games in which every move has its own point, some of them not searched in full."""
    rng = np.random.default_rng([seed, first_id])
    games = []
    for i in range(count):
        length = int(rng.integers(1, longest + 1))
        moves, full = rng.permutation(size * size)[:length], rng.random(length) < 0.6
        games.append(one_game(moves, size, id=first_id + i, full=full, seed=seed))
    return join_records(games, size)


def assert_same(one, other):
    """The same games in every field, bit for bit."""
    for name, a, b in zip(Records._fields, one, other, strict=True):
        assert a.dtype == b.dtype, name
        np.testing.assert_array_equal(a, b, name)


def finish_games(play):
    """Play until no slot has a game any more; the games in the order in which they ended."""
    parts = []
    while play.playing:
        parts.append(play.apply(play.think()))
    return parts


def random_batch(rows=16, planes=22, size=5, seed=0):
    """So many positions with arbitrary planes and targets, some of them of games that were not counted."""
    generator = torch.Generator().manual_seed(seed)

    def numbers(*shape):
        return torch.rand(*shape, generator=generator)

    return Batch(
        planes=numbers(rows, planes, size, size).round(),
        policy=torch.softmax(4 * numbers(rows, size * size + 1), dim=1),
        value=numbers(rows).round() * 2 - 1,
        score=numbers(rows) * 20 - 10,
        ownership=numbers(rows, size * size).round() * 2 - 1,
        counted=numbers(rows).round(),
    )
