"""A training run watched from the page: its folder grows, and every page is told what is new."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mini_alphago.model import build_network, save_checkpoint, tutorial_config
from mini_alphago.training import NetworkSettings, SelfPlaySettings, Stopped, TrainingConfig, train
from mini_alphago.training.display import Display
from mini_alphago.training.folder import RunFolder
from mini_alphago.web import service
from mini_alphago.web.settings import ServerSettings

from ..training.reports import a_worker
from .serving import Client, Server, client, game, serving, wait_for

CONFIG = TrainingConfig(
    board_size=5, iterations=2, games_per_iteration=4, device="cpu", network=NetworkSettings(size="b1c8"),
    self_play=SelfPlaySettings(games=4, simulations=2, considered=2, move_limit=12),
)  # fmt: skip


@pytest.fixture(autouse=True)
def quick(plain_torch: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled for seconds, and a run is looked at often."""
    monkeypatch.setattr(service, "_LOOK_EVERY", 0.05)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run after its first iteration, as if a process had been killed in the second."""
    path = tmp_path / "my-run"

    class Stop(Display):
        def iteration(self, metrics: dict[str, Any]) -> None:
            raise Stopped

    with pytest.raises(Stopped):
        train(CONFIG, str(path), Stop())
    return path


@pytest.fixture
def watching(run: Path) -> Iterator[Server]:
    with serving(ServerSettings(run=str(run), lazy=True, visits=8, device="cpu")) as server:
        yield server


def news(page: Client, **wanted: Any) -> dict[str, Any]:
    """The next message in which these fields are so."""
    while True:
        message = page.receive()
        assert (message["type"], message["id"]) == ("run", "w")
        if all(message[name] == value for name, value in wanted.items()):
            return message


def test_a_run_that_grows(run: Path, watching: Server) -> None:
    folder = RunFolder(run)
    with client(watching) as page:
        page.send(id="w", type="watch")
        first = page.receive()
        assert first["name"] == "my-run"
        assert first["summary"].startswith("5×5, b1c8")
        assert first["running"] is False
        assert first["reset"] is True
        assert [line["iteration"] for line in first["metrics"]] == [1]
        assert [(c["iteration"], c["model"]) for c in first["checkpoints"]] == [(0, "iteration-0"), (1, "iteration-1")]
        assert first["checkpoints"][0]["minutes"] == 0
        assert first["checkpoints"][1]["minutes"] == first["metrics"][0]["minutes"]
        assert first["live"]["phase"] == "ended"
        assert len(first["live"]["games"]) == 4
        assert len(first["live"]["games"][0]["board"]) == 5

        line = {**first["metrics"][0], "iteration": 2, "elo": 100.0, "elo_error": 30.0, "value_loss": float("nan")}
        folder.append_metrics(line)
        second = page.receive()
        assert second["reset"] is False
        assert [line["iteration"] for line in second["metrics"]] == [2]
        assert second["metrics"][0]["value_loss"] is None  # NaN is not JSON
        minutes = first["metrics"][0]["minutes"]
        assert second["elo"] == [{"iteration": 2, "minutes": minutes, "elo": 100.0, "low": 70.0, "high": 130.0}]

        folder.checkpoint(2).write_bytes(folder.checkpoint(1).read_bytes())
        assert [c["model"] for c in page.receive()["checkpoints"]][-1] == "iteration-2"

        (run / "live.json").write_text(json.dumps({"phase": "self-play", "done": 1, "total": 4, "games": []}))
        assert news(page, running=True)["live"]["done"] == 1
        os.utime(run / "live.json", (time.time() - 100, time.time() - 100))
        assert news(page, running=False)["live"]["done"] == 1  # no sign of life, and nobody holds the lock

        folder.write_metrics(first["metrics"])
        assert news(page, reset=True)["metrics"] == first["metrics"]

        (run / "live.json").write_text("{damaged")
        assert news(page, live=None)["running"] is False


def test_workers_elsewhere(run: Path, watching: Server) -> None:
    folder = RunFolder(run)
    with client(watching) as page:
        page.send(id="w", type="watch")
        first = page.receive()
        assert first["workers"] is None
        for i, node in ((2, "10.0.0.5"), (3, "10.0.0.6")):
            line = {**first["metrics"][0], "iteration": i, "staleness": 0.5}
            folder.append_metrics({**line, "workers": [a_worker(0, node, games=float("inf"))]})
            message = page.receive()
            assert message["reset"] is False
            assert message["metrics"] == [line]  # the page needs only the last iteration's workers
            assert message["workers"] == [a_worker(0, node, games=None)]  # infinity is not JSON
        now = [a_worker(0, "10.0.0.6", seconds=1.5)]
        live = {"phase": "self-play", "done": 1, "total": 4, "speed": None, "games": [], "workers": now}
        (run / "live.json").write_text(json.dumps(live))
        assert news(page, running=True)["live"] == live
        folder.append_metrics({**line, "iteration": 4})  # it went on alone
        assert news(page, workers=None)["metrics"] == [{**line, "iteration": 4}]


def test_a_page_that_comes_later_is_told_everything_and_one_that_stops_nothing(run: Path, watching: Server) -> None:
    with client(watching) as page, client(watching) as other:
        for one in (page, other):
            one.send(id="w", type="watch")
            assert len(one.receive()["metrics"]) == 1
        page.send(id="w2", type="watch")
        assert page.receive() == {"id": "w", "type": "stopped"}
        assert page.receive()["reset"] is True
        page.send(id="s", type="stop", target="w2")
        assert page.receive() == {"id": "w2", "type": "stopped"}
        folder = RunFolder(run)
        folder.append_metrics({**folder.read_metrics()[0], "iteration": 2})
        assert len(other.receive()["metrics"]) == 1
        with pytest.raises(TimeoutError):
            page.receive(timeout=0.2)
    wait_for(lambda: not watching.service.watchers)


def test_its_networks_can_be_played(watching: Server) -> None:
    with client(watching) as page:
        moves = [page.ask("genmove", game=game("C3"), model=f"iteration-{i}", visits=4) for i in (0, 1)]
        assert [answer["type"] for answer in moves] == ["move", "move"]
        assert "no such network" in page.ask("genmove", game=game(), model="iteration-7")["message"]
    info = watching.service.info()
    assert info["run"] == {"name": "my-run"}
    assert info["trained"] is True
    assert info["models"][0] == {"id": "iteration-1", "name": "Iteration 1", "trained": True, "sizes": [5]}


def test_few_networks_are_kept(run: Path, watching: Server) -> None:
    folder = RunFolder(run)
    for i in range(2, 8):
        folder.checkpoint(i).write_bytes(folder.checkpoint(1).read_bytes())
    with client(watching) as page:
        for i in range(8):
            assert page.ask("genmove", game=game(), model=f"iteration-{i}", visits=2)["type"] == "move"
    assert len(watching.service.models._loaded) == 3


def test_a_network_of_one_board_size_that_says_only_policy_and_value(run: Path, watching: Server) -> None:
    save_checkpoint(RunFolder(run).checkpoint(2), build_network(tutorial_config(1, 8, board_size=5)))
    with client(watching) as page:
        large = game(boardXSize=7, boardYSize=7)
        assert "5×5 alone" in page.ask("genmove", game=large, visits=2)["message"]
        assert "5×5 alone" in page.ask("score", game=large, dead=None)["message"]
        assert page.ask("genmove", game=game(), visits=2)["type"] == "move"
        assert page.ask("analyze", game=game(), visits=2)["ownership"] is None
        assert page.ask("score", game=game("C3"), dead=None)["dead"] == []


def test_a_run_without_a_network_yet(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write_config(CONFIG)
    with serving(ServerSettings(run=str(tmp_path))) as server, client(server) as page:
        assert "no network yet" in page.ask("genmove", game=game())["message"]
        assert page.ask("position", game=game())["type"] == "position"
        assert "no trained network yet" in server.service.info()["message"]
