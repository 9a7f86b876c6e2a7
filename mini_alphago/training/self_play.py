"""Self-play: many games at once through the batched search; a slot whose game ends starts the next one at once.

All randomness is drawn by seed, step and game, and between two moves a game is nothing but its moves. So the same
`Step`s, applied to the same state, always give the same games: a log of steps is all that a run needs to go on exactly
where it was.
"""

from typing import NamedTuple

import numpy as np

from ..game import get_rules, state
from ..game.rules import write_rules
from ..mcts import Search
from ..mcts.search import Evaluates
from ..mcts.together import Turns
from ..threads import available_cores
from .beginnings import begin_games, draw_beginnings
from .config import SelfPlaySettings
from .endings import find_ends, new_rooms, replay_moves
from .records import RESIGNED, Records, to_full, to_units

_STEP = 2  # what a random stream is for
UNSIGNED = ("games.policy",)  # the arrays of a saved state that are unsigned
_IDLE = -1
_RESIGN_AFTER = 3  # moves in a row
_DECIDED_AFTER = 5  # moves of both players


class Step(NamedTuple):
    """What the search proposed in every slot of a group at one moment."""

    move: np.ndarray  # [slots] int16
    policy: np.ndarray  # [slots, A] uint16
    value: np.ndarray  # [slots] float32
    full: np.ndarray  # [slots] uint8: as in `Records`


