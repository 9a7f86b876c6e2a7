"""From records to batches: positions are played again, encoded, turned by a random symmetry, and get their targets."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..game import get_rules, state
from ..game.rules import write_rules
from ..game.state import BLACK, Games
from ..kernel import index, parallel_kernel, prange
from ..model import Encoding, symmetry
from .endings import replay_moves
from .records import POLICY_UNIT, RESIGNED, Records


class Batch(NamedTuple):
    """Positions and what is to be learned about them, all for the player to move."""

    planes: Tensor  # [B, C, N, N] float32, or int8 still to be scaled
    policy: Tensor  # [B, N² + 1] float32, sums of 1
    value: Tensor  # [B] float32 in [-1, 1]
    score: Tensor | None = None  # [B] float32 points
    ownership: Tensor | None = None  # [B, N²] float32 in [-1, 1]
    counted: Tensor | None = None  # [B] float32: 1 where score and ownership are known, 0 where somebody resigned
    reply: Tensor | None = None  # [B, N² + 1] float32: the opponent's policy one move later, sums of 1
    replied: Tensor | None = None  # [B] float32: 1 where that is known, 0 at the end or after a fast search

    def pinned(self) -> "Batch":
        """The same in memory from which a GPU can copy while everybody else goes on."""
        return Batch(*(part if part is None or part.is_cuda else part.pin_memory() for part in self))  # type: ignore[arg-type]

    def to(self, device: torch.device) -> "Batch":
        """The same on a device."""
        return Batch(*(None if part is None else part.to(device, non_blocking=True) for part in self))  # type: ignore[arg-type]


@parallel_kernel
def _replay_all(games: Games, moves: Any, first: Any, count: Any) -> None:
    """In game b play `count[b]` moves from `first[b]` on."""
    for b in prange(len(count)):
        replay_moves(games, index(b), moves[first[b] : first[b] + count[b]])


@parallel_kernel
def _turn_all(planes: Any, drawn: int, views: Any, out: Any) -> None:
    """Write the planes of row b as `views[b]` ([N²]) turns them; from `drawn` on they are no pictures, and stay."""
    for b in prange(len(out)):
        for plane in range(out.shape[1]):
            for point in range(out.shape[2]):
                out[b, plane, point] = planes[b, plane, views[b, point] if plane < drawn else point]


class SampleMaker:
    """Makes batches of one size from records; holds the memory for them."""

    def __init__(self, encoding: Encoding, size: int, rules: str, batch_size: int, longest: int) -> None:
        self.encoding, self.size, self.batch_size = encoding, size, batch_size
        points = size * size + 1
        self._games = state.new_games(batch_size, size, longest + 1)
        write_rules(self._games.info, get_rules(rules))
        self._reasons = np.zeros((batch_size, points), np.uint8)
        self._planes = np.zeros((batch_size, encoding.planes, size * size), np.int8)

    def make(
        self, records: Records, game: np.ndarray, at: np.ndarray, views: np.ndarray, search_value: float = 0.0
    ) -> Batch:
        """A batch: position `at[b]` of game `game[b]`, turned by symmetry `views[b]`; all [batch_size] int64.

        search_value: the share of the search's value in the value to learn.
        """
        size, rows = self.size, records.first[game] + at
        sources = symmetry.inverse_table(size)[views]  # [B, N² + 1]
        out = np.empty((len(game), self.encoding.planes, size * size), np.int8)
        self._games.info["komi"] = records.komi[game]
        _replay_all(self._games, records.move, records.first[game], at)
        self.encoding.write(self._games, np.arange(len(game)), self._reasons, self._planes)
        _turn_all(self._planes, self.encoding.drawn, sources[:, :-1].copy(), out)
        sign = np.where(self._games.info["to_move"] == BLACK, 1, -1).astype(np.float32)
        result = np.sign(records.score[game]) * sign
        value = (1 - search_value) * result + search_value * records.value[rows]
        last = at + 1 >= records.length[game]
        after = np.where(last, rows, rows + 1)
        replied = ~last & (records.full[after] > 0)
        ownership = np.take_along_axis(records.ownership[game], sources[:, :-1], axis=1) * sign[:, None]
        return Batch(
            torch.from_numpy(out.reshape(len(game), self.encoding.planes, size, size)),
            torch.from_numpy(_turned_policy(records.policy[rows], sources)),
            torch.from_numpy(value.astype(np.float32)),
            torch.from_numpy(records.score[game] * sign),
            torch.from_numpy(ownership),
            torch.from_numpy((records.ending[game] != RESIGNED).astype(np.float32)),
            torch.from_numpy(_turned_policy(records.policy[after], sources)),
            torch.from_numpy(replied.astype(np.float32)),
        )


def _turned_policy(policy: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """[B, A] float32 probabilities from stored ones ([B, A] uint16), each row turned as `sources` ([B, A]) says."""
    turned = np.take_along_axis(policy, sources, axis=1).astype(np.float32)
    turned /= np.maximum(turned.sum(axis=1, keepdims=True), 1 / POLICY_UNIT)
    return turned


def usable(records: Records) -> tuple[np.ndarray, np.ndarray]:
    """Which positions can be learned from: [samples] int64 the game, and [samples] int64 the move of each."""
    rows = np.flatnonzero(records.full)
    game = np.searchsorted(records.first, rows, side="right") - 1
    return game, rows - records.first[game]
