"""Matches that last: two or more players, every game kept as it ends, taken up where they were interrupted."""

import json
import math
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from ..files import lock, write_atomically
from ..game import Board, format_sgf
from ..mcts import playing_settings
from ..model import Evaluator, load_network
from ..model.checkpoint import newest_network
from .maker import SETTINGS, PlayerMaker, fingerprint, read_player
from .match import SIDES, GameResult, play_games
from .openings import random_openings
from .rating import elo_interval, elo_ratings, likelihood_of_superiority, wilson_interval

Progress = Callable[[str, int, int], None]
Score = tuple[int, int, int]  # wins, losses, draws
Games = Generator[tuple[int, GameResult], None, None]
Plays = Callable[[str, str, list[tuple[int, Board]], Callable[[], None]], Games]
"""Plays games of two players from these numbered openings (see `play_games`), and yields each with its number as it
ends; calls the function every now and then, so that somebody can be told."""
# A match goes on only with these unchanged.
_SAME = ("board_size", "komi", "rules", "opening_moves", "seed", "visits", "judge")


@dataclass(frozen=True)
class MatchSettings:
    """How a match is played."""

    games: int = 100
    """Games of each two players; every opening twice, colours swapped."""
    at_once: int = 32
    """Games played at the same time."""
    visits: int = 100
    """Visits a move of a network that says neither visits nor time."""
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
    timeout: float = 60.0
    """Seconds that a GTP program has for an answer, the time to start included; then it has lost that game."""
    judge: str = ""
    """A network (or "shipped"): openings in which it gives somebody more than 75 % are left out; "": none are."""

    def __post_init__(self) -> None:
        """ValueError, in one sentence, if a setting is impossible."""
        for name, low in (("games", 2), ("at_once", 2), ("visits", 1), ("opening_moves", 0), ("seed", 0)):
            if getattr(self, name) < low:
                raise ValueError(f"{name} is {getattr(self, name)}: it is {low} or more")
        if not 0 < self.timeout < math.inf:
            raise ValueError(f"timeout is {self.timeout}: it is a number of seconds")


class NobodyLeft(ValueError):
    """Whoever played the games cannot go on; the message says why."""


