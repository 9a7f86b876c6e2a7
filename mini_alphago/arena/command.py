"""`mini-alphago match` and `mini-alphago ladder`: a tournament with a table that fills while it is played."""

import time
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from .ladder import Ladder, ladder_players
from .tournament import MatchSettings, NobodyLeft, Plays, Tournament, sprt

_REFRESH = 0.5  # seconds between two looks at the table
_REPORT = 20.0  # seconds between two lines where there is no terminal


def play(
    players: list[str],
    settings: MatchSettings,
    results: str,
    test: tuple[float, float] | None,
    plays: Plays | None = None,
) -> None:
    """Play a tournament, showing how it stands; stop early if `test` = (elo0, elo1) of two players is decided.

    plays: who plays the games, by default this process.
    """
    if test is not None:
        sprt(0, 0, 0, *test)  # refused now, not after the first game
        if len(players) != 2:
            raise ValueError(f"--sprt is a test of two players, and there are {len(players)}")
    tournament = Tournament(players, settings, Path(results))
    Show(tournament, test).run(plays)


def climb(
    model: str,
    others: list[str],
    checkpoints: int,
    settings: MatchSettings,
    results: str,
    plays: Plays | None = None,
) -> None:
    """Play a model against the fixed set and `others`, and say how strong it is; plays: as for `play`."""
    console = Console()
    players, notes = ladder_players(model, others, checkpoints)
    for note in notes:
        console.print(note, highlight=False)
    tournament = Tournament(players, settings, Path(results), only_first=True)
    Show(tournament, None, Ladder(tournament, notes)).run(plays)


class Show:
    """A tournament on the screen, while it is played and at its end; `results.json` is kept up to date."""

    def __init__(self, tournament: Tournament, test: tuple[float, float] | None, ladder: Ladder | None = None) -> None:
        self.tournament, self.test, self.ladder = tournament, test, ladder
        self.console = Console()
        self._state = ""
        self._drawn = self._said = self._written = 0.0

    def run(self, plays: Plays | None = None) -> None:
        """Play it to its end. After Ctrl-C it says what is kept and how to go on, and raises KeyboardInterrupt.

        plays: who plays the games, by default this process.
        """
        tournament = self.tournament
        self._said = time.monotonic()
        enough = None if self.test is None else (lambda _: bool(self._sprt()[1]))
        try:
            with (
                Live(self._tables(), console=self.console, auto_refresh=False, transient=True) as live,
                closing(tournament.run(lambda *what: self._progress(live, *what), enough, plays)) as games,
            ):
                for _ in games:
                    self._write()
        except KeyboardInterrupt:
            self._finish()
            self._say(f"Interrupted; {self._kept()}")
            raise
        except NobodyLeft as error:
            if not tournament.rows:
                raise
            self._finish()
            raise ValueError(f"{error}; {self._kept()}") from None
        self._finish()

    def _kept(self) -> str:
        kept = f"{len(self.tournament.rows)} of {self.tournament.total} games are kept"
        return f"{kept}. The same command goes on from there."

    def _progress(self, live: Live, pair: str, done: int, total: int) -> None:
        self._state = f"{pair}: {done} of {total} games"
        now = time.monotonic()
        if self.console.is_terminal and now - self._drawn > _REFRESH:
            self._drawn = now
            live.update(self._tables(), refresh=True)
        elif not self.console.is_terminal and now - self._said > _REPORT:
            self._said = now
            self._say(self._state)

    def _say(self, line: str) -> None:
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def _write(self, last: bool = False) -> None:
        if last or time.monotonic() - self._written > _REFRESH:
            self.tournament.write_summary(**self._more())
            self._written = time.monotonic()

    def _more(self) -> dict[str, Any]:
        more: dict[str, Any] = {}
        if self.test is not None:
            ratio, verdict = self._sprt()
            more["sprt"] = {"elo0": self.test[0], "elo1": self.test[1], "ratio": ratio, "verdict": verdict}
        if self.ladder is not None:
            more["ladder"] = self.ladder.summary()
        return more

    def _sprt(self) -> tuple[float, str]:
        assert self.test is not None
        return sprt(*self.tournament.score_in_order(*self.tournament.players), *self.test)

    def _tables(self) -> RenderableType:
        first = ladder_table(self.ladder) if self.ladder else player_table(self.tournament)
        if not self._state:
            return first
        total = f"{len(self.tournament.rows)} of {self.tournament.total} games"
        return Group(first, Text(f"{self._state}; {total} in all; Ctrl-C keeps them", style="dim"))

    def _finish(self) -> None:
        """The tables and what they mean."""
        self._state = ""
        self._write(last=True)
        self.console.print(self._tables())
        if self.ladder is None and self.tournament.rows:
            self.console.print(pair_table(self.tournament))
        for fault, count in self.tournament.faults():
            self._say(f"{count} × {fault}")
        if self.test is not None:
            ratio, verdict = self._sprt()
            words = {"H1": f"at least {self.test[1]:g} Elo", "H0": f"no more than {self.test[0]:g} Elo"}
            self._say(f"SPRT: log likelihood ratio {ratio:.2f}, {words.get(verdict, 'undecided')}.")
        if self.ladder is not None:
            for line in self.ladder.words():
                self._say(line)
        self._say(f"Games and results are in {self.tournament.results}.")


