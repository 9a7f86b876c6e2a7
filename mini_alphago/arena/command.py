"""`mini-alphago match`: a tournament with a table that fills while it is played."""

from itertools import combinations
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from .tournament import MatchSettings, Tournament, sprt


def play(players: list[str], settings: MatchSettings, results: str, test: tuple[float, float] | None) -> None:
    """Play a tournament, showing how it stands; stop early if `test` = (elo0, elo1) of the first two is decided."""
    tournament = Tournament(players, settings, Path(results))
    console = Console()
    state = Text("")

    def progress(name: str, done: int, total: int) -> None:
        state.plain = f"{name}: game {done} of {total}"
        live.update(_screen(tournament, state))

    def enough(so_far: Tournament) -> bool:
        return test is not None and bool(sprt(*so_far.score(*players[:2]), *test)[1])

    with Live(_screen(tournament, state), console=console, refresh_per_second=2, transient=True) as live:
        for _ in tournament.run(progress, enough):
            tournament.write_summary()
            live.update(_screen(tournament, state))
            if not console.is_terminal:
                wins, losses, draws = tournament.score(*players[:2])
                console.print(
                    f"{len(tournament.rows)} games; {players[0]} – {players[1]}: {wins}–{losses}, {draws} draws"
                )
    console.print(_screen(tournament, Text("")))
    for line in _verdicts(tournament, test):
        console.print(line, highlight=False)
    console.print(f"Games and results are in {results}.", highlight=False)


def _screen(tournament: Tournament, state: Text) -> RenderableType:
    table = Table("player", "Elo", "won", "drawn", "lost", "faults", "s/move")
    for row in tournament.table():
        elo = "" if row["elo"] is None else f"{row['elo']:+.0f} ± {row['error']:.0f}"
        numbers = (str(row["wins"]), str(row["draws"]), str(row["losses"]), str(row["faults"]), f"{row['seconds']:.3f}")
        table.add_row(Text(row["player"]), elo, *numbers)
    return Group(table, state) if state.plain else table


def _verdicts(tournament: Tournament, test: tuple[float, float] | None) -> list[str]:
    lines = []
    for first, second in combinations(tournament.players, 2):
        if tournament.played(first, second):
            sure = tournament.superiority(first, second)
            lines.append(f"{first} is stronger than {second} with a likelihood of {100 * sure:.1f} %.")
    if test is not None:
        ratio, verdict = sprt(*tournament.score(*tournament.players[:2]), *test)
        words = {"H1": f"at least {test[1]:g} Elo is accepted", "H0": f"no more than {test[0]:g} Elo is accepted"}
        lines.append(f"SPRT: log likelihood ratio {ratio:.2f}, {words.get(verdict, 'undecided')}.")
    return lines
