"""Self-play: many games at once through the batched search; a slot whose game ends starts the next one at once.

All randomness is drawn by seed, step and game, and between two moves a game is nothing but its moves. So the same
`Step`s, applied to the same state, always give the same games: a log of steps is all that a run needs to go on exactly
where it was.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..game import get_rules, state
from ..game.rules import write_rules
from ..mcts import Search
from ..mcts.roots import Roots
from ..mcts.search import Evaluates
from ..mcts.together import run_together
from ..threads import available_cores
from .config import SelfPlaySettings
from .endings import find_ends, new_rooms, play_random, replay_moves
from .records import POLICY_UNIT, RESIGNED, Records, join_records, no_records

_GAME, _STEP = 1, 2  # what a random stream is for
_IDLE = -1
_RESIGN_AFTER = 3  # moves in a row
_LONGEST_OPENING = 4


class Step(NamedTuple):
    """What the search proposed in every slot at one moment."""

    move: np.ndarray  # [slots] int16
    policy: np.ndarray  # [slots, A] uint16
    value: np.ndarray  # [slots] float32
    full: np.ndarray  # [slots] uint8


class SelfPlay:
    """A number of slots in which games are played.

    staggered: the very first games begin with random moves, more in each slot than in the one before, so that not all
    of them end at the same time.
    games_wanted: start no more games than that; None: no limit.
    """

    def __init__(
        self,
        evaluator: Evaluates,
        size: int,
        settings: SelfPlaySettings,
        seed: int = 0,
        *,
        staggered: bool = False,
        games_wanted: int | None = None,
    ) -> None:
        self.settings, self.size, self.seed = settings, size, seed
        self.limit = settings.limit_for(size)
        slots, points = settings.games, size * size + 1
        self.searches, self.roots = _make_searches(evaluator, size, settings)
        self.version = 0  # of the network, written into the records
        self.simulations = settings.simulations  # of full searches, from now on
        self.steps = 0
        self.next_id = 0
        self._wanted = games_wanted
        self._id = np.full(slots, _IDLE, np.int64)
        self._policy = np.zeros((slots, self.limit, points), np.uint16)
        self._value = np.zeros((slots, self.limit), np.float32)
        self._full = np.zeros((slots, self.limit), np.uint8)
        self._sampled = np.zeros(slots, np.int32)  # moves are sampled up to this one
        self._played_out = np.zeros(slots, bool)
        self._doubt = np.zeros((slots, 3), np.int32)  # by player: moves in a row with a value below resignation
        self._doubted = np.zeros(slots, np.uint8)
        self._rooms, self._other = new_rooms(available_cores(), points)
        self._ending = np.zeros(slots, np.uint8)
        self._owner = np.zeros((slots, points), np.int8)
        write_rules(self.roots.info, get_rules(settings.rules))
        for g in range(slots):
            self._start_game(g, self.limit * g // (2 * slots) if staggered else 0)

    @property
    def playing(self) -> int:
        """How many slots have a game."""
        return int((self._id != _IDLE).sum())

    @property
    def evaluations(self) -> int:
        """Positions that the network was asked about."""
        return sum(search.evaluations for search in self.searches)

    @property
    def network_seconds(self) -> float:
        """How long the searches have waited for it."""
        return sum(search.network_seconds for search in self.searches)

    def _groups(self) -> Iterator[tuple[int, Search]]:
        """Each group's first slot, and its search."""
        start = 0
        for search in self.searches:
            yield start, search
            start += search.games

    def _forget(self, g: int) -> None:
        for start, search in self._groups():
            if start <= g < start + search.games:
                search.forget(g - start)

    # --- one move in every game -------------------------------------------------------------------------------------

    def think(self) -> Step:
        """Search every game and choose its next move; nothing changes until `apply`."""
        settings = self.settings
        rng = np.random.default_rng([self.seed, _STEP, self.steps])
        slots = settings.games
        full = np.ones(slots, bool)
        if settings.fast_simulations:
            full = rng.random(slots) < settings.full_share
        targets = np.where(full, self.simulations, settings.fast_simulations)
        targets[self._id == _IDLE] = 0
        parts = [slice(start, start + search.games) for start, search in self._groups()]
        for search, own in zip(self.searches, rng.spawn(len(parts)), strict=True):
            search.rng = own
        run_together(self.searches, [targets[part] for part in parts], [full[part] for part in parts])
        roots = Roots(*map(np.concatenate, zip(*(search.summary() for search in self.searches), strict=True)))
        move = roots.best.astype(np.int16)
        sampled = np.flatnonzero((self.roots.info["move_count"] < self._sampled) & (self._id != _IDLE))
        if len(sampled) and settings.temperature > 0:
            move[sampled] = _sample(roots.policy[sampled], settings.temperature, rng)
        policy = np.rint(roots.policy * POLICY_UNIT).astype(np.uint16)
        return Step(move, policy, roots.value, full.astype(np.uint8))

    def apply(self, step: Step) -> Records:
        """Make these moves; the games that ended with them come back, and new ones have taken their slots."""
        active = self._id != _IDLE
        resigned = self._resignations(step.value, active)
        moving = np.flatnonzero(active & ~resigned)
        at = self.roots.info["move_count"][moving]
        self._policy[moving, at] = step.policy[moving]
        self._value[moving, at] = step.value[moving]
        self._full[moving, at] = step.full[moving]
        moves = np.full(len(active), -1, np.int64)
        moves[moving] = step.move[moving]
        for start, search in self._groups():
            search.advance_all(moves[start : start + search.games], keep_tree=False)
        settle = self.settings.end_when_settled
        find_ends(self.roots, self.limit, settle, self._rooms, self._other, self._ending, self._owner)
        self._ending[resigned] = RESIGNED
        ended = np.flatnonzero(active & (self._ending > 0)).tolist()
        finished = [self._record(g) for g in ended]
        for g in ended:
            self._start_game(g)
        self.steps += 1
        return join_records(finished, self.size)

    def _resignations(self, value: np.ndarray, active: np.ndarray) -> np.ndarray:
        """[slots] bool: who gives up now."""
        threshold = self.settings.resign_below
        if threshold is None:
            return np.zeros(len(active), bool)
        rows, player = np.arange(len(active)), self.roots.info["to_move"]
        self._doubt[rows, player] = np.where(value < threshold, self._doubt[rows, player] + 1, 0)
        gives_up = active & (self._doubt[rows, player] >= _RESIGN_AFTER)
        first = gives_up & self._played_out & (self._doubted == 0)
        self._doubted[first] = player[first]
        return gives_up & ~self._played_out

    # --- games ------------------------------------------------------------------------------------------------------

    def _start_game(self, g: int, random_moves: int = 0) -> None:
        roots, settings = self.roots, self.settings
        if self._wanted is not None and self.next_id >= self._wanted:
            self._id[g] = _IDLE
            roots.info[g]["passes"] = 2  # over: the search has nothing to do there
            self._forget(g)
            return
        self._id[g] = self.next_id
        self.next_id += 1
        rng = np.random.default_rng([self.seed, _GAME, int(self._id[g])])
        komi, varied, opening, played_out = rng.normal(), rng.random(), rng.random(), rng.random()
        spread = settings.komi_spread if varied < 0.5 else 0.0
        roots.info[g]["komi"] = settings.komi + round(2 * spread * komi) / 2
        if opening < settings.random_openings:
            random_moves = max(random_moves, int(rng.integers(1, _LONGEST_OPENING + 1)))
        state.clear(roots, g)
        room = np.zeros(self.size**2 + 1, np.uint8), np.zeros(self.size**2 + 1, np.int16)
        play_random(roots, g, rng.random(min(random_moves, self.limit - 1)), *room)
        self._forget(g)
        begun = int(roots.info[g]["move_count"])
        self._policy[g, :begun], self._value[g, :begun], self._full[g, :begun] = 0, 0, 0
        low, high = settings.sampled_moves
        self._sampled[g] = begun + int(rng.integers(low, high + 1))
        self._played_out[g] = played_out < settings.resign_played_out
        self._doubt[g], self._doubted[g] = 0, 0

    def _record(self, g: int) -> Records:
        """Game `g` as it stands now."""
        info = self.roots.info[g]
        length, area, ending = int(info["move_count"]), self.size**2, int(self._ending[g])
        owner = self._owner[g, :area].copy()
        score = float(owner.sum()) - float(info["komi"])
        if ending == RESIGNED:
            owner[:] = 0
            score = -1.0 if info["to_move"] == state.BLACK else 1.0
        return Records(
            id=self._id[g : g + 1].copy(),
            version=np.array([self.version], np.int32),
            first=np.zeros(1, np.int64),
            length=np.array([length], np.int32),
            komi=np.array([info["komi"]], np.float32),
            score=np.array([score], np.float32),
            ending=np.array([ending], np.uint8),
            doubted=self._doubted[g : g + 1].copy(),
            ownership=owner[None],
            move=self.roots.moves[g, :length]["point"].copy(),
            policy=self._policy[g, :length].copy(),
            value=self._value[g, :length].copy(),
            full=self._full[g, :length].copy(),
        )

    # --- to disk and back -------------------------------------------------------------------------------------------

    def state(self) -> dict[str, np.ndarray]:
        """Everything needed to go on: the games in play, as records, and what else is known of each slot."""
        self._ending[:] = 0
        self._owner[:] = 0
        records = [self._record(g) for g in range(self.settings.games) if self._id[g] != _IDLE]
        games = join_records(records, self.size) if records else no_records(self.size)
        return {
            **{f"games.{name}": array for name, array in games._asdict().items()},
            "slots": np.flatnonzero(self._id != _IDLE),
            "sampled": self._sampled.copy(),
            "played_out": self._played_out.copy(),
            "doubt": self._doubt.copy(),
            "counters": np.array([self.steps, self.next_id, self.version]),
        }

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """Go on from what `state` gave, in slots and settings of the same shape."""
        games = Records(**{name: saved[f"games.{name}"] for name in Records._fields})
        self._wanted, wanted = 0, self._wanted
        for g in range(self.settings.games):
            self._start_game(g)  # idle
        self._wanted = wanted
        self._sampled[:], self._played_out[:], self._doubt[:] = saved["sampled"], saved["played_out"], saved["doubt"]
        self.steps, self.next_id, self.version = saved["counters"].tolist()
        roots = self.roots
        for i, g in enumerate(saved["slots"].tolist()):
            first, length = int(games.first[i]), int(games.length[i])
            rows = slice(first, first + length)
            roots.info[g]["komi"] = games.komi[i]
            replay_moves(roots, g, games.move[rows].copy())
            self._id[g], self._doubted[g] = games.id[i], games.doubted[i]
            self._policy[g, :length], self._value[g, :length] = games.policy[rows], games.value[rows]
            self._full[g, :length] = games.full[rows]


