"""`Search`: the batched engine. One game with a deep tree, or thousands of games at once; the same kernels."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np
from numba import get_num_threads

from ..game import Board, state
from ..model import Evaluation
from ..model.features import APART, NONE
from ..threads import most_threads, use_threads
from .arrays import NEW, Answers, new_leaves, new_trees
from .gumbel import stacked_schedules
from .noise import mix_dirichlet, start_races
from .puct import bring_forward
from .ranking import RootMove, describe_edge, ranked_edges
from .roots import Roots, advance_all, advance_game, new_roots, pruned_visits, summarize_all
from .rounds import plan_rows, play_round, receive_all
from .settings import SearchSettings

Result = TypeVar("Result")
_FEW_GAMES = 8  # waking all threads costs more than the tree work of fewer games
_NO_ANSWERS = Answers(np.zeros((0, 1), np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32))
_KATAGO_NOISE = 10.83  # Dirichlet alpha × legal moves: 0.03 each on an empty 19×19 board


class Evaluates(Protocol):
    """What a search asks: an `Evaluator`, or anything else that can evaluate a batch of games."""

    def evaluate(self, states: state.Games) -> Evaluation:
        """What it thinks of every game of the batch, for the player to move."""


class Search:
    """Trees for a number of games, all searched together; each is an empty board until `set_board` says otherwise.

    evaluator: an `Evaluator`, or an object with `evaluate(states)`. games: how many trees. size: the largest board.
    With the same seed on one thread the same searches give the same trees.
    """

    def __init__(
        self,
        evaluator: Evaluates,
        games: int = 1,
        size: int = 9,
        settings: SearchSettings | None = None,
        seed: int | None = None,
    ) -> None:
        self.evaluator = evaluator
        self.settings = settings = settings or SearchSettings()
        self.games, self.size = games, size
        self.rng = np.random.default_rng(seed)
        self._encoding = getattr(evaluator, "encoding", None)
        self._kind = NONE if self._encoding is None else self._encoding.kind
        if self._encoding is not None:
            self._encoding.check_size(size)
        has_score = getattr(getattr(evaluator, "config", None), "family", "katago") != "tutorial"
        self.options = settings.options(size, has_score)
        self._allocate(self.options.move_limit + 1)
        points = size * size + 1
        self.trees = new_trees(games, settings.nodes, points)
        self._work = np.zeros((games, points), np.float64)
        self._roots = new_roots(games, points)
        self._first = np.arange(games + 1, dtype=np.int32) * settings.leaves  # the rows of each game
        self._ended = np.zeros(games, np.int32)  # descents into finished games in the last round
        self._next_game = np.zeros(1, np.int64)
        self._schedule, _ = stacked_schedules(settings.considered, np.ones(1, np.int64))
        self._noisy = np.zeros(games, bool)  # roots that have their noise already
        self.evaluations = 0  # positions the network was asked about so far
        self.network_seconds = 0.0  # and how long it took to answer

    def _allocate(self, max_moves: int) -> None:
        slots = self.games * self.settings.leaves
        self.roots = state.new_games(self.games, self.size, max_moves)
        # Leaves that are encoded on the spot leave no position behind: each thread has one to work on.
        self.ends = state.new_games(slots if self._kind in (NONE, APART) else most_threads(), self.size, max_moves)
        self.leaves = new_leaves(slots, self.size, max_moves, self._encoding.planes if self._encoding else 0)
        empty = Board(self.size)
        for g in range(self.games):
            state.copy_game(self.roots, g, empty.games, 0)

    # --- positions --------------------------------------------------------------------------------------------------

    def set_board(self, board: Board, g: int = 0) -> None:
        """Let game `g` stand as on `board`, with an empty tree. A game past its move limit gets a later one."""
        if board.size > self.size:
            raise ValueError(f"a board of {board.size}×{board.size} does not fit a search for {self.size}×{self.size}")
        limit = board.move_count + self.settings.limit_for(board.size)
        if limit >= self.roots.moves.shape[1]:
            kept = self.roots
            self._allocate(2 * limit)
            for i in range(self.games):
                state.copy_game(self.roots, i, kept, i)
        if limit > self.options.move_limit and self.settings.move_limit is None:
            self.options = self.options._replace(move_limit=limit)
        state.copy_game(self.roots, g, board.games, 0)
        self.forget(g)

    def forget(self, g: int | np.ndarray | None = None) -> None:
        """Empty the tree of game `g`, those of several games, or all trees."""
        which = slice(None) if g is None else g
        self._noisy[which] = False
        self.trees.node_count[which] = 0
        self.trees.edge_count[which] = 0

    def resize(self, nodes: int) -> None:
        """Let trees have room for so many nodes; if that is not what they have, they are emptied."""
        if nodes != self.settings.nodes:
            self.settings = replace(self.settings, nodes=nodes)
            self.trees = new_trees(self.games, nodes, self.size * self.size + 1)
            self.forget()

    def advance(self, move: int, g: int = 0, keep_tree: bool = True) -> None:
        """Make a legal move (a flat index) in game `g`; what the tree knows of the position after it is kept.

        ValueError if the game is over.
        """
        info = self.roots.info[g]
        if info["passes"] >= 2 or info["move_count"] >= self.options.move_limit:
            raise ValueError("the game is over: after two passes, or at the move limit, there are no more moves")
        self._noisy[g] = False
        advance_game(self.trees, self.roots, g, int(move), bool(keep_tree))

    def advance_all(self, moves: np.ndarray, keep_tree: bool = True) -> None:
        """`advance` for all games at once, `moves` [games] int64; a negative move leaves its game alone.

        Not checked: that moves are legal, and that no game is over.
        """
        self._noisy[moves >= 0] = False
        with self._threads():
            advance_all(self.trees, self.roots, moves, keep_tree)

    def use_lane(self, lane: int) -> None:
        """Write what the network is to see where it reads it, if the evaluator has such a place; see `Turns`."""
        buffer = getattr(self.evaluator, "buffer", None)
        if buffer is not None and self._encoding is not None:
            shape = (len(self.leaves.planes), self._encoding.planes, self.size, self.size)
            memory = buffer(shape, lane)
            if memory is not None and memory.ctypes.data != self.leaves.planes.ctypes.data:
                self.leaves = self.leaves._replace(planes=memory.reshape(shape[0], shape[1], -1))

    def _root_edges(self, g: int) -> slice:
        if self.trees.node_count[g] == 0:
            return slice(0, 0)
        root = self.trees.nodes[g, 0]
        return slice(int(root["first_edge"]), int(root["first_edge"] + root["edge_count"]))

    # --- searching --------------------------------------------------------------------------------------------------

    def run(self, visits: int | Sequence[int] | np.ndarray, noise: bool | np.ndarray = False) -> None:
        """Search until the root of every game has that many visits (one number, or one for each game).

        `noise` explores at the root: Dirichlet noise with PUCT, Gumbel noise with Gumbel; without it a Gumbel search
        takes the moves it considers in order of their prior; an array says it for each game. PUCT goes on with the tree
        there is; a Gumbel search starts anew, and has fewer visits where `by_moves` says so.
        """
        self._answer(self.searching(visits, noise))

    def searching(
        self, visits: int | Sequence[int] | np.ndarray, noise: bool | np.ndarray = False
    ) -> Generator[np.ndarray, Answers, None]:
        """`run` as a coroutine: it yields the leaves that it wants to know about and is sent the answers.

        See `Turns`. One that is given up in the middle leaves empty trees.
        """
        targets = np.broadcast_to(np.asarray(visits, np.int64), self.games).copy()
        if self.options.gumbel:
            done = np.where(self.trees.node_count > 0, self.trees.nodes["visits"][:, 0], 0)
            for g in np.flatnonzero((done > 0) & (done < targets)).tolist():
                self.forget(g)  # a race starts at the beginning
        yield from self._start(targets, noise)
        yield from self._rounds(targets)

    def think(
        self,
        visits: int | None = None,
        seconds: float | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Iterator[int]:
        """Search game 0 step by step, yielding its visits after each network call, until a limit is reached.

        visits: of the root; seconds: by the clock; stop: asked after each step. Without any limit it goes on until the
        caller stops asking: for pondering and analysis.
        """
        end = None if seconds is None else time.perf_counter() + seconds
        targets = np.zeros(self.games, np.int64)
        targets[0] = visits or 0
        self._answer(self._start(targets, noise=False))
        if visits is None:
            targets[0] = np.iinfo(np.int64).max
        while self._answer(self._round(targets)):
            yield self.root_visits()
            if (end is not None and time.perf_counter() >= end) or (stop is not None and stop()):
                return

    def step(self, targets: np.ndarray) -> bool:
        """One network call for all games whose roots have fewer visits than `targets` [games] int64 says.

        A root that was never evaluated is, whatever its target. False if there was nothing to do.
        """
        return self._answer(self._round(targets))

    def restrict(self, g: int, moves: set[int]) -> None:
        """Let only these moves (flat indices) be searched at the root of game `g`: evaluated, but not searched yet.

        If none of them is legal the root stays as it is.
        """
        edges = self._root_edges(g)
        kept = [e for e in range(edges.start, edges.stop) if int(self.trees.move[g, e]) in moves]
        if not kept or self.trees.edges["visits"][g, edges].any():
            return
        total = float(self.trees.prior[g, kept].sum())
        for i, e in enumerate(kept, start=edges.start):
            self.trees.move[g, i] = self.trees.move[g, e]
            self.trees.prior[g, i] = self.trees.prior[g, e] / total if total > 0 else 1 / len(kept)
        self.trees.nodes[g, 0]["edge_count"] = len(kept)
        self.trees.racers[g] = 0
        bring_forward(self.trees, g, 0)

    def _answer(self, asking: Generator[np.ndarray, Answers, Result]) -> Result:
        """Go through a coroutine, asking the evaluator whatever it wants to know."""
        try:
            rows = next(asking)
            while True:
                started = time.perf_counter()
                answers = self._ask(rows)
                self.network_seconds += time.perf_counter() - started
                rows = asking.send(answers)
        except StopIteration as end:
            return end.value
        finally:
            asking.close()

    def _start(self, targets: np.ndarray, noise: bool | np.ndarray) -> Generator[np.ndarray, Answers, None]:
        yield from self._round(np.zeros(self.games, np.int64))  # roots that are not evaluated yet
        if self.options.gumbel:
            if self.settings.by_moves:
                racing = np.minimum(self.trees.nodes["edge_count"][:, 0], self.settings.considered)
                targets[:] = -(-targets * racing // self.settings.considered)  # rounded up
            self._schedule, self.trees.race[:] = stacked_schedules(self.settings.considered, targets)
            noisy = np.broadcast_to(noise, self.games).copy()
            with self._threads():
                start_races(self.trees, self._seeds(), noisy, self.settings.considered, self._work)
        else:
            self._add_noise(np.broadcast_to(noise, self.games))

    def _seeds(self) -> np.ndarray:
        return self.rng.integers(0, 2**64 - 1, self.games, np.uint64)

    def _threads(self) -> AbstractContextManager[None]:
        return use_threads(1 if self.games < _FEW_GAMES else None)

    def _add_noise(self, wanted: np.ndarray) -> None:
        """Mix Dirichlet noise into the priors of every wanted root that has none yet."""
        wanted = wanted & ~self._noisy & (self.trees.node_count > 0)
        if not wanted.any():
            return
        self._noisy |= wanted
        scaled = self.settings.scale_noise
        alpha = _KATAGO_NOISE if scaled else self.settings.noise_alpha
        with self._threads():
            mix_dirichlet(self.trees, self._seeds(), wanted, alpha, scaled, self.settings.noise_epsilon, self._work)

    def _round(self, targets: np.ndarray) -> Generator[np.ndarray, Answers, bool]:
        """One step for all games: select, ask the network, expand and back up. False if nothing was left to do."""
        rows, ended = self._select(targets)
        if len(rows) == 0:
            return ended  # all descents ended in finished games
        answers = yield from self._asked(rows)
        with self._threads():
            receive_all(self.trees, self.leaves, self.settings.leaves, answers, self.options)
        return True

    def _rounds(self, targets: np.ndarray) -> Generator[np.ndarray, Answers, None]:
        """`_round` until nothing is left to do; answers are taken together with the next selection."""
        answers = None
        while True:
            rows, ended = self._select(targets, answers)
            if len(rows) == 0 and not ended:
                return
            answers = (yield from self._asked(rows)) if len(rows) else None

    def _select(self, targets: np.ndarray, answers: Answers | None = None) -> tuple[np.ndarray, bool]:
        """Take answers, if there are any, then go down to leaves: those to ask about, and whether any game ended."""
        encoding, leaves, each = self._encoding, self.leaves, self.settings.leaves
        kind = self._kind
        if kind not in (NONE, APART):
            plan_rows(self.trees, each, targets, self.options, self._schedule, self._first)
        with self._threads():
            play_round(
                self.trees, self.roots, self.ends, leaves, each, self._first, answers or _NO_ANSWERS, targets,
                self.options, self._schedule, self._work, kind, self._ended, self._next_game,
                get_num_threads(),
            )  # fmt: skip
            rows = np.flatnonzero(leaves.status == NEW)
            if kind == APART and len(rows):
                assert encoding is not None
                encoding.write(self.ends, rows, leaves.reasons, leaves.planes)
        return rows, bool(self._ended.any())

    def _asked(self, rows: np.ndarray) -> Generator[np.ndarray, Answers, Answers]:
        try:
            return (yield rows)
        except BaseException:
            self.forget()  # visits without values are out there
            raise

    def _ask(self, rows: np.ndarray) -> Answers:
        if self._encoding is None:
            self.evaluations += len(rows)
            return _answers_of(self.evaluator.evaluate(self.ends))
        return _answers_of(self.evaluator.run(*self._question(rows)))  # type: ignore[attr-defined]

    def submit(self, rows: np.ndarray, lane: int) -> Callable[[], Answers]:
        """Ask about these leaves; the answers come when the function that is returned is called. See `Turns`."""
        start = getattr(self.evaluator, "submit", None)
        if start is None:
            answers = self._ask(rows)
            return lambda: answers
        collect = start(*self._question(rows), lane)
        return lambda: _answers_of(collect())

    def _question(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What to ask about these leaves: planes [B, C, W, W] and sizes [B].

        A few answers for nobody cost less than picking the others out, and batches of always the same size are what
        compiled networks do best.
        """
        assert self._encoding is not None
        self.evaluations += len(rows)
        leaves, planned = self.leaves, int(self._first[-1])
        planes, sizes = leaves.planes, leaves.asked_size
        if 4 * len(rows) < 3 * planned:
            used = leaves.row[rows]
            planes, sizes = planes[used], sizes[used]
            leaves.row[rows] = np.arange(len(rows))
        elif 4 * len(rows) < 3 * len(planes):
            planes, sizes = planes[:planned], sizes[:planned]
        return planes.reshape(len(planes), self._encoding.planes, self.size, self.size), sizes

    # --- what came out ----------------------------------------------------------------------------------------------

    def root_visits(self, g: int = 0) -> int:
        """How many descents the root of game `g` has seen."""
        return int(self.trees.nodes[g, 0]["visits"]) if self.trees.node_count[g] else 0

    def summary(self) -> Roots:
        """What was found out, for all games at once. The arrays are written over by the next call."""
        with self._threads():
            summarize_all(self.trees, self.options, self._roots, self._work)
        return self._roots

    def visit_counts(self) -> np.ndarray:
        """[games, size² + 1] int32: visits of each move at the roots, by flat index of each game's own board."""
        return self.summary().visits.copy()

    def improved_policies(self) -> np.ndarray:
        """[games, size² + 1] float32: Gumbel AlphaZero's improved policy at the roots, the target to learn."""
        with self._threads():
            summarize_all(self.trees, self.options._replace(gumbel=1), self._roots, self._work)
        return self._roots.policy.copy()

    def pruned_visits(self, g: int = 0) -> np.ndarray:
        """[size² + 1] float32: visits of game `g` less the forced ones that PUCT would not have made on its own.

        See `roots.pruned_visits`; for targets of searches with `forced_playouts`.
        """
        edges = self._root_edges(g)
        table = np.zeros(self.size * self.size + 1, np.float32)
        if edges.stop > edges.start:
            pruned_visits(self.trees, g, self.options, self._work[g])
            table[self.trees.move[g, edges]] = self._work[g, : edges.stop - edges.start]
        return table

    def best_move(self, g: int = 0) -> int:
        """The move to play in game `g`, a flat index: PUCT's most visited, or the winner of Gumbel's race."""
        edges = self._root_edges(g)
        if edges.stop == edges.start:
            raise ValueError("there is no move to choose: the game is over, or nothing was searched")
        return int(self.trees.move[g, self._ranked_edges(g)[0]])

    def root_moves(self, g: int = 0) -> list[RootMove]:
        """All moves at the root of game `g`, the best first."""
        size = int(self.roots.info[g]["size"])
        return [describe_edge(self.trees, g, edge, size) for edge in self._ranked_edges(g)]

    def _ranked_edges(self, g: int) -> list[int]:
        return ranked_edges(self.trees, g, self._root_edges(g), self.options, self._work[g])


def _answers_of(result: Evaluation) -> Answers:
    """An evaluation as the kernels take it."""
    score = np.zeros(len(result.value), np.float32) if result.score is None else result.score
    return Answers(*(np.ascontiguousarray(part, np.float32) for part in (result.policy, result.value, score)))