class SelfPlay:
    """A number of slots in which games are played, in groups that move in turn: one move in every game of one of them.

    While the network works for one group, the trees of the others do.

    staggered: the very first games begin with random moves, more in each slot than in the one before, so that not all
    of them end at the same time.
    games_wanted: start no more games than that; None: no limit. next_id: the id of the first game.
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
        next_id: int = 0,
    ) -> None:
        self.settings, self.size, self.seed = settings, size, seed
        self.limit = settings.limit_for(size)
        slots, points = settings.games, size * size + 1
        self.searches, self.roots = _make_searches(evaluator, size, settings)
        self._turns = Turns(self.searches)
        self._full_now = np.ones(slots, bool)  # which games are searched in full
        self.version = 0  # of the network, written into the records; `rest` before it changes
        self._simulations = settings.simulations
        self.steps = 0
        self.next_id = next_id
        self._wanted = None if games_wanted is None else next_id + games_wanted
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
        self._room = np.zeros(points, np.uint8), np.zeros(points, np.int16)
        self._start_games(np.arange(slots), self._staggered(slots) if staggered else np.zeros(slots, np.int64))

    @property
    def simulations(self) -> int:
        """Of full searches, from now on."""
        return self._simulations

    @simulations.setter
    def simulations(self, count: int) -> None:
        self.rest()
        self._simulations = count
        for search in self.searches:
            search.resize(self.settings.nodes_for(count))

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

    def _part(self, group: int) -> slice:
        """The slots of a group."""
        games = self.settings.games // len(self.searches)
        return slice(group * games, (group + 1) * games)

    def _forget(self, slots: np.ndarray) -> None:
        for group, search in enumerate(self.searches):
            part = self._part(group)
            search.forget(slots[(slots >= part.start) & (slots < part.stop)] - part.start)

    # --- one move in every game of a group --------------------------------------------------------------------------

    def think(self) -> Step:
        """Search the games of the group whose turn it is and choose their next moves; nothing changes until `apply`.

        The searches of the other groups have begun when it returns.
        """
        for ahead in range(len(self.searches)):
            self._begin(self.steps + ahead)
        group = self.steps % len(self.searches)
        self._turns.finish(group)
        part, found = self._part(group), self.searches[group].summary()
        step = Step(
            move=found.best.astype(np.int16),
            policy=np.empty(found.policy.shape, np.uint16),
            value=found.value.copy(),
            full=to_full(self._full_now[part], found.surprise),
        )
        to_units(found.policy, step.policy)
        temperature = self.settings.temperature
        sampled = (self.roots.info["move_count"][part] < self._sampled[part]) & (self._id[part] != _IDLE)
        rows = np.flatnonzero(sampled & (temperature > 0))
        if len(rows):
            step.move[rows] = _sample(found.policy[rows], temperature, self._rng(self.steps)[1])
        return step

    def rest(self) -> None:
        """Give up the searches that are begun, or through and not played yet, as before the network changes.

        `think` begins them anew.
        """
        self._turns.rest()
        for search in self.searches:
            search.forget()

    def _rng(self, step: int) -> tuple[np.random.Generator, np.random.Generator]:
        """The randomness of a step: that of its search, and that of the choice among moves."""
        search, choice = np.random.SeedSequence([self.seed, _STEP, step]).spawn(2)
        return np.random.default_rng(search), np.random.default_rng(choice)

    def _begin(self, step: int) -> None:
        """Begin the search of that step, in the group whose turn it will be, unless it is under way."""
        group, settings = step % len(self.searches), self.settings
        if group in self._turns:
            return
        part, (rng, _) = self._part(group), self._rng(step)
        if settings.fast_simulations:
            self._full_now[part] = (rng.random(part.stop - part.start) < settings.full_share) | ~self._decided(part)
        full = self._full_now[part]
        targets = np.where(full, self.simulations, settings.fast_simulations)
        targets[self._id[part] == _IDLE] = 0
        self.searches[group].rng = rng
        self._turns.begin(group, targets, full)

    def _decided(self, part: slice) -> np.ndarray:
        """[slots of that part] bool: where fast searches will do."""
        threshold = self.settings.decided_above
        if threshold is None:
            return np.ones(part.stop - part.start, bool)
        count = self.roots.info["move_count"][part]
        back = np.arange(1, _DECIDED_AFTER + 1)
        last = self._value[np.arange(part.start, part.stop)[:, None], np.maximum(count[:, None] - back, 0)]
        last = last * np.where(back % 2, -1, 1)  # for the player to move now; 0 where a move was random
        sure: np.ndarray = (last.min(axis=1) > threshold) | (last.max(axis=1) < -threshold)
        return sure & (count >= _DECIDED_AFTER)

    def apply(self, step: Step) -> Records:
        """Make these moves in the group whose turn it is.

        The games that ended with them come back, and new ones have taken their slots.
        """
        group = self.steps % len(self.searches)
        part, search = self._part(group), self.searches[group]
        active = self._id[part] != _IDLE
        resigned = self._resignations(part, step.value, active)
        moving = np.flatnonzero(active & ~resigned)
        slots, at = part.start + moving, search.roots.info["move_count"][moving]
        self._policy[slots, at] = step.policy[moving]
        self._value[slots, at] = step.value[moving]
        self._full[slots, at] = step.full[moving]
        moves = np.full(len(active), -1, np.int64)
        moves[moving] = step.move[moving]
        search.advance_all(moves, keep_tree=False)
        ending, owner = self._ending[part], self._owner[part]
        find_ends(search.roots, self.limit, self.settings.end_when_settled, self._rooms, self._other, ending, owner)
        ending[resigned] = RESIGNED
        ended = part.start + np.flatnonzero(active & (ending > 0))
        finished = self.records(ended)
        self._start_games(ended, np.zeros_like(ended))
        self.steps += 1
        return finished

    def _resignations(self, part: slice, value: np.ndarray, active: np.ndarray) -> np.ndarray:
        """[slots of that part] bool: who gives up now."""
        threshold = self.settings.resign_below
        if threshold is None:
            return np.zeros(len(active), bool)
        rows, player = np.arange(len(active)), self.roots.info["to_move"][part]
        doubt, doubted, played_out = self._doubt[part], self._doubted[part], self._played_out[part]
        doubt[rows, player] = np.where(value < threshold, doubt[rows, player] + 1, 0)
        gives_up = active & (doubt[rows, player] >= _RESIGN_AFTER)
        first = gives_up & played_out & (doubted == 0)
        doubted[first] = player[first]
        return gives_up & ~played_out

    # --- games ------------------------------------------------------------------------------------------------------

    def _start_games(self, slots: np.ndarray, random_moves: np.ndarray) -> None:
        """New games in these slots, with at least so many random moves each; no more games than are wanted."""
        count = len(slots)
        if self._wanted is not None:
            count = min(count, max(0, self._wanted - self.next_id))
        self._stop(slots[count:])
        slots, ids = slots[:count], np.arange(self.next_id, self.next_id + count)
        self.next_id += count
        self._id[slots] = ids
        new = draw_beginnings(self.settings, self.seed, ids, random_moves[:count], self.limit)
        begin_games(self.roots, slots, new.komi, new.random_moves, new.draws, *self._room)
        self._forget(slots)
        begun = self.roots.info["move_count"][slots]
        random = slots[begun > 0]
        self._policy[random], self._value[random], self._full[random] = 0, 0, 0
        self._sampled[slots] = begun + new.sampled
        self._played_out[slots] = new.played_out
        self._doubt[slots], self._doubted[slots] = 0, 0

    def _stop(self, slots: np.ndarray) -> None:
        """Let no game be in these slots."""
        self._id[slots] = _IDLE
        self.roots.info["passes"][slots] = 2  # over: the search has nothing to do there
        self._forget(slots)

    def records(self, slots: np.ndarray) -> Records:
        """The games in these slots ([games] int64) as they stand now."""
        info, ending = self.roots.info[slots], self._ending[slots]
        owner = self._owner[slots, : self.size**2]
        score = owner.sum(axis=1, dtype=np.float32) - info["komi"]
        resigned = ending == RESIGNED
        owner[resigned] = 0
        score[resigned] = np.where(info["to_move"][resigned] == state.BLACK, -1.0, 1.0)
        length = info["move_count"]
        first = np.cumsum(length, dtype=np.int64) - length
        game = np.repeat(slots, length)
        at = np.arange(len(game)) - np.repeat(first, length)
        return Records(
            id=self._id[slots],
            version=np.full(len(slots), self.version, np.int32),
            first=first,
            length=length.copy(),
            komi=info["komi"].copy(),
            score=score,
            ending=ending,
            doubted=self._doubted[slots],
            ownership=owner,
            move=self.roots.moves["point"][game, at],
            policy=self._policy[game, at],
            value=self._value[game, at],
            full=self._full[game, at],
        )

    # --- to disk and back -------------------------------------------------------------------------------------------

    def state(self) -> dict[str, np.ndarray]:
        """Everything needed to go on: the games in play, as records, and what else is known of each slot."""
        self._ending[:] = 0
        self._owner[:] = 0
        slots = np.flatnonzero(self._id != _IDLE)
        return {
            **{f"games.{name}": array for name, array in self.records(slots)._asdict().items()},
            "slots": slots,
            "sampled": self._sampled.copy(),
            "played_out": self._played_out.copy(),
            "doubt": self._doubt.copy(),
            "counters": np.array([self.steps, self.next_id, self.version]),
        }

    def restore(self, saved: dict[str, np.ndarray]) -> None:
        """Go on from what `state` gave, in slots and settings of the same shape; without games, in any number of slots.

        Slots that it has no game for get a new one, if there is no limit to how many are wanted.
        """
        games = Records(**{name: saved[f"games.{name}"] for name in Records._fields})
        self.rest()
        self._stop(np.arange(self.settings.games))
        slots = saved["slots"]
        for name in ("sampled", "played_out", "doubt"):
            getattr(self, f"_{name}")[slots] = saved[name][slots]
        self.steps, self.next_id, self.version = saved["counters"].tolist()
        roots = self.roots
        for i, g in enumerate(slots.tolist()):
            first, length = int(games.first[i]), int(games.length[i])
            rows = slice(first, first + length)
            roots.info[g]["komi"] = games.komi[i]
            replay_moves(roots, g, games.move[rows].copy())
            self._id[g], self._doubted[g] = games.id[i], games.doubted[i]
            self._policy[g, :length], self._value[g, :length] = games.policy[rows], games.value[rows]
            self._full[g, :length] = games.full[rows]
        idle = np.flatnonzero(self._id == _IDLE)
        if self._wanted is None and len(idle):
            self._start_games(idle, self._staggered(len(idle)))

    def _staggered(self, count: int) -> np.ndarray:
        """[count] int64: random moves to begin games with so that not all of them end at the same time."""
        return self.limit * np.arange(count) // (2 * count)


def _make_searches(evaluator: Evaluates, size: int, settings: SelfPlaySettings) -> tuple[list[Search], state.Games]:
    """A search for each group of games; all their positions lie in one batch, which they see in parts."""
    count = settings.games // settings.groups
    searches = [Search(evaluator, count, size, settings.search(size)) for _ in range(settings.groups)]
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
