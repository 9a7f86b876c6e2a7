"""Matches: two players, every opening twice with colours swapped, many games at once."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..game import BLACK, WHITE, Board, SgfGame
from ..game.coords import from_flat, to_gtp
from .players import RESIGN, Player, PlayerFault, play_flat

Side = Literal["first", "second"]
SIDES: tuple[Side, Side] = ("first", "second")


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
    seconds: tuple[float, float] = (
        0.0,
        0.0,
    )  # of the first and the second player; games at once share the time
    turns: tuple[int, int] = (0, 0)  # moves made by each of them

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

    @property
    def seconds_per_move(self) -> tuple[float, float]:
        """Of each player; games played at once share the time."""
        spent = [
            sum(game.seconds[side] for game in self.games) / max(1, sum(game.turns[side] for game in self.games))
            for side in (0, 1)
        ]
        return spent[0], spent[1]

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

    How games end: see `play_games`. `progress(finished, all)` is told after each round of moves.
    """
    starts = list(enumerate(board for board in openings for _ in SIDES))
    results: dict[int, GameResult] = {}

    def after_round() -> None:
        if progress is not None:
            progress(len(results), len(starts))

    for number, result in play_games(first, second, starts, max(1, len(starts)), after_round, move_limit):
        results[number] = result
    return MatchResult(first.name, second.name, [results[number] for number, _ in starts])


def play_games(
    first: Player,
    second: Player,
    starts: Sequence[tuple[int, Board]],
    at_once: int,
    after_round: Callable[[], None] | None = None,
    move_limit: int | None = None,
) -> Iterator[tuple[int, GameResult]]:
    """Play games from these numbered positions, `at_once` of them at a time, and yield each with its number as it ends.

    The first player has Black in games of even number. A game that ends makes room for the next at once, so that the
    players always have many positions to think about together. Two passes end a game, or `move_limit` moves, those of
    the opening included (by default 3 · size²). It is then counted by the rules of its board, less stones that are dead
    for sure: see `settled_score`. Resigning, an illegal move and `PlayerFault` lose.
    """
    if first is second:
        raise ValueError("a player cannot play itself: make two of them")
    if any(board.is_game_over() for _, board in starts):
        raise ValueError("an opening is over already: its last two moves are passes")
    match = GamesUnderWay((first, second), starts, at_once, move_limit)
    while match.open:
        yield from match.round()
        if after_round is not None:
            after_round()


class _Game:
    """One game under way."""

    def __init__(self, number: int, board: Board) -> None:
        self.number, self.board = number, board.copy()
        self.seconds = [0.0, 0.0]
        self.turns = [0, 0]

    def side_of(self, color: int) -> int:
        """Who has that colour: 0 is the first player."""
        return int((color == BLACK) == (self.number % 2 == 1))


class GamesUnderWay:
    """Games of two players, `at_once` of them at a time, each in a slot: the number by which the players know it.

    How they are played and end: see `play_games`.
    """

    def __init__(
        self,
        players: tuple[Player, Player],
        starts: Sequence[tuple[int, Board]],
        at_once: int,
        move_limit: int | None = None,
    ) -> None:
        self.players, self.at_once, self.move_limit = players, at_once, move_limit
        self.open = {slot: _Game(*start) for slot, start in enumerate(starts[:at_once])}
        self.waiting = deque(starts[at_once:])
        self._ended: list[tuple[int, GameResult]] = []
        for player in players:
            player.start([game.board.copy() for game in self.open.values()])

    def add(self, starts: Iterable[tuple[int, Board]]) -> None:
        """More games, which begin as soon as there is room for them."""
        self.waiting.extend(starts)
        for slot in range(self.at_once):
            if slot not in self.open:
                self._begin(slot)

    def round(self) -> list[tuple[int, GameResult]]:
        """Let the player with more games waiting move in all of them, soon nearly all; the games that ended by it."""
        asked: tuple[list[int], list[int]] = ([], [])
        for slot, game in self.open.items():
            asked[game.side_of(game.board.current_player)].append(slot)
        side = 0 if len(asked[0]) >= len(asked[1]) else 1
        for slot, move in self._ask(side, asked[side]):
            self._make(slot, side, move)
        ended, self._ended = self._ended, []
        return ended

    def _ask(self, side: int, slots: list[int]) -> list[tuple[int, int]]:
        """The moves of one player in these games; where it fails, the game is over."""
        while slots:
            begin = time.perf_counter()
            fault = None
            try:
                moves = self.players[side].choose(slots)
            except PlayerFault as error:
                fault = error
            share = (time.perf_counter() - begin) / len(slots)
            for slot in slots:
                self.open[slot].seconds[side] += share
            if fault is None:
                return list(zip(slots, moves, strict=True))
            slots = [slot for slot in slots if slot != fault.game]
            self._end(fault.game, f"fault: {fault.message}", loser=side)
        return []

    def _make(self, slot: int, side: int, move: int) -> None:
        game, player = self.open[slot], self.players[side]
        board = game.board
        game.turns[side] += 1
        if move == RESIGN:
            self._end(slot, "resignation", loser=side)
        elif wrong := _try_move(board, move):
            self._end(slot, f"fault: {player.name}: {wrong}", loser=side)
        else:
            limit = 3 * board.size**2 if self.move_limit is None else self.move_limit
            for watching in self.players:
                watching.played(slot, move)
            if board.is_game_over():
                self._end(slot, "passes")
            elif board.move_count >= limit:
                self._end(slot, "move limit")

    def _end(self, slot: int, reason: str, loser: int | None = None) -> None:
        """Count the game, and begin the next one in its place."""
        game = self.open.pop(slot)
        board, black = game.board, game.side_of(BLACK)
        score = settled_score(board) if loser is None else None
        winner = None if loser is None else SIDES[1 - loser]
        if score:
            winner = SIDES[black if score > 0 else 1 - black]
        names = self.players[black].name, self.players[1 - black].name
        result = GameResult(
            *names, board.move_count, score, winner, reason, SIDES[black], board,
            (game.seconds[0], game.seconds[1]), (game.turns[0], game.turns[1]),
        )  # fmt: skip
        self._ended.append((game.number, result))
        self._begin(slot)

    def _begin(self, slot: int) -> None:
        """The next game that waits, if there is one."""
        if self.waiting:
            self.open[slot] = _Game(*self.waiting.popleft())
            for player in self.players:
                player.restart(slot, self.open[slot].board.copy())


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
