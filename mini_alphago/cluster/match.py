"""The games of a tournament on a Ray cluster: workers play them, the driver keeps them.

A worker takes games in whole pairs, an opening with both colours, and answers as soon as one of them has ended. What
the driver has not heard of has not happened: the games of a worker that is lost are played again by others.
"""

import contextlib
import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..arena.gtp_player import GtpPlayer
from ..arena.maker import PlayerMaker, PlayerSpec, fingerprint, read_player
from ..arena.match import GameResult, GamesUnderWay
from ..arena.players import Player
from ..arena.tournament import Games, MatchSettings, NobodyLeft, Plays
from ..game import Board
from ..model import load_network
from ..threads import set_threads
from ..version import __version__
from .connect import check_version, connect, reason_of
from .posts import Post, find_posts

if TYPE_CHECKING:
    from ..model import Network

_ROUND = 1.0  # seconds after which a worker answers though no game has ended
_TICK = 0.5  # seconds that the driver waits for answers
_LOOK = 5.0  # seconds between two looks at which nodes there are
_PATIENCE = 20.0  # seconds without any worker before it is said
_COMING = 60.0  # seconds within which a worker that has not said anything is still reckoned with
_FAREWELL = 3.0  # seconds that workers have to end their programs


@contextlib.contextmanager
def games_on(ray: tuple[str, ...] | None, settings: MatchSettings) -> Iterator[Plays | None]:
    """Who plays the games of a tournament, from what --ray says: its address, if any; None is this process.

    The workers are there as long as the context. ValueError, in one sentence, if there is no cluster.
    """
    if ray is None:
        yield None
        return
    if len(ray) > 1:
        raise ValueError("--ray takes one address, or none: name the players before it")
    if ":" in settings.device:
        raise ValueError(f"device is {settings.device}: with --ray each worker has its own GPU, as auto and cuda mean")
    cluster = ClusterGames(connect(*ray), settings, lambda line: print(line, file=sys.stderr))
    try:
        yield cluster.play
    finally:
        cluster.close()


# --- on the nodes -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Share:
    """What a worker has to itself."""

    settings: MatchSettings
    cores: int
    seed: int  # its own: workers with the same random numbers would play the same games


class MatchWorker:
    """Plays games of two players on one node. Ray makes an actor of it; nothing in it knows Ray."""

    def __init__(self) -> None:
        self._maker: PlayerMaker | None = None
        self._networks: dict[str, bytes | None] = {}  # by path: those that are not loaded yet
        self._players: list[Player] = []
        self._games: GamesUnderWay | None = None

    def version(self) -> str:
        """Of the package, on this node."""
        return __version__

    def begin(self, share: Share, players: tuple[PlayerSpec, PlayerSpec], *networks: bytes | None) -> None:
        """From now on these two play; the content of the files of their networks is in `networks`.

        ValueError, in one sentence, if one of them cannot play here.
        """
        self.close()
        self._networks = {spec.network: data for spec, data in zip(players, networks, strict=True) if spec.network}
        maker = self._maker = self._maker or self._make_maker(share)
        try:
            for spec in players:
                player = maker.make(spec)
                self._players.append(player)
                if isinstance(player, GtpPlayer):  # one that does not start here would lose games without playing
                    player.check()
        except BaseException:
            self.close()
            raise
        self._networks.clear()  # they are loaded
        self._games = GamesUnderWay((self._players[0], self._players[1]), [], share.settings.at_once)

    def _make_maker(self, share: Share) -> PlayerMaker:
        set_threads(share.cores)
        s = share.settings
        return PlayerMaker(
            s.board_size, s.at_once, s.visits, share.seed, s.device, s.timeout, share.cores, self._load
        )  # fmt: skip

    def _load(self, name: str) -> "Network":
        with TemporaryDirectory(prefix="mini-alphago-") as folder:
            path = Path(folder) / name
            path.parent.mkdir()
            path.write_bytes(self._networks[name] or b"")
            return load_network(path)

    def play(self, starts: list[tuple[int, Board]]) -> list[tuple[int, GameResult]]:
        """Go on with the games that are under way, and with these, until one ends or a while has passed.

        Those that have ended, with their numbers.
        """
        assert self._games is not None
        self._games.add(starts)
        end, ended = time.monotonic() + _ROUND, list[tuple[int, GameResult]]()
        while self._games.open and not ended and time.monotonic() < end:
            ended = self._games.round()
        return ended

    def close(self) -> None:
        """Forget the games, and end the programs that played them."""
        self._games = None
        while self._players:
            self._players.pop().close()


