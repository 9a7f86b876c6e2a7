"""Who plays: anything that can choose moves in a batch of games. Programs that speak GTP are in `gtp_player.py`."""

import math
import random
import time
from typing import Protocol

import numpy as np

from ..game import Board, eyes, stack_boards, state
from ..game.coords import to_flat
from ..mcts import Search, SearchSettings, playing_settings
from ..mcts.arrays import node_bytes
from ..mcts.levels import Level, choose
from ..mcts.search import Evaluates

RESIGN = -1
_TREE_BYTES = 2**29  # of all trees of a player that thinks by the clock
_FEWEST_LEAVES = 8  # in a network call of such a player, if it plays few games
_LOOK = 4  # network calls between two looks at which games are clear


class PlayerFault(Exception):
    """A player cannot go on in one game: its program crashed, took too long or made no sense. It loses that game."""

    def __init__(self, game: int, message: str) -> None:
        super().__init__(message)
        self.game = game
        self.message = message


class Player(Protocol):
    """One side of a match, in all games of a batch at once. A move is a flat index `x * size + y`, `size²` to pass.

    Games are numbered from 0 as in the list given to `start`.
    """

    name: str

    def start(self, boards: list[Board]) -> None:
        """A batch of games begins from these positions, which are the caller's to change. May be called again."""

    def restart(self, game: int, board: Board) -> None:
        """A game begins under that number from this position, which is the caller's to change; one there is over."""

    def choose(self, games: list[int]) -> list[int]:
        """A move, or RESIGN, in each of these games, in all of which this player is to move; nothing is played yet.

        PlayerFault ends one game; asked again about the others, the player answers without doing its work anew.
        """

    def played(self, game: int, move: int) -> None:
        """A legal move was made in that game, by either side."""

    def close(self) -> None:
        """No more games; give back what is held. May be called twice."""


def play_flat(board: Board, move: int) -> bool:
    """Make a move given as a flat index on the board or `size²`; False, and nothing changed, if that is illegal."""
    if move == board.size**2:
        board.pass_move()
        return True
    return board.play(*divmod(move, board.size))


def legal_points(board: Board) -> np.ndarray:
    """[size² + 1] bool: the legal moves of the player to move; the pass always is."""
    reasons = np.empty(board.size**2 + 1, np.uint8)
    state.legality_map(board.games, 0, board.current_player, reasons)
    return reasons == state.LEGAL


def sensible_points(board: Board) -> np.ndarray:
    """[n] int16: legal points, as flat indices, that do not fill a one-point eye of the player to move."""
    room = board.size**2 + 1
    points = np.empty(room, np.int16)
    return points[: eyes.sensible_points(board.games, 0, np.empty(room, np.uint8), points)]


