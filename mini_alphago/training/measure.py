"""How strong the network is by now: matches against earlier ones and fixed opponents, as one Elo curve."""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ..arena import Player, RandomPlayer, SearchPlayer, elo_ratings, gnugo_player, play_match, random_openings
from ..model import Evaluator, load_network
from .config import TrainingConfig
from .folder import RunFolder

UNTRAINED = "iteration 0"  # its rating is 0
_TOO_WEAK = 0.97  # who scores less than the rest of this twice in a row is not played any more
Progress = Callable[[str, int, int], None]


class Measurement(NamedTuple):
    """What a measurement gave."""

    elo: float
    error: float  # half of the 95 % interval
    matches: list[dict[str, Any]]  # opponent, wins, draws, losses, visits


class Strength:
    """The matches of a run so far, and the ratings they give; the untrained network, with search, has 0."""

    def __init__(self, config: TrainingConfig, folder: RunFolder, played: list[list[Any]] | None = None) -> None:
        self.config, self.folder = config, folder
        self.played = played or []  # rows: iteration, opponent, wins, losses, draws

    def measure(self, iteration: int, evaluator: Evaluator, progress: Progress) -> Measurement:
        """Play this iteration's network against all opponents that still teach something."""
        settings, name = self.config.measure, f"iteration {iteration}"
        size, komi = self.config.board_size, self.config.self_play.komi
        seed = self.config.seed + iteration
        openings = random_openings(
            settings.games // 2, size, komi, settings.opening_moves, seed, self.config.self_play.rules
        )
        ours = SearchPlayer(name, evaluator, settings.visits, size, 2 * len(openings), seed=seed)
        matches = []
        for opponent in self.opponents(iteration):
            with self._player(opponent, 2 * len(openings), seed) as other:
                result = play_match(ours, other, openings, partial(progress, opponent))
            self.played.append([iteration, opponent, result.wins, result.losses, result.draws])
            matches.append({
                "opponent": opponent, "wins": result.wins, "draws": result.draws, "losses": result.losses,
                "visits": settings.visits,
            })  # fmt: skip
        ratings = elo_ratings([(f"iteration {i}", *row) for i, *row in self.played], UNTRAINED)
        return Measurement(*ratings[name], matches)

    def opponents(self, iteration: int) -> list[str]:
        """Whom to play now, by name.

        Whoever was beaten clearly twice in a row is left out, and a GNU Go that is not installed; but somebody stays.
        The untrained network is there the first time: all ratings are relative to it.
        """
        names = []
        for name in self.config.measure.opponents:
            if name == "previous":
                earlier = [row[0] for row in self.played if row[0] < iteration]
                name = f"iteration {earlier[-1]}" if earlier else UNTRAINED
            elif name == "untrained":
                name = UNTRAINED
            if name not in names and not self._too_weak(name) and _is_here(name):
                names.append(name)
        if UNTRAINED not in names and (not names or not self.played):
            names.append(UNTRAINED)
        return names

    def _too_weak(self, name: str) -> bool:
        scores = [
            (won + drawn / 2) / (won + lost + drawn) for _, other, won, lost, drawn in self.played if other == name
        ]
        return len(scores) >= 2 and min(scores[-2:]) >= _TOO_WEAK

    @contextlib.contextmanager
    def _player(self, name: str, games: int, seed: int) -> Iterator[Player]:
        """The opponent of that name."""
        player: Player
        if name == "random":
            player = RandomPlayer(seed)
        elif name.startswith("gnugo:"):
            player = gnugo_player(int(name.partition(":")[2]))
        else:
            network = load_network(self.folder.checkpoint(int(name.split()[1])))
            evaluator = Evaluator(network, self.config.device)
            player = SearchPlayer(
                name, evaluator, self.config.measure.visits, self.config.board_size, games, seed=seed + 1
            )
        try:
            yield player
        finally:
            player.close()


def _is_here(name: str) -> bool:
    """False for a GNU Go that is not installed."""
    if name.startswith("gnugo:"):
        try:
            gnugo_player()
        except ValueError:
            return False
    return True