# --- at the driver ----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Hand:
    """A worker, as the driver sees it."""

    actor: Any
    where: str  # the address of its node, and what it has there
    share: Share
    state: Literal["new", "beginning", "playing", "out"] = "new"  # out: it cannot play the two who play now
    call: Any = None  # what it was asked last and has not answered
    games: dict[int, Board] = field(default_factory=dict)  # that it has, by number, with their openings
    since: float = field(default_factory=time.monotonic)


class ClusterGames:
    """Games played by workers all over a cluster: one on each GPU, and one on each node that has none.

    ray: the module, connected. say: is told in one line who joins, who is left out and who is lost.
    """

    def __init__(self, ray: Any, settings: MatchSettings, say: Callable[[str], None]) -> None:
        self._ray, self._settings, self._say = ray, settings, say
        self._hands: list[_Hand] = []
        self._posts: set[tuple[str, int]] = set()  # those that have had a worker
        self._looked = -math.inf
        self._made = 0  # workers, up to now
        self._files: dict[str, tuple[PlayerSpec, Any]] = {}  # players, and their networks in the object store
        self._seats: list[tuple[PlayerSpec, Any]] = []  # the two who play now
        self._waiting: deque[tuple[int, Board]] = deque()
        self._said: set[str] = set()
        kind = "GPU" if settings.device.startswith("cuda") else "core"
        self._why = f"the cluster has no node with a {kind}"  # nobody is left, if that is so

    def play(self, one: str, other: str, starts: list[tuple[int, Board]], after_round: Callable[[], None]) -> Games:
        """Play these games (see `Plays`). NobodyLeft if no worker can."""
        self._seats = [self._seat(text) for text in (one, other)]
        self._waiting = deque(starts)
        left, quiet = len(starts), time.monotonic() + _PATIENCE
        for hand in self._hands:
            hand.games.clear()
            if hand.state != "new":
                self._begin(hand)
        while left:
            if time.monotonic() - self._looked > _LOOK:
                self._look_around()
            ended = self._hear()
            left -= len(ended)
            yield from ended
            after_round()
            if time.monotonic() > quiet and {hand.state for hand in self._hands} == {"new"}:
                self._say_once("Nobody plays yet: the cluster is busy with other work, or its workers are starting.")

    def close(self) -> None:
        """Take the workers off the cluster, with the programs that they have started."""
        ray = self._ray
        ended = [hand.actor.close.remote() for hand in self._hands if hand.state != "new"]
        if ended:
            ray.wait(ended, num_returns=len(ended), timeout=_FAREWELL)
        while self._hands:
            ray.kill(self._hands.pop().actor)

    # --- who there is -----------------------------------------------------------------------------------------------

    def _look_around(self) -> None:
        """Workers on nodes that have not been there before; a node that died and came back is a new one."""
        self._looked = time.monotonic()
        nodes, device = self._ray.nodes(), self._settings.device
        if device == "cpu":
            nodes = [{**node, "Resources": {**node["Resources"], "GPU": 0}} for node in nodes]
        for post in find_posts(nodes):
            if (post.node, post.number) not in self._posts and (post.gpus or not device.startswith("cuda")):
                self._posts.add((post.node, post.number))
                self._hire(post)

    def _hire(self, post: Post) -> None:
        actor = post.engage(self._ray, MatchWorker)
        seed = int(np.random.SeedSequence((self._settings.seed, self._made)).generate_state(1)[0])
        self._made += 1
        hand = _Hand(actor, str(post), Share(self._settings, post.cores, seed))
        hand.call = actor.version.remote()
        self._hands.append(hand)

    def _seat(self, text: str) -> tuple[PlayerSpec, Any]:
        """A player for workers: what it is, and its network in the object store; their nodes have no such file."""
        if text not in self._files:
            spec = read_player(text)
            data = None
            if spec.network is not None:
                path = Path(spec.network)
                spec = replace(spec, what=f"{fingerprint(str(path))}/{path.name}")
                data = self._ray.put(path.read_bytes())
            self._files[text] = spec, data
        return self._files[text]

    # --- talking to them --------------------------------------------------------------------------------------------

    def _begin(self, hand: _Hand) -> None:
        specs, networks = zip(*self._seats, strict=True)
        hand.state, hand.call = "beginning", hand.actor.begin.remote(hand.share, specs, *networks)

    def _hear(self) -> list[tuple[int, GameResult]]:
        """Give work to those without, and wait a moment for an answer: games that have ended."""
        for hand in self._hands:
            if hand.call is None and hand.state == "playing":
                self._hand_out(hand)
        calls = {hand.call: hand for hand in self._hands if hand.call is not None}
        if not calls:
            raise NobodyLeft(f"no worker is left for {' – '.join(spec.text for spec, _ in self._seats)}: {self._why}")
        answered, _ = self._ray.wait(list(calls), timeout=_TICK)
        return [game for call in answered for game in self._answer(calls[call])]

    def _answer(self, hand: _Hand) -> list[tuple[int, GameResult]]:
        """What a worker says, which has something to do again then."""
        self._hands.remove(hand)
        self._hands.append(hand)  # the others are heard before it is heard again
        try:
            said = self._ray.get(hand.call)
            if hand.state == "new":
                check_version(said, "it")
        except (self._ray.exceptions.RayError, ValueError) as error:
            self._fail(hand, error)
            return []
        hand.call = None
        if hand.state == "new":
            self._say(f"{hand.where} joins.")
            self._begin(hand)
            return []
        ended = said if hand.state == "playing" else []
        hand.state = "playing"
        for number, _ in ended:
            del hand.games[number]
        self._hand_out(hand)
        return ended

    def _hand_out(self, hand: _Hand) -> None:
        """Let it go on, with as many games more as are its share: whole pairs, in their order."""
        more: list[tuple[int, Board]] = []
        share = self._fair_share()
        while self._waiting and len(hand.games) + len(more) + 2 <= share:
            more.append(self._waiting.popleft())
            if self._waiting and self._waiting[0][0] // 2 == more[-1][0] // 2:
                more.append(self._waiting.popleft())
        hand.games.update(more)
        if hand.games:
            hand.call = hand.actor.play.remote(more)

    def _fair_share(self) -> int:
        """The games that a worker may have: as many as are played at once, but fewer if others would have none."""
        now = time.monotonic()
        here = [hand for hand in self._hands if hand.state in ("beginning", "playing")]
        coming = [hand for hand in self._hands if hand.state == "new" and now - hand.since < _COMING]
        unfinished = len(self._waiting) + sum(len(hand.games) for hand in self._hands)
        pairs = math.ceil(unfinished / (2 * len(here + coming)))
        return min(self._settings.at_once, max(2, 2 * pairs))

    # --- what goes wrong --------------------------------------------------------------------------------------------

    def _fail(self, hand: _Hand, error: Exception) -> None:
        """Others play its games. Who cannot play these two may play others; any other failure is the end of it."""
        self._why = f"{hand.where}: {reason_of(error)}"
        self._waiting = deque(sorted([*hand.games.items(), *self._waiting], key=lambda start: start[0]))
        count = len(hand.games)
        again = f"; {count} game{'s begin' if count > 1 else ' begins'} anew" if count else ""
        hand.games.clear()
        hand.call = None
        if hand.state == "beginning" and isinstance(error, ValueError):
            hand.state = "out"
        else:
            self._hands.remove(hand)
            self._ray.kill(hand.actor)
        self._say_once(f"Without {self._why}{again}.")

    def _say_once(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self._say(line)
