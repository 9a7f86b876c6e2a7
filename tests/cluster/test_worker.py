"""A worker, without any cluster: it plays with the network it is given, and its games are its own."""

from dataclasses import replace

import pytest

from mini_alphago.cluster.networks import load_weights, weights_of
from mini_alphago.cluster.worker import Worker
from mini_alphago.model import build_network
from mini_alphago.training.arrivals import first_id, from_parcel, workers_of
from mini_alphago.training.config import to_toml
from mini_alphago.version import __version__

from ..training.runs import CONFIG

SHAPE = CONFIG.network.config(5)


@pytest.fixture
def worker(plain_torch: None) -> Worker:
    return Worker(to_toml(CONFIG), 3, 1, lambda box: box[0])


def test_it_plays_until_games_have_ended_and_says_what_it_did(worker: Worker) -> None:
    assert worker.about()["version"] == __version__
    assert worker.about()["device"] == "cpu"
    network = [weights_of(build_network(SHAPE))]
    deliveries = [worker.play(network, 1, 4, 0.0) for _ in range(25)]
    assert [one.number for one in deliveries] == list(range(25))
    assert deliveries[0].games == deliveries[0].seconds == 0, "nothing had been played yet"
    assert all(one.positions == CONFIG.self_play.games for one in deliveries[1:]), "one move in every game"
    found = [from_parcel(one.records) for one in deliveries]
    assert sum(len(part.id) for part in found) == sum(one.games for one in deliveries) > 0
    ids = [int(i) for part in found for i in part.id]
    assert len(set(ids)) == len(ids)
    assert all(set(workers_of(part)) <= {3} for part in found)
    assert min(ids) >= first_id(3)
    assert all((part.version == 1).all() for part in found)


def test_two_workers_play_different_games(plain_torch: None) -> None:
    config = to_toml(replace(CONFIG, self_play=replace(CONFIG.self_play, random_openings=0.0)))
    network = [weights_of(build_network(SHAPE))]
    games = []
    for number in (1, 2):
        worker = Worker(config, number, 1, lambda box: box[0])
        parts = [from_parcel(worker.play(network, 1, 4, 0.0).records) for _ in range(25)]
        games.append(
            {tuple(part.move[f : f + n]) for part in parts for f, n in zip(part.first, part.length, strict=True)}
        )
    assert min(len(found) for found in games) > 0
    assert not games[0] & games[1]


def test_a_network_is_fetched_once_for_each_version(plain_torch: None) -> None:
    fetched = []

    def fetch(box: list[bytes]) -> bytes:
        fetched.append(box)
        return box[0]

    worker = Worker(to_toml(CONFIG), 1, 1, fetch)
    networks = [[weights_of(build_network(SHAPE))] for _ in range(2)]
    versions = [worker.play(networks[version], version, 4, 0.0).version for version in (0, 0, 1, 1, 1)]
    assert versions == [-1, 0, 0, 1, 1], "of the games that came with it"
    assert fetched == networks


def test_weights_travel_whole() -> None:
    one, other = build_network(SHAPE), build_network(SHAPE)
    load_weights(other, weights_of(one))
    for name, tensor in one.state_dict().items():
        assert (tensor == other.state_dict()[name]).all(), name
