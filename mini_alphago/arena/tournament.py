"""Matches that last: two or more players, every game kept as it ends, taken up where they were interrupted."""

import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from ..files import write_atomically
from ..game import format_sgf
from ..model import Evaluator, load_network
from .gtp_player import GtpPlayer, gnugo_player
from .match import MatchResult, play_match, random_openings
from .players import Player, PolicyPlayer, RandomPlayer, SearchPlayer
from .rating import elo_ratings, likelihood_of_superiority

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class MatchSettings:
    """How a match is played."""

    games: int = 100
    """Games of each two players; every opening twice, colours swapped."""
    at_once: int = 32
    """Games played at the same time."""
    visits: int = 100
    """Visits a move of a network that does not say otherwise (`PATH,visits=N`)."""
    board_size: int = 9
    """Points on a side."""
    komi: float = 7.0
    """What White gets."""
    rules: str = "cgos"
    """The rule set."""
    opening_moves: int = 2
    """Random moves before each pair of games."""
    seed: int = 1
    """Of openings and players."""
    device: str = "auto"
    """auto, cpu, cuda, cuda:1, … or mps."""

    def __post_init__(self) -> None:
        """ValueError, in one sentence, if a setting is impossible."""
        for name, low in (("games", 2), ("at_once", 2), ("visits", 1), ("opening_moves", 0), ("seed", 0)):
            if getattr(self, name) < low:
                raise ValueError(f"{name} is {getattr(self, name)}: it is {low} or more")


class PlayerMaker:
    """Makes players from what a command line says; a network that is named twice is loaded once."""

    def __init__(self, settings: MatchSettings) -> None:
        self._settings = settings
        self._evaluators: dict[str, Evaluator] = {}

    def make(self, text: str, games: int) -> Player:
        """`PATH[,visits=N]`, `policy:PATH`, `random`, `gnugo:LEVEL`, or `gtp:COMMAND LINE`. ValueError if unclear."""
        kind, _, rest = text.partition(":")
        settings = self._settings
        if text == "random":
            return RandomPlayer(settings.seed)
        if kind == "gnugo":
            if not rest.isdigit() or not 0 <= int(rest) <= 10:
                raise ValueError(f"{text!r}: GNU Go is gnugo:0 to gnugo:10")
            return gnugo_player(int(rest), text)
        if kind == "gtp" and rest:
            return GtpPlayer(rest, text)
        if kind == "policy" and rest:
            return PolicyPlayer(text, self._evaluator(rest))
        path, *options = text.split(",")
        visits = settings.visits
        for option in options:
            name, _, value = option.partition("=")
            if name != "visits" or not value.isdigit() or int(value) < 1:
                raise ValueError(f"{text!r}: a network takes ,visits=N only")
            visits = int(value)
        if not os.path.exists(path):
            known = "a network's path, policy:PATH, random, gnugo:LEVEL or gtp:COMMAND"
            raise ValueError(f"no player {text!r}: it is {known}")
        return SearchPlayer(text, self._evaluator(path), visits, settings.board_size, games, seed=settings.seed)

    def _evaluator(self, path: str) -> Evaluator:
        if path not in self._evaluators:
            self._evaluators[path] = Evaluator(load_network(path), self._settings.device)
        return self._evaluators[path]