def _make_searches(evaluator: Evaluates, size: int, settings: SelfPlaySettings) -> tuple[list[Search], state.Games]:
    """A search for each group of games; all their positions lie in one batch, which they see in parts."""
    counts = [len(part) for part in np.array_split(np.arange(settings.games), settings.groups)]
    searches = [Search(evaluator, count, size, settings.search(size)) for count in counts]
    roots = state.new_games(settings.games, size, searches[0].roots.moves.shape[1])
    start = 0
    for search in searches:
        rows = slice(start, start + search.games)
        shared = {name: getattr(roots, name) for name in ("neighbors", "zobrist")}
        search.roots = roots._replace(**{
            name: array[rows] for name, array in roots._asdict().items() if name not in shared
        })  # fmt: skip
        start += search.games
    return searches, roots


def _sample(policy: np.ndarray, temperature: float, rng: np.random.Generator) -> np.ndarray:
    """[rows] one move drawn from each row of `policy` ([rows, A], sums of 1) to the power 1 / temperature."""
    weights = policy.astype(np.float64)
    if temperature != 1:
        weights = (weights / weights.max(axis=1, keepdims=True)) ** (1 / temperature)
    sums = weights.cumsum(axis=1)
    draws = rng.random(len(policy)) * sums[:, -1]
    moves: np.ndarray = (sums <= draws[:, None]).sum(axis=1)
    return moves
