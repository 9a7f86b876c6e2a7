"""Tournaments on a cluster: real workers, on several nodes of this machine that come and die."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mini_alphago.arena import MatchSettings, Tournament, random_openings, read_player
from mini_alphago.arena.maker import fingerprint
from mini_alphago.arena.tournament import NobodyLeft
from mini_alphago.cli import main
from mini_alphago.cluster import connect as connect_module
from mini_alphago.cluster import match as match_module
from mini_alphago.cluster.match import ClusterGames, MatchWorker, Share, games_on
from mini_alphago.game import parse_sgf
from mini_alphago.model import KataGoNetwork, save_checkpoint

from .conftest import add_node

pytestmark = pytest.mark.usefixtures("plain_torch")
SMALL = MatchSettings(games=40, at_once=4, visits=2, board_size=5, komi=0.5, device="cpu")


@pytest.fixture
def network(tmp_path: Path) -> str:
    path = tmp_path / "net.safetensors"
    save_checkpoint(path, KataGoNetwork(1, 8))
    return str(path)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def playing(cluster: Any, said: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ClusterGames]]:
    """Makes workers on the cluster, and takes them off it again."""
    import ray

    monkeypatch.setattr(match_module, "_LOOK", 0.2)
    monkeypatch.setattr(match_module, "_PATIENCE", 1e9)
    made: list[ClusterGames] = []

    def make(settings: MatchSettings = SMALL) -> ClusterGames:
        made.append(ClusterGames(ray, settings, said.append))
        return made[-1]

    yield make
    for games in made:
        games.close()


def play(tournament: Tournament, games: ClusterGames, until: Callable[[int], bool] = lambda _: False) -> None:
    """All of it, or until that is true of the number of games that have ended now."""
    with closing(tournament.run(lambda *_: None, plays=games.play)) as rows:
        for i, _ in enumerate(rows, start=1):
            if until(i):
                return


def numbers(tournament: Tournament) -> list[int]:
    """Of the games in the folder, in the order in which they ended."""
    return [json.loads(line)["game"] for line in (tournament.results / "games.jsonl").read_text().splitlines()]


class Mishaps:
    """What happens to a cluster while a match is played, one thing after the other; called after each game."""

    def __init__(self, cluster: Any, programs: Path, games: ClusterGames, said: list[str]) -> None:
        self.cluster, self.programs, self.games, self.said = cluster, programs, games, said
        self.events = [self.a_node_comes, self.it_has_games, self.it_dies, self.another_comes, self.all_are_noticed]

    def __call__(self, _: int) -> bool:
        """Whether everything has happened."""
        if self.events[0]():
            del self.events[0]
        return not self.events

    def a_node_comes(self) -> bool:
        add_node(self.cluster, self.programs)
        return True

    def it_has_games(self) -> bool:
        return sum(bool(hand.games) for hand in self.games._hands) == 2

    def it_dies(self) -> bool:
        assert len({hand.share.seed for hand in self.games._hands}) == 2  # they drew different random numbers
        self.cluster.remove_node(self.cluster.list_all_nodes()[-1], allow_graceful=False)
        return True

    def another_comes(self) -> bool:
        connect_module.__version__ = "0.0"  # than which it has another
        add_node(self.cluster, self.programs)
        return True

    def all_are_noticed(self) -> bool:
        return len(self.said) == 4


def test_every_game_once_though_nodes_come_and_die(
    cluster: Any, programs: Path, tmp_path: Path, said: list[str], playing: Callable[..., ClusterGames],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(connect_module, "__version__", connect_module.__version__)  # to be put back
    players = [f"gtp:{programs}/passer 0.01", "random"]
    tournament = Tournament(players, replace(SMALL, games=400), tmp_path / "match")
    games = playing()
    play(tournament, games, until=Mishaps(cluster, programs, games, said))
    assert [line.partition(") ")[2] for line in said[:2]] == ["joins."] * 2
    lost, version = sorted(said[2:], key=lambda line: "install the same" in line)
    assert re.search(r"Without .* \(1 core\): the process or its machine died; [1-4] games? begins? anew\.", lost)
    assert re.search(r"Without .* \(1 core\): it has mini-alphago .*, and here is 0\.0: install the same", version)
    enough = max(numbers(tournament)) // 2 * 2 + 6
    assert len(numbers(tournament)) < enough < 400
    again = Tournament(players, replace(SMALL, games=enough), tmp_path / "match")
    assert again.rows == tournament.rows
    play(again, games)
    assert sorted(numbers(again)) == list(range(enough))
    openings = random_openings(enough // 2, 5, 0.5, SMALL.opening_moves, SMALL.seed)
    for number in range(enough):  # the openings and colours of any other match
        sgf = parse_sgf((tmp_path / f"match/sgf/1-2-{number + 1:04d}.sgf").read_bytes())
        assert sgf.moves[:2] == openings[number // 2].history
        assert sgf.black_name == players[number % 2]
    check_nobody_left(games, tmp_path)


def check_nobody_left(games: ClusterGames, tmp_path: Path) -> None:
    """The one worker that there is cannot start a program, then it dies."""
    (tmp_path / "broken").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "broken").chmod(0o755)
    for program, reason in (("nowhere", "there is no program nowhere"), (f"{tmp_path}/broken", "ended with status 3")):
        tournament = Tournament(["random", f"gtp:{program}"], SMALL, tmp_path / Path(program).name[:3])
        with pytest.raises(NobodyLeft, match=f"no worker is left for random – gtp:{program}: .*{reason}"):
            play(tournament, games)
        assert not tournament.rows
    games._ray.kill(games._hands[0].actor)
    tournament = Tournament(["random", "shipped"], SMALL, tmp_path / "last")
    with pytest.raises(NobodyLeft, match=r"no worker is left for random – shipped: .*the process or its machine died"):
        play(tournament, games)


def test_a_node_without_the_program_is_left_out(
    cluster: Any, programs: Path, network: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is there on the second node only; games that it did not play are not lost by it."""
    if len(cluster.list_all_nodes()) < 2:
        add_node(cluster, programs)
    command = ["match", "random", "gtp:passer", f"policy:{network}", "--games", "4", "--board-size", "5"]
    main([*command, "--komi", "0.5", "--device", "cpu", "--results", str(tmp_path / "match"), "--ray", cluster.address])
    shown = capsys.readouterr()
    assert shown.err.count("(1 core) joins.") == 2
    assert shown.err.count("there is no program passer") == 1  # said once, though there are two pairs with it
    summary = json.loads((tmp_path / "match/results.json").read_text())
    assert summary["games"] == 12
    assert summary["faults"] == {}


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="one address, or none: name the players before it"):
        main(["match", "--results", str(tmp_path / "m"), "--ray", "random", "gnugo:1"])
    with pytest.raises(ValueError, match="each worker has its own GPU"), games_on((), replace(SMALL, device="cuda:1")):
        pass
    ray = pytest.importorskip("ray", reason="the ray extra is not installed")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(SystemExit, match=r"no Ray cluster answers at 127\.0\.0\.1:1: "):
        main(["match", "random", "shipped", "--results", str(tmp_path / "m"), "--ray", "127.0.0.1:1"])
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SystemExit, match=r"pip install 'mini-alphago\[ray\]'"):
        main(["match", "random", "shipped", "--results", str(tmp_path / "m"), "--ray"])
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("device", "workers"),
    [
        ("auto", [("a", 8, 0), ("b", 3, 1), ("b", 3, 1)]), ("cpu", [("a", 8, 0), ("b", 7, 0)]),
        ("cuda", [("b", 3, 1), ("b", 3, 1)]),
    ],
)  # fmt: skip
def test_a_worker_on_each_gpu_and_on_each_node_without(
    device: str, workers: list[tuple[str, int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = {"a": {"CPU": 8.0}, "b": {"CPU": 7.0, "GPU": 2.0}, "head": {"memory": 1e9}, "dead": {"CPU": 4.0}}
    nodes = [
        {"NodeID": name, "Alive": name != "dead", "Resources": r, "NodeManagerAddress": ""}
        for name, r in resources.items()
    ]
    hired: list[tuple[str, int, int]] = []
    monkeypatch.setattr(ClusterGames, "_hire", lambda _, post: hired.append((post.node, post.cores, int(post.gpus))))
    games = ClusterGames(SimpleNamespace(nodes=lambda: nodes), replace(SMALL, device=device), print)
    for _ in range(2):  # the second time there is nobody new
        games._look_around()
        assert hired == workers


def test_a_worker_needs_no_files(network: str) -> None:
    """It has the content of the network, loads it once, and goes on with what it has while games are added."""
    spec = read_player(f"policy:{network}")
    spec = replace(spec, what=f"{fingerprint(network)}/net.safetensors")
    data = Path(network).read_bytes()
    Path(network).unlink()
    worker = MatchWorker()
    share = Share(SMALL, cores=1, seed=5)
    worker.begin(share, (spec, read_player("random")), data, None)
    starts = [(i, board) for i, board in enumerate(random_openings(6, 5, 0.5, 2, 1))]
    games: dict[int, Any] = {}
    for more in (starts[:1], starts[1:], *[[]] * 100):  # five at a time are too many
        games.update(worker.play(more))
    assert sorted(games) == list(range(6))
    assert games[1].black == "random"
    worker.begin(share, (read_player("random"), spec), None, None)  # loaded already
    assert worker.play(starts)
    worker.close()