class _Watching:
    """Keeps a board for each game."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._boards: dict[int, Board] = {}

    def start(self, boards: list[Board]) -> None:
        """Begin from these positions."""
        self._boards = {game: board.copy() for game, board in enumerate(boards)}

    def restart(self, game: int, board: Board) -> None:
        """Begin one game anew."""
        self._boards[game] = board.copy()

    def played(self, game: int, move: int) -> None:
        """Keep up with the game."""
        play_flat(self._boards[game], move)

    def close(self) -> None:
        """Nothing is held."""


class RandomPlayer(_Watching):
    """Plays anywhere that is legal and not its own one-point eye, and passes when there is no such point."""

    def __init__(self, seed: int | None = None, name: str = "random") -> None:
        super().__init__(name)
        self._rng = np.random.default_rng(seed)

    def choose(self, games: list[int]) -> list[int]:
        """A random move in each of these games."""
        return [self._draw(self._boards[game]) for game in games]

    def _draw(self, board: Board) -> int:
        points = sensible_points(board)
        return int(self._rng.choice(points)) if len(points) else board.size**2


class PolicyPlayer(_Watching):
    """Plays the legal move that the network likes best at first sight, without any search."""

    def __init__(self, name: str, evaluator: Evaluates) -> None:
        super().__init__(name)
        self._evaluator = evaluator

    def choose(self, games: list[int]) -> list[int]:
        """The best move by the policy in each of these games, all of them in one call of the evaluator."""
        boards = [self._boards[game] for game in games]
        if not boards:
            return []
        policy = self._evaluator.evaluate(stack_boards(boards)).policy  # [B, W² + 1] logits
        return [_best_legal(board, logits) for board, logits in zip(boards, policy, strict=True)]


def _best_legal(board: Board, logits: np.ndarray) -> int:
    """The legal move with the largest of `logits` [W² + 1], made for a tensor at least as wide as the board."""
    width = math.isqrt(len(logits) - 1)
    on_board = logits[:-1].reshape(width, width)[: board.size, : board.size]
    by_move = np.append(on_board, logits[-1])
    return int(np.where(legal_points(board), by_move, -np.inf).argmax())


class SearchPlayer:
    """Plays by tree search, all games in one batch, and keeps what it knows from move to move.

    visits: of the root, those kept from the last move included; None if `seconds` alone are to end a search. As soon as
    no other move could catch up, the rest of them is spared. size, games: the largest board and the most games of a
    batch. settings: of the search; by default made for strength, with
    room for the visits. opening_temperature: if positive, the first `size` moves of the game are drawn with
    probabilities ∝ visits^(1/T). seconds: for each move; n games that wait for a move are searched together for n times
    as long, and all get the same number of new visits. Past its own move limit (`SearchSettings.move_limit`) it passes.
    """

    def __init__(
        self,
        name: str,
        evaluator: Evaluates,
        visits: int | None,
        size: int,
        games: int,
        settings: SearchSettings | None = None,
        opening_temperature: float = 0.0,
        seed: int | None = None,
        seconds: float | None = None,
    ) -> None:
        if visits is None and seconds is None:
            raise ValueError(f"{name} would think for ever: give it visits or seconds")
        if visits is not None and visits < 1:
            raise ValueError(f"{name} has {visits} visits: it is 1 or more; PolicyPlayer plays without search")
        if seconds is not None and not 0 < seconds < math.inf:
            raise ValueError(f"{name} has {seconds} seconds a move: it is a number above 0")
        if opening_temperature < 0:
            raise ValueError(f"opening temperature {opening_temperature} is not possible: it is 0 or more")
        self.name, self.visits, self.seconds = name, visits, seconds
        self._temperature = opening_temperature
        settings = settings or strong_settings(visits, size, games)
        if settings.method == "gumbel" and seconds is not None:
            raise ValueError(f"{name} has {seconds} seconds a move: a gumbel search has to know its visits")
        self._search = Search(evaluator, games, size, settings, seed)
        self._rng = np.random.default_rng(seed)

    def start(self, boards: list[Board]) -> None:
        """Begin from these positions, with empty trees."""
        if len(boards) > self._search.games:
            raise ValueError(f"{self.name} was made for {self._search.games} games at once, not {len(boards)}")
        for game, board in enumerate(boards):
            self._search.set_board(board, game)

    def restart(self, game: int, board: Board) -> None:
        """Begin one game anew, with an empty tree."""
        self._search.set_board(board, game)

    def choose(self, games: list[int]) -> list[int]:
        """The most visited move in each of these games, after one search of all of them."""
        targets = np.zeros(self._search.games, np.int64)
        targets[games] = np.iinfo(np.int64).max if self.visits is None else self.visits
        if self._search.options.gumbel:
            self._search.run(targets)
        else:
            self._think(targets, math.inf if self.seconds is None else self.seconds * len(games))
        if self._temperature == 0:
            return [self._best(game) for game in games]
        counts = self._search.visit_counts()  # [games, size² + 1] int32
        return [self._draw(game, counts[game]) for game in games]

    def _think(self, targets: np.ndarray, seconds: float) -> None:
        """Search until all games have the visits of `targets` [games] int64, or the time is up."""
        end, calls = time.perf_counter() + seconds, 0
        while True:
            if calls % _LOOK == 0 and self.visits is not None and self._temperature == 0:
                self._spare(targets)
            if not self._search.step(targets) or time.perf_counter() >= end:
                return
            calls += 1

    def _spare(self, targets: np.ndarray) -> None:
        """Set the target to 0 where what is left of it could not change the most visited move."""
        trees = self._search.trees
        done = np.where(trees.node_count > 0, trees.nodes["visits"][:, 0], 0)  # [games]
        second, first = np.partition(self._search.summary().visits, -2, axis=1)[:, -2:].T
        targets[first - second > targets - done] = 0

    def _best(self, game: int) -> int:
        if self._is_over(game):
            return int(self._search.roots.info[game]["size"]) ** 2
        return self._search.best_move(game)

    def _draw(self, game: int, counts: np.ndarray) -> int:
        info = self._search.roots.info[game]
        if info["move_count"] >= info["size"] or not counts.any():
            return self._best(game)
        weights = (counts / counts.max()) ** (1 / self._temperature)
        return int(self._rng.choice(len(weights), p=weights / weights.sum()))

    def _is_over(self, game: int) -> bool:
        info = self._search.roots.info[game]
        return bool(info["passes"] >= 2 or info["move_count"] >= self._search.options.move_limit)

    def played(self, game: int, move: int) -> None:
        """Go on to the subtree of that move."""
        if not self._is_over(game):
            self._search.advance(move, game)

    def close(self) -> None:
        """Forget all trees; their memory goes with the player."""
        self._search.forget()


class LevelPlayer(SearchPlayer):
    """Plays as one of the levels of `mcts.levels`, searching as the board in the browser does: each move anew.

    The browser's manners are left out: it never resigns, and passes only if that is its move. visits: of a level that
    does not say it itself.
    """

    def __init__(
        self, name: str, evaluator: Evaluates, level: Level, visits: int, size: int, games: int, seed: int | None = None
    ) -> None:
        visits = level.visits or visits
        super().__init__(name, evaluator, visits, size, games, playing_settings(visits + 16), seed=seed)
        self._level, self._random = level, random.Random(seed)

    def _spare(self, targets: np.ndarray) -> None:
        """Spare nothing: what other moves are worth matters too."""

    def _best(self, game: int) -> int:
        if self._is_over(game):
            return super()._best(game)
        size = int(self._search.roots.info[game]["size"])
        return to_flat(*choose(self._search.root_moves(game), self._level, self._random).move, size)

    def played(self, game: int, move: int) -> None:
        """Go on to the position after that move, with an empty tree."""
        if not self._is_over(game):
            self._search.advance(move, game, keep_tree=False)


def strong_settings(visits: int | None, size: int, games: int) -> SearchSettings:
    """How a `SearchPlayer` searches that is to be strong, with room for so many visits; None: for any number."""
    if visits is not None:
        # A tree has at most one node for each visit of its root, kept ones included, and the root itself.
        leaves, nodes = 1, visits + 16
    else:
        leaves = max(1, _FEWEST_LEAVES // games)
        nodes = max(64, min(_TREE_BYTES // node_bytes(size * size + 1) // games, 1_000_000))
    return playing_settings(nodes, leaves)
