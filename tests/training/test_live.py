"""`live.json`: what it says, that it is written seldom, and that nothing of it matters to the run."""

import json

import pytest

from mini_alphago.training import SelfPlaySettings
from mini_alphago.training import live as live_module
from mini_alphago.training.folder import RunFolder
from mini_alphago.training.live import Live
from mini_alphago.training.self_play import SelfPlay

from ..mcts.evaluators import Area
from .reports import a_worker


@pytest.fixture
def play():
    return SelfPlay(Area(), 5, SelfPlaySettings(games=4, simulations=2, considered=2, komi=0.5))


def content(folder):
    return json.loads((folder / "live.json").read_text())


def test_the_games_as_they_are_now(tmp_path, play, monkeypatch):
    monkeypatch.setattr(live_module, "_EVERY", 0.0)
    live = Live(tmp_path, play.roots)
    live.phase("self-play", 0, 8, 123.4)
    first = content(tmp_path)
    assert (first["phase"], first["done"], first["total"], first["speed"]) == ("self-play", 0, 8, 123.4)
    assert len(first["games"]) == min(12, play.settings.games)
    for _ in range(3):
        play.apply(play.think())
    live.phase("self-play", 1, 8)
    for g, game in enumerate(content(tmp_path)["games"]):
        colors = play.roots.color[g, :25].reshape(5, 5)
        assert game["board"] == [[{0: 0, 1: 1, 2: -1}[int(c)] for c in row] for row in colors]
        assert game["moveNumber"] == play.roots.info[g]["move_count"]
        if game["lastMove"] not in (None, "pass"):
            assert game["board"][5 - int(game["lastMove"][1])]["ABCDE".index(game["lastMove"][0])] != 0
    live.end()
    assert content(tmp_path)["phase"] == "ended"


def test_a_run_whose_games_are_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(live_module, "_EVERY", 0.0)
    live = Live(tmp_path, None)
    workers = [a_worker(0, "10.0.0.5", seconds=4.2), a_worker(3, "10.0.0.6", version=None, seconds=0.1)]
    live.phase("self-play", 1, 8, 26000.0, workers)
    assert content(tmp_path)["workers"] == workers
    assert content(tmp_path)["games"] == []
    live.phase("self-play", 1, 8, workers=[])  # all are gone, which is worth knowing
    assert content(tmp_path)["workers"] == []
    live.phase("training", 1, 8)
    assert "workers" not in content(tmp_path)
    live.end()
    assert content(tmp_path) == {"phase": "ended", "done": 0, "total": 0, "speed": None, "games": []}


def test_it_is_written_seldom(tmp_path, play):
    live = Live(tmp_path, play.roots)
    for done in range(1000):
        live.phase("training", done, 1000)
    assert content(tmp_path)["done"] == 0


def test_a_folder_that_cannot_be_written_does_not_matter(tmp_path, play):
    live = Live(tmp_path / "nothing", play.roots)
    live.phase("training", 1, 2)
    live.end()


def test_whether_somebody_works_on_a_run(tmp_path):
    folder = RunFolder(tmp_path / "run")
    assert not folder.in_use()
    with folder.open():
        assert RunFolder(tmp_path / "run").in_use()
    assert not folder.in_use()
