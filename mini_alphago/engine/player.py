"""`Engine`: one game and somebody who thinks about it; what GTP, the review and the browser stand on."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..game import Board, Rules
from ..game.coords import PASS, to_flat
from ..mcts import RootMove, Search, SearchSettings, playing_settings
from ..mcts.arrays import node_bytes
from ..mcts.search import Evaluates
from .clock import Budget, Clock, moves_left
from .manners import may_pass
from .status import dead_stones

_UNDECIDED = 0.7  # the second move has this share of the first one's visits
_CHECK_EVERY = 0.05  # seconds between looks at whether a move is clear


@dataclass(frozen=True)
class EngineSettings:
    """How the engine plays."""

    visits: int | None = 400
    """Visits a move, at most; None: as many as the time allows, and 400 where there is no limit of time."""
    seconds: float | None = None
    """Seconds a move, at most, with a clock too; None: no such limit."""
    leaves: int = 8
    """Positions in a network call."""
    memory: int = 512
    """Megabytes that the tree may take."""
    ponder: bool = False
    """Think while the opponent does."""
    resign_below: float | None = None
    """Resign when the winrate is below this, 0 to 0.5; None: never."""
    resign_after: int = 20
    """But not before so many moves."""
    cleanup: bool = False
    """Capture dead stones before passing, as servers want it where every stone on the board counts as alive."""
    friendly_pass: bool = False
    """Pass after the opponent's pass if the game is won as it stands, dead stones being dead."""

    def __post_init__(self) -> None:
        """ValueError, in one sentence, if a setting is impossible."""
        if self.visits is not None and not 1 <= self.visits <= 10**8:
            raise ValueError(f"visits is {self.visits}: it is 1 to 100 million")
        if self.seconds is not None and not 0 < self.seconds <= 10**6:
            raise ValueError(f"time is {self.seconds}: it is a number of seconds")
        if not 1 <= self.leaves <= 1024 or not 16 <= self.memory <= 10**6 or self.resign_after < 0:
            raise ValueError("leaves is 1 to 1024, memory 16 megabytes or more, resign_after 0 or more")
        if self.resign_below is not None and not 0 <= self.resign_below <= 0.5:
            raise ValueError(f"resign_below is {self.resign_below}: it is a winrate, 0 to 0.5")


class Choice(NamedTuple):
    """What the engine wants to do."""

    move: tuple[int, int]  # (-1, -1) passes
    resigns: bool
    moves: list[RootMove]  # what it looked at, the best first


