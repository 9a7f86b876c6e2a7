"""How strong a model is: matches against a fixed set, and what they allow one to say."""

from pathlib import Path
from typing import Any

from ..model.checkpoint import newest_network, run_networks
from .gtp_player import gnugo_player
from .maker import read_player
from .tournament import Tournament

GNUGO = "gnugo:10"
GNUGO_ELO = 1800  # of GNU Go 3.7.10 at level 10, the fixed point of the ratings on the 9×9 server CGOS
GNUGO_RANK = "8 to 5 kyu"  # as which it is commonly ranked on servers
_CLOSE = 150  # Elo: nearer than this, over the whole interval, is "about as strong"


def ladder_players(model: str, others: list[str], checkpoints: int) -> tuple[list[str], list[str]]:
    """Who plays, the model first, and what there is to say about who does not.

    model: as `match` takes it. The set is: a random player, the model's network without search, GNU Go at level 1 and
    10, up to `checkpoints` earlier networks if the model is a run's folder, evenly from its first one on, and `others`.
    """
    spec = read_player(model)
    if spec.kind != "search":
        raise ValueError(f"{model!r}: a ladder rates a network, PATH[,visits=N][,time=SECONDS]")
    if checkpoints < 0:
        raise ValueError(f"there are no {checkpoints} checkpoints: it is 0 or more")
    options = model[len(spec.what) :]
    newest = str(newest_network(spec.what))
    players, notes = [newest + options, "random", f"policy:{newest}"], []
    try:
        gnugo_player()
        players += ["gnugo:1", GNUGO]
    except ValueError as error:
        notes.append(f"Without GNU Go: {error}.")
    if Path(spec.what).is_dir():
        players += [str(path) + options for path in _spread(run_networks(spec.what)[:-1], checkpoints)]
    for other in others:
        read_player(other)
        players.append(other)
    return list(dict.fromkeys(players)), notes


def _spread(networks: list[Path], count: int) -> list[Path]:
    """So many of them, evenly, the first among them."""
    count = min(count, len(networks))
    return [networks[i * len(networks) // count] for i in range(count)]


class Ladder:
    """What a tournament of `ladder_players` says of its first player."""

    def __init__(self, tournament: Tournament, notes: list[str]) -> None:
        self.tournament, self.notes = tournament, notes
        self.model = tournament.players[0]

    def rows(self) -> list[dict[str, Any]]:
        """`pair_table`, the strongest opponent first, with the opponent's faults and seconds a move."""
        table = {row["player"]: row for row in self.tournament.table()}
        rows = [
            {**row, "faults": table[row["second"]]["faults"], "seconds": table[row["second"]]["seconds"]}
            for row in self.tournament.pair_table()
        ]
        return sorted(rows, key=lambda row: row["score"][0])

    def own_seconds(self) -> float | None:
        """What the model took for a move."""
        return next(row["seconds"] for row in self.tournament.table() if row["player"] == self.model)

    def words(self) -> list[str]:
        """What follows from the games, and nothing else."""
        rows = [row for row in self.rows() if read_player(row["second"]).kind == "gnugo"]
        return [_beside(row) for row in rows] + [self._on_cgos(), self._rank()]

    def summary(self) -> dict[str, Any]:
        """For `results.json`."""
        return {"model": self.model, "notes": self.notes, "rows": self.rows(), "words": self.words()}

    def _against_gnugo(self) -> dict[str, Any] | None:
        return next((row for row in self.tournament.pair_table() if row["second"] == GNUGO), None)

    def _on_cgos(self) -> str:
        """The rating on the scale of a server, if the games are like those there."""
        row, size = self._against_gnugo(), self.tournament.settings.board_size
        if row is None:
            return "No rating on a common scale: there are no games against GNU Go level 10."
        if size != 9:
            return f"No rating on a common scale: there is none for GNU Go on {size}×{size}."
        elo, low, high = (None if x is None else GNUGO_ELO + x for x in row["elo"])
        if low is None:
            found = f"at most {high:.0f}"
        elif high is None:
            found = f"at least {low:.0f}"
        else:
            found = f"{elo:.0f}, 95 % interval {low:.0f} to {high:.0f}"
        return f"Elo where GNU Go level 10 has {GNUGO_ELO}, as it is taken for on CGOS 9×9: {found}."

    def _rank(self) -> str:
        """A rank, where the model is close to the one opponent whose rank is known; else why there is none."""
        row = self._against_gnugo()
        if row is None:
            return "No rank in kyu or dan: GNU Go level 10, the only opponent with a known rank, was not played."
        _, low, high = row["elo"]
        if low is None or high is None:
            which = "lost" if low is None else "won"
            reason = f"it {which} every game against GNU Go level 10, which bounds it on one side only"
        elif low > _CLOSE or high < -_CLOSE:
            reason = "it is too far from GNU Go level 10, the only opponent with a known rank"
        elif low < -_CLOSE or high > _CLOSE:
            reason = f"{low:+.0f} to {high:+.0f} Elo beside GNU Go level 10 is too wide an interval"
        else:
            assumed = "assuming that GNU Go level 10 is that, as servers commonly rank it"
            return f"About {GNUGO_RANK}, {assumed}, and that what holds against it holds against people."
        return f"No rank in kyu or dan: {reason}."


def _beside(row: dict[str, Any]) -> str:
    """How the model stands beside one opponent."""
    name = f"GNU Go level {row['second'].partition(':')[2]}"
    games = row["wins"] + row["losses"] + row["draws"]
    elo, low, high = row["elo"]
    if low is None or high is None:
        won, least = ("won", low) if high is None else ("lost", -high)
        if least <= 0:
            return f"Not told apart from {name}: it {won} all games, but {games} are too few."
        than = "Stronger" if high is None else "Weaker"
        return f"{than} than {name}: it {won} all {games} games, so by {least:.0f} Elo or more."
    interval = f"{elo:+.0f} Elo, 95 % interval {low:+.0f} to {high:+.0f}"
    if low > 0 or high < 0:
        return f"{'Stronger' if low > 0 else 'Weaker'} than {name}: {interval}."
    if max(-low, high) <= _CLOSE:
        return f"About as strong as {name}: {interval}."
    return f"Not told apart from {name}: {interval}; more games would tell."
