"""Matches: two players, every opening twice with colours swapped, all games at once."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ..game import BLACK, WHITE, Board, SgfGame
from ..game.coords import from_flat, to_gtp
from ..game.rules import Rules
from .players import RESIGN, Player, PlayerFault, play_flat, sensible_points

Side = Literal["first", "second"]
SIDES: tuple[Side, Side] = ("first", "second")
_TRIES = 100  # to find one more opening that is not there yet


@dataclass(frozen=True)
class GameResult:
    """One game of a match."""

    black: str  # names of the players
    white: str
    moves: int  # of the game, those of the opening included
    score: float | None  # Black's points less White's, komi included; None if the game was not counted
    winner: Side | None  # None for a draw
    reason: str  # "passes", "move limit", "resignation", or "fault: …" with what the loser did
    black_side: Side
    board: Board = field(repr=False)  # as it stood at the end

    @property
    def is_fault(self) -> bool:
        """Whether the loser crashed, was late or played an illegal move."""
        return self.reason.startswith("fault")

    @property
    def result(self) -> str:
        """The result as SGF writes it: `B+3.5`, `W+R` by resignation, `W+F` by forfeit, `0` for a draw."""
        if self.winner is None:
            return "0"
        color = "B" if self.winner == self.black_side else "W"
        if self.score is None:
            return f"{color}+{'F' if self.is_fault else 'R'}"
        return f"{color}+{abs(self.score):g}"

    def sgf(self) -> SgfGame:
        """The record of the game; its last comment says how it ended."""
        game = SgfGame.from_board(self.board, black_name=self.black, white_name=self.white, result=self.result)
        game.nodes[-1].comment = f"{self.result}, {self.reason}"
        return game


@dataclass(frozen=True)
class MatchResult:
    """All games of a match; wins and losses are those of the first player."""

    first: str
    second: str
    games: list[GameResult]  # 2i and 2i + 1 are opening i: the first player has Black, then White
    seconds_per_move: tuple[float, float]  # of each player; games played together share the time

    @property
    def wins(self) -> int:
        """Games won by the first player."""
        return sum(game.winner == "first" for game in self.games)

    @property
    def losses(self) -> int:
        """Games won by the second player."""
        return sum(game.winner == "second" for game in self.games)

    @property
    def draws(self) -> int:
        """Games won by neither."""
        return len(self.games) - self.wins - self.losses

    @property
    def score(self) -> float:
        """The first player's share of the points, a draw being half a point; one half if there were no games."""
        return (self.wins + self.draws / 2) / len(self.games) if self.games else 0.5

    @property
    def faults(self) -> list[GameResult]:
        """Games that were lost by a fault; more than a few say that the match measured something else."""
        return [game for game in self.games if game.is_fault]

    @property
    def row(self) -> tuple[str, str, float, float, float]:
        """The match as `elo_ratings` takes it."""
        return self.first, self.second, self.wins, self.losses, self.draws

    def sgfs(self) -> list[SgfGame]:
        """The records of all games."""
        return [game.sgf() for game in self.games]


def play_match(
    first: Player,
    second: Player,
    openings: list[Board],
    progress: Callable[[int, int], None] | None = None,
    move_limit: int | None = None,
) -> MatchResult:
    """Play every opening twice, colours swapped, all games at once; the players stay open for more.

    Two passes end a game, or `move_limit` moves, those of the opening included (by default 3 · size²). It is then
    counted by the rules of its board, less stones that are dead for sure: see `settled_score`. Resigning, an illegal
    move and `PlayerFault` lose. `progress(finished, all)` is told after each round of moves.
    """
    if first is second:
        raise ValueError("a player cannot play itself: make two of them")
    if any(board.is_game_over() for board in openings):
        raise ValueError("an opening is over already: its last two moves are passes")
    match = _Match((first, second), [board.copy() for board in openings for _ in SIDES], move_limit)
    first.start([board.copy() for board in match.boards])
    second.start([board.copy() for board in match.boards])
    while match.open:
        match.round()
        if progress is not None:
            progress(len(match.results), len(match.boards))
    games = [match.results[game] for game in range(len(match.boards))]
    each = tuple(seconds / max(1, moves) for seconds, moves in zip(match.seconds, match.moves, strict=True))
    return MatchResult(first.name, second.name, games, (each[0], each[1]))