class Engine:
    """A board, a tree that is kept from move to move, and a clock. One thread at a time."""

    def __init__(self, evaluator: Evaluates, settings: EngineSettings | None = None, size: int = 19) -> None:
        self.evaluator = evaluator
        self.settings = settings or EngineSettings()
        self.clock = Clock()
        self.board = Board(size)
        self._search: Search | None = None
        self._current = False  # whether the search stands where the board stands,
        self._player = self.board.current_player  # with this player to move

    # --- the game ---------------------------------------------------------------------------------------------------

    def set_board(self, board: Board) -> None:
        """Go on from this board, which is now the engine's."""
        self.board = board
        self._current = False

    def new_game(self, size: int, komi: float | None = None, rules: Rules | str = "cgos") -> None:
        """An empty board."""
        self.set_board(Board(size, komi, rules))

    def changed(self) -> None:
        """Somebody changed the board in another way than by `play`: what the tree knows is void."""
        self._current = False

    def play(self, player: int, move: tuple[int, int]) -> str | None:
        """Make a move for `player`, out of turn too. None, or why it is illegal, and then nothing has changed."""
        board = self.board
        if move != PASS and (reason := board.why_illegal(*move, player)):
            return reason
        if board.is_game_over():
            board.resume()
            self._current = False
        if board.current_player != player:
            board.current_player = player
        self._current = self._current and self._player == player
        if move == PASS:
            board.pass_move()
        else:
            board.play(*move)
        # A search near its move limit, which it takes for the end of the game, begins anew, with a later one.
        if self._current and self._search is not None and not board.is_game_over() and self._has_room(self._search):
            self._search.advance(to_flat(*move, board.size))
            self._player = board.current_player
        else:
            self._current = False
        return None

    def _has_room(self, search: Search) -> bool:
        """Whether a whole board can be filled before the search's limit of moves."""
        return search.options.move_limit - self.board.move_count > self.board.size**2

    def undo(self) -> bool:
        """Take the last move back. False if there is none."""
        self._current = False
        return self.board.undo()

    # --- thinking ---------------------------------------------------------------------------------------------------

    def board_for(self, player: int | None = None) -> Board:
        """The board if `player` is to move there (None: whoever is), else a copy of it with that turn."""
        if player is None or player == self.board.current_player:
            return self.board
        board = self.board.copy()
        board.current_player = player
        return board

    def search(self, player: int | None = None) -> Search:
        """The search, standing where the board stands, with `player` to move (None: whose turn it is)."""
        board = self.board
        if board.is_game_over():
            board.resume()
            self._current = False
        player = board.current_player if player is None else player
        if self._search is None or self._search.size != board.size:
            self._search = Search(self.evaluator, 1, board.size, self._search_settings(board.size))
            self._current = False
        if not self._current or self._player != player:
            self._search.set_board(self.board_for(player))
            self._current, self._player = True, player
        return self._search

    def _search_settings(self, size: int) -> SearchSettings:
        room = self.settings.memory * 2**20 // node_bytes(size * size + 1)
        nodes = max(2 * self.settings.leaves + 2, min(room, 2_000_000))
        return playing_settings(nodes, self.settings.leaves)

    def thinking(self, player: int | None = None) -> Iterator[int]:
        """Search without end; the visits so far after each step. For analysis and pondering."""
        return self.search(player).think()

    def think(self, player: int, stop: Callable[[], bool] | None = None) -> None:
        """Search for a move of `player` as long as clock and settings say, or until `stop` is true."""
        search, settings = self.search(player), self.settings
        began = time.perf_counter()
        budget = self.clock.budget(player, moves_left(self.board.size, self.board.move_count))
        if settings.seconds is not None:
            own = Budget(settings.seconds, settings.seconds)
            budget = own if budget is None else Budget(min(own.base, budget.base), min(own.most, budget.most))
        visits = settings.visits
        if visits is None and budget is None:
            visits = EngineSettings.visits
        first = search.root_visits()
        checked = began
        for done in search.think(visits):
            now = time.perf_counter()
            if stop is not None and stop():
                break
            if budget is None or now - checked < min(_CHECK_EVERY, budget.base / 4):
                continue
            checked = now
            if self._is_time_up(search, now - began, done - first, budget):
                break
        self.clock.spent(player, time.perf_counter() - began)

    @staticmethod
    def _is_time_up(search: Search, elapsed: float, made: int, budget: Budget) -> bool:
        """Whether to stop now: the time is up, or what is left of it could not change the move."""
        counts = np.sort(search.visit_counts()[0])
        first, second = int(counts[-1]), int(counts[-2])
        if elapsed >= budget.most:
            return True
        to_come = made / elapsed * (budget.base - elapsed)
        if elapsed >= budget.base:
            return second < _UNDECIDED * first
        return first - second > to_come

    def genmove(self, player: int, stop: Callable[[], bool] | None = None) -> Choice:
        """Think, and choose a move of `player`; it is not made."""
        self.think(player, stop)
        search = self.search(player)
        moves = search.root_moves()
        if not moves:
            return Choice(PASS, False, [])
        best = moves[0]
        settings = self.settings
        if settings.resign_below is not None and self.board.move_count >= settings.resign_after:
            hopeless = all((move.value + 1) / 2 < settings.resign_below for move in moves[:3] if move.visits)
            if hopeless:
                return Choice(best.move, True, moves)
        if settings.friendly_pass and may_pass(self.board, player, self.evaluator):
            return Choice(PASS, False, moves)
        if settings.cleanup and best.move == PASS and (capture := self.capturing_move(player, moves)):
            return Choice(capture, False, moves)
        return Choice(best.move, False, moves)

    def capturing_move(self, player: int, moves: list[RootMove]) -> tuple[int, int] | None:
        """A move that goes on capturing the opponent's dead stones; None if there are none, or no such move."""
        opponent = self.board.get_opponent(player)
        dead = {p for p in dead_stones(self.board, self.evaluator) if self.board.board[p] == opponent}
        liberties = set().union(*(self.board.get_group(*point)[1] for point in dead)) if dead else set()
        ranked = {move.move: (move.visits, move.prior) for move in moves}
        legal = [point for point in liberties if self.board.is_legal(*point, player)]
        return max(legal, key=lambda point: ranked.get(point, (0, 0.0)), default=None)
