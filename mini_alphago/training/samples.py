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
from .records import RESIGNED, Records


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

    def to(self, device: torch.device) -> "Batch":
        """The same on a device."""
        return Batch(*(None if part is None else part.to(device, non_blocking=True) for part in self))  # type: ignore[arg-type]


@parallel_kernel
def _replay_all(games: Games, moves: Any, first: Any, count: Any) -> None:
    """In game b play `count[b]` moves from `first[b]` on."""
    for b in prange(len(count)):
        replay_moves(games, index(b), moves[first[b] : first[b] + count[b]])


@parallel_kernel
def _turn_all(planes: Any, drawn: int, views: Any, sources: Any, out: Any) -> None:
    """Write the planes of row b as its view turns them; from `drawn` on they are no pictures, and stay.

    sources: [8, A], where each point of a view comes from.
    """
    for b in prange(len(out)):
        source = sources[views[b]]
        for plane in range(out.shape[1]):
            for point in range(out.shape[2]):
                out[b, plane, point] = planes[b, plane, source[point] if plane < drawn else point]


@parallel_kernel
def _turn_policies(stored: Any, rows: Any, views: Any, sources: Any, out: Any) -> None:
    """The policy of each row of `stored` ([positions, A] uint16), turned, as probabilities into `out` ([B, A])."""
    for b in prange(len(rows)):
        policy, source = stored[rows[b]], sources[views[b]]
        total = 0.0
        for move in range(len(policy)):
            total += policy[move]
        total = max(total, 1.0)
        for move in range(len(policy)):
            out[b, move] = policy[source[move]] / total


@parallel_kernel
def _turn_ownership(stored: Any, game: Any, sign: Any, views: Any, sources: Any, out: Any) -> None:
    """Whose each point of a game will be ([games, A - 1] int8), turned, for a player, into `out` ([B, A - 1])."""
    for b in prange(len(game)):
        owner, source = stored[game[b]], sources[views[b]]
        for point in range(len(owner)):
            out[b, point] = owner[source[point]] * sign[b]


@parallel_kernel
def _look_ahead(stored: Any, first: Any, last: Any, result: Any, keep: float, out: Any) -> None:
    """The values of the searches from row `first[b]` to `last[b]` of `stored` ([positions] float32), averaged.

    All for the player to move in the first one, players taking turns. Each counts `keep` times as much as the one
    before; the result ([B] float32, for the same player) takes the place of all that would come after the last.
    """
    for b in prange(len(out)):
        total, weight, sign = 0.0, 1.0 - keep, 1.0
        for row in range(first[b], last[b] + 1):
            total += weight * sign * stored[row]
            weight, sign = weight * keep, -sign
        out[b] = total + result[b] * weight / (1.0 - keep)


class SampleMaker:
    """Makes batches of one size from records; holds the memory for them.

    pinned: batches lie where a GPU can copy them from while everybody else goes on.
    """

    def __init__(
        self, encoding: Encoding, size: int, rules: str, batch_size: int, longest: int, pinned: bool = False
    ) -> None:
        self.encoding, self.size, self.batch_size = encoding, size, batch_size
        self._pinned = pinned and _can_pin()
        points = size * size + 1
        self._games = state.new_games(batch_size, size, longest + 1)
        write_rules(self._games.info, get_rules(rules))
        self._reasons = np.zeros((batch_size, points), np.uint8)
        self._planes = np.zeros((batch_size, encoding.planes, size * size), np.int8)

    def _empty(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.empty(shape, dtype=dtype, pin_memory=self._pinned)

    def make(
        self,
        records: Records,
        game: np.ndarray,
        at: np.ndarray,
        views: np.ndarray,
        search_value: float = 0.0,
        horizon: float = 0.0,
    ) -> Batch:
        """A batch: position `at[b]` of game `game[b]`, turned by symmetry `views[b]`; all [batch_size] int64.

        search_value: the share of the search's value in the value to learn. horizon: how many moves later that search
        was, on average; see `LearningSettings.value_horizon`.
        """
        size, rows = self.size, records.first[game] + at
        views, sources = np.ascontiguousarray(views), symmetry.inverse_table(size)
        self._games.info["komi"] = records.komi[game]
        _replay_all(self._games, records.move, records.first[game], at)
        self.encoding.write(self._games, np.arange(len(game)), self._reasons, self._planes)
        planes = self._empty(len(game), self.encoding.planes, size, size, dtype=torch.int8)
        _turn_all(self._planes, self.encoding.drawn, views, sources, planes.flatten(2).numpy())
        sign = np.where(self._games.info["to_move"] == BLACK, 1, -1).astype(np.float32)
        end = records.first[game] + records.length[game] - 1
        last = rows >= end
        after = np.where(last, rows, rows + 1)
        ownership = self._empty(len(game), size * size)
        _turn_ownership(records.ownership, game, sign, views, sources, ownership.numpy())
        result = np.sign(records.score[game]) * sign
        searched = np.empty_like(result)
        _look_ahead(records.value, rows, end, result, horizon / (1 + horizon), searched)
        value = (1 - search_value) * result + search_value * searched
        replied = ~last & (records.full[after] > 0)
        return Batch(
            planes,
            self._policies(records, rows, views),
            self._numbers(value),
            self._numbers(records.score[game] * sign),
            ownership,
            self._numbers(records.ending[game] != RESIGNED),
            self._policies(records, after, views),
            self._numbers(replied),
        )

    def _policies(self, records: Records, rows: np.ndarray, views: np.ndarray) -> Tensor:
        out = self._empty(len(rows), self.size**2 + 1)
        _turn_policies(records.policy, rows, views, symmetry.inverse_table(self.size), out.numpy())
        return out

    def _numbers(self, values: np.ndarray) -> Tensor:
        out = self._empty(len(values))
        out.numpy()[:] = values
        return out


def _can_pin() -> bool:
    """Whether the system lends memory that it will not move; some, as virtual machines, have little or none."""
    try:
        return torch.empty(1 << 20, dtype=torch.int8, pin_memory=True).is_pinned()
    except RuntimeError:
        return False
