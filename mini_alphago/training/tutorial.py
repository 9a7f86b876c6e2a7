"""The tutorial's `self_play_game` and `generate_training_data`, on the same self-play as everything else."""

from typing import Any

import numpy as np

from ..game import Board
from ..mcts import MCTS
from ..model import ENCODINGS, Encoding
from .config import SelfPlaySettings
from .records import POLICY_UNIT, Records
from .samples import SampleMaker
from .self_play import SelfPlay

_MOST_MOVES = 200
_AT_ONCE = 256
_RULES = "cgos"


def self_play_game(mcts: MCTS, temperature: float = 1.0, temp_threshold: int = 30) -> list[dict[str, Any]]:
    """One game of self-play with noise at the root; a dictionary for each of its positions.

    features: [planes, size, size] float32, what the network sees. policy: [size² + 1] float32, the visits' shares to
    the power 1 / temperature; after `temp_threshold` moves all on the move played. player: who was to move.
    value: 1.0 if that player won, -1.0 if it lost, 0.0 for a draw.
    """
    return _play(mcts, 1, temperature, temp_threshold)


def generate_training_data(mcts: MCTS, num_games: int = 100) -> list[dict[str, Any]]:
    """The positions of so many games, as `self_play_game` gives them; games are played at the same time."""
    return _play(mcts, num_games, 1.0, 30, say=True)


def _play(mcts: MCTS, games: int, temperature: float, threshold: int, say: bool = False) -> list[dict[str, Any]]:
    size, search = mcts.board_size, mcts.search_settings
    settings = SelfPlaySettings(
        games=min(games, _AT_ONCE), method="puct", simulations=mcts.num_simulations, c_puct=mcts.c_puct,
        fpu_reduction=search.fpu_reduction, forced_playouts=search.forced_playouts, noise_alpha=search.noise_alpha,
        noise_epsilon=search.noise_epsilon, sampled_moves=(threshold, threshold), temperature=temperature,
        random_openings=0.0, rules=_RULES, komi=Board(size).komi, move_limit=_MOST_MOVES, end_when_settled=False,
    )  # fmt: skip
    seed = int(mcts.rng.integers(2**31))
    evaluator = mcts.evaluator()
    encoding = getattr(evaluator, "encoding", ENCODINGS["tutorial"])
    play = SelfPlay(evaluator, size, settings, seed, games_wanted=games)
    data: list[dict[str, Any]] = []
    done = 0
    while play.playing:
        records = play.apply(play.think())
        for g in range(len(records.id)):
            done += 1
            if say:
                print(f"Self-play game {done}/{games}")
            data += _positions(encoding, records, g, temperature, threshold)
    return data


def _positions(
    encoding: Encoding, records: Records, g: int, temperature: float, threshold: int
) -> list[dict[str, Any]]:
    length = int(records.length[g])
    maker = SampleMaker(encoding, records.size, _RULES, length, length)
    game, at = np.full(length, g), np.arange(length)
    batch = maker.make(records, game, at, np.zeros(length, np.int64))
    planes = batch.planes.numpy() * encoding.scale[:, None, None]
    policy = records.policy[records.first[g] : records.first[g] + length].astype(np.float32) / POLICY_UNIT
    sure = min(threshold, length) if temperature > 0 else 0
    if sure:
        policy[:sure] = (policy[:sure] / policy[:sure].max(axis=1, keepdims=True)) ** (1 / temperature)
    policy[sure:] = np.eye(policy.shape[1])[records.move[records.first[g] + sure : records.first[g] + length]]
    policy /= policy.sum(axis=1, keepdims=True)
    value = batch.value.numpy()
    return [
        {"features": planes[i].astype(np.float32), "policy": policy[i], "player": 1 + i % 2, "value": float(value[i])}
        for i in range(length)
    ]