def player_table(tournament: Tournament) -> Table:
    """The players, the strongest first, with the numbers by which `pair_table` calls them."""
    table = Table("", "player", "Elo", "score", "won", "drawn", "lost", "faults", "s/move")
    table.columns[1].overflow = "fold"
    for row in tournament.table():
        elo = "" if row["elo"] is None else f"{row['elo']:+.0f} ± {row['error']:.0f}"
        score = "" if row["score"] is None else f"{100 * row['score']:.1f} %"
        counts = [str(row[name]) for name in ("wins", "draws", "losses", "faults")]
        number = str(tournament.number(row["player"]))
        table.add_row(number, Text(row["player"]), elo, score, *counts, _seconds(row["seconds"]))
    return table


def pair_table(tournament: Tournament) -> Table:
    """Who met whom, from the view of the first of two."""
    table = Table("pair", "won", "drawn", "lost", "score (95 %)", "Elo (95 %)", "stronger")
    for row in tournament.pair_table():
        score, low, high = (100 * x for x in row["score"])
        counts = [str(row[name]) for name in ("wins", "draws", "losses")]
        pair = " – ".join(str(tournament.number(row[side])) for side in ("first", "second"))
        share = f"{score:.1f} % ({low:.0f}–{high:.0f})"
        table.add_row(pair, *counts, share, elo_words(*row["elo"]), _sure(row["superiority"]))
    return table


def ladder_table(ladder: Ladder) -> Table:
    """The opponents, the strongest first, and how the model did against each."""
    table = Table("opponent", "won", "drawn", "lost", "Elo beside it (95 %)", "stronger", "s/move")
    table.columns[0].overflow = "fold"
    for row in ladder.rows():
        counts = [str(row[name]) for name in ("wins", "draws", "losses")]
        sure, seconds = _sure(row["superiority"]), _seconds(row["seconds"])
        table.add_row(Text(row["second"]), *counts, elo_words(*row["elo"]), sure, seconds)
    own = ladder.own_seconds()
    if own is not None:
        table.caption = f"{ladder.model}: {_seconds(own)} s/move"
    return table


def elo_words(elo: float | None, low: float | None, high: float | None) -> str:
    """A difference in Elo with its interval; who won or lost everything has one end only."""
    if low is None and high is None:
        return ""
    if high is None:
        return f"at least {low:+.0f}"
    if low is None:
        return f"at most {high:+.0f}"
    return f"{elo:+.0f} ({low:+.0f} to {high:+.0f})"


def _sure(likelihood: float) -> str:
    """In percent; never 0 or 100, which games cannot show."""
    if 0.0005 <= likelihood < 0.9995:
        return f"{100 * likelihood:.1f} %"
    return "> 99.9 %" if likelihood > 0.5 else "< 0.1 %"


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.3f}"
