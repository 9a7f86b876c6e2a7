"""A game reviewed: every position searched, the record with winrates, better moves and variations, and a picture."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..game import BLACK, Board, SgfGame, SgfMove
from ..game.coords import PASS, to_gtp, to_sgf
from ..mcts import RootMove, Search, playing_settings
from ..mcts.search import Evaluates
from ..plot import PLOT_STYLE, Series, line_plot
from .analysis import mean_of

_AT_ONCE = 16  # positions searched together
_LEAVES = 4
_VARIATION = 10  # moves of a line that are shown
_MISTAKE = 0.05  # of winrate lost, from where on a move is shown with what was better


class Position(NamedTuple):
    """One position of a game, for Black: before a move, or at the end."""

    winrate: float  # Black's, 0 to 1
    score: float  # Black's points
    moves: list[RootMove]  # of the player to move, the best first


@dataclass(frozen=True)
class Mistake:
    """A move that cost something."""

    number: int  # of the move, from 1
    player: int
    played: tuple[int, int]
    better: tuple[int, int]
    winrate_lost: float
    points_lost: float

    def words(self, size: int) -> str:
        """The mistake in a sentence, on a board of that size."""
        played, better = (to_gtp(*move, size) for move in (self.played, self.better))
        lost = f"{100 * self.winrate_lost:.0f} %, {self.points_lost:.1f} points"
        return f"Move {self.number}, {'BW'[self.player - 1]} {played}: lost {lost}; {better} was better."


@dataclass(frozen=True)
class Review:
    """What came out of it: `positions[i]` is before move i + 1."""

    game: SgfGame
    positions: list[Position]

    def mistakes(self, least: float = _MISTAKE) -> list[Mistake]:
        """Moves that lost at least so much winrate, the worst first."""
        return find_mistakes(self.game.moves, self.positions, least)


def find_mistakes(
    moves: Sequence[tuple[int, int, int]], positions: Sequence[Position], least: float = _MISTAKE
) -> list[Mistake]:
    """Of these moves those that lost at least so much winrate, the worst first; `positions[i]` is before move i + 1."""
    found = []
    for i, (x, y, player) in enumerate(moves):
        before, after = positions[i], positions[i + 1]
        sign = 1 if player == BLACK else -1
        lost, points = sign * (before.winrate - after.winrate), sign * (before.score - after.score)
        best = before.moves[0].move if before.moves else (x, y)
        if lost >= least and best != (x, y):
            found.append(Mistake(i + 1, player, (x, y), best, lost, points))
    return sorted(found, key=lambda mistake: -mistake.winrate_lost)


def review_game(
    game: SgfGame, evaluator: Evaluates, visits: int = 200, progress: Callable[[int, int], None] | None = None
) -> Review:
    """Search every position of the game with so many visits. SgfError if the record has an illegal move."""
    boards = list(_boards(game))
    settings = playing_settings(visits + 64, _LEAVES)
    search = Search(evaluator, min(_AT_ONCE, len(boards)), game.size, settings)
    positions: list[Position] = []
    for start in range(0, len(boards), search.games):
        part = boards[start : start + search.games]
        for g in range(search.games):
            search.set_board(part[min(g, len(part) - 1)], g)
        search.run([visits if g < len(part) else 0 for g in range(search.games)])
        positions += [searched_position(search.root_moves(g), board.current_player) for g, board in enumerate(part)]
        if progress is not None:
            progress(len(positions), len(boards))
    return Review(game, positions)


def _boards(game: SgfGame) -> Iterator[Board]:
    """The position before each move, and the last one."""
    for number in range(len(game.moves) + 1):
        board = game.board(number)
        if board.is_game_over():
            board.resume()
        yield board


def searched_position(moves: list[RootMove], player: int) -> Position:
    """A position as a search has found it, `player` being to move."""
    seen = [move for move in moves if move.visits]
    value, score, _ = mean_of(seen)
    sign = 1 if player == BLACK else -1
    return Position((1 + sign * value) / 2, sign * score, seen)


# --- the record -------------------------------------------------------------------------------------------------------


def annotate(review: Review) -> SgfGame:
    """The record with a comment at every move; where there was a better one, it is marked and its line is a variation.

    SBKV holds Black's winrate, from which Sabaki draws its graph.
    """
    game, numbers = review.game, {mistake.number: mistake for mistake in review.mistakes()}
    nodes, number = [], 0
    for node in game.nodes:
        number += node.move is not None
        before = review.positions[number]
        comment = _comment(before, game.size)
        if node.move and (mistake := numbers.get(number)):
            comment = f"{_mistake_text(mistake, game.size)}\n{comment}"
        extra = {**node.extra, "SBKV": [f"{100 * before.winrate:.1f}"]}
        variations = list(node.variations)
        following = numbers.get(number + 1)
        if following is not None and before.moves:
            line, player = before.moves[0].variation[:_VARIATION], following.player
            turns = (player, 3 - player)
            variations.append([SgfMove(move=(*move, turns[i % 2])) for i, move in enumerate(line)])
            if before.moves[0].move != PASS:
                extra["TR"] = [to_sgf(*before.moves[0].move, game.size)]
        text = f"{node.comment}\n\n{comment}" if node.comment else comment
        nodes.append(SgfMove(node.move, node.black, node.white, node.empty, node.player, text, extra, variations))
    return SgfGame(**{**game.__dict__, "nodes": nodes})


def _comment(position: Position, size: int) -> str:
    leader = "B" if position.score >= 0 else "W"
    lines = [f"Black {100 * position.winrate:.1f} %, {leader}+{abs(position.score):.1f}"]
    for move in position.moves[:3]:
        line = " ".join(to_gtp(x, y, size) for x, y in move.variation[:_VARIATION])
        lines.append(f"{50 * (move.value + 1):.1f} %, {move.visits} visits: {line}")
    return "\n".join(lines)


def _mistake_text(mistake: Mistake, size: int) -> str:
    lost = f"{100 * mistake.winrate_lost:.0f} % and {mistake.points_lost:.1f} points"
    return f"This move lost {lost}; {to_gtp(*mistake.better, size)} was better."


# --- the picture ------------------------------------------------------------------------------------------------------


def picture(review: Review) -> str:
    """Black's winrate and score over the game, as one SVG."""
    moves = list(range(len(review.positions)))
    plots = [
        line_plot("Black's winrate", [Series("winrate", moves, [p.winrate for p in review.positions])], "move",
                  percent=True),
        line_plot("Black's score", [Series("points", moves, [p.score for p in review.positions])], "move"),
    ]  # fmt: skip
    width, height, gap = 480, 260, 24
    box = f'viewBox="0 0 {width} {2 * (height + gap)}" font-family="sans-serif"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {box}>']
    parts += [f"<style>{PLOT_STYLE}</style>", '<rect width="100%" height="100%" fill="var(--card)"/>']
    for i, (title, plot) in enumerate(zip(("Black's winrate", "Black's score"), plots, strict=True)):
        top = i * (height + gap)
        inner = plot[plot.index("<svg") : plot.rindex("</svg>") + 6]
        placed = inner.replace("<svg ", f'<svg x="0" y="{top + gap}" width="{width}" height="{height}" ', 1)
        parts.append(f'<text x="12" y="{top + 17}" font-size="13" fill="var(--ink)">{title}</text>{placed}')
    return "".join([*parts, "</svg>"])