class _Match:
    """A match under way. Side 0 is the first player and has Black in games of even number."""

    def __init__(self, players: tuple[Player, Player], boards: list[Board], move_limit: int | None) -> None:
        self.players, self.boards, self.move_limit = players, boards, move_limit
        self.open = list(range(len(boards)))
        self.results: dict[int, GameResult] = {}
        self.seconds = [0.0, 0.0]
        self.moves = [0, 0]

    def round(self) -> None:
        """Let the player with more games waiting move in all of them: after the first round, that is nearly all."""
        waiting: tuple[list[int], list[int]] = ([], [])
        for game in self.open:
            waiting[self._side_of(game, self.boards[game].current_player)].append(game)
        side = 0 if len(waiting[0]) >= len(waiting[1]) else 1
        for game, move in self._ask(side, waiting[side]):
            self._make(game, side, move)
        self.open = [game for game in self.open if game not in self.results]

    def _side_of(self, game: int, color: int) -> int:
        return int((color == BLACK) == (game % 2 == 1))

    def _ask(self, side: int, games: list[int]) -> list[tuple[int, int]]:
        """The moves of one player in these games; where it fails, the game is over."""
        while games:
            begin = time.perf_counter()
            try:
                moves = self.players[side].choose(games)
                self.moves[side] += len(moves)
                return list(zip(games, moves, strict=True))
            except PlayerFault as fault:
                self._end(fault.game, f"fault: {fault.message}", loser=side)
                games = [game for game in games if game != fault.game]
            finally:
                self.seconds[side] += time.perf_counter() - begin
        return []

    def _make(self, game: int, side: int, move: int) -> None:
        board, player = self.boards[game], self.players[side]
        if move == RESIGN:
            self._end(game, "resignation", loser=side)
        elif wrong := _try_move(board, move):
            self._end(game, f"fault: {player.name}: {wrong}", loser=side)
        else:
            for watching in self.players:
                watching.played(game, move)
            limit = 3 * board.size**2 if self.move_limit is None else self.move_limit
            if board.is_game_over():
                self._end(game, "passes")
            elif board.move_count >= limit:
                self._end(game, "move limit")

    def _end(self, game: int, reason: str, loser: int | None = None) -> None:
        board, black = self.boards[game], self._side_of(game, BLACK)
        score = settled_score(board) if loser is None else None
        winner = None if loser is None else SIDES[1 - loser]
        if score:
            winner = SIDES[black if score > 0 else 1 - black]
        names = self.players[black].name, self.players[1 - black].name
        self.results[game] = GameResult(*names, board.move_count, score, winner, reason, SIDES[black], board)


def _try_move(board: Board, move: int) -> str | None:
    """Make the move; if it is impossible, say why, and nothing has changed."""
    if not 0 <= move <= board.size**2:
        return f"there is no move {move}"
    if play_flat(board, move):
        return None
    x, y = from_flat(move, board.size)
    return f"illegal move {to_gtp(x, y, board.size)} ({board.why_illegal(x, y)})"


def settled_score(board: Board) -> float:
    """Black's result by the rules of the board, without the stones that are dead for sure.

    Those are stones inside regions of the other colour that are pass-alive (Benson): no play at all could save them.
    Everything else counts as alive, so that a player has to capture what it wants to count.
    """
    dead = []
    for player in (BLACK, WHITE):
        _, regions = board.pass_alive(player)
        dead += [point for point in regions if board.board[point] == board.get_opponent(player)]
    return board.score(dead)


def random_openings(
    count: int, size: int, komi: float | None, moves: int, seed: int, rules: Rules | str = "cgos"
) -> list[Board]:
    """`count` different positions after so many random moves, none of them a pass or into one's own eye.

    The same arguments give the same positions. ValueError if there are not that many.
    """
    rng = np.random.default_rng(seed)
    openings: dict[bytes, Board] = {}
    for _ in range(_TRIES * count):
        if len(openings) == count:
            break
        board = Board(size, komi, rules)
        if _play_randomly(board, moves, rng):
            openings.setdefault(board.board.tobytes(), board)
    if len(openings) < count:
        found = f"only {len(openings)} were found"
        raise ValueError(f"no {count} different openings of {moves} random moves on {size}×{size}: {found}")
    return list(openings.values())


def _play_randomly(board: Board, moves: int, rng: np.random.Generator) -> bool:
    for _ in range(moves):
        points = sensible_points(board)
        if not len(points):
            return False
        play_flat(board, int(rng.choice(points)))
    return True
