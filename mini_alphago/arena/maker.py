"""Players from what a command line says of them."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ..mcts import playing_settings
from ..mcts.levels import Level, find_level
from ..model import SHIPPED, Evaluator, load_network
from ..model.checkpoint import newest_network
from .gtp_player import GtpPlayer, gnugo_player
from .players import LevelPlayer, Player, PolicyPlayer, RandomPlayer, SearchPlayer, strong_settings

if TYPE_CHECKING:
    from ..model import Network

FORMS = (
    "PATH[,visits=N][,time=SECONDS][,SETTING=VALUE …], PATH,level=NAME, shipped instead of a path, policy:PATH, "
    "random, gnugo:LEVEL, or 'gtp:COMMAND LINE'"
)
SETTINGS: dict[str, Callable[[str], object]] = {
    "method": str, "c_puct": float, "c_base": float, "fpu_reduction": float, "score_weight": float,
    "prior_temperature": float, "considered": int, "c_visit": float, "c_scale": float,
}  # fmt: skip
"""Of a search (see `SearchSettings`), which a player may have otherwise than usual."""


@dataclass(frozen=True)
class PlayerSpec:
    """A player as text, understood."""

    text: str
    kind: Literal["random", "gnugo", "gtp", "policy", "search"]
    what: str = ""  # the level, the command line, or the path of the network
    visits: int | None = None  # of a search, if the text says so
    seconds: float | None = None  # a move, likewise
    level: Level | None = None  # likewise
    settings: tuple[tuple[str, object], ...] = ()  # of the search, where the text says so

    @property
    def network(self) -> str | None:
        """The file of its network; of the folder of a run, the newest one. None if it has none."""
        return str(newest_network(self.what)) if self.kind in ("policy", "search") else None


def read_player(text: str) -> PlayerSpec:
    """What `text` means (see `FORMS`). ValueError, in one sentence, if it is unclear or its network is not there."""
    kind, _, rest = text.partition(":")
    if text == "random":
        return PlayerSpec(text, "random")
    if kind == "gnugo":
        if not rest.isdigit() or not 0 <= int(rest) <= 10:
            raise ValueError(f"{text!r}: GNU Go is gnugo:0 to gnugo:10")
        return PlayerSpec(text, "gnugo", rest)
    if kind == "gtp" and rest:
        return PlayerSpec(text, "gtp", rest)
    if kind == "policy" and rest:
        spec = PlayerSpec(text, "policy", rest)
    else:
        path, *options = text.split(",")
        spec = PlayerSpec(text, "search", path, **_read_options(text, options))
    if spec.what != SHIPPED and not os.path.exists(spec.what):
        raise ValueError(f"no player {text!r}: there is no file or folder {spec.what!r}; a player is {FORMS}")
    return spec


def _read_options(text: str, options: list[str]) -> dict[str, Any]:
    """What stands behind the path of a network, as fields of `PlayerSpec`."""
    found: dict[str, Any] = {}
    settings: dict[str, object] = {}
    for option in options:
        name, _, value = option.partition("=")
        name = name.strip().replace("-", "_")
        try:
            if name == "visits":
                found["visits"] = _number(int, value)
            elif name == "time":
                found["seconds"] = _number(float, value)
            elif name == "level":
                found["level"] = find_level(value)
            elif name in SETTINGS:
                settings[name] = _number(SETTINGS[name], value)
                replace(playing_settings(2), **{name: settings[name]})  # type: ignore[arg-type]
            else:
                raise ValueError(
                    f"a network takes ,visits=N, ,time=SECONDS or ,level=NAME, of its search {', '.join(SETTINGS)}, "
                    "and nothing else"
                )
        except ValueError as error:
            raise ValueError(f"{text!r}: {error}") from None
    visits, seconds, level = (found.get(name) for name in ("visits", "seconds", "level"))
    if (visits is not None and visits < 1) or (seconds is not None and not 0 < seconds <= 3600):
        raise ValueError(f"{text!r}: visits is 1 or more, time above 0 and at most 3600 seconds")
    if level is not None and (seconds is not None or settings or (visits is not None and level.visits is not None)):
        raise ValueError(
            f"{text!r}: a level has its own search; only level=full takes ,visits=N, and none takes time or settings"
        )
    return {**found, "settings": tuple(settings.items())}


def _number(kind: Callable[[str], object], text: str) -> object:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{text!r} is no {'whole ' if kind is int else ''}number") from None


def fingerprint(path: str) -> str:
    """Of a file's content: another network under the same name is another player."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


class PlayerMaker:
    """Makes players for batches of up to `games` games; a network that several of them have is loaded once.

    visits: of searches that say neither visits nor time. timeout: seconds that a program has for an answer. cores: how
    many programs think at once, by default one a core. load: gives the network of a path.
    """

    def __init__(
        self,
        board_size: int,
        games: int,
        visits: int,
        seed: int,
        device: str,
        timeout: float,
        cores: int | None = None,
        load: "Callable[[str], Network]" = load_network,
    ) -> None:
        self._size, self._games, self._visits = board_size, games, visits
        self._seed, self._device, self._timeout = seed, device, timeout
        self._cores, self._load = cores, load
        self._evaluators: dict[str, Evaluator] = {}

    def make(self, player: str | PlayerSpec) -> Player:
        """The player that is meant. ValueError if it is unclear, or something that it needs is not there."""
        spec = read_player(player) if isinstance(player, str) else player
        text = spec.text
        if spec.kind == "random":
            return RandomPlayer(self._seed)
        if spec.kind == "gnugo":
            return gnugo_player(int(spec.what), text, self._timeout, self._cores)
        if spec.kind == "gtp":
            return GtpPlayer(spec.what, text, self._timeout, self._cores)
        assert spec.network is not None
        if spec.kind == "policy":
            return PolicyPlayer(text, self._evaluator(spec.network))
        visits = self._visits if spec.visits is None and spec.seconds is None else spec.visits
        if spec.level is not None:
            evaluator = self._evaluator(spec.network)
            return LevelPlayer(text, evaluator, spec.level, visits or self._visits, self._size, self._games, self._seed)
        settings = replace(strong_settings(visits, self._size, self._games), **dict(spec.settings))  # type: ignore[arg-type]
        evaluator = self._evaluator(spec.network)
        return SearchPlayer(
            text, evaluator, visits, self._size, self._games, settings, seed=self._seed, seconds=spec.seconds
        )

    def _evaluator(self, path: str) -> Evaluator:
        if path not in self._evaluators:
            self._evaluators[path] = Evaluator(self._load(path), self._device)
        return self._evaluators[path]