class Tournament:
    """Everybody against everybody, in the folder `results`: `games.jsonl`, and `sgf/` with every game."""

    def __init__(self, players: list[str], settings: MatchSettings, results: Path) -> None:
        if len(players) < 2:
            raise ValueError("a match needs two players or more")
        if len(set(players)) < len(players):
            raise ValueError("two players are the same: let them differ, as PATH,visits=100 and PATH,visits=200")
        self.players, self.settings, self.results = players, settings, results
        self.rows: list[dict[str, Any]] = []
        self._read()

    # --- what is there already --------------------------------------------------------------------------------------

    @property
    def _log(self) -> Path:
        return self.results / "games.jsonl"

    def _read(self) -> None:
        """Take up what was played; ValueError if it was another match."""
        about = {"players": self.players, **{k: v for k, v in self.settings.__dict__.items() if k in _SAME}}
        path = self.results / "match.json"
        if path.exists():
            if json.loads(path.read_text()) != about:
                raise ValueError(f"{self.results} holds another match: name another folder with --results")
        else:
            (self.results / "sgf").mkdir(parents=True, exist_ok=True)
            write_atomically(path, json.dumps(about).encode())
        if self._log.exists():
            whole = [line for line in self._log.read_text().splitlines(keepends=True) if line.endswith("\n")]
            self.rows = [json.loads(line) for line in whole]
            write_atomically(self._log, "".join(whole).encode())  # without the half line of a crash

    def played(self, first: str, second: str) -> int:
        """Games of these two that have ended."""
        return sum(row["first"] == first and row["second"] == second for row in self.rows)

    # --- playing ----------------------------------------------------------------------------------------------------

    def run(self, progress: Progress, enough: Callable[["Tournament"], bool] | None = None) -> Iterator[MatchResult]:
        """Play what is missing, some games at a time; each part of a match is kept, then yielded.

        enough: asked after each part; true ends the tournament.
        """
        pairs = self.settings.games // 2
        openings = random_openings(
            pairs, self.settings.board_size, self.settings.komi, self.settings.opening_moves, self.settings.seed,
            self.settings.rules,
        )  # fmt: skip
        each = max(1, self.settings.at_once // 2)
        maker = PlayerMaker(self.settings)
        for one, other in combinations(self.players, 2):
            with ExitStack() as stack:
                first = stack.enter_context(closing(maker.make(one, 2 * each)))
                second = stack.enter_context(closing(maker.make(other, 2 * each)))
                while (done := self.played(one, other) // 2) < pairs:
                    name = f"{one} – {other}"
                    part = openings[done : done + each]
                    result = play_match(
                        first,
                        second,
                        part,
                        lambda n, _, name=name, done=done: progress(name, 2 * done + n, 2 * pairs),  # type: ignore[misc]
                    )
                    self._keep(one, other, 2 * done, result)
                    yield result
                    if enough is not None and enough(self):
                        return

    def _keep(self, first: str, second: str, number: int, result: MatchResult) -> None:
        lines = []
        for i, game in enumerate(result.games):
            row = {
                "first": first, "second": second, "game": number + i, "winner": game.winner, "black": game.black_side,
                "result": game.result, "moves": game.moves, "reason": game.reason,
                "seconds": [round(s, 4) for s in result.seconds_per_move],
            }  # fmt: skip
            pair = f"{self.players.index(first)}-{self.players.index(second)}"
            (self.results / "sgf" / f"{pair}-{number + i:04d}.sgf").write_text(format_sgf(game.sgf()))
            lines.append(json.dumps(row) + "\n")
            self.rows.append(row)
        with self._log.open("a") as file:  # the games of a part together: an opening is played twice or not at all
            file.write("".join(lines))

    # --- what came out ----------------------------------------------------------------------------------------------

    def score(self, first: str, second: str) -> tuple[int, int, int]:
        """Wins of the first, of the second, draws."""
        winners = [row["winner"] for row in self.rows if row["first"] == first and row["second"] == second]
        return winners.count("first"), winners.count("second"), winners.count(None)

    def table(self) -> list[dict[str, Any]]:
        """One row for each player, the strongest first: elo, error, wins, losses, draws, faults, seconds a move."""
        results = [(a, b, *self.score(a, b)) for a, b in combinations(self.players, 2) if self.played(a, b)]
        ratings = elo_ratings(results, self.players[0]) if results else {}
        rows = []
        for player in self.players:
            own = [row for row in self.rows if player in (row["first"], row["second"])]
            side = {True: "first", False: "second"}
            wins = sum(row["winner"] == side[row["first"] == player] for row in own)
            draws = sum(row["winner"] is None for row in own)
            seconds = [row["seconds"][0 if row["first"] == player else 1] for row in own]
            lost = [row for row in own if row["winner"] == side[row["first"] != player]]
            rows.append({
                "player": player, "elo": ratings[player].elo if player in ratings else None,
                "error": ratings[player].error if player in ratings else None,
                "wins": wins, "draws": draws, "losses": len(lost),
                "faults": sum(row["reason"].startswith("fault") for row in lost),
                "seconds": sum(seconds) / len(seconds) if seconds else 0.0,
            })  # fmt: skip
        return sorted(rows, key=lambda row: -(row["elo"] if row["elo"] is not None else -1e9))

    def superiority(self, first: str, second: str) -> float:
        """How likely it is that the first of two is the stronger one."""
        wins, losses, _ = self.score(first, second)
        return likelihood_of_superiority(wins, losses)

    def write_summary(self) -> None:
        """`results.json`: the table."""
        summary = {"players": self.table(), "games": len(self.rows)}
        write_atomically(self.results / "results.json", json.dumps(summary, indent=1).encode())


_SAME = ("board_size", "komi", "rules", "opening_moves", "seed", "visits")  # a match goes on only with these unchanged


def sprt(wins: int, losses: int, draws: int, elo0: float, elo1: float, alpha: float = 0.05) -> tuple[float, str]:
    """A sequential test of `elo1` against `elo0`: the log likelihood ratio, and H1, H0 or "" if it is open.

    By the normal approximation of the score of a game, its variance taken from the games so far.
    """
    games = wins + losses + draws
    if games < 2:
        return 0.0, ""
    mean = (wins + draws / 2) / games
    variance = (wins * (1 - mean) ** 2 + losses * mean**2 + draws * (0.5 - mean) ** 2) / games
    variance = max(variance, 0.25 / games)  # a perfect score is no certainty
    low, high = (1 / (1 + 10 ** (-elo / 400)) for elo in (elo0, elo1))
    ratio = games * (high - low) * (2 * mean - low - high) / (2 * variance)
    bound = math.log((1 - alpha) / alpha)
    return ratio, "H1" if ratio >= bound else "H0" if ratio <= -bound else ""