class Tournament:
    """Matches of several players in the folder `results`: `games.jsonl`, `results.json`, and `sgf/` with every game.

    Everybody meets everybody, or, with `only_first`, the first one meets all others. A tournament that is there already
    goes on; players may be added behind those that it had.
    """

    def __init__(self, players: list[str], settings: MatchSettings, results: Path, only_first: bool = False) -> None:
        if len(players) < 2:
            raise ValueError("a match needs two players or more")
        if len(set(players)) < len(players):
            raise ValueError("two players are the same: let them differ, as PATH,visits=100 and PATH,visits=200")
        self.players, self.settings, self.results = players, settings, results
        self.pairs = [pair for pair in combinations(players, 2) if not only_first or pair[0] == players[0]]
        self.rows: list[dict[str, Any]] = []
        networks = {text: read_player(text).network for text in players}
        if settings.judge:
            judge = newest_network(settings.judge)
            if not judge.is_file():
                raise ValueError(f"no network {settings.judge!r} to judge the openings")
            networks[settings.judge] = str(judge)
        self._about: dict[str, Any] = {
            "players": players, "only_first": only_first,
            "networks": {text: fingerprint(path) for text, path in networks.items() if path},
            "settings": {k: v for k, v in asdict(settings).items() if k in _SAME},
            "search": {name: getattr(playing_settings(2), name) for name in SETTINGS},
        }  # fmt: skip
        self._read()
        (results / "sgf").mkdir(parents=True, exist_ok=True)
        with lock(results / "lock") as ours:
            if ours:  # whoever plays there now would find another match
                self._write_about()

    # --- what is there already --------------------------------------------------------------------------------------

    @property
    def _log(self) -> Path:
        return self.results / "games.jsonl"

    def _read(self) -> None:
        """Take up what was played, each game once; ValueError if it was another match."""
        path = self.results / "match.json"
        if path.exists() and (other := self._difference(json.loads(path.read_text()))):
            raise ValueError(f"{self.results} holds another match ({other}): name another folder with --results")
        lines = self._log.read_text().splitlines(keepends=True) if self._log.exists() else []
        rows = (json.loads(line) for line in lines if line.endswith("\n"))  # without the half line of a crash
        self.rows = list({(row["first"], row["second"], row["game"]): row for row in rows}.values())

    def _write_about(self) -> None:
        write_atomically(self.results / "match.json", json.dumps(self._about).encode())

    def _difference(self, kept: dict[str, Any]) -> str:
        """What this match has otherwise than the one that is kept; nothing if it can go on."""
        if kept["players"] != self.players[: len(kept["players"])] or kept["only_first"] != self._about["only_first"]:
            return "with other players"
        for name, value in {"judge": "", **kept["settings"]}.items():
            if value != self._about["settings"][name]:
                return f"{name} was {value}"
        if kept.get("search") != self._about["search"]:
            return "networks searched otherwise then, in another version of this program"
        changed = [name for name, value in kept["networks"].items() if value != self._about["networks"][name]]
        return f"{changed[0]} was another network then" if changed else ""

    def _done(self, first: str, second: str) -> set[int]:
        return {row["game"] for row in self.rows if row["first"] == first and row["second"] == second}

    def played(self, first: str, second: str) -> int:
        """Games of these two that have ended."""
        return len(self._done(first, second))

    def number(self, player: str) -> int:
        """From 1, in the order in which they were named; records in `sgf/` are called after the two, then the game."""
        return self.players.index(player) + 1

    @property
    def total(self) -> int:
        """Games of the whole tournament."""
        return self.settings.games // 2 * 2 * len(self.pairs)

    # --- playing ----------------------------------------------------------------------------------------------------

    def run(
        self,
        progress: Progress,
        enough: Callable[["Tournament"], bool] | None = None,
        plays: Plays | None = None,
    ) -> Generator[dict[str, Any], None, None]:
        """Play what is missing, many games at a time; each game is kept as it ends, then its row is yielded.

        progress(pair, finished, all): told after each round of moves. enough: asked after each game and at the
        beginning; true ends the tournament. plays: who plays the games, by default this process. ValueError if another
        process plays this match.
        """
        with lock(self.results / "lock") as ours:
            if not ours:
                raise ValueError(f"{self.results} is in use: another process plays a match there")
            self._read()
            self._write_about()
            write_atomically(self._log, "".join(_line(row) for row in self.rows).encode())
            yield from self._run(progress, enough, plays or playing_here(self.settings))

    def _run(
        self, progress: Progress, enough: Callable[["Tournament"], bool] | None, plays: Plays
    ) -> Generator[dict[str, Any], None, None]:
        settings = self.settings
        openings = random_openings(
            settings.games // 2, settings.board_size, settings.komi, settings.opening_moves, settings.seed,
            settings.rules, self._judge(),
        )  # fmt: skip
        for one, other in self.pairs:
            if enough is not None and enough(self):
                return
            done = self._done(one, other)
            missing = [(i, openings[i // 2]) for i in range(2 * len(openings)) if i not in done]
            if missing:
                yield from self._play(plays, one, other, missing, progress, enough)

    def _judge(self) -> Evaluator | None:
        judge = self.settings.judge
        return Evaluator(load_network(judge), self.settings.device, average_symmetries=True) if judge else None

    def _play(
        self, plays: Plays, one: str, other: str, missing: list[tuple[int, Board]], progress: Progress,
        enough: Callable[["Tournament"], bool] | None,
    ) -> Generator[dict[str, Any], None, None]:  # fmt: skip
        begun = self.settings.games // 2 * 2 - len(missing)
        total, ended = begun + len(missing), 0

        def after_round() -> None:
            progress(f"{one} – {other}", begun + ended, total)

        with closing(plays(one, other, missing, after_round)) as games:
            for number, game in games:
                ended += 1
                yield self._keep(one, other, number, game)
                if enough is not None and enough(self):
                    return

    def _keep(self, first: str, second: str, number: int, game: GameResult) -> dict[str, Any]:
        """Write the game down: first its record, then the line that says it is there."""
        row = {
            "first": first, "second": second, "game": number, "winner": game.winner, "black": game.black_side,
            "result": game.result, "moves": game.moves, "reason": game.reason,
            "seconds": [round(s, 4) for s in game.seconds], "turns": list(game.turns),
        }  # fmt: skip
        name = f"{self.number(first)}-{self.number(second)}-{number + 1:04d}.sgf"
        write_atomically(self.results / "sgf" / name, format_sgf(game.sgf()).encode())
        with self._log.open("a") as file:
            file.write(_line(row))
        self.rows.append(row)
        return row

    # --- what came out ----------------------------------------------------------------------------------------------

    def score(self, first: str, second: str) -> Score:
        """Wins of the first, of the second, draws."""
        return _score(row for row in self.rows if row["first"] == first and row["second"] == second)

    def score_in_order(self, first: str, second: str) -> Score:
        """`score` of the games before the first one that is missing: for tests, since short games end sooner."""
        done = self._done(first, second)
        unbroken = next(i for i in range(len(done) + 1) if i not in done) // 2 * 2
        rows = (row for row in self.rows if row["first"] == first and row["second"] == second)
        return _score(row for row in rows if row["game"] < unbroken)

    def superiority(self, first: str, second: str) -> float:
        """How likely it is that the first of two is the stronger one."""
        wins, losses, _ = self.score(first, second)
        return likelihood_of_superiority(wins, losses)

    def table(self) -> list[dict[str, Any]]:
        """One row for each player, the strongest first.

        player, elo and error beside the first player (None without games), games, wins, losses, draws, score (the share
        of the points), faults (games lost by one), seconds (a move).
        """
        results = [(*pair, *self.score(*pair)) for pair in self.pairs]
        ratings = elo_ratings(results, self.players[0])
        linked = len(ratings) > 1
        rows = []
        for player in self.players:
            rating = ratings.get(player) if linked else None
            rows.append({
                "player": player, "elo": rating and rating.elo, "error": rating and rating.error, **self._record(player)
            })  # fmt: skip
        return sorted(rows, key=lambda row: math.inf if row["elo"] is None else -row["elo"])

    def _record(self, player: str) -> dict[str, Any]:
        """What a player did in all its games."""
        own = [(SIDES[row["second"] == player], row) for row in self.rows if player in (row["first"], row["second"])]
        wins = sum(row["winner"] == side for side, row in own)
        draws = sum(row["winner"] is None for _, row in own)
        seconds, turns = (sum(row[name][side == "second"] for side, row in own) for name in ("seconds", "turns"))
        lost = [row for side, row in own if row["winner"] not in (side, None)]
        return {
            "games": len(own), "wins": wins, "draws": draws, "losses": len(lost),
            "score": (wins + draws / 2) / len(own) if own else None,
            "faults": sum(row["reason"].startswith("fault") for row in lost),
            "seconds": seconds / turns if turns else None,
        }  # fmt: skip

    def pair_table(self) -> list[dict[str, Any]]:
        """One row for each two players that met: first, second, wins, losses, draws, score, elo, superiority.

        score and elo are those of the first with their 95 % intervals: [value, low, high]; an end that the games do not
        bound is None.
        """
        rows = []
        for first, second in self.pairs:
            wins, losses, draws = score = self.score(first, second)
            games = wins + losses + draws
            if games:
                share = (wins + draws / 2) / games
                rows.append({
                    "first": first, "second": second, "wins": wins, "losses": losses, "draws": draws,
                    "score": [share, *wilson_interval(wins + draws / 2, games)],
                    "elo": [x if math.isfinite(x) else None for x in elo_interval(*score)],
                    "superiority": self.superiority(first, second),
                })  # fmt: skip
        return rows

    def faults(self) -> list[tuple[str, int]]:
        """What went wrong in games that were lost by it, the most frequent first, and how often."""
        return Counter(row["reason"] for row in self.rows if row["reason"].startswith("fault")).most_common()

    def write_summary(self, **more: Any) -> None:
        """`results.json`: settings, tables and faults, and whatever else is given."""
        summary = {
            "settings": asdict(self.settings), "games": len(self.rows), "players": self.table(),
            "pairs": self.pair_table(), "faults": dict(self.faults()), **more,
        }  # fmt: skip
        write_atomically(self.results / "results.json", json.dumps(summary, indent=1).encode())


def playing_here(settings: MatchSettings) -> Plays:
    """Plays games in this process; a network that several players have is loaded once."""
    maker = PlayerMaker(
        settings.board_size, settings.at_once, settings.visits, settings.seed, settings.device, settings.timeout
    )

    def play(one: str, other: str, starts: list[tuple[int, Board]], after_round: Callable[[], None]) -> Games:
        with ExitStack() as stack:
            first, second = (stack.enter_context(closing(maker.make(text))) for text in (one, other))
            yield from play_games(first, second, starts, settings.at_once, after_round)

    return play


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row) + "\n"


def _score(rows: Iterable[dict[str, Any]]) -> Score:
    winners = [row["winner"] for row in rows]
    return winners.count("first"), winners.count("second"), winners.count(None)


def sprt(wins: int, losses: int, draws: int, elo0: float, elo1: float, alpha: float = 0.05) -> tuple[float, str]:
    """A sequential test of `elo1` against `elo0`: the log likelihood ratio, and H1, H0 or "" if it is open.

    By the normal approximation of the score of a game, its variance taken from the games so far. ValueError unless
    elo0 < elo1.
    """
    if not elo0 < elo1:
        raise ValueError(f"a test of {elo1:g} Elo against {elo0:g} is not possible: the second is the larger one")
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
